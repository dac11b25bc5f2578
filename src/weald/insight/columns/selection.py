"""`select_columns`: the columns that a model can do without, found by leaving out the least important."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import AnyTable, Folds, Integers, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline
from weald.data.target import read_weight
from weald.errors import DataTypeError, ParameterError
from weald.estimators.shared.folds import folds
from weald.insight.columns.judges import Judge, Units
from weald.insight.columns.options import SelectionOptions
from weald.insight.columns.scoring import Scoring, read_truth
from weald.insight.columns.selection_record import ColumnSelection, SelectionStep
from weald.inspection.groups import column_groups, column_list, listed
from weald.parameters import checked
from weald.pictures.trained_on import frame_library
from weald.progress import Progress
from weald.uncertainty.bootstrap.options import drawn_seed

_OWNER = "select_columns"


def select_columns(
    model: object,
    X: TableLike,
    y: TargetLike,
    *,
    by: str = "auto",
    metric: str | Callable[..., Any] | None = None,
    method: str = "permutation",
    groups: Mapping[str, object] | Iterable[object] | None = None,
    keep: Sequence[object] = (),
    drop: int | float = 0.2,
    min_columns: int = 1,
    rule: str = "one_se",
    test_size: float = 0.25,
    cv: Folds = 5,
    n_repeats: int = 1,
    sample_weight: WeightLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | int = False,
) -> ColumnSelection:
    """Leave out the least important columns step by step, and choose how many are enough.

    In every step the model is fitted anew on the columns that are left, judged on rows that it did not see,
    and the columns whose permutation costs least there go. Categories and missing values are no trouble where
    the model takes them.

    Parameters
    ----------
    model : estimator
        Of any library with scikit-learn's methods; it is copied, never fitted itself.
    X : table
        All columns.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Labels or numbers.
    by : {"auto", "oob", "held_out", "cv"}, default="auto"
        What judges: the rows that each tree of a forest did not see, a part of the rows held out, or
        folds. "auto" is "oob" for weald's forests with bootstrap, else "cv".
    metric : str or callable, default=None
        As in `importance`.
    method : {"permutation", "conditional"}, default="permutation"
        How importance is told; "oob" is by permutation.
    groups : dict or list, default=None
        Columns that stay or go together; as in `importance`. Columns in no group are a group each.
    keep : list of columns, default=()
        Columns, or groups by name, that always stay.
    drop : int or float, default=0.2
        How many go in a step, or which share of those that are left (at least one).
    min_columns : int, default=1
        Where to stop.
    rule : {"one_se", "best"}, default="one_se"
        The fewest columns whose score is within one standard error of the best, or the best itself.
    test_size : float, default=0.25
        The share of rows that is held out, for by="held_out".
    cv : int, splitter or iterable, default=5
        The folds, for by="cv".
    n_repeats : int, default=1
        Permutations of each column, per tree, fold or held-out part.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows, in fits and scores.
    random_state : int or RandomState, default=0
        What rows are held out and permuted by. The model keeps its own.
    n_jobs : int, default=None
        As in `importance`.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    ColumnSelection
        With `columns`, the whole `path`, `to_frame()`, `plot()` and `take(X)`.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> y = X[:, 1] + X[:, 4] > 0
    >>> weald.select_columns(weald.RandomForestClassifier(50, random_state=0), X, y).columns
    (1, 4)
    """
    options = checked(
        SelectionOptions,
        _OWNER,
        {
            "by": by,
            "method": method,
            "drop": drop,
            "min_columns": min_columns,
            "rule": rule,
            "test_size": test_size,
            "n_repeats": n_repeats,
            "random_state": random_state,
            "n_jobs": n_jobs,
        },
    )
    options = replace(options, by=_judged_by(model, options.by, options.method))
    table = indexable(X)
    whole = outline(table)
    truth = read_truth(y, whole.n_rows, _OWNER)
    weight = read_weight(sample_weight, n_rows=whole.n_rows)
    seed = drawn_seed(options.random_state)
    scoring = Scoring.of(metric, model, truth, whole.n_rows, None, _OWNER)
    divisions = _divisions(model, table, truth, weight, options, cv, seed)
    judge = Judge(model, table, truth, weight, whole.names, metric, options, seed, divisions)
    units = _units(groups, whole.names)
    kept = _kept(keep, units, whole.names)
    path = _path(judge, units, kept, options, bar=bool(progress))
    return ColumnSelection(
        names=tuple(whole.names),
        path=tuple(path),
        rule=options.rule,
        by=options.by,
        metric=scoring.name if scoring.sign > 0 else f"neg_{scoring.name}",
        frame_library=frame_library(X),
    )


def _judged_by(model: object, by: str, method: str) -> str:
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
        raise DataTypeError(f"{_OWNER} needs an estimator with fit and predict; got {type(model).__name__}.")
    forest = hasattr(model, "permutation_importance") and bool(getattr(model, "bootstrap", False))
    if by == "oob" and not forest:
        raise ParameterError(
            f"`by` of {_OWNER} is 'oob', which is for weald's forests with bootstrap=True; got "
            f"{type(model).__name__}. Use 'cv'."
        )
    if by == "oob" and method == "conditional":
        raise ParameterError(
            f"`method` of {_OWNER} is 'conditional', which is told by rows held out, and `by` is 'oob'. Use "
            "by='cv'."
        )
    return ("oob" if forest and method == "permutation" else "cv") if by == "auto" else by


def _divisions(
    model: object,
    X: AnyTable,
    truth: NDArray[Any],
    weight: Any,
    options: SelectionOptions,
    cv: Folds,
    seed: int,
) -> list[tuple[Integers, Integers]]:
    """Rows to fit on and rows to judge by."""
    if options.by == "oob":
        return []
    labels = bool(is_classifier(model))
    columns = truth.reshape(len(truth), -1)
    values: NDArray[Any] = columns
    if labels:
        values = np.stack([np.unique(each, return_inverse=True)[1] for each in columns.T], axis=1)
    if options.by == "held_out":
        return [_held_out(values[:, 0] if labels else None, len(truth), options.test_size, seed)]
    found = folds(
        cv,
        X,
        values,
        weight,
        labels=labels,
        random_state=seed,
        owner=_OWNER,
        way_out="Use fewer folds, or by='held_out'.",
    )
    return [(np.flatnonzero(fold.train), np.flatnonzero(fold.held_out)) for fold in found]


def _held_out(labels: NDArray[Any] | None, n_rows: int, share: float, seed: int) -> tuple[Integers, Integers]:
    """A share of the rows, of each label as nearly as can be."""
    order = np.random.default_rng([seed, 3]).permutation(n_rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    steps = np.floor(np.arange(1, n_rows + 1) * share + 0.5)
    test = np.diff(steps, prepend=0.0) > 0
    if test.sum() < 2 or test.all():
        raise ParameterError(
            f"`test_size` of {_OWNER} is {share:g}, which holds out {int(test.sum())} of {n_rows} rows. At "
            "least 2 must be held out, and some be left to fit on."
        )
    return np.sort(order[~test]), np.sort(order[test])


def _units(groups: Mapping[str, object] | Iterable[object] | None, names: Sequence[Any]) -> list[Any]:
    """What stays or goes together: the groups, and every other column by itself."""
    found = column_groups(groups, names, owner=_OWNER)
    grouped = [j for _, members in found for j in members]
    known = set(grouped)
    if len(known) < len(grouped):
        twice = next(j for j in grouped if grouped.count(j) > 1)
        raise ParameterError(
            f"`groups` of {_OWNER} has the column {names[twice]!r} twice. A column stays or goes once."
        )
    return found + [(names[j], [j]) for j in range(len(names)) if j not in known]


def _kept(keep: Sequence[object], units: Units, names: Sequence[Any]) -> set[int]:
    """The units that always stay."""
    by_name = {name: k for k, (name, _) in enumerate(units) if not isinstance(name, int)}
    entries = listed(keep, "keep", _OWNER)
    is_unit = [isinstance(entry, Hashable) and entry in by_name for entry in entries]
    groups = {by_name[entry] for entry, known in zip(entries, is_unit, strict=True) if known}
    others = [entry for entry, known in zip(entries, is_unit, strict=True) if not known]
    columns = set(column_list(others, names, "keep", _OWNER))
    return groups | {k for k, (_, members) in enumerate(units) if columns & set(members)}


def _path(
    judge: Judge, units: Units, kept: set[int], options: SelectionOptions, *, bar: bool
) -> list[SelectionStep]:
    """Every step: the columns, their score, and what was left out after it."""
    left = list(range(len(units)))
    least = max(1, options.min_columns)
    shown = Progress(_n_steps(len(left), len(kept), least, options.drop), word="step") if bar else None
    path: list[SelectionStep] = []
    with shown or nullcontext():
        while True:
            found = judge.of([units[k] for k in left])
            # Of equals the last in the table goes first.
            order = sorted(range(len(left)), key=lambda i: (found.importances[i], -left[i]))
            free = [i for i in order if left[i] not in kept]
            n_gone = min(_n_dropped(len(left), options.drop), len(left) - least, len(free))
            gone = [left[i] for i in free[: max(0, n_gone)]]
            path.append(
                SelectionStep(
                    columns=tuple(sorted(j for k in left for j in units[k][1])),
                    score=found.score,
                    standard_error=found.error,
                    importances={units[k][0]: float(found.importances[i]) for i, k in enumerate(left)},
                    dropped=tuple(units[k][0] for k in gone),
                )
            )
            if shown is not None:
                shown.advance({})
            if not gone:
                return path
            left = [k for k in left if k not in set(gone)]


def _n_dropped(n_left: int, drop: int | float) -> int:
    return drop if isinstance(drop, int) else max(1, int(drop * n_left))


def _n_steps(n_left: int, n_kept: int, least: int, drop: int | float) -> int:
    """How many steps there will be."""
    steps = 1
    while n_left > max(least, n_kept):
        n_left -= min(_n_dropped(n_left, drop), n_left - max(least, n_kept))
        steps += 1
    return steps
