"""How a `Booster` shows its trees: weald's methods, on the model behind it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from weald.arrays import TableLike
from weald.estimators.shared.ensemble_pictures import EnsemblePictures
from weald.estimators.xgboost.native.learner import Learner
from weald.estimators.xgboost.trees import BoosterTree, BoosterTreeSequence
from weald.model.forest import Forest
from weald.pictures.ensembles.which import TreePlaces

if TYPE_CHECKING:
    from weald.pictures.ensembles.story import Told


class BoosterShowing(EnsemblePictures):
    """The trees of a booster one by one. `booster[i]` is a Booster of round `i`, as in xgboost."""

    @abstractmethod
    def _fitted(self) -> Learner:
        """The fitted model behind the booster; raises if there is none."""

    @property
    def estimators_(self) -> BoosterTreeSequence:
        """The trees as light views, in the order of their rounds: made when asked for, on the forest."""
        return self._fitted().estimators_

    def _shown_tree(self, t: int) -> BoosterTree:
        return self._fitted()._shown_tree(t)

    def _shown_forest(self) -> Forest:
        return self._fitted().forest_

    def _tree_places(self) -> TreePlaces:
        return self._fitted()._tree_places()

    def _row_told(self, row: TableLike) -> Told:
        return self._fitted()._row_told(row)

    def _repr_html_(self) -> str | None:
        """What notebooks show: the trees, once there are any."""
        return self._repr_html_inner() if "forest_" in vars(self._learner) else None  # type: ignore[attr-defined]

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        html = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html})
