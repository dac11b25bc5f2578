"""A fitted tree for notebooks: nested, collapsible, self-contained HTML, a bar of class shares per node."""

from __future__ import annotations

from html import escape

import numpy as np

from weald.model.values import rows
from weald.pictures.colours import class_colour
from weald.pictures.nodes import ShownTree

#: At most so many nodes are shown, and so many levels; levels from `_OPEN` on start closed.
_MOST_NODES, _MOST_LEVELS, _OPEN = 400, 40, 3
_MOST_PARTS = 12

STYLE = """
.weald-tree{font:13px/1.5 system-ui,sans-serif;max-width:60em}
.weald-tree details,.weald-tree .leaf{margin-left:1.1em;border-left:1px solid #8886;padding-left:.5em}
.weald-tree>details{margin-left:0;border-left:0;padding-left:0}
.weald-tree summary{cursor:pointer}
.weald-tree .leaf{padding-left:1.4em}
.weald-tree .rows{opacity:.65;margin-left:.6em}
.weald-tree .says{margin-left:.6em}
.weald-tree .bar{display:inline-flex;width:6em;height:.65em;margin-left:.6em;border-radius:2px;\
overflow:hidden;background:#8884;vertical-align:baseline}
.weald-tree .title{font-weight:600;margin-bottom:.3em}
""".replace("\n", "")


def to_html(model: object) -> str:
    """The tree of a fitted estimator as HTML."""
    tree = ShownTree.of(model, "_repr_html_")
    inner = tree_html(tree)
    return f'<div class="weald-tree"><style>{STYLE}</style>{_title(tree)}{inner}</div>'


def tree_html(tree: ShownTree, most_nodes: int = _MOST_NODES, opened_levels: int = _OPEN) -> str:
    """The nodes of a tree, nested, as far as it is sane to show them."""
    depth = _shown_depth(tree, most_nodes)
    parts: list[str] = []
    low, high = float(tree.value.min()), float(tree.value.max())
    pending: list[tuple[int, str] | str] = [(0, "all rows")]
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            parts.append(entry)
            continue
        node, says = entry
        line = _line(tree, node, says, low, high)
        children = tree.children(node)
        if children is None:
            parts.append(f'<div class="leaf">{line}</div>')
        elif int(tree.depth[node]) >= depth:
            parts.append(f'<div class="leaf">{line} … {tree.leaves_below(node)} leaves below</div>')
        else:
            opened = " open" if int(tree.depth[node]) < opened_levels else ""
            parts.append(f"<details{opened}><summary>{line}</summary>")
            left, right = tree.conditions.of(tree.split(node))
            pending += ["</details>", (children[1], right), (children[0], left)]
    return "".join(parts)


def _shown_depth(tree: ShownTree, most_nodes: int) -> int:
    """The depth at which the tree is cut, so that it has no more nodes and levels than are sane to show."""
    so_far = np.cumsum(np.bincount(tree.depth))
    return min(int((so_far <= most_nodes).sum()) - 1, _MOST_LEVELS)


def _title(tree: ShownTree) -> str:
    return f'<div class="title">{escape(repr(tree.model))}: {size_words(tree)}</div>'


def size_words(tree: ShownTree) -> str:
    """How large a tree is."""
    leaves, levels = tree.leaves_below(0), int(tree.depth.max())
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, depth {levels}"


def _line(tree: ShownTree, node: int, says: str, low: float, high: float) -> str:
    bar = _number_bar(tree, node, low, high) if tree.outputs.classes is None else _share_bars(tree, node)
    words = escape(tree.outputs.words(tree.value[node], 3))
    count = rows(tree.forest.count[node])
    return f'{escape(says)}{bar}<span class="says">{words}</span><span class="rows">{count}</span>'


def _share_bars(tree: ShownTree, node: int) -> str:
    bars = []
    for part in tree.outputs.parts(tree.value[node]):
        largest = sorted(np.argsort(-part, kind="stable")[:_MOST_PARTS].tolist())
        bars.append(
            "".join(
                f'<span style="width:{100 * float(part[k]):.1f}%;background:{class_colour(k)}"></span>'
                for k in largest
                if part[k] > 0
            )
        )
    return "".join(f'<span class="bar">{bar}</span>' for bar in bars)


def _number_bar(tree: ShownTree, node: int, low: float, high: float) -> str:
    """How far between the smallest and the largest value of the tree."""
    if tree.outputs.n_outputs > 1 or not high > low:
        return ""
    width = 100 * (float(tree.value[node, 0]) - low) / (high - low)
    return f'<span class="bar"><span style="width:{width:.1f}%;background:{class_colour(0)}"></span></span>'
