"""Weights by class: the factors that `class_weight` asks for, and the classes that zero weights leave.

Sums run in an order that the rows do not decide, so that permuted rows give the same factors to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError, ParameterError, listing

Weights: TypeAlias = NDArray[np.float64]


def without_absent(
    classes: NDArray[Any], labels: NDArray[np.int32], weight: Weights | None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Classes and labels without the classes whose every row has the weight 0: such rows count as absent."""
    if weight is None:
        return classes, labels
    present = np.bincount(labels[weight > 0], minlength=len(classes)) > 0
    if present.all():
        return classes, labels
    # Rows of an absent class have the weight 0; which valid number they carry does not matter.
    renumbered = np.maximum(np.cumsum(present) - 1, 0).astype(np.int32)
    return classes[present], renumbered[labels]


def class_weights(
    option: str | Mapping[Any, float] | None,
    owner: str,
    classes: NDArray[Any],
    labels: NDArray[np.int32],
    weight: Weights | None,
) -> Weights | None:
    """The factor for the weights of each class, or None if there is none.

    "balanced" gives every class the same total weight: total / (number of classes * weight of the class).
    A dict names factors; classes it leaves out keep theirs. A key that is no class is taken for a slip if
    some class is left out, and else ignored, as a fold of cross-validation may lack a rare class.
    """
    if option is None:
        return None
    if isinstance(option, str):
        if weight is not None:
            # In one order whatever that of the rows, so that it never shows in the sums.
            order = np.lexsort((weight, labels))
            labels, weight = labels[order], weight[order]
        by_class = np.bincount(labels, weight, len(classes)).astype(np.float64)
        balanced: Weights = by_class.sum() / (len(classes) * by_class)
        return balanced
    known = classes.tolist()
    left_out = [label for label in known if label not in option]
    strange = [label for label in option if label not in known]
    if strange and left_out:
        raise ParameterError(
            f"`class_weight` of {owner} names {listing(strange)}, but the labels are {listing(known)}. "
            "Use the labels as they stand in y."
        )
    factors = [option.get(label, 1.0) for label in known]
    for label, factor in zip(known, factors, strict=True):
        if not isinstance(factor, int | float | np.number) or not 0 <= factor < math.inf:
            raise ParameterError(
                f"`class_weight` of {owner} must hold finite numbers of at least 0; got {factor!r} for the "
                f"label {label!r}. Use 1 for a class that keeps its weight."
            )
    return np.array(factors, np.float64)


def weigh_by_class(
    owner: str, labels: NDArray[np.int32], factors: Weights, weight: Weights | None
) -> Weights:
    """Row weights times the factor of the row's class, checked to stay usable."""
    with np.errstate(over="ignore"):
        weighed = factors[labels] if weight is None else weight * factors[labels]
    if not np.isfinite(weighed).all():
        raise DataError(
            f"sample_weight times `class_weight` of {owner} overflows. Use smaller ones: only ratios count."
        )
    if not weighed.any():
        raise DataError(
            f"`class_weight` of {owner} leaves no row with a positive weight. Give a class a weight above 0."
        )
    return weighed
