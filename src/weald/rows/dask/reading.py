"""What of a user's partition is learnt from, and what is kept beside it: targets, weights, queries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, TableLike
from weald.data.adapters import column_of, to_table
from weald.data.frames.user_rows import without_column
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Column, LevelColumn, NumericColumn, Table
from weald.engine.storage import pages as native
from weald.errors import DataError, WealdError, listing, short

#: a role of rows, and a column's name, several of them, or the values of a partition
Roles: TypeAlias = Mapping[str, object]
#: of columns by position, those whose kind can differ between partitions
Kinds: TypeAlias = "Mapping[int, Kind]"


class Look(NamedTuple):
    """What is to be known of a partition before anything is learnt from it."""

    n_rows: int
    names: tuple[Hashable, ...] | None  # None: only positions
    width: int
    kept: dict[str, list[Column]]  # per role
    kinds: Kinds


class Opened:
    """A partition as columns to learn from, and those with a role."""

    def __init__(self, table: Table, kept: dict[str, list[Column]], number: int) -> None:
        self.table, self.kept, self.number = table, kept, number

    def look(self) -> Look:
        """What the coordinator wants to know."""
        table = self.table
        names = tuple(table.names) if table.named else None
        return Look(table.n_rows, names, table.n_columns, self.kept, kinds_of(table, self.number))

    def settled(self, names: tuple[Hashable, ...] | None, kinds: Kinds | None) -> Table:
        """The table with the columns in the order of `names`, and of these kinds."""
        table = self.table
        if names is not None and table.named and tuple(table.names) != names:
            table = _in_order(table, names)
        return table if kinds is None else settled(table, kinds)

    def __sizeof__(self) -> int:
        """Bytes of memory, by which Dask decides what to move and what to spill."""
        columns = self.table.columns
        n_bytes = sum(sum(_bytes(column) for column in each) for each in self.kept.values())
        if isinstance(columns, BlockColumns):
            parts = (getattr(columns.block, name, None) for name in ("array", "data", "indices", "indptr"))
            n_bytes += sum(int(getattr(part, "nbytes", 0)) for part in parts)
            columns = list(columns.placed.values())
        return object.__sizeof__(self) + n_bytes + sum(map(_bytes, columns))


def _bytes(column: Column) -> int:
    return int((column.indices if isinstance(column, LevelColumn) else column.values).nbytes)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads partitions.

    Attributes
    ----------
    read : callable
        Makes a table of what is learnt from, as the estimator reads tables.
    names : mapping of role to sequence of str
        The columns of the partition itself that have a role.
    """

    read: Callable[[TableLike], Table] = to_table
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def open(self, X: TableLike, values: Roles, number: int) -> Opened:
        """A partition, with the values of roles that come beside it; `number` is for messages."""
        with _naming(number):
            if _n_rows(X) == 0:
                return Opened(Table((), 0, False), {}, number)
            rest, kept = self._split(X)
            table = self.read(rest)
            kept |= {role: _columns(role, given) for role, given in values.items()}
            for role, columns in kept.items():
                n = _length(columns[0]) if columns else table.n_rows
                if n != table.n_rows:
                    raise DataError(
                        f"it has {table.n_rows:,} rows, and its part of `{role}` has {n:,}. Give both with "
                        "the same partitions: repartition one like the other."
                    )
            return Opened(table, kept, number)

    def _split(self, X: TableLike) -> tuple[TableLike, dict[str, list[Column]]]:
        kept: dict[str, list[Column]] = {}
        for role, names in self.names.items():
            columns = []
            for name in names:
                _, values = without_column(X, name)
                if values is None:
                    known = _names(X)
                    has = (
                        "it has no names of columns" if known is None else f"its columns are {listing(known)}"
                    )
                    raise DataError(f"there is no column {name!r} for `{role}`; {has}.")
                columns.append(column_of(name, values))
            kept[role] = columns
        for name in dict.fromkeys(name for names in self.names.values() for name in names):
            X, _ = without_column(X, name)
        return X, kept


