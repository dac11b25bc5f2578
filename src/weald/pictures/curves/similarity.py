"""`plot_similarity`: the Gaussian similarity of two rows by their distance, for several σ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weald.errors import ParameterError
from weald.numbers import as_float
from weald.pictures.axes import PALE, legend_in, new_axes, quiet
from weald.pictures.colours import class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ("-", "--", "-.", ":")
_MOST = 12


def plot_similarity(
    sigmas: Sequence[float] = (0.5, 1.0, 2.0), *, distance: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw exp(−d² / (2σ²)) against the distance d of two rows, a curve per σ.

    Parameters
    ----------
    sigmas : sequence of float, default=(0.5, 1.0, 2.0)
        The σ, above 0; gamma of `SVC` is 1 / (2σ²).
    distance : float, default=None
        The largest distance; None for three times the largest σ.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> len(weald.plot_similarity([1.0, 3.0]).lines)
    2
    """
    numbers = [as_float(sigma) for sigma in sigmas]
    if not 1 <= len(numbers) <= _MOST or not all(0 < number < math.inf for number in numbers):
        raise ParameterError(
            f"`sigmas` of plot_similarity must be 1 to {_MOST} numbers above 0; got {sigmas!r}."
        )
    largest = 3 * max(numbers) if distance is None else as_float(distance)
    if not 0 < largest < math.inf:
        raise ParameterError(f"`distance` of plot_similarity must be a number above 0; got {distance!r}.")
    axes = new_axes(ax, "plot_similarity")
    at = np.linspace(0.0, largest, 400)
    for k, sigma in enumerate(numbers):
        words = f"σ = {sigma:g} (gamma = {1 / (2 * sigma**2):.3g})"
        axes.plot(
            at,
            np.exp(-(at**2) / (2 * sigma**2)),
            color=class_colour(k),
            linestyle=_STYLES[k % len(_STYLES)],
            linewidth=2.0,
            label=words,
        )
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlim(0, largest)
    axes.set_ylim(0, 1.03)
    quiet(axes, xlabel="distance ‖x − z‖", ylabel="similarity exp(−d² / (2σ²))")
    legend_in(axes, loc="upper right")
    return axes
