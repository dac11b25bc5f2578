"""Importances against loops that permute copies of the table."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import mean_absolute_error
from support.out_of_bag import unseen_rows
from unit.model.forests import mixed_schema, naive_leaf, random_forest, random_table

from weald import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from weald.data.rows import take_rows, take_values, with_columns
from weald.estimators.shared.growth import drawn_seed
from weald.inspection.importance import permutation_importances
from weald.inspection.votes import TrainingRows, wrong_share
from weald.rows.bags import BagRecord


def numbers(n: int = 70, n_columns: int = 6) -> np.ndarray:
    X = np.random.default_rng(5).normal(size=(n, n_columns)).round(1)
    X[:, -1] = 1.0  # nothing to split on
    X[::9, 0] = np.nan
    X[np.abs(X) < 0.5] = 0.0
    return X


def target(X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X[:, 0]) + X[:, 1] ** 2 + np.random.default_rng(6).normal(size=len(X)) / 3


def frame(n: int = 70) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    size = pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True)
    table = pd.DataFrame({"size": size, "town": rng.choice(["Bern", "Graz", "Lyon"], n)})
    table["height"] = pd.array(rng.integers(0, 9, n), dtype="Int64")
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D")
    table.loc[::7, ["town", "height", "day"]] = None
    return table


def brute_force(model, X, y, error, groups, n_repeats=1, present=None, random_state=0):
    """Mean and standard error over trees, each asked for a permuted copy of its out-of-bag rows."""
    seed, rises = drawn_seed(random_state), []
    whole = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    given = (lambda table: table) if isinstance(X, pd.DataFrame) else (lambda table: table.to_numpy())
    for t, rows in enumerate(unseen_rows(model, present)):
        if not len(rows):
            continue
        part, tree = whole.iloc[rows], model.estimators_[t]
        base = error(y[rows], tree.predict(given(part)))
        row = []
        for columns in groups:
            worse = []
            for repeat in range(n_repeats):
                order = np.random.default_rng([seed, t, columns[0], repeat]).permutation(len(rows))
                mixed = part.copy()
                for j in columns:
                    mixed.isetitem(j, part.iloc[order, j].array)
                worse.append(error(y[rows], tree.predict(given(mixed))) - base)
            row.append(np.mean(worse))
        rises.append(row)
    rises = np.array(rises)
    return rises.mean(axis=0), rises.std(axis=0, ddof=1) / np.sqrt(len(rises))


def assert_equals(found, expected):
    np.testing.assert_allclose(found.importances_mean, expected[0], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.importances_se, expected[1], rtol=1e-9, atol=1e-13)


def wrong(a, b):
    return np.mean(a != b)


def squared(a, b):
    return np.mean((a - b) ** 2)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_loss_of_accuracy_is_that_of_permuted_copies(kind):
    X = numbers()
    y = np.where(target(X) > 0.5, "yes", "no")
    model = kind(12, bootstrap=True, random_state=1).fit(X, y)
    found = model.permutation_importance(X, y)
    assert_equals(found, brute_force(model, X, y, wrong, [[j] for j in range(6)]))
    assert found.names == tuple(range(6))
    assert found.importances_mean[-1] == found.importances_se[-1] == 0
    assert found.importances_mean[0] > 0


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_rise_of_squared_error_is_that_of_permuted_copies(kind):
    X, y = numbers(), target(numbers())
    model = kind(12, bootstrap=True, random_state=1, max_features=2).fit(X, y)
    found = model.permutation_importance(X, y, n_repeats=3, random_state=8)
    expected = brute_force(model, X, y, squared, [[j] for j in range(6)], n_repeats=3, random_state=8)
    assert_equals(found, expected)


def test_any_metric_and_groups():
    X, y = numbers(), target(numbers())
    model = RandomForestRegressor(12, random_state=1).fit(X, y)
    found = model.permutation_importance(X, y, groups=[[1, 0], 2, [5]], metric=mean_absolute_error)
    assert_equals(found, brute_force(model, X, y, lambda a, b: np.mean(np.abs(a - b)), [[1, 0], [2], [5]]))
    assert found.names == ((1, 0), 2, (5,))


def test_a_group_of_one_column_is_that_column():
    X, y = numbers(), target(numbers())
    model = RandomForestRegressor(12, random_state=1).fit(X, y)
    single = model.permutation_importance(X, y)
    found = model.permutation_importance(X, y, groups={"b": 3, "a": [1]})
    assert found.names == ("b", "a")
    assert np.array_equal(found.importances_mean, single.importances_mean[[3, 1]])


def test_every_kind_of_column_is_permuted():
    X = frame()
    tall = X["height"].fillna(4).to_numpy(float) > 4
    y = (X["size"] == "l").to_numpy(bool) ^ tall ^ (X["town"] == "Graz").to_numpy(bool)
    model = RandomForestClassifier(10, random_state=2, max_features=None).fit(X, y)
    found = model.permutation_importance(X, y)
    assert_equals(found, brute_force(model, X, y, wrong, [[j] for j in range(4)]))
    assert found.names == ("size", "town", "height", "day")
    assert (found.importances_mean[:3] != 0).all()
    both = model.permutation_importance(X, y, groups={"place and time": ["town", "day"], "size": "size"})
    assert_equals(both, brute_force(model, X, y, wrong, [[1, 3], [0]]))


def test_wide_tables_look_again_only_at_rows_that_pass_the_column():
    """Many columns, each in small parts of a tree."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 40)).round(1)
    y = np.where(X[:, :8].sum(axis=1) + rng.normal(size=80) > 0, 1, 0)
    model = RandomForestClassifier(8, random_state=1, max_features=1).fit(X, y)
    assert_equals(
        model.permutation_importance(X, y), brute_force(model, X, y, wrong, [[j] for j in range(40)])
    )


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_tables_have_the_importances_of_their_dense_copies(form):
    X, y = numbers(), target(numbers())
    model = RandomForestRegressor(12, random_state=1).fit(X, y)
    dense = model.permutation_importance(X, y, n_repeats=2)
    found = model.permutation_importance(sparse.coo_array(X).asformat(form), y, n_repeats=2)
    assert np.array_equal(found.importances_mean, dense.importances_mean)
    assert np.array_equal(found.importances_se, dense.importances_se)


