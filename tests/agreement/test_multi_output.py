"""Several outputs: the trees of scikit-learn where both define the same, and as good ones elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from agreement.test_scikit_learn_trees import PEERS, distinct
from sklearn import tree as peers
from sklearn.datasets import load_linnerud, make_multilabel_classification
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.utils.class_weight import compute_sample_weight

from weald import DecisionTreeClassifier, DecisionTreeRegressor


def data(model: type, seed: int, n_rows: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table with signal for three outputs, and rows never seen."""
    rng = np.random.default_rng(seed)
    X = distinct(rng, n_rows, 4)
    signal = (
        np.column_stack([X[:, 0] / n_rows, np.sin(X[:, 1] * 8 / n_rows), X[:, 2] * X[:, 3] / n_rows**2])
        + rng.normal(size=(n_rows, 3)) / 3
    )
    if model is DecisionTreeClassifier:
        signal = np.column_stack(
            [
                np.digitize(column, np.quantile(column, cuts))
                for column, cuts in zip(signal.T, ([0.5], [0.3, 0.7], [0.2, 0.5, 0.9]), strict=True)
            ]
        )
    return X, signal, rng.uniform(-10, n_rows + 10, (300, 4)).astype(np.float32).astype(np.float64)


CRITERIA = [
    (DecisionTreeClassifier, "gini"),
    (DecisionTreeClassifier, "entropy"),
    (DecisionTreeRegressor, "squared_error"),
    (DecisionTreeRegressor, "friedman_mse"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"min_impurity_decrease": 0.002}], ids=str)
@pytest.mark.parametrize(("model", "criterion"), CRITERIA)
def test_same_tree(model, criterion, limits, weighted):
    X, y, new = data(model, seed=3)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(X)) if weighted else None
    ours = model(criterion=criterion, min_samples_leaf=40, **limits).fit(X, y, sample_weight=weight)
    criterion = {"friedman_mse": "squared_error"}.get(criterion, criterion)
    theirs = PEERS[model](criterion=criterion, min_samples_leaf=40, random_state=0, **limits)
    theirs.fit(X, y, sample_weight=weight)
    for name in ("feature", "threshold", "children_left", "children_right", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name), err_msg=name)
    for name in ("impurity", "weighted_n_node_samples", "value"):
        np.testing.assert_allclose(
            getattr(ours.tree_, name), getattr(theirs.tree_, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    for name in ("n_outputs", "max_n_classes", "node_count", "max_depth"):
        assert getattr(ours.tree_, name) == getattr(theirs.tree_, name)
    np.testing.assert_array_equal(ours.tree_.n_classes, theirs.tree_.n_classes)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)
    np.testing.assert_allclose(
        ours.tree_.predict(new), theirs.tree_.predict(new.astype(np.float32)), rtol=1e-12, atol=1e-12
    )
    for normalize in (True, False):
        np.testing.assert_allclose(
            ours.tree_.compute_feature_importances(normalize),
            theirs.tree_.compute_feature_importances(normalize),
            rtol=1e-9,
            atol=1e-12,
        )
    if model is DecisionTreeClassifier:
        for mine, yours in zip(ours.predict_proba(new), theirs.predict_proba(new), strict=True):
            np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-12)


@pytest.mark.parametrize("y", ["int", "bool", "text", "object", "column"])
def test_same_attributes_and_types(y):
    X, labels, _ = data(DecisionTreeClassifier, seed=5, n_rows=100)
    y = {
        "int": labels,
        "bool": labels > 0,
        "text": labels.astype(str),
        "object": labels.astype(str).astype(object),
        "column": labels[:, :1],
    }[y]
    ours, theirs = DecisionTreeClassifier().fit(X, y), peers.DecisionTreeClassifier().fit(X, y)
    assert ours.n_outputs_ == theirs.n_outputs_
    assert np.array_equal(ours.n_classes_, theirs.n_classes_)
    assert type(ours.classes_) is type(theirs.classes_)
    for mine, yours in zip(ours.classes_, theirs.classes_, strict=True):
        assert np.array_equal(mine, yours)
    assert ours.predict(X).dtype.kind == theirs.predict(X).dtype.kind
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).shape == theirs.predict(X).shape


@pytest.mark.parametrize(
    "class_weight",
    ["balanced", [{0: 2.0, 1: 1.0}, {0: 1.0, 1: 4.0, 2: 0.5}, {0: 1, 1: 1, 2: 3, 3: 1}]],
    ids=["balanced", "dicts"],
)
def test_class_weights_are_the_factors_of_scikit_learn(class_weight):
    X, y, new = data(DecisionTreeClassifier, seed=4)
    ours = DecisionTreeClassifier(class_weight=class_weight, min_samples_leaf=40).fit(X, y)
    same = DecisionTreeClassifier(min_samples_leaf=40).fit(
        X, y, sample_weight=compute_sample_weight(class_weight, y)
    )
    for mine, yours in zip(ours.predict_proba(new), same.predict_proba(new), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-12)


def test_same_error_on_a_table_of_three_targets():
    X, y = load_linnerud(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)
    errors = [
        mean_absolute_error(y, cross_val_predict(model(min_samples_leaf=3), X, y, cv=folds)) / y.mean()
        for model in (DecisionTreeRegressor, peers.DecisionTreeRegressor)
    ]
    assert errors[0] == pytest.approx(errors[1], abs=0.1)


def test_same_accuracy_on_indicators():
    X, y = make_multilabel_classification(1500, n_features=12, n_classes=4, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    ours, theirs = (
        (cross_val_predict(model(min_samples_leaf=5), X, y, cv=folds) == y).mean()
        for model in (DecisionTreeClassifier, peers.DecisionTreeClassifier)
    )
    assert ours == pytest.approx(theirs, abs=0.02)


def test_tools_for_several_outputs():
    X, y = make_multilabel_classification(200, random_state=0)
    for tool in (MultiOutputClassifier, ClassifierChain):
        assert tool(DecisionTreeClassifier(max_depth=3)).fit(X, y).predict(X).shape == y.shape
