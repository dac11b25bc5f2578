"""Columns of a table as the core reads them: arrays, and nothing that knows what a table is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class NativeColumn(NamedTuple):
    """One column.

    Attributes
    ----------
    values : ndarray
        Numbers, or the level of each row (-1: missing).
    missing : ndarray of bool, optional
        Where numbers are missing that are not NaN.
    n_levels : int, optional
        How many levels there are; None for numbers.
    ordered : bool
        Whether the levels have an order.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    n_levels: int | None = None
    ordered: bool = False


class NativeColumns(NamedTuple):
    """All columns of a table: single ones by position, the others in a block.

    Attributes
    ----------
    placed : dict of int to NativeColumn
        Single columns; all of them, in their order, where there is no block.
    block : ndarray or tuple, optional
        An array of two dimensions, or the parts of a sparse matrix.
    sparse : bool
        Whether the block is sparse.
    """

    placed: dict[int, NativeColumn]
    block: Any = None
    sparse: bool = False


def native_values(values: NDArray[Any]) -> NDArray[Any]:
    """A column in a layout the core reads: converted only if in a foreign byte order, unaligned or exotic."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if not (values.dtype.isnative and values.flags.aligned):
        return values.astype(values.dtype.newbyteorder("="))
    return values
