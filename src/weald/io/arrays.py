"""Single arrays between memory and file: the narrowest exact dtype, packed bits, and checked widening.

Nothing here rounds. An array is stored narrower only if every value comes back bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.errors import ModelFileError

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the narrowest dtype that gives every value back exactly.

    >>> [str(narrow(np.array(values)).dtype) for values in ([0.0, 200.0], [0.5, 2.0], [0.1])]
    ['uint8', 'float32', 'float64']
    """
    if not array.size:
        return array.astype(np.uint8)
    if array.dtype.kind != "f":
        return array.astype(_integer_dtype(int(array.min()), int(array.max())))
    if whole(array):
        dtype = _integer_dtype(int(array.min()), int(array.max()))
        if dtype.itemsize <= 4:
            return array.astype(dtype)
    with np.errstate(over="ignore", under="ignore"):
        single = array.astype(np.float32)
    return single if np.array_equal(single.astype(np.float64), array) else array


def whole(array: NDArray[Any]) -> bool:
    """Whether integers can stand for these floats: whole, below 2^53, no negative zero, no NaN."""
    return bool(
        np.all(np.abs(array) < 2.0**53)
        and np.array_equal(np.trunc(array), array)
        and not np.any((array == 0) & np.signbit(array))
    )


def _integer_dtype(lowest: int, highest: int) -> np.dtype[Any]:
    for kind in _UNSIGNED if lowest >= 0 else _SIGNED:
        limits = np.iinfo(kind)
        if limits.min <= lowest and highest <= limits.max:
            return np.dtype(kind)
    raise ModelFileError(f"Numbers from {lowest} to {highest} are beyond 64 bits.")


def usable(array: NDArray[np.float64], *, low: float = -np.inf, finite: bool = True) -> bool:
    """Whether all numbers are at least `low`, and finite if asked; NaN never passes."""
    return bool(np.all(array >= low) and (not finite or np.all(np.isfinite(array))))


def as_it_is(array: NDArray[Any]) -> NDArray[Any]:
    """The array in its own dtype, where a narrower one would make too small a file of too much."""
    return array


def pack_bits(bits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Eight flags a byte, the first in the lowest bit."""
    return np.packbits(bits, bitorder="little")


def same_bits(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Whether two float64 arrays are equal bit for bit."""
    return np.array_equal(a.view(np.uint64), b.view(np.uint64))


class Shelf:
    """The arrays of a file, taken out one by one with their shape checked; what is left over is unknown."""

    def __init__(self, tensors: dict[str, NDArray[Any]]) -> None:
        self._left = dict(tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._left

    def left(self) -> list[str]:
        """Names nobody asked for."""
        return sorted(self._left)

    def take(self, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """The array as stored; None stands for any length."""
        tensor = self._left.pop(name, None)
        if tensor is None:
            raise ModelFileError(f"The model file lacks the array {name!r}.")
        fits = len(shape) == tensor.ndim and all(
            want in (None, have) for want, have in zip(shape, tensor.shape, strict=True)
        )
        if not fits:
            raise ModelFileError(
                f"The array {name!r} of the model file has shape {tensor.shape}, where {shape} is needed."
            )
        return tensor

    def check_length(self, name: str, length: int) -> None:
        """Raise ModelFileError unless there is such an array of so many entries, or rows."""
        tensor = self._left.get(name)
        if tensor is None:
            raise ModelFileError(f"The model file lacks the array {name!r}.")
        if not tensor.ndim or len(tensor) != length:
            raise ModelFileError(
                f"The array {name!r} of the model file has shape {tensor.shape}, where {length} entries are "
                "needed."
            )

    def integers(
        self,
        name: str,
        length: int | None,
        low: int,
        high: int,
        dtype: type[np.signedinteger[Any]] = np.int64,
    ) -> NDArray[Any]:
        """A vector of whole numbers, each from `low` to `high`."""
        tensor = self.take(name, (length,))
        if tensor.dtype.kind == "f" and whole(tensor):  # as older versions wrote whole numbers from 2^32 on
            tensor = tensor.astype(np.int64)
        if tensor.dtype.kind not in "ui":
            raise ModelFileError(f"The array {name!r} of the model file should hold whole numbers.")
        if tensor.size and not low <= int(tensor.min()) <= int(tensor.max()) <= high:
            raise ModelFileError(f"The array {name!r} of the model file leaves its range, {low} to {high}.")
        return tensor.astype(dtype)

    def floats(
        self, name: str, shape: tuple[int | None, ...], *, low: float = -np.inf, finite: bool = True
    ) -> NDArray[np.float64]:
        """Numbers, never NaN, none below `low`, and finite unless said otherwise."""
        wide = self.take(name, shape).astype(np.float64, copy=False)
        if not usable(wide, low=low, finite=finite):
            bound = "" if low == -np.inf else f" from {low:g} up"
            raise ModelFileError(
                f"The array {name!r} of the model file should hold {'finite ' * finite}numbers{bound}."
            )
        return wide

    def cuts(self, name: str, length: int) -> NDArray[np.float64]:
        """Thresholds: any number or +inf."""
        wide = self.take(name, (length,)).astype(np.float64, copy=False)
        if not np.all(wide > -np.inf):
            raise ModelFileError(f"The array {name!r} of the model file holds NaN or -inf as a threshold.")
        return wide

    def bits(self, name: str, length: int) -> NDArray[np.bool_]:
        """Packed flags."""
        packed = self.take(name, (-(-length // 8),))
        if packed.dtype != np.uint8:
            raise ModelFileError(f"The array {name!r} of the model file should hold packed bits.")
        flags = np.unpackbits(packed, bitorder="little").view(np.bool_)
        if flags[length:].any():
            raise ModelFileError(
                f"The array {name!r} of the model file has bits beyond its {length} entries."
            )
        return flags[:length]
