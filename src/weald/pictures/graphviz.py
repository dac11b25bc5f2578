"""`export_graphviz`: a tree as DOT text, for Graphviz to draw."""

from __future__ import annotations

import html
import os
import re
from typing import TextIO

from weald.arrays import Names
from weald.errors import DataTypeError
from weald.model.conditions import NO_BREAK
from weald.pictures.boxes import CUT, box_lines, boxed, shown_nodes, way_words
from weald.pictures.colours import ink, node_colours
from weald.pictures.ensembles.which import TreeChoice
from weald.pictures.nodes import ShownTree

_ENTITY = re.compile(r"&(?=#?\w+;)")


def export_graphviz(
    decision_tree: object,
    out_file: str | os.PathLike[str] | TextIO | None = None,
    *,
    tree: TreeChoice = None,
    max_depth: int | None = None,
    feature_names: Names | None = None,
    class_names: Names | bool | None = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """Write a fitted tree, or one tree of an ensemble, in Graphviz' DOT language.

    The boxes say what those of `plot_tree` say. A row goes left where the text of the box holds; "missing"
    stands at the way that missing values take.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald, or an ensemble of trees.
    out_file : path or file open for text, default=None
        Where to write; None to return the text.
    tree : int or tuple, default=None
        Which tree of an ensemble: its number, of boosters also (round, class); None for the first.
    max_depth : int, default=None
        Deeper nodes are hinted at by a box "(…)".
    feature_names : array-like of str, default=None
        Other names for the columns.
    class_names : array-like of str or bool, default=None
        Other names for the classes, in the order of `classes_`; False for no line with the class.
    label : {"all", "root", "none"}, default="all"
        Where to say what the numbers are: in every box, at the root, nowhere.
    filled : bool, default=False
        Whether to colour nodes by their class, or by their value.
    leaves_parallel : bool, default=False
        Whether all leaves stand at the bottom.
    impurity : bool, default=True
        Whether to show the criterion, or gain and cover.
    node_ids : bool, default=False
        Whether to show node numbers.
    proportion : bool, default=False
        Whether to show shares instead of weights and rows.
    rotate : bool, default=False
        Whether the tree grows from left to right.
    rounded : bool, default=False
        Whether boxes have round corners.
    special_characters : bool, default=False
        Whether to write labels as HTML, with ≤ for <=.
    precision : int, default=3
        Decimals; thresholds get more where they would look alike.
    fontname : str, default="helvetica"
        The font.

    Returns
    -------
    str or None
        The text, if `out_file` is None.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier, export_graphviz
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    >>> print(export_graphviz(tree, impurity=False).splitlines()[3])
    0 [label="column 0 <= 2.5\\nrows = 3\\nvalue = [2, 1]\\nclass = a"] ;
    """
    shown, options = boxed(
        decision_tree,
        "export_graphviz",
        tree=tree,
        feature_names=feature_names,
        class_names=class_names,
        max_depth=max_depth,
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
    )
    text_of = _html if special_characters else _quoted
    lines = ["digraph Tree {", *_header(filled, rounded, rotate, leaves_parallel, str(fontname))]
    if shown.said:
        lines.append(f"label={_quoted([shown.said])} ;")
    nodes, cut = shown_nodes(shown, max_depth)
    fills = node_colours(shown, nodes) if filled else []
    for k, (node, hidden) in enumerate(zip(nodes, cut, strict=True)):
        said = [CUT] if hidden else box_lines(shown, node, options)
        says = f"label={text_of([line.replace(NO_BREAK, ' ') for line in said])}"
        if filled:
            fill = "#ffffff" if hidden else fills[k]
            says += f', fillcolor="{fill}", fontcolor="{ink(fill)}"'
        lines.append(f"{node} [{says}] ;")
        if node:
            lines.append(f"{int(shown.parent[node])} -> {node}{_way(shown, node, rotate)} ;")
    if leaves_parallel:
        ends = [node for node, hidden in zip(nodes, cut, strict=True) if hidden or shown.split(node) < 0]
        lines.append(f"{{rank=same ; {' ; '.join(map(str, ends))}}} ;")
    return _written("\n".join([*lines, "}"]), out_file)


def _header(filled: bool, rounded: bool, rotate: bool, parallel: bool, fontname: str) -> list[str]:
    font = f"fontname={_quoted([fontname])}"
    styles = [word for word, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    style = f', style="{", ".join(styles)}"' if styles else ""
    lines = [f'node [shape=box{style}, color="black", {font}] ;']
    if parallel:
        lines.append("graph [ranksep=equally, splines=polyline] ;")
    lines.append(f"edge [{font}] ;")
    return [*lines, "rankdir=LR ;"] if rotate else lines


def _way(tree: ShownTree, node: int, rotate: bool) -> str:
    words = way_words(tree, node, ("True", "False"))
    if not words:
        return ""
    angle = 45 if (node == int(tree.parent[node]) + 1) != rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{words}"]'


def _quoted(lines: list[str]) -> str:
    """A DOT string: quotes and backslashes escaped, a line break between lines."""
    plain = [_ENTITY.sub("&amp;", line) for line in lines]  # Graphviz reads &lt; in plain labels too
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in plain]
    return '"' + "\\n".join(escaped) + '"'


def _html(lines: list[str]) -> str:
    """A label in DOT's HTML."""
    escaped = [html.escape(line.replace(" <= ", " ≤ "), quote=False) for line in lines]
    return "<" + "<br/>".join(escaped) + ">"


def _written(text: str, out_file: str | os.PathLike[str] | TextIO | None) -> str | None:
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text)
    elif isinstance(out_file, str | os.PathLike):
        with open(out_file, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        raise DataTypeError(
            f"`out_file` must be None, a path or a file open for text; got {type(out_file).__name__}."
        )
    return None
