"""SHAP values of trees: against the definition by brute force, against xgboost's, and their sums."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse

import weald
from weald.inspection import shap
from weald.inspection.shap import shap_values


def by_definition(forest, X, t):
    """Shapley's mean over all sets of columns of what one tree says if only these are known."""
    n_columns = X.shape[1]

    def expected(node, row, known):
        slot = forest.slot[forest.tree_start[t] + node]
        if slot < 0:
            return forest.value[~slot, 0]
        j, left, right = forest.column[slot], node + 1, int(forest.right[slot])
        if j in known:
            goes = forest.missing_left[slot] if np.isnan(row[j]) else row[j] <= forest.threshold[slot]
            return expected(left if goes else right, row, known)
        cover = forest.cover[forest.tree_start[t] + np.array([node, left, right])]
        return (cover[1] * expected(left, row, known) + cover[2] * expected(right, row, known)) / cover[0]

    out = np.zeros((len(X), n_columns))
    for i, row in enumerate(X):
        for j in range(n_columns):
            others = [k for k in range(n_columns) if k != j]
            for size in range(n_columns):
                weight = factorial(size) * factorial(n_columns - size - 1) / factorial(n_columns)
                for known in combinations(others, size):
                    gained = expected(0, row, {*known, j}) - expected(0, row, set(known))
                    out[i, j] += weight * gained
    return out


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[::5, 1] = np.nan
    return X, np.nan_to_num(X[:, 0] * X[:, 1]) + X[:, 2] + X[:, 3] * X[:, 0]


def test_values_are_those_of_the_definition():
    X, y = rows()
    booster = weald.train({"max_depth": 4, "tree_method": "exact"}, weald.DMatrix(X, y), 3)
    forest = booster._fitted().forest_
    expected = sum(by_definition(forest, X[:12], t) for t in range(3))
    values, _ = shap_values(forest, weald.DMatrix(X[:12])._table)
    assert np.allclose(values[:, 0], expected, atol=1e-12)
    part, _ = shap_values(forest, weald.DMatrix(X[:12])._table, (1, 2))
    assert np.allclose(part[:, 0], by_definition(forest, X[:12], 1), atol=1e-12)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, "number"),
        ({"booster": "dart", "rate_drop": 0.5}, "number"),
        ({"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2}, "classes"),
        ({"multi_strategy": "multi_output_tree"}, "targets"),
    ],
)
def test_contributions_add_up_to_raw_scores(params, kind):
    X, y = rows()
    target = {"number": y, "classes": np.digitize(y, [-1, 1]), "targets": np.column_stack([y, X[:, 0]])}[kind]
    margin = None if kind != "number" else np.linspace(0, 1, len(y))
    matrix = weald.DMatrix(X, target, base_margin=margin)
    booster = weald.train(params, matrix, 4)
    for rounds in (None, (1, 3)):
        parts = booster.predict(matrix, pred_contribs=True, iteration_range=rounds)
        raw = booster.predict(matrix, output_margin=True, iteration_range=rounds)
        assert parts.shape == (*raw.shape, 5)
        assert np.allclose(parts.sum(axis=-1), raw, atol=1e-10)
    strict = booster.predict(matrix, pred_contribs=True, strict_shape=True)
    assert strict.shape == (120, 1 if raw.ndim == 1 else raw.shape[1], 5)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_contributions_are_those_of_xgboost(objective):
    X, y = rows()
    target = np.digitize(y, [-1, 1]) if objective.startswith("multi") else (y > 0).astype(float)
    params = {"objective": objective, "tree_method": "exact", "max_depth": 3}
    params |= {"num_class": 3} if objective.startswith("multi") else {}
    said = []
    for library in (weald, xgboost):
        matrix = library.DMatrix(X, target)
        said.append(library.train(params, matrix, 4).predict(matrix, pred_contribs=True))
    assert said[0].shape == said[1].shape
    # In nodes that saw no missing value the two send it to different children.
    whole = ~np.isnan(X).any(axis=1)
    assert np.allclose(said[0][whole], said[1][whole], atol=1e-4)


def test_categories_order_and_gaps(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "city": pd.Categorical(rng.choice([*"abcdefgh", None], 200)),
            "size": pd.Categorical(
                rng.choice(["s", "m", "l"], 200), categories=["s", "m", "l"], ordered=True
            ),
            "flag": rng.choice([True, False], 200),
            "x": rng.normal(size=200),
        }
    )
    y = frame.city.isin(["a", "d"]) * 2.0 + (frame["size"] == "l") + frame.flag * frame.x
    booster = weald.train({"max_depth": 4, "cat_l2": 0, "cat_smooth": 0}, weald.DMatrix(frame, y), 8)
    new = weald.DMatrix(frame.assign(city=pd.Categorical(rng.choice(["a", "z", "d"], 200))))
    for matrix in (weald.DMatrix(frame), new):
        parts = booster.predict(matrix, pred_contribs=True)
        assert np.allclose(parts.sum(axis=1), booster.predict(matrix), atol=1e-10)
    monkeypatch.setattr(shap, "_BLOCK", 30)
    assert np.array_equal(booster.predict(new, pred_contribs=True), parts)
    X = np.round(rng.normal(size=(200, 3)))
    for missing in (None, 0):
        matrix = weald.DMatrix(sparse.csr_matrix(X), label=X[:, 0], missing=missing)
        booster = weald.train({}, matrix, 3)
        parts = booster.predict(matrix, pred_contribs=True)
        assert np.allclose(parts.sum(axis=1), booster.predict(matrix), atol=1e-10)
