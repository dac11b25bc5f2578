"""Displays of partial dependence, accumulated local effects and interactions, in scikit-learn's habit.

`from_estimator` computes and draws; `plot` draws again. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike, WeightLike
from weald.errors import ParameterError, told
from weald.insight.dependence.columns import Grid, OneOrTwo, Several
from weald.insight.dependence.effects import accumulated_local_effects
from weald.insight.dependence.interaction import friedman_h
from weald.insight.dependence.partial import partial_dependence
from weald.insight.dependence.responses import Model, Target
from weald.inspection.dependence.records import (
    AccumulatedLocalEffects,
    DependenceCurves,
    FriedmanH,
    PartialDependence,
)
from weald.pictures.canvas import figure_of
from weald.pictures.dependence.lines import draw_lines
from weald.pictures.dependence.matrix import draw_matrix
from weald.pictures.dependence.panels import panels
from weald.pictures.dependence.surface import draw_surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: axes to draw on, or several of them
AxesLike: TypeAlias = "Axes | Sequence[Axes] | NDArray[np.object_]"

_BANDS = ("error", "quantiles", "none")


class _CurvesDisplay:
    """Drawings of curves of one column and of surfaces of two, side by side."""

    _word = ""

    def __init__(self, results: Sequence[DependenceCurves]) -> None:
        self.results = list(results)
        self.axes_: list[Axes] = []
        self.figure_: Figure | None = None

    def _plot(
        self, ax: object, *, n_cols: int, band: str, confidence: float, most_lines: int, same_scale: bool
    ) -> Self:
        if band not in _BANDS:
            raise ParameterError(f"`band` must be 'error', 'quantiles' or 'none'; got {told(band)}.")
        drawings: list[tuple[DependenceCurves, int | None]] = []
        for record in self.results:
            two = len(record.columns) == 2
            drawings += [(record, t) for t in range(len(record.targets))] if two else [(record, None)]
        self.axes_ = panels(ax, len(drawings), n_cols, type(self).__name__)
        lines: list[Axes] = []
        for axes, (record, t) in zip(self.axes_, drawings, strict=True):
            label = self._label(record, t)
            if t is None:
                draw_lines(
                    axes,
                    record,
                    band=band,
                    confidence=confidence,
                    most_lines=most_lines,
                    label=label,
                    legend=not lines,
                )
                lines.append(axes)
            else:
                draw_surface(axes, record, t, label=label)
        if same_scale and ax is None and len(lines) > 1:
            ends = np.array([axes.get_ylim() for axes in lines])
            for axes in lines:
                axes.set_ylim(ends[:, 0].min(), ends[:, 1].max())
        self.figure_ = figure_of(self.axes_[0])
        return self

    def _label(self, record: DependenceCurves, t: int | None) -> str:
        words = {
            "predict_proba": "probability",
            "decision_function": "decision function",
            "raw": "raw score",
        }.get(record.response, "prediction")
        told_target = record.targets[t or 0] if t is not None or len(record.targets) == 1 else None
        labelled = record.response in ("predict_proba", "decision_function") or len(record.targets) > 1
        of = f" of {told_target}" if labelled and told_target is not None else ""
        return f"{self._prefix(record)}{words}{of}"

    def _prefix(self, record: DependenceCurves) -> str:
        return ""


class PartialDependenceDisplay(_CurvesDisplay):
    """Partial dependence of one column or two, with the curves of single rows.

    Parameters
    ----------
    results : list of PartialDependence
        What `weald.partial_dependence` gave.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, i % 7] for i in range(50)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a + b for a, b in X])
    >>> display = weald.PartialDependenceDisplay.from_estimator(model, X, [0, 1])
    >>> len(display.axes_)
    2
    """

    def __init__(self, results: Sequence[PartialDependence]) -> None:
        super().__init__(results)

    @classmethod
    def from_estimator(
        cls,
        estimator: Model,
        X: TableLike,
        columns: OneOrTwo | Several | None = None,
        *,
        kind: str = "average",
        grid: Grid = None,
        centred: bool = False,
        sample_weight: WeightLike | None = None,
        response: str = "auto",
        target: Target = None,
        n_jobs: int | None = None,
        progress: bool = False,
        ax: AxesLike | None = None,
        n_cols: int = 3,
        band: str = "error",
        confidence: float = 0.95,
        most_lines: int = 200,
        same_scale: bool = True,
    ) -> Self:
        """Compute partial dependence and draw it.

        Parameters up to `progress` are those of `weald.partial_dependence`, the others those of `plot`.
        """
        found: Any = partial_dependence(
            estimator,
            X,
            cast("Any", columns),  # one or several
            kind=kind,
            grid=grid,
            centred=centred,
            sample_weight=sample_weight,
            response=response,
            target=target,
            n_jobs=n_jobs,
            progress=progress,
        )
        display = cls(found if isinstance(found, list) else [found])
        return display.plot(
            ax,
            n_cols=n_cols,
            band=band,
            confidence=confidence,
            most_lines=most_lines,
            same_scale=same_scale,
        )

    def plot(
        self,
        ax: AxesLike | None = None,
        *,
        n_cols: int = 3,
        band: str = "error",
        confidence: float = 0.95,
        most_lines: int = 200,
        same_scale: bool = True,
    ) -> Self:
        """Draw one panel per column or pair of columns.

        Short lines on an axis are the deciles of the rows.

        Parameters
        ----------
        ax : matplotlib axes, or a list of them; default=None
            Where to draw; one is divided if there are several panels. None for a new figure.
        n_cols : int, default=3
            Panels side by side.
        band : {"error", "quantiles", "none"}, default="error"
            What is shaded: the interval for the mean over rows, or where 80 % of the curves of rows are.
        confidence : float, default=0.95
            Of the interval.
        most_lines : int, default=200
            The most curves of rows; of more, some are drawn, at equal distances in the order of their means.
        same_scale : bool, default=True
            Whether all panels of a new figure have the same vertical axis.
        """
        for record in self.results:
            if (
                isinstance(record, PartialDependence)
                and record.individual is not None
                and len(record.targets) > 1
            ):
                raise ParameterError(
                    f"Curves of rows are drawn for one target, and there are {len(record.targets)}. Choose "
                    f"one with target={record.targets[0]!r}, say."
                )
        return self._plot(
            ax,
            n_cols=n_cols,
            band=band,
            confidence=confidence,
            most_lines=most_lines,
            same_scale=same_scale,
        )

    def _prefix(self, record: DependenceCurves) -> str:
        return "change of " if isinstance(record, PartialDependence) and record.centred else ""


class AccumulatedLocalEffectsDisplay(_CurvesDisplay):
    """Accumulated local effects of one column, and what two columns do beyond each by itself.

    Parameters
    ----------
    results : list of AccumulatedLocalEffects
        What `weald.accumulated_local_effects` gave.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, i % 7] for i in range(50)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a + b for a, b in X])
    >>> display = weald.AccumulatedLocalEffectsDisplay.from_estimator(model, X, [0, 1])
    >>> len(display.axes_)
    2
    """

    def __init__(self, results: Sequence[AccumulatedLocalEffects]) -> None:
        super().__init__(results)

    @classmethod
    def from_estimator(
        cls,
        estimator: Model,
        X: TableLike,
        columns: OneOrTwo | Several | None = None,
        *,
        bins: int | None = None,
        sample_weight: WeightLike | None = None,
        response: str = "auto",
        target: Target = None,
        n_jobs: int | None = None,
        progress: bool = False,
        ax: AxesLike | None = None,
        n_cols: int = 3,
        band: str = "error",
        confidence: float = 0.95,
        same_scale: bool = True,
    ) -> Self:
        """Compute accumulated local effects and draw them.

        Parameters up to `progress` are those of `weald.accumulated_local_effects`, the others those of
        `plot`.
        """
        found: Any = accumulated_local_effects(
            estimator,
            X,
            cast("Any", columns),  # one or several
            bins=bins,
            sample_weight=sample_weight,
            response=response,
            target=target,
            n_jobs=n_jobs,
            progress=progress,
        )
        display = cls(found if isinstance(found, list) else [found])
        return display.plot(ax, n_cols=n_cols, band=band, confidence=confidence, same_scale=same_scale)

    def plot(
        self,
        ax: AxesLike | None = None,
        *,
        n_cols: int = 3,
        band: str = "error",
        confidence: float = 0.95,
        same_scale: bool = True,
    ) -> Self:
        """Draw one panel per column or pair of columns.

        Parameters
        ----------
        ax, n_cols, confidence, same_scale
            As in `PartialDependenceDisplay.plot`.
        band : {"error", "none"}, default="error"
            Whether the interval for the effect is shaded.
        """
        if band == "quantiles":
            raise ParameterError(
                "Effects have no curves of rows, and so no quantiles. Use band='error' or 'none'."
            )
        return self._plot(
            ax, n_cols=n_cols, band=band, confidence=confidence, most_lines=0, same_scale=same_scale
        )

    def _prefix(self, record: DependenceCurves) -> str:
        return "joint effect on " if len(record.columns) == 2 else "effect on "


class FriedmanHDisplay:
    """Interactions between columns as a matrix.

    Parameters
    ----------
    result : FriedmanH
        What `weald.friedman_h` gave.

    Examples
    --------
    >>> import weald
    >>> X = [[a, b, c] for a in range(4) for b in range(4) for c in range(4)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a * b + c for a, b, c in X])
    >>> display = weald.FriedmanHDisplay.from_estimator(model, X)
    >>> display.result.matrix()[1].shape
    (3, 3)
    """

    def __init__(self, result: FriedmanH) -> None:
        self.result = result
        self.ax_: Axes | None = None
        self.figure_: Figure | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Model,
        X: TableLike,
        pairs: Sequence[tuple[Hashable, Hashable]] | None = None,
        columns: Sequence[Hashable] | None = None,
        *,
        sample_weight: WeightLike | None = None,
        response: str = "auto",
        target: Target = None,
        n_jobs: int | None = None,
        progress: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Compute Friedman's H² and draw it; parameters but `ax` are those of `weald.friedman_h`."""
        found = friedman_h(
            estimator,
            X,
            pairs,
            columns,
            sample_weight=sample_weight,
            response=response,
            target=target,
            n_jobs=n_jobs,
            progress=progress,
        )
        return cls(found).plot(ax)

    def plot(self, ax: Axes | None = None, *, target: int = 0) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        target : int, default=0
            The position in `result.targets`.
        """
        if not self.result.pairs and not self.result.columns:
            raise ParameterError("There is no interaction to draw: neither pairs nor columns were asked for.")
        axes = panels(ax, 1, 1, type(self).__name__)[0]
        draw_matrix(axes, self.result, target)
        self.ax_, self.figure_ = axes, figure_of(axes)
        return self
