"""Shrinkage and subsampling: what the learning rate and the share of rows do to a booster, round by round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from weald.arrays import AnyEstimator, Estimator, Floats, RandomState, TableLike, TargetLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.target import positions_among, read_labels, read_target
from weald.errors import DataTypeError, ParameterError
from weald.numbers import as_float
from weald.pictures.axes import GREY, legend_beside, new_axes, quiet
from weald.pictures.colours import class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ("-", "--", "-.", ":")
_MOST_CURVES = 8


def plot_shrinkage(
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    *,
    learning_rates: Sequence[float] = (1.0, 0.3, 0.1, 0.03),
    test: tuple[TableLike, TargetLike] | None = None,
    test_size: float = 0.25,
    random_state: RandomState = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error on rows held out after every round, a curve per learning rate.

    The model is fitted once per learning rate, on the rows that are not held out. Errors are the log loss of
    a classifier and the root mean squared error of a regressor; a mark stands at the best round.

    Parameters
    ----------
    model : estimator
        A booster: `GradientBoosting*`, `XGB*`, `AdaBoost*`, or any with `learning_rate` and staged
        predictions. It stays as it is.
    X, y : table, array-like of shape (n_rows,)
        Rows.
    learning_rates : sequence of float, default=(1.0, 0.3, 0.1, 0.03)
        The learning rates, above 0.
    test : (X, y), default=None
        Rows to measure on; None for a share of the rows given.
    test_size : float, default=0.25
        That share, above 0 and below 1.
    random_state : int, RandomState or None, default=0
        Which rows are held out.
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
    >>> model = weald.XGBRegressor(n_estimators=10)
    >>> ax = weald.plot_shrinkage(model, X, [a + 2 * b for a, b in X], learning_rates=(1.0, 0.1))
    >>> len(ax.get_legend().get_texts())
    2
    """
    rates = _numbers(learning_rates, "learning_rates", "plot_shrinkage", math.inf)
    curves = _Curves(model, X, y, test, test_size, random_state, "plot_shrinkage")
    found = {f"{rate:g}": curves.of(learning_rate=rate) for rate in rates}
    return _draw(found, curves, "learning rate", "plot_shrinkage", ax)


