"""`plot_shap_scatter`: what a column adds against its value, a point per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import DataError
from weald.pictures.axes import (
    GREY,
    INK,
    PALE,
    SMALL,
    dot_size,
    legend_beside,
    new_axes,
    quiet,
    see_through,
    short_number,
    turn_where_crowded,
)
from weald.pictures.colours import class_colour
from weald.pictures.explanations.reading import (
    UNKNOWN,
    ExplanationLike,
    Shown,
    add_value_bar,
    low_to_high,
    shades,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LEVELS = 20
_MOST_POINTS = 20_000


def plot_shap_scatter(
    explanation: ExplanationLike,
    column: int | str,
    *,
    color: int | str | None = None,
    output: int | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a column adds to each row's prediction against its value.

    Categories stand side by side in the order of their means, rows with a missing value at the left.

    Parameters
    ----------
    explanation : Explanation
        What `weald.explain` returns, or anything with its attributes; with `data`.
    column : int or str
        Which column.
    color : int or str, default=None
        Another column, whose values are colours (blue low, orange high); None for one colour.
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
    >>> X = {"age": [i / 10 for i in range(50)], "dose": [i % 7 for i in range(50)]}
    >>> y = [a + 2 * b for a, b in zip(X["age"], X["dose"])]
    >>> model = weald.DecisionTreeRegressor().fit(X, y)
    >>> weald.plot_shap_scatter(weald.explain(model, X), "dose").get_xlabel()
    'dose'
    """
    owner = "plot_shap_scatter"
    found = shown(explanation, output, owner)
    j = found.column(column, owner)
    other = None if color is None else found.column(color, owner)
    if found.data is None:
        raise DataError(f"{owner} needs the rows that are explained, and this explanation has no `data`.")
    axes = new_axes(ax, owner)
    step = max(1, -(-found.n_rows // _MOST_POINTS))
    values = found.values[::step, j]
    axes.axhline(0.0, color=PALE, linewidth=0.9, zorder=1)
    numbers = found.numbers(j)
    at = (
        _places(axes, found.data[::step, j], values) if numbers is None else _by_number(axes, numbers[::step])
    )
    _points(axes, at, values, found, other, step)
    name = found.names[j]
    quiet(axes, xlabel=name, ylabel=f"what {name} adds" + (f" to {found.output}" if found.output else ""))
    return axes


def _by_number(axes: Axes, numbers: Floats) -> Floats:
    """Where rows stand along the axis; those with a missing value at the left of all."""
    missing = ~np.isfinite(numbers)
    if not missing.any():
        return numbers
    known = numbers[~missing]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    span = (high - low) or 1.0
    apart = low - 0.12 * span
    rng = np.random.default_rng(0)
    at = np.where(missing, apart + 0.025 * span * rng.uniform(-1, 1, len(numbers)), numbers)
    axes.axvline(low - 0.05 * span, color=PALE, linewidth=0.9, linestyle="--", zorder=1)
    axes.annotate(
        "missing",
        (apart, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL,
        color=GREY,
    )
    return np.asarray(at, np.float64)


def _places(axes: Axes, column: NDArray[Any], values: Floats) -> Floats:
    """Where rows stand whose values are levels; the rarest of many in one place."""
    words = np.array(["missing" if each is None or each != each else str(each) for each in column.tolist()])
    levels, which, counts = np.unique(words, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    names = list(levels)
    if len(levels) > _MOST_LEVELS:
        rare = np.argsort(-counts, kind="stable")[_MOST_LEVELS - 1 :]
        place = np.cumsum(~np.isin(np.arange(len(levels)), rare)) - 1
        place[rare] = _MOST_LEVELS - 1
        which = place[which]
        names = [str(levels[k]) for k in range(len(levels)) if k not in set(rare.tolist())]
        names.append(f"{len(rare):,} others")
    means = np.bincount(which, values, len(names)) / np.maximum(np.bincount(which, minlength=len(names)), 1)
    order = np.argsort(means, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    levels_shown = [names[k] if len(names[k]) <= 18 else names[k][:17] + "…" for k in order.tolist()]
    axes.set_xticks(range(len(names)), levels_shown)
    turn_where_crowded(axes, levels_shown)
    axes.set_xlim(-0.6, len(names) - 0.4)
    for k in range(len(names)):
        middle = float(means[k])
        axes.plot([rank[k] - 0.3, rank[k] + 0.3], [middle, middle], color=INK, linewidth=1.6, zorder=5)
    rng = np.random.default_rng(0)
    return rank[which] + rng.uniform(-0.22, 0.22, len(which))


def _points(axes: Axes, at: Floats, values: Floats, found: Shown, other: int | None, step: int) -> None:
    style: dict[str, Any] = {
        "s": dot_size(len(at), most=22.0, least=7.0),
        "linewidths": 0,
        "alpha": max(see_through(len(at)), 0.5),
        "zorder": 3,
        "rasterized": len(at) > 2000,
    }
    numbers = None if other is None else found.numbers(other)
    if other is None or numbers is None:
        if other is not None:
            _by_level(axes, at, values, found, other, step, style)
            return
        axes.scatter(at, values, color=class_colour(0), **style)
        return
    shade = shades(numbers[::step])
    known = np.isfinite(shade)
    axes.scatter(at[~known], values[~known], color=UNKNOWN, **style)
    if not known.any():
        return
    marks = axes.scatter(
        at[known], values[known], c=shade[known], cmap=low_to_high(), vmin=0, vmax=1, **style
    )
    low, high = np.nanquantile(numbers, (0.05, 0.95))
    add_value_bar(axes, marks, found.names[other], (short_number(low), short_number(high)))


def _by_level(
    axes: Axes, at: Floats, values: Floats, found: Shown, other: int, step: int, style: dict[str, Any]
) -> None:
    """Colours of the levels of another column; the rarest of many in grey."""
    assert found.data is not None
    column = found.data[::step, other].tolist()
    words = np.array(["missing" if each is None or each != each else str(each) for each in column])
    levels, counts = np.unique(words, return_counts=True)
    leading = levels[np.argsort(-counts, kind="stable")[:7]]
    rest = ~np.isin(words, leading)
    if rest.any():
        axes.scatter(at[rest], values[rest], color=UNKNOWN, label="others", **style)
    for k, level in enumerate(leading):
        mine = words == level
        axes.scatter(at[mine], values[mine], color=class_colour(k), label=str(level), **style)
    legend_beside(axes, title=found.names[other])
