"""`plot_bar`: how much columns add in the mean of sizes, or to one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import ParameterError
from weald.pictures.axes import (
    GREY,
    PALE,
    SMALL,
    legend_beside,
    new_axes,
    quiet,
    short_number,
    shortened_names,
)
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour
from weald.pictures.explanations.reading import (
    HIGH,
    LOW,
    ExplanationLike,
    is_one_row,
    kept_and_rest,
    most_columns,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: outputs that are stacked in colours of their own; the others are one
_MOST_OUTPUTS, _OTHERS = 8, "other outputs"
#: the share of its width that axes keep when the names of columns have their room
_LEFT_OF_NAMES = 0.7


def plot_bar(
    explanation: ExplanationLike,
    *,
    row: int | None = None,
    max_display: int = 12,
    output: int | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean size of what each column adds, over all rows; or what it adds to one row.

    An explanation of one row, such as `explanation[5]`, is drawn as `row=5` is.

    Parameters
    ----------
    explanation : Explanation
        What `weald.explain` returns, or anything with its attributes.
    row : int, default=None
        One row, whose values are drawn with their sign; None for all.
    max_display : int, default=12
        At most so many bars; the columns that add least are summed up in the last.
    output : int or str, default=None
        Which output of several, by number or name; None for all of them, stacked (of one row the first).
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
    >>> ax = weald.plot_bar(weald.explain(model, X))
    >>> len(ax.patches)
    2
    """
    whole: NDArray[Any] = np.asarray(getattr(explanation, "values", np.zeros(0)))
    if row is None and whole.size and is_one_row(explanation):
        row = 0
    stacked = whole.ndim == 3 and output is None and row is None
    outputs: list[int | str | None] = list(range(whole.shape[2])) if stacked else [output]
    parts = [shown(explanation, each, "plot_bar") for each in outputs]
    first = parts[0]
    if row is not None:
        is_number = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not is_number or not -first.n_rows <= row < first.n_rows:
            raise ParameterError(
                f"`row` of plot_bar must be None or a number from 0 to {first.n_rows - 1}; got {row!r}."
            )
        sizes = first.values[int(row)][np.newaxis]
    else:
        sizes = np.stack([np.abs(part.values).mean(axis=0) for part in parts])
    n = most_columns(max_display, len(first.names), "max_display")
    order = np.argsort(-np.abs(sizes).sum(axis=0), kind="stable").tolist()
    kept, rest = kept_and_rest(order, n)
    names = shortened_names([first.names[j] for j in kept])
    bars = sizes[:, kept]
    if rest:
        names.append(f"{len(rest):,} other columns")
        bars = np.column_stack([bars, sizes[:, rest].sum(axis=1)])
    outputs_drawn = [part.output for part in parts]
    if len(bars) > _MOST_OUTPUTS:
        bars, outputs_drawn = _leading(bars, outputs_drawn, len(kept))
    axes = new_axes(ax, "plot_bar")
    if ax is None and len(names) > 14:
        figure = figure_of(axes)
        figure.set_size_inches(figure.get_size_inches()[0], 0.32 * len(names) + 1.0)
    _draw(axes, names, bars, outputs_drawn, signed=row is not None)
    words = "what the column adds" if row is not None else "mean size of what the column adds"
    quiet(axes, xlabel=words + (f" to {first.output}" if first.output and not stacked else ""))
    return axes


def _leading(bars: Floats, outputs: list[str], n_columns: int) -> tuple[Floats, list[str]]:
    """The outputs to which the first columns add most, in order, and the others together.

    So many colours can be told apart.
    """
    order = np.argsort(-bars[:, :n_columns].sum(axis=1), kind="stable")
    kept, rest = np.sort(order[: _MOST_OUTPUTS - 1]), order[_MOST_OUTPUTS - 1 :]
    joined = np.vstack([bars[kept], bars[rest].sum(axis=0)])
    return joined, [*(outputs[k] for k in kept), f"{len(rest):,} {_OTHERS}"]


def _draw(axes: Axes, names: list[str], bars: Floats, outputs: list[str], *, signed: bool) -> None:
    places = np.arange(len(names))[::-1]
    left = np.zeros(len(names))
    for k, part in enumerate(bars):
        colour: object = PALE if outputs[k].endswith(_OTHERS) and k == _MOST_OUTPUTS - 1 else class_colour(k)
        if signed:
            colour = [HIGH if value >= 0 else LOW for value in part]
        axes.barh(
            places, part, left=left, height=0.66, color=colour, label=outputs[k] if len(bars) > 1 else None
        )
        left = left + part
    axes.set_yticks(places, names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    words = [short_number(value, signed=signed) for value in left.tolist()]
    low = _make_room(axes, left, words)
    if low < 0:
        axes.axvline(0.0, color=GREY, linewidth=0.8)
    for place, value, word in zip(places.tolist(), left.tolist(), words, strict=True):
        right = value >= 0
        axes.annotate(
            word,
            (value, place),
            xytext=(3 if right else -3, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize=SMALL,
            color=GREY,
        )
    if len(bars) > 1:
        legend_beside(axes, title="output", inside="lower right")


def _make_room(axes: Axes, ends: Floats, words: list[str]) -> float:
    """Limits with room for the words at both sides of bars; returns where the lowest bar ends."""
    low, high = float(min(0.0, ends.min())), float(max(0.0, ends.max()))
    inches = _LEFT_OF_NAMES * float(axes.get_window_extent().width) / figure_of(axes).dpi
    longest = [
        max((len(w) for w, end in zip(words, ends, strict=True) if (end < 0) == below), default=0)
        for below in (True, False)
    ]
    left, right = (min(0.35, (0.6 * SMALL * n + 8) / 72 / inches) if n else 0.0 for n in longest)
    whole = ((high - low) or 1.0) / (1.0 - left - right)
    axes.set_xlim(low - left * whole, high + max(right, 0.02) * whole)
    return low
