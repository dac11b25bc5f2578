"""Rows in memory: the fast path, a whole tree or forest in one native call.

This module turns targets and weights into integer statistics, calls the grower, and dresses the arrays it
returns as a `Forest`. Rows in pages have a grower of their own (`weald.rows.blocks.statistic`); all else is
the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes
from weald.data.fixed_point import Units, common_power, room_power, weight_units, weighted_units
from weald.errors import DataError
from weald.model.forest import Forest
from weald.rows.blocks import PagedCodes
from weald.rows.blocks.statistic import ClassesLearnt, MeansLearnt, trees_on_pages
from weald.rows.growth import Grown, GrowOptions, TreeBags
from weald.rows.many_classes import check_room, shares_of_some

Weights: TypeAlias = NDArray[np.float64]

CLASS_CRITERIA = ("gini", "entropy", "misclassification")
MOMENT_CRITERIA = ("squared_error", "poisson")
LARGEST_SUM = 1e300
MEDIAN_BITS = 61  # of a target under absolute error; weights take 62 more
MOST = 2**62  # limits beyond any table mean no more than this


def grow_classification_tree(
    codes: Codes,
    labels: NDArray[np.int32],
    n_classes: int | Sequence[int],
    weight: Weights | None,
    options: GrowOptions,
    bags: TreeBags | None = None,
    *,
    balance: bool = False,
) -> Grown:
    """One tree, or those of some bags, on class labels 0 … n_classes − 1 of one or several outputs.

    A leaf's value is the share of each class, output after output.

    Parameters
    ----------
    codes : Codes
        The coded table.
    labels : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class numbers.
    n_classes : int, or one per column of `labels`
        How many classes.
    weight : ndarray of shape (n_rows,) or None
        Rows of weight 0 are absent.
    options : GrowOptions
        How to grow.
    bags : TreeBags, optional
        A tree for each of them; None for one tree on all rows.
    balance : bool
        Make the classes of an output equally heavy, in every bag.
    """
    n_draws = _draws(bags)
    weights = None if weight is None else weight_units(weight, n_draws=n_draws)
    weight_power = 0 if weights is None else weights.power
    start = np.cumsum([0, n_classes] if isinstance(n_classes, int) else [0, *n_classes])
    lane = labels.reshape(codes.n_rows, -1) + start[:-1].astype(np.int32)
    check_room(codes, lane, int(start[-1]), weight, options, bags)
    criterion, native = CLASS_CRITERIA.index(options.criterion), _native_options(options, weight_power)
    if isinstance(codes, PagedCodes):
        learnt = ClassesLearnt(lane, start, weights, n_draws, criterion)
        arrays = trees_on_pages(codes, learnt, native, bags, options.n_threads)
    else:
        arrays = engine.grow_class_trees(
            codes.native,
            np.ascontiguousarray(lane, np.int32),
            start.tolist(),
            None if weights is None else weights.units,
            -weight_power,
            balance,
            criterion,
            native,
            None if bags is None else bags.native,
            options.n_threads,
        )
    if len(arrays["some_start"]):
        value, node_value = shares_of_some(arrays, leaves_only=options.leaf_values_only)
        return Grown(_forest(codes, arrays, value, "shares", weight_power), node_value)
    bounded = options.monotone is not None and int(start[-1]) == 2
    return class_forest(codes, arrays, weight_power=weight_power, bounded=bounded)


def class_forest(
    codes: Codes,
    arrays: dict[str, NDArray[Any]],
    *,
    weight_power: int,
    bounded: bool,
) -> Grown:
    """The forest of the grower's arrays on classes; `bounded`: a constraint bounds the second share."""
    if len(arrays["shares"]):
        forest = _forest(codes, arrays, arrays["shares"], "shares", weight_power)
        return Grown(forest, np.zeros((0, arrays["shares"].shape[1])))
    shares = _shares(arrays["lanes"], arrays["weight"])
    if bounded:
        second = np.clip(shares[:, 1], arrays["lower"], arrays["upper"])
        shares = np.stack([1 - second, second], axis=1)
    return _grown(codes, arrays, shares, "shares", weight_power, keep_inner=bounded)


