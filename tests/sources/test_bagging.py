"""Bagging and voting as the sources work them out: METHODS, section 2."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier as TheirClassifier
from sklearn.ensemble import VotingRegressor as TheirRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from weald import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
    majority_vote_error,
    variance_of_average,
)
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.bagging.trees import TreeMembers, grow_trees
from weald.model.join import joined


def test_majority_vote_errors():
    assert majority_vote_error(25, 0.35) == pytest.approx(0.06, abs=0.0005)
    assert majority_vote_error(5, 0.1) < 0.01
    assert majority_vote_error(3, 0.4) == pytest.approx(0.352, abs=1e-12)


X = np.round(np.arange(1, 11) / 10, 1)
Y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1])
SAMPLES = [
    [0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.5, 0.6, 0.9, 0.9],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9, 1, 1, 1],
    [0.1, 0.2, 0.3, 0.4, 0.4, 0.5, 0.7, 0.7, 0.8, 0.9],
    [0.1, 0.1, 0.2, 0.4, 0.4, 0.5, 0.5, 0.7, 0.8, 0.9],
    [0.1, 0.1, 0.2, 0.5, 0.6, 0.6, 0.6, 1, 1, 1],
    [0.2, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7, 0.8, 0.9, 1],
    [0.1, 0.4, 0.4, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 1],
    [0.1, 0.2, 0.5, 0.5, 0.5, 0.7, 0.7, 0.8, 0.9, 1],
    [0.1, 0.3, 0.4, 0.4, 0.6, 0.7, 0.7, 0.8, 1, 1],
    [0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.8, 0.8, 0.9, 0.9],
]


@dataclass(frozen=True)
class Given(MemberBags):
    """Bags that are not drawn."""

    def rows(self, bag):
        return np.rint(np.array(SAMPLES[bag]) * 10).astype(int) - 1


def given_bags() -> Given:
    return Given(
        seed=0,
        n_rows=10,
        n_drawn=10,
        n_columns=1,
        n_kept=1,
        bootstrap=True,
        bootstrap_features=False,
        used=None,
        units=None,
    )


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_ten_points_bagged(criterion):
    stump = DecisionTreeClassifier(max_depth=1, criterion=criterion)
    coded = stump._coded(X[:, None], Y, None)
    forest = joined(grow_trees(stump, coded, given_bags(), range(10), n_jobs=1))
    members = TreeMembers(stump, 0, forest, coded.schema, coded.target.classes, None, {})
    thresholds = [tree.tree_.threshold[0] for tree in members.estimators()[:9]]
    assert np.round(thresholds, 10).tolist() == [0.35, 0.65, 0.35, 0.3, 0.35, 0.75, 0.75, 0.75, 0.75]
    assert [tree.get_n_leaves() for tree in members.estimators()] == [2] * 9 + [1]
    votes = sum(tree.predict(X[:, None]) for tree in members.estimators())
    assert votes.tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    assert (np.sign(votes) == Y).all()


def share_in_a_bag(n_rows: int, n_bags: int) -> float:
    table = np.zeros((n_rows, 1))
    model = BaggingClassifier(n_estimators=n_bags, random_state=0).fit(table, np.zeros(n_rows, int))
    return float(np.mean([len(np.unique(rows)) / n_rows for rows in model.estimators_samples_]))


def test_a_row_is_in_a_bootstrap_sample():
    # a share of distinct rows has a standard deviation of sqrt((1 - 2 / e) / e) / sqrt(rows)
    assert pytest.approx(0.6513, abs=5e-5) == 1 - (1 - 1 / 10) ** 10
    assert share_in_a_bag(10, 1500) == pytest.approx(0.6513, abs=4 * 0.312 / np.sqrt(10 * 1500))
    assert share_in_a_bag(20_000, 20) == pytest.approx(0.632, abs=4 * 0.312 / np.sqrt(20_000 * 20) + 0.00013)


@pytest.mark.parametrize("weights", [None, [1, 2, 3], [0.5, 0.25, 0.25]])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_hard_and_soft_voting(voting, weights):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4))
    labels = np.array(["a", "b", "c"])[np.digitize(table[:, 0] + rng.normal(size=300), [-0.5, 0.5])]
    members = [
        ("bayes", GaussianNB()),
        ("linear", LogisticRegression()),
        ("tree", DecisionTreeClassifier(max_depth=3)),
    ]
    options = {"voting": voting, "weights": weights}
    ours = VotingClassifier(members, **options).fit(table, labels)
    theirs = TheirClassifier(members, **options).fit(table, labels)
    new = rng.normal(size=(500, 4))
    assert np.array_equal(ours.predict(new), theirs.predict(new))
    assert np.array_equal(ours.transform(new), theirs.transform(new))
    if voting == "soft":
        assert np.array_equal(ours.predict_proba(new), theirs.predict_proba(new))


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_voting_on_numbers(weights):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(200, 3))
    y = table[:, 0] ** 2 + table[:, 1]
    members = [("a", Ridge()), ("b", KNeighborsRegressor()), ("c", DecisionTreeRegressor(max_depth=4))]
    ours = VotingRegressor(members, weights=weights).fit(table, y)
    theirs = TheirRegressor(members, weights=weights).fit(table, y)
    assert np.array_equal(ours.predict(table), theirs.predict(table))


@pytest.mark.parametrize(("correlation", "n"), [(0.0, 10), (0.3, 5), (0.3, 50), (0.9, 8), (1.0, 4)])
def test_variance_of_an_average(correlation, n):
    rng = np.random.default_rng(n)
    draws, spread = 200_000, 4.0
    common, own = rng.normal(size=(draws, 1)), rng.normal(size=(draws, n))
    values = np.sqrt(spread) * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)
    expected = variance_of_average(spread, correlation, n)
    standard_error = expected * np.sqrt(2 / draws)
    assert abs(values.mean(axis=1).var() - expected) < 4 * standard_error
