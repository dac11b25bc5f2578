"""The search of one node: which columns are looked at, what each proposes, who wins and why."""

from __future__ import annotations

import numpy as np

from weald.inspection.trace.categories import TreeOrder, category_proposals
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.combinations import combination_proposal, drawn_combinations
from weald.inspection.trace.ordered import drawn_threshold, thresholds
from weald.inspection.trace.proposals import NodeView, choose
from weald.inspection.trace.records import ROUNDING, Candidate, ColumnFound
from weald.inspection.trace.rules import TreeRules, allowed_columns, shuffled, tie_word
from weald.inspection.trace.sides import Parts


class ColumnSearch:
    """The columns of a tree, and what all of its rows tell of them.

    Parameters
    ----------
    columns : list of TracedColumn
        Those the tree may split on.
    rules : TreeRules
        How it was grown.
    orders : dict
        By number of a categorical column, what the whole tree tells of its categories.
    """

    def __init__(
        self, columns: list[TracedColumn], rules: TreeRules, orders: dict[int, TreeOrder | None]
    ) -> None:
        self.columns, self.rules = columns, rules
        self._orders = orders
        self._by_number = {column.number: column for column in columns}

    def search(
        self, view: NodeView, depth: int, used: list[int]
    ) -> tuple[list[ColumnFound], tuple[int, ...] | None]:
        """What every column looked at proposes, and which these are by number; None: all."""
        rules = self.rules
        numbers = [column.number for column in self.columns]
        if rules.combined_columns:
            return self._combinations(view)
        if rules.max_columns and rules.max_columns < len(numbers) and rules.seed is not None:
            return self._drawn(view, shuffled(rules, view.path, len(numbers)))
        if rules.level_columns or rules.node_columns or (rules.interactions and used):
            allowed = allowed_columns(rules, numbers, view.path, depth, used)
            return [self.found(view, j) for j in allowed], tuple(allowed)
        return [self.found(view, j) for j in numbers], None

    def _drawn(self, view: NodeView, order: list[int]) -> tuple[list[ColumnFound], tuple[int, ...]]:
        """As many columns as a node draws, and more, one at a time, until one can be split."""
        found: list[ColumnFound] = []
        for n, j in enumerate(order):
            if n >= self.rules.max_columns and any(each.best is not None for each in found):
                break
            found.append(self.found(view, j))
        return found, tuple(order[: len(found)])

    def _combinations(self, view: NodeView) -> tuple[list[ColumnFound], tuple[int, ...]]:
        """Linear combinations and single columns, as many as a node draws; then columns one at a time."""
        found, n = [], len(self.columns)
        looked_at = []
        for first, terms in drawn_combinations(self.rules, view.path, n):
            looked_at.append(first)
            column = self._by_number[first]
            if terms:
                proposal = combination_proposal(view, self._by_number, terms)
                found.append(choose(view, column, [] if proposal is None else [proposal]))
            else:
                found.append(self.found(view, first))
        for i in range(n):
            if any(each.best is not None for each in found):
                break
            looked_at.append((view.path % n + i) % n)
            found.append(self.found(view, looked_at[-1]))
        return found, tuple(looked_at)

    def found(self, view: NodeView, number: int) -> ColumnFound:
        """What one column proposes."""
        column = self._by_number[number]
        parts = Parts.of(column, view.statistic.seen(view.rows))
        if parts.constant:
            return choose(view, column, [], "one value only")
        if column.kind == "categorical":
            return choose(view, column, category_proposals(view, column, parts, self._orders.get(number)))
        if self.rules.random:
            return choose(view, column, [drawn_threshold(view, column, parts)])
        return choose(view, column, [thresholds(view, column, parts)])


def winner(found: list[ColumnFound], rules: TreeRules, path: int) -> Candidate | None:
    """The best of all columns; among equals the lower column, or the one that chance prefers."""
    best: Candidate | None = None
    for each in found:
        if each.best is None:
            continue
        if (
            best is None
            or each.best.judged > best.judged
            or (each.best.judged == best.judged and _preferred(each.number, best.number, rules, path))
        ):
            best = each.best
    return best


def _preferred(number: int, other: int, rules: TreeRules, path: int) -> bool:
    """Whether of two columns that part a node equally well the first is taken."""
    return number != other and tie_word(rules, path, number) < tie_word(rules, path, other)


def nearly(first: float, second: float) -> bool:
    """Whether two scores differ by no more than rounding."""
    return abs(first - second) <= ROUNDING * max(abs(first), abs(second))


def why_won(best: Candidate, found: list[ColumnFound], rules: TreeRules, names: dict[int, str]) -> str:
    """Why this candidate and no other: the runner-up, ties, penalties, and what was refused."""
    others = [each.best for each in found if each.best is not None and each.best is not best]
    reasons = []
    equal = [each for each in others if each.judged == best.judged and each.number != best.number]
    if equal:
        rule = "chance decides among equals" if rules.random_ties else "the lower column wins"
        reasons.append(f"tied with {_listed(equal, names)}: {rule}")
    own = next(each for each in found if each.best is best)
    same = [each for each in own.top if each.judged == best.judged and each is not best and not each.refused]
    if same:
        reasons.append(f"{len(same)} more of its own column gain as much: the first wins")
    rest = [each for each in others if each.judged < best.judged]
    if rest:
        second = max(rest, key=lambda each: each.judged)
        reasons.append(f"next best gains {second.gain:.6g} ({names[second.column]})")
        heavier = [each for each in rest if each.gain > best.gain]
        if heavier:
            most = max(heavier, key=lambda each: each.gain)
            reasons.append(
                f"{names[most.column]} gains {most.gain:.6g}, of which {most.held_back:.6g} is held back as "
                "what chance gives"
            )
    refused = [c for each in found for c in each.top if c.refused and c.gain > best.gain]
    for each in sorted(refused, key=lambda c: -c.gain)[:2]:
        reasons.append(f"{names[each.column]} would gain {each.gain:.6g}, but {each.refused}")
    if not others and not reasons:
        reasons.append("the only column that can be split" if len(found) > 1 else "the only column looked at")
    return "; ".join(reasons)


def _listed(candidates: list[Candidate], names: dict[int, str]) -> str:
    shown = ", ".join(names[each.column] for each in candidates[:3])
    return shown if len(candidates) <= 3 else f"{shown} and {len(candidates) - 3} more"


def refused_words(found: list[ColumnFound], names: dict[int, str]) -> str:
    """Why no candidate may be made."""
    refused = [c for each in found for c in each.top if c.refused]
    if not refused:
        return "every column looked at has one value"
    best = max(refused, key=lambda c: c.judged if np.isfinite(c.judged) else -np.inf)
    told = f"the best, on {names[best.column]}, would gain {best.gain:.6g}, but {best.refused}"
    return f"no split is allowed: {told}"
