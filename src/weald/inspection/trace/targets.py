"""Labels and numbers as the integers that were added up: equations 5 and 6 of docs/methods/trees.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.data.fixed_point import Units, common_power, room_power, weight_units, weighted_units
from weald.inspection.trace.columns import Ints
from weald.inspection.trace.judges import ClassJudge, MomentJudge
from weald.inspection.trace.medians import MedianStatistic
from weald.inspection.trace.records import NodeTrace
from weald.inspection.trace.sides import Rows
from weald.inspection.trace.statistics import LaneStatistic, Statistic

MEDIAN_BITS = 61  # of a target under absolute error
MEAN_BITS = 62  # of a target of a leaf


@dataclass(frozen=True, slots=True, eq=False)
class TracedTarget:
    """What a tree learnt from: the sums of its rows, which rows these are, and what its leaves predict."""

    statistic: Statistic
    rows: Rows
    values: Callable[[Sequence[NodeTrace]], Floats]
    weight_power: int  # of two, from real weights to units
    total: int  # the weight of all rows, in units


def class_target(
    labels: NDArray[np.int32],
    n_classes: Sequence[int],
    names: tuple[str, ...],
    weight: Floats | None,
    criterion: str,
    *,
    counts: Ints | None = None,
    n_draws: int = 0,
    balance: bool = False,
    bounded: bool = False,
    shown_power: int = 0,
) -> TracedTarget:
    """Labels of one or several outputs.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_rows, n_outputs)
        Class numbers.
    n_classes : sequence of int
        How many classes each output has.
    names : tuple of str
        What all of them are called.
    weight : ndarray of shape (n_rows,) or None
        Rows of weight 0 are absent.
    criterion : str
        As the grower calls it.
    counts : ndarray of int64, shape (n_rows,), optional
        How often the bag of the tree has each row, of `n_draws` at most.
    balance : bool
        Whether the classes of an output are equally heavy in the bag.
    bounded : bool
        Whether a monotone constraint bounds the share of the second class.
    shown_power : int
        Of two: the model tells weights multiplied with it.
    """
    units = (
        Units(np.ones(len(labels), np.int64), 0) if weight is None else weight_units(weight, n_draws=n_draws)
    )
    weights = units.units if counts is None else units.units * counts
    start = tuple(np.cumsum([0, *n_classes]).tolist())
    lane = labels + np.array(start[:-1], np.int32)
    power = units.power
    if balance:
        weights, shift = _balanced(lane, start, weights)
        power += shift
    lanes = np.zeros((len(labels), start[-1]), np.int64)
    for k in range(labels.shape[1]):
        lanes[np.arange(len(labels)), lane[:, k]] += weights
    told = shown_power - power
    statistic = LaneStatistic(
        names=names,
        lanes=lanes,
        lane_powers=(-told,) * start[-1],
        judge=ClassJudge(criterion, start),
        score_power=told,
        weight_power=told,
        factor=1.0 / len(n_classes),
    )

    def values(leaves: Sequence[NodeTrace]) -> Floats:
        found = []
        for node in leaves:
            assert node.rows is not None
            cell = lanes[node.rows].sum(axis=0)
            shares = cell.astype(np.float64) / max(1.0, float(cell[: start[1]].sum()))
            if bounded:
                second = np.clip(shares[1], node.lower, node.upper)
                shares = np.array([1 - second, second])
            found.append(shares)
        return np.array(found)

    return TracedTarget(statistic, np.flatnonzero(weights > 0), values, power, int(weights.sum()))


def _balanced(lane: NDArray[np.int32], start: tuple[int, ...], weights: Ints) -> tuple[Ints, int]:
    """Weights with which the classes of every output weigh the same, and the power of two they have."""
    total = int(weights.sum())
    real = weights.astype(np.float64)
    for k in range(lane.shape[1]):
        in_class = np.bincount(lane[:, k], weights, start[-1])[lane[:, k]]
        real = np.where(
            weights > 0, real * (total / ((start[k + 1] - start[k]) * np.maximum(in_class, 1))), 0.0
        )
    exponent = math.frexp(float(real.sum()))[1] - 1
    shift = min(40, 61 - exponent - 1)
    return np.maximum(np.rint(np.ldexp(real, shift)).astype(np.int64), (weights > 0).astype(np.int64)), shift


def number_target(
    target: Floats,
    weight: Floats | None,
    criterion: str,
    *,
    counts: Ints | None = None,
    n_draws: int = 0,
    bounded: bool = False,
    shown_power: int = 0,
) -> TracedTarget:
    """Numbers of one or several outputs, (n_rows, n_outputs); parameters as of `class_target`."""
    weight = np.ones(len(target)) if weight is None else weight
    if criterion == "absolute_error":
        return _by_medians(target, weight, counts, n_draws, bounded=bounded, shown_power=shown_power)
    poisson = criterion == "poisson"
    offsets = tuple(0.0 if poisson else _offset(column[weight > 0]) for column in target.T)
    centred = np.where(weight[:, np.newaxis] > 0, target - np.array(offsets), 0.0)
    weights = weight_units(weight, n_draws=n_draws)
    sums = [
        weighted_units(np.ascontiguousarray(column), weight, weights, n_draws=n_draws) for column in centred.T
    ]
    squares = _squares(centred, weight, weights, n_draws, poisson=poisson)
    lanes = np.stack([*(each.units for each in sums), weights.units], axis=1)
    loss = squares.units
    if counts is not None:
        lanes, loss = lanes * counts[:, np.newaxis], loss * counts
    one = len(sums) == 1
    sum_power, weight_power = sums[0].power, weights.power
    score_power = (-sum_power if poisson else weight_power - 2 * sum_power) if one else weight_power
    if poisson and not one:
        score_power = 0
    statistic = LaneStatistic(
        names=(*(("sum",) if one else tuple(f"sum {k}" for k in range(len(sums)))), "weight"),
        lanes=lanes,
        lane_powers=(*(each.power - shown_power for each in sums), weight_power - shown_power),
        judge=MomentJudge(poisson, tuple(each.power for each in sums), weight_power),
        score_power=score_power + shown_power,
        weight_power=shown_power - weight_power,
        value_power=weight_power - sum_power,
        factor=(math.log(2) if poisson else 1.0) / len(sums),
        offset=offsets[0],
        offsets=offsets,
        squares=loss,
        square_power=shown_power - squares.power,
    )

    def values(leaves: Sequence[NodeTrace]) -> Floats:
        found = []
        for node in leaves:
            assert node.rows is not None
            means = [_mean(column[node.rows], lanes[node.rows, -1]) for column in target.T]
            if bounded:
                low, high = statistic.real_value(node.lower), statistic.real_value(node.upper)
                means = [min(max(mean, low), high) for mean in means]
            found.append(means)
        return np.array(found)

    rows = np.flatnonzero(lanes[:, -1] > 0)
    return TracedTarget(statistic, rows, values, weight_power, int(lanes[:, -1].sum()))


def _offset(target: Floats) -> float:
    """The middle of a target that lies far from 0 for its spread."""
    low, high = float(target.min()), float(target.max())
    middle, half = low + (high - low) / 2, (high - low) / 2
    return middle if abs(middle) > 16 * half else 0.0


def _squares(centred: Floats, weight: Floats, weights: Units, n_draws: int, *, poisson: bool) -> Units:
    """What impurities are told by: w·y², of values brought near 1, or w·y·log2 y."""
    if poisson:
        terms = np.zeros_like(centred)
        some = centred > 0
        terms[some] = centred[some] * engine.log2(centred[some])
        return weighted_units(terms.sum(axis=1), weight, weights, n_draws=n_draws)
    size = int(np.frexp(float(np.abs(centred).max()))[1])
    terms = np.ldexp(centred, -size) ** 2
    found = weighted_units(terms.sum(axis=1), weight, weights, n_draws=n_draws)
    return Units(found.units, found.power - 2 * size)


def _mean(target: Floats, weights: Ints) -> float:
    """The weighted mean in fixed point of these rows alone: equation 5."""
    if not len(target):
        return 0.0
    if (target == target[0]).all():
        return float(target[0])
    exponent = math.frexp(float(np.abs(target).max()))[1]
    fixed = np.rint(np.ldexp(target, MEAN_BITS - exponent)).astype(np.int64)
    total = sum(w * v for w, v in zip(weights.tolist(), fixed.tolist(), strict=True))
    return math.ldexp(float(total) / float(int(weights.sum())), exponent - MEAN_BITS)


def _by_medians(
    target: Floats, weight: Floats, counts: Ints | None, n_draws: int, *, bounded: bool, shown_power: int
) -> TracedTarget:
    """Absolute error."""
    weights = weight_units(weight, n_draws=n_draws)
    used = np.where(weight[:, np.newaxis] > 0, target, 0.0)
    largest = float(np.abs(used).max())
    if weights.repeats:
        power = common_power(used.ravel(), np.repeat(weights.units, used.shape[1]), spare_bits=1)
        power = min(power, room_power(float(np.abs(used * weight[:, np.newaxis]).max()), n_draws) - 1)
    else:
        power = MEDIAN_BITS - int(np.frexp(largest)[1]) if largest > 0 else 0
    units = engine.to_units(used.ravel(), power).reshape(used.shape)
    taken = weights.units if counts is None else weights.units * counts
    statistic = MedianStatistic(
        names=("weight", "loss"),
        target=target,
        values=units if weights.repeats else units.astype(np.float64),
        weights=taken,
        value_power=-power,
        weight_power=shown_power - weights.power,
    )

    def values(leaves: Sequence[NodeTrace]) -> Floats:
        found = []
        for node in leaves:
            assert node.rows is not None
            medians = statistic.medians(node.rows)
            if bounded:
                low, high = statistic.real_value(node.lower), statistic.real_value(node.upper)
                medians = tuple(min(max(each, low), high) for each in medians)
            found.append(medians)
        return np.array(found)

    rows = np.flatnonzero(taken > 0)
    return TracedTarget(statistic, rows, values, weights.power, int(taken.sum()))