def test_declared_categories_in_a_sparse_table():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    y = np.where(np.isin(X[:, 1], [0, 3]) ^ (X[:, 0] > 1), 1, 0)
    model = RandomForestClassifier(9, random_state=1, categorical_features=[1]).fit(X, y)
    dense = model.permutation_importance(X, y)
    assert_equals(dense, brute_force(model, X, y, wrong, [[0], [1], [2]]))
    found = model.permutation_importance(sparse.csr_array(X), y)
    assert np.array_equal(found.importances_mean, dense.importances_mean)


def test_rows_of_weight_0_do_not_count():
    X = numbers()
    y = np.where(target(X) > 0.5, 1, 0)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = RandomForestClassifier(10, random_state=1).fit(X, y, weight)
    found = model.permutation_importance(X, y, sample_weight=weight)
    assert_equals(found, brute_force(model, X, y, wrong, [[j] for j in range(6)], present=weight > 0))


def test_several_outputs_by_the_default_metric():
    X = numbers()
    y = np.column_stack([target(X), X[:, 2] ** 2])
    model = RandomForestRegressor(8, random_state=1).fit(X, y)
    assert_equals(
        model.permutation_importance(X, y), brute_force(model, X, y, squared, [[j] for j in range(6)])
    )
    y = np.where(y > 0.5, "yes", "no")
    model = RandomForestClassifier(8, random_state=1).fit(X, y)
    expected = brute_force(model, X, y, lambda a, b: np.mean((a != b).any(axis=1)), [[j] for j in range(6)])
    assert_equals(model.permutation_importance(X, y), expected)


