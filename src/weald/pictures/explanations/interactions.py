"""`plot_interactions`: how much pairs of columns add together, as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import Floats
from weald.errors import DataTypeError, ParameterError
from weald.model.conditions import number
from weald.pictures.axes import GREY, SMALL, new_axes, shortened_names
from weald.pictures.canvas import figure_of
from weald.pictures.colours import ink
from weald.pictures.explanations.reading import most_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OWNER = "plot_interactions"
#: cells still have room for their numbers
_MOST_NUMBERS = 12
#: numbers from ten of these on are written in them
_SCALES = ((1e9, ": thousand millions"), (1e6, ": millions"), (1e3, ": thousands"))
#: of the largest; smaller numbers are left out
_LEAST = 0.005


def plot_interactions(
    interactions: object,
    *,
    feature_names: Sequence[str] | None = None,
    max_display: int = 10,
    output: int | None = None,
    main_effects: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean size of what pairs of columns add together; on the diagonal what each adds alone.

    Parameters
    ----------
    interactions : array of shape (n_rows, n_columns, n_columns), or with n_outputs last, or Explanation
        SHAP interaction values; or their means, (n_columns, n_columns); or an object with such `values`.
    feature_names : sequence of str, default=None
        The names of the columns; None for those of the explanation.
    max_display : int, default=10
        At most so many columns, those that add most.
    output : int, default=None
        Which output of several; None for the first, of two classes the second.
    main_effects : bool, default=True
        Whether the diagonal counts for the colours; False leaves it blank.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them. A pair's number is that of both of its cells together.

    Examples
    --------
    >>> import numpy as np, weald
    >>> ax = weald.plot_interactions(np.array([[2.0, 0.5], [0.5, 1.0]]), feature_names=["age", "dose"])
    >>> [text.get_text() for text in ax.texts]
    ['2', '1', '1', '1']
    """
    values, names = _read(interactions, feature_names, output)
    n = most_columns(max_display, len(names), "max_display")
    sizes = values.sum(axis=1)
    kept = np.argsort(-sizes, kind="stable")[:n]
    matrix = values[np.ix_(kept, kept)].copy()
    matrix[~np.eye(n, dtype=bool)] *= 2  # a pair is in two cells
    shown = matrix.copy()
    if not main_effects:
        np.fill_diagonal(shown, np.nan)
    axes = new_axes(ax, _OWNER)
    if ax is None:
        side = max(4.8, 0.5 * n + 1.8)
        figure_of(axes).set_size_inches(side + 1.2, side)
    colours = _colours()
    top = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    image = axes.imshow(shown, cmap=colours, vmin=0.0, vmax=top or 1.0)
    labels = shortened_names([names[j] for j in kept.tolist()], 20)
    axes.set_xticks(range(n), labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=SMALL)
    axes.set_yticks(range(n), labels, fontsize=SMALL)
    unit = _numbers(axes, shown, colours, top or 1.0) if n <= _MOST_NUMBERS else ""
    if unit:
        axes.set_title(f"numbers in the cells{unit}", loc="left", fontsize=SMALL, color=GREY)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelcolor=GREY)
    from weald.pictures.ticks import plain_numbers_beside

    bar = figure_of(axes).colorbar(image, ax=axes, aspect=40, pad=0.02)
    bar.set_label("mean size of what the pair adds", fontsize=SMALL, color=GREY)
    bar.ax.tick_params(labelsize=SMALL, labelcolor=GREY, length=0)
    bar.outline.set_visible(False)
    plain_numbers_beside(bar)
    return axes


def _read(given: object, names: Sequence[str] | None, output: int | None) -> tuple[Floats, list[str]]:
    values = np.asarray(
        getattr(given, "values", given) if not isinstance(given, np.ndarray) else given, np.float64
    )
    if values.ndim == 4:
        n = values.shape[3]
        k = (n - 1 if n == 2 else 0) if output is None else output
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or not -n <= k < n:
            raise ParameterError(f"`output` of {_OWNER} must be a number from 0 to {n - 1}; got {output!r}.")
        values = values[..., int(k)]
    if values.ndim == 3:
        values = np.abs(values).mean(axis=0)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise DataTypeError(
            f"{_OWNER} takes interaction values of shape (n_rows, n_columns, n_columns), such as "
            f"predict(X, pred_interactions=True) gives; got the shape {values.shape}."
        )
    found = getattr(given, "feature_names", None) if names is None else names
    listed = [f"column {j}" for j in range(len(values))] if found is None else [str(name) for name in found]
    if len(listed) == len(values) - 1:
        values = values[:-1, :-1]  # xgboost's array ends with the base value
    if len(listed) != len(values):
        raise ParameterError(
            f"`feature_names` must hold {len(values)} names, one per column; got {len(listed)}."
        )
    return np.abs(values), listed


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("sizes", ["#f7f7f7", "#9fc3e3", "#3b7dbf", "#173a5e"])
    return colours.with_extremes(bad="#ffffff")


def _numbers(axes: Axes, matrix: Floats, colours: Any, top: float) -> str:
    """Numbers in the cells, in thousands or millions where they are large; the words for that."""
    from matplotlib.colors import to_hex

    scale, words = next((each for each in _SCALES if top >= 10 * each[0]), (1.0, ""))
    for (i, j), value in np.ndenumerate(matrix):
        if np.isfinite(value) and value >= _LEAST * top:
            colour = ink(to_hex(colours(float(value) / top)))
            text = number(float(f"{value / scale:.2g}"), 3)
            axes.text(j, i, text, ha="center", va="center", fontsize=SMALL - 1, color=colour)
    return words
