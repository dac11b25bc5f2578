"""The targets of support vector machines: labels as class numbers, or numbers, and the C of each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TargetLike
from weald.data.target import positions_among, read_labels, read_target, warn_of_column
from weald.errors import DataError, ParameterError, listing
from weald.estimators.shared.class_weight import class_factors, without_absent
from weald.estimators.svm.kernel.options import SVCOptions, SVROptions
from weald.estimators.svm.kernel.training import MachineTarget, upper_bounds
from weald.estimators.svm.linear.options import LinearSVCOptions, LinearSVROptions


class WeighedLabels(NamedTuple):
    """Class numbers and weights of the rows that count."""

    labels: NDArray[Any]
    weight: Floats
    classes: NDArray[Any]
    class_weight: Floats


def weighed_labels(
    y: TargetLike | None,
    n_rows: int,
    weight: Floats | None,
    class_weight: str | Mapping[Any, float] | None,
    owner: str,
    *,
    balance_weights: bool = False,
) -> WeighedLabels:
    """Labels as class numbers, and the weight of each row, by weights and weights of classes.

    Parameters
    ----------
    y : array-like
        The labels.
    n_rows : int
        Of the table.
    weight : ndarray, or None
        The weights of all rows, as the user gave them.
    class_weight : None, "balanced" or dict
        The parameter of that name.
    owner : str
        The estimator's name, for messages.
    balance_weights : bool
        Whether "balanced" counts weights, not rows.
    """
    outputs = read_labels(y, n_rows=n_rows, estimator=owner)
    if len(outputs) != 1:
        raise DataError(
            f"y has {len(outputs)} columns, and {owner} takes one. Fit one model per column "
            "(scikit-learn's MultiOutputClassifier does)."
        )
    warn_of_column(y)
    found = without_absent(outputs[0], weight)
    if len(found.classes) < 2:
        among = (
            " among the rows of positive sample_weight. (Invalid input - all samples with positive weights "
            "belong to the same class.)"
        )
        raise DataError(
            f"The number of classes has to be greater than one; got 1 class: {owner} draws a boundary "
            f"between classes, and y has only {listing(found.classes.tolist())}"
            f"{among if weight is not None else '.'}"
        )
    if weight is not None:
        found = found._replace(indices=found.indices[weight > 0])
    own = np.ones(len(found.indices)) if weight is None else weight[weight > 0]
    counted = own if balance_weights else None
    factors = class_factors(class_weight, f"`class_weight` of {owner}", found, counted)
    if factors is None:
        factors = np.ones(len(found.classes))
    if not factors.all():
        label = found.classes.tolist()[int(np.argmin(factors))]
        raise ParameterError(
            f"`class_weight` of {owner} gives the label {label!r} the "
            "weight 0, which leaves no row of it. Leave its rows out of the table instead."
        )
    return WeighedLabels(found.indices, own * factors[found.indices], found.classes, factors)


def class_target(
    y: TargetLike | None,
    n_rows: int,
    weight: Floats | None,
    options: SVCOptions | LinearSVCOptions,
    owner: str,
) -> MachineTarget:
    """Labels as class numbers, and the C of each row, by weights and weights of classes."""
    found = weighed_labels(y, n_rows, weight, options.class_weight, owner)
    upper = upper_bounds(options.C, found.weight, owner)
    return MachineTarget(found.labels, found.weight, upper, found.classes, found.class_weight)


def number_target(
    y: TargetLike | None,
    n_rows: int,
    weight: Floats | None,
    options: SVROptions | LinearSVROptions,
    owner: str,
) -> MachineTarget:
    """Numbers, and the C of each row."""
    numbers = read_target(y, n_rows=n_rows, estimator=owner)
    if numbers.shape[1] != 1:
        raise DataError(
            f"y has {numbers.shape[1]} columns, and {owner} takes one. Fit one model per column "
            "(scikit-learn's MultiOutputRegressor does)."
        )
    warn_of_column(y)
    target = numbers[:, 0]
    own = np.ones(n_rows)
    if weight is not None:
        target, own = target[weight > 0], weight[weight > 0]
    return MachineTarget(target, own, upper_bounds(options.C, own, owner))


def known_labels(y: TargetLike | None, n_rows: int, classes: NDArray[Any], owner: str) -> NDArray[np.intp]:
    """The class number of every label, which the model must know."""
    outputs = read_labels(y, n_rows=n_rows, estimator=owner)
    if len(outputs) != 1:
        raise DataError(f"y has {len(outputs)} columns, and {owner} knows one. Give one label per row.")
    given = outputs[0].classes
    places = positions_among(given, classes)
    if (places < 0).any():
        raise DataError(
            f"y holds the label {listing(given[places < 0].tolist())}, which was not there when this model "
            f"was fitted: it knows {listing(classes.tolist())}."
        )
    return places[outputs[0].indices]


def true_numbers(y: TargetLike | None, n_rows: int, owner: str) -> Floats:
    """One number per row."""
    truth = read_target(y, n_rows=n_rows, estimator=owner)
    if truth.shape[1] != 1:
        raise DataError(f"y has {truth.shape[1]} columns; one number per row is expected.")
    found: Floats = truth[:, 0]
    return found
