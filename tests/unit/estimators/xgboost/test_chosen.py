"""The parameters that wait for the table: what they are where nobody gave them (boosting.md, 12)."""

import numpy as np
import pandas as pd
import pytest

import weald
from weald import XGBClassifier, XGBRanker, XGBRegressor, XGBRFClassifier
from weald.boosting.newton.learning_rate import chosen_rate
from weald.boosting.records import BoostTarget
from weald.errors import WealdError


def rows(n=2000, share=0.2, seed=0):
    """A column of categories beside a number, and a class of so many rows."""
    random = np.random.default_rng(seed)
    town = pd.Categorical(random.integers(8, size=n).astype(str))
    X = pd.DataFrame({"town": town, "size": random.normal(size=n)})
    return X, (np.arange(n) < share * n).astype(int)


def rate(y, n_rounds=100, weight=None):
    return chosen_rate(BoostTarget(np.asarray(y, float), weight), n_rounds)


@pytest.mark.parametrize(
    ("n_rows", "share", "n_rounds"),
    [(16_000, 0.5, 100), (16_000, 0.2, 100), (16_000, 0.02, 100), (2_000, 0.3, 400), (40_000, 0.3, 100)],
)
def test_it_is_the_equation(n_rows, share, n_rounds):
    y = np.arange(n_rows) < share * n_rows
    even = max(0.4, 4 * share * (1 - share))  # Gini's impurity over that of two equal classes
    wanted = 0.12 * even * max(1.0, n_rows / 16_000) ** 0.25 * (100 / n_rounds) ** 0.75
    assert rate(y, n_rounds) == pytest.approx(wanted, abs=0.0005)


@pytest.mark.parametrize("share", [0.5, 0.15])
def test_fit_asks_for_it(share):
    X, y = rows(share=share)
    assert XGBClassifier(n_estimators=20).fit(X, y).learning_rate_ == rate(y, 20)


def test_what_makes_it_smaller_and_how_far():
    many = np.arange(16_000)
    assert rate(many % 2) == rate(many % 5) == rate(many) == 0.12  # three classes and numbers are even too
    assert rate(many % 1000 == 0) == rate(many % 10 == 0) == 0.048
    assert rate(many % 10 == 0) < rate(many % 5 == 0) < 0.12
    assert rate(many[:1000] % 2) == 0.12 < rate(np.arange(64_000) % 2)
    assert rate(many % 2, 1) == rate(many % 2, 0) == 0.3
    assert rate(many % 100 == 0, 10_000) == 0.01
    both = np.column_stack([many % 2, many % 5 == 0])
    assert rate(both) == pytest.approx((rate(many % 2) + rate(many % 5 == 0)) / 2, abs=0.001)


def test_whole_weights_are_repeated_rows_and_others_only_tell_who_is_there():
    X, y = rows(400)
    times = np.random.default_rng(1).integers(0, 5, size=len(y))
    twice = np.repeat(np.arange(len(y)), times)
    weighted = XGBClassifier(n_estimators=60).fit(X, y, sample_weight=times)
    repeated = XGBClassifier(n_estimators=60).fit(X.iloc[twice].reset_index(drop=True), y[twice])
    assert weighted.learning_rate_ == repeated.learning_rate_
    assert rate(y, weight=times.astype(float)) == rate(y[twice])
    present = times > 0
    assert rate(y, weight=times * 0.3) == rate(y[present])
    order = np.random.default_rng(2).permutation(len(y))
    assert rate(y[order], weight=times[order] * 0.3) == rate(y[present])


def test_tables_of_numbers_keep_xgboosts():
    X, y = rows(600)
    numbers = X[["size"]]
    usual, given = XGBClassifier(n_estimators=5), XGBClassifier(n_estimators=5, learning_rate=0.3)
    assert usual.fit(numbers, y).learning_rate_ == 0.3
    np.testing.assert_array_equal(usual.forest_.value, given.fit(numbers, y).forest_.value)
    assert b"learning_rate" not in usual.to_bytes()  # files are what they were
    assert b"learning_rate" in XGBClassifier(n_estimators=50).fit(*rows(600, 0.01)).to_bytes()


def test_a_given_one_stays_as_it_is():
    X, y = rows(600)
    few = {"n_estimators": 200}
    for given in ({"learning_rate": 0.3}, {"eta": 0.3}):
        assert XGBClassifier(**given, **few).fit(X, y).learning_rate_ == 0.3
    assert XGBRFClassifier(n_estimators=5).fit(X, y).learning_rate_ == 1.0
    by_hand = XGBClassifier(n_estimators=50).fit(X, y)
    same = XGBClassifier(n_estimators=50, learning_rate=by_hand.learning_rate_).fit(X, y)
    assert by_hand.learning_rate_ < 0.3
    np.testing.assert_array_equal(by_hand.predict_proba(X), same.predict_proba(X))


