"""Tables with some rows, or with other columns in the place of some."""

import numpy as np
import pytest
from scipy import sparse
from support.tables import assert_same_table, values_of

from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.rows import take_rows, take_values, with_columns
from weald.data.table import NumericColumn, Table

DENSE = np.array([[0.0, 1.5, 0.0], [np.nan, 0.0, 2.0], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
ORDER = np.array([2, 0, 3, 1])


def tables() -> dict[str, Table]:
    mapping = {"a": [1.0, None, 2.0, 3.0], "b": ["x", None, "y", "x"], "c": [True, False, None, True]}
    return {
        "columns": to_table(mapping),
        "array": to_table(DENSE),
        "categories": to_table(np.nan_to_num(DENSE), categorical_features=[1]),
        "csr": to_table(sparse.csr_array(DENSE)),
        "csc": to_table(sparse.csc_array(DENSE)),
        "sparse categories": to_table(sparse.csr_array(np.nan_to_num(DENSE)), categorical_features=[1]),
    }


@pytest.mark.parametrize("what", tables())
@pytest.mark.parametrize("j", [0, 1, 2])
def test_one_column_in_another_order(what, j):
    table = tables()[what]
    mixed = with_columns(table, {j: take_values(table.columns[j], ORDER)})
    assert (mixed.n_rows, mixed.named, list(mixed.names)) == (4, table.named, list(table.names))
    for k in range(3):
        before, after = values_of(table.columns[k]), values_of(mixed.columns[k])
        assert after == ([before[i] for i in ORDER] if k == j else before)


@pytest.mark.parametrize("what", tables())
def test_all_columns_in_another_order_are_the_rows_in_that_order(what):
    table = tables()[what]
    mixed = with_columns(table, {j: take_values(table.columns[j], ORDER) for j in range(3)})
    assert_same_table(mixed, take_rows(table, ORDER))


def test_a_block_is_shared():
    table = to_table(DENSE)
    mixed = with_columns(table, {1: NumericColumn(1, np.zeros(4))})
    assert mixed.columns.block is table.columns.block


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_blocks_by_columns(form):
    """Entries of one place stay apart, and in their order."""
    line, other, data = [0, 0, 0, 2, 3], [1, 1, 0, 2, 0], [1.0, 2.5, 4.0, np.nan, 7.0]
    places = (line, other) if form == "csr" else (other, line)
    block = SparseBlock(
        form == "csr",
        (4, 4),
        np.array([0, 3, 3, 4, 5], np.int64),
        np.array(other, np.int32),
        np.array(data),
        absent_missing=True,
    )
    by_columns = block.compressed_by_columns()
    assert not by_columns.by_rows
    assert (by_columns.shape, by_columns.absent_missing) == ((4, 4), True)
    assert len(by_columns.data) == 5
    expected = np.zeros((4, 4))
    np.add.at(expected, places, data)
    expected[expected == 0] = np.nan
    np.testing.assert_array_equal(np.column_stack(by_columns.take(range(4))), expected)
    assert by_columns.compressed_by_columns() is by_columns
