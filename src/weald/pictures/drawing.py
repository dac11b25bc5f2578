"""`plot_tree`: a tree drawn with matplotlib, in the largest font at which nothing overlaps.

Boxes are as large as their measured text. Long conditions are broken into lines at the width that leaves
room for the largest font.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from weald.pictures.boxes import CUT, BoxOptions, box_lines, shown_nodes, way_words
from weald.pictures.canvas import Canvas
from weald.pictures.colours import node_colours
from weald.pictures.fitting import Box, Plan, fit
from weald.pictures.nodes import ShownTree

_PLAIN = "#ffffff"


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: float | None = None,
) -> list[Any]:
    """Draw a fitted tree.

    A row goes left where the text of the box holds. "missing" stands at the way that missing values take; it
    is left out for columns without missing values in training (a loaded model does not know, and shows it
    for all), and where none can come any more.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald.
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
    impurity : bool, default=True
        Whether to show the criterion.
    node_ids : bool, default=False
        Whether to show node numbers.
    proportion : bool, default=False
        Whether to show shares instead of weights and rows.
    rounded : bool, default=False
        Whether boxes have round corners.
    precision : int, default=3
        Decimals; thresholds get more where they would look alike.
    ax : matplotlib axes, default=None
        Where to draw; None for the current axes, or new ones if the figure has none. They are cleared.
    fontsize : float, default=None
        The font size in points; None for the largest, from 12 down, at which nothing overlaps and all fits
        the axes. A larger figure leaves room for a larger font: `plt.figure(figsize=(20, 10))`. A tree that
        does not even fit in a font of 1 point is cut, with a warning.

    Returns
    -------
    list of matplotlib.text.Annotation
        The boxes in preorder, then the texts at the ways.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier, plot_tree
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    >>> [box.get_text() for box in plot_tree(tree, impurity=False)][0]
    'column 0 <= 2.5\\nrows = 3\\nvalue = [2, 1]\\nclass = a'
    """
    options = BoxOptions(
        max_depth=max_depth,
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
        classes=class_names is not False,
    )
    tree = ShownTree.of(
        decision_tree,
        "plot_tree",
        decimals=precision,
        feature_names=feature_names,
        class_names=class_names,
        most_levels=4,
        longest=24,
    )
    canvas = Canvas(_axes(ax))
    boxes = _boxes(tree, options, filled)
    plan = fit(boxes, canvas.measure, canvas.space, fontsize)
    if fontsize is None and plan.scale(canvas.space) < 1:
        boxes, plan = _as_deep_as_fits(tree, options, filled, canvas)
    return canvas.draw(boxes, plan, rounded=rounded)


def _as_deep_as_fits(
    tree: ShownTree, options: BoxOptions, filled: bool, canvas: Canvas
) -> tuple[list[Box], Plan]:
    """The tree cut so that the smallest font fits, found by bisection; says so in a warning."""
    fits, too_deep = 0, int(tree.depth.max())
    while too_deep - fits > 1:
        middle = (fits + too_deep) // 2
        boxes = _boxes(tree, replace(options, max_depth=middle), filled)
        roomy = fit(boxes, canvas.measure, canvas.space, None).scale(canvas.space) >= 1
        fits, too_deep = (middle, too_deep) if roomy else (fits, middle)
    warnings.warn(
        f"The tree has {tree.n_nodes:,} nodes, too many for these axes even in the smallest font: it is "
        f"drawn down to depth {fits}. Take a larger figure, or choose max_depth.",
        UserWarning,
        stacklevel=3,
    )
    boxes = _boxes(tree, replace(options, max_depth=fits), filled)
    return boxes, fit(boxes, canvas.measure, canvas.space, None)


def _boxes(tree: ShownTree, options: BoxOptions, filled: bool) -> list[Box]:
    nodes, cut = shown_nodes(tree, options.max_depth)
    colours = dict(zip(nodes, node_colours(tree, nodes), strict=True)) if filled else {}
    place = {node: k for k, node in enumerate(nodes)}
    return [
        Box(
            parent=place.get(int(tree.parent[node]), -1),
            lines=(CUT,) if hidden else tuple(box_lines(tree, node, options)),
            way=way_words(tree, node) if node else "",
            fill=_PLAIN if hidden else colours.get(node, _PLAIN),
            leaf=tree.split(node) < 0,
        )
        for node, hidden in zip(nodes, cut, strict=True)
    ]


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_tree needs matplotlib: pip install 'weald[plot]'.") from None
    if ax is not None:
        return ax
    figure = plt.gcf()
    # In a figure of its own a tree needs no room for ticks and labels, only for a title.
    return plt.gca() if figure.axes else figure.add_axes((0.01, 0.01, 0.98, 0.93))
