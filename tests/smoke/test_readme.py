"""Everything the README and the guide tell a reader to do works: Python and shell run, make targets exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = sorted(path for path in (ROOT / "docs" / "guide").glob("*.md") if path.stem != "README")
#: pages whose snippets take seconds
LENGTHY = {"dask", "pictures", "svm"}
SNIPPETS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
LINES = re.search(r"^```sh\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
#: what `weald` is called with in a document: the command of this environment, also if it is not activated
SHELL = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


@pytest.fixture(autouse=True)
def _close_figures():
    """The figures of a page are not held open while the next is read."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def shell(text: str, folder: Path) -> str:
    """Run lines of a shell, up to the first that fails."""
    done = subprocess.run(
        ["sh", "-e", "-c", text], cwd=folder, env=SHELL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_there_is_python_to_run() -> None:
    assert SNIPPETS


def test_python_of_the_readme_is_ten_lines() -> None:
    lines = [line for line in SNIPPETS[0].splitlines() if line.strip()]
    assert len(lines) <= 10


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(SNIPPETS[number], f"README snippet {number + 1}", "exec"), {"__name__": "__main__"})


@pytest.mark.lengthy
def test_three_lines_of_shell_run(tmp_path: Path) -> None:
    """As they stand; only that `compare` tries one method, twice."""
    assert LINES is not None
    lines = LINES[1].strip().splitlines()
    assert len(lines) == 3
    birds = (ROOT / "src" / "weald" / "datasets" / "penguins.csv").read_text(encoding="utf-8")
    (tmp_path / "birds.csv").write_text(birds, encoding="utf-8")
    (tmp_path / "new_birds.csv").write_text("\n".join(birds.splitlines()[:9]), encoding="utf-8")
    assert lines[0].startswith("weald compare ")
    lines[0] += " --method tree --folds 2"
    said = shell("\n".join(line.split("#")[0] for line in lines), tmp_path)
    assert "accuracy" in said
    assert (tmp_path / "birds.weald").exists()
    assert (tmp_path / "answers.parquet").exists()


@pytest.mark.parametrize(
    "guide",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.lengthy] if path.stem in LENGTHY else [])
        for path in GUIDES
    ],
)
def test_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snippets of a page, Python and shell, one after another, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    text = guide.read_text(encoding="utf-8")
    snippets = re.findall(r"^```(python|sh)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert snippets
    for number, (language, snippet) in enumerate(snippets):
        if language == "sh":
            shell(snippet, tmp_path)
        else:
            exec(compile(snippet, f"{guide.name} snippet {number + 1}", "exec"), names)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_guide_begins_and_ends_alike(guide: Path) -> None:
    """What it is, when to use it, then an example; at the end what to read next."""
    text = guide.read_text(encoding="utf-8")
    assert text.startswith("# ")
    if guide.stem not in ("getting_started", "choosing"):
        assert "\n**When.** " in text[: text.index("\n```")]
    assert "\n## Read next\n" in text


def test_the_index_of_the_guide_has_every_page() -> None:
    index = (ROOT / "docs" / "guide" / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((\w+)\.md\)", index)
    assert sorted(linked) == [path.stem for path in GUIDES]


def test_commands_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    wanted = set(re.findall(r"^make (\w+)", README, flags=re.MULTILINE))
    assert {"demo", "test"} <= wanted
    assert wanted <= set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))


def test_every_estimator_is_in_the_table() -> None:
    import weald

    told = {
        name for line in README.splitlines() if line.startswith("| ") for name in re.findall(r"`(\w+)`", line)
    }
    kinds = {name for name in weald.__all__ if hasattr(getattr(weald, name), "fit")}
    kinds |= {name for name in weald.__all__ if hasattr(getattr(weald, name), "fit_resample")}
    assert kinds - {"XGBModel"} <= told


def test_ratios_stand_in_the_results() -> None:
    """Each line of the table of ratios names a section of results.md, an opponent and a figure of it."""
    results = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.+?)\]\(benchmarks/results\.md#\S+\) \| (.+?) \| ([\d.]+) \|$", README, re.M)
    assert len(rows) >= 8
    for title, opponent, ratio in rows:
        section = results.partition(f"\n### {title}\n")[2].partition("\n### ")[0]
        assert f"against {opponent}: ratio {ratio} " in section, (title, opponent, ratio)
