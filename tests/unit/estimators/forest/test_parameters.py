"""Parameters that shape the trees of a forest do what they say: columns, rows, limits, criteria."""

import numpy as np
import pytest
from sklearn.base import clone
from unit.estimators.forest.data import (
    ALL,
    CLASSIFIERS,
    NUMBERS,
    REGRESSORS,
    TWO,
    N,
    X,
    Y,
    assert_same_trees,
    differ,
    named,
)

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.model.join import tree_apart


def root_weights(model):
    return model.forest_.cover[model.forest_.tree_start[:-1]]


def root_rows(model):
    return model.forest_.count[model.forest_.tree_start[:-1]]


class TestColumns:
    @pytest.mark.parametrize(
        ("max_features", "number"),
        [("sqrt", 3), ("log2", 3), ("log2+1", 4), ("third", 3), (0.5, 5), (0.01, 1), (None, 10), (1.0, 10)],
    )
    def test_a_word_or_share_is_a_number(self, forest, max_features, number):
        wide = np.random.default_rng(1).normal(size=(60, 10))
        by_word = clone(forest).set_params(max_features=max_features).fit(wide, Y[:60])
        assert by_word.max_features_ == number
        assert_same_trees(by_word, forest.set_params(max_features=number).fit(wide, Y[:60]))

    def test_numbers_differ(self, forest):
        models = [clone(forest).set_params(max_features=k).fit(X, Y) for k in (1, 3, None)]
        assert differ(models[0], models[1])
        assert differ(models[1], models[2])

    def test_defaults(self):
        wide = np.random.default_rng(1).normal(size=(40, 9))
        for kind in ALL:
            expected = 3 if kind in CLASSIFIERS else 9
            assert kind(n_estimators=1).fit(wide, Y[:40]).max_features_ == expected

    def test_one_column_is_drawn_evenly(self):
        model = RandomForestClassifier(400, max_features=1, max_depth=1, random_state=0).fit(X, Y)
        roots = model.forest_.column[model.forest_.slot[model.forest_.tree_start[:-1]]]
        drawn = np.bincount(roots, minlength=5)
        assert np.abs(drawn - 80).max() < 4 * np.sqrt(400 * 0.2 * 0.8)

    def test_it_looks_on_where_the_drawn_columns_cannot_be_split(self, forest):
        constant = np.column_stack([np.zeros((N, 9)), X[:, 0]])
        forest.set_params(max_features=1).fit(constant, Y)
        assert set(forest.forest_.column.tolist()) == {9}
        assert (np.diff(forest.forest_.tree_start) > 1).all()


class TestRows:
    def test_bootstrap(self, forest):
        drawn = clone(forest).set_params(bootstrap=True).fit(X, Y)
        assert (root_weights(drawn) == N).all()
        assert (np.abs(root_rows(drawn) - 0.632 * N) < 25).all()
        assert len(set(root_rows(drawn).tolist())) > 1
        whole = forest.set_params(bootstrap=False).fit(X, Y)
        assert (root_weights(whole) == N).all()
        assert (root_rows(whole) == N).all()

    @pytest.mark.parametrize(("max_samples", "n_draws"), [(40, 40), (0.5, 75), (1.0, N), (0.001, 1), (N, N)])
    def test_max_samples(self, forest, max_samples, n_draws):
        forest.set_params(bootstrap=True, max_samples=max_samples).fit(X, Y)
        assert forest.bags_.n_draws == n_draws
        assert (root_weights(forest) == n_draws).all()
        for t in range(6):
            counts = forest.bags_.counts(t)
            assert counts.sum() == n_draws
            assert root_rows(forest)[t] == np.count_nonzero(counts)

    def test_max_samples_is_a_share_of_the_rows_that_count(self):
        weight = np.repeat([1.0, 0.0], [100, 50])
        model = RandomForestRegressor(3, max_samples=0.5).fit(X, NUMBERS, sample_weight=weight)
        assert model.bags_.n_draws == 50

    def test_a_bag_has_the_rows_its_record_tells(self):
        """Targets and rows all differ, so a leaf of a full tree is one row, as often as the bag has it."""
        model = RandomForestRegressor(5, random_state=3).fit(X, np.arange(N))
        for t, tree in enumerate(model):
            counts = model.bags_.counts(t)
            seen = counts > 0
            np.testing.assert_array_equal(
                tree.tree_.weighted_n_node_samples[tree.apply(X[seen])], counts[seen]
            )


