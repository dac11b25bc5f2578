"""`trace`: what is recomputed from the rows is the model, for every family; what is not is named."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from unit.insight.trace_cases import random_models, random_table, random_targets

import weald
from weald import (
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
    trace,
)
from weald.errors import DataError, DataTypeError, ParameterError, WealdError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3)).round(1)
NUMBERS = X[:, 0] + RNG.normal(size=60)
LABELS = (NUMBERS > 0).astype(int)
CLASSES = np.digitize(NUMBERS, [-0.5, 0.5])


@pytest.mark.parametrize("block", range(10))
def test_every_family_on_random_tables(block: int) -> None:
    """Ten tables each, a hundred in all; every family meets every kind of table."""
    traced = 0
    for seed in range(10 * block, 10 * block + 10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 250 if seed % 10 == 0 else 50))
        table = random_table(rng, n, 90 if seed % 10 == 0 else 14)
        targets = random_targets(rng, table, 3 if seed % 2 else 2)
        weight = [None, rng.random(n), rng.integers(1, 4, n).astype(float)][seed % 3]
        for number, (learns, model) in enumerate(random_models(rng)):
            if (number + seed) % 9:
                continue
            groups = {"qid": np.arange(n) // 5} if learns == "ranks" else {}
            own = weight if weight is None or not groups else weight[: len(np.unique(groups["qid"]))]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.fit(table, targets[learns], sample_weight=own, **groups)
                except WealdError:
                    continue  # parameters or classes that do not go together
            found = trace(model, table, targets[learns], own, **groups)
            assert found.agrees, (seed, model, [str(each) for each in found.disagreements[:3]])
            assert found.largest_difference < 1e-9
            assert found.n_compared > 3
            traced += 1
    assert traced > 15


MODELS: dict[str, tuple[Any, np.ndarray]] = {
    "tree": (DecisionTreeClassifier(ccp_alpha=0.01), CLASSES),
    "tree by folds": (DecisionTreeRegressor(prune="cv", random_state=0), NUMBERS),
    "forest": (RandomForestClassifier(3, random_state=0), LABELS),
    "balanced forest": (weald.BalancedRandomForestClassifier(3, random_state=0), CLASSES),
    "bagging": (BaggingRegressor(n_estimators=3, random_state=0), NUMBERS),
    "adaboost": (AdaBoostClassifier(n_estimators=3), CLASSES),
    "stages": (GradientBoostingClassifier(n_estimators=3, subsample=0.5, random_state=0), CLASSES),
    "newton": (XGBRegressor(n_estimators=3, gamma=0.5, subsample=0.7), NUMBERS),
    "dart": (XGBClassifier(n_estimators=3, booster="dart", rate_drop=0.5), LABELS),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_from_files(name: str, tmp_path: Path) -> None:
    model, y = MODELS[name]
    model.fit(X, y).save(tmp_path / "model.weald")
    found = trace(weald.load(tmp_path / "model.weald"), X, y)
    assert found.agrees, found.disagreements[:2]


def altered(model: Any, name: str, place: Any, value: Any) -> Any:
    """A copy of a model, one number of its forest another."""
    other = copy.copy(model)
    array = getattr(model.forest_, name).copy()
    array[place] = value
    other.forest_ = replace(model.forest_, **{name: array})
    return other


def test_what_was_altered_is_named() -> None:
    model = XGBRegressor(n_estimators=2, max_depth=2).fit(X, NUMBERS)
    leaf = model.forest_.value[2, 0]
    found = trace(altered(model, "value", (2, 0), leaf + 1e-6), X, NUMBERS)
    assert not found.agrees
    first = found.disagreements[0]
    assert (first.round, first.tree, first.what) == (0, 0, "value")
    assert first.model == leaf + 1e-6
    assert first.recomputed == pytest.approx(leaf, rel=1e-12)
    assert "value" in str(first)
    found = trace(altered(model, "threshold", 1, 0.12345), X, NUMBERS)
    assert found.disagreements[0].what == "split (threshold)"
    assert found.disagreements[0].node == 1
    assert np.isinf(found.largest_difference)
    assert found.where
    found = trace(altered(model, "gain", 0, 3.0), X, NUMBERS)
    assert [each.what for each in found.disagreements] == ["gain"]
    side = not bool(model.forest_.missing_left[0])
    found = trace(altered(model, "missing_left", 0, side), X, NUMBERS)
    assert [each.what for each in found.disagreements] == ["split (side of missing values)"]
    assert "NOT" in str(found)
    assert "differs from the model" in str(found)


def test_a_leaf_value_of_a_forest_is_named() -> None:
    model = RandomForestRegressor(2, max_depth=2, random_state=0).fit(X, NUMBERS)
    found = trace(altered(model, "value", (5, 0), 9.0), X, NUMBERS)
    assert [(each.tree, each.what) for each in found.disagreements] == [(1, "value")]


@pytest.mark.parametrize("name", MODELS)
def test_other_rows_disagree(name: str) -> None:
    model, y = MODELS[name]
    model.fit(X, y)
    for rows, target in ((X[::-1], y), (X[:40], y[:40]), (X, np.roll(y, 7))):
        found = trace(model, rows, target)
        assert not found.agrees
        assert "NOT" in str(found)


def test_weights_that_are_missing_disagree() -> None:
    weight = RNG.random(60)
    model = GradientBoostingRegressor(n_estimators=2).fit(X, NUMBERS, sample_weight=weight)
    assert trace(model, X, NUMBERS, weight).agrees
    assert not trace(model, X, NUMBERS).agrees


def test_several_outputs() -> None:
    both = np.stack([NUMBERS, NUMBERS**2], axis=1)
    labels = np.stack([LABELS, CLASSES], axis=1)
    for model, y in (
        (DecisionTreeRegressor(max_depth=3), both),
        (DecisionTreeRegressor(max_depth=3, criterion="absolute_error"), both),
        (DecisionTreeRegressor(max_depth=3, criterion="poisson"), both - both.min() + 0.1),
        (RandomForestClassifier(2, random_state=0), labels),
        (XGBRegressor(n_estimators=2, multi_strategy="multi_output_tree"), both),
        (XGBRegressor(n_estimators=2), both),
    ):
        assert trace(model.fit(X, y), X, y).agrees, model


def test_sparse_and_constrained_and_ranked() -> None:
    rows = sparse.random(60, 5, 0.3, random_state=0).tocsr()
    for model in (
        XGBRegressor(n_estimators=2),
        DecisionTreeRegressor(),
        XGBRegressor(tree_method="hist", n_estimators=2),
    ):
        assert trace(model.fit(rows, NUMBERS), rows, NUMBERS).agrees, model
    for model, y in (
        (DecisionTreeClassifier(monotonic_cst=[1, 0, -1]), LABELS),
        (DecisionTreeRegressor(monotonic_cst=[1, 0, -1], criterion="absolute_error"), NUMBERS),
        (RandomForestRegressor(2, random_state=0, monotonic_cst=[1, 0, -1]), NUMBERS),
        (XGBRegressor(n_estimators=2, monotone_constraints=(1, 0, -1)), NUMBERS),
        (XGBRegressor(n_estimators=2, interaction_constraints=[[0, 1], [2]]), NUMBERS),
        (GradientBoostingRegressor(n_estimators=2, monotonic_cst=[1, 0, 0], loss="huber"), NUMBERS),
    ):
        assert trace(model.fit(X, y), X, y).agrees, model
    queries, relevance = np.repeat(np.arange(6), 10), RNG.integers(0, 3, 60)
    ranker = XGBRanker(n_estimators=2).fit(X, relevance, qid=queries)
    assert trace(ranker, X, relevance, qid=queries).agrees


def test_what_fit_of_boosters_is_given() -> None:
    weights, margin = np.array([1.0, 2.0, 0.5]), NUMBERS / 2
    model = XGBRegressor(n_estimators=2, colsample_bynode=0.5)
    model.fit(X, NUMBERS, feature_weights=weights, base_margin=margin)
    assert trace(model, X, NUMBERS, feature_weights=weights, base_margin=margin).agrees
    assert not trace(model, X, NUMBERS, feature_weights=weights).agrees
    rates = weald.callback.LearningRateScheduler([0.2, 0.1])
    model = XGBRegressor(n_estimators=3, callbacks=[rates]).fit(X, NUMBERS)
    assert trace(model, X, NUMBERS).agrees
    model = XGBRegressor(n_estimators=3, early_stopping=0.2, early_stopping_rounds=2).fit(X, NUMBERS)
    found = trace(model, X, NUMBERS)
    assert found.agrees
    assert "held out" in found.notes[0]
    model = GradientBoostingRegressor(n_estimators=2, init=DecisionTreeRegressor(max_depth=1)).fit(X, NUMBERS)
    assert trace(model, X, NUMBERS).agrees
    model = XGBRegressor(n_estimators=2, objective=lambda y, p: (p - y, np.ones_like(y))).fit(X, NUMBERS)
    assert trace(model, X, NUMBERS).agrees


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_heavier_child_is_told_by_units(n: int) -> None:
    """Means of several outputs are rounded down, so that equal halves may lack a unit of the whole."""
    rows, y = np.arange(16.0)[:, np.newaxis], np.repeat([0, 1, 2], [8, n, 8 - n])
    model = XGBClassifier(n_estimators=1, max_depth=1, multi_strategy="multi_output_tree").fit(rows, y)
    found = trace(model, rows, y)
    best = found.tree(0).nodes[0].best
    assert best is not None
    assert best.left_cover == best.right_cover
    assert best.heavier_left == bool(model.forest_.missing_left[0])
    assert found.agrees


def test_sixteen_bits_a_row() -> None:
    """From 65,536 rows on splits come from 16 bits a row, rounded by chance: drawn again, to the bit."""
    rows = np.random.default_rng(0).normal(size=(66_000, 2))
    y = rows[:, 0] + rows[:, 1] ** 2
    model = XGBRegressor(n_estimators=1, max_depth=2, tree_method="hist").fit(rows, y)
    found = trace(model, rows, y)
    assert found.agrees
    assert found.tree(0).facts["sums that found the splits"] == "16 bits a row"


def test_draws_that_nobody_kept() -> None:
    for parameters in ({"max_features": 1}, {"splitter": "random"}):
        model = DecisionTreeRegressor(**parameters).fit(X, NUMBERS)
        found = trace(model, X, NUMBERS)
        assert found.agrees
        assert "random_state" in found.notes[0]
        other = altered(model, "gain", 0, 99.0)
        assert not trace(other, X, NUMBERS).agrees
    generator = np.random.RandomState(0)
    before = generator.get_state()[2]
    model = DecisionTreeRegressor(max_features=1, random_state=generator).fit(X, NUMBERS)
    after = generator.get_state()[2]
    trace(model, X, NUMBERS)
    assert before != after == generator.get_state()[2]


def test_pruned_branches_and_their_reasons() -> None:
    rows, y = [[10.0], [20.0], [25.0], [35.0]], [-10.0, 7.0, 8.0, -7.0]
    model = XGBRegressor(n_estimators=1, max_depth=2, reg_lambda=0, base_score=0.5, gamma=150).fit(rows, y)
    found = trace(model, rows, y)
    assert found.agrees
    statuses = [node.status for node in found.tree(0).nodes]
    assert statuses == ["leaf", "pruned", "pruned", "pruned", "pruned"]
    assert "below gamma=150" in found.tree(0).nodes[0].why
    tree = DecisionTreeRegressor(ccp_alpha=0.05).fit(X, NUMBERS)
    found = trace(tree, X, NUMBERS)
    path = DecisionTreeRegressor().fit(X, NUMBERS).cost_complexity_pruning_path()
    alphas = found.tree(0).alphas
    assert alphas is not None
    np.testing.assert_allclose([alpha for alpha, _, _ in alphas], path.ccp_alphas, rtol=1e-9, atol=1e-15)
    assert "pruning: alpha" in found.to_text()


def test_why_the_winner_won() -> None:
    twice = np.column_stack([X[:, 0], X[:, 0]])
    tied = trace(DecisionTreeClassifier(max_depth=1).fit(twice, LABELS), twice, LABELS)
    assert "tied with column 1: the lower column wins" in tied.tree(0).nodes[0].why
    model = XGBRegressor(n_estimators=1, max_depth=1, min_child_weight=25).fit(X, NUMBERS)
    limited = trace(model, X, NUMBERS)
    assert "less weight than min_child_weight=25" in str(limited)
    model = XGBRegressor(n_estimators=1, max_depth=1, monotone_constraints=(-1, 0, 0)).fit(X, NUMBERS)
    assert "against the monotone constraint" in str(trace(model, X, NUMBERS))
    import pandas as pd

    frame = pd.DataFrame({"id": [f"r{i}" for i in range(60)], "x": X[:, 0]})
    found = trace(DecisionTreeClassifier(max_depth=1).fit(frame, LABELS), frame, LABELS)
    assert found.agrees
    assert "the column may be an id" in found.tree(0).nodes[0].why


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_users_library(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"a": X[:, 0], "b": [str(v % 5) for v in range(60)]}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    model = XGBRegressor(n_estimators=2).fit(table, NUMBERS)
    found = trace(model, table, NUMBERS)
    frames = [found.to_frame(), found.candidates_frame(), found.rows_frame(1), found.row(3).to_frame()]
    for frame in frames:
        assert type(frame).__module__.split(".")[0] == library
    nodes = found.to_frame("dict")
    assert len(nodes["node"]) == sum(len(tree.nodes) for each in found.rounds for tree in each.trees)
    told = found.candidates_frame("dict")
    chosen = [gain for gain, is_it in zip(told["gain"], told["chosen"], strict=True) if is_it]
    splits = [gain for gain, status in zip(nodes["gain"], nodes["status"], strict=True) if status == "split"]
    assert chosen == splits


def test_rows_add_up_to_predictions() -> None:
    model = XGBClassifier(n_estimators=3).fit(X, CLASSES)
    way = trace(model, X, CLASSES, rounds=1).row(5)
    np.testing.assert_allclose(way.prediction, model.predict_proba(X[5:6])[0], rtol=1e-12)
    assert len(way.steps) == 9
    stages = GradientBoostingRegressor(n_estimators=4).fit(X, NUMBERS)
    way = trace(stages, X, NUMBERS).row(0)
    np.testing.assert_allclose(
        [step.running[0] for step in way.steps], [each[0] for each in stages.staged_predict(X)], rtol=1e-12
    )
    forest = RandomForestRegressor(3, random_state=0).fit(X, NUMBERS)
    assert trace(forest, X, NUMBERS).row(2).score[0] == pytest.approx(forest.predict(X[2:3])[0], rel=1e-12)
    boosted = weald.AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, NUMBERS)
    assert trace(boosted, X, NUMBERS).row(2).score[0] == boosted.predict(X[2:3])[0]
    labels = AdaBoostClassifier(n_estimators=4).fit(X, CLASSES)
    votes = trace(labels, X, CLASSES).row(4)
    assert labels.classes_[int(np.argmax(votes.score))] == labels.predict(X[4:5])[0]
    assert "so far" in str(votes)
    assert "<pre>" in votes._repr_html_()


def test_text_and_html_are_bounded() -> None:
    model = RandomForestClassifier(20, random_state=0).fit(X, CLASSES)
    found = trace(model, X, CLASSES)
    assert "more nodes" in str(found)
    assert len(str(found)) < len(found.to_text())
    html = found._repr_html_()
    assert len(html) < 600_000
    assert html.count("<details") == html.count("</details>")
    assert "more nodes" in html
    assert repr(found) == "<Trace of RandomForestClassifier: 20 trees, 60 rows: agrees>"
    some = trace(model, X, CLASSES, rounds=[3, 1], top=1)
    assert [each.number for each in some.rounds] == [1, 3]
    assert "2 of 20 trees" in str(some)
    assert all(len(found.top) <= 2 for found in some.tree(3).nodes[0].columns)


def test_same_for_any_number_of_threads() -> None:
    texts = set()
    for n_jobs in (1, 2, 5):
        model = RandomForestClassifier(3, random_state=0, n_jobs=n_jobs).fit(X, LABELS)
        texts.add(trace(model, X, LABELS).to_text())
    assert len(texts) == 1


def test_bad_input() -> None:
    model = XGBRegressor(n_estimators=2).fit(X, NUMBERS)
    tree = DecisionTreeClassifier().fit(X, LABELS)
    for call, error, words in (
        (lambda: trace(model, X, NUMBERS, top=0), ParameterError, "`top`"),
        (lambda: trace(model, X, NUMBERS, rounds=0), ParameterError, "`rounds`"),
        (lambda: trace(model, X, NUMBERS, rounds=[2]), ParameterError, "from 0 to 1"),
        (lambda: trace(model, X, NUMBERS, rounds="all"), ParameterError, "`rounds`"),
        (lambda: trace(model, X, NUMBERS).row(60), ParameterError, "from 0 to 59"),
        (lambda: trace(model, X, NUMBERS).tree(9), ParameterError, "was not traced"),
        (lambda: trace(model, X, NUMBERS, rounds=1).rows_frame(1), ParameterError, "was not traced"),
        (lambda: trace(model, X, NUMBERS).to_frame("panda"), ParameterError, "pandas"),
        (lambda: trace(tree, X, LABELS, base_margin=NUMBERS), ParameterError, "base_margin"),
        (lambda: trace(tree, X, LABELS + 5), DataError, "Give the y of `fit`"),
        (lambda: trace(tree, X[:, :2], LABELS), ValueError, "features"),
        (lambda: trace(tree, X, LABELS[:10]), DataError, "60"),
        (lambda: trace(weald.SVC().fit(X, LABELS), X, LABELS), DataTypeError, "SVC. It has no trees"),
        (lambda: trace(model.get_booster(), X, NUMBERS), DataTypeError, "XGBRegressor"),
        (lambda: trace(DecisionTreeClassifier(), X, LABELS), ValueError, "not fitted"),
    ):
        with pytest.raises(error, match=words):
            call()
    from sklearn.linear_model import LinearRegression

    other = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=1).fit(X, NUMBERS)
    with pytest.raises(DataTypeError, match="`estimator`"):
        trace(other, X, NUMBERS)
    bagged = BaggingRegressor(LinearRegression(), n_estimators=2).fit(X, NUMBERS)
    with pytest.raises(DataTypeError, match="LinearRegression"):
        trace(bagged, X, NUMBERS)


def test_progress_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    model = XGBRegressor(n_estimators=2).fit(X, NUMBERS)
    trace(model, X, NUMBERS)
    assert capsys.readouterr() == ("", "")
    trace(model, X, NUMBERS, verbose=1)
    assert "round" in capsys.readouterr().err
