"""What a forest predicts while columns are set to one value after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.predict import Predictor

#: what becomes of raw scores: themselves, 1 / (1 + exp(-factor f)), exp(f), the softmax of factor f
CurveLink: TypeAlias = Literal["identity", "logistic", "exponential", "softmax"]
_LINKS: tuple[CurveLink, ...] = ("identity", "logistic", "exponential", "softmax")


class FreeColumn(NamedTuple):
    """A column, and the values it is set to: ascending numbers, or the codes of levels (from 1)."""

    column: int
    values: NDArray[np.float64]
    missing: bool  # whether a missing value comes last

    @property
    def n_points(self) -> int:
        """How many values it is set to."""
        return len(self.values) + self.missing


def dependence_curves(
    predictor: Predictor,
    trees: tuple[int, int],
    columns: Sequence[FreeColumn],
    values: NDArray[np.float64],
    raw: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    link: CurveLink = "identity",
    factor: float = 1.0,
    centred: bool = False,
    pair: bool = False,
    rows_apart: bool = True,
    outputs: Sequence[int] = (),
    individual: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted means over rows, and sums of squared deviations from these: (n_points, n_outputs) each.

    Parameters
    ----------
    predictor : Predictor
        The forest.
    trees : tuple of int
        First tree and the one after the last.
    columns : sequence of FreeColumn
        The points of all of them stand one after another; of a pair, those of the second column within the
        first's.
    values : ndarray of shape (n_used, n_rows)
        The columns that the forest reads, ascending; codes of levels, NaN where missing.
    raw : ndarray of shape (n_rows, n_outputs)
        The raw scores of the rows as they are.
    weight : ndarray of shape (n_rows,), optional
        None for 1 each.
    link, factor : str, float
        What becomes of raw scores.
    centred : bool
        Whether each curve starts from 0.
    pair : bool
        Whether two columns are set together.
    rows_apart : bool
        False for the means of raw scores alone, in less time and memory.
    outputs : sequence of int
        Those of `individual`.
    individual : ndarray of shape (len(outputs), n_rows, n_points), optional
        Filled with the curve of each row.
    n_threads : int
        The result does not depend on it.
    """
    options = (_LINKS.index(link), float(factor), centred, pair, rows_apart)
    mean, squares = _core.dependence_curves(
        predictor.native,
        *trees,
        [tuple(column) for column in columns],
        values,
        raw,
        weight,
        options,
        np.asarray(outputs, np.int32),
        individual,
        n_threads,
    )
    shape = (-1, raw.shape[1])
    return mean.reshape(shape), squares.reshape(shape)