def test_trees_without_out_of_bag_rows_do_not_count():
    X, y = [[0.0], [1.0], [2.0]], np.array([0.0, 5.0, 9.0])
    model = RandomForestRegressor(60, random_state=0).fit(X, y)
    assert any(len(rows) == 0 for rows in unseen_rows(model))
    assert_equals(model.permutation_importance(X, y), brute_force(model, np.array(X), y, squared, [[0]]))


def test_one_tree_has_no_standard_error():
    X, y = numbers(), target(numbers())
    found = RandomForestRegressor(1, random_state=0).fit(X, y).permutation_importance(X, y)
    assert np.isnan(found.importances_se).all()
    assert not np.isnan(found.importances_mean).any()


def test_combinations_are_read_by_all_their_columns():
    """Random trees with splits on combinations, sets and ranks, walked node by node."""
    schema = mixed_schema(many=9)
    forest = random_forest(4, schema, n_trees=3, n_leaves=30, combinations=True)
    table = random_table(5, schema, 40)
    labels = np.random.default_rng(6).integers(0, 3, (40, 1))
    bags = BagRecord(seed=3, n_rows=40, n_draws=40)
    groups = [(name, [j]) for j, name in enumerate(schema.names)] + [("pair", [2, 6])]
    found = permutation_importances(
        TrainingRows(forest, table, bags, None), labels, [3], wrong_share, groups, n_repeats=1, seed=11
    )
    rises = []
    for t in range(3):
        rows = np.flatnonzero(bags.counts(t) == 0)
        part = take_rows(table, rows)

        def errors(mixed, t=t, rows=rows):
            nodes = forest.tree_start[t] + [naive_leaf(forest, mixed, i, t) for i in range(len(rows))]
            return np.mean(np.argmax(forest.value[~forest.slot[nodes]], axis=1) != labels[rows, 0])

        orders = [np.random.default_rng([11, t, js[0], 0]).permutation(len(rows)) for _, js in groups]
        mixed = [
            with_columns(part, {j: take_values(part.columns[j], order) for j in js})
            for (_, js), order in zip(groups, orders, strict=True)
        ]
        rises.append([errors(each) - errors(part) for each in mixed])
    rises = np.array(rises)
    assert_equals(found, (rises.mean(axis=0), rises.std(axis=0, ddof=1) / np.sqrt(3)))
    assert found.importances_mean[0] != 0


def test_same_importances_for_any_number_of_threads():
    X, y = numbers(), target(numbers())
    found = [
        RandomForestRegressor(6, random_state=1, n_jobs=n_jobs).fit(X, y).permutation_importance(X, y)
        for n_jobs in (1, 3)
    ]
    assert np.array_equal(found[0].importances_mean, found[1].importances_mean)


def test_criterion_importances_are_means_over_trees():
    X, y = numbers(), target(numbers())
    model = RandomForestRegressor(9, random_state=1).fit(X, y)
    by_tree = model.importances_by_tree()
    expected = np.array([tree.feature_importances_ for tree in model.estimators_])
    np.testing.assert_allclose(by_tree, expected, rtol=1e-12, atol=1e-15)
    found = model.criterion_importance()
    assert np.array_equal(found.importances_mean, model.feature_importances_)
    np.testing.assert_allclose(found.importances_se, expected.std(axis=0, ddof=1) / 3, rtol=1e-9, atol=1e-15)
    assert found.names == tuple(range(6))


def test_criterion_importances_leave_out_trees_without_a_split():
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    grown = model.importances_by_tree()[:, 0]
    assert 1 < np.count_nonzero(grown) < 20
    found = model.criterion_importance()
    assert (found.importances_mean.tolist(), found.importances_se.tolist()) == ([1.0], [0.0])
    stump = RandomForestRegressor(3, random_state=0).fit(X, [1.0, 1.0]).criterion_importance()
    assert stump.importances_mean.tolist() == [0.0]
    assert np.isnan(stump.importances_se).all()
