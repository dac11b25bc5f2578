"""Dots with intervals beside names: scores of methods, of groups of rows, of a model and a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from weald.pictures.svg.plot import Chart, Plot, box, dot, line, name_at_left, room_for, told
from weald.pictures.svg.scales import number, scale_of

_ROW = 26.0


def intervals(
    title: str,
    says: str,
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    of: str,
    what: str,
    reference: tuple[str, float] | None = None,
    reference_interval: tuple[float, float] | None = None,
) -> Chart:
    """One dot and its interval per name, and a line for what they are held against.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    names : sequence of str
        From the top.
    values, low, high : sequence of float
        Dots and the ends of their intervals.
    of, what : str
        What values and names are.
    reference : tuple of str and float, default=None
        What they are held against, in words and as a value.
    reference_interval : tuple of float, default=None
        Its interval.
    """
    plot = Plot(440, 44 + _ROW * len(names), left=room_for(names, 190), top=4, bottom=38)
    against = [] if reference is None else [reference[1]]
    scale = scale_of([*values, *low, *high, *against], *plot.across)
    plot.x_axis(scale, of, 4)
    bottom, top = plot.up
    legend: tuple[tuple[str, str], ...] = ()
    if reference is not None:
        if reference_interval is not None:
            x1, x2 = (scale(each) for each in reference_interval)
            plot.add(box(x1, top, x2 - x1, bottom - top, "soft faint"))
        x = scale(reference[1])
        plot.add(line(x, top, x, bottom, "zero dashed"))
        legend = (("zero", f"{reference[0]}: {number(reference[1])}"),)
    rows = []
    for k, (name, value, start, end) in enumerate(zip(names, values, low, high, strict=True)):
        y = plot.top + _ROW * (k + 0.5)
        plot.add(
            name_at_left(plot.left - 7, y + 4, name, plot.left - 10),
            line(scale(start), y, scale(end), y, "stroke c0 thick"),
            dot(scale(value), y, 4.5, "fill c0 ring"),
        )
        rows.append(told(name, value, start, end))
    return Chart(title, says, plot.done(title, says), (what, of, "95 % from", "to"), tuple(rows), legend)
