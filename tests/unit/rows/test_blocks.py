"""Block functions against the trees of memory: in any order, the same integers and the same tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weald import engine
from weald.data.adapters import to_table
from weald.data.codes import Codes, encode
from weald.data.native import native_columns
from weald.data.schema import Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.engine import blocks
from weald.errors import DataError

BLOCK = 65_536
LAMBDA, DEPTH = 2.0, 4
ORDERS = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]


def mixed(n: int) -> Table:
    """Bins of float64 and float32, levels of both kinds, all with missing rows."""
    rng = np.random.default_rng(1)
    ties, smooth = np.round(rng.normal(size=n), 1), rng.normal(size=n).astype(np.float32)
    ties[rng.random(n) < 0.1] = np.nan
    smooth[rng.random(n) < 0.05] = np.nan
    return Table(
        (
            NumericColumn(0, ties),
            NumericColumn(1, smooth),
            LevelColumn(2, rng.integers(-1, 9, n).astype(np.int32), tuple(range(9))),
            LevelColumn(3, rng.integers(-1, 4, n).astype(np.int32), tuple("abcd"), ordered=True),
        ),
        n,
        named=False,
    )


def some_rows(table: Table, rows: slice) -> Table:
    def part(column: Any) -> Any:
        if isinstance(column, NumericColumn):
            return replace(column, values=column.values[rows])
        return replace(column, indices=column.indices[rows])

    columns = tuple(part(column) for column in table.columns)
    return Table(columns, rows.stop - rows.start, named=False)


@dataclass
class Problem:
    """A table, in one piece and in blocks, with gradients, and the tree that memory grows on it."""

    table: Table
    codes: Codes
    slices: list[slice]
    parts: list[engine.NativeCodes]
    scores: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    g: np.ndarray
    h: np.ndarray
    rows: engine.NewtonRows
    tree: engine.NewtonTree
    arrays: dict[str, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    n = 3 * BLOCK - 1000
    rng = np.random.default_rng(0)
    table = mixed(n)
    codes = encode(table, max_bins=40)
    slices = [slice(first, min(first + BLOCK, n)) for first in range(0, n, BLOCK)]
    parts = [
        blocks.code_block(codes.native, native_columns(some_rows(table, s)), s.stop - s.start, n_threads=2)
        for s in slices
    ]
    scores = rng.normal(size=n)
    target = (codes.column(0) % 5 + codes.column(2) + rng.normal(size=n) > 6).astype(float)
    weight = np.where(rng.random(n) < 0.02, 0.0, rng.gamma(2.0, size=n))
    g, h = np.empty((1, n)), np.empty((1, n))
    engine.fill_gradients("logistic", np.ones(1), scores[None], target[None], g, h, n_threads=2)
    options = engine.NewtonOptions()
    options.reg_lambda = LAMBDA
    grow = engine.NativeOptions()
    grow.max_depth = DEPTH
    options.grow = grow
    rows = engine.NewtonRows(codes.native)
    tree = rows.grow(g, h, weight, options, whole=False, n_threads=2)
    arrays = engine.tree_arrays(tree)
    return Problem(table, codes, slices, parts, scores, target, weight, g[0], h[0], rows, tree, arrays)


def wide_powers(problem: Problem, order: tuple[int, ...]) -> tuple[int, int]:
    counts = [np.zeros(2160, np.int64), np.zeros(2160, np.int64)]
    for b in order:
        s = problem.slices[b]
        found = blocks.block_exponents(
            problem.g[s], problem.h[s], problem.weight[s], whole=False, n_threads=2
        )
        counts[0] += found.g
        counts[1] += found.h
        assert not found.negative_h
    return blocks.common_power(counts[0]), blocks.common_power(counts[1])


def last_code(problem: Problem, slot: int) -> int:
    """The largest code that goes left at a numeric or ordinal split."""
    j, threshold = int(problem.arrays["column"][slot]), problem.arrays["threshold"][slot]
    if np.isinf(threshold):
        return int(problem.codes.n_codes[j])
    cuts = problem.codes.cuts(j)
    return int(threshold) if len(cuts) == 0 else int(np.searchsorted(cuts, threshold)) + 1


def listed_codes(problem: Problem, slot: int) -> np.ndarray:
    side = int(problem.arrays["side"][slot])
    if side < 0:
        return np.zeros(0, np.uint32)
    start = problem.arrays["set_start"]
    return problem.arrays["set_codes"][start[side] : start[side + 1]]


def goes_left(problem: Problem, slot: int) -> np.ndarray:
    """Per code of the split's column, whether it goes left."""
    arrays = problem.arrays
    code = np.arange(int(problem.codes.n_codes[arrays["column"][slot]]) + 1)
    if arrays["kind"][slot] == 0:
        left = code <= last_code(problem, slot)
    else:
        side = int(arrays["side"][slot])
        left = np.isin(code, listed_codes(problem, slot)) == (arrays["set_left"][side] == 1)
    left[0] = arrays["missing_left"][slot] == 1
    return left


