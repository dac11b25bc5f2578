"""The class shares of the data and of the rows that members learned from; probabilities between these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.errors import ParameterError
from weald.resampling.priors import correct_priors


@dataclass(frozen=True, slots=True)
class PriorShift:
    """How many rows each class has in the data, and in what members learned from; any multiples of these."""

    data: tuple[float, ...]
    learned: tuple[float, ...]

    @classmethod
    def of(
        cls, data: Sequence[float] | NDArray[np.number], learned: Sequence[float] | NDArray[np.number]
    ) -> PriorShift:
        """The shift between these numbers of rows."""
        return cls(tuple(float(n) for n in data), tuple(float(n) for n in learned))

    @property
    def changes(self) -> bool:
        """Whether the shares of the classes differ at all."""
        data, learned = np.array(self.data), np.array(self.learned)
        return not np.allclose(data / data.sum(), learned / learned.sum(), rtol=1e-12, atol=0.0)

    def undone(self, proba: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities under the class shares of the data; equation R10."""
        return correct_priors(proba, self.data, self.learned)

    def facts(self) -> dict[str, int | float | str]:
        """The same for a model file."""
        return {"class_rows": _text(self.data), "class_rows_learned": _text(self.learned)}

    @classmethod
    def from_facts(cls, facts: dict[str, int | float | str], n_classes: int) -> PriorShift:
        """What `facts` wrote; raises ParameterError for anything else."""
        return cls(*(_numbers(facts.get(name), n_classes) for name in ("class_rows", "class_rows_learned")))


def _text(numbers: tuple[float, ...]) -> str:
    return " ".join(map(repr, numbers))


def _numbers(text: object, n_classes: int) -> tuple[float, ...]:
    try:
        found = tuple(float(word) for word in text.split()) if isinstance(text, str) else ()
    except ValueError:
        found = ()
    usable = len(found) == n_classes and all(0 <= number < np.inf for number in found) and sum(found) > 0
    if not usable or not np.isfinite(sum(found)):
        raise ParameterError("The class shares of a balanced ensemble are not one number per class.")
    return found


#: the names of what `PriorShift.facts` gives
FACTS = ("class_rows", "class_rows_learned")
