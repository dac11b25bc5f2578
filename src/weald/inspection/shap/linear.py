"""SHAP values of weighted sums, exact: a column adds what it adds, less what it adds in the mean."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from weald.arrays import Floats, Integers
from weald.data.matrix.matrix import Matrix


def linear_parts(matrix: Matrix, coef: Floats, starts: Integers) -> Floats:
    """What each column of a table adds to each line: (n_rows, n_lines, n_columns).

    Parameters
    ----------
    matrix : Matrix
        The rows.
    coef : ndarray of shape (n_lines, n_columns of the matrix)
        The weights.
    starts : ndarray of shape (n_columns + 1,)
        Where the columns of the table begin in the matrix: a category has several.
    """
    n_columns = len(starts) - 1
    # Which column of the table a column of the matrix belongs to, as a matrix of ones.
    owner = np.repeat(np.arange(n_columns), np.diff(starts))
    ones = sparse.csr_array(
        (np.ones(len(owner)), owner, np.arange(len(owner) + 1)), shape=(len(owner), n_columns)
    )
    out = np.empty((matrix.n_rows, len(coef), n_columns))
    values = sparse.csr_array(matrix.values)
    for line, weights in enumerate(coef):
        out[:, line] = (values @ sparse.diags_array(weights) @ ones).toarray()
    return out


def linear_values(parts: Floats, background: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Values and their base, without intercept, from the parts of rows and of the background.

    Equation S13 of docs/methods/explain.md; `weight` has the share of each background row.
    """
    mean = np.tensordot(weight, background, axes=1)
    return parts - mean, mean.sum(axis=-1)
