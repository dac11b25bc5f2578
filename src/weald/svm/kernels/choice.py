"""The kernel that an estimator's parameters name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

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
from weald.svm.kernels.gamma import Gamma, gamma_of_sigma

#: a kernel of weald, its name, or a user's function f(X, Z)
KernelLike: TypeAlias = str | Kernel | Callable[..., Any]
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


class KernelChoice(Protocol):
    """The parameters by which a kernel is chosen."""

    @property
    def kernel(self) -> KernelLike:
        """A name, a kernel or a function."""

    @property
    def degree(self) -> int:
        """The power of a polynomial, or the length of substrings."""

    @property
    def gamma(self) -> Gamma:
        """The width, or how it is found."""

    @property
    def sigma(self) -> float | None:
        """The width in other words."""

    @property
    def coef0(self) -> float:
        """What is added to a product."""


def chosen_kernel(options: KernelChoice, owner: str) -> Chosen:
    """The kernel of `kernel`, `degree`, `gamma`, `sigma` and `coef0`; an object speaks for itself."""
    kernel = options.kernel
    if not isinstance(kernel, str):
        return kernel
    if kernel == "precomputed":
        return None
    gamma = options.gamma if options.sigma is None else gamma_of_sigma(options.sigma, options.gamma, owner)
    return _BY_NAME[kernel](options, gamma)
