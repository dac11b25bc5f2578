"""SciPy matrices that are refused: dtypes, shapes, and damage of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from unit.data.frames.sparse_matrices import DENSE, matrix

from weald.data.adapters import to_table
from weald.data.blocks import SparseBlock
from weald.data.frames.from_sparse import sparse_block
from weald.data.target import read_target, read_weight
from weald.errors import DataError, DataTypeError


def dense_of(block: SparseBlock) -> np.ndarray:
    return np.stack(block.take(range(block.shape[1])), axis=1)


@pytest.mark.parametrize("form", ["csr", "coo", "dia"])
def test_complex_numbers_raise(form):
    with pytest.raises(DataError, match=r"Complex data not supported.*complex128.*real part"):
        to_table(matrix(form, True, np.eye(2) * 1j))


def test_objects_raise():
    X = sparse.csr_array(np.eye(2))
    X.data = X.data.astype(object)
    with pytest.raises(DataTypeError, match="sparse matrix of dtype object; numbers are expected"):
        to_table(X)


def test_one_dimension_raises():
    with pytest.raises(DataError, match="Expected 2D array, got 1D array instead"):
        to_table(sparse.coo_array(np.array([1.0, 0.0])))


@pytest.mark.parametrize(
    ("shape", "word"), [((0, 3), r"0 sample\(s\)"), ((3, 0), r"0 feature\(s\)"), ((0, 0), "0 sample")]
)
def test_empty_shapes_raise(shape, word):
    with pytest.raises(DataError, match=word):
        to_table(sparse.csr_array(shape))


def damaged(form: str, **parts):
    X = matrix(form, True)
    for name, change in parts.items():
        setattr(X, name, change(getattr(X, name).copy()))
    return X


def put(at: int, value):
    def change(array):
        array[at] = value
        return array

    return change


DAMAGE = {
    "index too large": lambda f: damaged(f, indices=put(-1, 99)),
    "index far too large": lambda f: damaged(f, indices=lambda i: put(0, 2**40)(i.astype(np.int64))),
    "index negative": lambda f: damaged(f, indices=put(0, -1)),
    "indptr falls": lambda f: damaged(f, indptr=put(1, 4)),
    "indptr negative": lambda f: damaged(f, indptr=put(1, -3)),
    "indptr begins late": lambda f: damaged(f, indptr=put(0, 1)),
    "indptr too long": lambda f: damaged(f, indptr=lambda p: np.append(p, p[-1])),
    "indptr too short": lambda f: damaged(f, indptr=lambda p: p[:-1]),
    "indptr empty": lambda f: damaged(f, indptr=lambda p: p[:0]),
    "indptr ends late": lambda f: damaged(f, indptr=put(-1, 1000)),
    "fewer indices": lambda f: damaged(f, indices=lambda i: i[:-1]),
    "fewer values": lambda f: damaged(f, data=lambda d: d[:-1]),
    "indices of floats": lambda f: damaged(f, indices=lambda i: i.astype(float)),
    "indptr of two dimensions": lambda f: damaged(f, indptr=lambda p: p[None]),
}


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_matrices_raise(form, what):
    with pytest.raises(DataError, match=r"sparse matrix X is damaged.*Build it again"):
        to_table(DAMAGE[what](form))


def damaged_lists(**parts):
    X = sparse.lil_array(DENSE)
    for name, change in parts.items():
        change(getattr(X, name))
    return X


@pytest.mark.parametrize(
    "make",
    [
        lambda: damaged_lists(rows=lambda r: r[0].append(99), data=lambda d: d[0].append(1.0)),
        lambda: damaged_lists(rows=lambda r: r[0].append(2)),
        lambda: damaged_lists(data=lambda d: d[1].clear()),
        lambda: damaged_lists(data=lambda d: d[0].__setitem__(0, "x")),
        lambda: damaged("dia", data=lambda d: d[:1]),
        lambda: damaged("dia", offsets=lambda o: o[:1]),
        lambda: damaged("coo", data=lambda d: d[:-1]),
        lambda: damaged("coo", row=put(0, 7)),
        lambda: damaged("coo", row=put(0, -1)),
        lambda: damaged("coo", col=put(0, 7)),
        lambda: damaged("bsr", data=lambda d: d[:, 0]),
        lambda: damaged("bsr", data=lambda d: np.zeros((len(d), 2, 1))),
    ],
)
def test_other_damaged_formats_raise(make):
    with pytest.raises(DataError, match="sparse matrix X is damaged"):
        to_table(make())


@settings(deadline=None)
@given(st.data())
def test_random_damage_never_passes_unseen(data):
    """A matrix of random arrays is read as SciPy reads it, or refused; it never crashes."""
    n_rows, n_columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    by_rows = data.draw(st.booleans())
    small = st.integers(-1, 5)
    X = (sparse.csr_array if by_rows else sparse.csc_array)((n_rows, n_columns))
    n_lines, other = (n_rows, n_columns) if by_rows else (n_columns, n_rows)
    steps = data.draw(st.lists(st.integers(-1, 2), min_size=n_lines, max_size=n_lines))
    X.indptr = np.concatenate([[data.draw(st.sampled_from([0, 0, 0, 1, -1]))], np.cumsum(steps)])
    X.indices = np.array(data.draw(st.lists(small, max_size=8)), np.int64)
    X.data = np.array(data.draw(st.lists(small, max_size=8)), np.float64)
    n = int(X.indptr[-1])
    good = (
        X.indptr[0] == 0
        and min(steps) >= 0
        and n <= min(len(X.indices), len(X.data))
        and ((X.indices[:n] >= 0) & (X.indices[:n] < other)).all()
    )
    if good:
        np.testing.assert_array_equal(dense_of(sparse_block(X)), X.toarray())
    else:
        with pytest.raises(DataError, match="damaged"):
            sparse_block(X)


@pytest.mark.parametrize(
    "read",
    [
        lambda y: read_target(y, n_rows=3, estimator="m"),
        lambda y: read_weight(y, n_rows=3),
    ],
)
def test_sparse_targets_and_weights_raise(read):
    with pytest.raises(DataTypeError, match=r"Sparse data was passed for .*csr_array.*Use \w+\.toarray\(\)"):
        read(sparse.csr_array(np.ones((3, 1))))
