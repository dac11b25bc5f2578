"""What code written for scikit-learn's machines relies on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.exceptions import NotFittedError
from unit.estimators.svm.kernel.data import blobs, waves

from weald import SVC, SVR, LinearSVC, LinearSVR
from weald.errors import DataError, ParameterError

X, Y = blobs(40)


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), SVR(kernel="linear")])
def test_rows_of_negative_weight_are_absent(machine):
    weight = np.ones(len(Y))
    weight[::3] = -0.5
    weighted = machine.fit(X, Y, sample_weight=weight)
    coef, rows = weighted.coef_.copy(), weighted.support_.copy()
    alone = machine.fit(X[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(coef, alone.coef_)
    assert set(rows) <= set(np.flatnonzero(weight > 0))


def test_weights_that_leave_no_rows_or_one_class_are_told():
    with pytest.raises(DataError, match="all samples have zero or negative weights"):
        SVC().fit(X, Y, sample_weight=np.full(len(Y), -1.0))
    with pytest.raises(DataError, match="all samples with positive weights belong to the same class"):
        SVC().fit(X, Y, sample_weight=np.where(Y == 0, -1.0, 1.0))


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_a_sparse_kernel_matrix_is_its_dense_copy(form):
    near = X @ X.T
    near[np.abs(near) < 1] = 0
    near += 40 * np.eye(len(near))
    dense = SVC(kernel="precomputed").fit(near, Y)
    thin = SVC(kernel="precomputed").fit(form(near), Y)
    np.testing.assert_array_equal(dense.dual_coef_, thin.dual_coef_)
    np.testing.assert_array_equal(dense.decision_function(near), thin.decision_function(form(near)))


def shared_letters(texts, others):
    assert isinstance(texts[0], str)
    return np.array([[sum(a.count(c) * b.count(c) for c in "AB") for b in others] for a in texts], float)


@pytest.mark.parametrize("kind", [SVC, SVR])
@pytest.mark.parametrize("form", [list, np.array, tuple])
def test_a_function_may_compare_texts(kind, form):
    texts = ["A A", "A", "B", "B B", "A B", "AAB"]
    counts = [[t.count("A"), t.count("B")] for t in texts]
    y = [1, 1, 2, 2, 1, 1]
    own = kind(kernel=shared_letters).fit(form(texts), y)
    linear = kind(kernel="linear").fit(counts, y)
    assert own.score(form(texts), y) == linear.score(counts, y)
    assert own.support_vectors_.tolist() == [texts[i] for i in own.support_]
    alone = np.concatenate([own.predict([text]) for text in texts])
    np.testing.assert_array_equal(alone, own.predict(texts))


@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVR()])
def test_weights_of_linear_machines_can_be_set(machine):
    machine.fit(X, Y)
    before = machine.predict(X)
    machine.coef_ = machine.coef_.copy()
    machine.intercept_ = machine.intercept_.copy()
    np.testing.assert_array_equal(machine.predict(X), before)
    machine.coef_ = np.zeros_like(machine.coef_)
    machine.intercept_ = [7.0]
    assert len(np.unique(machine.predict(X))) == 1
    with pytest.raises(DataError, match=r"`coef_` of this LinearSV. has the shape"):
        machine.coef_ = [[1.0]]
    with pytest.raises(DataError, match="finite"):
        machine.intercept_ = [np.nan]


@pytest.mark.parametrize("C", [1e10, 1e12])
def test_a_hard_tube_is_that_of_a_very_large_c(C):
    rows, numbers = waves(60)
    hard, large = SVR(C=np.inf).fit(rows, numbers), SVR(C=C).fit(rows, numbers)
    np.testing.assert_allclose(hard.predict(rows), large.predict(rows), rtol=1e-7)


def test_ties_are_refused_where_scores_of_classes_are_not_asked_for():
    rows, labels = blobs(30, 3)
    model = SVC(break_ties=True, decision_function_shape="ovo").fit(rows, labels)
    assert model.decision_function(rows).shape == (30, 3)
    with pytest.raises(ParameterError, match="break_ties must be False"):
        model.predict(rows)


def test_probabilities_follow_the_parameter():
    model = SVC(probability=False).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    model.probability = True
    assert hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X)


def test_coefficients_are_sparse_where_support_rows_are():
    rows = sparse.csr_array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    none = SVR(kernel="linear").fit(rows, [0.04, 0.04, 0.10, 0.16])
    assert not none.support_vectors_.data.size
    assert not none.dual_coef_.data.size
    some, theirs = SVC().fit(sparse.csr_matrix(X), Y), svm.SVC().fit(sparse.csr_matrix(X), Y)
    assert some.dual_coef_.shape == theirs.dual_coef_.shape
    assert sparse.issparse(some.dual_coef_)


def test_given_and_linear_kernels_agree_to_their_tolerance():
    given = SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, Y)
    linear = SVC(kernel="linear", tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(given.decision_function(X @ X.T), linear.decision_function(X), atol=1e-6)