def _shares(lanes: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """What part of the weight of a node each class has."""
    return lanes.astype(np.float64) / weight[:, None]


def grow_regression_tree(
    codes: Codes,
    target: NDArray[np.float64],
    weight: Weights | None,
    options: GrowOptions,
    bags: TreeBags | None = None,
) -> Grown:
    """One tree, or those of some bags, on numbers, one or several per row.

    A leaf's value is the weighted mean of its rows; with the criterion "absolute_error" the weighted median.

    Parameters
    ----------
    codes : Codes
        The coded table.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Finite numbers; at least 0, and not all 0, with the criterion "poisson".
    weight : ndarray of shape (n_rows,) or None
        Rows of weight 0 are absent.
    options : GrowOptions
        How to grow.
    bags : TreeBags, optional
        A tree for each of them; None for one tree on all rows.
    """
    target = np.ascontiguousarray(target, np.float64).reshape(codes.n_rows, -1)
    weight = np.ones(len(target)) if weight is None else weight
    if options.criterion == "poisson":
        _check_counts(target, weight)
    if options.criterion == "absolute_error":
        return _grow_by_medians(codes, target, weight, options, bags)
    return _grow_by_means(codes, target, weight, options, bags)


def _draws(bags: TreeBags | None) -> int:
    """How many rows a bag has, each of which may be the largest; 0 if none can come twice."""
    return 0 if bags is None else bags.most_draws


def _check_counts(target: NDArray[np.float64], weight: Weights) -> None:
    """Refuse targets that have no Poisson deviance."""
    negative = (target < 0).any(axis=1) & (weight > 0)
    if negative.any():
        row = int(np.argmax(negative))
        raise DataError(
            "Some value(s) of y are negative which is not allowed for Poisson regression. Row "
            f"{row} holds {target[row].min():g}. Use counts or rates of at least 0, or another criterion."
        )
    empty = np.logical_not((target[weight > 0] > 0).any(axis=0)).reshape(-1)
    if empty.any():
        where = "" if len(empty) == 1 else f" of output {int(np.argmax(empty))}"
        raise DataError(
            f"Sum of y is not strictly positive which is necessary for Poisson regression. Every "
            f"target{where} is 0. Use criterion='squared_error'."
        )


def _grow_by_means(
    codes: Codes, target: NDArray[np.float64], weight: Weights, options: GrowOptions, bags: TreeBags | None
) -> Grown:
    """Squared error, Poisson deviance."""
    poisson = options.criterion == "poisson"
    offsets = np.array([0.0 if poisson else _offset(column[weight > 0]) for column in target.T])
    moments = _moments(target - offsets, weight, poisson=poisson, n_draws=_draws(bags))
    criterion = MOMENT_CRITERIA.index(options.criterion)
    native = _native_options(options, moments.weights.power)
    if isinstance(codes, PagedCodes):
        learnt = MeansLearnt(moments.sums, moments.weights, moments.squares, target, criterion)
        arrays = trees_on_pages(codes, learnt, native, bags, options.n_threads)
    else:
        arrays = engine.grow_moment_trees(
            codes.native,
            np.stack([*(sums.units for sums in moments.sums), moments.weights.units], axis=1),
            moments.squares.units,
            target,
            [-sums.power for sums in moments.sums],
            -moments.weights.power,
            -moments.squares.power,
            criterion,
            native,
            None if bags is None else bags.native,
            options.n_threads,
        )
    value = arrays["means"]
    if poisson:
        arrays = arrays | {"impurity": _told(arrays["impurity"], value)}
    if options.monotone is not None:
        # Bounds are in units of sum / weight.
        power = moments.weights.power - moments.sums[0].power
        low, high = (np.ldexp(arrays[name], power) + offsets[0] for name in ("lower", "upper"))
        value = np.clip(value, low[:, None], high[:, None])
    bounded = options.monotone is not None
    power = moments.weights.power
    return _grown(codes, arrays, value, "identity", power, keep_inner=bounded)


def _told(deviance: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """The deviance of nodes, 0 where it is no more than rounding: that of equal targets is a difference.

    Its terms are means times logarithms of sums in units, which are below 2⁶ in size.
    """
    rounding = 2.0**6 * np.finfo(np.float64).eps * mean.sum(axis=1)
    return np.where(deviance <= rounding, 0.0, deviance)


def _grow_by_medians(
    codes: Codes, target: NDArray[np.float64], weight: Weights, options: GrowOptions, bags: TreeBags | None
) -> Grown:
    """Absolute error."""
    n_draws = _draws(bags)
    weights = weight_units(weight, n_draws=n_draws)
    used = np.where(weight[:, None] > 0, target, 0.0)
    largest = float(np.abs(used).max())
    _check_size(largest, weight, 1)
    if weights.repeats:
        # Few enough rows in all for sums of 64 bits.
        power = common_power(used.ravel(), np.repeat(weights.units, used.shape[1]), spare_bits=1)
        power = min(power, room_power(float(np.abs(used * weight[:, None]).max()), n_draws) - 1)
    else:
        power = MEDIAN_BITS - int(np.frexp(largest)[1]) if largest > 0 else 0
    units = engine.to_units(used.ravel(), power)
    arrays = engine.grow_absolute_trees(
        codes.native,
        units.reshape(target.shape),
        weights.units,
        target,
        -power,
        -weights.power,
        not weights.repeats,
        _native_options(options, weights.power),
        None if bags is None else bags.native,
        options.n_threads,
    )
    value = arrays["means"]
    if options.monotone is not None:
        low, high = (np.ldexp(arrays[name], -power) for name in ("lower", "upper"))
        value = np.clip(value, low[:, None], high[:, None])
    return _grown(codes, arrays, value, "identity", weights.power, keep_inner=True)


def _grown(
    codes: Codes,
    arrays: dict[str, NDArray[Any]],
    node_value: NDArray[np.float64],
    link: str,
    power: int,
    *,
    keep_inner: bool,
) -> Grown:
    """The forest of the grower's arrays; `keep_inner`: leaves do not determine the values of inner nodes."""
    leaf = arrays["slot"] < 0
    forest = _forest(codes, arrays, node_value[leaf], link, power)
    if keep_inner:
        forest = replace(forest, inner_value=np.ascontiguousarray(node_value[~leaf]))
    return Grown(forest, node_value)


def _offset(target: NDArray[np.float64]) -> float:
    """What to subtract from targets that lie far from 0 for their spread: sums of squares would drown it."""
    low, high = float(target.min()), float(target.max())
    middle, half = low + (high - low) / 2, (high - low) / 2
    return middle if abs(middle) > 16 * half else 0.0


@dataclass(frozen=True, slots=True)
class _Moments:
    sums: list[Units]  # one per output
    weights: Units
    squares: Units


def _moments(centred: NDArray[np.float64], weight: Weights, *, poisson: bool, n_draws: int) -> _Moments:
    """The integer statistics of means: w·y, w, and w·y² (w·y·log2 y for Poisson), 0 for rows of weight 0."""
    centred = np.where(weight[:, None] > 0, centred, 0.0)
    weights = weight_units(weight, n_draws=n_draws)
    largest = float(np.abs(centred).max())
    _check_size(largest, weight, 1 if poisson else 2)
    # Squares are taken of values brought near 1, so that they do not vanish.
    size = 0 if poisson else int(np.frexp(largest)[1])
    terms = _deviance_terms(centred) if poisson else np.ldexp(centred, -size) ** 2
    squares = weighted_units(terms.sum(axis=1), weight, weights, n_draws=n_draws)
    return _Moments(
        sums=[
            weighted_units(np.ascontiguousarray(column), weight, weights, n_draws=n_draws)
            for column in centred.T
        ],
        weights=weights,
        squares=Units(squares.units, squares.power - 2 * size),
    )


def _check_size(largest: float, weight: Weights, power: int) -> None:
    """Refuse targets whose weighted sums, of the given power, come near the end of float64."""
    with np.errstate(over="ignore"):
        if max(1.0, weight.sum()) * np.float64(largest) ** power < LARGEST_SUM:
            return
    what = "y²" if power == 2 else "y"
    raise DataError(
        f"The target is too large: y reaches {largest:.3g}, and sample_weight times {what} must add up to "
        f"less than {LARGEST_SUM:.0e}. Divide y by a power of ten."
    )


def _deviance_terms(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Y · log2 y, 0 where y is 0."""
    some = target > 0
    terms = np.zeros_like(target)
    terms[some] = target[some] * engine.log2(target[some])
    return terms


def _native_options(options: GrowOptions, weight_power: int) -> engine.NativeOptions:
    native = engine.NativeOptions()
    if options.max_depth is not None:
        native.max_depth = min(options.max_depth, MOST)
    native.min_rows_split = min(options.min_rows_split, MOST)
    native.min_rows_leaf = min(options.min_rows_leaf, MOST)
    native.min_weight_leaf = min(math.ceil(math.ldexp(options.min_weight_leaf, weight_power)), MOST)
    native.max_leaves = min(options.max_leaves or 0, MOST)
    native.min_decrease = options.min_impurity_decrease
    native.max_columns = options.max_columns or 0
    native.combined_columns = options.combined_columns
    native.category_chance = options.category_chance
    native.chance_within = options.chance_within
    native.free_categories = options.free_categories
    native.tree_orders = options.tree_orders
    native.leaf_means_only = options.leaf_values_only and options.monotone is None
    native.columns = list(options.columns or ())
    native.seed = options.seed
    native.random = options.splitter == "random"
    native.random_ties = options.random_ties
    native.monotone = list(options.monotone or ())
    native.value_bytes = engine.memory_bytes() // 2
    native.search = ("auto", "histogram", "order").index(options.search)
    return native


def _forest(
    codes: Codes,
    arrays: dict[str, NDArray[Any]],
    value: NDArray[np.float64],
    link: str,
    weight_power: int,
) -> Forest:
    """The grower's arrays as a Forest: of one tree, or of several that count alike."""
    column, threshold, kind = arrays["column"], arrays["threshold"], arrays["kind"]
    n_nodes = arrays["n_nodes"] if len(arrays["n_nodes"]) else np.array([len(arrays["slot"])])
    cover = arrays["weight"]
    if weight_power != 0 or arrays["shift"].any():
        shift = np.repeat(arrays["shift"], n_nodes) if len(arrays["shift"]) == len(n_nodes) else 0
        cover = np.ldexp(cover, -(weight_power + shift))
    return Forest(
        n_columns=codes.n_columns,
        base_score=np.zeros(value.shape[1]),
        link=link,
        tree_start=np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64),
        tree_output=np.zeros(len(n_nodes), np.int32),
        tree_weight=np.ones(len(n_nodes)),
        tree_round=np.zeros(len(n_nodes), np.int32),
        slot=arrays["slot"],
        cover=cover,
        count=arrays["count"],
        impurity=arrays["impurity"],
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=arrays["missing_left"].view(np.bool_),
        right=arrays["right"],
        gain=arrays["gain"],
        side=arrays["side"],
        value=np.ascontiguousarray(value),
        set_start=arrays["set_start"],
        set_codes=arrays["set_codes"],
        set_left=arrays["set_left"].view(np.bool_),
        combination_start=arrays["combination_start"],
        combination_column=arrays["combination_column"],
        combination_coefficient=arrays["combination_coefficient"],
    )
