"""`plot_resamples`: the distribution of a statistic over resamples, with its estimate and interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weald.arrays import Floats
from weald.errors import DataTypeError, ParameterError
from weald.model.conditions import number
from weald.pictures.axes import INK, legend_in, new_axes, quiet
from weald.pictures.colours import class_colour, tint
from weald.pictures.nodes import check_whole
from weald.uncertainty.bootstrap.records import BootstrapResult, JackknifeResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: the share of the height up to which bars and lines go; the legend stands above
_BELOW_LEGEND = 0.8
_MOST_BINS = 60


def plot_resamples(
    result: BootstrapResult | JackknifeResult,
    *,
    which: int | None = None,
    bins: int | str = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Draw the histogram of what `weald.bootstrap` or `weald.jackknife` found.

    Of a bootstrap: the statistic in each resample, the estimate, and the interval. Of a jackknife: the
    statistic without each row, the estimate, and the estimate without its bias.

    Parameters
    ----------
    result : BootstrapResult or JackknifeResult
        What those functions return.
    which : int, default=None
        Which entry of a statistic that has several.
    bins : int or str, default="auto"
        Bins of the histogram, as NumPy takes them.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> ax = weald.plot_resamples(weald.bootstrap([1.0, 2.0, 4.0, 7.0], "mean", random_state=0))
    >>> ax.get_xlabel()
    'mean'
    """
    if isinstance(result, BootstrapResult):
        values, words = result.distribution, "resamples"
    elif isinstance(result, JackknifeResult):
        values, words = result.values, "rows left out"
    else:
        raise DataTypeError(
            "plot_resamples takes what weald.bootstrap or weald.jackknife returns; got "
            f"{type(result).__name__}."
        )
    column = _which(values, which)
    at = values if values.ndim == 1 else values[:, column]
    at = at[np.isfinite(at)]
    axes = new_axes(ax, "plot_resamples")
    colour = class_colour(0)
    axes.hist(at, bins=_few(at, bins), color=tint(colour, 0.55), edgecolor="white", linewidth=0.4)
    if isinstance(result, BootstrapResult):
        low, high = _entry(result.low, column), _entry(result.high, column)
        share = f"{100 * result.confidence:g} % interval"
        axes.axvspan(
            low if np.isfinite(low) else at.min(),
            high if np.isfinite(high) else at.max(),
            color=tint(class_colour(1), 0.3),
            zorder=0,
            ymax=_BELOW_LEGEND,
            label=f"{share} ({result.method}): {_said(low)} to {_said(high)}",
        )
    else:
        corrected = _entry(result.corrected, column)
        axes.axvline(
            corrected,
            color=class_colour(1),
            linestyle="--",
            linewidth=1.8,
            ymax=_BELOW_LEGEND,
            zorder=3,  # seen where it is the estimate
            label=f"without bias: {_said(corrected)}",
        )
    estimate = _entry(result.estimate, column)
    label = f"estimate: {_said(estimate)}"
    axes.axvline(estimate, ymax=_BELOW_LEGEND, color=INK, linewidth=1.8, label=label)
    error = _entry(result.standard_error, column)
    name = result.statistic + (f" [{column}]" if values.ndim > 1 else "")
    quiet(axes, xlabel=name, ylabel=words, title=f"{len(at):,} {words}, standard error {_said(error)}")
    axes.margins(x=0.05)  # of lines at the edge too
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top / _BELOW_LEGEND)
    legend_in(axes, loc="upper right")
    return axes


def _few(at: Floats, bins: int | str) -> int | str:
    """What was asked for; of "auto" no more bins than can be seen: it takes hundreds where most are alike."""
    if bins != "auto":
        return bins
    return min(len(np.histogram_bin_edges(at, "auto")) - 1, _MOST_BINS)


def _said(value: float) -> str:
    """A number in words around the picture.

    >>> _said(180796.0611), _said(1475.8446), _said(160000.0), _said(20.8325)
    ('180,796.06', '1,475.845', '160,000', '20.832')
    """
    if 1e9 > abs(value) >= 1000:
        return f"{value:,.{2 if abs(value) >= 1e4 else 3}f}".rstrip("0").rstrip(".")
    return number(value, 3)


def _which(values: Floats, asked: int | None) -> int:
    if values.ndim == 1:
        if asked not in (None, 0):
            raise ParameterError(f"`which` of plot_resamples is {asked!r}, and the statistic is one number.")
        return 0
    check_whole(0 if asked is None else asked, "which")
    column = 0 if asked is None else int(asked)
    if column >= values.shape[1]:
        raise ParameterError(
            f"`which` of plot_resamples must be a number from 0 to {values.shape[1] - 1}; got {asked!r}."
        )
    return column


def _entry(value: object, column: int) -> float:
    found = np.asarray(value, np.float64)
    return float(found if found.ndim == 0 else found[column])
