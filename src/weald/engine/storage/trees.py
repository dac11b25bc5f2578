"""Trees of rows that pass by in blocks: what blocks count and add up, and the tree of it; see core/rows."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.boost import NewtonTree, RowLoss
from weald.engine.codes import NativeCodes

BlockGradients: TypeAlias = _core.BlockGradients
GradientCounts: TypeAlias = _core.GradientCounts
LevelSums: TypeAlias = _core.LevelSums
LevelTask: TypeAlias = _core.LevelTask
PagedTree: TypeAlias = _core.PagedTree
Numbers: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
_NO_WEIGHT = np.zeros(0)


class RowDraw(NamedTuple):
    """Which rows a tree is grown on: a share of them, by hash of the seed and the row's number."""

    share: float = 1.0
    seed: int = 0
    only: int = -1  # the one row that is left where chance left none


def loss_of_block(
    loss: RowLoss,
    scores: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    whole: bool,
    first_row: int,
    draw: RowDraw,
) -> BlockGradients:
    """The gradients of a loss at the scores of a block; `loss.target` is that of the block."""
    weights = _NO_WEIGHT if weight is None else weight
    name, parameters, output, target = loss
    return _core.BlockGradients.of_loss(
        name, parameters, output, scores, target, weights, whole, first_row, draw
    )


def gradients_of_block(
    g: NDArray[np.float64],
    h: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    whole: bool,
    first_row: int,
    draw: RowDraw,
) -> BlockGradients:
    """Gradients and hessians of a block, (outputs, rows)."""
    weights = _NO_WEIGHT if weight is None else weight
    return _core.BlockGradients.of_arrays(g, h, weights, whole, first_row, draw)


def drawn_rows(weight: NDArray[np.float64] | None, n_rows: int, draw: RowDraw) -> NDArray[np.bool_]:
    """Which rows of a table are drawn: (n_rows,)."""
    return _core.drawn_of_block(_NO_WEIGHT if weight is None else weight, n_rows, 0, draw).view(np.bool_)


def nearest_row(
    weight: NDArray[np.float64] | None, n_rows: int, *, first_row: int, draw: RowDraw
) -> tuple[int, int]:
    """What came nearest to being drawn in a block: (by how much, row number); row -1: there is none."""
    return _core.nearest_of_block(_NO_WEIGHT if weight is None else weight, n_rows, first_row, draw)


def block_of(table: NativeCodes, first: int, n_rows: int) -> NativeCodes:
    """The codes of neighbouring rows of a table in memory."""
    return _core.block_of(table, first, n_rows)


def leaf_of_block(tree: NewtonTree, codes: NativeCodes, *, n_threads: int) -> NDArray[np.int32]:
    """The leaf of every row of a block."""
    return _core.leaf_of_block(tree, codes, n_threads)


def add_numbered_values(
    values: NDArray[np.float64], number: Numbers, scores: NDArray[np.float64], *, n_threads: int
) -> None:
    """Add to each row's score the value of the node it is in, in place."""
    _core.add_numbered_values(values, number, scores, n_threads)
