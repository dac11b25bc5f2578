"""The candidates of numbers, ranks and linear combinations: between neighbouring values, or drawn."""

from __future__ import annotations

import math

import numpy as np

from weald.inspection.trace.columns import Ints, TracedColumn
from weald.inspection.trace.proposals import NodeView, Proposal, taken
from weald.inspection.trace.sides import Bounds, Parts, Sides, interleaved
from weald.random import Purpose, draw


def thresholds(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    """Every threshold between two values present, missing rows tried on both sides and alone on the right."""
    sides, place, missing_left = prefix_sides(
        view, parts, list(range(parts.n)), view.bounds_of(column.number)
    )
    following = np.append(parts.codes[1:], 0)
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=len(parts.missing) > 0,
        parts_present=place < parts.n - 1,
        kind="numeric",
        threshold=lambda i: column.threshold(int(parts.codes[place[i]]), int(following[place[i]])),
    )


def prefix_sides(
    view: NodeView, parts: Parts, order: list[int], bounds: Bounds
) -> tuple[Sides, Ints, np.typing.NDArray[np.bool_]]:
    """The prefixes of an order as candidates: sides, length − 1, and whether missing rows go left."""
    n = len(order)
    right = view.statistic.prefixes(parts, order, bounds, missing_left=False)
    if not len(parts.missing):
        return taken(right, slice(0, n - 1)), np.arange(n - 1), np.zeros(n - 1, np.bool_)
    left = taken(view.statistic.prefixes(parts, order, bounds, missing_left=True), slice(0, n - 1))
    place = np.append(np.repeat(np.arange(n - 1), 2), n - 1)
    return interleaved(left, right), place, np.append(np.tile([True, False], n - 1), False)


def drawn_threshold(view: NodeView, column: TracedColumn, parts: Parts) -> Proposal:
    """The one threshold that chance proposes: equation 14 of docs/methods/trees.md."""
    assert view.rules.seed is not None
    word = int(draw(view.rules.seed, Purpose.RANDOM_SPLIT, view.path, column.number)[0])
    last = parts.n - 1
    if last == 0:
        return one_threshold(view, column, parts, parts.n, math.inf)
    code, threshold = _cut(column, int(parts.codes[0]), int(parts.codes[last]), word)
    length = int(np.searchsorted(parts.codes, code, side="right"))
    return one_threshold(view, column, parts, length, threshold)


def one_threshold(
    view: NodeView, column: TracedColumn, parts: Parts, length: int, threshold: float
) -> Proposal:
    """One threshold, after so many of the codes present, with missing rows on both sides."""
    chosen = (np.arange(parts.n) < length)[np.newaxis]
    bounds, saw = view.bounds_of(column.number), len(parts.missing) > 0
    present = length < parts.n
    right = view.statistic.sets(parts, chosen, bounds, missing_left=False)
    sides, missing_left = right, np.zeros(1, np.bool_)
    if saw and present:
        left = view.statistic.sets(parts, chosen, bounds, missing_left=True)
        sides, missing_left = interleaved(left, right), np.array([True, False])
    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=saw,
        parts_present=np.full(len(missing_left), present),
        kind="numeric",
        threshold=lambda i: threshold,
    )


def _cut(column: TracedColumn, low: int, high: int, word: int) -> tuple[int, float]:
    """The largest code that goes left, and the threshold."""
    u = (word >> 11) * 2.0**-53
    marks = column.marks
    if column.kind == "exact":
        least, most = float(marks[low - 1]), float(marks[high - 1])
        threshold = max(least, least * (1 - u) + most * u)
        threshold = threshold if threshold < most else least
        code = low + int(np.searchsorted(marks[low : high - 1], threshold, side="right"))
        return code, threshold
    code = low + min(high - low - 1, int(u * (high - low)))
    if column.kind != "binned":
        return code, float(code)
    at = float(marks[low - 1]) * (1 - u) + float(marks[high - 2]) * u
    code = low + int(np.searchsorted(marks[low - 1 : high - 2], at, side="left"))
    if code > low and at - marks[code - 2] <= marks[code - 1] - at:
        code -= 1
    return code, float(marks[code - 1])
