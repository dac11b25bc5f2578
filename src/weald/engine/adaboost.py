"""AdaBoost: the weights of rows, and stumps on rows laid out once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes
from weald.engine.grow import TreeArrays

StumpRows: TypeAlias = _core.StumpRows


def wrong_units(wrong: NDArray[np.bool_], units: NDArray[np.int64], *, n_threads: int) -> int:
    """The sum of the units of wrong rows."""
    return _core.wrong_units(wrong, units, n_threads)


def reweigh(
    values: NDArray[np.float64],
    wrong: NDArray[np.bool_],
    for_right: float,
    for_wrong: float,
    total: float,
    *,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Weights times a factor by flag, with the sum `total`, and their units: core/boosting/adaboost."""
    new_values, units = np.empty_like(values), np.empty(len(values), np.int64)
    _core.reweigh(values, wrong, for_right, for_wrong, total, n_threads, new_values, units)
    return new_values, units


def add_votes(
    votes: NDArray[np.float64],
    predicted: NDArray[np.int32],
    weight: float,
    label: NDArray[np.int32],
    units: NDArray[np.int64],
    *,
    n_threads: int,
) -> int:
    """Add a member's votes, in place; the units of rows that all votes so far have wrong."""
    return _core.add_votes(votes, predicted, weight, label, units, n_threads)


def stump_rows(codes: NativeCodes, label: NDArray[np.int32], n_classes: int, *, n_threads: int) -> StumpRows:
    """The rows as the search for stumps reads them; see core/boosting/adaboost/rows.h."""
    return _core.stump_rows(codes, label, n_classes, n_threads)


def grow_stump(
    rows: StumpRows, weights: NDArray[np.int64], criterion: int, *, n_threads: int
) -> tuple[TreeArrays, NDArray[np.int32]]:
    """The best stump of some weights, and the class it gives each row; see core/boosting/adaboost."""
    predicted = np.empty(len(weights), np.int32)
    return _core.grow_stump(rows, weights, criterion, n_threads, predicted), predicted
