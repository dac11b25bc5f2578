"""What workers do with a partition and trees that an earlier training grew on the same codes."""

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


def sums(partition: Partition) -> NDArray[np.uint64]:
    """What tells the codes of the rows and their places in the whole table."""
    return native.code_sums(partition.codes, first_row=partition.first_row)


def _blocks(partition: Partition, trees: Recalled) -> Iterator[tuple[slice, Table]]:
    decoder = Decoder(partition.codebook_columns, trees.schema, trees.forest)
    for first in range(0, partition.n_rows, _BLOCK):
        n = min(_BLOCK, partition.n_rows - first)
        yield slice(first, first + n), decoder.table(engine.block_of(partition.codes, first, n), n)
