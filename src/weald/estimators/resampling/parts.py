"""A sampler and a classifier fitted on some rows; and on parts of them, which the other parts judge.

What `Resampled` learns from has been resampled, so no row of it tells how sure the classifier may be. Further
fits leave out a fifth of the rows each, and are asked about that fifth: rows of the data, as they are. So are
fits of the same classifier on rows that no sampler changed, which know what resampling lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.arrays import AnyEstimator, Floats, TableLike
from weald.data.frames.user_rows import take
from weald.data.target import Labels, positions_among, restore_labels
from weald.errors import ParameterError, ResamplingWarning, WealdError, naming_member, outside
from weald.estimators.shared.members import fit_member
from weald.estimators.shared.routing import params_of_rows, route, routing_is_on, takes_weights
from weald.random import Purpose, draw
from weald.resampling.calibration import FEWEST_ROWS, MOST_ROWS, ShareMap, fitted_map
from weald.resampling.priors import class_shares, correct_priors

if TYPE_CHECKING:
    from weald.estimators.resampling.resampled import Resampled

#: further fits, each on what another part of the rows leaves
N_PARTS = 5
#: rows of the rarest class that tell enough: where it has many, fewer parts are judged
_ENOUGH_ROWS = 1000
#: with fewer rows, of those of the data, a fit on all of them costs more than all others together
_FEW_LEFT = 0.5
#: what is added to probabilities before their logarithms, at least and at most
_LEAST_FLOOR, _MOST_FLOOR = 1e-6, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What `fit` is given, row by row."""

    X: TableLike
    labels: Labels
    weight: Floats | None
    params: Mapping[str, Any]

    def some(self, rows: NDArray[np.int64]) -> TrainingRows:
        """These rows alone; classes stay as they are numbered."""
        n_rows = len(self.labels.indices)
        return TrainingRows(
            take(self.X, rows),
            Labels(self.labels.classes, self.labels.indices[rows]),
            None if self.weight is None else self.weight[rows],
            params_of_rows(self.params, rows, n_rows),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A sampler and a classifier that learned from what it made; class shares before and after."""

    estimator: AnyEstimator
    sampler: AnyEstimator
    shares: Floats
    shares_after: Floats
    n_rows_after: int

    def proba(self, X: TableLike, classes: NDArray[Any]) -> Floats:
        """The classifier's probabilities in the order of `classes`; 0 for a class it never saw."""
        return proba_among(self.estimator, X, classes)


def fit_on(owner: Resampled, rows: TrainingRows) -> Fitted:
    """Resample the rows, and fit the classifier on what comes of them."""
    name, labels = type(owner).__name__, rows.labels
    sampler = clone(owner.sampler)
    with naming_member(f"The sampler of {name}, a {type(sampler).__name__},"):
        X, y = sampler.fit_resample(rows.X, restore_labels(labels.classes, labels.indices))
    origin = getattr(sampler, "sample_indices_", None)
    given = _fit_params(owner, rows, origin, sampler)
    with naming_member(f"The estimator of {name}, a {type(owner.estimator).__name__},"):
        estimator = fit_member(clone(owner.estimator), X, y, **given)
    n_classes = len(labels.classes)
    own = None if rows.weight is None or origin is None else rows.weight[origin]
    found = positions_among(np.asarray(y), labels.classes)
    before, after = class_shares(labels.indices, n_classes, rows.weight), class_shares(found, n_classes, own)
    return Fitted(estimator, sampler, before, after, len(found))


def fit_plain(owner: Resampled, rows: TrainingRows) -> AnyEstimator:
    """The classifier fitted on the rows as they are."""
    labels = rows.labels
    given = _fit_params(owner, rows, np.arange(len(labels.indices)), owner.sampler)
    with naming_member(f"The estimator of {type(owner).__name__}, a {type(owner.estimator).__name__},"):
        return fit_member(
            clone(owner.estimator), rows.X, restore_labels(labels.classes, labels.indices), **given
        )


def _fit_params(
    owner: Resampled, rows: TrainingRows, origin: NDArray[np.intp] | None, sampler: object
) -> dict[str, Any]:
    """What `fit` of the estimator gets besides the rows: what belongs to rows, for the resampled ones."""
    weight = rows.weight
    given = dict(rows.params) if weight is None else {"sample_weight": weight, **rows.params}
    if not given:
        return {}
    if routing_is_on():
        given = dict(route(owner, "fit", given).estimator.fit)
    elif weight is not None and not takes_weights(owner.estimator):
        raise ParameterError(
            f"Underlying estimator {type(owner.estimator).__name__} does not support sample weights, and "
            f"sample_weight was given to {type(owner).__name__}. Leave it out, or use one that takes it."
        )
    if origin is None:
        raise ParameterError(
            f"{type(sampler).__name__} does not tell which rows it made of which (sample_indices_), so "
            "weights cannot follow. Use a sampler of weald, or leave sample_weight out."
        )
    return params_of_rows(given, np.asarray(origin, np.int64), len(rows.labels.indices))


def proba_among(estimator: AnyEstimator, X: TableLike, classes: NDArray[Any]) -> Floats:
    """Probabilities in the order of `classes`; 0 for a class that the estimator never saw."""
    proba = np.asarray(estimator.predict_proba(X), np.float64)
    places = positions_among(np.asarray(estimator.classes_), classes)
    if len(places) == len(classes) and bool((places == np.arange(len(places))).all()):
        return proba
    out = np.zeros((len(proba), len(classes)))
    out[:, places] = proba
    return out


def unseen_map(
    owner: Resampled, rows: TrainingRows, whole: Fitted, always_blend: bool
) -> tuple[ShareMap | None, AnyEstimator | None]:
    """From the estimator's probabilities to those of the data, by parts and the rows that these lack.

    And the classifier of the rows as they are that takes part, if one does. No map where the class shares
    stayed as they were, where a class is gone or too small to be parted, where there are no probabilities;
    and, said aloud, where a part cannot be fitted.
    """
    n_rows = len(rows.labels.indices)
    counts = np.bincount(rows.labels.indices, minlength=len(rows.labels.classes))
    if (
        not hasattr(whole.estimator, "predict_proba")
        or np.allclose(whole.shares, whole.shares_after, rtol=1e-12, atol=0.0)
        or whole.shares_after.min() <= 0
        or counts.min() < 2 * FEWEST_ROWS
    ):
        return None, None
    blends = always_blend or whole.n_rows_after >= _FEW_LEFT * n_rows
    n_parts = int(np.clip(-(-_ENOUGH_ROWS * N_PARTS // counts.min()), 1, N_PARTS))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say, the fit on all rows has said
            judged = _judged(owner, rows, whole, n_parts, blends)
            plain = None if judged.plain is None else (judged.plain, _floor(judged.plain))
            n_rows_of = whole.shares * n_rows
            found = fitted_map(judged.proba, judged.labels, n_rows_of, _floor(judged.proba), plain)
            return found, fit_plain(owner, rows) if found is not None and found.blends else None
    except WealdError as error:
        warnings.warn(
            f"Probabilities of {type(owner).__name__} go by the class shares alone, because a further fit "
            f"failed: {error} Use correct_prior='shares' if that is meant.",
            ResamplingWarning,
            stacklevel=outside(),
        )
        return None, None


def _floor(proba: Floats) -> float:
    """What is added to probabilities: half of the smallest above 0, within bounds."""
    return float(np.clip(proba[proba > 0].min(initial=1.0) / 2, _LEAST_FLOOR, _MOST_FLOOR))


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What fits say of rows that they lack, under the shares of the whole fit, and the rows' classes."""

    proba: Floats
    plain: Floats | None  # of fits on rows as they are
    labels: NDArray[np.int64]


def _judged(owner: Resampled, rows: TrainingRows, whole: Fitted, n_parts: int, blends: bool) -> _Judged:
    """Ask the fits of so many parts."""
    labels, found, plain, truth = rows.labels, [], [], []
    parts = _parts(labels)
    for part in range(n_parts):
        others = rows.some(np.flatnonzero(parts != part))
        asked = _asked(np.flatnonzero(parts == part), labels, MOST_ROWS // n_parts)
        table = take(rows.X, asked)
        fitted = fit_on(owner, others)
        proba = fitted.proba(table, labels.classes)
        found.append(correct_priors(proba, whole.shares_after, fitted.shares_after))
        if blends:
            plain.append(proba_among(fit_plain(owner, others), table, labels.classes))
        truth.append(labels.indices[asked])
    return _Judged(
        np.concatenate(found),
        np.concatenate(plain) if blends else None,
        np.concatenate(truth).astype(np.int64),
    )


def _parts(labels: Labels) -> NDArray[np.int64]:
    """The part of each row: as many of each class, as far as that goes, by hashes of the rows' numbers."""
    words = draw(0, Purpose.CALIBRATION_ROWS, 2, np.arange(len(labels.indices), dtype=np.uint64))
    part = np.zeros(len(labels.indices), np.int64)
    for k in range(len(labels.classes)):
        own = np.flatnonzero(labels.indices == k)
        part[own[np.argsort(words[own], kind="stable")]] = np.arange(len(own)) % N_PARTS
    return part


def _asked(rows: NDArray[np.int64], labels: Labels, most: int) -> NDArray[np.int64]:
    """At most so many rows of each class, spread evenly."""
    kept = []
    for k in range(len(labels.classes)):
        own = rows[labels.indices[rows] == k]
        kept.append(own if len(own) <= most else own[np.linspace(0, len(own) - 1, most).astype(np.int64)])
    return np.sort(np.concatenate(kept))
