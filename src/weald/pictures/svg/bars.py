"""Bars beside names: importances with a line of an interval, counts of labels."""

from __future__ import annotations

from collections.abc import Sequence

from weald.pictures.svg.plot import Chart, Plot, box, line, name_at_left, room_for, told
from weald.pictures.svg.scales import number, scale_of

_ROW = 24.0


def bars(
    title: str,
    says: str,
    names: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float] | None = None,
    *,
    of: str,
    what: str = "column",
    half_width: float = 1.96,
    most: int = 1000,
) -> Chart:
    """One bar per name; with standard errors a line of 95 % over each end.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    names, values : sequence
        The bars, from the top.
    errors : sequence of float, default=None
        Standard errors.
    of, what : str
        What the values and the names are.
    half_width : float, default=1.96
        Standard errors to either side.
    most : int
        Bars that are drawn; the table has all.
    """
    n = min(len(names), most)
    plot = Plot(440, 34 + _ROW * n, left=room_for(names[:n], 168), top=4, bottom=36)
    away = [0.0] * len(names) if errors is None else [half_width * _there(each) for each in errors]
    ends = [value + sign * each for value, each in zip(values[:n], away[:n], strict=True) for sign in (-1, 1)]
    scale = scale_of(ends, *plot.across, zero=True)
    plot.x_axis(scale, of, 4)
    rows = []
    for k, (name, value, half) in enumerate(zip(names, values, away, strict=True)):
        more = () if errors is None else (value - half, value + half)
        rows.append(told(name, value, *more))
        if k >= n:
            continue
        y = plot.top + _ROW * k
        plot.add(
            name_at_left(plot.left - 7, y + 16, name, plot.left - 10),
            box(scale(0), y + 4, scale(value) - scale(0), _ROW - 8, "fill c0", f"{name}: {number(value)}"),
        )
        if half > 0:
            middle = y + _ROW / 2
            plot.add(line(scale(value - half), middle, scale(value + half), middle, "whisker"))
    plot.add(line(scale(0), plot.top, scale(0), plot.up[0], "zero"))
    head = (what, of, *(() if errors is None else ("95 % from", "to")))
    return Chart(title, says, plot.done(title, says), head, tuple(rows))


def pairs(
    title: str,
    says: str,
    names: Sequence[str],
    first: Sequence[float],
    second: Sequence[float],
    *,
    words: tuple[str, str],
    of: str,
    what: str,
) -> Chart:
    """Two bars per name, such as shares in two tables."""
    plot = Plot(440, 34 + 30 * len(names), left=room_for(names, 150), top=4, bottom=36)
    scale = scale_of([*first, *second], *plot.across, zero=True)
    plot.x_axis(scale, of, 4)
    rows = []
    for k, (name, a, b) in enumerate(zip(names, first, second, strict=True)):
        y = plot.top + 30 * k
        plot.add(
            name_at_left(plot.left - 7, y + 19, name, plot.left - 10),
            box(scale(0), y + 4, scale(a) - scale(0), 10, "fill c0"),
            box(scale(0), y + 15, scale(b) - scale(0), 10, "fill c1"),
        )
        rows.append(told(name, a, b))
    plot.add(line(scale(0), plot.top, scale(0), plot.up[0], "zero"))
    legend = (("c0", words[0]), ("c1", words[1]))
    return Chart(title, says, plot.done(title, says), (what, *words), tuple(rows), legend)


def _there(value: float) -> float:
    return value if value == value else 0.0  # NaN: no error is known
