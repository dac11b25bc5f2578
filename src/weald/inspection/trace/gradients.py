"""Gradients and hessians as the integers that were added up: equations 5, 6 of docs/methods/boosting.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.data.fixed_point import common_power
from weald.inspection.trace.columns import Ints
from weald.inspection.trace.judges import NewtonJudge, NewtonManyJudge
from weald.inspection.trace.records import NodeTrace
from weald.inspection.trace.sides import Rows
from weald.inspection.trace.statistics import LaneStatistic
from weald.random import Purpose, draw

_WORD_SPARE = 32
_G_BITS, _H_BITS = 15, 16
_ENOUGH_BITS = 5
_SQUARE_BITS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NewtonTerms:
    """The penalties of boosting and how its sums are kept, in real units."""

    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    max_step: float = 0.0
    min_weight: float = 0.0
    smooth: float = 0.0
    category_lambda: float = 0.0
    believes: bool = False
    packed: bool = False  # whether sums of few bits may find splits
    narrow_rows: int = 1 << 16  # from so many rows on 16 bits per row, below 30 for every sum
    seed: int = 0
    round_number: int = 0


class Powers(NamedTuple):
    """Of two: real values times 2^power are units."""

    g: int
    h: int


@dataclass(frozen=True, slots=True, eq=False)
class TracedGradients:
    """What a tree of boosting was grown on: sums that found splits, and sums that told covers, values."""

    found_by: LaneStatistic
    told_by: LaneStatistic
    values: Callable[[Sequence[NodeTrace]], Floats]
    powers: Powers  # of what splits were found by
    wide: bool  # whether these are the sums in full


def gradient_target(
    g: Floats,
    h: Floats,
    rows: Rows,
    weight: Floats | None,
    terms: NewtonTerms,
    *,
    whole: bool,
) -> TracedGradients:
    """Gradients and hessians of one output, (n_rows,), of the rows that a tree was grown on.

    `whole`: the weights count repeated rows.
    """
    n_rows = len(g)
    given = _Weighed.of(g, h, rows, weight, whole=whole)
    wide = Powers(common_power(given.g, given.times), common_power(given.h, given.times))
    told_by = _statistic(_lanes(given, wide, n_rows, rows), wide, terms)
    powers, lanes = wide, None
    if terms.packed:
        packed = _packed(_Weighed.of(g, h, rows, weight, whole=False), given, rows, n_rows, terms)
        if packed is not None:
            powers, lanes = packed
    found_by = told_by if lanes is None else replace(_statistic(lanes, powers, terms), sees_zeros=False)
    if terms.believes and lanes is not None and weight is None:
        found_by = replace(
            found_by, row_squares=lanes[:, 0] ** 2, row_times=_ones_at(rows, n_rows), square_unit=1.0
        )
    elif terms.believes:
        narrow = lanes is not None and len(rows) >= terms.narrow_rows
        counted = _Weighed.of(g, h, rows, weight, whole=whole and not narrow)
        found_by = _with_squares(found_by, counted, rows, n_rows, powers)
    judge, width = told_by.judge, powers.h - powers.g

    def values(leaves: Sequence[NodeTrace]) -> Floats:
        found = []
        for node in leaves:
            assert node.rows is not None
            cell = told_by.cell(node.rows)[np.newaxis]
            value = math.ldexp(float(judge.value(cell)[0]), wide.h - wide.g)
            value = min(max(value, math.ldexp(node.lower, width)), math.ldexp(node.upper, width))
            cover = math.ldexp(float(cell[0, 1]), -wide.h)
            found.append([0.0 if cover < terms.min_weight else value])
        return np.array(found)

    return TracedGradients(found_by, told_by, values, powers, lanes is None)


def many_gradients(
    g: Floats, h: Floats, rows: Rows, weight: Floats | None, terms: NewtonTerms, *, whole: bool
) -> TracedGradients:
    """Those of one tree for several outputs: (n_outputs, n_rows)."""
    n_outputs, n_rows = g.shape
    given = [_Weighed.of(g[k], h[k], rows, weight, whole=whole) for k in range(n_outputs)]
    powers = Powers(
        min(common_power(each.g, each.times) for each in given),
        min(common_power(each.h, each.times) for each in given) - n_outputs.bit_length(),
    )
    lanes = np.zeros((n_rows, 2 * n_outputs), np.int64)
    for k, each in enumerate(given):
        lanes[:, [k, n_outputs + k]] = _lanes(each, powers, n_rows, rows)
    judge = NewtonManyJudge(n_outputs, _judge(powers, terms), math.ldexp(terms.min_weight, powers.h))
    statistic = LaneStatistic(
        names=(*(f"G {k}" for k in range(n_outputs)), *(f"H {k}" for k in range(n_outputs))),
        lanes=lanes,
        lane_powers=(powers.g,) * n_outputs + (powers.h,) * n_outputs,
        judge=judge,
        score_power=powers.h - 2 * powers.g,
        weight_power=-powers.h,
        has_impurity=False,
    )

    def values(leaves: Sequence[NodeTrace]) -> Floats:
        cells = np.stack([statistic.cell(node.rows) for node in leaves if node.rows is not None])
        return np.ldexp(judge.values(cells), powers.h - powers.g)

    return TracedGradients(statistic, statistic, values, powers, True)


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """Gradients and hessians of the rows drawn, times weights, and how many rows each stands for."""

    g: Floats
    h: Floats
    times: Ints
    raw: Floats  # gradients as they are
    factor: Floats  # what they were multiplied with
    multiplied: bool  # whether by weights

    @classmethod
    def of(cls, g: Floats, h: Floats, rows: Rows, weight: Floats | None, *, whole: bool) -> _Weighed:
        """Of some rows; whole weights count rows instead."""
        raw, hessian = np.ascontiguousarray(g[rows]), np.ascontiguousarray(h[rows])
        ones, times = np.ones(len(rows)), np.ones(len(rows), np.int64)
        if weight is None:
            return cls(raw, hessian, times, raw, ones, False)
        if whole:
            return cls(raw, hessian, weight[rows].astype(np.int64), raw, ones, False)
        factor = weight[rows]
        return cls(factor * raw, factor * hessian, times, raw, factor, True)


def _lanes(given: _Weighed, powers: Powers, n_rows: int, rows: Rows) -> Ints:
    lanes = np.zeros((n_rows, 2), np.int64)
    lanes[rows, 0] = given.times * engine.to_units(given.g, powers.g)
    lanes[rows, 1] = given.times * engine.to_units(given.h, powers.h)
    return lanes


def _judge(powers: Powers, terms: NewtonTerms) -> NewtonJudge:
    return NewtonJudge(
        reg_lambda=math.ldexp(terms.reg_lambda, powers.h),
        alpha=math.ldexp(terms.reg_alpha, powers.g),
        max_step=math.ldexp(terms.max_step, powers.g - powers.h),
        smooth=math.ldexp(terms.smooth, powers.h),
        category_lambda=math.ldexp(terms.category_lambda, powers.h),
    )


def _statistic(lanes: Ints, powers: Powers, terms: NewtonTerms) -> LaneStatistic:
    return LaneStatistic(
        names=("G", "H"),
        lanes=lanes,
        lane_powers=(powers.g, powers.h),
        judge=_judge(powers, terms),
        score_power=powers.h - 2 * powers.g,
        weight_power=-powers.h,
        value_power=powers.h - powers.g,
        has_impurity=False,
    )


def _packed(
    weighed: _Weighed, given: _Weighed, rows: Rows, n_rows: int, terms: NewtonTerms
) -> tuple[Powers, Ints] | None:
    """Sums of few bits: words below so many rows, else 16 bits per row, rounded by chance. None: unfit."""
    narrow = len(rows) >= terms.narrow_rows
    used = weighed if narrow else given
    counts = [engine.count_exponents(each, used.times) for each in (used.g, used.h)]
    tops = [_highest(each) for each in counts]
    if narrow:
        powers = Powers(_G_BITS - tops[0], _H_BITS - tops[1])
    else:
        powers = Powers(
            common_power(used.g, used.times, spare_bits=_WORD_SPARE),
            common_power(used.h, used.times, spare_bits=_WORD_SPARE),
        )
    suits = all(_short_tail(c, p + top) for c, p, top in zip(counts, powers, tops, strict=True))
    if (given.h < 0).any() or not suits:
        return None
    lanes = np.zeros((n_rows, 2), np.int64)
    if narrow:
        words = draw(terms.seed, Purpose.ROUNDING, terms.round_number, rows.astype(np.uint64))
        low = (words & np.uint64(0xFFFFFFFF)).astype(np.float64) * 2.0**-32
        high = (words >> np.uint64(32)).astype(np.float64) * 2.0**-32
        lanes[rows, 0] = np.floor(np.clip(np.ldexp(used.g, powers.g) + low, -32767, 32767)).astype(np.int64)
        lanes[rows, 1] = np.floor(np.clip(np.ldexp(used.h, powers.h) + high, 0, 65535)).astype(np.int64)
        return powers, lanes
    lanes[rows, 0] = used.times * engine.to_units(used.g, powers.g)
    least = np.where(used.h > 0, used.times, 0)
    lanes[rows, 1] = np.maximum(used.times * engine.to_units(used.h, powers.h), least)
    return powers, lanes


def _highest(counts: NDArray[np.int64]) -> int:
    found = np.flatnonzero(counts)
    return (int(found[-1]) if len(found) else 0) + engine.LOWEST_EXPONENT


def _short_tail(counts: NDArray[np.int64], bits: int) -> bool:
    """Whether so many bits for the largest value tell the others well enough."""
    top = _highest(counts)
    exponent = np.flatnonzero(counts)
    n = counts[exponent]
    away = exponent + engine.LOWEST_EXPONENT - top
    sums = n * np.ldexp(0.75, away)
    few = away + bits < _ENOUGH_BITS
    small, total = float(sums[few].sum()), float(sums.sum())
    return total > 0 and small < 0.01 * total and 2 * int(n[few].sum()) < int(n.sum())


def _with_squares(
    statistic: LaneStatistic, given: _Weighed, rows: Rows, n_rows: int, powers: Powers
) -> LaneStatistic:
    """The same with w·g² of every row in whole units, by which many categories are judged: equation 11."""
    g_top = _top(given.raw) if len(rows) else 0
    factor_top = _top(given.factor)
    share = np.ldexp(given.factor, _SQUARE_BITS - factor_top)
    part = np.ldexp(given.raw, -g_top)
    squares, times = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    squares[rows] = given.times * np.rint(part * part * share).astype(np.int64)
    times[rows] = given.times
    power, mean = 2 * g_top + factor_top - _SQUARE_BITS, 1.0
    if given.multiplied:
        mean = math.ldexp(float(np.rint(share).sum()), -_SQUARE_BITS) / len(rows)
        power += factor_top
    unit = math.ldexp(mean, power + 2 * powers.g)
    return replace(statistic, row_squares=squares, row_times=times, square_unit=unit)


def _ones_at(rows: Rows, n_rows: int) -> Ints:
    found = np.zeros(n_rows, np.int64)
    found[rows] = 1
    return found


def _top(values: Floats) -> int:
    """The exponent that all of them are below."""
    largest = float(np.abs(values).max(initial=0.0))
    return math.frexp(largest)[1] if largest > 0 else 0
