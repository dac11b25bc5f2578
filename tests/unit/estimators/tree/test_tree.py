"""The two tree estimators: what they learn, remember and return."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=120), [-0.5, 0.5])
BOTH = [DecisionTreeClassifier, DecisionTreeRegressor]


@pytest.fixture(params=BOTH, ids=["classifier", "regressor"])
def tree(request):
    return request.param()


def same(first, second):
    """Whether two fitted trees are equal to the bit."""
    mine, yours = first.forest_.arrays(), second.forest_.arrays()
    assert mine.keys() == yours.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)
    return True


class TestAttributes:
    def test_of_both(self, tree):
        tree.fit(X, Y)
        assert tree.n_features_in_ == 4
        assert tree.n_outputs_ == 1
        assert tree.max_features_ == 4
        assert not hasattr(tree, "feature_names_in_")
        assert tree.forest_.n_trees == 1
        assert len(tree.schema_.columns) == 4
        assert tree.get_depth() == tree.tree_.max_depth > 1
        assert tree.get_n_leaves() == tree.tree_.n_leaves > 2

    def test_of_the_classifier(self):
        model = DecisionTreeClassifier().fit(X, Y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.n_classes_ == 3
        assert model.tree_.value.shape == (model.tree_.node_count, 1, 3)
        np.testing.assert_array_equal(model.tree_.value[0, 0], np.bincount(Y) / len(Y))
        assert model.tree_.weighted_n_node_samples[0] == len(Y)

    def test_names_of_columns(self, tree):
        pandas = pytest.importorskip("pandas")
        named = pandas.DataFrame(X, columns=list("abcd"))
        assert tree.fit(named, Y).feature_names_in_.tolist() == list("abcd")
        assert not hasattr(tree.fit(X, Y), "feature_names_in_")

    def test_importances(self, tree):
        tree.fit(X, Y)
        assert tree.feature_importances_.sum() == pytest.approx(1)
        assert tree.feature_importances_.argmax() == 0

    def test_importances_without_a_split(self, tree):
        assert tree.fit(X, np.ones(120)).feature_importances_.tolist() == [0, 0, 0, 0]

    @pytest.mark.parametrize(
        ("max_features", "expected"),
        [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (0.5, 5), (0.01, 1), (1.0, 10), (99, 99)],
    )
    def test_max_features(self, tree, max_features, expected):
        wide = RNG.normal(size=(30, 10))
        tree.set_params(max_features=max_features, random_state=0).fit(wide, Y[:30])
        assert tree.max_features_ == expected


class TestPredict:
    def test_shares(self):
        model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
        shares = model.predict_proba(X)
        assert shares.shape == (120, 3)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.predict(X), shares.argmax(axis=1))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares)

    def test_log_of_zero_is_silent(self):
        assert np.isneginf(DecisionTreeClassifier().fit(X, Y).predict_log_proba(X)).any()

    def test_means(self):
        model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [5.0]], [1.0, 2.0, 9.0])
        assert model.predict([[0.5], [6.0]]).tolist() == [1.5, 9.0]

    def test_apply_and_path_agree_with_the_tree(self, tree):
        tree.fit(X, Y)
        leaves = tree.apply(X)
        assert (tree.tree_.children_left[leaves] == -1).all()
        np.testing.assert_array_equal(tree.tree_.apply(X), leaves)
        path = tree.decision_path(X)
        assert path.shape == (120, tree.tree_.node_count)
        assert (path[np.arange(120), leaves] == 1).all()
        assert (path[:, 0].toarray() == 1).all()
        np.testing.assert_array_equal(tree.tree_.decision_path(X).toarray(), path.toarray())
        np.testing.assert_array_equal(
            np.bincount(leaves, minlength=tree.tree_.node_count)[leaves], tree.tree_.n_node_samples[leaves]
        )

    def test_tree_predicts_the_leaf_values(self):
        model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
        np.testing.assert_array_equal(model.tree_.predict(X), model.predict_proba(X))

    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"],
            [False, True],
            [-7, 300],
            np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
            np.array(["a", "b"], dtype=object),
        ],
        ids=["text", "bool", "int", "date", "object"],
    )
    def test_labels_come_back_as_they_were(self, labels):
        y = np.asarray(labels)[(X[:, 0] > 0).astype(int)]
        model = DecisionTreeClassifier().fit(X, y)
        assert model.predict(X).dtype == y.dtype
        assert model.predict(X).tolist() == y.tolist()
        assert model.classes_.tolist() == np.asarray(labels).tolist()

    @pytest.mark.parametrize(
        "method", ["predict", "apply", "decision_path", "get_depth", "get_n_leaves", "to_text"]
    )
    def test_needs_a_fit(self, tree, method):
        arguments = [] if method in ("get_depth", "get_n_leaves", "to_text") else [X]
        with pytest.raises(NotFittedError):
            getattr(tree, method)(*arguments)

    def test_saving_needs_a_fit(self, tree, tmp_path):
        with pytest.raises(NotFittedError):
            tree.save(tmp_path / "m.weald")
        assert list(tmp_path.iterdir()) == []


class TestWeights:
    def test_zero_is_absent(self, tree):
        weight = (np.arange(120) % 3 > 0).astype(float)
        weighted = clone(tree).fit(X, Y, sample_weight=weight)
        assert same(weighted, tree.fit(X[weight > 0], Y[weight > 0]))

    def test_zero_is_absent_for_fractions_too(self, tree):
        weight = np.repeat([1.0, 0.0], [40, 80])
        tree.set_params(min_samples_leaf=0.1, min_samples_split=0.3)
        weighted = clone(tree).fit(X, Y, sample_weight=weight)
        assert same(weighted, tree.fit(X[:40], Y[:40]))
        assert tree.tree_.n_node_samples[tree.apply(X[:40])].min() >= 4

    def test_a_class_without_weight_is_absent(self):
        model = DecisionTreeClassifier().fit(X, Y, sample_weight=(Y != 1).astype(float))
        assert model.classes_.tolist() == [0, 2]
        assert model.predict_proba(X).shape == (120, 2)
        assert set(model.predict(X).tolist()) == {0, 2}

    def test_whole_weights_repeat_rows(self, tree):
        weight = np.arange(120) % 3 + 1
        weighted = clone(tree).fit(X, Y, sample_weight=weight)
        repeated = tree.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
        np.testing.assert_array_equal(weighted.forest_.threshold, repeated.forest_.threshold)
        np.testing.assert_array_equal(weighted.forest_.value, repeated.forest_.value)

    def test_min_weight_fraction_leaf(self, tree):
        weight = RNG.uniform(0.5, 2, size=120)
        tree.set_params(min_weight_fraction_leaf=0.2).fit(X, Y, sample_weight=weight)
        leaf = tree.tree_.children_left == -1
        assert tree.tree_.weighted_n_node_samples[leaf].min() >= 0.2 * weight.sum() * (1 - 1e-12)

    def test_weights_are_not_changed(self, tree):
        weight = np.ones(120)
        weight.flags.writeable = False
        tree.fit(X, Y, sample_weight=weight)


class TestClassWeight:
    def test_balanced_gives_equal_totals(self):
        y = (X[:, 0] > 1).astype(int)
        model = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(X, y)
        np.testing.assert_allclose(model.tree_.value[0, 0], [0.5, 0.5], rtol=1e-12)
        assert model.tree_.weighted_n_node_samples[0] == pytest.approx(120)

    def test_balanced_counts_weights(self):
        y = (X[:, 0] > 1).astype(int)
        weight = np.arange(120) % 3
        weighted = DecisionTreeClassifier(class_weight="balanced").fit(X, y, sample_weight=weight)
        repeated = DecisionTreeClassifier(class_weight="balanced").fit(
            np.repeat(X, weight, axis=0), np.repeat(y, weight)
        )
        np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))

    def test_dict_multiplies_weights(self):
        factors = np.array([1.0, 5.0, 2.0])
        by_dict = DecisionTreeClassifier(class_weight={1: 5, 2: 2.0}).fit(X, Y)
        assert same(by_dict, DecisionTreeClassifier().fit(X, Y, sample_weight=factors[Y]))

    def test_dict_of_text_labels(self):
        y = np.array(["lo", "mid", "hi"])[Y]
        model = DecisionTreeClassifier(class_weight={"lo": 0, "mid": 1, "hi": 1}).fit(X, y)
        assert model.classes_.tolist() == ["hi", "lo", "mid"]
        assert (model.predict_proba(X)[:, 1] == 0).all()

    def test_a_rare_class_may_be_absent(self):
        DecisionTreeClassifier(class_weight={0: 1, 1: 1, 2: 1, 3: 9}).fit(X, Y)

    @pytest.mark.parametrize(
        ("class_weight", "message"),
        [
            ({"0": 1}, "names '0', but the labels are 0, 1, 2. Use the labels as they stand in y."),
            ({0: -1}, "must hold finite numbers of at least 0; got -1 for the label 0."),
            ({0: float("nan")}, "got nan for the label 0."),
            ({0: "much"}, "got 'much' for the label 0."),
        ],
    )
    def test_bad_dict(self, class_weight, message):
        with pytest.raises(ParameterError, match="`class_weight` of DecisionTreeClassifier .*" + message):
            DecisionTreeClassifier(class_weight=class_weight).fit(X, Y)

    def test_all_zero(self):
        with pytest.raises(DataError, match="leaves no row with a positive weight"):
            DecisionTreeClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, Y)

    def test_overflow(self):
        with pytest.raises(DataError, match="overflows"):
            DecisionTreeClassifier(class_weight={0: 1e200}).fit(X, Y, sample_weight=np.full(120, 1e200))


class TestLimits:
    def test_depth(self, tree):
        assert tree.set_params(max_depth=2).fit(X, Y).get_depth() == 2

    def test_leaves(self, tree):
        assert tree.set_params(max_leaf_nodes=5).fit(X, Y).get_n_leaves() == 5

    def test_rows_of_leaves(self, tree):
        tree.set_params(min_samples_leaf=7).fit(X, Y)
        assert tree.tree_.n_node_samples.min() >= 7

    def test_rows_of_splits(self, tree):
        tree.set_params(min_samples_split=0.25).fit(X, Y)
        inner = tree.tree_.children_left != -1
        assert tree.tree_.n_node_samples[inner].min() >= 30

    def test_impurity_decrease(self, tree):
        full = clone(tree).fit(X, Y).get_n_leaves()
        assert tree.set_params(min_impurity_decrease=0.05).fit(X, Y).get_n_leaves() < full


class TestRandomState:
    def test_only_matters_if_columns_are_drawn(self, tree):
        state = np.random.RandomState(5)
        before = state.get_state()[2]
        tree.set_params(random_state=state).fit(X, Y)
        assert state.get_state()[2] == before

    def test_repeats(self, tree):
        tree.set_params(random_state=3, max_features=1)
        first, again = clone(tree).fit(X, Y), clone(tree).fit(X, Y)
        assert same(first, again)

    def test_differs(self, tree):
        tree.set_params(max_features=1)
        columns = {tuple(clone(tree).set_params(random_state=s).fit(X, Y).forest_.column) for s in range(5)}
        assert len(columns) > 1

    def test_threads_never_show(self, tree):
        models = [clone(tree).set_params(n_jobs=n).fit(X, Y) for n in (None, 1, 2, 5, -1, -2)]
        assert all(same(models[0], model) for model in models[1:])


class TestState:
    def test_a_failed_fit_leaves_the_model_as_it_was(self, tree):
        tree.fit(X, Y)
        before, predicted = dict(vars(tree)), tree.predict(X)
        for bad in ([1] * 119, [None] * 120):
            with pytest.raises(DataError):
                tree.fit(X, bad)
        assert vars(tree) == before
        np.testing.assert_array_equal(tree.predict(X), predicted)

    def test_an_interrupted_fit_leaves_the_model_as_it_was(self, tree, monkeypatch):
        tree.fit(X, Y)
        before = dict(vars(tree))

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(type(tree), "_grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tree.fit(X[:, :2], Y)
        assert vars(tree) == before

    def test_a_failed_first_fit_leaves_it_unfitted(self, tree):
        with pytest.raises(DataError):
            tree.fit(X, Y[:-1])
        with pytest.raises(NotFittedError):
            check_is_fitted(tree)

    def test_fit_does_not_touch_parameters(self, tree):
        before = tree.get_params()
        assert tree.fit(X, Y).get_params() == before

    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
    )
    def test_copies(self, tree, copied):
        tree.fit(X, Y)
        again = copied(tree)
        assert same(tree, again)
        np.testing.assert_array_equal(again.predict(X), tree.predict(X))
        np.testing.assert_array_equal(again.tree_.value, tree.tree_.value)

    def test_pickle_after_use_is_no_larger(self, tree):
        fresh = len(pickle.dumps(tree.fit(X, Y)))
        tree.predict(X), tree.apply(X), tree.decision_path(X), tree.tree_.value, tree.feature_importances_
        assert len(pickle.dumps(tree)) == fresh

    def test_clone_is_unfitted(self, tree):
        with pytest.raises(NotFittedError):
            clone(tree.fit(X, Y)).predict(X)

    def test_repr_is_short(self):
        assert repr(DecisionTreeClassifier(max_depth=3)) == "DecisionTreeClassifier(max_depth=3)"


class TestCategories:
    def test_declared_by_position(self):
        codes = np.array([[3.0], [1.0], [2.0], [1.0], [3.0], [2.0]])
        y = [1, 1, 0, 1, 1, 0]
        model = DecisionTreeClassifier(categorical_features=[0]).fit(codes, y)
        assert model.get_depth() == 1
        assert model.predict(codes).tolist() == y
        assert model.tree_.apply(codes).tolist() == model.apply(codes).tolist()
        assert np.isnan(model.tree_.threshold[0])
        assert sorted([*model.tree_.left_categories(0)]) in ([2.0], [1.0, 3.0])

    @pytest.mark.parametrize("declared", [["code"], [1], [False, True]])
    def test_declared_columns_are_found_by_name(self, declared):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"size": X[:40, 0], "code": np.arange(40) % 5})
        y = np.isin(frame["code"], [1, 3]).astype(int)
        model = DecisionTreeClassifier(categorical_features=declared).fit(frame, y)
        assert model.get_depth() == 1
        assert model.predict(frame[["code", "size"]]).tolist() == y.tolist()
        with pytest.raises(DataError, match="code"):
            model.predict(frame[["size"]])

    def test_unknown_category(self):
        rows, y = [["a"], ["b"], ["b"], ["c"]], [0, 1, 1, 0]
        DecisionTreeClassifier().fit(rows, y).predict([["z"]])
        strict = DecisionTreeClassifier(unknown="error").fit(rows, y)
        with pytest.raises(DataError, match="'z'"):
            strict.predict([["z"]])

    def test_missing_text(self):
        rows, y = [["a"], [None], ["b"], [None]], [0, 1, 0, 1]
        assert DecisionTreeClassifier().fit(rows, y).predict(rows).tolist() == y


def test_save_and_load(tree, tmp_path):
    tree.fit(X, Y).save(tmp_path / "m.weald")
    again = weald.load(tmp_path / "m.weald")
    assert type(again) is type(tree)
    assert same(tree, again)
    np.testing.assert_array_equal(again.predict(X), tree.predict(X))


def test_to_text(tree):
    assert tree.fit(X, Y).to_text().count("\n") >= tree.get_n_leaves() - 1


def test_leaves_of_equal_counts_have_no_poisson_deviance():
    tree = DecisionTreeRegressor(criterion="poisson").fit(np.arange(1.0, 7)[:, None], np.arange(1, 7)).tree_
    leaf = tree.children_left == -1
    np.testing.assert_array_equal(tree.impurity[leaf], 0.0)
    assert (tree.impurity[~leaf] > 0).all()
