"""Linear machines beside scikit-learn's (LIBLINEAR), beside a plain optimiser, and under its contract."""

import warnings

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import LinearSVC, LinearSVR
from weald.testing import expected_failed_checks

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC("l1"),
    LinearSVC(dual=True, random_state=0),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(scale=True, intercept_scaling="free"),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
]


# The dual is descended in at most `max_iter` passes, of which some checks leave one.
@pytest.mark.filterwarnings("ignore:.*did not converge:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)


def classes(n=400, seed=0):
    X, y = make_classification(n, 12, n_informative=6, flip_y=0.1, random_state=seed)
    return X, y, np.random.default_rng(seed).uniform(0.2, 2.0, n)


def objective(model, X, y, weight, *, C, loss, penalty="l2", scaling=1.0):
    """The objective of LIBLINEAR: the intercept is one more weight."""
    z = np.maximum(0.0, 1.0 - np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X))
    w = np.append(model.coef_[0], model.intercept_ / scaling)
    size = 0.5 * w @ w if penalty == "l2" else np.abs(w).sum()
    return size + C * weight @ (z if loss == "hinge" else z**2)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(
    ("penalty", "loss"), [("l2", "hinge"), ("l2", "squared_hinge"), ("l1", "squared_hinge")]
)
def test_the_objective_is_liblinears(penalty, loss, C, as_sparse):
    X, y, weight = classes()
    X = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0)) if as_sparse else X
    ours = LinearSVC(penalty, loss, C=C, intercept_scaling=2.0, max_iter=20000).fit(X, y, weight)
    theirs = svm.LinearSVC(
        penalty,
        loss,
        C=C,
        intercept_scaling=2.0,
        dual=loss == "hinge",
        tol=1e-7,
        max_iter=500_000,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(X, y, weight)
    mine = objective(ours, X, y, weight, C=C, loss=loss, penalty=penalty, scaling=2.0)
    assert mine == pytest.approx(ours.primal_objective_, rel=1e-9)
    best = objective(theirs, X, y, weight, C=C, loss=loss, penalty=penalty, scaling=2.0)
    assert mine <= best * (1 + 1e-4)
    assert not ours.duality_gap_ > 1e-3 * mine


@pytest.mark.parametrize("dual", ["auto", True])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_numbers_are_liblinears(loss, dual):
    X, y = make_regression(300, 8, noise=4.0, random_state=2)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, 300)
    ours = LinearSVR(loss=loss, epsilon=1.0, C=0.5, dual=dual, max_iter=50_000).fit(X, y, weight)
    theirs = svm.LinearSVR(
        loss=loss, epsilon=1.0, C=0.5, dual=True, tol=1e-8, max_iter=500_000, random_state=0
    )
    theirs.fit(X, y, weight)

    def cost(model):
        over = np.maximum(0.0, np.abs(y - model.predict(X)) - 1.0)
        w = np.append(model.coef_, model.intercept_)
        return 0.5 * w @ w + 0.5 * weight @ (over if loss == "epsilon_insensitive" else over**2)

    assert cost(ours) == pytest.approx(cost(theirs), rel=1e-4)
    assert cost(ours) == pytest.approx(ours.primal_objective_, rel=1e-9)
    assert np.allclose(ours.coef_, theirs.coef_, atol=0.02 * np.abs(theirs.coef_).max())


def test_a_free_intercept_is_that_of_a_plain_optimiser():
    X, y, weight = classes(150)
    X = X + 3.0
    ours = LinearSVC(C=2.0, intercept_scaling="free").fit(X, y, weight)
    s = np.where(y == 1, 1.0, -1.0)

    def cost(v):
        z = np.maximum(0.0, 1.0 - s * (X @ v[:-1] + v[-1]))
        slope = -2.0 * 2.0 * weight * z * s
        return 0.5 * v[:-1] @ v[:-1] + 2.0 * weight @ z**2, np.append(v[:-1] + X.T @ slope, slope.sum())

    best = optimize.minimize(cost, np.zeros(13), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    assert np.allclose(ours.coef_[0], best[:-1], atol=1e-5)
    assert ours.intercept_[0] == pytest.approx(best[-1], abs=1e-4)


def test_a_free_intercept_and_the_hinge_are_svc():
    X, y, _ = classes(200)
    ours = LinearSVC(loss="hinge", intercept_scaling="free", tol=1e-8).fit(X, y)
    theirs = svm.SVC(kernel="linear", tol=1e-8).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = LinearSVC(multi_class=multi_class, C=0.3, tol=1e-6, max_iter=100_000).fit(X, y)
    theirs = svm.LinearSVC(multi_class=multi_class, C=0.3, tol=1e-8, max_iter=1_000_000, random_state=0)
    theirs.fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.02)
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.99


def test_scikit_learns_tools():
    X, y, _ = classes()
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.01, 1.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.7
    shares = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y).predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1.0)