def level_of(problem: Problem, split: list[int], searched: list[int]) -> blocks.Level:
    """The splits of some nodes, by their preorder numbers, and histograms of others."""
    arrays = problem.arrays
    n = len(arrays["slot"])
    place, histogram = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    place[split] = np.arange(len(split))
    histogram[searched] = np.arange(len(searched))
    slots = arrays["slot"][split].astype(int)
    sets = [listed_codes(problem, slot) for slot in slots]
    sides = arrays["side"][slots]
    return blocks.Level(
        place,
        histogram,
        arrays["column"][slots].astype(np.int32),
        arrays["kind"][slots].astype(np.uint8),
        arrays["missing_left"][slots].astype(np.uint8),
        np.array([last_code(problem, s) if arrays["kind"][s] == 0 else 0 for s in slots], np.uint32),
        np.cumsum([0, *map(len, sets)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.uint32), *sets]).astype(np.uint32),
        np.array([arrays["set_left"][s] if s >= 0 else 0 for s in sides], np.uint8),
        (np.array(split, np.int32) + 1).astype(np.int32),
        arrays["right"][slots].astype(np.int32),
    )


def score(cell: np.ndarray, lambda_: float) -> float:
    g, h = float(cell[0]), float(cell[1])
    return g * g / (h + lambda_)


def check_histograms(
    problem: Problem, cells: np.ndarray, searched: list[int], node: np.ndarray, pairs: np.ndarray
) -> None:
    """Each is what NumPy adds up of its node's rows."""
    starts = blocks.cell_starts(problem.codes.native)
    for at, number in enumerate(searched):
        rows = np.flatnonzero(node == number)
        for j in range(problem.codes.n_columns):
            expected = np.zeros((int(problem.codes.n_codes[j]) + 1, 3), np.int64)
            code = problem.codes.column(j)[rows]
            np.add.at(expected, code, np.column_stack([pairs[rows], np.ones(len(rows), np.int64)]))
            found = cells[at, starts[j] : starts[j + 1]].reshape(-1, 3)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ORDERS)
def test_tree_from_blocks_is_that_of_memory(problem, order):
    powers = wide_powers(problem, order)
    lambda_ = float(np.ldexp(LAMBDA, powers[1]))
    arrays, slices = problem.arrays, problem.slices
    pairs = [
        blocks.block_units(problem.g[s], problem.h[s], problem.weight[s], powers, whole=False, n_threads=2)
        for s in slices
    ]
    nodes = [np.where(problem.weight[s] == 0, -1, 0).astype(np.int32) for s in slices]
    starts = blocks.cell_starts(problem.codes.native)
    split: list[int] = []
    searched = [0]
    n_splits = 0
    while searched:
        level = level_of(problem, split, searched)
        cells = np.zeros((len(searched), starts[-1]), np.int64)
        for b in order:
            blocks.visit_block(problem.parts[b], level, pairs[b], nodes[b], cells, n_threads=2)
        if order == ORDERS[0]:
            check_histograms(problem, cells, searched, np.concatenate(nodes), np.concatenate(pairs))
        split = [number for number in searched if arrays["slot"][number] >= 0]
        for number in split:
            slot = int(arrays["slot"][number])
            j = int(arrays["column"][slot])
            of_column = cells[searched.index(number), starts[j] : starts[j + 1]].reshape(-1, 3)
            left = of_column[goes_left(problem, slot)].sum(axis=0)
            total = of_column.sum(axis=0)
            gain = score(left, lambda_) + score(total - left, lambda_) - score(total, lambda_)
            assert arrays["gain"][slot] == np.ldexp(gain, powers[1] - 2 * powers[0])
            n_splits += 1
        searched = sorted(
            child for number in split for child in (number + 1, int(arrays["right"][arrays["slot"][number]]))
        )
    assert n_splits == len(arrays["gain"]) > 10
    check_leaves(problem, order, nodes, pairs, powers)


def check_leaves(problem, order, nodes, pairs, powers) -> None:
    """Where rows came to rest, what leaves add up to and predict, and the scores after them."""
    arrays = problem.arrays
    leaves = [np.where(node < 0, -1, ~arrays["slot"][node]).astype(np.int32) for node in nodes]
    np.testing.assert_array_equal(
        np.concatenate(leaves), problem.rows.leaf_of_row(problem.tree, drawn_only=True)
    )
    sums = np.zeros((problem.tree.n_leaves, 2), np.int64)
    for b in order:
        blocks.add_leaf_sums(pairs[b], leaves[b], sums)
    values = np.ldexp(
        -sums[:, 0].astype(float) / (sums[:, 1].astype(float) + np.ldexp(LAMBDA, powers[1])),
        powers[1] - powers[0],
    )
    at_leaf = arrays["slot"] < 0
    np.testing.assert_array_equal(values, arrays["value"][at_leaf].ravel())
    np.testing.assert_array_equal(np.ldexp(sums[:, 1].astype(float), -powers[1]), arrays["cover"][at_leaf])
    expected = problem.scores.copy()
    problem.rows.add_scores(problem.tree, values, expected, n_threads=2)
    of_all = problem.rows.leaf_of_row(problem.tree)
    scores = problem.scores.copy()
    for b in order:
        s = problem.slices[b]
        blocks.add_leaf_values(values, of_all[s].astype(np.int32), scores[s])
    np.testing.assert_array_equal(scores, expected)


