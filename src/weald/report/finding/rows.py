"""Single rows: what each column adds to what the model says of them (SHAP values)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, Floats, Integers
from weald.errors import DataError, WealdError
from weald.estimators.shared.tree_shap import TreeShap
from weald.insight.explaining.explain import explain
from weald.insight.explaining.explanation import Explanation
from weald.insight.made_of_trees import trees_of
from weald.pictures.svg.scales import number
from weald.report.finding.columns import ranks_of
from weald.report.records import Explained, Part, SingleRow, SwarmColumn
from weald.report.subject import MOST_WIDE, Subject, columns_at, shown_value
from weald.runs.task import CLASSIFICATION

#: rows of the swarm, of exact and of estimated values; columns of the swarm, parts of a waterfall
_ROWS, _FEW_ROWS, _COLUMNS, _PARTS = 250, 40, 12, 8
_BACKGROUND, _FEW_BACKGROUND, _PAIRS, _MOST_ESTIMATED = 100, 10, 4, 200
#: leaves times outputs times rows that SHAP values of trees are made for
_LEAF_ROWS = 60_000_000


def explained(subject: Subject) -> Explained:
    """The swarm of some rows, and five single ones."""
    names, wide = subject.names, len(subject.names)
    if wide > MOST_WIDE:
        raise DataError(f"{wide:,} columns are more than single rows are told by here; see weald.explain.")
    exact = _is_sum(subject)
    if not exact and wide > _MOST_ESTIMATED:
        raise DataError(
            f"SHAP values of a {type(subject.model).__name__} are estimated, which {wide} columns make dear; "
            "see weald.explain."
        )
    most = _rows_of(subject) if exact else _FEW_ROWS
    drawn = subject.draw(subject.rows.n, min(most, subject.max_rows), purpose=4)
    chosen = chosen_rows(subject)
    rows = np.concatenate([drawn, np.array([row for row, _ in chosen], np.int64)])
    told = _told(subject, rows, exact=exact)
    values = np.asarray(told.values, np.float64)
    base = np.asarray(told.base_values, np.float64)
    if values.ndim == 2:
        values, base = values[:, :, None], base[:, None]
    place = [_position(subject, str(name)) for name in told.feature_names or ()]
    main = _output(subject, values.shape[2])
    swarm = values[: len(drawn), :, main]
    sizes = np.abs(swarm).mean(axis=0)
    order = np.argsort(-sizes, kind="stable")[:_COLUMNS].tolist()
    columns = tuple(
        SwarmColumn(
            names[place[k]],
            float(sizes[k]),
            tuple(float(value) for value in swarm[:, k]),
            ranks_of(subject, place[k], drawn),
        )
        for k in order
        if sizes[k] > 0
    )
    singles = tuple(
        _single(subject, row, why, values[len(drawn) + i], base[len(drawn) + i], place, main)
        for i, (row, why) in enumerate(chosen)
    )
    return Explained(
        _what(subject, told, main), len(drawn), told.standard_errors is not None, columns, singles
    )


def _is_sum(subject: Subject) -> bool:
    """Whether SHAP values are exact: of sums of trees and weighted sums."""
    model: AnyEstimator = subject.model
    if hasattr(model, "coef_"):
        return True
    if not isinstance(model, TreeShap):
        return False
    fitted: AnyEstimator = model
    try:
        explain(fitted, subject.rows.take(np.zeros(1, np.int64)).X)
    except WealdError:  # votes and medians of trees are no sums
        return False
    return True


def _rows_of(subject: Subject) -> int:
    """Rows that values are made for: fewer of very large ensembles."""
    trees = trees_of(subject.model)
    if trees is None:
        return _ROWS
    return int(np.clip(_LEAF_ROWS // max(trees.forest.value.size, 1), 25, _ROWS))


def _told(subject: Subject, rows: Integers, *, exact: bool) -> Explanation:
    X = subject.rows.take(rows).X
    if exact and not hasattr(subject.model, "coef_"):
        return explain(subject.model, X)
    known = subject.rows if subject.training is None else subject.training
    most = _BACKGROUND if exact else _FEW_BACKGROUND
    background = known.take(subject.draw(known.n, most, purpose=5)).X
    if exact:
        return explain(subject.model, X, background=background, random_state=subject.seed)
    return explain(subject.model, X, background=background, n_permutations=_PAIRS, random_state=subject.seed)


def _position(subject: Subject, name: str) -> int:
    """The place of a column of the model in the user's table."""
    table = subject.table
    if not table.named:
        return int(name)
    return {str(each): j for j, each in enumerate(table.names)}[name]


