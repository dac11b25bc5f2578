"""Boosting on a Dask cluster: the trees of `BoostedRows`, to the byte, from partitions on workers.

The scores of the rows stay with the partitions where every row's gradients depend on it alone: each round is
a task a partition, from the scores before and the trees of the round. Every 16 rounds they are a fresh task,
of the start and all trees so far, so that no chain of tasks grows long. Other losses are worked out here,
where the scores then are, and their gradients are sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.boosting.newton.losses import NativeObjective
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.paged_rows import check_options
from weald.boosting.newton.plans import TreePlans, are_whole
from weald.boosting.records import Objective
from weald.rows.dask import work
from weald.rows.dask.codes import DaskCodes
from weald.rows.dask.trees import Recalled
from weald.rows.dask.work import Asked, Loss, Move, RowValues
from weald.rows.paged.extras import narrowest

if TYPE_CHECKING:
    from weald.rows.dask.cluster import Remote

#: rounds after which scores begin anew
ROUNDS_OF_A_CHAIN = 16


@dataclass(frozen=True, slots=True)
class GrownOnDask:
    """A tree, and how its rows are found."""

    native: engine.NewtonTree
    leaf_of_number: NDArray[np.int32]
    draw: engine.RowDraw
    tree: tuple[int, int]
    passes: tuple[work.Bytes, ...]
    short: bool

    def arrays(self) -> engine.TreeArrays:
        """The arrays of the tree, with `value` and `cover` of every node."""
        return engine.tree_arrays(self.native)

    def move(self, value: Floats, output: int) -> Move:
        """What it adds to scores: `value` (leaves, width)."""
        of_number = [np.append(column, 0.0)[self.leaf_of_number] for column in value.T]
        return Move(self.tree, self.passes, self.short, np.stack(of_number), output)


class DaskRows:
    """The training rows of one fit: grows trees and brings their values to the scores."""

    #: gradients that are worked out here are stored
    large = False

    def __init__(self, codes: DaskCodes, weight: Floats | None, options: BoostOptions) -> None:
        check_options(options)
        self.codes = codes
        self._cluster, self._weight, self._options = codes.cluster, weight, options
        self._whole = weight is not None and are_whole(weight)
        self._plans = TreePlans(options, codes.n_rows, codes.n_columns)
        self._round, self._n_trees = -1, 0
        self._scores: _RemoteScores | None = None
        self._values = self._send_values(np.empty((0, codes.n_rows)))

    def keep_scores(self, objective: Objective, scores: Floats) -> bool:
        """Leave the scores with the partitions, if gradients can be worked out there; else say no.

        `scores` are those at the start, (n_outputs, n_rows).
        """
        native = isinstance(objective, NativeObjective) and not objective.refreshes_leaves
        if not native or self._options.dart is not None:
            return False
        assert isinstance(objective, NativeObjective)
        self._values = self._send_values(objective.targets_of_core)
        shared = self._options.multi_strategy == "multi_output_tree"
        by_row = not shared and objective.row_loss(0) is not None
        loss = Loss(*objective.loss_of_core)
        self._scores = _RemoteScores(self.codes, loss, scores, self._values, by_row=by_row)
        return True

    def begin_round(self, round_: int) -> None:
        """Bring the scores of the partitions up to this round."""
        assert self._scores is not None
        self._scores.begin_round(round_)

    def recall(self, trees: Recalled, round_: int) -> None:
        """Add trees of an earlier training, all of the rounds before, to the scores of the partitions."""
        assert self._scores is not None
        self._scores.recall(trees, round_)

    def grow(self, g: Floats, h: Floats, *, seed: int, round_: int, weighted: bool) -> GrownOnDask:
        """One tree on gradients and hessians of shape (outputs, n_rows), as `BoostedRows.grow`."""
        name = (round_, self._cluster.number())
        sources = [
            self._cluster.submit(
                "gradients", (*name, p), work.given_gradients, _copy(g[:, rows]), _copy(h[:, rows])
            )
            for p, rows in enumerate(self.codes.slices)
        ]
        present = weighted and self._weight is not None
        return self._grow(_Learnt(sources, 0, len(g), None, present), seed, round_)

    def grow_kept(self, outputs: slice, n_outputs: int, *, seed: int, round_: int) -> GrownOnDask:
        """One tree on the gradients of some of the outputs at the scores that the partitions have."""
        kept = self._scores
        assert kept is not None
        some = range(*outputs.indices(n_outputs))
        learnt = _Learnt(kept.sources, some.start, len(some), kept.row_loss, present=False)
        return self._grow(learnt, seed, round_)

    def _grow(self, learnt: _Learnt, seed: int, round_: int) -> GrownOnDask:
        options = self._plans.of_tree(seed, round_)
        self._n_trees = self._n_trees + 1 if round_ == self._round else 0
        self._round = round_
        present = learnt.present
        asked = Asked(
            tree=(round_, self._n_trees),
            first_output=learnt.first_output,
            n_outputs=learnt.n_outputs,
            loss=learnt.loss,
            draw=engine.RowDraw(options.row_share, options.grow.seed),
            whole=present or self._whole,
            only_present=present,
            squared=engine.PagedTree.squares(self.codes.native, options, learnt.n_outputs),
            short=work.numbers_are_short(options),
        )
        counts, asked = self._counted(learnt, asked)
        weighted = self._weight is not None
        tree = engine.PagedTree(self.codes.native, counts, options, weighted, asked.whole)
        passes: tuple[work.Bytes, ...] = ()
        while tree.next():
            passes = (*passes, tree.task().to_bytes())
            sums = tree.sums(self.codes.native)
            sums.take(self._visited(learnt, asked, passes))
            tree.take(sums, self._options.n_threads)
        native = tree.finish()
        leaves = tree.leaf_of_numbers()
        return GrownOnDask(native, leaves, asked.draw, asked.tree, passes, asked.short)

    def _counted(self, learnt: _Learnt, asked: Asked) -> tuple[engine.GradientCounts, Asked]:
        """What the gradients of all rows that are drawn are counted as."""
        counts = self._counts(learnt, asked)
        if counts.n_drawn > 0:
            return counts, asked
        # A tree needs a row: the one that came nearest to being drawn.
        weight = self._weight
        _, row = engine.nearest_row(weight, self.codes.n_rows, first_row=0, draw=asked.draw)
        asked = asked._replace(draw=asked.draw._replace(only=row))
        return self._counts(learnt, asked), asked

    def _counts(self, learnt: _Learnt, asked: Asked) -> engine.GradientCounts:
        name = (*asked.tree, self._cluster.number())
        parts = self._cluster.each("count", name, work.count, self._partitions(learnt), asked)
        total = self._cluster.total("add_counts", name, work.add_counts, parts)
        return engine.GradientCounts.of_bytes(total)

    def _visited(self, learnt: _Learnt, asked: Asked, passes: tuple[work.Bytes, ...]) -> NDArray[np.int64]:
        """What the newest pass adds up of all rows."""
        name = (*asked.tree, len(passes) - 1)
        rows = self._partitions(learnt)
        parts = self._cluster.each("visit", name, work.visit, rows, asked, passes)
        return self._cluster.total("add_sums", name, work.add_sums, parts)

    def _partitions(self, learnt: _Learnt) -> list[tuple[Remote, Remote, Remote]]:
        return list(zip(self.codes.partitions, self._values, learnt.sources, strict=True))

    def _send_values(self, target: Floats) -> list[Remote]:
        """Target, (n_targets, n_rows), and weights of each partition."""
        number = self._cluster.number()
        found = []
        for p, rows in enumerate(self.codes.slices):
            weight = None if self._weight is None else narrowest(self._weight[rows])
            part = np.ascontiguousarray(target[:, rows])
            narrow = narrowest(part.reshape(-1)).reshape(part.shape)
            found.append(self._cluster.submit("values", (number, p), RowValues, narrow, weight))
        return found

    def move(self, tree: GrownOnDask, value: Floats, output: int) -> None:
        """Add a tree's leaf values, (leaves, width), to the scores that the partitions have."""
        assert self._scores is not None
        self._scores.take(tree.move(value, output))

    def add_scores(self, tree: GrownOnDask, value: Floats, scores: Floats) -> None:
        """Add a tree's leaf values, (leaves, width), to `scores`, (width, n_rows), in place."""
        leaf = self.codes.leaves(tree.move(value, 0), tree.leaf_of_number)
        for k, to in enumerate(scores):
            column = np.ascontiguousarray(value[:, k])
            engine.add_numbered_values(column, leaf, to, n_threads=self._options.n_threads)

    def leaf_of_row(self, tree: GrownOnDask, *, drawn_only: bool = False) -> NDArray[np.int32]:
        """The leaf of every row; -1 for rows the tree was not grown on, if `drawn_only`."""
        leaves = leaves_on_dask(tree, self.codes)
        if drawn_only:
            leaves[np.logical_not(engine.drawn_rows(self._weight, len(leaves), tree.draw))] = -1
        return leaves


