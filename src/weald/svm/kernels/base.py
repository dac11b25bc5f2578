"""What all kernels share: comparison, arithmetic, the call, and the form in model files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from weald.arrays import Floats, TableLike
from weald.data.matrix.matrix import Matrix
from weald.errors import ModelFileError, ParameterError

#: parts of a sum, product or power, and how deep they nest
MOST_PARTS, DEEPEST = 64, 8


class Kernel(ABC):
    """How alike two rows are: a formula with its numbers.

    Kernels are frozen; equal numbers make equal kernels. Sums, products, whole powers and positive multiples
    of kernels are kernels, and so is a kernel plus a positive number.

    Examples
    --------
    >>> from weald.kernels import RBF, Linear
    >>> kernel = RBF(gamma=0.5) + 2.0 * Linear()
    >>> kernel([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.607], [0.607, 3.0]]
    """

    __slots__ = ()

    #: the name in model files, and for `SVC(kernel=...)` where that knows it
    name: ClassVar[str]
    #: whether it compares texts instead of numbers
    reads_text: ClassVar[bool] = False

    @property
    def nonnegative(self) -> bool:
        """Whether it takes no negative numbers."""
        return False

    def resolved(self, X: Matrix) -> Kernel:
        """The same kernel with numbers in place of gamma="scale" and gamma="auto", which go by X."""
        return self

    @abstractmethod
    def program(self) -> Floats:
        """The kernel in postfix form, (n_operations, 4): an operation and its numbers; gamma is resolved."""

    def __call__(self, X: TableLike | Matrix, Z: TableLike | Matrix | None = None) -> Floats:
        """The kernel values of all rows of X with all rows of Z, which is X if not given.

        gamma="scale" and "auto" go by Z: `kernel(new_rows, training_rows)` is the kernel of the training.

        Parameters
        ----------
        X, Z : array of shape (n_rows, n_columns), or SciPy matrix
            Finite numbers; texts for `Spectrum`.

        Returns
        -------
        ndarray of shape (rows of X, rows of Z)
            Kernel values.
        """
        from weald.svm.kernels.gram import gram

        return gram(self, X, Z)

    def __repr__(self) -> str:
        """As it would be written, without what is left at its default."""
        shown = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_json(self) -> dict[str, object]:
        """The kernel as a JSON object."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kernel": self.name, **numbers}

    @staticmethod
    def from_json(value: object) -> Kernel:
        """The kernel that `to_json` wrote; anything else raises ModelFileError."""
        from weald.svm.kernels.json import kernel_from_json

        try:
            return kernel_from_json(value)
        except ParameterError as error:
            raise ModelFileError(f"The kernel of the model file is impossible: {error}") from error

    def __add__(self, other: Kernel | float) -> Kernel:
        from weald.svm.kernels.sums import Sum, joined

        return joined(Sum, self, other)

    def __radd__(self, other: Kernel | float) -> Kernel:
        from weald.svm.kernels.sums import Sum, joined

        # sum() of Python starts from 0
        return self if isinstance(other, Real) and other == 0 else joined(Sum, other, self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        from weald.svm.kernels.sums import Product, Scaled, joined

        return Scaled(self, float(other)) if isinstance(other, Real) else joined(Product, self, other)

    def __rmul__(self, other: float) -> Kernel:
        return self * other

    def __pow__(self, power: int) -> Kernel:
        from weald.svm.kernels.sums import Product

        if not isinstance(power, Integral) or isinstance(power, bool) or not 1 <= power <= MOST_PARTS:
            raise ParameterError(
                f"A kernel can be raised to a whole power from 1 to {MOST_PARTS}; got {power!r}."
            )
        return self if power == 1 else Product((self,) * int(power))


def line(operation: float, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> Floats:
    """A program of one operation."""
    return np.array([[operation, a, b, c]], np.float64)


def put(kernel: Kernel, **values: object) -> None:
    """Set fields of a frozen kernel while it is made."""
    for name, value in values.items():
        object.__setattr__(kernel, name, value)
