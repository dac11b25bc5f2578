"""Weights by class: the factors that `class_weight` asks for, and the classes that zero weights leave.

Sums run in an order that the rows do not decide, so that permuted rows give the same factors to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.data.target import Labels
from weald.errors import DataError, ParameterError, listing

Weights: TypeAlias = NDArray[np.float64]
ClassWeight: TypeAlias = str | Mapping[Any, float] | Sequence[str | Mapping[Any, float] | None] | None


def without_absent(found: Labels, weight: Weights | None) -> Labels:
    """The labels without the classes whose every row has the weight 0: such rows count as absent."""
    if weight is None:
        return found
    classes, labels = found
    present = np.bincount(labels[weight > 0], minlength=len(classes)) > 0
    if present.all():
        return found
    # Rows of an absent class have the weight 0; which valid number they carry does not matter.
    renumbered = np.maximum(np.cumsum(present) - 1, 0).astype(np.int32)
    return Labels(classes[present], renumbered[labels])


def weigh_by_class(
    option: ClassWeight, owner: str, outputs: Sequence[Labels], weight: Weights | None
) -> Weights | None:
    """Row weights times the factor of the row's class in every output, checked to stay usable.

    Parameters
    ----------
    option : None, "balanced", dict, or a list with one of these per output
        The parameter `class_weight`.
    owner : str
        The estimator's name, for messages.
    outputs : sequence of Labels
        The classes and labels of each output.
    weight : ndarray or None
        The weights so far.
    """
    product: Weights | None = None
    with np.errstate(over="ignore", under="ignore"):
        for (name, each), found in zip(_by_output(option, owner, len(outputs)), outputs, strict=True):
            factors = class_factors(each, f"`{name}` of {owner}", found, weight)
            if factors is not None:
                of_row = factors[found.indices]
                product = of_row if product is None else product * of_row
        if product is None:
            return weight
        weighed = product if weight is None else weight * product
    if not np.isfinite(weighed).all():
        raise DataError(
            f"sample_weight times `class_weight` of {owner} overflows. Use smaller ones: only ratios count."
        )
    if not weighed.any():
        raise DataError(
            f"`class_weight` of {owner} leaves no row with a positive weight. Give a class a weight above 0."
        )
    return weighed


def _by_output(option: ClassWeight, owner: str, n_outputs: int) -> list[tuple[str, Any]]:
    """What `class_weight` says of each output, and the words for that."""
    if option is None or isinstance(option, str):
        return [("class_weight", option)] * n_outputs
    if isinstance(option, Mapping):
        if n_outputs > 1:
            raise ParameterError(
                f"`class_weight` of {owner} is one dict, and y has {n_outputs} outputs. Give a list of "
                "dicts, one per output, or 'balanced'."
            )
        return [("class_weight", option)]
    if len(option) != n_outputs:
        raise ParameterError(
            f"`class_weight` of {owner} is a list of {len(option)}, and y has {n_outputs} "
            f"output{'s' * (n_outputs > 1)}: the number of elements in class_weight should match number of "
            "outputs. Give one dict for each."
        )
    for k, each in enumerate(option):
        if not (each is None or each == "balanced" or isinstance(each, Mapping)):
            raise ParameterError(
                f"`class_weight[{k}]` of {owner} must be None, 'balanced' or a dict from label to weight; "
                f"got {each!r}."
            )
    return [(f"class_weight[{k}]", each) for k, each in enumerate(option)]


def class_factors(
    option: str | Mapping[Any, float] | None, what: str, found: Labels, weight: Weights | None
) -> Weights | None:
    """The factor for the weights of each class, or None if there is none.

    "balanced" gives every class the same total weight: total / (number of classes * weight of the class).
    A dict names factors; classes it leaves out keep theirs. A key that is no class is taken for a slip if
    some class is left out, and else ignored, as a fold of cross-validation may lack a rare class.
    """
    if option is None:
        return None
    classes, labels = found
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
            f"{what} names {listing(strange)}, but the labels are {listing(known)}. "
            "Use the labels as they stand in y."
        )
    factors = [option.get(label, 1.0) for label in known]
    for label, factor in zip(known, factors, strict=True):
        if not isinstance(factor, int | float | np.number) or not 0 <= factor < math.inf:
            raise ParameterError(
                f"{what} must hold finite numbers of at least 0; got {factor!r} for the "
                f"label {label!r}. Use 1 for a class that keeps its weight."
            )
    return np.array(factors, np.float64)
