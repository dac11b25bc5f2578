"""The only importer of the compiled core: typed calls, thread count, array checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import _core

# --- Tables: Arrow streams and finite numbers -------------------------------------------------------------


class ArrowColumn(NamedTuple):
    """One column as the core read it.

    `values` are numbers, or int32 positions (-1 missing) in `levels` (unit "text") or in the values of
    `dictionary` (unit "dictionary"). `missing` marks null rows of numbers; None: no nulls.
    """

    name: str
    unit: Literal["number", "bool", "datetime", "duration", "text", "dictionary"]
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    levels: list[str] | None
    dictionary: ArrowColumn | None
    ordered: bool


class ArrowTable(NamedTuple):
    """Every column of an Arrow stream; `is_table` is False when the stream was one bare column."""

    columns: list[ArrowColumn]
    n_rows: int
    is_table: bool


def first_infinite(
    columns: Sequence[NDArray[Any]], missing: Sequence[NDArray[np.bool_] | None]
) -> tuple[int, int] | None:
    """The first column with an infinite value, and the first such row; rows marked missing do not count."""
    for j, (values, mask) in enumerate(zip(columns, missing, strict=True)):
        bad = np.isinf(values)
        if mask is not None:
            bad &= ~mask
        if bad.any():
            return j, int(np.argmax(bad))
    return None


def read_arrow_stream(capsule: object) -> ArrowTable:
    """Read an "arrow_array_stream" capsule to its end."""
    return _core.read_arrow_stream(capsule)


def read_arrow_array(schema: object, array: object) -> ArrowTable:
    """Read an "arrow_schema" and an "arrow_array" capsule."""
    return _core.read_arrow_array(schema, array)
