"""An ensemble of trees for notebooks: how large it is, what it asks for most, and its first tree, folded."""

from __future__ import annotations

from html import escape

import numpy as np

from weald.arrays import AnyEstimator
from weald.model.forest import COMBINATION, Forest
from weald.pictures.colours import class_colour
from weald.pictures.ensembles.which import every_tree, one_tree
from weald.pictures.html import STYLE, size_words, tree_html
from weald.pictures.nodes import ShownTree

_MOST_COLUMNS, _MOST_NODES = 10, 120


def to_html(model: object) -> str:
    """A fitted ensemble as HTML of bounded size."""
    found = one_tree(model, "_repr_html_")
    tree = ShownTree.of_one(found)
    forest = _whole(model)
    parts = [
        f'<div class="weald-tree"><style>{STYLE}</style><div class="title">{escape(repr(model))}</div>',
        f"<div>{_size(forest)}</div>" if forest is not None else f"<div>{_members(model)}</div>",
    ]
    if forest is not None:
        parts.append(_columns(forest, tree))
    said = escape(found.said or "the tree")
    parts.append(f"<details><summary>{said}: {size_words(tree)}</summary>")
    parts.append(tree_html(tree, _MOST_NODES))
    return "".join([*parts, "</details></div>"])


def _whole(model: AnyEstimator) -> Forest | None:
    """All trees of a model, where they are one forest."""
    forest: Forest | None = model._shown_forest()
    return forest


def _size(forest: Forest) -> str:
    leaves = np.add.reduceat(forest.slot < 0, forest.tree_start[:-1].astype(np.int64))
    low, high = int(leaves.min()), int(leaves.max())
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return (
        f"{forest.n_trees:,} {'tree' if forest.n_trees == 1 else 'trees'} of {each} leaves, "
        f"{len(forest.value):,} leaves in all"
    )


def _members(model: AnyEstimator) -> str:
    members = model._shown_members()
    kinds = sorted({type(each).__name__ for each in members})
    n_trees = sum(1 for _ in every_tree(members[0], "_repr_html_"))
    return f"{len(members):,} members ({escape(', '.join(kinds))}); the first has {n_trees:,} trees"


def _columns(forest: Forest, tree: ShownTree) -> str:
    """The columns whose splits gain most, with bars."""
    single = forest.kind != COMBINATION
    gain = np.bincount(forest.column[single], forest.gain[single], forest.n_columns)
    count = np.bincount(forest.column[single], minlength=forest.n_columns)
    total = float(gain.sum())
    order = np.argsort(-gain, kind="stable")[:_MOST_COLUMNS]
    rows = ""
    for j in order.tolist():
        if not count[j]:
            continue
        share = float(gain[j]) / total if total > 0 else 0.0
        bar = f'<span style="width:{100 * share:.1f}%;background:{class_colour(0)}"></span>'
        rows += (
            f'<div>{escape(tree.names[j])}<span class="bar">{bar}</span><span class="says">'
            f'{100 * share:.1f}% of the gain</span><span class="rows">{int(count[j]):,} splits</span></div>'
        )
    used = int((count > 0).sum())
    return (
        f"<details><summary>{used:,} of {forest.n_columns:,} columns are asked for</summary>{rows}</details>"
    )
