"""A tree as text to read: one line per node, with column names, dates, levels, and where missing values go.

The tree is walked with a stack of its own, so a tree of any depth can be printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.errors import DataTypeError, ParameterError
from weald.model.conditions import Conditions
from weald.model.forest import Forest
from weald.model.values import Outputs, rows

#: Below this depth lines are no longer indented further but numbered, so that the text stays linear in size.
_DEEPEST_INDENT = 60


def to_text(
    model_or_forest: object,
    *,
    schema: Schema | None = None,
    tree: int = 0,
    max_depth: int | None = None,
    decimals: int = 3,
    show_counts: bool = True,
) -> str:
    """The rules of one tree as text.

    "or missing" stands wherever a missing value would go that way, also for columns that had none in
    training; `export_text` and `plot_tree` speak of it only where training had some.

    Parameters
    ----------
    model_or_forest : fitted estimator or Forest
        What to print.
    schema : Schema, optional
        The columns of a bare forest; an estimator brings its own. Without one, columns have numbers.
    tree : int, default=0
        Which tree.
    max_depth : int, optional
        Deeper nodes are summed up in one line.
    decimals : int, default=3
        Decimals of thresholds and values; more where two thresholds would look alike, fewer where the number
        is shorter.
    show_counts : bool, default=True
        Whether to show how many training rows came to each leaf.

    Returns
    -------
    str
        The text, without a line end after the last line.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier
    >>> X = {"weight": [1.0, 2.0, 4.0, 5.0], "tame": [True, False, False, False]}
    >>> print(to_text(DecisionTreeClassifier().fit(X, ["cat", "cat", "dog", "dog"])))
    4 rows
    ├── weight <= 3 or missing → cat (2 rows)
    └── weight > 3 → dog (2 rows)
    """
    forest, schema, classes = _parts(model_or_forest, schema)
    if not isinstance(tree, int | np.integer) or not 0 <= tree < forest.n_trees:
        raise ParameterError(f"`tree` must be a number from 0 to {forest.n_trees - 1}; got {tree!r}.")
    if not isinstance(decimals, int | np.integer) or not 0 <= decimals <= 17:
        raise ParameterError(f"`decimals` must be a whole number from 0 to 17; got {decimals!r}. Try 3.")
    if max_depth is not None and (not isinstance(max_depth, int | np.integer) or max_depth < 0):
        raise ParameterError(f"`max_depth` must be None or a whole number from 0 up; got {max_depth!r}.")
    start, stop = int(forest.tree_start[tree]), int(forest.tree_start[tree + 1])
    printer = _Printer(
        forest=forest,
        slot=forest.slot[start:stop],
        count=forest.count[start:stop],
        outputs=Outputs.of(
            classes, forest.width, shares=forest.link == "shares", first=int(forest.tree_output[tree])
        ),
        conditions=Conditions(forest, schema, forest.slot[start:stop], int(decimals)),
        max_depth=max_depth,
        decimals=int(decimals),
        show_counts=show_counts,
    )
    return "\n".join(printer.lines())


def _parts(model: object, schema: Schema | None) -> tuple[Forest, Schema | None, Any]:
    if isinstance(model, Forest):
        return model, schema, None
    forest = getattr(model, "forest_", None)
    if not isinstance(forest, Forest):
        raise DataTypeError(
            f"to_text takes a fitted tree or a Forest; got {type(model).__name__}. Fit it first."
        )
    return forest, schema or getattr(model, "schema_", None), getattr(model, "classes_", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Printer:
    """One tree and how to show it; node numbers count from the tree's first."""

    forest: Forest
    slot: NDArray[np.int32]
    count: NDArray[np.int64]
    outputs: Outputs
    conditions: Conditions
    max_depth: int | None
    decimals: int
    show_counts: bool

    def lines(self) -> Iterator[str]:
        """The root, then every other node under its condition."""
        if self.slot[0] < 0 or self.max_depth == 0:
            yield f"all rows{self._end(0, 0)}"
            return
        yield rows(self.count[0]) if self.show_counts else "all rows"
        pending = self._children(0, "", 1)
        while pending:
            node, says, indent, last, depth = pending.pop()
            if depth <= _DEEPEST_INDENT:
                line, below = indent + ("└── " if last else "├── "), indent + ("    " if last else "│   ")
            else:
                line, below = f"{indent}[{depth}] {'└' if last else '├'} ", indent
            end = self._end(node, depth)
            yield f"{line}{says}{end}"
            if not end:
                pending += self._children(node, below, depth + 1)

    def _children(self, node: int, indent: str, depth: int) -> list[tuple[int, str, str, bool, int]]:
        """Right child, then left: the stack gives back the left one first."""
        i = int(self.slot[node])
        left, right = self.conditions.of(i)
        return [
            (int(self.forest.right[i]), right, indent, True, depth),
            (node + 1, left, indent, False, depth),
        ]

    def _end(self, node: int, depth: int) -> str:
        """What a line says after its condition: the prediction of a leaf, a summary at the depth limit."""
        many = f" ({rows(self.count[node])})" if self.show_counts else ""
        if self.slot[node] < 0:
            return f" → {self.outputs.words(self.forest.value[~int(self.slot[node])], self.decimals)}{many}"
        if self.max_depth is not None and depth >= self.max_depth:
            last = node
            while self.slot[last] >= 0:
                last = int(self.forest.right[self.slot[last]])
            leaves = int((self.slot[node : last + 1] < 0).sum())
            return f" … {leaves} leaves below{many}"
        return ""
