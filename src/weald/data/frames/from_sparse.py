"""SciPy sparse matrices → a `SparseBlock`: every format, spmatrix and sparray, never changed, never trusted.

CSR and CSC are read where they are. The other formats are brought to CSR by their coordinates, so that the
entries of one place stay in the order in which SciPy itself would add them up.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.data.blocks import SparseBlock
from weald.data.frames.from_arrays import native_numbers
from weald.errors import DataError, DataTypeError

if TYPE_CHECKING:
    from scipy import sparse

MOST_COLUMNS = 2**31 - 1


def is_sparse(value: object) -> TypeGuard[sparse.sparray]:
    """Whether `value` is a SciPy sparse matrix or array; never imports SciPy."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))


def refuse_sparse(values: object, what: str) -> None:
    """Raise for a sparse matrix where one number per row is meant; the last word of `what` is its name."""
    if is_sparse(values):
        raise DataTypeError(
            f"Sparse data was passed for {what} ({type(values).__name__}), but dense data is required. "
            f"Use {what.split()[-1]}.toarray()."
        )


def sparse_block(X: sparse.sparray) -> SparseBlock:
    """The matrix as the core reads it; the arrays are SciPy's own where it has CSR or CSC.

    Parameters
    ----------
    X : SciPy sparse matrix or array
        Of two dimensions, any format, any real dtype, int32 or int64 indices.

    Raises
    ------
    DataError
        If its arrays contradict each other or its shape.
    """
    if len(X.shape) != 2:
        raise DataError(
            f"Expected 2D array, got {len(X.shape)}D array instead: X is a {type(X).__name__} of shape "
            f"{X.shape}. A table has two dimensions: rows and columns."
        )
    _check_dtype(X)
    shape = (int(X.shape[0]), int(X.shape[1]))
    if shape[1] > MOST_COLUMNS:
        raise DataError(f"X has {shape[1]:,} columns; a table in memory has at most {MOST_COLUMNS:,}.")
    if X.format in ("csr", "csc"):
        by_rows = X.format == "csr"
        indptr, indices, data = _checked(X.indptr, X.indices, X.data, shape if by_rows else shape[::-1])
    else:
        by_rows = True
        indptr, indices, data = _checked(*_lines(X, shape), shape)
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        indptr, indices, data = _summed(indptr, indices, data, shape if by_rows else shape[::-1])
    return SparseBlock(by_rows, shape, indptr, indices, np.ascontiguousarray(native_numbers(data)))


def _check_dtype(X: sparse.sparray) -> None:
    kind = X.dtype.kind
    if kind == "c":
        raise DataError(f"Complex data not supported: the matrix is {X.dtype}. Take its real part.")
    if kind not in "biuf":
        raise DataTypeError(f"X is a sparse matrix of dtype {X.dtype}; numbers are expected. Convert it.")


def _damaged(what: str) -> DataError:
    return DataError(f"The sparse matrix X is damaged: {what}. Build it again.")


def _whole_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """A vector of int32 or int64 without gaps."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise _damaged(f"{name} is no vector of whole numbers")
    dtype = array.dtype if array.dtype in (np.dtype(np.int32), np.dtype(np.int64)) else np.dtype(np.int64)
    return np.require(array, dtype, ["C", "A"])


def _checked(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The arrays of a matrix compressed along the first of `shape`, cut to the entries it has."""
    indptr = _whole_numbers(indptr, "indptr").astype(np.int64, copy=False)
    indices, data = _whole_numbers(indices, "indices"), np.asarray(data)
    if data.ndim != 1:
        raise _damaged("data is no vector")
    if len(indptr) != shape[0] + 1:
        raise _damaged(f"indptr has {len(indptr)} entries where its shape asks for {shape[0] + 1}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise _damaged("indptr does not rise from 0")
    n_entries = int(indptr[-1])
    if n_entries > min(len(indices), len(data)):
        raise _damaged(
            f"indptr ends at {n_entries}, beyond its {len(indices)} indices or its {len(data)} values"
        )
    indices, data = indices[:n_entries], data[:n_entries]
    if n_entries and not 0 <= int(indices.min()) <= int(indices.max()) < shape[1]:
        raise _damaged("an index lies outside its shape")
    return indptr, indices, data


def _lines(X: sparse.sparray, shape: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The arrays of CSR for a matrix in another format."""
    if X.format == "lil":
        return _lines_of_lists(X, shape)
    row, column, data = _block_coordinates(X, shape) if X.format == "bsr" else _coordinates(X)
    if not len(row) == len(column) == len(data):
        raise _damaged(f"it has {len(row)} rows and {len(column)} columns of {len(data)} values")
    if len(row) and not 0 <= int(row.min()) <= int(row.max()) < shape[0]:
        raise _damaged("an index lies outside its shape")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=shape[0]))))
    if (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        column, data = column[order], data[order]
    return indptr, column, data


def _coordinates(X: sparse.sparray) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    if X.format == "dia" and (X.data.ndim != 2 or X.offsets.shape != X.data.shape[:1]):
        raise _damaged("it has not one offset per diagonal")
    try:
        coo = X if X.format == "coo" else X.tocoo()
    except (ValueError, IndexError) as error:
        raise _damaged(str(error)) from None
    return _whole_numbers(coo.row, "row"), _whole_numbers(coo.col, "col"), np.asarray(coo.data)


def _lines_of_lists(
    X: sparse.sparray, shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    lengths = [len(columns) for columns in X.rows]
    if len(lengths) != shape[0] or lengths != [len(values) for values in X.data]:
        raise _damaged("its rows and data differ in length")
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    try:
        indices = np.fromiter(itertools.chain.from_iterable(X.rows), np.int64, indptr[-1])
        data = np.fromiter(itertools.chain.from_iterable(X.data), X.dtype, indptr[-1])
    except (TypeError, ValueError, OverflowError) as error:
        raise _damaged(str(error)) from None
    return indptr, indices, data


def _block_coordinates(
    X: sparse.sparray, shape: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """BSR: rows and columns of every value of its blocks."""
    if X.data.ndim != 3 or min(X.data.shape[1:]) < 1:
        raise _damaged("data holds no blocks")
    height, width = X.data.shape[1:]
    if shape[0] % height or shape[1] % width:
        raise _damaged(f"its shape is no multiple of its blocks of {height} × {width}")
    lines = (shape[0] // height, shape[1] // width)
    indptr, indices, at = _checked(X.indptr, X.indices, np.arange(len(X.data)), lines)
    row = np.repeat(np.arange(lines[0]), np.diff(indptr))[:, None, None] * height + np.arange(height)[:, None]
    column = indices[:, None, None].astype(np.int64) * width + np.arange(width)
    data = X.data[at]
    return np.broadcast_to(row, data.shape).ravel(), np.broadcast_to(column, data.shape).ravel(), data.ravel()


def _summed(
    indptr: NDArray[np.int64], indices: NDArray[Any], data: NDArray[Any], shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Entries of one place added up in their own dtype, where it is wider than any that the core reads."""
    from scipy import sparse

    matrix = sparse.csr_array((data, indices, indptr), shape=shape, copy=True)
    matrix.sum_duplicates()
    return matrix.indptr.astype(np.int64), matrix.indices, matrix.data
