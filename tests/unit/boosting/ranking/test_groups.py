"""Queries from labels or sizes, and weights of queries: every container, and what is refused."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from weald.boosting.ranking.groups import group_starts, query_row_weights
from weald.errors import DataError, DataTypeError, ParameterError

DAYS = [datetime.date(2024, 1, 2), datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)]


@pytest.mark.parametrize(
    "qid",
    [
        [7, 7, 3],
        ["b", "b", "a"],
        [True, True, False],
        [0.5, 0.5, 0.25],
        DAYS,
        np.array([7, 7, 3], np.int8),
        np.array([[7], [7], [3]]),
        np.array(["b", "b", "a"]),
        np.array(["2024-01-02", "2024-01-02", "2024-01-01"], "datetime64[D]"),
        np.array([2**63 + 1, 2**63 + 1, 2**63 + 2], np.uint64),
        pd.Series([7, 7, 3], index=[5, 5, 5]),
        pd.Series(["b", "b", "a"], dtype="category"),
        pl.Series(["b", "b", "a"]),
        pa.array([7, 7, 3]),
        range(3),
    ],
    ids=lambda qid: type(qid).__name__,
)
def test_queries_by_label(qid):
    starts = group_starts(3, qid=qid)
    assert starts.dtype == np.int64
    assert starts.tolist() == ([0, 1, 2, 3] if isinstance(qid, range) else [0, 2, 3])


def test_labels_need_no_order():
    assert group_starts(6, qid=["z", "z", "a", "m", "m", "m"]).tolist() == [0, 2, 3, 6]


@pytest.mark.parametrize(
    "group", [[2, 1, 3], np.array([2, 1, 3], np.uint8), pd.Series([2.0, 1.0, 3.0]), (2, 1, 3)]
)
def test_queries_by_size(group):
    assert group_starts(6, group=group).tolist() == [0, 2, 3, 6]


def test_one_query_where_nobody_says():
    assert group_starts(4).tolist() == [0, 4]
    assert group_starts(0).tolist() == [0]
    assert group_starts(0, qid=[]).tolist() == [0]


@pytest.mark.parametrize(
    ("qid", "shown"),
    [
        ([1, 2, 1, 2], "1"),
        (["x", "y", "x", "y"], "'x'"),
        ([0.5, 1.5, 0.5, 9.0], "0.5"),
        (np.array(["2024-05-01", "2024-05-02", "2024-05-01", "2024-05-03"], "datetime64[D]"), "2024-05-01"),
    ],
)
def test_a_query_that_comes_back(qid, shown):
    with pytest.raises(
        DataError,
        match=f"query {shown}.* comes back in row 2 after it ended before row 1.*Sort the rows by qid",
    ):
        group_starts(4, qid=qid)


def test_the_first_query_that_comes_back_is_named():
    with pytest.raises(DataError, match="query 5 comes back in row 4 after it ended before row 3"):
        group_starts(6, qid=[9, 5, 5, 7, 5, 9])


def test_text_and_numbers_of_the_same_look_are_apart():
    assert group_starts(3, qid=np.array([1, "1", "1"], dtype=object)).tolist() == [0, 1, 3]


def test_labels_are_what_a_dict_tells_apart():
    assert group_starts(3, qid=[("a", 1), ("a", 2), ("a", 2)]).tolist() == [0, 1, 3]
    assert group_starts(3, qid=pd.Series([("a", 1), ("a", 2), ("a", 2)])).tolist() == [0, 1, 3]
    with pytest.raises(DataError, match=r"query \('a', 1\) comes back in row 2"):
        group_starts(3, qid=[("a", 1), "b", ("a", 1)])
    with pytest.raises(DataTypeError, match=r"qid holds list in row 1.*Give numbers or text"):
        group_starts(2, qid=["a", ["b"]])


@pytest.mark.parametrize(
    "qid",
    [
        [1.0, np.nan, 2.0],
        ["a", None, "b"],
        np.array([1.0, np.nan, 2.0]),
        np.array(["2024-01-01", "NaT", "2024-01-01"], "datetime64[D]"),
        [np.datetime64("2024-01-01"), np.datetime64("NaT"), 1],
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series([1, pd.NA, "b"], dtype=object),
        pl.Series(["a", None, "b"]),
    ],
    ids=lambda qid: type(qid).__name__,
)
def test_a_missing_query(qid):
    with pytest.raises(DataError, match="row 1 has no query"):
        group_starts(3, qid=qid)


def test_wrong_numbers():
    with pytest.raises(DataError, match="qid has 2 values for 3 rows"):
        group_starts(3, qid=[1, 1])
    with pytest.raises(DataError, match="add up to 5, but there are 7 rows"):
        group_starts(7, group=[2, 3])
    with pytest.raises(DataError, match=r"group holds 0 for query 1.*leave queries without rows out"):
        group_starts(5, group=[2, 0, 3])
    with pytest.raises(DataError, match=r"group holds 1\.5 for query 0"):
        group_starts(3, group=[1.5, 1.5])
    with pytest.raises(DataError, match="group holds -1 for query 1"):
        group_starts(1, group=[2, -1])
    with pytest.raises(DataError, match="group holds nan for query 0"):
        group_starts(1, group=[np.nan])
    with pytest.raises(DataTypeError, match="number of rows of each query"):
        group_starts(2, group=["a", "b"])
    with pytest.raises(ParameterError, match="both `qid` and `group`"):
        group_starts(2, qid=[1, 1], group=[2])
    with pytest.raises(DataTypeError, match="qid"):
        group_starts(2, qid=scipy.sparse.csr_matrix([[1.0], [1.0]]))


START = np.array([0, 2, 5, 6])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_weights_of_queries_and_of_rows(kind):
    expected = [2.0, 2.0, 0.0, 0.0, 0.0, 1.5]
    for given in ([2.0, 0.0, 1.5], expected):
        assert query_row_weights(kind(given), START).tolist() == expected
    assert query_row_weights(None, START) is None
    assert query_row_weights(2, START).tolist() == [2.0] * 6


def test_weights_that_differ_within_a_query():
    with pytest.raises(DataError, match=r"query 1 \(rows 2 to 4\) has 1\.0 in row 2 and 3\.0 in row 4"):
        query_row_weights([2, 2, 1, 1, 3, 1], START)


def test_bad_weights():
    with pytest.raises(DataError, match="4 values for 3 queries and 6 rows"):
        query_row_weights([1, 1, 1, 1], START)
    with pytest.raises(DataError, match="negative"):
        query_row_weights([1, -1, 1], START)
    with pytest.raises(DataError, match="NaN"):
        query_row_weights([1, np.nan, 1], START)
