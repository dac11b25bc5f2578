"""Candidates of one column, as they are proposed, and the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.trace.columns import Ints, TracedColumn
from weald.inspection.trace.records import Candidate, ColumnFound
from weald.inspection.trace.rules import TreeRules
from weald.inspection.trace.sides import Bounds, Rows, Sides
from weald.inspection.trace.statistics import Statistic

#: of the scores whose difference a gain is: what rounding may have made of a gain of 0
GAIN_ROUNDING = 2.0**-48


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeView:
    """What the search of a column knows of its node."""

    statistic: Statistic
    rules: TreeRules
    rows: Rows
    path: int
    weight: int  # in units
    score: float  # unsplit, in units
    impurity: float | None
    bounds: Bounds  # without a direction
    top: int

    def bounds_of(self, number: int) -> Bounds:
        """What a split on a column of the tree must keep."""
        monotone = self.rules.monotone
        return self.bounds._replace(direction=monotone[number]) if monotone else self.bounds

    def gains(self, judged: float) -> bool:
        """Whether a candidate is worth more than the rows unsplit, beyond rounding."""
        return judged - self.score > GAIN_ROUNDING * abs(judged)


@dataclass(slots=True, kw_only=True, eq=False)
class Proposal:
    """Candidates that are judged alike, in the order in which they are proposed."""

    sides: Sides
    missing_left: NDArray[np.bool_]
    saw_missing: bool
    parts_present: NDArray[np.bool_]
    kind: Literal["numeric", "categories", "combination"]
    threshold: Callable[[int], float] = field(default=lambda i: 0.0)
    left_codes: Callable[[int], tuple[int, ...]] = field(default=lambda i: ())
    terms: tuple[tuple[int, float], ...] = ()
    held_back: float = 0.0  # in units
    #: added to scores: what a judge of its own makes of the node beyond what the node's makes of it
    shift: float = 0.0
    #: per candidate, why it may not be made besides limits; "" for those that may
    barred: list[str] | None = None
    limited: bool = True  # whether limits on the size of children were looked at
    refused: str = ""  # all of it: why


def choose(view: NodeView, column: TracedColumn, proposals: list[Proposal], remark: str = "") -> ColumnFound:
    """The best candidate of a column, and the first few by their worth."""
    found = ColumnFound(column=column.column, number=column.number, best=None, top=[], remark=remark)
    entries: list[tuple[float, int, int, str]] = []  # worth, proposal, place, why refused
    for p, proposal in enumerate(proposals):
        judged = proposal.sides.score + (proposal.shift - proposal.held_back)
        reasons = _refusals(view, proposal)
        order = np.argsort(-judged, kind="stable")
        allowed = [int(i) for i in order if not reasons[int(i)]]
        refused = [int(i) for i in order[: view.top] if reasons[int(i)]]
        for i in allowed[: view.top] + refused[:1]:
            entries.append((float(judged[i]), p, i, reasons[i]))
    entries.sort(key=lambda entry: -entry[0])
    shown = 0
    for worth, p, i, reason in entries:
        if reason and (found.best is not None or not np.isfinite(worth)):
            continue  # what was refused is of interest only where it would have won
        if not reason and shown >= view.top:
            continue
        candidate = _candidate(view, column, proposals[p], i, reason)
        if not reason:
            shown += 1
            found.best = found.best or candidate
        found.top.append(candidate)
    return found


def _refusals(view: NodeView, proposal: Proposal) -> list[str]:
    """Why each candidate may not be made; "" if it may."""
    sides, rules = proposal.sides, view.rules
    reasons = list(proposal.barred) if proposal.barred is not None else [""] * len(sides.score)
    if proposal.refused:
        return [proposal.refused] * len(reasons)
    small_rows = np.minimum(sides.n_left, sides.n_right) < rules.min_rows_leaf
    small_weight = np.minimum(sides.left_weight, sides.right_weight) < rules.min_units_leaf
    name, value = rules.weight_limit
    for i in range(len(reasons)):
        if reasons[i]:
            continue
        if not np.isfinite(sides.score[i]):
            reasons[i] = "a side would have the sum 0"
        elif rules.min_rows_leaf > 1 and small_rows[i]:
            reasons[i] = f"a side has fewer rows than {rules.rows_limit}={rules.min_rows_leaf}"
        elif small_weight[i]:
            reasons[i] = f"a side has less weight than {name}={value:g}"
        elif not sides.kept[i]:
            reasons[i] = "against the monotone constraint"
    return reasons


def _candidate(view: NodeView, column: TracedColumn, proposal: Proposal, i: int, refused: str) -> Candidate:
    sides, statistic = proposal.sides, view.statistic
    judged = float(sides.score[i]) + (proposal.shift - proposal.held_back)
    gain = judged + proposal.held_back - view.score
    return Candidate(
        column=column.column,
        number=column.number,
        kind=proposal.kind,
        threshold=proposal.threshold(i),
        left_codes=proposal.left_codes(i),
        terms=proposal.terms,
        missing_left=bool(proposal.missing_left[i]) if proposal.saw_missing else None,
        parts_present=bool(proposal.parts_present[i]),
        gain=statistic.real(gain),
        held_back=statistic.real(proposal.held_back),
        judged=judged,
        unit_gain=gain,
        n_left=int(sides.n_left[i]),
        n_right=int(sides.n_right[i]),
        # Weights of several outputs are means, rounded down: those of two sides may lack a unit of the whole.
        heavier_left=bool(sides.left_weight[i] >= view.weight - sides.left_weight[i]),
        left_cover=statistic.cover(int(sides.left_weight[i])),
        right_cover=statistic.cover(int(sides.right_weight[i])),
        left_score=statistic.real(float(sides.left_score[i])),
        right_score=statistic.real(float(sides.right_score[i])),
        left_value=float(sides.left_value[i]),
        right_value=float(sides.right_value[i]),
        refused=refused or None,
    )


def taken(sides: Sides, places: NDArray[np.int64] | slice) -> Sides:
    """Some of the candidates."""
    return Sides(**{name: getattr(sides, name)[places] for name in Sides.__slots__})


def best_of(judged: Floats, allowed: NDArray[np.bool_]) -> int | None:
    """The first of the best that may be made."""
    worth = np.where(allowed, judged, -np.inf)
    if not len(worth):
        return None
    best = int(np.argmax(worth))
    return best if np.isfinite(worth[best]) else None


def codes_of(codes: Ints) -> tuple[int, ...]:
    """Codes as a candidate keeps them."""
    return tuple(sorted(int(code) for code in codes))
