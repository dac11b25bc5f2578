"""Settings that go by the size of a table."""

from __future__ import annotations

import numpy as np
import pytest

from weald.runs.comparing import MOST_BOOSTED_OF_MANY
from weald.runs.methods import LARGEST_RATE, MOST_BOOSTED, Size, boosting_words, make

SMALL, MIDDLE, LARGE = Size(1000, 5, 300), Size(100_000, 5, 300, 3), Size(500_000, 50, 2700, 7)


def settings(size, **given):
    model = make("xgboost", "classification", size=size, settings=given)
    return model.n_estimators, model.learning_rate, model.early_stopping


def test_trees_of_a_round_are_counted_by_labels():
    X = np.zeros((9, 2))
    assert Size.of(X, np.repeat([0, 1, 2], 3), "classification").n_trees == 3
    assert Size.of(X, np.repeat([0, 1, 1], 3), "classification").n_trees == 1
    assert Size.of(X, np.arange(9.0), "regression").n_trees == 1


def test_boosting_of_small_and_middling_tables():
    assert settings(SMALL) == settings(Size(40_000, 100, 300)) == (4000, 0.05, "cv")
    assert settings(Size(2000, 20_000, 900)) == (4000, 0.05, 0.1)  # too wide for folds
    assert settings(MIDDLE) == (4000, 0.05, 0.1)
    assert boosting_words("xgboost", SMALL, {}) == boosting_words("xgboost", MIDDLE, {}) == ""


def test_boosting_of_a_large_table_takes_larger_steps_and_says_so():
    rounds, rate, stopping = settings(LARGE)
    assert stopping == 0.1
    assert rounds * (LARGE.n_rows + 25 * LARGE.n_columns) * LARGE.n_trees == pytest.approx(
        MOST_BOOSTED, rel=0.01
    )
    assert rounds * rate == pytest.approx(4000 * 0.05, rel=0.01)
    said = boosting_words("xgboost", LARGE, {})
    assert f"at most {rounds:,} rounds of {rate} instead of 4,000 of 0.05" in said
    assert settings(Size(5_000_000, 50, 2700, 7))[1] == LARGEST_RATE


def test_boosting_is_of_draws_unless_told_otherwise():
    model = make("xgboost", "regression", size=Size(1000, 5), settings={"subsample": 0.5})
    assert (model.subsample, model.colsample_bytree) == (0.5, 0.8)
    model = make("xgboost", "regression", size=Size(1000, 5), settings={"early_stopping": 0.2})
    assert (model.learning_rate, model.subsample, model.early_stopping) == (0.05, 0.8, 0.2)


@pytest.mark.parametrize("given", [{"learning_rate": 0.1}, {"n_estimators": 500}])
def test_steps_that_were_asked_for_stay(given):
    rounds, rate, _ = settings(LARGE, **given)
    assert (rounds, rate) == (given.get("n_estimators", 4000), given.get("learning_rate", 0.05))
    assert boosting_words("xgboost", LARGE, given) == ""


def test_many_columns_and_labels_count_too():
    wide = Size(12_748, 62_061, 300, 20)
    rounds, rate, stopping = settings(wide)
    assert (rounds, rate, stopping) == (96, LARGEST_RATE, 0.1)
    assert make("gbdt", "classification", size=wide).n_estimators == 96
    assert make("gbdt", "classification", size=MIDDLE).n_estimators == 500
    assert "at most 96 rounds of 0.3 instead of 500 of 0.1" in boosting_words("gbdt", wide, {})
    assert make("xgboost", "classification", size=wide, most_boosted=1e6).n_estimators == 20
    assert settings(Size(1000, 5, 30, 26))[2] == 0.1  # folds of 26 trees a round would take minutes


def test_members_that_vote_find_their_rounds_without_folds():
    model = make("voting", "classification", size=SMALL)
    assert [each.early_stopping for name, each in model.estimators if name == "xgboost"] == [0.1]


def test_folds_tell_the_rounds_only_where_they_are_soon_done():
    """As in comparisons, which fit hundreds of models."""
    for trees, stopping in ((1, "cv"), (4, 0.1)):
        model = make(
            "xgboost", "classification", size=Size(1400, 6, 50, trees), most_boosted=MOST_BOOSTED_OF_MANY
        )
        assert model.early_stopping == stopping
