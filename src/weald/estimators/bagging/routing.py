"""What bagging passes on to its members besides the table: scikit-learn's metadata routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from weald.estimators.shared.routing import check_params, route

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRouter

    from weald.estimators.bagging.base import BaseBagging


class BaggingRouting:
    """The routing of bagging, as scikit-learn's."""

    def _routed(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """What the methods of the members get of the further arguments of one of this."""
        check_params(params, type(self).__name__, method)
        return route(self, method, params).estimator if params else {}

    def get_metadata_routing(self) -> MetadataRouter:
        """Which method of the members gets what is passed on to which method of this.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            As scikit-learn's tools read it.
        """
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        own = cast("BaseBagging", self)
        base = own._default() if own.estimator is None else own.estimator
        shares = "predict_proba" if hasattr(base, "predict_proba") else "predict"
        logarithms = "predict_log_proba" if hasattr(base, "predict_log_proba") else shares
        mapping = MethodMapping()
        for caller, callee in (
            ("fit", "fit"),
            ("decision_function", "decision_function"),
            ("predict", shares),
            ("predict_proba", shares),
            ("predict_log_proba", logarithms),
        ):
            mapping.add(caller=caller, callee=callee)
        return MetadataRouter(owner=self).add(estimator=base, method_mapping=mapping)
