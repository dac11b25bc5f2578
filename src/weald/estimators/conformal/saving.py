"""What a model file keeps of `Conformal`: its models, the scores of calibration, and no row of any table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor

from weald.errors import ParameterError
from weald.estimators.conformal.bagged import Bagged, is_bagged
from weald.estimators.conformal.fitting import Fitted, Judges
from weald.estimators.conformal.judges import ApartModels, OutOfBag
from weald.estimators.conformal.options import ConformalOptions
from weald.estimators.conformal.quantiles import QuantileModels
from weald.estimators.forest.base import BaseForest
from weald.io import budget
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble
from weald.uncertainty.conformal import Calibration
from weald.uncertainty.leaf_rows import LeafRows
from weald.uncertainty.left_out import LeftOut

if TYPE_CHECKING:
    from weald.estimators.conformal.conformal import Conformal

_MODEL, _APART = "model", "apart"
#: how far the shares of the rows in a leaf may be from adding up to 1
_ROUNDING = 1e-9


class SavedConformal:
    """The parts of a fitted `Conformal`."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("Conformal", self)
        params = {name: value for name, value in own.get_params(deep=False).items() if name != "estimator"}
        judges, calibration = own._judges, own._calibration
        arrays: dict[str, NDArray[Any]] = {"scores": calibration.scores, "group": calibration.group}
        if calibration.label is not None:
            arrays["label"] = calibration.label
        members = [(_MODEL, own.estimator_)]
        if isinstance(judges, OutOfBag):
            arrays["lack"] = judges.left_out.bits
        else:
            models = judges.models
            if len(models) > 1 or models[0] is not own.estimator_:
                members += [(f"{_APART} {k}", model) for k, model in enumerate(models)]
        if isinstance(judges, QuantileModels):
            arrays["levels"] = np.array(judges.levels)
            arrays |= {} if judges.leaf_rows is None else _leaf_arrays(judges.leaf_rows)
        classes = vars(own).get("classes_")
        return SavedEnsemble(
            params=params,
            schema=own._schema,
            classes=None if classes is None else (classes,),
            members=tuple(members),
            arrays=arrays,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        models = _checked_models(state)
        model = cast("type[Conformal]", cls)(clone(models[0]), **state.params)
        options = model._checked_options()
        if options.labels != (state.classes is not None):
            raise ParameterError("A conformal regressor has classes, or a conformal classifier has none.")
        shelf = Shelf(state.arrays)
        scores = shelf.floats("scores", (None,))
        if not len(scores):
            raise ParameterError("A conformal model has no scores.")
        judges = _read_judges(shelf, options, models, len(scores))
        calibration = _read_calibration(shelf, state, options, judges, scores)
        if shelf.left():
            raise ParameterError(f"A conformal model has no array {shelf.left()[0]!r:.80}.")
        assert state.schema is not None
        classes = None if state.classes is None else state.classes[0]
        model._set_fitted(Fitted(models[0], judges, calibration, None), state.schema, classes)
        return cast("Self", model)


def _checked_models(state: SavedEnsemble) -> list[Any]:
    """The estimator that predicts, then those apart; a file may hold anything."""
    if state.forest is not None or state.base is not None or state.extra or state.schema is None:
        raise ParameterError("A conformal model has columns, and nothing else but models and scores.")
    names = [_MODEL, *(f"{_APART} {k}" for k in range(len(state.members) - 1))]
    if not state.members or [name for name, _ in state.members] != names:
        raise ParameterError("The models of a conformal model are not named as they should be.")
    models = [model for _, model in state.members]
    if any(model is None for model in models):
        raise ParameterError("A model of a conformal model is missing.")
    kind = is_classifier if state.classes is not None else is_regressor
    n_columns = len(state.schema.columns)
    if not all(kind(model) and model.n_features_in_ == n_columns for model in models):
        raise ParameterError("The models of a conformal model differ in kind, or have other columns.")
    if state.classes is not None:
        if len(state.classes) > 1:
            raise ParameterError("A conformal classifier has one output.")
        known = set(state.classes[0].tolist())
        if not all(set(np.asarray(model.classes_).tolist()) <= known for model in models):
            raise ParameterError("A model of a conformal classifier knows other labels.")
    return models


def _read_judges(shelf: Shelf, options: ConformalOptions, models: list[Any], n_rows: int) -> Judges:
    apart = models[1:] or models
    if options.method == "cqr":
        levels = tuple(shelf.floats("levels", (None,), low=0.0).tolist())
        leaf_rows = None
        if isinstance(apart[0], BaseForest):
            leaf_rows = _read_leaf_rows(shelf, apart[0])
        if len(levels) < 2 or list(levels) != sorted(levels) or len(apart) not in (1, len(levels)):
            raise ParameterError("The quantiles of a conformal model do not fit its models.")
        return QuantileModels(apart, levels, leaf_rows)
    if "lack" not in shelf:
        if options.scaled and not all(is_bagged(model) and Bagged(model).forest for model in apart):
            raise ParameterError("A conformal model scales by the spread of trees and has none.")
        return ApartModels(apart, options.scaled, options.set_score)
    model = models[0]
    if len(models) > 1 or not is_bagged(model) or (options.scaled and Bagged(model).forest is None):
        raise ParameterError("A conformal model has out-of-bag rows, and no bags.")
    bits = shelf.take("lack", (len(model), -(-n_rows // 8)))
    if bits.dtype != np.uint8:
        raise ParameterError("The array 'lack' of a conformal model should hold packed bits.")
    budget.spend(8 * n_rows * min(len(model), 64), "which bags lack which rows")
    left_out = LeftOut(bits, n_rows)
    if not left_out.n_trees_without.all():
        raise ParameterError("A calibration row of a conformal model is in every bag.")
    return OutOfBag(model, left_out, options.scaled, options.set_score)


def _read_calibration(
    shelf: Shelf,
    state: SavedEnsemble,
    options: ConformalOptions,
    judges: Judges,
    scores: NDArray[np.float64],
) -> Calibration:
    n_rows = len(scores)
    n_groups = 1
    if isinstance(judges, OutOfBag):
        n_groups = n_rows
    elif isinstance(judges, ApartModels):
        n_groups = len(judges.models)
    group = shelf.integers("group", n_rows, 0, n_groups - 1)
    if isinstance(judges, OutOfBag) and not np.array_equal(group, np.arange(n_rows)):
        raise ParameterError("The out-of-bag rows of a conformal model are out of order.")
    label = None
    if options.class_conditional:
        assert state.classes is not None
        label = shelf.integers("label", n_rows, 0, len(state.classes[0]) - 1)
        if not np.bincount(label, minlength=len(state.classes[0])).all():
            raise ParameterError("A class of a conformal model has no calibration row.")
    return Calibration(scores, group, label)


def _leaf_arrays(leaf_rows: LeafRows) -> dict[str, NDArray[Any]]:
    held = leaf_rows.shares
    return {
        "leaf_ends": held.indptr[1:],
        "leaf_rows": held.indices,
        "leaf_shares": held.data,
        "leaf_targets": leaf_rows.target,
    }


def _read_leaf_rows(shelf: Shelf, forest: BaseForest) -> LeafRows:
    """The rows in the leaves of a forest, whose shares add up to 1 in every leaf."""
    target = shelf.floats("leaf_targets", (None,))
    data = shelf.floats("leaf_shares", (None,), low=0.0)
    n_nodes = int(forest.forest_.tree_start[-1])
    ends = shelf.integers("leaf_ends", n_nodes, 0, len(data))
    indices = shelf.integers("leaf_rows", len(data), 0, max(0, len(target) - 1))
    starts = np.concatenate([[0], ends])
    if (np.diff(starts) < 0).any() or starts[-1] != len(data) or not len(target):
        raise ParameterError("The rows in the leaves of a conformal model do not follow one another.")
    held = sparse.csr_array((data, indices, starts), shape=(n_nodes, len(target)))
    inner = forest.forest_.slot >= 0
    if np.abs(held.sum(axis=1) - ~inner).max() > _ROUNDING:
        raise ParameterError("The shares of the rows in a leaf of a conformal model do not add up to 1.")
    return LeafRows(held, target)
