"""Every path and file name that the documentation puts in backticks is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "src" / "core").rglob("README.md")),
]
#: paths may be told from the top, or from where all of one language begin
STARTS = ("", "src/", "src/weald/")
#: what is in the repository, and the endings by which a word is the name of a file
FOLDERS = ("src", "tests", "benchmarks", "docs")
ENDINGS = ("py", "pyi", "h", "cpp", "md", "toml", "json", "txt")
#: examples of users' files
OTHERS = {"train.txt", "test.txt", "train.csv"}

_FILE = re.compile(rf"[\w*./-]*\.(?:{'|'.join(ENDINGS)}|\*)")
_FOLDER = re.compile(r"(?:src|weald|core|tests|benchmarks|docs)(?:/[\w*.-]+)+/?")


def present(root: Path) -> set[str]:
    """Files and folders of the repository, by their paths from the top."""
    top = {path.name for path in root.iterdir() if path.is_file()}
    below = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    inside = {path.relative_to(root).as_posix() for path in below if path.suffix not in (".pyc", ".so")}
    return {name for name in top | inside if "__pycache__" not in name}


def mentions(text: str) -> Iterator[tuple[str, int]]:
    """Words that look like a path or a file, with their lines: in backticks, or in pictures made of text."""
    fence = None  # the language of the block of code that a line is in
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = line.strip().strip("`") if fence is None else None
            continue
        words = re.findall(r"`([^`\s]+)`", line) if fence is None else line.split()
        if fence is None or not fence:
            for word in words:
                if (_FILE.fullmatch(word) or _FOLDER.fullmatch(word)) and word not in OTHERS:
                    yield word, number


def is_there(word: str, near: str, files: set[str], names: set[str]) -> bool:
    """Whether a path, from the top or from the folder `near`, or the bare name of some file exists."""
    word = word.rstrip("/")
    wanted = {start + word for start in (*STARTS, f"{near}/")}
    if "*" in word:
        return any(fnmatchcase(each, one) for one in wanted for each in files) or (
            "/" not in word and any(fnmatchcase(each, word) for each in names)
        )
    inside = "/" in word and any(each.endswith(f"/{word}") for each in files)
    return bool(wanted & files) or inside or ("/" not in word and word in names)


def stale(pages: Iterable[Path], root: Path) -> list[str]:
    """What pages name that is not there, as "page:line names word"."""
    files = present(root)
    names = {each.rsplit("/", 1)[-1] for each in files}
    return [
        f"{page.relative_to(root)}:{line} names {word}"
        for page in pages
        for word, line in mentions(page.read_text(encoding="utf-8"))
        if not is_there(word, page.parent.relative_to(root).as_posix(), files, names)
    ]


def test_what_the_documentation_names_exists() -> None:
    found = stale(PAGES, ROOT)
    assert not found, "\n".join(["The documentation names what is not there:", *found])


def test_a_made_up_path_is_found(tmp_path: Path) -> None:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "tops.h").touch()
    page = tmp_path / "docs" / "page.md"
    page.write_text(
        "`tops.h`, `tops.*`, `src/tops.h`, `tree.fit(X)`, `1.5`\n"
        "```python\nsrc/nowhere.h\n```\n"
        "`src/gone.h`, `gone.*`, `weald/gone`, `gone.py`\n"
        "```\n  Table   src/lost.h\n```\n"
    )
    gone = ("src/gone.h", "gone.*", "weald/gone", "gone.py")
    expected = [f"docs/page.md:5 names {word}" for word in gone]
    assert stale([page], tmp_path) == [*expected, "docs/page.md:7 names src/lost.h"]
