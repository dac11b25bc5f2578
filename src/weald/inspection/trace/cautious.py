"""How boosting splits by categories: few, from the ends of their order, or as far as they are believed.

Equations 10 and 11 of docs/methods/boosting.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.inspection.trace.columns import Ints
from weald.inspection.trace.judges import NewtonJudge
from weald.inspection.trace.proposals import NodeView, Proposal, best_of, codes_of
from weald.inspection.trace.rules import TreeRules
from weald.inspection.trace.sides import Bounds, Parts, Sides, empty_sides, interleaved
from weald.inspection.trace.statistics import LaneStatistic

_PRIOR_ROWS, _ERRORS, _TIMES_AS_RARE = 10.0, 4.0, 4.0
_NO_GAIN = "it gains nothing once the penalty of categories is paid"


def listed_from_ends(
    view: NodeView,
    statistic: LaneStatistic,
    judge: NewtonJudge,
    parts: Parts,
    bounds: Bounds,
    *,
    chance: float = 0.0,
    times_as_rare: float = 1.0,
) -> Proposal:
    """Some categories from either end of their order against all others; rare ones are never listed."""
    rules, strict = view.rules, judge.for_categories()
    cells = statistic.cells(parts)
    total = statistic.cell(view.rows)
    rows_a_weight = len(view.rows) / max(1.0, float(total[1]))
    few = _Rarity(rules, rows_a_weight, times_as_rare)
    common = [i for i in range(parts.n) if not few(int(cells[i, 1]))]
    places = strict.place(cells)
    order = sorted(common, key=lambda i: (float(places[i]), i))
    m = len(order)
    n_listed = min(m - 1 if m == parts.n else m, rules.max_categories or m)
    sets: list[list[int]] = []
    left: list[Ints] = []
    for turned in (order, order[::-1]):
        sums, group = np.zeros(2, np.int64), 0.0
        for k in range(n_listed):
            sums = sums + cells[turned[k]]
            group += float(cells[turned[k], 1]) * rows_a_weight
            if group < rules.group_rows:
                continue
            group = 0.0
            if chance > 0 and not _beyond_chance(strict, sums, total, chance, k + 1, m):
                continue
            sets.append(turned[: k + 1])
            left.append(sums)
    against_missing = len(parts.missing) > 0 and not (
        few(int(statistic.cell(parts.missing)[1])) or few(int(cells[:, 1].sum()))
    )
    proposal = _candidates(statistic, strict, parts, bounds, sets, left, against_missing=against_missing)
    within = proposal.sides.within(rules.min_rows_leaf, rules.min_units_leaf) & proposal.sides.kept
    best = best_of(proposal.sides.score, within)
    if strict.category_lambda > 0 and best is not None and not view.gains(float(proposal.sides.score[best])):
        proposal.refused = _NO_GAIN
    return proposal


@dataclass(frozen=True, slots=True)
class _Rarity:
    """Whether a weight stands for too few rows to be listed."""

    rules: TreeRules
    rows_a_weight: float
    times: float

    def __call__(self, weight: int) -> bool:
        rows = float(weight) * self.rows_a_weight
        few = rows < self.rules.rare_rows * self.times
        return few or float(weight) < self.rules.rare_units * self.times


def _beyond_chance(judge: NewtonJudge, left: Ints, total: Ints, chance: float, k: int, m: int) -> bool:
    """Whether k of m categories gain more than the best k of m would by chance."""
    scores = judge.score(np.stack([left, total - left, total])).tolist()
    return bool(scores[0] + scores[1] - scores[2] > chance * k * max(1.0, 2 * math.log(m / k)))


def _candidates(
    statistic: LaneStatistic,
    judge: NewtonJudge,
    parts: Parts,
    bounds: Bounds,
    sets: list[list[int]],
    left: list[Ints],
    *,
    against_missing: bool,
) -> Proposal:
    """Sets of places with their sums, missing rows tried on both sides; last, all against missing."""
    saw = len(parts.missing) > 0
    if against_missing:
        sets, left = [*sets, list(range(parts.n))], [*left, statistic.cells(parts).sum(axis=0)]
    n_some = len(sets) - against_missing
    sides, missing_left, place = empty_sides(), np.zeros(0, np.bool_), np.zeros(0, np.int64)
    if sets:
        cells = np.stack(left)
        sizes = np.array([int(parts.sizes[each].sum()) for each in sets], np.int64)
        ordered = np.arange(len(sets)) < n_some

        def judged(n: int, *, missing_left: bool) -> Sides:
            return statistic.sides(
                parts, cells[:n], sizes[:n], bounds, ordered[:n], missing_left=missing_left, judge=judge
            )

        sides = judged(len(sets), missing_left=False)
        missing_left, place = np.zeros(len(sets), np.bool_), np.arange(len(sets))
        if saw:
            sides = interleaved(judged(n_some, missing_left=True), sides)
            missing_left = np.concatenate(
                (np.tile([True, False], n_some), np.zeros(len(sets) - n_some, bool))
            )
            place = np.concatenate((np.repeat(np.arange(n_some), 2), np.arange(n_some, len(sets))))
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=saw,
        parts_present=place < n_some,
        kind="categories",
        left_codes=lambda i: codes_of(parts.codes[sets[place[i]]]),
    )


def believed(
    view: NodeView, statistic: LaneStatistic, judge: NewtonJudge, parts: Parts, bounds: Bounds
) -> list[Proposal]:
    """Prefixes in order of what is believed of the categories; where that is nothing, a few from the ends."""
    assert statistic.row_squares is not None
    assert statistic.row_times is not None
    cells, total = statistic.cells(parts), statistic.cell(view.rows)
    squares = statistic.square_unit * float(int(statistic.row_squares[view.rows].sum()))
    n_rows = float(int(statistic.row_times[view.rows].sum()))
    groups = cells.tolist()
    if len(parts.missing):
        groups = [*groups, statistic.cell(parts.missing).tolist()]
    noise, s = _shrinkage(groups, total.tolist(), squares, n_rows)
    means = None if s < 0 else _believed_means(cells, s)
    if means is None:
        found = listed_from_ends(
            view, statistic, judge, parts, bounds, chance=noise, times_as_rare=_TIMES_AS_RARE
        )
        return [found]
    order, g = means
    strict = judge.for_categories()
    changed = cells[order].copy()
    changed[:, 0] = g
    excess = int(cells[order, 0].sum()) - int(g.sum())
    left, n_left = np.cumsum(changed, axis=0), np.cumsum(parts.sizes[order])
    without = total.copy()
    without[0] -= excess
    ordered = np.arange(parts.n) < parts.n - 1

    def judged(n: int, *, missing_left: bool) -> Sides:
        return statistic.sides(
            parts,
            left[:n],
            n_left[:n],
            bounds,
            ordered[:n],
            missing_left=missing_left,
            judge=strict,
            total=without,
        )

    saw, n = len(parts.missing) > 0, parts.n
    sides = judged(n if saw else n - 1, missing_left=False)
    missing_left, place = np.zeros(n - 1, np.bool_), np.arange(n - 1)
    if saw:
        sides = interleaved(judged(n - 1, missing_left=True), sides)
        missing_left = np.append(np.tile([True, False], n - 1), False)
        place = np.append(np.repeat(np.arange(n - 1), 2), n - 1)
    shift = view.score - _unsplit(judge, without, bounds)
    in_order = parts.codes[order]
    proposal = Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=saw,
        parts_present=place < n - 1,
        kind="categories",
        left_codes=lambda i: codes_of(in_order[: place[i] + 1]),
        shift=shift,
    )
    within = sides.within(view.rules.min_rows_leaf, view.rules.min_units_leaf) & sides.kept
    best = best_of(sides.score, within)
    if best is not None and not view.gains(float(sides.score[best]) + shift):
        proposal.refused = _NO_GAIN
    return [proposal]


def _unsplit(judge: NewtonJudge, cell: Ints, bounds: Bounds) -> float:
    """What rows of such sums are worth, held within the bounds of their node."""
    cells = cell[np.newaxis]
    if not bounds.bounded:
        return float(judge.score(cells)[0])
    value = np.clip(judge.value(cells), bounds.lower, bounds.upper)
    return float(judge.score_at(cells, value)[0])


def _shrinkage(
    groups: list[list[int]], total: list[int], squares: float, n_rows: float
) -> tuple[float, float]:
    """The noise of a row, and σ²/τ²; the latter is negative if there is nothing to believe."""
    between = h_squares = n_groups = 0.0
    for g, h in ((float(each[0]), float(each[1])) for each in groups):
        if h > 0:
            between += g * g / h
            h_squares += h * h
            n_groups += 1
    all_g, all_h = float(total[0]), float(total[1])
    if not all_h > 0 or n_groups < 2:
        return 0.0, -1.0
    of_mean, h_a_row = all_g * all_g / all_h, all_h / n_rows
    between -= of_mean
    in_all = max(0.0, squares / h_a_row - of_mean)
    within, freedom = max(0.0, in_all - between), max(1.0, n_rows - n_groups)
    noise = (within + _PRIOR_ROWS * in_all / max(1.0, n_rows - 1)) / (freedom + _PRIOR_ROWS)
    by_chance = (n_groups - 1) * noise
    if not between > by_chance * (1 + _ERRORS * math.sqrt(2 / freedom)):
        return noise, -1.0
    return noise, noise * (all_h - h_squares / all_h) / (between - by_chance)


def _believed_means(cells: Ints, s: float) -> tuple[NDArray[np.int64], Ints] | None:
    """The categories by their believed means, and Σ g as it is believed."""
    g_sum = h_sum = 0.0
    for g, h in ((float(each[0]), float(each[1])) for each in cells.tolist()):
        if h > 0:
            g_sum += g / (h + s)
            h_sum += h / (h + s)
    if not h_sum > 0:
        return None
    mean = g_sum / h_sum
    places = []
    for i, (g, h) in enumerate(cells[:, :2].tolist()):
        places.append(((float(g) - mean * float(h)) / (float(h) + s) if h > 0 else 0.0, i))
    places.sort()
    order = np.array([i for _, i in places], np.int64)
    believed_g = []
    for beyond, i in places:
        g, h = int(cells[i, 0]), int(cells[i, 1])
        told = (mean + beyond) * float(h)
        rounded = math.floor(abs(told) + 0.5) * (1 if told >= 0 else -1)
        believed_g.append(rounded if h > 0 else g)
    return order, np.array(believed_g, np.int64)
