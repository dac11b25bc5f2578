"""As good as scikit-learn's trees on real tables: several outputs, constraints, random splits, criteria."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn import tree as peers
from sklearn.model_selection import KFold
from support.tables import data_file

from weald import DecisionTreeClassifier, DecisionTreeRegressor


class Case(NamedTuple):
    """A table of numbers: what to learn, what else to learn with it, and what it rises or falls along."""

    target: str
    second: str
    monotone: dict[str, int]


TABLES = {
    "abalone.csv.gz": Case("rings", "whole", {"shell": 1, "shucked": -1}),
    "cpu_act.csv.gz": Case("usr", "runqsz", {"freeswap": 1, "vflt": -1}),
    "california_housing.csv.gz": Case("median_house_value", "households", {"median_income": 1}),
    "phoneme.csv.gz": Case("class", "x4", {"x3": 1, "x0": -1}),
    "pima_missing.csv.gz": Case("diabetes", "age", {"glucose": 1, "mass": 1}),
}


def table(name: str) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Numbers, the target and the second target; at most 4,000 rows."""
    case, frame = TABLES[name], pd.read_csv(data_file(name))
    frame = frame.sample(min(len(frame), 4000), random_state=0).reset_index(drop=True)
    y = frame[case.target]
    y = y if y.dtype.kind in "if" else (y == y.max()).astype(int)
    return frame.select_dtypes("number").drop(columns=case.target, errors="ignore"), y, frame[case.second]


def is_class(y: Any) -> bool:
    return len(np.unique(y)) == 2


def scores(X: pd.DataFrame, y: np.ndarray, parameters: dict[str, Any], n_seeds: int) -> np.ndarray:
    """Held-out score minus scikit-learn's, fold by fold and seed by seed."""
    kind = "Classifier" if is_class(y) else "Regressor"
    ours = {"Classifier": DecisionTreeClassifier, "Regressor": DecisionTreeRegressor}[kind]
    theirs = getattr(peers, f"DecisionTree{kind}")
    known = {key: value for key, value in parameters.items() if key != "monotonic_cst"}
    cst = parameters.get("monotonic_cst")
    listed = {} if cst is None else {"monotonic_cst": [cst.get(column, 0) for column in X]}
    values, differences = X.to_numpy(dtype=float), []
    for seed in range(n_seeds):
        for train, test in KFold(4, shuffle=True, random_state=seed).split(X):
            mine = ours(random_state=seed, **parameters).fit(X.iloc[train], y[train])
            yours = theirs(random_state=seed, **known, **listed).fit(values[train], y[train])
            pair = mine.predict(X.iloc[test]), yours.predict(values[test])
            differences.append(score(y[test], pair[0]) - score(y[test], pair[1]))
    return np.array(differences)


def score(y: np.ndarray, predicted: np.ndarray) -> float:
    """Accuracy, or the share of the absolute error around the median that the tree takes away."""
    if is_class(y):
        return float((y == predicted).mean())
    error, spread = np.abs(y - predicted).mean(axis=0), np.abs(y - np.median(y, axis=0)).mean(axis=0)
    return float(1 - np.mean(error / spread))


def assert_within_noise(differences: np.ndarray) -> None:
    """The mean is within three standard errors of 0, and within 0.02 whatever they are."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    assert abs(differences.mean()) < min(0.02, 3 * error + 0.002)


@pytest.mark.parametrize("name", TABLES)
def test_several_outputs(name):
    X, y, second = table(name)
    X = X.drop(columns=TABLES[name].second)
    if is_class(y):  # the second output becomes a class as well
        second = (second > second.median()).astype(int)
    both = np.column_stack([y, second]).astype(int if is_class(y) else float)
    assert_within_noise(scores(X, both, {"min_samples_leaf": 10}, n_seeds=2))


@pytest.mark.parametrize("name", TABLES)
def test_monotone(name):
    X, y, _ = table(name)
    X = X.fillna(X.median())  # scikit-learn's constraints take no missing values
    parameters = {"min_samples_leaf": 10, "monotonic_cst": TABLES[name].monotone}
    assert_within_noise(scores(X, y.to_numpy(), parameters, n_seeds=2))


@pytest.mark.parametrize("name", TABLES)
def test_random_splits(name):
    X, y, _ = table(name)
    parameters = {"min_samples_leaf": 10, "splitter": "random"}
    assert_within_noise(scores(X, y.to_numpy(), parameters, n_seeds=6))


@pytest.mark.parametrize("name", ["abalone.csv.gz", "cpu_act.csv.gz", "california_housing.csv.gz"])
@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria(name, criterion):
    X, y, _ = table(name)
    parameters = {"min_samples_leaf": 10, "criterion": criterion}
    assert_within_noise(scores(X, y.to_numpy(), parameters, n_seeds=2))
