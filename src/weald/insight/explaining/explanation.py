"""`Explanation`: what each column adds to predictions, with the names and habits of shap's class."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from types import EllipsisType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.arrays import Floats
from weald.errors import DataError, ParameterError, nearest

#: what chooses rows, columns or outputs: a position, a slice, positions, flags, or a name
Key: TypeAlias = int | slice | str | Sequence[int] | Sequence[str] | NDArray[Any]

ROW, COLUMN, OUTPUT = "row", "column", "output"


class Explanation:
    """What each column adds to the raw score of each row.

    The values of a row and its base value add up to the raw score that the model gives it. Attributes have
    shap's names, and slicing works as in shap: `explanation[0]` is one row, `explanation[:, "age"]` one
    column, `explanation[..., "yes"]` one output, `explanation.abs.mean(0)` the mean size of each column's
    values. Made after `import shap`, it is a `shap.Explanation` too, so that `shap.plots` take it; `to_shap`
    makes one at any time.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, n_outputs)
        What each column adds. Of interactions (n_rows, n_columns, n_columns) or, with outputs last, four
        dimensions.
    base_values : array-like of shape (n_rows,) or (n_rows, n_outputs), default=None
        What is there without any column.
    data : array-like of shape (n_rows, n_columns), default=None
        The rows as numbers, of categories their places among the model's levels.
    display_data : array-like of shape (n_rows, n_columns), default=None
        The rows as the user wrote them, where there are categories.
    feature_names : sequence of str, default=None
        Names of the columns; None for "0", "1", …
    output_names : sequence of str, default=None
        Names of the outputs, if values have outputs.
    standard_errors : array-like, default=None
        Of the values, where they are estimates; as they are shaped. Exact values have None.
    interactions : bool, default=False
        Whether values are of pairs of columns.

    Examples
    --------
    >>> from weald.insight.explaining.explanation import Explanation
    >>> told = Explanation([[1.0, -2.0], [0.5, 0.0]], [3.0, 3.0], feature_names=["age", "pay"])
    >>> told[:, "pay"].values.tolist(), told.abs.mean(0).values.tolist()
    ([-2.0, 0.0], [0.75, 1.0])
    """

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """An instance that is of shap's class too, if shap is there."""
        made: type[Any] = cls
        if cls is Explanation and "shap" in sys.modules:
            made = import_module("weald.insight.explaining.for_shap").ShapExplanation
        return object.__new__(made)  # type: ignore[no-any-return]

    def __init__(
        self,
        values: ArrayLike,
        base_values: ArrayLike | None = None,
        data: ArrayLike | None = None,
        display_data: ArrayLike | None = None,
        feature_names: Sequence[object] | None = None,
        output_names: Sequence[object] | None = None,
        standard_errors: ArrayLike | None = None,
        *,
        interactions: bool = False,
    ) -> None:
        found = np.asarray(values, np.float64)
        columns = (COLUMN, COLUMN) if interactions else (COLUMN,)
        axes = (ROW, *columns, OUTPUT)
        if found.ndim not in (len(axes) - 1, len(axes)):
            shape = "(n_rows, n_columns, n_columns)" if interactions else "(n_rows, n_columns)"
            raise DataError(
                f"Values of an Explanation are {shape}, with several outputs those last; got {found.shape}."
            )
        axes = axes[: found.ndim]
        names = [str(name) for name in (range(found.shape[1]) if feature_names is None else feature_names)]
        named: list[list[str] | None] = [None, *([names] * len(columns))]
        if OUTPUT in axes:
            outputs = range(found.shape[-1]) if output_names is None else output_names
            named.append([str(name) for name in outputs])
        for names_, length in zip(named, found.shape, strict=True):
            if names_ is not None and len(names_) != length:
                raise DataError(f"There are {len(names_)} names for {length} columns or outputs of values.")
        self._fill(
            found,
            axes,
            named,
            None if base_values is None else np.asarray(base_values, np.float64),
            None if data is None else np.asarray(data),
            None if display_data is None else np.asarray(display_data, object),
            None if standard_errors is None else np.asarray(standard_errors, np.float64),
        )

    def _fill(
        self,
        values: Floats,
        axes: tuple[str, ...],
        names: list[list[str] | None],
        base_values: Floats | None = None,
        data: NDArray[Any] | None = None,
        display_data: NDArray[Any] | None = None,
        standard_errors: Floats | None = None,
        lost: dict[str, str] | None = None,
        reduced: tuple[str, ...] = (),
    ) -> None:
        self._values, self._axes, self._names = values, axes, names
        self._base_values, self._data, self._display_data = base_values, data, display_data
        self._standard_errors = standard_errors
        self._lost = lost or {}  # the name of the one column or output that was taken out
        self._joined = reduced

    # ------------------------------------------------------------------ what it holds

    @property
    def values(self) -> Floats:
        """What each column adds: (n_rows, n_columns), or with outputs last."""
        return self._values

    @property
    def base_values(self) -> Floats | None:
        """What is there without any column: (n_rows,) or (n_rows, n_outputs)."""
        return self._base_values

    @property
    def data(self) -> NDArray[Any] | None:
        """The rows as numbers: (n_rows, n_columns)."""
        return self._data

    @property
    def display_data(self) -> NDArray[Any] | None:
        """The rows as the user wrote them, where there are categories."""
        return self._display_data

    @property
    def standard_errors(self) -> Floats | None:
        """How sure the values are, where they are estimates; None of exact values."""
        return self._standard_errors

    @property
    def feature_names(self) -> list[str] | str | None:
        """Names of the columns; of one column that was taken out its name."""
        return self._named(COLUMN)

    @property
    def output_names(self) -> list[str] | str | None:
        """Names of the outputs; None if there is only one."""
        return self._named(OUTPUT)

    @property
    def reduced(self) -> tuple[str, ...]:
        """What joined rows, columns or outputs, such as "mean"; empty if nothing did."""
        return self._joined

    @property
    def interactions(self) -> bool:
        """Whether values are of pairs of columns."""
        return self._axes.count(COLUMN) == 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `values`."""
        return tuple(np.shape(self._values))

    def __len__(self) -> int:
        """How many rows, or columns if it is one row."""
        return self.shape[0]

    def __bool__(self) -> bool:
        """True, with rows or without."""
        return True

    def __repr__(self) -> str:
        """One line: shapes and names."""
        sizes = " x ".join(f"{n} {axis}s" for n, axis in zip(self.shape, self._axes, strict=True))
        return f"Explanation of {sizes or 'one value'}"

    def _named(self, axis: str) -> list[str] | str | None:
        if axis in self._axes:
            return self._names[self._axes.index(axis)]
        return self._lost.get(axis)

    # ------------------------------------------------------------------ parts of it

    def __getitem__(self, key: Key | tuple[Key | EllipsisType, ...]) -> Explanation:
        """Some rows, columns and outputs: positions, slices, flags or names, in this order of axes."""
        keys = self._keys(key)
        values, errors = _take(self._values, keys), _take(self._standard_errors, keys)
        lost, axes, names = dict(self._lost), [], []
        for axis, named, each in zip(self._axes, self._names, keys, strict=True):
            kept = None if named is None else np.asarray(named, object)[each]
            if isinstance(each, int):
                lost |= {} if named is None else {axis: str(kept)}
            else:
                axes.append(axis)
                names.append(None if kept is None else kept.tolist())
        by_axis = list(zip(self._axes, keys, strict=True))
        columns = [each for axis, each in by_axis if axis == COLUMN]
        # Of pairs, the rows have the columns of the axis that is still there.
        left = [each for each in columns if not isinstance(each, int)]
        column = (left or columns or [slice(None)])[0]
        row = [each for axis, each in by_axis if axis == ROW]
        of_rows = [*row, *([column] if columns else [])]
        base_keys = [each for axis, each in by_axis if axis in (ROW, OUTPUT)]
        return self._made(
            values,
            tuple(axes),
            names,
            _take(self._base_values, base_keys),
            _take(self._data, of_rows),
            _take(self._display_data, of_rows),
            errors,
            lost,
            self._joined,
        )

    def _keys(self, key: Key | tuple[Key | EllipsisType, ...]) -> list[Any]:
        """One key per axis: a position, a slice, or an array of positions."""
        asked = list(key) if isinstance(key, tuple) else [key]
        n_axes = len(self._axes)
        dots = [i for i, each in enumerate(asked) if each is Ellipsis]
        if dots:
            filled = [slice(None)] * (n_axes - len(asked) + 1)
            asked = [*asked[: dots[0]], *filled, *asked[dots[0] + 1 :]]
        if len(asked) > n_axes:
            raise ParameterError(f"{self!r} has {n_axes} axes; got {len(asked)} keys.")
        asked += [slice(None)] * (n_axes - len(asked))
        return [self._position(i, each) for i, each in enumerate(asked)]

    def _position(self, i: int, key: Any) -> Any:
        if isinstance(key, slice):
            return key
        if isinstance(key, Explanation):
            key = key.values.astype(np.int64)  # as of `explanation[explanation.abs.mean(1).argsort]`
        if isinstance(key, str):
            return self._place(i, key)
        if isinstance(key, int | np.integer):
            if not -self.shape[i] <= key < self.shape[i]:
                raise IndexError(f"{self._axes[i]} {key} is not among {self.shape[i]} {self._axes[i]}s.")
            return int(key)
        many = np.asarray(key)
        if many.dtype.kind in "OU":
            return np.array([self._place(i, str(name)) for name in many.tolist()], np.int64)
        return np.flatnonzero(many) if many.dtype == np.bool_ else many.astype(np.int64)

    def _place(self, i: int, name: str) -> int:
        names = self._names[i]
        if names is None or name not in names:
            close = None if names is None else nearest(name, names)
            hint = f" Did you mean {close!r}?" if close else ""
            raise ParameterError(f"There is no {self._axes[i]} {name!r} in this Explanation.{hint}")
        return names.index(name)

    def _made(self, *parts: Any) -> Explanation:
        made = Explanation.__new__(Explanation)
        made._fill(*parts)
        return made

    # ------------------------------------------------------------------ sizes and means

    @property
    def abs(self) -> Explanation:
        """The sizes of the values, without their signs."""
        return self._made(
            np.abs(self._values), self._axes, self._names, self._base_values, self._data, self._display_data,
            self._standard_errors, self._lost, self._joined,
        )  # fmt: skip

    def mean(self, axis: int) -> Explanation:
        """The mean over an axis: 0 for rows, 1 for columns.

        Parameters
        ----------
        axis : int
            Which.
        """
        return self._reduced("mean", axis)

    def sum(self, axis: int) -> Explanation:
        """The sum over an axis.

        Parameters
        ----------
        axis : int
            Which.
        """
        return self._reduced("sum", axis)

    def max(self, axis: int) -> Explanation:
        """The largest along an axis.

        Parameters
        ----------
        axis : int
            Which.
        """
        return self._reduced("max", axis)

    def min(self, axis: int) -> Explanation:
        """The least along an axis.

        Parameters
        ----------
        axis : int
            Which.
        """
        return self._reduced("min", axis)

    @property
    def argsort(self) -> Explanation:
        """Positions that order the values, ascending, along the last axis."""
        return self._made(np.argsort(self._values, kind="stable"), self._axes, self._names)

    @property
    def flip(self) -> Explanation:
        """The values in reverse along every axis, as after `argsort`."""
        return self._made(np.flip(self._values), self._axes, self._names)

    def _reduced(self, how: str, axis: int) -> Explanation:
        axis = range(len(self._axes))[axis]
        names = [each for i, each in enumerate(self._names) if i != axis]
        axes = tuple(each for i, each in enumerate(self._axes) if i != axis)
        base = self._base_values
        if base is not None and self._axes[axis] != COLUMN:
            base = getattr(np, how)(base, axis=0 if self._axes[axis] == ROW else -1)
        values = getattr(np, how)(self._values, axis=axis)
        return self._made(values, axes, names, base, None, None, None, self._lost, (*self._joined, how))

    # ------------------------------------------------------------------ elsewhere

    def to_shap(self) -> object:
        """A plain `shap.Explanation` of the same values; needs shap."""
        try:
            shap = import_module("shap")
        except ImportError as error:
            raise ImportError("to_shap() needs shap, which is not installed.") from error
        return shap.Explanation(
            self._values,
            base_values=self._base_values,
            data=self._data,
            display_data=self._display_data,
            feature_names=self.feature_names,
            output_names=self.output_names,
            error_std=self._standard_errors,
        )


def _take(array: Any, keys: Sequence[Any]) -> Any:
    """array[keys], each key along an axis of its own."""
    if array is None:
        return None
    for axis in reversed(range(len(keys))):
        array = array[(slice(None),) * axis + (keys[axis],)]
    return array
