"""Gradient boosting as users meet it: rounds, curves, stopping, starts, bases, tables."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

from weald import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from weald.io.model_file import to_bytes

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 6))
X[:, 4] = np.round(X[:, 4], 1)
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(2 * X[:, 0] + np.sin(3 * X[:, 1])) + 0.3 * RNG.normal(size=N)
THREE = np.array(["b", "c", "a"])[np.digitize(Y, [-1, 1])]


def model_for(loss, **parameters):
    kind = (
        GradientBoostingClassifier
        if loss in ("log_loss", "exponential", "classes")
        else GradientBoostingRegressor
    )
    return kind(loss="log_loss" if loss == "classes" else loss, n_estimators=4, random_state=0, **parameters)


def target_for(loss):
    return {"log_loss": Y > 0, "exponential": Y > 0, "classes": THREE}.get(loss, Y)


LOSSES = [
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "log_loss",
    "exponential",
    "classes",
]
WAYS = [
    {},
    {"max_bins": 63},
    {"leaf": "exact"},
    {"subsample": 0.6, "max_features": 3},
    {"max_leaf_nodes": 6, "ccp_alpha": 1e-3},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_bytes_for_any_number_of_threads(loss, way):
    files = [
        to_bytes(model_for(loss, **way).set_params(n_jobs=n).fit(X, target_for(loss))) for n in (1, 2, 5)
    ]
    assert files[0] == files[1] == files[2]


def test_the_same_bytes_for_any_number_of_threads_on_many_rows():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(270_000, 3)).astype(np.float32)
    y = many[:, 0] + rng.normal(size=len(many)) > 0
    for rows in (len(many), 80_000):  # 16-bit statistics, and words
        fitted = [
            GradientBoostingClassifier(n_estimators=2, max_bins=255, n_jobs=n).fit(many[:rows], y[:rows])
            for n in (1, 2, 5)
        ]
        assert len({to_bytes(each) for each in fitted}) == 1
        exact = GradientBoostingClassifier(n_estimators=2).fit(many[:rows], y[:rows])
        assert fitted[0].train_score_ == pytest.approx(exact.train_score_, rel=1e-3)


@pytest.mark.parametrize("leaf", ["one_step", "exact"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_and_whole_weights_do_not_show(loss, leaf):
    y = target_for(loss)[:400]
    rows, times = np.arange(400), np.random.default_rng(2).integers(0, 4, 400)
    weighted = model_for(loss, leaf=leaf).fit(X[rows], y, sample_weight=times)
    repeated = np.random.default_rng(3).permutation(np.repeat(rows, times))
    plain = model_for(loss, leaf=leaf).fit(X[repeated], y[repeated])
    assert weighted.forest_.value.tolist() == plain.forest_.value.tolist()
    assert weighted.forest_.threshold.tolist() == plain.forest_.threshold.tolist()
    assert weighted.forest_.base_score.tolist() == plain.forest_.base_score.tolist()


@pytest.mark.parametrize("way", [{}, {"subsample": 0.5, "max_features": 2}, {"max_bins": 15}], ids=str)
@pytest.mark.parametrize("loss", ["huber", "classes"])
def test_warm_start_goes_on_as_if_at_once(loss, way):
    y = target_for(loss)
    parts = model_for(loss, **way).set_params(n_estimators=2, warm_start=True).fit(X, y)
    before = parts.train_score_.tolist()
    parts.set_params(n_estimators=5).fit(X, y)
    whole = model_for(loss, **way).set_params(n_estimators=5, warm_start=True).fit(X, y)
    assert to_bytes(parts) == to_bytes(whole)
    assert parts.train_score_.tolist() == whole.train_score_.tolist()
    assert parts.train_score_[:2].tolist() == before
    if "subsample" in way:
        assert parts.oob_improvement_.tolist() == whole.oob_improvement_.tolist()


def test_warm_start_with_a_base_goes_on():
    small, y = np.nan_to_num(X[:200]), Y[:200]
    parts = GradientBoostingRegressor(estimator=TheirTree(max_depth=1), n_estimators=2, warm_start=True)
    parts.fit(small, y)
    parts.set_params(n_estimators=6).fit(small, y)
    whole = GradientBoostingRegressor(estimator=TheirTree(max_depth=1), n_estimators=6).fit(small, y)
    assert parts.predict(small) == pytest.approx(whole.predict(small), abs=1e-9)


def test_stages_end_at_the_prediction():
    for loss in ("squared_error", "log_loss", "classes"):
        model = model_for(loss).fit(X, target_for(loss))
        stages = list(model.staged_predict(X))
        assert len(stages) == model.n_estimators_ == 4
        assert np.array_equal(stages[-1], model.predict(X))
        if loss != "squared_error":
            shares = list(model.staged_predict_proba(X))[-1]
            assert np.array_equal(shares, model.predict_proba(X))
            raw = list(model.staged_decision_function(X))[-1]
            assert np.array_equal(raw.reshape(N, -1), model.decision_function(X).reshape(N, -1))


def test_curves_are_the_losses_of_the_rounds():
    model = GradientBoostingRegressor(n_estimators=6).fit(X, Y)
    assert model.train_score_ == pytest.approx([np.mean((Y - f) ** 2) for f in model.staged_predict(X)])
    assert "oob_scores_" not in vars(model)


def test_out_of_bag_improvement_is_that_of_the_rows_left_out():
    model = GradientBoostingRegressor(n_estimators=3, subsample=0.4, random_state=1).fit(X, Y)
    assert (model.train_score_.shape, model.oob_improvement_.shape) == ((3,), (3,))
    assert model.oob_score_ == model.oob_scores_[-1]
    stages = [np.full(N, Y.mean()), *model.staged_predict(X)]
    # The tree of a round has counted the rows it was grown on.
    assert model.estimators_[0, 0].tree_.n_node_samples[0] == int(0.4 * N)
    for i in range(3):
        drawn = 0.4 * model.train_score_[i] + 0.6 * model.oob_scores_[i]
        assert drawn == pytest.approx(np.mean((Y - stages[i + 1]) ** 2))
        before = model.oob_scores_[i] + model.oob_improvement_[i]
        assert before == pytest.approx(np.mean((Y - stages[i]) ** 2), rel=0.1)
    assert model.oob_improvement_[0] > 0


def test_subsample_draws_other_rows_in_every_round_and_never_absent_ones():
    weight = (np.arange(N) % 3 > 0).astype(float)
    model = GradientBoostingRegressor(n_estimators=2, subsample=0.5, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    assert [tree.tree_.n_node_samples[0] for tree in model.estimators_.ravel()] == [N // 3, N // 3]
    assert model.forest_.value[:8].tolist() != model.forest_.value[8:16].tolist()
    without = GradientBoostingRegressor(n_estimators=2).fit(X, Y, sample_weight=weight)
    there = GradientBoostingRegressor(n_estimators=2).fit(X[weight > 0], Y[weight > 0])
    assert without.forest_.value.tolist() == there.forest_.value.tolist()


def test_early_stopping_keeps_the_round_that_stopped_it():
    model = GradientBoostingRegressor(
        n_estimators=500, n_iter_no_change=3, tol=0.01, random_state=0, learning_rate=0.5
    ).fit(X, Y)
    assert model.n_estimators_ == len(model.validation_scores_) < 500
    recent = np.full(3, np.inf)
    for round_, loss in enumerate(model.validation_scores_):
        gained = bool(np.any(loss + 0.01 < recent))
        assert gained == (round_ < model.n_estimators_ - 1)
        recent[round_ % 3] = loss


def test_a_monitor_is_told_and_may_stop():
    told = []

    def monitor(round_, model, facts):
        told.append((round_, isinstance(model, GradientBoostingRegressor), facts["n_rounds"]))
        return round_ == 2

    model = GradientBoostingRegressor(n_estimators=50).fit(X, Y, monitor=monitor)
    assert model.n_estimators_ == 3
    assert told == [(0, True, 1), (1, True, 2), (2, True, 3)]


def test_starts():
    zero = GradientBoostingRegressor(init="zero", n_estimators=1).fit(X, Y)
    assert zero.init_ == "zero"
    assert zero.forest_.base_score.tolist() == [0.0]
    constant = GradientBoostingClassifier(n_estimators=1).fit(X, THREE).init_
    shares = [np.mean(label == THREE) for label in ("a", "b", "c")]
    assert constant.predict_proba(X[:2]) == pytest.approx(np.array([shares, shares]))
    assert constant.predict(X[:2]).tolist() == ["abc"[int(np.argmax(shares))]] * 2
    forest = RandomForestClassifier(n_estimators=10, random_state=0)
    model = GradientBoostingClassifier(init=forest, n_estimators=3).fit(X, THREE)
    assert model.init_.predict(X).shape == (N,)
    assert not hasattr(forest, "classes_")
    assert model.score(X, THREE) > 0.9


def test_frames_go_in_as_they_are():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["g"] = pd.Categorical(np.where(Y > 0.5, "high", np.where(Y < -0.5, "low", "middle")))
    frame.loc[::5, "g"] = None
    fitted = GradientBoostingRegressor(n_estimators=5).fit(frame, Y)
    said = fitted.predict(frame)
    assert GradientBoostingRegressor(n_estimators=5).fit(pl.from_pandas(frame), Y).predict(frame) == (
        pytest.approx(said, abs=0)
    )
    assert fitted.predict(frame[list("gfedcba")]).tolist() == said.tolist()
    assert fitted.feature_names_in_.tolist() == list("abcdefg")
    assert fitted.feature_importances_[6] > 0
    dense = np.nan_to_num(X)
    sparse = GradientBoostingRegressor(n_estimators=5).fit(sp.csr_matrix(dense), Y)
    assert to_bytes(sparse) == to_bytes(GradientBoostingRegressor(n_estimators=5).fit(dense, Y))


def test_rare_categories_are_met_with_caution():
    rng = np.random.default_rng(5)
    town = rng.integers(0, 300, 900)
    frame = pd.DataFrame({"town": pd.Categorical([f"t{i}" for i in town]), "x": rng.normal(size=900)})
    y = frame["x"].to_numpy() + rng.normal(size=900)
    train, test = frame[:450], frame[450:]
    careful = GradientBoostingRegressor().fit(train, y[:450])
    greedy = GradientBoostingRegressor(cat_smooth=0, cat_l2=0).fit(train, y[:450])
    assert greedy.score(train, y[:450]) > careful.score(train, y[:450])
    assert careful.score(test, y[450:]) > greedy.score(test, y[450:]) + 0.05
    first = DecisionTreeRegressor(max_depth=3, cat_penalty=0).fit(train, y[:450] - y[:450].mean())
    assert greedy.estimators_[0, 0].predict(train) == pytest.approx(first.predict(train))


def test_trees_are_estimators_of_their_own():
    model = GradientBoostingClassifier(n_estimators=3, learning_rate=0.25).fit(X, THREE)
    assert model.estimators_.shape == (3, 3)
    assert len(model) == 3
    assert model[0].shape == (3,)
    raw = np.tile(model.forest_.base_score, (N, 1))
    for members in model:
        raw += 0.25 * np.stack([tree.predict(X) for tree in members], axis=1)
    assert raw == pytest.approx(model.decision_function(X), abs=1e-12)
    assert isinstance(model.estimators_[1, 2], DecisionTreeRegressor)
    assert model.estimators_ is model.estimators_
    assert "<=" in model.estimators_[1, 2].to_text()
    assert model.apply(X).shape == (N, 3, 3)


def test_limits_hold_with_weights_and_bins():
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    for parameters in ({"max_bins": 31}, {}):
        for weights in (None, weight, (weight > 1).astype(float)):
            model = GradientBoostingRegressor(n_estimators=3, min_samples_leaf=200, **parameters)
            model.fit(X, Y, sample_weight=weights)
            for tree in model.estimators_.ravel():
                assert tree.tree_.n_node_samples.min() >= 200
                assert tree.tree_.n_leaves > 1
    few = GradientBoostingRegressor(n_estimators=1, min_samples_leaf=20, learning_rate=1.0, max_bins=15)
    assert few.fit(X[:30], Y[:30]).predict(X[:1])[0] == pytest.approx(Y[:30].mean())


@pytest.mark.parametrize("max_bins", [None, 15])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss"])
def test_xor_is_learnt(loss, max_bins):
    table, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2), np.array([0, 1, 1, 0] * 2)
    model = model_for(loss, max_bins=max_bins).set_params(n_estimators=200).fit(table, y)
    assert model.predict(table) == pytest.approx(y, abs=1e-6)
    leaves = [tree.get_n_leaves() for tree in model.estimators_.ravel()]
    assert max(leaves) == 4


def test_alike_residuals_are_not_split():
    model = GradientBoostingRegressor(n_estimators=2).fit(X[:50], np.full(50, 3.0))
    assert [tree.get_n_leaves() for tree in model.estimators_.ravel()] == [1, 1]
    assert model.predict(X[:1]).tolist() == [3.0]
    assert model.feature_importances_.tolist() == [0.0] * 6


def test_bins_are_nearly_as_good_as_exact():
    exact = GradientBoostingRegressor(n_estimators=60).fit(X, Y)
    binned = GradientBoostingRegressor(n_estimators=60, max_bins=255).fit(X, Y)
    assert binned.score(X, Y) == pytest.approx(exact.score(X, Y), abs=0.01)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "log_loss"])
def test_monotone_constraints_hold(loss):
    model = model_for(loss, monotonic_cst={0: 1, 1: -1}).set_params(n_estimators=20).fit(X, target_for(loss))
    raw = model.predict if loss != "log_loss" else model.decision_function
    line = np.tile(np.nan_to_num(X[:50]), (40, 1, 1))
    for column, direction in ((0, 1), (1, -1)):
        moved = line.copy()
        moved[:, :, column] = np.linspace(-3, 3, 40)[:, None]
        said = raw(moved.reshape(-1, 6)).reshape(40, 50)
        assert (direction * np.diff(said, axis=0) >= -1e-12).all()
    with pytest.raises(ValueError, match="multiclass"):
        GradientBoostingClassifier(monotonic_cst={0: 1}).fit(X, THREE)


def test_any_regressor_can_be_boosted():
    dense, weight = np.nan_to_num(X), np.ones(N)
    neighbours = GradientBoostingRegressor(
        estimator=KNeighborsRegressor(50), n_estimators=3, learning_rate=1.0
    ).fit(dense, Y)
    assert (np.diff(neighbours.train_score_) < 0).all()
    weighted = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=2)
    weighted.fit(dense, Y, sample_weight=weight * 2)
    plain = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=2).fit(dense, Y)
    assert weighted.predict(dense) == pytest.approx(plain.predict(dense))
    three = GradientBoostingClassifier(
        estimator=DecisionTreeRegressor(max_depth=2), n_estimators=5, learning_rate=0.5, subsample=0.5
    ).fit(X, THREE)
    assert three.step_sizes_.shape == three.estimators_.shape == (5, 3)
    assert three.score(X, THREE) > 0.8
    assert three.feature_importances_.sum() == pytest.approx(1.0)
    assert list(three.staged_predict(X))[-1].tolist() == three.predict(X).tolist()
    stopped = GradientBoostingRegressor(
        estimator=LinearRegression(), n_estimators=50, n_iter_no_change=2, random_state=0
    ).fit(dense, Y)
    assert stopped.n_estimators_ < 50
    for loss in ("absolute_error", "huber", "quantile"):
        model = GradientBoostingRegressor(
            loss=loss, estimator=LinearRegression(), n_estimators=5, learning_rate=1.0
        ).fit(dense, Y)
        assert model.train_score_[-1] <= model.train_score_[0]


def test_pickles_clones_and_nested_parameters():
    model = GradientBoostingClassifier(n_estimators=2).fit(X, THREE)
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    boosted = GradientBoostingRegressor(estimator=DecisionTreeRegressor(max_depth=1))
    assert clone(boosted).set_params(estimator__max_depth=2).estimator.max_depth == 2


def test_progress_shows_only_when_asked(capfd):
    GradientBoostingRegressor(n_estimators=2).fit(X, Y)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    model = GradientBoostingRegressor(n_estimators=30, max_bins=8, verbose=1).fit(X, Y)
    head, *lines = capfd.readouterr().out.splitlines()
    assert head.split() == ["Iter", "Train", "Loss", "Remaining", "Time"]
    assert [int(line.split()[0]) for line in lines] == [*range(1, 11), 20, 30]
    assert [line.split()[1] for line in lines[-1:]] == [f"{model.train_score_[-1]:.4f}"]
    model.set_params(warm_start=True, n_estimators=42, subsample=0.5, verbose=2).fit(X, Y)
    head, *lines = capfd.readouterr().out.splitlines()
    assert "OOB Improve" in head
    assert [int(line.split()[0]) for line in lines] == list(range(31, 43))
    assert [line.split()[2] for line in lines] == [f"{each:.4f}" for each in model.oob_improvement_[30:]]


def test_the_lines_of_verbose_are_those_of_scikit_learn(capfd):
    for kind in (GradientBoostingRegressor, TheirBoosting):
        kind(n_estimators=120, max_depth=1, verbose=1).fit(np.nan_to_num(X), Y)
    lines = capfd.readouterr().out.splitlines()
    mine, theirs = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert mine[0] == theirs[0]
    assert [line[:27] for line in mine] == [line[:27] for line in theirs]
    assert [len(line) for line in mine] == [len(line) for line in theirs]


def test_rows_left_out_begin_with_the_rounds_that_leave_them_out():
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    assert not hasattr(model, "oob_improvement_")
    model.set_params(n_estimators=5, subsample=0.5).fit(X, Y)
    assert model.oob_improvement_[:3].tolist() == model.oob_scores_[:3].tolist() == [0, 0, 0]
    assert (model.oob_scores_[3:] > 0).all()
    assert model.oob_score_ == model.oob_scores_[-1]
    model.set_params(n_estimators=6, subsample=1.0).fit(X, Y)
    assert len(model.oob_improvement_) == len(model.train_score_) == 6
    assert model.oob_improvement_[-1] == 0
    assert not hasattr(model, "oob_score_")


def test_trees_tell_the_parameters_they_grew_with():
    model = GradientBoostingClassifier(n_estimators=2, max_depth=1, warm_start=True).fit(X, THREE)
    model.set_params(n_estimators=3, max_depth=2).fit(X, THREE)
    assert [[tree.max_depth for tree in row] for row in model.estimators_] == [[1] * 3, [1] * 3, [2] * 3]
    again = pickle.loads(pickle.dumps(model)).set_params(max_depth=7)
    assert again.estimators_[0, 0].max_depth == 1