def _output(subject: Subject, n_outputs: int) -> int:
    """The output that the swarm is of: the second of two labels, else the commonest one."""
    if n_outputs == 1:
        return 0
    if subject.two_labels:
        return 1
    counts = [int((subject.rows.y == label).sum()) for label in subject.labels]
    return int(np.argmax(counts)) if len(counts) == n_outputs else 0


def _what(subject: Subject, told: Explanation, main: int) -> str:
    if subject.kind != CLASSIFICATION:
        return "prediction"
    label = subject.labels[1] if subject.two_labels else subject.labels[min(main, len(subject.labels) - 1)]
    values = np.asarray(told.values)
    base = np.asarray(told.base_values)
    both = values.ndim == 3 and np.allclose(values.sum(axis=(1, 2)) + base.sum(axis=-1), 1.0, atol=1e-6)
    return f"{'probability' if both else 'score'} of “{label}”"


def chosen_rows(subject: Subject) -> list[tuple[int, str]]:
    """Five rows that are worth a look: the ends, the middle, the surest and the worst mistake."""
    truth, said = subject.rows.y, subject.said
    if subject.kind != CLASSIFICATION:
        values = np.asarray(said, np.float64)
        away = np.abs(np.asarray(truth, np.float64) - values)
        order = np.argsort(values, kind="stable")
        wanted = [
            (int(order[-1]), "the highest prediction"),
            (int(order[0]), "the lowest prediction"),
            (int(order[len(order) // 2]), "a prediction in the middle"),
            (int(np.argmax(away)), "the largest error"),
            (int(np.argmin(away)), "the smallest error"),
        ]
        return _once(wanted)
    sure = _sureness(subject)
    right = said == truth
    wanted = []
    for mask, pick, why in (
        (right, np.argmax, "right, and surest of it"),
        (~right, np.argmax, "wrong, and surest of it"),
        (right, np.argmin, "right, but hardly sure"),
        (~right, np.argmin, "wrong, but hardly sure"),
    ):
        rows = np.flatnonzero(mask)
        if len(rows):
            wanted.append((int(rows[pick(sure[rows])]), why))
    order = np.argsort(sure, kind="stable")
    wanted += [(int(order[len(order) // 2]), "as sure as most"), (int(order[-1]), "among the surest")]
    wanted += [(int(row), "one of the others") for row in subject.draw(subject.rows.n, 12, purpose=6)]
    return _once(wanted)


def _sureness(subject: Subject) -> Floats:
    """How sure the model is of what it said of each row."""
    if subject.shares is not None:
        return np.asarray(subject.shares.max(axis=1))
    if hasattr(subject.model, "decision_function"):
        found = np.asarray(subject.told.answers("decision_function"), np.float64)
        if found.ndim == 1:
            return np.abs(found)
        top = np.sort(found, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])
    return np.zeros(subject.rows.n)


def _once(wanted: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Five different rows."""
    found: dict[int, str] = {}
    for row, why in wanted:
        found.setdefault(row, why)
    return list(found.items())[:5]


def _single(
    subject: Subject,
    row: int,
    why: str,
    values: Floats,
    base: NDArray[Any],
    place: list[int],
    main: int,
) -> SingleRow:
    """One row: the parts by falling size, the small ones together."""
    adds = values[:, main]
    order = np.argsort(-np.abs(adds), kind="stable")
    table = subject.table
    shown = _PARTS if len(order) > _PARTS + 1 else len(order)
    parts = [
        Part(subject.names[place[k]], shown_value(columns_at(table, [place[k]])[0], row), float(adds[k]))
        for k in order[:shown].tolist()
    ]
    if len(order) > shown:
        parts.append(Part(f"{len(order) - shown} other columns", "", float(adds[order[shown:]].sum())))
    return SingleRow(
        int(subject.numbers[row]),
        why,
        shown_target(subject, subject.rows.y[row]),
        said_of(subject, row),
        float(base[main]),
        float(base[main] + adds.sum()),
        tuple(parts),
    )


def shown_target(subject: Subject, value: Any) -> str:
    """A label or number in words."""
    return str(value) if subject.kind == CLASSIFICATION else number(float(value), 5)


def said_of(subject: Subject, row: int) -> str:
    """What the model says of a row, with the probability where there is one."""
    said = shown_target(subject, subject.said[row])
    if subject.shares is None:
        return said
    k = int(np.flatnonzero(subject.labels == subject.said[row])[0])
    return f"{said} ({100 * float(subject.shares[row, k]):.3g} %)"
