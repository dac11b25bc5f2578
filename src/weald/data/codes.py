"""Codes: a table as small integers, column by column, and the codebook that made them.

Code 0 is missing; codes 1 … n stand for exact ranks, quantile bins or levels. This is the only full copy of
the user's data that a tree method makes. Columns of a sparse matrix stay sparse, with the codes that a dense
copy would have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.fixed_point import weight_units
from weald.data.native import naming_infinite, native_columns
from weald.data.table import Table
from weald.engine.storage.pages import code_sums


class Codes:
    """The coded rows of one table. Only the engine looks inside; the accessors are for people and tests."""

    def __init__(self, native: engine.NativeCodes) -> None:
        self.native = native

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.native.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.native.n_columns

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Codes per column, the missing code not counted."""
        return np.array([self.native.n_codes(j) for j in range(self.n_columns)], np.int64)

    def column(self, j: int) -> NDArray[Any]:
        """A copy of the codes of column j: 1, 2 or 4 bytes each."""
        return np.asarray(self.native.column(j))

    def is_sparse(self, j: int) -> bool:
        """Whether column j lists only the rows whose code is not that of 0."""
        return self.native.is_sparse(j)

    def n_entries(self, j: int) -> int:
        """How many rows column j lists; 0 if it is not sparse."""
        return self.native.n_entries(j)

    def has_missing(self, j: int) -> bool:
        """Whether some row is missing in column j."""
        return self.native.has_missing(j)

    def cuts(self, j: int) -> NDArray[np.float64]:
        """Cuts between the bins of column j; for an exact column its distinct values; empty for levels."""
        return self.native.marks(j)

    def sums(self) -> NDArray[np.uint64]:
        """A number per column that tells its codes and their order, wherever the rows are."""
        return code_sums(self.native)


def encode(
    table: Table,
    *,
    max_bins: int | None,
    weight: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> Codes:
    """Code every column of a table that is aligned to its schema.

    Parameters
    ----------
    table : Table
        Level columns point into the levels of the schema.
    max_bins : int or None
        At most this many bins a numeric column, cut at weighted quantiles; None: one code per distinct value.
    weight : ndarray of shape (n_rows,), optional
        Weights of the quantiles. Rows of weight 0 do not shape the cuts; exact codes need no weights.
    n_threads : int
        The result does not depend on it.
    """
    units = None if weight is None or max_bins is None else weight_units(weight).units
    with naming_infinite(table):
        columns = native_columns(table)
        return Codes(
            engine.encode(columns, table.n_rows, max_bins=max_bins, weights=units, n_threads=n_threads)
        )


def coarsen(codes: Codes, weights: NDArray[np.int64], *, max_bins: int, n_threads: int = 1) -> Codes:
    """Bin the numeric columns of fine codes anew, by the weights of a round: the candidates of approx.

    Parameters
    ----------
    codes : Codes
        Exact ranks, or up to 65,535 quantile codes per column.
    weights : ndarray of int64, shape (n_rows,)
        Whole units of each row's hessian, at least 0.
    max_bins : int
        At most this many bins per column, of about equal weight.
    n_threads : int
        The result does not depend on it.

    Returns
    -------
    Codes
        Numeric columns binned, columns of levels as they were.
    """
    return Codes(engine.coarsen(codes.native, weights, max_bins, n_threads=n_threads))
