"""Trees of classes and of means grown on pages: the trees of `weald.rows.memory`, to the byte.

Several trees share each pass over the pages. Where a node has few enough rows, these are brought into memory
with their codes, and its branch grows there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.fixed_point import Units
from weald.engine.storage.block_trees import (
    BlockTree,
    StatisticKind,
    StatisticRows,
    TreeJoiner,
    class_kind,
    moment_kind,
)
from weald.random import Purpose, draw
from weald.rows.blocks.codes import PagedCodes
from weald.rows.blocks.source import PageLike, PageSource
from weald.rows.growth import TreeBags

#: of memory: histograms, rows of branches, and what trees growing together know of rows may take so much each
_SHARE_OF_MEMORY = 16
#: that share a pass; more of them hardly save any reading
_MOST_TOGETHER = 16
_BYTE = np.iinfo(np.uint8).max
_LEAST_ROWS = 1


class Learnt(Protocol):
    """What trees learn of rows in pages."""

    #: what a tree adds up over its rows
    kind: StatisticKind
    #: sums of a node
    n_lanes: int
    #: (n_rows,) the rows whose weight is not 0; None: all
    present: NDArray[np.bool_] | None
    #: bytes of a row in memory, codes apart
    row_bytes: int

    def of(self, page: PageLike) -> StatisticRows:
        """That of a page's rows."""


class ClassesLearnt:
    """Class numbers of one or several outputs, and weights.

    Parameters
    ----------
    lane : ndarray of shape (n_rows, n_outputs)
        Class numbers, counted over all outputs.
    start : ndarray of shape (n_outputs + 1,)
        Where the classes of each output start among those of all.
    weights : Units, optional
        Weights in units.
    drawn : int
        Rows of a bag; 0 without bags.
    criterion : int
        By its place in `weald.rows.memory.CLASS_CRITERIA`.
    """

    def __init__(
        self,
        lane: NDArray[np.int32],
        start: NDArray[np.int64],
        weights: Units | None,
        drawn: int,
        criterion: int,
    ) -> None:
        self._lane, self._weights = lane, weights
        self.present = None if weights is None else _some(weights.units != 0)
        self.n_lanes = int(start[-1])
        self.row_bytes = 32 + 16 * (len(start) - 1)
        most = drawn or len(lane)
        self.kind = class_kind(
            start.tolist(),
            weighted=weights is not None,
            weight_power=0 if weights is None else -weights.power,
            drawn=drawn > 0,
            most=most if weights is None else int(weights.units.sum()),
            criterion=criterion,
        )

    def of(self, page: PageLike) -> StatisticRows:
        """Lanes, and weights if there are any."""
        own = slice(page.first_row, page.first_row + page.n_rows)
        lane = np.ascontiguousarray(self._lane[own], np.int32)
        if self._weights is None:
            return StatisticRows(lane=lane)
        return StatisticRows(lane=lane, weight=self._weights.units[own])


class MeansLearnt:
    """Numbers of one or several targets, in units.

    Parameters
    ----------
    sums, weights, squares : Units
        Weights times targets, weights, weights times squares.
    targets : ndarray of shape (n_rows, n_targets)
        The targets themselves.
    criterion : int
        By its place in `weald.rows.memory.MOMENT_CRITERIA`.
    """

    def __init__(
        self,
        sums: Sequence[Units],
        weights: Units,
        squares: Units,
        targets: NDArray[np.float64],
        criterion: int,
    ) -> None:
        self._sums, self._weights, self._squares, self._targets = sums, weights, squares, targets
        self.present = _some(weights.units != 0)
        self.n_lanes = len(sums) + 1
        self.row_bytes = 64 + 48 * len(sums)
        self.kind = moment_kind(
            [-each.power for each in sums],
            weight_power=-weights.power,
            square_power=-squares.power,
            criterion=criterion,
        )

    def of(self, page: PageLike) -> StatisticRows:
        """All that regression adds up."""
        own = slice(page.first_row, page.first_row + page.n_rows)
        lanes = [*(each.units[own] for each in self._sums), self._weights.units[own]]
        return StatisticRows(
            lanes=np.stack(lanes, axis=1), squares=self._squares.units[own], targets=self._targets[own]
        )


def trees_on_pages(
    codes: PagedCodes,
    learnt: Learnt,
    options: engine.NativeOptions,
    bags: TreeBags | None,
    n_threads: int,
) -> dict[str, NDArray[Any]]:
    """The arrays of one tree, or of those of some bags, as `engine.grow_class_trees` gives them."""
    n_trees = 1 if bags is None else bags.n_trees
    room = Room.of(codes.source, learnt, options, n_trees)
    joiner = TreeJoiner(n_trees)
    for first in range(0, n_trees, room.together):
        numbers = range(first, min(n_trees, first + room.together))
        trees = [_begun(codes.source, learnt, options, bags, t, room) for t in numbers]
        _grow(codes.source, learnt, trees, n_threads)
        for t, each in zip(numbers, trees, strict=True):
            joiner.add(t, each.tree)
    return joiner.finish(learnt.n_lanes)