def leaves_on_dask(tree: GrownOnDask, codes: DaskCodes) -> NDArray[np.int32]:
    """The leaf of every row of some partitions that are coded as those the tree was grown on."""
    move = Move(tree.tree, tree.passes, tree.short, np.empty((0, 0)), 0)
    return codes.leaves(move, tree.leaf_of_number).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What a tree is grown on: a source of gradients per partition, and the outputs it speaks for."""

    sources: list[Remote]
    first_output: int
    n_outputs: int
    loss: Loss | None
    present: bool  # weights are in the gradients already


class _RemoteScores:
    """The scores of each partition, and what gradients are worked out from."""

    def __init__(
        self,
        codes: DaskCodes,
        loss: Loss,
        start: Floats,
        values: list[Remote],
        *,
        by_row: bool,
    ) -> None:
        self._codes, self._cluster, self._values = codes, codes.cluster, values
        self._loss = loss
        self.row_loss = loss if by_row else None
        self._waiting: list[Move] = []  # trees that the scores do not have yet
        self._newest: list[Move] = []  # trees since the last of `_history`
        self._history: list[Remote] = []  # all earlier trees, some rounds in each
        self._version = self._n_rounds = 0
        self._start = [
            self._cluster.submit("start", (p,), work.start_scores, _short(start[:, rows]), _length(rows))
            for p, rows in enumerate(codes.slices)
        ]
        self._scores = self._start
        self.sources: list[Remote] = []

    def take(self, move: Move) -> None:
        """Take a tree, which the next round begins with."""
        self._waiting.append(move)

    def recall(self, trees: Recalled, round_: int) -> None:
        """Take the trees of all rounds before."""
        self._history = [self._cluster.submit("trees", (round_,), _together, trees)]
        self._version += 1
        self._scores = self._from_the_start(round_)

    def begin_round(self, round_: int) -> None:
        """Bring the scores up to date; what gradients come from is in `sources` then."""
        if self._waiting:
            self._add_waiting(round_)
        if self.row_loss is not None:
            self.sources = self._scores
            return
        rows = list(zip(self._values, self._scores, strict=True))
        self.sources = self._cluster.each("all_gradients", (round_,), work.all_gradients, rows, self._loss)

    def _add_waiting(self, round_: int) -> None:
        moves, self._waiting = self._waiting, []
        self._newest += moves
        self._n_rounds += 1
        version = self._version = self._version + 1
        parts = list(zip(self._codes.partitions, self._scores, strict=True))
        scores = self._cluster.each("scores", (round_,), work.add_moves, parts, moves, version)
        if self._n_rounds % ROUNDS_OF_A_CHAIN == 0:
            scores = self._fresh(scores, round_)
        self._scores = scores

    def _fresh(self, scores: list[Remote], round_: int) -> list[Remote]:
        """The same scores, as tasks that depend on no earlier scores."""
        self._cluster.wait(scores)
        newest, self._newest = self._newest, []
        self._history.append(self._cluster.submit("trees", (round_,), list, newest))
        fresh = self._from_the_start(round_)
        self._cluster.wait(fresh)
        return fresh

    def _from_the_start(self, round_: int) -> list[Remote]:
        parts = enumerate(zip(self._codes.partitions, self._start, strict=True))
        task, history, version = work.scores_from_the_start, self._history, self._version
        return [
            self._cluster.submit("fresh_scores", (round_, p), task, part, start, history, version)
            for p, (part, start) in parts
        ]


def _together(trees: Recalled) -> list[Recalled]:
    return [trees]


def _copy(values: Floats) -> Floats:
    return np.ascontiguousarray(values)


def _short(scores: Floats) -> Floats:
    """Scores, or those of one row if all rows have the same."""
    first = np.array(scores[:, :1])
    alike = scores.strides[1] == 0 or bool((scores == first).all())
    return first if alike else np.ascontiguousarray(scores)


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)
