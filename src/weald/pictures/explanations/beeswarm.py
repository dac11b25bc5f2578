"""`plot_beeswarm`: what each column adds to every row, a line of points per column, coloured by its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import Floats
from weald.pictures.axes import GREY, PALE, new_axes, quiet, shortened_names
from weald.pictures.canvas import figure_of
from weald.pictures.explanations.reading import (
    UNKNOWN,
    ExplanationLike,
    Shown,
    add_value_bar,
    kept_and_rest,
    low_to_high,
    most_columns,
    shades,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 120
#: more rows than these would only hide one another; every so many are drawn
_MOST_POINTS = 5000


def plot_beeswarm(
    explanation: ExplanationLike,
    *,
    max_display: int = 12,
    output: int | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what every column adds to every row's prediction.

    Each row is a point in the line of a column: at the right it raises the prediction, at the left it lowers
    it; the colour is the row's value in the column (blue low, orange high; grey for categories and missing
    values). Columns that add most stand at the top; the rest are summed up in the last line.

    Parameters
    ----------
    explanation : Explanation
        What `weald.explain` returns, or anything with its attributes.
    max_display : int, default=12
        At most so many lines.
    output : int or str, default=None
        Which output of several, by number or name; None for the first, of two classes the second.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, i % 7] for i in range(50)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a + 2 * b for a, b in X])
    >>> ax = weald.plot_beeswarm(weald.explain(model, X))
    >>> len(ax.get_yticks())
    2
    """
    found = shown(explanation, output, "plot_beeswarm")
    n = most_columns(max_display, len(found.names), "max_display")
    order = found.order().tolist()
    kept, rest = kept_and_rest(order, n)
    axes = new_axes(ax, "plot_beeswarm")
    names = shortened_names([found.names[j] for j in kept])
    lines = [(found.values[:, j], found.numbers(j)) for j in kept]
    if rest:
        names.append(f"{len(rest):,} other columns")
        lines.append((found.values[:, rest].sum(axis=1), None))
    _grow(axes, len(lines), own=ax is None)
    axes.axvline(0.0, color=GREY, linewidth=0.9, zorder=1)
    marks: object = None
    for place, (values, numbers) in enumerate(lines):
        drawn = _line(axes, len(lines) - 1 - place, values, numbers, len(lines))
        marks = drawn if drawn is not None else marks
    axes.set_yticks(range(len(lines)), names[::-1])
    axes.set_ylim(-0.7, len(lines) - 0.3)
    axes.grid(axis="y", color=PALE, linewidth=0.5, linestyle=":")
    quiet(axes, xlabel=_words(found))
    if marks is not None:
        add_value_bar(axes, marks, "value of the column", ("low", "high"), pad=-14.0)
    return axes


def _words(found: Shown) -> str:
    return "what the column adds" + (f" to the score of {found.output}" if found.output else "")


def _grow(axes: Axes, n_lines: int, *, own: bool) -> None:
    if own and n_lines > 12:
        figure = figure_of(axes)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, max(height, 0.36 * n_lines + 0.8))


def _line(axes: Axes, place: int, values: Floats, numbers: Floats | None, n_lines: int) -> Any:
    """The points of one column; the mappable of those that have a number, or None."""
    step = max(1, -(-len(values) // _MOST_POINTS))
    values = values[::step]
    numbers = None if numbers is None else numbers[::step]
    up = place + 0.42 * _spread(values)
    size = float(np.clip(9000 / max(1, len(values)), 5, 22))
    style: dict[str, Any] = {"s": size, "linewidths": 0, "zorder": 3, "rasterized": len(values) > 2000}
    shade = np.full(len(values), np.nan) if numbers is None else shades(numbers)
    known = np.isfinite(shade)
    if (~known).any():
        axes.scatter(values[~known], up[~known], color=UNKNOWN, alpha=0.7, **style)
    if not known.any():
        return None
    # Extreme values last, so that they are seen among the many middle ones.
    order = np.flatnonzero(known)[np.argsort(np.abs(shade[known] - 0.5), kind="stable")]
    return axes.scatter(values[order], up[order], c=shade[order], cmap=low_to_high(), vmin=0, vmax=1, **style)


def _spread(values: Floats) -> Floats:
    """Points in the same place beside one another, from -1 to 1: wide where they are many."""
    low, high = float(values.min()), float(values.max())
    if high <= low:
        bins = np.zeros(len(values), np.int64)
    else:
        bins = np.minimum(((values - low) / (high - low) * _BINS).astype(np.int64), _BINS - 1)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins, minlength=_BINS)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(starts, counts)
    side = np.where(rank % 2 == 0, 1.0, -1.0)
    # A bin that has all rows fills the line; a few rows stay near its middle.
    widest = max(int(counts.max()), 12)
    return side * np.ceil(rank / 2) / (widest / 2)
