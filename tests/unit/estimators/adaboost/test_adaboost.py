"""AdaBoost on weald's trees: answers, attributes, tables, early stopping."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from unit.estimators.adaboost.data import curve, mixed, rows

import weald
from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from weald.estimators.adaboost import stumps as adaboost_stumps
from weald.io import model_file


def fitted(**options):
    X, y = rows()
    return AdaBoostClassifier(n_estimators=12, **options).fit(X, y), X, y


# --- answers


def test_answers_agree_with_each_other():
    model, X, y = fitted()
    shares = model.predict_proba(X)
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert np.array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    assert np.allclose(np.exp(model.predict_log_proba(X)), shares)
    assert model.score(X, y) == pytest.approx(1 - model.rounds_.training_error[-1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_last_stage_is_the_answer(n_classes):
    X, _ = rows()
    y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0][: n_classes - 1])
    model = AdaBoostClassifier(n_estimators=7).fit(X, y)
    for stages, last in (
        (model.staged_predict(X), model.predict(X)),
        (model.staged_predict_proba(X), model.predict_proba(X)),
        (model.staged_decision_function(X), model.decision_function(X)),
        (model.staged_score(X, y), model.score(X, y)),
    ):
        found = list(stages)
        assert len(found) == 7
        assert np.array_equal(found[-1], last)
    first = AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert np.array_equal(next(model.staged_decision_function(X)), first.decision_function(X))


def test_stages_of_numbers():
    X, y = curve()
    model = AdaBoostRegressor(n_estimators=8).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 8
    assert np.array_equal(stages[-1], model.predict(X))
    assert list(model.staged_score(X, y))[-1] == model.score(X, y)
    assert np.array_equal(stages[0], model.estimators_[0].predict(X))
    by_hand = np.stack([tree.predict(X) for tree in model.estimators_], axis=1)
    assert all(value in row for value, row in zip(model.predict(X), by_hand, strict=True))


def test_many_rows_are_predicted_in_parts(monkeypatch):
    from weald.estimators.adaboost import trees as adaboost_trees

    X, y = curve()
    model = AdaBoostRegressor(n_estimators=6).fit(X, y)
    whole = model.predict(X), list(model.staged_predict(X))[3]
    monkeypatch.setattr(adaboost_trees, "_PAIRS", 100)
    assert np.array_equal(model.predict(X), whole[0])
    assert np.array_equal(list(model.staged_predict(X))[3], whole[1])


# --- attributes


def test_attributes():
    model, _, _ = fitted()
    assert len(model) == len(model.estimators_) == len(model.estimator_weights_) == len(model.rounds_) == 12
    assert model[0] is model.estimators_[0]
    assert model.estimators_ is model.estimators_  # made once
    assert isinstance(model.estimators_[0], DecisionTreeClassifier)
    assert model.estimators_[0].get_n_leaves() == 2
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 5
    assert not hasattr(model, "feature_names_in_")
    assert isinstance(model.estimator_, DecisionTreeClassifier)
    assert model.feature_importances_.sum() == pytest.approx(1)
    weights = model.estimator_weights_ / model.estimator_weights_.sum()
    by_hand = sum(w * tree.feature_importances_ for w, tree in zip(weights, model.estimators_, strict=True))
    assert model.feature_importances_ == pytest.approx(by_hand)
    assert model.estimators_[0].tree_.weighted_n_node_samples[0] == pytest.approx(1)


def test_the_table_of_rounds_reads_well():
    model, X, y = fitted()
    text = repr(model.rounds_).splitlines()
    assert text[0].split() == ["round", "error", "say", "training", "error", "bound"]
    assert len(text) == 13
    assert set(model.rounds_.to_dict()) == {"round", "error", "say", "training_error", "bound"}
    long = AdaBoostClassifier(n_estimators=60).fit(X, y)
    assert len(repr(long.rounds_).splitlines()) == 18
    assert "…" in repr(long.rounds_)
    assert long.rounds_._repr_html_().startswith("<table>")
    numbers = AdaBoostRegressor(n_estimators=3).fit(*curve())
    assert set(numbers.rounds_.to_dict()) == {"round", "error", "say"}


def test_weights_of_rows_are_told_again():
    X, y = rows()
    weight = np.random.default_rng(0).exponential(size=len(y))
    weight[:20] = 0.0
    for options in (
        {},
        {"resample": "compound"},
        {"resample": "reset"},
        {"resample": "replace"},
        {"early_stopping": 0.2},
        {"resample": "compound", "worse_than_chance": "reset", "learning_rate": 2.0},
    ):
        model = AdaBoostClassifier(n_estimators=6, keep_row_weights=True, random_state=3, **options)
        model.fit(X, y, weight)
        again = np.stack(list(model.staged_row_weights(X, y, weight)))
        assert np.array_equal(again, model.row_weights_)
        assert np.array_equal(model.row_weights(X, y, weight, round_number=2), again[1])
        assert again.sum(axis=1) == pytest.approx(np.ones(len(model)))
        assert (again[:, :20] == 0).all()
    with pytest.raises(ValueError, match="round_number"):
        model.row_weights(X, y, weight, round_number=0)
    with pytest.raises(ValueError, match="other labels"):
        next(model.staged_row_weights(X, y + 1, weight))


@pytest.mark.parametrize("resample", [None, "compound", "reset", "replace"])
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_weights_of_numbers_are_told_again(resample, loss):
    X, y = curve(100)
    options = {"resample": resample, "loss": loss, "random_state": 2, "keep_row_weights": True}
    for weight in (None, np.random.default_rng(0).exponential(size=len(y))):
        model = AdaBoostRegressor(n_estimators=5, **options).fit(X, y, weight)
        assert len(model) == 5
        again = np.stack(list(model.staged_row_weights(X, y, weight)))
        assert np.array_equal(again, model.row_weights_)
        assert not np.array_equal(again[0], again[-1])


def test_weights_are_told_by_the_parameters_of_the_fit(tmp_path):
    X, y = rows()
    model = AdaBoostClassifier(n_estimators=6, resample="reset", early_stopping=0.2, random_state=3)
    before = np.stack(list(model.fit(X, y).staged_row_weights(X, y)))
    model.set_params(resample=None, early_stopping=None, learning_rate=0.5)
    assert np.array_equal(np.stack(list(model.staged_row_weights(X, y))), before)
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert loaded.resample is None
    assert np.array_equal(np.stack(list(loaded.staged_row_weights(X, y))), before)
    numbers, target = curve()
    other = AdaBoostRegressor(n_estimators=4, loss="square", early_stopping=(numbers[:50], target[:50]))
    told = np.stack(list(other.fit(numbers, target).staged_row_weights(numbers, target)))
    other.set_params(loss="linear")
    assert np.array_equal(np.stack(list(other.staged_row_weights(numbers, target))), told)
    plain = AdaBoostClassifier(n_estimators=3).fit(X, y)
    shown = repr(plain.rounds_)
    plain.set_params(learning_rate=0.5).save(tmp_path / "plain.weald")
    assert repr(weald.load(tmp_path / "plain.weald").rounds_) == shown  # with the bound


# --- tables


def as_frames(table):
    frame = pd.DataFrame(table)
    strings = frame.assign(colour=frame["colour"].astype("category"))
    arrow = pa.table({name: pa.array(list(column), from_pandas=True) for name, column in table.items()})
    return {"pandas": strings, "pyarrow": arrow, "polars": pl.from_arrow(arrow)}


@pytest.mark.parametrize("depth", [1, 3])
def test_every_kind_of_table_gives_one_model(depth):
    table, y = mixed()
    base = DecisionTreeClassifier(max_depth=depth)
    model = AdaBoostClassifier(base, n_estimators=20).fit(table, y)
    assert model.score(table, y) > 0.6
    assert model.feature_names_in_.tolist() == list(table)
    for name, frame in as_frames(table).items():
        other = AdaBoostClassifier(base, n_estimators=20).fit(frame, y)
        assert np.array_equal(other.predict_proba(frame), model.predict_proba(table)), name
    used = {int(j) for tree in model.estimators_ for j in tree.forest_.column}
    assert {0, 1} <= used  # with gaps, and of categories


@pytest.mark.parametrize("depth", [1, 3])
def test_a_sparse_matrix_is_its_dense_copy(depth):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (200, 30)) * (rng.random((200, 30)) < 0.2).astype(float)
    y = (dense[:, 0] + dense[:, 1] > 0.5).astype(int) ^ (rng.random(200) < 0.1)
    base = DecisionTreeClassifier(max_depth=depth)
    one = AdaBoostClassifier(base, n_estimators=15).fit(sparse.csr_matrix(dense), y)
    two = AdaBoostClassifier(base, n_estimators=15).fit(dense, y)
    assert model_file.to_bytes(one) == model_file.to_bytes(two)
    assert np.array_equal(one.predict_proba(sparse.csc_matrix(dense)), two.predict_proba(dense))


# --- early stopping


def test_early_stopping_holds_rows_out():
    X, y = rows(600, noise=2.0)
    model = AdaBoostClassifier(n_estimators=300, early_stopping=0.3, random_state=0).fit(X, y)
    n, errors = len(model), model.validation_errors_
    assert len(errors) == n + 10
    assert errors.argmin() == n - 1
    assert model.rounds_.error.shape == (n,)
    longer = AdaBoostClassifier(
        n_estimators=300, early_stopping=0.3, early_stopping_rounds=25, random_state=0
    ).fit(X, y)
    assert np.array_equal(longer.validation_errors_[: len(errors)], errors)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_early_stopping_on_a_set(kind):
    X, y = rows(600, noise=2.0) if kind == "labels" else curve(600)
    make = AdaBoostClassifier if kind == "labels" else AdaBoostRegressor
    model = make(n_estimators=60, early_stopping=(X[400:], y[400:]), early_stopping_rounds=3)
    model.fit(X[:400], y[:400])
    scores = list(model.staged_score(X[400:], y[400:]))
    if kind == "labels":
        assert model.validation_errors_[: len(model)] == pytest.approx(1 - np.array(scores))
    assert len(model) == model.validation_errors_.argmin() + 1
    assert scores[-1] == max(scores)


def test_labels_of_a_set_that_training_lacks_are_wrong():
    X, y = rows()
    strange = np.where(np.arange(len(y)) < 100, 9, y)
    model = AdaBoostClassifier(n_estimators=5, early_stopping=(X, strange)).fit(X, y)
    stages = [(said != strange).mean() for said in model.staged_predict(X)]
    assert model.validation_errors_[: len(model)] == pytest.approx(stages)
    assert min(stages) >= 100 / len(y)


# --- parameters of the base


def test_bases_keep_their_parameters():
    X, y = rows()
    base = DecisionTreeClassifier(max_depth=2, class_weight={0: 1.0, 1: 3.0}, min_samples_leaf=10)
    model = AdaBoostClassifier(base, n_estimators=3).fit(X, y)
    assert model.estimators_[0].class_weight == {0: 1.0, 1: 3.0}
    assert min(tree.tree_.n_node_samples.min() for tree in model.estimators_) >= 10
    plain = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3).fit(X, y)
    assert (model.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()
    pruned = AdaBoostClassifier(DecisionTreeClassifier(ccp_alpha=0.02), n_estimators=3).fit(X, y)
    assert pruned.estimators_[0].get_n_leaves() < 20


def test_random_trees_differ_from_round_to_round():
    X, y = rows()
    base = DecisionTreeClassifier(max_depth=1, splitter="random")
    model = AdaBoostClassifier(base, n_estimators=6, random_state=0).fit(X, y)
    assert len({tree.random_state for tree in model.estimators_}) == 6
    cuts = {(int(t.forest_.column[0]), float(t.forest_.threshold[0])) for t in model.estimators_}
    assert len(cuts) == 6


def test_regression_trees_of_every_criterion():
    X, y = curve()
    for criterion in ("squared_error", "absolute_error"):
        base = DecisionTreeRegressor(max_depth=3, criterion=criterion)
        assert AdaBoostRegressor(base, n_estimators=10).fit(X, y).score(X, y) > 0.8


def test_progress_is_shown_only_if_asked(capsys):
    X, y = rows()
    AdaBoostClassifier(n_estimators=4).fit(X, y)
    assert capsys.readouterr() == ("", "")
    AdaBoostClassifier(n_estimators=4, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "4" in err


# --- categories


@pytest.mark.parametrize(("kind", "depth"), [("Classifier", 1), ("Classifier", 3), ("Regressor", 3)])
def test_trees_hold_back_from_columns_that_name_the_row(kind, depth):
    """A column of many categories gains by chance; held out rows tell."""
    rng = np.random.default_rng(5)
    size = rng.normal(size=900)
    name = rng.integers(0, 200, 900).astype(str)
    score = size + rng.normal(size=900)
    y = (score > 0).astype(int) if kind == "Classifier" else score
    X = pd.DataFrame({"size": size, "name": name})
    base = getattr(weald, f"DecisionTree{kind}")(max_depth=depth)
    held_out = {}
    for penalty in (0.0, 2.0):
        model = getattr(weald, f"AdaBoost{kind}")(base, n_estimators=30, cat_penalty=penalty)
        model.fit(X[:600], y[:600])
        held_out[penalty] = model.score(X[600:], y[600:])
    assert held_out[2.0] > held_out[0.0] + 0.02


def test_categories_without_a_penalty_are_split_greedily_by_both_searches(monkeypatch):
    table, y = mixed()
    fast = AdaBoostClassifier(n_estimators=6, cat_penalty=0.0).fit(pd.DataFrame(table), y)
    monkeypatch.setattr(adaboost_stumps, "_is_plain_stump", lambda options: False)
    slow = AdaBoostClassifier(n_estimators=6, cat_penalty=0.0).fit(pd.DataFrame(table), y)
    assert np.array_equal(
        fast.decision_function(pd.DataFrame(table)), slow.decision_function(pd.DataFrame(table))
    )
