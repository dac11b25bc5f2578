"""Bad tables, targets and weights: a clear error, or the documented sensible result."""

import numpy as np
import pytest

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, WealdError

pandas = pytest.importorskip("pandas")

X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 3.0], [3.0, 2.0]])
Y = [0, 0, 1, 1]
FRAME = pandas.DataFrame({"size": X[:, 0], "colour": ["red", "red", "blue", None]})
NAN, INF = float("nan"), float("inf")


@pytest.fixture(params=[DecisionTreeClassifier, DecisionTreeRegressor], ids=["classifier", "regressor"])
def tree(request):
    return request.param()


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (np.empty((0, 3)), [], r"0 sample\(s\)"),
        (FRAME[:0], [], r"0 sample\(s\)"),
        (np.empty((4, 0)), Y, r"0 feature\(s\)"),
        (FRAME[[]], Y, r"0 feature\(s\)"),
        ([1.0, 2.0, 3.0, 4.0], Y, "1D array instead"),
        (np.zeros((4, 2, 2)), Y, "dim"),
        (np.where(X == 2, INF, X), Y, "Column 0 contains inf: row 2"),
        (FRAME.assign(size=-INF), Y, "Column 'size' contains inf: row 0 holds -inf"),
        (FRAME.assign(mixed=[1, "a", 2.5, "b"]), Y, "mixed"),
        (FRAME.set_axis(["a", "a"], axis=1), Y, "more than once: 'a'"),
        (FRAME, Y[:3], r"\[4, 3\]"),
        (FRAME, [*Y, 1], r"\[4, 5\]"),
        (FRAME, [[[0], [1]]] * 4, "y has more than two dimensions: row 0"),
        (FRAME, [0, 1, None, 1], "y contains NaN: row 2"),
        (FRAME, [0, 1, NAN, 1], "y contains NaN: row 2"),
        (FRAME, [0, 1, INF, 1], "y contains infinity"),
        (FRAME, None, "requires y to be passed, but the target y is None"),
    ],
)
def test_tables_and_targets(tree, table, target, message):
    with pytest.raises(WealdError, match=message):
        tree.fit(table, target)
    assert not hasattr(tree, "forest_")


def test_labels_that_are_measurements():
    with pytest.raises(DataError, match=r"Unknown label type: continuous\. Row 1 of the target y holds 1\.5"):
        DecisionTreeClassifier().fit(X, [0.0, 1.5, 1.0, 1.0])


def test_targets_that_are_text():
    with pytest.raises(DataError, match="must be numbers; row 0 holds 'a'"):
        DecisionTreeRegressor().fit(X, ["a", "b", "a", "b"])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1], "sample_weight has 3 values for 4 rows"),
        ([1, 1, -1, 1], "sample_weight contains negative values: row 2"),
        ([1, 1, NAN, 1], "sample_weight contains NaN: row 2"),
        ([1, 1, INF, 1], "sample_weight contains infinity: row 2"),
        ([0, 0, 0, 0], "sample_weight is zero in every row"),
        ([[1], [1], [1], [1]], "1D array or scalar"),
        (["a", "b", "c", "d"], "sample_weight must be numbers"),
    ],
)
def test_weights(tree, weight, message):
    with pytest.raises(WealdError, match=message):
        tree.fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (FRAME[["size"]], "colour"),
        (FRAME.assign(extra=1), "extra"),
        (FRAME.rename(columns={"size": "sise"}), "size"),
        (FRAME.assign(size=["a", "b", "c", "d"]), "Column 'size' was numeric when this model was fitted"),
        (FRAME.assign(colour=[1.0, 2.0, 3.0, 4.0]), "Column 'colour'"),
        (FRAME.assign(size=INF), "Column 'size' contains inf"),
        (FRAME[:0], r"0 sample\(s\)"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
def test_predict_on_other_columns(tree, method, table, message):
    tree.fit(FRAME, Y)
    with pytest.raises(DataError, match=message):
        getattr(tree, method)(table)


def test_predict_on_too_few_columns(tree):
    expected = f"X has 1 features, but {type(tree).__name__} is expecting 2 features as input"
    with pytest.raises(DataError, match=expected):
        tree.fit(X, Y).predict(X[:, :1])


def test_reordered_columns_are_fine(tree):
    tree.fit(FRAME, Y)
    assert tree.predict(FRAME[["colour", "size"]]).tolist() == tree.predict(FRAME).tolist() == Y


def test_all_missing_columns_are_never_split(tree):
    table = np.column_stack([np.full(4, NAN), X[:, 0]])
    tree.fit(table, Y)
    assert set(tree.tree_.feature.tolist()) == {1, -2}
    assert tree.predict([[7.0, 0.0]]).tolist() == [0]


def test_nothing_but_missing_is_a_single_leaf(tree):
    tree.fit(np.full((4, 2), NAN), Y)
    assert tree.get_n_leaves() == 1
    assert tree.tree_.value[0, 0].tolist() in ([0.5, 0.5], [0.5])


def test_one_class():
    model = DecisionTreeClassifier().fit(X, ["only"] * 4)
    assert model.get_n_leaves() == 1
    assert model.predict([[9.0, 9.0]]).tolist() == ["only"]
    assert model.predict_proba(X).tolist() == [[1.0]] * 4


def test_constant_target():
    model = DecisionTreeRegressor().fit(X, [0.1] * 4)
    assert model.get_n_leaves() == 1
    assert model.predict(X).tolist() == [0.1] * 4


def test_one_row(tree):
    assert tree.fit(X[:1], Y[:1]).predict(X).tolist() == [0] * 4


def test_huge_targets():
    y = np.array([1e140, -1e140, 1e140, -1e140])
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, y).predict(X), y)
    with pytest.raises(DataError, match=r"too large: y reaches 1e\+150.*Divide y"):
        DecisionTreeRegressor().fit(X, y * 1e10)
    with pytest.raises(DataError, match="sample_weight adds up to more than float64 holds"):
        DecisionTreeRegressor().fit(X, y, sample_weight=[1e308] * 4)


def test_one_huge_target_leaves_the_others_their_means():
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(3000, 3)), rng.random(3000)
    y[0] = 9.99e20
    model = DecisionTreeRegressor().fit(table, y)
    assert model.get_depth() < 100
    predicted = model.predict(table)
    assert predicted[0] == y[0]
    np.testing.assert_allclose(predicted[1:], 0.5, atol=0.3)  # means of many, none of them lost to 0


def test_a_leaf_of_one_target_predicts_it_to_the_bit():
    rng = np.random.default_rng(1)
    table, y = rng.normal(size=(500, 2)), rng.normal(size=500) * 0.1 + 7
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(table, y).predict(table), y)


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 2**70},
        {"min_samples_split": 2**70},
        {"min_samples_leaf": 2**63},
        {"max_leaf_nodes": 2**64},
        {"n_jobs": 2**40},
    ],
)
def test_limits_beyond_any_table_are_just_large(params):
    model = DecisionTreeClassifier(**params).fit(X, [0, 1, 0, 1])
    lone_leaf = "min_samples_split" in params or "min_samples_leaf" in params
    assert model.get_n_leaves() == (
        1 if lone_leaf else DecisionTreeClassifier().fit(X, [0, 1, 0, 1]).get_n_leaves()
    )
