"""The core finds what the float64 loop over all pairs finds, to the bit."""

import numpy as np
import pytest
from reference import neighbors as reference
from scipy import sparse

from weald import _core
from weald.data.adapters import to_table
from weald.data.schema import Schema
from weald.errors import DataError
from weald.neighbors.search import Search, nearest
from weald.neighbors.space import RowSpace

METRICS = ["euclidean", "manhattan", "chebyshev", "cosine", "mixed", ("minkowski", 3), ("minkowski", 0.5)]


def placed(X, **options):
    table = to_table(X)
    schema = Schema.of(table)
    aligned = schema.align(table)
    space = RowSpace.of(aligned, schema, **{"metric": "euclidean", "scale": False, **options})
    return space, space.place(aligned)


def mixed_table(n, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return {
        "x": [None if i % 11 == 3 else float(v) for i, v in enumerate(x)],
        "y": random.integers(0, 4, n).tolist(),
        "far": (random.normal(size=n) * 50 + 1000).tolist(),
        "city": [None if i % 7 == 2 else f"c{random.integers(5)}" for i in range(n)],
        "colour": [f"k{random.integers(3)}" for _ in range(n)],
    }


def numbers(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def agree(found, expected, *, exact=True):
    assert (found[1] == expected[1]).all()
    if exact:
        assert (found[0] == expected[0]).all()
    else:
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)


def exactly(metric):
    return metric not in (("minkowski", 3), ("minkowski", 0.5))


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("table", ["numbers", "mixed"])
def test_equals_all_pairs_in_float64(metric, algorithm, table):
    X = numbers(300, 7) if table == "numbers" else mixed_table(300)
    space, rows = placed(X, metric=metric)
    queries = rows.take(np.arange(37, 250))
    found = Search(space, rows, algorithm=algorithm, leaf_size=9).nearest(queries, 6, n_threads=2)
    expected = reference.nearest(space, rows, queries, 6)
    if metric == ("minkowski", 0.5):  # powers of our own differ from NumPy's in the last bit
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10)
    else:
        agree(found, expected, exact=exactly(metric))


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_rows_have_the_neighbours_of_dense_ones(metric, scale):
    X = numbers(200, 12)
    X[np.abs(X) < 0.8] = 0.0
    space, rows = placed(sparse.csr_array(X), metric=metric, scale=scale)
    assert rows.is_sparse
    found = nearest(space, rows, rows, 4, exclude_self=True)
    expected = reference.nearest(space, rows, rows, 4, exclude_self=True)
    agree(found, expected, exact=exactly(metric))
    if not scale and metric != "mixed":
        dense = placed(X, metric=metric)
        agree(nearest(*dense, dense[1], 4, exclude_self=True), found, exact=metric != "cosine")


def test_sparse_rows_with_gaps_and_categories():
    X = sparse.csr_array(np.where(numbers(120, 5) > 0.5, numbers(120, 5, 1).round(1), 0.0))
    X.data[::9] = np.nan
    table = to_table(X, categorical_features=[4])
    schema = Schema.of(table)
    aligned = schema.align(table)
    for metric in METRICS[:5]:
        space = RowSpace.of(aligned, schema, metric=metric, scale=False)
        rows = space.place(aligned)
        assert rows.codes.shape == (120, 1)
        agree(nearest(space, rows, rows, 5), reference.nearest(space, rows, rows, 5))


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_ties_go_to_the_lower_row(metric, algorithm):
    X = np.random.default_rng(2).integers(0, 2, size=(600, 3)).astype(float)
    space, rows = placed(X, metric=metric)
    algorithm = "brute" if metric == "cosine" else algorithm
    search = Search(space, rows, algorithm=algorithm)
    agree(search.nearest(rows, 40), reference.nearest(space, rows, rows, 40))
    alone = search.nearest(rows, 40, exclude_self=True)
    agree(alone, reference.nearest(space, rows, rows, 40, exclude_self=True))
    assert not (alone[1] == np.arange(600)[:, None]).any()


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_all_rows_equal(algorithm):
    space, rows = placed(np.ones((500, 4)))
    distances, found = Search(space, rows, algorithm=algorithm).nearest(rows, 3, exclude_self=True)
    assert not distances.any()
    assert found[:4].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert (found[4:] == [0, 1, 2]).all()


# Numbers that float32 cannot tell apart, or not hold: the filter must let them pass.
@pytest.mark.parametrize(
    ("offset", "spread"), [(1e9, 1e-3), (0, 1e-30), (0, 1e-160), (0, 1e-310), (0, 1e30), (0, 1e200)]
)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", ("minkowski", 3)], ids=str)
def test_extreme_numbers(offset, spread, metric):
    X = offset + numbers(200, 6) * spread
    space, rows = placed(X, metric=metric)
    queries = rows.take(np.arange(50))
    with np.errstate(over="ignore", under="ignore"):
        expected = reference.nearest(space, rows, queries, 5)
    found = Search(space, rows, algorithm="brute").nearest(queries, 5)
    assert (found[1] == expected[1]).all()
    assert (Search(space, rows, algorithm="kd_tree").nearest(queries, 5)[1] == expected[1]).all()


