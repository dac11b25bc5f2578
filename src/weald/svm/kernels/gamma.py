"""The numbers of kernels: their ranges, and what "scale", "auto" and sigma say about gamma."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np

from weald.data.matrix.matrix import Matrix
from weald.data.matrix.rows import row_blocks
from weald.errors import DataError, ParameterError, nearest, told
from weald.numbers import as_float

Gamma: TypeAlias = float | Literal["scale", "auto"]

_WORDS = ("scale", "auto")


def checked_gamma(value: object, owner: str) -> Gamma:
    """A number above 0, "scale" or "auto"."""
    if isinstance(value, str) and value in _WORDS:
        return value  # type: ignore[return-value]
    number = as_float(value)
    if 0 < number < math.inf:
        return number
    close = nearest(value, _WORDS) if isinstance(value, str) else None
    hint = f"Did you mean {close!r}?" if close else "Use 'scale'."
    raise ParameterError(
        f"`gamma` of {owner} must be a number above 0, 'scale' or 'auto'; got {told(value)}. {hint}"
    )


def checked_number(value: object, name: str, owner: str) -> float:
    """Any finite number."""
    number = as_float(value)
    if math.isfinite(number):
        return number
    raise ParameterError(f"`{name}` of {owner} must be a finite number; got {told(value)}.")


def checked_whole(value: object, name: str, owner: str, most: int | None = None) -> int:
    """A whole number from 1 up."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= (most or math.inf):
        return int(value)
    upper = "of at least 1" if most is None else f"from 1 to {most}"
    raise ParameterError(f"`{name}` of {owner} must be a whole number {upper}; got {told(value)}. Use 3.")


def checked_flag(value: object, name: str, owner: str) -> bool:
    """True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ParameterError(f"`{name}` of {owner} must be True or False; got {told(value)}.")


def gamma_of_sigma(sigma: float, gamma: Gamma, owner: str) -> float:
    """1 / (2 sigma²), if `gamma` was not given as well.

    >>> gamma_of_sigma(2.0, "scale", "RBF")
    0.125
    """
    if gamma != "scale":
        raise ParameterError(
            f"`sigma` of {owner} is another way to say `gamma`, and both are given: sigma={sigma:g} and "
            f"gamma={gamma!r}. Leave `gamma` at 'scale', or `sigma` None."
        )
    found = 1 / (2 * sigma * sigma) if sigma > 0 and sigma * sigma > 0 else math.inf
    if 0 < found < math.inf:
        return found
    raise ParameterError(
        f"`sigma` of {owner} must be a number above 0 whose 1 / (2 sigma²) float64 holds; got {sigma!r}. Use "
        "a number near the distance between neighbouring rows."
    )


def gamma_of_table(gamma: Gamma, X: Matrix) -> float:
    """`gamma` as a number: "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.

    As in scikit-learn, "scale" is 1 where nothing varies; so are both where a table of categories without a
    single known level has no column at all.
    """
    if not isinstance(gamma, str):
        return gamma
    if not X.n_columns:
        return 1.0
    if gamma == "auto":
        return 1.0 / X.n_columns
    variance = _variance(X)
    if variance == 0:
        return 1.0
    found = 1.0 / (X.n_columns * variance) if math.isfinite(variance) else 0.0
    if 0 < found < math.inf:
        return found
    raise DataError(
        f"gamma='scale' is 1 / (columns · variance), and the variance of all numbers is {variance:g}, too "
        "far from 1 for float64. Use scale=True, or bring the columns to units near 1."
    )


def _variance(X: Matrix) -> float:
    """The variance of all numbers of a matrix, zeros of CSR included; block by block, always in one order."""
    n_numbers = X.n_rows * X.n_columns
    with np.errstate(over="ignore", invalid="ignore"):
        if X.is_sparse:
            data = X.entries
            mean = float(data.sum()) / n_numbers
            squares = float(((data - mean) ** 2).sum()) + (n_numbers - len(data)) * mean * mean
            return squares / n_numbers
        blocks = [X.values[start:stop] for start, stop in row_blocks(X.n_rows, X.n_columns)]
        mean = math.fsum(float(block.sum()) for block in blocks) / n_numbers
        return math.fsum(float(((block - mean) ** 2).sum()) for block in blocks) / n_numbers
