"""What a fitted booster can be asked: margins, rounds, leaves, importances, the intercept."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.exceptions import NotFittedError
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

from weald import XGBClassifier, XGBRanker, XGBRegressor
from weald.errors import DataError, ParameterError, WealdError


@pytest.fixture(scope="module")
def classifier():
    X, y = three_classes()
    return XGBClassifier(n_estimators=6, max_depth=3).fit(X, y), X, y


@pytest.fixture(scope="module")
def regressor():
    X, y = numbers()
    return XGBRegressor(n_estimators=6, max_depth=3, importance_type="cover").fit(X, y), X, y


def test_margins_are_raw_scores(classifier):
    model, X, _ = classifier
    raw = model.predict(X, output_margin=True)
    e = np.exp(raw - raw.max(axis=1, keepdims=True))
    assert np.allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True))
    assert np.array_equal(model.decision_function(X), raw)
    X, y = two_classes()
    two = XGBClassifier(n_estimators=3).fit(X, y)
    raw = two.predict(X, output_margin=True)
    assert raw.shape == (len(X),)
    assert np.allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-raw)))


def test_rounds_add_up(regressor):
    model, X, _ = regressor
    base = model.intercept_[0]
    parts = [model.predict(X, iteration_range=(r, r + 1)) - base for r in range(6)]
    assert np.allclose(base + sum(parts), model.predict(X))
    assert np.array_equal(model.predict(X, iteration_range=(0, 0)), model.predict(X))
    for r, stage in enumerate(model.staged_predict(X)):
        assert np.allclose(stage, model.predict(X, iteration_range=(0, r + 1)))
    margin = np.linspace(0, 1, len(X))
    assert np.allclose(model.predict(X, base_margin=margin), model.predict(X) - base + margin)


@pytest.mark.parametrize("wrong", [(0, 7), (-1, 3), (4, 2), 3, (0, 1, 2), ("a", "b")])
def test_impossible_rounds_raise(regressor, wrong):
    model, X, _ = regressor
    with pytest.raises(ParameterError, match="iteration_range"):
        model.predict(X, iteration_range=wrong)


def test_stages_of_a_classifier(classifier):
    model, X, _ = classifier
    labels, probabilities = list(model.staged_predict(X)), list(model.staged_predict_proba(X))
    assert len(labels) == len(probabilities) == 6
    assert np.array_equal(labels[-1], model.predict(X))
    assert np.allclose(probabilities[-1], model.predict_proba(X))
    assert np.allclose(probabilities[2], model.predict_proba(X, iteration_range=(0, 3)))


def test_leaves_tell_the_value(classifier):
    model, X, _ = classifier
    leaves = model.apply(X)
    forest = model.forest_
    assert leaves.shape == (len(X), 18)
    assert np.array_equal(leaves[:, 3:6], model.apply(X, iteration_range=(1, 2)))
    nodes = leaves + forest.tree_start[:-1]
    values = forest.value[~forest.slot[nodes], 0]
    raw = forest.base_score + np.stack([values[:, k::3].sum(axis=1) for k in range(3)], axis=1)
    assert np.allclose(raw, model.predict(X, output_margin=True))


@pytest.mark.parametrize("kind", ["gain", "weight", "cover", "total_gain", "total_cover"])
def test_importances_are_those_of_xgboost(kind):
    X, y = numbers()
    params = {"n_estimators": 5, "max_depth": 3, "importance_type": kind}
    ours = XGBRegressor(**params).fit(X, y)
    theirs = xgboost.XGBRegressor(tree_method="exact", **params).fit(X, y)
    assert np.allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-4)
    scores = theirs.get_booster().get_score(importance_type=kind)
    mine = ours.get_score(kind)
    assert {f"f{name}" for name in mine} == set(scores)
    assert np.allclose([mine[name[1:]] for name in scores], list(scores.values()), rtol=1e-3)
    assert np.allclose(ours.importances()[[int(name) for name in mine]], list(mine.values()))


def test_importances_without_splits_and_of_unknown_kind(regressor):
    model, X, _ = regressor
    with pytest.raises(ParameterError, match="Did you mean 'cover'"):
        model.importances("covers")
    flat = XGBRegressor(n_estimators=2).fit(X, np.ones(len(X)))
    assert flat.feature_importances_.tolist() == [0.0] * 4


def test_the_intercept_is_a_prediction():
    X, y = two_classes()
    assert np.allclose(XGBClassifier(n_estimators=1).fit(X, y).intercept_, (y == "yes").mean(), atol=1e-6)
    assert XGBRegressor(n_estimators=1, base_score=0.25).fit(X, X[:, 0]).intercept_.tolist() == [0.25]
    counts = np.arange(len(X)) % 5
    poisson = XGBRegressor(n_estimators=1, objective="count:poisson").fit(X, counts)
    assert np.allclose(poisson.intercept_, counts.mean())
    y = np.arange(len(X)) % 3
    assert np.allclose(XGBClassifier(n_estimators=1).fit(X, y).intercept_, 0, atol=0.02)


def test_columns_by_name_or_by_position():
    X, y = numbers()
    named = {name: X[:, j] for j, name in enumerate("abcd")}
    model = XGBRegressor(n_estimators=3).fit(named, y)
    assert np.array_equal(model.predict({name: named[name] for name in "dcba"}), model.predict(named))
    renamed = {name: X[:, j] for j, name in enumerate("wxyz")}
    with pytest.raises(DataError, match="feature names"):
        model.predict(renamed)
    assert np.array_equal(model.predict(renamed, validate_features=False), model.predict(named))
    assert np.array_equal(model.predict(X, validate_features=False), model.predict(named))
    with pytest.raises(DataError, match="3 features"):
        model.predict(X[:, :3], validate_features=False)


def test_a_model_must_be_fitted(classifier):
    X, _ = numbers()
    model = XGBClassifier()
    for ask in (model.predict, model.predict_proba, model.apply, model.decision_function):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    with pytest.raises(WealdError, match="no learning curves"):
        classifier[0].evals_result()
    assert model.get_num_boosting_rounds() == 100


def test_help_shows_every_parameter():
    for model in (XGBClassifier, XGBRegressor, XGBRanker):
        assert "{parameters}" not in model.__doc__
        assert "\n    Attributes\n    ----------\n    " in model.__doc__
        assert "\n    n_rounds_, n_estimators_ : int\n        Rounds trained" in model.__doc__
        for name in model()._get_param_names():
            assert name in model.__doc__, name


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_way_out_of_extra_columns_works(frame):
    X, y = numbers()
    columns = dict(zip("abcd", X[:, :4].T, strict=True))
    model = XGBRegressor(n_estimators=3).fit(frame(columns), y)
    more = frame({"z": y, **{name: columns[name] for name in "dbca"}})
    with pytest.raises(DataError, match=r"- z\n.*X\[model.feature_names_in_\] would work"):
        model.predict(more)
    assert np.array_equal(model.predict(more[model.feature_names_in_]), model.predict(frame(columns)))