def test_queries_far_outside():
    space, rows = placed(numbers(300, 9))
    queries = rows.take(np.arange(6))
    queries.numeric[:] *= np.array([1e3, 1e10, 1e18, 1e40, 1e160, 1.0])[:, None]
    for algorithm in ("brute", "kd_tree"):
        found = Search(space, rows, algorithm=algorithm).nearest(queries, 5)
        with np.errstate(over="ignore"):
            agree(found, reference.nearest(space, rows, queries, 5))


@pytest.mark.parametrize("table", ["numbers", "mixed", "few columns"])
def test_same_bits_for_any_threads_and_instruction_set(table):
    X = {"numbers": numbers(700, 20), "mixed": mixed_table(700), "few columns": numbers(700, 3)}[table]
    space, rows = placed(X, metric="mixed")
    results = [nearest(space, rows, rows, 7, exclude_self=True, n_threads=n) for n in (1, 2, 5)]
    for level in ((False,), (True, False)):  # the plain one, and no 512-bit vectors
        _core.set_simd(*level)
        results.append(nearest(space, rows, rows, 7, exclude_self=True, n_threads=2))
    _core.set_simd(True)
    for found in results[1:]:
        assert found[0].tobytes() == results[0][0].tobytes()
        assert found[1].tobytes() == results[0][1].tobytes()


def test_a_tree_grown_in_parts():
    X = numbers(40_000, 2)
    space, rows = placed(X)
    queries = rows.take(np.arange(0, 40_000, 400))
    tree = Search(space, rows, algorithm="kd_tree")
    assert tree.uses_tree
    agree(tree.nearest(queries, 5, n_threads=2), Search(space, rows, algorithm="brute").nearest(queries, 5))


def test_rows_of_a_subset():
    space, rows = placed(mixed_table(150), metric="mixed")
    some = np.arange(0, 150, 3)
    found = nearest(space, rows.take(some), rows, 4)
    sums = reference.pair_sums(space, rows, rows)[:, some]
    assert (found[1] == np.argsort(sums, axis=1, kind="stable")[:, :4]).all()


def test_few_rows():
    space, rows = placed([[1.0], [5.0]])
    assert nearest(space, rows, rows, 2)[1].tolist() == [[0, 1], [1, 0]]
    assert nearest(space, rows, rows, 1, exclude_self=True)[1].tolist() == [[1], [0]]
    with pytest.raises(DataError, match="2 neighbours are asked for, among 1 rows"):
        nearest(space, rows, rows, 2, exclude_self=True)
    with pytest.raises(DataError, match="0 neighbours"):
        nearest(space, rows, rows, 0)


def test_an_index_is_made_again_for_other_gaps():
    space, rows = placed(numbers(50, 3))
    search = Search(space, rows)
    whole = search.nearest(rows, 3)
    gapped = rows.take(np.arange(5))
    gapped.numeric[1, 2] = np.nan
    agree(search.nearest(gapped, 3), reference.nearest(space, rows, gapped, 3))
    agree(search.nearest(rows, 3), whole)


@pytest.mark.parametrize("simd", [(True,), (True, False), (False,)], ids=["best", "avx2", "baseline"])
@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", "cosine", ("minkowski", 3)], ids=str
)
@pytest.mark.parametrize("table", ["numbers", "mixed", "grid"])
def test_rows_with_themselves_pair_by_pair(metric, table, simd):
    """From 1,024 rows on each pair is looked at once; the result is that of queries one by one."""
    n = 1500
    if table == "numbers":
        X = numbers(n, 7)
        X[::50] *= 1e6  # some so far away that float tells little of the others
    else:
        X = mixed_table(n) if table == "mixed" else np.random.default_rng(0).integers(0, 3, (n, 3)) * 1.0
    space, rows = placed(X, metric=metric)
    search = Search(space, rows, algorithm="brute")
    try:
        _core.set_simd(*simd)
        found = [search.nearest(rows, 4, exclude_self=True, n_threads=t) for t in (1, 2, 5)]
        away, at = search.nearest(rows, 5)
    finally:
        _core.set_simd(True)
    own = at == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True  # beyond others at the same place
    expected = away[~own].reshape(n, 4), at[~own].reshape(n, 4)
    for each in found:
        agree(each, expected)


def test_many_equal_rows_with_themselves():
    X = np.zeros((3000, 5))
    X[-1] = 1.0
    space, rows = placed(X)
    away, at = Search(space, rows).nearest(rows, 2, exclude_self=True, n_threads=2)
    assert at[:3].tolist() == [[1, 2], [0, 2], [0, 1]]
    assert (at[3:] == [0, 1]).all()
    assert (away[:-1] == 0).all()
