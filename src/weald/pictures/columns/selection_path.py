"""The way of a selection of columns: score against number of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.pictures.colours import class_colour, tint
from weald.pictures.columns.importance_bars import GREY, SMALL, own_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: more columns than these stand on a logarithmic axis
_MANY = 60
#: the share of the height that a line of the legend gets below the scores
_ROOM = 0.07


def draw_path(
    counts: NDArray[np.int64],
    scores: Floats,
    errors: Floats,
    best: int,
    chosen: int,
    metric: str,
    rule: str,
    *,
    ax: Axes | None,
) -> Axes:
    """Scores with their errors; the best and the chosen step are marked."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

    axes = own_axes(ax, "plot of a selection")
    line, mark = class_colour(0), class_colour(1)
    axes.errorbar(
        counts, scores, yerr=np.nan_to_num(errors), fmt="o-", color=line, ecolor=tint(line, 0.55),
        markersize=4, linewidth=1.4, elinewidth=1.2, capsize=2.5, zorder=2,
    )  # fmt: skip
    axes.plot(
        counts[chosen], scores[chosen], "D", color=mark, markersize=8, zorder=4, linestyle="none",
        label=f"chosen: {counts[chosen]} columns",
    )  # fmt: skip
    if best != chosen:
        axes.plot(
            counts[best], scores[best], "o", mfc="none", mec=mark, mew=1.6, markersize=10, zorder=3,
            linestyle="none", label=f"best: {counts[best]} columns",
        )  # fmt: skip
    if rule == "one_se" and np.isfinite(errors[best]):
        axes.axhline(
            scores[best] - errors[best], color=GREY, linestyle=":", linewidth=1.0, zorder=1,
            label="best less one standard error",
        )  # fmt: skip
    if counts.max() > _MANY:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    quiet(axes, "columns", metric, "± 1 standard error")
    legend = axes.legend(fontsize=SMALL, loc="lower right", framealpha=0.9, edgecolor="#c9c9c9")
    low, high = axes.get_ylim()
    axes.set_ylim(low - _ROOM * len(legend.get_texts()) * (high - low), high)
    return axes
