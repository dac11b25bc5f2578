"""A curve with a band: what `roc_band`, `precision_recall_band` and `calibration_band` give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.uncertainty.scores.score_interval import ScoreResult


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CurveBand:
    """A curve with a band.

    Attributes
    ----------
    kind : {"roc", "precision_recall", "calibration"}
        Which curve.
    x : ndarray of shape (n_points,)
        False positive rates, recalls, or the mean predicted probability of each bin.
    estimate, low, high : ndarray of shape (n_points,)
        True positive rates, precisions or shares of positive rows, and the ends of the band there.
    confidence : float
        At every point, or of the whole curve if `simultaneous`.
    simultaneous : bool
        Whether the band holds the whole curve.
    name, positive : str
        The model, and the label whose curve it is.
    area : ScoreResult or None
        The area under the curve with its interval; None for calibration.
    curve : tuple of ndarray
        The curve itself, x and y, at every threshold.
    n_in_bin : ndarray or None
        The rows of each bin of a calibration curve.
    share : float
        The share of positive rows.
    """

    kind: Literal["roc", "precision_recall", "calibration"]
    x: Floats
    estimate: Floats
    low: Floats
    high: Floats
    confidence: float
    simultaneous: bool
    name: str
    positive: str
    curve: tuple[Floats, Floats] = field(repr=False)
    share: float
    area: ScoreResult | None = None
    n_in_bin: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        words = {"roc": "ROC curve", "precision_recall": "precision–recall curve"}.get(
            self.kind, "calibration curve"
        )
        how = "simultaneous" if self.simultaneous else "pointwise"
        area = "" if self.area is None else f", {self.area!r}"
        return f"{words} of {self.name}: {how} {100 * self.confidence:g} % band at {len(self.x)} points{area}"
