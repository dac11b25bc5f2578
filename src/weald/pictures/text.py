"""`export_text`: the rules of a tree in scikit-learn's form, with categories and missing values added.

`to_text` of an estimator is the form to read; this one is for code that expects scikit-learn's.
"""

from __future__ import annotations

import numpy as np

from weald.arrays import Names
from weald.pictures.ensembles.which import TreeChoice
from weald.pictures.nodes import ShownTree, check_whole


def export_text(
    decision_tree: object,
    *,
    tree: TreeChoice = None,
    feature_names: Names | None = None,
    class_names: Names | bool | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The rules of a fitted tree as text, as scikit-learn writes them.

    "or missing" stands at the side that missing values go to; it is left out for columns without missing
    values in training (a loaded model does not know, and shows it for all), and where none can come any more.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald, or an ensemble of trees.
    tree : int or tuple, default=None
        Which tree of an ensemble: its number, of boosters also (round, class); None for the first.
    feature_names : array-like of str, default=None
        Other names for the columns. Columns without names are called feature_0, feature_1, …
    class_names : array-like of str, default=None
        Other names for the classes, in the order of `classes_`.
    max_depth : int, default=10
        Deeper branches are cut; None for no limit.
    spacing : int, default=3
        The width of a level of the tree.
    decimals : int, default=2
        Decimals of every number.
    show_weights : bool, default=False
        Whether to show the weight of each class at the leaves.

    Returns
    -------
    str
        One line per split side or leaf, each with a line end.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier, export_text
    >>> X = {"weight": [1.0, 2.0, 4.0, 5.0]}
    >>> print(export_text(DecisionTreeClassifier().fit(X, ["cat", "cat", "dog", "dog"])), end="")
    |--- weight <= 3.00
    |   |--- class: cat
    |--- weight >  3.00
    |   |--- class: dog
    """
    check_whole(max_depth, "max_depth", none=True)
    check_whole(spacing, "spacing", least=1)
    check_whole(decimals, "decimals")
    shown = ShownTree.of(
        decision_tree,
        "export_text",
        tree=tree,
        decimals=decimals,
        fixed=True,
        feature_names=feature_names,
        class_names=class_names if not isinstance(class_names, bool) else None,
        unnamed="feature_{}",
    )
    lines = []
    pending: list[tuple[int, int, str]] = [(0, 0, "")]  # a condition to print, or else a node
    while pending:
        node, depth, condition = pending.pop()
        head = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        if condition:
            lines.append(head + condition)
            continue
        children = shown.children(node)
        if children is None:
            lines.append(head + _leaf(shown, node, decimals, show_weights))
        elif max_depth is not None and depth > max_depth:
            lines.append(f"{head}truncated branch of depth {_levels(shown, node)}")
        else:
            left, right = shown.conditions.of(shown.split(node))
            pending += [
                (children[1], depth + 1, ""),
                (children[1], depth, right),
                (children[0], depth + 1, ""),
                (children[0], depth, left),
            ]
    return "\n".join(lines) + "\n"


def _levels(tree: ShownTree, node: int) -> int:
    """How many levels a subtree has, its root counted."""
    below = tree.depth[node : int(tree.ends[node]) + 1]
    return int(below.max() - tree.depth[node]) + 1


def _leaf(tree: ShownTree, node: int, decimals: int, show_weights: bool) -> str:
    value = tree.value[node]
    if tree.outputs.classes is None:
        return f"value: [{', '.join(f'{v:.{decimals}f}' for v in value)}]"
    shown = f"class: {tree.outputs.named(value)}"
    if not show_weights:
        return shown
    weights = value * float(tree.forest.cover[node])
    # Weights that were whole before they became shares are whole again.
    weights = np.where(np.abs(weights - np.rint(weights)) < 1e-9, np.rint(weights), weights)
    return f"weights: [{', '.join(f'{w:.{decimals}f}' for w in weights)}] {shown}"
