"""Fits that must end: targets far from 0, many columns of levels, many classes within a time, Ctrl-C."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from weald import SVC, SVR, LinearSVC, LinearSVR
from weald.engine.svm import pivoted_root
from weald.estimators.svm.kernel import base as svm_base
from weald.svm import machines
from weald.svm.machines import target_centre

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=600)
FAR = 1.7e12


# --------------------------------------------------------------------------- columns


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_columns_of_very_different_sizes_end(weighted: bool, shrinking: bool) -> None:
    """A count beside a time in microseconds: steps that suit the one hardly move the other."""
    table = np.column_stack([RNG.integers(0, 100, 20), RNG.integers(0, 10**13, 20)])
    weight = 10 ** RNG.uniform(-9, 10, 20) if weighted else None
    model = SVC(C=10, kernel="linear", shrinking=shrinking)
    with pytest.warns(ConvergenceWarning, match=r"gain next to nothing: .* one scale \(scale=True\)"):
        model.fit(table, np.arange(20) % 2, sample_weight=weight)
    assert np.isfinite(model.decision_function(table)).all()
    assert model.n_iter_[0] < 10**8
    scaled = SVC(C=10, kernel="linear", scale=True).fit(table, np.arange(20) % 2)
    assert scaled.fit_status_ == 0


# --------------------------------------------------------------------------- targets


@pytest.mark.parametrize(
    "model",
    [
        SVR(C=10),
        SVR(C=10, kernel="linear"),
        SVR(C=10, solver="landmarks", n_landmarks=100, random_state=0),
        LinearSVR(intercept_scaling="free"),
        LinearSVR(intercept_scaling="free", loss="squared_epsilon_insensitive"),
    ],
    ids=str,
)
def test_targets_far_from_0_give_the_machine_of_targets_near_0(model: Any) -> None:
    """Without a warning, which would be an error; 0.0002 is the distance of float64 numbers there."""
    near = model.fit(X, Y).predict(X)
    moved = Y + FAR
    far = model.fit(X, moved).predict(X)
    np.testing.assert_allclose(far - FAR, near, atol=0.03)
    if isinstance(model, SVR):
        assert model.slack_.max() < 10
        assert model.fit_status_ == 0


def test_one_target_at_0_does_not_keep_the_others_far() -> None:
    moved = Y + FAR
    moved[0] = 0.0
    assert target_centre(moved) > FAR / 2
    with pytest.warns(ConvergenceWarning, match="rounding of float64"):  # of that one
        found = SVR(C=10).fit(X, moved).predict(X[1:]) - FAR
    assert np.std(found - Y[1:]) < 1.5


@pytest.mark.parametrize("size", [1e-12, 1e9, 1e15, 1e60])
def test_targets_of_any_size_end(size: float) -> None:
    """Sums as large as the targets hide the tolerance: the solver says so in place of going on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in (10.0, size):
            assert np.isfinite(SVR(C=C, epsilon=0.1 * size).fit(X[:200], Y[:200] * size).predict(X)).all()


def test_targets_near_0_are_not_moved() -> None:
    assert target_centre(Y) == 0.0
    assert target_centre(np.array([-1e308, 1e308, 1e308])) == 0.0


# --------------------------------------------------------------------------- columns of levels


