"""What a model is asked, and which of its answers: probabilities or scores, of which class or output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, Floats, TableLike
from weald.errors import ParameterError, WealdError, listing, nearest, told
from weald.estimators.xgboost.native.booster import Booster
from weald.insight.dependence.any_model import AnyModel
from weald.insight.dependence.trees import tree_sum
from weald.inspection.dependence.curves import TreeSum
from weald.inspection.dependence.moments import Pick

#: what is asked of a model
Response: TypeAlias = Literal["auto", "predict_proba", "decision_function", "predict", "raw"]
#: a fitted estimator of any library, or a function of a table
Model: TypeAlias = Estimator | Booster | Callable[[Any], object]
#: a class, the number of an output, or both; None for all
Target: TypeAlias = object


@dataclass(frozen=True, eq=False)
class Asked:
    """A model and a table, with what is asked: predictions where columns are set, by target."""

    summed: TreeSum | AnyModel
    picks: list[Pick]
    targets: tuple[object, ...]
    response: str
    name: str  # of the model

    def at(self, columns: Any) -> Floats:
        """What is predicted where some columns are others: (rows, targets)."""
        found = self.summed.at(columns)
        return np.stack([pick.offset + pick.sign * found[:, pick.result] for pick in self.picks], axis=1)


def ask(
    model: Model, X: TableLike, *, response: str = "auto", target: Target = None, n_jobs: int | None = None
) -> Asked:
    """Read what is asked of a model; raises for what it cannot answer."""
    name = type(model).__name__ if hasattr(model, "predict") else getattr(model, "__name__", "the function")
    _check_fitted(model)
    chosen = _response(model, response, name)
    inner = model._fitted() if isinstance(model, Booster) else model
    found: tuple[TreeSum | AnyModel, list[Pick]] | None = tree_sum(inner, X, chosen, n_jobs)
    if found is None:
        if chosen == "raw":
            raise ParameterError(
                f"response='raw' is the sum of a model's trees, and {name} predicts no such sum. Use 'auto'."
            )
        anything = AnyModel(_function(model, chosen, name), X)
        found = anything, [Pick(k) for k in range(anything.n_results)]
    summed, picks = found
    labels = _labels(inner, chosen, len(picks))
    kept = _chosen(labels, target, name)
    if target is None and _two_classes(inner, chosen, len(picks)):
        kept = [1]
    return Asked(summed, [picks[k] for k in kept], tuple(labels[k] for k in kept), chosen, name)


def _check_fitted(model: Model) -> None:
    if not hasattr(model, "predict"):
        if not callable(model):
            raise ParameterError(
                f"`model` must be a fitted estimator or a function of a table; got {told(model)}."
            )
        return
    if isinstance(model, type):
        raise ParameterError(f"`model` is the class {model.__name__}. Give a fitted {model.__name__}.")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise
    except TypeError:
        return  # not scikit-learn's: it will say itself


def _response(model: Model, asked: str, name: str) -> str:
    choices = get_args(Response)
    if asked not in choices:
        close = nearest(str(asked), choices)
        hint = f" Did you mean {close!r}?" if close else ""
        raise ParameterError(f"`response` must be one of {', '.join(choices)}; got {told(asked)}.{hint}")
    if not hasattr(model, "predict") or isinstance(model, Booster):
        if asked not in ("auto", "predict") and not (asked == "raw" and isinstance(model, Booster)):
            raise ParameterError(f"{name} has no {asked}. Use response='auto'.")
        return "predict" if asked == "auto" else asked
    labels = is_classifier(model)
    if asked == "auto":
        if not labels:
            return "predict"
        for method in ("predict_proba", "decision_function"):
            if hasattr(model, method):
                return method
        raise ParameterError(f"{name} is a classifier without predict_proba and decision_function.")
    if asked == "predict" and labels:
        raise ParameterError(
            f"response='predict' of {name} gives labels, which have no mean. Use 'predict_proba'."
        )
    if asked != "raw" and not hasattr(model, asked):
        raise ParameterError(f"{name} has no {asked}. Use response='auto'.")
    return asked


def _function(model: Model, response: str, name: str) -> Callable[[Any], Floats]:
    """What the model answers to a table, as (rows, results)."""
    ask_model: Callable[[Any], object] = getattr(model, response) if hasattr(model, "predict") else model

    def answers(X: object) -> Floats:
        found: object = ask_model(X)
        if isinstance(found, list) and len(found) and getattr(found[0], "ndim", 0) == 2:
            found = np.concatenate(found, axis=1)  # of several outputs
        try:
            values = np.asarray(found, np.float64)
        except (TypeError, ValueError):
            raise WealdError(f"{name} gave {told(found)}, which are no numbers.") from None
        if values.ndim not in (1, 2):
            raise WealdError(f"{name} gave an array of shape {values.shape}; one number per row is expected.")
        return values.reshape(len(values), -1)

    return answers


def _labels(model: object, response: str, n: int) -> list[object]:
    """What the columns of the response are called: classes, or numbers of outputs."""
    classes: object = getattr(model, "classes_", None) if response != "predict" else None
    if classes is None:
        return list(range(n))
    if isinstance(classes, list):  # of several outputs
        several = [(k, label) for k, labels in enumerate(classes) for label in np.asarray(labels).tolist()]
        return list(several) if len(several) == n else list(range(n))
    labels = np.asarray(classes).tolist()
    if len(labels) == 2 and n == 1:
        return [labels[1]]
    return list(labels) if len(labels) == n else list(range(n))


def _two_classes(model: object, response: str, n: int) -> bool:
    classes: Any = getattr(model, "classes_", None)
    labelled = response in ("predict_proba", "raw") and classes is not None and not isinstance(classes, list)
    return labelled and len(classes) == n == 2


def _chosen(labels: Sequence[object], target: Target, name: str) -> list[int]:
    """The positions of the targets that are asked for."""
    if target is None:
        return list(range(len(labels)))
    wanted = target.item() if isinstance(target, np.generic) else target
    found = [
        k
        for k, label in enumerate(labels)
        if label == wanted and isinstance(label, bool) == isinstance(wanted, bool)
    ]
    if found:
        return found[:1]
    close = nearest(str(wanted), [str(label) for label in labels])
    hint = f" Did you mean {close!r}?" if close else ""
    raise ParameterError(
        f"`target` must be one of {listing(labels, most=10)}, what {name} predicts; got {told(target)}.{hint}"
    )
