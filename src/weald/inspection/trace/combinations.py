"""Forest-RC: the linear combinations that chance proposes in a node, drawn again, and their candidates."""

from __future__ import annotations

import numpy as np

from weald.data.codes import Codes
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.ordered import prefix_sides
from weald.inspection.trace.proposals import NodeView, Proposal
from weald.inspection.trace.rules import TreeRules
from weald.inspection.trace.sides import Parts, Rows
from weald.random import Purpose, draw

Terms = tuple[tuple[int, float], ...]


def column_scales(columns: list[TracedColumn], codes: Codes, rows: Rows) -> tuple[float, ...]:
    """1 / standard deviation of dense exact numbers over some rows; 0 for columns that are not combined."""
    scales = []
    for column in columns:
        scale = 0.0
        if column.kind == "exact" and not codes.is_sparse(column.number):
            counts = np.bincount(column.codes[rows], minlength=column.n_codes + 1)[1:].astype(np.float64)
            n = total = squares = 0.0
            for count, mark in zip(counts.tolist(), column.marks.tolist(), strict=True):
                n += count
                total += count * mark
            mean = total / n if n > 0 else 0.0
            for count, mark in zip(counts.tolist(), column.marks.tolist(), strict=True):
                squares += count * (mark - mean) * (mark - mean)
            if squares > 0 and np.isfinite(1 / np.sqrt(squares / n)):
                scale = float(1 / np.sqrt(squares / n))
        scales.append(scale)
    return tuple(scales)


def drawn_combinations(rules: TreeRules, path: int, n_columns: int) -> list[tuple[int, Terms]]:
    """For each candidate the column that starts it, and its terms; none for a column that stands alone."""
    assert rules.seed is not None
    found = []
    for i in range(rules.max_columns):
        word = int(draw(rules.seed, Purpose.COMBINATION, path, i)[0])
        first = word * n_columns >> 64
        found.append((first, _terms(word, first, rules) if rules.scales[first] > 0 else ()))
    return found


def _terms(word: int, first: int, rules: TreeRules) -> Terms:
    """The column `first` and others that can be combined, with coefficients."""
    scales = rules.scales
    others = sorted(
        (int(draw(word, Purpose.COMBINED_COLUMN, j)[0]), j)
        for j in range(len(scales))
        if j != first and scales[j] > 0
    )
    columns = sorted([first, *(j for _, j in others[: rules.combined_columns - 1])])
    terms = []
    for j in columns:
        u = (int(draw(word, Purpose.COEFFICIENT, j)[0]) >> 11) * 2.0**-52 - 1
        terms.append((j, (1.0 if u == 0 else u) * scales[j]))
    return tuple(terms)


def combined_values(
    columns: dict[int, TracedColumn], terms: Terms, rows: Rows
) -> np.typing.NDArray[np.float64]:
    """The sum of each row's terms, added in their order; NaN where one of them is missing."""
    total = np.zeros(len(rows))
    for number, coefficient in terms:
        column = columns[number]
        code = column.codes[rows]
        value = np.where(code > 0, column.marks[np.maximum(code, 1) - 1], np.nan)
        total = total + coefficient * value
    return total


def combination_proposal(view: NodeView, columns: dict[int, TracedColumn], terms: Terms) -> Proposal | None:
    """Every threshold of a combination between the sums present; None if all rows have one."""
    values = combined_values(columns, terms, view.rows)
    missing = np.isnan(values)
    distinct, code = np.unique(values[~missing], return_inverse=True)
    codes = np.zeros(len(values), np.int64)
    codes[~missing] = code + 1
    order = np.argsort(codes, kind="stable")
    n_missing = int(missing.sum())
    sizes = np.bincount(codes, minlength=len(distinct) + 1)[1:]
    parts = Parts(
        np.arange(1, len(distinct) + 1),
        view.rows[order[n_missing:]],
        np.concatenate(([0], np.cumsum(sizes))),
        view.rows[order[:n_missing]],
    )
    if parts.constant:
        return None
    sides, place, missing_left = prefix_sides(view, parts, list(range(parts.n)), view.bounds)

    def threshold(i: int) -> float:
        at = int(place[i])
        if at == parts.n - 1:
            return float("inf")
        low, high = float(distinct[at]), float(distinct[at + 1])
        middle = low + (high - low) / 2
        return low if middle >= high else middle

    return Proposal(
        sides=sides,
        missing_left=missing_left,
        saw_missing=n_missing > 0,
        parts_present=place < parts.n - 1,
        kind="combination",
        threshold=threshold,
        terms=tuple((columns[number].column, a) for number, a in terms),
    )
