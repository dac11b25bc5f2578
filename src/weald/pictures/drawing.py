"""`plot_tree`: a tree drawn with matplotlib, in the largest font at which nothing overlaps.

Boxes are as large as their measured text. Long conditions are broken into lines at the width that leaves
room for the largest font.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from weald.arrays import Names
from weald.errors import ParameterError, outside
from weald.pictures.boxes import CUT, BoxOptions, box_lines, boxed, shown_nodes, way_words
from weald.pictures.canvas import Canvas, figure_of
from weald.pictures.colours import node_colours
from weald.pictures.ensembles.which import TreeChoice, chosen_tree, mapped_names, one_tree
from weald.pictures.fitting import READABLE_FONT, SMALLEST_FONT, Box, BoxPlan, fit, hopeless
from weald.pictures.nodes import ShownTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_PLAIN = "#ffffff"
#: the least font of a figure of our own, and how much larger, across and down, it is made for that
_COMFORTABLE = 7.5
_LARGER = ((1.4, 1.25), (1.9, 1.5), (2.5, 1.75))


class PlotOptions(TypedDict, total=False):
    """Options of `plot_tree` besides the shape and the colours of its boxes."""

    max_depth: int | None
    feature_names: Names | None
    class_names: Names | bool | None
    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    ax: Axes | None
    fontsize: float | None


def plot_tree(
    decision_tree: object,
    *,
    tree: TreeChoice = None,
    num_trees: int | None = None,
    tree_idx: int | None = None,
    fmap: str | os.PathLike[str] = "",
    rankdir: str | None = None,
    with_stats: bool | None = None,
    max_depth: int | None = None,
    feature_names: Names | None = None,
    class_names: Names | bool | None = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Axes | None = None,
    fontsize: float | None = None,
) -> list[Annotation]:
    """Draw a fitted tree, or one tree of an ensemble.

    A row goes left where the text of the box holds. "missing" stands at the way that missing values take; it
    is left out for columns without missing values in training (a loaded model does not know, and shows it
    for all), and where none can come any more.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald, or an ensemble of trees.
    tree : int or tuple, default=None
        Which tree of an ensemble: its number, of boosters also (round, class); None for the first. Its place
        is the title of the axes. Trees of boosters show gain and cover where others show the criterion.
    num_trees, tree_idx : int, default=None
        xgboost's names for the number of the tree.
    fmap : str or path, default=""
        xgboost's feature map, a file of lines "number name type": other names for the columns.
    rankdir : {"TB", "UT"}, default=None
        xgboost's name for the direction. Trees grow from top to bottom; `to_graphviz` and `export_graphviz`
        know others.
    with_stats : bool, default=None
        xgboost's name for `impurity`.
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
        Whether to show the criterion, or gain and cover.
    node_ids : bool, default=False
        Whether to show node numbers.
    proportion : bool, default=False
        Whether to show shares instead of weights and rows.
    rounded : bool, default=False
        Whether boxes have round corners.
    precision : int, default=3
        Decimals; thresholds get more where they would look alike.
    ax : matplotlib axes, default=None
        Where to draw; None for the current axes, or new ones if the figure has none. They are cleared. If
        there is no figure, one is made that is large enough for a font of 7.5 points, up to 2.5 times the
        width of matplotlib's default; a tree that does not fit it is cut, with a warning.
    fontsize : float, default=None
        The font size in points; None for the largest, from 12 down, at which nothing overlaps and all fits
        the axes. A larger figure leaves room for a larger font: `plt.figure(figsize=(20, 10))`. A tree that
        does not even fit in a font of 4 points in axes of yours is cut, with a warning.

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
    if rankdir not in (None, "TB", "UT"):
        raise ParameterError(
            f"`rankdir` of plot_tree must be None, 'TB' or 'UT'; got {rankdir!r}. For a tree from left to "
            "right use to_graphviz(model, rankdir='LR') or export_graphviz(model, rotate=True)."
        )
    if os.fspath(fmap):
        feature_names = mapped_names(fmap, one_tree(decision_tree, "plot_tree").model.schema_.names)
    shown, options = boxed(
        decision_tree,
        "plot_tree",
        tree=chosen_tree(tree, num_trees=num_trees, tree_idx=tree_idx),
        feature_names=feature_names,
        class_names=class_names,
        max_depth=max_depth,
        label=label,
        impurity=impurity if with_stats is None else with_stats,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
    )
    axes, own = _axes(ax)
    canvas = Canvas(axes)
    if shown.said:
        axes.set_title(shown.said)
    drawing = _Drawing(shown, options, filled, fontsize, _COMFORTABLE if own else READABLE_FONT)
    if own and fontsize is None:
        canvas = _roomy(drawing, canvas)
    boxes, plan = drawing.fitted(canvas)
    return canvas.draw(boxes, plan, rounded=rounded)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A tree to draw, and the least font in which all of it is drawn."""

    tree: ShownTree
    options: BoxOptions
    filled: bool
    fontsize: float | None
    least: float

    @property
    def shown(self) -> int:
        """The depth down to which it was asked for."""
        deepest, asked = int(self.tree.depth.max()), self.options.max_depth
        return deepest if asked is None else min(asked, deepest)

    def down_to(self, depth: int, canvas: Canvas, least: float | None = None) -> tuple[list[Box], BoxPlan]:
        """The boxes down to a depth, and their plan, which may not fit."""
        boxes = _boxes(self.tree, replace(self.options, max_depth=depth), self.filled)
        return boxes, fit(boxes, canvas, canvas.space, self.fontsize, least or self.least)

    def fits(self, canvas: Canvas) -> bool:
        """Whether all of it fits."""
        if any(_hopeless(self.tree, depth, canvas, self.least) for depth in range(self.shown + 1)):
            return False
        return self.down_to(self.shown, canvas)[1].scale(canvas.space) >= 1

    def fitted(self, canvas: Canvas) -> tuple[list[Box], BoxPlan]:
        """The boxes and their plan; a tree that does not fit in a readable font is cut, with a warning."""
        shown = self.shown
        if self.fontsize is not None:
            return self.down_to(shown, canvas)
        room = next((d for d in range(shown + 1) if _hopeless(self.tree, d, canvas, self.least)), shown + 1)
        found, wanted = None, None
        if room > shown:
            wanted = self.down_to(shown, canvas)
            if wanted[1].scale(canvas.space) >= 1:
                return wanted
        fits, too_deep = 0, min(room, shown)  # by bisection
        while too_deep - fits > 1:
            middle = (fits + too_deep) // 2
            tried = self.down_to(middle, canvas)
            if tried[1].scale(canvas.space) >= 1:
                fits, found = middle, tried
            else:
                too_deep = middle
        if found is None:  # no room for anything readable: as small as need be
            found = self.down_to(fits, canvas, SMALLEST_FONT)
        _warn_cut(self, fits, canvas, None if wanted is None else wanted[1])
        return found


def _roomy(drawing: _Drawing, canvas: Canvas) -> Canvas:
    """A figure of our own, made larger until the tree fits in a comfortable font, up to a limit."""
    figure = figure_of(canvas.axes)
    width, height = figure.get_size_inches()
    for wider, higher in _LARGER:
        if drawing.fits(canvas):
            break
        figure.set_size_inches(width * wider, height * higher)
        canvas = canvas.resized()
    return canvas


def _hopeless(tree: ShownTree, depth: int, canvas: Canvas, font: float) -> bool:
    """Whether a tree down to this depth has too many boxes, whatever they say."""
    asks = (tree.forest.slot >= 0) & (tree.depth <= depth)
    silent = ~asks & (tree.depth <= depth + 1)
    rows = int(tree.depth[silent].max()) + 1
    inner, ends = (np.bincount(tree.depth[which], minlength=rows).tolist() for which in (asks, silent))
    return hopeless(inner, ends, canvas.space, font)


def _warn_cut(drawing: _Drawing, depth: int, canvas: Canvas, wanted: BoxPlan | None) -> None:
    """Say that the tree is cut, and what would help."""
    size = ""
    if wanted is not None:
        layout, space = wanted.layout, canvas.space
        shrunk = drawing.least / wanted.font
        inches = figure_of(canvas.axes).get_size_inches()
        needed = (shrunk * layout.width / space.width, shrunk * layout.height / space.height)
        wide, high = (math.ceil(1.1 * max(1.0, n) * i) for n, i in zip(needed, inches, strict=True))
        size = f", such as figsize=({wide}, {high})"
    warnings.warn(
        f"The tree has {drawing.tree.n_nodes:,} nodes, too many for these axes in a readable font: it is "
        f"drawn down to depth {depth}. Take a larger figure{size}, or choose max_depth.",
        UserWarning,
        stacklevel=outside(),
    )


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
            leaf=tree.split(node) < 0 and not hidden,
        )
        for node, hidden in zip(nodes, cut, strict=True)
    ]


def _axes(ax: Axes | None) -> tuple[Axes, bool]:
    """Where to draw, and whether the figure is made for it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_tree needs matplotlib: pip install 'weald[plot]'.") from None
    if ax is not None:
        return ax, False
    own = not plt.get_fignums()
    figure = plt.gcf()
    # In a figure of its own a tree needs no room for ticks and labels, only for a title.
    return (plt.gca() if figure.axes else figure.add_axes((0.01, 0.01, 0.98, 0.93))), own
