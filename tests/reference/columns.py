"""From a `Table` to the reference's columns: exact ranks, levels, or the bins that given cuts make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reference.splits import ReferenceColumn
from weald.data.table import LevelColumn, NumericColumn, Table


def as_floats(column: NumericColumn) -> NDArray[np.float64]:
    """The numbers as float64, NaN where missing."""
    values = column.values.astype(np.float64)
    if column.missing is not None:
        values = np.where(column.missing, np.nan, values)
    return values


def level_codes(column: LevelColumn) -> NDArray[np.int64]:
    """Level i has code i + 1; missing, -1, has code 0."""
    return column.indices.astype(np.int64) + 1


def exact_column(values: NDArray[np.float64]) -> ReferenceColumn:
    """Every distinct value is a code: its rank, from 1."""
    distinct = np.array(sorted({v for v in values.tolist() if v == v}), dtype=np.float64)
    rank = {v: i + 1 for i, v in enumerate(distinct.tolist())}
    codes = np.array([rank.get(v, 0) for v in values.tolist()], dtype=np.int64)
    return ReferenceColumn("numeric", codes, len(distinct), values=distinct)


def binned_column(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> ReferenceColumn:
    """A code is 1 plus the number of cuts below the value: a value equal to a cut is on its left."""
    codes = [0 if v != v else 1 + sum(cut < v for cut in cuts.tolist()) for v in values.tolist()]
    return ReferenceColumn("numeric", np.array(codes, dtype=np.int64), len(cuts) + 1, cuts=cuts)


def reference_columns(
    table: Table, used: NDArray[np.bool_], cuts: Sequence[NDArray[np.float64]] | None = None
) -> list[ReferenceColumn]:
    """The columns of the used rows, exact or, with the cuts of each column, binned."""
    out = []
    for j, column in enumerate(table.columns):
        if isinstance(column, LevelColumn):
            codes = level_codes(column)[used]
            out.append(ReferenceColumn(column.kind, codes, len(column.levels)))
        elif cuts is None:
            out.append(exact_column(as_floats(column)[used]))
        else:
            out.append(binned_column(as_floats(column)[used], cuts[j]))
    return out
