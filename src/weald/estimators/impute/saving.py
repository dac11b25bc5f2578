"""What a model file keeps of `ProximityImputer`: its forest, and the rows that fills come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from weald.data.schema import ColumnSchema, Schema
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.errors import ModelFileError, ParameterError
from weald.estimators.forest.base import BaseForest
from weald.estimators.forest.tasks import ForestClassifier
from weald.impute.columns import KnownColumn
from weald.io import budget
from weald.io.arrays import Shelf, pack_bits
from weald.io.saved_state import SavedEnsemble

if TYPE_CHECKING:
    from weald.estimators.impute.proximity import ProximityImputer

_FOREST = "forest"
#: A number of Python's in a list.
_PER_CHANGE = 32


class SavedImputer:
    """The parts of a fitted `ProximityImputer`."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("ProximityImputer", self)
        params = {name: value for name, value in own.get_params(deep=False).items() if name != "estimator"}
        schema: Schema = own._schema
        columns = list(own._rows.columns)
        known = [column.known for column in own._columns]
        numeric = [j for j, column in enumerate(schema.columns) if column.kind == "numeric"]
        levels = [j for j, column in enumerate(schema.columns) if column.kind != "numeric"]
        for j in levels:
            if columns[j].levels != schema.columns[j].levels:
                raise ModelFileError(
                    f"Column {schema.columns[j].name!r:.80} has other levels once it is filled."
                )
        n_rows, n_groups = own._rows.n_rows, len(own._guesses[0])
        return SavedEnsemble(
            params=params,
            schema=schema,
            extra={"converged": int(own.converged_), "n_groups": n_groups, "n_rows": n_rows},
            base=own.estimator,
            members=((_FOREST, own.estimator_),),
            arrays={
                "changes": np.array(own.changes_, np.float64),
                "known": pack_bits(np.concatenate(known)),
                "numbers": _stacked([_exact(columns[j]) for j in numeric], n_rows, np.float64),
                "levels": _stacked([columns[j].indices for j in levels], n_rows, np.int32),
                "guessed_numbers": _stacked([own._guesses[j] for j in numeric], n_groups, np.float64),
                "guessed_levels": _stacked([own._guesses[j] for j in levels], n_groups, np.int32),
            },
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        forest = _checked_forest(state)
        schema = state.schema
        assert schema is not None
        imputer = cast("type[ProximityImputer]", cls)(**state.params)
        imputer.estimator = state.base
        imputer._checked_options()
        converged, n_groups, n_rows = _checked_extra(state)
        wanted = len(forest.classes_) if isinstance(forest, ForestClassifier) else 1
        if n_groups != wanted:
            raise ParameterError("An imputer has not one first guess for each label of its forest.")
        shelf = Shelf(state.arrays)
        changes = shelf.floats("changes", (None,), low=0.0)
        budget.spend(_PER_CHANGE * len(changes), "changes of an imputer in few bytes")
        if not len(changes):
            raise ParameterError("An imputer grew no forest.")
        filled, known = _read_columns(shelf, schema, n_rows)
        guesses = _read_guesses(shelf, schema, n_groups)
        if shelf.left():
            raise ParameterError(f"An imputer has no array {shelf.left()[0]!r:.80}.")
        imputer._set_fitted(
            forest,
            schema,
            known,
            guesses,
            Table(tuple(filled), n_rows, schema.named),
            changes.tolist(),
            converged,
        )
        return cast("Self", imputer)


def _exact(column: NumericColumn) -> NDArray[np.float64]:
    """The numbers of a filled column as float64, if that changes none."""
    wide = column.values.astype(np.float64)
    if not np.array_equal(wide.astype(column.values.dtype), column.values):
        raise ModelFileError(
            f"Column {column.name!r:.80} holds whole numbers that float64 cannot, which a file of an imputer "
            "cannot keep. Use pickle."
        )
    return wide


def _stacked(columns: list[NDArray[Any]], length: int, dtype: DTypeLike) -> NDArray[Any]:
    """One line per column."""
    return np.stack(columns).astype(dtype) if columns else np.zeros((0, length), dtype)


def _checked_forest(state: SavedEnsemble) -> BaseForest:
    """The forest of a file, which may hold anything; its columns must be those of the imputer."""
    members, schema = state.members, state.schema
    if state.forest is not None or state.classes is not None or schema is None or len(members) != 1:
        raise ParameterError("An imputer has one forest, columns, and no labels of its own.")
    name, forest = members[0]
    if name != _FOREST or not isinstance(forest, BaseForest):
        raise ParameterError("The one member of an imputer is not a forest.")
    if isinstance(forest, ForestClassifier) and forest.n_outputs_ != 1:
        raise ParameterError("The forest of an imputer has several columns of labels.")
    if state.base is not None and not isinstance(state.base, BaseForest):
        raise ParameterError("An imputer grew another estimator than a forest.")
    theirs = forest.schema_
    if len(theirs.columns) != len(schema.columns) or not len(schema.columns):
        raise ParameterError("The forest of an imputer has other columns.")
    for j in range(len(schema.columns)):
        if _kept(theirs.columns[j]) != _kept(schema.columns[j]):
            raise ParameterError(f"Column {schema.columns[j].name!r:.80} is another in the imputer's forest.")
    return forest


def _kept(column: ColumnSchema) -> tuple[Any, ...]:
    return column.name, column.kind, column.levels


def _checked_extra(state: SavedEnsemble) -> tuple[bool, int, int]:
    numbers = [state.extra.get(name) for name in ("converged", "n_groups", "n_rows")]
    whole = [number for number in numbers if type(number) is int and 0 <= number < 2**31]
    if len(state.extra) != 3 or len(whole) != 3 or whole[0] > 1 or not whole[2]:
        raise ParameterError("The facts of an imputer are not complete, or not what they should be.")
    return bool(whole[0]), whole[1], whole[2]


def _read_columns(shelf: Shelf, schema: Schema, n_rows: int) -> tuple[list[Column], list[KnownColumn]]:
    """The filled training rows, and what was known of them."""
    kinds = [column.kind == "numeric" for column in schema.columns]
    numbers = iter(shelf.floats("numbers", (sum(kinds), n_rows)))
    levels = iter(_level_lines(shelf, "levels", schema, n_rows))
    bits = shelf.bits("known", len(kinds) * n_rows).reshape(len(kinds), n_rows)
    if not bits.any(axis=1).all():
        raise ParameterError("A column of an imputer is missing in every row.")
    filled: list[Column] = []
    known: list[KnownColumn] = []
    for j, numeric in enumerate(kinds):
        column = schema.columns[j]
        if numeric:
            values = next(numbers)
            filled.append(NumericColumn(column.name, values, unit=column.unit))
            known.append(KnownColumn(column.name, values, bits[j], column.unit))
        else:
            indices = next(levels)
            filled.append(LevelColumn(column.name, indices, column.levels, column.kind == "ordinal"))
            known.append(KnownColumn(column.name, indices, bits[j], None, column.levels))
    return filled, known


def _read_guesses(shelf: Shelf, schema: Schema, n_groups: int) -> list[NDArray[Any]]:
    """The first guesses of each column: one per group of rows."""
    kinds = [column.kind == "numeric" for column in schema.columns]
    numbers = iter(shelf.floats("guessed_numbers", (sum(kinds), n_groups)))
    levels = iter(_level_lines(shelf, "guessed_levels", schema, n_groups))
    return [next(numbers) if numeric else next(levels) for numeric in kinds]


def _level_lines(shelf: Shelf, name: str, schema: Schema, length: int) -> NDArray[np.int32]:
    """Numbers of levels, one line per column that has levels; each within those of its column."""
    sizes = np.array([len(c.levels) for c in schema.columns if c.kind != "numeric"], np.int64)
    found = shelf.take(name, (len(sizes), length))
    if found.size and (found.dtype.kind not in "iu" or found.min() < 0 or (found.max(axis=1) >= sizes).any()):
        raise ParameterError(f"The array {name!r} of an imputer names a level that its column does not have.")
    return found.astype(np.int32)
