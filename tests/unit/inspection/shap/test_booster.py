"""`Booster.predict` of contributions and interactions: shapes and sums, and xgboost's own."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse

import weald
from weald.errors import ParameterError


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[::5, 1] = np.nan
    return X, np.nan_to_num(X[:, 0] * X[:, 1]) + X[:, 2] + X[:, 3] * X[:, 0]


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
        pairs = booster.predict(matrix, pred_interactions=True, iteration_range=rounds)
        assert pairs.shape == (*raw.shape, 5, 5)
        assert np.allclose(pairs.sum(axis=-1), parts, atol=1e-10)
        rough = booster.predict(matrix, pred_contribs=True, approx_contribs=True, iteration_range=rounds)
        assert np.allclose(rough.sum(axis=-1), raw, atol=1e-10)
    strict = booster.predict(matrix, pred_contribs=True, strict_shape=True)
    assert strict.shape == (120, 1 if raw.ndim == 1 else raw.shape[1], 5)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_contributions_are_those_of_xgboost(objective):
    X, y = rows()
    target = np.digitize(y, [-1, 1]) if objective.startswith("multi") else (y > 0).astype(float)
    params = {"objective": objective, "tree_method": "exact", "max_depth": 3}
    params |= {"num_class": 3} if objective.startswith("multi") else {}
    asked = (
        {"pred_contribs": True},
        {"pred_contribs": True, "approx_contribs": True},
        {"pred_interactions": True},
    )
    said = []
    for library in (weald, xgboost):
        matrix = library.DMatrix(X, target)
        booster = library.train(params, matrix, 4)
        said.append([booster.predict(matrix, **each) for each in asked])
    # In nodes that saw no missing value the two send it to different children.
    whole = ~np.isnan(X).any(axis=1)
    for ours, theirs in zip(*said, strict=True):
        assert ours.shape == theirs.shape
        assert np.allclose(ours[whole], theirs[whole], atol=1e-4)


def test_interactions_are_not_approximate():
    X, y = rows()
    booster = weald.train({}, weald.DMatrix(X, y), 1)
    with pytest.raises(ParameterError, match="approx_contribs is for pred_contribs"):
        booster.predict(weald.DMatrix(X), pred_interactions=True, approx_contribs=True)


def test_categories_order_and_gaps():
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
    X = np.round(rng.normal(size=(200, 3)))
    for missing in (None, 0):
        matrix = weald.DMatrix(sparse.csr_matrix(X), label=X[:, 0], missing=missing)
        booster = weald.train({}, matrix, 3)
        parts = booster.predict(matrix, pred_contribs=True)
        assert np.allclose(parts.sum(axis=1), booster.predict(matrix), atol=1e-10)