def test_codes_of_blocks_are_those_of_the_table(problem):
    exact = encode(problem.table, max_bins=None)
    for codes, parts in (
        (problem.codes, problem.parts),
        (
            exact,
            [
                blocks.code_block(
                    exact.native, native_columns(some_rows(problem.table, s)), s.stop - s.start, n_threads=2
                )
                for s in problem.slices
            ],
        ),
    ):
        for j in range(codes.n_columns):
            joined = np.concatenate([np.asarray(part.column(j)) for part in parts])
            np.testing.assert_array_equal(joined, codes.column(j))


def test_a_number_that_no_row_has_has_no_code():
    codes = encode(Table((NumericColumn(0, np.array([1.0, 2.0])),), 2, named=False), max_bins=None)
    other = Table((NumericColumn(0, np.array([1.5])),), 1, named=False)
    with pytest.raises(DataError, match="no code"):
        blocks.code_block(codes.native, native_columns(other), 1, n_threads=1)


def test_blocks_of_an_array_are_coded_by_their_columns():
    matrix = np.random.default_rng(3).normal(size=(500, 3))
    schema = Schema.of(to_table(matrix))
    codes = encode(schema.align(to_table(matrix)), max_bins=7)
    part = schema.align(to_table(matrix[100:160]))
    coded = blocks.code_block(codes.native, native_columns(part), 60, n_threads=1)
    for j in range(3):
        np.testing.assert_array_equal(np.asarray(coded.column(j)), codes.column(j)[100:160])


def test_gradients_of_blocks_are_those_of_all_rows(problem):
    for s in problem.slices:
        g, h = np.empty((1, s.stop - s.start)), np.empty((1, s.stop - s.start))
        scores, target = problem.scores[s].copy()[None], problem.target[s].copy()[None]
        engine.fill_gradients("logistic", np.ones(1), scores, target, g, h, n_threads=1)
        assert g.tobytes() == problem.g[s].tobytes()
        assert h.tobytes() == problem.h[s].tobytes()


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_quantiles_by_digits_are_those_of_memory(problem, alpha, weighted):
    leaf = problem.rows.leaf_of_row(problem.tree, drawn_only=True)
    n_leaves = problem.tree.n_leaves
    target = np.round(problem.scores * 3, 2)  # ties, both signs
    weight = np.random.default_rng(5).integers(0 if weighted else 1, 2**40 if weighted else 2, len(leaf))
    expected = engine.leaf_quantiles(
        target, np.zeros(len(leaf)), weight, leaf, n_leaves=n_leaves, alpha=alpha, n_threads=2
    )
    totals = np.zeros(n_leaves, np.int64)
    np.add.at(totals, leaf[leaf >= 0], weight[leaf >= 0])
    rank = np.array([blocks.rank_of_share(alpha, int(total)) for total in totals])
    for order in ORDERS:
        digits = blocks.LeafDigits(rank)
        for _ in range(digits.passes):
            given = ((target[s], weight[s] if weighted else None, leaf[s]) for s in problem.slices)
            parts = [digits.count(*each) for each in given]
            digits.take(np.sum([parts[b] for b in order], axis=0))
        np.testing.assert_array_equal(digits.values(), expected)


def test_sparse_columns_have_the_rest_in_their_default_code():
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((3000, 4)) < 0.8, 0.0, np.round(rng.normal(size=(3000, 4)), 1))
    pairs = np.column_stack([rng.integers(-1000, 1000, 3000), rng.integers(0, 9, 3000)])
    level = blocks.Level(
        np.full(1, -1, np.int32),
        np.zeros(1, np.int32),
        np.zeros(0, np.int32),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint32),
        np.zeros(1, np.int64),
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint8),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
    )
    found = []
    for matrix in (dense, csr_matrix(dense)):
        table = to_table(matrix)
        codes = encode(Schema.of(table).align(table), max_bins=9)
        cells = np.zeros((1, blocks.cell_starts(codes.native)[-1]), np.int64)
        blocks.visit_block(codes.native, level, pairs, np.zeros(3000, np.int32), cells, n_threads=2)
        totals = np.array([[*pairs.sum(axis=0), 3000]])
        blocks.fill_default_cells(codes.native, totals, cells)
        found.append(cells)
    np.testing.assert_array_equal(found[0], found[1])


def test_rows_in_nodes_that_are_not_there_raise(problem):
    node = np.full(problem.slices[0].stop, 10**6, np.int32)
    starts = blocks.cell_starts(problem.codes.native)
    pairs = np.zeros((len(node), 2), np.int64)
    with pytest.raises(RuntimeError, match="not there"):
        blocks.visit_block(
            problem.parts[0],
            level_of(problem, [], [0]),
            pairs,
            node,
            np.zeros((1, starts[-1]), np.int64),
            n_threads=1,
        )
