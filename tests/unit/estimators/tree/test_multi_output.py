"""Trees on several targets at once: what they learn, remember, return and refuse."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SIZE = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=150), [-0.5, 0.5])
COLOUR = np.where(X[:, 1] + 0.3 * RNG.normal(size=150) > 0, "red", "blue")
MIXED = pd.DataFrame({"size": SIZE, "colour": COLOUR})
NUMBERS = np.column_stack([X[:, 0] ** 2, X[:, 1] + RNG.normal(size=150), SIZE])


def same(first, second):
    """Whether two fitted trees are equal to the bit."""
    mine, yours = first.forest_.arrays(), second.forest_.arrays()
    assert mine.keys() == yours.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)
    return True


class TestClassifier:
    def test_attributes(self):
        model = DecisionTreeClassifier(max_depth=4).fit(X, MIXED)
        assert [labels.tolist() for labels in model.classes_] == [[0, 1, 2], ["blue", "red"]]
        assert model.n_classes_ == [3, 2]
        assert model.n_outputs_ == 2
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert model.feature_importances_[:2].min() > 0.2

    def test_predictions(self):
        model = DecisionTreeClassifier(max_depth=4).fit(X, MIXED)
        size, colour = model.predict_proba(X)
        assert (size.shape, colour.shape) == ((150, 3), (150, 2))
        np.testing.assert_allclose(size.sum(axis=1), 1)
        np.testing.assert_allclose(colour.sum(axis=1), 1)
        predicted = model.predict(X)
        assert predicted.shape == (150, 2)
        assert predicted.dtype == object
        assert predicted[:, 0].tolist() == size.argmax(axis=1).tolist()
        assert predicted[:, 1].tolist() == np.array(["blue", "red"])[colour.argmax(axis=1)].tolist()
        assert [type(value) for value in predicted[0]] == [int, str]
        logs = model.predict_log_proba(X)
        np.testing.assert_allclose(np.exp(logs[0]), size)
        np.testing.assert_allclose(np.exp(logs[1]), colour)

    def test_apply_and_path(self):
        model = DecisionTreeClassifier(max_depth=4).fit(X, MIXED)
        leaves = model.apply(X)
        np.testing.assert_array_equal(model.tree_.apply(X), leaves)
        assert (model.decision_path(X)[np.arange(150), leaves] == 1).all()
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            shares = np.bincount(SIZE[rows], minlength=3) / rows.sum()
            np.testing.assert_allclose(model.tree_.value[leaf, 0], shares)

    @pytest.mark.parametrize(
        ("y", "dtype"),
        [
            (np.column_stack([SIZE, SIZE % 2]).astype(np.int8), np.int8),
            (np.column_stack([SIZE > 0, SIZE > 1]), np.bool_),
            (np.column_stack([COLOUR, COLOUR]), "<U4"),
            (np.column_stack([COLOUR, COLOUR]).astype(object), object),
            (np.column_stack([SIZE, SIZE % 2]).astype(float), np.float64),
        ],
        ids=["int8", "bool", "text", "object", "float"],
    )
    def test_labels_come_back_as_they_were(self, y, dtype):
        predicted = DecisionTreeClassifier().fit(X, y).predict(X)
        assert predicted.dtype == dtype
        assert predicted.tolist() == y.tolist()

    def test_containers_agree(self):
        models = [
            DecisionTreeClassifier().fit(X, y)
            for y in (MIXED, pl.from_pandas(MIXED), MIXED.to_numpy(), MIXED.to_numpy().tolist())
        ]
        assert all(same(models[0], model) for model in models[1:])
        assert all((model.predict(X) == models[0].predict(X)).all() for model in models[1:])

    def test_a_column_vector_is_one_output(self):
        model = DecisionTreeClassifier().fit(X, SIZE[:, None])
        assert model.n_outputs_ == 1
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.predict(X).shape == (150,)
        assert same(model, DecisionTreeClassifier().fit(X, SIZE))

    def test_classes_without_weight_are_dropped_by_output(self):
        weight = (SIZE != 1).astype(float)
        model = DecisionTreeClassifier().fit(X, MIXED, sample_weight=weight)
        assert [labels.tolist() for labels in model.classes_] == [[0, 2], ["blue", "red"]]
        kept = DecisionTreeClassifier().fit(X[weight > 0], MIXED[weight > 0])
        assert same(model, kept)

    def test_outputs_of_one_class(self):
        model = DecisionTreeClassifier().fit(X, np.column_stack([SIZE, np.full(150, 7)]))
        assert model.predict_proba(X)[1].tolist() == [[1.0]] * 150
        np.testing.assert_array_equal(model.predict(X)[:, 0], SIZE)
        assert same_splits(model, DecisionTreeClassifier().fit(X, SIZE))

    def test_repeating_an_output_changes_no_split(self):
        twice = DecisionTreeClassifier(min_samples_leaf=5).fit(X, np.column_stack([SIZE, SIZE]))
        assert same_splits(twice, DecisionTreeClassifier(min_samples_leaf=5).fit(X, SIZE))


def same_splits(first, second):
    np.testing.assert_array_equal(first.forest_.column, second.forest_.column)
    np.testing.assert_array_equal(first.forest_.threshold, second.forest_.threshold)
    return True


class TestScore:
    def test_is_the_share_of_rows_all_right(self):
        model = DecisionTreeClassifier(max_depth=3).fit(X, MIXED)
        right = (model.predict(X) == MIXED.to_numpy()).all(axis=1)
        assert 0.3 < right.mean() < 1
        assert model.score(X, MIXED) == pytest.approx(right.mean())
        assert model.score(X, pl.from_pandas(MIXED)) == pytest.approx(right.mean())
        weight = RNG.uniform(size=150)
        assert model.score(X, MIXED, weight) == pytest.approx(np.average(right, weights=weight))

    def test_is_that_of_scikit_learn_for_indicators(self):
        y = np.column_stack([SIZE > 0, COLOUR == "red"]).astype(int)
        model = DecisionTreeClassifier(max_depth=3).fit(X, y)
        from sklearn.metrics import accuracy_score

        assert model.score(X, y) == pytest.approx(accuracy_score(y, model.predict(X)))

    def test_takes_labels_never_seen(self):
        model = DecisionTreeClassifier().fit(X, MIXED)
        assert model.score(X[:2], [[99, "red"], [0, "green"]]) == 0.0

    def test_works_in_cross_validation(self):
        y = np.column_stack([SIZE, SIZE % 2])
        assert cross_val_score(DecisionTreeClassifier(max_depth=3), X, y).mean() > 0.5
        assert cross_val_score(DecisionTreeRegressor(max_depth=4), X, NUMBERS).mean() > 0.2

    def test_refuses_another_number_of_outputs(self):
        with pytest.raises(DataError, match="y must have 2 columns, one per output; it has 1"):
            DecisionTreeClassifier().fit(X, MIXED).score(X, SIZE)

    def test_needs_a_fit(self):
        with pytest.raises(NotFittedError):
            DecisionTreeClassifier().score(X, MIXED)


class TestRegressor:
    def test_predicts_the_means_of_every_output(self):
        model = DecisionTreeRegressor(max_depth=3).fit(X, NUMBERS)
        assert model.n_outputs_ == 3
        assert not hasattr(model, "classes_")
        predicted, leaves = model.predict(X), model.apply(X)
        assert predicted.shape == (150, 3)
        for leaf in np.unique(leaves):
            np.testing.assert_allclose(
                predicted[leaves == leaf], [NUMBERS[leaves == leaf].mean(axis=0)] * sum(leaves == leaf)
            )
        assert model.tree_.value.shape == (model.tree_.node_count, 3, 1)
        np.testing.assert_allclose(model.tree_.value[0, :, 0], NUMBERS.mean(axis=0))

    def test_containers_agree(self):
        frame = pd.DataFrame(NUMBERS, columns=list("abc"))
        models = [
            DecisionTreeRegressor().fit(X, y)
            for y in (NUMBERS, frame, pl.from_pandas(frame), NUMBERS.tolist())
        ]
        assert all(same(models[0], model) for model in models[1:])

    def test_a_column_vector_is_one_output(self):
        model = DecisionTreeRegressor().fit(X, NUMBERS[:, :1])
        assert model.n_outputs_ == 1
        assert model.predict(X).shape == (150,)
        assert same(model, DecisionTreeRegressor().fit(X, NUMBERS[:, 0]))

    def test_repeating_an_output_changes_no_split(self):
        twice = DecisionTreeRegressor(min_samples_leaf=5).fit(X, NUMBERS[:, [1, 1]])
        assert same_splits(twice, DecisionTreeRegressor(min_samples_leaf=5).fit(X, NUMBERS[:, 1]))

    @pytest.mark.parametrize("criterion", ["friedman_mse", "absolute_error", "poisson"])
    def test_every_criterion(self, criterion):
        y = np.abs(NUMBERS)
        model = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y)
        leaves, center = model.apply(X), np.median if criterion == "absolute_error" else np.mean
        for leaf in np.unique(leaves):
            expected = center(y[leaves == leaf], axis=0)
            np.testing.assert_allclose(model.tree_.value[leaf, :, 0], expected, rtol=1e-12)
        np.testing.assert_allclose(model.tree_.value[0, :, 0], center(y, axis=0), rtol=1e-12)


@pytest.fixture(params=["classifier", "regressor"])
def case(request):
    if request.param == "classifier":
        return DecisionTreeClassifier(), MIXED.to_numpy()
    return DecisionTreeRegressor(), NUMBERS


class TestBoth:
    def test_threads_and_row_order_never_show(self, case):
        tree, y = case
        model = clone(tree).set_params(n_jobs=1).fit(X, y)
        order = np.random.default_rng(1).permutation(150)
        assert same(model, clone(tree).set_params(n_jobs=3).fit(X, y))
        assert same(model, clone(tree).fit(X[order], y[order]))

    def test_whole_weights_repeat_rows(self, case):
        tree, y = case
        weight = np.arange(150) % 3
        weighted = clone(tree).fit(X, y, sample_weight=weight)
        repeated = tree.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0))
        np.testing.assert_array_equal(weighted.forest_.threshold, repeated.forest_.threshold)
        np.testing.assert_array_equal(weighted.forest_.value, repeated.forest_.value)

    def test_the_tree_predicts_its_values(self, case):
        tree, y = case
        tree.fit(X, y)
        value = tree.tree_.predict(X)
        assert value.shape == (150, tree.n_outputs_, tree.tree_.max_n_classes)
        np.testing.assert_array_equal(value, tree.tree_.value[tree.apply(X)])

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
    def test_copies(self, case, copied):
        tree, y = case
        again = copied(tree.fit(X, y))
        assert same(tree, again)
        assert (again.predict(X) == tree.predict(X)).all()

    def test_files(self, case, tmp_path):
        tree, y = case
        tree.fit(X, y).save(tmp_path / "m.weald")
        loaded = weald.load(tmp_path / "m.weald")
        assert same(tree, loaded)
        assert (loaded.predict(X) == tree.predict(X)).all()
        assert loaded.n_outputs_ == tree.n_outputs_
        assert loaded.to_text() == tree.to_text()

    def test_refit_on_one_output(self, case):
        tree, y = case
        tree.fit(X, y).fit(X, SIZE)
        assert tree.n_outputs_ == 1
        assert tree.predict(X).shape == (150,)

    def test_limits_and_bins(self, case):
        tree, y = case
        assert tree.set_params(max_leaf_nodes=6, max_bins=16).fit(X, y).get_n_leaves() == 6

    def test_no_target(self, case):
        tree, _ = case
        with pytest.raises(
            DataError, match=f"{type(tree).__name__} requires y to be passed, but the target y is None"
        ):
            tree.fit(X)

    def test_constraints_take_one_output(self, case):
        tree, y = case
        with pytest.raises(ParameterError, match="not supported with multiple outputs"):
            tree.set_params(monotonic_cst=[1, 0, 0, 0]).fit(X, y)


class TestClassWeight:
    Y = np.column_stack([SIZE, COLOUR == "red"]).astype(int)

    def test_factors_multiply_over_outputs(self):
        first, second = np.array([1.0, 4.0, 0.5]), np.array([3.0, 1.0])
        by_dict = DecisionTreeClassifier(class_weight=[{1: 4.0, 2: 0.5}, {0: 3}]).fit(X, self.Y)
        weight = first[self.Y[:, 0]] * second[self.Y[:, 1]]
        assert same(by_dict, DecisionTreeClassifier().fit(X, self.Y, sample_weight=weight))

    def test_balanced_is_balanced_for_each(self):
        total, by_hand = 150, np.ones(150)
        for column in self.Y.T:
            by_hand *= (total / (len(np.unique(column)) * np.bincount(column)))[column]
        balanced = DecisionTreeClassifier(class_weight="balanced").fit(X, self.Y)
        assert same(balanced, DecisionTreeClassifier().fit(X, self.Y, sample_weight=by_hand))
        listed = DecisionTreeClassifier(class_weight=["balanced", "balanced"]).fit(X, self.Y)
        assert same(balanced, listed)

    def test_an_output_may_be_left_alone(self):
        some = DecisionTreeClassifier(class_weight=[None, {0: 3}]).fit(X, self.Y)
        assert same(some, DecisionTreeClassifier(class_weight=[{}, {0: 3}]).fit(X, self.Y))
        none = DecisionTreeClassifier(class_weight=[None, None]).fit(X, self.Y)
        assert same(none, DecisionTreeClassifier().fit(X, self.Y))

    def test_a_list_of_one_is_for_one_output(self):
        listed = DecisionTreeClassifier(class_weight=[{1: 5}]).fit(X, SIZE)
        assert same(listed, DecisionTreeClassifier(class_weight={1: 5}).fit(X, SIZE))

    @pytest.mark.parametrize(
        ("class_weight", "message"),
        [
            ({0: 1}, "is one dict, and y has 2 outputs. Give a list of dicts, one per output, or 'balanced'"),
            ([{0: 1}], "is a list of 1, and y has 2 outputs: .* Give one dict for each"),
            ([{0: 1}, "heavy"], r"`class_weight\[1\]` .* must be None, 'balanced' or a dict .* got 'heavy'"),
            (
                [{0: 1}, {5: 1}],
                r"`class_weight\[1\]` of DecisionTreeClassifier names 5, but the labels are 0, 1",
            ),
            ([{0: 1}, {0: -1}], r"`class_weight\[1\]` .* at least 0; got -1 for the label 0"),
            (3, "a list of such, one per output; got 3"),
        ],
    )
    def test_bad_lists(self, class_weight, message):
        with pytest.raises(ParameterError, match=message):
            DecisionTreeClassifier(class_weight=class_weight).fit(X, self.Y)

    def test_all_zero(self):
        y = np.column_stack([SIZE > 0, SIZE > 0]).astype(int)
        with pytest.raises(DataError, match="leaves no row with a positive weight"):
            DecisionTreeClassifier(class_weight=[{0: 0, 1: 1}, {0: 1, 1: 0}]).fit(X, y)

    def test_overflow(self):
        with pytest.raises(DataError, match="overflows"):
            DecisionTreeClassifier(class_weight=[{0: 1e200}, {0: 1e200, 1: 1e200}]).fit(X, self.Y)
