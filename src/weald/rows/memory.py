"""Rows in memory: the fast path, a whole tree in one native call.

This module turns targets and weights into integer statistics, calls the grower, and dresses the arrays it
returns as a `Forest`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes
from weald.data.fixed_point import Units, weight_units, weighted_units
from weald.errors import DataError
from weald.model.forest import Forest, rank_codes

Weights: TypeAlias = NDArray[np.float64]

CLASS_CRITERIA = ("gini", "entropy")
MOST = 2**62  # limits beyond any table mean no more than this


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowOptions:
    """How one tree grows. `search` picks how splits are found; the tree is the same whichever it is."""

    criterion: str
    splitter: Literal["best", "random"] = "best"
    max_depth: int | None = None
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_leaves: int | None = None
    min_impurity_decrease: float = 0.0
    max_columns: int | None = None
    #: per column -1, 0 or 1: predictions fall, may do anything, or rise along it; None: no constraint
    monotone: tuple[int, ...] | None = None
    seed: int = 0
    search: Literal["auto", "histogram", "order"] = "auto"
    n_threads: int = 1


class Grown(NamedTuple):
    """One tree, and the value every node would have as a leaf, in preorder: what pruning needs."""

    forest: Forest
    node_value: NDArray[np.float64]  # (nodes, width)


def grow_classification_tree(
    codes: Codes,
    labels: NDArray[np.int32],
    n_classes: int | Sequence[int],
    weight: Weights | None,
    options: GrowOptions,
) -> Grown:
    """One tree on class labels 0 … n_classes − 1 of one or several outputs.

    A leaf's value is the share of each class, output after output.

    Parameters
    ----------
    codes : Codes
        The coded table.
    labels : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class numbers.
    n_classes : int, or one a column of `labels`
        How many classes.
    weight : ndarray of shape (n_rows,) or None
        Rows of weight 0 are absent.
    options : GrowOptions
        How to grow.
    """
    weights = None if weight is None else weight_units(weight)
    weight_power = 0 if weights is None else weights.power
    start = np.cumsum([0, n_classes] if isinstance(n_classes, int) else [0, *n_classes])
    lane = labels.reshape(codes.n_rows, -1) + start[:-1]
    arrays = engine.grow_class_tree(
        codes.native,
        np.ascontiguousarray(lane, np.int32),
        start.tolist(),
        None if weights is None else weights.units,
        -weight_power,
        CLASS_CRITERIA.index(options.criterion),
        _native_options(options, weight_power, gain_power=-weight_power),
        options.n_threads,
    )
    weight_of_node = arrays["weight"].astype(np.float64)
    shares = arrays["lanes"].astype(np.float64) / weight_of_node[:, None]
    return _grown(codes, arrays, shares, "shares", weight_power)


def grow_regression_tree(
    codes: Codes, target: NDArray[np.float64], weight: Weights | None, options: GrowOptions
) -> Grown:
    """One tree on numbers, by squared error. A leaf's value is the weighted mean of its rows."""
    target = np.ascontiguousarray(target, np.float64).reshape(codes.n_rows, -1)
    used = np.ones(len(target), np.bool_) if weight is None else weight > 0
    offsets = [_offset(column[used]) for column in target.T]
    moments = _moments(target - offsets, used, weight)
    arrays = engine.grow_moment_tree(
        codes.native,
        np.stack([*(sums.units for sums in moments.sums), moments.weights.units], axis=1),
        moments.squares.units,
        target,
        [-sums.power for sums in moments.sums],
        -moments.weights.power,
        -moments.squares.power,
        _native_options(options, moments.weights.power, gain_power=moments.gain_power),
        options.n_threads,
    )
    return _grown(codes, arrays, arrays["means"], "identity", moments.weights.power)


def _grown(
    codes: Codes, arrays: dict[str, NDArray[Any]], node_value: NDArray[np.float64], link: str, power: int
) -> Grown:
    return Grown(_one_tree(codes, arrays, node_value[arrays["slot"] < 0], link, power), node_value)


