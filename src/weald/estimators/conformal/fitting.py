"""The methods of `Conformal`: which rows train, which calibrate, and by which model each is judged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.arrays import AnyEstimator, Estimator
from weald.data.frames.user_rows import take
from weald.errors import DataError, DataTypeError, ParameterError, listing, naming_member, outside
from weald.estimators.conformal.bagged import Bagged, check_draws, check_spread, is_bagged
from weald.estimators.conformal.judges import ApartModels, OutOfBag, scores_of
from weald.estimators.conformal.options import ConformalOptions
from weald.estimators.conformal.quantiles import QuantileModels, fitted_levels, quantile_members
from weald.estimators.conformal.rows import Rows, divided
from weald.estimators.forest.base import BaseForest
from weald.estimators.shared.folds import folds
from weald.estimators.shared.members import fit_member, in_parallel, showing
from weald.estimators.shared.routing import takes_weights
from weald.uncertainty.conformal import Calibration, quantile_scores
from weald.uncertainty.intervals import drawn_rows
from weald.uncertainty.leaf_rows import LeafRows
from weald.uncertainty.left_out import LeftOut
from weald.uncertainty.trees import Drawn, TrainingRows

Judges: TypeAlias = ApartModels | OutOfBag | QuantileModels
RowNumbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What a fit brings."""

    estimator: object  # whose predictions are given
    judges: Judges
    calibration: Calibration
    rows: RowNumbers | None  # those that calibrate, by their numbers in the user's table


