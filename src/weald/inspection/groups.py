"""Groups of columns as users write them: names or positions, alone, in lists, or named by a dict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from weald.errors import ParameterError, listing, nearest, told


def column_groups(
    groups: Mapping[Any, Any] | Iterable[Any] | None,
    names: Sequence[Hashable],
    parameter: str = "groups",
    owner: str = "permutation_importance",
) -> list[tuple[Hashable, list[int]]]:
    """Name and column positions of each group; without groups every column is one.

    `parameter` and `owner` are who asks, for messages.

    >>> column_groups({"size": ["length", 1], "rest": "colour"}, ("length", "width", "colour"))
    [('size', [0, 1]), ('rest', [2])]
    """
    if groups is None:
        return [(name, [j]) for j, name in enumerate(names)]
    asks = f"`{parameter}` of {owner}"
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise ParameterError(
            f"{asks} must be a dict from name to columns, or a list of columns and lists of columns; got "
            f"{told(groups)}."
        )
    position = {} if isinstance(names, range) else {name: j for j, name in enumerate(names)}
    found: list[tuple[Hashable, list[int]]] = []
    for name, members in groups.items() if isinstance(groups, Mapping) else ((None, each) for each in groups):
        alone = isinstance(members, str | bytes) or not isinstance(members, Iterable)
        entries = [members] if alone else list(members)
        columns = list(dict.fromkeys(column_position(entry, position, len(names), asks) for entry in entries))
        if not columns:
            raise ParameterError(f"{asks} holds a group without columns. Drop it.")
        own = tuple(names[j] for j in columns)
        found.append((name if isinstance(groups, Mapping) else own[0] if alone else own, columns))
    if not found:
        raise ParameterError(f"{asks} is empty. Use None for every column by itself.")
    return found


def column_list(columns: Iterable[Any], names: Sequence[Hashable], parameter: str, owner: str) -> list[int]:
    """The positions of columns in a list that may be empty.

    >>> column_list(["width", 2], ("length", "width", "colour"), "fixed", "counterfactual")
    [1, 2]
    """
    position = {} if isinstance(names, range) else {name: j for j, name in enumerate(names)}
    return [
        column_position(entry, position, len(names), f"`{parameter}` of {owner}")
        for entry in listed(columns, parameter, owner)
    ]


def listed(columns: Iterable[Any], parameter: str, owner: str) -> list[Any]:
    """What a user lists; one name alone is no list."""
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        raise ParameterError(
            f"`{parameter}` of {owner} must be a list of columns; got {told(columns)}. Use [{told(columns)}]."
        )
    return list(columns)


def column_position(entry: Hashable, position: Mapping[Hashable, int], n_columns: int, asks: str) -> int:
    """The position of a column that is named, or numbered; `position` is empty where there are no names."""
    if isinstance(entry, Integral) and not isinstance(entry, bool):
        if 0 <= int(entry) < n_columns:
            return int(entry)
        raise ParameterError(
            f"{asks} names position {told(int(entry))}; positions go from 0 to {n_columns - 1}."
        )
    if isinstance(entry, Hashable) and entry in position:
        return position[entry]
    close = nearest(str(entry), [str(name) for name in position])
    hint = f"Did you mean {close!r}?" if close else f"The columns are {listing(position)}."
    if not position:
        hint = f"Its columns have no names, but positions from 0 to {n_columns - 1}."
    raise ParameterError(f"{asks} names the column {told(entry)}, which the table does not have. {hint}")
