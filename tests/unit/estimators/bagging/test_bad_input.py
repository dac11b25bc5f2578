"""What bagging refuses, and what an error or Ctrl-C leaves behind."""

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from unit.estimators.bagging.data import labels, mixed, numbers

from weald import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError
from weald.estimators.bagging import trees as bagging_trees


def test_unfitted():
    model = BaggingClassifier()
    assert bool(model)
    for ask in (
        lambda: model.predict([[1]]),
        lambda: model.estimators_,
        lambda: len(model),
        lambda: model.save("never"),
        lambda: model.estimators_samples_,
        lambda: model.estimators_features_,
    ):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, r"`n_estimators` of BaggingRegressor must be a whole number of at least 1"),
        ({"max_samples": 0.0}, "`max_samples`"),
        ({"max_samples": 1.5}, "`max_samples`"),
        ({"max_samples": 500, "bootstrap": False}, r"`max_samples` .* at most the number of rows, 200"),
        ({"max_features": 9}, r"`max_features` .* at most the number of columns, 5; got 9"),
        ({"max_features": "sqrt"}, "`max_features`"),
        ({"bootstrap": "yes"}, "`bootstrap` of BaggingRegressor must be True or False"),
        ({"oob_score": "r2"}, r"`oob_score` .* a function of \(y_true, y_pred\)"),
        ({"oob_score": True, "bootstrap": False}, "needs bags that lack some rows"),
        ({"estimator": DecisionTreeRegressor}, "give an object, not a class"),
        ({"estimator": 3}, "an estimator with fit and predict"),
        ({"estimator": DecisionTreeClassifier()}, "must be a regressor.*Use BaggingClassifier"),
        ({"n_jobs": 0}, "`n_jobs`"),
        ({"random_state": "x"}, "`random_state`"),
        ({"estimator": DecisionTreeRegressor(max_depth=-1)}, "`max_depth` of DecisionTreeRegressor"),
    ],
)
def test_parameters_are_checked(params, message):
    X, y = numbers()
    with pytest.raises(ParameterError, match=message):
        BaggingRegressor(**params).fit(X, y)


def test_wrong_names_and_kinds():
    with pytest.raises(ParameterError, match="did you mean `max_samples`"):
        BaggingRegressor().set_params(max_sample=3)
    with pytest.raises(ParameterError, match=r"must be a classifier.*Use BaggingRegressor"):
        BaggingClassifier(DecisionTreeRegressor()).fit([[1.0]], [1])


def test_a_tree_that_fails_in_one_bag_is_named():
    X, _ = numbers(40)
    y = np.zeros(40)
    y[0] = 1  # bags without row 0 have no counts at all
    with pytest.raises(DataError, match=r"The DecisionTreeRegressor of bag \d+ failed: DataError: Sum of y"):
        BaggingRegressor(DecisionTreeRegressor(criterion="poisson"), random_state=0).fit(X, y)
    model = BaggingRegressor(n_estimators=2, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(DataError):
        model.set_params(estimator=DecisionTreeRegressor(criterion="poisson"), n_estimators=10).fit(X, y)
    assert np.array_equal(model.predict(X), before)  # a failed fit leaves it as it was


def test_other_columns_at_predict():
    X, y = mixed(), labels()
    model = BaggingClassifier(n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="yet now missing:\n- length"):
        model.predict({k: v for k, v in X.items() if k != "length"})
    array = BaggingRegressor(n_estimators=2).fit(*numbers())
    with pytest.raises(DataError, match="X has 3 features, but BaggingRegressor is expecting 5"):
        array.predict(np.zeros((2, 3)))


@pytest.fixture
def heeds_ctrl_c():
    """Python ignores it where it was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_leaves_no_threads_and_no_model(monkeypatch):
    X, y = numbers()
    grown, whole = [], bagging_trees._grow_bag

    def interrupting(template, coded, bags, bag):
        if bag == 5:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        grown.append(bag)
        time.sleep(0.01)
        return whole(template, coded, bags, bag)

    monkeypatch.setattr(bagging_trees, "_grow_bag", interrupting)
    before = set(threading.enumerate())
    for large in (False, True):
        monkeypatch.setattr(bagging_trees, "LARGE", 1 if large else 2**30)
        model = BaggingRegressor(n_estimators=300, n_jobs=3)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert set(threading.enumerate()) <= before
        assert not hasattr(model, "n_features_in_")
        assert len(grown) < 100
        grown.clear()
    monkeypatch.undo()
    assert len(model.set_params(n_estimators=3).fit(X, y)) == 3
