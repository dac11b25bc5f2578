"""Tags of HTML and SVG: whatever is not `Markup` is escaped, so that no name from data can become a tag."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

#: tags that have no end
_VOID = frozenset({"meta", "input", "br", "link", "img", "hr"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: object) -> Markup:
    """One element; children that are not `Markup` are escaped, attributes always.

    Parameters
    ----------
    name : str
        Of the element.
    *children : str or None
        What it holds; None is nothing.
    **attributes
        By name; "_" at the end is left out, others are written "-". None and False leave one out, True
        writes it bare.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "&"), class_="a", hidden=True)
    '<p class="a" hidden>1 &lt; 2 <b>&amp;</b></p>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        text = place(value) if isinstance(value, float) else str(value)
        words.append(key if value is True else f'{key}="{escape(text)}"')
    opened = f"<{' '.join(words)}>"
    if name in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{joined(children)}</{name}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Children one after the other, escaped where they are plain text."""
    return Markup(
        "".join(
            each if isinstance(each, Markup) else escape(each, quote=False)
            for each in children
            if each is not None
        )
    )


def place(value: float) -> str:
    """A coordinate: one decimal, which is less than eyes can tell.

    >>> place(12.04), place(-0.02)
    ('12', '0')
    """
    text = f"{value:.1f}"
    return {"-0.0": "0"}.get(text, text.removesuffix(".0"))
