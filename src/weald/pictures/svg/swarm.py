"""A beeswarm: a dot for each row and column, placed by what the column adds, coloured by its value."""

from __future__ import annotations

from collections.abc import Sequence

from weald.pictures.svg.markup import place, tag
from weald.pictures.svg.plot import Chart, Plot, line, name_at_left, room_for, told
from weald.pictures.svg.scales import scale_of

_ROW = 34.0
_HUES = 7


def swarm(
    title: str,
    says: str,
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    ranks: Sequence[Sequence[float | None]],
    *,
    of: str,
) -> Chart:
    """Dots in rows of the chart, one per column of the table.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    names : sequence of str
        The columns, from the top.
    values : sequence of sequences of float
        What each column adds to each row.
    ranks : sequence of sequences of float or None
        From 0 for the lowest value of the column to 1 for the highest; None has no colour.
    of : str
        What the values are.
    """
    plot = Plot(440, 40 + _ROW * len(names), left=room_for(names, 168), top=4, bottom=36)
    scale = scale_of([each for row in values for each in row], *plot.across, zero=False)
    plot.x_axis(scale, of)
    if scale.low < 0 < scale.high:
        plot.add(line(scale(0), plot.top, scale(0), plot.up[0], "zero"))
    rows = []
    for k, (name, row, hues) in enumerate(zip(names, values, ranks, strict=True)):
        y = plot.top + _ROW * (k + 0.5)
        plot.add(name_at_left(plot.left - 7, y + 4, name, plot.left - 10))
        away = _apart([scale(value) for value in row])
        parts: dict[str, list[str]] = {}
        for value, hue, off in zip(row, hues, away, strict=True):
            class_ = "none" if hue is None else f"{min(_HUES - 1, int(hue * _HUES))}"
            parts.setdefault(class_, []).append(f"M{place(scale(value))} {place(y + off)}h0")
        for class_, commands in sorted(parts.items()):
            plot.add(tag("path", d="".join(commands), class_=f"bee v{class_}"))
        ordered = sorted(row)
        at = [ordered[round(q * (len(ordered) - 1))] for q in (0.0, 0.25, 0.5, 0.75, 1.0)] if ordered else []
        rows.append(told(name, sum(abs(value) for value in row) / max(len(row), 1), *at))
    legend = (("v0", "low value"), ("v3", "middle"), ("v6", "high value"), ("vnone", "category or missing"))
    head = ("column", "mean size", "lowest", "quartile", "median", "quartile", "highest")
    return Chart(title, says, plot.done(title, says), head, tuple(rows), legend)


def _apart(places: Sequence[float], width: float = 3.4, most: float = 14.0) -> list[float]:
    """How far up or down each dot goes, so that those at one place stand beside each other."""
    counts: dict[int, int] = {}
    sizes: dict[int, int] = {}
    cells = [int(x / width) for x in places]
    for cell in cells:
        sizes[cell] = sizes.get(cell, 0) + 1
    away = []
    for cell in cells:
        k = counts.get(cell, 0)
        counts[cell] = k + 1
        step = min(width, 2 * most / max(sizes[cell] - 1, 1))
        away.append(((k + 1) // 2) * step * (1 if k % 2 else -1))
    return away
