"""Which rows balanced bags have: by counter, as a naive twin draws them, whoever asks."""

import numpy as np
import pytest
from sklearn.base import clone
from unit.estimators.balanced.data import mixed, three

import weald
from weald import BalancedBaggingClassifier, BalancedRandomForestClassifier, EasyEnsembleClassifier
from weald.errors import DataError, NativeError, ParameterError
from weald.random import draw
from weald.resampling.calibration import fitted_map
from weald.rows.growth import ALL_ROWS, ClassDraws, TreeBags

#: `Purpose::class_bag` of core/base/random.h
CLASS_BAG = 15


def twin(seed, tree, labels, n_draws, replace):
    """The rows of a bag, drawn one by one in Python."""
    words = iter(int(w) for w in draw(seed, CLASS_BAG, tree, np.arange(10_000, dtype=np.uint64)))
    counts = np.zeros(len(labels), int)
    for k, n in enumerate(n_draws):
        rows = np.flatnonzero(labels == k)
        if n == ALL_ROWS:
            counts[rows] = 1
        elif replace:
            for _ in range(n):
                counts[rows[next(words) * len(rows) >> 64]] += 1
        else:
            chosen = set()
            for j in range(len(rows) - n, len(rows)):
                place = next(words) * (j + 1) >> 64
                chosen.add(j if place in chosen else place)
            counts[rows[sorted(chosen)]] = 1
    return counts


class TestClassBags:
    @pytest.mark.parametrize("replace", [True, False])
    @pytest.mark.parametrize("n_draws", [(5, 5, 5), (ALL_ROWS, 9, 2), (30, 0, 1)])
    def test_they_are_those_of_the_twin(self, replace, n_draws):
        labels = np.repeat([0, 1, 2, -1], [30, 12, 5, 4]).astype(np.int32)
        np.random.default_rng(0).shuffle(labels)
        by_class = ClassDraws((30, 12, 5), n_draws, replace)
        bags = TreeBags(n_trees=4, first_tree=2, seed=7, by_class=by_class)
        for tree in range(4):
            expected = twin(7, 2 + tree, labels, n_draws, replace)
            assert (bags.counts(tree, labels) == expected).all()

    def test_without_replacement_every_set_of_rows_is_as_likely(self):
        labels = np.zeros(5, np.int32)
        bags = TreeBags(n_trees=1, seed=1, by_class=ClassDraws((5,), (2,), False))
        drawn = [tuple(np.flatnonzero(bags.counts(t, labels))) for t in range(4000)]
        _, counts = np.unique(np.array(drawn), axis=0, return_counts=True)
        assert len(counts) == 10
        # Pearson's statistic of 10 equal cells: mean 9, standard deviation 4.2.
        assert ((counts - 400) ** 2 / 400).sum() < 9 + 4 * 4.2

    def test_draws_beyond_the_rows_are_refused(self):
        bags = TreeBags(n_trees=1, by_class=ClassDraws((2,), (3,), False))
        with pytest.raises(NativeError, match="rows to draw from"):
            bags.counts(0, np.zeros(2, np.int32))


