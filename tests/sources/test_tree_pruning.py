"""Cost-complexity pruning: the score, the weakest-link sequence, and the choice by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn import tree as peers
from sklearn.model_selection import KFold
from support.losses import loss

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.model.prune import tree_score

MODELS = {"gini": DecisionTreeClassifier, "entropy": DecisionTreeClassifier} | dict.fromkeys(
    ("squared_error", "absolute_error", "poisson"), DecisionTreeRegressor
)


def data(criterion: str, seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values that are exact in float32, a noisy target, whole weights that break ties."""
    rng = np.random.default_rng(seed)
    X = rng.permutation(8 * n)[:n, None] / 8.0
    signal = np.sin(X[:, 0] * 6 / n) + rng.normal(size=n) / 2
    y = np.digitize(signal, [-0.5, 0.5]) if MODELS[criterion] is DecisionTreeClassifier else signal
    y = rng.poisson(np.exp(signal)).astype(float) if criterion == "poisson" else y
    return X, y, rng.integers(500, 2000, n).astype(float)


def prunings(tree, node: int = 0) -> Iterator[list[int]]:
    """The leaves of every tree that pruning can leave."""
    yield [node]
    if tree.children_left[node] >= 0:
        rights = list(prunings(tree, tree.children_right[node]))
        for left in prunings(tree, tree.children_left[node]):
            yield from (left + right for right in rights)


def leaf_losses(model, criterion, X, y, weight) -> np.ndarray:
    """What each node would lose as a leaf: its impurity by definition, times its weight."""
    passes = model.decision_path(X).toarray().T.astype(bool)
    return np.array([loss(criterion, y[rows], weight[rows]) for rows in passes])


def test_score_of_the_worked_example():
    """A sum of squared residuals of 543.8 with 4 leaves at α = 10000."""
    assert tree_score(543.8, 4, 10_000) == 40543.8
    assert tree_score(np.array([543.8, 5494.8]), np.array([4, 3]), 10_000).tolist() == [40543.8, 35494.8]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", MODELS)
def test_pruned_tree_has_the_best_score_of_all_prunings(criterion, weighted):
    """SSR (or weight × impurity) + α · leaves, with α the total weight times ccp_alpha."""
    X, y, weight = data(criterion, seed=2)
    weight = weight if weighted else np.ones(len(y))
    parameters = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 5}
    whole = MODELS[criterion](**parameters).fit(X, y, weight)
    losses = leaf_losses(whole, criterion, X, y, weight)
    every = list(prunings(whole.tree_))
    assert len(every) > 50
    path = whole.cost_complexity_pruning_path().ccp_alphas
    for ccp_alpha in (path[1:-1] + path[2:]) / 2:
        small = MODELS[criterion](ccp_alpha=ccp_alpha, **parameters).fit(X, y, weight)
        leaves = small.apply(X)
        found = sum(loss(criterion, y[leaves == k], weight[leaves == k]) for k in np.unique(leaves))
        alpha = weight.sum() * ccp_alpha
        best = min(tree_score(losses[kept].sum(), len(kept), alpha) for kept in every)
        assert tree_score(found, small.get_n_leaves(), alpha) == pytest.approx(best, rel=1e-9)
    assert small.get_n_leaves() < whole.get_n_leaves()


@pytest.mark.parametrize("criterion", MODELS)
def test_path_is_the_weakest_link_sequence(criterion):
    """Each cut has the least increase of the loss per leaf, over all branches that are left."""
    X, y, weight = data(criterion, seed=3)
    model = MODELS[criterion](criterion=criterion, min_samples_leaf=8).fit(X, y, weight)
    losses, tree = leaf_losses(model, criterion, X, y, weight) / weight.sum(), model.tree_
    left = tree.children_left.copy()

    def leaves(node: int) -> list[int]:
        return [node] if left[node] < 0 else leaves(left[node]) + leaves(tree.children_right[node])

    def inner(node: int) -> list[int]:
        below = (left[node], tree.children_right[node])
        return [] if left[node] < 0 else [node, *inner(below[0]), *inner(below[1])]

    def price(node: int) -> float:
        below = leaves(node)
        return (losses[node] - losses[below].sum()) / (len(below) - 1)

    path = model.cost_complexity_pruning_path()
    assert path.ccp_alphas[0] == 0.0
    assert path.impurities[0] == pytest.approx(losses[leaves(0)].sum())
    for alpha, impurity in zip(path.ccp_alphas[1:], path.impurities[1:], strict=True):
        weakest = min(inner(0), key=price)
        assert alpha == pytest.approx(price(weakest), rel=1e-9)
        left[weakest] = -1
        assert impurity == pytest.approx(losses[leaves(0)].sum(), rel=1e-9)
    assert leaves(0) == [0]


