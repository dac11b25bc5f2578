"""A `Matrix` is a table as float64 numbers, for methods that need distances; a `MatrixPlan` makes it.

Categories become a 0/1 column per level, missing values are filled, columns are scaled if asked. What a plan
learned from the training table is all that a model must remember to make the same columns of any other:
equations M1 and M2 of docs/methods/kernels.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Floats
from weald.data.blocks import SparseBlock
from weald.data.matrix.columns import ColumnLayout
from weald.data.matrix.rows import as_csr, csr_array, csr_of, dense_of
from weald.data.matrix.statistics import Statistics, dense_statistics, sparse_statistics
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Table
from weald.errors import DataError, DataTypeError, ModelFileError

Scale: TypeAlias = Literal["standard", "maximum"] | None

_ARRAYS = ("fill", "centre", "divisor")
#: from how many columns on, and below which share of entries, a table of categories is kept sparse
_MANY_COLUMNS, _MOSTLY_ZERO = 1000, 0.25
_HINT_RATIO = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Numbers without gaps: finite float64, either all of them or those that are not 0.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), or scipy.sparse.csr_array
        C-contiguous; may be the user's own memory, so it is never written to. Of CSR the indices of a row
        rise, without duplicates; indices and indptr are int32, or both int64 beyond 2^31 entries.
    """

    values: Any

    @classmethod
    def of(cls, values: object) -> Matrix:
        """Any array of two dimensions or SciPy matrix of finite numbers.

        >>> Matrix.of([[1, 2], [3, 4]]).values.dtype
        dtype('float64')
        """
        try:
            matrix = cls(
                as_csr(values) if sparse.issparse(values) else np.ascontiguousarray(values, np.float64)
            )
        except (TypeError, ValueError):
            raise DataTypeError(
                f"An array of numbers is expected; got {type(values).__name__} that cannot be read as one."
            ) from None
        if matrix.values.ndim != 2:
            raise DataError(f"An array of two dimensions is expected; got one of {matrix.values.ndim}.")
        if not np.isfinite(matrix.entries).all():
            raise DataError("The array contains NaN or infinite values. Fill or replace them.")
        return matrix

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return int(self.values.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the values are CSR."""
        return not isinstance(self.values, np.ndarray)

    @property
    def entries(self) -> Floats:
        """The numbers it holds: all of them, or those of CSR that are not 0."""
        found: Floats = self.values.data if self.is_sparse else self.values
        return found

    def place(self, entry: int) -> tuple[int, int]:
        """Row and column of one of `entries`, counted in memory's order."""
        if not self.is_sparse:
            return divmod(entry, self.n_columns)
        row = int(np.searchsorted(self.values.indptr, entry, side="right")) - 1
        return row, int(self.values.indices[entry])

    def take(self, rows: NDArray[Any]) -> Matrix:
        """A copy of these rows, in their order."""
        return Matrix(self.values[rows])

    def block(self, start: int, stop: int) -> Matrix:
        """The rows from `start` up to `stop`; of an array a view."""
        return Matrix(self.values[start:stop])


@dataclass(frozen=True, eq=False)
class MatrixPlan:
    """How a table becomes a `Matrix`: what a model remembers of its training table.

    Parameters
    ----------
    schema : Schema
        The columns of the tables it takes.
    scale : None, "standard" or "maximum"
        Leave numbers as they are; (x - mean) / standard deviation, without the mean for SciPy matrices,
        levels of categories without the deviation; or x / max|x|.
    is_sparse : bool
        Whether matrices are CSR. So it is if the training table was a SciPy matrix, or if its categories
        have so many levels that most of the numbers are 0.
    fill, centre, divisor : ndarray of shape (n_columns of the matrix,)
        What stands for a missing value; what is subtracted from each column, and what then divides it.

    Examples
    --------
    >>> from weald.data.adapters import to_table
    >>> table = to_table({"x": [1.0, None, 3.0], "city": ["Bern", "Rom", None]})
    >>> plan = MatrixPlan.of(table, Schema.of(table), scale=None)
    >>> plan.column_names
    ('x', 'city=Bern', 'city=Rom')
    >>> plan.apply(table).values.tolist()
    [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 0.0]]
    """

    schema: Schema
    scale: Scale
    is_sparse: bool
    fill: Floats
    centre: Floats
    divisor: Floats
    _hint: str | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        *,
        scale: Scale,
        weight: Floats | None = None,
        hint: bool = True,
        n_threads: int = 1,
    ) -> MatrixPlan:
        """What a training table tells: medians for what is missing, and the spread of each column.

        Parameters
        ----------
        table : Table
            Aligned to the schema.
        schema : Schema
            Of the training table.
        scale : None, "standard" or "maximum"
            As above. The 0/1 columns of levels are centred at most, never divided; nor is a constant column.
        weight : ndarray of shape (n_rows,), optional
            Weights of the rows, in medians, means and deviations. Rows of weight 0 count as absent.
        hint : bool, default=True
            Whether the hint on spreads will be asked for; reading a table takes less time without.
        n_threads : int, default=1
            Threads; the plan does not depend on them.
        """
        layout = ColumnLayout.of(schema)
        from_sparse = came_sparse(table)
        is_sparse = from_sparse or _mostly_zero(layout)
        if is_sparse:
            found = sparse_statistics(
                csr_of(table, layout),
                layout,
                weight,
                spread=scale == "standard",
                sizes=hint or scale is not None,
            )
        else:
            sizes = hint or scale is not None
            found = dense_statistics(table, layout, weight, sizes=sizes, n_threads=n_threads)
        centre, divisor = np.zeros(layout.n_out), np.ones(layout.n_out)
        if scale == "standard":
            # A level is 0 or 1 already: divided by its deviation, a rare one would swamp every distance.
            divisor = np.where(layout.is_level, 1.0, _not_zero(found.deviation))
            if not from_sparse:
                centre = np.where(layout.is_level, 0.0, found.mean) if is_sparse else found.mean
        elif scale == "maximum":
            divisor = _not_zero(found.largest)
        hint_text = _hint(found, layout, is_sparse=is_sparse) if hint and scale is None else None
        return cls(schema, scale, is_sparse, found.fill, centre, divisor, hint_text)

    @property
    def column_names(self) -> tuple[Hashable, ...]:
        """The names of the matrix's columns: 'colour=red' for a level of a category."""
        return ColumnLayout.of(self.schema).names()

    @property
    def n_columns(self) -> int:
        """How many columns its matrices have."""
        return len(self.fill)

    def apply(self, table: Table) -> Matrix:
        """The matrix of a table that is aligned to the schema.

        An array of float64 that needs neither filling nor scaling is not copied.

        Raises
        ------
        DataError
            If a value is infinite, or leaves float64 when it is scaled; with the name of its column.
        """
        layout = ColumnLayout.of(self.schema)
        if self.is_sparse:
            raw = csr_of(table, layout)
            return Matrix(_finished_csr(raw, layout, self.fill, self.centre, self.divisor))
        centre = self.centre if self.scale == "standard" else None
        divisor = self.divisor if self.scale is not None else None
        return Matrix(dense_of(table, layout, self.fill, centre, divisor))

    def hint(self) -> str | None:
        """A sentence on two columns whose spreads differ 100-fold, if nothing scales them; else None."""
        return self._hint

    def state(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """What a model file keeps beside the schema: facts for its JSON, and arrays."""
        facts = {"scale": self.scale, "is_sparse": self.is_sparse}
        return facts, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_state(
        cls, schema: Schema, facts: object, arrays: Mapping[str, NDArray[Any]], *, newer: bool = False
    ) -> MatrixPlan:
        """The plan of these parts, which come from a file and may be damaged.

        Parameters
        ----------
        schema : Schema
            The model's.
        facts, arrays : mapping
            As `state` gave them; arrays may have become narrower.
        newer : bool, default=False
            Whether the file has a newer format, which may say more.
        """
        scale, is_sparse = _read_facts(facts, newer=newer)
        n_out = ColumnLayout.width_of(schema)
        fill, centre, divisor = (_read_floats(arrays, name, n_out) for name in _ARRAYS)
        if (divisor <= 0).any() or (scale is None and (divisor != 1).any()):
            raise ModelFileError("The columns of the model file are divided by impossible numbers.")
        layout = ColumnLayout.of(schema)  # as wide as these arrays, which the file holds
        uncentred = layout.is_level if _mostly_zero(layout) else np.ones(n_out, np.bool_)
        if centre.any() and (scale != "standard" or (is_sparse and centre[uncentred].any())):
            raise ModelFileError("The columns of the model file are centred where they cannot be.")
        if set(arrays) - set(_ARRAYS) and not newer:
            strange = min(set(arrays) - set(_ARRAYS))
            raise ModelFileError(f"The columns of the model file have an unknown array: {strange!r:.80}.")
        return cls(schema, scale, is_sparse, fill, centre, divisor)


def came_sparse(table: Table) -> bool:
    """Whether the table is a SciPy matrix."""
    return isinstance(table.columns, BlockColumns) and isinstance(table.columns.block, SparseBlock)


def _mostly_zero(layout: ColumnLayout) -> bool:
    return layout.n_out > _MANY_COLUMNS and layout.n_in <= _MOSTLY_ZERO * layout.n_out


def _not_zero(values: Floats) -> Floats:
    return np.where(values > 0, values, 1.0)


def _finished_csr(
    raw: sparse.csr_array, layout: ColumnLayout, fill: Floats, centre: Floats, divisor: Floats
) -> sparse.csr_array:
    """The CSR matrix with gaps filled and columns moved and divided; infinite numbers raise."""
    moved = np.flatnonzero(centre)
    if len(moved):
        return _with_centred(raw, layout, moved, fill, centre, divisor)
    data, columns = raw.data, raw.indices
    known = np.isfinite(data)
    if not known.all():
        layout.refuse_infinite_csr(raw)
        data = np.where(known, data, fill[columns])
    if (divisor != 1).any():
        with np.errstate(over="ignore"):
            data = data / divisor[columns]
        if not np.isfinite(data).all():
            raise layout.beyond(int(columns[np.argmin(np.isfinite(data))]))
    if data is raw.data:
        return raw
    matrix = sparse.csr_array((data, columns, raw.indptr), shape=raw.shape)
    if (data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _with_centred(
    raw: sparse.csr_array,
    layout: ColumnLayout,
    moved: NDArray[np.intp],
    fill: Floats,
    centre: Floats,
    divisor: Floats,
) -> sparse.csr_array:
    """The columns that are centred as numbers without zeros, beside the sparse ones."""
    layout.refuse_infinite_csr(raw)
    numbers = raw[:, moved].toarray()
    gaps = np.isnan(numbers)
    with np.errstate(over="ignore"):
        numbers = (np.where(gaps, fill[moved], numbers) - centre[moved]) / divisor[moved]
    if not np.isfinite(numbers).all():
        raise layout.beyond(int(moved[np.argmin(np.isfinite(numbers).all(axis=0))]))
    n_rows, width = numbers.shape
    places = (np.tile(moved, n_rows), np.arange(n_rows + 1) * width)
    kept = (centre == 0)[raw.indices]
    indptr = np.concatenate(([0], np.cumsum(kept)))[raw.indptr]
    rest = csr_array(raw.data[kept], raw.indices[kept], indptr, raw.shape)
    others = _finished_csr(rest, layout, fill, np.zeros_like(centre), divisor)
    return as_csr(others + csr_array(numbers.ravel(), *places, raw.shape))


def _hint(found: Statistics, layout: ColumnLayout, *, is_sparse: bool) -> str | None:
    """Of sparse columns the largest value is compared: a rare word is no small one."""
    spread = (found.largest if is_sparse else found.deviation).copy()
    spread[layout.is_level] = 0.5  # a 0/1 column is not small because its level is rare
    spread[found.deviation == 0] = 0.0
    varied = np.flatnonzero(spread > 0)
    if not len(varied):
        return None
    wide, narrow = varied[np.argmax(spread[varied])], varied[np.argmin(spread[varied])]
    if not spread[wide] / _HINT_RATIO > spread[narrow]:
        return None
    word = "largest value" if is_sparse else "standard deviation"
    return (
        f"Column {layout.name(int(wide))!r} ({word} {spread[wide]:.3g}) is far wider than column "
        f"{layout.name(int(narrow))!r} ({spread[narrow]:.3g}) and outweighs it in every distance. "
        "scale=True brings all columns to one spread."
    )


def _read_facts(facts: object, *, newer: bool) -> tuple[Scale, bool]:
    known = {"scale", "is_sparse"}
    if not isinstance(facts, Mapping) or not known <= set(facts) or (set(facts) > known and not newer):
        raise ModelFileError("The columns of the model file lack what makes numbers of them.")
    scale, is_sparse = facts["scale"], facts["is_sparse"]
    if not (scale is None or scale in ("standard", "maximum")) or type(is_sparse) is not bool:
        raise ModelFileError("The columns of the model file are scaled in an unknown manner.")
    return scale, is_sparse


def _read_floats(arrays: Mapping[str, NDArray[Any]], name: str, length: int) -> Floats:
    found = arrays.get(name)
    if found is None or found.shape != (length,) or found.dtype.kind not in "iuf":
        raise ModelFileError(f"The array {name!r} of the model file should hold {length} numbers.")
    wide = found.astype(np.float64)
    if not np.isfinite(wide).all():
        raise ModelFileError(f"The array {name!r} of the model file should hold finite numbers.")
    return wide
