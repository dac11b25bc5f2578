"""Rows and columns of the user's own table come back in the user's own type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from weald.data.frames.user_rows import indexable, outline, take
from weald.errors import DataError, DataTypeError

COLUMNS = {"a": [1.0, 2.0, 3.0], "b": ["x", "y", None], "c": [True, False, True]}
NUMBERS = np.arange(12.0).reshape(3, 4)
ROWS = np.array([2, 0, 0])

FRAMES = {
    "pandas": (pd.DataFrame(COLUMNS), lambda t: t["a"].tolist()),
    "polars": (pl.DataFrame(COLUMNS), lambda t: t["a"].to_list()),
    "arrow": (pa.table(COLUMNS), lambda t: t["a"].to_pylist()),
    "mapping": (COLUMNS, lambda t: list(t["a"])),
    "mapping of arrays": ({k: np.array(v) for k, v in COLUMNS.items()}, lambda t: t["a"].tolist()),
    "mapping of series": ({k: pd.Series(v) for k, v in COLUMNS.items()}, lambda t: t["a"].tolist()),
    "structured": (
        np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=[("a", float), ("b", object), ("c", bool)]),
        lambda t: t["a"].tolist(),
    ),
}


@pytest.mark.parametrize("which", FRAMES)
def test_named_tables(which):
    table, values = FRAMES[which]
    table = indexable(table)
    found = outline(table)
    assert (list(found.names), found.n_rows, found.n_columns, found.named) == (["a", "b", "c"], 3, 3, True)
    part = take(table, ROWS, [2, 0])
    assert type(part) is type(table)
    assert list(outline(part).names) == ["c", "a"]
    assert values(part) == [3.0, 1.0, 1.0]
    assert values(take(table, ROWS)) == [3.0, 1.0, 1.0]
    assert list(outline(take(table, None, [1])).names) == ["b"]
    assert take(table) is table


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_unnamed_tables(make):
    table = indexable(make(NUMBERS))
    found = outline(table)
    assert (list(found.names), found.n_rows, found.named) == ([0, 1, 2, 3], 3, False)
    part = take(table, ROWS, [3, 1])
    assert sparse.issparse(part) == (make is not np.asarray)
    dense = part.toarray() if sparse.issparse(part) else part
    assert dense.tolist() == NUMBERS[ROWS][:, [3, 1]].tolist()


def test_lists_become_arrays():
    assert indexable([[1, 2], [3, 4]]).dtype == np.int64
    gaps = indexable([[1, None], [3, 4]])
    assert gaps.dtype == np.float64
    assert np.isnan(gaps[0, 1])
    assert indexable([["x", 1], ["y", 2]]).dtype == object


def test_what_is_no_table_is_refused():
    for wrong in ("text", None, 3):
        with pytest.raises(DataTypeError):
            indexable(wrong)
    with pytest.raises(DataError):
        indexable(pd.Series([1, 2]))
    with pytest.raises(DataError, match="2D array"):
        indexable([1, 2])
    with pytest.raises(DataError, match="unique"):
        outline(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match="0 sample"):
        outline(np.zeros((0, 2)))
    with pytest.raises(DataError, match="equally long"):
        outline({"a": [1], "b": [1, 2]})
    with pytest.raises(DataTypeError, match="Convert it to pandas"):
        outline(pa.table(COLUMNS).to_reader())
