"""Curves with bands: calibration, ROC, dependence, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weald.pictures.svg.plot import Chart, Plot, band, curve, dot, line, name_at_left, room_for, told
from weald.pictures.svg.scales import Scale, scale_of


@dataclass(frozen=True, slots=True)
class Line:
    """One curve, with a band if its ends are known."""

    name: str
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def lines(
    title: str,
    says: str,
    x: Sequence[float],
    shown: Sequence[Line],
    *,
    x_name: str,
    y_name: str,
    square: bool = False,
    diagonal: str | None = None,
    level: tuple[str, float] | None = None,
    dots: bool = False,
    marks: Sequence[float] = (),
    mark: tuple[str, float] | None = None,
) -> Chart:
    """Curves over one axis.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    x : sequence of float
        The points of all curves.
    shown : sequence of Line
        The curves, at most eight.
    x_name, y_name : str
        What the axes are.
    square : bool, default=False
        Whether both axes go from 0 to 1.
    diagonal, level : default=None
        A line from (0, 0) to (1, 1), or at a height, and what it means.
    dots : bool, default=False
        Whether to mark the points.
    marks : sequence of float
        Little lines at the bottom, such as deciles of rows.
    mark : tuple of str and float, default=None
        A place on the axis that has a name.
    """
    plot = Plot(440, 290 if square else 240, left=56)
    every = [value for each in shown for part in (each.y, each.low, each.high) for value in part or ()]
    every += [] if level is None else [level[1]]
    sx = Scale(0, 1, *plot.across) if square else scale_of(x, *plot.across, margin=0.0)
    sy = Scale(0, 1, *plot.up) if square else scale_of(every, *plot.up)
    whole = len(x) <= 8 and all(value == round(value) for value in x)
    plot.x_axis(sx, x_name, at=list(x) if whole else None)
    plot.y_axis(sy, y_name)
    legend = []
    if diagonal is not None:
        plot.add(line(sx(0), sy(0), sx(1), sy(1), "zero dashed"))
        legend.append(("zero", diagonal))
    if level is not None:
        plot.add(line(plot.left, sy(level[1]), plot.across[1], sy(level[1]), "zero dashed"))
        legend.append(("zero", level[0]))
    if mark is not None:
        plot.add(line(sx(mark[1]), plot.up[1], sx(mark[1]), plot.up[0], "zero dashed"))
        legend.append(("zero", mark[0]))
    for value in marks:
        plot.add(line(sx(value), plot.up[0], sx(value), plot.up[0] - 5, "rug"))
    places = [sx(value) for value in x]
    for k, each in enumerate(shown):
        if each.low is not None and each.high is not None:
            low, high = ([sy(value) for value in part] for part in (each.low, each.high))
            plot.add(band(places, low, high, f"fill c{k} faint"))
    for k, each in enumerate(shown):
        points = [(at, sy(value)) for at, value in zip(places, each.y, strict=True)]
        plot.add(curve(points, f"stroke c{k} d{k}"))
        if dots:
            plot.add(*(dot(at, height, 3.5, f"fill c{k} ring") for at, height in points))
    several = len(shown) > 1
    legend = [*((f"c{k} d{k}", each.name) for k, each in enumerate(shown) if several), *legend]
    return Chart(title, says, plot.done(title, says), *_table(x_name, x, shown), tuple(legend))


def _table(
    x_name: str, x: Sequence[float | str], shown: Sequence[Line]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    head = [x_name]
    for each in shown:
        head += [each.name, *(() if each.low is None else ("95 % from", "to"))]
    rows = []
    for k, at in enumerate(x):
        cells: list[float | str] = [at]
        for each in shown:
            cells.append(each.y[k])
            if each.low is not None and each.high is not None:
                cells += [each.low[k], each.high[k]]
        rows.append(told(*cells))
    return tuple(head), tuple(rows)


def levels(
    title: str, says: str, names: Sequence[str], shown: Sequence[Line], *, of: str, most: int = 14
) -> Chart:
    """The same for categories: dots with intervals beside their names, from the highest value down.

    Of more than `most` the highest and the lowest are drawn; the table has all.
    """
    order = sorted(range(len(names)), key=lambda k: -shown[0].y[k])
    drawn = order if len(order) <= most else [*order[: most // 2], *order[-(most - most // 2) :]]
    row = 14.0 + 10 * len(shown)
    plot = Plot(440, 44 + row * len(drawn), left=room_for((names[k] for k in drawn), 168), top=4, bottom=38)
    ends = [part[k] for each in shown for part in (each.y, each.low, each.high) if part for k in drawn]
    scale = scale_of(ends, *plot.across)
    plot.x_axis(scale, of, 4)
    for i, k in enumerate(drawn):
        middle = plot.top + row * (i + 0.5)
        plot.add(name_at_left(plot.left - 7, middle + 4, names[k], plot.left - 10))
        for j, each in enumerate(shown):
            y = middle + (j - (len(shown) - 1) / 2) * 9
            if each.low is not None and each.high is not None:
                plot.add(line(scale(each.low[k]), y, scale(each.high[k]), y, f"stroke c{j} thick"))
            plot.add(dot(scale(each.y[k]), y, 4, f"fill c{j} ring"))
    if len(drawn) < len(order):
        y = plot.top + row * (most // 2)
        plot.add(line(plot.left, y, plot.across[1], y, "zero dashed"))
    legend = tuple((f"c{k}", each.name) for k, each in enumerate(shown) if len(shown) > 1)
    head, rows = _table("level", names, shown)
    return Chart(title, says, plot.done(title, says), head, tuple(rows[k] for k in order), legend)
