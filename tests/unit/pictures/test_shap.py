import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from unit.pictures.models import LETTERS, NUMERIC, chain, classifier, model_of

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError


def table(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + np.where(X[:, 1] > 0, X[:, 2], 2.0)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y + np.isnan(X[:, 3]) * 3.0


def grown():
    X, y = table()
    labels = np.digitize(y, [0.0, 2.0])
    yield DecisionTreeRegressor(max_depth=6).fit(X, y), X
    yield DecisionTreeClassifier(max_depth=6, class_weight="balanced").fit(X, labels), X
    yield DecisionTreeClassifier(max_depth=3).fit(X, labels > 0, sample_weight=np.abs(y) + 0.1), X
    yield DecisionTreeRegressor().fit(X, y * 0), X


def output(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]


def walk(tree, row):
    """The leaf value of a row, by the rules of the format."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = row[tree["features"][node]]
        if np.isnan(value):
            node = tree["children_default"][node]
        elif value <= tree["thresholds"][node]:
            node = tree["children_left"][node]
        else:
            node = tree["children_right"][node]
    return tree["values"][node]


@pytest.mark.parametrize("k", range(4))
def test_the_arrays_route_rows_as_the_model_does(k):
    model, X = list(grown())[k]
    given = model.to_shap()
    (tree,) = given["trees"]
    np.testing.assert_array_equal([walk(tree, row) for row in X], output(model, X))
    assert given["input_dtype"] == given["internal_dtype"] == np.float64
    assert given["tree_output"] == ("probability" if hasattr(model, "classes_") else "raw_value")


@pytest.mark.parametrize("k", range(4))
def test_inner_values_are_means_of_the_leaves_below(k):
    model, _ = list(grown())[k]
    (tree,) = model.to_shap()["trees"]
    weight, values = tree["node_sample_weight"], tree["values"]
    for node, (a, b) in enumerate(zip(tree["children_left"], tree["children_right"], strict=True)):
        if a >= 0:
            assert weight[node] == pytest.approx(weight[a] + weight[b])
            mean = (values[a] * weight[a] + values[b] * weight[b]) / (weight[a] + weight[b])
            np.testing.assert_allclose(values[node], mean)


def test_missing_against_present_is_an_infinite_threshold():
    model = DecisionTreeRegressor().fit([[1.0], [2.0], [None], [None]], [0, 0, 1, 1])
    (tree,) = model.to_shap()["trees"]
    assert tree["thresholds"][0] == np.inf
    assert tree["children_default"][0] == tree["children_right"][0]
    assert walk(tree, [1e300]) == 0
    assert walk(tree, [np.nan]) == 1


def test_inner_values_of_the_model_do_not_disturb():
    model, _ = next(grown())
    medians = np.full((len(model.forest_.column), 1), 1e6)
    expected = model.to_shap()["trees"][0]["values"]
    model.forest_ = dataclasses.replace(model.forest_, inner_value=medians)
    np.testing.assert_array_equal(model.to_shap()["trees"][0]["values"], expected)


def test_several_outputs_stand_one_after_another():
    forest, schema = chain(
        [(0, 1.0)], NUMERIC, [[0.2, 0.3, 0.5, 1.0, 0.0], [0.1, 0.8, 0.1, 0.4, 0.6]], shares=True
    )
    (tree,) = model_of(forest, schema, [LETTERS, np.array([0, 1])]).to_shap()["trees"]
    np.testing.assert_array_equal(tree["values"][1:], forest.value)


def test_category_splits_are_refused_by_name():
    with pytest.raises(DataError, match="splits the column town by categories"):
        classifier(max_depth=8).to_shap()
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().to_shap()


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what other packages say when imported is not ours
        return pytest.importorskip("shap", reason="shap is not installed: nothing to compare with")


@pytest.mark.parametrize("k", range(4))
def test_explanations_add_up_to_the_prediction(shap, k):
    model, X = list(grown())[k]
    explainer = shap.TreeExplainer(model.to_shap())
    values = np.asarray(explainer.shap_values(X))
    values = values.reshape(*X.shape, -1)
    total = values.sum(axis=1) + np.reshape(explainer.expected_value, (1, -1))
    np.testing.assert_allclose(total, output(model, X), rtol=0, atol=1e-9)
