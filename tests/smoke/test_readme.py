"""Everything the README tells a reader to do works: its Python runs and its make targets exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))
SNIPPETS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _close_figures():
    """The figures of a page are not held open while the next is read."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_there_is_python_to_run() -> None:
    assert SNIPPETS


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(SNIPPETS[number], f"README snippet {number + 1}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snippets of a page, one after another, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    snippets = re.findall(
        r"^```python\n(.*?)^```", guide.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert snippets
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"{guide.name} snippet {number + 1}", "exec"), names)


def test_commands_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    wanted = set(re.findall(r"^make (\w+)", README, flags=re.MULTILINE))
    assert {"demo", "test"} <= wanted
    assert wanted <= set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_linked_files_exist(link: str) -> None:
    assert (ROOT / link).exists()
