"""Random valid forests, schemas to go with them, and a naive walk: material for tests of everything that
reads a Forest."""

from __future__ import annotations

import datetime as dt

import numpy as np

from weald.data.schema import ColumnSchema, Schema
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.model.forest import CATEGORIES, COMBINATION, NUMERIC, Forest


def mixed_schema(*, named: bool = True, many: int = 40) -> Schema:
    """One column of each kind and unit; `many` levels for sets of all sizes."""
    columns = (
        ColumnSchema("length" if named else 0, "numeric"),
        ColumnSchema("flag" if named else 1, "numeric", "bool"),
        ColumnSchema("day" if named else 2, "numeric", "datetime"),
        ColumnSchema("wait" if named else 3, "numeric", "duration"),
        ColumnSchema("size" if named else 4, "ordinal", levels=("small", "medium", "large")),
        ColumnSchema("island" if named else 5, "categorical", levels=("Biscoe", "Dream", "Torgersen")),
        ColumnSchema("code" if named else 6, "categorical", levels=tuple(f"c{i:03d}" for i in range(many))),
    )
    return Schema(columns, named)


def leaf_bits(rng: np.random.Generator, n_leaves: int) -> list[bool]:
    """A random binary tree with that many leaves, in preorder."""
    bits, pending = [], [n_leaves]
    while pending:
        n = pending.pop()
        bits.append(n == 1)
        if n > 1:
            left = int(rng.integers(1, n))
            pending += [n - left, left]
    return bits


def right_children(bits: list[bool]) -> list[int]:
    """Node number of the right child of each inner node, in preorder, by a stack."""
    rights, waiting = {}, []
    for node, leaf in enumerate(bits):
        if node and bits[node - 1]:  # a leaf ended the left subtree of the latest waiting node
            rights[waiting.pop()] = node
        if not leaf:
            waiting.append(node)
    return [rights[node] for node, leaf in enumerate(bits) if not leaf]


def random_forest(
    seed: int = 0,
    schema: Schema | None = None,
    *,
    n_trees: int = 1,
    n_leaves: int = 20,
    width: int = 3,
    n_outputs: int | None = None,
    shares: bool = True,
    combinations: bool = False,
    weighted: bool = False,
    cuts: int = 12,
    by_output: list[int] | None = None,
    inner_value: bool = False,
) -> Forest:
    """A forest that could have been grown: counts add up, sets are in range, codes are ranks.

    `by_output` has the number of classes of each of several outputs; their sum is `width`.
    """
    rng = np.random.default_rng(seed)
    schema = schema or mixed_schema()
    trees = [leaf_bits(rng, n_leaves) for _ in range(n_trees)]
    leaf = np.array([bit for tree in trees for bit in tree], bool)
    right = [child for tree in trees for child in right_children(tree)]
    n_nodes, n_inner, n_ends = len(leaf), int((~leaf).sum()), int(leaf.sum())
    slot = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1).astype(np.int32)
    tree_start = np.cumsum([0] + [len(tree) for tree in trees])

    per_class = rng.integers(0, 9, (n_ends, width))
    per_class[:, 0] += per_class.sum(axis=1) == 0
    leaf_count = per_class.sum(axis=1)
    if by_output is not None:
        per_class = np.hstack([rng.multinomial(leaf_count, np.full(n, 1 / n)) for n in by_output])
    count = node_counts(trees, leaf_count)
    cover = count * (rng.uniform(0.5, 2.0, n_nodes) if weighted else 1.0)
    value = per_class / leaf_count[:, None] if shares else rng.normal(size=(n_ends, width))

    inner = np.ascontiguousarray(value[rng.integers(0, n_ends, n_inner)], np.float64) if inner_value else None

    column, kind, threshold, side, sets, combos = _splits(rng, schema, n_inner, combinations, cuts)
    return Forest(
        n_columns=len(schema.columns),
        base_score=np.zeros(n_outputs or width),
        link="shares" if shares else "identity",
        tree_start=tree_start.astype(np.int64),
        tree_output=np.zeros(n_trees, np.int32),
        tree_weight=np.ones(n_trees),
        tree_round=np.arange(n_trees, dtype=np.int32),
        slot=slot,
        cover=cover,
        count=count,
        impurity=np.where(leaf, 0.0, rng.uniform(0, 1, n_nodes)),
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=rng.integers(0, 2, n_inner).astype(bool),
        right=np.array(right, np.int32),
        gain=rng.uniform(0, 5, n_inner),
        side=side,
        value=np.ascontiguousarray(value, np.float64),
        inner_value=inner,
        set_start=np.cumsum([0] + [len(codes) for codes, _ in sets]).astype(np.int64),
        set_codes=np.array([code for codes, _ in sets for code in codes], np.uint32),
        set_left=np.array([left for _, left in sets], bool),
        combination_start=np.cumsum([0] + [len(combo) for combo in combos]).astype(np.int64),
        combination_column=np.array([c for combo in combos for c, _ in combo], np.int32),
        combination_coefficient=np.array([a for combo in combos for _, a in combo], np.float64),
    )


def node_counts(trees: list[list[bool]], leaf_count: np.ndarray) -> np.ndarray:
    """Rows of each node: those of the leaves below it."""
    leaf = np.array([bit for tree in trees for bit in tree], bool)
    rows = np.zeros(len(leaf), np.int64)
    rows[leaf] = leaf_count
    before = np.concatenate([[0], np.cumsum(rows)])
    counts, start = [], 0
    for tree in trees:
        counts += [
            before[start + end + 1] - before[start + node] for node, end in enumerate(subtree_ends(tree))
        ]
        start += len(tree)
    return np.array(counts, np.int64)


