"""Prediction: every layout and every kind of split against a naive walk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from unit.model.forests import mixed_schema, naive_leaf, random_forest, random_table

from weald.data.adapters import to_table
from weald.data.schema import ColumnSchema, Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, NativeError
from weald.model.forest import CATEGORIES, COMBINATION, Forest
from weald.model.predict import decision_path, leaf_nodes, raw_scores

N_COLUMNS = 4


def numeric_schema(n_columns: int = N_COLUMNS) -> Schema:
    return Schema(tuple(ColumnSchema(j, "numeric") for j in range(n_columns)), named=False)


def numeric_table(matrix: np.ndarray) -> Table:
    """Views of the matrix: side by side where it is C-ordered."""
    return Table(
        tuple(NumericColumn(j, column) for j, column in enumerate(matrix.T)), len(matrix), named=False
    )


def numbers(n_rows: int, *, missing: bool, seed: int = 0) -> np.ndarray:
    """Values that meet the thresholds now and then, and are exact in float32."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32).astype(np.float64)
    if missing:
        matrix[rng.random(matrix.shape) < 0.15] = np.nan
    return matrix


def naive_leaves(forest: Forest, table: Table) -> np.ndarray:
    return np.array(
        [
            [naive_leaf(forest, table, row, tree) for tree in range(forest.n_trees)]
            for row in range(table.n_rows)
        ]
    )


def naive_scores(forest: Forest, leaves: np.ndarray) -> np.ndarray:
    """Trees added one after another, as the definition says."""
    scores = np.tile(forest.base_score, (len(leaves), 1))
    for tree in range(forest.n_trees):
        values = forest.value[~forest.slot[forest.tree_start[tree] + leaves[:, tree]]]
        first = int(forest.tree_output[tree])
        scores[:, first : first + forest.width] += forest.tree_weight[tree] * values
    return scores


def boosted(seed: int, **more) -> Forest:
    """Several trees with weights, base scores and outputs of their own."""
    forest = random_forest(seed, n_trees=4, width=2, shares=False, **more)
    return replace(
        forest,
        base_score=np.array([0.5, -1.0, 2.0]),
        tree_output=np.array([0, 1, 0, 1], np.int32),
        tree_weight=np.array([1.0, 0.1, -2.0, 0.25]),
    )


def assert_predicts(forest: Forest, table: Table) -> None:
    leaves = naive_leaves(forest, table)
    for n_threads in (1, 2, 5):
        np.testing.assert_array_equal(leaf_nodes(forest, table, n_threads=n_threads), leaves)
        np.testing.assert_array_equal(
            raw_scores(forest, table, n_threads=n_threads), naive_scores(forest, leaves)
        )


# every kind of split


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 300])
def test_mixed_tables_against_the_naive_walk(seed, n_rows):
    schema = mixed_schema()
    forest = boosted(seed, combinations=seed % 2 == 0)
    assert (forest.kind == CATEGORIES).any()
    assert (forest.kind == COMBINATION).any() == (seed % 2 == 0)
    table = random_table(seed, schema, n_rows)
    if n_rows:
        assert_predicts(forest, table)
    else:
        assert leaf_nodes(forest, table).shape == (0, 4)
        assert raw_scores(forest, table).shape == (0, 3)


def test_thousands_of_categories():
    schema = Schema((ColumnSchema("c", "categorical", levels=tuple(range(5000))),), named=True)
    forest = random_forest(1, schema, n_leaves=30)
    table = random_table(2, schema, 2000)
    assert_predicts(forest, table)


def test_category_beyond_the_set_goes_right():
    forest = stump(kind=CATEGORIES, set_codes=np.array([1], np.uint32))
    table = Table((LevelColumn(0, np.array([0, 1, 40, 2**31 - 2], np.int32), ("a", "b")),), 4, named=False)
    assert leaf_nodes(forest, table).ravel().tolist() == [1, 2, 2, 2]


