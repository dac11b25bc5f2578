"""Helpers of the table tests: equality of tables, and the shared folder of real tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn, NumericColumn, Table


def values_of(column: Column) -> list[Any]:
    """The column as Python values with None for missing; levels as (type, value)."""
    if isinstance(column, LevelColumn):
        return [
            None if i < 0 else (type(column.levels[i]).__name__, column.levels[i])
            for i in column.indices.tolist()
        ]
    missing = missing_rows(column)
    gone = np.zeros(len(column.values), dtype=bool) if missing is None else missing
    return [
        None if none else float(value)
        for value, none in zip(column.values.tolist(), gone.tolist(), strict=True)
    ]


def assert_same_column(a: Column, b: Column) -> None:
    assert a.name == b.name
    assert a.kind == b.kind
    if isinstance(a, NumericColumn) and isinstance(b, NumericColumn):
        assert a.unit == b.unit
    if isinstance(a, LevelColumn):
        assert a.indices.dtype == np.int32
    assert values_of(a) == values_of(b)


def assert_same_table(a: Table, b: Table) -> None:
    assert (a.n_rows, a.named, a.names) == (b.n_rows, b.named, b.names)
    for left, right in zip(a.columns, b.columns, strict=True):
        assert_same_column(left, right)


def data_file(name: str) -> Path:
    """A real table of the shared data folder; the test is skipped where the folder is absent."""
    folder = Path(
        os.environ.get("WEALD_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data")
    )
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not in the data folder (set WEALD_DATA to it)")
    return path
