"""What model files keep of bagging, and a bagged model made again from that.

Members must be weald's. Trees that grew on one coding are one forest; others are kept one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from weald.arrays import Estimator
from weald.data.adapters import categorical_positions
from weald.data.schema import Schema
from weald.errors import ParameterError
from weald.estimators.bagging.any_members import OtherMembers
from weald.estimators.bagging.trees import TreeMembers, shares_codes
from weald.estimators.shared.monotone_constraints import monotone_directions
from weald.estimators.tree.base import BaseTree
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.estimators.bagging.base import BaseBagging


class BaggingState:
    """The parts of fitted bagging. How rows were drawn and out-of-bag results are not among them."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("BaseBagging", self)
        members = own._members
        params = {name: value for name, value in own.get_params(deep=False).items() if name != "estimator"}
        if callable(params.get("oob_score")):
            del params["oob_score"]  # code
        kept: dict[str, Any] = {
            "params": params,
            "schema": members.schema,
            "classes": members.classes,
            "extra": {"seed": int(members.seed)},
            "arrays": {} if members.columns is None else _ragged(members.columns),
        }
        if isinstance(members, TreeMembers):
            kept |= {"forest": members.forest, "base": None if own.estimator is None else members.template}
        else:
            kept["members"] = tuple((f"bag {bag}", each) for bag, each in enumerate(members.fitted))
        return SavedEnsemble(**kept)

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        seed = state.extra.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**31 or len(state.extra) > 1 or state.schema is None:
            raise ParameterError("The facts of a bagged model are not complete, or not what they should be.")
        made = cls._trees(state, seed) if state.forest is not None else cls._others(state, seed)
        model = cast("type[BaseBagging]", cls)(**state.params)
        if state.forest is None or state.base is not None:
            model.estimator = clone(made.template)
        model._checked_options()
        model._check_kind(made.template)
        if (state.classes is not None) != is_classifier(model):
            raise ParameterError("A bagged regressor has classes, or a bagged classifier has none.")
        model._set_fitted(made, None, {})
        return cast("Self", model)

    @classmethod
    def _trees(cls, state: SavedEnsemble, seed: int) -> TreeMembers:
        assert state.forest is not None
        assert state.schema is not None
        base: Estimator = cast("type[BaseBagging]", cls)._default() if state.base is None else state.base
        columns = _columns(state, state.forest.n_trees)
        if columns is not None:
            _check_columns(state.forest, columns)
        return TreeMembers(
            template=check_trees(state, base),
            seed=seed,
            forest=state.forest,
            schema=state.schema,
            classes=state.classes,
            columns=columns,
            trained_on={},
        )

    @classmethod
    def _others(cls, state: SavedEnsemble, seed: int) -> OtherMembers:
        assert state.schema is not None
        _check_some(state)
        fitted = [member for _, member in state.members]
        columns = _columns(state, len(fitted))
        sizes = [len(state.schema.columns)] * len(fitted) if columns is None else [len(c) for c in columns]
        return OtherMembers(
            template=check_members(state, sizes),
            seed=seed,
            fitted=fitted,
            schema=state.schema,
            classes=state.classes,
            columns=columns,
        )


def check_trees(state: SavedEnsemble, base: Estimator) -> BaseTree:
    """The tree that the forest grew from; raises ParameterError unless such trees can share one coding."""
    assert state.schema is not None
    if state.members or not shares_codes(base):
        raise ParameterError("A forest has members beside its trees, or a base that cannot share codes.")
    options = base._checked_options()
    for j in categorical_positions(state.schema.names, options.categorical_features):
        if state.schema.columns[j].kind != "categorical":
            raise ParameterError(f"`categorical_features` names {state.schema.columns[j].name!r:.80}.")
    monotone_directions(options.monotonic_cst, state.schema, type(base).__name__)
    if state.classes is not None and len(state.classes) > 1:
        raise ParameterError("An ensemble of classifiers has one output.")
    return base


def _check_some(state: SavedEnsemble) -> None:
    if not state.members or state.base is not None:
        raise ParameterError("An ensemble has neither trees nor members, or members and a base.")


def check_members(state: SavedEnsemble, sizes: list[int]) -> Estimator:
    """What the members were copied from; raises ParameterError unless they can be those of one ensemble.

    `sizes`: how many columns each has.
    """
    _check_some(state)
    fitted = [member for _, member in state.members]
    if any(member is None for member in fitted):
        raise ParameterError("A member of an ensemble is missing.")
    if len({type(member) for member in fitted}) > 1 or [each.n_features_in_ for each in fitted] != sizes:
        raise ParameterError("The members of an ensemble differ in kind, or have other columns.")
    check_outputs(fitted, state.classes)
    names = [name for name in fitted[0].get_params() if name.rpartition("__")[2] == "random_state"]
    template: Estimator = clone(fitted[0]).set_params(**dict.fromkeys(names))
    return template


def check_outputs(fitted: list[Any], classes: tuple[NDArray[Any], ...] | None) -> None:
    """Members speak of the labels of the ensemble, or of as many numbers as the others."""
    if classes is None:
        if len({getattr(member, "n_outputs_", 1) for member in fitted}) > 1:
            raise ParameterError("The members of an ensemble have different numbers of outputs.")
        return
    known = set(classes[0].tolist())
    if len(classes) > 1 or not known:
        raise ParameterError("An ensemble of classifiers has one output, and at least one label.")
    for member in fitted:
        theirs = getattr(member, "classes_", None)
        if not isinstance(theirs, np.ndarray) or not known.issuperset(theirs.tolist()):
            raise ParameterError("A member of an ensemble has no labels, or labels that are not its.")


def _ragged(columns: tuple[NDArray[np.int64], ...]) -> dict[str, NDArray[Any]]:
    return {
        "bag_columns": np.concatenate(columns),
        "bag_size": np.array([len(each) for each in columns], np.int64),
    }


def _columns(state: SavedEnsemble, n_members: int) -> tuple[NDArray[np.int64], ...] | None:
    """The columns of each member, which come from a file: ascending, and within the schema."""
    if not state.arrays:
        return None
    schema: Schema | None = state.schema
    assert schema is not None
    shelf = Shelf(state.arrays)
    n_columns = len(schema.columns)
    size = shelf.integers("bag_size", n_members, 1, n_columns)
    flat = shelf.integers("bag_columns", int(size.sum()), 0, n_columns - 1)
    if shelf.left():
        raise ParameterError(f"A bagged model has no array {shelf.left()[0]!r:.80}.")
    columns = tuple(np.split(flat, np.cumsum(size)[:-1]))
    if any((np.diff(each) <= 0).any() for each in columns):
        raise ParameterError("The columns of a bag are not in ascending order.")
    return columns


def _check_columns(forest: Forest, columns: tuple[NDArray[np.int64], ...]) -> None:
    """Each tree splits on columns of its bag."""
    for t, mine in enumerate(columns):
        slot = forest.slot[forest.tree_start[t] : forest.tree_start[t + 1]]
        if not np.isin(forest.column[slot[slot >= 0]], mine).all():
            raise ParameterError(f"Tree {t} splits on a column that its bag lacks.")
