"""Distances between rows of any table are those of a metric, and neighbours those of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import neighbors as reference

from weald.data.adapters import to_table
from weald.data.schema import Schema
from weald.neighbors.search import Search
from weald.neighbors.space import RowSpace

VALUES = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))
LEVELS = st.one_of(st.none(), st.sampled_from("abc"))


@st.composite
def tables(draw):
    n = draw(st.integers(2, 24))
    columns = {}
    for j in range(draw(st.integers(0, 4))):
        columns[f"x{j}"] = np.array(draw(st.lists(VALUES, min_size=n, max_size=n)), float)
    for j in range(draw(st.integers(0 if columns else 1, 3))):
        columns[f"c{j}"] = draw(st.lists(LEVELS, min_size=n, max_size=n))
    return columns


METRICS = st.sampled_from(
    ["euclidean", "manhattan", "chebyshev", "mixed", ("minkowski", 3), ("minkowski", 1.5)]
)


def placed(X, metric, scale):
    table = to_table(X)
    schema = Schema.of(table)
    aligned = schema.align(table)
    space = RowSpace.of(aligned, schema, metric=metric, scale=scale)
    return space, space.place(aligned)


@given(tables(), METRICS, st.booleans())
def test_distances_are_a_metric(X, metric, scale):
    space, rows = placed(X, metric, scale)
    found, order = Search(space, rows).nearest(rows, rows.n_rows)
    distance = np.empty_like(found)
    np.put_along_axis(distance, order, found, axis=1)
    assert (np.diag(distance) == 0).all()
    assert (distance >= 0).all()
    assert (distance == distance.T).all()
    over = distance[:, :, None] + distance[None, :, :]  # from i by way of j to k
    assert (distance[:, None, :] <= over * (1 + 1e-9) + 1e-12).all()


@given(tables(), st.one_of(METRICS, st.just("cosine")), st.booleans(), st.data())
def test_neighbours_are_those_of_all_pairs(X, metric, scale, data):
    space, rows = placed(X, metric, scale)
    k = data.draw(st.integers(1, rows.n_rows))
    algorithm = data.draw(st.sampled_from(["brute", "kd_tree"]))
    leaf_size = data.draw(st.integers(1, 10))
    found = Search(space, rows, algorithm=algorithm, leaf_size=leaf_size).nearest(rows, k)
    expected = reference.nearest(space, rows, rows, k)
    if metric == ("minkowski", 1.5):  # powers of our own differ from NumPy's in the last bit
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
        return
    assert (found[1] == expected[1]).all()
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_distance(X, random):
    space, rows = placed(X, "mixed", False)
    order = list(range(rows.n_rows))
    random.shuffle(order)
    turned = Search(space, rows.take(np.array(order))).nearest(rows, rows.n_rows)[0]
    assert (turned == Search(space, rows).nearest(rows, rows.n_rows)[0]).all()


def test_a_metric_needs_p_of_at_least_one():
    space, rows = placed([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], ("minkowski", 0.5), False)
    found = Search(space, rows).nearest(rows, 3)[0]
    assert found[0].tolist() == pytest.approx([0.0, 1.0, 4.0])  # 4 > 1 + 1: as documented
