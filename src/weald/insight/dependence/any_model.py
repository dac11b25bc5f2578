"""Any model, asked anew for every point: its own kind of table, with some columns set to other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import AnyTable, Floats, TableLike
from weald.data.adapters import array_of_rows, to_table
from weald.data.frames.by_column import form_of, with_columns_of
from weald.data.frames.forms import plain_table
from weald.data.frames.write import Cells
from weald.data.levels import missing_rows
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.errors import DataError, WealdError, told
from weald.inspection.dependence.axes import Axis
from weald.inspection.dependence.moments import Curves, Moments, Pick


class AnyModel:
    """What a function of tables gives where columns of a table are set.

    Parameters
    ----------
    function : callable
        A table of the user's kind → (rows, results).
    X : table
        The rows.
    """

    def __init__(self, function: Callable[[Any], Floats], X: TableLike) -> None:
        self.table: Table = to_table(X)
        self._function = function
        self._given: Any = X
        self._form = form_of(X)

    @cached_property
    def own(self) -> Floats:
        """What is predicted for the rows as they are."""
        return self._asked(self._given)

    @property
    def n_results(self) -> int:
        """How many numbers there are for a row."""
        return int(self.own.shape[1])

    def at(self, columns: Mapping[int, Column]) -> Floats:
        """What is predicted where some columns are others: (rows, results)."""
        return self._asked(self._with(columns)) if columns else self.own

    def thresholds(self, column: int) -> Floats:
        """Only trees have thresholds."""
        raise DataError("grid='thresholds' is for models made of trees. Give values, or a number of points.")

    def curves(
        self,
        axes: Sequence[tuple[int, Axis]],
        picks: Sequence[Pick],
        weight: Floats | None,
        *,
        pair: bool = False,
        centred: bool = False,
        keep: bool = False,
        told: Callable[[int], object] = int,
    ) -> list[Curves]:
        """As `TreeSum.curves`: the whole table is predicted once for every point."""
        if pair:
            found = [self._curves(list(axes), picks, weight, centred=centred, keep=keep)]
            told(len(axes))
            return found
        out: list[Curves] = []
        for each in axes:
            out.append(self._curves([each], picks, weight, centred=centred, keep=keep))
            told(1)
        return out

    def _curves(
        self,
        axes: Sequence[tuple[int, Axis]],
        picks: Sequence[Pick],
        weight: Floats | None,
        *,
        centred: bool,
        keep: bool,
    ) -> Curves:
        n_rows, sizes = self.table.n_rows, [axis.n_points for _, axis in axes]
        n_points = int(np.prod(sizes))
        individual = np.empty((len(picks), n_rows, n_points)) if keep else None
        mean, squares = np.zeros((2, len(picks), n_points))
        start: Floats | None = None
        for point in range(n_points):
            places = np.unravel_index(point, sizes)
            columns = {
                j: axis.column(np.full(n_rows, place)) for (j, axis), place in zip(axes, places, strict=True)
            }
            answers = self.at(columns)
            values = np.stack([pick.offset + pick.sign * answers[:, pick.result] for pick in picks])
            if centred:
                start = values if start is None else start
                values = values - start
            moments = Moments(len(picks), 1)
            moments.add(values[:, :, None], weight)
            mean[:, point], squares[:, point] = moments.mean[:, 0], moments.squares[:, 0]
            if individual is not None:
                individual[:, :, point] = values
        return Curves(mean, squares, individual)

    def _asked(self, X: AnyTable) -> Floats:
        found = self._function(X)
        if len(found) != self.table.n_rows:
            raise WealdError(f"The model gave {len(found)} predictions for {self.table.n_rows} rows.")
        return found

    # ------------------------------------------------------------------ the user's table, with other columns

    def _with(self, columns: Mapping[int, Column]) -> Any:
        if self._form == "frame":
            return self._frame_with(columns)
        numbers = {j: self._numbers(column) for j, column in columns.items()}
        if self._form == "array":
            array = array_of_rows(self._given)
            wide = array.dtype.kind != "f" and any(_is_fractional(values) for values in numbers.values())
            array = array.astype(np.float64) if wide else array.copy()
            for j, values in numbers.items():
                array[:, j] = values
            return array
        given: Any = plain_table(self._given)
        parts = given.tocsc()
        blocks, first = [], 0
        for j in sorted(numbers):
            blocks += [parts[:, first:j], sparse.csc_matrix(numbers[j][:, None])]
            first = j + 1
        return sparse.hstack([*blocks, parts[:, first:]], format=given.format)

    def _numbers(self, column: Column) -> Floats:
        if isinstance(column, LevelColumn):
            raise DataError(f"Column {told(column.name)} of an array of numbers is set to categories.")
        values = np.asarray(column.values, np.float64)
        lacks = missing_rows(column)
        return values if lacks is None else np.where(lacks, np.nan, values)

    def _frame_with(self, columns: Mapping[int, Column]) -> Any:
        """Levels are taken from a row that has them, so that types stay; numbers are written."""
        given, others, cells = self._given, {}, {}
        rows = np.arange(self.table.n_rows)
        for j, column in columns.items():
            own = self.table.columns[j]
            if isinstance(column, NumericColumn) and isinstance(own, NumericColumn):
                values, lacks = np.asarray(column.values, np.float64), missing_rows(column)
                if own.values.dtype.kind in "iub" and _is_fractional(
                    values if lacks is None else values[~lacks]
                ):
                    given = _as_floats(given, j, own.name)
                if lacks is not None:
                    others[j] = np.where(lacks, self._row_without(own), rows)
                present = rows if lacks is None else rows[~lacks]
                if len(present):
                    cells[j] = Cells(present, values[present], own.unit)
                continue
            assert isinstance(column, LevelColumn)
            assert isinstance(own, LevelColumn)
            others[j], unheld = self._rows_of_levels(own, column.indices)
            if len(unheld):
                cells[j] = Cells(unheld, [own.levels[i] for i in column.indices[unheld]], None)
        return with_columns_of(given, rows, others, cells)

    def _row_without(self, own: NumericColumn) -> int:
        lacks = missing_rows(own)
        if lacks is None:
            raise DataError(
                f"Column {told(own.name)} has no missing value in X, so none can be set for a model that is "
                "not made of weald's trees. Leave None out of the grid."
            )
        return int(np.flatnonzero(lacks)[0])

    def _rows_of_levels(
        self, own: LevelColumn, wanted: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each row another that holds its new level, and the rows for whose level there is none."""
        holder = np.full(len(own.levels) + 1, -1, np.intp)
        levels, first = np.unique(own.indices, return_index=True)
        holder[levels] = first  # a missing value is -1: the last
        found = holder[wanted]
        unheld = np.flatnonzero(found < 0)
        if len(unheld) and (wanted[unheld] < 0).any():
            raise DataError(
                f"Column {told(own.name)} has no missing value in X, so none can be set. Leave None out of "
                "the grid."
            )
        return np.where(found < 0, np.arange(len(found)), found), unheld


def _is_fractional(values: Floats) -> bool:
    return bool((np.isnan(values) | (values != np.rint(values))).any())


def _as_floats(X: AnyTable, j: int, name: Any) -> Any:
    """A frame whose column of whole numbers holds float64: it is to be set to values between them."""
    plain: AnyTable = X if hasattr(X, "iloc") else plain_table(X)
    if isinstance(plain, Mapping):
        return {
            key: np.asarray(values, np.float64) if key == name else values for key, values in plain.items()
        }
    if hasattr(plain, "iloc"):
        out = plain.copy()
        out.isetitem(j, plain.iloc[:, j].astype(np.float64))
        return out
    if hasattr(plain, "set_column"):  # of pyarrow
        return plain.set_column(j, name, plain.column(j).cast("float64"))
    if hasattr(plain, "with_columns"):  # of polars
        import polars

        return plain.with_columns(polars.col(name).cast(polars.Float64))
    return plain