def plot_subsampling(
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    *,
    subsamples: Sequence[float] = (1.0, 0.5, 0.25),
    test: tuple[TableLike, TargetLike] | None = None,
    test_size: float = 0.25,
    random_state: RandomState = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error on rows held out after every round, a curve per share of rows that a round sees.

    As `plot_shrinkage`, for `subsample`.

    Parameters
    ----------
    model : estimator
        A booster with `subsample`: `GradientBoosting*` or `XGB*`. It stays as it is.
    X, y : table, array-like of shape (n_rows,)
        Rows.
    subsamples : sequence of float, default=(1.0, 0.5, 0.25)
        The shares, above 0 and at most 1.
    test, test_size, random_state, ax
        As in `plot_shrinkage`.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, i % 7] for i in range(50)]
    >>> model = weald.XGBRegressor(n_estimators=10)
    >>> ax = weald.plot_subsampling(model, X, [a + 2 * b for a, b in X], subsamples=(1.0, 0.5))
    >>> len(ax.get_legend().get_texts())
    2
    """
    shares = _numbers(subsamples, "subsamples", "plot_subsampling", 1.0)
    curves = _Curves(model, X, y, test, test_size, random_state, "plot_subsampling")
    found = {f"{share:g}": curves.of(subsample=share) for share in shares}
    return _draw(found, curves, "subsample", "plot_subsampling", ax)


def _numbers(given: Sequence[float], name: str, owner: str, most: float) -> list[float]:
    numbers = [as_float(each) for each in given]
    fits = all(0 < each <= most and each < math.inf for each in numbers)
    if not 1 <= len(numbers) <= _MOST_CURVES or not fits:
        limit = f"above 0 and at most {most:g}" if most < math.inf else "above 0"
        raise ParameterError(
            f"`{name}` of {owner} must be 1 to {_MOST_CURVES} numbers {limit}; got {given!r}."
        )
    return numbers


class _Curves:
    """Errors on rows held out, after every round of a model."""

    def __init__(
        self,
        model: Estimator,
        X: TableLike,
        y: TargetLike,
        test: tuple[TableLike, TargetLike] | None,
        test_size: float,
        random_state: RandomState,
        owner: str,
    ) -> None:
        self._model, self._owner = model, owner
        self.labelled = bool(is_classifier(model))
        self._staged = "staged_predict_proba" if self.labelled else "staged_predict"
        if not hasattr(model, self._staged):
            raise DataTypeError(
                f"{owner} needs a booster with {self._staged}, which {type(model).__name__} has not."
            )
        self.measure = "log loss" if self.labelled else "root mean squared error"
        given = indexable(X)
        target = _target(y, outline(given).n_rows, owner, self.labelled)
        if test is None:
            seen, held = _split(
                len(target), target if self.labelled else None, test_size, random_state, owner
            )
            self._X, self._y = take(given, seen), target[seen]
            self._test, truth = take(given, held), target[held]
        else:
            self._X, self._y = given, target
            self._test = indexable(test[0])
            truth = _target(test[1], outline(self._test).n_rows, owner, self.labelled)
        self._truth = truth
        self.n_test = len(truth)

    def of(self, **parameters: float) -> Floats:
        """The error after every round of the model with these parameters."""
        name = next(iter(parameters))
        if name not in self._model.get_params():
            raise DataTypeError(
                f"{self._owner} needs a model with `{name}`, which {type(self._model).__name__} has not."
            )
        fitted: AnyEstimator = clone(self._model).set_params(**parameters).fit(self._X, self._y)
        stages: Iterator[NDArray[Any]] = getattr(fitted, self._staged)(self._test)
        if not self.labelled:
            return np.array([math.sqrt(float(np.mean((stage - self._truth) ** 2))) for stage in stages])
        places = positions_among(self._truth, np.asarray(fitted.classes_))
        rows, known = np.arange(len(places)), places >= 0
        # A label that training never saw has probability 0.
        shares = (np.where(known, stage[rows, places], 0.0) for stage in stages)
        return np.array([-float(np.log(np.clip(share, 1e-15, 1.0)).mean()) for share in shares])


def _target(y: TargetLike, n_rows: int, owner: str, labelled: bool) -> NDArray[Any]:
    if labelled:
        found = read_labels(y, n_rows=n_rows, estimator=owner)[0]
        return np.asarray(found.classes)[found.indices]
    return read_target(y, n_rows=n_rows, estimator=owner)[:, 0]


def _split(
    n: int, labels: NDArray[Any] | None, size: float, state: RandomState, owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from sklearn.model_selection import train_test_split

    share = as_float(size)
    if not 0 < share < 1:
        raise ParameterError(f"`test_size` of {owner} must be above 0 and below 1; got {size!r}.")
    stratify = labels
    if labels is not None:
        smallest = np.unique(labels, return_counts=True)[1].min()
        stratify = labels if smallest >= 2 else None
    rows = np.arange(n, dtype=np.int64)
    seen, held = train_test_split(rows, test_size=share, random_state=state, stratify=stratify)
    return np.sort(seen), np.sort(held)


def _draw(found: dict[str, Floats], curves: _Curves, word: str, owner: str, ax: Axes | None) -> Axes:
    axes = new_axes(ax, owner)
    for k, (name, errors) in enumerate(found.items()):
        rounds = np.arange(1, len(errors) + 1)
        colour = class_colour(k)
        axes.plot(
            rounds, errors, color=colour, linestyle=_STYLES[k % len(_STYLES)], linewidth=1.7, label=name
        )
        best = int(np.argmin(errors))
        axes.plot(rounds[best], errors[best], "o", color=colour, markersize=5, markeredgecolor="white")
    _limit(axes, list(found.values()))
    quiet(axes, xlabel="rounds", ylabel=f"{curves.measure} on {curves.n_test:,} rows held out")
    axes.set_title("a mark at the best round", loc="left", fontsize=9, color=GREY)
    legend_beside(axes, title=word)
    return axes


def _limit(axes: Axes, curves: Sequence[Floats]) -> None:
    """Keep a curve that runs away from hiding all others."""
    low = min(float(each.min()) for each in curves)
    start = max(float(each[0]) for each in curves)
    high = max(float(each.max()) for each in curves)
    top = min(high, low + 2.0 * (start - low)) if start > low else high
    room = 0.06 * (top - low) or 1.0
    axes.set_ylim(low - room, top + room)
