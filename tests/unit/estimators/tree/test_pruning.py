"""Pruning in `fit`: a given alpha, the path of alphas, attributes, what is refused."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from unit.estimators.tree.pruning_data import BOTH, mixed, same, table

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError
from weald.model.prune import pruning_path

# --------------------------------------------------------------------------- ccp_alpha


@pytest.mark.parametrize("model", BOTH)
def test_alpha_prunes(model):
    X, y = mixed(model)
    path = model().cost_complexity_pruning_path(X, y)
    assert model(ccp_alpha=0.0).fit(X, y).get_n_leaves() == model().fit(X, y).get_n_leaves()
    sizes = [model(ccp_alpha=alpha).fit(X, y).get_n_leaves() for alpha in path.ccp_alphas[1::10]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    root = model(ccp_alpha=path.ccp_alphas[-1]).fit(X, y)
    assert root.get_n_leaves() == 1
    if model is DecisionTreeRegressor:
        np.testing.assert_allclose(root.predict(X), y.mean(), rtol=1e-12)
    else:
        np.testing.assert_allclose(root.predict_proba(X)[0], np.bincount(y) / len(y), rtol=1e-12)


@pytest.mark.parametrize("model", BOTH)
def test_order_of_rows_and_threads_change_nothing_at_a_given_alpha(model):
    X, y = mixed(model)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    alpha = float(np.median(model().cost_complexity_pruning_path(X, y, weight).ccp_alphas))
    one = model(ccp_alpha=alpha, n_jobs=1).fit(X, y, weight)
    assert 1 < one.get_n_leaves() < model().fit(X, y, weight).get_n_leaves()
    order = np.random.default_rng(1).permutation(len(X))
    assert same(one, model(ccp_alpha=alpha, n_jobs=2).fit(X.iloc[order], y[order], weight[order]))


@pytest.mark.parametrize("model", BOTH)
def test_a_pruned_model_is_saved_and_pickled(model, tmp_path):
    X, y = mixed(model)
    for parameters in (
        {"ccp_alpha": 0.02},
        {"prune": "cv", "cv": 3, "random_state": 0},
        {"prune": "cv", "cv": KFold(3)},
    ):
        fitted = model(**parameters).fit(X, y)
        fitted.save(tmp_path / "m.weald")
        loaded = weald.load(tmp_path / "m.weald")
        assert same(fitted, loaded)
        assert not hasattr(loaded, "pruning_table_")
        assert (loaded.prune, loaded.ccp_alpha) == (fitted.prune, fitted.ccp_alpha)
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        again = pickle.loads(pickle.dumps(fitted))
        assert same(fitted, again)
        if fitted.prune:
            assert again.ccp_alpha_ == fitted.ccp_alpha_
            assert repr(again.pruning_table_) == repr(fitted.pruning_table_)


# --------------------------------------------------------------------------- the path


@pytest.mark.parametrize("model", BOTH)
def test_path_with_and_without_a_table(model):
    X, y = mixed(model)
    pruned = model(ccp_alpha=0.01)
    with pytest.raises(NotFittedError):
        pruned.cost_complexity_pruning_path()
    whole = pruned.cost_complexity_pruning_path(X, y)
    assert not hasattr(pruned, "forest_")
    np.testing.assert_array_equal(
        whole.ccp_alphas, model(prune="cv", ccp_alpha=0.3).cost_complexity_pruning_path(X, y).ccp_alphas
    )
    expected = pruning_path(model().fit(X, y).forest_)
    np.testing.assert_array_equal(whole.ccp_alphas, expected.ccp_alphas)
    np.testing.assert_array_equal(whole["impurities"], expected.impurities)
    own = pruned.fit(X, y).cost_complexity_pruning_path()
    assert (own.ccp_alphas[0], own.ccp_alphas[1:].min() > 0.01) == (0.0, True)
    rest = whole.ccp_alphas[whole.ccp_alphas > 0.01]
    np.testing.assert_allclose(own.ccp_alphas[1:], rest, rtol=1e-9)
    np.testing.assert_allclose(own.impurities[1:], whole.impurities[-len(rest) :], rtol=1e-9)


def naive_path(tree) -> tuple[list[float], list[float]]:
    """Weakest links by the definition, from impurities: g = (R(t) - R(T_t)) / (leaves - 1)."""
    left, right = tree.children_left.copy(), tree.children_right
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]

    def branch(t: int) -> tuple[float, int]:
        if left[t] < 0:
            return risk[t], 1
        (a, n), (b, m) = branch(left[t]), branch(right[t])
        return a + b, n + m

    def inside(t: int) -> list[int]:
        return [] if left[t] < 0 else [t, *inside(left[t]), *inside(right[t])]

    alphas, impurities = [0.0], [branch(0)[0]]
    while left[0] >= 0:
        links = [((risk[t] - branch(t)[0]) / (branch(t)[1] - 1), t) for t in inside(0)]
        alpha, weakest = min(links)
        left[weakest] = -1
        alphas.append(alpha)
        impurities.append(branch(0)[0])
    return alphas, impurities


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("seed", range(4))
def test_path_is_that_of_the_naive_twin(criterion, seed):
    """On categories and missing values, weighted; both as steps, as rounding splits and orders tied cuts."""
    model = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    X, y = mixed(model, seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    fitted = model(criterion=criterion, min_samples_leaf=3).fit(X, y, weight)
    assert {0, 1} == set(fitted.forest_.kind.tolist())
    path = fitted.cost_complexity_pruning_path()
    alphas, impurities = naive_path(fitted.tree_)
    apart = np.append(np.diff(alphas) > 1e-9, True)  # the last of each group of tied cuts
    ends = np.array(alphas)[apart]
    at = np.append((ends[:-1] + ends[1:]) / 2, 2 * ends[-1])
    found = path.impurities[np.searchsorted(path.ccp_alphas, at, side="right") - 1]
    np.testing.assert_allclose(found, np.array(impurities)[apart], rtol=1e-9, atol=1e-12)
    assert len(ends) > 10


def test_path_needs_x_with_y():
    X, y = table(DecisionTreeRegressor)
    with pytest.raises(DataError, match="needs X with y"):
        DecisionTreeRegressor().cost_complexity_pruning_path(y=y)
    with pytest.raises(DataError, match="y is None"):
        DecisionTreeRegressor().cost_complexity_pruning_path(X)


# --------------------------------------------------------------------------- attributes and errors


@pytest.mark.parametrize("model", BOTH)
def test_attributes_come_and_go(model):
    X, y = table(model)
    tree = model(prune="cv", random_state=0).fit(X, y)
    assert tree.ccp_alpha_ > 0
    assert tree.pruning_table_.n_folds == 5
    tree.set_params(prune=None).fit(X, y)
    assert not hasattr(tree, "ccp_alpha_")
    assert not hasattr(tree, "pruning_table_")
    assert clone(model(prune="cv", cv=KFold(3))).cv.n_splits == 3


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    X, y = table(DecisionTreeRegressor)
    tree = DecisionTreeRegressor(prune="cv", random_state=0).fit(X, y)
    before = tree.forest_, tree.pruning_table_
    with pytest.raises(ParameterError):
        tree.set_params(cv=[([0], [1]), ([0], [10**6])]).fit(X, y)
    assert (tree.forest_, tree.pruning_table_) == before


def test_two_ways_of_pruning_at_once_are_refused():
    X, y = table(DecisionTreeRegressor)
    expected = "`prune` of DecisionTreeRegressor chooses ccp_alpha itself; got prune='cv' and ccp_alpha=0.1."
    with pytest.raises(ParameterError, match=f"^{re.escape(expected)}"):
        DecisionTreeRegressor(prune="cv", ccp_alpha=0.1).fit(X, y)


@pytest.mark.parametrize(
    "bad", [{"ccp_alpha": -1.0}, {"ccp_alpha": float("nan")}, {"prune": "1se"}, {"prune": True}]
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=f"^`{next(iter(bad))}` of DecisionTreeRegressor must be "):
        DecisionTreeRegressor(**bad).fit([[0.0], [1.0]], [0.0, 1.0])
