"""The cheapest changes of a row that reach a goal.

One column, then two: every combination in the order of its cost, so that the first which reaches the goal is
the cheapest there is. More columns: the most promising combinations are extended (a beam), and what reaches
the goal is made cheaper column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats, Integers
from weald.insight.changes.candidates import Candidates

#: rows that are predicted at once: few at first, as cheap changes often do
_FIRST, _MOST = 1024, 16384
#: combinations that are extended, and values of each column that they are extended by
_BEAM, _STEPS = 24, 12
#: combinations that reach the goal and are made cheaper, of each number of columns
_REFINED = 12


@dataclass(slots=True, eq=False)
class Search:
    """All candidates in the order of their cost, and what was found so far.

    Parameters
    ----------
    columns : sequence of Candidates
        Those of each column that may change.
    reached, short : callable
        A mapping from column to rows that values are taken from, and how many rows → what a goal tells.
    budget : int
        The most rows that are predicted for pairs, and again for more columns.
    """

    column: NDArray[np.int64]
    row: Integers
    cost: Floats
    reached: Callable[[int, Mapping[int, Integers]], Flags]
    short: Callable[[int, Mapping[int, Integers]], Floats]
    n_known: int
    budget: int
    #: the cheapest change of each set of columns: cost and places among all candidates
    found: dict[frozenset[int], tuple[float, tuple[int, ...]]] = field(default_factory=dict)
    #: all that costs less than this, of one or two columns, was looked at
    exact_below: float = np.inf

    @classmethod
    def of(
        cls,
        columns: list[Candidates],
        reached: Callable[[int, Mapping[int, Integers]], Flags],
        short: Callable[[int, Mapping[int, Integers]], Floats],
        n_known: int,
        budget: int,
    ) -> Search:
        """All candidates, by cost; of equals by column."""
        nothing = Candidates(0, np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_))
        given = [nothing, *columns]
        column = np.concatenate([np.full(len(each.rows), each.column, np.int64) for each in given])
        row = np.concatenate([each.rows for each in given])
        cost = np.concatenate([each.cost for each in given])
        order = np.lexsort((np.arange(len(cost)), column, cost))
        return cls(column[order], row[order], cost[order], reached, short, n_known, budget)

    def run(self, n_wanted: int, max_columns: int) -> None:
        """Look for changes of at most `max_columns` columns."""
        alone = self._singles()
        if max_columns > 1:
            self._pairs(alone, n_wanted)
        if max_columns > 2:
            self._beam(max_columns, n_wanted)

    def answers(self, n_wanted: int) -> list[tuple[float, tuple[int, ...]]]:
        """The cheapest changes of different columns; none that changes more columns than a cheaper one."""
        # Of costs that differ by rounding alone, fewer columns come first.
        ranked = sorted((round(cost, 9), len(places), cost, places) for cost, places in self.found.values())
        kept: list[tuple[float, tuple[int, ...]]] = []
        sets: list[frozenset[int]] = []
        for _, _, cost, places in ranked:
            own = frozenset(self.column[list(places)].tolist())
            if not any(other <= own for other in sets):
                sets.append(own)
                kept.append((cost, places))
        return kept[:n_wanted]

    def donors(self, places: NDArray[np.int64]) -> dict[int, Integers]:
        """For each column that one of the combinations changes the row of its value: (m, k) places.

        A place of -1 changes nothing.
        """
        found: dict[int, Integers] = {}
        for k in range(places.shape[1]):
            chosen = places[:, k]
            for j in np.unique(self.column[chosen[chosen >= 0]]).tolist():
                rows = found.setdefault(j, np.full(len(places), self.n_known, np.int64))
                mine = (chosen >= 0) & (self.column[chosen] == j)
                rows[mine] = self.row[chosen[mine]]
        return found

    # ------------------------------------------------------------------ one column, two columns

    def _singles(self) -> Flags:
        """Whether each candidate alone is enough."""
        enough = np.zeros(len(self.cost), np.bool_)
        for start in range(0, len(self.cost), _MOST):
            places = np.arange(start, min(start + _MOST, len(self.cost)))[:, None]
            enough[places[:, 0]] = self.reached(len(places), self.donors(places))
        for place in np.flatnonzero(enough).tolist():
            self._keep((place,))
        return enough

    def _pairs(self, alone: Flags, n_wanted: int) -> None:
        """Pairs of candidates of two columns by ascending cost, until enough answers are found."""
        open_ = np.flatnonzero(~alone)  # with one that is enough alone, another would be in vain
        bound = self._pair_bound(open_)
        self.exact_below = bound
        for cost, places in self._pairs_below(open_, bound):
            worst = self._worst(n_wanted)
            if cost[0] > worst:
                return
            for place in np.flatnonzero(self.reached(len(places), self.donors(places))).tolist():
                self._keep(tuple(places[place].tolist()))

    def _worst(self, n_wanted: int) -> float:
        """What the last of the answers costs so far; infinite as long as there are too few."""
        answers = self.answers(n_wanted)
        return answers[-1][0] if len(answers) == n_wanted else np.inf

    def _pair_bound(self, open_: NDArray[np.intp]) -> float:
        """The largest cost below which there are no more pairs than the budget allows."""
        cost = self.cost[open_]

        def n_pairs(bound: float) -> int:
            upto = np.searchsorted(cost, bound - cost, side="right")
            return int(np.maximum(upto - np.arange(len(cost)) - 1, 0).sum())

        if len(cost) < 2 or n_pairs(np.inf) <= self.budget:
            return np.inf
        low, high = 0.0, float(cost[-1] + cost[-2])
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if n_pairs(middle) <= self.budget else (low, middle)
        return low

    def _pairs_below(
        self, open_: NDArray[np.intp], bound: float
    ) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
        """Blocks of pairs, of two columns, by ascending cost."""
        cost = self.cost[open_]
        upto = np.searchsorted(cost, bound - cost, side="right")
        count = np.maximum(upto - np.arange(len(cost)) - 1, 0)
        first = np.repeat(np.arange(len(cost)), count)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
        other = self.column[open_[first]] != self.column[open_[second]]
        first, second = first[other], second[other]
        total = cost[first] + cost[second]
        order = np.argsort(total, kind="stable")
        start, size = 0, _FIRST
        while start < len(order):
            block = order[start : start + size]
            yield total[block], np.stack([open_[first[block]], open_[second[block]]], axis=1)
            start, size = start + size, min(2 * size, _MOST)

    # ------------------------------------------------------------------ more columns

    def _beam(self, max_columns: int, n_wanted: int) -> None:
        """Extend the most promising combinations by one column after another."""
        steps = self._few()
        beam = np.full((1, max_columns), -1, np.int64)
        spent = 0
        for depth in range(max_columns):
            made = np.repeat(beam, len(steps), axis=0)
            made[:, depth] = np.tile(steps, len(beam))
            taken = self.column[made[:, :depth]] == self.column[made[:, depth]][:, None]
            cost = self._costs(made)
            made = made[~taken.any(axis=1) & (cost < self._worst(n_wanted))]
            spent += len(made)
            if not len(made) or spent > self.budget:
                return
            short = self._shorts(made)
            if depth > 1 or np.isfinite(self.exact_below):  # else pairs were all looked at
                self._refine(made[short == 0])
            beam = self._promising(made[short > 0], short[short > 0])
            if not len(beam):
                return

    def _few(self) -> NDArray[np.int64]:
        """Some candidates of every column, from the cheapest to the dearest."""
        chosen = []
        for j in np.unique(self.column).tolist():
            own = np.flatnonzero(self.column == j)
            chosen.append(own[np.unique(np.linspace(0, len(own) - 1, min(len(own), _STEPS)).astype(int))])
        return np.concatenate(chosen) if chosen else np.zeros(0, np.int64)

    def _costs(self, made: NDArray[np.int64]) -> Floats:
        return np.asarray(np.where(made >= 0, self.cost[made], 0.0).sum(axis=1), np.float64)

    def _shorts(self, made: NDArray[np.int64]) -> Floats:
        parts = [made[start : start + _MOST] for start in range(0, len(made), _MOST)]
        return np.concatenate([self.short(len(part), self.donors(part)) for part in parts])

    def _promising(self, made: NDArray[np.int64], short: Floats) -> NDArray[np.int64]:
        """Those that come nearest, and those that do for what they cost; none twice."""
        sets = np.sort(made, axis=1)
        _, once = np.unique(sets, axis=0, return_index=True)
        made, short = made[once], short[once]
        near = np.argsort(short, kind="stable")[:_BEAM]
        cheap = np.argsort(short * (1 + self._costs(made)), kind="stable")[: _BEAM // 2]
        chosen: NDArray[np.int64] = made[np.unique(np.concatenate([near, cheap]))]
        return chosen

    def _refine(self, made: NDArray[np.int64]) -> None:
        """Make some of what reaches the goal cheaper: the cheapest of each set of columns."""
        seen: set[frozenset[int]] = set()
        for place in np.argsort(self._costs(made), kind="stable").tolist():
            chosen = tuple(k for k in made[place].tolist() if k >= 0)
            own = frozenset(self.column[list(chosen)].tolist())
            if own not in seen:
                seen.add(own)
                self._cheaper(chosen)
            if len(seen) >= _REFINED:
                return

    def _cheaper(self, places: tuple[int, ...]) -> None:
        """Leave out columns, and take cheaper values, as long as the goal is reached."""
        current = list(places)
        improved = True
        while improved:
            improved = False
            for k in range(len(current)):
                options = np.flatnonzero(
                    (self.column == self.column[current[k]]) & (self.cost < self.cost[current[k]])
                )
                tried = np.tile(np.array(current), (len(options) + 1, 1))
                tried[0, k] = -1
                tried[1:, k] = options
                works = np.flatnonzero(self.reached(len(tried), self.donors(tried)))
                if len(works):
                    current[k] = int(tried[works[0], k])
                    improved = True
                    break
            current = [place for place in current if place >= 0]
            if not current:
                return
        self._keep(tuple(current))

    def _keep(self, places: tuple[int, ...]) -> None:
        own = frozenset(self.column[list(places)].tolist())
        cost = float(self.cost[list(places)].sum())
        if own not in self.found or cost < self.found[own][0]:
            self.found[own] = (cost, places)