class _naming:  # noqa: N801
    """Puts the number of a partition before what is wrong with it."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, WealdError):
            raise type(error)(f"Partition {self._number}: {error}") from error


def _n_rows(X: object) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else len(X)  # type: ignore[arg-type]


def _names(X: object) -> tuple[Hashable, ...] | None:
    if isinstance(X, np.ndarray):
        return None
    found = getattr(X, "column_names", None)  # Arrow's
    found = getattr(X, "columns", None) if found is None else found
    return None if found is None or callable(found) else tuple(found)


def _columns(role: str, values: object) -> list[Column]:
    if getattr(values, "ndim", 1) == 2:
        return list(to_table(values).columns)  # type: ignore[arg-type]
    column: ColumnLike = values  # type: ignore[assignment]
    return [column_of(role, column)]


def _length(column: Column) -> int:
    return len(column.indices if isinstance(column, LevelColumn) else column.values)


def _in_order(table: Table, names: tuple[Hashable, ...]) -> Table:
    """The columns in the order of the first partition."""
    places = {name: j for j, name in enumerate(table.names)}
    columns = tuple(table.columns[places[name]] for name in names)
    return Table(columns, table.n_rows, table.named)


def check_looks(looks: Sequence[Look]) -> None:
    """Refuse partitions whose columns are not those of the first one with rows."""
    filled = [(number, look) for number, look in enumerate(looks) if look.n_rows]
    if not filled:
        raise DataError("No partition has a row: at least one row is needed.")
    first_number, first = filled[0]
    for number, look in filled:
        if look.names is not None and first.names is not None and set(look.names) != set(first.names):
            absent = [name for name in first.names if name not in look.names]
            extra = [name for name in look.names if name not in first.names]
            parts = [f"lacks {listing(absent)}"] if absent else []
            parts += [f"has {listing(extra)} besides"] if extra else []
            raise DataError(
                f"Partition {number} {' and '.join(parts)}, compared with partition {first_number}. All "
                "partitions must have the same columns."
            )
        if look.width != first.width:
            raise DataError(
                f"Partition {number} has {look.width} columns, and partition {first_number} has "
                f"{first.width}."
            )


# --------------------------------------------------------------------------- kinds of columns


class Kind(NamedTuple):
    """Of what kind a column is in some partitions, and whether any row of it holds a value."""

    word: str  # "numeric", "ordinal" or "categorical"
    unit: str
    present: bool
    number: int  # the first partition that says so

    def joined(self, other: Kind, name: Hashable) -> Kind:
        """The kind in the partitions of both; a column without any value takes that of the others."""
        if (self.word, self.unit) == (other.word, other.unit):
            return self._replace(present=self.present or other.present)
        if not other.present:
            return self
        if not self.present:
            return other
        raise DataError(
            f"Column {short(repr(name))} holds {self._told()} in partition {self.number} and {other._told()} "
            f"in partition {other.number}. Give it one type in all partitions (astype)."
        )

    def _told(self) -> str:
        if self.word == "numeric":
            return {"number": "numbers", "bool": "numbers"}.get(self.unit, f"{self.unit} values")
        return {"ordinal": "ordered categories", "categorical": "text or categories"}[self.word]


def kinds_of(table: Table, number: int) -> dict[int, Kind]:
    """The kinds of the columns that can differ between partitions; of arrays there is one."""
    columns = table.columns
    some = columns.placed.items() if isinstance(columns, BlockColumns) else enumerate(columns)
    return {j: _kind(column, number) for j, column in some}


def _kind(column: Column, number: int) -> Kind:
    if isinstance(column, LevelColumn):
        return Kind(column.kind, "levels", bool((column.indices >= 0).any()), number)
    unit = "number" if column.unit == "bool" else column.unit
    return Kind("numeric", unit, bool((~_absent(column)).any()), number)


def _absent(column: NumericColumn) -> NDArray[np.bool_]:
    none = np.zeros(len(column.values), np.bool_) if column.missing is None else column.missing
    return none | np.isnan(column.values) if column.values.dtype.kind == "f" else none


def joined_kinds(looks: Sequence[Look], names: tuple[Hashable, ...] | None) -> dict[int, Kind]:
    """The kinds of all partitions together; raises DataError where they contradict each other."""
    found: dict[int, Kind] = {}
    for look in looks:
        places = range(look.width)
        if names is not None and look.names is not None and look.names != names:
            at = {name: j for j, name in enumerate(names)}
            places = [at[name] for name in look.names]  # type: ignore[assignment]
        for j, kind in look.kinds.items() if look.n_rows else ():
            place = places[j]
            name = place if names is None else names[place]
            found[place] = found[place].joined(kind, name) if place in found else kind
    return found


def settled(table: Table, kinds: Kinds) -> Table:
    """The table with columns that hold no value turned into what they are in other partitions."""
    columns = table.columns
    placed = dict(columns.placed.items() if isinstance(columns, BlockColumns) else enumerate(columns))
    changed = {j: _as(each, kinds[j]) for j, each in placed.items() if j in kinds and _turns(each, kinds[j])}
    if not changed:
        return table
    if isinstance(columns, BlockColumns):
        block = BlockColumns(columns.block, placed | changed, columns.names)
        return Table(block, table.n_rows, table.named)
    return Table(tuple(changed.get(j, column) for j, column in placed.items()), table.n_rows, table.named)


def _turns(column: Column, kind: Kind) -> bool:
    mine = _kind(column, 0)
    return not mine.present and (mine.word, mine.unit) != (kind.word, kind.unit)


def _as(column: Column, kind: Kind) -> Column:
    n = _length(column)
    if kind.word == "numeric":
        return NumericColumn(column.name, np.full(n, np.nan), unit=kind.unit)  # type: ignore[arg-type]
    return LevelColumn(column.name, np.full(n, -1, np.int32), (), kind.word == "ordinal")


class CodingPlan(NamedTuple):
    """What partitions are coded by."""

    schema: Schema
    codebook: Sequence[native.CodebookColumn]
    kinds: Kinds | None  # None: partitions say themselves of what kind their columns are
    names: tuple[Hashable, ...] | None  # the order of columns
    owner: str