def subtree_ends(bits: list[bool]) -> list[int]:
    ends = []
    for node in range(len(bits)):
        owed, last = 1, node - 1
        while owed:
            last += 1
            owed += -1 if bits[last] else 1
        ends.append(last)
    return ends


def _splits(rng, schema, n_inner, combinations, cuts):
    day = 86_400_000_000.0
    pools = {
        "number": np.append(rng.normal(size=cuts).round(3), np.inf),
        "bool": np.array([0.5, np.inf]),
        "datetime": np.array([12_000.5 * day, 15_000.25 * day]),
        "duration": np.array([3_600_000_000.0, 90_000_000.0]),
    }
    column = np.zeros(n_inner, np.int32)
    kind = np.zeros(n_inner, np.uint8)
    threshold = np.zeros(n_inner)
    side = np.full(n_inner, -1, np.int32)
    sets, combos = [], []
    for i in range(n_inner):
        j = int(rng.integers(len(schema.columns)))
        what = schema.columns[j]
        column[i] = j
        if combinations and rng.random() < 0.2:
            column[i], kind[i], threshold[i], side[i] = -1, COMBINATION, rng.normal(), len(combos)
            combos.append([(0, float(rng.normal())), (2, 1e-13)])
        elif what.kind == "categorical":
            kind[i], side[i] = CATEGORIES, len(sets)
            codes = 1 + rng.choice(len(what.levels), int(rng.integers(1, len(what.levels))), replace=False)
            if rng.random() < 0.05:
                codes = codes[:0]  # missing against present
            sets.append((sorted(codes.tolist()), bool(rng.integers(2))))
        elif what.kind == "ordinal":
            threshold[i] = rng.choice([*range(1, len(what.levels)), np.inf])
        else:
            threshold[i] = rng.choice(pools[what.unit])
    assert NUMERIC == 0
    return column, kind, threshold, side, sets, combos


def random_rows(seed: int, schema: Schema, n_rows: int) -> dict[str, list]:
    """Rows for such a schema, with missing values in every column, as a mapping of lists."""
    rng = np.random.default_rng(seed)
    epoch = dt.datetime(1970, 1, 1)
    makers = {
        "number": lambda: float(rng.normal()),
        "bool": lambda: bool(rng.integers(2)),
        "datetime": lambda: epoch + dt.timedelta(days=int(rng.integers(11_000, 16_000))),
        "duration": lambda: dt.timedelta(minutes=int(rng.integers(0, 120))),
    }
    rows = {}
    for column in schema.columns:
        draw = makers[column.unit] if column.kind == "numeric" else lambda: str(rng.choice(column.levels))  # noqa: B023
        rows[column.name] = [None if rng.random() < 0.1 else draw() for _ in range(n_rows)]
    return rows


def random_table(seed: int, schema: Schema, n_rows: int) -> Table:
    """A table already aligned to the schema."""
    rng = np.random.default_rng(seed)
    columns = []
    for column in schema.columns:
        if column.kind == "numeric":
            scale = 86_400_000_000.0 * 14_000 if column.unit == "datetime" else 1.0
            values = rng.normal(size=n_rows) * scale
            values[rng.random(n_rows) < 0.1] = np.nan
            columns.append(NumericColumn(column.name, values, None, column.unit))
        else:
            indices = rng.integers(-1, len(column.levels), n_rows).astype(np.int32)
            columns.append(LevelColumn(column.name, indices, column.levels, column.kind == "ordinal"))
    return Table(tuple(columns), n_rows, schema.named)


def naive_leaf(forest: Forest, table: Table, row: int, tree: int = 0) -> int:
    """The node, counted from the tree's first, that a row of an aligned table comes to."""
    node = 0
    start = int(forest.tree_start[tree])
    while (i := int(forest.slot[start + node])) >= 0:
        node = node + 1 if _goes_left(forest, table, row, i) else int(forest.right[i])
    return node


def _goes_left(forest: Forest, table: Table, row: int, i: int) -> bool:
    if forest.kind[i] == COMBINATION:
        span = slice(
            int(forest.combination_start[forest.side[i]]), int(forest.combination_start[forest.side[i] + 1])
        )
        total = 0.0
        for j, a in zip(forest.combination_column[span], forest.combination_coefficient[span], strict=True):
            total += a * _number(table, row, int(j))
        return bool(forest.missing_left[i]) if np.isnan(total) else bool(total <= forest.threshold[i])
    value = _number(table, row, int(forest.column[i]))
    if np.isnan(value):
        return bool(forest.missing_left[i])
    if forest.kind[i] == NUMERIC:
        return bool(value <= forest.threshold[i])
    listed = forest.set_codes[forest.set_start[forest.side[i]] : forest.set_start[forest.side[i] + 1]]
    return (int(value) in listed.tolist()) == bool(forest.set_left[forest.side[i]])


def _number(table: Table, row: int, j: int) -> float:
    column = table.columns[j]
    if isinstance(column, LevelColumn):
        return np.nan if column.indices[row] < 0 else float(column.indices[row] + 1)
    if column.missing is not None and column.missing[row]:
        return np.nan
    return float(column.values[row])
