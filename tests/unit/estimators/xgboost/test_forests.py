"""Random forests under xgboost's names, and `XGBModel`, which all are of."""

import numpy as np
import pytest
import xgboost
from sklearn.base import is_classifier, is_regressor
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

import weald
from weald import XGBClassifier, XGBModel, XGBRanker, XGBRegressor, XGBRFClassifier, XGBRFRegressor
from weald.errors import ParameterError


@pytest.mark.parametrize(
    ("ours", "theirs", "data"),
    [
        (XGBRFRegressor, xgboost.XGBRFRegressor, numbers),
        (XGBRFClassifier, xgboost.XGBRFClassifier, three_classes),
    ],
)
def test_forests_are_as_xgboosts(ours, theirs, data):
    X, y = data(n=400)
    model = ours(n_estimators=30, max_depth=4).fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    peer = theirs(n_estimators=30, max_depth=4)
    peer.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    (name,) = peer.evals_result()["validation_0"]
    (a,), (b,) = model.evals_result()["validation_0"][name], peer.evals_result()["validation_0"][name]
    assert abs(a - b) < 0.1 * b
    assert model.apply(X).shape == peer.apply(X).shape
    assert model.get_num_boosting_rounds() == peer.get_num_boosting_rounds() == 1
    assert ours(n_estimators=7).get_xgb_params() == theirs(n_estimators=7).get_xgb_params()
    assert isinstance(model, XGBModel)


def test_forests_have_xgboosts_defaults_and_same_bits():
    X, y = numbers()
    by_hand = XGBRegressor(
        n_estimators=1,
        num_parallel_tree=9,
        learning_rate=1,
        subsample=0.8,
        colsample_bynode=0.8,
        reg_lambda=1e-5,
    )
    forest = XGBRFRegressor(n_estimators=9, n_jobs=1).fit(X, y)
    assert np.array_equal(forest.predict(X), by_hand.fit(X, y).predict(X))
    assert np.array_equal(forest.predict(X), XGBRFRegressor(n_estimators=9, n_jobs=2).fit(X, y).predict(X))
    assert (forest.forest_.n_trees, forest.n_rounds_) == (9, 1)
    other_name = XGBRFRegressor(n_estimators=9, eta=0.5, **{"lambda": 1.0}).fit(X, y)
    renamed = XGBRFRegressor(n_estimators=9, learning_rate=0.5, reg_lambda=1.0).fit(X, y)
    assert np.array_equal(other_name.predict(X), renamed.predict(X))
    assert repr(XGBRFRegressor(n_estimators=9)) == "XGBRFRegressor(n_estimators=9)"


@pytest.mark.parametrize("params", [{"early_stopping_rounds": 3}, {"early_stopping": 0.2}, {"callbacks": []}])
def test_forests_have_one_round(params):
    X, y = numbers()
    with pytest.raises(NotImplementedError, match=r"not implemented for random forest.*XGBRegressor"):
        XGBRFRegressor(**params).fit(X, y, eval_set=[(X, y)])
    with pytest.raises(ParameterError, match=r"`num_parallel_tree` .* is 3.*`n_estimators` is the number"):
        XGBRFRegressor(n_estimators=5, num_parallel_tree=3).fit(X, y)


@pytest.mark.parametrize(
    "model", [XGBRFClassifier(n_estimators=3), XGBRFRegressor(n_estimators=3), XGBModel(n_estimators=3)]
)
def test_a_file_keeps_forests_and_models(model, tmp_path):
    X, y = (three_classes if is_classifier(model) else numbers)()
    model.fit(X, y).save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.predict(X), model.predict(X))
    loaded.save(tmp_path / "again.weald")
    assert (tmp_path / "m.weald").read_bytes() == (tmp_path / "again.weald").read_bytes()


def test_xgb_model_is_what_all_are_of():
    X, y = two_classes()
    truth = (y == "yes").astype(float)
    for estimator in (XGBClassifier, XGBRegressor, XGBRanker, XGBRFClassifier, XGBRFRegressor):
        assert issubclass(estimator, XGBModel)
    model = XGBModel(objective="binary:logistic", n_estimators=5).fit(X, truth, eval_set=[(X, truth)])
    assert not is_classifier(model)
    assert not is_regressor(model)
    chances = XGBClassifier(n_estimators=5).fit(X, y).predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X), chances)
    assert list(model.evals_result()["validation_0"]) == ["logloss"]
