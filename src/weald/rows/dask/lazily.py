"""What a fitted model answers about rows on Dask: Dask data again, worked out where the rows are, when asked.

Frames give series where an answer has one value a row, arrays where it has several; arrays give arrays, and
lists of delayed frames lists of delayed answers.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, TypeAlias

import dask
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from weald.errors import DataTypeError
from weald.rows.dask.given import is_dask, is_piece

if TYPE_CHECKING:
    from dask.array import Array
    from dask.dataframe import DataFrame, Series
    from dask.delayed import Delayed

#: an answer about rows that are here
Answer: TypeAlias = NDArray[Any]


def answer(
    model: object, name: str, X: DataFrame | Array | Delayed | list[Delayed], *args: object, **kwargs: object
) -> Series | Array | Delayed | list[Delayed]:
    """The answer of `model.name(X, …)`, lazily."""
    for key, value in [*enumerate(args), *kwargs.items()]:
        if is_dask(value):
            raise DataTypeError(
                f"{name} of {type(model).__name__} takes rows on Dask alone, and {key!r} is on Dask too. "
                "Call it within map_partitions, or compute() both."
            )
    asked = _Asked(model, name, args, kwargs)
    if isinstance(X, list | tuple):
        return [dask.delayed(asked)(part, like=None) for part in X]
    if is_piece(X):
        return dask.delayed(asked)(X, like=None)
    if hasattr(X, "map_partitions"):
        like = asked.of(_one_row(X.dtypes))
        if like.ndim == 1:
            meta: pd.Series | Answer = pd.Series(like[:0], index=pd.Index([], dtype=X.index.dtype), name=None)
        else:
            meta = like[:0]
        return X.map_partitions(asked, like=like[:0], meta=meta)
    like = asked.of(np.zeros((1, X.shape[1]), X.dtype))
    X = X.rechunk({1: -1})
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], like.shape[1:])}
    return X.map_blocks(asked, like=like[:0], dtype=like.dtype, meta=like[:0], **shape)


class _Asked:
    """A question to a model about a partition."""

    def __init__(self, model: object, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.model, self.name, self.args, self.kwargs = model, name, args, kwargs
        self._token = uuid.uuid4().hex

    def of(self, X: pd.DataFrame | Answer) -> Answer:
        """The answer about rows that are here."""
        found = getattr(self.model, self.name)(X, *self.args, **self.kwargs)
        if not isinstance(found, np.ndarray) or found.ndim > 2:
            raise DataTypeError(
                f"{self.name} of {type(self.model).__name__} gives {type(found).__name__}, which no Dask "
                f"data holds. Ask for it partition by partition: X.map_partitions(model.{self.name})."
            )
        return found

    def __call__(self, X: pd.DataFrame | Answer, like: Answer | None) -> pd.Series | Answer:
        """The answer about a partition; `like` has its type where there are no rows."""
        found = like if like is not None and len(X) == 0 else self.of(X)
        assert found is not None
        if like is None or found.ndim == 2 or isinstance(X, np.ndarray):
            return found
        return pd.Series(found, index=X.index)

    def __dask_tokenize__(self) -> object:
        """What tells one question from another."""
        return self._token


def _one_row(dtypes: pd.Series) -> pd.DataFrame:
    """A row of a frame of these types, only to see what an answer looks like."""
    return pd.DataFrame({name: _one_value(dtype) for name, dtype in dtypes.items()})


def _one_value(dtype: object) -> pd.Series | Answer:
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return np.zeros(1, dtype)
    if dtype == np.dtype(object):
        return np.array([""], object)
    return pd.Series([None], dtype=dtype)
