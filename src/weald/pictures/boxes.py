"""The text in the box of a node, and on the way to it: what drawings and DOT files have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Names
from weald.model.conditions import number
from weald.pictures.ensembles.which import TreeChoice
from weald.pictures.nodes import ShownTree, check_choice, check_whole

CUT = "(…)"
_MOST_VALUES = 5
_LARGE = 1e7  # from here on numbers are written as powers of ten
_LABELS = ("all", "root", "none")


@dataclass(frozen=True, slots=True)
class BoxOptions:
    """What a box shows; the names are scikit-learn's."""

    max_depth: int | None = None
    label: str = "all"
    impurity: bool = True
    node_ids: bool = False
    proportion: bool = False
    precision: int = 3
    classes: bool = True

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_whole(self.max_depth, "max_depth", none=True)
        check_whole(self.precision, "precision")
        check_choice(self.label, "label", _LABELS)


def boxed(
    decision_tree: object,
    asks: str,
    *,
    tree: TreeChoice = None,
    feature_names: Names | None,
    class_names: Names | bool | None,
    **shown: Any,
) -> tuple[ShownTree, BoxOptions]:
    """A tree and what its boxes show, for a picture of boxes; `shown` are fields of `BoxOptions`."""
    options = BoxOptions(classes=class_names is not False, **shown)
    found = ShownTree.of(
        decision_tree,
        asks,
        tree=tree,
        decimals=options.precision,
        feature_names=feature_names,
        class_names=class_names,
        most_levels=4,
        longest=24,
    )
    return found, options


def shown_nodes(tree: ShownTree, max_depth: int | None) -> tuple[list[int], list[bool]]:
    """The nodes down to a depth, in preorder, and which of them are cut: their subtree is only hinted at."""
    nodes, cut = [], []
    pending = [0]
    while pending:
        node = pending.pop()
        deeper = max_depth is not None and int(tree.depth[node]) > max_depth
        nodes.append(node)
        cut.append(deeper)
        children = tree.children(node)
        if children is not None and not deeper:
            pending += children[::-1]
    return nodes, cut


def box_lines(tree: ShownTree, node: int, options: BoxOptions) -> list[str]:
    """The lines of a node's box: its question first, its prediction last.

    Counts have no thousands separators: beside the commas of a list they could not be read.
    """
    named = options.label == "all" or (options.label == "root" and node == 0)

    def line(word: str, text: str) -> str:
        return f"{word} = {text}" if named else text

    lines = []
    if options.node_ids:
        lines.append(f"node #{node}" if named else f"#{node}")
    if tree.split(node) >= 0:
        lines.append(tree.conditions.question(tree.split(node)).left)
    if options.impurity and tree.impurity is not None:
        lines.append(line(tree.criterion, brief(float(tree.impurity[node]), options.precision)))
    if options.impurity and tree.impurity is None:
        lines += _of_boosting(tree, node, options, line)
    count = int(tree.forest.count[node])
    share = count / max(int(tree.forest.count[0]), 1)  # a file may claim 0 rows
    lines.append(line("rows", f"{number(100 * share, 1)}%" if options.proportion else str(count)))
    lines.append(line("value", _value(tree, node, options)))
    if tree.outputs.classes is not None and options.classes:
        lines.append(line("class", tree.outputs.named(tree.value[node])))
    return lines


def _of_boosting(
    tree: ShownTree, node: int, options: BoxOptions, line: Callable[[str, str], str]
) -> list[str]:
    """What stands for the criterion in a tree that has none: gain and cover."""
    lines = [line("cover", brief(float(tree.forest.cover[node]), options.precision))]
    i = tree.split(node)
    if i >= 0:
        lines.insert(0, line("gain", brief(float(tree.forest.gain[i]), options.precision)))
    return lines


def _value(tree: ShownTree, node: int, options: BoxOptions) -> str:
    value = tree.value[node]
    if tree.outputs.classes is None:
        forms = _forms(tree, options)
        shown = [_in_form(float(v), form, options.precision) for v, form in zip(value, forms, strict=True)]
        return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
    scale = 1.0 if options.proportion else float(tree.forest.cover[node])
    parts = zip(tree.outputs.classes, tree.outputs.parts(value), strict=True)
    return ", ".join(_weights(part * scale, names, options.precision) for names, part in parts)


def _forms(tree: ShownTree, options: BoxOptions) -> tuple[int | None, ...]:
    """The decimals that the values of a tree have in common, by output; None for powers of ten."""
    key = (options.max_depth, options.precision)
    if key not in tree.value_forms:
        shown = tree.value[tree.depth <= (tree.depth.max() if key[0] is None else key[0])]
        tree.value_forms[key] = tuple(_decimals(column, options.precision) for column in shown.T)
    return tree.value_forms[key]


def _decimals(values: NDArray[np.float64], precision: int) -> int | None:
    """As many as `brief` gives the largest of these numbers, fewer if none needs them.

    >>> _decimals(np.array([97978.6, 140113.2]), 3), _decimals(np.array([0.5, 33.0]), 3)
    (0, 1)
    """
    largest = float(np.abs(values).max())
    if largest >= _LARGE:
        return None
    most = _places(largest, precision)
    return next(
        (d for d in range(most) if np.array_equal(values.round(d), values.round(most))),
        most,
    )


def _in_form(value: float, decimals: int | None, precision: int) -> str:
    if decimals is None:
        return f"{value:.{max(precision, 1)}g}"
    text = f"{value:.{decimals}f}"
    # What is not 0 should not look like it.
    return text if value == 0 or float(text) != 0 else brief(value, precision)


def _weights(weights: NDArray[np.float64], names: tuple[str, ...], precision: int) -> str:
    """A few classes as a list in their order, many by the largest."""
    if len(weights) <= _MOST_VALUES:
        return f"[{', '.join(brief(float(w), precision) for w in weights)}]"
    order: list[Any] = [k for k in np.argsort(-weights, kind="stable").tolist() if weights[k] > 0]
    shown = [f"{names[k]}: {brief(float(weights[k]), precision)}" for k in order[:3]]
    hidden = len(order) - len(shown)
    return f"[{', '.join(shown)}{f', … and {hidden} more' if hidden else ''}]"


def brief(value: float, precision: int) -> str:
    """A number for a box: at most so many decimals, fewer where many digits stand before the point.

    >>> brief(0.0333333, 3), brief(180796.0601, 3), brief(6379705498.4, 3), brief(0.00001, 3), brief(50.0, 3)
    ('0.033', '180796', '6.38e+09', '0.00001', '50')
    """
    if abs(value) >= _LARGE:
        return f"{value:.{max(precision, 1)}g}"
    rounded = round(value, _places(abs(value), precision))
    return number(rounded if rounded else value, precision)


def _places(size: float, precision: int) -> int:
    """Decimals for a number of this size."""
    digits = len(str(int(size))) if size >= 1 else 0
    return max(0, precision - max(0, digits - 3))


def way_words(tree: ShownTree, node: int, words: tuple[str, str] = ("yes", "no")) -> str:
    """What stands at the way to a node: the answer under the root, and "missing" where missing values go."""
    parent = int(tree.parent[node])
    side = "left" if node == parent + 1 else "right"
    said = [words[side == "right"]] if parent == 0 else []
    if tree.conditions.question(tree.split(parent)).missing == side:
        said.append("missing")
    return ", ".join(said)
