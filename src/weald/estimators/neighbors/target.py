"""What the fitted rows of neighbours hold: labels or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class NeighborsTarget:
    """Labels by output, with their classes, or numbers, (n_rows, n_outputs)."""

    classes: tuple[NDArray[Any], ...] | None = None
    labels: tuple[NDArray[np.int32], ...] = ()
    numbers: Floats | None = None

    @property
    def n_outputs(self) -> int:
        """How many outputs."""
        return len(self.labels) if self.numbers is None else self.numbers.shape[1]
