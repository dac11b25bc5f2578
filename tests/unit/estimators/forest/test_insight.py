"""Forests refuse, in words, what is not their training table; what is theirs survives a file."""

import numpy as np
import pytest

import weald
from weald import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from weald.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, "b", "a")
MODEL = RandomForestClassifier(30, random_state=0).fit(X, Y)


def calls(model, X, y, **weights):
    """Every method that needs the training table."""
    yield lambda: model.oob_votes(X, **weights)
    yield lambda: model.oob_error_curve(X, y, **weights)
    yield lambda: model.oob_margins(X, y, **weights)
    yield lambda: model.strength(X, y, **weights)
    yield lambda: model.permutation_importance(X, y, **weights)


@pytest.mark.parametrize("n", range(5))
def test_another_number_of_rows_is_refused(n):
    call = list(calls(MODEL, X[:30], Y[:30]))[n]
    with pytest.raises(DataError, match="X has 30 rows, and RandomForestClassifier was fitted on 40"):
        call()


@pytest.mark.parametrize("n", range(5))
def test_without_bags_nothing_is_out_of_bag(n):
    call = list(calls(ExtraTreesClassifier(3, random_state=0).fit(X, Y), X, Y))[n]
    with pytest.raises(DataError, match=r"none is out of bag\. Fit with bootstrap=True"):
        call()


@pytest.mark.parametrize("n", range(5))
def test_other_weights_than_those_of_the_fit_are_refused(n):
    weight = np.arange(40) > 3
    for model, given in ((MODEL, weight), (RandomForestClassifier(5).fit(X, Y, weight), None)):
        call = list(calls(model, X, Y, sample_weight=given))[n]
        with pytest.raises(DataError, match=r"rows have a weight above 0\. Give the table"):
            call()


def test_a_fraction_of_draws_goes_with_any_weights_that_leave_enough_rows():
    model = RandomForestClassifier(60, max_samples=0.5, random_state=0, oob_score=True).fit(X, Y)
    assert model.oob_error_curve(X, Y)[-1] == pytest.approx(1 - model.oob_score_)


def test_another_target_is_refused():
    with pytest.raises(DataError, match="labels in y are not those"):
        MODEL.strength(X, np.where(Y == "a", "a", "c"))
    with pytest.raises(DataError, match="y has 2 outputs, and RandomForestClassifier was fitted on 1"):
        MODEL.oob_error_curve(X, np.column_stack([Y, Y]))


def test_several_outputs_have_no_votes_margins_or_strength():
    both = np.column_stack([Y, Y])
    model = RandomForestClassifier(5, random_state=0).fit(X, both)
    for call in (model.oob_margins, model.strength, model.oob_votes):
        with pytest.raises(DataError, match=f"`{call.__name__}` of .* is for one output"):
            call(X, both)


def test_margins_and_strength_are_for_labels():
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    assert not hasattr(model, "oob_margins")
    assert not hasattr(model, "strength")
    assert hasattr(RandomForestClassifier(), "strength")


@pytest.mark.parametrize("method", ["oob_error_curve", "permutation_importance"])
def test_a_metric_is_a_function(method):
    with pytest.raises(ParameterError, match=f"`metric` of {method} must be a function.*got 'f1'"):
        getattr(MODEL, method)(X, Y, metric="f1")


@pytest.mark.parametrize("n_repeats", [0, 1.5, True, None])
def test_repeats_are_whole_numbers(n_repeats):
    with pytest.raises(ParameterError, match=r"`n_repeats` .* whole number of at least 1"):
        MODEL.permutation_importance(X, Y, n_repeats=n_repeats)


def test_a_forest_that_is_not_fitted_says_so():
    model = RandomForestClassifier()
    for call in (*calls(model, X, Y), model.criterion_importance, model.importances_by_tree):
        with pytest.raises(Exception, match="not fitted"):
            call()


def test_what_a_loaded_forest_says_is_the_same(tmp_path):
    MODEL.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert np.array_equal(loaded.oob_votes(X), MODEL.oob_votes(X))
    assert loaded.strength(X, Y) == MODEL.strength(X, Y)
    again = loaded.permutation_importance(X, Y).importances_mean
    assert np.array_equal(again, MODEL.permutation_importance(X, Y).importances_mean)


def test_trees_that_a_warm_start_added_count_too():
    model = RandomForestClassifier(10, random_state=0, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=30).fit(X, Y)
    assert np.array_equal(model.oob_votes(X), MODEL.oob_votes(X))
