"""The boosting loop: scores that are kept are those that are predicted, with DART as without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald import XGBClassifier, XGBRegressor

DROPS: dict[str, dict[str, Any]] = {
    "tree": {"rate_drop": 0.3},
    "forest": {"rate_drop": 0.3, "normalize_type": "forest"},
    "weighted": {"rate_drop": 0.3, "sample_type": "weighted"},
    "one drop": {"one_drop": True},
    "skipped": {"rate_drop": 0.6, "skip_drop": 0.5},
    "parallel": {"rate_drop": 0.3, "num_parallel_tree": 2, "subsample": 0.7},
    "approx": {"rate_drop": 0.3, "tree_method": "approx"},
}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + rng.normal(size=500) / 2
    X[rng.random(X.shape) < 0.1] = np.nan
    return X[:350], y[:350], X[350:], y[350:]


def rmse(a: Any, b: Any) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def check_curves(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """The last point of each curve is the metric of what the model predicts."""
    curves = model.evals_result_
    assert curves["validation_0"]["rmse"][-1] == pytest.approx(rmse(model.predict(X), y), rel=1e-12)
    assert curves["validation_1"]["rmse"][-1] == pytest.approx(rmse(model.predict(X_test), y_test), rel=1e-12)


@pytest.mark.parametrize("drops", DROPS.values(), ids=DROPS)
def test_dart_keeps_the_scores_that_the_model_predicts(drops):
    X, y, X_test, y_test = data()
    model = XGBRegressor(booster="dart", n_estimators=20, **drops)
    model.fit(X, y, eval_set=[(X, y), (X_test, y_test)])
    check_curves(model, X, y, X_test, y_test)
    forest = model.forest_
    assert len(np.unique(forest.tree_weight)) > 2
    leaves = model.apply(X)
    added = [
        forest.tree_weight[t] * forest.value[~forest.slot[forest.tree_start[t] + leaves[:, t]], 0]
        for t in range(forest.n_trees)
    ]
    np.testing.assert_allclose(model.predict(X), forest.base_score[0] + np.sum(added, axis=0), rtol=1e-12)
    more = XGBRegressor(booster="dart", n_estimators=10, **drops)
    more.fit(X, y, eval_set=[(X, y), (X_test, y_test)], xgb_model=model)
    assert more.n_rounds_ == 30
    check_curves(more, X, y, X_test, y_test)
    assert rmse(more.predict(X), y) < rmse(model.predict(X), y)


def test_dart_that_drops_nothing_is_plain_boosting():
    X, y, _, _ = data()
    dart = XGBRegressor(booster="dart", n_estimators=12, subsample=0.6).fit(X, y)
    plain = XGBRegressor(n_estimators=12, subsample=0.6).fit(X, y)
    np.testing.assert_array_equal(dart.predict(X), plain.predict(X))


@pytest.mark.parametrize("normalize", ["tree", "forest"])
def test_weights_of_dart_after_one_drop(normalize):
    """Two rounds, the first tree dropped: 1/(k + η) and k/(k + η), or 1/(1 + η) for both, with k = 1."""
    X, y, _, _ = data()
    given = {"booster": "dart", "n_estimators": 2, "rate_drop": 1.0, "learning_rate": 0.25}
    model = XGBRegressor(normalize_type=normalize, **given).fit(X, y)
    np.testing.assert_allclose(model.forest_.tree_weight, [1 / 1.25, 1 / 1.25])
    first = XGBRegressor(n_estimators=1, learning_rate=0.25).fit(X, y).predict(X) - y.mean()
    # The second tree saw the scores without the first: it is the first again.
    np.testing.assert_allclose(model.predict(X), y.mean() + 2 * first / 1.25, rtol=1e-9)


def test_dart_of_classes():
    X, y, X_test, y_test = data()
    labels, labels_test = np.digitize(y, [-0.5, 0.5]), np.digitize(y_test, [-0.5, 0.5])
    model = XGBClassifier(booster="dart", n_estimators=10, rate_drop=0.4)
    model.fit(X, labels, eval_set=[(X_test, labels_test)])
    p = model.predict_proba(X_test)[np.arange(len(X_test)), labels_test]
    assert model.evals_result_["validation_0"]["mlogloss"][-1] == pytest.approx(-np.log(p).mean(), rel=1e-9)


@pytest.mark.parametrize("objective", ["reg:absoluteerror", "reg:squarederror"])
def test_a_tree_for_several_outputs_holds_the_best_value_of_each(objective):
    X, y, _, _ = data()
    Y = np.stack([y, -2 * y + X[:, 3].clip(-9, 9).astype(float)], axis=1)
    Y = np.nan_to_num(Y)
    model = XGBRegressor(
        n_estimators=1,
        learning_rate=1.0,
        reg_lambda=0.0,
        multi_strategy="multi_output_tree",
        objective=objective,
        max_depth=3,
    ).fit(X, Y)
    middle = np.mean if objective == "reg:squarederror" else np.median
    leaf = model.apply(X)[:, 0]
    assert len(np.unique(leaf)) == 8
    said = model.predict(X)
    for each in np.unique(leaf):
        here = leaf == each
        for k in range(2):
            spread = np.sort(Y[here, k])
            gap = 0.0 if objective == "reg:squarederror" else np.diff(spread).max()
            assert said[here, k] == pytest.approx(middle(spread), abs=gap + 1e-9)
