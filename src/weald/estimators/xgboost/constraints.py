"""Constraints and weights of columns as xgboost's users write them → by position, checked."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import CategoricalFeatures, MonotoneConstraints
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError, listing, told
from weald.estimators.shared.monotone_constraints import column_position, monotone_directions

#: xgboost's names of column types; "c" is a category
_TYPES = ("q", "i", "int", "float", "c")


def monotone(option: MonotoneConstraints | str, schema: Schema, owner: str) -> tuple[int, ...] | None:
    """-1, 0 or 1 for each column, or None: from a dict, a list, or text like "(1,-1)".

    >>> from weald.data.adapters import to_table
    >>> monotone("(1, -1)", Schema.of(to_table([[1.0, 2.0]])), "XGBRegressor")
    (1, -1)
    """
    name = "monotone_constraints"
    asked: object = option
    if isinstance(asked, str):
        asked = _parsed(asked, name, owner, "(1,-1)")
        if isinstance(asked, Integral):
            asked = (asked,)
    if asked is not None and not isinstance(asked, Mapping | Collection):
        raise ParameterError(f"`{name}` of {owner} must be a dict or a list; got {asked!r}.")
    return monotone_directions(cast(MonotoneConstraints, asked), schema, owner, name=name)


def interactions(
    option: Collection[Any] | str | None, schema: Schema, owner: str
) -> tuple[tuple[int, ...], ...] | None:
    """Sets of columns that may meet on a path, by position, each ascending; None: any may.

    >>> from weald.data.adapters import to_table
    >>> interactions("[[1, 0], [2]]", Schema.of(to_table([[1.0, 2.0, 3.0]])), "XGBRegressor")
    ((0, 1), (2,))
    """
    name = "interaction_constraints"
    if isinstance(option, str):
        option = _parsed(option, name, owner, "[[0, 1], [2, 3]]")
    if option is None:
        return None
    if not _is_list(option) or not all(_is_list(group) for group in option):
        raise ParameterError(
            f"`{name}` of {owner} must be a list of lists of columns; got {told(option)}. "
            "Use [['a', 'b'], ['c']] to let a and b meet, and c none of them."
        )
    position = {column: j for j, column in enumerate(schema.names)}
    sets = []
    for group in option:
        places = [column_position(column, schema, position, f"`{name}` of {owner}") for column in group]
        twice = [schema.names[j] for j in sorted(set(places)) if places.count(j) > 1]
        if twice:
            raise ParameterError(f"`{name}` of {owner} has {listing(twice)} twice in one set. Name it once.")
        if places:
            sets.append(tuple(sorted(places)))
    return tuple(sets) or None


def _is_list(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _parsed(text: str, name: str, owner: str, example: str) -> Any:
    """The lists and tuples that a text spells; nothing in it is run."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ParameterError(
            f"`{name}` of {owner} is the text {told(text)}, which cannot be read. Write it as {example!r}."
        ) from None


def column_weights(given: object, n_columns: int, owner: str) -> NDArray[np.float64] | None:
    """`feature_weights` as numbers, one per column: finite, none negative, not all 0."""
    if given is None:
        return None
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"feature_weights of {owner} must be numbers, one per column.") from None
    if weights.shape != (n_columns,):
        raise DataError(
            f"feature_weights of {owner} has shape {weights.shape} and the table has {n_columns} columns. "
            "Give one number per column."
        )
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        j = int(np.argmax(bad))
        raise DataError(
            f"feature_weights of {owner} must be finite and at least 0; column {j} has {weights[j]}."
        )
    if not weights.any():
        raise DataError(f"feature_weights of {owner} are all 0: no column could be drawn. Raise one.")
    return np.ascontiguousarray(weights)


def categorical_by_type(
    types: Sequence[str] | None, declared: CategoricalFeatures, owner: str
) -> CategoricalFeatures:
    """`categorical_features` of a table whose `feature_types` are given; these count by position."""
    if types is None:
        return declared
    types = list(types)
    for j, each in enumerate(types):
        if each not in _TYPES:
            raise ParameterError(
                f"`feature_types` of {owner} must hold 'q', 'i', 'int', 'float' or 'c'; got {each!r} for "
                f"column {j}. Use 'c' for a category."
            )
    if declared is not None:
        raise ParameterError(
            f"`feature_types` and `categorical_features` of {owner} both say which columns are categories. "
            "Give one of them."
        )
    return [each == "c" for each in types]


def check_types(types: Sequence[str] | None, n_columns: int, owner: str) -> None:
    """Refuse `feature_types` of another length than the table is wide."""
    if types is not None and len(types) != n_columns:
        raise ParameterError(
            f"`feature_types` of {owner} has {len(types)} entries and the table has {n_columns} columns. "
            "Give one per column."
        )