def fitted(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """Fit what the method asks for, and score the rows it holds out."""
    estimator = options.estimator
    if rows.weight is not None and not takes_weights(estimator):
        raise DataTypeError(
            f"Underlying estimator {type(estimator).__name__} does not support sample weights, and "
            f"sample_weight was given to {owner}. Leave them out, or use an estimator that takes them."
        )
    if options.scaled and options.method != "cqr":
        check_spread(estimator, owner)
    method: str = options.method
    if method == "jackknife+" and is_bagged(estimator):
        method = "bags"
    return _METHODS[method](options, rows, owner)


def calibrated(
    options: ConformalOptions, rows: Rows, model: AnyEstimator, owner: str, before: Judges | None
) -> Fitted:
    """The scores of given rows by a model that is fitted already; `before`: what judged until now, if any."""
    if options.method == "cqr":
        if not isinstance(before, QuantileModels):
            before = QuantileModels([model], fitted_levels(model, options.quantiles, owner))
        return _of_quantiles(before, rows, np.arange(len(rows)))
    if options.scaled:
        check_spread(model, owner)
    if options.method == "jackknife+" and is_bagged(model):
        check_draws(model, owner)
        Bagged(model).check_rows(rows.X, owner)
        return _by_bags(options, rows, model, owner)
    if options.method != "split":
        raise ParameterError(
            f"`calibrate` of {owner} takes a fitted estimator as it is, and method={options.method!r} would "
            "fit others beside it. Use method='split', or `fit`."
        )
    held = np.arange(len(rows))
    return _judged_apart(options, rows, [model], [held], model, owner)


def _fit_on(estimator: Estimator, rows: Rows, train: RowNumbers) -> Any:
    """A fitted copy, on some rows."""
    X, y, extra = rows.part(train)
    with naming_member(f"The {type(estimator).__name__} of Conformal"):
        return fit_member(clone(estimator), X, y, **extra)


def _split(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """One model, and rows it did not see."""
    train, held = divided(rows, options, owner)
    model = _fit_on(options.estimator, rows, train)
    return _judged_apart(options, rows, [model], [held], model, owner)


def _cross(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """A model for each fold, and one of all rows to predict by."""
    pairs = list(_fold_rows(options, rows, owner))
    return _by_models(options, rows, pairs, owner)


def _one_by_one(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """A model without each row in turn."""
    if len(rows) < 2:
        raise DataError(
            f"method='jackknife+' of {owner} leaves each row out in turn, and there is {len(rows)} "
            f"(n_samples={len(rows)}). Give more rows."
        )
    every = np.arange(len(rows))
    pairs = [(np.delete(every, row), every[row : row + 1]) for row in every]
    return _by_models(options, rows, pairs, owner)


def _by_models(
    options: ConformalOptions, rows: Rows, pairs: list[tuple[RowNumbers, RowNumbers]], owner: str
) -> Fitted:
    """A model for each pair of rows to train on and rows to judge, and one of all rows."""
    if options.class_conditional:
        rows.check_classes(np.concatenate([held for _, held in pairs]), owner)
    every = np.arange(len(rows))
    work = ((options.estimator, rows, train) for train in (every, *(train for train, _ in pairs)))
    models = []
    with showing(len(pairs) + 1, options.verbose) as done:
        for model in in_parallel(_fit_on, work, options.n_jobs):
            models.append(model)
            done()
    return _judged_apart(options, rows, models[1:], [held for _, held in pairs], models[0], owner)


def _judged_apart(
    options: ConformalOptions,
    rows: Rows,
    models: list[Any],
    held: list[RowNumbers],
    estimator: AnyEstimator,
    owner: str,
) -> Fitted:
    """Scores of the rows that each model did not see, in the order of the table."""
    numbers, group = np.concatenate(held), np.repeat(np.arange(len(held)), [len(each) for each in held])
    if options.class_conditional:
        rows.check_classes(numbers, owner)
    kind = options.set_score
    scores = np.concatenate(
        [
            scores_of(model, take(rows.X, part), rows.values[part], rows.classes, kind, options.scaled)
            for model, part in zip(models, held, strict=True)
        ]
    )
    order = np.argsort(numbers)
    found = _calibration(options, rows, numbers[order], scores[order], group[order])
    judges = ApartModels(models, options.scaled, kind)
    return Fitted(estimator, judges, found, rows.numbers[numbers[order]])


def _calibration(
    options: ConformalOptions, rows: Rows, held: RowNumbers, scores: NDArray[np.float64], group: RowNumbers
) -> Calibration:
    label = rows.values[held] if options.class_conditional else None
    return Calibration(scores, group, label)


def _fold_rows(options: ConformalOptions, rows: Rows, owner: str) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    """The rows of each fold, checked: none judges a model that saw it, and none is held out twice."""
    taken = np.zeros(len(rows), np.bool_)
    way_out = "Use fewer folds, or method='split'."
    # Folds speak of the rows as they were given, those of weight 0 included.
    values = np.zeros((rows.n_given, 1), rows.values.dtype)
    values[rows.numbers, 0] = rows.values
    present = np.zeros(rows.n_given)
    present[rows.numbers] = 1.0
    for fold in folds(
        options.cv,
        rows.given,
        values,
        present,
        labels=options.labels,
        random_state=options.random_state,
        owner=owner,
        way_out=way_out,
    ):
        train, held = fold.train[rows.numbers] > 0, fold.held_out[rows.numbers] > 0
        for wrong, what in ((train & held, "trains on and holds out"), (taken & held, "holds out again")):
            if wrong.any():
                raise ParameterError(
                    f"A fold of `cv` of {owner} {what} row {int(rows.numbers[np.argmax(wrong)])}. CV+ needs "
                    "folds that hold each row out at most once. Use KFold, or a number of folds."
                )
        taken |= held
        yield np.flatnonzero(train), np.flatnonzero(held)


def _bags(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """One ensemble, each row judged by the members that did not see it."""
    check_draws(options.estimator, owner)
    model = _fit_on(options.estimator, rows, np.arange(len(rows)))
    return _by_bags(options, rows, model, owner)


def _by_bags(options: ConformalOptions, rows: Rows, model: AnyEstimator, owner: str) -> Fitted:
    bagged = Bagged(model)
    candidates = bagged.drawn_from()
    lacking = np.zeros(len(rows), np.bool_)
    for counts in bagged.counts():
        lacking |= counts == 0
    seen = candidates[~lacking[candidates]]
    if len(seen):
        _tell_of_seen(seen, len(candidates), bagged.n_members, owner)
    held = _drawn(options, rows, candidates[lacking[candidates]], bagged.seed)
    if options.class_conditional:
        rows.check_classes(held, owner)
    left_out = LeftOut.of_counts(bagged.counts(), held)
    judges = OutOfBag(model, left_out, options.scaled, options.set_score)
    scores = judges.own_scores(take(rows.X, held), rows.values[held])
    found = _calibration(options, rows, held, scores, np.arange(len(held)))
    return Fitted(model, judges, found, rows.numbers[held])


def _drawn(options: ConformalOptions, rows: Rows, held: RowNumbers, seed: int) -> RowNumbers:
    """At most `max_rows` of the rows; where classes are calibrated apart, its part of each."""
    if not options.class_conditional or options.max_rows is None:
        return drawn_rows(held, options.max_rows, seed)
    assert rows.classes is not None
    n_classes = len(rows.classes)
    most = max(1, options.max_rows // n_classes)
    return np.sort(
        np.concatenate(
            [drawn_rows(held[rows.values[held] == label], most, seed) for label in range(n_classes)]
        )
    )


def _tell_of_seen(seen: RowNumbers, n_rows: int, n_members: int, owner: str) -> None:
    """Name the rows that every member saw; raise if that is all of them."""
    if len(seen) == n_rows:
        raise DataError(
            f"Each of the {n_members:,} members saw all of the {n_rows:,} rows (n_samples={n_rows}): "
            f"{owner} has none to calibrate by. Use more members (n_estimators), or method='split'."
        )
    warnings.warn(
        f"Every member saw {len(seen):,} of the {n_rows:,} training rows ({listing(seen.tolist())}); they "
        "cannot calibrate, and the others stand for them. Use more members (n_estimators).",
        UserWarning,
        stacklevel=outside(),
    )


def tell_of_too_few(calibration: Calibration, coverage: float, classes: NDArray[Any] | None = None) -> None:
    """Warn where calibration rows are too few for a coverage."""
    short = calibration.too_few(coverage)
    if not short:
        return
    fewest = math.ceil(coverage / (1 - coverage) - 1e-9)
    needs = f"A coverage of {coverage:g} needs at least {fewest:,} calibration rows"
    n_rows = f"{len(calibration.scores):,}"
    if classes is None:
        found = f"{needs}, and there are {n_rows}: all ends are infinite."
    elif calibration.label is None:
        found = f"{needs}, and there are {n_rows}: every label is in every set."
    else:
        few = listing(classes[short].tolist())
        found = f"{needs} of each class, and there are fewer of {few}: they are in every set."
    warnings.warn(f"{found} Use a smaller coverage, or more rows.", UserWarning, stacklevel=outside())


def _quantiles(options: ConformalOptions, rows: Rows, owner: str) -> Fitted:
    """Quantiles of some rows, widened or narrowed by how they held the targets of others."""
    if options.conformity_score is not None:
        raise ParameterError(
            f"method='cqr' of {owner} has a score of its own; `conformity_score` is "
            f"{options.conformity_score!r}. Leave it None."
        )
    members, levels = quantile_members(options.estimator, options.quantiles, owner)
    train, held = divided(rows, options, owner)
    work = ((member, rows, train) for member in members)
    models = list(in_parallel(_fit_on, work, options.n_jobs))
    leaf_rows = None
    if isinstance(models[0], BaseForest):
        leaf_rows = _leaf_rows(models[0], rows, train)
    return _of_quantiles(QuantileModels(models, levels, leaf_rows), rows, held)


def _leaf_rows(forest: BaseForest, rows: Rows, train: RowNumbers) -> LeafRows:
    """What a forest must keep of its training rows to predict quantiles."""
    X, target, extra = rows.part(train)
    table, n_threads = forest._read(X)
    drawn = Drawn(forest.bags_, forest.forest_.n_trees, None)
    given = TrainingRows(drawn, table, target[:, None], extra.get("sample_weight"))
    return LeafRows.of(forest.forest_, given, n_threads=n_threads)


def _of_quantiles(judges: QuantileModels, rows: Rows, held: RowNumbers) -> Fitted:
    lower, upper = judges.ends(take(rows.X, held))
    scores = quantile_scores(lower, upper, rows.values[held])
    found = Calibration(scores, np.zeros(len(held), np.int64))
    models, levels = judges.models, judges.levels
    middle = models[levels.index(0.5)] if len(models) > 1 and 0.5 in levels else models[0]
    return Fitted(middle, judges, found, rows.numbers[held])


_METHODS: dict[str, Callable[[ConformalOptions, Rows, str], Fitted]] = {
    "split": _split,
    "cv+": _cross,
    "jackknife+": _one_by_one,
    "bags": _bags,
    "cqr": _quantiles,
}
