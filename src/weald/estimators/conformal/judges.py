"""The fitted models behind intervals and sets: what they say of new rows, as calibration compares it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Estimator, TableLike
from weald.data.frames.user_rows import outline, take
from weald.errors import DataError, naming_member
from weald.estimators.bagging.any_members import shares_of
from weald.estimators.conformal.bagged import Bagged
from weald.estimators.shared.members import check_predicted, number_of_row
from weald.uncertainty.conformal import Calibration, SetScore, in_stretches, label_scores
from weald.uncertainty.left_out import LeftOut

#: numbers that all models together say at a time
_CELLS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class ApartModels:
    """A model for each group of calibration rows, which did not see them."""

    models: list[Any]
    scaled: bool = False
    kind: SetScore | None = None  # of labels

    def intervals(self, X: TableLike, calibration: Calibration, coverage: float) -> NDArray[np.float64]:
        """The interval of each new row: (rows, 2)."""
        out = []
        for part, n_rows in self._parts(X, 1):
            centres = np.stack([numbers(model, part, n_rows) for model in self.models])
            scales = np.stack([spread(model, part) for model in self.models]) if self.scaled else None
            out.append(calibration.interval(centres, centres, scales, coverage))
        return np.concatenate(out)

    def sets(
        self, X: TableLike, calibration: Calibration, coverage: float, classes: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """The labels that each new row may have: (rows, classes)."""
        assert self.kind is not None
        out = []
        for part, n_rows in self._parts(X, len(classes)):
            said = np.stack([shares(model, part, n_rows, classes) for model in self.models])
            out.append(calibration.sets(label_scores(said, self.kind), coverage))
        return np.concatenate(out)

    def _parts(self, X: TableLike, width: int) -> Iterator[tuple[TableLike, int]]:
        """The table, in parts where there are very many models."""
        n_rows = outline(X).n_rows
        together = max(1, _CELLS // (len(self.models) * width))
        if n_rows <= together:
            yield X, n_rows
            return
        for places in in_stretches(n_rows, together):
            yield take(X, np.arange(places.start, places.stop)), places.stop - places.start


@dataclass(frozen=True, slots=True, eq=False)
class OutOfBag:
    """An ensemble whose members that lack a calibration row are its model: nothing is fitted again."""

    model: object
    left_out: LeftOut
    scaled: bool = False
    kind: SetScore | None = None  # of labels

    def intervals(self, X: TableLike, calibration: Calibration, coverage: float) -> NDArray[np.float64]:
        """The interval of each new row: (rows, 2)."""
        out = []
        bagged = Bagged(self.model)
        for _, values in bagged.values(X, self.left_out.together(1)):
            plain = np.ascontiguousarray(values[:, :, 0])
            centres = self.left_out.means(plain)
            scales = self.left_out.spread(plain) + bagged.least_spread if self.scaled else None
            out.append(calibration.interval(centres, centres, scales, coverage))
        return np.concatenate(out)

    def sets(
        self, X: TableLike, calibration: Calibration, coverage: float, classes: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """The labels that each new row may have: (rows, classes)."""
        assert self.kind is not None
        out = []
        for _, values in Bagged(self.model).values(X, self.left_out.together(len(classes))):
            flat = self.left_out.means(values.reshape(len(values), -1))
            scores = label_scores(flat.reshape(self.left_out.n_rows, -1, len(classes)), self.kind)
            out.append(calibration.sets(scores, coverage))
        return np.concatenate(out)

    def own_scores(self, X: TableLike, values: NDArray[Any]) -> NDArray[np.float64]:
        """The scores of the calibration rows themselves."""
        scores = np.empty(len(values))
        bagged = Bagged(self.model)
        for places, said in bagged.values(X):
            means = self.left_out.own_means(said, places)
            truth = values[places]
            if self.kind is not None:
                scores[places] = label_scores(means, self.kind)[np.arange(len(truth)), truth]
                continue
            scores[places] = np.abs(truth - means[:, 0])
            if self.scaled:
                own = self.left_out.own_spread(said[:, :, 0], places)
                scores[places] /= own + bagged.least_spread
        return scores


def scores_of(
    model: Estimator,
    X: TableLike,
    values: NDArray[Any],
    classes: NDArray[Any] | None,
    kind: SetScore | None,
    scaled: bool,
) -> NDArray[np.float64]:
    """How unlike the truth what a model says of rows is (equations Q1, Q4 and Q5): (rows,)."""
    if classes is not None and kind is not None:
        said = shares(model, X, len(values), classes)
        return label_scores(said, kind)[np.arange(len(values)), values]  # type: ignore[no-any-return]
    found: NDArray[np.float64] = np.abs(values - numbers(model, X, len(values)))
    return found / spread(model, X) if scaled else found


def numbers(model: Estimator, X: TableLike, n_rows: int) -> NDArray[np.float64]:
    """What a regressor predicts: (rows,)."""
    with naming_member(f"The {type(model).__name__} of Conformal"):
        return number_of_row(model, X, n_rows)


def shares(model: object, X: TableLike, n_rows: int, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The probabilities of a classifier, 0 for a class it never saw: (rows, classes)."""
    with naming_member(f"The {type(model).__name__} of Conformal"):
        if not hasattr(model, "predict_proba"):
            raise DataError("it has no predict_proba once it is fitted, which sets of labels are made of.")
        found = shares_of(model, X, classes)
        check_predicted(found, n_rows)
        return found


def spread(model: Estimator, X: TableLike) -> NDArray[np.float64]:
    """The spread of the trees of a forest: (rows,)."""
    return Bagged(model).spread(X)
