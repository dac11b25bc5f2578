"""Sums, products and multiples of kernels, which are kernels again (Mercer)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from weald.arrays import Floats
from weald.data.matrix.matrix import Matrix
from weald.errors import DataTypeError, ParameterError, told
from weald.numbers import as_float
from weald.svm.kernels.base import MOST_PARTS, Kernel, line, put


@dataclass(frozen=True, slots=True, repr=False)
class Constant(Kernel):
    """The same number for every pair of rows: what `kernel + 1.0` adds.

    Parameters
    ----------
    value : float, default=1.0
        Above 0.

    Examples
    --------
    >>> from weald.kernels import Linear
    >>> (Linear() + 1.0)([[0.0], [2.0]]).tolist()
    [[1.0, 1.0], [1.0, 5.0]]
    """

    name: ClassVar[str] = "constant"
    value: float = 1.0

    def __post_init__(self) -> None:
        """Check the number."""
        put(self, value=_positive(self.value, "A number that is added to a kernel"))

    def program(self) -> Floats:
        """See `Kernel`."""
        return line(10, self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Scaled(Kernel):
    """A kernel times a number.

    Parameters
    ----------
    kernel : Kernel
        Any kernel of numbers.
    factor : float
        Above 0.

    Examples
    --------
    >>> from weald.kernels import Linear
    >>> (2.0 * Linear())([[1.0], [2.0]]).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """

    name: ClassVar[str] = "scaled"
    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        """Check the parts."""
        put(self, factor=_positive(self.factor, "A number that a kernel is multiplied by"))
        _check_part(self.kernel)

    @property
    def nonnegative(self) -> bool:
        """If its kernel takes none."""
        return self.kernel.nonnegative

    def resolved(self, X: Matrix) -> Scaled:
        """See `Kernel`."""
        return Scaled(self.kernel.resolved(X), self.factor)

    def program(self) -> Floats:
        """See `Kernel`."""
        return np.concatenate((self.kernel.program(), line(9, self.factor)))

    def __repr__(self) -> str:
        """As it would be written."""
        return f"{self.factor!r} * {_in_product(self.kernel)}"

    def to_json(self) -> dict[str, object]:
        """See `Kernel`."""
        return {"kernel": self.name, "factor": self.factor, "of": [self.kernel.to_json()]}


class _Joined(Kernel):
    """Kernels joined by one operation."""

    __slots__ = ()

    operation: ClassVar[int]
    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        """Check the parts."""
        put(self, kernels=tuple(self.kernels))
        if not 2 <= len(self.kernels) <= MOST_PARTS:
            raise ParameterError(
                f"A sum or product of kernels has from 2 to {MOST_PARTS} parts; got {len(self.kernels)}."
            )
        for kernel in self.kernels:
            _check_part(kernel)

    @property
    def nonnegative(self) -> bool:
        """If one of its kernels takes none."""
        return any(kernel.nonnegative for kernel in self.kernels)

    def resolved(self, X: Matrix) -> Self:
        """See `Kernel`."""
        return type(self)(tuple(kernel.resolved(X) for kernel in self.kernels))  # type: ignore[call-arg]

    def program(self) -> Floats:
        """See `Kernel`."""
        first, *others = (kernel.program() for kernel in self.kernels)
        joint = line(self.operation)
        return np.concatenate([first, *(part for other in others for part in (other, joint))])

    def to_json(self) -> dict[str, object]:
        """See `Kernel`."""
        return {"kernel": self.name, "of": [kernel.to_json() for kernel in self.kernels]}


@dataclass(frozen=True, slots=True, repr=False)
class Sum(_Joined):
    """The sum of kernels: rows are alike if they are alike in one of them.

    Parameters
    ----------
    kernels : tuple of Kernel
        At least two.

    Examples
    --------
    >>> from weald.kernels import RBF, Linear
    >>> (RBF(gamma=1.0) + Linear())([[0.0], [2.0]]).round(3).tolist()
    [[1.0, 0.018], [0.018, 5.0]]
    """

    name: ClassVar[str] = "sum"
    operation: ClassVar[int] = 7
    kernels: tuple[Kernel, ...]

    def __repr__(self) -> str:
        """As it would be written."""
        return " + ".join(map(repr, self.kernels))


@dataclass(frozen=True, slots=True, repr=False)
class Product(_Joined):
    """The product of kernels: rows are alike if they are alike in all of them.

    Parameters
    ----------
    kernels : tuple of Kernel
        At least two.

    Examples
    --------
    >>> from weald.kernels import Linear
    >>> (Linear() ** 2)([[1.0], [2.0]]).tolist()
    [[1.0, 4.0], [4.0, 16.0]]
    """

    name: ClassVar[str] = "product"
    operation: ClassVar[int] = 8
    kernels: tuple[Kernel, ...]

    def __repr__(self) -> str:
        """As it would be written."""
        if len(set(self.kernels)) == 1:
            return f"({self.kernels[0]!r}) ** {len(self.kernels)}"
        return " * ".join(map(_in_product, self.kernels))


def joined(kind: type[Sum] | type[Product], *parts: Any) -> Kernel:
    """A sum or product, with the parts of parts of the same kind as its own; numbers become constants."""
    kernels: list[Kernel] = []
    for part in parts:
        if isinstance(part, kind):
            kernels += part.kernels
        else:
            kernels.append(Constant(float(part)) if isinstance(part, Real) else part)
    return kind(tuple(kernels))


def _in_product(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Scaled) else repr(kernel)


def _positive(value: object, what: str) -> float:
    number = as_float(value)
    if 0 < number < math.inf:
        return number
    raise ParameterError(
        f"{what} must be above 0 and finite; got {told(value)}. With anything else the result is no kernel."
    )


def _check_part(kernel: object) -> None:
    if not isinstance(kernel, Kernel):
        raise DataTypeError(
            f"Kernels add to and multiply with kernels and positive numbers; got {type(kernel).__name__}."
        )
    if kernel.reads_text:
        raise ParameterError(
            "Spectrum compares texts and cannot be added to or multiplied with kernels of numbers."
        )
