"""Every criterion the sources name can be chosen, and is what its definition says."""

from __future__ import annotations

import numpy as np
import pytest
from support.losses import CLASS_CRITERIA, NUMBER_CRITERIA, gain, loss, weighted_median

from weald import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = [*CLASS_CRITERIA, *NUMBER_CRITERIA]


def model_of(criterion: str, **parameters) -> DecisionTreeClassifier | DecisionTreeRegressor:
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    return model(criterion=criterion, **parameters)


def data(criterion: str, seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two columns with ties, a target that fits the criterion, weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 12, n) / 4, np.round(rng.normal(size=n), 1)])
    signal = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)
    if criterion in CLASS_CRITERIA:
        y = np.digitize(signal, np.quantile(signal, [0.3, 0.8] if seed % 2 else [0.6]))
    else:
        y = rng.poisson(np.exp(signal / 3)).astype(float) if criterion == "poisson" else signal
    return X, y, rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_impurity_of_every_node_is_the_definition(criterion, weighted):
    X, y, weight = data(criterion, seed=1)
    weight = weight if weighted else np.ones(len(y))
    model = model_of(criterion, max_depth=4).fit(X, y, sample_weight=weight)
    assert model.tree_.node_count > 10
    for passes, impurity in zip(
        model.decision_path(X).toarray().T.astype(bool), model.tree_.impurity, strict=True
    ):
        expected = loss(criterion, y[passes], weight[passes]) / weight[passes].sum()
        assert impurity == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(6))
def test_first_split_lowers_the_criterion_the_most(criterion, seed):
    X, y, weight = data(criterion, seed)
    weight = weight if seed % 3 else np.ones(len(y))
    model = model_of(criterion, max_depth=1).fit(X, y, sample_weight=weight)
    tries = [gain(criterion, y, X[:, j] <= cut, weight) for j in range(2) for cut in np.unique(X[:, j])[:-1]]
    assert model.forest_.gain[0] == pytest.approx(max(tries), rel=1e-9)
    left = X[:, model.tree_.feature[0]] <= model.tree_.threshold[0]
    assert gain(criterion, y, left, weight) == pytest.approx(max(tries), rel=1e-9)


def test_misclassification_can_be_chosen():
    """Labels 0 0 0 1 1 1 0 0: three wrong in one leaf, two after the best split."""
    x = np.arange(8.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 0, 0])
    model = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(x, y)
    assert model.tree_.impurity.tolist() == [3 / 8, 0.0, 2 / 5]
    assert model.tree_.threshold[0] == 2.5
    assert model.forest_.gain[0] == 1.0


def test_misclassification_does_not_prefer_a_pure_side_as_gini_does():
    """40:40 parted into 30:10 and 10:30, or into 20:0 and 20:40: 20 wrong either way."""
    y = np.array([0] * 40 + [1] * 40)
    even = np.array([0] * 30 + [1] * 10 + [0] * 10 + [1] * 30)
    pure = np.array([0] * 20 + [1] * 20 + [0] * 40)
    X = np.column_stack([even, pure]).astype(float)
    by_errors = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(X, y)
    by_gini = DecisionTreeClassifier(criterion="gini", max_depth=1).fit(X, y)
    assert by_errors.tree_.feature[0] == 0  # both leave 20 wrong; the lower column wins
    assert by_errors.forest_.gain[0] == 20.0
    assert by_gini.tree_.feature[0] == 1


def test_absolute_error_can_be_chosen():
    """A leaf predicts the median, which one wild target does not move."""
    x = np.array([1.0, 2, 3, 4, 5, 10, 11, 12, 13, 14])[:, None]
    y = np.array([1.0, 2, 40, 3, 4, 20, 21, 22, 23, 24])
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(x, y)
    assert model.tree_.threshold[0] == 7.5
    assert model.predict([[0.0], [20.0]]).tolist() == [3.0, 22.0]
    assert model.tree_.impurity.tolist() == [np.abs(y - 20.5).mean(), 41 / 5, 6 / 5]


@pytest.mark.parametrize("seed", range(4))
def test_leaf_of_absolute_error_is_the_weighted_median(seed):
    X, y, weight = data("absolute_error", seed)
    model = DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=5).fit(X, y, weight)
    leaves = model.apply(X)
    assert len(np.unique(leaves)) > 4
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert model.tree_.value[leaf, 0, 0] == pytest.approx(weighted_median(y[rows], weight[rows]))


@pytest.mark.parametrize("seed", range(4))
def test_leaf_of_poisson_is_a_mean_above_zero(seed):
    X, y, _ = data("poisson", seed)
    model = DecisionTreeRegressor(criterion="poisson").fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        assert model.tree_.value[leaf, 0, 0] == pytest.approx(y[leaves == leaf].mean())
    assert (y == 0).any()
    assert (model.predict(X) > 0).all()


def test_friedman_mse_is_squared_error():
    X, y, weight = data("squared_error", seed=3)
    one, other = (
        DecisionTreeRegressor(criterion=name).fit(X, y, weight).forest_.arrays()
        for name in ("squared_error", "friedman_mse")
    )
    for name, array in one.items():
        assert array.tobytes() == other[name].tobytes(), name


def test_gini_of_two_classes_and_squared_error_grow_the_same_tree():
    """Weighted so that no two splits tie: then even the whole trees are the same."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 1)), rng.integers(500, 2000, 300).astype(float)
    y = (np.sin(3 * X[:, 0]) + rng.normal(size=300) > 0).astype(int)
    by_gini = DecisionTreeClassifier().fit(X, y, weight)
    by_error = DecisionTreeRegressor().fit(X, y.astype(float), weight)
    np.testing.assert_array_equal(by_gini.tree_.threshold, by_error.tree_.threshold)
    np.testing.assert_array_equal(by_gini.predict_proba(X)[:, 1], by_error.predict(X))
