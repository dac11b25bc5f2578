import dataclasses
import datetime as dt

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest

from weald.data.schema import ColumnSchema, Schema
from weald.errors import DataTypeError, ParameterError
from weald.model.conditions import duration, instant, label, number
from weald.model.forest import Forest
from weald.model.rules import to_text


def chain(splits, columns, *, width=1, link="identity"):
    """A tree whose every left child is a leaf; `splits` are (column, threshold or codes, missing_left)."""
    n = len(splits)
    sets = [split[1] if isinstance(split[1], set) else None for split in splits]
    slot = np.array([x for i in range(n) for x in (i, ~i)] + [~n], np.int32)
    kind = np.array([0 if codes is None else 1 for codes in sets], np.uint8)
    threshold = np.array([0.0 if isinstance(s[1], set) else s[1] for s in splits], np.float64)
    column = np.array([s[0] for s in splits], np.int32)
    lists = [sorted(codes) for codes in sets if codes is not None]
    value = np.arange((n + 1) * width, dtype=float).reshape(n + 1, width)
    if link == "shares":
        value = (value + 1) / (value + 1).sum(axis=1, keepdims=True)
    forest = Forest(
        n_columns=len(columns),
        base_score=np.zeros(width),
        link=link,
        tree_start=np.array([0, 2 * n + 1], np.int64),
        tree_output=np.zeros(1, np.int32),
        tree_weight=np.ones(1),
        tree_round=np.zeros(1, np.int32),
        slot=slot,
        cover=np.ones(2 * n + 1),
        count=np.array([x for i in range(n) for x in (n + 1 - i, 1)] + [1], np.int64),
        impurity=None,
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=np.array([s[2] for s in splits], bool),
        right=np.arange(2, 2 * n + 1, 2, dtype=np.int32),
        gain=np.zeros(n),
        side=np.where(kind == 1, np.cumsum(kind) - 1, -1).astype(np.int32),
        value=value,
        set_start=np.cumsum([0] + [len(codes) for codes in lists]).astype(np.int64),
        set_codes=np.array([code for codes in lists for code in codes], np.uint32),
        set_left=np.ones(len(lists), bool),
    )
    return forest, Schema(tuple(columns), True)


COLUMNS = [
    ColumnSchema("length", "numeric"),
    ColumnSchema("flag", "numeric", "bool"),
    ColumnSchema("day", "numeric", "datetime"),
    ColumnSchema("size", "ordinal", levels=("small", "medium", "large")),
    ColumnSchema("island", "categorical", levels=("Biscoe", "Dream", "Tor, gersen")),
    ColumnSchema("wait", "numeric", "duration"),
]


def test_every_kind_of_split_reads_well():
    splits = [
        (0, 43.35, True),
        (0, np.inf, False),
        (1, 0.5, False),
        (2, 13_455.5 * 86_400e6, True),
        (3, 2.0, False),
        (4, {1, 3}, True),
        (4, {1, 2, 3}, False),
        (5, 5_400e6, False),
    ]
    forest, schema = chain(splits, COLUMNS)
    expected = """\
9 rows
├── length <= 43.35 or missing → 0 (1 row)
└── length > 43.35
    ├── length is present → 1 (1 row)
    └── length is missing
        ├── flag is false → 2 (1 row)
        └── flag is true or missing
            ├── day <= 2006-11-03 12:00 or missing → 3 (1 row)
            └── day > 2006-11-03 12:00
                ├── size <= medium → 4 (1 row)
                └── size > medium or missing
                    ├── island in {Biscoe, 'Tor, gersen'} or missing → 5 (1 row)
                    └── island in {Dream}
                        ├── island is present → 6 (1 row)
                        └── island is missing
                            ├── wait <= 1:30:00 → 7 (1 row)
                            └── wait > 1:30:00 or missing → 8 (1 row)"""
    assert to_text(forest, schema=schema) == expected


def test_shares_without_schema_or_counts():
    forest, _ = chain([(0, 1.5, True), (4, {2}, False)], COLUMNS, width=2, link="shares")
    expected = """\
all rows
├── column 0 <= 1.5 or missing → class 1: 0.667, class 0: 0.333
└── column 0 > 1.5
    ├── column 4 in {2} → class 1: 0.571, class 0: 0.429
    └── column 4 not in {2} or missing → class 1: 0.545, class 0: 0.455"""
    assert to_text(forest, show_counts=False) == expected


