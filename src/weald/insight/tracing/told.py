"""What the trace of a model and that of an ensemble of models have alike: how far they agree, and one row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from numbers import Integral
from typing import ClassVar

import numpy as np

from weald.errors import ParameterError
from weald.inspection.trace.records import Agreement, Disagreement
from weald.pictures.trace.lines import number


class Told(ABC):
    """A fit told again, compared with the model."""

    @property
    @abstractmethod
    def _agreement(self) -> Agreement:
        """All comparisons together."""

    @abstractmethod
    def _title(self) -> str:
        """What was traced, in a line."""

    @property
    def agrees(self) -> bool:
        """Whether everything recomputed is what the model has."""
        return not self._agreement.disagreements

    @property
    def disagreements(self) -> list[Disagreement]:
        """Every difference."""
        return list(self._agreement.disagreements)

    @property
    def largest_difference(self) -> float:
        """The largest relative difference."""
        return float(self._agreement.largest)

    @property
    def where(self) -> str:
        """Where the largest difference is; "" if there is none."""
        return self._agreement.where

    @property
    def n_compared(self) -> int:
        """How many numbers and splits were compared."""
        return self._agreement.n_compared

    def __repr__(self) -> str:
        """One line."""
        n = len(self.disagreements)
        return f"<Trace of {self._title()}: {f'{n:,} disagreements' if n else 'agrees'}>"


class ToldRow(ABC):
    """One row's way, as text."""

    __slots__ = ()
    _most: ClassVar[int]  # how much of the way `str` shows

    @abstractmethod
    def _text(self, most: int | None) -> str:
        """The way; None for all of it."""

    def __str__(self) -> str:
        """The first part of the way as text."""
        return self._text(self._most)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return f"<pre>{escape(str(self))}</pre>"


def checked_row(i: object, n_rows: int) -> int:
    """The number of a row of the table that was traced."""
    if isinstance(i, bool) or not isinstance(i, Integral | np.integer) or not 0 <= int(i) < n_rows:
        raise ParameterError(f"`i` must be the number of a row, from 0 to {n_rows - 1}; got {i!r}.")
    return int(i)


def told_score(score: tuple[float, ...], names: tuple[str, ...]) -> str:
    """A score in words, with the name of each entry where there are several."""
    if len(score) == 1 or len(score) != len(names):
        return number(score)
    return ", ".join(f"{name}: {number(each)}" for name, each in zip(names, score, strict=True))
