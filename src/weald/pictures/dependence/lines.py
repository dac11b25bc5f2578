"""One column: a curve for each target with its band, curves of single rows behind it, deciles below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.dependence.records import DependenceCurves, PartialDependence
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour, tint
from weald.pictures.dependence.panels import GREY, INK, PALE, SMALL, broken, level_names, number, quiet, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: categories that are drawn
MOST_LEVELS = 15
#: characters of a title in an inch
_PER_INCH = 12


def draw_lines(
    axes: Axes,
    record: DependenceCurves,
    *,
    band: str,
    confidence: float,
    most_lines: int,
    label: str,
    legend: bool = True,
) -> None:
    """Draw the curves of one column.

    Parameters
    ----------
    axes : Axes
        Where.
    record : DependenceCurves
        Of one column.
    band : {"error", "quantiles", "none"}
        What the band shows: the interval for the mean, or where 80 % of the rows' curves are.
    confidence : float
        Of the interval.
    most_lines : int
        Of the curves of rows.
    label : str
        What the values are.
    legend : bool
        Whether to tell the targets apart, if there are several.
    """
    numeric = record.kinds[0] == "numeric"
    low, high = _band(record, band, confidence)
    shown = np.arange(len(record.grid[0])) if numeric else _shown_levels(record)
    rows = _thinned(record, most_lines)
    for t in range(len(record.targets)):
        colour = class_colour(t)
        parts = record.values[t], low[t], high[t]
        if rows is not None and t == 0:
            _row_lines(axes, record, rows, shown, numeric)
        if not isinstance(record, PartialDependence) or record.kind != "individual":
            draw = _numbers if numeric else _levels
            draw(axes, record, shown, parts, colour, str(record.targets[t]), t)
    _finish(axes, record, shown, numeric, rows)
    axes.set_ylabel(broken(label))
    if legend and len(record.targets) > 1:
        axes.legend(fontsize=SMALL, framealpha=0.85, edgecolor=PALE, labelcolor=INK)


def _band(record: DependenceCurves, band: str, confidence: float) -> tuple[Floats, Floats]:
    if band == "quantiles" and isinstance(record, PartialDependence) and record.individual is not None:
        low, high = record.quantiles(0.1, 0.9)
        return low, high
    if band == "none":
        return record.values, record.values
    low, high = record.band(confidence)
    known = np.isfinite(low)
    return np.where(known, low, record.values), np.where(known, high, record.values)


def _shown_levels(record: DependenceCurves) -> NDArray[np.intp]:
    """Which categories are drawn: those that differ most, if there are too many."""
    n = len(record.grid[0])
    if n <= MOST_LEVELS:
        return np.arange(n)
    apart = np.abs(record.values - np.median(record.values, axis=1, keepdims=True)).max(axis=0)
    return np.sort(np.argsort(-apart, kind="stable")[:MOST_LEVELS])


def _thinned(record: DependenceCurves, most: int) -> NDArray[np.intp] | None:
    """Rows whose curves are drawn: of many, some at equal distances in the order of their mean."""
    if not isinstance(record, PartialDependence) or record.individual is None or most <= 0:
        return None
    curves = record.individual[0]
    order = np.argsort(curves.mean(axis=1), kind="stable")
    if len(order) <= most:
        return order
    return order[np.round(np.linspace(0, len(order) - 1, most)).astype(np.intp)]


def _places(record: DependenceCurves, shown: NDArray[np.intp], numeric: bool) -> tuple[NDArray[Any], int]:
    """Where points are on the axis, and how many of them a line joins: a missing value stands apart."""
    if not numeric:
        return np.arange(len(shown), dtype=np.float64), len(shown)
    points = record.grid[0]
    n = len(points) - record.missing[0]
    if points.dtype.kind in "Mm":
        points = _times(points)
    x = np.array(points, np.float64)
    if record.missing[0]:
        span = x[n - 1] - x[0] if n > 1 else 1.0
        x[n] = (x[n - 1] if n else 0.0) + 0.1 * (span or 1.0)
    return x, n


def _times(points: NDArray[Any]) -> Floats:
    # matplotlib's dates are days since 1970, durations days too.
    since = points.view(points.dtype.str.replace("M8", "m8"))
    found: Floats = since / np.timedelta64(1, "D")
    return found


def _row_lines(
    axes: Axes, record: DependenceCurves, rows: NDArray[np.intp], shown: NDArray[np.intp], numeric: bool
) -> None:
    from matplotlib.collections import LineCollection

    assert isinstance(record, PartialDependence)
    assert record.individual is not None
    x, n = _places(record, shown, numeric)
    curves = record.individual[0][rows][:, shown]
    alpha = float(np.clip(18.0 / max(1, len(rows)), 0.06, 0.5))
    lines = [np.column_stack([x[:n], curve[:n]]) for curve in curves]
    axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.7, alpha=alpha, zorder=1))
    if n < len(x):
        axes.plot(np.repeat(x[n], len(rows)), curves[:, n], "_", color=GREY, alpha=alpha, zorder=1)
    axes.autoscale_view()


def _numbers(
    axes: Axes,
    record: DependenceCurves,
    shown: NDArray[np.intp],
    parts: tuple[Floats, Floats, Floats],
    colour: str,
    name: str,
    t: int,
) -> None:
    x, n = _places(record, shown, True)
    value, low, high = parts
    axes.fill_between(x[:n], low[:n], high[:n], color=tint(colour, 0.35), linewidth=0, alpha=0.6, zorder=2)
    few = n <= 12
    axes.plot(
        x[:n],
        value[:n],
        "o-" if few else "-",
        color=colour,
        linewidth=1.8,
        markersize=4,
        label=name,
        zorder=3,
    )
    if n < len(x):
        axes.errorbar(
            x[n], value[n], yerr=[[value[n] - low[n]], [high[n] - value[n]]], fmt="D", **_mark(colour)
        )


def _levels(
    axes: Axes,
    record: DependenceCurves,
    shown: NDArray[np.intp],
    parts: tuple[Floats, Floats, Floats],
    colour: str,
    name: str,
    t: int,
) -> None:
    x, _ = _places(record, shown, False)
    value, low, high = (part[shown] for part in parts)
    n_targets = len(record.targets)
    x = x + (0.5 * (t - (n_targets - 1) / 2) / n_targets if n_targets > 1 else 0.0)
    fmt = "o-" if record.kinds[0] == "ordinal" and not record.missing[0] else "o"
    axes.errorbar(
        x, value, yerr=[value - low, high - value], fmt=fmt, label=name, linewidth=1.2, **_mark(colour)
    )


def _mark(colour: str) -> dict[str, Any]:
    return {
        "color": colour,
        "ecolor": tint(colour, 0.7),
        "markersize": 5,
        "capsize": 3,
        "elinewidth": 1.3,
        "zorder": 3,
    }


def _finish(
    axes: Axes,
    record: DependenceCurves,
    shown: NDArray[np.intp],
    numeric: bool,
    rows: NDArray[np.intp] | None,
) -> None:
    axes.set_xlabel(short(record.columns[0], 40))
    if numeric:
        _number_ticks(axes, record, shown)
    else:
        names = level_names(record.grid[0][shown])
        turned = sum(map(len, names)) > 24 or len(names) > 8
        axes.set_xticks(np.arange(len(shown)), names)
        if turned:
            axes.tick_params(axis="x", rotation=60 if len(names) > 8 else 35)
            for tick in axes.get_xticklabels():
                tick.set_horizontalalignment("right")
                tick.set_rotation_mode("anchor")
        axes.set_xlim(-0.6, len(shown) - 0.4)
    quiet(axes)
    notes = []
    if len(shown) < len(record.grid[0]):
        notes.append(f"{len(shown)} of {len(record.grid[0])} categories, those that differ most")
    if rows is not None and isinstance(record, PartialDependence) and record.individual is not None:
        n_rows = record.individual.shape[1]
        if len(rows) < n_rows:
            notes.append(f"{len(rows)} of {n_rows:,} rows")
    if notes:
        room = int(_PER_INCH * float(axes.get_window_extent().width) / figure_of(axes).dpi)
        axes.set_title(broken("; ".join(notes), max(24, room)), loc="left", fontsize=SMALL, color=GREY)


def _number_ticks(axes: Axes, record: DependenceCurves, shown: NDArray[np.intp]) -> None:
    """Deciles of the rows as short lines on the axis, and a word for the missing value."""
    from matplotlib.ticker import MaxNLocator
    from matplotlib.transforms import blended_transform_factory

    points = record.grid[0]
    x, n = _places(record, shown, True)
    deciles = record.deciles[0]
    if points.dtype.kind == "M":
        axes.xaxis_date()
        for tick in axes.get_xticklabels():
            tick.set_rotation(30)
            tick.set_horizontalalignment("right")
        deciles = _times(deciles.astype(np.int64).view("M8[us]"))
    elif points.dtype.kind == "m":
        deciles = deciles / 86_400e6
    inside = deciles[(deciles >= x[0]) & (deciles <= x[n - 1])] if n else deciles[:0]
    across = blended_transform_factory(axes.transData, axes.transAxes)
    axes.vlines(inside, 0.0, 0.03, colors=GREY, linewidth=1.0, transform=across, zorder=2, gid="deciles")
    whole = points.dtype.kind == "f" and bool((x[:n] == np.rint(x[:n])).all())
    if whole and n > 1 and x[n - 1] - x[0] < 12:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if not record.missing[0] or points.dtype.kind == "M":
        if record.missing[0]:
            axes.annotate(
                "missing", (x[n], record.values[0, n]), (0, 8), textcoords="offset points", ha="center"
            )
        return
    ticks = MaxNLocator(4, integer=whole).tick_values(x[0], x[n - 1]) if n > 1 else x[:n]
    room = 0.14 * (x[n - 1] - x[0]) if n > 1 else 0.0  # for the word
    kept = [tick for tick in ticks if x[0] <= tick <= x[n - 1] - room]
    axes.set_xticks([*kept, x[n]], [*map(number, kept), "missing"])
