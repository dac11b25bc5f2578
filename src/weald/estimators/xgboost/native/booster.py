"""`Booster`: boosted trees under xgboost's native names; what `train` returns for a DMatrix."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, Self

import numpy as np

from weald.data.schema import Schema
from weald.errors import DataTypeError, ParameterError, WealdError
from weald.estimators.shared.saving import Saving
from weald.estimators.xgboost.base import BaseXGB
from weald.estimators.xgboost.chosen import CHOSEN
from weald.estimators.xgboost.native.arguments import ModelSource, Params, by_name
from weald.estimators.xgboost.native.learner import Learner
from weald.estimators.xgboost.native.matrix import DMatrix, check_matrix
from weald.estimators.xgboost.native.rounds import BoosterTraining
from weald.estimators.xgboost.native.showing import BoosterShowing
from weald.estimators.xgboost.saving import saved_parts
from weald.io.saved_state import SavedState
from weald.model.assemble import forest_of, trees_of
from weald.model.forest import Forest

_OTHER_FORMATS = (
    "weald writes and reads models as .weald files. Use save_model('model.weald'), and weald.load or "
    "Booster(model_file='model.weald') to read it back."
)


class Booster(Saving, BoosterShowing, BoosterTraining):
    """Boosted trees under xgboost's native names.

    `weald.train(params, dtrain)` returns one, `get_booster()` of a fitted `XGBClassifier` is one. Labels are
    numbers here; predictions are probabilities, numbers or classes as the objective has it.

    Parameters
    ----------
    params : dict or list of pairs, default=None
        xgboost's parameters, for `update`.
    cache : sequence of DMatrix, default=()
        Accepted, without effect.
    model_file : str, path, bytes or Booster, default=None
        A saved model, or another Booster.

    Examples
    --------
    >>> import weald
    >>> train = weald.DMatrix([[1.0], [2.0], [3.0], [4.0]] * 4, label=[0, 0, 1, 1] * 4)
    >>> booster = weald.train({"objective": "binary:logistic"}, train, 3)
    >>> booster.num_boosted_rounds(), booster.predict(train).round(2)[:4].tolist()
    (3, [0.27, 0.27, 0.73, 0.73])
    """

    def __init__(
        self,
        params: Params | None = None,
        cache: Sequence[DMatrix] = (),
        model_file: ModelSource | None = None,
    ) -> None:
        for matrix in cache or ():
            check_matrix(matrix, "cache")
        self._learner = Learner()
        self._attributes: dict[str, str] = {}
        self._types: list[str] | None = None
        self._ongoing = None
        if model_file is not None:
            self._load(model_file)
        if params is not None:
            self._learner.set_native(by_name(params))

    @classmethod
    def _of(
        cls,
        learner: Learner,
        attributes: dict[str, str] | None = None,
        types: Sequence[str] | None = None,
    ) -> Self:
        """The booster of a fitted model; attributes are shared, not copied."""
        booster = cls()
        booster._learner = learner
        booster._attributes = {} if attributes is None else attributes
        booster._types = None if types is None else list(types)
        if learner._best is not None:
            booster.set_attr(best_iteration=learner._best[0], best_score=learner._best[1])
        return booster

    @classmethod
    def _of_estimator(cls, model: BaseXGB, attributes: dict[str, str] | None = None) -> Self:
        """The booster of a fitted estimator."""
        types = getattr(model, "feature_types", None)
        return cls._of(Learner.of(model), attributes, types)

    def _fitted(self) -> Learner:
        if "forest_" not in vars(self._learner):
            raise WealdError("This Booster has no trees. Train it by weald.train or update, or load a model.")
        return self._learner

    def __repr__(self) -> str:
        """How many rounds and trees."""
        if "forest_" not in vars(self._learner):
            return "<Booster without trees>"
        forest = self._learner.forest_
        rounds, trees = self.num_boosted_rounds(), forest.n_trees
        return f"<Booster: {rounds:,} rounds, {trees:,} trees, {forest.n_columns:,} columns>"

    def _start_for(self, model: BaseXGB) -> BaseXGB:
        """The model as an estimator goes on from it; labels come with the new rows."""
        learner = self._fitted()
        start = type(model)()
        learned = ("objective_", "tree_method_", "max_bin_", "n_outputs_", "_best", *CHOSEN)
        start._set_fitted(
            learner.forest_, learner.schema_, None, {name: getattr(learner, name) for name in learned}
        )
        return start

    # ------------------------------------------------------------------ attributes and columns

    def attr(self, key: str) -> str | None:
        """An attribute that `set_attr` gave; None if there is none."""
        return self._attributes.get(key)

    def attributes(self) -> dict[str, str]:
        """All attributes."""
        return dict(self._attributes)

    def set_attr(self, **attributes: object) -> None:
        """Keep texts with the model, by name; None takes one away."""
        for name, value in attributes.items():
            if value is None:
                self._attributes.pop(name, None)
            else:
                self._attributes[name] = str(value)

    @property
    def best_iteration(self) -> int:
        """The best round, from 0; only with early stopping."""
        return int(self._best("best_iteration"))

    @best_iteration.setter
    def best_iteration(self, round_: int) -> None:
        self.set_attr(best_iteration=round_)

    @property
    def best_score(self) -> float:
        """The metric that decided early stopping, in the best round; only with early stopping."""
        return float(self._best("best_score"))

    @best_score.setter
    def best_score(self, score: float) -> None:
        self.set_attr(best_score=score)

    def _best(self, name: str) -> str:
        value = self.attr(name)
        if value is None:
            raise AttributeError(f"`{name}` is only defined when early stopping is used.", name=name)
        return value

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns; None if they have none. New ones may be set."""
        schema = self._fitted().schema_
        return [str(name) for name in schema.names] if schema.named else None

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        schema = self._fitted().schema_
        called = range(len(schema.columns)) if names is None else list(names)
        if len(called) != len(schema.columns) or len(set(called)) < len(called):
            raise ParameterError(
                f"feature_names must be {len(schema.columns)} names, one per column, each another one."
            )
        columns = tuple(replace(each, name=name) for each, name in zip(schema.columns, called, strict=True))
        learner = copy.copy(self._learner)
        learner.schema_ = Schema(columns, names is not None, schema.unknown)
        self._learner, self._ongoing = learner, None

    @property
    def feature_types(self) -> list[str] | None:
        """The types of the columns as xgboost writes them, where they are known."""
        return None if self._types is None else list(self._types)

    @feature_types.setter
    def feature_types(self, types: Sequence[str] | None) -> None:
        self._types = None if types is None else list(types)

    def set_param(self, params: Params, value: object = None) -> None:
        """Set parameters for `update`, by a dict, a list of pairs, or a name and a value."""
        self._learner.set_native({params: value} if isinstance(params, str) else by_name(params))
        self._ongoing = None

    # ------------------------------------------------------------------ rounds

    def __getitem__(self, rounds: int | slice) -> Booster:
        """The rounds of a slice, or one round, as a Booster of its own."""
        n_rounds = self.num_boosted_rounds()
        if isinstance(rounds, slice):
            chosen = range(n_rounds)[rounds]
            if (rounds.step or 1) < 1:
                raise ParameterError("Rounds cannot be taken backwards: the step of a slice must be above 0.")
            if not len(chosen):
                raise ParameterError(f"The slice {rounds} takes no round; the model has {n_rounds}.")
        elif isinstance(rounds, int | np.integer):
            if not -n_rounds <= rounds < n_rounds:
                raise IndexError(f"There is no round {rounds}: the model has {n_rounds}.")
            chosen = range(int(rounds) % n_rounds, int(rounds) % n_rounds + 1)
        else:
            raise DataTypeError(f"Rounds are taken by a number or a slice; got {type(rounds).__name__}.")
        learner = self._fitted()
        part = type(self)._of(learner.with_forest(_of_rounds(learner.forest_, chosen)), types=self._types)
        part._attributes = dict(self._attributes)
        return part

    def __iter__(self) -> Iterator[Booster]:
        """One Booster a round."""
        for round_ in range(self.num_boosted_rounds()):
            yield self[round_]

    def copy(self) -> Booster:
        """A Booster of its own."""
        return copy.copy(self)

    def __copy__(self) -> Booster:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._learner = copy.copy(self._learner)
        other._attributes, other._ongoing = dict(self._attributes), None
        return other

    def __deepcopy__(self, memo: object) -> Booster:
        return copy.copy(self)  # arrays of a fitted model never change

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ongoing": None}

    def reset(self) -> Booster:
        """Forget what `update` keeps to go on."""
        self._ongoing = None
        return self

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the model to one file, which `weald.load` reads back as a Booster.

        Parameters
        ----------
        path : str or path-like
            Where to; by habit the name ends in `.weald`.
        """
        self._fitted()
        from weald.io import model_file

        model_file.save(self, path)

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """`save`, of a name that ends in .weald; xgboost's own formats are refused."""
        if not os.fspath(fname).endswith(".weald"):
            raise ParameterError(f"{os.fspath(fname)!r} is a name for a file of xgboost's. {_OTHER_FORMATS}")
        self.save(fname)

    def load_model(self, fname: ModelSource) -> None:
        """Become the model of a .weald file."""
        self._load(fname)

    def _load(self, source: ModelSource) -> None:
        from weald.io.model_file import load

        if isinstance(source, Booster):
            found: Any = source
        elif isinstance(source, bytes | bytearray) or (
            isinstance(source, str | os.PathLike) and not str(source).endswith((".json", ".ubj"))
        ):
            found = load(source)
        else:
            raise ParameterError(f"model_file is none of weald's files. {_OTHER_FORMATS}")
        if isinstance(found, BaseXGB):
            found = Booster._of_estimator(found)
        if not isinstance(found, Booster):
            raise DataTypeError(f"The file holds a {type(found).__name__}, which is no boosted model.")
        self.__dict__.update(copy.copy(found).__dict__)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are trees."""
        return "forest_" in vars(self._learner)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(Learner._get_param_names())

    def _saved_state(self) -> SavedState:
        state = self._fitted()._saved_state()
        attributes = {key: value for key, value in self._attributes.items() if not key.startswith("best_")}
        extra = dict(state.extra)
        if attributes:
            extra["attributes"] = json.dumps(attributes, sort_keys=True)
        if self._types is not None:
            extra["feature_types"] = " ".join(self._types)
        return replace(state, extra=extra)

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        extra, attributes, types = saved_parts(state)
        learner = Learner._from_saved_state(replace(state, extra=extra))
        return cls._of(learner, attributes, types)


def _of_rounds(forest: Forest, rounds: Sequence[int]) -> Forest:
    """The trees of some rounds, which are counted anew."""
    place = {round_: i for i, round_ in enumerate(rounds)}
    trees = [tree for tree in trees_of(forest) if tree.round_ in place]
    for tree in trees:
        tree.round_ = place[tree.round_]
    return forest_of(trees, forest.n_columns, forest.base_score, forest.link)
