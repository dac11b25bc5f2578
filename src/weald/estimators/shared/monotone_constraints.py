"""Monotone constraints as users write them → one direction per column."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from weald.arrays import MonotoneConstraints, TargetLike
from weald.data.schema import Schema
from weald.data.target import warn_of_column
from weald.errors import ParameterError, listing, nearest


def monotone_directions(
    option: MonotoneConstraints, schema: Schema, owner: str, *, name: str = "monotonic_cst"
) -> tuple[int, ...] | None:
    """-1, 0 or 1 for each column of the table, or None if no column is constrained.

    Parameters
    ----------
    option : None, sequence or mapping
        One direction per column, or directions by column name (or position).
    schema : Schema
        The columns.
    owner : str
        The estimator's name, for messages.
    name : str
        What the parameter is called.

    Raises
    ------
    ParameterError
        If it names a column that is not there or holds categories, or a direction is not -1, 0 or 1.
    """
    if option is None:
        return None
    if isinstance(option, Mapping):
        directions = _by_name(option, schema, owner, name)
    else:
        directions = [_direction(value, j, owner, name) for j, value in enumerate(option)]
        if len(directions) != len(schema.columns):
            raise ParameterError(
                f"{name} has shape {len(directions)} but the input data X has "
                f"{len(schema.columns)} features. Give `{name}` of {owner} one number per column, or a "
                "dict from column name to number."
            )
    for j, direction in enumerate(directions):
        if direction and schema.columns[j].kind == "categorical":
            raise ParameterError(
                f"`{name}` of {owner} constrains the column {schema.columns[j].name!r}, whose "
                "categories have no order. Make it an ordered category, or set 0 there."
            )
    return tuple(directions) if any(directions) else None


def _by_name(option: Mapping[Any, Any], schema: Schema, owner: str, name: str) -> list[int]:
    directions: list[int | None] = [None] * len(schema.columns)
    position = {column: j for j, column in enumerate(schema.names)}
    for column, value in option.items():
        place = column_position(column, schema, position, f"`{name}` of {owner}")
        if directions[place] is not None:
            raise ParameterError(
                f"`{name}` of {owner} names the column {schema.names[place]!r} twice: by name and by "
                "position. Name it once."
            )
        directions[place] = _direction(value, column, owner, name)
    return [direction or 0 for direction in directions]


def column_position(column: Hashable, schema: Schema, position: Mapping[Any, int], what: str) -> int:
    """The position of a column that a parameter names, or numbers; `position` has those of all names."""
    place = position.get(column, column)
    if isinstance(place, Integral) and not isinstance(place, bool) and 0 <= int(place) < len(schema.columns):
        return int(place)
    names = schema.names
    close = nearest(str(column), [str(other) for other in names])
    hint = f"Did you mean {close!r}?" if close else f"The columns are {listing(names)}."
    raise ParameterError(f"{what} names the column {column!r}, which the table does not have. {hint}")


def _direction(value: object, column: object, owner: str, name: str) -> int:
    if not isinstance(value, Real) or isinstance(value, bool) or value not in (-1, 0, 1):
        raise ParameterError(
            f"{name} must be None or an array-like of -1, 0 or 1: `{name}` of {owner} holds "
            f"{value!r} for column {column!r}. Use 1 for rising, -1 for falling, 0 for no constraint."
        )
    return round(float(value))


def constrained(option: MonotoneConstraints) -> bool:
    """Whether `monotonic_cst` holds any direction but 0; it need not be valid."""
    values = option.values() if isinstance(option, Mapping) else option
    return isinstance(values, Iterable) and any(not isinstance(v, Integral) or v != 0 for v in values)


def check_constrainable(n_classes: list[int], n_outputs: int, owner: str, y: TargetLike | None) -> None:
    """Refuse constraints where no single prediction can rise or fall."""
    if n_outputs > 1:
        raise ParameterError(
            f"Monotonicity constraints are not supported with multiple outputs: y has {n_outputs} columns. "
            f"Fit a {owner} for each, or leave `monotonic_cst` None."
        )
    if n_classes and n_classes[0] > 2:
        raise ParameterError(
            "Monotonicity constraints are not supported with multiclass classification: y has "
            f"{n_classes[0]} classes. Only binary classification is supported. Leave `monotonic_cst` None, "
            "or fit one class against the rest."
        )
    warn_of_column(y)
