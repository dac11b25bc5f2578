"""A boosted tree in xgboost's DOT: what `get_dump(dump_format="dot")` and `to_graphviz` write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weald.errors import ParameterError
from weald.estimators.xgboost.native.dump import Columns, Node, leaf_words, number_words, question

_YES, _NO = "#0000FF", "#FF0000"


@dataclass(frozen=True, slots=True)
class DotStyle:
    """The attributes of a drawing; the names are xgboost's."""

    rankdir: str = "TB"
    yes_color: str = _YES
    no_color: str = _NO
    condition_node_params: Mapping[str, object] = field(default_factory=dict)
    leaf_node_params: Mapping[str, object] = field(default_factory=dict)
    graph_attrs: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what Graphviz does not know."""
        if self.rankdir not in ("TB", "LR", "BT", "RL", "UT"):
            raise ParameterError(f"`rankdir` must be 'TB', 'LR', 'BT' or 'RL'; got {self.rankdir!r}.")


def dot(nodes: Sequence[Node], columns: Columns, with_stats: bool, style: DotStyle | None = None) -> str:
    """One tree as DOT."""
    style = style or DotStyle()
    graph = _attributes({"rankdir": style.rankdir} | dict(style.graph_attrs), bare=True)
    lines = ["digraph {", f"    graph [ {graph} ]", ""]
    for node in nodes:
        lines += (
            _leaf(node, with_stats, style)
            if node.leaf is not None
            else _inner(node, columns, with_stats, style)
        )
        lines.append("")
    return "\n".join([*lines[:-1], "}"])


def _leaf(node: Node, with_stats: bool, style: DotStyle) -> list[str]:
    said = f"leaf={leaf_words(node)}" + (f"\ncover={number_words(node.cover)}" if with_stats else "")
    return [f"    {node.number} [ {_attributes({'label': said} | dict(style.leaf_node_params))} ]"]


def _inner(node: Node, columns: Columns, with_stats: bool, style: DotStyle) -> list[str]:
    said = question(node, columns)
    if with_stats:
        said += f"\ngain={number_words(node.gain)}\ncover={number_words(node.cover)}"
    lines = [f"    {node.number} [ {_attributes({'label': said} | dict(style.condition_node_params))} ]"]
    for child, word, colour in ((node.yes, "yes", style.yes_color), (node.no, "no", style.no_color)):
        way = f"{word}, missing" if child == node.missing else word
        lines.append(f"    {node.number} -> {child} [{_attributes({'label': way, 'color': colour})}]")
    return lines


def _attributes(pairs: Mapping[str, object], *, bare: bool = False) -> str:
    """Names and values; `bare`: words without quotes, as xgboost writes those of the graph."""
    words = ((name, str(value)) for name, value in pairs.items())
    return " ".join(
        f"{name}={text if bare and text.isidentifier() else _quoted(text)}" for name, text in words
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def read_style(asked: str) -> DotStyle:
    """The style that a format such as 'dot:{"rankdir": "LR"}' asks for."""
    _, _, text = asked.partition(":")
    if not text:
        return DotStyle()
    try:
        given = json.loads(text)
        edge = given.pop("edge", {})
        named = {"yes_color": edge.get("yes_color"), "no_color": edge.get("no_color")} | given
        return DotStyle(**{name: value for name, value in named.items() if value is not None})
    except (ValueError, TypeError, AttributeError):
        raise ParameterError(
            f"`dump_format` is {asked!r}; after 'dot:' there must be JSON with rankdir, edge, graph_attrs, "
            "condition_node_params or leaf_node_params."
        ) from None
