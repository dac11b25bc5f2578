"""SHAP values of bags of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from weald.engine import thread_count
from weald.errors import DataError
from weald.estimators.bagging.trees import TreeMembers
from weald.estimators.shared.tree_shap import TreeShap
from weald.inspection.shap.model import TreeModel, names_of_outputs
from weald.model.read import read_aligned

if TYPE_CHECKING:
    from weald.estimators.bagging.base import BaseBagging


class BaggingShap(TreeShap):
    """What the columns add to the mean of the members, if these are trees of weald."""

    def _shap_model(self) -> TreeModel:
        check_is_fitted(self)
        own, owner = cast("BaseBagging", self), type(self).__name__
        members: Any = own._members
        if not isinstance(members, TreeMembers):
            raise DataError(
                f"The members of this {owner} are of {type(members.template).__name__}, no trees of weald on "
                "one table, so that shap_values cannot take it apart. Use weald.explain(model, X, "
                "background=...)."
            )
        declared = members.template.categorical_features
        return TreeModel(
            members.forest,
            members.schema,
            read=lambda X: read_aligned(X, members.schema, declared=declared, owner=owner),
            n_threads=thread_count(own._checked_options().n_jobs),
            owner=owner,
            scale=1.0 / len(members),
            output_names=names_of_outputs(members.classes, members.forest.n_outputs),
        )
