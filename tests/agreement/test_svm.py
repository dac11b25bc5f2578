"""Kernel machines against LIBSVM (scikit-learn's SVC and SVR) on real and random tables.

Both solve one problem: the same objective to a ten-thousandth, the conditions of optimality, the same support
rows, the same predictions. The real tables go in with their categories and gaps; LIBSVM gets the matrix that
ours makes of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from support.tables import data_file

from weald import SVC, SVR
from weald.svm.votes import pairs

#: file, target, parameters; scale=True in all
LABELS = [
    ("breast_w.csv.gz", "Class", {"kernel": "rbf", "C": 1.0}),
    ("heart_cleveland.csv.gz", "num", {"kernel": "rbf", "C": 3.0, "class_weight": "balanced"}),
    ("german_credit.csv.gz", "class", {"kernel": "rbf", "C": 10.0, "gamma": 0.01}),
    ("credit_approval.csv.gz", "class", {"kernel": "linear", "C": 0.1}),
    ("penguins.csv.gz", "species", {"kernel": "linear", "C": 1.0}),
    ("pima_missing.csv.gz", "diabetes", {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 0.5}),
    ("soybean.csv.gz", "class", {"kernel": "rbf", "C": 5.0}),
    ("car_evaluation.csv.gz", "class", {"kernel": "rbf", "C": 10.0, "gamma": "auto"}),
    ("phoneme.csv.gz", "class", {"kernel": "rbf", "C": 1.0, "gamma": 1.0}),
    ("spambase.csv.gz", "class", {"kernel": "poly", "degree": 3, "coef0": 0.5, "C": 1.0}),
]
NUMBERS = [
    ("abalone.csv.gz", "rings", {"kernel": "rbf", "C": 10.0, "epsilon": 0.5}),
    ("cpu_act.csv.gz", "usr", {"kernel": "rbf", "C": 30.0, "epsilon": 0.2, "gamma": 0.02}),
    ("california_housing.csv.gz", "median_house_value", {"kernel": "linear", "C": 1.0, "epsilon": 0.3}),
]
N_ROWS = 600


def real(name, target):
    """Some rows of a real table, and their target."""
    frame = pd.read_csv(data_file(name))
    # Of equal rows any may be a support row.
    frame = frame.drop_duplicates(frame.columns.drop(target))
    frame = frame.sample(min(N_ROWS, len(frame)), random_state=0)
    y = frame.pop(target)
    if y.dtype.kind == "f":
        y = (y - y.mean()) / y.std()
    return frame, y.to_numpy()


def weights(n_rows):
    return np.random.default_rng(3).uniform(0.2, 2.0, n_rows)


def as_numbers(model, X):
    return model._model_.reading.read(X, "SVC").values


def theirs_of(kind, ours, params, tol):
    """LIBSVM's machine of the same parameters, with the gamma that ours worked out."""
    rest = {name: value for name, value in params.items() if name not in ("gamma", "kernel")}
    gamma = ours._gamma or "scale"
    return kind(kernel=params["kernel"], gamma=gamma, tol=tol, cache_size=1000, **rest)


def dual_objective(model, matrix, kernel, epsilon=None, y=None):
    """What the dual of every machine reaches: Σα - ½ cᵀKc; of numbers Σ(y c - ε|c|) - ½ cᵀKc."""
    K = kernel(matrix[model.support_])
    found = []
    start = np.append(0, np.cumsum(model.n_support_))
    n_classes = len(model.n_support_)
    if n_classes <= 2:
        lines = [model.dual_coef_[0]]
    else:
        lines = []
        for i, j in pairs(n_classes):
            line = np.zeros(len(model.support_))
            for own, other in ((i, j - 1), (j, i)):
                part = slice(start[own], start[own + 1])
                line[part] = model.dual_coef_[other, part]
            lines.append(line)
    for c in lines:
        gain = np.abs(c).sum() if epsilon is None else y[model.support_] @ c - epsilon * np.abs(c).sum()
        found.append(gain - c @ K @ c / 2)
    return np.array(found)


def check_support(ours, theirs, C):
    """The same support rows, but for those whose α is 0 up to the tolerance."""
    alpha = []
    for model in (ours, theirs):
        largest = np.zeros(model.shape_fit_[0])
        largest[model.support_] = np.abs(model.dual_coef_).max(axis=0)
        alpha.append(largest)
    differ = (alpha[0] > 0) != (alpha[1] > 0)
    assert np.maximum(*alpha)[differ].max(initial=0) < 1e-3 * C
    assert differ.sum() <= 0.01 * len(differ) + 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "target", "params"), LABELS, ids=lambda value: str(value)[:12])
