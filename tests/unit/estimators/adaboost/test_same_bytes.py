"""AdaBoost gives the same bytes, whatever the threads, the order of rows or the search for stumps."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from unit.estimators.adaboost.data import mixed, rows

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
)
from weald.estimators.adaboost import stumps as adaboost_stumps
from weald.estimators.adaboost.trees import TreeLearner
from weald.io import model_file

MODELS = {
    "stumps": lambda n: AdaBoostClassifier(n_estimators=25, n_jobs=n),
    "stumps by samples": lambda n: AdaBoostClassifier(
        n_estimators=10, resample="compound", worse_than_chance="reset", n_jobs=n, random_state=0
    ),
    "trees": lambda n: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3, max_features=2), n_estimators=8, n_jobs=n, random_state=0
    ),
    "stopped": lambda n: AdaBoostClassifier(n_estimators=40, early_stopping=0.2, n_jobs=n, random_state=0),
    "numbers": lambda n: AdaBoostRegressor(n_estimators=8, n_jobs=n),
    "numbers by samples": lambda n: AdaBoostRegressor(
        n_estimators=8, loss="exponential", resample="compound", n_jobs=n, random_state=0
    ),
}


@pytest.mark.parametrize("which", MODELS)
def test_threads_do_not_show(which):
    X, y = rows(4000)
    found = {model_file.to_bytes(MODELS[which](n).fit(X, y)) for n in (1, 2, 5)}
    assert len(found) == 1


@pytest.mark.parametrize("depth", [1, 3])
def test_the_order_of_rows_does_not_show(depth):
    X, y = rows(1000)
    shuffled = np.random.default_rng(0).permutation(1000)
    base = DecisionTreeClassifier(max_depth=depth)
    one = AdaBoostClassifier(base, n_estimators=20).fit(X, y)
    two = AdaBoostClassifier(base, n_estimators=20).fit(X[shuffled], y[shuffled])
    assert model_file.to_bytes(one) == model_file.to_bytes(two)


def test_the_search_for_stumps_does_not_show(monkeypatch):
    table, y = mixed(2000)
    fast = AdaBoostClassifier(n_estimators=30).fit(table, y)
    monkeypatch.setattr(adaboost_stumps, "_is_plain_stump", lambda options: False)
    slow = AdaBoostClassifier(n_estimators=30).fit(table, y)
    assert model_file.to_bytes(fast) == model_file.to_bytes(slow)


def large(n_classes, n=40_000):
    """So many rows that sums are made in parts: numbers, numbers with gaps, and words."""
    rng = np.random.default_rng(n_classes)
    a, b = rng.normal(size=(2, n))
    word = np.array(["red", "green", "blue", "grey"], object)[rng.integers(0, 4, n)]
    score = a + b**2 + 0.7 * (word == "red") + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    b[rng.random(n) < 0.1] = np.nan
    word[rng.random(n) < 0.05] = None
    return {"a": a, "b": b, "word": word}, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neither_threads_nor_the_search_show_on_many_rows(monkeypatch, n_classes):
    table, y = large(n_classes)
    files = {model_file.to_bytes(AdaBoostClassifier(n_estimators=5, n_jobs=n).fit(table, y)) for n in (1, 4)}
    monkeypatch.setattr(adaboost_stumps, "_is_plain_stump", lambda options: False)
    files.add(model_file.to_bytes(AdaBoostClassifier(n_estimators=5).fit(table, y)))
    assert len(files) == 1


def test_very_many_classes_go_to_the_grower(monkeypatch):
    X, _ = rows(700)
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, 33) / 33))
    assert len(np.unique(y)) == 33

    def kind(labels):
        tree = DecisionTreeClassifier(max_depth=1)
        return type(adaboost_stumps.tree_learner(tree, tree._coded(X, labels, None), 0, 2.0))

    assert kind(y) is TreeLearner
    assert kind(np.minimum(y, 31)) is adaboost_stumps.StumpLearner
    grown = AdaBoostClassifier(n_estimators=4).fit(X, y)
    monkeypatch.setattr(adaboost_stumps, "MOST_CLASSES", 100)
    searched = AdaBoostClassifier(n_estimators=4).fit(X, y)
    assert model_file.to_bytes(grown) == model_file.to_bytes(searched)


def test_which_trees_are_found_by_the_search():
    X, y = rows()

    def learner(table=X, cat_penalty=2.0, **options):
        tree = DecisionTreeClassifier(**{"max_depth": 1, **options})
        return adaboost_stumps.tree_learner(tree, tree._coded(table, y, None), 0, cat_penalty)

    assert type(learner()) is adaboost_stumps.StumpLearner
    assert type(learner(criterion="log_loss", max_bins=20)) is adaboost_stumps.StumpLearner
    for options in (
        {"max_depth": 2},
        {"max_features": 2},
        {"splitter": "random"},
        {"min_samples_leaf": 5},
        {"class_weight": "balanced"},
        {"monotonic_cst": [1, 0, 0, 0, 0]},
        {"min_weight_fraction_leaf": 0.1},
    ):
        assert type(learner(**options)) is TreeLearner, options
    words = pd.DataFrame({"word": np.where(X[:, 0] > 0, "a", "b")})
    assert type(learner(words, cat_penalty=0.0)) is adaboost_stumps.StumpLearner
    assert type(learner(words)) is TreeLearner


def test_a_weight_of_zero_is_an_absent_row():
    X, y = rows()
    weight = np.ones(len(y))
    weight[::3] = 0.0
    one = AdaBoostClassifier(n_estimators=10).fit(X, y, weight)
    two = AdaBoostClassifier(n_estimators=10).fit(X[weight > 0], y[weight > 0])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    new = np.where(weight > 0, y, 7)  # labels of absent rows are not there
    assert AdaBoostClassifier(n_estimators=10).fit(X, new, weight).classes_.tolist() == [0, 1]


def test_a_fit_can_be_repeated():
    X, y = rows()
    model = AdaBoostClassifier(resample="reset", n_estimators=5, random_state=4)
    first = model_file.to_bytes(model.fit(X, y))
    assert model_file.to_bytes(clone(model).fit(X, y)) == first
    assert model_file.to_bytes(model.fit(X, y)) == first
