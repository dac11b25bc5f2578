"""Solvers of linear machines: each finds the least objective, whatever the loss, the penalty, the layout."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy import optimize, sparse

from weald.data.matrix.matrix import Matrix
from weald.engine.linear import linear_scores
from weald.svm.linear import solve_classes, solve_linear, solve_linears

SMOOTH = ("newton", "newton_products", "descent")
SOLVERS = {
    ("l2", False): ("interior", "descent"),
    ("l2", True): SMOOTH,
    ("l1", True): ("proximal", "coordinates"),
}


def rows(n=80, d=5, seed=0, *, share=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < share)
    score = X @ rng.normal(size=d) + 0.8 * rng.normal(size=n) + 0.4
    return X, np.where(score > 0, 1.0, -1.0), score, rng.uniform(0.2, 1.5, n)


def loss_of(z, squared):
    return z**2 if squared else z


def primal(X, y, C, coef, b, *, regression, squared, l1, epsilon, intercept, scaling=1.0):
    """The objective by its definition."""
    f = X @ coef + b
    z = np.maximum(0.0, np.abs(y - f) - epsilon if regression else 1.0 - y * f)
    v = np.append(coef, b / scaling) if intercept == "scaled" else coef
    return (np.abs(v).sum() if l1 else 0.5 * v @ v) + C @ loss_of(z, squared)


def least(X, y, C, *, regression, squared, l1, epsilon, intercept, scaling=1.0):
    """The least objective, by a general solver of quadratic programs in all variables (SLSQP)."""
    n = len(X)
    bias = {"scaled": scaling, "free": 1.0, "none": None}[intercept]
    A = X if bias is None else np.column_stack([X, np.full(n, bias)])
    width = A.shape[1]
    r = np.ones(width)
    if intercept == "free":
        r[-1] = 0.0
    # v = p − q with p, q ≥ 0 makes |v| smooth; slacks are variables of their own
    sign = np.concatenate([np.ones(n), -np.ones(n)]) if regression else y
    t = np.concatenate([y - epsilon, -y - epsilon]) if regression else np.ones(n)
    B, cost = (np.vstack([A, A]), np.concatenate([C, C])) if regression else (A, C)
    m = len(t)

    def value(x):
        p, q, z = x[:width], x[width : 2 * width], x[2 * width :]
        v = p - q
        size, slope = (r @ (p + q), r) if l1 else (0.5 * r @ v**2, r * v)
        gradient = np.concatenate([slope, slope if l1 else -slope, cost * (2 * z if squared else np.ones(m))])
        return size + cost @ loss_of(z, squared), gradient

    G = np.hstack([sign[:, None] * B, -sign[:, None] * B, np.eye(m)])
    start = np.concatenate([np.zeros(2 * width), np.maximum(t, 0.0) + 0.1])
    found = optimize.minimize(
        value,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * len(start),
        constraints={"type": "ineq", "fun": lambda x: G @ x - t, "jac": lambda x: G},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.fun


CASES = [
    (penalty, squared, regression, intercept)
    for (penalty, squared), regression, intercept in itertools.product(
        SOLVERS, (False, True), ("scaled", "free", "none")
    )
]


@pytest.mark.parametrize(("penalty", "squared", "regression", "intercept"), CASES)
def test_every_solver_finds_the_least_objective(penalty, squared, regression, intercept):
    X, y, number, C = rows(26, 3)
    target, epsilon = (number, 0.2) if regression else (y, 0.0)
    C = C * (0.4 if penalty == "l1" else 1.0)
    case = {
        "regression": regression,
        "squared": squared,
        "l1": penalty == "l1",
        "epsilon": epsilon,
        "intercept": intercept,
        "scaling": 2.0,
    }
    best = least(X, target, C, **case)
    name = "epsilon_insensitive" if regression else "hinge"
    for solver, layout in itertools.product(SOLVERS[penalty, squared], (np.asarray, sparse.csr_array)):
        found = solve_linear(
            Matrix.of(layout(X)),
            target,
            upper=C,
            loss=f"squared_{name}" if squared else name,
            penalty=penalty,
            epsilon=epsilon,
            intercept=intercept,
            intercept_scaling=2.0,
            tol=1e-7,
            max_iter=200_000,
            solver=solver,
        )
        assert found.converged, solver
        assert found.primal == pytest.approx(best, rel=1e-5, abs=1e-6), solver
        by_definition = primal(X, target, C, found.coef, found.intercept, **case)
        assert found.primal == pytest.approx(by_definition, rel=1e-12), solver
        assert -1e-9 <= found.primal - found.dual <= 2e-3 * best, solver
        if penalty == "l2" and intercept != "free":
            sign = np.ones(len(X)) if regression else target
            assert np.allclose(X.T @ (sign * found.alpha), found.coef, atol=1e-3), solver
            assert squared or (np.abs(found.alpha) <= C * (1 + 1e-12)).all(), solver


def hinge(X, y, C, **options):
    given = {"loss": "hinge", "penalty": "l2", "intercept": "scaled"} | options
    return solve_linear(Matrix.of(X), y, upper=C, **given)


@pytest.mark.parametrize("width", [3, 31, 127, 128, 140, 300])
@pytest.mark.parametrize("share", [1.0, 0.05])
def test_widths_of_every_tiling(width, share):
    """Gram matrices are taken by blocks, by tiles or by entries; all say the same as NumPy."""
    X, y, _, C = rows(500, width, share=share)
    layout = np.asarray if share == 1.0 else sparse.csr_array
    found = hinge(layout(X), y, C, loss="squared_hinge", solver="newton", tol=1e-8)
    z = np.maximum(0.0, 1.0 - y * (X @ found.coef + found.intercept))
    slope = -2.0 * C * y * z
    assert np.abs(found.coef + X.T @ slope).max() < 1e-6 * np.abs(X.T @ (2 * C * y)).max()
    assert found.intercept == pytest.approx(-slope.sum(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("kind", ["mixed", "separable", "units", "one class", "constant"])
def test_the_interior_point_needs_few_steps(kind, C):
    X, y, _, _ = rows(3000, 6)
    if kind == "separable":
        y = np.where(X @ np.arange(1.0, 7.0) > 0, 1.0, -1.0)
    elif kind == "units":
        X = X * np.array([1e9, 1e-6, 1.0, 1e5, 1e-3, 1.0])
    elif kind == "one class":
        y = np.ones(len(y))
    elif kind == "constant":
        X[:, 2], X[:, 3] = 0.0, 7.0
    found = hinge(X, y, np.full(len(y), C), solver="interior")
    assert found.converged
    assert found.n_iter <= 70
    assert found.gap <= 1e-6 * max(found.primal, 1e-9 * C * len(y)) * 1.01
    if kind == "constant":
        assert found.coef[2] == 0.0


def test_nothing_to_learn():
    X, _, number, C = rows()
    found = hinge(X, number, C, loss="epsilon_insensitive", epsilon=100.0)
    assert found.converged
    assert np.abs(found.coef).max() < 1e-3
    assert found.primal < 1e-6 * C.sum() * 100


@pytest.mark.parametrize("solver", ["interior", "descent"])
def test_a_weight_of_two_is_two_rows(solver):
    X, y, _, _ = rows(60)
    times = np.random.default_rng(3).integers(1, 4, 60)
    again = np.repeat(np.arange(60), times)
    options = {"solver": solver, "tol": 1e-8, "max_iter": 500_000}
    one = hinge(X, y, times.astype(float), **options)
    other = hinge(X[again], y[again], np.ones(len(again)), **options)
    assert one.primal == pytest.approx(other.primal, rel=1e-6)
    assert np.allclose(one.coef, other.coef, atol=1e-3)


@pytest.mark.parametrize("solver", ["interior", "descent"])
def test_the_order_of_the_rows_does_not_matter(solver):
    X, y, _, C = rows(60)
    order = np.random.default_rng(4).permutation(60)
    options = {"solver": solver, "tol": 1e-8, "max_iter": 500_000}
    assert hinge(X, y, C, **options).primal == pytest.approx(
        hinge(X[order], y[order], C[order], **options).primal, rel=1e-6
    )


def bits(found):
    return [
        (each.coef.tobytes(), each.intercept, each.alpha.tobytes(), each.primal, each.dual, each.n_iter)
        for each in found
    ]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("penalty", "loss", "solver"),
    [
        ("l2", "hinge", "interior"),
        ("l2", "hinge", "descent"),
        ("l2", "squared_hinge", "newton"),
        ("l2", "squared_hinge", "newton_products"),
        ("l1", "squared_hinge", "proximal"),
        ("l1", "squared_hinge", "coordinates"),
    ],
)
def test_the_same_bits_for_any_number_of_threads(penalty, loss, solver, layout):
    X, y, number, C = rows(9000, 150 if solver in ("newton", "proximal") else 9, share=0.6)
    targets = np.stack([y, np.where(number > 1, 1.0, -1.0), np.where(number > -1, 1.0, -1.0)])
    found = [
        bits(
            solve_linears(
                Matrix.of(layout(X)),
                targets,
                upper=np.stack([C, C, C]),
                loss=loss,
                penalty=penalty,
                solver=solver,
                max_iter=20,
                n_threads=n_threads,
            )
        )
        for n_threads in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]


BITS = """
import hashlib, sys
sys.path.insert(0, "tests/unit/svm")
from test_linear import *
found = hashlib.sha256()
for layout, d in itertools.product((np.asarray, sparse.csr_array), (7, 150)):
    X, y, number, C = rows(700, d, share=0.5)
    for penalty, squared in SOLVERS:
        for solver in SOLVERS[penalty, squared]:
            loss = "squared_hinge" if squared else "hinge"
            each = solve_linear(Matrix.of(layout(X)), y, upper=C, loss=loss, penalty=penalty, solver=solver,
                                max_iter=15)
            found.update(each.coef.tobytes() + each.alpha.tobytes())
    label = np.digitize(number, [-1, 1])
    each = solve_classes(Matrix.of(layout(X)), label, 3, upper=C, intercept="scaled", intercept_scaling=1.0,
                         tol=1e-3, max_iter=30, max_time=None, seed=0, n_threads=1)
    found.update(each.coef.tobytes())
    found.update(linear_scores(Matrix.of(layout(X)), each.coef, each.intercept, n_threads=1).tobytes())
