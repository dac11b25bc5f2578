"""`plot_importance`: how much the splits of a model rely on each column, as bars; xgboost's name for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, Floats
from weald.errors import DataError, DataTypeError, ParameterError, nearest
from weald.model.conditions import label
from weald.model.importances import column_importances
from weald.pictures.axes import GREY, PALE, SMALL, as_power, new_axes, quiet, shortened_names
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour
from weald.pictures.ensembles.which import inside, mapped_names
from weald.pictures.nodes import check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: importance_type → what the axis says
_WORDS = {
    "weight": "splits",
    "gain": "mean gain of a split",
    "cover": "mean cover of a split",
    "total_gain": "gain of all splits",
    "total_cover": "cover of all splits",
}
_OTHER_NAMES = {"count": "weight"}
_MOST_BARS = 30
#: from here on numbers are written with powers of ten
_POWERS = 1e9


def plot_importance(
    booster: object,
    *,
    ax: Axes | None = None,
    height: float | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Importance of columns",
    xlabel: str | None = None,
    ylabel: str | None = None,
    fmap: str | os.PathLike[str] = "",
    importance_type: str = "weight",
    max_num_features: int | None = None,
    grid: bool = True,
    show_values: bool = True,
    values_format: str | None = None,
) -> Axes:
    """Draw how much a model's splits rely on each column; columns without a split are left out.

    Parameters
    ----------
    booster : estimator, Booster or dict
        Any fitted model of weald made of trees; or importances by name.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.
    height : float, default=None
        The height of a bar, from 0 to 1; None for 0.7.
    xlim, ylim : (float, float), default=None
        Limits of the axes.
    title, xlabel, ylabel : str, default
        Words around the picture; `xlabel=None` says what is measured.
    fmap : str or path, default=""
        A feature map of xgboost: a file of lines "number name type".
    importance_type : {"weight", "gain", "cover", "total_gain", "total_cover", "count"}, default="weight"
        How many splits there are ("count" too), their mean gain or cover, or the sums. In a forest gains are
        those of its criterion, covers weights of rows.
    max_num_features : int, default=None
        At most so many columns, the largest; None for all up to 30.
    grid : bool, default=True
        Whether to draw lines behind the bars.
    show_values : bool, default=True
        Whether numbers stand at the bars.
    values_format : str, default=None
        How they are written, such as "{v:.2f}"; None for four digits, thousands with commas.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> model = weald.XGBClassifier(n_estimators=2).fit({"age": [1, 2, 3, 4] * 4}, [0, 0, 1, 1] * 4)
    >>> weald.plot_importance(model).get_yticklabels()[0].get_text()
    'age'
    """
    kind = _checked_kind(importance_type)
    check_whole(max_num_features, "max_num_features", least=1, none=True)
    if isinstance(booster, Mapping):
        found = {str(name): float(value) for name, value in booster.items()}
    else:
        found = named_importances(booster, kind, fmap)
    if not found:
        raise DataError("There is no split whose importance could be drawn: every tree is one leaf.")
    order = sorted(found, key=lambda name: -found[name])
    shown = order[: _MOST_BARS if max_num_features is None else int(max_num_features)]
    axes = new_axes(ax, "plot_importance")
    _grow(axes, len(shown), own=ax is None)
    values = [found[name] for name in shown[::-1]]
    words = [_written(value, values_format) for value in values] if show_values else None
    _bars(axes, shown[::-1], values, height, words)
    quiet(axes, ylabel=ylabel or "")
    axes.set_xlabel(_WORDS[kind] if xlabel is None else xlabel)
    hidden = len(order) - len(shown)
    more = f" ({len(shown)} of {len(order):,})" if hidden else ""
    if title:
        axes.set_title(f"{title}{more}")
    if grid:
        axes.grid(axis="x", color=PALE, linewidth=0.6)
        axes.set_axisbelow(True)
    if xlim is not None:
        axes.set_xlim(xlim)
    if ylim is not None:
        axes.set_ylim(ylim)
    return axes


def _checked_kind(asked: str) -> str:
    kind = _OTHER_NAMES.get(asked, asked)
    if kind not in _WORDS:
        known = [*_WORDS, *_OTHER_NAMES]
        close = nearest(str(asked), known)
        hint = f"Did you mean {close!r}?" if close else f"Use one of {', '.join(known)}."
        raise ParameterError(f"There is no importance {asked!r}. {hint}")
    return kind


def named_importances(model: object, kind: str, fmap: str | os.PathLike[str] = "") -> dict[str, float]:
    """The importance of each column that a model splits on, by its name."""
    estimator = inside(model, "plot_importance")
    values, counts = _importances(estimator, kind)
    schema = _schema(estimator)
    names = [f"column {name}" if isinstance(name, int) else label(name) for name in schema.names]
    if os.fspath(fmap):
        names = mapped_names(fmap, names)
    return {names[j]: float(values[j]) for j in np.flatnonzero(counts).tolist()}


def _importances(estimator: AnyEstimator, kind: str) -> tuple[Floats, NDArray[np.float64]]:
    """The importance of each column, and in how many splits it is; of members the mean of theirs."""
    forest = getattr(estimator, "forest_", None)
    if hasattr(estimator, "_shown_forest"):
        forest = estimator._shown_forest()
    if forest is not None:
        trees = (0, forest.n_trees)
        return column_importances(forest, kind, trees), column_importances(forest, "weight", trees)
    members = [inside(member, "plot_importance") for member in estimator._shown_members()]
    parts = [_importances(member, kind) for member in members]
    if len({len(values) for values, _ in parts}) > 1:
        raise DataTypeError(
            f"The members of this {type(estimator).__name__} have different columns. Draw the importance of "
            "one of them: plot_importance(model.estimators_[0])."
        )
    return np.mean([values for values, _ in parts], axis=0), np.sum([n for _, n in parts], axis=0)


def _schema(estimator: AnyEstimator) -> Any:
    if hasattr(estimator, "_shown_members") and estimator._shown_members() is not None:
        return _schema(inside(estimator._shown_members()[0], "plot_importance"))
    if hasattr(estimator, "_shown_tree"):
        return estimator._shown_tree(0).schema_
    return estimator.schema_


def _grow(axes: Axes, n_bars: int, *, own: bool) -> None:
    """Make a figure of our own higher where bars are many."""
    if own and n_bars > 18:
        figure = figure_of(axes)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, max(height, 0.24 * n_bars + 0.8))


def _written(value: float, how: str | None) -> str:
    """A number at a bar.

    >>> _written(36020.0, None), _written(0.12345, None), _written(2.0, "{v:.1f}"), _written(3e12, None)
    ('36,020', '0.1235', '2.0', '3×10¹²')
    """
    if how is not None:
        return how.format(v=value)
    return f"{value:,.0f}" if 999.95 <= abs(value) < _POWERS else as_power(f"{value:.4g}")


def _bars(
    axes: Axes, names: list[str], values: list[float], height: float | None, words: list[str] | None
) -> None:
    places = np.arange(len(names))
    axes.barh(places, values, height=0.7 if height is None else height, color=class_colour(0))
    axes.set_yticks(places, shortened_names(names))
    axes.set_ylim(-0.7, len(names) - 0.3)
    largest, least = max(0.0, *values), min(0.0, *values)
    axes.set_xlim(1.05 * least, (1.2 if words else 1.04) * largest or 1.0)
    if words is None:
        return
    for place, value, word in zip(places, values, words, strict=True):
        axes.annotate(
            word,
            (max(value, 0.0), place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL - (1 if len(names) > 18 else 0),
            color=GREY,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": axes.get_facecolor(), "edgecolor": "none"},
        )
