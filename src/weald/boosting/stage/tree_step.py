"""Stagewise boosting by trees: grown on pseudo-residuals by squared error, leaves valued by the leaf rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.stage.leaf_rules import Leaves, leaf_values, newton_values
from weald.boosting.stage.losses import StageLoss
from weald.boosting.stage.monotone import hold_monotone, subtree_ends
from weald.boosting.stage.options import StageOptions
from weald.boosting.stage.rows import StageRows
from weald.boosting.stage.step import HeldOut, StageStep
from weald.data.codes import Codes
from weald.model.assemble import forest_of, trees_of
from weald.model.boosted_tree import BoostedTree
from weald.model.forest import Forest
from weald.model.predict import add_tree_scores
from weald.model.prune import pruned
from weald.random import tree_seed


class TreeStep(StageStep):
    """A round of trees, one per output.

    Leaf values are kept as the leaf rule gives them; the learning rate is the weight of the tree.

    Parameters
    ----------
    codes : Codes
        The coded training rows.
    loss, options, scores, weight, held_out
        See `StageStep`; the rows held out are a Table.
    start : Forest, optional
        A model to go on from: its trees come first.
    """

    def __init__(
        self,
        codes: Codes,
        loss: StageLoss,
        options: StageOptions,
        scores: Floats,
        weight: Floats | None,
        held_out: HeldOut | None = None,
        start: Forest | None = None,
    ) -> None:
        self.trees = [] if start is None else trees_of(start)
        first_round = 1 + max((tree.round_ for tree in self.trees), default=-1)
        super().__init__(loss, options, scores, weight, held_out, first_round)
        self._rows = StageRows(codes, options)

    @property
    def codes(self) -> Codes:
        """The coded training rows."""
        return self._rows.codes

    def forest(self, base_scores: Floats) -> Forest:
        """The trees so far, after these base scores."""
        return forest_of(self.trees, self.codes.n_columns, base_scores, self.loss.link)

    def _fit(self, output: int) -> tuple[BoostedTree, engine.NewtonTree, Floats]:
        """A tree, as the model keeps it and as the core does, and the values of the leaves of the latter."""
        g, h = self._g[output], self._h[output]
        seed = tree_seed(self.options.seed, self.next_round, output)
        steps = self.loss.rule == "newton" and not self.options.exact_leaves
        native = self._rows.grow(
            g, self.drawn, seed=seed, round_=self.next_round, curvature=h if steps else None
        )
        arrays = engine.tree_arrays(native)
        mean = arrays.pop("value")
        tree = BoostedTree(arrays, mean[arrays["slot"] < 0], output, self.next_round)
        joined = None
        if self.options.ccp_alpha > 0:
            tree, joined = _pruned(tree, mean, self.options.ccp_alpha)
        if self.loss.rule != "mean":
            leaves = Leaves(
                self._rows, native, self.drawn, tree.n_leaves, joined, n_threads=self.options.n_threads
            )
            if steps:
                found = newton_values(leaves.merged(native.leaf_sums()), self.loss.n_outputs)
            else:
                found = leaf_values(
                    self.loss, leaves, self.scores, output, h, exact=self.options.exact_leaves
                )
            tree.value = found[:, np.newaxis]
        if self.options.monotone is not None:
            tree.value = hold_monotone(tree.arrays, tree.value, self.options.monotone)
        value = tree.value[:, 0]
        return tree, native, value if joined is None else value[joined]

    def _take(
        self, fitted: list[tuple[BoostedTree, engine.NewtonTree, Floats]], learning_rate: float
    ) -> None:
        new = []
        for tree, native, value in fitted:
            tree.weight = learning_rate
            with np.errstate(over="ignore"):  # the step refuses scores that overflow
                shrunk = learning_rate * value
            self._rows.add_scores(native, shrunk, self.scores[tree.output])
            new.append(tree)
        self.trees += new
        if self.held_out is not None:
            zeros = np.zeros(self.loss.n_outputs)
            forest = forest_of(new, self._rows.codes.n_columns, zeros, self.loss.link)
            out = self.held_out.scores.T
            add_tree_scores(forest, self.held_out.rows, out, 0, len(new), n_threads=self.options.n_threads)


def _pruned(tree: BoostedTree, mean: Floats, alpha: float) -> tuple[BoostedTree, NDArray[np.intp]]:
    """The tree without its weakest links, and for each of its leaves the new leaf it is part of."""
    whole = forest_of([tree], 1 + int(tree.arrays["column"].max(initial=0)), np.zeros(1), "identity")
    cut = pruned(whole, mean, alpha)
    # Both in preorder: a leaf of the cut tree stands for all leaves of the whole one up to the next.
    slot = whole.slot
    end = subtree_ends(slot, whole.right)
    joined = np.empty(tree.n_leaves, np.intp)
    node = leaf = 0
    for kept in cut.slot.tolist():
        if kept >= 0:
            node += 1
            continue
        inside = slot[node : end[node]]
        joined[~inside[inside < 0]] = leaf
        leaf += 1
        node = int(end[node])
    new = trees_of(cut)[0]
    return BoostedTree(new.arrays, new.value, tree.output, tree.round_), joined
