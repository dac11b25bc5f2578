"""METHODS.md, section 6: margins, the hinge form and kernels of support vector machines, check by check."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn import svm as peers
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from support.machines import heaps, libsvm_objective

import weald
from weald import SVC
from weald.errors import DataError
from weald.kernels import RBF, Laplacian, Spectrum

RNG = np.random.default_rng(0)


# --------------------------------------------------------------------------- hard margin


def widest_margin(A, B):
    """The margin between two sets of points of the plane, of all lines that two or three of them fix."""
    directions = [b - a for a in A for b in B]
    for same in (A, B):
        directions += [np.array([-(p - q)[1], (p - q)[0]]) for p, q in itertools.combinations(same, 2)]
    units = [w / np.linalg.norm(w) for w in directions if np.linalg.norm(w) > 0]
    return max(abs_margin(A, B, w) for w in units)


def abs_margin(A, B, w):
    return max((B @ w).min() - (A @ w).max(), (A @ w).min() - (B @ w).max())


@pytest.mark.parametrize("seed", range(12))
def test_hard_margin_is_the_widest_of_brute_force(seed):
    X, y = heaps(16, gap=3.0, seed=seed)
    model = SVC(kernel="linear", C=np.inf, tol=1e-7).fit(X, y)
    want = widest_margin(X[y < 0], X[y > 0])
    assert want > 0
    assert model.margin_width_ == pytest.approx(want, rel=1e-5)
    assert model.margin_width_ == pytest.approx(2 / np.linalg.norm(model.coef_), rel=1e-6)
    assert (y * model.decision_function(X)).min() == pytest.approx(1, abs=1e-4)


def test_hard_margin_that_is_not_there_names_the_soft_one():
    X, y = heaps(gap=0.3)
    with pytest.raises(DataError, match=r"not separable.*[Ss]oft margin"):
        SVC(kernel="linear", C=np.inf).fit(X, y)


# --------------------------------------------------------------------------- soft margin


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_alpha_tells_on_which_side_of_the_margin_a_row_lies(kernel, C):
    X, y = heaps(gap=0.8)
    model = SVC(C=C, kernel=kernel, tol=1e-6).fit(X, y)
    margin, alpha = model.functional_margin_, model.alpha_
    np.testing.assert_allclose(margin, y * model.decision_function(X), atol=1e-8)
    none, full = alpha == 0, alpha == C
    free = ~none & ~full
    assert (margin[none] >= 1 - 1e-4).all()
    assert (margin[full] <= 1 + 1e-4).all()
    np.testing.assert_allclose(margin[free], 1, atol=1e-4)
    assert ((alpha >= 0) & (alpha <= C)).all()
    assert alpha @ y == pytest.approx(0, abs=1e-8 * C)
    assert full.any()
    assert set(model.support_.tolist()) == set(np.flatnonzero(alpha).tolist())


def test_slack_above_one_is_the_wrong_side():
    X, y = heaps(gap=0.6)
    model = SVC(kernel="linear").fit(X, y)
    wrong = model.predict(X) != y
    assert wrong.any()
    np.testing.assert_array_equal(model.slack_ > 1, wrong)
    np.testing.assert_allclose(model.slack_, np.maximum(0, 1 - y * model.decision_function(X)), atol=1e-8)


def test_everything_is_readable_and_agrees():
    X, y = heaps(gap=0.8)
    C = 2.0
    model = SVC(C=C, kernel="linear", tol=1e-7).fit(X, y)
    w, b, alpha = model.coef_[0], model.intercept_[0], model.alpha_
    np.testing.assert_allclose(w, (alpha * y) @ X, atol=1e-8)
    free = (alpha > 0) & (alpha < C)
    assert b == pytest.approx(np.mean(y[free] - X[free] @ w), abs=1e-6)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.geometric_margin_, model.functional_margin_ / np.linalg.norm(w))
    assert model.total_slack_ == pytest.approx(model.slack_.sum())
    assert model.primal_objective_ == pytest.approx(0.5 * w @ w + C * model.slack_.sum())
    assert model.dual_objective_ == pytest.approx(alpha.sum() - 0.5 * w @ w)


# Not of "sigmoid", which is no kernel in Mercer's sense there: its problem has many minima.
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_objective_is_libsvms(kernel, C):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:300]
    y = y[:300]
    ours = SVC(C=C, kernel=kernel).fit(X, y)
    theirs = peers.SVC(C=C, kernel=kernel).fit(X, y)
    K = np.asarray(ours.kernel_(X, X))
    want = libsvm_objective(theirs, K, lambda signed: -np.abs(signed).sum())
    assert -ours.dual_objective_ == pytest.approx(want, rel=1e-4)
    want = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), want, atol=1e-3 * np.abs(want).max())


def test_a_row_beyond_the_margin_may_move_on_its_side():
    X, y = heaps(gap=1.5)
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)
    row = int(np.argmax(model.functional_margin_))
    assert model.alpha_[row] == 0
    moved = X.copy()
    moved[row] += 7 * y[row] * model.coef_[0] / np.linalg.norm(model.coef_) + [0.3, -0.3]
    again = SVC(kernel="linear", tol=1e-8).fit(moved, y)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-5)
    np.testing.assert_allclose(again.intercept_, model.intercept_, atol=1e-5)


def test_one_outlier_turns_the_line_if_it_costs_a_million_and_not_if_it_costs_one():
    # Two lines of rows, and one row of the right class close to the left line.
    up = np.linspace(-0.1, 0.1, 30)
    X = np.concatenate([np.stack([np.full(30, at), up], axis=1) for at in (-0.2, 0.2)])
    y = np.repeat([-1, 1], 30)
    with_outlier = np.vstack([X, [-0.17, 0.16]]), np.append(y, 1)

    def turned(C):
        before = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y).coef_[0]
        after = SVC(kernel="linear", C=C, tol=1e-6).fit(*with_outlier).coef_[0]
        cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
        return np.degrees(np.arccos(np.clip(cosine, -1, 1)))

    assert turned(1.0) < 5
    assert turned(1e6) > 45


def test_the_cost_of_the_source_is_twice_ours():
    """min ‖w‖² + C Σ ξ, without the ½, has the solution of ½‖w‖² + (C/2) Σ ξ: no other w does better."""
    X, y = heaps(gap=0.8)
    C = 3.0
    model = SVC(kernel="linear", C=C / 2, tol=1e-8).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]

    def source(w, b):
        return w @ w + C * np.maximum(0, 1 - y * (X @ w + b)).sum()

    best = source(w, b)
    assert best == pytest.approx(2 * model.primal_objective_)
    for _ in range(200):
        assert source(w + 0.1 * RNG.normal(size=2), b + 0.1 * RNG.normal()) >= best - 1e-6


# --------------------------------------------------------------------------- hinge form


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_hinge_loss_plus_penalty_reaches_the_dual_objective(C):
    X, y = heaps(gap=0.8)
    tol = 1e-6
    model = SVC(kernel="linear", C=C, tol=tol).fit(X, y)
    w, penalty = model.coef_[0], 1 / (2 * C)
    hinge = np.maximum(0, 1 - y * model.decision_function(X)).sum() + penalty * w @ w
    assert C * hinge == pytest.approx(model.primal_objective_, rel=1e-9)
    assert model.duality_gap_ >= -1e-9
    assert model.duality_gap_ < tol * len(X) * C
    assert model.kkt_gap_ <= tol


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_primal_machine_reaches_the_same_objective(C):
    X, y = heaps(gap=0.8)
    dual = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    primal = weald.LinearSVC(loss="hinge", C=C, intercept_scaling="free", tol=1e-8, max_iter=100_000).fit(
        X, y
    )
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-4)
    np.testing.assert_allclose(primal.intercept_, dual.intercept_, atol=1e-4)


# --------------------------------------------------------------------------- kernels


def ellipse(n=400):
    X = np.random.default_rng(3).uniform(-2, 2, size=(n, 2))
    value = (X[:, 0] / 1.5) ** 2 + X[:, 1] ** 2
    kept = np.abs(value - 1) > 0.15
    return X[kept], np.where(value[kept] < 1, 1, -1)


def test_an_ellipse_is_separated_in_other_columns():
    X, y = ellipse()
    assert SVC(kernel="linear", C=100).fit(X, y).score(X, y) < 0.8
    with pytest.raises(DataError, match="not separable"):
        SVC(kernel="linear", C=np.inf).fit(X, y)
    squares = X**2
    assert SVC(kernel="linear", C=np.inf).fit(squares, y).score(squares, y) == 1
    raised = np.column_stack([X, np.exp(-(X**2).sum(axis=1))])
    assert SVC(kernel="linear", C=1e4).fit(raised, y).score(raised, y) > 0.95
    for kernel in ("rbf", "poly"):
        assert SVC(kernel=kernel, degree=2, C=1e3).fit(X, y).score(X, y) > 0.97


def test_a_circle_is_separated_by_a_bell_above_it():
    """(x1, x2, e^(-‖x‖²)): the third column alone tells the inside of a circle."""
    X = np.random.default_rng(4).uniform(-2, 2, size=(300, 2))
    radius = np.hypot(*X.T)
    X, y = X[np.abs(radius - 1.2) > 0.1], np.where(radius[np.abs(radius - 1.2) > 0.1] < 1.2, 1, -1)
    raised = np.column_stack([X, np.exp(-(X**2).sum(axis=1))])
    with pytest.raises(DataError, match="not separable"):
        SVC(kernel="linear", C=np.inf).fit(X, y)
    assert SVC(kernel="linear", C=np.inf).fit(raised, y).score(raised, y) == 1


def test_every_kernel_by_its_name():
    X = RNG.random((80, 4))
    y = (X[:, 0] > X[:, 1]).astype(int)
    named = {
        "linear": lambda A, B: A @ B.T,
        "poly": lambda A, B: (0.5 * A @ B.T + 1.0) ** 3,
        "rbf": lambda A, B: np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(-1)),
        "sigmoid": lambda A, B: np.tanh(0.5 * A @ B.T + 1.0),
        "laplacian": lambda A, B: np.exp(-0.5 * np.abs(A[:, None] - B).sum(-1)),
        "chi2": lambda A, B: np.exp(-0.5 * ((A[:, None] - B) ** 2 / (A[:, None] + B)).sum(-1)),
        "intersection": lambda A, B: np.minimum(A[:, None], B).sum(-1),
    }
    for name, formula in named.items():
        ours = SVC(kernel=name, gamma=0.5, coef0=1.0, tol=1e-6).fit(X, y)
        called = SVC(kernel=formula, tol=1e-6).fit(X, y)
        given = SVC(kernel="precomputed", tol=1e-6).fit(formula(X, X), y)
        want = ours.decision_function(X[:20])
        np.testing.assert_allclose(called.decision_function(X[:20]), want, atol=1e-4)
        np.testing.assert_allclose(given.decision_function(formula(X[:20], X)), want, atol=1e-4)


def test_gaussian_by_sigma():
    X, y = heaps()
    by_sigma = SVC(sigma=1.7).fit(X, y)
    assert by_sigma.kernel_ == RBF(1 / (2 * 1.7**2))
    np.testing.assert_array_equal(
        by_sigma.decision_function(X), SVC(gamma=1 / (2 * 1.7**2)).fit(X, y).decision_function(X)
    )


def test_string_kernel_tells_texts_apart():
    words = {
        "de": ["schule", "strasse", "nacht", "licht", "recht", "mensch"],
        "it": ["notte", "luce", "gatto", "sette"],
    }
    texts = [f"{word}{i}" for label in words for word in words[label] for i in range(3)]
    y = [label for label in words for _ in words[label] for _ in range(3)]
    model = SVC(kernel=Spectrum(length=2)).fit(texts, y)
    assert model.score(texts, y) == 1
    assert model.predict(["macht", "otto"]).tolist() == ["de", "it"]
    K = Spectrum(length=2)(texts)
    given = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), model.decision_function(texts), atol=1e-3)


def test_mercer_check_tells_which_matrix_is_none_and_by_how_much():
    X = RNG.normal(size=(50, 3))
    assert weald.check_mercer("rbf", X)
    assert weald.check_mercer(Laplacian(0.3) * RBF(0.1) + 1.0, X)
    report = weald.check_mercer("sigmoid", 3 * X)
    K = weald.kernels.Sigmoid()(3 * X)
    assert not report
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(K)[0])
    assert report.ratio == pytest.approx(-np.linalg.eigvalsh(K)[0] / np.abs(np.linalg.eigvalsh(K)).max())
    assert "negative" in str(report)