class TestForest:
    def test_the_rows_of_trees_are_balanced_and_make_the_trees_again(self):
        X, y = three()
        model = BalancedRandomForestClassifier(6, random_state=3).fit(X, y)
        rarest = np.bincount(y).min()
        for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            assert np.bincount(y[rows]).tolist() == [rarest] * 3
            again = clone(tree).fit(X[rows], y[rows])
            assert (again.predict_proba(X) == tree.predict_proba(X)).all()
        assert model.sampling_strategy_ == {0: rarest, 1: rarest, 2: rarest}

    @pytest.mark.parametrize(
        ("options", "rows"),
        [
            ({"sampling_strategy": "auto", "replacement": False}, [24, 24]),
            ({"sampling_strategy": 0.5}, [24, 48]),
            ({"sampling_strategy": {"usual": 100, "rare": 10}}, [10, 100]),
            ({"sampling_strategy": lambda y: {"usual": 7}}, [24, 7]),
            ({"bootstrap": True, "max_samples": 0.5}, 24),
            ({"bootstrap": True, "max_samples": 30}, 30),
        ],
    )
    def test_strategies(self, options, rows):
        table, y = mixed()
        model = BalancedRandomForestClassifier(3, random_state=0, **options).fit(table, y)
        for bag in model.estimators_samples_:
            counts = [np.sum(y[bag] == "rare"), np.sum(y[bag] == "usual")]
            assert counts == rows if isinstance(rows, list) else sum(counts) == rows

    def test_all_rows_of_the_rarest_class_are_in_every_bag(self):
        table, y = mixed()
        options = {"sampling_strategy": "not minority", "replacement": False}
        model = BalancedRandomForestClassifier(3, random_state=0, **options).fit(table, y)
        for bag in model.estimators_samples_:
            assert set(np.flatnonzero(y == "rare")) <= set(bag.tolist())
            assert len(set(bag.tolist())) == 48

    def test_trees_can_be_added(self):
        table, y = mixed()
        grown = BalancedRandomForestClassifier(3, random_state=0, warm_start=True, oob_score=True)
        with pytest.warns(UserWarning, match="do not have OOB scores"):
            grown.fit(table, y)
        grown.set_params(n_estimators=30).fit(table, y)
        at_once = BalancedRandomForestClassifier(30, random_state=0, oob_score=True).fit(table, y)
        assert (grown.predict_proba(table) == at_once.predict_proba(table)).all()
        assert (grown.oob_decision_function_ == at_once.oob_decision_function_).all()
        grown.set_params(n_estimators=40, sampling_strategy=0.5)
        with pytest.raises(ParameterError, match="draws"):
            grown.fit(table, y)

    def test_out_of_bag_by_brute_force(self):
        X, y = three()
        model = BalancedRandomForestClassifier(30, random_state=0, oob_score=True, correct_prior=False)
        model.fit(X, y)
        total, n = np.zeros((len(X), 3)), np.zeros(len(X))
        for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            unseen = np.setdiff1d(np.arange(len(X)), rows)
            total[unseen] += tree.predict_proba(X[unseen])
            n[unseen] += 1
        assert np.allclose(model.oob_decision_function_, total / n[:, None])
        assert model.oob_score_ == np.mean(np.argmax(total, axis=1) == y)
        corrected = clone(model).set_params(correct_prior=True).fit(X, y)
        told = fitted_map(total / n[:, None], y, np.bincount(y), 0.5 / 30)
        assert np.allclose(corrected.oob_decision_function_, told(total / n[:, None]))
        assert corrected.oob_score_ == model.oob_score_

    def test_no_row_out_of_bag_is_said(self):
        X = np.arange(8.0)[:, None]
        model = BalancedRandomForestClassifier(
            2, sampling_strategy="auto", replacement=False, oob_score=True, random_state=0
        )
        with pytest.raises(ParameterError, match=r"`oob_score` .* all trees have all rows"):
            model.set_params(sampling_strategy={0: 4, 1: 4}).fit(X, np.arange(8) % 2)

    def test_votes_proximities_and_importances_of_a_loaded_forest(self):
        X, y = three()
        model = BalancedRandomForestClassifier(40, random_state=0).fit(X, y)
        again = weald.load(model.to_bytes())
        assert (again.oob_votes(X, y) == model.oob_votes(X)).all()
        assert (
            again.permutation_importance(X, y).importances_mean
            == model.permutation_importance(X, y).importances_mean
        ).all()
        assert model.proximity(X[:20], oob_only=False).shape == (20, 20)
        with pytest.raises(DataError, match="Give y to a method that takes it"):
            again.oob_votes(X)
        with pytest.raises(DataError, match="Give the labels"):
            again.oob_votes(X, np.roll(np.where(y == 0, 1, y), 1) * 0 + np.arange(len(y)) % 3)

    def test_variances_are_refused(self):
        X, y = three()
        model = BalancedRandomForestClassifier(4, random_state=0).fit(X, y)
        with pytest.raises(ParameterError, match="jackknives"):
            model.predict_variance(X)

    def test_fractions_of_rows_are_those_of_a_bag(self):
        table, y = mixed()
        model = BalancedRandomForestClassifier(3, min_samples_leaf=0.25, random_state=0).fit(table, y)
        assert min(model.forest_.count[model.forest_.slot < 0]) >= 1
        assert all(tree.get_n_leaves() > 1 for tree in model.estimators_)


