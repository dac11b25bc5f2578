"""What the bootstrap and the jackknife give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from weald.arrays import Floats
from weald.errors import ParameterError, nearest, told
from weald.numbers import as_float
from weald.uncertainty.bootstrap.ends import (
    ALTERNATIVES,
    METHODS,
    Alternative,
    BootstrapDraws,
    Interval,
    IntervalMethod,
    interval_ends,
    p_values,
)

_SPELT = {"studentized": "studentised", "bootstrap-t": "studentised", "BCa": "bca"}
_WORDS = {"bca": "BCa"}


def checked_method(method: str, owner: str) -> IntervalMethod:
    """The way to make an interval, in any of its spellings."""
    method = _SPELT.get(method, method) if isinstance(method, str) else method
    return cast(IntervalMethod, _one_of(method, "method", METHODS, owner))


def checked_alternative(alternative: str, owner: str) -> Alternative:
    """The side of an interval or a test."""
    return cast(Alternative, _one_of(alternative, "alternative", ALTERNATIVES, owner))


def checked_confidence(confidence: float, owner: str) -> float:
    """A confidence between 0 and 1."""
    number = as_float(confidence)
    if not 0 < number < 1:
        hint = f" Use {number / 100:g} for {number:g} %." if 1 < number < 100 else " Use 0.95 for 95 %."
        raise ParameterError(
            f"`confidence` of {owner} must be a number above 0 and below 1; got {told(confidence)}.{hint}"
        )
    return number


def _one_of(value: object, name: str, words: tuple[str, ...], owner: str) -> str:
    if isinstance(value, str) and value in words:
        return value
    close = nearest(value, words) if isinstance(value, str) else None
    hint = f" Did you mean {close!r}?" if close else ""
    raise ParameterError(
        f"`{name}` of {owner} must be {' or '.join(repr(word) for word in words)}; got {told(value)}.{hint}"
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BootstrapResult:
    """An estimate with its bootstrap distribution; intervals of any confidence and method come from it.

    Attributes
    ----------
    statistic : str
        Its name.
    estimate : float or ndarray
        The statistic of the data.
    standard_error : float or ndarray
        The standard deviation of the distribution.
    bias : float or ndarray
        Its mean minus the estimate.
    distribution : ndarray of shape (n_resamples,) or (n_resamples, width)
        The statistic in each resample.
    confidence, method, alternative
        What `interval` takes unless told otherwise.
    n_rows : tuple of int
        The rows of each sample.
    n_dropped : int
        Resamples that were left out because the statistic had no value there.
    """

    statistic: str
    confidence: float
    method: IntervalMethod
    alternative: Alternative
    n_rows: tuple[int, ...]
    n_dropped: int
    scalar: bool = field(repr=False)
    drawn: BootstrapDraws = field(repr=False)

    @property
    def estimate(self) -> float | Floats:
        """The statistic of the data."""
        return self._told(self.drawn.estimate)

    @property
    def standard_error(self) -> float | Floats:
        """The standard deviation over the resamples."""
        return self._told(self.drawn.standard_error)

    @property
    def bias(self) -> float | Floats:
        """How far the mean over the resamples lies above the estimate."""
        return self._told(self.drawn.distribution.mean(axis=0) - self.drawn.estimate)

    @property
    def distribution(self) -> Floats:
        """The statistic in each resample."""
        values = self.drawn.distribution
        return values[:, 0] if self.scalar else values

    @property
    def n_resamples(self) -> int:
        """How many resamples there are."""
        return len(self.drawn.distribution)

    @property
    def low(self) -> float | Floats:
        """The lower end of the interval."""
        return self.interval().low

    @property
    def high(self) -> float | Floats:
        """The upper end of the interval."""
        return self.interval().high

    def interval(
        self,
        confidence: float | None = None,
        method: str | None = None,
        alternative: str | None = None,
    ) -> Interval:
        """An interval of any confidence and method from the kept distribution.

        Parameters
        ----------
        confidence : float, default=None
            Between 0 and 1; None for that of the call.
        method : {"percentile", "basic", "normal", "bca", "studentised"}, default=None
            None for that of the call. BCa needs the jackknife and studentised intervals the errors within
            resamples; of a function both are there only if the call asked for them.
        alternative : {"two-sided", "less", "greater"}, default=None
            "less" has no lower end, "greater" no upper end.
        """
        owner = "interval"
        at = self.confidence if confidence is None else checked_confidence(confidence, owner)
        by = self.method if method is None else checked_method(method, owner)
        side = self.alternative if alternative is None else checked_alternative(alternative, owner)
        low, high = interval_ends(self.drawn, at, by, side)
        return Interval(self._told(low), self._told(high))

    def p_value(
        self, null: float | Floats = 0.0, alternative: str | None = None, method: str | None = None
    ) -> float | Floats:
        """The p-value of the hypothesis that the statistic of the population is `null`.

        It is 1 minus the confidence at which the interval of the method just reaches `null`, so test and
        interval always agree. From resamples it is never 0: the estimate counts as one draw.

        Parameters
        ----------
        null : float or array, default=0
            The value that is tested.
        alternative : {"two-sided", "less", "greater"}, default=None
            "greater" asks whether the statistic is larger than `null`; None for that of the call.
        method : str, default=None
            As in `interval`.
        """
        owner = "p_value"
        by = self.method if method is None else checked_method(method, owner)
        side = self.alternative if alternative is None else checked_alternative(alternative, owner)
        tested = np.broadcast_to(np.asarray(null, np.float64), self.drawn.estimate.shape)
        if np.isnan(tested).any():
            raise ParameterError(f"`null` of {owner} must be a number; got {told(null)}.")
        return self._told(p_values(self.drawn, tested, by, side))

    def _told(self, values: Floats) -> float | Floats:
        return float(values[0]) if self.scalar else values

    def __repr__(self) -> str:
        rows = " and ".join(f"{n:,}" for n in self.n_rows)
        low, high = self.interval()
        word = _WORDS.get(self.method, self.method)
        return (
            f"{self.statistic} of {rows} rows: {_shown(self.estimate)}, standard error "
            f"{_shown(self.standard_error)}, {100 * self.confidence:g} % {word} interval "
            f"{_shown(low)} to {_shown(high)} ({self.n_resamples:,} resamples)"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class JackknifeResult:
    """An estimate with what it is without each row.

    Attributes
    ----------
    statistic : str
        Its name.
    estimate : float or ndarray
        The statistic of all rows.
    values : ndarray of shape (n,) or (n, width)
        The statistic without each row in turn.
    n_rows : int
        The rows.
    """

    statistic: str
    n_rows: int
    scalar: bool
    full: Floats = field(repr=False)
    left_out: Floats = field(repr=False)

    @property
    def estimate(self) -> float | Floats:
        """The statistic of all rows."""
        return self._told(self.full)

    @property
    def values(self) -> Floats:
        """The statistic without each row in turn."""
        return self.left_out[:, 0] if self.scalar else self.left_out

    @property
    def pseudo_values(self) -> Floats:
        """N times the estimate minus n - 1 times each value: their mean is the corrected estimate."""
        n = len(self.left_out)
        found = n * self.full - (n - 1) * self.left_out
        return found[:, 0] if self.scalar else found

    @property
    def bias(self) -> float | Floats:
        """The estimate's bias: n - 1 times how far the mean of the values lies above it."""
        return self._told((len(self.left_out) - 1) * (self.left_out.mean(axis=0) - self.full))

    @property
    def corrected(self) -> float | Floats:
        """The estimate without its bias."""
        return self._told(self.full - (len(self.left_out) - 1) * (self.left_out.mean(axis=0) - self.full))

    @property
    def variance(self) -> float | Floats:
        """The variance of the estimate."""
        n = len(self.left_out)
        return self._told((n - 1) * self.left_out.var(axis=0))

    @property
    def standard_error(self) -> float | Floats:
        """The square root of the variance."""
        n = len(self.left_out)
        return self._told(np.sqrt((n - 1) * self.left_out.var(axis=0)))

    def _told(self, values: Floats) -> float | Floats:
        return float(values[0]) if self.scalar else values

    def __repr__(self) -> str:
        return (
            f"{self.statistic} of {self.n_rows:,} rows: {_shown(self.estimate)}, bias {_shown(self.bias)}, "
            f"corrected {_shown(self.corrected)}, standard error {_shown(self.standard_error)} (jackknife)"
        )


def _shown(value: float | Floats) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return np.array2string(value, precision=4, separator=", ", threshold=6)
