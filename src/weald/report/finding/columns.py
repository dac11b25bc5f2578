"""What matters: importance by permutation, and what the most important columns do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.data.table import LevelColumn
from weald.errors import UncertaintyWarning
from weald.insight.columns.importance import importance
from weald.insight.dependence.partial import partial_dependence
from weald.insight.made_of_trees import trees_of
from weald.inspection.dependence.records import PartialDependence
from weald.model.importances import split_sums
from weald.report.finding.classes import floats
from weald.report.records import Effect, Matters
from weald.report.subject import MOST_COLUMNS, Subject, columns_at, date, numbers_of
from weald.runs.task import CLASSIFICATION

#: rows and repeats of models whose predictions are dear; columns whose effects are drawn, and their targets
_FEW_ROWS, _FEW_REPEATS, _EFFECTS, _TARGETS = 500, 3, 6, 3
_REPEATS, _POINTS, _FEW_POINTS = 5, 40, 16


def tried_columns(subject: Subject) -> list[int]:
    """The positions of columns that are looked at: all, or those that the model reads most."""
    n = len(subject.names)
    if n <= MOST_COLUMNS:
        return list(range(n))
    trees = trees_of(subject.model)
    sizes = None
    if trees is not None and trees.forest.n_columns == n:
        sizes = split_sums(trees.forest, "gain")[slice(*trees.trees)].sum(axis=0)
    coef = getattr(subject.model, "coef_", None)
    if sizes is None and isinstance(coef, np.ndarray) and coef.shape[-1] == n:
        sizes = np.abs(coef).reshape(-1, n).sum(axis=0)
    if sizes is None:
        return list(range(MOST_COLUMNS))
    return sorted(np.argsort(-np.asarray(sizes), kind="stable")[:MOST_COLUMNS].tolist())


def matters_of(subject: Subject) -> Matters:
    """The importances, on at most `max_rows` rows."""
    drawn, tried = importance_rows(subject), tried_columns(subject)
    part = subject.rows.take(drawn)
    known = subject.table.names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertaintyWarning)
        found = importance(
            subject.model,
            part.X,
            part.y,
            metric=metric_of(subject, part.y),
            groups=None if len(tried) == len(known) else tried,
            n_repeats=_REPEATS if subject.quick else _FEW_REPEATS,
            random_state=subject.seed,
        )
    shown = dict(zip(known, subject.names, strict=True))
    return Matters(
        tuple(shown.get(name, str(name)) for name in found.names),
        floats(found.importances_mean),
        floats(found.importances_se),
        found.metric or "",
        float(found.score if found.score is not None else float("nan")),
        part.n,
        None if len(tried) == len(known) else len(tried),
    )


def importance_rows(subject: Subject) -> NDArray[np.int64]:
    """The rows that columns are permuted in."""
    most = subject.max_rows if subject.quick else min(subject.max_rows, _FEW_ROWS)
    return subject.draw(subject.rows.n, most, purpose=2)


def metric_of(subject: Subject, y: NDArray[Any]) -> str:
    """What permuting lowers: the area for two labels with scores, else accuracy; R² of numbers."""
    if subject.kind != CLASSIFICATION:
        return "r2"
    both = subject.scores is not None and len(np.unique(y)) == 2
    return "roc_auc" if both else "accuracy"


def effects_of(subject: Subject, matters: Matters) -> tuple[Effect, ...]:
    """The mean prediction by the values of the columns that matter most."""
    place = {name: j for j, name in enumerate(subject.names)}
    best = [
        place[name]
        for name, size in zip(matters.names, matters.importance, strict=True)
        if size > 0 and name in place
    ][:_EFFECTS]
    if not best:
        return ()
    most = min(subject.max_rows, 1000) if subject.quick else min(subject.max_rows, 200)
    part = subject.rows.take(subject.draw(subject.rows.n, most, purpose=3))
    known = subject.table.names
    columns = [known[j] if subject.table.named else j for j in best]
    grid = _POINTS if subject.quick else _FEW_POINTS
    found = partial_dependence(subject.model, part.X, columns, grid=grid)
    return tuple(_effect(subject, j, each) for j, each in zip(best, found, strict=True))


def _effect(subject: Subject, j: int, found: PartialDependence) -> Effect:
    column = columns_at(subject.table, [j])[0]
    points: tuple[float | str, ...]
    grid = found.grid[0]
    if isinstance(column, LevelColumn) or column.unit in ("bool", "duration"):
        points = tuple("missing" if each is None or each != each else str(each) for each in grid.tolist())
    elif grid.dtype.kind == "M":
        points = tuple("missing" if np.isnat(each) else date(_microseconds(each)) for each in grid)
    else:
        points = tuple("missing" if each != each else float(each) for each in grid.tolist())
    chosen = _chosen(subject, found.targets)
    deciles: Floats = found.deciles[0] if len(found.deciles) else np.zeros(0)
    numeric = not isinstance(column, LevelColumn) and len(deciles) and deciles.dtype.kind == "f"
    return Effect(
        subject.names[j],
        found.kinds[0],
        points,
        tuple(str(found.targets[k]) for k in chosen),
        tuple(floats(found.values[k]) for k in chosen),
        tuple(floats(found.standard_error[k]) for k in chosen),
        floats(deciles) if numeric else (),
        found.response,
    )


def _microseconds(moment: np.datetime64) -> float:
    return float(moment.astype("datetime64[us]").astype(np.int64))


def _chosen(subject: Subject, targets: tuple[object, ...]) -> list[int]:
    """All targets if they are few, else those of the commonest labels."""
    if len(targets) <= _TARGETS:
        return list(range(len(targets)))
    counts = [int((subject.rows.y == target).sum()) for target in targets]
    return sorted(sorted(range(len(targets)), key=lambda k: (-counts[k], k))[:_TARGETS])


def ranks_of(subject: Subject, j: int, rows: NDArray[np.int64]) -> tuple[float | None, ...]:
    """How high the value of each row is among these: 0 to 1; None for categories and missing values."""
    column = columns_at(subject.table, [j])[0]
    if isinstance(column, LevelColumn) and not column.ordered:
        return (None,) * len(rows)
    if isinstance(column, LevelColumn):
        values = np.where(column.indices[rows] < 0, np.nan, column.indices[rows]).astype(np.float64)
    else:
        values = numbers_of(column)[rows]
    known = np.sort(values[~np.isnan(values)])
    if not len(known) or known[0] == known[-1]:
        return tuple(None if np.isnan(value) else 0.5 for value in values)
    middle = (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / 2
    shares = middle / len(known)
    return tuple(
        None if np.isnan(value) else round(float(share), 3)
        for value, share in zip(values, shares, strict=True)
    )