def test_labels_of_real_tables(name, target, params, weighted):
    X, y = real(name, target)
    weight = weights(len(y)) if weighted else None
    ours = SVC(scale=True, **params).fit(X, y, sample_weight=weight)
    matrix = as_numbers(ours, X)
    theirs = theirs_of(svm.SVC, ours, params, 1e-3).fit(matrix, y, sample_weight=weight)
    found = dual_objective(theirs, matrix, ours.kernel_)
    assert np.atleast_1d(ours.dual_objective_) == pytest.approx(found, rel=1e-4)
    assert dual_objective(ours, matrix, ours.kernel_) == pytest.approx(found, rel=1e-4)
    assert (ours.predict(X) == theirs.predict(matrix)).mean() > 0.995
    assert np.max(ours.kkt_gap_) <= 1e-3
    exact = SVC(scale=True, tol=1e-6, **params).fit(X, y, sample_weight=weight)
    assert np.atleast_1d(exact.primal_objective_) == pytest.approx(found, rel=1e-4)
    check_support(exact, theirs_of(svm.SVC, ours, params, 1e-6).fit(matrix, y, sample_weight=weight), ours.C)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "target", "params"), NUMBERS, ids=lambda value: str(value)[:12])
def test_numbers_of_real_tables(name, target, params, weighted):
    X, y = real(name, target)
    weight = weights(len(y)) if weighted else None
    ours = SVR(scale=True, **params).fit(X, y, sample_weight=weight)
    matrix = as_numbers(ours, X)
    theirs = theirs_of(svm.SVR, ours, params, 1e-3).fit(matrix, y, sample_weight=weight)
    found = dual_objective(theirs, matrix, ours.kernel_, params["epsilon"], y)[0]
    assert ours.dual_objective_ == pytest.approx(found, rel=1e-4)
    assert ours.predict(X) == pytest.approx(theirs.predict(matrix), abs=1e-2)
    assert ours.kkt_gap_ <= 1e-3
    exact = SVR(scale=True, tol=1e-6, **params).fit(X, y, sample_weight=weight)
    assert exact.primal_objective_ == pytest.approx(found, rel=1e-4)
    check_support(exact, theirs_of(svm.SVR, ours, params, 1e-6).fit(matrix, y, sample_weight=weight), ours.C)


@pytest.mark.parametrize("seed", range(12))
def test_random_tables(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns, n_classes = rng.integers(20, 250), rng.integers(1, 12), rng.integers(2, 5)
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.3, 3)
    y = (np.abs(X[:, 0] + rng.normal(size=n_rows)) * 1.7).astype(int) % n_classes
    y[:n_classes] = np.arange(n_classes)
    params = {
        "kernel": rng.choice(["linear", "poly", "rbf"]),
        "C": float(10 ** rng.uniform(-2, 1.5)),
        "gamma": float(10 ** rng.uniform(-2, 0)),
        "degree": 2,
        "coef0": 1.0,
    }
    if params["kernel"] == "poly":  # its values are large: LIBSVM would take minutes
        params |= {"gamma": 1 / (n_columns * X.var()), "C": 1.0}
    weight = weights(n_rows) if seed % 2 else None
    ours = SVC(tol=1e-4, **params).fit(X, y, sample_weight=weight)
    theirs = svm.SVC(tol=1e-4, **params).fit(X, y, sample_weight=weight)
    found = dual_objective(theirs, X, ours.kernel_)
    assert np.atleast_1d(ours.dual_objective_) == pytest.approx(found, rel=1e-4, abs=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
    numbers = X[:, 0] + rng.normal(size=n_rows)
    ours = SVR(tol=1e-4, epsilon=0.2, **params).fit(X, numbers, sample_weight=weight)
    theirs = svm.SVR(tol=1e-4, epsilon=0.2, **params).fit(X, numbers, sample_weight=weight)
    found = dual_objective(theirs, X, ours.kernel_, 0.2, numbers)[0]
    assert ours.dual_objective_ == pytest.approx(found, rel=1e-4, abs=1e-9)


# --------------------------------------------------------------------------- scikit-learn's tools


def grid(machine):
    """The search of the course: StandardScaler and a machine, C and gamma, three kinds of kernel."""
    steps = Pipeline([("scale", StandardScaler()), ("svm", machine)])
    numbers = 10.0 ** np.arange(-4, 4)
    return GridSearchCV(
        steps,
        [
            {"svm__kernel": ["linear"], "svm__C": numbers[::2]},
            {"svm__kernel": ["rbf"], "svm__C": numbers[::2], "svm__gamma": numbers[::2]},
            {
                "svm__kernel": ["poly"],
                "svm__degree": [2, 3, 4, 5],
                "svm__C": numbers[::3],
                "svm__gamma": [0.1],
            },
        ],
        cv=3,
    )


def test_the_grid_search_reaches_scikit_learns_best_score():
    """Score by score; the whole search is in tests/sources/test_svm_uses.py."""
    X, y = load_iris(return_X_y=True)
    ours, theirs = grid(SVC()).fit(X, y), grid(svm.SVC()).fit(X, y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    differences = ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]
    assert np.abs(differences).max() < 0.02


def test_pipelines_and_cross_validation_take_it():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(make_pipeline(StandardScaler(), SVC()), X, y, cv=5)
    assert scores == pytest.approx(cross_val_score(make_pipeline(StandardScaler(), svm.SVC()), X, y, cv=5))
    K = X @ X.T
    given = cross_val_score(SVC(kernel="precomputed"), K, y, cv=5)
    assert given == pytest.approx(cross_val_score(SVC(kernel="linear"), X, y, cv=5))
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(SVR(), X[:, 1:], X[:, 0], cv=folds).mean() > 0.8
