"""SHAP values of boosted trees' votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from weald.engine import thread_count
from weald.errors import DataError
from weald.estimators.adaboost.trees import BoostedTrees
from weald.estimators.shared.tree_shap import TreeShap
from weald.inspection.shap.model import TreeModel, names_of_outputs

if TYPE_CHECKING:
    from weald.estimators.adaboost.base import BaseAdaBoost


class AdaBoostShap(TreeShap):
    """What the columns add to what the votes for each class count."""

    def _shap_model(self) -> TreeModel:
        check_is_fitted(self)
        own, owner = cast("BaseAdaBoost", self), type(self).__name__
        members: Any = own._members
        why = None
        if not isinstance(members, BoostedTrees):
            why = f"has members of {type(members.template).__name__}, no trees of weald"
        elif members.classes is None:
            why = "predicts the median of its trees, which is no sum of what each of them says"
        if why is not None:
            raise DataError(
                f"This {owner} {why}, so that shap_values cannot take it apart. Use weald.explain(model, X, "
                "background=...)."
            )
        return TreeModel(
            members.voting,
            members.schema,
            read=lambda X: members.read(X, owner),
            n_threads=thread_count(own._checked_options().n_jobs),
            owner=owner,
            output_names=names_of_outputs((members.classes,), members.voting.n_outputs),
        )
