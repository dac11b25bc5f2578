"""Boosted trees in xgboost's words: text, JSON, a frame, and its numbers of nodes.

xgboost numbers the nodes of a tree level by level and asks `value < threshold`, where weald goes on to the
left child first and asks `value <= threshold`. The threshold shown is therefore the next float32 above.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.errors import DataError, ParameterError
from weald.model.forest import CATEGORIES, Forest

if TYPE_CHECKING:
    import pandas

FORMATS = ("text", "json", "dot")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a dump."""

    names: Sequence[str]
    types: Sequence[str]
    levels: Sequence[tuple[Any, ...]]  # of categories; else empty


@dataclass(frozen=True, slots=True)
class Node:
    """One node under xgboost's names."""

    number: int
    depth: int
    leaf: tuple[float, ...] | None
    cover: float
    gain: float = 0.0
    column: int = -1
    threshold: float = 0.0  # the row goes to `yes` below it
    listed: tuple[Any, ...] | None = None  # the levels that go to `yes`, of a split by categories
    yes: int = -1
    no: int = -1
    missing: int = -1


def columns_of(schema: Schema, types: Sequence[str] | None, fmap: str | os.PathLike[str] = "") -> Columns:
    """Names, types and levels; f0, f1, … without names, or what the file `fmap` calls them."""
    kinds = {"categorical": "c", "ordinal": "int"}
    found = [kinds.get(each.kind, "i" if each.unit == "bool" else "float") for each in schema.columns]
    found = found if types is None else list(types)
    names = [str(name) if schema.named else f"f{j}" for j, name in enumerate(schema.names)]
    if os.fspath(fmap):
        names, found = _mapped(fmap, names, found)
    return Columns(names, found, [tuple(each.levels) for each in schema.columns])