@dataclass(frozen=True, slots=True)
class Room:
    """How much trees on pages may have in memory; they are the same whatever it is."""

    together: int  # trees that share a pass
    memory_rows: int  # that each may bring into memory at once
    histogram_bytes: int  # of each

    @classmethod
    def of(cls, source: PageSource, learnt: Learnt, options: engine.NativeOptions, n_trees: int) -> Room:
        """So many trees that what they know of rows has room, and of the rest a share each."""
        room = memory_share()
        known = (np.dtype(np.uint32).itemsize + 1) * max(source.n_rows, 1)
        together = max(1, min(n_trees, _MOST_TOGETHER, room // known))
        rows = room // together // (_code_bytes(source) + learnt.row_bytes)
        return cls(together, max(_LEAST_ROWS, rows), min(options.histogram_bytes, room // together))


def memory_share() -> int:
    """Bytes that histograms may take, or rows of branches."""
    return engine.memory_bytes() // _SHARE_OF_MEMORY


def _code_bytes(source: PageSource) -> int:
    """Bytes of the codes of a row, about: of sparse columns as many as in the first page."""
    with closing(source.pages(codes=True)) as pages:  # type: ignore[type-var]
        for page in pages:
            assert page.codes is not None
            n = page.codes.n_columns
            listed = sum(page.codes.n_entries(j) for j in range(n) if page.codes.is_sparse(j))
            dense = sum(page.codes.width(j) for j in range(n) if not page.codes.is_sparse(j))
            # Growing keeps about as much again, in the orders of small nodes.
            return 2 * (dense + 12 * -(-listed // page.n_rows)) + 1
    return 1


@dataclass(slots=True)
class _Growing:
    """A tree on its way, and what it knows of rows."""

    tree: BlockTree
    number: NDArray[np.uint32]
    times: NDArray[np.uint8] | NDArray[np.uint32] | None  # how often its bag has each row


def _begun(
    source: PageSource,
    learnt: Learnt,
    options: engine.NativeOptions,
    bags: TreeBags | None,
    t: int,
    room: Room,
) -> _Growing:
    """One tree before its first pass."""
    n_rows, present = source.n_rows, learnt.present
    n_present = n_rows if present is None else int(np.count_nonzero(present))
    times = None
    if bags is not None:
        options.seed = int(draw(bags.seed, Purpose.FOREST_TREE, bags.first_tree + t)[0])
        if bags.n_draws is not None and n_present > 0:
            drawn = _small(engine.draw_bag(bags.seed, bags.first_tree + t, bags.n_draws, n_present))
            times = drawn if present is None else np.zeros(n_rows, drawn.dtype)
            if present is not None:
                times[present] = drawn
    options.histogram_bytes = room.histogram_bytes
    tree = BlockTree(
        source.codebook,
        learnt.kind,
        options,
        n_rows=n_present if times is None else int(np.count_nonzero(times)),
        memory_rows=room.memory_rows,
        drawn=times is not None,
        weight_share=0.0 if bags is None else bags.min_weight_share,
        n_trees=1 if bags is None else bags.n_trees,
    )
    return _Growing(tree, np.zeros(n_rows, np.uint32), times)


def _grow(source: PageSource, learnt: Learnt, trees: Sequence[_Growing], n_threads: int) -> None:
    """Grow trees together: each pass brings every page by once."""
    growing = [each for each in trees if each.tree.next()]
    while growing:
        for page in source.pages(codes=any(each.tree.reads_codes for each in growing)):
            own = slice(page.first_row, page.first_row + page.n_rows)
            rows = learnt.of(page)
            for each in growing:
                each.tree.add(
                    page.codes if each.tree.reads_codes else None,
                    rows,
                    None if each.times is None else each.times[own].astype(np.uint32, copy=False),
                    first_row=page.first_row,
                    number=each.number[own],
                    n_threads=n_threads,
                )
        for each in growing:
            each.tree.take(n_threads)
        growing = [each for each in growing if each.tree.next()]


def _small(times: NDArray[np.uint32]) -> NDArray[np.uint8] | NDArray[np.uint32]:
    return times.astype(np.uint8) if int(times.max(initial=0)) <= _BYTE else times


def _some(present: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return None if present.all() else present