def cars(n_rows: int, n_models: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Prices of cars by a model of more than a thousand levels."""
    rng = np.random.default_rng(0)
    model = np.append(np.arange(n_models), rng.integers(0, n_models, n_rows - n_models))
    year, km = rng.integers(1995, 2021, n_rows), np.exp(rng.normal(10.5, 1, n_rows))
    price = np.exp(9 + 0.08 * (year - 2010) - 0.3 * (np.log(km) - 10.5) + rng.normal(0, 0.3, n_rows))
    return pd.DataFrame({"model": [f"m{k}" for k in model], "year": year, "km": km}), price.round(-1)


def test_prices_of_cars_converge() -> None:
    table, price = cars(1500, 1010)
    model = LinearSVR(scale=True, C=100, epsilon=100).fit(table, price)
    assert model.coef_.shape == (1012,)
    assert 0 <= model.duality_gap_ <= 1e-3 * model.primal_objective_


def test_what_the_descent_leaves_open_the_interior_point_ends() -> None:
    """More than a thousand columns, which nothing scales: the descent is far from the end at its limit."""
    table, price = cars(1500, 1010)
    model = LinearSVR(C=100, epsilon=100, max_iter=100).fit(table, price)
    assert model.n_iter_ > 100
    assert 0 <= model.duality_gap_ <= 1e-5 * model.primal_objective_
    with pytest.warns(ConvergenceWarning):
        LinearSVR(C=100, epsilon=100, max_iter=100, dual=True).fit(table, price)


def test_advice_is_not_what_was_done_already() -> None:
    table, price = cars(1500, 1010)
    for scale in (True, False):
        with pytest.warns(ConvergenceWarning, match="lower C") as found:
            LinearSVR(scale=scale, C=100, epsilon=100, max_iter=3).fit(table, price)
        assert ("scale=True" in str(found[0].message)) == (not scale)
    for scale in (True, False):
        with pytest.warns(ConvergenceWarning, match="lower C") as found:
            SVR(kernel="linear", scale=scale, C=100, max_iter=3).fit(table, price)
        assert ("scale=True" in str(found[0].message)) == (not scale)


# --------------------------------------------------------------------------- time


def many_classes(n_classes: int, n_each: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.repeat(np.arange(n_classes), n_each)
    turn = labels * (2 * np.pi / n_classes)
    rows = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return rows + np.random.default_rng(0).normal(0, 1e-3, rows.shape), labels


@pytest.mark.parametrize("solver", ["exact", "landmarks"])
def test_the_time_of_a_fit_is_that_of_all_machines(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=itertools.count(0.0, 1.0).__next__)  # every look takes a second
    monkeypatch.setattr(machines, "time", clock)
    monkeypatch.setattr(svm_base, "time", clock)
    rows, labels = many_classes(60, 4)
    model = SVC(max_time=200.0, gamma=10.0, C=100.0, solver=solver, n_landmarks=60, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"machines were not begun.*multi_class='ovr'"):
        model.fit(rows, labels)
    left_out = model.n_iter_ == 0
    assert 0 < left_out.sum() < len(left_out) == 60 * 59 // 2
    assert len(np.unique(model.predict(rows))) > 5
    assert model.decision_function(rows).shape == (240, 60)
    assert model.slack_.shape == (240, 1770)
    assert np.nanmin(model.slack_[:, left_out]) == 1.0


def test_probabilities_of_machines_that_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=itertools.count(0.0, 1.0).__next__)
    monkeypatch.setattr(machines, "time", clock)
    monkeypatch.setattr(svm_base, "time", clock)
    rows, labels = many_classes(6, 4)
    for solver in ("exact", "landmarks"):
        model = SVC(max_time=12.0, probability=True, solver=solver, random_state=0)
        with pytest.warns(ConvergenceWarning, match="not begun"):
            shares = model.fit(rows, labels).predict_proba(rows)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_machines_within_the_time_are_all_solved() -> None:
    rows, labels = many_classes(6, 4)
    timed = SVC(max_time=100.0, gamma=10.0).fit(rows, labels)
    free = SVC(gamma=10.0).fit(rows, labels)
    np.testing.assert_array_equal(timed.dual_coef_, free.dual_coef_)
    np.testing.assert_array_equal(timed.intercept_, free.intercept_)


def test_linear_machines_share_the_time() -> None:
    rows, labels = many_classes(40, 5)
    for loss in ("hinge", "squared_hinge"):
        with pytest.warns(ConvergenceWarning, match="of 40 machines"):
            model = LinearSVC(loss=loss, max_time=1e-9).fit(rows, labels)
        assert not model.coef_[1:].any()
        assert model.predict(rows).shape == (200,)


def test_ctrl_c_ends_the_choice_of_columns_of_landmarks() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(1500, 1500))
    kernel = half @ half.T
    start = time.perf_counter()
    pivoted_root(kernel, 1e-12, n_threads=1)
    whole = time.perf_counter() - start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    timer = threading.Timer(0.05 * whole, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            pivoted_root(kernel, 1e-12, n_threads=1)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - start < 0.1 * whole + 1.0