class TestLimits:
    def test_depth(self, forest):
        forest.set_params(max_depth=2).fit(X, Y)
        assert {tree.get_depth() for tree in forest} == {2}

    def test_leaves(self, forest):
        forest.set_params(max_leaf_nodes=5).fit(X, Y)
        assert {tree.get_n_leaves() for tree in forest} == {5}

    def test_rows(self, forest):
        forest.set_params(min_samples_leaf=7, min_samples_split=0.2).fit(X, Y)
        assert forest.forest_.count.min() >= 7
        assert forest.forest_.count[forest.forest_.slot >= 0].min() >= 30

    def test_weight_is_a_share_of_the_trees_own(self, forest):
        weight = np.random.default_rng(2).uniform(0.2, 3, N)
        forest.set_params(bootstrap=True, max_samples=0.6, min_weight_fraction_leaf=0.15)
        forest.fit(X, Y, sample_weight=weight)
        for tree in forest:
            leaf = tree.tree_.children_left == -1
            total = tree.tree_.weighted_n_node_samples[0]
            assert tree.tree_.weighted_n_node_samples[leaf].min() >= 0.15 * total * (1 - 1e-12)
        assert forest.forest_.n_nodes > 6

    def test_impurity_decrease(self, forest):
        full = clone(forest).fit(X, Y).forest_.n_nodes
        assert forest.set_params(min_impurity_decrease=0.03).fit(X, Y).forest_.n_nodes < full / 2

    @pytest.mark.usefixtures("_first_of_tied_columns")
    def test_pruning_is_that_of_single_trees(self):
        settings = {"max_features": None, "ccp_alpha": 0.02}
        model = RandomForestClassifier(5, random_state=0, **settings).fit(X, Y)
        for t in range(5):
            single = DecisionTreeClassifier(**settings).fit(X, Y, sample_weight=model.bags_.counts(t))
            assert 1 < single.get_n_leaves() < 30
            assert_same_trees(tree_apart(model.forest_, t), single)

    @pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
    def test_pruning_keeps_the_values_of_inner_nodes(self, criterion):
        y = np.round((NUMBERS - NUMBERS.min()) * 64) / 64
        settings = {"criterion": criterion, "ccp_alpha": 0.4 if criterion == "squared_error" else 0.1}
        model = RandomForestRegressor(6, random_state=0, **settings).fit(X, y)
        sizes = {tree.tree_.node_count for tree in model}
        assert len(sizes) > 1
        for t, tree in enumerate(model):
            single = DecisionTreeRegressor(**settings).fit(X, y, sample_weight=model.bags_.counts(t))
            np.testing.assert_array_equal(tree.tree_.value, single.tree_.value)

    def test_pruning_everything_leaves_roots(self, forest):
        forest.set_params(ccp_alpha=1e6).fit(X, Y)
        assert forest.forest_.n_nodes == 6
        forest.predict(X)

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    @pytest.mark.parametrize("direction", [1, -1])
    def test_monotone_numbers(self, kind, direction):
        model = kind(10, monotonic_cst={0: direction}, random_state=0).fit(X, NUMBERS)
        assert (direction * np.diff(model.predict(rising()).reshape(20, 40), axis=1) >= 0).all()

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_monotone_shares(self, kind):
        model = kind(10, monotonic_cst=[-1, 0, 0, 0, 0], random_state=0).fit(X, TWO)
        shares = model.predict_proba(rising())[:, 1].reshape(20, 40)
        assert (np.diff(shares, axis=1) <= 0).all()
        free = kind(10, random_state=0).fit(X, TWO).predict_proba(rising())[:, 1].reshape(20, 40)
        assert (np.diff(free, axis=1) > 0).any()


