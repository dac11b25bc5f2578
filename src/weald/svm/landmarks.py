"""Landmarks: a few rows that stand for all, chosen among them, and the columns they give to every row.

With the kernel matrix K_LL of the landmarks, the columns K(x, L) K_LL^(-1/2) are those of Nyström, up to a
rotation: their inner products approximate the kernel, and equal it where x is a landmark. A linear machine
on them is a kernel machine whose solution lies in the span of the landmarks: equations N1 to N4 of
docs/methods/kernels.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.engine.memory import ask_for
from weald.engine.python_threads import apart
from weald.engine.svm import kernel_values, pivoted_root, products
from weald.errors import DataError
from weald.svm.kernels.diagonal import diagonal
from weald.svm.kernels.functions import Kernel
from weald.svm.kernels.gram import beyond_float64, called

RowNumbers: TypeAlias = NDArray[np.int64]
AnyKernel: TypeAlias = Kernel | Callable[..., Any]
Choice: TypeAlias = Literal["k-means++", "random"]

#: kernel values that are held at once
_BLOCK = 1 << 22
#: rows that k-means++ looks at: this many for each landmark, and never fewer than that
_POOL_SHARE, _FEWEST_POOL = 10, 10_000
#: candidates that k-means++ draws at once, over the landmarks so far
_BATCH = 0.25
#: what is left of landmarks beside the others, below this share of the whole, is rounding
FLOOR = 1e-12
#: a squared distance below this share of the two squared lengths is 0 up to rounding
_ROUNDING = 1e-13


# --------------------------------------------------------------------------- the columns


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkMap:
    """The columns that landmarks give to rows.

    Parameters
    ----------
    kernel : Kernel with its numbers, or function
        How rows are compared.
    landmarks : Matrix
        The rows that stand for all.
    projection : ndarray of shape (n_landmarks, n_features), or None
        What the kernel values with the landmarks are multiplied by: K_LL^(-1/2) up to a rotation, without
        landmarks that the others span. None leaves them as they are.
    """

    kernel: AnyKernel
    landmarks: Matrix
    projection: Floats | None

    @property
    def n_features(self) -> int:
        """How many columns."""
        return self.landmarks.n_rows if self.projection is None else self.projection.shape[1]

    def blocks(self, X: Matrix, *, n_threads: int) -> Iterator[tuple[int, int, Floats]]:
        """Start, end and columns of some rows after others; the memory is that of one block."""
        step = max(1, _BLOCK // max(1, self.landmarks.n_rows))
        turned = None if self.projection is None else np.ascontiguousarray(self.projection.T)
        for start in range(0, X.n_rows, step):
            stop = min(start + step, X.n_rows)
            values = values_between(self.kernel, X.block(start, stop), self.landmarks, n_threads=n_threads)
            yield start, stop, values if turned is None else products(values, turned, n_threads=n_threads)

    def apply(self, X: Matrix, *, n_threads: int) -> Floats:
        """The columns of all rows, (n_rows, n_features)."""
        out = np.empty((X.n_rows, self.n_features))
        for start, stop, columns in self.blocks(X, n_threads=n_threads):
            out[start:stop] = columns
        return out


def similarity_map(kernel: AnyKernel, landmarks: Matrix) -> LandmarkMap:
    """f_i(x) = K(x, l_i)."""
    return LandmarkMap(kernel, landmarks, None)


def nystroem_map(
    kernel: AnyKernel, landmarks: Matrix, *, n_threads: int, floor: float = FLOOR
) -> LandmarkMap:
    """Columns whose inner products are the kernel, as far as the landmarks span it.

    Parameters
    ----------
    kernel : Kernel with its numbers, or function
        How rows are compared.
    landmarks : Matrix
        The rows that stand for all.
    n_threads : int
        Threads for kernel values.
    floor : float
        Landmarks of which less than this share of the sum of all K(l, l) is left beside the others are left
        out: the rest is rounding. Of a kernel that is none in Mercer's sense, the directions whose eigenvalue
        is below this share of the largest.
    """
    values = values_between(kernel, landmarks, landmarks, n_threads=n_threads)
    symmetric = 0.5 * values + 0.5 * values.T
    projection, definite = pivoted_root(symmetric, floor, n_threads=n_threads)
    if not definite:
        projection = _positive_part(symmetric, floor)
    if not projection.shape[1]:
        raise DataError(
            "The kernel is 0 or negative between all landmarks, so they tell nothing about any row. Use "
            "another kernel, or features='similarity'."
        )
    return LandmarkMap(kernel, landmarks, projection)


def _positive_part(values: Floats, floor: float) -> Floats:
    """V Λ^(-1/2) of the positive eigenvalues, for a kernel that is none in Mercer's sense.

    LAPACK listens to nobody while it works, so it works in a thread of its own, and Ctrl-C ends the wait.
    """
    eigenvalues, vectors = apart(lambda: np.linalg.eigh(values))
    kept = np.flatnonzero(eigenvalues > floor * max(eigenvalues[-1], 0.0))[::-1]
    vectors = vectors[:, kept]
    # LAPACK leaves the sign open: the largest entry of each vector is made positive.
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None, :], axis=0)
    return np.ascontiguousarray(vectors * (np.sign(largest) / np.sqrt(eigenvalues[kept])))


def values_between(kernel: AnyKernel, A: Matrix, B: Matrix, *, n_threads: int) -> Floats:
    """Kernel values of the rows of A and B; an error if they are not finite."""
    if not isinstance(kernel, Kernel):
        return called(kernel, A.values, B.values)
    values = kernel_values(kernel.program(), A, B, n_threads=n_threads)
    if not np.isfinite(values).all():
        raise beyond_float64(kernel)
    return values


# --------------------------------------------------------------------------- their choice


def choose_landmarks(
    kernel: AnyKernel,
    X: Matrix,
    n_landmarks: int,
    *,
    method: Choice,
    seed: int,
    n_threads: int,
    weight: Floats | None = None,
) -> RowNumbers:
    """The numbers of the rows that become landmarks, ascending.

    Parameters
    ----------
    kernel : Kernel with its numbers, or function
        How rows are compared.
    X : Matrix
        All rows.
    n_landmarks : int
        How many. Of no more rows than that, all are taken, whatever the method.
    method : {"k-means++", "random"}
        "k-means++" draws one row after another, each with a chance in proportion to its squared distance to
        the landmarks so far, in the space of the kernel; of many rows it looks at some ten for each landmark.
        "random" draws rows alike.
    seed : int
        What draws start from: the same rows, kernel and seed give the same landmarks.
    n_threads : int
        Threads for kernel values.
    weight : ndarray of shape (n_rows,), optional
        Weights of the rows; those of weight 0 are never drawn.

    Returns
    -------
    ndarray of int64
        At most `n_landmarks`; fewer if rows repeat each other.
    """
    rows = np.arange(X.n_rows) if weight is None else np.flatnonzero(weight > 0)
    if n_landmarks >= len(rows):
        return rows
    rng = np.random.default_rng(seed)
    order = rows[np.argsort(rng.random(len(rows)), kind="stable")]
    if method == "random":
        return np.sort(order[:n_landmarks])
    pool = np.sort(order[: max(_POOL_SHARE * n_landmarks, _FEWEST_POOL)])
    spread = _Spread(kernel, X.take(pool), n_threads)
    share = np.ones(len(pool)) if weight is None else weight[pool]
    return np.sort(pool[_k_means_plus_plus(spread, n_landmarks, share, rng)])


class _Spread:
    """Squared distances of rows to the landmarks so far, in the space of the kernel."""

    def __init__(self, kernel: AnyKernel, rows: Matrix, n_threads: int) -> None:
        self._kernel, self.rows, self._n_threads = kernel, rows, n_threads
        self._lengths = diagonal(kernel, rows)
        self.squared = np.full(rows.n_rows, np.inf)

    def between(self, ids: RowNumbers, others: RowNumbers | None = None) -> Floats:
        """‖φ(x) - φ(z)‖² = K(x, x) + K(z, z) - 2 K(x, z), of all rows or some, and `ids`."""
        rows = self.rows if others is None else self.rows.take(others)
        lengths = self._lengths if others is None else self._lengths[others]
        values = values_between(self._kernel, rows, self.rows.take(ids), n_threads=self._n_threads)
        ask_for(4 * values.nbytes)
        both = np.abs(lengths)[:, None] + np.abs(self._lengths[ids])
        found: Floats = lengths[:, None] + self._lengths[ids] - 2 * values
        found[found < _ROUNDING * both] = 0.0
        return found

    def add(self, ids: RowNumbers) -> None:
        """Make these rows landmarks."""
        np.minimum(self.squared, self.between(ids).min(axis=1), out=self.squared)
        self.squared[ids] = 0.0


def _k_means_plus_plus(
    spread: _Spread, n_landmarks: int, weight: Floats, rng: np.random.Generator
) -> RowNumbers:
    """Rows drawn as k-means++ does, several at a time: equations N3 and N4.

    Candidates are drawn by the distances before the batch. Each is then kept with the chance that the
    distances after those kept before it would have given it, over that by which it was drawn: rejection makes
    the draw exactly that of one row at a time, and kernel values are worked out in blocks.
    """
    chosen = _drawn(np.cumsum(weight), rng.random(1))
    spread.add(chosen)
    while len(chosen) < n_landmarks:
        total = np.cumsum(weight * spread.squared)
        if not total[-1] > 0:
            break
        most = max(1, _BLOCK // len(weight))
        size = min(n_landmarks - len(chosen), 1 + int(_BATCH * len(chosen)), most)
        candidates = _drawn(total, rng.random(size))
        chances = rng.random(size)
        between = spread.between(candidates, candidates)
        before = spread.squared[candidates]
        now = before.copy()
        kept = np.zeros(size, np.bool_)
        for i in range(size):
            if chances[i] * before[i] < now[i]:
                kept[i] = True
                np.minimum(now, between[:, i], out=now)
                now[i] = 0.0
        spread.add(candidates[kept])
        chosen = np.concatenate((chosen, candidates[kept]))
    return chosen


def _drawn(total: Floats, chances: Floats) -> RowNumbers:
    """Rows drawn in proportion to what `total` adds up."""
    found = np.searchsorted(total, chances * total[-1], side="right")
    last = int(np.searchsorted(total, total[-1]))  # rounding must not reach rows behind it that add nothing
    rows: RowNumbers = np.minimum(found, last)
    return rows
