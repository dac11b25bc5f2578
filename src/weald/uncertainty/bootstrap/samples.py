"""The data of a bootstrap: one sample or several, numbers or whole rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike
from weald.data.adapters import column_of
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.levels import missing_rows
from weald.data.table import LevelColumn
from weald.errors import DataError


@dataclass(frozen=True, slots=True)
class Samples:
    """What is resampled. `paired`: the same rows are drawn of every part."""

    parts: tuple[Any, ...]  # float64 arrays, or one table
    sizes: tuple[int, ...]
    paired: bool
    tables: bool

    @property
    def numbers(self) -> tuple[Floats, ...]:
        """The parts, which are numbers."""
        return self.parts

    def n_draws(self) -> tuple[int, ...]:
        """The rows of each draw: of all parts together where they are paired."""
        return self.sizes[:1] if self.paired else self.sizes


def read_samples(data: TableLike | Sequence[ColumnLike], *, paired: bool, owner: str) -> Samples:
    """One sample from numbers or a table, several from a tuple or list of sequences."""
    if _is_several(data):
        several: Sequence[ColumnLike] = data  # type: ignore[assignment]
        words = [f"Sample {k} of {owner}" for k in range(len(several))]
        parts = tuple(_numbers(each, word) for each, word in zip(several, words, strict=True))
        sizes = tuple(len(part) for part in parts)
        if paired and len(set(sizes)) > 1:
            raise DataError(
                f"Paired samples of {owner} must be equally long; got {', '.join(map(str, sizes))} values. "
                "Leave `paired` False for independent samples."
            )
        return Samples(parts, sizes, paired or len(parts) == 1, False)
    if _is_table(data):
        table = indexable(data)
        size = outline(table).n_rows
        _check_size(size, f"The table of {owner}")
        return Samples((table,), (size,), True, True)
    only = _numbers(data, f"The data of {owner}")  # type: ignore[arg-type]
    return Samples((only,), (len(only),), True, False)


def take_sample(samples: Samples, rows: NDArray[np.int32]) -> tuple[Any, ...]:
    """The same rows of every part; rows may be a matrix where the parts are numbers."""
    if samples.tables:
        return (take(samples.parts[0], rows.astype(np.int64)),)
    return tuple(part[rows] for part in samples.parts)


def _is_several(data: object) -> bool:
    if not isinstance(data, tuple | list) or not len(data):
        return False
    return all(
        not np.isscalar(each) and (hasattr(each, "__len__") or hasattr(each, "shape")) for each in data
    )


def _is_table(data: object) -> bool:
    shape = getattr(data, "shape", None)
    return isinstance(data, dict) or (isinstance(shape, tuple) and len(shape) == 2)


def _numbers(values: ColumnLike, what: str) -> Floats:
    column = column_of("data", values)
    if isinstance(column, LevelColumn) or column.unit not in ("number", "bool"):
        raise DataError(f"{what} must be numbers. Convert them, or give a table and a function of its rows.")
    missing = missing_rows(column)
    numbers = np.ascontiguousarray(column.values, np.float64) + 0.0
    bad = ~np.isfinite(numbers) if missing is None else missing | ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"{what} has a missing or infinite value at position {row}. Drop such values, or fill them."
        )
    _check_size(len(numbers), what)
    return numbers


def _check_size(size: int, what: str) -> None:
    if size < 2:
        raise DataError(
            f"{what} has {size} value{'s' if size != 1 else ''}, of which nothing can be drawn "
            "anew. Give at least 2."
        )
