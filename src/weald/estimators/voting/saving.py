"""What a model file keeps of a vote, and a vote made again from that; members must be weald's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

from sklearn.base import clone

from weald.errors import ParameterError
from weald.estimators.bagging.saving import check_outputs
from weald.io.saved_state import SavedEnsemble

if TYPE_CHECKING:
    from weald.estimators.voting.base import BaseVoting


class VotingState:
    """The parts of a fitted vote."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("BaseVoting", self)
        named = own.named_estimators_.items()
        params = {name: value for name, value in own.get_params(deep=False).items() if name != "estimators"}
        classes = getattr(own, "classes_", None)
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
        model = cast("type[BaseVoting]", cls)(members, **state.params)
        model._checked_options()
        fitted = [each for _, each in state.members if each is not None]
        if not fitted:
            raise ParameterError("A vote has no member that was not dropped.")
        check_outputs(fitted, state.classes)
        if (state.classes is not None) != (model._kind == "classifier"):
            raise ParameterError("A voting regressor has classes, or a voting classifier has none.")
        model._set_fitted(fitted, {} if state.classes is None else {"classes_": state.classes[0]})
        return cast("Self", model)
