"""What workers do with a partition and trees that are there already.

Those of an earlier training on the same codes go by the codes; those of a model to go on from, whose
thresholds are no cuts of these, by the values that were coded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine.storage import pages as native
from weald.model.forest import Forest
from weald.model.predict import add_tree_scores, leaf_numbers
from weald.rows.blocks.values import Decoder
from weald.rows.dask.partition import Partition
from weald.rows.dask.reading import CodingPlan, Opened

_BLOCK = 1 << 16  # rows that are values at a time


class Recalled(NamedTuple):
    """Trees whose thresholds are cuts of the codebook."""

    forest: Forest
    schema: Schema


def add_forest(partition: Partition, trees: Recalled, scores: Floats) -> None:
    """Add the trees, one after another, to scores, (n_outputs, n_rows), in place."""
    for rows, table in _blocks(partition, trees):
        add_tree_scores(trees.forest, table, scores.T[rows], 0, trees.forest.n_trees, n_threads=1)


def leaves(partition: Partition, trees: Recalled) -> list[NDArray[np.generic]]:
    """Per tree, the leaf of every row, in as few bytes as tell it."""
    blocks = (table for _, table in _blocks(partition, trees))
    return list(leaf_numbers(trees.forest, blocks, n_threads=1))


class Started(NamedTuple):
    """A model to go on from, and how partitions become its columns."""

    forest: Forest
    plan: CodingPlan


def start_scores(opened: Opened, started: Started, scores: Floats, n_rows: int) -> Floats:
    """Scores, (n_outputs, n_rows or 1), with the model's trees added."""
    new = np.array(np.broadcast_to(scores, (len(scores), n_rows)), np.float64, order="C")
    table = _values(opened, started)
    add_tree_scores(started.forest, table, new.T, 0, started.forest.n_trees, n_threads=1)
    return new


def start_leaves(opened: Opened, started: Started) -> list[NDArray[np.generic]]:
    """Per tree of the model, the leaf of every row."""
    return list(leaf_numbers(started.forest, [_values(opened, started)], n_threads=1))


def _values(opened: Opened, started: Started) -> Table:
    plan = started.plan
    return plan.schema.align(opened.settled(plan.names, plan.kinds), estimator=plan.owner)


def sums(partition: Partition) -> NDArray[np.uint64]:
    """What tells the codes of the rows and their places in the whole table."""
    return native.code_sums(partition.codes, first_row=partition.first_row)


def _blocks(partition: Partition, trees: Recalled) -> Iterator[tuple[slice, Table]]:
    decoder = Decoder(partition.codebook_columns, trees.schema, trees.forest)
    for first in range(0, partition.n_rows, _BLOCK):
        n = min(_BLOCK, partition.n_rows - first)
        yield slice(first, first + n), decoder.table(engine.block_of(partition.codes, first, n), n)
