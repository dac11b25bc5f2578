"""What sections are made of: cards, figures with their numbers, tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from weald.pictures.svg.markup import Markup, joined, tag
from weald.pictures.svg.plot import Chart


def section(name: str, title: str, lead: str | Markup | None, *children: Markup | None) -> Markup:
    """A section with a heading; `name` is what the list of contents points at."""
    heading = tag("h2", title, id=f"{name}-title")
    opening = None if lead is None else tag("p", lead, class_="lead")
    return tag("section", heading, opening, *children, id=name, aria_labelledby=f"{name}-title")


def figure(chart: Chart, *more: Markup | None, level: int = 3) -> Markup:
    """A chart under its title, with what its colours mean and the numbers behind it."""
    keys = [tag("li", tag("span", "", class_=f"key {class_}"), words) for class_, words in chart.legend]
    return tag(
        "figure",
        tag("figcaption", tag(f"h{level}", chart.title), tag("p", chart.says)),
        chart.svg,
        tag("ul", *keys, class_="legend") if keys else None,
        *more,
        numbers(chart.title, chart.head, chart.rows),
        class_="card",
    )


def charts(*figures: Markup | None) -> Markup | None:
    """Figures beside each other where there is room."""
    there = [each for each in figures if each is not None]
    return tag("div", *there, class_="charts") if there else None


def numbers(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A table that is closed until it is asked for."""
    hidden = tag("span", f" of “{title}”", class_="hidden")
    return tag(
        "details",
        tag("summary", "Numbers", hidden),
        table(f"Numbers of {title}", head, rows),
        class_="numbers",
    )


def table(
    name: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str | Markup]],
    *,
    sortable: bool = False,
    texts: Collection[int] = (),
) -> Markup:
    """A table whose first cells are headings of rows; it scrolls by itself where it is too wide.

    Cells of `texts`, by their place, stand at the left, as the first ones do; others are numbers.
    """
    sides = ["t" if k in texts else None for k in range(len(head))]
    heads = (tag("th", each, scope="col", class_=side) for each, side in zip(head, sides, strict=True))
    body = tag("tbody", *(_row(each, sides) for each in rows))
    top = tag("thead", tag("tr", *heads))
    made = tag(
        "table", tag("caption", name, class_="hidden"), top, body, class_="sortable" if sortable else None
    )
    return tag("div", made, class_="scroll", tabindex="0", role="group", aria_label=name)


def _row(cells: Sequence[str | Markup], sides: Sequence[str | None]) -> Markup:
    first, *others = cells
    rest = (tag("td", each, class_=side) for each, side in zip(others, sides[1:], strict=True))
    return tag("tr", tag("th", first, scope="row"), *rest)


def facts(pairs: Iterable[tuple[str, str | Markup]]) -> Markup:
    """Names and what belongs to them."""
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="facts"
    )


def remarks(notes: Sequence[str]) -> Markup | None:
    """Sentences at the end of a section."""
    return tag("div", *(tag("p", note) for note in notes), class_="notes") if notes else None


def code(text: str, name: str) -> Markup:
    """Lines to copy; the script adds a button."""
    return tag("pre", tag("code", text), class_="copy", tabindex="0", role="group", aria_label=name)


def words(*parts: str | Markup | None) -> Markup:
    """A sentence with markup in it."""
    return joined(parts)
