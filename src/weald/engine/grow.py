"""Growing trees: one, or those of a forest."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NO_WEIGHTS, NativeCodes

NativeOptions: TypeAlias = _core.GrowOptions
NativeBags: TypeAlias = _core.Bags
TreeArrays: TypeAlias = dict[str, NDArray[Any]]


def rank_thresholds(
    column: NDArray[np.int32], threshold: NDArray[np.float64], kind: NDArray[np.uint8]
) -> NDArray[np.uint32]:
    """The codes of inner nodes; see core/tree/statistics/threshold_ranks.h."""
    return _core.rank_thresholds(
        np.ascontiguousarray(column, np.int32),
        np.ascontiguousarray(threshold, np.float64),
        np.ascontiguousarray(kind, np.uint8),
    )


def grow_class_trees(
    codes: NativeCodes,
    lane: NDArray[np.int32],
    output_start: list[int],
    weights: NDArray[np.int64] | None,
    weight_power: int,
    balance: bool,
    criterion: int,
    options: NativeOptions,
    bags: NativeBags | None,
    n_threads: int,
) -> TreeArrays:
    """Trees on classes; see core/tree/kinds/tree.h."""
    units = NO_WEIGHTS if weights is None else weights
    return _core.grow_class_trees(
        codes, lane, output_start, units, weight_power, balance, criterion, options, bags, n_threads
    )


def grow_moment_trees(
    codes: NativeCodes,
    lanes: NDArray[np.int64],
    squares: NDArray[np.int64],
    targets: NDArray[np.float64],
    sum_powers: list[int],
    weight_power: int,
    square_power: int,
    criterion: int,
    options: NativeOptions,
    bags: NativeBags | None,
    n_threads: int,
) -> TreeArrays:
    """Trees on squared error or Poisson deviance; see core/tree/kinds/tree.h."""
    return _core.grow_moment_trees(
        codes,
        lanes,
        squares,
        targets,
        sum_powers,
        weight_power,
        square_power,
        criterion,
        options,
        bags,
        n_threads,
    )


def grow_absolute_trees(
    codes: NativeCodes,
    values: NDArray[np.int64],
    weights: NDArray[np.int64],
    targets: NDArray[np.float64],
    value_power: int,
    weight_power: int,
    wide: bool,
    options: NativeOptions,
    bags: NativeBags | None,
    n_threads: int,
) -> TreeArrays:
    """Trees on absolute error; see core/tree/kinds/tree.h."""
    return _core.grow_absolute_trees(
        codes, values, weights, targets, value_power, weight_power, wide, options, bags, n_threads
    )


def draw_bag(seed: int, tree: int, n_draws: int, n_rows: int) -> NDArray[np.uint32]:
    """How often a tree's bag has each of the rows; see core/tree/rows/bags.h."""
    return _core.draw_bag(seed, tree, n_draws, n_rows)


def draw_class_bag(bags: NativeBags, tree: int, class_of_row: NDArray[np.int32]) -> NDArray[np.uint32]:
    """How often a tree's bag has each row, drawn class by class; -1: absent. See core/tree/rows/bags.h."""
    return _core.draw_class_bag(bags, tree, class_of_row)
