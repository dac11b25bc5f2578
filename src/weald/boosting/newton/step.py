"""The step of Newton boosting: gradients and hessians at the scores so far, trees on them, DART's drops.

    g, h ← first and second derivative of the loss at F
    for each output and each parallel tree:
        grow a tree on (g, h); shrink its leaf values by the learning rate
        F ← F + leaf value of each row

DART subtracts some trees from F before the gradients and shares their weight with the new ones afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.newton.dart import dropped_trees, normalised
from weald.boosting.newton.dask_rows import DaskRows, leaves_on_dask
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.paged_rows import PagedRows, leaves_on_pages
from weald.boosting.newton.recall import Recall, RecalledTree
from weald.boosting.newton.rows import BoostedRows
from weald.boosting.newton.watch import Watch
from weald.boosting.records import BoostTarget, Objective
from weald.boosting.sampling import row_factors
from weald.boosting.stage.monotone import hold_monotone
from weald.data.codes import Codes
from weald.data.table import Table
from weald.model.assemble import forest_of
from weald.model.boosted_tree import BoostedTree, compact
from weald.model.forest import Forest
from weald.model.predict import add_tree_scores, leaf_numbers
from weald.random import tree_seed
from weald.rows.blocks import PagedCodes
from weald.rows.blocks.values import value_blocks
from weald.rows.dask.codes import DaskCodes

#: a tree of the rows at hand, which only these look into
_Grown: TypeAlias = Any


class NewtonStep:
    """What changes from round to round: the trees, the scores, and with DART the leaf of every row."""

    def __init__(
        self,
        codes: Codes,
        target: BoostTarget,
        objective: Objective,
        options: BoostOptions,
        scores: Floats,
        start: Sequence[BoostedTree],
        table: Table | None,
        watch: Watch | None,
        recall: Recall | None = None,
    ) -> None:
        self.trees = list(start)
        self._recall, self._table = recall, table
        self.first_round = self.next_round = 1 + max((tree.round_ for tree in self.trees), default=-1)
        self._objective, self._options, self._scores = objective, options, scores
        self._weight = target.weight
        self._by_gradient = options.sampling_method == "gradient_based" and options.subsample < 1
        # Rows drawn by their gradients are drawn here: the grower is to take all it is given.
        self._rows = _rows_of(
            codes, target.weight, replace(options, subsample=1.0) if self._by_gradient else options
        )
        self._by_row = self._rows.large and not self._by_gradient and self._losses_by_row()
        # On a cluster, scores may be left where the rows are; then they are here only to be measured.
        self._away = None
        if isinstance(self._rows, DaskRows) and not self._by_gradient:
            self._away = self._rows if self._rows.keep_scores(objective, scores) else None
        sets = [] if watch is None or not watch.watches else watch.sets
        self._here = self._away is None or any(each.table is None for each in sets)
        if self._here and not scores.flags.writeable:
            scores = self._scores = scores.copy()
        # By row, gradients are never stored.
        room = 0 if self._by_row or self._away is not None else scores.shape[1]
        self._g, self._h = np.empty((len(scores), room)), np.empty((len(scores), room))
        self._watched = [each for each in sets if each.table is not None]
        for each in sets:
            if each.table is None:
                each.scores = scores
        self._kept: list[list[NDArray[Any]]] = [[] for _ in range(1 + len(self._watched))]
        if options.dart is not None and start:
            kept_sets = [(table, codes), *((each.table, each.pages) for each in self._watched)]
            forest = self._forest(self.trees)
            for kept, (rows, pages) in zip(self._kept, kept_sets, strict=True):
                if isinstance(pages, DaskCodes):
                    kept.extend(pages.start_leaves(forest))
                    continue
                blocks = value_blocks(rows, pages if isinstance(pages, PagedCodes) else None)
                found = (block for _, block in blocks)
                kept.extend(leaf_numbers(forest, found, n_threads=options.n_threads))

    def add_round(self, learning_rate: float) -> None:
        """Grow the trees of one round, or recall them, and bring their values to all scores."""
        options, objective, round_ = self._options, self._objective, self.next_round
        known = self._recalled(round_)
        dropped = []
        if options.dart is not None:
            weights = np.array([tree.weight for tree in self.trees])
            dropped = dropped_trees(options.dart, weights, options.seed, round_)
            self._shift(dropped, factor=-1.0, kept_too=False)
        if known is None and self._away is not None:
            self._away.begin_round(round_)
        elif not self._by_row and (known is None or objective.remembers):
            objective.gradients(self._scores, self._g, self._h, round_=round_, n_threads=options.n_threads)
        rate = learning_rate / options.num_parallel_tree
        new = known or [
            self._grow_tree(output, place, rate)
            for output in self._first_outputs()
            for place in range(options.num_parallel_tree)
        ]
        weight, factor = 1.0, 1.0
        if options.dart is not None:
            weight, factor = normalised(options.dart, len(dropped), learning_rate / len(new))
            # The scores of the rows at hand have the dropped trees out; those of watched rows still in.
            self._shift(dropped, factor=factor, kept_too=False)
            self._shift(dropped, factor=factor - 1.0, kept_too=True)
            for t in dropped:
                self.trees[t].weight *= factor
        for tree, native in new:
            tree.weight = weight
            self._take(tree, native)
        self._follow(new)
        self.next_round += 1

    def keep_rounds(self, n_rounds: int) -> None:
        """Forget the trees after the first `n_rounds` of the model, those it started from included."""
        self.trees = [tree for tree in self.trees if tree.round_ < n_rounds]

    def _recalled(self, round_: int) -> list[tuple[BoostedTree, _Grown]] | None:
        """The trees of a round that an earlier training grew; None: there is no such round any more."""
        if self._recall is None:
            return None
        known = self._recall.round(round_)
        if not known:
            if self._away is not None and round_ > self.first_round:
                self._away.recall(self._recall.until(round_), round_)
            self._recall = None
            return None
        return [(each.tree, each) for each in known]

    def _losses_by_row(self) -> bool:
        if self._options.multi_strategy == "multi_output_tree":
            return False
        return all(self._objective.row_loss(k) is not None for k in range(self._objective.n_outputs))

    def _first_outputs(self) -> range:
        many = self._options.multi_strategy == "multi_output_tree"
        return range(1) if many else range(self._objective.n_outputs)

    def _grow_tree(self, output: int, place: int, rate: float) -> tuple[BoostedTree, _Grown]:
        options, objective = self._options, self._objective
        one = slice(output, output + 1)
        part = slice(None) if options.multi_strategy == "multi_output_tree" else one
        seed = tree_seed(options.seed, self.next_round, output * options.num_parallel_tree + place)
        g, h = self._g[part], self._h[part]
        left_out = None
        if self._by_gradient:
            factor = self._row_factors(g, h, seed)
            g, h, left_out = g * factor, h * factor, factor == 0
        loss = objective.row_loss(output) if self._by_row else None
        native: _Grown
        if self._away is not None:
            native = self._away.grow_kept(part, len(self._scores), seed=seed, round_=self.next_round)
        elif loss is None:
            native = self._rows.grow(g, h, seed=seed, round_=self.next_round, weighted=objective.weighted)
        else:
            assert not isinstance(self._rows, DaskRows)
            native = self._rows.grow_loss(loss, self._scores[output], seed=seed, round_=self.next_round)
        arrays = native.arrays()
        value = arrays.pop("value")[arrays["slot"] < 0]
        if objective.refreshes_leaves:
            value = self._refreshed(native, output, value, left_out)
            if options.monotone is not None:
                value = hold_monotone(arrays, value, options.monotone)
        tree = BoostedTree(arrays=arrays, value=value * rate, output=output, round_=self.next_round)
        return tree, native

    def _row_factors(self, g: Floats, h: Floats, seed: int) -> Floats:
        if self._weight is not None and not self._objective.weighted:
            g, h = g * self._weight, h * self._weight
        return row_factors(g, h, self._options.subsample, self._options.reg_lambda, seed)

    def _refreshed(
        self, native: _Grown, output: int, value: Floats, left_out: NDArray[np.bool_] | None
    ) -> Floats:
        """Leaf values of the objective's own, where it has such."""
        leaves = self._rows.leaf_of_row(native, drawn_only=True)
        if left_out is not None:
            leaves[left_out] = -1
        columns = []
        for k in range(value.shape[1]):
            better = self._objective.leaf_values(self._scores, output + k, leaves, len(value))
            columns.append(value[:, k] if better is None else better)
        return np.stack(columns, axis=1)

    def _take(self, tree: BoostedTree, native: _Grown) -> None:
        """Add a tree to the model and to the training scores."""
        self.trees.append(tree)
        width = tree.value.shape[1]
        outputs = self._scores[tree.output : tree.output + width]
        if isinstance(native, RecalledTree):
            self._take_recalled(native, outputs)
            return
        if self._away is not None:
            self._away.move(native, tree.value * tree.weight, tree.output)
        if self._here:
            self._rows.add_scores(native, tree.value * tree.weight, outputs)
        if self._options.dart is not None:
            self._kept[0].append(compact(self._rows.leaf_of_row(native), tree.n_leaves))

    def _take_recalled(self, native: RecalledTree, outputs: Floats) -> None:
        """As `_take`; partitions on a cluster are brought up to date after the last such round."""
        assert self._recall is not None
        if not self._here:
            return
        tree = native.tree
        leaves = self._recall.leaves(native, self._rows.codes, self._table)
        value = tree.value * tree.weight
        for k, to in enumerate(outputs):
            to += value[:, k][leaves]
        if self._options.dart is not None:
            self._kept[0].append(leaves)

    def _forest(self, trees: Sequence[BoostedTree]) -> Forest:
        """Trees as rows of values go down them; it starts from nothing."""
        n_columns, n_outputs = self._rows.codes.n_columns, len(self._scores)
        return forest_of(trees, n_columns, np.zeros(n_outputs), self._objective.link)

    def _follow(self, new: list[tuple[BoostedTree, _Grown]]) -> None:
        """Bring new trees to the scores of the watched rows."""
        if not self._watched:
            return
        n_threads = self._options.n_threads
        forest = self._forest([tree for tree, _ in new])
        for kept, rows in zip(self._kept[1:], self._watched, strict=True):
            if rows.pages is not None:
                for tree, native in new:
                    leaves = self._leaves_on(native, rows.pages)
                    rows.scores[tree.output : tree.output + tree.value.shape[1]] += (
                        tree.value * tree.weight
                    )[leaves].T
                    if self._options.dart is not None:
                        kept.append(compact(leaves, tree.n_leaves))
                continue
            assert rows.table is not None
            add_tree_scores(forest, rows.table, rows.scores.T, 0, len(new), n_threads=n_threads)
            if self._options.dart is not None:
                kept.extend(leaf_numbers(forest, [rows.table], n_threads=n_threads))

    def _leaves_on(self, native: _Grown, codes: PagedCodes | DaskCodes) -> NDArray[Any]:
        """The leaf of every row of other rows in the same codes."""
        if isinstance(native, RecalledTree):
            assert self._recall is not None
            return self._recall.leaves(native, codes, None)
        if isinstance(codes, DaskCodes):
            return leaves_on_dask(native, codes)
        return leaves_on_pages(native, codes, self._options.n_threads)

    def _shift(self, dropped: list[int], *, factor: float, kept_too: bool) -> None:
        """Add `factor` times the dropped trees to the training scores, or to those of the watched rows."""
        sets: list[tuple[Floats, list[NDArray[Any]]]]
        sets = [(rows.scores, kept) for rows, kept in zip(self._watched, self._kept[1:], strict=True)]
        for scores, kept in sets if kept_too else [(self._scores, self._kept[0])]:
            for t in dropped:
                tree = self.trees[t]
                width = tree.value.shape[1]
                scores[tree.output : tree.output + width] += (factor * tree.weight) * tree.value[kept[t]].T


def _rows_of(
    codes: Codes, weight: Floats | None, options: BoostOptions
) -> BoostedRows | PagedRows | DaskRows:
    """The training rows, in memory, in pages or on a cluster."""
    if isinstance(codes, PagedCodes):
        return PagedRows(codes, weight, options)
    if isinstance(codes, DaskCodes):
        return DaskRows(codes, weight, options)
    return BoostedRows(codes, weight, options)
