"""`SVR`: the tube, its conditions of optimality, weights, kernels, and what can be read of a fitted one."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from unit.estimators.svm.kernel.data import waves

from weald import SVR, LinearSVR
from weald.errors import DataError, ParameterError


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_the_conditions_of_optimality_hold(C, epsilon):
    X, y = waves()
    model = SVR(C=C, epsilon=epsilon, tol=1e-6).fit(X, y)
    alpha, error = model.alpha_, y - model.predict(X)
    assert alpha.shape == (80, 2)
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert (alpha[:, 0] * alpha[:, 1] == 0).all()
    c = alpha[:, 0] - alpha[:, 1]
    assert c.sum() == pytest.approx(0, abs=1e-9)
    assert (np.abs(error[c == 0]) <= epsilon + 1e-5).all()
    assert (np.sign(c) * error)[(c != 0) & (np.abs(c) < C)] == pytest.approx(epsilon, abs=1e-5)
    assert ((np.sign(c) * error)[np.abs(c) == C] >= epsilon - 1e-5).all()
    assert model.slack_ == pytest.approx(np.maximum(0, np.abs(error) - epsilon), abs=1e-5)
    assert model.slack(X, y) == pytest.approx(model.slack_, abs=1e-5)
    norm = 2 / model.margin_width_
    assert model.primal_objective_ == pytest.approx(norm**2 / 2 + C * model.total_slack_)
    assert 0 <= model.duality_gap_ <= 1e-4 * model.primal_objective_
    assert np.array_equal(model.support_, np.flatnonzero(c))
    assert model.dual_coef_[0] == pytest.approx(c[c != 0])


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_predictions_are_scikit_learns(kernel):
    X, y = waves()
    weight = np.random.default_rng(0).random(80) + 0.1
    ours, theirs = (kind(kernel=kernel, tol=1e-7, C=2.0).fit(X, y, weight) for kind in (SVR, svm.SVR))
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-4)
    assert np.array_equal(ours.support_, theirs.support_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-3)
    assert ours.n_support_.shape == theirs.n_support_.shape
    assert isinstance(ours.n_iter_, int)
    if kernel == "linear":
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)


def test_a_tube_that_holds_all_rows_needs_no_support():
    X, y = waves()
    model = SVR(epsilon=10.0).fit(X, y)
    assert len(model.support_) == 0
    assert np.ptp(model.predict(X)) == 0
    assert abs(model.predict(X)[0] - y).max() <= 10
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_tube_that_no_function_stays_in_is_told():
    X, y = waves()
    told = (
        r"hard margin, and the upper and lower edges of a tube of ±0\.01 around the rows "
        r"\(a larger epsilon moves them apart\) are not separable"
    )
    with pytest.raises(DataError, match=told):
        SVR(C=np.inf, epsilon=0.01, kernel="linear").fit(X, y)
    assert SVR(C=np.inf, epsilon=10.0, kernel="linear").fit(X, y).fit_status_ == 0


def test_c_of_a_linear_machine_is_finite():
    X, y = waves()
    with pytest.raises(
        ParameterError, match=r"number above 0, and finite; got inf.*SVR\(kernel='linear', C=inf"
    ):
        LinearSVR(C=np.inf).fit(X, y)


def test_rows_of_weight_zero_are_absent():
    X, y = waves()
    weight = np.arange(80) % 3 > 0
    whole, part = SVR().fit(X, y, sample_weight=weight), SVR().fit(X[weight], y[weight])
    assert np.array_equal(whole.predict(X), part.predict(X))
    assert np.array_equal(whole.support_, np.flatnonzero(weight)[part.support_])


def test_sparse_rows_and_given_kernels_give_the_same_numbers():
    X, y = waves()
    X[np.abs(X) < 0.5] = 0
    model = SVR(kernel="linear", tol=1e-6).fit(X, y)
    thin = SVR(kernel="linear", tol=1e-6).fit(sparse.csc_matrix(X), y)
    given = SVR(kernel="precomputed", tol=1e-6).fit(X @ X.T, y)
    assert thin.predict(X) == pytest.approx(model.predict(X), abs=1e-4)
    assert given.predict(X @ X.T) == pytest.approx(model.predict(X), abs=1e-4)


def test_the_model_does_not_depend_on_the_number_of_threads():
    X, y = waves(300)
    models = [SVR(n_jobs=n).fit(X, y) for n in (1, 2, 5)]
    for model in models[1:]:
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
        assert np.array_equal(model.predict(X), models[0].predict(X))
