"""Boosting's fast histograms (words, tiles, sparse rows as lists, flags) against wide ones, tree for tree.

Gradients are multiples of 1/64 and hessians of 1/8, so that both kinds of sums are exact and so are ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import weald.boosting.newton.rows as rows_module
from weald import XGBRegressor, engine
from weald.boosting.newton.losses import LOSSES, NativeObjective, make_objective
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.rows import BoostedRows
from weald.boosting.records import BoostTarget
from weald.data.adapters import to_table
from weald.data.codes import Codes, encode

seeds = st.integers(0, 2**32 - 1)


def columns_of(random: np.random.Generator, n: int) -> NDArray[Any]:
    """Numbers of many and few values, flags, constants, missing values: 3 to 40 columns."""
    makers = (
        lambda: random.standard_normal(n),
        lambda: random.integers(0, 5, n) * 1.0,
        lambda: (random.random(n) < 0.3) * 1.0,
        lambda: (random.random(n) < 0.01) * 1.0,
        lambda: np.ones(n),
        lambda: np.where(random.random(n) < 0.2, np.nan, random.standard_normal(n)),
    )
    chosen = random.integers(0, len(makers), random.integers(3, 41))
    return np.stack([makers[k]() for k in chosen], axis=1)


def codes_of(X: Any) -> Codes:
    return encode(to_table(X), max_bins=255)


def options_of(random: np.random.Generator) -> BoostOptions:
    by_leaf = {"max_depth": 0, "max_leaves": int(random.integers(2, 30)), "grow_policy": "lossguide"}
    shape: dict[str, Any] = by_leaf if random.random() < 0.5 else {"max_depth": int(random.integers(1, 7))}
    return BoostOptions(
        tree_method="hist",
        reg_lambda=float(random.choice([0.0, 0.25, 1.0])),
        reg_alpha=float(random.choice([0.0, 0.5])),
        gamma=float(random.choice([0.0, 0.5])),
        min_child_weight=float(random.choice([0.0, 1.0, 5.0])),
        max_delta_step=float(random.choice([0.0, 0.0, 0.25])),
        colsample_bynode=float(random.choice([1.0, 0.5])),
        subsample=float(random.choice([1.0, 0.7])),
        n_threads=int(random.integers(1, 4)),
        **shape,
    )


def grown(
    codes: Codes, gradients: tuple[NDArray[Any], NDArray[Any]], options: BoostOptions, *, packed: bool
) -> dict[str, NDArray[Any]]:
    rows = BoostedRows(codes, None, options)
    rows._plans._native.narrow = packed
    g, h = gradients
    return engine.tree_arrays(rows.grow(g[None], h[None], seed=3, round_=1, weighted=False))


def assert_same_tree(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> None:
    for name in ("slot", "column", "threshold", "missing_left", "right", "value", "cover"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def exact_gradients(random: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    return random.integers(-64, 65, n) / 64, random.integers(1, 9, n) / 8


@given(seeds, st.integers(2, 3000))
def test_words_grow_the_tree_that_wide_sums_grow(seed, n):
    random = np.random.default_rng(seed)
    codes, options, gradients = (
        codes_of(columns_of(random, n)),
        options_of(random),
        exact_gradients(random, n),
    )
    assert_same_tree(
        grown(codes, gradients, options, packed=True), grown(codes, gradients, options, packed=False)
    )


@given(seeds, st.integers(2, 2000))
def test_lists_of_sparse_rows_grow_the_tree_of_sorted_entries(seed, n):
    random = np.random.default_rng(seed)
    X = np.nan_to_num(columns_of(random, n))
    X[random.random(X.shape) < 0.5] = 0
    codes, options, gradients = codes_of(sp.csr_array(X)), options_of(random), exact_gradients(random, n)
    packed = grown(codes, gradients, options, packed=True)
    assert_same_tree(packed, grown(codes, gradients, options, packed=False))
    assert_same_tree(packed, grown(codes_of(X), gradients, options, packed=True))


def test_narrow_lists_grow_the_tree_of_dense_columns():
    random = np.random.default_rng(0)
    n = 70_000
    X = np.stack([random.random(n) < share for share in np.linspace(0.001, 0.6, 30)], axis=1) * 1.0
    X[:, ::7] *= random.integers(1, 4, (n, 5))
    gradients = random.standard_normal(n), np.ones(n)
    for shape in ({"max_depth": 6}, {"max_depth": 0, "max_leaves": 63, "grow_policy": "lossguide"}):
        options = BoostOptions(tree_method="hist", n_threads=2, **shape)
        sparse = grown(codes_of(sp.csr_array(X)), gradients, options, packed=True)
        assert_same_tree(sparse, grown(codes_of(X), gradients, options, packed=True))
        assert len(sparse["column"]) > 30


@pytest.mark.parametrize("memory", [0, 100_000])
def test_little_memory_for_histograms_changes_nothing(memory):
    random = np.random.default_rng(1)
    X = columns_of(random, 3000)
    gradients = exact_gradients(random, 3000)
    for table in (X, sp.csr_array(np.nan_to_num(X))):
        codes = codes_of(table)
        trees = []
        for histogram_bytes in (None, memory):
            rows = BoostedRows(codes, None, BoostOptions(tree_method="hist", max_depth=6, n_threads=2))
            if histogram_bytes is not None:
                rows._plans._native.grow.histogram_bytes = histogram_bytes
            g, h = gradients
            trees.append(engine.tree_arrays(rows.grow(g[None], h[None], seed=3, round_=1, weighted=False)))
        assert_same_tree(*trees)


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.native != "softmax"])
def test_gradients_by_blocks_are_those_stored(name, monkeypatch):
    """A loss worked out block by block grows the model of the stored gradients, to the bit."""
    monkeypatch.setattr(rows_module, "MANY_ROWS", 1000)
    random = np.random.default_rng(2)
    X = random.standard_normal((3000, 4))
    y = np.abs(X[:, 0] + random.standard_normal(3000)) + 0.1
    y = (y > 1) * 1.0 if name.startswith("binary:") or name == "reg:logistic" else y
    weight = random.random(3000)
    given_parameters = {"quantile_alpha": [0.2, 0.7]} if "quantile" in name else {}
    codes = codes_of(X)
    options = BoostOptions(tree_method="hist", max_depth=4, subsample=0.8, n_threads=2)
    target = BoostTarget(y, weight)
    objective = make_objective(name, target, n_classes=None, parameters=given_parameters)
    assert isinstance(objective, NativeObjective)
    rows = BoostedRows(codes, weight, options)
    scores = random.standard_normal((objective.n_outputs, 3000)) / 4
    g, h = np.empty_like(scores), np.empty_like(scores)
    objective.gradients(scores, g, h, round_=0, n_threads=2)
    for k in range(objective.n_outputs):
        stored = rows.grow(g[k : k + 1], h[k : k + 1], seed=5, round_=1, weighted=False)
        loss = objective.row_loss(k)
        assert loss is not None
        by_blocks = rows.grow_loss(loss, scores[k], seed=5, round_=1)
        assert_same_tree(engine.tree_arrays(stored), engine.tree_arrays(by_blocks))


def test_large_tables_do_not_store_gradients(monkeypatch):
    random = np.random.default_rng(3)
    X = random.standard_normal((2000, 3))
    y = X[:, 0] + random.standard_normal(2000)
    stored = XGBRegressor(n_estimators=5, tree_method="hist").fit(X, y)
    monkeypatch.setattr(rows_module, "MANY_ROWS", 1000)
    monkeypatch.setattr(NativeObjective, "gradients", None)
    by_blocks = XGBRegressor(n_estimators=5, tree_method="hist").fit(X, y)
    np.testing.assert_array_equal(stored.predict(X), by_blocks.predict(X))


def test_categories_change_sides_in_groups():
    """Of 100 categories of 10 rows each, the first candidate of either end has as many as make up a group."""
    levels = np.repeat(np.arange(100), 10)
    table = to_table(levels[:, None], categorical_features=[0])
    codes = encode(table, max_bins=None)
    g = np.where(levels == 7, -1.0, 0.0)  # one category is worth splitting off, and only one
    rows = BoostedRows(codes, None, BoostOptions(tree_method="hist", max_depth=1, cat_smooth=1.0, cat_l2=0.0))
    sizes = []
    for group_rows in (0.0, 30.0):
        rows._plans._native.grow.group_rows = group_rows
        tree = engine.tree_arrays(rows.grow(g[None], np.ones((1, 1000)), seed=0, round_=0, weighted=False))
        sizes.append(len(tree["set_codes"]))
    assert sizes == [1, 3]


def test_caution_grows_with_the_table_up_to_a_limit():
    found = [BoostOptions().caution(n) for n in (1000, 16_000, 200_000)]
    assert found == [(5.0, 5.0, 5.0), (20.0, 8.0, 80.0), (50.0, 10.0, 500.0)]
    assert BoostOptions(cat_smooth=0.0, cat_l2=0.0).caution(1000) == (0.0, 0.0, 0.0)


def test_sparse_tables_of_too_many_cells_grow_the_tree_of_their_dense_copy():
    random = np.random.default_rng(5)
    X = np.where(random.random((300, 1500)) < 0.02, random.standard_normal((300, 1500)), 0.0)
    gradients = random.standard_normal(300), np.exp(random.standard_normal(300))
    options = BoostOptions(tree_method="hist", max_depth=5)
    sparse = grown(codes_of(sp.csr_array(X)), gradients, options, packed=True)
    assert_same_tree(sparse, grown(codes_of(X), gradients, options, packed=True))
    assert len(sparse["column"]) >= 5


def test_rows_that_round_to_nothing_are_still_there():
    """Sorted entries tell rows by their codes, histograms by their sums: both see the same rows."""
    random = np.random.default_rng(6)
    X = np.where(random.random((400, 1500)) < 0.05, random.integers(1, 9, (400, 1500)), 0.0)
    tiny = random.random(400) < 0.5
    tiny[:190] = False
    g = np.where(tiny, 1e-12, random.standard_normal(400))
    h = np.where(tiny, 1e-13, np.exp(random.standard_normal(400)))
    options = BoostOptions(tree_method="hist", max_depth=6, min_child_weight=0.0)
    sparse = grown(codes_of(sp.csr_array(X)), (g, h), options, packed=True)
    assert_same_tree(sparse, grown(codes_of(X), (g, h), options, packed=True))
