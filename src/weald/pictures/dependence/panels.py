"""Axes for several drawings in one figure, and what all of them share."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.errors import ParameterError
from weald.pictures.axes import as_power
from weald.pictures.canvas import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY, PALE, INK, SMALL = "#6b6b6b", "#c9c9c9", "#1a1a1a", 9.0
#: width and height of a drawing, in inches
_PANEL = (3.6, 3.0)
#: inches between drawings side by side: the label of a bar is not taken for that of the next axis
_APART = 0.2


def broken(label: str, most: int = 24) -> str:
    """A label of an axis in lines that a small panel has room for.

    >>> broken("effect on probability of >50K")
    'effect on probability of\\n>50K'
    """
    return "\n".join(wrap(label, most, break_long_words=False)) or label


def panels(ax: Axes | Any | None, n: int, n_cols: int, owner: str) -> list[Axes]:
    """Axes for `n` drawings: in a figure of their own, inside the axes that are given, or those of a list."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{owner} needs matplotlib: pip install 'weald[plot]'.") from None
    n_cols = max(1, min(n_cols, n))
    n_rows = -(-n // n_cols)
    if ax is None:
        if n == 1:
            return [plt.figure(layout="constrained").gca()]
        size = (max(6.4, _PANEL[0] * n_cols), max(3.2, _PANEL[1] * n_rows))
        figure = plt.figure(figsize=size)
        figure.set_layout_engine("constrained", w_pad=_APART / 2)
        return [figure.add_subplot(n_rows, n_cols, i + 1) for i in range(n)]
    if isinstance(ax, list | tuple | np.ndarray):
        given = list(np.ravel(np.asarray(ax, object)))
        if len(given) != n:
            raise ParameterError(f"`ax` holds {len(given)} axes for {n} drawings. Give {n}, one, or None.")
        return given
    if n == 1:
        return [ax]
    spec = ax.get_subplotspec()
    if spec is None:
        raise ParameterError(f"`ax` has room for one drawing, and there are {n}. Give a list of {n} axes.")
    ax.set_axis_off()
    inside = spec.subgridspec(n_rows, n_cols)
    figure = figure_of(ax)
    return [figure.add_subplot(inside[i // n_cols, i % n_cols]) for i in range(n)]


def quiet(axes: Axes) -> None:
    """Pale lines around a drawing, none above and at the right, and numbers that can be read."""
    from weald.pictures.ticks import plain_numbers

    plain_numbers(axes)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, labelcolor=GREY)


def short(name: object, most: int = 22) -> str:
    """A name that fits beside a drawing."""
    text = str(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def level_names(points: Any) -> list[str]:
    """The points of a column of categories, or of any column on a grid of cells."""
    return [_level_name(point) for point in points]


def _level_name(point: object) -> str:
    if point is None or point != point:
        return "missing"
    return number(float(point)) if isinstance(point, float | np.floating) else short(point, 14)


def number(value: float) -> str:
    """A number of three digits or so, without powers of ten where people write none.

    >>> number(175000.0), number(0.4167), number(1.5e-7)
    ('175,000', '0.417', '1.5×10⁻⁷')
    """
    size = abs(value)
    text = f"{size:,.0f}" if 1e4 <= size < 1e9 else as_power(f"{size:.{4 if size >= 1e3 else 3}g}")
    return f"−{text}" if value < 0 else text
