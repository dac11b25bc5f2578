"""What to train: a method, and what is put around it to weigh, resample, decide and tell intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

import weald
from weald.arrays import AnyEstimator, AnyTable
from weald.errors import ParameterError, listing, nearest
from weald.runs.methods import MOST_BOOSTED, Size, boosting_words, machine_for, make
from weald.runs.task import CLASSIFICATION, Task

#: rounds of boosting where rows are made: to stop on those that were made would stop late
ROUNDS_OF_RESAMPLED = {"xgboost": 400, "gbdt": 200}
_FORESTS = {"forest", "extra-trees"}

_SAMPLERS: dict[str, str] = {
    "over": "RandomOverSampler",
    "under": "RandomUnderSampler",
    "smote": "SMOTE",
    "borderline-smote": "BorderlineSMOTE",
    "adasyn": "ADASYN",
    "smote-enn": "SMOTEENN",
    "smote-tomek": "SMOTETomek",
    "tomek": "TomekLinks",
    "enn": "EditedNearestNeighbours",
    "near-miss": "NearMiss",
}
SAMPLERS = tuple(_SAMPLERS)
#: what a threshold is best for
THRESHOLDS = ("balanced_accuracy", "f1")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to train, told before the table is known."""

    method: str = "xgboost"
    seed: int | None = 0
    threads: int | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    #: "balanced", or label=weight pairs
    class_weight: tuple[str, ...] = ()
    resample: str | None = None
    #: a number, or one of THRESHOLDS
    threshold: str | None = None
    intervals: bool = False
    #: rows times trees that boosting may look at
    most_boosted: float = MOST_BOOSTED

    def estimator(self, task: Task, X: AnyTable, y: NDArray[np.generic]) -> Any:
        """The estimator for training rows X and their target y."""
        weights = self._class_weights(task)
        settings = dict(self.settings)
        if self.resample is not None:
            settings = _without_stopping(self.method) | settings
        model = make(
            self.method,
            task.kind,
            seed=self.seed,
            threads=self.threads,
            settings=settings,
            size=Size.of(X, y, task.kind),
            most_boosted=self.most_boosted,
        )
        if weights is not None and "class_weight" in model.get_params(deep=False):
            model.set_params(class_weight=weights)
        if self.resample is not None:
            model = weald.Resampled(model, self._sampler(task))
        if self.threshold is not None:
            model = weald.Thresholded(model, self._threshold(task), random_state=self.seed)
        if self.intervals:
            way: Any = "jackknife+" if self.method in _FORESTS and self._is_bare() else "split"
            model = weald.Conformal(model, method=way, random_state=self.seed)
        return model

    def weights(
        self, model: AnyEstimator, task: Task, y: NDArray[np.generic], given: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """The weights of rows: those given, times those of the labels where no parameter takes these."""
        return given if _takes_class_weight(model) else self.row_weights(task, y, given)

    def row_weights(
        self, task: Task, y: NDArray[np.generic], given: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """The weights given, times those of the labels."""
        wanted = self._class_weights(task)
        if wanted is None:
            return given
        by_label = compute_sample_weight(wanted, y)
        return np.asarray(by_label if given is None else by_label * given, np.float64)

    def words(self, X: AnyTable, y: NDArray[np.generic], kind: str) -> str:
        """What was chosen for the table, where something was."""
        if self.method == "svm":
            return machine_for(Size.of(X, y, kind), self.settings)[1]
        if self.resample is not None:
            return ""
        return boosting_words(self.method, Size.of(X, y, kind), self.settings, self.most_boosted)

    def _is_bare(self) -> bool:
        return self.resample is None and self.threshold is None

    def _class_weights(self, task: Task) -> Any:
        if not self.class_weight:
            return None
        if task.kind != CLASSIFICATION:
            raise ParameterError("--class-weight is for labels, and the target holds numbers. Use --weight.")
        if self.class_weight == ("balanced",):
            return "balanced"
        labels = {str(label): label for label in np.unique(task.y).tolist()}
        found = {}
        for pair in self.class_weight:
            name, equals, text = pair.rpartition("=")
            if not equals or name not in labels:
                raise ParameterError(
                    f"--class-weight takes 'balanced', or a label and its weight such as "
                    f"{next(iter(labels))}=5; got {pair!r}. The labels are {listing(labels)}."
                )
            found[labels[name]] = _positive(text, pair)
        return found

    def _sampler(self, task: Task) -> Any:
        name = str(self.resample)
        if task.kind != CLASSIFICATION:
            raise ParameterError("--resample is for labels, and the target holds numbers. Leave it out.")
        if name not in _SAMPLERS:
            close = nearest(name, SAMPLERS)
            raise ParameterError(
                f"There is no way to resample called {name!r}. "
                + (f"Did you mean {close!r}? " if close else "")
                + f"There are {', '.join(SAMPLERS)}."
            )
        cls: Callable[..., Any] = getattr(weald, _SAMPLERS[name])
        sampler = cls()
        return sampler.set_params(
            **({"random_state": self.seed} if "random_state" in sampler.get_params() else {})
        )

    def _threshold(self, task: Task) -> Any:
        text = str(self.threshold)
        if task.kind != CLASSIFICATION:
            raise ParameterError("--threshold is for labels, and the target holds numbers. Leave it out.")
        if text in THRESHOLDS:
            return text
        try:
            return float(text)
        except ValueError:
            raise ParameterError(
                f"--threshold takes a number between 0 and 1, or what it is to be best for: "
                f"{' or '.join(THRESHOLDS)}; got {text!r}."
            ) from None


def _takes_class_weight(model: AnyEstimator) -> bool:
    """Whether the model, or the one that it stands around, weighs labels itself."""
    params = model.get_params(deep=False)
    if "class_weight" in params:
        return True
    inner = params.get("estimator")
    return inner is not None and _takes_class_weight(inner)


def _without_stopping(method: str) -> dict[str, object]:
    if method not in ROUNDS_OF_RESAMPLED:
        return {}
    rounds = {"n_estimators": ROUNDS_OF_RESAMPLED[method]}
    if method == "xgboost":
        return rounds | {"early_stopping": None, "early_stopping_rounds": None}
    return rounds | {"n_iter_no_change": None}


def _positive(text: str, pair: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise ParameterError(f"The weight of a label must be a number from 0 on; got {pair!r}.")
    return weight


def read_settings(pairs: Sequence[str]) -> dict[str, object]:
    """`name=value` as parameters: numbers, true, false, none, lists as in JSON, else text."""
    words = {"true": True, "false": False, "none": None}
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise ParameterError(f"--set takes name=value, such as max_depth=4; got {pair!r}.")
        if text.lower() in words:
            found[name] = words[text.lower()]
            continue
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def rows_of(X: AnyTable, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table or matrix."""
    return X.take(rows) if hasattr(X, "column_names") else X[rows]
