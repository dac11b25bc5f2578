"""Helpers of the tests of codes: tables of plain columns and what their codes must be."""

from __future__ import annotations

import numpy as np

from weald.data.codes import Codes, encode
from weald.data.table import NumericColumn, Table


def table_of(*columns: np.ndarray, missing: dict[int, np.ndarray] | None = None) -> Table:
    masks = missing or {}
    numeric = tuple(NumericColumn(f"x{j}", values, masks.get(j)) for j, values in enumerate(columns))
    return Table(numeric, len(columns[0]), named=True)


def coded(values: np.ndarray, max_bins: int | None = None, **more) -> Codes:
    return encode(table_of(values), max_bins=max_bins, **more)


def assert_binned(codes: Codes, values: np.ndarray, max_bins: int) -> None:
    cuts = codes.cuts(0)
    numbers = values.astype(np.float64)
    expected = np.where(np.isnan(numbers), 0, 1 + np.searchsorted(cuts, numbers, side="left"))
    np.testing.assert_array_equal(codes.column(0), expected)
    assert (np.diff(cuts) > 0).all()
    assert codes.n_codes[0] == len(cuts) + 1 <= max_bins
