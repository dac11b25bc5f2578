"""Probabilities of balanced ensembles that are told by rows which members did not see."""

import numpy as np
import pytest
from unit.estimators.balanced.data import mixed, three

import weald
from weald import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    DecisionTreeClassifier,
    EasyEnsembleClassifier,
)
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
