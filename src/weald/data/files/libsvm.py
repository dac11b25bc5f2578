"""LIBSVM's format: `target column:value …`, a row a line, columns counted from 1; what is not listed is 0."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.data.files import kinds
from weald.data.files.inputs import Input, inputs
from weald.errors import DataError

if TYPE_CHECKING:
    from scipy import sparse


def read_libsvm(path: str | Path) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Read a file in LIBSVM's format: `target column:value …`, columns counted from 1.

    Parameters
    ----------
    path : str or Path
        The file; may be compressed by gzip, zstd or bzip2. `-` is standard input.

    Returns
    -------
    X : csr_matrix of shape (n_rows, n_columns)
        What is not listed is 0.
    y : ndarray of shape (n_rows,)
        The targets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.svm"
    >>> _ = file.write_text("1 1:0.5 3:2\\n-1 2:1\\n")
    >>> X, y = read_libsvm(file)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    return matrix_of(inputs(path)[:1])


def matrix_of(given: Sequence[Input]) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """The rows of several inputs one under the other, as wide as the widest."""
    from scipy import sparse

    parts = []
    for each in given:
        if each.kind != kinds.LIBSVM:
            raise DataError(f"{each.name} holds {each.kind}, not LIBSVM's format. weald.read reads it.")
        with each.open() as stream:
            parts.append(_parsed(stream.read(), each.name))
    width = max(X.shape[1] for X, _ in parts)
    for X, _ in parts:
        X.resize(X.shape[0], width)
    X = parts[0][0] if len(parts) == 1 else sparse.vstack([X for X, _ in parts], format="csr")
    return X, np.concatenate([y for _, y in parts])


def libsvm_batches(
    each: Input, n_rows: int, n_columns: int
) -> Iterator[tuple[sparse.csr_matrix, NDArray[np.float64]]]:
    """The rows of an input in batches, each with the columns that a model was trained on."""
    with each.open() as stream, io.BufferedReader(stream) as lines:
        first = 1
        while content := b"".join(islice(lines, n_rows)):
            X, y = _parsed(content, each.name, first)
            if X.shape[1] > n_columns:
                raise DataError(
                    f"{each.name} has a value in column {X.shape[1]:,}; the model was trained on "
                    f"{n_columns:,} columns."
                )
            X.resize(X.shape[0], n_columns)
            yield X, y
            first += n_rows


def _parsed(content: bytes, name: str, first: int = 1) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(content), zero_based=False)
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"{name} is not in LIBSVM's format, `target column:value …`{_where(content, first)}: {error}"
        ) from error
    return X, np.asarray(y, np.float64)


def _where(content: bytes, first: int) -> str:
    """The first line that cannot be read alone."""
    from sklearn.datasets import load_svmlight_file

    for number, line in enumerate(content.split(b"\n"), first):
        try:
            if line.split(b"#")[0].strip():
                load_svmlight_file(io.BytesIO(line), zero_based=False)
        except (ValueError, OverflowError):
            return f", line {number:,}"
    return ""
