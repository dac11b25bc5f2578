"""The folds of cross-validation: from `cv` as the user gave it to checked row numbers.

Whoever trains on a fold keeps the coded table and sets the weights of the other rows to 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Folds, RandomState, TableLike
from weald.data.target import total_weight
from weald.errors import ParameterError, told
from weald.estimators.shared.class_weight import Weights

RowNumbers: TypeAlias = NDArray[np.int64]


class Fold(NamedTuple):
    """One division of the rows, as weights: 0 for a row that does not take part."""

    train: Weights
    held_out: Weights


def folds(
    cv: Folds,
    X: TableLike | None,
    values: NDArray[Any],
    weight: Weights | None,
    *,
    labels: bool,
    random_state: RandomState,
    owner: str,
    name: str = "cv",
    way_out: str = "Use fewer folds, or ccp_alpha instead of prune.",
    shuffle: bool = True,
) -> Iterator[Fold]:
    """The folds one after another, each checked.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        As the estimator was given it. With a number, rows of weight 0 take no part.
    X : table
        What a splitter is shown as X.
    values : ndarray of shape (n_rows, n_outputs)
        The target; class numbers if `labels`. A single output of labels is stratified.
    weight : ndarray of shape (n_rows,) or None
        Weights.
    labels : bool
        Whether the target is classes.
    random_state : int, RandomState or None
        What shuffles the rows, if `cv` is a number; None for the same folds every time.
    owner, name, way_out : str
        For messages: the estimator, what it calls `cv`, and what to do where there are too few rows.
    shuffle : bool
        Whether a number of folds draws the rows of each; else they follow one another.
    """
    asker = f"`{name}` of {owner}"
    n_rows, number = len(values), 0
    whole = np.ones(n_rows) if weight is None else weight
    for number, pair in enumerate(
        _pairs(cv, X, values, whole, labels, (shuffle, random_state), asker, way_out), start=1
    ):
        part = f"Fold {number} of {asker}"
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise ParameterError(
                f"{part} must be a pair (train, test) of row numbers; got {told(pair)}."
            ) from None
        fold = Fold(
            whole * _times(train, n_rows, f"{part}: train"), whole * _times(test, n_rows, f"{part}: test")
        )
        for name, rows in zip(("trains on", "holds out"), fold, strict=True):
            if not rows.any():
                raise ParameterError(
                    f"{part} {name} no rows of positive weight. Give it some, or leave it out."
                )
        total_weight(fold.train)  # raises if it overflows
        yield fold
    if number < 2:
        raise ParameterError(
            f"{asker} gives {number} fold{'s' * (number != 1)}; cross-validation needs at least 2. "
            "Use a number of folds, or a list (a generator can be read only once)."
        )


def _pairs(
    cv: Folds,
    X: TableLike | None,
    values: NDArray[Any],
    weight: Weights,
    labels: bool,
    shuffle: tuple[bool, Any],
    asker: str,
    way_out: str,
) -> Iterator[Any]:
    """(train, test) from whatever `cv` is; `shuffle`: whether, and by what."""
    if isinstance(cv, Integral):
        yield from _divided(int(cv), values, weight, labels, shuffle, asker, way_out)
    elif hasattr(cv, "split") and not isinstance(cv, str):
        y = values[:, 0] if values.shape[1] == 1 else values
        table = X if hasattr(X, "shape") or hasattr(X, "__len__") else values
        yield from _asked(cv.split(table, y), asker)
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        yield from cv
    else:
        raise ParameterError(
            f"{asker} must be a number of folds, a splitter or pairs (train, test) of row numbers; "
            f"got {told(cv)}."
        )


def _asked(pairs: Iterable[Any], asker: str) -> Iterator[Any]:
    """What a splitter says, its complaints as errors that name `cv`."""
    try:
        yield from pairs
    except ValueError as error:
        raise ParameterError(
            f"The splitter {asker} cannot divide these rows: {error} "
            "A list of its (train, test) pairs works too, as in list(splitter.split(X, y, groups))."
        ) from error


def _divided(
    n_folds: int,
    values: NDArray[Any],
    weight: Weights,
    labels: bool,
    shuffle: tuple[bool, Any],
    asker: str,
    way_out: str,
) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    if n_folds < 2:
        raise ParameterError(f"{asker} must be at least 2 folds; got {n_folds}. {way_out}")
    rows = np.flatnonzero(weight > 0)
    if len(rows) < n_folds:
        raise ParameterError(
            f"{asker} asks for {n_folds} folds of {len(rows)} row{'s' * (len(rows) != 1)} "
            f"(n_samples={len(rows)}; rows of weight 0 do not count). {way_out}"
        )
    shuffled, random_state = shuffle
    seed = 0 if random_state is None else random_state
    stratified = labels and values.shape[1] == 1
    folder = (StratifiedKFold if stratified else KFold)(
        n_folds, shuffle=shuffled, random_state=seed if shuffled else None
    )
    strata = _strata(values[rows, 0], n_folds) if stratified else None
    for train, test in folder.split(rows[:, None], strata):
        yield rows[train], rows[test]


def _strata(labels: NDArray[np.int32], n_folds: int) -> NDArray[np.int32]:
    """Labels, with those too rare for every fold as one; if still too rare, as the most frequent."""
    count = np.bincount(labels)
    rare = count < n_folds
    together = int(np.argmax(rare)) if count[rare].sum() >= n_folds else int(np.argmax(count))
    return np.where(rare, together, np.arange(len(count)))[labels].astype(np.int32)


def _times(rows: ArrayLike, n_rows: int, part: str) -> Weights:
    """How often each row is named: by numbers, or by a mask."""
    try:
        numbers = np.asarray(rows)
    except ValueError:
        numbers = np.zeros((0, 0))
    if numbers.dtype == np.bool_ and numbers.shape == (n_rows,):
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise ParameterError(f"{part} must be a list of row numbers; got {told(rows)}.")
    outside = (numbers < 0) | (numbers >= n_rows)
    if outside.any():
        raise ParameterError(
            f"{part} names row {numbers[np.argmax(outside)]}; the table has the rows 0 to {n_rows - 1}."
        )
    return np.bincount(numbers.astype(np.int64), minlength=n_rows).astype(np.float64)