class TestBagging:
    def test_bags_are_balanced(self):
        table, y = mixed()
        model = BalancedBaggingClassifier(n_estimators=5, random_state=0).fit(table, y)
        for rows in model.estimators_samples_:
            rare = np.sum(y[rows] == "rare")
            assert rare == len(rows) - rare > 10

    def test_numbers_of_rows_hold_as_far_as_a_bag_has_them(self):
        table, y = mixed()
        model = BalancedBaggingClassifier(
            n_estimators=5, sampling_strategy={"usual": 50, "rare": 24}, random_state=0
        ).fit(table, y)
        for rows in model.estimators_samples_:
            assert np.sum(y[rows] == "usual") == 50
            assert np.sum(y[rows] == "rare") <= 24

    def test_an_easy_ensemble_has_all_rare_rows_and_others_drawn_anew(self):
        table, y = mixed()
        model = EasyEnsembleClassifier(3, random_state=0).fit(table, y)
        bags = [set(rows.tolist()) for rows in model.estimators_samples_]
        assert all(len(bag) == 48 and set(np.flatnonzero(y == "rare")) <= bag for bag in bags)
        assert len(set.union(*bags)) > 24 + 2 * 24

    def test_members_can_be_added(self):
        table, y = mixed()
        grown = BalancedBaggingClassifier(n_estimators=2, random_state=0, warm_start=True).fit(table, y)
        grown.set_params(n_estimators=5).fit(table, y)
        at_once = BalancedBaggingClassifier(n_estimators=5, random_state=0).fit(table, y)
        assert (grown.predict_proba(table) == at_once.predict_proba(table)).all()

    def test_a_sampler_of_the_users_own(self):
        class Doubling:
            """Every rare row twice."""

            def get_params(self, deep=True):
                return {}

            def set_params(self, **params):
                return self

            def fit_resample(self, X, y):
                rows = np.concatenate([np.arange(len(y)), np.flatnonzero(y == 1)])
                return X[rows], y[rows]

        X, y = three()
        y = (y == 0).astype(int)
        model = BalancedBaggingClassifier(
            n_estimators=3, sampler=Doubling(), random_state=0, correct_prior=False, warm_start=True
        ).fit(X, y)
        plain = model.predict_proba(X)
        corrected = model.set_params(correct_prior=True).predict_proba(X)
        inner = (plain > 0).all(axis=1)
        assert inner.any()
        odds, plain_odds = (each[inner, 1] / each[inner, 0] for each in (corrected, plain))
        assert np.allclose(odds / plain_odds, 0.5, atol=0.06)
        model.set_params(n_estimators=5).fit(X, y)
        assert len(model) == 5
        again = weald.load(model.to_bytes())
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


class TestRUSBoost:
    def test_members_learn_from_balanced_rows_and_are_judged_on_all(self):
        X, y = three()
        y = (y == 0).astype(int)
        model = weald.RUSBoostClassifier(n_estimators=4, random_state=0).fit(X, y)
        first = model.estimators_[0]
        assert first.tree_.n_node_samples[0] == 2 * y.sum()
        assert model.estimator_errors_[0] == pytest.approx(np.mean(first.predict(X) != y))
        weights = list(model.staged_row_weights(X, y))
        assert np.allclose([each.sum() for each in weights], 1)

    def test_the_seed_decides(self):
        X, y = three()
        same, again, other = (
            weald.RUSBoostClassifier(n_estimators=3, random_state=s).fit(X, y == 0).to_bytes()
            for s in (0, 0, 1)
        )
        assert same == again
        assert same != other