def rising():
    """Twenty rows, each forty times with a rising first column."""
    rows = np.repeat(X[:20], 40, axis=0)
    rows[:, 0] = np.tile(np.linspace(-3, 3, 40), 20)
    return rows


class TestCriterion:
    @pytest.mark.parametrize("criterion", ["entropy", "log_loss", "misclassification"])
    def test_of_classifiers(self, criterion):
        gini, other = (
            RandomForestClassifier(5, criterion=name, random_state=0).fit(X, Y)
            for name in ("gini", criterion)
        )
        assert differ(gini, other)

    def test_other_names(self):
        one, two = (
            RandomForestClassifier(5, criterion=c, random_state=0).fit(X, Y) for c in ("entropy", "log_loss")
        )
        assert_same_trees(one, two)
        one, two = (
            RandomForestRegressor(5, criterion=c, random_state=0).fit(X, NUMBERS)
            for c in ("squared_error", "friedman_mse")
        )
        assert_same_trees(one, two)

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    @pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
    def test_of_regressors(self, kind, criterion):
        y = NUMBERS - NUMBERS.min() + 0.1
        squared, other = (
            kind(5, criterion=name, max_depth=3, random_state=0).fit(X, y)
            for name in ("squared_error", criterion)
        )
        assert differ(squared, other)


@pytest.mark.usefixtures("_first_of_tied_columns")
class TestOneBag:
    """A tree of a forest is the single tree grown with the counts of its bag as weights, but for ties."""

    @pytest.mark.parametrize("y", [TWO, Y, np.column_stack([Y, TWO])], ids=["two", "three", "two outputs"])
    @pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
    def test_of_classes(self, y, criterion):
        model = RandomForestClassifier(4, criterion=criterion, max_features=None, random_state=0).fit(X, y)
        for t in range(4):
            single = DecisionTreeClassifier(criterion=criterion)
            single.fit(X, y, sample_weight=model.bags_.counts(t).astype(float))
            assert_same_trees(tree_apart(model.forest_, t), single)

    @pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
    @pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 9}], ids=str)
    def test_of_numbers(self, criterion, limits):
        # Few bits per target: the same integers whichever rows set their unit.
        y = np.round((NUMBERS - NUMBERS.min()) * 64 + 1) / 64
        model = RandomForestRegressor(4, criterion=criterion, random_state=0, **limits).fit(X, y)
        for t in range(4):
            single = DecisionTreeRegressor(criterion=criterion, **limits)
            single.fit(X, y, sample_weight=model.bags_.counts(t).astype(float))
            assert_same_trees(tree_apart(model.forest_, t), single, near=("gain", "impurity"))

    def test_of_weighted_rows(self):
        weight = np.random.default_rng(5).integers(0, 4, N).astype(float)
        model = RandomForestClassifier(4, max_features=None, random_state=0).fit(X, Y, sample_weight=weight)
        for t in range(4):
            counts = model.bags_.counts(t, weight > 0)
            assert counts.sum() == np.count_nonzero(weight)
            single = DecisionTreeClassifier().fit(X, Y, sample_weight=weight * counts)
            assert_same_trees(tree_apart(model.forest_, t), single)

    def test_of_categories_and_missing_values(self):
        table = {
            "town": [None if i % 11 == 0 else f"town {i % 7}" for i in range(N)],
            "x": [None if i % 5 == 0 else float(v) for i, v in enumerate(X[:, 0])],
        }
        model = RandomForestClassifier(4, max_features=None, cat_penalty=0, random_state=0).fit(table, TWO)
        for t in range(4):
            single = DecisionTreeClassifier(cat_penalty=0).fit(
                table, TWO, sample_weight=model.bags_.counts(t)
            )
            np.testing.assert_array_equal(single.predict_proba(table), model[t].predict_proba(table))
            assert single.tree_.node_count == model[t].tree_.node_count
