"""The candidates of categories: equations 8, 8a and 14 of docs/methods/trees.md, 5b of forests.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.inspection.trace.cautious import believed, listed_from_ends
from weald.inspection.trace.columns import Ints, TracedColumn
from weald.inspection.trace.judges import NewtonJudge
from weald.inspection.trace.ordered import prefix_sides
from weald.inspection.trace.proposals import NodeView, Proposal, best_of, codes_of
from weald.inspection.trace.sides import Bounds, Parts, interleaved
from weald.inspection.trace.statistics import LaneStatistic, Statistic
from weald.random import Purpose, draw

#: all partitions of up to so many categories are tried
MOST_FOR_SUBSETS = 10
#: columns of more categories are judged by their spread
FEW_CATEGORIES = 64
#: the spread of a node counts as so many rows of the spread within categories
_ROWS_OF_NODE = 5.0
#: a column of fewer rows per category may be an id
_ROWS_OF_ID = 5


@dataclass(frozen=True, slots=True, eq=False)
class TreeOrder:
    """What all rows of a tree tell of the categories of a column."""

    place: dict[int, int] | None  # of each code in their order; None: fewer than three, or not asked for
    weight: dict[int, int]
    alone: frozenset[int]  # codes that one row has
    rare: bool  # so few rows per category that the column may be an id


def tree_order(statistic: Statistic, column: TracedColumn, parts: Parts) -> TreeOrder | None:
    """That of the rows of the root; None if it says nothing."""
    n_rows, n = parts.n_rows, parts.n
    rare = n > 2 and n_rows < _ROWS_OF_ID * n
    if not isinstance(statistic, LaneStatistic):
        return TreeOrder(None, {}, frozenset(), rare) if rare else None
    if column.n_codes < 3 or n < 3:
        return None
    weight = statistic.judge.weight(statistic.cells(parts))
    codes = parts.codes.tolist()
    return TreeOrder(
        place={codes[i]: place for place, i in enumerate(statistic.order(parts))},
        weight=dict(zip(codes, weight.tolist(), strict=True)),
        alone=frozenset(code for code, size in zip(codes, parts.sizes.tolist(), strict=True) if size == 1),
        rare=rare,
    )


def category_proposals(
    view: NodeView, column: TracedColumn, parts: Parts, in_tree: TreeOrder | None
) -> list[Proposal]:
    """The candidates of a categorical column, in the order in which they are proposed."""
    rules, statistic = view.rules, view.statistic
    if rules.random:
        return [_by_coins(view, column, parts)]
    if column.n_codes < rules.one_hot:
        return [_one_against_rest(view, column, parts)]
    if isinstance(statistic, LaneStatistic) and isinstance(statistic.judge, NewtonJudge):
        bounds = view.bounds_of(column.number)
        if rules.believes and statistic.row_squares is not None and column.n_codes > FEW_CATEGORIES:
            return believed(view, statistic, statistic.judge, parts, bounds)
        if statistic.judge.cautious:
            return [listed_from_ends(view, statistic, statistic.judge, parts, bounds)]
    chance, alone = _chance(view, parts, in_tree)
    id_like = rules.chance_within and rules.category_chance > 0 and in_tree is not None and in_tree.rare
    proposals = []
    if in_tree is not None and in_tree.place is not None and (parts.n > 2 or rules.chance_within):
        proposals.append(_in_tree_order(view, column, parts, in_tree, chance, alone))
    own = _best_partitions(view, column, parts)
    if isinstance(statistic, LaneStatistic):
        if chance > 0 and parts.n > rules.free_categories:
            own.held_back = chance * (parts.n - rules.free_categories) + alone
    elif id_like:
        share = (parts.n - 1) / (parts.n_rows - 1)
        own.held_back = math.floor(-view.score * min(1.0, share))
    proposals.append(own)
    if id_like:
        for proposal in proposals:
            _refuse_ids(view, proposal)
    return proposals


def _refuse_ids(view: NodeView, proposal: Proposal) -> None:
    """A column that may be an id is not split unless it gains more than chance would give."""
    if proposal.held_back == 0:
        return
    within = proposal.sides.within(view.rules.min_rows_leaf, view.rules.min_units_leaf)
    best = best_of(proposal.sides.score, within & proposal.sides.kept)
    if best is not None and not view.gains(float(proposal.sides.score[best]) - proposal.held_back):
        proposal.refused = "the column may be an id, and gains no more than chance gives"


def _chance(view: NodeView, parts: Parts, in_tree: TreeOrder | None) -> tuple[float, float]:
    """What a category has to gain, and what categories of one row have to gain besides: equation 8a."""
    rules, statistic = view.rules, view.statistic
    if rules.category_chance <= 0 or not isinstance(statistic, LaneStatistic) or view.impurity is None:
        return 0.0, 0.0
    n_rows, weight = parts.n_rows, statistic.weight(view.rows)
    loss = math.ldexp(view.impurity * weight, statistic.weight_power - statistic.score_power)
    loss /= statistic.factor
    if not rules.chance_within:
        return rules.category_chance * loss / n_rows, 0.0
    scores = statistic.judge.score(statistic.cells(parts))
    within = loss + float(statistic.judge.score(statistic.cell(view.rows)[np.newaxis])[0])
    for score in scores.tolist():
        within -= score
    n_means = parts.n
    if len(parts.missing):
        within -= float(statistic.judge.score(statistic.cell(parts.missing)[np.newaxis])[0])
        n_means += 1
    spread = loss / (n_rows - 1)
    if not math.isfinite(within):
        return rules.category_chance * spread, 0.0
    noise = (max(0.0, within) + _ROWS_OF_NODE * spread) / (n_rows - n_means + _ROWS_OF_NODE)
    chance = rules.category_chance * noise
    if in_tree is None or noise >= spread:
        return chance, 0.0
    n_alone = sum(code in in_tree.alone for code in parts.codes.tolist())
    return chance, rules.category_chance * (spread - noise) * min(n_alone, parts.n - 1)


def _in_tree_order(
    view: NodeView, column: TracedColumn, parts: Parts, in_tree: TreeOrder, chance: float, alone: float
) -> Proposal:
    """Prefixes in the order that all rows of the tree give the categories."""
    assert in_tree.place is not None
    codes = parts.codes.tolist()
    place = in_tree.place
    order = sorted(range(parts.n), key=lambda i: (place[codes[i]], i))
    proposal = _prefixes(view, column, parts, order)
    statistic = view.statistic
    assert isinstance(statistic, LaneStatistic)
    weights = statistic.judge.weight(statistic.cells(parts)).tolist()
    fitted = 0.0
    for code, weight in zip(codes, weights, strict=True):
        fitted += weight / in_tree.weight[code]
    proposal.held_back = chance * fitted + alone
    return proposal


def _best_partitions(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    """Prefixes in order of means, or all subsets of few categories where that order is not enough."""
    rules, statistic = view.rules, view.statistic
    small = parts.n <= MOST_FOR_SUBSETS
    refused = isinstance(statistic, LaneStatistic) and bool(
        statistic.judge.refused(statistic.cells(parts)).any()
    )
    if small and (not statistic.ordered or refused):
        return _subsets(view, column, parts)
    proposal = _prefixes(view, column, parts, statistic.order(parts))
    sides = proposal.sides
    may = sides.kept & np.isfinite(sides.score)
    if proposal.barred is not None:
        may &= np.array([not each for each in proposal.barred], np.bool_)
    best = best_of(sides.score, may)
    if best is None or sides.within(rules.min_rows_leaf, rules.min_units_leaf)[best] or not small:
        return proposal
    return _subsets(view, column, parts)


def _prefixes(view: NodeView, column: TracedColumn, parts: Parts, order: list[int]) -> Proposal:
    sides, place, missing_left = prefix_sides(view, parts, order, view.bounds_of(column.number))
    most = view.rules.max_categories
    barred = None
    if most > 0:
        barred = [
            f"more than max_cat_threshold={most} categories on both sides"
            if min(i + 1, parts.n - i - 1) > most
            else ""
            for i in place.tolist()
        ]
    in_order = parts.codes[order]
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=len(parts.missing) > 0,
        parts_present=place < parts.n - 1,
        kind="categories",
        left_codes=lambda i: codes_of(in_order[: place[i] + 1]),
        barred=barred,
    )


def _subsets(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    """Every two-way partition once: the sets that hold the lowest code, by ascending bit mask."""
    masks = np.arange(1, 2**parts.n, 2)
    sets = (masks[:, np.newaxis] >> np.arange(parts.n) & 1).astype(np.bool_)
    return _of_sets(view, parts, sets, view.bounds_of(column.number))


def _one_against_rest(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    return _of_sets(view, parts, np.eye(parts.n, dtype=np.bool_), view.bounds_of(column.number))


def _of_sets(view: NodeView, parts: Parts, sets: NDArray[np.bool_], bounds: Bounds) -> Proposal:
    """Sets with missing rows on both sides; a last one of all codes stands against missing."""
    saw = len(parts.missing) > 0
    whole: NDArray[np.bool_] = np.all(sets, axis=1)
    if whole.any() and not whole[-1]:
        raise AssertionError("a set of all codes comes last")
    some = sets[~whole]
    right = view.statistic.sets(parts, sets if saw else some, bounds, missing_left=False)
    if not saw:
        place, missing_left, sides = np.arange(len(some)), np.zeros(len(some), np.bool_), right
    else:
        left = view.statistic.sets(parts, some, bounds, missing_left=True)
        sides = interleaved(left, right)
        place = np.concatenate((np.repeat(np.arange(len(some)), 2), np.arange(len(some), len(sets))))
        missing_left = np.concatenate(
            (np.tile([True, False], len(some)), np.zeros(len(sets) - len(some), bool))
        )
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=saw,
        parts_present=place < len(some),
        kind="categories",
        left_codes=lambda i: codes_of(parts.codes[sets[place[i]]]),
    )


def _by_coins(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    """Each category left or right by a coin; if all fall alike, the one drawn lowest changes sides."""
    assert view.rules.seed is not None
    word = int(draw(view.rules.seed, Purpose.RANDOM_SPLIT, view.path, column.number)[0])
    left = coins(word, parts.codes)
    return _of_sets(view, parts, left[np.newaxis], view.bounds_of(column.number))


def coins(word: int, codes: Ints) -> NDArray[np.bool_]:
    """Which of the codes present go left by chance; one alone always does."""
    if len(codes) == 1:
        return np.ones(1, np.bool_)
    places = codes.astype(np.uint64)
    left = (draw(word, Purpose.RANDOM_CATEGORY, places) & np.uint64(1)).astype(np.bool_)
    if left.all() or not left.any():
        odd = int(np.argmin(draw(word, Purpose.RANDOM_CATEGORY, places, 1)))
        left[odd] = not left[odd]
    return left
