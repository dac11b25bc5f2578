"""What workers do with one partition: tasks, each a function of its arguments alone.

A growing tree reaches a worker as the passes so far (core/rows/shipping.h). What a partition remembers of the
pass before saves going through all of them again; a worker that has not seen them does go through them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats, TableLike
from weald.data.native import native_columns
from weald.data.schema import Schema
from weald.engine import blocks
from weald.engine.storage import pages as native
from weald.engine.storage.trees import LevelTask
from weald.rows.dask.partition import Partition, Place
from weald.rows.dask.reading import CodingPlan, Kinds, Look, Opened, Reader, Roles
from weald.rows.dask.trees import Recalled, add_forest
from weald.rows.paged.learning import Learner

#: bytes that travel between processes
Bytes: TypeAlias = NDArray[np.uint8]
_DEEPEST_OF_SHORTS = 14  # a tree of this depth has fewer nodes than 2^16


# --------------------------------------------------------------------------- reading and coding


class RowValues(NamedTuple):
    """What is learnt of the rows of a partition, in as few bytes as keep every value."""

    target: NDArray[np.generic]  # (n_targets, n_rows)
    weight: NDArray[np.generic] | None

    def targets(self) -> Floats:
        """The target as numbers."""
        return np.ascontiguousarray(self.target, np.float64)

    def weights(self) -> Floats | None:
        """The weights as numbers."""
        return None if self.weight is None else np.ascontiguousarray(self.weight, np.float64)


class Coded(NamedTuple):
    """What is told of a coded partition."""

    missing: list[int]  # columns with missing rows
    entries: list[int]  # per sparse column


def open_partition(reader: Reader, X: TableLike, values: Roles, number: int) -> Opened:
    """A partition as columns."""
    return reader.open(X, values, number)


def look(opened: Opened) -> Look:
    """The size of a partition and its kept columns."""
    return opened.look()


def learn(
    opened: Opened,
    rows: RowValues,
    first_row: int,
    columns: tuple[tuple[Hashable, ...] | None, Kinds],
    asked: tuple[int, str],
) -> Learner:
    """What a partition tells of levels and cuts; `columns`: their names in order, and kinds."""
    max_bins, unknown = asked
    weight = rows.weights()
    learner = Learner(max_bins, unknown=unknown, weighted=weight is not None)  # type: ignore[arg-type]
    learner.add(first_row, opened.settled(*columns), weight)
    return learner


def merge(*learners: Learner) -> Learner:
    """What neighbouring partitions tell together."""
    first = learners[0].copy()
    for other in learners[1:]:
        first.merge(other)
    return first


class Learnt(NamedTuple):
    """The columns, and what gives codes their meaning."""

    schema: Schema
    codebook: Sequence[native.CodebookColumn]


def settle(learner: Learner, schema: Schema | None) -> Learnt:
    """What all partitions together tell; `schema`: the columns, if they are known."""
    learner = learner.copy()
    known = learner.schema() if schema is None else schema
    return Learnt(known, native.codebook_columns(learner.codebook(known, 1)))


def code(opened: Opened, plan: CodingPlan, first_row: int) -> Partition:
    """The rows of a partition in codes of the whole table."""
    aligned = plan.schema.align(opened.settled(plan.names, plan.kinds), estimator=plan.owner)
    codebook = native.make_codebook(plan.codebook)
    block = blocks.code_block(codebook, native_columns(aligned), aligned.n_rows, n_threads=1)
    page = native.make_page(block, store=0, first_row=first_row, pack=False)
    return Partition(page, plan.codebook, first_row, aligned.n_rows)


def recode(partition: Partition, codebook: Sequence[native.CodebookColumn]) -> Partition:
    """The same rows by a codebook that differs in default codes of columns whose every row is listed."""
    return Partition(partition.page, codebook, partition.first_row, partition.n_rows)


def describe(partition: Partition) -> Coded:
    """What the coordinator wants to know of a coded partition."""
    codes = partition.codes
    sparse = [j for j in range(codes.n_columns) if codes.is_sparse(j)]
    missing = [j for j in range(codes.n_columns) if codes.has_missing(j)]
    return Coded(missing, [codes.n_entries(j) for j in sparse])


def column(partition: Partition, j: int) -> NDArray[np.generic]:
    """The codes of one column."""
    return np.array(partition.codes.column(j))


# --------------------------------------------------------------------------- scores and gradients


class Loss(NamedTuple):
    """A loss of the core, without its target."""

    name: str
    parameters: Floats


class Move(NamedTuple):
    """What a tree adds to scores: the numbers of its nodes tell the rows, and the values of these."""

    tree: tuple[int, int]  # round, tree of the round
    passes: tuple[Bytes, ...]
    short: bool  # numbers have 16 bits
    values: Floats  # (outputs, numbers)
    output: int  # the first


def start_scores(start: Floats, n_rows: int) -> Floats:
    """Scores before the first round, (n_outputs, n_rows), from these or those that all rows have."""
    return np.array(np.broadcast_to(start, (len(start), n_rows)), np.float64, order="C")


def add_moves(partition: Partition, scores: Floats, moves: Sequence[Move | Recalled], version: int) -> Floats:
    """The scores with some trees added."""
    new = scores.copy()
    for move in moves:
        if isinstance(move, Recalled):
            add_forest(partition, move, new)
            continue
        number = numbers_of(partition, move.tree, move.passes, short=move.short)
        for k, values in enumerate(move.values):
            engine.add_numbered_values(values, number, new[move.output + k], n_threads=1)
    partition.memory.keep_scores(version, new)
    return new


def scores_from_the_start(
    partition: Partition, start: Floats, history: Sequence[Sequence[Move | Recalled]], version: int
) -> Floats:
    """The scores of a version from all trees so far, or as they are remembered here: the same."""
    known = partition.memory.scores(version)
    if known is not None:
        return known
    return add_moves(partition, start, [move for part in history for move in part], version)


def all_gradients(rows: RowValues, scores: Floats, loss: Loss) -> Floats:
    """Gradients and hessians of every output: (2, n_outputs, n_rows)."""
    both = np.empty((2, *scores.shape))
    engine.fill_gradients(loss.name, loss.parameters, scores, rows.targets(), both[0], both[1], n_threads=1)
    return both


def given_gradients(g: Floats, h: Floats) -> Floats:
    """Gradients that the coordinator has worked out."""
    return np.stack([g, h])


class Asked(NamedTuple):
    """How the rows of a tree have their gradients, and which of them are drawn."""

    tree: tuple[int, int]
    first_output: int
    n_outputs: int
    loss: Loss | None  # worked out from scores, row by row; None: gradients are given
    draw: engine.RowDraw
    whole: bool  # weights are read as repeated rows
    only_present: bool  # weights are in the gradients already
    squared: bool
    short: bool


def _gradients(partition: Partition, rows: RowValues, source: Floats, asked: Asked) -> engine.BlockGradients:
    """`source`: scores, (n_outputs, n_rows), or gradients, (2, n_outputs, n_rows)."""
    weight = rows.weights()
    if asked.only_present and weight is not None:
        weight = (weight > 0).astype(np.float64)
    first, k = partition.first_row, asked.first_output
    if asked.loss is None:
        part = slice(k, k + asked.n_outputs)
        return engine.gradients_of_block(
            np.ascontiguousarray(source[0, part]),
            np.ascontiguousarray(source[1, part]),
            weight,
            whole=asked.whole,
            first_row=first,
            draw=asked.draw,
        )
    targets = rows.targets()
    loss = engine.RowLoss(*asked.loss, k, targets[k if len(targets) > 1 else 0])
    return engine.loss_of_block(loss, source[k], weight, whole=asked.whole, first_row=first, draw=asked.draw)


# --------------------------------------------------------------------------- growing


def count(partition: Partition, rows: RowValues, source: Floats, asked: Asked) -> Bytes:
    """What the gradients of a partition are counted as."""
    counts = engine.GradientCounts()
    counts.add_block(_gradients(partition, rows, source, asked), asked.squared, 1)
    return counts.to_bytes()


def add_counts(*parts: Bytes) -> Bytes:
    """Counts of several partitions."""
    total = engine.GradientCounts.of_bytes(parts[0])
    for part in parts[1:]:
        total.add(engine.GradientCounts.of_bytes(part))
    return total.to_bytes()


def visit(
    partition: Partition, rows: RowValues, source: Floats, asked: Asked, passes: tuple[Bytes, ...]
) -> NDArray[np.int64]:
    """What the last of these passes adds up of a partition."""
    memory, before = partition.memory, len(passes) - 1
    place = memory.take(asked.tree, before) if before else None
    if place is None:
        number = _routed(partition, passes[:-1], short=asked.short)
        place = Place(before, number, np.empty(0 if before else partition.n_rows, np.uint32))
    task = LevelTask.of_bytes(passes[-1])
    sums = task.sums(partition.codebook)
    codes = partition.codes if task.reads_codes else None
    sums.add_block(_gradients(partition, rows, source, asked), codes, place.number, place.kept, 1)
    memory.put(asked.tree, place._replace(n_passes=len(passes)))
    return sums.told(1)


def add_sums(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of several partitions."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _routed(partition: Partition, passes: Sequence[Bytes], *, short: bool) -> engine.Numbers:
    """The node of every row after some passes."""
    n = partition.n_rows
    number: engine.Numbers = np.zeros(n, np.uint16) if short else np.zeros(n, np.uint32)
    for each in passes:
        task = LevelTask.of_bytes(each)
        if task.splits:
            task.route(partition.codes, number, 1)
    return number


def numbers_of(
    partition: Partition, tree: tuple[int, int], passes: Sequence[Bytes], *, short: bool
) -> engine.Numbers:
    """The same of a finished tree, only to be read."""
    known = partition.memory.number(tree, len(passes))
    return _routed(partition, passes, short=short) if known is None else known


def leaves(partition: Partition, move: Move, leaf_of_number: NDArray[np.int32]) -> NDArray[np.generic]:
    """The leaf of every row, in as few bytes as tell it."""
    number = numbers_of(partition, move.tree, move.passes, short=move.short)
    most = int(leaf_of_number.max(initial=0))
    kind = np.uint8 if most < 256 else np.uint16 if most < 65_536 else np.uint32
    small = np.maximum(leaf_of_number, 0).astype(kind)
    return small[number]


def numbers_are_short(options: engine.NewtonOptions) -> bool:
    """Whether 16 bits tell the nodes of a tree."""
    return bool(options.grow.max_depth <= _DEEPEST_OF_SHORTS)
