"""One row: from what is there without any column, step by step, to what the model says."""

from __future__ import annotations

from collections.abc import Sequence

from weald.pictures.svg.markup import Markup
from weald.pictures.svg.plot import LETTER, Chart, Plot, box, line, name_at_left, room_for, told
from weald.pictures.svg.plot import text as words_at
from weald.pictures.svg.scales import number, scale_of

_ROW = 25.0


def waterfall(title: str, says: str, base: float, steps: Sequence[tuple[str, float]], *, of: str) -> Chart:
    """Bars from the base value to the sum, one per step.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    base : float
        What is there without any column.
    steps : sequence of (str, float)
        A column with its value in words, and what it adds.
    of : str
        What is added up.
    """
    names = [name for name, _ in steps]
    plot = Plot(440, 62 + _ROW * len(steps), left=room_for(names, 190), top=20, bottom=40)
    at, levels = base, [base]
    for _, adds in steps:
        at += adds
        levels.append(at)
    scale = scale_of(levels, *plot.across, margin=0.12)
    plot.x_axis(scale, of, 4)
    plot.add(line(scale(base), plot.top - 6, scale(base), plot.up[0], "zero dashed"))
    plot.add(words_at(scale(base), 11, f"average {number(base, 3)}", anchor=_anchor(scale(base))))
    rows = [told("without any column", "", base)]
    for k, (name, adds) in enumerate(steps):
        y, start, end = plot.top + _ROW * k, levels[k], levels[k + 1]
        sign = "+" if adds >= 0 else ""
        width = scale(end) - scale(start)
        plot.add(
            name_at_left(plot.left - 7, y + 16, name, plot.left - 10),
            box(scale(start), y + 4, width or 0.5, _ROW - 9, f"fill {'c1' if adds >= 0 else 'c0'}"),
            line(scale(end), y + 4, scale(end), y + _ROW + 4, "joint"),
        )
        plot.add(_amount(f"{sign}{number(adds, 3)}", scale(start), scale(end), y + 16, plot.across[1]))
        rows.append(told(name, f"{sign}{number(adds)}", end))
    legend = (("c1", "raises it"), ("c0", "lowers it"))
    head = ("column", "adds", "sum")
    return Chart(title, says, plot.done(title, says), head, tuple(rows), legend)


def _amount(words: str, start: float, end: float, y: float, most: float) -> Markup:
    """A number in its bar where it fits, else beside it."""
    left, right = sorted((start, end))
    room = LETTER * len(words) + 6
    if right - left > room:
        return words_at((left + right) / 2, y, words, "count strong", anchor="middle")
    if right + room < most:
        return words_at(right + 5, y, words, "count")
    return words_at(left - 5, y, words, "count", anchor="end")


def _anchor(x: float) -> str:
    return "start" if x < 220 else "end" if x > 380 else "middle"
