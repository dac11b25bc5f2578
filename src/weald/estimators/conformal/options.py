"""The parameters of `Conformal`, each with its range, and which of them go together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from sklearn.base import is_classifier, is_regressor

from weald.arrays import Estimator, Folds, RandomState
from weald.errors import ParameterError, told
from weald.estimators.shared.ensemble_options import Trainable
from weald.numbers import as_float
from weald.parameters import Choice, Flag, Instance, Nothing, NotZero, Number, Splitter, Whole, parameter
from weald.uncertainty.conformal import SetScore

Method = Literal["split", "cv+", "jackknife+", "cqr"]

_OF_NUMBERS, _OF_LABELS = ("absolute", "scaled"), ("lac", "aps")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalOptions:
    """The parameters of `Conformal`."""

    estimator: Estimator = parameter(Trainable(), hint="Give an object, not a class.")
    method: Method = parameter(
        Choice(("split", "cv+", "jackknife+", "cqr")),
        hint="Use 'split' for one fit, 'jackknife+' for forests, 'cqr' for quantiles.",
    )
    conformity_score: str | None = parameter(
        Nothing(),
        Choice((*_OF_NUMBERS, *_OF_LABELS)),
        hint="Leave it None for 'absolute' (numbers) or 'lac' (labels).",
    )
    calibration_size: int | float = parameter(
        Whole(1), Number(0, 1, "()", fraction=True), hint="Use 0.25 for a quarter of the rows."
    )
    cv: Folds = parameter(
        Whole(2),
        Splitter(),
        Instance((Iterable,), "a list of (train, test) index arrays"),
        hint="Use 5 for five shuffled folds.",
    )
    quantiles: Sequence[float] | None = parameter(
        Nothing(),
        Instance((list, tuple, np.ndarray), "a list of numbers between 0 and 1"),
        hint="Use (0.05, 0.5, 0.95).",
    )
    class_conditional: bool = parameter(Flag(), hint="Use True for the coverage in every class.")
    max_rows: int | None = parameter(
        Nothing(), Whole(1), hint="Use 2000; None for all rows, which takes longer."
    )
    n_jobs: int | None = parameter(Nothing(), NotZero(), hint="Use -1 for every CPU of the process.")
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    verbose: int = parameter(Whole(0), Flag(), hint="Use 0 for silence.")

    @property
    def labels(self) -> bool:
        """Whether labels are predicted, not numbers."""
        return bool(is_classifier(self.estimator))

    @property
    def scaled(self) -> bool:
        """Whether scores are divided by the spread of the trees."""
        return self.conformity_score == "scaled"

    @property
    def set_score(self) -> SetScore | None:
        """The score of labels; None for numbers."""
        return cast("SetScore", self.conformity_score or "lac") if self.labels else None

    def check(self, owner: str) -> None:
        """Refuse what does not go together, with what would."""
        kind = type(self.estimator).__name__
        if not self.labels and not is_regressor(self.estimator):
            raise ParameterError(
                f"`estimator` of {owner} must be a classifier or a regressor; {kind} is neither."
            )
        others = _OF_NUMBERS if self.labels else _OF_LABELS
        if self.conformity_score in others:
            valid = " or ".join(map(repr, _OF_LABELS if self.labels else _OF_NUMBERS))
            raise ParameterError(
                f"`conformity_score` of {owner} is {self.conformity_score!r}, and {kind} predicts "
                f"{'labels' if self.labels else 'numbers'}. Use {valid}."
            )
        if self.labels:
            self._check_labels(owner, kind)
        elif self.class_conditional:
            raise ParameterError(
                f"`class_conditional` of {owner} is for classifiers, and {kind} predicts numbers. Leave it "
                "False."
            )
        if self.quantiles is not None:
            self._check_quantiles(owner)

    def _check_labels(self, owner: str, kind: str) -> None:
        if self.method == "cqr":
            raise ParameterError(
                f"method='cqr' of {owner} is for numbers, and {kind} predicts labels. Use 'split', 'cv+' or "
                "'jackknife+'."
            )
        if not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"{owner} makes sets of labels from probabilities, and this {kind} has no predict_proba. Use "
                "one that has (SVC with probability=True), or scikit-learn's CalibratedClassifierCV of it."
            )

    def _check_quantiles(self, owner: str) -> None:
        if self.method != "cqr":
            raise ParameterError(
                f"`quantiles` of {owner} are for method='cqr'; method is {self.method!r}. Leave them None: "
                "the coverage is an argument of predict_interval."
            )
        assert self.quantiles is not None
        levels = [as_float(level) for level in self.quantiles]
        ascending = all(a < b for a, b in zip([0.0, *levels], [*levels, 1.0], strict=True))
        if len(levels) < 2 or not ascending:
            raise ParameterError(
                f"`quantiles` of {owner} must be two or more ascending numbers between 0 and 1; got "
                f"{list(self.quantiles)!r}. Use (0.05, 0.5, 0.95)."
            )


def read_coverage(coverage: object, method: str) -> float:
    """The coverage that was asked for, a number between 0 and 1."""
    number = as_float(coverage)
    if isinstance(coverage, bool) or not 0 < number < 1:
        raise ParameterError(
            f"`coverage` of {method} must be a number between 0 and 1; got {told(coverage)}. Use 0.9 to hold "
            "nine targets of ten."
        )
    return number
