"""`plot_waterfall`: from the base value to the prediction of one row, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weald.arrays import Floats
from weald.errors import ParameterError
from weald.model.conditions import shortened
from weald.pictures.axes import GREY, INK, PALE, SMALL, new_axes, quiet, short_number
from weald.pictures.canvas import figure_of
from weald.pictures.explanations.reading import (
    HIGH,
    LOW,
    ExplanationLike,
    Shown,
    kept_and_rest,
    most_columns,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_waterfall(
    explanation: ExplanationLike,
    row: int = 0,
    *,
    max_display: int = 10,
    output: int | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the columns of one row lead from the base value to its prediction.

    Parameters
    ----------
    explanation : Explanation
        What `weald.explain` returns, or anything with its attributes.
    row : int, default=0
        Which row of it.
    max_display : int, default=10
        At most so many bars; the columns that add least are summed up in the lowest.
    output : int or str, default=None
        Which output of several, by number or name; None for the first, of two classes the second.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them; bars to the right raise the prediction, bars to the left lower it.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, i % 7] for i in range(50)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a + 2 * b for a, b in X])
    >>> ax = weald.plot_waterfall(weald.explain(model, X), row=3)
    >>> len(ax.get_yticks())
    2
    """
    found = shown(explanation, output, "plot_waterfall")
    whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
    if not whole or not -found.n_rows <= row < found.n_rows:
        raise ParameterError(
            f"`row` of plot_waterfall must be a number from 0 to {found.n_rows - 1}; got {row!r}."
        )
    i = int(row) % found.n_rows
    names, steps = _steps(found, i, most_columns(max_display, len(found.names), "max_display"))
    axes = new_axes(ax, "plot_waterfall")
    if ax is None and len(steps) > 12:
        figure = figure_of(axes)
        figure.set_size_inches(figure.get_size_inches()[0], 0.36 * len(steps) + 1.2)
    base = float(found.base[i])
    ends = base + np.cumsum(steps)
    starts = np.concatenate([[base], ends[:-1]])
    _bars(axes, starts, ends)
    axes.set_yticks(range(len(steps)), names)
    axes.set_ylim(-1.1, len(steps) - 0.2)
    _edges(axes, base, float(ends[-1]))
    quiet(axes, xlabel="score" + (f" of {found.output}" if found.output else ""))
    return axes


def _steps(found: Shown, i: int, n: int) -> tuple[list[str], Floats]:
    """The names and what they add, from the lowest bar up: the rest first, the largest last."""
    values = found.values[i]
    order = np.argsort(-np.abs(values), kind="stable").tolist()
    kept, rest = kept_and_rest(order, n)
    names, steps = [], []
    for j in kept[::-1]:
        words = shortened(found.words(i, j), 18)
        name = shortened(found.names[j], 28)
        names.append(f"{name} = {words}" if words else name)
        steps.append(float(values[j]))
    if rest:
        names.insert(0, f"{len(rest):,} other columns")
        steps.insert(0, float(values[rest].sum()))
    return names, np.array(steps)


def _bars(axes: Axes, starts: Floats, ends: Floats) -> None:
    low, high = float(min(starts.min(), ends.min())), float(max(starts.max(), ends.max()))
    span = (high - low) or 1.0
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        rises = end >= start
        axes.barh(place, end - start, left=start, height=0.62, color=HIGH if rises else LOW, zorder=3)
        axes.annotate(
            short_number(end - start, signed=True),
            (end, place),
            xytext=(4 if rises else -4, 0),
            textcoords="offset points",
            ha="left" if rises else "right",
            va="center",
            fontsize=SMALL,
            color=INK,
            zorder=4,
        )
        if place + 1 < len(starts):
            axes.plot([end, end], [place - 0.31, place + 1.31], color=GREY, linewidth=0.7, zorder=2)
    axes.set_xlim(low - 0.24 * span, high + 0.2 * span)  # room for the numbers


def _edges(axes: Axes, base: float, score: float) -> None:
    """The base value under the lowest bar, the score above the highest."""
    for at, words, up in (
        (base, f"base value {short_number(base)}", False),
        (score, f"prediction {short_number(score)}", True),
    ):
        axes.axvline(at, color=PALE, linewidth=0.9, linestyle="--", zorder=1)
        axes.annotate(
            words,
            (at, 1.0 if up else 0.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 4 if up else 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=SMALL,
            color=GREY,
        )
