"""A `Matrix` as named arrays of a model file, and back with every index checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.data.matrix.matrix import Matrix
from weald.errors import ModelFileError
from weald.io.arrays import Shelf


def encode_matrix(matrix: Matrix, name: str) -> dict[str, NDArray[Any]]:
    """The arrays of a matrix: one, or the three of CSR."""
    if not matrix.is_sparse:
        return {name: matrix.values}
    csr = matrix.values
    return {f"{name}.data": csr.data, f"{name}.indices": csr.indices, f"{name}.indptr": csr.indptr}


def decode_matrix(shelf: Shelf, name: str, n_columns: int, *, is_sparse: bool) -> Matrix:
    """The matrix of these arrays, with as many rows as they say."""
    if not is_sparse:
        return Matrix(np.ascontiguousarray(shelf.floats(name, (None, n_columns))))
    data = shelf.floats(f"{name}.data", (None,))
    width = np.int32 if max(len(data), n_columns) < 2**31 else np.int64
    indices = shelf.integers(f"{name}.indices", len(data), 0, n_columns - 1, width)
    indptr = shelf.integers(f"{name}.indptr", None, 0, len(data))
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelFileError(
            f"The rows of the sparse matrix {name!r} of the model file do not follow each other."
        )
    falls = indices[1:] <= indices[:-1]
    starts = indptr[(indptr > 0) & (indptr < len(data))]
    falls[starts - 1] = False
    if falls.any():
        raise ModelFileError(
            f"The sparse matrix {name!r} of the model file has columns out of order or twice."
        )
    shape = (len(indptr) - 1, n_columns)
    return Matrix(sparse.csr_array((data, indices, indptr.astype(width)), shape=shape))