def _offset(target: NDArray[np.float64]) -> float:
    """What to subtract from targets that lie far from 0 for their spread: sums of squares would drown it."""
    low, high = float(target.min()), float(target.max())
    middle, half = low + (high - low) / 2, (high - low) / 2
    return middle if abs(middle) > 16 * half else 0.0


@dataclass(frozen=True, slots=True)
class _Moments:
    sums: list[Units]  # one an output
    weights: Units
    squares: Units

    @property
    def gain_power(self) -> int:
        """Brings scores to real units: the core brings the sums there itself if there are several outputs."""
        return self.weights.power - (2 * self.sums[0].power if len(self.sums) == 1 else 0)


LARGEST_SQUARES = 1e300


def _moments(centred: NDArray[np.float64], used: NDArray[np.bool_], weight: Weights | None) -> _Moments:
    """The integer statistics of squared error: w·y, w and w·y² of every row, 0 for rows of weight 0."""
    centred = np.where(used[:, None], centred, 0.0)
    if weight is None:
        weight = np.ones(len(centred))
    weights = weight_units(weight)
    largest = float(np.abs(centred).max())
    with np.errstate(over="ignore"):
        if not max(1.0, weight.sum()) * np.square(largest) < LARGEST_SQUARES:
            raise DataError(
                f"The target is too large for squared error: y reaches {largest:.3g}, and sample_weight "
                f"times y² must add up to less than {LARGEST_SQUARES:.0e}. Divide y by a power of ten."
            )
    # Squares are taken of values brought near 1, so that they do not vanish.
    size = int(np.frexp(largest)[1])
    squares = weighted_units((np.ldexp(centred, -size) ** 2).sum(axis=1), weight, weights)
    return _Moments(
        sums=[weighted_units(np.ascontiguousarray(column), weight, weights) for column in centred.T],
        weights=weights,
        squares=Units(squares.units, squares.power - 2 * size),
    )


def _native_options(options: GrowOptions, weight_power: int, *, gain_power: int) -> engine.NativeOptions:
    native = engine.NativeOptions()
    if options.max_depth is not None:
        native.max_depth = min(options.max_depth, MOST)
    native.min_rows_split = min(options.min_rows_split, MOST)
    native.min_rows_leaf = min(options.min_rows_leaf, MOST)
    native.min_weight_leaf = min(math.ceil(math.ldexp(options.min_weight_leaf, weight_power)), MOST)
    native.max_leaves = min(options.max_leaves or 0, MOST)
    native.min_decrease = options.min_impurity_decrease
    native.gain_power = gain_power
    native.max_columns = options.max_columns or 0
    native.seed = options.seed
    native.search = ("auto", "histogram", "order").index(options.search)
    return native


def _one_tree(
    codes: Codes, arrays: dict[str, NDArray[Any]], value: NDArray[np.float64], link: str, weight_power: int
) -> Forest:
    """The grower's arrays as a Forest of one tree."""
    column, threshold, kind = arrays["column"], arrays["threshold"], arrays["kind"]
    return Forest(
        n_columns=codes.n_columns,
        base_score=np.zeros(value.shape[1]),
        link=link,
        tree_start=np.array([0, len(arrays["slot"])], np.int64),
        tree_output=np.zeros(1, np.int32),
        tree_weight=np.ones(1),
        tree_round=np.zeros(1, np.int32),
        slot=arrays["slot"],
        cover=np.ldexp(arrays["weight"].astype(np.float64), -weight_power),
        count=arrays["count"],
        impurity=arrays["impurity"],
        column=column,
        threshold=threshold,
        code=rank_codes(column, threshold, kind),
        kind=kind,
        missing_left=arrays["missing_left"].view(np.bool_),
        right=arrays["right"],
        gain=arrays["gain"],
        side=arrays["side"],
        value=np.ascontiguousarray(value),
        set_start=arrays["set_start"],
        set_codes=arrays["set_codes"],
        set_left=arrays["set_left"].view(np.bool_),
    )
