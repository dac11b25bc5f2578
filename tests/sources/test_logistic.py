"""METHODS section 10, "logistic regression": gradient norm at most tol; objective at most scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

from tests.reference.logistic import gradient, objective
from weald import LogisticRegression

TABLES = {"breast cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine, "digits": load_digits}


@pytest.mark.parametrize("name", TABLES)
def test_gradient_and_objective(name):
    X, y = TABLES[name](return_X_y=True)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    ours = LogisticRegression(tol=1e-6).fit(X, y)
    assert gradient(X, y, ours.coef_, ours.intercept_) <= 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = Theirs(tol=1e-8, max_iter=500).fit(X, y)
    best = objective(X, y, theirs.coef_, theirs.intercept_)
    assert objective(X, y, ours.coef_, ours.intercept_) <= best * (1 + 1e-9)


def test_the_loss_of_two_classes():
    """C Σ log(1 + e^{−y f}) + ½ ‖w‖², with y = ±1, of a fit by hand: one column, no intercept."""
    X, y = np.array([[1.0], [2.0], [-1.0], [0.5]]), np.array([1, 1, -1, -1])
    model = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-10).fit(X, y)
    w = np.linspace(model.coef_[0, 0] - 0.1, model.coef_[0, 0] + 0.1, 2001)
    values = 3 * np.log1p(np.exp(-y[:, None] * X * w)).sum(axis=0) + w**2 / 2
    assert abs(w[np.argmin(values)] - model.coef_[0, 0]) <= 1e-4
    assert model.objective_ == pytest.approx(values.min(), rel=1e-9)
