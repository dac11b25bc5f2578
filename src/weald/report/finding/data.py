"""The table: kinds, missing values, spreads, and how far the rows are from the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.report.finding.drift import hashed_rows, holm, level_drift, number_drift
from weald.report.records import ColumnFacts, DataFacts, Drift, Histogram, Levels
from weald.report.subject import MOST_COLUMNS, Subject, columns_at, kind_of, numbers_of
from weald.runs.task import CLASSIFICATION

_BINS, _LEVELS, _LABELS = 16, 8, 20
#: cells up to which rows are looked for among the training rows
_MOST_CELLS = 50_000_000


def data_facts(subject: Subject) -> DataFacts:
    """What is to be known of the table."""
    notes: list[str] = []
    names, table, training = subject.names, subject.table, subject.training_table
    positions = list(range(min(len(names), MOST_COLUMNS)))
    if len(positions) < len(names):
        notes.append(f"The first {len(positions)} of {len(names):,} columns are described.")
    others = _same_columns(table, training, positions)
    found = [
        _column(names[j], column, other)
        for j, column, other in zip(positions, columns_at(table, positions), others, strict=True)
    ]
    p_values = holm([1.0 if drift is None else drift[1] for _, drift in found])
    columns = [
        facts if drift is None else _with(facts, Drift(drift[0], p, drift[2]))
        for (facts, drift), p in zip(found, p_values, strict=True)
    ]
    target, target_drift = _target(subject)
    n_seen = None
    if training is not None:
        if table.n_columns * (table.n_rows + training.n_rows) <= _MOST_CELLS:
            n_seen = int(np.isin(hashed_rows(table), hashed_rows(training)).sum())
        else:
            notes.append("So large a table is not searched for rows that are in both parts.")
    if training is None:
        notes.append("Training rows were not given (train=): nothing is said of drift.")
    return DataFacts(tuple(columns), target, target_drift, n_seen, tuple(notes))


def _same_columns(table: Table, training: Table | None, positions: Sequence[int]) -> Sequence[Column | None]:
    """The training columns of the same names, or places where there are no names."""
    if training is None:
        return [None] * len(positions)
    place = {name: j for j, name in enumerate(training.names)}
    names = table.names
    at = [place.get(names[j]) for j in positions]
    there = [j for j in at if j is not None]
    known = dict(zip(there, columns_at(training, there), strict=True))
    return [None if j is None else known[j] for j in at]


def _with(facts: ColumnFacts, drift: Drift) -> ColumnFacts:
    return ColumnFacts(
        facts.name, facts.kind, facts.n_missing, facts.n_distinct, facts.quantiles, facts.spread, drift
    )


def _column(
    name: str, column: Column, other: Column | None
) -> tuple[ColumnFacts, tuple[float, float, int] | None]:
    """What is known of a column, and its drift."""
    if isinstance(column, LevelColumn):
        theirs = other if isinstance(other, LevelColumn) else None
        values, seen = level_texts(column), None if theirs is None else level_texts(theirs)
        lacks = np.array([value is None for value in values])
        drift = None if seen is None else level_drift(values, seen)
        spread = levels_of(values, seen, _LEVELS)
        n_distinct = len(np.unique(column.indices[column.indices >= 0]))
        return ColumnFacts(name, kind_of(column), int(lacks.sum()), n_distinct, None, spread, None), drift
    numbers = numbers_of(column)
    theirs_n = numbers_of(other) if isinstance(other, NumericColumn) else None
    known = numbers[~np.isnan(numbers)]
    quantiles = None if not len(known) else _floats(np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))
    drift = None if theirs_n is None else number_drift(numbers, theirs_n)
    facts = ColumnFacts(
        name,
        kind_of(column),
        int(np.isnan(numbers).sum()),
        len(np.unique(known)),
        quantiles,
        histogram_of(numbers, theirs_n),
        None,
    )
    return facts, drift


def level_texts(column: LevelColumn) -> list[str | None]:
    """The level of each row in words; None where it is missing."""
    words = [str(level) for level in column.levels]
    return [None if at < 0 else words[at] for at in column.indices.tolist()]


def levels_of(values: Sequence[str | None], others: Sequence[str | None] | None, most: int) -> Levels:
    """Counts of the commonest levels, the first ones of equals."""
    counts = _counted(values)
    theirs = None if others is None else _counted(others)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    shown, hidden = order[:most], order[most:]
    training = None if theirs is None else tuple(theirs.get(name, 0) for name in shown)
    return Levels(
        tuple(shown),
        tuple(counts[name] for name in shown),
        training,
        len(hidden),
        sum(counts[name] for name in hidden),
    )


def _counted(values: Sequence[str | None]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    return counts


def histogram_of(values: Floats, others: Floats | None = None, bins: int = _BINS) -> Histogram:
    """Counts in bins as wide as each other, one for each of few whole numbers; far tails are in the ends."""
    known = values[np.isfinite(values)]
    theirs = None if others is None else others[np.isfinite(others)]
    if not len(known):
        return Histogram((0.0, 1.0), (0,), None if theirs is None else (len(theirs),))
    low, high = float(known.min()), float(known.max())
    distinct = np.unique(known)
    if len(distinct) <= bins and np.array_equal(distinct, np.round(distinct)) and high - low < bins:
        edges = np.arange(low - 0.5, high + 1)
    else:
        start, end = (float(each) for each in np.quantile(known, [0.005, 0.995]))
        if end - start < 0.5 * (high - low) and end > start:
            low, high = start, end
        if not high > low:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1)
    return Histogram(
        _floats(edges), _binned(known, edges), None if theirs is None else _binned(theirs, edges)
    )


def _binned(values: Floats, edges: Floats) -> tuple[int, ...]:
    counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
    return tuple(int(count) for count in counts)


def _floats(values: NDArray[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _target(subject: Subject) -> tuple[Histogram | Levels, Drift | None]:
    y = subject.rows.y
    seen = None if subject.training is None else subject.training.y
    if subject.kind == CLASSIFICATION:
        words = [str(each) for each in y.tolist()]
        theirs = None if seen is None else [str(each) for each in seen.tolist()]
        drift = None if theirs is None else Drift(*level_drift(words, theirs))
        return levels_of(words, theirs, _LABELS), drift
    truth = np.asarray(y, np.float64)
    others = None if seen is None else np.asarray(seen, np.float64)
    drift = None if others is None else Drift(*number_drift(truth, others))
    return histogram_of(truth, others, 24), drift
