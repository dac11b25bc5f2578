"""A number that stands for missing: in every kind of column, and what a sparse matrix leaves out."""

import numpy as np
import pytest
from scipy import sparse

from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.data.missing import mark_missing
from weald.data.rows import take_rows
from weald.data.schema import Schema


def codes_of(X, number, max_bins=None):
    table = mark_missing(to_table(X), number)
    aligned = Schema.of(table).align(table)
    codes = encode(aligned, max_bins=max_bins)
    return [codes.column(j).tolist() for j in range(codes.n_columns)]


@pytest.mark.parametrize("number", [0, -999.0, 2])
@pytest.mark.parametrize("max_bins", [None, 3])
def test_a_number_is_missing_whatever_holds_it(number, max_bins):
    dense = np.array([[0.0, -999.0], [2.0, 1.0], [5.0, 0.0], [np.nan, 2.0]])
    expected = codes_of(np.where(dense == number, np.nan, dense), np.nan, max_bins)
    assert codes_of(dense, number, max_bins) == expected
    assert codes_of({"a": dense[:, 0], "b": dense[:, 1].tolist()}, number, max_bins) == expected
    for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
        assert codes_of(form(dense), number, max_bins) == expected


def test_integers_and_categories():
    table = mark_missing(to_table(np.array([[1, 7], [-1, 8]]), categorical_features=[1]), -1)
    assert np.isnan(table.columns[0].values).tolist() == [False, True]
    table = mark_missing(to_table(np.array([[1, 7], [-1, 8]]), categorical_features=[1]), 8)
    assert table.columns[1].indices.tolist() == [0, -1]
    assert mark_missing(table, np.nan) is table


def test_a_stored_zero_is_missing_too_where_zero_is():
    matrix = sparse.csr_matrix(([0.0, 3.0, np.nan], ([0, 1, 2], [0, 0, 0])), shape=(4, 1))
    assert codes_of(matrix, 0) == [[0, 1, 0, 0]]
    table = mark_missing(to_table(matrix), 0)
    codes = encode(Schema.of(table).align(table), max_bins=None)
    assert codes.has_missing(0)
    assert codes.n_entries(0) == 1


def test_entries_of_one_place_count_by_their_sum():
    matrix = sparse.csr_matrix((np.array([1.0, 1.0, 5.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), (2, 1))
    assert codes_of(matrix, 2) == [[0, 1]]
    assert codes_of(matrix, 1) == [[1, 2]]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, dict])
def test_rows_are_taken_in_order(make):
    dense = np.array([[0.0, 1.0], [2.0, 0.0], [np.nan, 5.0]])
    X = {"a": dense[:, 0], "b": dense[:, 1]} if make is dict else make(dense)
    table = take_rows(to_table(X), np.array([2, 0, 2]))
    assert table.n_rows == 3
    taken = np.column_stack([column.values for column in table.columns])
    assert np.array_equal(taken, dense[[2, 0, 2]], equal_nan=True)


def test_rows_of_a_sparse_matrix_keep_what_absent_means():
    table = take_rows(mark_missing(to_table(sparse.csr_matrix([[0.0], [4.0]])), 0), np.array([0]))
    assert np.isnan(table.columns[0].values).all()
