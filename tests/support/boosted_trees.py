"""Boosted trees of weald and of xgboost in one form, and a comparison of the two split by split."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.model.forest import Forest


@dataclass
class Node:
    """A node with all below it. A leaf has no column; its value has the learning rate in it."""

    cover: float
    value: float = 0.0
    column: int = -1
    threshold: float = 0.0
    missing_left: bool = False
    gain: float = 0.0
    ours: bool = True  # `x <= threshold` goes left; xgboost's rule is `x < threshold`
    left: Node | None = None
    right: Node | None = None

    @property
    def is_leaf(self) -> bool:
        return self.left is None

    @property
    def n_leaves(self) -> int:
        return 1 if self.is_leaf else self.left.n_leaves + self.right.n_leaves

    def goes_left(self, X: NDArray) -> NDArray[np.bool_]:
        x = X[:, self.column].astype(np.float64)
        below = x <= self.threshold if self.ours else x < self.threshold
        return np.where(np.isnan(x), self.missing_left, below)


def our_trees(forest: Forest) -> list[Node]:
    """The trees of a forest with one output each, and numeric splits."""

    def node(first: int, i: int, weight: float) -> Node:
        slot, cover = int(forest.slot[first + i]), float(forest.cover[first + i])
        if slot < 0:
            return Node(cover, value=weight * float(forest.value[~slot, 0]))
        return Node(
            cover,
            column=int(forest.column[slot]),
            threshold=float(forest.threshold[slot]),
            missing_left=bool(forest.missing_left[slot]),
            gain=float(forest.gain[slot]),
            left=node(first, i + 1, weight),
            right=node(first, int(forest.right[slot]), weight),
        )

    weights = forest.tree_weight.tolist()
    return [node(int(forest.tree_start[t]), 0, weights[t]) for t in range(forest.n_trees)]


def xgboost_trees(model: Any) -> list[Node]:
    """The trees of xgboost's scikit-learn model."""

    def node(each: dict[str, Any]) -> Node:
        if "leaf" in each:
            return Node(each["cover"], value=each["leaf"])
        children = {child["nodeid"]: child for child in each["children"]}
        return Node(
            each["cover"],
            column=int(each["split"].removeprefix("f")),
            threshold=float(np.float32(each["split_condition"])),
            missing_left=each["missing"] == each["yes"],
            gain=each["gain"],
            ours=False,
            left=node(children[each["yes"]]),
            right=node(children[each["no"]]),
        )

    dump = model.get_booster().get_dump(with_stats=True, dump_format="json")
    return [node(json.loads(tree)) for tree in dump]


@dataclass(frozen=True)
class Penalties:
    """What the score of a set of rows depends on besides their gradients."""

    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    max_delta_step: float = 0.0
    gamma: float = 0.0

    def score(self, G: float, H: float) -> float:
        """The largest −(2Gw + (H + λ)w² + 2α|w|) over the allowed w: what splits add up."""
        if H <= 0:
            return 0.0
        w = -np.sign(G) * max(abs(G) - self.reg_alpha, 0.0) / (H + self.reg_lambda)
        if self.max_delta_step:
            w = np.clip(w, -self.max_delta_step, self.max_delta_step)
        return float(-(2 * G * w + (H + self.reg_lambda) * w * w + 2 * self.reg_alpha * abs(w)))


#: shares of the scores within which float32 gradients and sums cannot tell two candidates apart
TIE = 1e-6


class TreeComparison:
    """Two trees on the same rows and gradients. `tied`: they part at a node where either way is right."""

    def __init__(self, X: NDArray, g: NDArray, h: NDArray, penalties: Penalties) -> None:
        self.X, self.g, self.h, self.penalties = X, g, h, penalties
        self.n_splits = 0
        self.tied = False

    def gain(self, rows: NDArray[np.bool_], left: NDArray[np.bool_]) -> tuple[float, float]:
        """The gain of parting these rows, and the size of the scores it is a difference of."""

        def score(which: NDArray[np.bool_]) -> float:
            return self.penalties.score(float(self.g[which].sum()), float(self.h[which].sum()))

        parts = score(rows & left) + score(rows & ~left)
        return parts - score(rows), parts

    def check(self, ours: Node, theirs: Node, rows: NDArray[np.bool_] | None = None) -> None:
        """Walk both trees; fails where they differ and no tie explains it."""
        rows = np.ones(len(self.X), bool) if rows is None else rows
        np.testing.assert_allclose(ours.cover, theirs.cover, rtol=1e-4, err_msg="cover")
        if ours.is_leaf and theirs.is_leaf:
            np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-5, atol=1e-5, err_msg="leaf value")
        elif ours.is_leaf or theirs.is_leaf:
            self._check_stop(theirs if ours.is_leaf else ours, rows)
        else:
            self._check_split(ours, theirs, rows)

    def _check_stop(self, inner: Node, rows: NDArray[np.bool_]) -> None:
        """One tree stops where the other splits: only at a gain of nothing, or of gamma, to rounding."""
        gain, size = self.gain(rows, inner.goes_left(self.X))
        limits = [0.0, self.penalties.gamma]
        if min(abs(gain - limit) for limit in limits) > TIE * max(size, 1.0):
            raise AssertionError(
                f"only one tree splits a node of {rows.sum()} rows, with gain {gain}: {inner}"
            )
        self.tied = True

    def _check_split(self, ours: Node, theirs: Node, rows: NDArray[np.bool_]) -> None:
        left, other = ours.goes_left(self.X) & rows, theirs.goes_left(self.X) & rows
        children = [theirs.left, theirs.right]
        if np.array_equal(left, rows & ~other):  # missing against present: no side is the lower one
            children, other = children[::-1], left
        if not np.array_equal(left, other):
            mine, size = self.gain(rows, left)
            yours, _ = self.gain(rows, other)
            if abs(mine - yours) > TIE * size:
                raise AssertionError(f"gains {mine} and {yours} of\n{ours}\n{theirs}")
            self.tied = True
            return
        np.testing.assert_allclose(ours.gain, theirs.gain, rtol=1e-4, atol=1e-5, err_msg="gain")
        self._check_threshold(ours, theirs, rows)
        self.n_splits += 1
        self.check(ours.left, children[0], left)
        self.check(ours.right, children[1], rows & ~left)

    def _check_threshold(self, ours: Node, theirs: Node, rows: NDArray[np.bool_]) -> None:
        """The same number, where both are on one column and part its values."""
        x = self.X[rows, ours.column].astype(np.float64)
        known = ~np.isnan(x)
        left = ours.goes_left(self.X)[rows]
        below, above = x[known & left], x[known & ~left]
        if ours.column != theirs.column or not len(below) or not len(above):
            return  # equal partitions, or missing against present
        assert below.max() <= ours.threshold < above.min()
        np.testing.assert_allclose(
            ours.threshold, theirs.threshold, rtol=1e-6, atol=1e-7, err_msg="threshold"
        )
