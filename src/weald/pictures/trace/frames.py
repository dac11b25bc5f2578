"""A trace as frames in the user's library: nodes, candidates, rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import narwhals as nw

from weald.inspection.trace.records import Candidate, NodeTrace, RoundTrace, TreeTrace
from weald.inspection.trace.words import Words
from weald.pictures.frame import NodeFrame
from weald.pictures.trace.lines import condition_of

Kind = Literal["whole", "number", "text", "bool"]
_TYPES = {"whole": nw.Int64, "number": nw.Float64, "text": nw.String, "bool": nw.Boolean}


def made(columns: dict[str, list[Any]], kinds: dict[str, Kind], library: str) -> NodeFrame:
    """Columns as a frame; None where a cell has nothing."""
    if library == "dict":
        return columns
    schema: Any = {name: _TYPES[kinds.get(name, "number")] for name in columns}
    native: NodeFrame = nw.from_dict(columns, schema=schema, backend=cast(Any, library)).to_native()
    return native


def node_frame(rounds: list[RoundTrace], words: Words, library: str) -> NodeFrame:
    """One row per node."""
    kinds: dict[str, Kind] = {}
    rows: list[dict[str, Any]] = []
    for round_ in rounds:
        for tree in round_.trees:
            for place, node in enumerate(tree.nodes):
                rows.append(_node_row(round_, tree, place, node, words, kinds))
    return _of_rows(rows, kinds, library)


def _node_row(
    round_: RoundTrace,
    tree: TreeTrace,
    place: int,
    node: NodeTrace,
    words: Words,
    kinds: dict[str, Kind],
) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "round": round_.number,
        "tree": tree.tree,
        "output": tree.output,
        "node": -1 if node.node is None else node.node,
        "place": place,
        "parent": node.parent,
        "depth": node.depth,
        "rows": node.n_rows,
    }
    split = node.best if node.status == "split" else None
    text: dict[str, Any] = {
        "side": node.side,
        "status": node.status,
        "condition": condition_of(tree, node, words),
        "split": None if split is None else words.condition(split),
        "why": node.why,
    }
    numbers: dict[str, Any] = {"cover": node.cover}
    numbers |= dict(zip(tree.names, node.sums, strict=False))
    numbers |= {"score": node.score, "impurity": node.impurity, "gain": node.gain}
    if node.value is not None and len(node.value) > 1:
        numbers |= {f"value {k}": value for k, value in enumerate(node.value)}
    else:
        numbers["value"] = None if node.value is None else node.value[0]
    kinds.update(dict.fromkeys(whole, "whole"))
    kinds.update(dict.fromkeys(text, "text"))
    kinds["agrees"] = "bool"
    return whole | text | numbers | {"agrees": not node.differs}


def candidate_frame(rounds: list[RoundTrace], words: Words, library: str) -> NodeFrame:
    """One row per candidate that was kept."""
    rows = []
    for round_ in rounds:
        for tree in round_.trees:
            for place, node in enumerate(tree.nodes):
                for found in node.columns:
                    for rank, each in enumerate(found.top):
                        rows.append(_candidate_row(round_, tree, place, node, rank, each, words))
    kinds: dict[str, Kind] = dict.fromkeys(
        ("round", "tree", "node", "place", "rank", "left_rows", "right_rows"), "whole"
    )
    kinds.update(dict.fromkeys(("column", "condition", "missing", "refused"), "text"))
    kinds["chosen"] = "bool"
    if not rows:
        empty: dict[str, list[Any]] = {name: [] for name in [*kinds, "gain"]}
        return made(empty, kinds, library)
    return _of_rows(rows, kinds, library)


def _candidate_row(
    round_: RoundTrace,
    tree: TreeTrace,
    place: int,
    node: NodeTrace,
    rank: int,
    candidate: Candidate,
    words: Words,
) -> dict[str, Any]:
    side = None if candidate.missing_left is None else "left" if candidate.missing_left else "right"
    return {
        "round": round_.number,
        "tree": tree.tree,
        "node": -1 if node.node is None else node.node,
        "place": place,
        "column": words.names[candidate.column if candidate.kind != "combination" else -1],
        "rank": rank,
        "condition": words.condition(candidate),
        "missing": side,
        "gain": candidate.gain,
        "held_back": candidate.held_back,
        "left_rows": candidate.n_left,
        "right_rows": candidate.n_right,
        "left_cover": candidate.left_cover,
        "right_cover": candidate.right_cover,
        "left_score": candidate.left_score,
        "right_score": candidate.right_score,
        "chosen": candidate is node.best and node.status == "split",
        "refused": candidate.refused,
    }


def rows_frame(round_: RoundTrace, library: str) -> NodeFrame:
    """What each row had in a round."""
    columns: dict[str, list[Any]] = {name: values.tolist() for name, values in round_.rows.items()}
    n = len(next(iter(columns.values()), []))
    return made({"row": list(range(n)), **columns}, {"row": "whole"}, library)


def _of_rows(rows: list[dict[str, Any]], kinds: dict[str, Kind], library: str) -> NodeFrame:
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row)
    return made({name: [row.get(name) for row in rows] for name in names}, kinds, library)


def stacked(name: str, frames: Mapping[int, NodeFrame], library: str) -> NodeFrame:
    """Frames that are dicts as one: a column of this name tells which each row is of."""
    told = {number: _renamed(name, cast(dict[str, list[Any]], frame)) for number, frame in frames.items()}
    columns: dict[str, list[Any]] = {name: []}
    for frame in told.values():
        columns |= {each: [] for each in frame}
    for number, frame in told.items():
        n = len(next(iter(frame.values()), []))
        columns[name] += [number] * n
        for each in list(columns)[1:]:
            columns[each] += frame.get(each, [None] * n)
    return made(columns, {each: _kind_of(values) for each, values in columns.items()}, library)


def _renamed(name: str, frame: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """A frame whose column of this name, of an ensemble within an ensemble, is told apart."""
    return {f"{each} of it" if each.startswith(name) else each: values for each, values in frame.items()}


def _kind_of(values: list[Any]) -> Kind:
    """What a column holds, by its first cell that has something; whole numbers with gaps are floats."""
    first = next((value for value in values if value is not None), 0.0)
    kinds: dict[type, Kind] = {bool: "bool", int: "whole", str: "text"}
    found = kinds.get(type(first), "number")
    return "number" if found == "whole" and None in values else found
