import dataclasses

import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest

from weald.errors import ModelFileError
from weald.io import forest_arrays
from weald.io.arrays import Shelf, narrow
from weald.io.validate import check_forest


def same_forest(a, b):
    assert (a.n_columns, a.link) == (b.n_columns, b.link)
    assert set(a.arrays()) == set(b.arrays())
    for name, array in a.arrays().items():
        other = b.arrays()[name]
        assert array.dtype == other.dtype, name
        assert array.shape == other.shape, name
        assert array.tobytes() == other.tobytes(), name


CASES = [
    {},
    {"n_leaves": 1},
    {"width": 2, "cuts": 400, "n_leaves": 300},
    {"width": 1, "shares": False},
    {"width": 2, "n_trees": 7, "n_outputs": 4},
    {"combinations": True, "n_leaves": 60},
    {"weighted": True},
    {"n_trees": 50, "width": 2, "n_leaves": 3},
    {"width": 5, "by_output": [2, 3]},
    {"width": 5, "by_output": [2, 3], "weighted": True},
    {"inner_value": True},
    {"width": 3, "shares": False, "inner_value": True},
    {"n_leaves": 1, "inner_value": True},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_forest_comes_back_bit_for_bit(case):
    forest = random_forest(1, **case)
    facts, tensors = forest_arrays.encode(forest)
    shelf = Shelf(tensors)
    back = forest_arrays.decode(facts, shelf)
    assert shelf.left() == []
    check_forest(back, mixed_schema())
    same_forest(forest, back)


def test_no_impurity_and_odd_zeros_survive():
    forest = random_forest(2, shares=False, width=2)
    forest.value[0, 0] = -0.0
    numeric = np.flatnonzero(forest.kind == 0)
    forest.threshold[numeric[:2]] = [-0.0, 0.0]
    forest.column[numeric[:2]] = 0
    forest = dataclasses.replace(
        forest,
        impurity=None,
    )
    same_forest(forest, forest_arrays.decode(*(lambda f, t: (f, Shelf(t)))(*forest_arrays.encode(forest))))


def test_leaves_and_sides_in_any_order_are_put_in_node_order():
    forest = random_forest(3)
    n = len(forest.value)
    shuffled = dataclasses.replace(
        forest,
        value=forest.value[::-1].copy(),
        slot=np.where(forest.slot < 0, ~(n - 1 - ~forest.slot), forest.slot).astype(np.int32),
    )
    facts, tensors = forest_arrays.encode(shuffled)
    same_forest(forest, forest_arrays.decode(facts, Shelf(tensors)))


def test_nodes_out_of_preorder_are_refused():
    forest = random_forest(4)
    forest.right[0] += 1
    with pytest.raises(ModelFileError, match="preorder"):
        forest_arrays.encode(forest)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([0, 255]), "uint8"),
        (np.array([0, 256]), "uint16"),
        (np.array([-1, 127]), "int8"),
        (np.array([-1, 128]), "int16"),
        (np.array([0, 2**40]), "uint64"),
        (np.array([3.0, 70000.0]), "uint32"),
        (np.array([-0.0]), "float32"),
        (np.array([0.25, np.inf]), "float32"),
        (np.array([1e300]), "float64"),
        (np.array([2.0**60]), "float32"),
        (np.array([]), "uint8"),
    ],
    ids=str,
)
def test_narrow_picks_the_smallest_exact_dtype(values, dtype):
    found = narrow(values)
    assert found.dtype == dtype
    back = found.astype(values.dtype)
    assert back.tobytes() == values.tobytes()


@pytest.mark.parametrize("case", [{"width": 1, "shares": False}, {"width": 2}], ids=str)
def test_a_large_forest_takes_at_most_20_bytes_a_node(case):
    forest = random_forest(5, n_trees=40, n_leaves=250, cuts=5000, **case)
    _, tensors = forest_arrays.encode(forest)
    assert sum(t.nbytes for t in tensors.values()) <= 20 * forest.n_nodes
