"""Bagging with sample_weight: rows are drawn in proportion to weights, as scikit-learn draws them."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

from weald import BaggingClassifier, BaggingRegressor, DecisionTreeRegressor, XGBRegressor
from weald.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=80)


class Keeps(BaseEstimator):
    """Remembers what it was given."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weight_ = X, y, sample_weight

    def predict(self, X):
        return np.zeros(len(X))


class KeepsRows(BaseEstimator):
    """The same without weights."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_are_drawn_as_often_as_they_weigh(bootstrap):
    weight = np.r_[np.zeros(2), 1.0, 2.0, 3.0, 4.0, np.full(4, 1e-9)]
    model = BaggingRegressor(
        KeepsRows(), n_estimators=3000, max_samples=2, bootstrap=bootstrap, random_state=0
    )
    if bootstrap:
        model.fit(X[:10], Y[:10], sample_weight=weight)
    else:
        with pytest.warns(UserWarning, match="it is recommended to use bootstrap=True"):
            model.fit(X[:10], Y[:10], sample_weight=weight)
    drawn = np.stack(model.estimators_samples_)
    assert set(np.unique(drawn).tolist()) <= {2, 3, 4, 5}
    share = weight / weight.sum()
    if bootstrap:
        found, expected = np.bincount(drawn.ravel(), minlength=6)[2:6], 6000 * share[2:6]
    else:  # the pairs, drawn one after the other: p(a) p(b | not a) both ways
        pairs = [(a, b) for a in range(2, 6) for b in range(a + 1, 6)]
        chance = [share[a] * share[b] * (1 / (1 - share[a]) + 1 / (1 - share[b])) for a, b in pairs]
        found = [int(((drawn[:, 0] == a) & (drawn[:, 1] == b)).sum()) for a, b in pairs]
        expected = 3000 * np.array(chance) / np.sum(chance)
        assert (drawn[:, 0] < drawn[:, 1]).all()
    assert stats.chisquare(found, expected * np.sum(found) / np.sum(expected)).pvalue > 1e-4


@pytest.mark.parametrize("max_samples", [None, 30, 0.5, 1.0])
def test_bags_have_as_many_rows_as_in_scikit_learn(max_samples):
    weight = RNG.uniform(0, 3, 80)
    weight[::9] = 0
    mine = BaggingRegressor(KeepsRows(), n_estimators=2, max_samples=max_samples, random_state=0)
    theirs = TheirBagging(KeepsRows(), n_estimators=2, max_samples=max_samples, random_state=0)
    sizes = [
        [len(rows) for rows in model.fit(X, Y, sample_weight=weight).estimators_samples_]
        for model in (mine, theirs)
    ]
    assert sizes[0] == sizes[1]


def test_members_get_how_often_their_bag_has_each_row():
    weight = RNG.uniform(0, 3, 80)
    weight[:5] = 0
    model = BaggingRegressor(Keeps(), n_estimators=3, random_state=0).fit(X, Y, sample_weight=weight)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert np.array_equal(member.X_, X)
        assert np.array_equal(member.weight_, np.bincount(rows, minlength=80))
    model.set_params(estimator=KeepsRows()).fit(X, Y, sample_weight=weight)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert np.array_equal(member.X_, X[rows])
        assert np.array_equal(member.y_, Y[rows])


def test_all_kinds_of_members_draw_by_the_same_rule():
    weight = RNG.uniform(0, 3, 80)
    kinds = (DecisionTreeRegressor(), TheirTree(), KNeighborsRegressor(), XGBRegressor(n_estimators=2))
    bags = []
    for base in kinds:
        model = BaggingRegressor(base, n_estimators=3, random_state=0).fit(X, Y, sample_weight=weight)
        bags.append(np.stack(model.estimators_samples_))
        assert np.array_equal(bags[0], bags[-1])
    trees = BaggingRegressor(n_estimators=3, random_state=0).fit(X, Y, sample_weight=weight)
    for member, rows in zip(trees.estimators_, trees.estimators_samples_, strict=True):
        assert member.tree_.weighted_n_node_samples[0] == len(rows) == 80
        assert member.tree_.value[0].item() == pytest.approx(Y[rows].mean())
        assert np.array_equal(member.predict(X[rows]), Y[rows])


@pytest.mark.parametrize("base", [None, LinearRegression(), XGBRegressor(n_estimators=2)])
def test_equal_weights_are_no_weights(base):
    model = BaggingRegressor(base, n_estimators=3, random_state=0)
    plain = model.fit(X, Y).predict(X)
    assert np.array_equal(model.fit(X, Y, sample_weight=np.full(80, 0.25)).predict(X), plain)
    ones = model.set_params(max_samples=0.5).fit(X, Y).predict(X)
    assert np.array_equal(model.fit(X, Y, sample_weight=np.ones(80)).predict(X), ones)


def test_a_class_that_a_bag_lacks_is_known_to_members_that_take_weights():
    y = np.array([0] * 78 + [1] * 2)
    model = BaggingClassifier(LogisticRegression(), n_estimators=20, random_state=0).fit(X, y)
    assert any(1 not in y[rows] for rows in model.estimators_samples_)
    assert model.decision_function(X).shape == (80,)
    assert all(member.classes_.tolist() == [0, 1] for member in model.estimators_)


def test_fractions_of_small_or_huge_sums_of_weights():
    model = BaggingRegressor(max_samples=1.0)
    with pytest.warns(UserWarning, match=r"sum of sample weights is 0\.4.* low number \(1\) of bootstrap"):
        model.fit(X, Y, sample_weight=np.linspace(0, 0.01, 80))
    for weight in (1e5, 1e6, 1e9):  # from 8 million draws of 80 rows: time and memory for nothing
        with pytest.raises(ParameterError, match=r"times from 80 rows.*divide the weights"):
            model.fit(X, Y, sample_weight=np.full(80, weight))
    with pytest.raises(ParameterError, match=r"would draw 1e\+08 times from 80 rows\. Use a smaller"):
        BaggingRegressor(max_samples=10**8).fit(X, Y)
    assert len(model.set_params(max_samples=40).fit(X, Y, sample_weight=np.full(80, 1e300))) == 10
    model.set_params(bootstrap=False, max_samples=1.0)
    with pytest.warns(UserWarning, match="recommended"), pytest.raises(ParameterError, match="n_samples=80"):
        model.fit(X, Y, sample_weight=np.r_[np.ones(79), 2.0])


def test_more_members_need_the_same_weights():
    weight = RNG.uniform(0, 3, 80)
    model = BaggingRegressor(n_estimators=3, warm_start=True, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    model.set_params(n_estimators=5).fit(X, Y, sample_weight=weight)
    at_once = BaggingRegressor(n_estimators=5, random_state=0).fit(X, Y, sample_weight=weight)
    assert np.array_equal(model.predict(X), at_once.predict(X))
    with pytest.raises(DataError, match="changed: sample_weight"):
        model.set_params(n_estimators=6).fit(X, Y, sample_weight=weight[::-1].copy())
    with pytest.warns(UserWarning, match="Warm-start fitting without increasing n_estimators does not"):
        model.set_params(n_estimators=5).fit(X, Y, sample_weight=weight)