def test_combination_in_place_and_copied():
    rng = np.random.default_rng(3)
    matrix = numbers(500, missing=True)
    forest = random_forest(3, numeric_schema(), n_leaves=40, combinations=True)
    assert (forest.kind == COMBINATION).any()
    assert_predicts(forest, numeric_table(matrix))
    assert_predicts(forest, numeric_table(np.asfortranarray(matrix)))
    # alone, with coefficients that round
    combined = stump(
        kind=COMBINATION,
        n_columns=N_COLUMNS,
        threshold=0.1,
        combination_column=np.array([3, 0, 1], np.int32),
        combination_coefficient=rng.normal(size=3),
    )
    assert_predicts(combined, numeric_table(matrix))


def test_combination_of_a_missing_value_follows_missing_left():
    table = numeric_table(np.array([[np.nan, 1.0], [1.0, np.nan], [1.0, 1.0]]))
    for left in (False, True):
        forest = stump(
            kind=COMBINATION,
            n_columns=2,
            threshold=3.0,
            missing_left=left,
            combination_column=np.array([0, 1], np.int32),
            combination_coefficient=np.array([1.0, 1.0]),
        )
        missing = 1 if left else 2
        assert leaf_nodes(forest, table).ravel().tolist() == [missing, missing, 1]


def test_threshold_belongs_to_the_left():
    below, above = np.nextafter(0.1, 0), np.nextafter(0.1, 1)
    table = numeric_table(np.array([[below], [0.1], [above], [np.nan], [-0.0], [1.7e308]]))
    assert leaf_nodes(stump(threshold=0.1), table).ravel().tolist() == [1, 1, 2, 2, 1, 2]
    zero = numeric_table(np.array([[-0.0], [0.0], [-5e-324], [5e-324]]))
    assert leaf_nodes(stump(threshold=0.0), zero).ravel().tolist() == [1, 1, 1, 2]


def test_threshold_of_infinity_parts_missing_from_present():
    table = numeric_table(np.array([[1.7e308], [np.nan], [-1.7e308]]))
    assert leaf_nodes(stump(threshold=np.inf), table).ravel().tolist() == [1, 2, 1]
    assert leaf_nodes(stump(threshold=np.inf, missing_left=True), table).ravel().tolist() == [1, 1, 1]


# layouts


def layouts(matrix: np.ndarray) -> dict[str, Table]:
    """The same numbers in every place they can lie."""
    single = matrix.astype(np.float32)
    rows = np.arange(len(matrix))
    padded = np.zeros((len(matrix), 9))
    padded[:, 2 : 2 + N_COLUMNS] = matrix
    mixed = tuple(
        NumericColumn(j, matrix[:, j].astype(dtype))
        for j, dtype in enumerate([np.float64, np.float32, np.float64, np.float32])
    )
    masked = tuple(
        NumericColumn(j, np.where(np.isnan(column), 77.0, column), np.isnan(column))
        for j, column in enumerate(matrix.T)
    )
    shuffled = np.ascontiguousarray(matrix[:, ::-1])  # side by side, but in another order
    return {
        "float64 C": numeric_table(matrix),
        "float32 C": numeric_table(single),
        "float64 F": numeric_table(np.asfortranarray(matrix)),
        "float32 F": numeric_table(np.asfortranarray(single)),
        "wider rows": numeric_table(padded[:, 2 : 2 + N_COLUMNS]),
        "every other row": numeric_table(np.repeat(matrix, 2, axis=0)[::2]),
        "backwards": numeric_table(matrix[::-1].copy()[::-1]),
        "columns backwards": numeric_table(shuffled[:, ::-1]),
        "foreign bytes": numeric_table(matrix.astype(">f8")),
        "mixed dtypes": Table(mixed, len(rows), named=False),
        "masks": Table(masked, len(rows), named=False),
        "pandas": to_table(pd.DataFrame(matrix)),
        "pandas of columns": to_table(pd.DataFrame({j: matrix[:, j] for j in range(N_COLUMNS)})),
    }


