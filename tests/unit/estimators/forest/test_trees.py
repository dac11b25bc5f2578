"""The trees of a forest one by one: their template, their rows, and what follows from these."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import weald
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.errors import DataError

from .data import ALL, CLASSIFIERS, NUMBERS, REGRESSORS, TWO, N, X, Y, named

LEVELS = np.array(["red", "green", "blue", "grey", "black"])


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    return request.param(5, bootstrap=True, max_features=2, random_state=3)


def assert_same_tree(first, second):
    mine, yours = first.tree_, second.tree_
    for name in ("feature", "children_left", "children_right", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(yours, name), err_msg=name)
    np.testing.assert_allclose(mine.value, yours.value, rtol=1e-12)


class TestTemplate:
    def test_it_has_the_parameters_of_the_forest(self, forest):
        forest.set_params(max_depth=4)
        tree = forest.estimator
        wanted = DecisionTreeClassifier if hasattr(forest, "predict_proba") else DecisionTreeRegressor
        assert type(tree) is wanted
        assert (tree.max_depth, tree.max_features) == (4, 2)
        assert tree.splitter == ("random" if "Extra" in type(forest).__name__ else "best")
        assert not hasattr(tree, "tree_")

    def test_only_a_fitted_forest_has_it_with_an_underscore(self, forest):
        assert not hasattr(forest, "estimator_")
        assert forest.fit(X, Y).estimator_.get_params() == forest.estimator.get_params()

    def test_it_is_no_parameter(self, forest):
        assert "estimator" not in forest.get_params()
        assert clone(forest).get_params() == forest.get_params()


class TestRowsOfATree:
    def test_they_are_the_bags(self, forest):
        samples = forest.set_params(max_samples=0.4).fit(X, Y).estimators_samples_
        assert isinstance(samples, list)
        assert len(samples) == 5
        for t, rows in enumerate(samples):
            assert rows.dtype == np.int32
            assert len(rows) == 60
            np.testing.assert_array_equal(np.bincount(rows, minlength=N), forest.bags_.counts(t))

    def test_without_bags_they_are_all_rows(self, forest):
        forest.set_params(bootstrap=False).fit(X, Y)
        assert [rows.tolist() for rows in forest.estimators_samples_] == [list(range(N))] * 5

    def test_rows_of_weight_0_are_in_none(self, forest, tmp_path):
        weight = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
        forest.fit(X, Y, sample_weight=weight)
        for t, rows in enumerate(forest.estimators_samples_):
            assert (weight[rows] > 0).all()
            np.testing.assert_array_equal(forest.bags_.counts(t), forest.bags_.counts(t, weight > 0))
        forest.save(tmp_path / "m.weald")
        loaded = weald.load(tmp_path / "m.weald")
        np.testing.assert_array_equal(loaded.bags_.counts(0, weight > 0), forest.bags_.counts(0))
        with pytest.raises(DataError, match="50 of the 150 rows had the weight 0"):
            _ = loaded.estimators_samples_

    def test_they_outlive_files_and_pickle(self, forest, tmp_path):
        forest.fit(X, Y).save(tmp_path / "m.weald")
        for again in (weald.load(tmp_path / "m.weald"), pickle.loads(pickle.dumps(forest))):
            np.testing.assert_array_equal(again.estimators_samples_, forest.estimators_samples_)

    def test_a_clone_of_a_tree_fitted_on_them_is_the_tree(self, forest):
        y = Y if hasattr(forest, "predict_proba") else NUMBERS
        forest.fit(X, y)
        for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
            assert_same_tree(clone(tree).fit(X[rows], y[rows]), tree)
            assert_same_tree(pickle.loads(pickle.dumps(tree)).fit(X[rows], y[rows]), tree)

    def test_also_with_categories_and_gaps(self):
        rng = np.random.default_rng(1)
        shop = LEVELS[rng.integers(5, size=N)]
        size = np.where(rng.random(N) < 0.2, np.nan, X[:, 0])
        y = NUMBERS + (shop == "red")
        model = RandomForestRegressor(4, cat_penalty=0, random_state=0).fit({"shop": shop, "size": size}, y)
        for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            assert_same_tree(clone(tree).fit({"shop": shop[rows], "size": size[rows]}, y[rows]), tree)

    def test_a_tree_can_be_saved(self, forest, tmp_path):
        tree = forest.fit(X, Y)[1]
        tree.save(tmp_path / "t.weald")
        loaded = weald.load(tmp_path / "t.weald")
        assert loaded.get_params() == tree.get_params()
        np.testing.assert_array_equal(loaded.predict(X), tree.predict(X))


class TestMoreDrawsThanRows:
    @pytest.mark.parametrize("max_samples", [1.5, 225])
    def test_a_bag_may_be_larger_than_the_table(self, forest, max_samples, tmp_path):
        forest.set_params(max_samples=max_samples).fit(X, Y)
        assert all(len(rows) == 225 for rows in forest.estimators_samples_)
        forest.save(tmp_path / "m.weald")
        loaded = weald.load(tmp_path / "m.weald")
        np.testing.assert_array_equal(loaded.estimators_samples_, forest.estimators_samples_)

    def test_what_is_told_of_bags_holds(self):
        model = RandomForestRegressor(40, max_samples=1.5, oob_score=True, random_state=0).fit(X, NUMBERS)
        curve = model.oob_error_curve(X, NUMBERS)
        assert curve[-1] == pytest.approx(np.mean((model.oob_prediction_ - NUMBERS) ** 2))
        low, high = model.predict_interval(X, train=(X, NUMBERS)).T
        assert np.mean((low <= NUMBERS) & (high >= NUMBERS)) > 0.8


class TestOutOfBagOfSeveralOutputs:
    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_one_array_with_outputs_last(self, kind):
        y = np.column_stack([TWO, 1 - TWO, X[:, 3] > 0]).astype(int)
        model = kind(40, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
        found = model.oob_decision_function_
        assert found.shape == (N, 2, 3)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert model.oob_score_ == np.mean((found.argmax(axis=1) == y).all(axis=1))

    def test_outputs_that_differ_in_classes_stay_apart(self):
        y = np.column_stack([TWO, Y])
        model = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
        assert [each.shape for each in model.oob_decision_function_] == [(N, 2), (N, 3)]

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    def test_whole_numbers_by_hand(self, kind):
        y = np.random.default_rng(0).integers(10, size=(N, 2))
        model = kind(30, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
        sums, n_trees = np.zeros((N, 2)), np.zeros((N, 1))
        for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            unseen = np.setdiff1d(np.arange(N), rows)
            sums[unseen] += tree.predict(X[unseen])
            n_trees[unseen] += 1
        np.testing.assert_allclose(model.oob_prediction_, sums / n_trees)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("kind", [*CLASSIFIERS, DecisionTreeClassifier], ids=named)
def test_sparse_labels_are_those_of_the_dense_matrix(kind, make):
    y = np.column_stack([TWO, X[:, 3] > 0]).astype(int)
    model, dense = (kind(random_state=0, max_depth=3).fit(X, given) for given in (make(y), y))
    np.testing.assert_array_equal(model.predict(X), dense.predict(X))
    assert model.score(X, make(y)) == dense.score(X, y)


class TestWarmStartWithoutMoreTrees:
    @pytest.mark.parametrize("other", ["labels", "rows"])
    def test_on_another_table_the_forest_stays(self, forest, other):
        forest.set_params(warm_start=True).fit(X, Y)
        before = forest.predict(X)
        table = (X, np.column_stack([Y, Y])) if other == "labels" else (X[:100], Y[:100])
        with pytest.warns(
            UserWarning, match=f"does not fit new trees.* other {other}.*stays that of the last"
        ):
            forest.fit(*table)
        np.testing.assert_array_equal(forest.predict(X), before)
        assert forest.n_outputs_ == 1

    def test_out_of_bag_rows_are_not_looked_up_again(self, forest, monkeypatch):
        forest.set_params(n_estimators=30, warm_start=True, oob_score=True).fit(X, Y)
        score = forest.oob_score_
        monkeypatch.setattr("weald.estimators.forest.out_of_bag.leaf_nodes", None)
        with pytest.warns(UserWarning, match="does not fit new trees"):
            forest.fit(X, Y)
        assert forest.oob_score_ == score


class TestLeavesBeyondFloat32:
    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    @pytest.mark.parametrize("scale", [1e39, 1e140, 1e-39, 1e-140])
    def test_they_stay_what_they_are(self, kind, scale, tmp_path):
        models = [
            kind(4, random_state=0, leaf_dtype=dtype).fit(X, NUMBERS * scale)
            for dtype in ("float32", "float64")
        ]
        found, wanted = (model.predict(X) for model in models)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, wanted)
        models[0].save(tmp_path / "m.weald")
        np.testing.assert_array_equal(weald.load(tmp_path / "m.weald").predict(X), found)

    @pytest.mark.parametrize("scale", [1.0, 1e37, 1e-33])
    def test_others_have_24_bits(self, scale):
        y = (1 + np.abs(NUMBERS)) * scale
        value = RandomForestRegressor(4, random_state=0, leaf_dtype="float32").fit(X, y).forest_.value
        np.testing.assert_array_equal(value, value.astype(np.float32))


class TestWeights:
    def test_a_heavy_row_is_in_no_more_bags_than_others(self):
        weight = np.ones(N)
        weight[7] = 1e6
        model = RandomForestRegressor(60, random_state=0).fit(X, NUMBERS, sample_weight=weight)
        assert any(7 not in rows for rows in model.estimators_samples_)
        plain = RandomForestRegressor(60, random_state=0).fit(X, NUMBERS)
        np.testing.assert_array_equal(
            np.concatenate(model.estimators_samples_), np.concatenate(plain.estimators_samples_)
        )

    def test_a_row_counts_by_its_weight_as_often_as_it_was_drawn(self, forest):
        """Drawn by weight, rows of a bag would count alike: then no tree is that of counts times weights."""
        weight = 2.0 ** np.random.default_rng(5).integers(-5, 5, N)
        y = Y if hasattr(forest, "predict_proba") else NUMBERS
        forest.fit(X, y, sample_weight=weight)
        for t, tree in enumerate(forest.estimators_):
            counts = forest.bags_.counts(t)
            assert_same_tree(clone(tree).fit(X, y, sample_weight=counts * weight), tree)
            assert tree.tree_.weighted_n_node_samples[0] == pytest.approx(counts @ weight)

    def test_equal_weights_are_none(self, forest):
        y = Y if hasattr(forest, "predict_proba") else NUMBERS
        weighted = clone(forest).fit(X, y, sample_weight=np.full(N, 0.3))
        np.testing.assert_allclose(weighted.predict(X), forest.fit(X, y).predict(X))

    def test_classes_and_rows_multiply(self):
        factor = {0: 1.0, 1: 100.0, 2: 3.0}
        rows = np.linspace(1, 2, N)
        one = RandomForestClassifier(8, class_weight=factor, random_state=0).fit(X, Y, sample_weight=rows)
        product = rows * np.array([factor[label] for label in Y])
        two = RandomForestClassifier(8, random_state=0).fit(X, Y, sample_weight=product)
        np.testing.assert_allclose(one.feature_importances_, two.feature_importances_)
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X))

    def test_weights_by_certainty_need_leaves_of_some_weight(self):
        rng = np.random.default_rng(0)
        table = rng.normal(size=(900, 4))
        truth = np.sign(table[:, 0]) * table[:, 1]
        spread = np.exp(rng.normal(size=900))
        y, weight = truth + spread * rng.normal(size=900), 1 / spread**2
        train, test = slice(300), slice(300, None)

        def error(**limit):
            model = RandomForestRegressor(30, random_state=0, **limit)
            model.fit(table[train], y[train], sample_weight=weight[train])
            return np.sqrt(np.mean((model.predict(table[test]) - truth[test]) ** 2))

        assert error(min_weight_fraction_leaf=1 / 300) < 0.9 * error()
