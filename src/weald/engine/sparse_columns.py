"""What the columns of a sparse matrix are like; see core/data/sparse_moments.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.arrays import Floats

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class SparseEntries:
    """The entries of a CSR matrix, and the weights of its rows (none: 1 each)."""

    start: NDArray[np.int64]
    index: NDArray[np.int32]
    value: Floats
    weight: Floats
    n_columns: int

    @classmethod
    def of(cls, matrix: sparse.csr_array, weight: Floats | None) -> SparseEntries:
        """The arrays of a SciPy matrix of float64."""
        return cls(
            start=np.ascontiguousarray(matrix.indptr, np.int64),
            index=np.ascontiguousarray(matrix.indices, np.int32),
            value=np.ascontiguousarray(matrix.data, np.float64),
            weight=np.zeros(0) if weight is None else np.ascontiguousarray(weight, np.float64),
            n_columns=int(matrix.shape[1]),
        )

    def counts(self) -> tuple[Floats, Floats]:
        """The weight of known entries and of gaps (NaN), by column."""
        return _core.count_sparse_entries(self.start, self.index, self.value, self.weight, self.n_columns)

    def moments(self, fill: Floats, total: float, *, spread: bool) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest value, mean and deviation, by column, with gaps filled and zeros counted.

        Without `spread` the last two are not asked for, and 0.
        """
        return _core.sparse_moments(self.start, self.index, self.value, self.weight, fill, total, spread)
