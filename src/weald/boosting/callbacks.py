"""What users hang into the training: callbacks, with xgboost's methods, and the model as they see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike
from weald.errors import ParameterError
from weald.model.forest import Forest

#: data name → metric name → one value per round
EvalsLog: TypeAlias = dict[str, dict[str, list[float]]]

_EvalsLog: TypeAlias = EvalsLog  # inside the class that has one of that name
_METHODS = ("before_training", "after_training", "before_iteration", "after_iteration")


class ModelView:
    """The model while it grows, as callbacks see it: everything may be read, no tree changed.

    With a `booster` behind it, it also has what `weald.Booster` has: `get_dump`, `attr`, `set_attr`, slices,
    `predict` of a DMatrix, `save` …

    Parameters
    ----------
    objective : str
        The objective's name.
    n_outputs : int
        How many raw scores a row has.
    n_rounds : callable
        How many rounds the model has now, those it started from included.
    forest : callable
        Builds the forest of the rounds so far; asked once per round, and only if a callback wants it.
    predict : callable, optional
        Predictions of the model so far for a table, as the user's estimator would give them.
    booster : callable, optional
        A forest as a Booster.
    """

    __slots__ = ("_booster", "_forest", "_make_forest", "_n_outputs", "_n_rounds", "_objective", "_predict")

    _objective: str
    _n_outputs: int
    _n_rounds: Callable[[], int]
    _make_forest: Callable[[], Forest]
    _predict: Callable[..., NDArray[Any]] | None
    _forest: tuple[int, Forest] | None
    _booster: Callable[[Forest], Any] | None

    def __init__(
        self,
        *,
        objective: str,
        n_outputs: int,
        n_rounds: Callable[[], int],
        forest: Callable[[], Forest],
        predict: Callable[..., NDArray[Any]] | None = None,
        booster: Callable[[Forest], Any] | None = None,
    ) -> None:
        store = object.__setattr__
        store(self, "_objective", objective)
        store(self, "_n_outputs", n_outputs)
        store(self, "_n_rounds", n_rounds)
        store(self, "_make_forest", forest)
        store(self, "_predict", predict)
        store(self, "_forest", None)
        store(self, "_booster", booster)

    @property
    def objective(self) -> str:
        """The objective's name, such as "binary:logistic"."""
        return self._objective

    @property
    def n_outputs(self) -> int:
        """How many raw scores a row has."""
        return self._n_outputs

    @property
    def n_rounds(self) -> int:
        """How many rounds the model has, those it started from included."""
        return self._n_rounds()

    def num_boosted_rounds(self) -> int:
        """`n_rounds` under xgboost's name."""
        return self.n_rounds

    @property
    def forest(self) -> Forest:
        """The trees so far; built when asked for, once per round."""
        if self._forest is None or self._forest[0] != self.n_rounds:
            object.__setattr__(self, "_forest", (self.n_rounds, self._make_forest()))
        assert self._forest is not None
        return self._forest[1]

    def predict(self, X: TableLike, **options: object) -> NDArray[Any]:
        """Predictions of the model so far: of a DMatrix a Booster's, of a table those of the estimator."""
        if self._booster is not None and (hasattr(X, "num_row") or self._predict is None):
            predicted: NDArray[Any] = self.booster().predict(X, **options)
            return predicted
        if self._predict is None:
            raise ParameterError("This model view cannot predict: there is no table behind the training.")
        return self._predict(X, **options)

    def booster(self) -> Any:
        """The model so far as a Booster of its own; its attributes are those of the training."""
        if self._booster is None:
            raise ParameterError("There is no Booster behind this training.")
        return self._booster(self.forest)

    def __getitem__(self, rounds: int | slice) -> Any:
        """Some rounds of the model so far, as a Booster."""
        return self.booster()[rounds]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is a Booster: the training does not go with it."""
        return _itself, (self.booster(),)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("best_iteration", "best_score") and self._booster is not None:
            self.booster().set_attr(**{name: value})
            return
        raise AttributeError(
            f"Cannot set {name!r}: the model a callback gets is read-only. "
            "Keep what you need on the callback."
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Cannot delete {name!r}: the model a callback gets is read-only.")

    def __getattr__(self, name: str) -> Any:
        """What a Booster has; else say what there is, and of ways to change a model, what does it here."""
        changes = name in ("set_param", "update", "boost", "load_model", "reset")
        if self._booster is not None and not name.startswith("_") and not changes:
            booster = self.booster()
            if hasattr(type(booster), name):
                return getattr(booster, name)
        if changes or name == "set_attr":
            raise AttributeError(
                f"The model a callback gets is read-only: it has no {name!r}. To stop early use "
                "weald's EarlyStopping, to change the learning rate weald's LearningRateScheduler."
            )
        raise AttributeError(
            f"The model a callback gets has no {name!r}. It has n_rounds, num_boosted_rounds(), n_outputs, "
            "objective, forest and predict(X)."
        )


def _itself(booster: object) -> object:
    """What a pickled view is read as."""
    return booster


class BoostedModel(Protocol):
    """The model that a callback gets: a view of a training, a Booster, or the folds of `cv`."""

    def num_boosted_rounds(self) -> int:
        """How many rounds it has."""


Model = TypeVar("Model", bound=BoostedModel)


class TrainingCallback:
    """What may run around each round; derive from it, or give any object with some of these methods.

    Examples
    --------
    >>> class StopAfter(TrainingCallback):
    ...     def after_iteration(self, model, epoch, evals_log):
    ...         return model.n_rounds == 20
    """

    #: the type of `evals_log`, where xgboost's users look for it
    EvalsLog: ClassVar[Any] = EvalsLog

    def before_training(self, model: Model) -> Model:
        """Run before the first round."""
        return model

    def after_training(self, model: Model) -> Model:
        """Run after the last round."""
        return model

    def before_iteration(self, model: BoostedModel, epoch: int, evals_log: _EvalsLog) -> bool | None:
        """Run before each round; True stops the training.

        Parameters
        ----------
        model : ModelView
            The model so far, to read.
        epoch : int
            The round of this training, from 0.
        evals_log : dict
            `{data name: {metric name: [value of each round]}}`.
        """

    def after_iteration(self, model: BoostedModel, epoch: int, evals_log: _EvalsLog) -> bool | None:
        """Run after each round, its metrics in `evals_log` included; True stops the training."""


class LearningRateScheduler(TrainingCallback):
    """Another learning rate for each round, with xgboost's timing: it takes effect in the round after.

    Parameters
    ----------
    learning_rates : callable or sequence of float
        `learning_rates(epoch)`, or `learning_rates[epoch]`, is asked after round `epoch` and shrinks the
        trees of the next one. Round 0 has the estimator's `learning_rate`.

    Examples
    --------
    >>> import weald
    >>> slower = weald.LearningRateScheduler(lambda epoch: 0.3 * 0.5**epoch)
    >>> model = weald.XGBRegressor(n_estimators=3, callbacks=[slower])
    >>> model.fit([[0.0], [1.0]] * 8, [0.0, 1.0] * 8).get_booster().num_boosted_rounds()
    3
    """

    def __init__(self, learning_rates: Callable[[int], float] | Sequence[float]) -> None:
        if not callable(learning_rates) and not isinstance(learning_rates, Sequence):
            raise ParameterError(
                f"`learning_rates` must be a function of the round or a sequence; got {learning_rates!r}."
            )
        self.learning_rates = learning_rates

    def learning_rate(self, round_: int) -> float | None:
        """The rate of a round; None: the estimator's."""
        if round_ == 0:
            return None
        if callable(self.learning_rates):
            rate = self.learning_rates(round_ - 1)
        elif round_ <= len(self.learning_rates):
            rate = self.learning_rates[round_ - 1]
        else:
            raise ParameterError(
                f"`learning_rates` has {len(self.learning_rates)} rates, but there is a round {round_}. Give "
                "a rate for each round but the last, or a function."
            )
        if not isinstance(rate, int | float | np.number) or not 0.0 <= rate < math.inf:
            raise ParameterError(
                f"`learning_rates` gave {rate!r} for round {round_ - 1}; a learning rate is a number from 0."
            )
        return float(rate)


