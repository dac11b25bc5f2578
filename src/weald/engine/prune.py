"""Pruning one tree, and judging it on rows held out."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import _core


class PruneSequence(NamedTuple):
    """The cuts that weakest-link pruning makes, in order; alphas in the unit of the gains."""

    node: NDArray[np.int32]  # what becomes a leaf
    alpha: NDArray[np.float64]
    gain: NDArray[np.float64]  # what the cut gives up
    splits: NDArray[np.int32]  # how many inner nodes it removes
    collapse: NDArray[np.float64]  # per node: from which alpha on it splits no more


def prune_sequence(
    slot: NDArray[np.int32], right: NDArray[np.int32], gain: NDArray[np.float64]
) -> PruneSequence:
    """The weakest-link sequence of one tree; see core/tree/model/prune.h."""
    return PruneSequence(**_core.prune_sequence(slot, right, gain))


class HeldOutRows(NamedTuple):
    """A pruned tree and the rows it is judged by."""

    slot: NDArray[np.int32]
    right: NDArray[np.int32]
    collapse: NDArray[np.float64]
    alphas: NDArray[np.float64]  # ascending
    leaf: NDArray[np.int32]  # per row, in the unpruned tree
    weight: NDArray[np.float64]  # per row


def held_out_class_losses(
    rows: HeldOutRows, lane: NDArray[np.int32], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Losses at each alpha: the sum of weight * table[node, lane] over rows and outputs."""
    return _core.held_out_class_losses(*rows, lane, np.ascontiguousarray(table))


def held_out_number_losses(
    rows: HeldOutRows,
    target: NDArray[np.float64],
    value: NDArray[np.float64],
    loss: Literal["squared", "absolute", "poisson"],
    floor: float,
) -> NDArray[np.float64]:
    """Losses at each alpha: the sum of weight * loss(target, value of the node) over rows and outputs."""
    which = ("squared", "absolute", "poisson").index(loss)
    return _core.held_out_number_losses(*rows, target, np.ascontiguousarray(value), which, floor)
