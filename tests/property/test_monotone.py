"""Monotone constraints: predictions never turn along a constrained column, whatever else is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from agreement.test_scikit_learn_trees import PEERS, distinct
from hypothesis import given
from hypothesis import strategies as st
from support.losses import CLASS_CRITERIA, NUMBER_CRITERIA, gain

from weald import DecisionTreeClassifier, DecisionTreeRegressor, load

CRITERIA = [*CLASS_CRITERIA, *NUMBER_CRITERIA]
RANKS = ["none", "low", "mid", "high", "top"]


def model_of(criterion: str, **parameters: Any) -> DecisionTreeClassifier | DecisionTreeRegressor:
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return model(criterion=criterion, **parameters)


def predicted(model: DecisionTreeClassifier | DecisionTreeRegressor, X: Any) -> np.ndarray:
    """What has to rise or fall: the prediction, or the share of the second class."""
    return model.predict_proba(X)[:, 1] if isinstance(model, DecisionTreeClassifier) else model.predict(X)


def frame(rng: np.random.Generator, n: int, missing: float = 0.1) -> pd.DataFrame:
    """Columns of every kind, with missing values."""
    gone = rng.random((5, n)) < missing
    rank, town = (np.where(gone[3 + k], -1, rng.integers(0, 5 + k, n)) for k in range(2))
    return pd.DataFrame(
        {
            "up": np.where(gone[0], np.nan, rng.normal(size=n)),
            "down": np.where(gone[1], np.nan, np.round(rng.normal(size=n), 1)),
            "free": np.where(gone[2], np.nan, rng.normal(size=n)),
            "rank": pd.Categorical.from_codes(rank, RANKS, ordered=True),
            "town": pd.Categorical.from_codes(town, list("abcdef")),
        }
    )


def target(criterion: str, X: pd.DataFrame, rng: np.random.Generator, noise: float = 1.0) -> np.ndarray:
    """A signal that mostly keeps the constraints, and noise that does not."""
    up, down, free = (X[name].fillna(0.5).to_numpy() for name in ("up", "down", "free"))
    signal = up - down + np.sin(3 * free) * up + X["rank"].cat.codes + (X["town"].cat.codes % 3)
    signal = signal.to_numpy() + np.cos(4 * up) + noise * rng.normal(size=len(X))
    if criterion in CLASS_CRITERIA:
        return (signal > np.median(signal)).astype(int)
    return rng.poisson(np.exp(signal / 4)).astype(float) if criterion == "poisson" else signal


CONSTRAINTS = {"up": 1, "down": -1, "rank": 1}


def grid(X: pd.DataFrame, column: str, n_points: int, rng: np.random.Generator) -> tuple[pd.DataFrame, int]:
    """Other columns at random, missing among them; the column through its range. The values per line."""
    if column == "rank":
        values = pd.Categorical(RANKS, RANKS, ordered=True)
    else:
        some, n = X[column].dropna(), 100
        evenly = np.linspace(some.min() - 1, some.max() + 1, n)
        values = np.sort(np.concatenate([evenly, some.sample(n, random_state=0)]))
    n_lines = n_points // len(values)
    # each column from another row: combinations that the table does not hold
    lines = {name: X[name].iloc[rng.integers(0, len(X), n_lines)].array.repeat(len(values)) for name in X}
    lines[column] = values.take(np.tile(np.arange(len(values)), n_lines))
    return pd.DataFrame(lines), len(values)


def assert_monotone(
    model: Any, X: pd.DataFrame, constraints: dict[str, int], n_points: int = 100_000, seed: int = 0
) -> None:
    """Never a step the wrong way, in exact comparison; and not for want of steps."""
    rng = np.random.default_rng(seed)
    for column, direction in constraints.items():
        points, n_values = grid(X, column, n_points, rng)
        steps = np.diff(predicted(model, points).reshape(-1, n_values), axis=1) * direction
        assert steps.min() >= 0, f"{column} turns by {steps.min()}"


# ------------------------------------------------------------------------------------------- large tables


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_never_violated_on_a_grid(criterion, weighted):
    """100,000 points per column, rising, falling and along ranks, with missing values in the table."""
    rng = np.random.default_rng(0)
    X = frame(rng, 3000)
    y = target(criterion, X, rng)
    weight = rng.random(3000) + 0.1 if weighted else None
    model = model_of(criterion, min_samples_leaf=2, monotonic_cst=CONSTRAINTS).fit(X, y, weight)
    assert model.get_n_leaves() > 30
    assert set(model.tree_.feature) >= {0, 1, 3}
    assert_monotone(model, X, CONSTRAINTS)
    free = model_of(criterion, min_samples_leaf=2).fit(X, y, weight)
    with pytest.raises(AssertionError, match="turns by"):  # the grid sees violations where there are some
        assert_monotone(free, X, CONSTRAINTS, n_points=20_000)


SETTINGS = {
    "leaves": {"max_leaf_nodes": 40},
    "columns": {"max_features": 2, "random_state": 1},
    "random": {"splitter": "random", "random_state": 2},
    "random columns": {"splitter": "random", "max_features": 3, "random_state": 2, "max_leaf_nodes": 60},
    "bins": {"max_bins": 16},
    "random bins": {"splitter": "random", "max_bins": 16, "random_state": 3},
    "pruned": {"ccp_alpha": 1e-4},
    "weight": {"min_weight_fraction_leaf": 0.01},
    "depth": {"max_depth": 6, "min_impurity_decrease": 1e-4},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_never_violated_with_other_settings(criterion, settings):
    rng = np.random.default_rng(1)
    X = frame(rng, 1200)
    y = target(criterion, X, rng)
    model = model_of(criterion, monotonic_cst=CONSTRAINTS, **settings).fit(X, y)
    assert model.get_n_leaves() > 5
    assert_monotone(model, X, CONSTRAINTS, n_points=20_000)


@pytest.mark.parametrize("prune", ["cv", "cv-1se"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_never_violated_when_pruned_by_cross_validation(criterion, prune):
    rng = np.random.default_rng(2)
    X = frame(rng, 600)
    y = target(criterion, X, rng, noise=0.3)
    model = model_of(criterion, monotonic_cst=CONSTRAINTS, prune=prune, random_state=0).fit(X, y)
    assert model.get_n_leaves() > 3
    assert_monotone(model, X, CONSTRAINTS, n_points=20_000)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_pruning_on_the_path_keeps_the_constraint(criterion):
    """What an inner node predicts is held within its bounds too."""
    rng = np.random.default_rng(3)
    X = frame(rng, 400)
    y = target(criterion, X, rng)
    model = model_of(criterion, monotonic_cst=CONSTRAINTS).fit(X, y)
    alphas = np.unique(model.cost_complexity_pruning_path().ccp_alphas)
    assert len(alphas) > 8
    for alpha in alphas[:: max(1, len(alphas) // 8)]:
        pruned = model_of(criterion, monotonic_cst=CONSTRAINTS, ccp_alpha=alpha).fit(X, y)
        assert_monotone(pruned, X, CONSTRAINTS, n_points=5_000)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_threads_and_row_order_do_not_show(criterion):
    rng = np.random.default_rng(4)
    X = frame(rng, 20_000)
    y = target(criterion, X, rng)
    rows = rng.permutation(len(X))
    parameters = {"monotonic_cst": CONSTRAINTS, "min_samples_leaf": 5}
    one = model_of(criterion, n_jobs=1, **parameters).fit(X, y).forest_.arrays()
    two = model_of(criterion, n_jobs=2, **parameters).fit(X, y).forest_.arrays()
    permuted = model_of(criterion, n_jobs=2, **parameters).fit(X.iloc[rows], y[rows]).forest_.arrays()
    assert len(one["slot"]) > 100
    for name, array in one.items():
        assert array.tobytes() == two[name].tobytes(), name
        assert array.tobytes() == permuted[name].tobytes(), name


# ------------------------------------------------------------------------------------------- small tables


@st.composite
def settings_of_a_tree(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "splitter": draw(st.sampled_from(["best", "best", "random"])),
        "max_features": draw(st.sampled_from([None, None, 1, 2])),
        "max_leaf_nodes": draw(st.sampled_from([None, None, 4, 9])),
        "max_bins": draw(st.sampled_from([None, None, 3, 8])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 3])),
        "ccp_alpha": draw(st.sampled_from([0.0, 0.0, 0.01])),
        "random_state": draw(st.integers(0, 9)),
    }


@pytest.mark.parametrize("criterion", CRITERIA)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(4, 60),
    directions=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    weights=st.sampled_from(["none", "whole", "fractions", "huge"]),
    settings=settings_of_a_tree(),
)
def test_never_violated_on_small_tables(criterion, seed, n_rows, directions, weights, settings):
    rng = np.random.default_rng(seed)
    X = frame(rng, n_rows, missing=rng.choice([0.0, 0.2, 0.6]))
    X["up"] = X["up"].round(int(rng.integers(0, 3)))
    y = target(criterion, X, rng) if seed % 3 else rng.permutation(target(criterion, X, rng))
    if criterion == "poisson":
        y = y + 1.0 if seed % 2 else np.where(y.sum() == 0, 1.0, y)
    weight = {
        "none": None,
        "whole": rng.integers(0, 4, n_rows) + (np.arange(n_rows) == 0),
        "fractions": rng.random(n_rows) + 0.01,
        "huge": 10.0 ** rng.integers(-9, 10, n_rows),
    }[weights]
    if criterion == "poisson" and weight is not None and not (y * weight).any():
        weight = None
    columns = ["up", "down", "rank"]
    constraints = {name: d for name, d in zip(columns, directions, strict=True) if d}
    model = model_of(criterion, monotonic_cst=dict(zip(columns, directions, strict=True)), **settings)
    model.fit(X, y, weight)
    if criterion in CLASS_CRITERIA and len(model.classes_) == 1:
        return
    for column, direction in constraints.items():
        lines = X.sample(20, replace=True, random_state=seed % 1000)
        if column == "rank":
            values = pd.Categorical(RANKS, RANKS, ordered=True)
        else:
            some = np.unique([-9.0, *X[column].dropna(), 9.0])
            values = np.sort(np.concatenate([some, (some[1:] + some[:-1]) / 2]))
        points = lines.iloc[np.repeat(np.arange(20), len(values))].reset_index(drop=True)
        points[column] = values.take(np.tile(np.arange(len(values)), 20))
        steps = np.diff(predicted(model, points).reshape(20, -1), axis=1) * direction
        assert steps.min() >= 0


# -------------------------------------------------------------------------------------- what is chosen


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("direction", [1, -1])
def test_first_split_is_the_best_that_keeps_the_order(criterion, direction):
    """Missing rows count on the side they go to; missing against present has no order to keep."""
    differs = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(50) < 0.15 * (seed % 2), np.nan, rng.integers(0, 25, 50) / 2)
        signal = direction * np.nan_to_num(np.sin(x))  # most of its steps go the other way
        y = signal + rng.normal(size=50) / 2
        y = (y > 0).astype(int) if criterion in CLASS_CRITERIA else np.round(y, 2)
        y = rng.poisson(np.exp(signal)) + 0.25 if criterion == "poisson" else y
        middle = np.median if criterion == "absolute_error" else np.mean
        missing, kept = np.isnan(x), []
        splits = [
            (x <= cut) | (missing & side) for cut in np.unique(x[~missing])[:-1] for side in (True, False)
        ]
        for left in splits:
            if direction * (middle(y[~left]) - middle(y[left])) >= 0:
                kept.append(gain(criterion, y, left))
        if missing.any():
            kept.append(gain(criterion, y, ~missing))
        model = model_of(criterion, max_depth=1, monotonic_cst=[direction]).fit(x[:, None], y)
        if not kept:
            assert model.get_n_leaves() == 1
            continue
        assert model.forest_.gain[0] == pytest.approx(max(kept), rel=1e-9, abs=1e-9)
        free = model_of(criterion, max_depth=1).fit(x[:, None], y)
        differs += free.forest_.gain[0] > model.forest_.gain[0] + 1e-9
    assert differs >= 2


def test_missing_against_present_keeps_no_order():
    """Present values may all predict more, or less, than missing ones do."""
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])[:, None]
    for values in ([0.0, 0, 0, 0, 5, 5], [5.0, 5, 5, 5, 0, 0]):
        for direction in (1, -1):
            model = DecisionTreeRegressor(monotonic_cst=[direction]).fit(x, values)
            assert model.tree_.threshold[0] == np.inf
            assert model.predict(x).tolist() == values


def test_constraint_against_the_data_leaves_one_leaf():
    x = np.arange(10.0)[:, None]
    for criterion in CRITERIA:
        y = np.arange(10) >= 5 if criterion in CLASS_CRITERIA else np.arange(1.0, 11)
        assert model_of(criterion, monotonic_cst=[-1]).fit(x, y).get_n_leaves() == 1
        assert model_of(criterion, monotonic_cst=[1]).fit(x, y).get_n_leaves() > 1


def test_leaf_values_are_held_within_their_bounds():
    """A split on a free column may part rows beyond the bound of an earlier split: the leaf is cut off."""
    x = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0], [1, 0]], dtype=float)
    y = np.array([0.0, 0, 12, 10, 10, 10])
    model = DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(x, y)
    # means 4 and 10 part at 7: nobody on the left predicts more
    assert model.predict(x).tolist() == [0.0, 0, 7, 10, 10, 10]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_position_name_and_dict_say_the_same(criterion, tmp_path):
    rng = np.random.default_rng(5)
    X = frame(rng, 300)
    y = target(criterion, X, rng)
    by_name = model_of(criterion, monotonic_cst=CONSTRAINTS).fit(X, y)
    numpy_list = np.array([1, -1, 0, 1, 0])
    for same in ([1, -1, 0, 1, 0], (1, -1, 0, 1, 0), numpy_list, {**CONSTRAINTS, "free": 0}):
        other = model_of(criterion, monotonic_cst=same).fit(X, y).forest_.arrays()
        for name, array in by_name.forest_.arrays().items():
            assert array.tobytes() == other[name].tobytes(), name
    by_name.save(tmp_path / "m.weald")
    np.testing.assert_array_equal(load(tmp_path / "m.weald").predict(X), by_name.predict(X))
    positions = model_of(criterion, monotonic_cst={0: 1, 1: -1}).fit(X[["up", "down"]].to_numpy(), y)
    listed = model_of(criterion, monotonic_cst=[1, -1]).fit(X[["up", "down"]].to_numpy(), y)
    np.testing.assert_array_equal(positions.forest_.threshold, listed.forest_.threshold)


def test_no_constraint_is_no_constraint():
    rng = np.random.default_rng(6)
    X = frame(rng, 300)
    for criterion in CRITERIA:
        y = target(criterion, X, rng)
        free = model_of(criterion).fit(X, y).forest_.arrays()
        for none in ({}, [0] * 5, {"up": 0, "town": 0}):
            other = model_of(criterion, monotonic_cst=none).fit(X, y).forest_.arrays()
            for name, array in free.items():
                assert array.tobytes() == other[name].tobytes(), name


# ------------------------------------------------------------------------------------ agreement


LIMITS = [{"min_samples_leaf": 25}, {"max_leaf_nodes": 30, "min_samples_leaf": 10}]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_same_predictions_as_scikit_learn(criterion, limits):
    """The same rule there: splits on constrained columns keep the order, leaves are held within bounds."""
    rng = np.random.default_rng(7)
    n = 1500
    X = distinct(rng, n, 3)
    signal = np.sin(X[:, 0] * 9 / n) + X[:, 0] / n - X[:, 1] / n + np.sin(X[:, 2] * 20 / n) * X[:, 0] / n
    signal = signal + rng.normal(size=n) / 2
    y = (signal > 0.2).astype(int) if criterion in CLASS_CRITERIA else signal
    y = rng.poisson(np.exp(signal)).astype(float) if criterion == "poisson" else y
    weight = rng.integers(500, 2000, n).astype(float)  # no ties
    ours = model_of(criterion, monotonic_cst=[1, -1, 0], **limits)
    theirs = PEERS[type(ours)](criterion=criterion, monotonic_cst=[1, -1, 0], random_state=0, **limits)
    free = model_of(criterion, **limits).fit(X, y, weight)
    predictions = [predicted(ours.fit(X, y, weight), X)]
    fitted = theirs.fit(X, y, weight)
    predictions.append(fitted.predict_proba(X)[:, 1] if criterion in CLASS_CRITERIA else fitted.predict(X))
    np.testing.assert_allclose(*predictions, rtol=1e-9, atol=1e-12)
    assert ours.get_n_leaves() == theirs.get_n_leaves() > 15
    assert (predicted(free, X) != predictions[0]).mean() > 0.2
