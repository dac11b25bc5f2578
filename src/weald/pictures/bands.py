"""Displays of ROC, precision–recall and calibration curves with bands, in scikit-learn's habit.

`from_estimator` and `from_predictions` compute and draw; `plot` draws again. matplotlib is imported when
something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from weald.arrays import Estimator, RandomState, TableLike, TargetLike, WeightLike
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour, tint
from weald.uncertainty.scores.bands import precision_recall_band, roc_band
from weald.uncertainty.scores.calibration import calibration_band
from weald.uncertainty.scores.curve_band import CurveBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY, _PALE, _SMALL = "#6b6b6b", "#c9c9c9", 9.0


class _BandDisplay:
    """A curve and its band on matplotlib's axes."""

    _labels: ClassVar[tuple[str, str]]
    _corner: ClassVar[Literal["lower left", "lower right", "upper left"]]

    def __init__(self, band: CurveBand) -> None:
        self.band = band
        self.ax_: Axes | None = None
        self.figure_: Figure | None = None

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the curve and its band.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw, as another curve of the same kind if there is one; None for a new figure.
        name : str, default=None
            What the legend calls the model; None for its class.
        """
        axes = _axes(ax, type(self).__name__)
        number = len([line for line in axes.lines if line.get_gid() == "curve"])
        colour = class_colour(number)
        if number == 0:
            self._ground(axes)
        self._curve(axes, colour, self._told(name or self.band.name))
        axes.set_xlabel(self._labels[0])
        axes.set_ylabel(self._labels[1])
        self._quiet(axes)
        self.ax_, self.figure_ = axes, figure_of(axes)
        return self

    def _told(self, name: str) -> str:
        area = self.band.area
        if area is None:
            return name
        word = "AUC" if self.band.kind == "roc" else "AP"
        return f"{name}\n{word} {area.score:.3f} ({area.low:.3f} to {area.high:.3f})"

    def _ground(self, axes: Axes) -> None:
        """What a model without knowledge would give."""
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle=":", linewidth=1.0, zorder=1)

    def _curve(self, axes: Axes, colour: str, label: str) -> None:
        band = self.band
        fill = tint(colour, 0.32)
        axes.fill_between(band.x, band.low, band.high, color=fill, linewidth=0, alpha=0.6, zorder=2)
        x, y = band.curve
        style = "steps-post" if band.kind == "precision_recall" else "default"
        axes.plot(x, y, color=colour, linewidth=1.8, drawstyle=style, gid="curve", label=label, zorder=3)

    def _quiet(self, axes: Axes) -> None:
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("bottom", "left"):
            axes.spines[side].set_color(_PALE)
        axes.tick_params(color=_PALE, labelcolor=_GREY)
        how = "simultaneous" if self.band.simultaneous else "pointwise"
        what = "intervals" if self.band.kind == "calibration" else f"band, {how}"
        words = f"{100 * self.band.confidence:g} % {what}; positive: {self.band.positive}"
        axes.set_title(words, loc="left", fontsize=_SMALL, color=_GREY)
        axes.legend(loc=self._corner, fontsize=_SMALL, framealpha=0.85, edgecolor=_PALE)


class _ResampledDisplay(_BandDisplay):
    """A band that rows drawn anew give."""

    _kind: ClassVar[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        confidence: float = 0.95,
        simultaneous: bool = False,
        n_points: int = 101,
        n_resamples: int = 2000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the band of a fitted classifier on rows it did not see, and draw it.

        Parameters but `name` and `ax` (see `plot`) are those of the function that gives the numbers.
        """
        make = roc_band if cls._kind == "roc" else precision_recall_band
        band = make(
            estimator,
            X,
            y,
            sample_weight=sample_weight,
            confidence=confidence,
            simultaneous=simultaneous,
            n_points=n_points,
            n_resamples=n_resamples,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return cls(band).plot(ax, name=name)

    @classmethod
    def from_predictions(
        cls,
        y_true: TargetLike,
        y_score: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        confidence: float = 0.95,
        simultaneous: bool = False,
        n_points: int = 101,
        n_resamples: int = 2000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the band of scores that are there, and draw it.

        Parameters but `name` and `ax` (see `plot`) are those of the function that gives the numbers.
        """
        make = roc_band if cls._kind == "roc" else precision_recall_band
        band = make(
            y_score,
            None,
            y_true,
            sample_weight=sample_weight,
            confidence=confidence,
            simultaneous=simultaneous,
            n_points=n_points,
            n_resamples=n_resamples,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return cls(band).plot(ax, name=name)


class RocBandDisplay(_ResampledDisplay):
    """The ROC curve with its band.

    Parameters
    ----------
    band : CurveBand
        What `weald.roc_band` gave.

    Examples
    --------
    >>> import weald
    >>> scores, labels = [0.1, 0.4, 0.35, 0.8, 0.6, 0.2] * 5, [0, 0, 1, 1, 1, 0] * 5
    >>> display = weald.RocBandDisplay.from_predictions(labels, scores, random_state=0)
    >>> display.ax_.get_ylabel()
    'true positive rate'
    """

    _kind = "roc"
    _labels = ("false positive rate", "true positive rate")
    _corner = "lower right"


class PrecisionRecallBandDisplay(_ResampledDisplay):
    """The precision–recall curve with its band.

    Parameters
    ----------
    band : CurveBand
        What `weald.precision_recall_band` gave.

    Examples
    --------
    >>> import weald
    >>> scores, labels = [0.1, 0.4, 0.35, 0.8, 0.6, 0.2] * 5, [0, 0, 1, 1, 1, 0] * 5
    >>> display = weald.PrecisionRecallBandDisplay.from_predictions(labels, scores, random_state=0)
    >>> display.ax_.get_ylabel()
    'precision'
    """

    _kind = "precision_recall"
    _labels = ("recall", "precision")
    _corner = "lower left"

    def _ground(self, axes: Axes) -> None:
        axes.axhline(self.band.share, color=_GREY, linestyle=":", linewidth=1.0, zorder=1)


class CalibrationBandDisplay(_BandDisplay):
    """Shares of positive rows against predicted probabilities, with an interval for each bin.

    Parameters
    ----------
    band : CurveBand
        What `weald.calibration_band` gave.

    Examples
    --------
    >>> import weald
    >>> scores, labels = [0.1, 0.4, 0.35, 0.8, 0.6, 0.2] * 5, [0, 0, 1, 1, 1, 0] * 5
    >>> display = weald.CalibrationBandDisplay.from_predictions(labels, scores)
    >>> display.ax_.get_xlabel()
    'mean predicted probability'
    """

    _labels = ("mean predicted probability", "share of positive rows")
    _corner = "upper left"

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        confidence: float = 0.95,
        n_bins: int = 10,
        strategy: str = "quantile",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the band of a fitted classifier on rows it did not see, and draw it.

        Parameters but `name` and `ax` (see `plot`) are those of `weald.calibration_band`.
        """
        band = calibration_band(
            estimator,
            X,
            y,
            sample_weight=sample_weight,
            confidence=confidence,
            n_bins=n_bins,
            strategy=strategy,
        )
        return cls(band).plot(ax, name=name)

    @classmethod
    def from_predictions(
        cls,
        y_true: TargetLike,
        y_prob: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        confidence: float = 0.95,
        n_bins: int = 10,
        strategy: str = "quantile",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the band of probabilities that are there, and draw it.

        Parameters but `name` and `ax` (see `plot`) are those of `weald.calibration_band`.
        """
        band = calibration_band(
            y_prob,
            None,
            y_true,
            sample_weight=sample_weight,
            confidence=confidence,
            n_bins=n_bins,
            strategy=strategy,
        )
        return cls(band).plot(ax, name=name)

    def _curve(self, axes: Axes, colour: str, label: str) -> None:
        band = self.band
        below, above = np.maximum(band.estimate - band.low, 0), np.maximum(band.high - band.estimate, 0)
        axes.errorbar(
            band.x,
            band.estimate,
            yerr=np.stack([below, above]),
            fmt="none",
            ecolor=tint(colour, 0.7),
            elinewidth=1.3,
            capsize=2.5,
            zorder=2,
        )
        style: dict[str, Any] = {"markersize": 4.5, "linewidth": 1.4, "gid": "curve", "zorder": 3}
        axes.plot(band.x, band.estimate, "o-", color=colour, label=label, **style)


def _axes(ax: Axes | None, owner: str) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{owner} needs matplotlib: pip install 'weald[plot]'.") from None
    return plt.figure(layout="constrained").gca() if ax is None else ax