class Callbacks:
    """The callbacks of one training, asked in order; an object without a method is passed over."""

    def __init__(self, callbacks: Iterable[Any] | None) -> None:
        self.all = _checked(callbacks)

    def run(self, method: str, *arguments: object) -> bool:
        """Ask all of them; whether one said to stop.

        Unlike xgboost, those after one that stops are asked too: early stopping sees every round.
        """
        answers = [asked(*arguments) for callback in self.all if (asked := getattr(callback, method, None))]
        return any(bool(answer) for answer in answers)

    def learning_rate(self, round_: int) -> float | None:
        """The learning rate of a round, by the first that has one; None: the estimator's."""
        for callback in self.all:
            ask = getattr(callback, "learning_rate", None)
            if callable(ask) and (rate := ask(round_)) is not None:
                return float(rate)
        return None


def _checked(callbacks: Iterable[Any] | None) -> list[Any]:
    if callbacks is None:
        return []
    if not isinstance(callbacks, Iterable):
        raise ParameterError(f"`callbacks` must be a list of callbacks; got {callbacks!r}.")
    found: list[Any] = []
    for i, callback in enumerate(callbacks):
        if isinstance(callback, type):
            raise ParameterError(
                f"`callbacks` holds the class {callback.__name__} at place {i}. Give an object: "
                f"{callback.__name__}(...)."
            )
        if not any(callable(getattr(callback, method, None)) for method in _METHODS):
            raise ParameterError(
                f"`callbacks` holds {callback!r} at place {i}, which has none of {', '.join(_METHODS)}. Give "
                "an object with after_iteration(model, epoch, evals_log); derive it from TrainingCallback."
            )
        if not any(callback is other for other in found):  # an object given twice runs once
            found.append(callback)
    return found
