"""Trees of classes and of means whose rows pass by in blocks: those of memory, to the bit; see core/rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes
from weald.engine.grow import NativeOptions
from weald.engine.storage.trees import Numbers

StatisticKind: TypeAlias = _core.StatisticKind
_NO_TIMES = np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class StatisticRows:
    """Rows of a block: those of classes have `lane`, and `weight` if weighted; those of means the rest.

    Attributes
    ----------
    lane : ndarray of shape (n, n_outputs)
        The class of a row in each output, counted over all outputs.
    weight : ndarray of shape (n,)
        Weights in units; 0 is an absent row.
    lanes : ndarray of shape (n, n_targets + 1)
        Weights times targets, and weights, in units.
    squares : ndarray of shape (n,)
        Weights times squares, in units.
    targets : ndarray of shape (n, n_targets)
        The targets.
    """

    lane: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), np.int32))
    weight: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    lanes: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 1), np.int64))
    squares: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    targets: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 1)))


def class_kind(
    output_start: Sequence[int], *, weighted: bool, weight_power: int, drawn: bool, most: int, criterion: int
) -> StatisticKind:
    """Trees of classes; `most`: what a tree's rows weigh in units, about; `drawn`: rows are those of bags."""
    return _core.class_kind(list(output_start), weighted, weight_power, drawn, most, criterion)


def moment_kind(
    sum_powers: Sequence[int], *, weight_power: int, square_power: int, criterion: int
) -> StatisticKind:
    """Trees of means."""
    return _core.moment_kind(list(sum_powers), weight_power, square_power, criterion)


class BlockTree:
    """One tree: while `next()`, add every block in the order of rows and `take()`.

    Parameters
    ----------
    codebook : NativeCodes
        What gives codes their meaning.
    kind : StatisticKind
        What the tree adds up.
    options : NativeOptions
        How it grows; they are copied.
    n_rows : int
        Rows of the tree: those of weight above 0, once each.
    memory_rows : int
        How many may be brought into memory at once. The tree does not depend on it.
    drawn : bool
        Rows count as often as a bag has them.
    weight_share : float
        Least weight of a leaf, as a share of the tree's.
    n_trees : int
        Trees like this one that the model gets: their leaves must have room.
    """

    def __init__(
        self,
        codebook: NativeCodes,
        kind: StatisticKind,
        options: NativeOptions,
        *,
        n_rows: int,
        memory_rows: int,
        drawn: bool = False,
        weight_share: float = 0.0,
        n_trees: int = 1,
    ) -> None:
        self.native = _core.BlockTree(
            codebook, kind, options, n_rows, memory_rows, drawn, weight_share, n_trees
        )

    def next(self) -> bool:
        """Whether there is another pass."""
        return self.native.next()

    @property
    def reads_codes(self) -> bool:
        """Whether that pass reads codes."""
        return self.native.reads_codes

    def add(
        self,
        codes: NativeCodes | None,
        rows: StatisticRows,
        times: NDArray[np.uint32] | None,
        *,
        first_row: int,
        number: Numbers,
        n_threads: int,
    ) -> None:
        """Add a block; `number`, 0 before the first pass, is the tree's to write."""
        self.native.add(
            codes,
            rows.lane,
            rows.weight,
            rows.lanes,
            rows.squares,
            rows.targets,
            _NO_TIMES if times is None else times,
            first_row,
            number,
            n_threads,
        )

    def take(self, n_threads: int) -> None:
        """Go on from what the pass has added up."""
        self.native.take(n_threads)


class TreeJoiner:
    """Grown trees, one after another."""

    def __init__(self, n_trees: int) -> None:
        self._native = _core.TreeJoiner(n_trees)

    def add(self, t: int, tree: BlockTree) -> None:
        """The arrays of a tree that has had its last pass."""
        self._native.add(t, tree.native)

    def finish(self, n_lanes: int) -> dict[str, NDArray[Any]]:
        """The arrays of all, as `grow_class_trees` gives them."""
        arrays: dict[str, NDArray[Any]] = self._native.finish(n_lanes)
        return arrays
