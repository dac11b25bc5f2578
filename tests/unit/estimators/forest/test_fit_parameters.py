"""Parameters that do not limit the trees of a forest: class weights, warm starts, seeds, threads."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from unit.estimators.forest.data import (
    CLASSIFIERS,
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
    ExtraTreesClassifier,
    RandomForestClassifier,
    progress,
)
from weald.model.join import tree_apart


class TestClassWeight:
    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_balanced_is_a_weight_of_the_rows(self, kind):
        factors = N / (3 * np.bincount(Y).astype(float))
        balanced = kind(5, class_weight="balanced", random_state=0).fit(X, Y)
        by_hand = kind(5, random_state=0).fit(X, Y, sample_weight=factors[Y])
        assert_same_trees(balanced, by_hand)

    def test_dict_multiplies_weights(self):
        by_dict = RandomForestClassifier(5, class_weight={1: 5, 2: 2.0}, random_state=0).fit(X, Y)
        weight = np.array([1.0, 5.0, 2.0])[Y]
        assert_same_trees(by_dict, RandomForestClassifier(5, random_state=0).fit(X, Y, sample_weight=weight))

    @pytest.mark.usefixtures("_first_of_tied_columns")
    @pytest.mark.parametrize("y", [TWO, Y], ids=["two", "three"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_balanced_subsample_is_balanced_in_every_bag(self, y, weighted):
        sample_weight = np.random.default_rng(6).integers(1, 4, N).astype(float) if weighted else None
        limits = {"max_features": None, "min_samples_leaf": 8}  # in small nodes many splits are equally good
        model = RandomForestClassifier(4, class_weight="balanced_subsample", random_state=0, **limits)
        model.fit(X, y, sample_weight=sample_weight)
        n_classes = len(np.unique(y))
        for t in range(4):
            weight = model.bags_.counts(t) * (1.0 if sample_weight is None else sample_weight)
            in_bag = np.bincount(y, weight)
            weight = weight * (weight.sum() / (n_classes * in_bag))[y]
            single = DecisionTreeClassifier(**limits).fit(X, y, sample_weight=weight)
            np.testing.assert_allclose(model[t].tree_.value[0, 0], 1 / n_classes, rtol=1e-9)
            np.testing.assert_array_equal(model[t].tree_.feature, single.tree_.feature)
            np.testing.assert_array_equal(model[t].tree_.threshold, single.tree_.threshold)
            np.testing.assert_allclose(model[t].tree_.value, single.tree_.value, rtol=1e-9, atol=1e-12)
            near = {"rtol": 1e-9}
            mine, theirs = model[t].tree_, single.tree_
            np.testing.assert_allclose(mine.weighted_n_node_samples, theirs.weighted_n_node_samples, **near)
            np.testing.assert_allclose(mine.impurity, theirs.impurity, rtol=1e-9, atol=1e-9)

    def test_balanced_subsample_without_bags_is_balanced(self):
        one, two = (
            ExtraTreesClassifier(4, class_weight=c, random_state=0).fit(X, Y)
            for c in ("balanced", "balanced_subsample")
        )
        np.testing.assert_array_equal(one.forest_.threshold, two.forest_.threshold)
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9, atol=1e-12)

    def test_balanced_subsample_of_several_outputs(self):
        both = np.column_stack([Y, TWO])
        model = RandomForestClassifier(4, class_weight="balanced_subsample", random_state=0).fit(X, both)
        counts = model.bags_.counts(0)
        factor = np.ones(N)
        for y in both.T:
            of_class = np.bincount(y, counts)
            factor *= (counts.sum() / (len(of_class) * of_class))[y]
        expected = np.bincount(Y, counts * factor) / (counts * factor).sum()
        np.testing.assert_allclose(model[0].tree_.value[0, 0], expected, rtol=1e-9)


class TestWarmStart:
    def test_equals_a_forest_grown_at_once(self, forest):
        whole = clone(forest).set_params(n_estimators=11).fit(X, Y)
        forest.set_params(warm_start=True).fit(X, Y)
        for n_trees in (7, 11):
            forest.set_params(n_estimators=n_trees).fit(X, Y)
            assert len(forest) == n_trees
        assert_same_trees(forest, whole)

    def test_equals_it_out_of_bag_too(self):
        settings = {"oob_score": True, "random_state": 0}
        whole = RandomForestClassifier(40, **settings).fit(X, Y)
        parts = RandomForestClassifier(30, warm_start=True, **settings).fit(X, Y)
        parts.set_params(n_estimators=40).fit(X, Y)
        np.testing.assert_array_equal(whole.oob_decision_function_, parts.oob_decision_function_)
        assert whole.oob_score_ == parts.oob_score_

    def test_no_seed_is_needed(self):
        model = RandomForestClassifier(3, warm_start=True).fit(X, Y)
        before = model.forest_
        model.set_params(n_estimators=5).fit(X, Y)
        assert_same_trees(tree_apart(model.forest_, 2), tree_apart(before, 2))

    def test_the_same_number_warns(self, forest):
        forest.set_params(warm_start=True).fit(X, Y)
        before = forest.forest_
        with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees"):
            forest.fit(X, Y)
        assert_same_trees(forest, before)

    def test_without_it_a_fit_starts_anew(self, forest):
        forest.fit(X, Y)
        assert len(forest.set_params(n_estimators=3).fit(X, Y)) == 3


class TestRandomState:
    def test_repeats(self, forest):
        assert_same_trees(clone(forest).fit(X, Y), forest.fit(X, Y))

    def test_differs(self, forest):
        assert differ(clone(forest).set_params(random_state=1).fit(X, Y), forest.fit(X, Y))
        anew = [clone(forest).set_params(random_state=None).fit(X, Y) for _ in range(2)]
        assert differ(*anew)

    def test_an_object_gives_another_seed_every_time(self):
        state = np.random.RandomState(5)
        first, second = (RandomForestClassifier(3, random_state=state).fit(X, Y) for _ in range(2))
        assert first.bags_.seed != second.bags_.seed

    def test_trees_differ(self, forest):
        trees = {
            tuple(tree.forest_.threshold.tolist()) for tree in forest.set_params(max_features=2).fit(X, Y)
        }
        assert len(trees) == 6


class TestVerbose:
    def test_nothing_shows_unless_asked(self, forest, capfd):
        forest.fit(X, Y).predict(X)
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("verbose", [1, True])
    def test_a_bar_if_asked(self, forest, capfd, verbose):
        quiet = clone(forest).fit(X, Y)
        forest.set_params(verbose=verbose, n_jobs=1).fit(X, Y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "6/6" in err
        assert "trees/s" in err
        assert_same_trees(quiet, forest)

    def test_an_interrupt_closes_the_bar(self, forest, monkeypatch):
        closed = []
        monkeypatch.setattr(progress.Progress, "close", lambda self: closed.append(True))

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(type(forest), "_grow", interrupted)
        forest.set_params(verbose=1)
        n_before = len(closed)
        try:
            forest.fit(X, Y)
        except KeyboardInterrupt:
            n_closed = len(closed) - n_before  # while the traceback still holds every frame
            assert sys.exc_info()[2] is not None
        assert n_closed >= 2  # by `start`, and at the end


class TestThreads:
    @pytest.mark.parametrize("n_jobs", [1, 2, 5, -1])
    @pytest.mark.parametrize("n_estimators", [2, 12])
    def test_never_show(self, forest, n_jobs, n_estimators):
        forest.set_params(n_estimators=n_estimators)
        assert_same_trees(clone(forest).set_params(n_jobs=n_jobs).fit(X, Y), forest.fit(X, Y))
