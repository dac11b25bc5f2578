"""Axes of `plot_margin`: their labels, their title and the legend beside them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.pictures.axes import short_number
from weald.pictures.canvas import figure_of
from weald.pictures.plane import Plane, in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 9.0
GREY, PALE = "#6b6b6b", "#c9c9c9"
RING, CROSS, SLACK = "support row", "wrong side", "slack ξ"
#: rings and crosses of more rows than these would hide the picture
MOST_MARKS = 300
_ORDER = ("boundary", "margin", "fit", RING, CROSS, SLACK)


def label_axes(axes: Axes, plane: Plane) -> None:
    """Names of the columns, what is held, numbers that can be read, and quiet lines."""
    from weald.pictures.ticks import plain_numbers

    plain_numbers(axes)
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
    found.sort(key=lambda pair: _ORDER.index(word) if (word := pair[1].partition("\n")[0]) in _ORDER else -1)
    style: dict[str, Any] = {"fontsize": SMALL}
    figure = figure_of(axes)
    if figure.get_layout_engine() is None:
        # Beside the axes it could be cut off; matplotlib's own search takes long with thousands of rows.
        style |= {"loc": _emptiest(axes), "framealpha": 0.85, "edgecolor": PALE}
    else:
        style |= {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
    legend = axes.legend(*zip(*found, strict=True), **style)
    handles: list[Any] = legend.legend_handles
    for handle, (_, label) in zip(handles, found, strict=True):
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([62.0 if label.startswith(RING) else 30.0])
            handle.set_alpha(1.0)


def _emptiest(axes: Axes) -> str:
    """The corner of the axes with the fewest marks."""
    places = [np.asarray(each.get_offsets(), np.float64) for each in axes.collections]
    marks = np.concatenate([each for each in places if len(each)] or [np.zeros((0, 2))])
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    x, y = (marks[:, 0] - left) / (right - left), (marks[:, 1] - low) / (high - low)
    corners = {
        "upper right": (x > 0.6) & (y > 0.6),
        "upper left": (x < 0.4) & (y > 0.6),
        "lower right": (x > 0.6) & (y < 0.4),
        "lower left": (x < 0.4) & (y < 0.4),
    }
    return min(corners, key=lambda name: int(corners[name].sum()))


def some_of(rows: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """As many of these rows as can be marked without hiding one another, and words that say so."""
    if len(rows) <= MOST_MARKS:
        return rows, ""
    shown = rows[np.linspace(0, len(rows) - 1, MOST_MARKS).astype(np.int64)]
    return shown, f"\n({MOST_MARKS:,} of {len(rows):,})"


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
    return float(np.clip(6000 / max(1, n_rows), 4, 36))


def note_margin(axes: Axes, machine: object) -> None:
    """Width of the margin and support rows, above the picture."""
    parts = []
    width = getattr(machine, "margin_width_", None)
    if isinstance(width, float) and np.isfinite(width):
        parts.append(f"margin 2/‖w‖ = {short_number(width)}")
    n_support = getattr(machine, "n_support_", None)
    if n_support is not None:
        parts.append(f"{int(np.sum(n_support)):,} support rows")
    axes.set_title(", ".join(parts), loc="left", fontsize=SMALL, color=GREY)
