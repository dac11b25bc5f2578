"""METHODS.md, section 2, random forest: its parts by name, and its accuracy beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import KFold, StratifiedKFold
from support.tables import data_file

import weald
from weald import RandomForestClassifier, RandomForestRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 12))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def test_bootstrap_sample_has_a_row_with_probability_6513_at_ten_rows():
    model = RandomForestClassifier(3000, random_state=0).fit(X[:10], Y[:10])
    share = np.mean([model.bags_.counts(t) > 0 for t in range(3000)])
    assert share == pytest.approx(1 - 0.9**10, abs=4 * np.sqrt(0.6513 * 0.3487 / 30_000))


def test_bootstrap_sample_has_a_row_with_probability_632_in_the_limit():
    model = RandomForestClassifier(100, max_depth=1, random_state=0).fit(X, Y)
    share = np.mean([model.bags_.counts(t) > 0 for t in range(100)])
    assert share == pytest.approx(1 - np.exp(-1), abs=4 * np.sqrt(0.632 * 0.368 / 20_000) + 0.001)


@pytest.mark.parametrize(
    ("max_features", "q"), [("sqrt", 3), ("log2+1", 4), ("third", 4), (5, 5), ("log2", 3)]
)
def test_columns_drawn_at_every_node(max_features, q):
    """The best column of all is the root's whenever it is among the q that are drawn."""
    model = RandomForestClassifier(300, max_features=max_features, max_depth=1, random_state=0)
    assert model.fit(X, X[:, 0] > 0).max_features_ == q
    roots = model.forest_.column[model.forest_.slot[model.forest_.tree_start[:-1]]]
    share = (roots == 0).mean()
    assert abs(share - q / 12) < 4 * np.sqrt(q / 12 * (1 - q / 12) / 300)


def test_a_column_may_be_drawn_again_further_down():
    model = RandomForestRegressor(20, max_features=2, random_state=0).fit(X, X[:, 0] ** 2)
    for tree in model.estimators_:
        shown = tree.tree_
        left, right = shown.children_left, shown.children_right
        again = [
            shown.feature[child] == shown.feature[node]
            for node in range(shown.node_count)
            for child in (left[node], right[node])
            if left[node] != -1 and left[child] != -1
        ]
        assert any(again)


def test_no_pruning():
    """Every leaf of every tree is pure."""
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert set(model.forest_.value[:, 0].tolist()) == {0.0, 1.0}


def test_vote():
    model = RandomForestClassifier(25, random_state=0).fit(X[:150], Y[:150])
    votes = np.mean([tree.predict(X[150:]) for tree in model], axis=0)
    assert ((votes > 0.5) == model.predict(X[150:])).all()  # leaves are pure: votes are shares


def test_mean():
    model = RandomForestRegressor(25, random_state=0).fit(X[:150], X[:150, 0])
    means = np.mean([tree.predict(X[150:]) for tree in model], axis=0)
    np.testing.assert_allclose(model.predict(X[150:]), means, rtol=1e-12)


# Accuracy on real data within noise of scikit-learn's forest or better


def carried(load: Any) -> tuple[pd.DataFrame, np.ndarray]:
    bunch = load()
    return pd.DataFrame(bunch.data), bunch.target


def shared(name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.read_csv(data_file(name))
    frame = frame.sample(min(len(frame), 1500), random_state=0).reset_index(drop=True)
    y = frame.pop(target)
    return frame, y.to_numpy() if y.dtype.kind in "if" else pd.factorize(y, sort=True)[0]


TABLES = {
    "breast cancer": lambda: carried(load_breast_cancer),
    "wine": lambda: carried(load_wine),
    "phoneme": lambda: shared("phoneme.csv.gz", "class"),
    "german credit": lambda: shared("german_credit.csv.gz", "class"),
    "pima": lambda: shared("pima_missing.csv.gz", "diabetes"),
}
NUMBERS = {
    "diabetes": lambda: carried(load_diabetes),
    "abalone": lambda: shared("abalone.csv.gz", "rings"),
    "cpu": lambda: shared("cpu_act.csv.gz", "usr"),
}


def as_numbers(frame: pd.DataFrame) -> np.ndarray:
    """What scikit-learn's forests read: categories as their ranks, missing as NaN."""
    columns = {}
    for name in frame:
        column = frame[name]
        if column.dtype.kind not in "ifb":
            codes = pd.Categorical(column).codes
            column = np.where(codes < 0, np.nan, codes)
        columns[name] = column
    return pd.DataFrame(columns).to_numpy(float)


def advantage(kind: str, X: pd.DataFrame, y: np.ndarray, folds: Any) -> np.ndarray:
    """How much better each held-out row is told than by scikit-learn: right or wrong, or squared errors."""
    numbers, found = as_numbers(X), []
    mine, yours = (getattr(library, kind)(40, random_state=0) for library in (weald, peers))
    for train, test in folds.split(X, y):
        ours = mine.fit(X.iloc[train], y[train]).predict(X.iloc[test])
        theirs = yours.fit(numbers[train], y[train]).predict(numbers[test])
        if kind.endswith("Classifier"):
            found.append((ours == y[test]) * 1.0 - (theirs == y[test]))
        else:
            found.append(((theirs - y[test]) ** 2 - (ours - y[test]) ** 2) / y.var())
    return np.concatenate(found)


def assert_not_worse(found: np.ndarray) -> None:
    """At most three standard errors below, and never two points."""
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert found.mean() > -min(0.02, 3 * error + 0.003)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_accuracy_on_real_data_within_noise_of_scikit_learns_forest_or_better(name, kind):
    X, y = TABLES[name]()
    assert_not_worse(advantage(kind, X, y, StratifiedKFold(5, shuffle=True, random_state=0)))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("kind", ["RandomForestRegressor", "ExtraTreesRegressor"])
def test_r2_on_real_data_within_noise_of_scikit_learns_forest_or_better(name, kind):
    X, y = NUMBERS[name]()
    assert_not_worse(advantage(kind, X, y, KFold(5, shuffle=True, random_state=0)))
