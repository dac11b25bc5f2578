"""What a node predicts, in words: shares of named classes or numbers, for one output or several.

A value vector holds the class shares of output 0, then those of output 1, and so on; for numbers one entry
per output. Everything that shows a tree reads it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsInt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald.model.conditions import label, number

_MOST_SHARES = 5


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a tree: the names of the classes of each, or None where leaves hold numbers."""

    classes: tuple[tuple[str, ...], ...] | None
    n_outputs: int

    @classmethod
    def of(
        cls,
        labels: ArrayLike | Sequence[NDArray[Any]] | None,
        width: int,
        *,
        shares: bool = True,
        first: int = 0,
    ) -> Outputs:
        """The outputs of leaf values of this width.

        Parameters
        ----------
        labels : array of labels, list of such arrays, or None
            `classes_` of an estimator; None for a bare forest.
        width : int
            How many entries a leaf value has.
        shares : bool, default=True
            Whether the entries are class shares.
        first : int, default=0
            The class of the first entry, for trees that speak of some classes only.
        """
        if not shares or (width == 1 and labels is None):
            return cls(None, width)
        if labels is None:
            return cls((tuple(f"class {first + k}" for k in range(width)),), 1)
        if isinstance(labels, list | tuple):
            return cls(tuple(class_words(each) for each in labels), len(labels))
        return cls((class_words(labels)[first : first + width],), 1)

    @property
    def width(self) -> int:
        """How many entries a value vector has."""
        return self.n_outputs if self.classes is None else sum(len(names) for names in self.classes)

    def parts(self, value: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """A value vector cut into its outputs."""
        if self.classes is None:
            return [value[k : k + 1] for k in range(len(value))]
        edges = np.cumsum([len(names) for names in self.classes])[:-1]
        return [np.asarray(part) for part in np.split(value, edges)]

    def best(self, value: NDArray[np.float64]) -> list[int]:
        """The class with the largest share in each output; of equal shares the first."""
        return [int(np.argmax(part)) for part in self.parts(value)]

    def named(self, value: NDArray[np.float64]) -> str:
        """The classes predicted, by name; those of several outputs in brackets."""
        assert self.classes is not None
        names = [names[k] for names, k in zip(self.classes, self.best(value), strict=True)]
        return names[0] if len(names) == 1 else f"[{', '.join(names)}]"

    def words(self, value: NDArray[np.float64], decimals: int) -> str:
        """A value vector for reading: the largest shares first, a pure node by its class alone."""
        if self.classes is None:
            shown = [number(float(v), decimals) for v in value]
            return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
        parts = zip(self.classes, self.parts(value), strict=True)
        return "; ".join(share_words(part, names, decimals) for names, part in parts)


def share_words(
    shares: NDArray[np.float64], names: Sequence[str], decimals: int, most: int = _MOST_SHARES
) -> str:
    """The classes that occur, the largest share first.

    >>> share_words(np.array([0.25, 0.75]), ["no", "yes"], 3)
    'yes: 0.750, no: 0.250'
    >>> share_words(np.array([0.0, 1.0]), ["no", "yes"], 3)
    'yes'
    """
    order = [int(k) for k in np.argsort(-shares, kind="stable") if shares[k] > 0] or [0]
    if len(order) == 1:
        return names[order[0]]
    places = min(max(decimals, 1), 3)
    shown = ", ".join(f"{names[k]}: {float(shares[k]):.{places}f}" for k in order[:most])
    hidden = len(order) - most
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def class_words(labels: ArrayLike) -> tuple[str, ...]:
    """Class labels for reading."""
    return tuple(label(each) for each in plain_labels(labels))


def plain_labels(labels: ArrayLike) -> list[Any]:
    """Class labels as Python values; dates of any resolution as such."""
    array = np.asarray(labels)
    if array.dtype.kind in "Mm":
        array = array.astype(f"{array.dtype.kind}8[us]")
    plain: list[Any] = array.tolist()
    return plain


def rows(count: SupportsInt) -> str:
    """So many rows.

    >>> rows(1), rows(1200)
    ('1 row', '1,200 rows')
    """
    return f"{int(count):,} row{'' if count == 1 else 's'}"
