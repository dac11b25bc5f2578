"""Probabilities of balanced ensembles that are told by rows which members did not see."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from unit.estimators.balanced.data import mixed, three

import weald
from weald import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    DecisionTreeClassifier,
    EasyEnsembleClassifier,
    RandomForestClassifier,
)
from weald.errors import ModelFileError
from weald.estimators.balanced.held_out import N_PARTS, HeldOutBags
from weald.resampling.calibration import ShareMap
from weald.resampling.priors import correct_priors

MAKERS = {
    "forest": lambda **given: BalancedRandomForestClassifier(30, random_state=0, **given),
    "easy": lambda **given: EasyEnsembleClassifier(4, random_state=0, **given),
}
both = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@both
def test_nearer_to_the_truth_than_odds_alone(make):
    table, y = mixed(2000, share=0.05)
    new, truth = mixed(4000, seed=3, share=0.05)
    model = make().fit(table, y)
    rare = truth == "rare"
    told = model.predict_proba(new)[:, 0]
    assert isinstance(model._share_map, ShareMap)
    model._share_map = None
    by_odds = model.predict_proba(new)[:, 0]
    assert np.mean((told - rare) ** 2) < np.mean((by_odds - rare) ** 2)


@both
def test_files_and_further_fits(make):
    X, y = three()
    model = make().fit(X, y)
    again = weald.load(model.to_bytes())
    assert again._share_map == model._share_map
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    # A fit without the correction needs no map, and odds are what is left where it is wanted after all.
    plain = make(correct_prior=False).fit(X, y)
    assert plain._share_map is None
    shares = plain.predict_proba(X)
    told = plain.set_params(correct_prior=True).predict_proba(X)
    np.testing.assert_allclose(told, correct_priors(shares, np.bincount(y), [1, 1, 1]), atol=1e-12)
    assert weald.load(plain.to_bytes())._share_map is None


def test_a_forest_of_the_rows_as_they_are_takes_part(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 2))
    cell = (4 * X).astype(int).sum(axis=1) % 2  # a chess board: much to learn for few rows
    y = rng.random(6000) < np.where(cell, 0.09, 0.005)
    weight = rng.uniform(0.5, 2.0, 6000)
    weight[::40] = 0.0
    train, test = slice(0, 3000), slice(3000, None)
    given = {"min_samples_leaf": 5, "random_state": 0}
    models = {}
    for kind in (True, "blend"):
        model = BalancedRandomForestClassifier(40, correct_prior=kind, oob_score=True, **given)
        models[kind] = model.fit(X[train], y[train], sample_weight=weight[train])
    brier = {kind: np.mean((m.predict_proba(X[test])[:, 1] - y[test]) ** 2) for kind, m in models.items()}
    blended = models["blend"]
    plain = RandomForestClassifier(40, **given).fit(X[train], y[train], sample_weight=weight[train])
    said = plain.predict_proba(X[test])
    assert brier["blend"] < min(brier[True], np.mean((said[:, 1] - y[test]) ** 2))
    assert (blended.plain_forest_.predict_proba(X[test]) == said).all()
    assert models[True].plain_forest_ is None
    assert blended._share_map.blends
    # Out of bag, both forests are asked for what they did not see, and the fit tells the class shares.
    there = weight[train] > 0
    unseen = blended.oob_decision_function_[there]
    assert unseen[:, 1].mean() == pytest.approx(y[train][there].mean(), abs=0.01)
    assert (blended.predict(X) == models[True].predict(X)).all()
    one = BalancedRandomForestClassifier(40, correct_prior="blend", n_jobs=1, **given)
    one.fit(X[train], y[train], sample_weight=weight[train])
    assert (one.predict_proba(X) == blended.predict_proba(X)).all()
    # A file has both, and a loaded model goes on as the other.
    blended.save(tmp_path / "model.weald")
    again = weald.load(tmp_path / "model.weald")
    assert (again.predict_proba(X) == blended.predict_proba(X)).all()
    curve = weald.partial_dependence(again, X[test][:200], 0, grid=[0.1, 0.6], response="predict_proba")
    moved = X[test][:200].copy()
    for k, place in enumerate((0.1, 0.6)):
        moved[:, 0] = place
        assert curve.average[..., k].ravel()[-1] == pytest.approx(again.predict_proba(moved)[:, 1].mean())
    plain_votes = clone(models[True]).set_params(correct_prior=False)
    plain_votes.fit(X[train], y[train], sample_weight=weight[train])
    votes = plain_votes.predict_proba(X)
    assert (again.set_params(correct_prior=False).predict_proba(X) == votes).all()


def test_a_file_whose_forests_do_not_go_together_is_refused():
    X, y = three()
    model = BalancedRandomForestClassifier(10, correct_prior="blend", random_state=0).fit(X, y)
    assert model._share_map.blends
    cut = RandomForestClassifier(3).fit(X[:, :-1], y)
    for other in (None, cut, DecisionTreeClassifier().fit(X, y)):
        broken = pickle.loads(pickle.dumps(model))
        broken.plain_forest_ = other
        with pytest.raises(ModelFileError, match="forest"):
            broken.to_bytes()


def test_a_blended_warm_start_has_two_larger_forests():
    X, y = three()
    given = {"correct_prior": "blend", "random_state": 0}
    model = BalancedRandomForestClassifier(10, warm_start=True, **given).fit(X, y)
    model.set_params(n_estimators=25).fit(X, y)
    whole = BalancedRandomForestClassifier(25, **given).fit(X, y)
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X, y)
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()


@both
def test_a_warm_start_tells_anew(make):
    X, y = three()
    model = make(warm_start=True).fit(X, y)
    first = model._share_map
    model.set_params(n_estimators=model.n_estimators + 3).fit(X, y)
    assert model._share_map != first
    assert model._share_map == make().set_params(n_estimators=model.n_estimators).fit(X, y)._share_map


@both
def test_too_few_rows_leave_odds(make):
    X, y = three()
    few = np.where(np.arange(len(y)) < 4, 1, 0)
    assert make().fit(X, few)._share_map is None


def test_weights_are_said_to_be_no_draws_and_what_draws_by_them_does():
    X, y = three()
    heavy = np.where(np.arange(len(y)) % 2, 1e-9, 1.0)
    with pytest.warns(UserWarning, match=r"BalancedBaggingClassifier\(DecisionTreeClassifier\(\)\)") as told:
        easy = EasyEnsembleClassifier(2, DecisionTreeClassifier(), random_state=0).fit(X, y, heavy)
    assert not any("bootstrap" in str(each.message) for each in told)
    assert (np.concatenate(easy.estimators_samples_) % 2).any()
    named = BalancedBaggingClassifier(DecisionTreeClassifier(), 2, random_state=0).fit(X, y, heavy)
    assert not (np.concatenate(named.estimators_samples_) % 2).any()


def test_members_that_judge_lack_the_rows_they_judge():
    X, y = three()
    weight = np.where(np.arange(len(y)) % 9 == 0, 0.0, 1.0)
    with pytest.warns(UserWarning, match="only leave out rows of weight 0"):
        model = EasyEnsembleClassifier(2, random_state=0).fit(X, y, weight)
    bags = HeldOutBags.of(model._bags)
    judged = []
    for bag in range(N_PARTS):
        rows, asked = bags.rows(bag), bags.judging(bag)
        judged.append(asked)
        assert not np.isin(rows, asked).any()
        assert weight[rows].all()
        assert np.ptp(np.bincount(y[rows])) == 0
    np.testing.assert_array_equal(np.sort(np.concatenate(judged)), np.flatnonzero(weight))
