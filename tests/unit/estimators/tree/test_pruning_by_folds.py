"""Pruning by cross-validation in `fit`: the table of candidates, the choice, folds, what does not matter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.model_selection import KFold
from unit.estimators.tree.pruning_data import BOTH, mixed, same, table

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.errors import ParameterError
from weald.estimators.tree.base import Target
from weald.estimators.tree.pruning import choose, prune_by
from weald.rows.growth import GrowOptions
from weald.rows.memory import grow_classification_tree, grow_regression_tree


def held_out_loss(model, X, y) -> np.ndarray:
    """The loss of each row: the Brier score, or the squared error."""
    if isinstance(model, DecisionTreeRegressor):
        return (model.predict(X) - y) ** 2
    return ((model.predict_proba(X) - (y[:, None] == model.classes_)) ** 2).sum(axis=1)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_table_is_that_of_trees_fitted_fold_by_fold(criterion, weighted):
    """Each fold's tree on the subset of rows, pruned and scored alpha by alpha."""
    model = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    X, y = table(model)
    weight = np.random.default_rng(3).integers(0, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    cv = list(KFold(3, shuffle=True, random_state=1).split(X))
    parameters = {"criterion": criterion, "min_samples_leaf": 0.02, "min_samples_split": 0.05}
    fitted = model(prune="cv", cv=cv, **parameters).fit(X, y, sample_weight=weight if weighted else None)
    found = fitted.pruning_table_
    path = model(**parameters).cost_complexity_pruning_path(X, y, weight)
    np.testing.assert_array_equal(found.alpha, np.unique(path.ccp_alphas))
    middles = np.sqrt(found.alpha[:-1] * found.alpha[1:])
    np.testing.assert_allclose(found.tested_alpha, [*middles, np.inf], rtol=1e-12)
    losses = np.zeros((3, len(found)))
    for k, (train, test) in enumerate(cv):
        used = weight[test]
        for j, alpha in enumerate(found.tested_alpha):
            part = model(ccp_alpha=min(alpha, 1e300), **parameters).fit(X[train], y[train], weight[train])
            if criterion == "entropy":
                leaf = part.apply(X[test])
                shares, n = part.tree_.value[leaf, 0], part.tree_.weighted_n_node_samples[leaf]
                smooth = (shares * n[:, None] + 0.5) / (n[:, None] + 1.5)
                loss = -np.log2(smooth[np.arange(len(test)), y[test]])
            else:
                loss = held_out_loss(part, X[test], y[test])
            losses[k, j] = (used * loss).sum() / used.sum()
    np.testing.assert_allclose(found.mean_loss, losses.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.standard_error, losses.std(axis=0, ddof=1) / np.sqrt(3), rtol=1e-6)
    best = np.flatnonzero(losses.mean(axis=0) <= losses.mean(axis=0).min() * (1 + 1e-12))[-1]
    assert np.flatnonzero(found.chosen).tolist() == [best]
    assert fitted.ccp_alpha_ == found.alpha[best]
    sizes = [model(ccp_alpha=a, **parameters).fit(X, y, weight).get_n_leaves() for a in found.alpha]
    assert found.leaves.tolist() == sizes
    assert same(
        fitted, model(ccp_alpha=fitted.ccp_alpha_, **parameters).fit(X, y, weight if weighted else None)
    )


@pytest.mark.parametrize("model", BOTH)
def test_one_standard_error_takes_a_smaller_tree(model):
    X, y = mixed(model)
    best = model(prune="cv", random_state=0).fit(X, y)
    smaller = model(prune="cv-1se", random_state=0).fit(X, y)
    np.testing.assert_array_equal(best.pruning_table_.mean_loss, smaller.pruning_table_.mean_loss)
    found, at = smaller.pruning_table_, int(np.argmax(best.pruning_table_.chosen))
    limit = found.mean_loss[at] + found.standard_error[at]
    assert int(np.argmax(found.chosen)) == np.flatnonzero(found.mean_loss <= limit)[-1]
    assert smaller.get_n_leaves() < best.get_n_leaves() < model().fit(X, y).get_n_leaves()
    assert smaller.get_n_leaves() == found.leaves[found.chosen][0]


def test_choice():
    mean, error = np.array([0.5, 0.3, 0.2, 0.2, 0.25, 0.6]), np.full(6, 0.04)
    assert choose(mean, error, one_standard_error=False) == 3
    assert choose(mean, error, one_standard_error=True) == 3
    assert choose(mean, np.full(6, 0.06), one_standard_error=True) == 4
    assert choose(np.array([0.1 + 0.2, 0.3]), np.zeros(2), one_standard_error=False) == 1
    assert choose(np.zeros(3), np.zeros(3), one_standard_error=False) == 2


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("prune", ["cv", "cv-1se"])
def test_threads_and_repetition_change_nothing(model, prune):
    X, y = mixed(model)
    one, two, again = (
        model(prune=prune, random_state=7, n_jobs=n, max_features=2).fit(X, y) for n in (1, 2, 2)
    )
    assert same(one, two)
    assert same(two, again)
    for name, column in one.pruning_table_.to_dict().items():
        assert two.pruning_table_.to_dict()[name] == column


@pytest.mark.parametrize("model", BOTH)
def test_fresh_data_is_predicted_better(model):
    """Over 50 simulated tables the pruned tree loses less on new rows, by far more than chance."""
    gains = []
    for seed in range(50):
        X, y = table(model, seed, 1200)
        train, test = slice(0, 200), slice(200, None)
        whole = model().fit(X[train], y[train])
        small = model(prune="cv", random_state=0).fit(X[train], y[train])
        gains.append(
            held_out_loss(whole, X[test], y[test]).mean() - held_out_loss(small, X[test], y[test]).mean()
        )
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / np.sqrt(50)


def test_noise_is_pruned_to_the_root():
    rng = np.random.default_rng(0)
    for seed in range(5):
        X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
        assert DecisionTreeRegressor(prune="cv-1se", random_state=seed).fit(X, y).get_n_leaves() == 1


def test_a_class_may_be_missing_from_a_training_fold():
    X, y = table(DecisionTreeClassifier, n_rows=60)
    y[:] = np.where(X[:, 0] > 0, 1, 0)
    y[:3] = 2
    apart = [(np.arange(3, 60), np.arange(3)), (np.arange(30), np.arange(30, 60))]
    for criterion in ("gini", "entropy"):
        fitted = DecisionTreeClassifier(criterion=criterion, prune="cv", cv=apart).fit(X, y)
        assert fitted.classes_.tolist() == [0, 1, 2]
        assert np.isfinite(fitted.pruning_table_.mean_loss).all()
    rare = DecisionTreeClassifier(prune="cv", cv=5, random_state=0).fit(X, y)
    assert rare.predict_proba(X).shape == (60, 3)


def test_a_tree_that_is_a_root_has_one_candidate():
    fitted = DecisionTreeRegressor(prune="cv", cv=2).fit(np.zeros((10, 1)), np.arange(10.0))
    assert fitted.pruning_table_.leaves.tolist() == [1]
    assert fitted.ccp_alpha_ == 0.0
    assert "1 leaf of 1" in repr(fitted.pruning_table_)


def test_other_settings_go_along():
    """Weights by class, bins, several limits: the table's tree is the one that ccp_alpha gives."""
    X, y = mixed(DecisionTreeClassifier)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    parameters = {
        "class_weight": "balanced",
        "max_bins": 16,
        "max_leaf_nodes": 40,
        "min_weight_fraction_leaf": 0.01,
    }
    chosen = DecisionTreeClassifier(prune="cv", random_state=0, **parameters).fit(X, y, weight)
    fixed = DecisionTreeClassifier(ccp_alpha=chosen.ccp_alpha_, **parameters).fit(X, y, weight)
    assert same(chosen, fixed)
    assert 1 < chosen.get_n_leaves() < 40


@pytest.mark.parametrize("labels", [False, True])
def test_losses_of_several_outputs_add_up(labels):
    X, y = table(DecisionTreeClassifier if labels else DecisionTreeRegressor)
    values = np.column_stack([y, y[::-1], X[:, 0] > 0]).astype(np.int32 if labels else float)
    classes = tuple(np.arange(k) for k in (3, 3, 2)) if labels else None
    target = Target(values, classes, None)
    rows = to_table(X)
    codes = encode(rows, max_bins=None)
    options = DecisionTreeClassifier(prune="cv") if labels else DecisionTreeRegressor(prune="cv")
    cv = list(KFold(4).split(X))
    options.set_params(cv=cv)

    def grow(weight):
        grow = GrowOptions(criterion=options.criterion)
        if labels:
            return grow_classification_tree(codes, values, [3, 3, 2], weight, grow)
        return grow_regression_tree(codes, values, weight, grow)

    found = prune_by(options, grow(None), X, rows, target, grow, n_threads=1, owner="Tree")
    expected = 0.0
    for column in values.T:
        kinds = column[:, None] == np.unique(column) if labels else column[:, None]
        errors = [((kinds[test] - kinds[train].mean(axis=0)) ** 2).sum(axis=1) for train, test in cv]
        expected += np.mean([error.mean() for error in errors])
    np.testing.assert_allclose(found.table.mean_loss[-1], expected, rtol=1e-12)
    assert found.table.leaves[found.table.chosen][0] == len(found.forest.value)


@pytest.mark.parametrize("cv", [1, 0, True, 2.0, None, "5", b"5", KFold, 5.5], ids=repr)
def test_what_is_no_cv(cv):
    expected = (
        "`cv` of DecisionTreeRegressor must be a whole number of at least 2, a splitter of scikit-learn or a "
        f"list of (train, test) index arrays; got {cv!r}. Use 5 for five shuffled folds."
    )
    with pytest.raises(ParameterError, match=f"^{re.escape(expected)}$"):
        DecisionTreeRegressor(cv=cv).fit([[0.0], [1.0]], [0.0, 1.0])


def test_fewer_rows_than_folds():
    with pytest.raises(ParameterError, match=r"asks for 5 folds of 3 rows .* Use fewer folds"):
        DecisionTreeClassifier(prune="cv").fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_without_a_seed_the_folds_stay(tmp_path):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    one, two = (DecisionTreeRegressor(prune="cv").fit(X, y) for _ in range(2))
    assert one.pruning_table_.to_dict() == two.pruning_table_.to_dict()
    one.save(tmp_path / "m.weald")
    assert weald.load(tmp_path / "m.weald").ccp_alpha_ == one.ccp_alpha_
