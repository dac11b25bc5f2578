"""`RowSpace`: where the rows of a table stand, and how far apart they are (equations V1 to V6).

Numbers and ranks keep their axis, a missing number stands at the middle of its column and away on an axis
of its own, categories differ by a constant. So every distance is one between points without gaps, which is
what `search` compares; docs/methods/neighbors.md has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import Flags, Floats, Integers
from weald.data.matrix.columns import ColumnLayout
from weald.data.matrix.matrix import came_sparse
from weald.data.matrix.rows import as_csr
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import ParameterError
from weald.neighbors.metrics import Metric, MetricLike
from weald.neighbors.places import Places, category_codes, raw_numbers
from weald.neighbors.statistics import ColumnStatistics, dense_statistics, sparse_statistics
from weald.numbers import as_float


@dataclass(frozen=True, slots=True, eq=False)
class RowSpace:
    """Where rows stand: what a model remembers of its training table.

    Parameters
    ----------
    schema : Schema
        The columns of the tables it takes.
    metric : Metric
        The distance.
    scaled : bool
        Whether numbers and ranks are standardised.
    is_sparse : bool
        Whether numbers are CSR: so they are if the training table was a SciPy matrix. They are then divided
        by their deviation but not centred, which only the cosine would notice.
    known : ndarray of bool of shape (n_numeric,)
        Which columns had any value; the others say nothing, and take no part.
    shift, divisor : ndarray of shape (n_numeric,)
        What is subtracted from numbers, and what then divides them.
    middle, spread : ndarray of shape (n_numeric,)
        Where a missing number stands, in the units of the space: at the middle of its column, and `spread`
        away from all known ones on an axis of its own (V3).
    mismatch : ndarray of shape (n_categorical,)
        How far two different levels of a column are apart (V4).
    shares : tuple of ndarray
        The share of each level of each categorical column among its known values.

    Examples
    --------
    >>> from weald.data.adapters import to_table
    >>> table = to_table({"x": [1.0, None, 3.0], "city": ["Bern", "Rom", None]})
    >>> space = RowSpace.of(table, Schema.of(table), metric="euclidean", scale=False)
    >>> placed = space.place(table)
    >>> placed.numeric.tolist(), placed.codes.tolist()
    ([[1.0], [nan], [3.0]], [[1], [2], [0]])
    """

    schema: Schema
    metric: Metric
    scaled: bool
    is_sparse: bool
    known: Flags
    shift: Floats
    divisor: Floats
    middle: Floats
    spread: Floats
    mismatch: Floats
    shares: tuple[Floats, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        *,
        metric: MetricLike | Metric,
        scale: bool,
        weight: Floats | None = None,
        mismatch: float | None = None,
    ) -> RowSpace:
        """What a training table tells of distances.

        Parameters
        ----------
        table : Table
            Aligned to the schema.
        schema : Schema
            Of the training table.
        metric : {"euclidean", "manhattan", "chebyshev", "cosine", "mixed"} or ("minkowski", p)
            The distance. "mixed" is "euclidean" on standardised columns.
        scale : bool
            Whether to standardise numbers and ranks: (x - mean) / standard deviation of the known ones.
        weight : ndarray of shape (n_rows,), optional
            Weights of the rows in means, deviations and shares.
        mismatch : float, optional
            How far two different levels are apart; None for the median of the deviations of the numeric
            columns that vary, in the units of the space (SMOTE-NC's constant; 1 if there are none).
        """
        chosen = Metric.of(metric)
        scaled = scale or chosen.always_scaled
        layout, is_sparse = ColumnLayout.of(schema), came_sparse(table)
        numbers = raw_numbers(table, layout, is_sparse=is_sparse)
        found = (sparse_statistics if is_sparse else dense_statistics)(numbers, weight, chosen.p)
        shift, divisor = np.zeros(len(found.mean)), np.ones(len(found.mean))
        if scaled:
            divisor = np.where(found.deviation > 0, found.deviation, 1.0)
            shift = shift if is_sparse else found.mean
        shares = _shares(category_codes(table, layout), layout, weight)
        apart = _constant(found, layout, scaled=scaled) if mismatch is None else as_float(mismatch)
        if not 0 <= apart < np.inf:
            raise ParameterError(
                f"`mismatch` must be a finite number of at least 0; got {mismatch!r}. Leave it None for the "
                "median deviation of the numeric columns."
            )
        return cls(
            schema,
            chosen,
            scaled,
            is_sparse,
            found.known,
            shift,
            divisor,
            middle=(found.middle - shift) / divisor,
            spread=found.spread / divisor,
            mismatch=np.full(len(shares), apart),
            shares=shares,
        )

    @property
    def plain(self) -> Integers:
        """The positions, in the schema, of the columns of `Places.numeric`."""
        return ColumnLayout.of(self.schema).plain

    @property
    def categorical(self) -> tuple[int, ...]:
        """The positions, in the schema, of the columns of `Places.codes`."""
        return ColumnLayout.of(self.schema).categorical

    def place(self, table: Table) -> Places:
        """Where the rows of an aligned table stand.

        Raises
        ------
        DataError
            If a number is infinite, or leaves float64 when it is scaled; with the name of its column.
        """
        layout = ColumnLayout.of(self.schema)
        numbers = raw_numbers(table, layout, is_sparse=self.is_sparse)
        if self.scaled:
            numbers = self._scaled(numbers, layout)
        return Places(self._without_unknown(numbers), category_codes(table, layout))

    def _scaled(self, numbers: Any, layout: ColumnLayout) -> Any:
        with np.errstate(over="ignore"):
            if self.is_sparse:
                data = numbers.data / self.divisor[numbers.indices]
                scaled = sparse.csr_array((data, numbers.indices, numbers.indptr), shape=numbers.shape)
                beyond = numbers.indices[np.isinf(data)]
            else:
                scaled = (numbers - self.shift) / self.divisor
                beyond = np.flatnonzero(np.isinf(scaled).any(axis=0))
        if len(beyond):
            raise layout.beyond(int(layout.starts[layout.plain[beyond[0]]]))
        return scaled

    def _without_unknown(self, numbers: Any) -> Any:
        """Columns that training knew nothing of are missing throughout, or not stored."""
        if self.known.all():
            return numbers
        if not self.is_sparse:
            return np.where(self.known, numbers, np.nan)
        return as_csr(numbers @ sparse.diags_array(self.known.astype(np.float64)))

    # ----------------------------------------------------------------------- points without gaps

    def gaps(self, places: Places) -> Flags:
        """Which numeric columns have a gap in some row."""
        if not places.is_sparse:
            with np.errstate(over="ignore", invalid="ignore"):
                whole = np.isfinite(places.numeric.sum())  # one pass: a sum is finite only without NaN
            if whole:
                return np.zeros(places.numeric.shape[1], np.bool_)
            gaps: Flags = np.isnan(places.numeric).any(axis=0)
            return gaps
        found = np.zeros(places.numeric.shape[1], np.bool_)
        found[places.numeric.indices[np.isnan(places.numeric.data)]] = True
        return found

    def points(self, places: Places, gaps: Flags) -> Any:
        """The numbers without gaps, an array or CSR: an axis is added for each column of `gaps` (V3)."""
        columns = np.flatnonzero(gaps)
        if not len(columns):
            return places.numeric
        if places.is_sparse:
            return self._sparse_points(places.numeric, columns)
        n_columns = places.numeric.shape[1]
        out = np.empty((places.n_rows, n_columns + len(columns)))
        out[:, :n_columns] = places.numeric
        missing = np.isnan(places.numeric[:, columns])
        out[:, n_columns:] = np.where(missing, self.spread[columns], 0.0)
        out[:, columns] = np.where(missing, self.middle[columns], places.numeric[:, columns])
        return out

    def _sparse_points(self, numbers: sparse.csr_array, columns: NDArray[np.intp]) -> sparse.csr_array:
        missing = np.isnan(numbers.data)
        at = numbers.indices[missing]
        data = numbers.data.copy()
        data[missing] = self.middle[at]
        filled = sparse.csr_array((data, numbers.indices, numbers.indptr), shape=numbers.shape)
        new = np.zeros(numbers.shape[1], np.int64)
        new[columns] = np.arange(len(columns))
        indptr = np.concatenate(([0], np.cumsum(missing)))[numbers.indptr]
        shape = (numbers.shape[0], len(columns))
        axes = sparse.csr_array((self.spread[at], new[at], indptr), shape=shape)
        return as_csr(sparse.hstack([filled, axes], format="csr"))

    def of_length_one(self, points: Any) -> tuple[Any, Floats]:
        """Points divided by their length, and 1 / length; categories lengthen all rows alike (V6)."""
        with np.errstate(over="ignore"):  # a row of infinite length has no direction
            squares = points.multiply(points) if sparse.issparse(points) else points * points
            length = np.sqrt(np.asarray(squares.sum(axis=1)).ravel() + float((self.mismatch**2).sum()) / 2)
        weight = np.where(length > 0, 1.0 / np.where(length > 0, length, 1.0), 0.0)
        if not sparse.issparse(points):
            return points * weight[:, None], weight
        data = points.data * np.repeat(weight, np.diff(points.indptr))
        return sparse.csr_array((data, points.indices, points.indptr), shape=points.shape), weight

    def costs(self) -> tuple[Floats, Floats, Integers]:
        """What categories add to the sum of powers (V4, V5).

        For each column what two different levels add; for each code what it adds against a missing one; and
        where the codes of each column start among those.
        """
        p = self.metric.p
        with np.errstate(over="ignore"):
            each = self.mismatch if np.isinf(p) else self.mismatch**p
        against = [np.zeros(0)]
        for cost, share in zip(each.tolist(), self.shares, strict=True):
            differs = np.where(share < 1, 1.0, 0.0) if np.isinf(p) else 1.0 - share
            expected = np.where(differs > 0, cost, 0.0) * np.where(differs > 0, differs, 1.0)
            against.append(np.concatenate(([0.0], expected)))
        starts = np.concatenate(([0], np.cumsum([len(share) + 1 for share in self.shares]))).astype(np.int64)
        return each, np.concatenate(against), starts


def _shares(codes: NDArray[np.int32], layout: ColumnLayout, weight: Floats | None) -> tuple[Floats, ...]:
    """The share of each level of each column among the known values."""
    found = []
    for at, j in enumerate(layout.categorical):
        width = int(layout.starts[j + 1] - layout.starts[j])
        count = np.bincount(codes[:, at], weights=weight, minlength=width + 1)[1:].astype(np.float64)
        found.append(count / max(float(count.sum()), np.finfo(np.float64).tiny))
    return tuple(found)


def _constant(found: ColumnStatistics, layout: ColumnLayout, *, scaled: bool) -> float:
    """SMOTE-NC's constant: the median deviation of the numeric columns that vary."""
    numeric = np.array([layout.schema.columns[j].kind == "numeric" for j in layout.plain], np.bool_)
    varied = found.deviation[numeric & (found.deviation > 0)] if len(numeric) else found.deviation
    return float(np.median(varied)) if len(varied) and not scaled else 1.0
