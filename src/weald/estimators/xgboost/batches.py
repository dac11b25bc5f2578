"""Batches of rows, as xgboost's `DataIter` hands them over, put together to one table."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from weald.arrays import TableLike
from weald.errors import DataError, DataTypeError, ParameterError

#: what belongs to the rows of a batch
_INFO = ("label", "weight", "base_margin", "qid")
Gathered: TypeAlias = tuple[Any, dict[str, Any], list[str] | None, list[str] | None]


class DataIter(ABC):
    """Rows that come in batches; derive from it and give it to `DMatrix`.

    All batches are put together in memory.

    Parameters
    ----------
    cache_prefix, release_data, on_host, min_cache_page_bytes
        Accepted: no cache is written.

    Examples
    --------
    >>> import numpy as np, weald
    >>> class Halves(weald.DataIter):
    ...     at = 0
    ...
    ...     def next(self, input_data):
    ...         if self.at == 2:
    ...             return False
    ...         input_data(data=np.full((2, 1), float(self.at)), label=[self.at, self.at])
    ...         self.at += 1
    ...         return True
    ...
    ...     def reset(self):
    ...         self.at = 0
    >>> weald.DMatrix(Halves()).num_row()
    4
    """

    def __init__(
        self,
        cache_prefix: str | None = None,
        release_data: bool = True,
        *,
        on_host: bool = True,
        min_cache_page_bytes: int | None = None,
    ) -> None:
        self.cache_prefix = cache_prefix

    @abstractmethod
    def reset(self) -> None:
        """Go back to the first batch."""

    @abstractmethod
    def next(self, input_data: Callable[..., None]) -> bool | int:
        """Hand over the next batch by `input_data(data=..., label=...)`; False if there is none left."""


def all_batches(source: DataIter) -> Gathered:
    """The table of all batches, what belongs to its rows, and the names and types of its columns."""
    tables: list[Any] = []
    parts: dict[str, list[Any]] = {name: [] for name in _INFO}
    columns: dict[str, list[str] | None] = {"feature_names": None, "feature_types": None}

    def input_data(*, data: TableLike, **others: Any) -> None:
        tables.append(data)
        for name, value in others.items():
            if name in columns:
                columns[name] = None if value is None else list(value)
            elif name in parts:
                parts[name].append(value)
            elif value is not None:
                raise ParameterError(
                    f"A batch brings {name!r}, which cannot be put together. It may bring data, "
                    f"{', '.join((*_INFO, *columns))}."
                )

    source.reset()
    while source.next(input_data):
        pass
    source.reset()
    if not tables:
        raise DataError("The iterator gave no batch: next(input_data) returned False at once.")
    info = {name: _joined_info(name, values, len(tables)) for name, values in parts.items()}
    return _joined(tables), info, columns["feature_names"], columns["feature_types"]


def _joined_info(name: str, values: list[Any], n_batches: int) -> Any:
    given = [value for value in values if value is not None]
    if not given:
        return None
    if len(given) != n_batches:
        raise DataError(f"{len(given)} of {n_batches} batches have a {name}. Give it with all or with none.")
    return np.concatenate([np.asarray(value) for value in given])


def _joined(tables: list[Any]) -> Any:
    """The rows of all tables, which are of one kind, one after another."""
    if len(tables) == 1:
        return tables[0]
    if all(isinstance(table, np.ndarray) for table in tables):
        return np.concatenate(tables)
    if all(sparse.issparse(table) for table in tables):
        return sparse.vstack(tables, format="csr")
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        if module is not None and all(isinstance(table, module.DataFrame) for table in tables):
            return module.concat(tables)
    raise DataTypeError(
        "Batches must all be NumPy arrays, SciPy matrices, or pandas or polars frames; got "
        f"{', '.join(sorted({type(table).__name__ for table in tables}))}."
    )
