"""Metadata routing: how scikit-learn passes more than X and y through an ensemble to its members.

It is off unless `sklearn.set_config(enable_metadata_routing=True)` turns it on. What members get then is what
they asked for by `set_fit_request` and its like.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from weald.arrays import Estimator
from weald.data.frames.user_rows import take_values
from weald.errors import ParameterError, listing

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def routing_is_on() -> bool:
    """Whether the user has turned metadata routing on."""
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def check_params(params: Mapping[str, Any], owner: str, method: str, allowed: Collection[str] = ()) -> None:
    """Refuse further arguments of a method while nothing can be routed."""
    strange = [name for name in params if name not in allowed]
    if strange and not routing_is_on():
        raise ParameterError(
            f"Passing extra keyword arguments to {owner}.{method} is only supported if "
            "enable_metadata_routing=True, which sklearn.set_config sets; then members get what they ask for "
            f"by set_{method}_request. Got {listing(strange)}."
        )


def takes_weights(estimator: Estimator) -> bool:
    """Whether `fit` of a member is to get weights: if it takes them, and asks for them where that is on."""
    if not routing_is_on():
        return bool(has_fit_parameter(estimator, "sample_weight"))
    from sklearn.utils.metadata_routing import get_routing_for_object

    return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))


def route(owner: object, method: str, params: Mapping[str, Any]) -> Bunch:
    """What each member's methods get of the arguments of `owner.method`; only while routing is on."""
    from sklearn.utils.metadata_routing import process_routing

    return process_routing(owner, method, **params)


def params_of_rows(params: Mapping[str, Any], rows: NDArray[np.int64], n_rows: int) -> dict[str, Any]:
    """Arguments for some rows: what has a value for each row is cut down to them."""
    return {
        name: take_values(value, rows) if _by_row(value, n_rows) else value for name, value in params.items()
    }


def _by_row(value: object, n_rows: int) -> bool:
    if isinstance(value, str | bytes | Mapping):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and len(value) == n_rows
