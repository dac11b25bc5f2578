"""The four forests: what they learn, remember and return."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
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
    named,
)

import weald
from weald import RandomForestClassifier, RandomForestRegressor
from weald.errors import DataError
from weald.io import model_file


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    return request.param(n_estimators=8, random_state=0)


class TestAttributes:
    def test_of_all(self, forest):
        forest.fit(X, Y)
        assert forest.n_features_in_ == 5
        assert forest.n_outputs_ == 1
        assert forest.forest_.n_trees == len(forest) == len(forest.estimators_) == 8
        assert not hasattr(forest, "feature_names_in_")
        assert not hasattr(forest, "oob_score_")
        assert forest.bags_.n_rows == N
        assert forest.bags_.n_draws == (N if forest.bootstrap else 0)

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_of_classifiers(self, kind):
        model = kind(n_estimators=3).fit(X, Y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.n_classes_ == 3

    def test_names_of_columns(self, forest):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcde"))
        assert forest.fit(frame, Y).feature_names_in_.tolist() == list("abcde")
        assert not hasattr(forest.fit(X, Y), "feature_names_in_")

    def test_importances_are_the_mean_of_the_trees(self, forest):
        forest.fit(X, Y)
        by_tree = np.array([tree.feature_importances_ for tree in forest.estimators_])
        np.testing.assert_allclose(forest.feature_importances_, by_tree.mean(axis=0), rtol=1e-12)
        assert forest.feature_importances_.sum() == pytest.approx(1)
        assert forest.feature_importances_[:3].min() > forest.feature_importances_[3:].max()

    def test_importances_without_a_split(self, forest):
        assert forest.fit(X, np.ones(N)).feature_importances_.tolist() == [0] * 5

    def test_trees_without_a_split_do_not_count_in_the_importances(self):
        """Rows all alike but one: bags that miss it have nothing to split."""
        rows = np.zeros((6, 2))
        rows[0] = 1
        model = RandomForestClassifier(20, random_state=0).fit(rows, [1, 0, 0, 0, 0, 0])
        sizes = np.diff(model.forest_.tree_start)
        assert set(sizes.tolist()) == {1, 3}
        assert model.feature_importances_.sum() == pytest.approx(1)


class TestPredict:
    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    @pytest.mark.parametrize("y", [Y, TWO], ids=["three", "two"])
    def test_shares_are_the_mean_of_the_trees_to_the_bit(self, kind, y):
        model = kind(n_estimators=7, max_depth=3, random_state=1).fit(X, y)
        total = np.zeros((N, len(np.unique(y))))
        for tree in model.estimators_:
            total += tree.predict_proba(X)
        np.testing.assert_array_equal(model.predict_proba(X), total / 7)
        np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(model.predict_log_proba(X), np.log(total / 7))

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    @pytest.mark.parametrize("y", [NUMBERS, np.column_stack([NUMBERS, X[:, 1]])], ids=["one", "two"])
    def test_numbers_are_the_mean_of_the_trees_to_the_bit(self, kind, y):
        model = kind(n_estimators=7, random_state=1).fit(X, y)
        total = np.zeros(y.shape)
        for tree in model:
            total += tree.predict(X)
        assert model.predict(X).shape == y.shape
        np.testing.assert_array_equal(model.predict(X), total / 7)

    def test_few_rows_and_many_give_the_same(self, forest):
        forest.fit(X, Y)
        wide = np.tile(X, (40, 1))
        many = forest.predict(wide)
        np.testing.assert_array_equal(many, np.tile(forest.predict(X), 40))
        np.testing.assert_array_equal([forest.predict(X[i : i + 1])[0] for i in range(N)], many[:N])

    def test_apply_is_that_of_every_tree(self, forest):
        leaves = forest.fit(X, Y).apply(X)
        assert leaves.shape == (N, 8)
        assert leaves.dtype == np.int64
        for t, tree in enumerate(forest.estimators_):
            np.testing.assert_array_equal(leaves[:, t], tree.apply(X))

    def test_decision_path_is_that_of_every_tree(self, forest):
        indicator, start = forest.fit(X, Y).decision_path(X)
        assert start.tolist() == np.cumsum([0, *(tree.tree_.node_count for tree in forest)]).tolist()
        assert indicator.shape == (N, start[-1])
        for t, tree in enumerate(forest.estimators_):
            part = indicator[:, start[t] : start[t + 1]].toarray()
            np.testing.assert_array_equal(part, tree.decision_path(X).toarray())
        start[:] = 0  # the caller's own
        assert forest.forest_.tree_start[-1] > 0

    @pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
    def test_needs_a_fit(self, forest, method):
        with pytest.raises(NotFittedError):
            getattr(forest, method)(X)

    @pytest.mark.parametrize("name", ["estimators_", "feature_importances_"])
    def test_attributes_need_a_fit(self, forest, name):
        with pytest.raises(NotFittedError):
            getattr(forest, name)
        with pytest.raises(NotFittedError):
            len(forest)


class TestTreesOfAForest:
    def test_a_sequence(self, forest):
        trees = forest.fit(X, Y).estimators_
        assert len(trees) == 8
        assert len(list(trees)) == len(list(forest)) == 8
        assert len(trees[2:5]) == 3
        assert_same_trees(trees[-1], trees[7])
        assert_same_trees(trees[2:5][1], forest[3])
        with pytest.raises(IndexError):
            trees[8]
        assert repr(trees) == f"<8 trees of a {type(forest).__name__}>"

    def test_each_is_a_single_tree(self, forest):
        tree = forest.fit(X, Y)[2]
        kind = "Classifier" if hasattr(forest, "classes_") else "Regressor"
        assert type(tree) is getattr(weald, f"DecisionTree{kind}")
        check_is_fitted(tree)
        assert tree.splitter == ("random" if "Extra" in type(forest).__name__ else "best")
        assert tree.max_features == forest.max_features
        assert tree.n_features_in_ == 5
        assert tree.tree_.node_count == np.diff(forest.forest_.tree_start)[2]
        assert tree.get_n_leaves() == tree.tree_.n_leaves == (tree.tree_.children_left == -1).sum()
        assert tree.get_depth() == tree.tree_.max_depth > 1
        np.testing.assert_array_equal(tree.tree_.apply(X), tree.apply(X))
        np.testing.assert_array_equal(tree.tree_.predict(X)[:, 0], tree.tree_.value[tree.apply(X), 0, 0])

    def test_each_shows_itself(self, forest):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        from matplotlib import pyplot

        tree = forest.set_params(max_depth=3).fit(X, Y)[1]
        assert weald.export_text(tree).count("\n") >= tree.tree_.node_count - 1
        assert tree.to_text().count("\n") >= tree.get_n_leaves() - 1
        assert weald.export_graphviz(tree).startswith("digraph")
        assert len(tree.to_frame("dict")["node"]) == tree.tree_.node_count
        assert tree.explain_row(X[:1])
        weald.plot_tree(tree)
        pyplot.close("all")

    def test_trees_with_categories_show_their_own_sets(self):
        towns = np.array([f"town {i}" for i in range(9)], object)[np.arange(N) % 9]
        table = {"town": towns.tolist(), "x": X[:, 0].tolist()}
        y = np.arange(N) % 9 % 2
        model = RandomForestClassifier(6, max_features=None, random_state=0).fit(table, y)
        for tree in model:
            assert "town" in tree.to_text()
            assert sorted(str(town) for town in tree.tree_.left_categories(0))
            np.testing.assert_array_equal(tree.predict(table), y)

    def test_each_knows_the_table_of_the_forest(self, forest):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(X, schema=list("abcde"))
        tree = forest.set_params(max_depth=2).fit(frame, Y)[0]
        assert type(tree.to_frame()) is polars.DataFrame
        assert "missing" not in weald.export_graphviz(tree)  # no column has any
        gaps = frame.with_columns(polars.when(polars.col("a") > 0).then(polars.col("a")).alias("a"))
        forest.set_params(max_features=None).fit(gaps, Y)
        assert "missing" in "".join(weald.export_graphviz(tree) for tree in forest)

    def test_each_can_be_cloned_and_saved(self, forest, tmp_path):
        tree = forest.fit(X, Y)[5]
        clone(tree).fit(X, Y).predict(X)
        tree.save(tmp_path / "tree.weald")
        np.testing.assert_array_equal(weald.load(tmp_path / "tree.weald").predict(X), tree.predict(X))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).predict(X), tree.predict(X))


class TestState:
    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
    )
    def test_copies(self, forest, copied):
        again = copied(forest.fit(X, Y))
        assert_same_trees(forest, again)
        assert again.bags_ == forest.bags_
        np.testing.assert_array_equal(again.predict(X), forest.predict(X))

    def test_pickle_after_use_is_no_larger(self, forest):
        fresh = len(pickle.dumps(forest.fit(X, Y)))
        forest.predict(X), forest.apply(X), forest.decision_path(X), forest[0].tree_.value
        assert len(pickle.dumps(forest)) == fresh

    def test_clone_is_unfitted(self, forest):
        with pytest.raises(NotFittedError):
            clone(forest.fit(X, Y)).predict(X)

    def test_repr_is_short(self):
        assert repr(RandomForestClassifier(max_depth=3)) == "RandomForestClassifier(max_depth=3)"

    def test_fit_does_not_touch_parameters(self, forest):
        before = forest.get_params()
        assert forest.fit(X, Y).get_params() == before

    def test_a_failed_fit_leaves_the_model_as_it_was(self, forest):
        forest.fit(X, Y)
        before = dict(vars(forest))
        with pytest.raises(DataError):
            forest.fit(X, Y[:-1])
        assert vars(forest) == before

    def test_an_interrupted_fit_leaves_the_model_as_it_was(self, forest, monkeypatch):
        forest.fit(X, Y)
        before = dict(vars(forest))

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(type(forest), "_grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            forest.fit(X[:, :2], Y)
        assert vars(forest) == before


class TestFiles:
    def test_save_and_load(self, forest, tmp_path):
        forest.fit(X, Y).save(tmp_path / "m.weald")
        again = weald.load(tmp_path / "m.weald")
        assert type(again) is type(forest)
        assert_same_trees(forest, again)
        assert again.bags_ == forest.bags_
        np.testing.assert_array_equal(again.predict(X), forest.predict(X))
        np.testing.assert_array_equal(again[3].apply(X), forest[3].apply(X))
        assert model_file.to_bytes(again) == (tmp_path / "m.weald").read_bytes()

    def test_a_loaded_forest_goes_on_growing(self, forest, tmp_path):
        whole = clone(forest).set_params(n_estimators=12).fit(X, Y)
        forest.fit(X, Y).save(tmp_path / "m.weald")
        again = weald.load(tmp_path / "m.weald").set_params(warm_start=True, n_estimators=12).fit(X, Y)
        assert_same_trees(again, whole)

    def test_a_metric_of_the_users_own_is_no_part_of_the_file(self, tmp_path):
        model = RandomForestRegressor(40, oob_score=lambda y, p: -np.abs(y - p).mean(), random_state=0)
        model.fit(X, NUMBERS).save(tmp_path / "m.weald")
        assert weald.load(tmp_path / "m.weald").oob_score is True

    @pytest.mark.parametrize("kind", ALL, ids=named)
    def test_at_most_twenty_bytes_a_node(self, kind):
        rng = np.random.default_rng(3)
        table = rng.normal(size=(6000, 8))
        signal = table[:, 0] * table[:, 1] + table[:, 2] + rng.normal(size=6000)
        y = signal > 0 if "Classifier" in kind.__name__ else signal
        model = kind(n_estimators=20, random_state=0).fit(table, y)
        n_nodes = int(model.forest_.tree_start[-1])
        assert n_nodes > 20_000
        assert len(model_file.to_bytes(model)) <= 20 * n_nodes


@pytest.mark.parametrize("max_features", [None, 3])
@pytest.mark.parametrize("n_estimators", [1, 20], ids=["grown together", "grown alone"])
@pytest.mark.parametrize("kind", ALL, ids=named)
def test_columns_that_part_equally_well_take_turns(kind, n_estimators, max_features):
    # A single tree takes the first of them. Trees that all did would err together.
    same = np.repeat(X[:, :1], 6, axis=1)
    target = NUMBERS if kind in REGRESSORS else TWO
    options = {"max_features": max_features, "random_state": 0, "n_jobs": 2}
    model = kind(n_estimators=n_estimators, **options).fit(same, target)
    chosen = np.bincount(model.forest_.column, minlength=6)
    expected = len(model.forest_.column) / 6
    assert np.abs(chosen - expected).max() < 5 * np.sqrt(expected)


def test_two_rows_with_categories_that_are_held_back():
    # The way two rows part is known once one column parts them, unless that column is held back.
    rng = np.random.default_rng(0)
    table = {"c": rng.choice(list("abcdefgh"), N).tolist(), "x": X[:, 0], "z": X[:, 0]}
    alone, together = (
        RandomForestRegressor(4, random_state=0, cat_penalty=3.0, n_jobs=n).fit(table, NUMBERS)
        for n in (1, 4)
    )
    assert_same_trees(alone, together)
