"""`LogisticRegression` against scikit-learn's: objectives not above, the same weights, its contract."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.logistic import objective
from weald import LogisticRegression
from weald.testing import expected_failed_checks

ESTIMATORS = [
    LogisticRegression(),
    LogisticRegression(l1_ratio=1.0, multi_class="ovr", tol=1e-8),
    LogisticRegression(l1_ratio=0.5, scale=True),
    LogisticRegression(solver="liblinear", class_weight="balanced"),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_contract(estimator, check):
    check(estimator)


def made(n_classes, as_sparse):
    random = np.random.default_rng(5)
    X = random.standard_normal((400, 7))
    X[:, 3] = X[:, 2] + 0.3 * random.standard_normal(400)
    y = np.argmax(X @ random.standard_normal((7, n_classes)) + random.gumbel(size=(400, n_classes)), axis=1)
    return (sparse.csr_array(np.where(np.abs(X) < 0.3, 0, X)) if as_sparse else X), y


@pytest.mark.parametrize(
    ("solver", "C", "l1_ratio"),
    [
        ("lbfgs", 1.0, 0.0),
        ("lbfgs", 1e3, 0.0),
        ("lbfgs", np.inf, 0.0),
        ("newton-cholesky", 0.01, 0.0),
        ("saga", 1.0, 1.0),
        ("saga", 0.1, 0.4),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_objectives_are_not_above(solver, C, l1_ratio, n_classes, as_sparse):
    X, y = made(n_classes, as_sparse)
    weight = np.random.default_rng(0).random(400) + 0.5
    options = {"solver": solver, "C": C, "l1_ratio": l1_ratio, "tol": 1e-9, "max_iter": 3000}
    ours = LogisticRegression(**options).fit(X, y, weight)
    theirs = Theirs(**options, random_state=0).fit(X, y, weight)
    given = {"C": C, "l1_ratio": l1_ratio, "weight": weight}
    best = objective(X, y, theirs.coef_, theirs.intercept_, **given)
    assert objective(X, y, ours.coef_, ours.intercept_, **given) <= best * (1 + 1e-10)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    shares, other = ours.predict_proba(X), theirs.predict_proba(X)
    np.testing.assert_allclose(shares, other, atol=1e-4)
    if l1_ratio < 1 and not np.isinf(C):
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_liblinear_sees_the_intercept(l1_ratio):
    X, y = made(2, as_sparse=False)
    options = {"solver": "liblinear", "l1_ratio": l1_ratio, "intercept_scaling": 2.0, "tol": 1e-8}
    ours, theirs = LogisticRegression(**options).fit(X, y), Theirs(**options, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_balanced_classes_with_weights():
    X, y = made(3, as_sparse=False)
    weight = np.random.default_rng(0).random(400) + 0.5
    options = {"class_weight": "balanced", "tol": 1e-9, "max_iter": 1000}
    ours, theirs = LogisticRegression(**options).fit(X, y, weight), Theirs(**options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
