"""Labels of several outputs in one array, shares cut apart."""

import numpy as np
import pytest

from weald.data.target import Labels
from weald.estimators.shared.labels import all_right, most_frequent, side_by_side, split_shares


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["i1", "i1"], "i1"),
        (["i1", "i8"], "i8"),
        (["u1", "i1"], "i2"),
        (["u8", "i8"], object),
        (["f4", "f8"], "f8"),
        (["i8", "f8"], object),
        (["?", "i8"], object),
        (["<U1", "<U5"], "<U5"),
        (["<U1", "O"], object),
        (["M8[D]", "M8[s]"], "M8[s]"),
        (["M8[D]", "m8[D]"], object),
        (["i8", "M8[ns]"], object),
    ],
    ids=str,
)
def test_a_common_type_or_objects(dtypes, expected):
    columns = [np.array([0, 1]).astype(dtype) for dtype in dtypes]
    found = side_by_side(columns)
    assert found.dtype == expected
    assert found.shape == (2, 2)
    for j, column in enumerate(columns):
        assert list(found[:, j]) == list(column)


def test_objects_keep_python_types():
    found = side_by_side(
        [np.array([1, 2]), np.array(["a", "b"]), np.array([True, False]), np.array([0.5, 1.0])]
    )
    assert [type(value) for value in found[0]] == [int, str, bool, float]


def test_shares_are_cut_by_output():
    scores = np.array([[0.25, 0.75, 1.0, 0.0, 0.0]])
    assert [part.tolist() for part in split_shares(scores, [2, 3])] == [[[0.25, 0.75]], [[1.0, 0.0, 0.0]]]
    assert split_shares(scores, [5])[0] is scores


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([[0.5, 0.5], [0.4, 0.6]], [0, 1]), ([[0.2, 0.4, 0.4]], [1]), ([[1.0]], [0])],
)
def test_the_first_of_equal_shares(shares, expected):
    found = most_frequent(np.array(shares))
    assert found.tolist() == expected
    assert found.dtype == np.intp


def test_rows_all_right():
    truth = [
        Labels(np.array([1, 2, 9]), np.array([0, 1, 2], np.int32)),
        Labels(np.array(["b"]), np.zeros(3, np.int32)),
    ]
    classes = [np.array([1.0, 2.0]), np.array(["a", "b"], object)]
    best = [np.array([0, 0, 1]), np.array([1, 1, 1])]
    assert all_right(truth, classes, best).tolist() == [True, False, False]
