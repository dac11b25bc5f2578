"""Importances as bars with error lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weald.arrays import Floats
from weald.errors import ParameterError, told
from weald.parameters import Whole
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY, PALE, SMALL = "#6b6b6b", "#c9c9c9", 9.0
#: characters of a name before it is cut in the middle
_LONGEST = 28
#: the smallest font of a name, in points
_LEAST = 4.0


def draw_bars(
    names: Sequence[str], values: Floats, errors: Floats, meaning: str, *, ax: Axes | None, most: int
) -> Axes:
    """Bars of the first `most` names, which come by falling value, from the top down."""
    if not Whole(1).admits(most):
        raise ParameterError(f"`max_columns` of plot must be a whole number of at least 1; got {told(most)}.")
    shown = min(int(most), len(names))
    axes = own_axes(ax, "plot of an importance", height=max(2.2, 0.9 + 0.27 * shown))
    colour = class_colour(0)
    place = np.arange(shown)[::-1]
    known = np.isfinite(errors[:shown])
    axes.barh(place, values[:shown], height=0.66, color=tint(colour, 0.75), zorder=2)
    axes.errorbar(
        values[:shown][known],
        place[known],
        xerr=errors[:shown][known],
        fmt="none",
        ecolor="#333333",
        elinewidth=1.2,
        capsize=2.5,
        zorder=3,
    )
    axes.axvline(0.0, color=GREY, linewidth=0.8, zorder=1)
    labels = [shortened(name) for name in names[:shown]]
    axes.set_yticks(place, labels, parse_math=False, fontsize=_font(axes, shown))
    axes.set_ylim(-0.6, shown - 0.4)
    axes.margins(x=0.04)
    notes = ["± 1 standard error"] if known.any() else []
    if shown < len(names):
        notes.append(f"{len(names) - shown} more columns not shown")
    quiet(axes, meaning, "", "; ".join(notes))
    return axes


def _font(axes: Axes, n_bars: int) -> float:
    """The size of names that have room beside so many bars."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    usual = FontProperties(size=mpl.rcParams["ytick.labelsize"]).get_size_in_points()
    room = axes.get_window_extent().height * 72 / figure_of(axes).dpi / n_bars
    return min(float(usual), max(_LEAST, 0.85 * room))


def own_axes(ax: Axes | None, owner: str, *, height: float | None = None) -> Axes:
    """The axes given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"The {owner} needs matplotlib: pip install 'weald[plot]'.") from None
    if ax is not None:
        return ax
    size = None if height is None else (plt.rcParams["figure.figsize"][0], height)
    return plt.figure(figsize=size, layout="constrained").gca()


def quiet(axes: Axes, across: str, up: str, note: str) -> None:
    """Labels, numbers that can be read, and lines that do not draw attention."""
    from weald.pictures.ticks import plain_numbers

    plain_numbers(axes)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    if note:
        axes.set_title(note, loc="left", fontsize=SMALL, color=GREY)


def shortened(name: str) -> str:
    """A name that has room beside a bar.

    >>> shortened("a name that is much too long to stand there")
    'a name that is…o stand there'
    """
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST // 2]}…{name[len(name) - _LONGEST // 2 + 1 :]}"
