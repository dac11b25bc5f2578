"""`to_frame`: a tree as a data frame in the user's own library, one row per node."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from weald.errors import ParameterError, nearest
from weald.model.forest import CATEGORIES
from weald.model.values import plain_labels
from weald.pictures.ensembles.which import OneTree, TreeChoice, every_tree, inside, one_tree
from weald.pictures.nodes import ShownTree
from weald.pictures.trained_on import LIBRARIES

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: the columns of the nodes in one of these libraries, or as lists by name
NodeFrame: TypeAlias = "pandas.DataFrame | polars.DataFrame | pyarrow.Table | dict[str, list[object]]"

_CHOICES = (*LIBRARIES, "dict")
# The types of columns that may hold nothing but None: in a tree of one leaf, or without categories.
_KINDS = {
    "member": "whole",
    "round": "whole",
    "output": "text",
    "parent": "whole",
    "side": "text",
    "condition": "text",
    "column": "text",
    "threshold": "number",
    "categories": "texts",
    "missing_left": "bool",
    "gain": "number",
    "impurity": "number",
}


def to_frame(model: object, library: str | None = None, tree: TreeChoice = None) -> NodeFrame:
    """The nodes of a fitted tree, or of all trees of an ensemble; see `TreePictures.to_frame`."""
    inside(model, "to_frame")
    library = frame_library_of(one_tree(model, "to_frame", tree).model, library)
    found = every_tree(model, "to_frame") if tree is None else [one_tree(model, "to_frame", tree)]
    return in_library(_joined([_placed_columns(each) for each in found]), library)


def in_library(columns: dict[str, list[Any]], library: str) -> NodeFrame:
    """Columns as a frame of a library, or as they are."""
    if library == "dict":
        return columns
    return {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}[library](columns)


def _placed_columns(found: OneTree) -> dict[str, list[Any]]:
    columns = node_columns(ShownTree.of_one(found, all_missing=True))
    return {name: [value] * len(columns["node"]) for name, value in found.place} | columns


def _joined(parts: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The columns of all trees one under another; None where a tree has no such column."""
    if len(parts) == 1:
        return parts[0]
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {
        name: [value for part in parts for value in part.get(name, [None] * len(part["node"]))]
        for name in names
    }


def frame_library_of(model: object, asked: str | None) -> str:
    """The library to answer in: as asked, or that of the training table, or one that is installed."""
    if asked is None:
        remembered = getattr(model, "_frame_library", None)
        candidates = [remembered, *LIBRARIES] if remembered else list(LIBRARIES)
        found = next((each for each in candidates if find_spec(each) is not None), None)
        return found or "dict"
    if asked not in _CHOICES:
        close = nearest(str(asked), _CHOICES)
        hint = f" Did you mean {close!r}?" if close else ""
        raise ParameterError(
            f"`library` must be None, 'pandas', 'polars', 'pyarrow' or 'dict'; got {asked!r}.{hint}"
        )
    if asked != "dict" and find_spec(asked) is None:
        raise ImportError(f"to_frame(library={asked!r}) needs {asked}, which is not installed.")
    return asked


def _pandas(columns: dict[str, list[Any]]) -> pandas.DataFrame:
    """With types that know missing values for whole numbers and bools, so that they stay what they are."""
    pandas = import_module("pandas")
    types = {"whole": "Int64", "number": "float64", "bool": "boolean", "text": object, "texts": object}
    return pandas.DataFrame(
        {
            name: pandas.Series(values, dtype=types[_KINDS[name]]) if name in _KINDS else values
            for name, values in columns.items()
        }
    )


def _polars(columns: dict[str, list[Any]]) -> polars.DataFrame:
    library = import_module("polars")
    types = {
        "whole": library.Int64,
        "number": library.Float64,
        "bool": library.Boolean,
        "text": library.String,
    }
    types["texts"] = library.List(library.String)
    kinds = {name: types[kind] for name, kind in _KINDS.items()}
    frame: polars.DataFrame = library.DataFrame(columns, schema_overrides=kinds)
    return frame


def _pyarrow(columns: dict[str, list[Any]]) -> pyarrow.Table:
    arrow = import_module("pyarrow")
    types = {"whole": arrow.int64(), "number": arrow.float64(), "bool": arrow.bool_(), "text": arrow.string()}
    types["texts"] = arrow.list_(arrow.string())
    kinds = {name: types[_KINDS[name]] if name in _KINDS else None for name in columns}
    return arrow.table({name: arrow.array(values, type=kinds[name]) for name, values in columns.items()})


def node_columns(tree: ShownTree) -> dict[str, list[Any]]:
    """The columns of the frame as lists; None where a node has no such thing."""
    forest, n_nodes = tree.forest, tree.n_nodes
    columns: dict[str, list[Any]] = {
        "node": list(range(n_nodes)),
        "depth": tree.depth.tolist(),
        "parent": [None if parent < 0 else parent for parent in tree.parent.tolist()],
    }
    side: list[str | None] = [None] * n_nodes
    condition: list[str | None] = [None] * n_nodes
    for node in range(n_nodes):
        children = tree.children(node)
        if children is not None:
            texts = tree.conditions.of(tree.split(node))
            for child, word, text in zip(children, ("left", "right"), texts, strict=True):
                side[child], condition[child] = word, text
    columns |= {"side": side, "condition": condition}
    columns |= _splits(tree)
    columns["impurity"] = [None] * n_nodes if tree.impurity is None else (tree.impurity + 0.0).tolist()
    columns |= {"count": forest.count.tolist(), "cover": forest.cover.tolist()}
    return columns | _predictions(tree)


def _splits(tree: ShownTree) -> dict[str, list[Any]]:
    names = ("column", "threshold", "categories", "missing_left", "gain")
    rows: list[tuple[Any, ...]] = []
    for i in tree.forest.slot.tolist():
        if i < 0:
            rows.append((None,) * len(names))
            continue
        kind, j = tree.forest.kind[i], int(tree.forest.column[i])
        rows.append(
            (
                tree.names[j] if j >= 0 else None,
                float(tree.forest.threshold[i]) if kind != CATEGORIES else None,
                tree.conditions.left_levels(i) if kind == CATEGORIES else None,
                bool(tree.forest.missing_left[i]),
                float(tree.forest.gain[i]),
            )
        )
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _predictions(tree: ShownTree) -> dict[str, list[Any]]:
    outputs, columns = tree.outputs, {}
    several = outputs.n_outputs > 1
    if outputs.classes is None:
        for k in range(outputs.n_outputs):
            columns[f"prediction_{k}" if several else "prediction"] = tree.value[:, k].tolist()
        return columns
    labels = tree.model.classes_ if isinstance(tree.model.classes_, list) else [tree.model.classes_]
    edges = np.cumsum([0, *(len(names) for names in outputs.classes)])
    parts = [tree.value[:, start:stop] for start, stop in pairwise(edges.tolist())]
    for k, part in enumerate(parts):
        own = plain_labels(labels[k])
        best = np.argmax(part, axis=1)
        columns[f"prediction_{k}" if several else "prediction"] = [own[c] for c in best.tolist()]
    for k, part in enumerate(parts):
        for c, name in enumerate(outputs.classes[k]):
            columns[f"share_{k}_{name}" if several else f"share_{name}"] = part[:, c].tolist()
    return columns
