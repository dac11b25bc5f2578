"""Intervals and p-values from a bootstrap distribution: equations R4 to R10 of docs/methods/uncertainty.md.

Distributions are (n_resamples, width), all else (width,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from weald.arrays import Floats
from weald.errors import DataError, ParameterError

IntervalMethod: TypeAlias = Literal["percentile", "basic", "normal", "bca", "studentised"]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
METHODS = ("percentile", "basic", "normal", "bca", "studentised")
ALTERNATIVES = ("two-sided", "less", "greater")

#: values this close to the estimate, in standard errors, equal it but for rounding
_ROUNDING = 1e-9


class Interval(NamedTuple):
    """The ends of an interval: numbers, or an array each where the statistic has several values."""

    low: float | Floats
    high: float | Floats


@dataclass(frozen=True, slots=True)
class BootstrapDraws:
    """What was drawn of a statistic, and what intervals need beside it."""

    estimate: Floats
    distribution: Floats
    standard_error: Floats
    acceleration: Floats | None = None  # None: BCa was not prepared
    t_values: Floats | None = None  # None: studentised intervals were not prepared
    error_of_estimate: Floats | None = None


def interval_ends(
    drawn: BootstrapDraws, confidence: float, method: IntervalMethod, alternative: Alternative
) -> tuple[Floats, Floats]:
    """The ends of an interval; infinite on the open side of a one-sided one."""
    alpha = 1 - confidence
    alpha = alpha / 2 if alternative == "two-sided" else alpha
    low, high = _BY_METHOD[method](drawn, alpha)
    if alternative == "less":
        low = np.full_like(low, -np.inf)
    elif alternative == "greater":
        high = np.full_like(high, np.inf)
    return low, high


def p_values(drawn: BootstrapDraws, null: Floats, method: IntervalMethod, alternative: Alternative) -> Floats:
    """What is left to the confidence at which the interval just reaches `null` (equation R10)."""
    below = np.array([_share_at(drawn, float(null[k]), method, k) for k in range(len(drawn.estimate))])
    if alternative == "greater":
        return below
    if alternative == "less":
        return 1 - below
    both: Floats = np.minimum(1.0, 2 * np.minimum(below, 1 - below))
    return both


# --------------------------------------------------------------------------- intervals


def _percentile(drawn: BootstrapDraws, alpha: float) -> tuple[Floats, Floats]:
    low, high = np.quantile(drawn.distribution, [alpha, 1 - alpha], axis=0)
    return low, high


def _basic(drawn: BootstrapDraws, alpha: float) -> tuple[Floats, Floats]:
    low, high = _percentile(drawn, alpha)
    return 2 * drawn.estimate - high, 2 * drawn.estimate - low


def _normal(drawn: BootstrapDraws, alpha: float) -> tuple[Floats, Floats]:
    away = -ndtri(alpha) * drawn.standard_error
    return drawn.estimate - away, drawn.estimate + away


def _studentised(drawn: BootstrapDraws, alpha: float) -> tuple[Floats, Floats]:
    t, error = _t_values(drawn)
    low, high = np.nanquantile(t, [alpha, 1 - alpha], axis=0)
    return drawn.estimate - high * error, drawn.estimate - low * error


def _bca(drawn: BootstrapDraws, alpha: float) -> tuple[Floats, Floats]:
    shift, acceleration = bias_correction(drawn), _acceleration(drawn)
    ends = []
    for z in (ndtri(alpha), -ndtri(alpha)):
        share = ndtr(shift + (shift + z) / (1 - acceleration * (shift + z)))
        columns = range(len(shift))
        ends.append(np.array([np.quantile(drawn.distribution[:, k], share[k]) for k in columns]))
    return ends[0], ends[1]


_BY_METHOD = {
    "percentile": _percentile,
    "basic": _basic,
    "normal": _normal,
    "bca": _bca,
    "studentised": _studentised,
}


def shares_below(drawn: BootstrapDraws) -> Floats:
    """The share of each distribution below the estimate, ties counted half."""
    tie = _ROUNDING * drawn.standard_error + 4 * np.finfo(np.float64).eps * np.abs(drawn.estimate)
    away = drawn.distribution - drawn.estimate
    below: Floats = np.mean(away < -tie, axis=0) + 0.5 * np.mean(np.abs(away) <= tie, axis=0)
    return below


def bias_correction(drawn: BootstrapDraws) -> Floats:
    """z0 of BCa (equation R7)."""
    share = shares_below(drawn)
    outside = (share == 0) | (share == 1)
    if outside.any():
        where = "above" if share[np.argmax(outside)] == 0 else "below"
        raise DataError(
            f"There is no BCa interval: every resampled value lies {where} the estimate, so its bias cannot "
            "be told. Use method='percentile' or 'basic', or more resamples."
        )
    shift: Floats = ndtri(share)
    return shift


def acceleration_of(parts: list[Floats]) -> Floats:
    """The acceleration of BCa (equation R8) from leave-out values, (n, width) of each sample."""
    cubes = squares = np.zeros(parts[0].shape[1])
    for values in parts:
        scaled = (len(values) - 1) / len(values) * (values.mean(axis=0) - values)
        cubes = cubes + (scaled**3).sum(axis=0)
        squares = squares + (scaled**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)
    return found


def _acceleration(drawn: BootstrapDraws) -> Floats:
    if drawn.acceleration is None:
        raise ParameterError(
            "A BCa interval needs the jackknife, which was not computed for this method. Make the call with "
            "method='bca'."
        )
    return drawn.acceleration


def _t_values(drawn: BootstrapDraws) -> tuple[Floats, Floats]:
    if drawn.t_values is None or drawn.error_of_estimate is None:
        raise ParameterError(
            "A studentised interval needs the standard error within every resample, which was not computed. "
            "Call bootstrap with method='studentised'."
        )
    return drawn.t_values, drawn.error_of_estimate


# --------------------------------------------------------------------------- p-values


def _share_at(drawn: BootstrapDraws, null: float, method: IntervalMethod, k: int) -> float:
    """The confidence left below: the α at which the lower end of the interval is `null`."""
    estimate, error = float(drawn.estimate[k]), float(drawn.standard_error[k])
    values = drawn.distribution[:, k]
    if method == "normal":
        if error == 0:
            return 0.5 if null == estimate else float(null > estimate)
        return float(ndtr((null - estimate) / error))
    if method == "basic":
        return 1 - _share(values, 2 * estimate - null, error)
    if method == "studentised":
        t, errors = _t_values(drawn)
        known = t[~np.isnan(t[:, k]), k]
        return 1 - _share(known, (estimate - null) / float(errors[k]), 1.0)
    share = _share(values, null, error)
    if method == "percentile":
        return share
    shift, acceleration = float(bias_correction(drawn)[k]), float(_acceleration(drawn)[k])
    moved = ndtri(share) - shift
    return float(ndtr(moved / (1 + acceleration * moved) - shift))


def _share(values: Floats, at: float, scale: float) -> float:
    """The share of values below a point, ties half, never 0 or 1: the estimate itself counts as a draw."""
    tie = _ROUNDING * scale
    below = np.count_nonzero(values < at - tie) + 0.5 * np.count_nonzero(np.abs(values - at) <= tie)
    return float((below + 0.5) / (len(values) + 1))
