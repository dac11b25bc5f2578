"""What drawings read of an explanation: the values of one output, the rows, the names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.errors import DataTypeError, ParameterError, listing, nearest
from weald.model.conditions import number
from weald.pictures.axes import GREY, SMALL
from weald.pictures.canvas import figure_of
from weald.pictures.nodes import check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: colours of low, middle and high values: told apart with any colour vision
LOW, MIDDLE, HIGH = "#3b7dbf", "#d9d9d9", "#e6892b"
UNKNOWN = "#8a8a8a"


class ExplanationLike(Protocol):
    """What `weald.explain` returns, and shap's `Explanation`: what columns add to the score of each row."""

    @property
    def values(self) -> NDArray[Any]:
        """(n_rows, n_columns), or (n_rows, n_columns, n_outputs)."""

    @property
    def base_values(self) -> Any:
        """A number, (n_rows,), or (n_rows, n_outputs)."""

    @property
    def data(self) -> Any:
        """(n_rows, n_columns): the rows that are explained; `display_data` has them as they are read."""

    @property
    def feature_names(self) -> Any:
        """The names of the columns; None without."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One output of an explanation."""

    values: Floats  # (n_rows, n_columns)
    base: Floats  # (n_rows,)
    data: NDArray[Any] | None  # (n_rows, n_columns)
    names: list[str]
    output: str

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.values)

    def column(self, asked: object, owner: str) -> int:
        """The number of a column, by name or position."""
        if isinstance(asked, str) and asked in self.names:
            return self.names.index(asked)
        whole = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
        if whole and -len(self.names) <= asked < len(self.names):  # type: ignore[operator]
            return int(asked) % len(self.names)  # type: ignore[call-overload,no-any-return]
        close = nearest(str(asked), self.names)
        hint = f" Did you mean {close!r}?" if close else f" The columns are {listing(self.names)}."
        raise ParameterError(f"{owner} got the column {asked!r}, which the explanation does not have.{hint}")

    def order(self) -> NDArray[np.intp]:
        """The columns, those first that add most in the mean of sizes."""
        return np.argsort(-np.abs(self.values).mean(axis=0), kind="stable")

    def numbers(self, j: int) -> Floats | None:
        """The numbers of a column, NaN where missing; None if it does not hold numbers."""
        return None if self.data is None else numbers_of(self.data[:, j])

    def words(self, i: int, j: int) -> str:
        """A row's value in a column, for reading; empty if it is not known."""
        if self.data is None:
            return ""
        value = self.data[i, j]
        if _is_missing(value):
            return "missing"
        if isinstance(value, bool | np.bool_ | str):
            return str(value)
        if isinstance(value, int | float | np.number):
            return number(float(value), 4)
        return str(value)


def shown(explanation: object, output: object, owner: str) -> Shown:
    """One output of an explanation; of several, `output` says which, by number or name."""
    given: Any = explanation
    missing = [name for name in ("values", "base_values") if not hasattr(given, name)]
    if missing:
        raise DataTypeError(
            f"{owner} takes an explanation with `values`, `base_values`, `data` and `feature_names`, as "
            f"weald.explain gives; got {type(explanation).__name__}."
        )
    values, base = np.asarray(given.values, np.float64), np.asarray(given.base_values, np.float64)
    if has_outputs_of_one_row(explanation):
        values, base = values[np.newaxis], base[np.newaxis]
    elif values.ndim == 1:
        values = values[np.newaxis]
    if values.ndim not in (2, 3) or not values.size:
        raise DataTypeError(f"{owner} takes values of rows and columns; got the shape {values.shape}.")
    named = [str(each) for each in _listed(getattr(given, "output_names", None))]
    alone = getattr(given, "output_names", None)
    chosen = alone if isinstance(alone, str) else ""  # of one output that was taken out
    if values.ndim == 3:
        k = _output(output, values.shape[2], named, owner)
        chosen = named[k] if len(named) == values.shape[2] else f"output {k}"
        values = values[:, :, k]
        base = base[..., k] if base.ndim and base.shape[-1] > k else base
    base = np.broadcast_to(base.reshape(-1) if base.ndim else base, (len(values),))
    names = [str(name) for name in _listed(getattr(given, "feature_names", None))]
    if len(names) != values.shape[1]:
        names = [f"column {j}" for j in range(values.shape[1])]
    # Where there are categories `data` has their numbers, and `display_data` the rows as they were given.
    rows = _rows(getattr(given, "display_data", None), values.shape)
    if rows is None:
        rows = _rows(getattr(given, "data", None), values.shape)
    return Shown(values, np.asarray(base), rows, names, chosen)


