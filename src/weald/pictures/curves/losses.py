"""`plot_losses`: what wrong predictions cost, by the margin of a label and by the residual of a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from weald.arrays import Floats
from weald.errors import ParameterError, listing, nearest
from weald.numbers import as_float
from weald.pictures.axes import PALE, legend_in, new_axes, new_grid, quiet
from weald.pictures.colours import class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: name → (words, the loss of the margin y·f); all but 0–1 pass through 1 at 0, so that they can be compared
_OF_MARGIN: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "zero_one": ("0–1", lambda m: (m <= 0).astype(np.float64)),
    "exponential": ("exponential, $e^{-m}$", lambda m: np.exp(-m)),
    "deviance": ("deviance, $\\log_2(1 + e^{-m})$", lambda m: np.logaddexp(0.0, -m) / np.log(2.0)),
    "hinge": ("hinge, $\\max(0, 1 - m)$", lambda m: np.maximum(0.0, 1.0 - m)),
    "squared": ("squared, $(1 - m)^2$", lambda m: (1.0 - m) ** 2),
}
_OF_RESIDUAL: dict[str, tuple[str, Callable[[Floats, float], Floats]]] = {
    "squared": ("squared, $\\frac{1}{2} r^2$", lambda r, e: 0.5 * r**2),
    "absolute": ("absolute, $|r|$", lambda r, e: np.abs(r)),
    "huber": ("Huber, $\\delta = 1$", lambda r, e: np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5)),
    "epsilon_insensitive": (
        "ε-insensitive, ε = {e:g}",
        lambda r, e: np.maximum(0.0, np.abs(r) - e),
    ),
}
#: lines that are told apart without their colours
_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
#: the top of the axes, with room for the legend above the curves
_HIGHEST = {"labels": 6.0, "numbers": 5.2}


def plot_losses(
    losses: Sequence[str] | str | None = None,
    *,
    kind: str = "both",
    epsilon: float = 0.5,
    ax: Axes | None = None,
) -> tuple[Axes, ...]:
    """Draw loss functions: of labels by the margin m = y·f, of numbers by the residual r = y − f.

    Parameters
    ----------
    losses : str or sequence of str, default=None
        Which: "zero_one", "exponential", "deviance", "hinge", "squared" of labels; "squared", "absolute",
        "huber", "epsilon_insensitive" of numbers. None for all of the kind.
    kind : {"both", "labels", "numbers"}, default="both"
        Of labels, of numbers, or both side by side.
    epsilon : float, default=0.5
        Half of the width of the tube of "epsilon_insensitive", at least 0.
    ax : matplotlib axes, default=None
        Where to draw, for one kind; None for a new figure.

    Returns
    -------
    tuple of matplotlib axes
        One per kind.

    Examples
    --------
    >>> import weald
    >>> len(weald.plot_losses()), weald.plot_losses(["hinge"], kind="labels")[0].get_xlabel()
    (2, 'margin m = y · f')
    """
    if kind not in ("both", "labels", "numbers"):
        raise ParameterError(f"`kind` of plot_losses must be 'both', 'labels' or 'numbers'; got {kind!r}.")
    width = as_float(epsilon)
    if not np.isfinite(width) or width < 0:
        raise ParameterError(f"`epsilon` of plot_losses must be a number of at least 0; got {epsilon!r}.")
    kinds = ("labels", "numbers") if kind == "both" else (kind,)
    if ax is not None and len(kinds) > 1:
        raise ParameterError(
            "plot_losses draws two kinds on axes each; with `ax` say kind='labels' or 'numbers'."
        )
    losses = [losses] if isinstance(losses, str) else losses
    chosen = [_chosen(losses, each, kind) for each in kinds]
    if ax is not None:
        axes = [new_axes(ax, "plot_losses")]
    else:
        axes = new_grid(1, len(kinds), "plot_losses", figsize=(4.6 * len(kinds) + 1.4, 4.2))
    for place, each, names in zip(axes, kinds, chosen, strict=True):
        _draw(place, each, names, width)
    return tuple(axes)


def _chosen(losses: Sequence[str] | None, kind: str, asked: str) -> list[str]:
    known = list(_OF_MARGIN if kind == "labels" else _OF_RESIDUAL)
    if losses is None:
        return known
    every = {*_OF_MARGIN, *_OF_RESIDUAL} if asked == "both" else set(known)
    for name in losses:
        if name not in every:
            close = nearest(str(name), sorted(every))
            hint = f"Did you mean {close!r}?" if close else f"Use some of {listing(sorted(every), 9)}."
            raise ParameterError(f"plot_losses knows no loss {name!r} of these. {hint}")
    return [name for name in known if name in losses]


def _draw(axes: Axes, kind: str, names: list[str], epsilon: float) -> None:
    at = np.linspace(-3.0, 3.0, 601)
    known = list(_OF_MARGIN if kind == "labels" else _OF_RESIDUAL)
    for name in names:
        k = known.index(name)
        if kind == "labels":
            words, function = _OF_MARGIN[name]
            loss = function(at)
        else:
            words, of_residual = _OF_RESIDUAL[name]
            words, loss = words.format(e=epsilon) if "{e" in words else words, of_residual(at, epsilon)
        step = "steps-mid" if name == "zero_one" else "default"
        axes.plot(
            at, loss, color=class_colour(k), linestyle=_STYLES[k], linewidth=1.9, label=words, drawstyle=step
        )
    axes.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    axes.set_xlim(-3, 3)
    axes.set_ylim(-0.08, _HIGHEST[kind])
    quiet(axes, xlabel="margin m = y · f" if kind == "labels" else "residual r = y − f", ylabel="loss")
    legend_in(axes, loc="upper right" if kind == "labels" else "upper center")
