"""An estimator for some of the columns that its parameters speak of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from weald.arrays import AnyEstimator

#: parameters that are a column's: names or positions of some, or a value for each
_NAMING = ("categorical_features",)
_PER_COLUMN = ("monotonic_cst", "monotone_constraints", "feature_weights")


def for_columns(model: AnyEstimator, names: Sequence[Hashable], columns: Sequence[int]) -> Any:
    """A copy of an estimator, its parameters as they are for some columns of a table.

    >>> from weald import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(categorical_features=[0, 2], monotonic_cst=[0, 1, 0])
    >>> for_columns(tree, range(3), [1, 2]).get_params()["monotonic_cst"]
    [1, 0]
    """
    copy = clone(model)
    params = copy.get_params(deep=True)
    changed = {}
    for name, value in params.items():
        own = name.rpartition("__")[2]
        if value is None or isinstance(value, str):
            continue
        if own in _NAMING:
            changed[name] = _named(value, names, columns) or None
        elif own in _PER_COLUMN:
            changed[name] = _per_column(value, names, columns)
    return copy.set_params(**changed) if changed else copy


def _named(value: Any, names: Sequence[Hashable], columns: Sequence[int]) -> list[Any]:
    """Those of the named columns that are left; positions as they are now, flags by column."""
    entries = list(value)
    if len(entries) == len(names) and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return [bool(entries[j]) for j in columns] if any(entries[j] for j in columns) else []
    place = {j: k for k, j in enumerate(columns)}
    kept = {names[j] for j in columns}
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
            found += [place[int(entry)]] if int(entry) in place else []
        elif entry in kept:
            found.append(entry)
    return found


def _per_column(value: Any, names: Sequence[Hashable], columns: Sequence[int]) -> Any:
    if isinstance(value, Mapping):
        kept = {names[j] for j in columns}
        place = {j: k for k, j in enumerate(columns)}
        by_position = {
            place[key]: each for key, each in value.items() if isinstance(key, int) and key in place
        }
        return {
            key: each for key, each in value.items() if key in kept and not isinstance(key, int)
        } | by_position
    entries = list(value)
    return [entries[j] for j in columns] if len(entries) == len(names) else value
