"""What charts have in common: an area with axes, and the table of their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weald.pictures.svg.markup import Markup, joined, place, tag
from weald.pictures.svg.scales import Scale, clipped, number, tick_text, ticks

#: of a letter of 12 px
LETTER = 6.3


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, what it shows in words, and its numbers as a table."""

    title: str
    says: str
    svg: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    #: what colours and lines mean: (class, words)
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Plot:
    """A drawing in the making. The area of values is inside the margins."""

    width: float
    height: float
    left: float = 46.0
    right: float = 12.0
    top: float = 10.0
    bottom: float = 40.0
    parts: list[Markup] = field(default_factory=list)

    @property
    def across(self) -> tuple[float, float]:
        """The left and right end of the area."""
        return self.left, self.width - self.right

    @property
    def up(self) -> tuple[float, float]:
        """The lower and upper end of the area."""
        return self.height - self.bottom, self.top

    def add(self, *parts: Markup | None) -> None:
        """Draw over what is there."""
        self.parts += [each for each in parts if each is not None]

    def x_axis(self, scale: Scale, name: str, about: int = 5, at: Sequence[float] | None = None) -> None:
        """Ticks, lines and a name below."""
        bottom, top = self.up
        for value in ticks(scale.low, scale.high, about) if at is None else at:
            x = scale(value)
            self.add(line(x, top, x, bottom, "grid"), text(x, bottom + 15, tick_text(value), anchor="middle"))
        if name:
            self.add(text(sum(self.across) / 2, self.height - 5, name, "name", anchor="middle"))

    def y_axis(self, scale: Scale, name: str, about: int = 5) -> None:
        """Ticks, lines and a name at the left."""
        left, right = self.across
        for value in ticks(scale.low, scale.high, about):
            y = scale(value)
            self.add(line(left, y, right, y, "grid"), text(left - 6, y + 4, tick_text(value), anchor="end"))
        if name:
            x, y = 11.0, sum(self.up) / 2
            turn = f"rotate(-90 {place(x)} {place(y)})"
            self.add(text(x, y, name, "name", anchor="middle", transform=turn))

    def done(self, title: str, says: str) -> Markup:
        """The drawing."""
        return tag(
            "svg",
            tag("title", title),
            tag("desc", says),
            *self.parts,
            role="img",
            aria_label=title,
            viewBox=f"0 0 {place(self.width)} {place(self.height)}",
            class_="chart",
        )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("path", d=f"M{place(x1)} {place(y1)}L{place(x2)} {place(y2)}", class_=class_)


def text(x: float, y: float, words: str, class_: str | None = None, **more: object) -> Markup:
    """Words at a place; `anchor` says which end of them is there."""
    anchor = more.pop("anchor", None)
    if anchor is not None:
        more["text_anchor"] = anchor
    return tag("text", words, x=float(x), y=float(y), class_=class_, **more)


def name_at_left(x: float, y: float, words: str, room: float) -> Markup:
    """A name that ends at x, cut to its room; the whole name is told on hovering."""
    shown = clipped(words, max(4, int(room / LETTER)))
    whole = None if shown == words else tag("title", words)
    return tag("text", joined([shown, whole]), x=float(x), y=float(y), text_anchor="end")


def room_for(names: Iterable[str], most: float) -> float:
    """The margin that names need."""
    return min(most, 12 + LETTER * max((len(name) for name in names), default=1))


def box(x: float, y: float, width: float, height: float, class_: str, words: str | None = None) -> Markup:
    """A rectangle; negative sizes are turned round."""
    title = None if words is None else tag("title", words)
    return tag(
        "rect",
        title,
        x=float(min(x, x + width)),
        y=float(min(y, y + height)),
        width=abs(float(width)),
        height=abs(float(height)),
        class_=class_,
    )


def dot(x: float, y: float, radius: float, class_: str) -> Markup:
    """A filled circle."""
    return tag("circle", cx=float(x), cy=float(y), r=float(radius), class_=class_)


def path_of(points: Iterable[tuple[float, float]]) -> str:
    """The commands of a line through points."""
    return "".join(f"{'L' if k else 'M'}{place(x)} {place(y)}" for k, (x, y) in enumerate(points))


def curve(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line through points."""
    return tag("path", d=path_of(points), class_=class_)


def band(x: Sequence[float], low: Sequence[float], high: Sequence[float], class_: str) -> Markup:
    """The area between two lines."""
    there = list(zip(x, high, strict=True))
    back = list(zip(reversed(x), reversed(low), strict=True))
    return tag("path", d=path_of([*there, *back]) + "Z", class_=class_)


def told(*values: float | int | str | None, digits: int = 4) -> tuple[str, ...]:
    """The cells of a row of a table."""
    return tuple(each if isinstance(each, str) else number(each, digits) for each in values)