def has_outputs_of_one_row(explanation: object) -> bool:
    """Whether values are (n_columns, n_outputs), as of `explanation[5]` with several outputs."""
    given: Any = explanation
    shape = np.shape(given.values)
    sizes = tuple(len(_listed(getattr(given, name, None))) for name in ("feature_names", "output_names"))
    return len(shape) == 2 and sizes == shape


def is_one_row(explanation: object) -> bool:
    """Whether values are those of one row, as of `explanation[5]`, and not a mean over rows.

    weald's objects and shap's tell whether they were reduced; of others that have no data, a mean of sizes
    has no value below 0.
    """
    given: Any = explanation
    values: NDArray[Any] = np.asarray(given.values)
    told = getattr(given, "reduced", None)
    reduced = {getattr(each, "name", "") for each in getattr(given, "op_history", None) or ()}
    if reduced.union(told or ()) & {"mean", "sum", "max", "min", "percentile"}:
        return False
    if values.ndim != 1 and not has_outputs_of_one_row(explanation):
        return False
    return told is not None or getattr(given, "data", None) is not None or bool((values < 0).any())


def _listed(names: Any) -> Sequence[object]:
    if names is None or isinstance(names, str):
        return []
    return list(names)


def _output(asked: object, n: int, names: list[str], owner: str) -> int:
    if isinstance(asked, str) and asked in names:
        return names.index(asked)
    if asked is None:
        return n - 1 if n == 2 else 0
    whole = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
    if whole and -n <= asked < n:  # type: ignore[operator]
        return int(asked) % n  # type: ignore[call-overload,no-any-return]
    which = f" or one of {listing(names)}" if names else ""
    raise ParameterError(f"`output` of {owner} must be a number from 0 to {n - 1}{which}; got {asked!r}.")


def _rows(data: object, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if data is None:
        return None
    array = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
    if array.dtype.names is not None:
        return None
    array = array[np.newaxis] if array.ndim == 1 else array
    return array if array.shape == (shape[0], shape[1]) else None


def numbers_of(column: NDArray[Any]) -> Floats | None:
    """A column as numbers, NaN where missing; None if it does not hold numbers."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    if column.dtype.kind == "O" and all(_is_missing(each) or isinstance(each, datetime) for each in column):
        # `pandas.Timestamp` is a datetime too.
        column = np.array([None if _is_missing(each) else each for each in column], "datetime64[us]")
    if column.dtype.kind in "Mm":
        found = column.astype("int64").astype(np.float64)
        found[np.isnat(column)] = np.nan
        return found
    try:
        return np.array([np.nan if _is_missing(value) else _number(value) for value in column], np.float64)
    except (TypeError, ValueError):
        return None


def _number(value: object) -> float:
    if isinstance(value, str):
        raise ValueError(value)
    return float(value)  # type: ignore[arg-type]


def _is_missing(value: object) -> bool:
    return value is None or value != value or str(value) in ("<NA>", "NaT")


def most_columns(asked: int, n: int, parameter: str) -> int:
    """How many columns are shown."""
    check_whole(asked, parameter, least=1)
    return min(int(asked), n)


def kept_and_rest(order: list[int], most: int) -> tuple[list[int], list[int]]:
    """The columns that get a line of their own, and those that share the last one.

    >>> kept_and_rest([3, 1, 2, 0], 3), kept_and_rest([1, 0], 3)
    (([3, 1], [2, 0]), ([1, 0], []))
    """
    if len(order) <= most:
        return order, []
    alone = max(most - 1, 1)
    return order[:alone], order[alone:]


def add_value_bar(axes: Axes, marks: Any, words: str, ends: tuple[str, str], *, pad: float = 4.0) -> None:
    """A bar of the colours beside the axes, with words for its ends."""
    bar = figure_of(axes).colorbar(marks, ax=axes, ticks=[0, 1], aspect=40, pad=0.02)
    if bar.solids is not None:
        bar.solids.set_alpha(1.0)
    bar.ax.set_yticklabels(list(ends), fontsize=SMALL, color=GREY)
    bar.set_label(words, fontsize=SMALL, color=GREY, labelpad=pad)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)


def low_to_high() -> Any:
    """A colour map from low to high."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("low to high", [LOW, MIDDLE, HIGH])


def shades(values: Floats) -> Floats:
    """Where numbers lie between the low and the high of their column, 0 to 1; NaN stays."""
    known = values[np.isfinite(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    low, high = np.quantile(known, (0.05, 0.95))
    if high <= low:
        low, high = float(known.min()), float(known.max())
    if high <= low:
        return np.where(np.isfinite(values), 0.5, np.nan)
    found: Floats = np.clip((values - low) / (high - low), 0.0, 1.0)
    return found
