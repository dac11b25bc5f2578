"""The columns of a training table: what a model remembers of them, and the table in that shape."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.data.table import Table


def learn_columns(
    table: Table,
    weight: NDArray[np.float64] | NDArray[np.int64] | None,
    *,
    unknown: Literal["missing", "error"],
    owner: str,
    schema: Schema | None = None,
) -> tuple[Schema, Table]:
    """The schema of a training table, and the table aligned to it.

    Parameters
    ----------
    table : Table
        The rows.
    weight : ndarray of shape (n_rows,), optional
        Levels that only rows of weight 0 have are none.
    unknown : {"missing", "error"}
        What to do about levels that training did not see.
    owner : str
        The estimator, for messages.
    schema : Schema, optional
        That of a model to go on from, in place of a new one.
    """
    if schema is None:
        schema = Schema.of(table, used=used_rows(weight), unknown=unknown)
    return schema, schema.align(table, estimator=owner)


def used_rows(weight: NDArray[np.float64] | NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
    """The rows that count, or None if all do."""
    if weight is None:
        return None
    used = weight > 0
    return None if used.all() else used