def test_depth_limit_sums_up():
    forest, schema = chain([(0, float(i), True) for i in range(4)], COLUMNS)
    expected = """\
5 rows
├── length <= 0 or missing → 0 (1 row)
└── length > 0 … 4 leaves below (4 rows)"""
    assert to_text(forest, schema=schema, max_depth=1) == expected
    assert to_text(forest, schema=schema, max_depth=0) == "all rows … 5 leaves below (5 rows)"


def test_a_single_leaf_is_one_line():
    forest = random_forest(0, n_leaves=1, width=1, shares=False)
    assert to_text(forest).startswith("all rows → ")


def test_thresholds_that_would_look_alike_get_more_decimals():
    forest, schema = chain([(0, 1.00012, True), (0, 1.00049, True)], COLUMNS)
    text = to_text(forest, schema=schema)
    assert "length <= 1.0001 " in text
    assert "length <= 1.0005 " in text


def test_many_levels_are_cut():
    levels = tuple(f"v{i}" for i in range(30))
    forest, schema = chain([(0, set(range(1, 21)), False)], [ColumnSchema("c", "categorical", levels=levels)])
    text = to_text(forest, schema=schema)
    assert "c in {v0, v1, v2, v3, v4, … and 15 more} →" in text
    assert "c in {v20, v21, v22, v23, v24, … and 5 more} or missing" in text


def listing_the_right(forest, n_levels):
    """The same sets by the codes that go right."""
    lists = [
        [code for code in range(1, n_levels + 1) if code not in forest.listed_codes(side)]
        for side in range(len(forest.set_left))
    ]
    return dataclasses.replace(
        forest,
        set_start=np.cumsum([0] + [len(codes) for codes in lists]).astype(np.int64),
        set_codes=np.array([code for codes in lists for code in codes], np.uint32),
        set_left=np.zeros(len(lists), bool),
    )


@pytest.mark.parametrize("n_levels", [1, 2, 6, 7, 13, 30])
@pytest.mark.parametrize("missing_left", [False, True])
def test_a_set_reads_the_same_whichever_side_is_listed(n_levels, missing_left):
    columns = [ColumnSchema("c", "categorical", levels=tuple(f"v{i}" for i in range(n_levels)))]
    sets = [set(range(1, k + 1)) for k in range(n_levels + 1)]
    sets += [set(range(k, n_levels + 1)) for k in range(1, n_levels + 1)] + [set(range(1, n_levels + 1, 2))]
    forest, schema = chain([(0, codes, missing_left) for codes in sets], columns)
    other = listing_the_right(forest, n_levels)
    assert to_text(other, schema=schema) == to_text(forest, schema=schema)


def test_without_schema_the_listed_codes_are_named():
    forest, _ = chain([(0, {1, 3}, False)], COLUMNS)
    other = dataclasses.replace(forest, set_left=np.array([False]))
    assert "├── column 0 not in {1, 3} → 0" in to_text(other)
    assert "└── column 0 in {1, 3} or missing → 1" in to_text(other)


def test_combinations():
    forest = random_forest(3, combinations=True, n_leaves=40)
    text = to_text(forest, schema=mixed_schema())
    assert " * length + 1e-13 * day <= " in text or " * length + 1e-13 * day >" in text


def test_a_very_deep_tree_prints_in_linear_size():
    forest, schema = chain([(0, float(i), True) for i in range(20_000)], COLUMNS)
    text = to_text(forest, schema=schema)
    assert text.count("\n") == 40_000
    assert len(text) < 400 * 40_000
    assert "[20000] └ length > 19999 → 20000 (1 row)" in text


@pytest.mark.parametrize("seed", range(10))
def test_every_node_has_its_line(seed):
    forest = random_forest(seed, n_trees=3, n_leaves=15, combinations=True)
    for tree in range(3):
        n_nodes = int(forest.tree_start[tree + 1] - forest.tree_start[tree])
        assert len(to_text(forest, schema=mixed_schema(), tree=tree).splitlines()) == n_nodes
        assert len(to_text(forest, tree=tree).splitlines()) == n_nodes


