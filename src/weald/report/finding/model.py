"""The model: what it is made of, and its trees, node by node."""

from __future__ import annotations

import numpy as np

from weald.arrays import AnyEstimator
from weald.data.table import LevelColumn
from weald.errors import DataTypeError, WealdError
from weald.insight.made_of_trees import trees_of
from weald.model.values import share_words
from weald.pictures.ensembles.which import inside, one_tree
from weald.pictures.nodes import ShownTree
from weald.pictures.svg.scales import number
from weald.report.records import ModelFacts, Node, TreeFacts
from weald.report.subject import Subject, columns_at

#: trees that can be opened, nodes of an only tree and of one of several
_TREES, _NODES, _FEW_NODES, _LEVELS, _WEIGHTS = 3, 255, 63, 14, 15
#: labels whose shares stand at a node
_SHARES = 2


def model_facts(subject: Subject) -> ModelFacts:
    """What can be told of what the model is made of."""
    model = subject.model
    trees = trees_of(model)
    notes: list[str] = []
    shown, n_trees = _trees(model, notes)
    facts: list[tuple[str, str]] = []
    if trees is not None:
        forest = trees.forest
        facts += [("trees", f"{trees.n_trees:,}"), ("leaves", f"{len(forest.value):,}")]
        n_trees = trees.n_trees
    facts += _sizes(model)
    return ModelFacts(
        type(model).__name__, tuple(facts), tuple(shown), n_trees, _weights(subject, notes), tuple(notes)
    )


def _sizes(model: object) -> list[tuple[str, str]]:
    """What models without trees have instead."""
    found = []
    support = getattr(model, "n_support_", None)
    if support is not None:
        found.append(("support vectors", f"{int(np.sum(support)):,}"))
    own = vars(model)
    if "n_neighbors" in own:
        found.append(("neighbours asked", str(own["n_neighbors"])))
    for name, words in (("n_samples_fit_", "rows kept"), ("best_iteration", "best round")):
        try:
            value = getattr(model, name, None)
        except WealdError:
            value = None
        if value is not None:
            found.append((words, f"{int(value):,}"))
    members = getattr(model, "named_estimators_", None)
    if members:
        found.append(
            ("members", ", ".join(f"{name}: {type(each).__name__}" for name, each in members.items()))
        )
    coef = getattr(model, "coef_", None)
    if isinstance(coef, np.ndarray):
        found.append(("weights", f"{coef.size:,}, {int((coef != 0).sum()):,} of them not 0"))
    return found


def _trees(model: object, notes: list[str]) -> tuple[list[TreeFacts], int]:
    """The first trees, or of a single tree that one."""
    try:
        estimator = inside(model, "report")
    except DataTypeError:
        notes.append(f"A {type(model).__name__} is not made of trees that could be opened.")
        return [], 0
    n_trees = _n_trees(estimator)
    found = []
    for t in range(min(n_trees, _TREES)):
        try:
            tree = ShownTree.of_one(one_tree(estimator, "report", t if n_trees > 1 else None))
        except WealdError as error:
            notes.append(f"Its trees are not shown: {error}")
            break
        found.append(tree_facts(tree, _NODES if n_trees == 1 else _FEW_NODES))
    if 0 < len(found) < n_trees:
        notes.append(
            f"The first {len(found)} of {n_trees:,} trees are here; weald.export_text shows any other."
        )
    return found, n_trees


def _n_trees(estimator: AnyEstimator) -> int:
    members = estimator._shown_members() if hasattr(estimator, "_shown_members") else None
    if members is not None:
        return len(members)
    if hasattr(estimator, "_shown_tree"):
        return int(estimator._tree_places().n_trees)
    return int(estimator.forest_.n_trees)


def tree_facts(tree: ShownTree, most_nodes: int) -> TreeFacts:
    """A tree as nested records, cut below the level where it has too many nodes."""
    so_far = np.cumsum(np.bincount(tree.depth))
    depth = min(max(int((so_far <= most_nodes).sum()) - 1, 1), _LEVELS)
    low, high = float(tree.value.min()), float(tree.value.max())
    return TreeFacts(
        tree.said, tree.leaves_below(0), int(tree.depth.max()), _node(tree, 0, "all rows", depth, (low, high))
    )


def _node(tree: ShownTree, node: int, when: str, depth: int, ends: tuple[float, float]) -> Node:
    value = tree.value[node]
    label, level = 0, 0.0
    if tree.outputs.classes is not None:
        part = tree.outputs.parts(value)[0]
        label = int(np.argmax(part))
        level = float(part[label])
    elif ends[1] > ends[0]:
        level = (float(value[0]) - ends[0]) / (ends[1] - ends[0])
    children = tree.children(node)
    below: tuple[Node, ...] = ()
    n_hidden = 0
    if children is not None and int(tree.depth[node]) < depth:
        left, right = tree.conditions.of(tree.split(node))
        below = (
            _node(tree, children[0], left, depth, ends),
            _node(tree, children[1], right, depth, ends),
        )
    elif children is not None:
        n_hidden = tree.leaves_below(node)
    words = tree.outputs.words(value, 3)
    if tree.outputs.classes is not None and len(tree.outputs.classes[0]) > _SHARES:
        words = share_words(tree.outputs.parts(value)[0], tree.outputs.classes[0], 2, _SHARES)
    count = float(tree.forest.count[node])
    return Node(when, words, count, min(max(level, 0.0), 1.0), label, below, n_hidden)


def _weights(subject: Subject, notes: list[str]) -> tuple[tuple[str, float], ...]:
    """The largest weights of a weighted sum of numbers."""
    coef = getattr(subject.model, "coef_", None)
    if not isinstance(coef, np.ndarray):
        return ()
    names = subject.names
    numeric = len(names) <= 2000 and not any(
        isinstance(column, LevelColumn) for column in columns_at(subject.table, list(range(len(names))))
    )
    if coef.size != len(names) or not numeric:
        notes.append("Its weights are of categories or of several outputs: what matters tells more.")
        return ()
    flat = coef.ravel()
    order = np.argsort(-np.abs(flat), kind="stable")[:_WEIGHTS].tolist()
    return tuple((names[j], float(flat[j])) for j in order)


def count_words(n: float) -> str:
    """How many rows came to a node.

    >>> count_words(1.0), count_words(1200.0)
    ('1 row', '1,200 rows')
    """
    return "1 row" if n == 1 else f"{number(n)} rows"
