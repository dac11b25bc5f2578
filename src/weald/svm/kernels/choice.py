"""The kernel that an estimator's parameters name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from weald.svm.kernels.functions import (
    RBF,
    ChiSquared,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    Spectrum,
)
from weald.svm.kernels.gamma import gamma_of_sigma

#: a kernel of weald, a user's function, or None where the kernel matrix itself is given
Chosen: TypeAlias = Kernel | Callable[..., Any] | None

_BY_NAME: dict[str, Callable[[Any, Any], Kernel]] = {
    "linear": lambda options, gamma: Linear(),
    "poly": lambda options, gamma: Polynomial(options.degree, gamma, options.coef0),
    "rbf": lambda options, gamma: RBF(gamma),
    "sigmoid": lambda options, gamma: Sigmoid(gamma, options.coef0),
    "laplacian": lambda options, gamma: Laplacian(gamma),
    # Its distance is free of units: columns tell nothing about a scale.
    "chi2": lambda options, gamma: ChiSquared(1.0 if isinstance(gamma, str) else gamma),
    "intersection": lambda options, gamma: Intersection(),
    "spectrum": lambda options, gamma: Spectrum(options.degree),
}


def chosen_kernel(options: Any, owner: str) -> Chosen:
    """The kernel of `kernel`, `degree`, `gamma`, `sigma` and `coef0`; an object speaks for itself."""
    kernel = options.kernel
    if not isinstance(kernel, str):
        return kernel  # type: ignore[no-any-return]
    if kernel == "precomputed":
        return None
    gamma = options.gamma if options.sigma is None else gamma_of_sigma(options.sigma, options.gamma, owner)
    return _BY_NAME[kernel](options, gamma)
