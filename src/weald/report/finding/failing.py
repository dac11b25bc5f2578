"""Where the model fails: the rows it is most wrong about, and groups that fare worse than other rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from weald.arrays import Flags, Floats
from weald.data.table import Column, LevelColumn
from weald.errors import UncertaintyWarning
from weald.pictures.svg.scales import number
from weald.report.finding.drift import holm
from weald.report.finding.rows import said_of, shown_target
from weald.report.records import Failing, Matters, Subgroup, WorstRow
from weald.report.subject import Subject, columns_at, numbers_of, shown_value
from weald.runs.task import CLASSIFICATION
from weald.uncertainty.scores.calibration import wilson
from weald.uncertainty.scores.score_interval import score_interval

_WORST, _SHOWN, _GROUPS, _COLUMNS, _LEVELS, _FEWEST = 10, 5, 10, 30, 8, 20


def failing_of(subject: Subject, matters: Matters | None) -> Failing:
    """Rows and groups that the model does badly on."""
    labels = subject.kind == CLASSIFICATION
    wrong = _wrong(subject)
    loss, name = _losses(subject)
    order = best_columns(subject, matters)
    groups = _groups(subject, order[:_COLUMNS], wrong, labels=labels)
    whole, low, high = _value(subject, np.ones(subject.rows.n, np.bool_), wrong, labels=labels)
    return Failing(
        name,
        "share wrong" if labels else "mean |error|",
        whole,
        low,
        high,
        len(groups),
        tuple(_shown(subject, groups, wrong, labels=labels)),
        tuple(_worst(subject, loss, order[:_SHOWN])),
    )


def best_columns(subject: Subject, matters: Matters | None) -> list[int]:
    """Columns by importance, or as they stand."""
    if matters is None:
        return list(range(len(subject.names)))
    place = {name: j for j, name in enumerate(subject.names)}
    return [place[name] for name in matters.names if name in place]


def _wrong(subject: Subject) -> Floats:
    """Per row 1 if the label is wrong; of numbers how far the prediction is off."""
    if subject.kind == CLASSIFICATION:
        return np.asarray(subject.said != subject.rows.y, np.float64)
    return np.abs(np.asarray(subject.rows.y, np.float64) - np.asarray(subject.said, np.float64))


def _losses(subject: Subject) -> tuple[Floats, str]:
    """What rows are ordered by."""
    if subject.kind != CLASSIFICATION:
        return _wrong(subject), "|error|"
    if subject.shares is not None:
        place = {label: k for k, label in enumerate(subject.labels.tolist())}
        at = np.array([place[label] for label in subject.rows.y.tolist()])
        shares = subject.shares[np.arange(subject.rows.n), at]
        return -np.log(np.clip(shares, 1e-15, 1.0)), "−log p(truth)"
    if subject.scores is not None:
        sign = np.where(subject.rows.y == subject.labels[1], -1.0, 1.0)
        return sign * subject.scores[1], "score on the wrong side"
    return _wrong(subject), "wrong"


def _worst(subject: Subject, loss: Floats, columns: list[int]) -> Iterator[WorstRow]:
    known = columns_at(subject.table, columns)
    for row in np.argsort(-loss, kind="stable")[:_WORST].tolist():
        values = tuple(
            (subject.names[j], shown_value(each, row)) for j, each in zip(columns, known, strict=True)
        )
        truth = shown_target(subject, subject.rows.y[row])
        yield WorstRow(int(subject.numbers[row]), truth, said_of(subject, row), float(loss[row]), values)


_Group = tuple[str, str, Flags, float, float]  # column, group, rows, mean, p-value


def _groups(subject: Subject, columns: list[int], wrong: Floats, *, labels: bool) -> list[_Group]:
    """Every group with enough rows inside and outside, with a one-sided test against the others."""
    found: list[_Group] = []
    for j, column in zip(columns, columns_at(subject.table, columns), strict=True):
        for name, rows in parts_of(column):
            n = int(rows.sum())
            if n < _FEWEST or subject.rows.n - n < _FEWEST:
                continue
            mine, theirs = wrong[rows], wrong[~rows]
            found.append((subject.names[j], name, rows, float(mine.mean()), _p_value(mine, theirs, labels)))
    return found


def _p_value(mine: Floats, theirs: Floats, labels: bool) -> float:
    if labels:
        cells = [[mine.sum(), len(mine) - mine.sum()], [theirs.sum(), len(theirs) - theirs.sum()]]
        return float(stats.fisher_exact(np.array(cells, np.int64), alternative="greater").pvalue)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # errors that are all equal
        p = float(stats.ttest_ind(mine, theirs, equal_var=False, alternative="greater").pvalue)
    return p if np.isfinite(p) else 1.0


def parts_of(column: Column) -> Iterator[tuple[str, Flags]]:
    """The groups of a column: its commonest levels, or quarters of its values; missing values are one."""
    if isinstance(column, LevelColumn):
        counts = np.bincount(column.indices[column.indices >= 0], minlength=len(column.levels))
        for k in np.argsort(-counts, kind="stable")[:_LEVELS].tolist():
            yield str(column.levels[k]), column.indices == k
        lacks: NDArray[np.bool_] = column.indices < 0
    else:
        values = numbers_of(column)
        lacks = np.isnan(values)
        known = values[~lacks]
        distinct = np.unique(known)
        if len(distinct) <= 5:
            for value in distinct.tolist():
                yield number(value), values == value
        else:
            edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
            place = np.searchsorted(edges, values, side="left")
            for k in range(len(edges) + 1):
                start = known.min() if k == 0 else edges[k - 1]
                end = None if k == len(edges) else edges[k]
                yield _between(start, end, first=k == 0), (place == k) & ~lacks
    if lacks.any():
        yield "missing", lacks


def _between(start: float, end: float | None, *, first: bool) -> str:
    """The values of a quarter in words: above `start`, up to `end`; the first has its start too."""
    if end is None:
        return f"> {number(float(start))}"
    if first:
        return number(float(end)) if start == end else f"≤ {number(float(end))}"
    return f"{number(float(start))} to {number(float(end))}"


def _shown(subject: Subject, groups: list[_Group], wrong: Floats, *, labels: bool) -> Iterator[Subgroup]:
    """The groups that are worst for sure, by p-value, then by size of the error."""
    whole = float(wrong.mean())
    p_values = holm([p for *_, p in groups])
    order = sorted(range(len(groups)), key=lambda g: (groups[g][4], -groups[g][3], groups[g][:2]))
    for g in [g for g in order if groups[g][3] > whole][:_GROUPS]:
        column, name, rows, _, _ = groups[g]
        value, low, high = _value(subject, rows, wrong, labels=labels)
        yield Subgroup(column, name, int(rows.sum()), value, low, high, p_values[g])


def _value(subject: Subject, rows: Flags, wrong: Floats, *, labels: bool) -> tuple[float, float, float]:
    """The mean of a group with its interval: Wilson's of a share, else by resampled rows."""
    mean, n = float(wrong[rows].mean()), int(rows.sum())
    if labels:
        low, high = wilson(np.array([mean]), np.array([float(n)]), 0.95)
        return mean, float(low[0]), float(high[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertaintyWarning)
        found = score_interval(
            np.asarray(subject.said, np.float64)[rows],
            None,
            np.asarray(subject.rows.y, np.float64)[rows],
            "neg_mean_absolute_error",
            random_state=subject.seed,
        )
    return -found.score, -found.high, -found.low