@pytest.mark.parametrize("missing", [False, True])
def test_every_layout_gives_the_same(missing):
    matrix = numbers(2500, missing=missing)  # several blocks
    forest = random_forest(5, numeric_schema(), n_trees=3, n_leaves=60)
    expected = naive_leaves(forest, numeric_table(matrix[:200]))
    first = raw_scores(forest, numeric_table(matrix))
    for name, table in layouts(matrix).items():
        for n_threads in (1, 3):
            leaves = leaf_nodes(forest, table, n_threads=n_threads)
            np.testing.assert_array_equal(leaves[:200], expected, err_msg=name)
            np.testing.assert_array_equal(raw_scores(forest, table, n_threads=n_threads), first, err_msg=name)


def test_missing_in_one_block_only():
    """Blocks without a missing value are walked without asking for one."""
    matrix = numbers(4000, missing=False)
    matrix[2500, 1] = np.nan
    matrix[3999] = np.nan
    forest = random_forest(6, numeric_schema(), n_leaves=80)
    np.testing.assert_array_equal(
        leaf_nodes(forest, numeric_table(matrix)),
        leaf_nodes(forest, numeric_table(np.asfortranarray(matrix))),
    )
    np.testing.assert_array_equal(
        leaf_nodes(forest, numeric_table(matrix))[2496:2504],
        naive_leaves(forest, numeric_table(matrix[2496:2504])),
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_])
def test_integers_and_bools(dtype):
    values = np.random.default_rng(7).integers(0, 2, (100, N_COLUMNS)).astype(dtype)
    forest = random_forest(7, numeric_schema())
    assert_predicts(forest, numeric_table(values))


def test_read_only_arrays():
    matrix = numbers(50, missing=True)
    matrix.flags.writeable = False
    assert_predicts(random_forest(8, numeric_schema()), numeric_table(matrix))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", [0, 1023, 1024, 2999])
def test_infinite_value_is_named_even_in_a_column_without_splits(order, dtype, row):
    matrix = np.asarray(numbers(3000, missing=True), dtype, order=order)
    matrix[row, 2] = -np.inf
    for forest in (random_forest(9, numeric_schema()), stump(n_columns=N_COLUMNS)):
        with pytest.raises(DataError, match=rf"Column 2 contains inf: row {row} holds -inf"):
            raw_scores(forest, numeric_table(matrix), n_threads=2)


def test_infinity_under_a_mask_is_missing():
    column = NumericColumn(0, np.array([np.inf, 0.0]), np.array([True, False]))
    assert leaf_nodes(stump(), Table((column,), 2, named=False)).ravel().tolist() == [2, 1]


# small forests


def stump(
    *,
    kind: int = 0,
    n_columns: int = 1,
    threshold: float = 0.0,
    missing_left: bool = False,
    set_codes: np.ndarray | None = None,
    combination_column: np.ndarray | None = None,
    combination_coefficient: np.ndarray | None = None,
) -> Forest:
    """A root and two leaves."""
    none = np.zeros(0, np.int32)
    codes = np.zeros(0, np.uint32) if set_codes is None else set_codes
    terms = none if combination_column is None else combination_column
    return Forest(
        n_columns=n_columns,
        base_score=np.zeros(1),
        link="identity",
        tree_start=np.array([0, 3]),
        tree_output=np.zeros(1, np.int32),
        tree_weight=np.ones(1),
        tree_round=np.zeros(1, np.int32),
        slot=np.array([0, ~0, ~1], np.int32),
        cover=np.array([2.0, 1.0, 1.0]),
        count=np.array([2, 1, 1]),
        impurity=None,
        column=np.array([-1 if kind == COMBINATION else 0], np.int32),
        threshold=np.array([threshold]),
        kind=np.array([kind], np.uint8),
        missing_left=np.array([missing_left]),
        right=np.array([2], np.int32),
        gain=np.ones(1),
        side=np.array([0 if kind else -1], np.int32),
        value=np.array([[-1.0], [1.0]]),
        set_start=np.array([0, len(codes)] if kind == CATEGORIES else [0]),
        set_codes=codes,
        set_left=np.ones(int(kind == CATEGORIES), np.bool_),
        combination_start=np.array([0, len(terms)] if kind == COMBINATION else [0]),
        combination_column=terms,
        combination_coefficient=np.zeros(0) if combination_coefficient is None else combination_coefficient,
    )


