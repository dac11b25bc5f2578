"""The estimators that model files know, and what the parts of each must be."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from numpy.typing import NDArray

from weald.errors import ModelFileError
from weald.io.saved_state import Saveable
from weald.io.validate import check_boosted, check_task
from weald.model.forest import Forest

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Classes: TypeAlias = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """An estimator that model files know."""

    classifier: bool
    boosted: bool = False
    #: whether it is made of other estimators
    ensemble: bool = False
    #: whether it has many trees that count alike
    forest: bool = False
    #: whether it is a forest that may have other estimators besides
    besides: bool = False
    #: whether it has no trees at all
    machine: bool = False

    def check(self, forest: Forest, classes: Classes | None) -> None:
        """Raise ModelFileError unless the forest can be that of such an estimator."""
        if self.boosted:
            check_boosted(forest, classes, classifier=self.classifier)
        else:
            check_task(forest, classes, classifier=self.classifier, many=self.ensemble or self.forest)


KINDS = {
    "AdaBoostClassifier": Kind(classifier=True, ensemble=True),
    "AdaBoostRegressor": Kind(classifier=False, ensemble=True),
    "DecisionTreeClassifier": Kind(classifier=True),
    "DecisionTreeRegressor": Kind(classifier=False),
    "ExtraTreesClassifier": Kind(classifier=True, forest=True),
    "ExtraTreesRegressor": Kind(classifier=False, forest=True),
    "RandomForestClassifier": Kind(classifier=True, forest=True),
    "RandomForestRegressor": Kind(classifier=False, forest=True),
    "BaggingClassifier": Kind(classifier=True, ensemble=True),
    "BaggingRegressor": Kind(classifier=False, ensemble=True),
    "Conformal": Kind(classifier=False, ensemble=True),
    "KNeighborsClassifier": Kind(classifier=True, machine=True),
    "KNeighborsRegressor": Kind(classifier=False, machine=True),
    "BalancedBaggingClassifier": Kind(classifier=True, ensemble=True),
    "BalancedRandomForestClassifier": Kind(classifier=True, forest=True, besides=True),
    "EasyEnsembleClassifier": Kind(classifier=True, ensemble=True),
    "RUSBoostClassifier": Kind(classifier=True, ensemble=True),
    "Landmarks": Kind(classifier=False, machine=True),
    "LinearSVC": Kind(classifier=True, machine=True),
    "LinearSVR": Kind(classifier=False, machine=True),
    "LogisticRegression": Kind(classifier=True, machine=True),
    "SVC": Kind(classifier=True, machine=True),
    "SVR": Kind(classifier=False, machine=True),
    "ProximityImputer": Kind(classifier=False, ensemble=True),
    "Resampled": Kind(classifier=True, ensemble=True),
    "Thresholded": Kind(classifier=True, ensemble=True),
    "VotingClassifier": Kind(classifier=True, ensemble=True),
    "VotingRegressor": Kind(classifier=False, ensemble=True),
    "GradientBoostingClassifier": Kind(classifier=True, boosted=True, ensemble=True),
    "GradientBoostingRegressor": Kind(classifier=False, boosted=True, ensemble=True),
    "Booster": Kind(classifier=False, boosted=True),
    "XGBClassifier": Kind(classifier=True, boosted=True),
    "XGBModel": Kind(classifier=False, boosted=True),
    "XGBRegressor": Kind(classifier=False, boosted=True),
    "XGBRFClassifier": Kind(classifier=True, boosted=True),
    "XGBRFRegressor": Kind(classifier=False, boosted=True),
    "XGBRanker": Kind(classifier=False, boosted=True),
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
    """The class of a known name, as users import it: `weald.io` needs no estimator before it meets one."""
    return cast("type[Saveable]", getattr(importlib.import_module("weald"), name))


def parameter_names(name: str) -> set[str]:
    """The constructor parameters of a known class, but for those that are estimators: these are parts."""
    return set(cast("type[BaseEstimator]", class_of(name))._get_param_names()) - {
        *("estimator", "estimators", "sampler"),
        "estimator",
        "estimators",
        "sampler",
    }


def as_known(model: object) -> tuple[str, Any]:
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
