"""How much of the spread of a column's categories is more than chance (docs/methods/trees.md, 8b)."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.boosting.newton.options import FEW_CATEGORIES
from weald.data.codes import Codes
from weald.data.fixed_point import Units, weight_units, weighted_units
from weald.data.schema import Schema
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.fitted import Target


def category_shrinkage(
    schema: Schema, codes: Codes, target: Target, *, from_levels: int = 0
) -> dict[Hashable, float]:
    """How many rows a category needs for its mean to count half, by categorical column.

    0 where rows of a category are all alike, infinity where the categories' means (shares of classes) vary no
    more than chance lets them. Sums are of integers: no order of rows shows.

    Parameters
    ----------
    schema : Schema
        The columns.
    codes : Codes
        The training table.
    target : Target
        What was learnt from it.
    from_levels : int, default=0
        Columns of fewer categories are left out.
    """
    columns = [
        (j, column.name)
        for j, column in enumerate(schema.columns)
        if column.kind == "categorical" and len(column.levels) >= from_levels
    ]
    if not columns:
        return {}
    weight = target.weight
    used = np.ones(len(target.values), np.bool_) if weight is None else weight > 0
    weight = np.ones(int(used.sum())) if weight is None else weight[used]
    target = Target(target.values[used], target.classes, weight)
    return {name: _shrinkage(codes.column(j)[used].astype(np.int64), target, weight) for j, name in columns}


def boosted_shrinkage(
    schema: Schema,
    codes: Codes,
    values: NDArray[Any],
    classes: tuple[NDArray[Any], ...] | None,
    weight: Weights | None,
) -> dict[Hashable, float]:
    """The same of the columns that boosting judges by their spread; class numbers may be of any type."""
    values = values.reshape(len(values), -1)
    if classes is not None:
        values = values.astype(np.int32)
    return category_shrinkage(schema, codes, Target(values, classes, weight), from_levels=FEW_CATEGORIES + 1)


def shrinkage_of(coded: Coded) -> dict[Hashable, float]:
    """The same of a table that is read and coded."""
    return category_shrinkage(coded.schema, coded.codes, coded.target)


def _shrinkage(code: NDArray[np.int64], target: Target, weight: Weights) -> float:
    """The ratio of the variance within categories to that between them, in rows."""
    known = code > 0
    code, values, weight = code[known], target.values[known], weight[known]
    present, place = np.unique(code, return_inverse=True)
    n_rows, n_means = len(code), len(present)
    if n_means < 2 or n_rows <= n_means:
        return math.inf
    units = weight_units(weight)
    whole = _sums_by(place, units)
    total = math.fsum(whole.tolist())
    between = within = 0.0
    if target.classes is None:
        largest = float(np.abs(values).max())
        values = values / largest if largest > 0 else values  # so that no square is too large or too small
    for k in range(target.n_outputs):
        part = _of_numbers if target.classes is None else _of_classes
        a, b = part(values[:, k], place, whole, total, weight, units)
        between, within = between + a, within + b
    rows = n_rows / total  # what a unit of weight counts
    noise = max(0.0, within) * rows / (n_rows - n_means)
    spread = between * rows - (n_means - 1) * noise
    unequal = n_rows - math.fsum(((whole * rows) ** 2).tolist()) / n_rows
    if not spread > 0:
        return math.inf
    return noise * unequal / spread


def _sums_by(place: NDArray[np.intp], units: Units) -> NDArray[np.float64]:
    """What the units of each category add up to, in real numbers."""
    sums = np.zeros(int(place.max()) + 1, np.int64)
    np.add.at(sums, place, units.units)
    return np.ldexp(sums.astype(np.float64), -units.power)


def _of_numbers(
    values: NDArray[Any],
    place: NDArray[np.intp],
    whole: NDArray[np.float64],
    total: float,
    weight: Weights,
    units: Units,
) -> tuple[float, float]:
    """Weighted squares between the categories, and within them."""
    centred = values - (float(values.min()) + float(values.max())) / 2
    sums = _sums_by(place, weighted_units(centred, weight, units))
    squares = _sums_by(np.zeros(len(place), np.intp), weighted_units(centred**2, weight, units))
    means = math.fsum((sums**2 / whole).tolist())
    return means - math.fsum(sums.tolist()) ** 2 / total, float(squares[0]) - means


def _of_classes(
    values: NDArray[Any],
    place: NDArray[np.intp],
    whole: NDArray[np.float64],
    total: float,
    weight: Weights,
    units: Units,
) -> tuple[float, float]:
    """The same of the indicators of all classes: what Gini counts."""
    n_classes = int(values.max()) + 1
    pair, at = np.unique(place.astype(np.int64) * n_classes + values, return_inverse=True)
    sums = _sums_by(at, units)
    classes = _sums_by(values.astype(np.intp), units)
    means = math.fsum((sums**2 / whole[pair // n_classes]).tolist())
    return means - math.fsum((classes**2).tolist()) / total, total - means
