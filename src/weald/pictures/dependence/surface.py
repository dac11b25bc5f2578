"""Two columns: contours over numbers, cells where one of them has categories or a missing value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import Floats
from weald.inspection.dependence.records import AccumulatedLocalEffects, DependenceCurves
from weald.pictures.canvas import figure_of
from weald.pictures.dependence.panels import GREY, INK, SMALL, broken, level_names, number, quiet, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: cells that have their value written in them
_MOST_WRITTEN = 64
#: ticks beside cells
_MOST_TICKS, _MOST_NUMBERS = 12, 7
#: inches of axes in which contours have room for their values
_WIDE = 3.2
#: characters in an inch: of ticks below and beside cells, and in them
_PER_INCH, _BESIDE, _IN_CELLS = 9, 11, 14
#: inches that a bar of colours and labels of axes take
_BAR = 1.15
#: inches from one tick to the next below which they are turned steeply
_STEEP = 0.4


def draw_surface(axes: Axes, record: DependenceCurves, t: int, *, label: str) -> None:
    """Draw the values of one target over the points of two columns."""
    values = record.values[t]
    effect = isinstance(record, AccumulatedLocalEffects)
    # The edges of effects have equally many rows between them, and so have their cells the same size.
    plain = not effect and all(kind == "numeric" for kind in record.kinds) and not any(record.missing)
    plain = plain and all(len(points) > 2 and points.dtype.kind == "f" for points in record.grid)
    scale = _scale(values, effect)
    drawn = _contours(axes, record, values, scale) if plain else _cells(axes, record, values, scale)
    quiet(axes)
    axes.set_xlabel(short(record.columns[0], 40))
    axes.set_ylabel(broken(short(record.columns[1], 40)))
    from weald.pictures.ticks import plain_numbers_beside

    bar = figure_of(axes).colorbar(drawn, ax=axes, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelcolor=GREY, color=GREY)
    plain_numbers_beside(bar)
    bar.set_label(broken(label), color=INK)


def _scale(values: Floats, effect: bool) -> dict[str, Any]:
    """Effects are around 0 and so are their colours."""
    if not effect:
        return {"cmap": "viridis"}
    most = float(np.abs(values).max()) or 1.0
    return {"cmap": "PuOr", "vmin": -most, "vmax": most}


def _contours(axes: Axes, record: DependenceCurves, values: Floats, scale: dict[str, Any]) -> Any:
    from matplotlib.transforms import blended_transform_factory

    x, y = record.grid
    flat = float(np.ptp(values)) < 1e-12 * max(1.0, float(np.abs(values).max()))
    if flat:
        drawn: object = axes.pcolormesh(x, y, values.T, shading="nearest", **scale)
    else:
        drawn = axes.contourf(x, y, values.T, levels=12, **scale)
        lines = axes.contour(x, y, values.T, levels=5, colors="white", linewidths=0.6, alpha=0.8)
        if _width(axes) > _WIDE:
            axes.clabel(lines, fontsize=7, fmt=number)
    across = blended_transform_factory(axes.transData, axes.transAxes)
    along = blended_transform_factory(axes.transAxes, axes.transData)
    inside = [
        d[(d >= points[0]) & (d <= points[-1])] for d, points in zip(record.deciles, record.grid, strict=True)
    ]
    style: dict[str, Any] = {"colors": "black", "linewidth": 1.0, "gid": "deciles"}
    axes.vlines(inside[0], 0.0, 0.03, transform=across, **style)
    axes.hlines(inside[1], 0.0, 0.03, transform=along, **style)
    return drawn


def _width(axes: Axes, beside: int = 6) -> float:
    """What axes have of their place in the figure, in inches, less a bar of colours and names beside them.

    `beside`: the letters of the longest name. A layout engine gives room to both when it draws.
    """
    figure, spec = figure_of(axes), axes.get_subplotspec()
    if spec is None or figure.get_layout_engine() is None:
        return 0.8 * float(axes.get_window_extent().width / figure.dpi)
    share = 1.0
    for part in {spec, spec.get_topmost_subplotspec()}:
        share *= len(part.colspan) / part.get_gridspec().ncols
    return max(0.1, share * float(figure.get_size_inches()[0]) - beside / _BESIDE - _BAR)


def _cells(axes: Axes, record: DependenceCurves, values: Floats, scale: dict[str, Any]) -> Any:
    n_x, n_y = values.shape
    drawn = axes.pcolormesh(np.arange(n_x + 1) - 0.5, np.arange(n_y + 1) - 0.5, values.T, **scale)
    width = _width(axes, max(map(len, level_names(record.grid[1]))))
    for setter, points, axis in (
        (axes.set_xticks, record.grid[0], "x"),
        (axes.set_yticks, record.grid[1], "y"),
    ):
        names = level_names(points)
        step = -(-len(names) // (_MOST_NUMBERS if points.dtype.kind in "iuf" else _MOST_TICKS))
        at = np.arange(0, len(names), step)
        if names[-1] == "missing" and at[-1] != len(names) - 1:
            at = np.append(at[:-1] if len(names) - 1 - at[-1] < step / 2 + 1 else at, len(names) - 1)
        setter(at, [names[i] for i in at])
        if axis == "x" and sum(len(names[i]) + 2 for i in at) > _PER_INCH * width:
            for tick in axes.get_xticklabels():
                tick.set_rotation(40 if width / len(at) > _STEEP else 65)
                tick.set_horizontalalignment("right")
                tick.set_rotation_mode("anchor")
    longest = max(len(number(value)) for value in values.ravel())
    if n_x * n_y <= _MOST_WRITTEN and n_x * (longest + 0.5) <= _IN_CELLS * width:
        for i in range(n_x):
            for j in range(n_y):
                shade = drawn.cmap(drawn.norm(values[i, j]))
                ink = "white" if np.dot(shade[:3], (0.3, 0.6, 0.1)) < 0.5 else INK
                axes.text(i, j, number(values[i, j]), ha="center", va="center", fontsize=SMALL - 1, color=ink)
    return drawn
