"""Every link within the documentation leads somewhere: files, and headings by their anchors."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    if path.is_file()
)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def prose(text: str) -> str:
    """The text without blocks of code and without code in backticks."""
    whole = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?:(?!\1).)+\1", "``", whole)


def anchors(text: str) -> set[str]:
    """What the headings of a page are linked by, as GitHub makes it."""
    headings = re.findall(
        r"^#{1,6} +(.+?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.M
    )
    seen: Counter[str] = Counter()
    found = set()
    for heading in headings:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(pages: list[Path], root: Path) -> list[str]:
    """Links that lead nowhere, as "page: link"."""
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in pages}
    found = []
    for page, text in texts.items():
        for link in _LINK.findall(prose(text)):
            if re.match(r"[a-z]+:", link):
                continue  # another site
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            lost = not target.exists()
            if not lost and anchor:
                told = texts.get(target)
                lost = told is None or anchor not in anchors(told)
            if lost:
                found.append(f"{page.relative_to(root)}: {link}")
    return found


def test_links_lead_somewhere():
    assert not broken(PAGES, ROOT)


def test_every_page_of_the_documentation_is_linked():
    """From the README, in at most some steps."""
    reached, open_ = set(), [ROOT / "README.md"]
    while open_:
        page = open_.pop()
        if page in reached or not page.is_file():
            continue
        reached.add(page)
        links = _LINK.findall(prose(page.read_text(encoding="utf-8")))
        near = [(page.parent / link.partition("#")[0]).resolve() for link in links if ":" not in link]
        inside = [path / "README.md" if path.is_dir() else path for path in near]
        open_ += [path for path in inside if path.suffix == ".md"]
    lost = [page.relative_to(ROOT).as_posix() for page in PAGES if page.resolve() not in reached]
    assert not lost


def test_lost_links_are_found(tmp_path: Path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# One, two × three\n\n## One, two × three\n\n```\n# not a heading\n```\n")
    page.write_text(
        "[a](other.md) [b](other.md#one-two--three) [c](other.md#one-two--three-1) `x[0](gone.md)`\n"
        "[d](other.md#not-a-heading) [e](gone.md) [f](#nowhere) [g](https://example.org/gone)\n"
    )
    lost = ["page.md: other.md#not-a-heading", "page.md: gone.md", "page.md: #nowhere"]
    assert broken([page, other], tmp_path) == lost