def test_rankings_keep_xgboosts():
    X, y = rows(200)
    assert XGBRanker(n_estimators=3).fit(X, y, qid=np.arange(200) // 10).learning_rate_ == 0.3


def test_folds_and_held_out_rows_learn_at_that_of_all_rows():
    X, y = rows(900)
    wanted = XGBClassifier(n_estimators=150).fit(X, y).learning_rate_
    for held_out in ("cv", 0.2):
        model = XGBClassifier(n_estimators=150, early_stopping=held_out).fit(X, y)
        assert model.n_rounds_ < 150
        assert model.learning_rate_ == wanted


def test_it_comes_back_from_files():
    X, y = rows(600)
    for settings in ({}, {"learning_rate": 0.5}):
        model = XGBClassifier(n_estimators=30, **settings).fit(X, y)
        loaded = weald.load(model.to_bytes())
        assert loaded.learning_rate_ == model.learning_rate_
        assert loaded.get_params()["learning_rate"] == settings.get("learning_rate")
        assert loaded.to_bytes() == model.to_bytes()
    assert weald.trace(model, X, y).agrees


def test_xgboosts_native_names_choose_it_too():
    X, y = rows(900)
    booster = weald.train({"objective": "binary:logistic"}, weald.DMatrix(X, y), 150)
    model = XGBClassifier(n_estimators=150).fit(X, y)
    np.testing.assert_array_equal(booster.inplace_predict(X), model.predict_proba(X)[:, 1])
    again = XGBRegressor(objective="binary:logistic", n_estimators=150).fit(X, y)
    assert again.learning_rate_ == model.learning_rate_


# --------------------------------------------------------------------------- the other defaults


def told(model):
    names = ("grow_policy_", "max_leaves_", "max_depth_", "min_child_weight_", "reg_lambda_")
    return tuple(getattr(model, name) for name in names)


def test_trees_grow_where_they_gain_most():
    X, y = rows(900)
    assert told(XGBClassifier(n_estimators=3).fit(X, y)) == ("lossguide", 31, 0, 2.0, 3.0)
    assert told(XGBRegressor(n_estimators=3).fit(X, y)) == ("lossguide", 31, 0, 2.0, 3.0)
    assert told(XGBClassifier(n_estimators=3).fit(X, np.arange(900) % 3)) == ("lossguide", 31, 0, 1.0, 3.0)
    by_hand = {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "min_child_weight": 2}
    same = XGBClassifier(n_estimators=3, reg_lambda=3, **by_hand).fit(X, y)
    chosen = XGBClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_array_equal(chosen.predict_proba(X), same.predict_proba(X))
    assert chosen.forest_.n_nodes == same.forest_.n_nodes


def test_without_categories_and_for_rankings_they_are_xgboosts():
    X, y = rows(200)
    usual = ("depthwise", 0, 6, 1.0, 1.0)
    assert told(XGBClassifier(n_estimators=3).fit(X[["size"]], y)) == usual
    assert told(XGBRanker(n_estimators=3).fit(X, y, qid=np.arange(200) // 10)) == usual


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"max_depth": 4}, ("depthwise", 0, 4, 2.0, 3.0)),
        ({"max_leaves": 9}, ("depthwise", 9, 6, 2.0, 3.0)),
        ({"grow_policy": "lossguide"}, ("lossguide", 0, 6, 2.0, 3.0)),
        ({"lambda": 1}, ("lossguide", 31, 0, 2.0, 1)),
        ({"min_child_weight": 1}, ("lossguide", 31, 0, 1, 3.0)),
    ],
)
def test_who_gives_one_has_it(given, wanted):
    model = XGBClassifier(n_estimators=3, **given).fit(*rows(600))
    assert told(model) == wanted
    assert told(weald.load(model.to_bytes())) == wanted


def test_categories_asked_to_be_numbers_of_0_and_1_have_the_defaults_of_numbers():
    X, y = rows(600)  # eight towns
    assert told(XGBClassifier(n_estimators=3, max_cat_to_onehot=8).fit(X, y)) == ("depthwise", 0, 6, 1.0, 1.0)
    assert told(XGBClassifier(n_estimators=3, max_cat_to_onehot=7).fit(X, y))[0] == "lossguide"


def test_forests_of_xgboost_keep_their_own():
    model = XGBRFClassifier(n_estimators=3).fit(*rows(600))
    assert told(model) == ("depthwise", 0, 6, 1.0, 1e-5)
    assert model.learning_rate_ == 1.0
    assert told(weald.load(model.to_bytes())) == told(model)


def test_a_file_with_impossible_ones_is_refused():
    model = XGBClassifier(n_estimators=3).fit(*rows(600))
    for name, value in (("max_leaves_", -1), ("reg_lambda_", float("inf")), ("grow_policy_", "sideways")):
        spoilt = XGBClassifier(n_estimators=3).fit(*rows(600))
        spoilt.__dict__[name] = value
        with pytest.raises(WealdError):
            weald.load(spoilt.to_bytes())
    assert weald.load(model.to_bytes()).to_bytes() == model.to_bytes()