@pytest.mark.parametrize("criterion", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_path_equals_that_of_scikit_learn(criterion, seed):
    X, y, weight = data(criterion, seed)
    parameters = {"criterion": criterion, "min_samples_leaf": 5}
    ours = MODELS[criterion](**parameters).fit(X, y, weight)
    peer = getattr(peers, MODELS[criterion].__name__)(random_state=0, **parameters).fit(X, y, weight)
    np.testing.assert_array_equal(ours.tree_.threshold, peer.tree_.threshold)
    found = ours.cost_complexity_pruning_path()
    expected = peer.cost_complexity_pruning_path(X, y, weight)
    np.testing.assert_allclose(found.ccp_alphas, expected.ccp_alphas, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.impurities, expected.impurities, rtol=1e-8, atol=1e-12)


# the choice by cross-validation


def held_out(criterion: str, model, X, y) -> float:
    """The mean loss on rows the tree never saw: squared or absolute residual, Brier score."""
    if criterion == "gini":
        return float(((model.predict_proba(X) - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    residual = y - model.predict(X)
    return float((np.abs(residual) if criterion == "absolute_error" else residual**2).mean())


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "gini"])
@pytest.mark.parametrize("seed", range(2))
def test_cross_validation_chooses_as_the_rule_says(criterion, seed):
    X, y, _ = data(criterion, seed, n=150)
    model, folds = MODELS[criterion], list(KFold(5, shuffle=True, random_state=seed).split(X))
    parameters = {"criterion": criterion, "min_samples_leaf": 3}
    # the candidates are those of the full-data sequence; between two of them, all alphas give one tree
    alphas = np.unique(model(**parameters).cost_complexity_pruning_path(X, y).ccp_alphas)
    tried = [*np.sqrt(alphas[:-1] * alphas[1:]), 1e300]
    losses = np.zeros((len(folds), len(tried)))
    for i, (train, test) in enumerate(folds):
        for k, alpha in enumerate(tried):
            part = model(ccp_alpha=alpha, **parameters).fit(X[train], y[train])
            losses[i, k] = held_out(criterion, part, X[test], y[test])
    mean, error = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(5)
    lowest = int(np.flatnonzero(mean <= mean.min() * (1 + 1e-12))[-1])
    within = int(np.flatnonzero(mean <= mean[lowest] + error[lowest])[-1])
    for prune, chosen in (("cv", lowest), ("cv-1se", within)):
        found = model(prune=prune, cv=folds, **parameters).fit(X, y)
        assert found.ccp_alpha_ == alphas[chosen]
        # and the tree is the one of all rows at that alpha
        expected = model(ccp_alpha=alphas[chosen], **parameters).fit(X, y).forest_.arrays()
        for name, array in found.forest_.arrays().items():
            np.testing.assert_array_equal(array, expected[name], err_msg=name)
    assert lowest > 0
    assert within >= lowest


def test_table_of_the_choice_can_be_read():
    X, y, _ = data("squared_error", 1)
    model = DecisionTreeRegressor(prune="cv-1se", random_state=0).fit(X, y)
    table = model.pruning_table_
    at = int(np.argmax(table.chosen))
    assert table.alpha[at] == model.ccp_alpha_
    assert table.leaves[at] == model.get_n_leaves()
    assert table.leaves[0] > table.leaves[-1] == 1
    assert (np.diff(table.alpha) > 0).all()
    assert (np.diff(table.leaves) < 0).all()
    assert (table.standard_error >= 0).all()
