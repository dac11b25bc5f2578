"""Axes of `plot_margin`: their labels, their title and the legend beside them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import Floats
from weald.pictures.canvas import figure_of
from weald.pictures.plane import Plane, in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 9.0
GREY, PALE = "#6b6b6b", "#c9c9c9"
RING, CROSS, SLACK = "support row", "wrong side", "slack ξ"
_ORDER = ("boundary", "margin", "fit", RING, CROSS, SLACK)


def label_axes(axes: Axes, plane: Plane) -> None:
    """Names of the columns, what is held, and quiet lines."""
    names = plane.names
    axes.set_xlabel(names[0])
    if len(names) > 1:
        axes.set_ylabel(names[1])
    words = in_words(plane.held)
    if words:
        lines = [axes.get_title(loc="left"), *_wrapped(axes, words)]
        axes.set_title("\n".join(filter(None, lines)), loc="left", fontsize=SMALL, color=GREY)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, labelcolor=GREY)


def add_legend(axes: Axes) -> None:
    """What rows are, then lines; marks of one size whatever theirs in the picture."""
    found = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not found:
        return
    found.sort(key=lambda pair: _ORDER.index(pair[1]) if pair[1] in _ORDER else -1)
    style: dict[str, Any] = {"fontsize": SMALL}
    figure = figure_of(axes)
    if figure.get_layout_engine() is None:
        style |= {"loc": "best", "framealpha": 0.8, "edgecolor": PALE}  # beside the axes it could be cut off
    else:
        style |= {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
    legend = axes.legend(*zip(*found, strict=True), **style)
    handles: list[Any] = legend.legend_handles
    for handle, (_, label) in zip(handles, found, strict=True):
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([62.0 if label == RING else 30.0])


def _wrapped(axes: Axes, words: str) -> list[str]:
    """The words in lines as wide as the axes."""
    figure = figure_of(axes)
    width = axes.get_window_extent().width / (0.52 * SMALL * figure.dpi / 72)
    return textwrap.wrap(words, max(30, int(width)), break_long_words=False)


def draw_segments(axes: Axes, lines: Floats, label: str) -> None:
    """Thin lines, and one entry of the legend for all of them."""
    from matplotlib.collections import LineCollection

    if len(lines):
        style: dict[str, Any] = {"colors": GREY, "linewidths": 0.9, "zorder": 3}
        axes.add_collection(LineCollection(list(lines), **style), autolim=False)
        axes.plot([], [], color=GREY, linewidth=0.9, label=label)


def marker_size(n_rows: int) -> float:
    """In square points: smaller where rows are many."""
    return float(np.clip(6000 / max(1, n_rows), 9, 36))


def note_margin(axes: Axes, machine: object) -> None:
    """Width of the margin and support rows, above the picture."""
    parts = []
    width = getattr(machine, "margin_width_", None)
    if isinstance(width, float) and np.isfinite(width):
        parts.append(f"margin 2/‖w‖ = {width:.3g}")
    n_support = getattr(machine, "n_support_", None)
    if n_support is not None:
        parts.append(f"{int(np.sum(n_support)):,} support rows")
    axes.set_title(", ".join(parts), loc="left", fontsize=SMALL, color=GREY)