def _mapped(path: str | os.PathLike[str], names: list[str], types: list[str]) -> tuple[list[str], list[str]]:
    """Lines of a feature map: number, name and type (q, i, int or float), separated by blanks."""
    names, types = list(names), list(types)
    with open(path, encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 3 or not parts[0].isdecimal():
                raise DataError(
                    f"{os.fspath(path)}: line {i + 1} is not 'number name type', such as '0 age q'."
                )
            if int(parts[0]) < len(names):
                names[int(parts[0])], types[int(parts[0])] = parts[1], parts[2]
    return names, types


def level_order(forest: Forest, t: int) -> NDArray[np.int64]:
    """For each node of tree `t`, in preorder, its number when counted level by level."""
    first = int(forest.tree_start[t])
    slot = forest.slot[first : int(forest.tree_start[t + 1])]
    number = np.zeros(len(slot), np.int64)
    level, counted = [0], 1
    while level:
        below: list[int] = []
        for node in level:
            if slot[node] >= 0:
                children = (node + 1, int(forest.right[slot[node]]))
                number[list(children)] = counted, counted + 1
                counted += 2
                below.extend(children)
        level = below
    return number


def nodes_of(forest: Forest, t: int, columns: Columns) -> list[Node]:
    """The nodes of tree `t` in preorder."""
    first = int(forest.tree_start[t])
    slot = forest.slot[first : int(forest.tree_start[t + 1])]
    number = level_order(forest, t)
    depth = np.zeros(len(slot), np.int64)
    weight = float(forest.tree_weight[t])
    found = []
    for node, s in enumerate(slot.tolist()):
        cover = float(forest.cover[first + node])
        if s < 0:
            value = tuple((weight * forest.value[~s]).tolist())
            found.append(Node(int(number[node]), int(depth[node]), value, cover))
            continue
        left, right = node + 1, int(forest.right[s])
        depth[[left, right]] = depth[node] + 1
        found.append(
            _inner(forest, s, columns, int(depth[node]), cover, number[[node, left, right]].tolist())
        )
    return found


def _inner(
    forest: Forest, s: int, columns: Columns, depth: int, cover: float, numbers: Sequence[int]
) -> Node:
    number, left, right = numbers
    j = int(forest.column[s])
    missing = left if forest.missing_left[s] else right
    gain, listed, threshold, yes, no = float(forest.gain[s]), None, math.nan, left, right
    if forest.kind[s] == CATEGORIES:
        side = int(forest.side[s])
        listed = tuple(columns.levels[j][code - 1] for code in forest.listed_codes(side).tolist())
        yes, no = (left, right) if forest.set_left[side] else (right, left)
    else:
        threshold = above(float(forest.threshold[s]), whole=columns.types[j] == "int")
    return Node(number, depth, None, cover, gain, j, threshold, listed, yes, no, missing)


def above(threshold: float, *, whole: bool = False) -> float:
    """The number that `value < number` says of float32 values what `value <= threshold` says.

    >>> above(2.5), above(2.5, whole=True)
    (2.500000238418579, 3.0)
    """
    if math.isinf(threshold):
        return threshold
    if whole:
        return math.floor(threshold) + 1.0
    near = np.float32(threshold)
    return float(near if float(near) > threshold else np.nextafter(near, np.float32(np.inf)))


# --------------------------------------------------------------------------- text and JSON


def dump(forest: Forest, columns: Columns, *, with_stats: bool, dump_format: str) -> list[str]:
    """One text a tree."""
    if str(dump_format).partition(":")[0] not in FORMATS:
        raise ParameterError(f"`dump_format` must be 'text', 'json' or 'dot'; got {dump_format!r}.")
    trees = (nodes_of(forest, t, columns) for t in range(forest.n_trees))
    if dump_format not in FORMATS[:2]:
        from weald.estimators.xgboost.native.dot import dot, read_style

        style = read_style(dump_format)
        return [dot(nodes, columns, with_stats, style) for nodes in trees]
    write = _text if dump_format == "text" else _json
    return [write(nodes, columns, with_stats) for nodes in trees]


def number_words(value: float) -> str:
    """A number as xgboost writes it: float32, nine digits."""
    with np.errstate(over="ignore"):
        return f"{np.float32(value):.9g}"


def leaf_words(node: Node) -> str:
    """The value of a leaf; several in brackets."""
    values = [number_words(value) for value in node.leaf or ()]
    return values[0] if len(values) == 1 else f"[{', '.join(values)}]"


def _text(nodes: Sequence[Node], columns: Columns, with_stats: bool) -> str:
    lines = []
    for node in nodes:
        stats = f",gain={number_words(node.gain)},cover={number_words(node.cover)}" if with_stats else ""
        if node.leaf is not None:
            stats = f",cover={number_words(node.cover)}" if with_stats else ""
            lines.append(f"{node.number}:leaf={leaf_words(node)}{stats}")
        else:
            ways = f"yes={node.yes},no={node.no},missing={node.missing}"
            lines.append(f"{node.number}:[{question(node, columns)}] {ways}{stats}")
    return "".join("\t" * node.depth + line + "\n" for node, line in zip(nodes, lines, strict=True))


def question(node: Node, columns: Columns) -> str:
    """What sends a row to `yes`."""
    name = columns.names[node.column]
    if node.listed is not None:
        return f"{name}:{{{','.join(map(str, node.listed))}}}"
    return f"{name}<{number_words(node.threshold)}"


def _json(nodes: Sequence[Node], columns: Columns, with_stats: bool) -> str:
    by_number = {node.number: node for node in nodes}

    def written(node: Node, indent: str) -> str:
        if node.leaf is not None:
            stats = f' , "cover": {number_words(node.cover)}' if with_stats else ""
            return f'{indent}{{ "nodeid": {node.number}, "leaf": {leaf_words(node)}{stats} }}'
        stats = (
            f', "gain": {number_words(node.gain)}, "cover": {number_words(node.cover)}' if with_stats else ""
        )
        condition = _json_number(node.threshold) if node.listed is None else json.dumps(_plain(node.listed))
        left, right = sorted((node.yes, node.no))
        children = ", \n".join(written(by_number[number], indent + "  ") for number in (left, right))
        return (
            f'{indent}{{ "nodeid": {node.number}, "depth": {node.depth}, '
            f'"split": {json.dumps(columns.names[node.column])}, "split_condition": {condition}, '
            f'"yes": {node.yes}, "no": {node.no}, "missing": {node.missing} {stats}, "children": [\n'
            f"{children}\n{indent}]}}"
        )

    return written(by_number[0], "  ")


def _json_number(value: float) -> str:
    return number_words(value) if math.isfinite(value) else "1e+308"


def _plain(levels: Sequence[Any]) -> list[Any]:
    return [level if isinstance(level, bool | int | float | str) else str(level) for level in levels]


def frame(forest: Forest, columns: Columns) -> pandas.DataFrame:
    """All nodes of all trees as a pandas frame, under xgboost's names of the columns."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("trees_to_dataframe gives a pandas frame. Install pandas.") from None
    rows: list[tuple[Any, ...]] = []
    for t in range(forest.n_trees):
        nodes = sorted(nodes_of(forest, t, columns), key=lambda node: node.number)
        if any(node.leaf is not None and len(node.leaf) > 1 for node in nodes):
            raise ParameterError("trees_to_dataframe is for trees with one output. Use get_dump().")
        rows.extend(_frame_row(t, node, columns) for node in nodes)
    names = ("Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover", "Category")
    return pd.DataFrame(rows, columns=list(names))


def _frame_row(t: int, node: Node, columns: Columns) -> tuple[Any, ...]:
    start = (t, node.number, f"{t}-{node.number}")
    nothing = math.nan
    if node.leaf is not None:
        value = float(np.float32(node.leaf[0]))
        return (*start, "Leaf", nothing, nothing, nothing, nothing, value, node.cover, nothing)
    ways = tuple(f"{t}-{number}" for number in (node.yes, node.no, node.missing))
    listed = nothing if node.listed is None else [str(level) for level in node.listed]
    return (*start, columns.names[node.column], node.threshold, *ways, node.gain, node.cover, listed)
