"""The kernels, one class each; users find them in `weald.kernels`, with sums and products of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.errors import ParameterError
from weald.svm.kernels.base import Kernel, line, put
from weald.svm.kernels.gamma import (
    Gamma,
    checked_flag,
    checked_gamma,
    checked_number,
    checked_whole,
    gamma_of_sigma,
    gamma_of_table,
)
from weald.svm.kernels.sums import Constant, Product, Scaled, Sum

__all__ = [
    "RBF",
    "ChiSquared",
    "Constant",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Product",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
]


class _GammaKernel(Kernel):
    """A kernel with gamma, and perhaps coef0."""

    __slots__ = ()

    gamma: Gamma

    def __post_init__(self) -> None:
        """Check the numbers."""
        owner = type(self).__name__
        put(self, gamma=checked_gamma(self.gamma, owner))
        if hasattr(self, "coef0"):
            put(self, coef0=checked_number(self.coef0, "coef0", owner))

    def resolved(self, X: Matrix) -> Self:
        """See `Kernel`."""
        return replace(self, gamma=gamma_of_table(self.gamma, X))  # type: ignore[type-var]

    @property
    def _number(self) -> float:
        """Gamma, which must be a number by now."""
        if isinstance(self.gamma, str):
            raise ParameterError(
                f"gamma={self.gamma!r} of {type(self).__name__} is no number before there are rows. Use "
                "kernel.resolved(matrix), or give gamma as a number."
            )
        return self.gamma


@dataclass(frozen=True, slots=True, repr=False)
class Linear(Kernel):
    """x · z.

    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    name: ClassVar[str] = "linear"

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(0)


@dataclass(frozen=True, slots=True, repr=False)
class Polynomial(_GammaKernel):
    """(gamma x · z + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
        At least 1.
    gamma : float, "scale" or "auto", default="scale"
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.
    coef0 : float, default=0.0
        Above 0 it gives lower powers a say. Below 0 this may be no kernel in Mercer's sense.

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0)([[1.0]], [[2.0]]).tolist()
    [[9.0]]
    """

    name: ClassVar[str] = "poly"
    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        put(self, degree=checked_whole(self.degree, "degree", "Polynomial", most=1000))
        _GammaKernel.__post_init__(self)

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(1, self.degree, self._number, self.coef0)


@dataclass(frozen=True, slots=True, repr=False)
class RBF(_GammaKernel):
    """exp(-gamma ‖x - z‖²), the Gaussian; gamma = 1 / (2 sigma²).

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.
    sigma : float, default=None
        The standard deviation of the Gaussian, in place of gamma.

    Examples
    --------
    >>> RBF(sigma=1.0)([[0.0]], [[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.607]]
    """

    name: ClassVar[str] = "rbf"
    gamma: Gamma = "scale"
    sigma: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        _GammaKernel.__post_init__(self)
        if self.sigma is not None:
            put(self, sigma=checked_number(self.sigma, "sigma", "RBF"))
            gamma_of_sigma(self.sigma, self.gamma, "RBF")

    def resolved(self, X: Matrix) -> RBF:
        """See `Kernel`; sigma becomes gamma."""
        if self.sigma is not None:
            return RBF(gamma_of_sigma(self.sigma, self.gamma, "RBF"))
        return RBF(gamma_of_table(self.gamma, X))

    def program(self) -> Floats:
        """See `Kernel`."""
        if self.sigma is not None:
            return line(2, gamma_of_sigma(self.sigma, self.gamma, "RBF"))
        return line(2, self._number)


@dataclass(frozen=True, slots=True, repr=False)
class Sigmoid(_GammaKernel):
    """tanh(gamma x · z + coef0), which is a kernel in Mercer's sense for some data only.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.
    coef0 : float, default=0.0
        Any number.

    Examples
    --------
    >>> from weald.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0)([[0.0], [1.0]]).round(3).tolist()
    [[0.0, 0.0], [0.0, 0.762]]
    """

    name: ClassVar[str] = "sigmoid"
    gamma: Gamma = "scale"
    coef0: float = 0.0

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(3, 0.0, self._number, self.coef0)


@dataclass(frozen=True, slots=True, repr=False)
class Laplacian(_GammaKernel):
    """exp(-gamma Σ |x - z|).

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.

    Examples
    --------
    >>> from weald.kernels import Laplacian
    >>> Laplacian(gamma=1.0)([[0.0], [2.0]]).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """

    name: ClassVar[str] = "laplacian"
    gamma: Gamma = "scale"

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(4, self._number)


@dataclass(frozen=True, slots=True, repr=False)
class ChiSquared(_GammaKernel):
    """exp(-gamma Σ (x - z)² / (x + z)), for counts and shares: it takes no negative numbers.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.

    Examples
    --------
    >>> from weald.kernels import ChiSquared
    >>> ChiSquared()([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """

    name: ClassVar[str] = "chi2"
    gamma: Gamma = 1.0

    @property
    def nonnegative(self) -> bool:
        """Always."""
        return True

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(5, self._number)


@dataclass(frozen=True, slots=True, repr=False)
class Intersection(Kernel):
    """Σ min(x, z), what two histograms have in common: it takes no negative numbers.

    >>> Intersection()([[3.0, 1.0]], [[2.0, 5.0]]).tolist()
    [[3.0]]
    """

    name: ClassVar[str] = "intersection"

    @property
    def nonnegative(self) -> bool:
        """Always."""
        return True

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(6)


@dataclass(frozen=True, slots=True, repr=False)
class Spectrum(Kernel):
    """The substrings that two texts share: Σ over substrings of count in x · count in z.

    Texts become counts of substrings, in which the kernel is linear. A missing text has no substrings. With
    several columns of text the kernels of the columns are added, and divided by their number if `normalise`.

    Parameters
    ----------
    length : int, default=3
        The length of the substrings, in characters.
    normalise : bool, default=True
        Divide by the lengths of the two vectors of counts: long texts are no more alike than short ones, and
        every text is 1 with itself.
    all_lengths : bool, default=False
        Count the substrings of all lengths from 1 to `length`.

    Examples
    --------
    >>> Spectrum(length=2)(["abab", "ab", "xy"]).round(3).tolist()
    [[1.0, 0.894, 0.0], [0.894, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "spectrum"
    reads_text: ClassVar[bool] = True
    length: int = 3
    normalise: bool = True
    all_lengths: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        put(self, length=checked_whole(self.length, "length", "Spectrum", most=1000))
        put(self, normalise=checked_flag(self.normalise, "normalise", "Spectrum"))
        put(self, all_lengths=checked_flag(self.all_lengths, "all_lengths", "Spectrum"))

    def program(self) -> Floats:
        """Linear in the counts."""
        return line(0)


#: the kernels that have a name of their own, by it
BY_NAME: dict[str, Any] = {
    kernel.name: kernel
    for kernel in (Linear, Polynomial, RBF, Sigmoid, Laplacian, ChiSquared, Intersection, Spectrum)
}
