"""The estimators that model files know: where each class lives, and what its parts must be."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from numpy.typing import NDArray

from weald.errors import ModelFileError
from weald.io.saved_state import Saveable
from weald.io.validate import check_boosted, check_task
from weald.model.forest import Forest

Classes: TypeAlias = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """An estimator that model files know."""

    module: str
    classifier: bool
    boosted: bool = False
    #: whether it is made of other estimators
    ensemble: bool = False
    #: whether it has many trees that count alike
    forest: bool = False
    #: whether it has no trees at all
    machine: bool = False

    def check(self, forest: Forest, classes: Classes | None) -> None:
        """Raise ModelFileError unless the forest can be that of such an estimator."""
        if self.boosted:
            check_boosted(forest, classes, classifier=self.classifier)
        else:
            check_task(forest, classes, classifier=self.classifier, many=self.ensemble or self.forest)


KINDS = {
    "AdaBoostClassifier": Kind("weald.estimators.adaboost.classifier", classifier=True, ensemble=True),
    "AdaBoostRegressor": Kind("weald.estimators.adaboost.regressor", classifier=False, ensemble=True),
    "DecisionTreeClassifier": Kind("weald.estimators.tree.decision_tree", classifier=True),
    "DecisionTreeRegressor": Kind("weald.estimators.tree.decision_tree", classifier=False),
    "ExtraTreesClassifier": Kind("weald.estimators.forest.extra_trees", classifier=True, forest=True),
    "ExtraTreesRegressor": Kind("weald.estimators.forest.extra_trees", classifier=False, forest=True),
    "RandomForestClassifier": Kind("weald.estimators.forest.random_forest", classifier=True, forest=True),
    "RandomForestRegressor": Kind("weald.estimators.forest.random_forest", classifier=False, forest=True),
    "BaggingClassifier": Kind("weald.estimators.bagging.bagging", classifier=True, ensemble=True),
    "BaggingRegressor": Kind("weald.estimators.bagging.bagging", classifier=False, ensemble=True),
    "Landmarks": Kind("weald.estimators.svm.landmarks.landmarks", classifier=False, machine=True),
    "LinearSVC": Kind("weald.estimators.svm.linear.svc", classifier=True, machine=True),
    "LinearSVR": Kind("weald.estimators.svm.linear.svr", classifier=False, machine=True),
    "SVC": Kind("weald.estimators.svm.kernel.svc", classifier=True, machine=True),
    "SVR": Kind("weald.estimators.svm.kernel.svr", classifier=False, machine=True),
    "ProximityImputer": Kind("weald.estimators.impute.proximity", classifier=False, ensemble=True),
    "VotingClassifier": Kind("weald.estimators.voting.voting", classifier=True, ensemble=True),
    "VotingRegressor": Kind("weald.estimators.voting.voting", classifier=False, ensemble=True),
    "GradientBoostingClassifier": Kind(
        "weald.estimators.gradient_boosting.classifier", classifier=True, boosted=True, ensemble=True
    ),
    "GradientBoostingRegressor": Kind(
        "weald.estimators.gradient_boosting.regressor", classifier=False, boosted=True, ensemble=True
    ),
    "Booster": Kind("weald.estimators.xgboost.native.booster", classifier=False, boosted=True),
    "XGBClassifier": Kind("weald.estimators.xgboost.classifier", classifier=True, boosted=True),
    "XGBModel": Kind("weald.estimators.xgboost.model", classifier=False, boosted=True),
    "XGBRegressor": Kind("weald.estimators.xgboost.regressor", classifier=False, boosted=True),
    "XGBRFClassifier": Kind("weald.estimators.xgboost.forest", classifier=True, boosted=True),
    "XGBRFRegressor": Kind("weald.estimators.xgboost.forest", classifier=False, boosted=True),
    "XGBRanker": Kind("weald.estimators.xgboost.ranker", classifier=False, boosted=True),
}


def kept_name(model: object) -> str:
    """The name of an estimator's class, or of the class it derives from, that model files know.

    Code of the user's own is never kept: a subclass is saved, and comes back, as the estimator of weald
    that it is.
    """
    for cls in type(model).__mro__:
        if cls.__name__ in KINDS and cls is class_of(cls.__name__):
            return cls.__name__
    raise ModelFileError(
        f"A model file cannot keep a {type(model).__name__}; it keeps {', '.join(KINDS)}, and what derives "
        "from them. Use pickle for others."
    )


def read_name(value: object, *, newer: bool) -> str:
    """A name that a file gives, if it is known here."""
    if isinstance(value, str) and value in KINDS:
        return value
    way_out = " Load it with a newer weald." if newer else ""
    raise ModelFileError(f"The model file holds an estimator that is unknown here: {value!r:.80}.{way_out}")


def class_of(name: str) -> type[Saveable]:
    """The class of a known name; imported late, so that `weald.io` needs no estimator."""
    return cast("type[Saveable]", getattr(importlib.import_module(KINDS[name].module), name))


def parameter_names(name: str) -> set[str]:
    """The constructor parameters of a known class, but for those that are estimators: these are parts."""
    cls: Any = class_of(name)
    return set(cls._get_param_names()) - {"estimator", "estimators"}


def as_known(model: Any) -> tuple[str, Any]:
    """The known name of an estimator, and the estimator as one of that class: a subclass may have other
    parameters.
    """
    name = kept_name(model)
    cls = class_of(name)
    if type(model) is cls:
        return name, model
    same: Any = object.__new__(cls)
    same.__dict__ = vars(model)
    return name, same
