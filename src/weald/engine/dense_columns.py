"""What the columns of a dense table are like; see core/data/medians.h."""

from __future__ import annotations

from weald import _core
from weald.arrays import Floats


def dense_medians(table: Floats, *, n_threads: int) -> tuple[Floats, bool]:
    """The median of every column, NaN not counted, and whether no value is infinite."""
    return _core.dense_medians(table, n_threads)
