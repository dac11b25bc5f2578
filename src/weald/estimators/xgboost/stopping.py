"""Early stopping as a constructor option: which rows are held out, or how many rounds the folds find best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Folds, TableLike
from weald.boosting.records import BoostTarget
from weald.errors import DataError, ParameterError
from weald.estimators.shared.folds import folds
from weald.estimators.xgboost.options import XGBOptions
from weald.estimators.xgboost.rows import Rows

#: rounds to wait where `early_stopping` is given and `early_stopping_rounds` is not
WAIT = 10
#: folds of early_stopping="cv"
FOLDS = 5


def hold_out(
    target: BoostTarget, share: float, seed: int, *, labels: bool, owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to train on and those to hold out, each ascending.

    Every class gives its share and keeps a row; of a ranking whole queries are held out. Rows of weight 0 are
    never held out.
    """
    unit, n_units = _units(target)
    present = np.ones(target.n_rows, np.bool_) if target.weight is None else target.weight > 0
    counted = np.bincount(unit[present], minlength=n_units) > 0
    candidates = np.flatnonzero(counted)
    key = np.random.RandomState(seed % 2**32).random_sample(n_units)[candidates]
    stratum = np.zeros(len(candidates), np.int64)
    if labels and target.values.ndim == 1 and target.group_start is None:
        stratum = target.values[candidates].astype(np.int64)
    order = np.lexsort((key, stratum))
    sizes = np.bincount(stratum)
    rank = np.empty(len(candidates), np.int64)
    rank[order] = np.arange(len(candidates)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.minimum(np.floor(share * sizes + 0.5), sizes - 1)
    held = np.zeros(n_units, np.bool_)
    held[candidates[rank < wanted[stratum]]] = True
    if not held.any():
        what = "query" if target.group_start is not None else "row"
        raise DataError(
            f"`early_stopping` of {owner} is {share}, which holds out no {what} of {len(candidates)} "
            f"(n_samples={target.n_rows}). Use a larger share, a set (X, y), or more rows."
        )
    return np.flatnonzero(~held[unit]), np.flatnonzero(held[unit])


def _units(target: BoostTarget) -> tuple[NDArray[np.int64], int]:
    """What is held out whole: a row, or the query of each row."""
    if target.group_start is None:
        return np.arange(target.n_rows), target.n_rows
    sizes = np.diff(target.group_start)
    return np.repeat(np.arange(len(sizes)), sizes), len(sizes)


def fold_rows(
    cv: Folds,
    X: TableLike,
    rows: Rows,
    *,
    labels: bool,
    stratified: bool,
    classes: tuple[NDArray[Any], ...] | None,
    seed: int,
    owner: str,
    name: str,
    shuffle: bool = True,
) -> list[tuple[Rows, Rows]]:
    """The (training, held-out) rows of each fold; of a ranking a number divides queries.

    Raises
    ------
    DataError
        If a fold trains without a row of some class.
    """
    target = rows.target
    unit, n_units = _units(target)
    if target.group_start is not None and isinstance(cv, int):
        divided = folds(
            cv,
            None,
            np.zeros((n_units, 1)),
            None,
            labels=False,
            random_state=seed % 2**32,
            owner=owner,
            name=name,
            way_out="Use fewer folds, or more queries.",
            shuffle=shuffle,
        )
        weight = np.ones(target.n_rows) if target.weight is None else target.weight
        parts = [(weight * fold.train[unit], weight * fold.held_out[unit]) for fold in divided]
    else:
        values = target.values.reshape(target.n_rows, -1)
        if labels and stratified:
            values = values.astype(np.int32)
        found = folds(
            cv,
            X,
            values,
            target.weight,
            labels=labels and stratified,
            random_state=seed % 2**32,
            owner=owner,
            name=name,
            way_out="Use fewer folds, or more rows.",
            shuffle=shuffle,
        )
        parts = [(fold.train, fold.held_out) for fold in found]
    for number, (train, _) in enumerate(parts, start=1):
        if labels:
            _check_classes(target, train, classes or (), f"Fold {number} of `{name}` of {owner}")
    return [(_part(rows, train), _part(rows, test)) for train, test in parts]


def _part(rows: Rows, weight: NDArray[np.float64]) -> Rows:
    kept = np.flatnonzero(weight)
    plain = rows.target.weight is None and bool((weight[kept] == 1).all())
    part = rows.take(kept, weight[kept])
    if plain:
        target = BoostTarget(part.target.values, None, part.target.group_start)
        part = Rows(part.table, target, part.margin)
    return part


def _check_classes(
    target: BoostTarget, weight: NDArray[np.float64], classes: Sequence[NDArray[Any]], part: str
) -> None:
    columns = target.values.reshape(target.n_rows, -1)
    for k, labels in enumerate(classes):
        present = np.bincount(columns[weight > 0, k].astype(np.int64), minlength=len(labels)) > 0
        if not present.all():
            label = labels.tolist()[int(np.argmin(present))]
            where = "" if len(classes) == 1 else f" of output {k}"
            raise DataError(
                f"{part} trains on no row of the class {label!r}{where}. Use stratified folds or fewer of "
                "them, or leave the class out."
            )


def check_waiting(options: XGBOptions, n_sets: int, owner: str) -> int | None:
    """The rounds to wait without improvement; None: no early stopping by rounds."""
    rounds: int | None = options.early_stopping_rounds
    if options.early_stopping is not None:
        return WAIT if rounds is None else rounds
    if rounds is not None and n_sets == 0:
        raise ParameterError(
            f"`early_stopping_rounds` of {owner} needs rows to measure on: Must have at least 1 validation "
            "dataset for early stopping. Give fit(..., eval_set=[(X, y)]), or set early_stopping=0.1 to hold "
            "out a tenth of the rows."
        )
    return rounds
