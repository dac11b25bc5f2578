"""Whether kernel values stay within float64: told by the longest row, before any work is done."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from weald.data.matrix.matrix import Matrix
from weald.engine.svm import kernel_values
from weald.svm.kernels.functions import Kernel
from weald.svm.kernels.gram import beyond_float64

#: operations of a program that grow with their rows: linear, polynomial, intersection
_GROWING = (0.0, 1.0, 6.0)


def check_range(kernel: Kernel, X: Matrix) -> None:
    """Raise if a kernel with all its numbers leaves float64 for some pair of rows.

    No inner product is larger than the longest row's with itself, or smaller than with its opposite: where
    these two give finite values, all pairs do.
    """
    program = kernel.program()
    if not np.isin(program[:, 0], _GROWING).any():
        return
    with np.errstate(over="ignore"):
        squares = (
            np.asarray(X.values.multiply(X.values).sum(axis=1)).ravel()
            if X.is_sparse
            else np.einsum("ij,ij->i", X.values, X.values)
        )
    longest = X.take(np.array([np.argmax(squares)]))
    both = longest
    if not kernel.nonnegative:
        values = longest.values
        both = Matrix(
            sparse.csr_array(sparse.vstack([values, -values], format="csr"))
            if X.is_sparse
            else np.concatenate([values, -values])
        )
    if not np.isfinite(kernel_values(program, both, longest, n_threads=1)).all():
        raise beyond_float64(kernel)