def single_leaf(n_columns: int) -> Forest:
    forest = stump(n_columns=n_columns)
    none = {
        name: getattr(forest, name)[:0]
        for name in ("column", "threshold", "kind", "missing_left", "right", "gain", "side")
    }
    return replace(
        forest,
        **none,
        tree_start=np.array([0, 1]),
        slot=np.array([~0], np.int32),
        cover=np.ones(1),
        count=np.ones(1, np.int64),
        value=np.array([[4.5]]),
    )


@pytest.mark.parametrize("n_columns", [0, 1, N_COLUMNS])
def test_single_leaf_uses_no_column(n_columns):
    forest = single_leaf(n_columns)
    for order in ("C", "F"):
        matrix = np.asarray(np.full((20, n_columns), np.nan), order=order)
        table = Table(tuple(NumericColumn(j, c) for j, c in enumerate(matrix.T)), 20, named=False)
        assert raw_scores(forest, table).ravel().tolist() == [4.5] * 20
        assert leaf_nodes(forest, table).ravel().tolist() == [0] * 20
        assert decision_path(forest, table).toarray().tolist() == [[1]] * 20


def test_no_trees_give_the_base_score():
    forest = single_leaf(1)
    empty = replace(
        forest,
        base_score=np.array([0.25]),
        tree_start=np.zeros(1, np.int64),
        tree_output=np.zeros(0, np.int32),
        tree_weight=np.zeros(0),
        tree_round=np.zeros(0, np.int32),
        slot=np.zeros(0, np.int32),
    )
    table = numeric_table(np.zeros((3, 1)))
    assert raw_scores(empty, table).ravel().tolist() == [0.25] * 3
    assert leaf_nodes(empty, table).shape == (3, 0)


def test_table_of_another_width_raises():
    with pytest.raises(NativeError, match="one column for each"):
        raw_scores(stump(n_columns=2), numeric_table(np.zeros((3, 1))))


# paths


@pytest.mark.parametrize("seed", range(3))
def test_decision_path_against_the_naive_walk(seed):
    forest = boosted(seed, combinations=True)
    table = random_table(seed, mixed_schema(), 60)
    path = decision_path(forest, table, n_threads=2)
    expected = np.zeros((60, forest.n_nodes), np.int64)
    for tree in range(forest.n_trees):
        start, end = forest.tree_start[tree : tree + 2].tolist()
        parent = {}
        for node in range(start, end):
            if forest.slot[node] >= 0:
                parent[node + 1] = node
                parent[start + int(forest.right[forest.slot[node]])] = node
        for row in range(60):
            node = start + naive_leaf(forest, table, row, tree)
            expected[row, node] = 1
            while node != start:
                node = parent[node]
                expected[row, node] = 1
    np.testing.assert_array_equal(path.toarray(), expected)
    assert path.has_sorted_indices
    assert path.shape == (60, forest.n_nodes)


def test_decision_path_of_no_rows():
    path = decision_path(random_forest(0, numeric_schema()), numeric_table(np.zeros((0, N_COLUMNS))))
    assert path.shape[0] == 0


# threads of the caller


def test_several_python_threads_at_once():
    matrix = numbers(5000, missing=True)
    forest = random_forest(11, numeric_schema(), n_trees=5, n_leaves=100)
    table = numeric_table(matrix)
    expected = raw_scores(replace(forest), table)

    def predict(n_threads: int) -> np.ndarray:
        return raw_scores(forest, table, n_threads=n_threads)  # the first of them lay out the forest

    with ThreadPoolExecutor(4) as pool:
        results = [job.result(timeout=60) for job in [pool.submit(predict, 1 + i % 3) for i in range(24)]]
    for scores in results:
        np.testing.assert_array_equal(scores, expected)
