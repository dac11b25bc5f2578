"""Checkpoints: the model of a training so far, as a model file, from which the same `fit` goes on.

Beside the model the file tells what trees depend on: the parameters that shape them, and sums of the rows. A
checkpoint of anything else is refused. Eval sets, metrics, callbacks, early stopping and the number of rounds
are not among it: what was kept is gone through with those of the call, as if it were grown.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

import numpy as np

from weald.boosting.newton.recall import Recall
from weald.data.schema import Schema
from weald.engine.storage import pages as native
from weald.errors import DataError, DataTypeError, ModelFileError, ParameterError, told
from weald.io import canonical, model_file, place
from weald.io.saved_state import Saveable
from weald.model.assemble import trees_of
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.estimators.xgboost.training import Training

#: rounds between two checkpoints, unless the user says so
EVERY = 10
#: options of boosting that shape no tree; the learning rate is that of each round
_SHAPELESS = ("n_rounds", "n_threads", "learning_rate")
_TOLD = 5  # parameters that a message names
_WORDS = {
    "codes": "values of the columns",
    "target": "target",
    "weights": "weights",
    "margins": "base margins",
    "queries": "queries",
    "start": "xgb_model",
}


@dataclass(frozen=True, slots=True)
class Keeping:
    """What `fit` was asked to keep."""

    path: str | os.PathLike[str]
    every: int
    resume: bool


def read_keeping(checkpoint: object, rounds: object, resume: object, owner: str) -> Keeping | None:
    """The parameters `checkpoint`, `checkpoint_rounds` and `resume` of `fit`, checked."""
    if not isinstance(resume, bool | np.bool_):
        raise ParameterError(f"`resume` of {owner} must be True or False; got {told(resume)}.")
    whole = isinstance(rounds, int | np.integer) and not isinstance(rounds, bool)
    if rounds is not None and (not whole or cast("int", rounds) < 1):
        raise ParameterError(
            f"`checkpoint_rounds` of {owner} must be a whole number from 1; got {told(rounds)}."
        )
    if checkpoint is None:
        if resume or rounds is not None:
            name = "resume=True" if resume else "checkpoint_rounds"
            raise ParameterError(
                f'{name} of {owner} needs the file of the checkpoint: fit(…, checkpoint="model.weald").'
            )
        return None
    if not isinstance(checkpoint, str | os.PathLike):
        raise DataTypeError(f"`checkpoint` of {owner} is the path of a file; got {told(checkpoint)}.")
    place.check_path(checkpoint)
    place.ready(checkpoint)
    return Keeping(checkpoint, EVERY if rounds is None else int(cast("int", rounds)), bool(resume))


class Checkpoint:
    """The file of one training; a `Keeper` of `weald.boosting.newton.keeping`.

    Parameters
    ----------
    keeping : Keeping
        What was asked for.
    training : Training
        What is kept.
    schema : Schema
        The columns.
    model_of : callable
        The trees so far and the text of the checkpoint as a model that can be saved.
    """

    def __init__(
        self,
        keeping: Keeping,
        training: Training,
        schema: Schema,
        model_of: Callable[[Forest, str], Saveable],
    ) -> None:
        self._path, self.every = keeping.path, keeping.every
        self._model_of = model_of
        self._facts = _facts(training)
        self._rates: list[float] = []
        self.recall: Recall | None = None
        if keeping.resume and os.path.exists(keeping.path):
            self._read(training, schema)

    def check_rate(self, round_: int, rate: float) -> None:
        """Refuse to go on from rounds of another learning rate."""
        known = self._rates[round_]
        if known != rate:
            raise ParameterError(
                f"Round {round_} of the checkpoint {os.fspath(self._path)!r} has learning_rate={known!r}, "
                f"and this fit asks for {rate!r}. Set it to what the checkpoint has, or begin anew: "
                "resume=False."
            )

    def keep(self, forest: Forest, rates: list[float]) -> None:
        """Write the model so far in place of the one before."""
        text = canonical.dumps(self._facts | {"rates": rates})
        model_file.save(self._model_of(forest, text), self._path)

    def _read(self, training: Training, schema: Schema) -> None:
        path = os.fspath(self._path)
        model = model_file.load(path)
        text = vars(model).get("_resumable")
        if text is None:
            raise ParameterError(
                f"{path!r} is the model file of a finished {type(model).__name__}, not a checkpoint. To add "
                "rounds to a model use fit(…, xgb_model=…); to write checkpoints there, resume=False."
            )
        known = canonical.loads(text, "checkpoint of the model file")
        if not isinstance(known, dict) or set(known) != {*self._facts, "rates"}:
            raise ModelFileError(f"{path}: the facts of the checkpoint are not complete.")
        self._compare(known, path)
        forest: Forest = vars(model)["forest_"]
        trees = trees_of(forest)[training.forest.n_trees :]
        n_outputs, link = forest.n_outputs, forest.link
        self.recall = Recall(trees, schema, n_outputs, link, training.options.n_threads)
        self._rates = _checked_rates(known["rates"], len({tree.round_ for tree in trees}), path)

    def _compare(self, known: dict[str, object], path: str) -> None:
        """Refuse a checkpoint of other parameters or other rows."""
        parameters = known["parameters"]
        if not isinstance(parameters, dict):
            raise ModelFileError(f"{path}: the parameters of the checkpoint have the wrong form.")
        mine = cast("dict[str, str]", self._facts["parameters"])
        other = [name for name in mine if parameters.get(name) != mine[name]]
        if other:
            then = ", ".join(f"{name}={parameters.get(name)}" for name in other[:_TOLD])
            now = ", ".join(f"{name}={mine[name]}" for name in other[:_TOLD])
            raise ParameterError(
                f"The checkpoint {path!r} was written by a fit with {then}, and this one has {now}. Go on "
                "with the parameters that it had, or begin anew: resume=False."
            )
        strange = [word for name, word in _WORDS.items() if known[name] != self._facts[name]]
        if strange:
            raise DataError(
                f"The checkpoint {path!r} was written for other rows: {', '.join(strange)} are not those of "
                "this fit. Go on with the same rows in the same order, or begin anew: resume=False."
            )


def _checked_rates(found: object, n_rounds: int, path: str) -> list[float]:
    good = isinstance(found, list) and all(isinstance(rate, int | float) for rate in found)
    if not good or len(cast("list[float]", found)) != n_rounds:
        raise ModelFileError(f"{path}: the checkpoint has not one learning rate for each of its rounds.")
    return [float(rate) for rate in cast("list[float]", found)]


def _facts(training: Training) -> dict[str, object]:
    """What the trees of a training depend on."""
    options, plan, target = training.options, training.plan, training.rows.target
    shaping = [each.name for each in fields(options) if each.name not in _SHAPELESS]
    parameters = {name: _said(getattr(options, name)) for name in shaping}
    parameters |= {name: _said(value) for name, value in plan.parameters.items() if name != "seed"}
    parameters |= {"objective": _said(plan.objective_name), "base_score": _said(plan.base_score)}
    start = training.forest
    return {
        "parameters": parameters,
        "codes": _codes(training),
        "target": _digest(target.values),
        "weights": _digest(target.weight),
        "margins": _digest(training.rows.margin),
        "queries": _digest(target.group_start),
        "start": _digest(*(start.arrays().values() if start.n_trees else ())),
    }


def _codes(training: Training) -> str:
    """What tells the rows: what gives codes their meaning, and the sums of the codes."""
    codes = training.codes
    book = native.codebook_columns(codes.native)
    sizes = np.array([(column.kind, column.n_codes) for column in book], np.int64)
    return _digest(sizes, *(column.marks for column in book), codes.sums(), np.array([codes.n_rows]))


def _said(value: object) -> str:
    """A parameter as messages tell it; a long one by what only it has."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:40]}… ({hashlib.sha256(text.encode()).hexdigest()[:16]})"


def _digest(*arrays: np.ndarray | None) -> str:
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            found.update(f"{array.dtype.str}{array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
