"""`weald.train` and `weald.cv`: xgboost's functions on tables."""

import numpy as np
import pytest
import xgboost
from sklearn.model_selection import KFold
from unit.estimators.xgb_data import numbers, three_classes, two_classes

import weald
from weald.errors import DataError, DataTypeError, ParameterError


def test_the_objective_decides_the_class():
    X, y = two_classes()
    model = weald.train({"objective": "binary:logistic", "eta": 0.1, "lambda": 2.0}, X, y, 7)
    assert isinstance(model, weald.XGBClassifier)
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.n_rounds_ == 7
    expected = weald.XGBClassifier(n_estimators=7, learning_rate=0.1, reg_lambda=2.0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
    X, y = three_classes()
    assert weald.train({"objective": "multi:softprob", "num_class": 3}, X, y, 2).n_classes_ == 3
    X, y = numbers()
    model = weald.train({}, X, y)
    assert isinstance(model, weald.XGBRegressor)
    assert model.n_rounds_ == 10


def test_training_equals_that_of_xgboost():
    X, y = numbers()
    params = {"max_depth": 3, "eta": 0.2, "alpha": 0.1, "seed": 5, "tree_method": "exact"}
    log, theirs = {}, {}
    model = weald.train(params, X, y, 8, evals=[(X, y, "train"), (X[:50], y[:50], "part")], evals_result=log)
    data = xgboost.DMatrix(X, y)
    booster = xgboost.train(
        params,
        data,
        8,
        evals=[(data, "train"), (xgboost.DMatrix(X[:50], y[:50]), "part")],
        evals_result=theirs,
        verbose_eval=False,
    )
    assert np.abs(model.predict(X) - booster.predict(data)).max() < 1e-5
    assert log.keys() == theirs.keys()
    assert all(np.allclose(log[name]["rmse"], theirs[name]["rmse"], atol=1e-5) for name in log)


def test_early_stopping_going_on_and_own_functions():
    X, y = numbers()

    def squared(truth, raw):
        return raw - truth, np.ones_like(raw)

    def largest(truth, said):
        return np.abs(truth - said).max()

    first = weald.train(
        {}, X[:150], y[:150], 200, evals=[((X[150:], y[150:]), "test")], early_stopping_rounds=3
    )
    assert first.best_iteration < 199
    assert list(first.evals_result()) == ["test"]
    onward = weald.train({}, X, y, 5, xgb_model=first)
    assert onward.n_rounds_ == first.n_rounds_ + 5
    own = weald.train({}, X, y, 5, obj=squared, custom_metric=largest, evals=[(X, y)])
    assert list(own.evals_result()["validation_0"]) == ["rmse", "largest"]
    assert own.objective_ == "custom:squared"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"params": {"max_dept": 3}}, ParameterError, "did you mean `max_depth`"),
        ({"params": 3}, DataTypeError, "a dict of parameters"),
        ({"params": {"n_estimators": 5}}, ParameterError, "Give it once"),
        ({"evals": 3}, DataTypeError, "a list of"),
        ({"evals": [3]}, DataTypeError, "entry 0 is int"),
        ({"evals": [(np.zeros((2, 1)), [0.0, 1.0], "test")]}, DataError, r"evals\[0\]: X has 1"),
    ],
)
def test_what_is_wrong_is_named(arguments, error, message):
    X, y = numbers()
    with pytest.raises(error, match=message):
        weald.train(**{"params": {}, "X": X, "y": y, **arguments})


def test_cv_is_that_of_xgboost_on_the_same_folds():
    X, y = numbers()
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    params = {"max_depth": 3, "tree_method": "exact"}
    ours = weald.cv(params, X, y, 6, folds=folds, metrics=["rmse", "mae"])
    theirs = xgboost.cv(params, xgboost.DMatrix(X, y), 6, folds=folds, metrics=["rmse", "mae"])
    assert list(ours.columns) == list(theirs.columns)
    assert np.allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-5)


def test_cv_stops_at_the_best_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 2 * rng.normal(size=200)
    whole = weald.cv({}, X, y, 60, as_pandas=False)
    stopped = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    best = int(np.argmin(whole["test-rmse-mean"]))
    assert best < 40
    assert len(stopped["test-rmse-mean"]) == best + 1
    assert np.allclose(stopped["test-rmse-mean"], whole["test-rmse-mean"][: best + 1], atol=1e-12)
    again = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    assert again == stopped
    assert weald.cv({}, X, y, 5, as_pandas=False, seed=1) != weald.cv({}, X, y, 5, as_pandas=False)


def test_cv_of_classes_is_stratified():
    X, y = three_classes(n=90)
    y = np.where(np.arange(90) % 30 == 0, 7, y)  # three rows
    table = weald.cv({"objective": "multi:softprob"}, X, y, 3, as_pandas=False)
    assert len(table["test-mlogloss-mean"]) == 3
    folds = [(np.flatnonzero(y != 7), np.flatnonzero(y == 7)), (np.arange(45), np.arange(45, 90))]
    with pytest.raises(DataError, match=r"Fold \d of `folds` of cv trains on no row of the class 7"):
        weald.cv({"objective": "multi:softprob"}, X, y, folds=folds)
    with pytest.raises(ParameterError, match="`nfold` of cv"):
        weald.cv({}, X, y, nfold=1)
    with pytest.raises(ParameterError, match="`nfold` of cv asks for 3 folds of 2 rows"):
        weald.cv({}, X[:2], y[:2])


def test_cv_with_weights_and_sampling_goes_on_as_one_training():
    X, y = numbers()
    weight = np.arange(200) % 4 + 0.5
    params = {"subsample": 0.6, "colsample_bytree": 0.5, "booster": "dart", "rate_drop": 0.3}
    whole = weald.cv(params, X, y, 30, sample_weight=weight, as_pandas=False)
    parts = weald.cv(params, X, y, 30, sample_weight=weight, as_pandas=False, early_stopping_rounds=30)
    n = len(parts["test-rmse-mean"])
    assert np.allclose(whole["test-rmse-mean"][:n], parts["test-rmse-mean"], atol=1e-9)
