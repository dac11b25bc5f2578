"""The reference itself, against hand-computed figures, scikit-learn and brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from reference.brute_force import best_partition_bruteforce, exact_score, smallest_residual_bruteforce
from reference.columns import binned_column, exact_column
from reference.fixed_point import least_units, power_of_two, target_offset, to_units, weight_units
from reference.splits import Limits, ReferenceColumn, best_split, subsets
from reference.statistics import ClassWeights, Moments
from reference.tree import Options, grow

NAN = math.nan


def classes(labels, n_classes=2, weight=None, criterion="gini"):
    return ClassWeights.of(np.array(labels, dtype=np.int32), n_classes, weight, criterion, math.log2)


# fixed point


@pytest.mark.parametrize(
    "values", [[1.0], [0.5, 3.0, -7.0], [1e300, 1e-300], [5e-324], [1.0] * 1000, [0.0, 2.0]]
)
def test_power_is_the_largest_that_leaves_room(values):
    k = power_of_two(values)

    def room(power):
        return sum(Fraction(2) ** (math.frexp(v)[1] + power) for v in values if v != 0.0)

    assert room(k) < 2**62 <= room(k + 1)


def test_power_of_nothing_is_zero():
    assert power_of_two([]) == power_of_two([0.0, -0.0]) == 0


def test_units_of_one():
    # 1.0 < 2^1, so 2^(1 + k) < 2^62 gives k = 60
    assert to_units(np.array([1.0])).power == 60
    assert to_units(np.array([1.0])).units.tolist() == [2**60]


def test_units_round_halves_to_even():
    scaled = to_units(np.array([2.0**61, 0.5, 1.5, 2.5]))
    assert scaled.power == -1
    assert scaled.units.tolist() == [2**60, 0, 1, 1]


def test_whole_weights_stay_and_others_are_never_zero():
    assert weight_units(None, 3).units.tolist() == [1, 1, 1]
    whole = weight_units(np.array([3.0, 1.0, 1e6]), 3)
    assert (whole.units.tolist(), whole.power) == ([3, 1, 1_000_000], 0)
    assert weight_units(np.array([2.0**53, 1.0]), 2).power != 0
    assert weight_units(np.array([1e300, 1e-300]), 2).units.tolist()[1] == 1


def test_least_units_rounds_up():
    assert least_units(2.5, 0) == 3
    assert least_units(2.5, 1) == 5
    assert least_units(0.0, 60) == 0


def test_offset_only_when_far_from_zero():
    assert target_offset(np.array([0.0, 10.0])) == 0.0
    assert target_offset(np.array([1e9, 1e9 + 2])) == 1e9 + 1
    assert target_offset(np.array([7.0, 7.0])) == 7.0


# splits


def test_subsets_are_each_partition_once():
    found = list(subsets([2, 5, 7]))
    assert found == [{2}, {2, 5}, {2, 7}]
    assert len(list(subsets(list(range(1, 11))))) == 2**9 - 1


def test_threshold_is_the_middle_of_the_neighbours_in_the_node():
    column = exact_column(np.array([1.0, 2.0, 10.0, 20.0]))
    root, *_ = grow([column], classes([0, 0, 1, 1]), Options())
    assert root.threshold == 6.0
    assert column.threshold(1, 4) == 10.5
    assert column.threshold(4, None) == math.inf


def test_threshold_is_the_lower_value_when_the_middle_reaches_the_upper():
    low, high = 1.0, math.nextafter(1.0, 2.0)
    assert exact_column(np.array([low, high])).threshold(1, 2) == low
    assert exact_column(np.array([-1.7e308, 1.7e308])).threshold(1, 2) == -1.7e308


def test_binned_threshold_is_the_cut():
    column = binned_column(np.array([1.0, 2.0, 3.0, NAN]), np.array([1.0, 2.5]))
    assert column.codes.tolist() == [1, 2, 3, 0]
    assert column.threshold(2, 3) == 2.5


def test_missing_takes_the_better_side_or_its_own():
    column = exact_column(np.array([1.0, 2.0, NAN, NAN]))
    rows = np.arange(4)
    split = best_split(column, rows, classes([0, 1, 1, 1]), Limits())
    assert (split.left_codes, split.missing_left) == ({1}, False)
    split = best_split(column, rows, classes([0, 1, 0, 0]), Limits())
    assert (split.left_codes, split.missing_left) == ({1}, True)
    split = best_split(column, rows, classes([0, 0, 1, 1]), Limits())
    assert (split.left_codes, split.missing_left) == ({1, 2}, False)


def test_ties_take_the_lower_column_then_code_then_missing_left():
    x = exact_column(np.array([1.0, 2.0, 3.0, 4.0]))
    root, *_ = grow([x, x], classes([0, 1, 1, 0]), Options())
    assert (root.column, root.threshold) == (
        0,
        1.5,
    )  # after the first and after the third value are worth the same
    y = exact_column(np.array([1.0, 2.0, NAN, NAN]))
    split = best_split(y, np.arange(4), classes([0, 1, 0, 1]), Limits())
    assert (split.left_codes, split.missing_left) == ({1}, True)


def test_unseen_categories_and_missing_go_with_the_heavier_child():
    column = ReferenceColumn("categorical", np.array([2, 2, 2, 4]), 5)
    root, *_ = grow([column], classes([0, 0, 0, 1]), Options())
    assert root.left_codes == {1, 2, 3, 5}
    assert root.missing_left is True
    root, *_ = grow([column], classes([1, 1, 1, 0]), Options())
    assert root.left_codes == {4}
    assert root.missing_left is False


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("task", ["gini", "entropy", "squared_error"])
def test_ordering_by_mean_loses_nothing(task, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 30)), int(rng.integers(2, 7))
    column = ReferenceColumn("categorical", rng.integers(0, k + 1, n), k)
    weight = rng.integers(1, 5, n).astype(float) if seed % 2 else None
    rows = np.arange(n)
    if task == "squared_error":
        statistic = Moments.of(rng.integers(-5, 6, n) / 4, weight)
    else:
        statistic = classes(rng.integers(0, 2, n), 2, weight, task)
    found = best_split(column, rows, statistic, Limits())
    best = best_partition_bruteforce(column, rows, statistic)
    if found is None:
        assert best is None
        return
    reached = exact_score(statistic, found.left_cell) + exact_score(statistic, found.right_cell)
    if task == "entropy":
        assert reached == pytest.approx(best, rel=1e-12, abs=1e-12)
    else:
        assert reached == best


@pytest.mark.parametrize("seed", range(30))
def test_subsets_under_a_limit_lose_nothing(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 25)), int(rng.integers(2, 6))
    column = ReferenceColumn("categorical", rng.integers(0, k + 1, n), k)
    statistic = classes(rng.integers(0, 2, n)) if seed % 2 else classes(rng.integers(0, 3, n), 3)
    found = best_split(column, np.arange(n), statistic, Limits(min_rows_leaf=3))
    best = best_partition_bruteforce(column, np.arange(n), statistic, min_rows_leaf=3)
    if found is None:
        assert best is None
    else:
        assert exact_score(statistic, found.left_cell) + exact_score(statistic, found.right_cell) == best


# trees


def test_xor_is_learnt_through_a_split_of_gain_zero():
    a, b = exact_column(np.array([0.0, 0, 1, 1])), exact_column(np.array([0.0, 1, 0, 1]))
    records = grow([a, b], classes([0, 1, 1, 0]), Options())
    assert records[0].gain == 0.0
    assert len(records) == 7
    assert all(node.impurity == 0.0 for node in records if node.kind == "leaf")


def test_best_first_takes_the_largest_gain_and_numbers_in_preorder():
    x = exact_column(np.arange(8.0))
    y = np.array([0.0, 0, 1, 1, 100, 100, 140, 140])
    records = grow([x], Moments.of(y, None), Options(max_leaves=3))
    assert [node.kind for node in records] == ["numeric", "leaf", "numeric", "leaf", "leaf"]
    assert [node.threshold for node in records] == [3.5, None, 5.5, None, None]
    assert [node.value for node in records] == [None, (0.5,), None, (100.0,), (140.0,)]


def test_regression_split_has_the_smallest_residual():
    rng = np.random.default_rng(3)
    x, y = rng.permutation(30) / 4, np.round(rng.normal(size=30), 3)
    root, *_ = grow([exact_column(x)], Moments.of(y, None), Options(max_depth=1))
    explained = Fraction(float(np.sum((y - y.mean()) ** 2))) - smallest_residual_bruteforce(
        x.tolist(), y.tolist()
    )
    assert root.gain == pytest.approx(float(explained), rel=1e-9)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("seed", range(8))
def test_equals_scikit_learn_on_one_column(criterion, seed):
    # one column of distinct values: scikit-learn has no ties between columns to break at random
    rng = np.random.default_rng(seed)
    x = rng.permutation(120)[:60] / 8
    weight = rng.integers(1, 4, 60).astype(float)
    column = exact_column(x)
    if criterion == "squared_error":
        y = rng.normal(size=60)
        peer = DecisionTreeRegressor(max_leaf_nodes=9, min_samples_leaf=2)
        statistic = Moments.of(y, weight)
    else:
        y = rng.integers(0, 3, 60)
        peer = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=9, min_samples_leaf=2)
        statistic = classes(y, 3, weight, criterion)
    peer.fit(x[:, None], y, sample_weight=weight)
    records = grow([column], statistic, Options(max_leaves=9, min_rows_leaf=2))
    ours = sorted(node.threshold for node in records if node.kind != "leaf")
    assert ours == sorted(peer.tree_.threshold[peer.tree_.feature >= 0].tolist())
