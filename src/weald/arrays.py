"""Types of what users hand in and of what the code hands on: arrays, tables, targets, weights, estimators.

Every other module imports them; none defines its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
#: what the core gives back of a tree or a forest, and a model file keeps, by name
ArraysByName: TypeAlias = Mapping[str, NDArray[Any]]

# --------------------------------------------------------------------------- what users hand in


class SupportsArrowStream(Protocol):
    """A table or a column of polars, pyarrow, DuckDB and others, through Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule that holds the stream."""


class SupportsArrowArray(Protocol):
    """A batch or an array through Arrow's C interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Capsules that hold the schema and the array."""


class SupportsCollect(Protocol):
    """A lazy frame."""

    def collect(self) -> SupportsArrowStream:
        """The table."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy, in any of its forms."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def nnz(self) -> int:
        """How many entries are stored."""


class ReadTable(Protocol):
    """A table that weald has read already."""

    @property
    def names(self) -> Sequence[Hashable]:
        """The names of the columns, or their positions."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""


class ScannedRows(Protocol):
    """Rows in files, as `weald.scan` names them."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""

    def settle(self) -> None:
        """Read until all types are known."""


class StoredRows(Protocol):
    """Coded rows in pages on disk, as `weald.open_store` opens them."""

    @property
    def extras(self) -> tuple[str, ...]:
        """The names of the columns that are kept beside the codes."""

    @property
    def code_bytes(self) -> int:
        """What a pass over the codes reads."""


#: one value per row: a list, an array, a Series, an Arrow array
ColumnLike: TypeAlias = ArrayLike | Iterable[object] | SupportsArrowStream | SupportsArrowArray
#: rows and columns: a frame, an array, a sparse matrix, a list of rows or of mappings, a mapping of columns;
#: or rows in files
TableLike: TypeAlias = (
    ColumnLike | SparseMatrix | SupportsCollect | ReadTable | ScannedRows | StoredRows | PathLike[str]
)
#: labels or numbers, one per row, or a table with one column per output
TargetLike: TypeAlias = ColumnLike | SparseMatrix
#: one number per row, or one for all
WeightLike: TypeAlias = ColumnLike | float

#: other names for columns or classes
Names: TypeAlias = Sequence[object] | NDArray[Any]

#: names, positions or a mask of the columns to read as categories whatever their type
CategoricalFeatures: TypeAlias = (
    Literal["from_dtype"] | Sequence[Hashable] | Sequence[int] | Sequence[bool] | NDArray[Any] | None
)
#: a seed, a generator to draw one from, or None for another one each time
RandomState: TypeAlias = int | np.random.RandomState | None
#: -1, 0 or 1 for each column, or for those that are named
MonotoneConstraints: TypeAlias = Mapping[str, int] | Mapping[int, int] | Sequence[int] | NDArray[Any] | None
#: weights by label, "balanced", or one of these for each output
ClassWeight: TypeAlias = str | Mapping[Any, float] | Sequence[Any] | None


class Splitter(Protocol):
    """What divides rows into folds, as scikit-learn's `KFold`."""

    @property
    def split(self) -> Callable[..., Iterable[tuple[Any, Any]]]:
        """The rows to learn from and the rows to test on, fold by fold."""


#: a number of folds, a splitter, or the folds themselves
Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]


class Estimator(Protocol):
    """An estimator of any library that keeps scikit-learn's contract."""

    @property
    def fit(self) -> Callable[..., object]:
        """Learn from a table and its target."""

    @property
    def predict(self) -> Callable[..., Any]:
        """A label or a number for each row."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""

    @property
    def set_params(self) -> Callable[..., Any]:
        """Set parameters by name."""


class Classifier(Estimator, Protocol):
    """An estimator that predicts how likely each label is."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `predict_proba`."""

    @property
    def predict_proba(self) -> Callable[..., Any]:
        """For each row a probability per label."""


#: an estimator of any library, where the code asks it for more than every estimator has
AnyEstimator: TypeAlias = Any
#: a table or a column as its own library holds it, where the code calls that library
AnyTable: TypeAlias = Any


# --------------------------------------------------------------------------- what users get back


class LoadedModel(Protocol):
    """A fitted estimator from a model file: what all have in common, and whatever its own class has."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""

    def to_bytes(self) -> bytes:
        """The model file again."""

    def __getattr__(self, name: str) -> Any:
        """What only some estimators have, as `predict` and `transform`."""
