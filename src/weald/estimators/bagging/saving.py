"""What model files keep of bagging and voting, and those made again from that.

Members must be weald's. Trees that grew on one coding are one forest; others are kept one by one.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from weald.data.adapters import categorical_positions
from weald.data.schema import Schema
from weald.errors import ParameterError
from weald.estimators.bagging.any_members import OtherMembers
from weald.estimators.bagging.trees import TreeMembers, shares_codes
from weald.estimators.shared.monotone_constraints import monotone_directions
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble
from weald.model.forest import Forest


class BaggingState:
    """The parts of fitted bagging. How rows were drawn and out-of-bag results are not among them."""

    def _saved_state(self: Any) -> SavedEnsemble:
        members = self._members
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        if callable(params["oob_score"]):
            del params["oob_score"]  # code
        kept: dict[str, Any] = {
            "params": params,
            "schema": members.schema,
            "classes": members.classes,
            "extra": {"seed": int(members.seed)},
            "arrays": {} if members.columns is None else _ragged(members.columns),
        }
        if isinstance(members, TreeMembers):
            kept |= {"forest": members.forest, "base": None if self.estimator is None else members.template}
        else:
            kept["members"] = tuple((f"bag {bag}", each) for bag, each in enumerate(members.fitted))
        return SavedEnsemble(**kept)

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        seed = state.extra.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**31 or len(state.extra) > 1 or state.schema is None:
            raise ParameterError("The facts of a bagged model are not complete, or not what they should be.")
        made = cls._trees(state, seed) if state.forest is not None else cls._others(state, seed)
        model: Any = cls(**state.params)
        if state.forest is None or state.base is not None:
            model.estimator = clone(made.template)
        model._checked_options()
        model._check_kind(made.template)
        if (state.classes is not None) != is_classifier(model):
            raise ParameterError("A bagged regressor has classes, or a bagged classifier has none.")
        model._set_fitted(made, None, {})
        return model  # type: ignore[no-any-return]

    @classmethod
    def _trees(cls: Any, state: SavedEnsemble, seed: int) -> TreeMembers:
        assert state.forest is not None
        assert state.schema is not None
        base: Any = cls._default() if state.base is None else state.base
        check_trees(state, base)
        columns = _columns(state, state.forest.n_trees)
        if columns is not None:
            _check_columns(state.forest, columns)
        return TreeMembers(
            template=base,
            seed=seed,
            forest=state.forest,
            schema=state.schema,
            classes=state.classes,
            columns=columns,
            trained_on={},
        )

    @classmethod
    def _others(cls: Any, state: SavedEnsemble, seed: int) -> OtherMembers:
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


class VotingState:
    """The parts of a fitted vote."""

    def _saved_state(self: Any) -> SavedEnsemble:
        named = self.named_estimators_.items()
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "estimators"}
        classes = getattr(self, "classes_", None)
        return SavedEnsemble(
            params=params,
            classes=None if classes is None else (classes,),
            members=tuple((name, None if isinstance(member, str) else member) for name, member in named),
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        if state.schema is not None or state.forest is not None or state.base is not None or state.extra:
            raise ParameterError("A vote has nothing but members.")
        if state.arrays:
            raise ParameterError(f"A vote has no array {min(state.arrays)!r:.80}.")
        members = [(name, "drop" if each is None else clone(each)) for name, each in state.members]
        model: Any = cls(members, **state.params)  # type: ignore[call-arg]
        model._checked_options()
        fitted = [each for _, each in state.members if each is not None]
        if not fitted:
            raise ParameterError("A vote has no member that was not dropped.")
        _check_outputs(fitted, state.classes)
        if (state.classes is not None) != (model._kind == "classifier"):
            raise ParameterError("A voting regressor has classes, or a voting classifier has none.")
        model._set_fitted(fitted, {} if state.classes is None else {"classes_": state.classes[0]})
        return model  # type: ignore[no-any-return]


def check_trees(state: SavedEnsemble, base: Any) -> None:
    """Raise ParameterError unless the forest can be that of an ensemble of such trees on one coding."""
    assert state.schema is not None
    options = base._checked_options()
    if state.members or not shares_codes(base):
        raise ParameterError("A forest has members beside its trees, or a base that cannot share codes.")
    for j in categorical_positions(state.schema.names, options.categorical_features):
        if state.schema.columns[j].kind != "categorical":
            raise ParameterError(f"`categorical_features` names {state.schema.columns[j].name!r:.80}.")
    monotone_directions(options.monotonic_cst, state.schema, type(base).__name__)
    if state.classes is not None and len(state.classes) > 1:
        raise ParameterError("An ensemble of classifiers has one output.")


def _check_some(state: SavedEnsemble) -> None:
    if not state.members or state.base is not None:
        raise ParameterError("An ensemble has neither trees nor members, or members and a base.")


def check_members(state: SavedEnsemble, sizes: list[int]) -> Any:
    """What the members were copied from; raises ParameterError unless they can be those of one ensemble.

    `sizes`: how many columns each has.
    """
    _check_some(state)
    fitted = [member for _, member in state.members]
    if any(member is None for member in fitted):
        raise ParameterError("A member of an ensemble is missing.")
    if len({type(member) for member in fitted}) > 1 or [each.n_features_in_ for each in fitted] != sizes:
        raise ParameterError("The members of an ensemble differ in kind, or have other columns.")
    _check_outputs(fitted, state.classes)
    names = [name for name in fitted[0].get_params() if name.rpartition("__")[2] == "random_state"]
    return clone(fitted[0]).set_params(**dict.fromkeys(names))


def _check_outputs(fitted: list[Any], classes: tuple[NDArray[Any], ...] | None) -> None:
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