def test_texts_of_values():
    assert label("a\nb") == "'a\\nb'"
    assert label(" a") == "' a'"
    assert label(dt.datetime(2020, 1, 2)) == "2020-01-02"
    assert label(dt.datetime(2020, 1, 2, 3, 4)) == "2020-01-02 03:04"
    assert number(-0.0001, 3) == "-0.0001"
    assert number(123456.7891, 3) == "123456.789"
    assert number(1e22, 3) == "1e+22"
    assert number(1e-12, 3) == "1e-12"
    assert instant(1e30) == "1e+30 µs"
    assert duration(-1.0) == "-0:00:00.000001"


@pytest.mark.parametrize("wrong", [{"tree": 1}, {"tree": -1}, {"decimals": -1}, {"max_depth": -2}])
def test_wrong_parameters_say_so(wrong):
    with pytest.raises(ParameterError, match=f"`{next(iter(wrong))}` must be"):
        to_text(random_forest(0), **wrong)


def test_only_models_are_taken():
    with pytest.raises(DataTypeError, match="got dict"):
        to_text({})


def test_pure_leaves_name_their_class_alone():
    forest = random_forest(0, n_leaves=2, width=2)
    value = np.array([[1.0, 0.0], [0.25, 0.75]])
    text = to_text(dataclasses.replace(forest, value=value), show_counts=False)
    assert "→ class 0\n" in text
    assert text.endswith("→ class 1: 0.750, class 0: 0.250")


def test_only_levels_that_can_come_are_listed():
    columns = [ColumnSchema("c", "categorical", levels=tuple("abcdefgh"))]
    splits = [(0, {1, 2}, False), (0, {3, 4, 5}, False), (0, {1, 6}, True)]
    text = to_text(chain(splits, columns)[0], schema=Schema(tuple(columns), True), show_counts=False)
    assert (
        text
        == """\
all rows
├── c in {a, b} → 0
└── c in {c, d, e, f, g, h} or missing
    ├── c in {c, d, e} → 1
    └── c in {f, g, h} or missing
        ├── c in {f} or missing → 2
        └── c in {g, h} → 3"""
    )


def test_missing_is_named_only_where_it_can_come():
    forest, schema = chain([(0, 1.0, True), (0, 2.0, True), (1, 0.5, False), (0, 3.0, False)], COLUMNS)
    text = to_text(forest, schema=schema, show_counts=False)
    assert (
        text
        == """\
all rows
├── length <= 1 or missing → 0
└── length > 1
    ├── length <= 2 → 1
    └── length > 2
        ├── flag is false → 2
        └── flag is true or missing
            ├── length <= 3 → 3
            └── length > 3 → 4"""
    )


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e9, -1e6])
def test_rounded_thresholds_keep_their_distance(scale):
    cuts = [scale + 0.00012, scale + 0.00161, scale + 5.0, scale + 5.0004]
    forest, schema = chain([(0, cut, True) for cut in cuts], COLUMNS)
    shown = [
        float(line.split("<= ")[1].split(" ")[0])
        for line in to_text(forest, schema=schema).splitlines()[1::2]
    ]
    gaps = np.diff(cuts)
    nearest = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf))
    assert (np.abs(np.array(shown) - cuts) <= nearest / 4).all()
    assert shown == sorted(shown)


def test_several_outputs():
    import types

    forest, schema = chain([(0, 1.0, True)], COLUMNS, width=5, link="shares")
    value = np.array([[1.0, 0.0, 0.0, 0.25, 0.75], [0.5, 0.5, 0.0, 1.0, 0.0]])
    model = types.SimpleNamespace(
        forest_=dataclasses.replace(forest, value=value),
        schema_=schema,
        classes_=[np.array(["a", "b", "c"]), np.array([False, True])],
    )
    text = to_text(model, show_counts=False)
    assert "├── length <= 1 or missing → a; True: 0.750, False: 0.250" in text
    assert "└── length > 1 → a: 0.500, b: 0.500; False" in text