print(found.hexdigest())
"""


def test_the_same_bits_for_every_instruction_set():
    said = [
        subprocess.run(
            [sys.executable, "-c", BITS],
            env=os.environ | {"WEALD_SIMD": level},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for level in ("baseline", "avx2")
    ]
    assert said[0] == said[1]


def crammer_singer(W, b, X, y, C):
    score = X @ W.T + b
    rival = score + (np.arange(len(W)) != y[:, None])
    return 0.5 * (W**2).sum() + 0.5 * (b**2).sum() + C @ (rival.max(axis=1) - score[np.arange(len(y)), y])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_all_classes_in_one_machine(layout):
    X, _, number, C = rows(120, 4)
    y = np.digitize(number, [-1.0, 1.0])
    options = {"upper": C, "intercept_scaling": 1.0, "tol": 1e-7, "max_iter": 100_000, "max_time": None}
    found = solve_classes(Matrix.of(layout(X)), y, 3, intercept="scaled", seed=0, n_threads=2, **options)
    assert found.converged
    assert found.primal == pytest.approx(crammer_singer(found.coef, found.intercept, X, y, C), rel=1e-12)
    assert found.primal - found.dual <= 1e-5 * found.primal
    free = solve_classes(Matrix.of(layout(X)), y, 3, intercept="free", seed=0, n_threads=2, **options)
    assert free.converged
    assert free.primal < found.primal  # its intercepts cost nothing
    assert free.primal - free.dual <= 1e-5 * free.primal


def test_scores_are_those_of_each_row():
    X, _, _, _ = rows(2500, 37, share=0.4)
    rng = np.random.default_rng(0)
    for n_outputs, layout in itertools.product((1, 3, 17, 40), (np.asarray, sparse.csr_array)):
        W, b = rng.normal(size=(n_outputs, 37)), rng.normal(size=n_outputs)
        found = linear_scores(Matrix.of(layout(X)), W, b, n_threads=2)
        assert np.allclose(found, X @ W.T + b, atol=1e-12)
        some = linear_scores(Matrix.of(layout(X)[5:9]), W, b, n_threads=1)
        assert np.array_equal(found[5:9], some)


def slow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 1200))
    return X, np.where(rng.random(20_000) < 0.5, 1.0, -1.0), np.full(20_000, 100.0)


def test_time_is_kept_and_progress_told():
    X, y, C = slow()
    told = []
    begin = time.monotonic()
    found = hinge(X, y, C, max_iter=10**6, max_time=0.6, progress=lambda *each: told.append(each))
    assert time.monotonic() - begin < 3
    assert not found.converged
    assert np.isfinite(found.gap)
    assert found.n_iter > 0
    assert told
    assert all(n >= 0 and gap >= 0 for n, gap in told)


def test_what_progress_raises_ends_the_work():
    X, y, C = slow()

    def stop(n_iter, gap):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        hinge(X, y, C, max_iter=10**6, max_time=20.0, progress=stop, n_threads=2)


def test_ctrl_c_ends_a_fit_within_a_second():
    X, y, C = slow()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            hinge(X, y, C, max_iter=10**6, max_time=20.0, n_threads=2)
        assert time.monotonic() - begin < 1.4 + 0.6
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_columns_that_no_row_has_change_no_bit(loss):
    # of 5,000 columns the descent lays weights out by how often they are read, of 300 as they come
    random = np.random.default_rng(5)
    narrow = sparse.random_array((200, 300), density=0.1, rng=random, format="csr")
    place = np.sort(random.choice(5000, 300, replace=False))
    wide = sparse.csr_array((narrow.data, place[narrow.indices], narrow.indptr), shape=(200, 5000))
    y = np.where(narrow @ random.normal(size=300) > 0, 1.0, -1.0)
    few, many = (
        solve_linear(Matrix.of(X), y, loss=loss, penalty="l2", upper=np.ones(200), solver="descent")
        for X in (narrow, wide)
    )
    assert many.coef[place].tobytes() == few.coef.tobytes()
    assert np.count_nonzero(many.coef) == np.count_nonzero(few.coef)
    assert (many.intercept, many.n_iter) == (few.intercept, few.n_iter)
