"""`trace` of ensembles of models, member by member; and of what stands around a model, the way it names."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald import (
    AdaBoostClassifier,
    BaggingRegressor,
    Conformal,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EasyEnsembleClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomOverSampler,
    Resampled,
    Thresholded,
    VotingClassifier,
    VotingRegressor,
    XGBClassifier,
    trace,
)
from weald.errors import DataError, DataTypeError, ParameterError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3)).round(1)
NUMBERS = X[:, 0] + RNG.normal(size=60)
LABELS = np.where(NUMBERS > 0.8, "rare", "usual")
EASY = EasyEnsembleClassifier(3, AdaBoostClassifier(n_estimators=3), random_state=0)
SOFT = VotingClassifier(
    [("forest", RandomForestClassifier(2, random_state=0)), ("easy", EASY)], voting="soft", weights=[1.0, 2.0]
)


def test_every_round_of_an_easy_ensemble() -> None:
    model = weald.EasyEnsembleClassifier(3, AdaBoostClassifier(n_estimators=3), random_state=0)
    found = trace(model.fit(X, LABELS), X, LABELS)
    assert found.agrees
    assert found.n_compared == sum(member.n_compared for member in found.members) > 100
    n_rare = int((LABELS == "rare").sum())
    for member in found.members:
        assert len(member.rounds) == 3
        root = member.tree(0).nodes[0]
        assert root.n_rows == 2 * n_rare
        assert member.rounds[0].facts["say"] == member.rounds[0].facts["weight"] / 2
    text = found.to_text()
    assert text.startswith("EasyEnsembleClassifier: 3 members, 60 rows\nAll ")
    assert "\nMember 2\n  AdaBoostClassifier: 3 rounds" in text
    assert "Round 1: error" in text
    some = trace(model, X, LABELS, rounds=[2])
    assert (some.numbers, len(some.members)) == ([2], 1)
    assert "1 of 3 members" in repr(some)
    assert some.tree(1, member=2).tree == 1
    for call, words in (
        (lambda: some.tree(0), "Member 0 was not traced"),
        (lambda: found.row(60), "0 to 59"),
    ):
        with pytest.raises(ParameterError, match=words):
            call()
    with pytest.raises(ParameterError, match="members from 0 to 2"):
        trace(model, X, LABELS, rounds=[3])


def test_what_was_altered_in_a_member_is_named() -> None:
    model = EasyEnsembleClassifier(2, XGBClassifier(n_estimators=1), random_state=0).fit(X, LABELS)
    inner = model.estimators_[1]
    values = inner.forest_.value.copy()
    values[0, 0] += 1e-6
    members = copy.copy(model._members)
    other = copy.copy(inner)
    other.forest_ = replace(inner.forest_, value=values)
    wrong = copy.copy(model)
    wrong._members = replace(members, fitted=[members.fitted[0], other])
    found = trace(wrong, X, LABELS)
    assert not found.agrees
    assert [(each.member, each.round, each.what) for each in found.disagreements] == [((1,), 0, "value")]
    assert str(found.disagreements[0]).startswith("member 1, round 0, tree 0, node")
    assert found.where.startswith("member 1, ")
    assert "do NOT agree" in str(found)
    assert not trace(model, X[::-1], LABELS).agrees


def test_ways_of_rows_end_in_predictions() -> None:
    easy = EasyEnsembleClassifier(3, AdaBoostClassifier(n_estimators=3), random_state=0).fit(X, LABELS)
    for i in (0, 17, 59):
        way = trace(easy, X, LABELS).row(i)
        np.testing.assert_array_equal(way.prediction, easy.predict_proba(X[i : i + 1])[0])
        assert easy.classes_[int(np.argmax(way.score))] == easy.predict(X[i : i + 1])[0]
        assert [each.says for each in way.ways] == [
            tuple(member.predict_proba(X[i : i + 1])[0]) for member in easy.estimators_
        ]
    assert "by the class shares of the rows of fit" in str(way)
    assert "Member 2 says rare:" in str(way)
    assert "<pre>" in way._repr_html_()
    start = GradientBoostingRegressor(n_estimators=2, init=DecisionTreeRegressor(max_depth=1))
    bags = BaggingRegressor(start, n_estimators=2, max_features=2, random_state=0).fit(X, NUMBERS)
    found = trace(bags, X, NUMBERS)
    for i in (1, 40):
        way = found.row(i)
        assert way.prediction[0] == bags.predict(X[i : i + 1])[0]
        for each in way.ways:
            assert each.way.score[0] == pytest.approx(each.says[0], rel=1e-12)
    votes = VotingClassifier([("a", DecisionTreeClassifier(max_depth=2)), ("b", EASY)]).fit(X, LABELS)
    way = trace(votes, X, LABELS).row(3)
    assert votes.classes_[int(np.argmax(way.score))] == votes.predict(X[3:4])[0]
    assert "share of votes" in str(way)
    members = [("a", DecisionTreeRegressor(max_depth=2)), ("b", RandomForestRegressor(2, random_state=0))]
    mean = VotingRegressor(members, weights=[1.0, 3.0]).fit(X, NUMBERS)
    way = trace(mean, X, NUMBERS).row(3)
    assert way.score[0] == mean.predict(X[3:4])[0]
    assert "and counts 3" in str(way)


@pytest.mark.parametrize("model", [EASY, SOFT], ids=["bags", "votes"])
def test_models_from_files(model: Any, tmp_path: Path) -> None:
    model.fit(X, LABELS).save(tmp_path / "model.weald")
    found = trace(weald.load(tmp_path / "model.weald"), X, LABELS)
    assert found.agrees, found.disagreements[:2]


def test_a_sampler_that_a_file_lacks_is_asked_for(tmp_path: Path) -> None:
    sampler = RandomOverSampler()
    model = weald.BalancedBaggingClassifier(n_estimators=2, sampler=sampler, random_state=0).fit(X, LABELS)
    assert trace(model, X, LABELS).agrees
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    with pytest.raises(DataTypeError, match=r"keeps no sampler.*set_params\(sampler=…\)"):
        trace(loaded, X, LABELS)
    assert trace(loaded.set_params(sampler=sampler), X, LABELS).agrees
    boosted = weald.BalancedBaggingClassifier(XGBClassifier(n_estimators=2), n_estimators=2, random_state=0)
    boosted.set_params(sampler=sampler).fit(X, LABELS).save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert "keeps no sampler" in trace(loaded, X, LABELS).notes[0]
    assert trace(loaded.set_params(sampler=sampler), X, LABELS).agrees


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_tell_the_member(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"a": X[:, 0], "b": [str(v % 5) for v in range(60)]}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    members = [("tree", DecisionTreeClassifier(max_depth=2)), ("easy", EASY)]
    found = trace(VotingClassifier(members).fit(table, LABELS), table, LABELS)
    assert found.agrees
    easy = found.member(1)
    frames = [
        found.to_frame(),
        found.candidates_frame(),
        easy.rows_frame(1, member=2),
        found.row(3).to_frame(),
    ]
    for frame in frames:
        assert type(frame).__module__.split(".")[0] == library
    told = found.to_frame("dict")
    assert sorted(set(told["member"])) == [0, 1]
    assert {inner for inner in told["member of it"] if inner is not None} == {0, 1, 2}
    assert len({len(values) for values in told.values()}) == 1
    assert easy.members[0].to_frame("dict")["why"][0] in told["why"]
    assert str(found).count("Member ") == 5
    assert found._repr_html_().count("<details") == found._repr_html_().count("</details>")


def test_same_for_any_number_of_threads() -> None:
    texts = set()
    for n_jobs in (1, 2):
        base = XGBClassifier(n_estimators=2, n_jobs=n_jobs)
        model = EasyEnsembleClassifier(2, base, random_state=0)
        texts.add(trace(model.fit(X, LABELS), X, LABELS).to_text())
    assert len(texts) == 1


def test_wrappers_name_a_way_that_works() -> None:
    """What stands around a model is refused; the sentence says what to call, and that agrees."""
    split = Conformal(RandomForestRegressor(2, random_state=0)).fit(X, NUMBERS)
    rest = np.setdiff1d(np.arange(60), split.calibration_rows_)
    cross = Conformal(DecisionTreeRegressor(max_depth=2), method="cv+").fit(X, NUMBERS)
    threshold = Thresholded(XGBClassifier(n_estimators=2), pos_label="rare").fit(X, LABELS)
    sampler = RandomOverSampler(random_state=0)
    resampled = Resampled(AdaBoostClassifier(n_estimators=2), sampler).fit(X, LABELS)
    made = sampler.fit_resample(X, LABELS)
    pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2)).fit(X, NUMBERS)
    search = GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2]}).fit(X, NUMBERS)
    for model, inner, rows, y, words in (
        (split, split.estimator_, X[rest], NUMBERS[rest], "trace(model.estimator_, X[rows], y[rows])"),
        (cross, cross.estimator_, X, NUMBERS, "weald.trace(model.estimator_, X, y)"),
        (threshold, threshold.estimator_, X, LABELS, "weald.trace(model.estimator_, X, y)"),
        (resampled, resampled.estimator_, *made, "weald.trace(model.estimator_, rows, labels)"),
        (pipeline, pipeline[-1], pipeline[:-1].transform(X), NUMBERS, "weald.trace(model[-1]"),
        (search, search.best_estimator_, X, NUMBERS, "weald.trace(model.best_estimator_, X, y)"),
    ):
        with pytest.raises(DataTypeError, match=re.escape(words)):
            trace(model, X, y)
        assert trace(inner, rows, y).agrees


def test_members_without_trees_are_named() -> None:
    votes = VotingClassifier([("line", LogisticRegression()), ("tree", DecisionTreeClassifier())]).fit(
        X, LABELS
    )
    with pytest.raises(DataTypeError, match=r"member 0, 'line'.*LogisticRegression. It has no trees"):
        trace(votes, X, LABELS)
    assert trace(votes, X, LABELS, rounds=[1]).agrees
    bagged = BaggingRegressor(LinearRegression(), n_estimators=2).fit(X, NUMBERS)
    with pytest.raises(DataTypeError, match=r"member 0 of this BaggingRegressor.*LinearRegression"):
        trace(bagged, X, NUMBERS)
    with pytest.raises(ParameterError, match="base_margin"):
        trace(votes, X, LABELS, base_margin=NUMBERS)
    easy = EasyEnsembleClassifier(2, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        trace(easy, X, LABELS)
    with pytest.raises(DataError, match="Give the y of `fit`"):
        trace(easy.fit(X, LABELS), X, np.where(LABELS == "rare", "other", "usual"))
