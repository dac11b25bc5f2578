"""METHODS.md, section 6: regression, classes, probabilities, landmarks, scaling, advice, check by check."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import svm as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.machines import heaps, libsvm_objective
from support.tables import data_file

import weald
from weald import SVC, SVR
from weald.errors import ScaleWarning
from weald.kernels import ChiSquared, Intersection
from weald.svm.solver_choice import choose_solver

RNG = np.random.default_rng(0)


# --------------------------------------------------------------------------- regression


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_regression_objective_is_libsvms(kernel, epsilon):
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:200], (y[:200] - y.mean()) / y.std()
    ours = SVR(kernel=kernel, epsilon=epsilon).fit(X, y)
    theirs = peers.SVR(kernel=kernel, epsilon=epsilon).fit(X, y)
    K = np.asarray(ours.kernel_(X, X))
    want = libsvm_objective(theirs, K, lambda signed: epsilon * np.abs(signed).sum() - y @ signed)
    assert -ours.dual_objective_ == pytest.approx(want, rel=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=0.01)


def test_errors_within_epsilon_cost_nothing():
    x = np.linspace(0, 6, 60)[:, None]
    y = np.sin(x[:, 0]) + 0.05 * RNG.normal(size=60)
    model = SVR(C=10, epsilon=0.2, tol=1e-6).fit(x, y)
    error = np.abs(y - model.predict(x))
    np.testing.assert_allclose(model.slack_, np.maximum(0, error - 0.2), atol=1e-6)
    inside = np.flatnonzero(error < 0.2 - 1e-3)
    assert not set(inside.tolist()) & set(model.support_.tolist())


# --------------------------------------------------------------------------- several classes


def test_one_against_one_is_scikit_learns():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = SVC(decision_function_shape="ovo").fit(X, y)
    theirs = peers.SVC(decision_function_shape="ovo").fit(X, y)
    assert ours.decision_function(X).shape == (178, 3)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.01)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_one_against_the_rest_is_a_machine_a_class():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = SVC(multi_class="ovr", tol=1e-6).fit(X, y)
    for k in range(3):
        machine = SVC(tol=1e-6).fit(X, y == k)
        np.testing.assert_allclose(ours.decision_function(X)[:, k], machine.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), ours.decision_function(X).argmax(axis=1))


def test_the_grid_search_of_the_source_runs_unchanged():
    X, y = load_iris(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
    pipe_svc = make_pipeline(StandardScaler(), SVC(random_state=1))
    param_range = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    param_grid = [
        {"svc__C": param_range, "svc__kernel": ["linear"]},
        {"svc__C": param_range, "svc__gamma": param_range, "svc__kernel": ["rbf"]},
        {"svc__C": param_range, "svc__degree": [2, 3, 4, 5], "svc__kernel": ["poly"]},
    ]
    gs = GridSearchCV(estimator=pipe_svc, param_grid=param_grid, scoring="accuracy", cv=10)
    gs = gs.fit(X_train, y_train)
    assert gs.best_score_ == pytest.approx(peer_score(X_train, y_train, param_grid), abs=1e-9)
    clf = gs.best_estimator_
    clf.fit(X_train, y_train)
    assert clf.score(X_train, y_train) > 0.95


def peer_score(X, y, grid):
    """The best score of scikit-learn's machine in the same search, without the search's own work."""
    scores = {}
    for train, test in StratifiedKFold(10).split(X, y):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for params in ParameterGrid(grid):
            model = peers.SVC(**{name.removeprefix("svc__"): value for name, value in params.items()})
            scores.setdefault(str(params), []).append(np.mean(model.fit(A, y[train]).predict(B) == y[test]))
    return max(map(np.mean, scores.values()))


# --------------------------------------------------------------------------- probabilities


def test_probabilities_are_there_when_asked_and_calibrated_on_held_out_rows():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.4, stratify=y, random_state=0)
    assert not hasattr(SVC(scale=True).fit(X[train], y[train]), "predict_proba")
    model = SVC(scale=True, probability=True, random_state=0).fit(X[train], y[train])
    shares = model.predict_proba(X[test])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X[test]))
    brier = np.mean((shares[:, 1] - y[test]) ** 2)
    assert brier < 0.04
    # The same decision values calibrated on the training rows themselves would be far too sure.
    assert abs(shares[:, 1].mean() - y[test].mean()) < 0.05


# --------------------------------------------------------------------------- landmarks


def test_all_rows_as_landmarks_are_the_exact_machine():
    X, y = heaps(120, gap=0.7, d=3)
    options = {"gamma": 0.5, "tol": 1e-9}
    exact = SVC(solver="exact", **options).fit(X, y)
    landmarks = SVC(solver="landmarks", n_landmarks=len(X), **options).fit(X, y)
    new = RNG.normal(size=(200, 3))
    np.testing.assert_allclose(landmarks.decision_function(new), exact.decision_function(new), atol=1e-6)


def test_a_linear_machine_on_all_landmarks_is_the_exact_machine():
    X, y = heaps(120, gap=0.7, d=3)
    exact = SVC(solver="exact", gamma=0.5, tol=1e-9).fit(X, y)
    linear = weald.LinearSVC(loss="hinge", intercept_scaling="free", tol=1e-9, max_iter=100_000)
    model = make_pipeline(weald.Landmarks(1.0, gamma=0.5), linear).fit(X, y)
    new = RNG.normal(size=(200, 3))
    np.testing.assert_allclose(model.decision_function(new), exact.decision_function(new), atol=1e-6)


def test_five_percent_landmarks_are_within_one_percent_on_real_data():
    table = pd.read_csv(data_file("phoneme.csv.gz"))
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    train, test = train_test_split(np.arange(len(y)), test_size=0.4, stratify=y, random_state=0)
    exact = SVC(scale=True, solver="exact").fit(X.iloc[train], y.iloc[train])
    landmarks = SVC(scale=True, solver="landmarks", n_landmarks=len(train) // 20, random_state=0)
    landmarks.fit(X.iloc[train], y.iloc[train])
    scores = [model.score(X.iloc[test], y.iloc[test]) for model in (exact, landmarks)]
    assert scores[1] > scores[0] - 0.01


# --------------------------------------------------------------------------- scaling


@pytest.mark.filterwarnings("ignore::weald.errors.ScaleWarning")
def test_with_scale_a_column_in_other_units_changes_nothing():
    X, y = heaps(gap=0.8, d=3)
    units = X * [1.0, 1024.0, 2.0**-20]
    for model in (SVC(scale=True), SVC(scale=True, kernel="laplacian")):
        want = model.fit(X, y).decision_function(X)
        np.testing.assert_array_equal(model.fit(units, y).decision_function(units), want)
    assert (
        np.abs(SVC().fit(units, y).decision_function(units) - SVC().fit(X, y).decision_function(X)).max()
        > 0.1
    )


def test_scale_is_off_by_default_and_divides_by_the_maximum_for_kernels_of_shares():
    X, y = heaps()
    counts = np.round(10 * np.abs(X)) + 1
    assert SVC().scale is False
    np.testing.assert_array_equal(SVC().fit(X, y).support_vectors_.max(), X[SVC().fit(X, y).support_].max())
    for kernel in (ChiSquared(), Intersection()):
        vectors = SVC(kernel=kernel, scale=True).fit(counts, y).support_vectors_
        assert vectors.min() > 0
        assert vectors.max() <= 1


def test_scale_does_not_centre_sparse_rows():
    X, y = heaps(d=3)
    X[np.abs(X) < 1] = 0
    vectors = SVC(scale=True).fit(sparse.csr_array(X), y).support_vectors_
    assert sparse.issparse(vectors)
    assert vectors.nnz < 0.8 * np.prod(vectors.shape)


def test_spreads_a_hundredfold_apart_give_a_hint():
    X, y = heaps(d=2)
    SVC().fit(X * [1, 50], y)
    with pytest.warns(ScaleWarning, match="scale=True"):
        SVC().fit(X * [1, 500], y)
    SVC(scale=True).fit(X * [1, 500], y)


# --------------------------------------------------------------------------- which machine


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "linear", "solver", "words"),
    [
        (100, 5000, False, "exact", "kernel='linear' is likely to do as well"),
        (10_000, 50, False, "exact", "the exact machine is the rule"),
        (50_000, 1000, False, "exact", "the exact machine is the rule"),
        (20_000, 3000, False, "exact", "more than 1,000 columns: kernel='linear'"),
        (50_001, 50, False, "landmarks", "LinearSVC"),
        (500_000, 50, True, "linear", "The kernel is linear"),
    ],
)
def test_advice_from_rows_and_columns(n_rows, n_columns, linear, solver, words):
    choice = choose_solver(
        "auto", n_rows=n_rows, n_columns=n_columns, cache_bytes=10**9, linear=linear, given=False
    )
    assert choice.solver == solver
    assert words in choice.reason


def test_a_machine_says_what_was_decided_and_why():
    X, y = heaps()
    model = SVC().fit(X, y)
    assert model.solver_ == "exact"
    assert "60 rows and 2 columns" in model.solver_reason_
