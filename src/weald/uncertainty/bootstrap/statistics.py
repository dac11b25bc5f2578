"""The statistics that the core knows by name: their values, and those with one value left out in O(n)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weald.arrays import Floats
from weald.engine import NativeStatistic
from weald.errors import DataError, ParameterError, nearest, told

#: a share of a sum of squares that rounding may leave of values which are equal but for one left out
_NO_SPREAD = 1e-12

NAMES = ("mean", "median", "quantile", "variance", "std", "trimmed_mean", "correlation")


@dataclass(frozen=True, slots=True)
class Named:
    """A statistic by name; `q`, `trim` and `ddof` count where it has them."""

    name: str
    q: tuple[float, ...] = (0.5,)
    trim: float = 0.1
    ddof: float = 1.0

    @property
    def of_pairs(self) -> bool:
        """Whether it is of two columns of the same rows."""
        return self.name == "correlation"

    @property
    def least(self) -> int:
        """How many values it takes to be a number."""
        if self.name in ("variance", "std"):
            return max(1, int(np.floor(self.ddof)) + 1)
        return 2 if self.of_pairs else 1

    def check(self, sample: tuple[Floats, ...], owner: str) -> None:
        """Refuse a sample that it has no value for."""
        n = len(sample[0])
        if n < self.least:
            raise DataError(
                f"The {self.name} of {owner} needs at least {self.least} values; got {n}. Give more values."
            )
        if self.of_pairs and any(np.ptp(values) == 0 for values in sample):
            raise DataError(
                "A correlation needs two columns that vary; one has the same value in every row. "
                "Use another statistic."
            )

    def prepared(self, sample: tuple[Floats, ...]) -> tuple[NativeStatistic, float]:
        """What the core is given, and what is added to its answers: values far from 0 keep their digits."""
        x = sample[0]
        if self.name in ("median", "quantile", "trimmed_mean"):
            order = np.argsort(x, kind="stable").astype(np.int32)
            ascending = np.ascontiguousarray(x[order])
            if self.name == "trimmed_mean":
                centre = float(x.mean())
                cut = int(self.trim * len(x))
                return NativeStatistic("trimmed_mean", ascending - centre, order=order, cut=cut), centre
            return NativeStatistic("quantiles", ascending, order=order, q=np.asarray(self.q)), 0.0
        centre = float(x.mean())
        away = x - centre
        if self.name == "mean":
            return NativeStatistic("mean", away), centre
        if self.name == "correlation":
            return NativeStatistic("correlation", away, sample[1] - sample[1].mean()), 0.0
        if self.name == "variance":
            return NativeStatistic("variance", away, ddof=self.ddof), 0.0
        return NativeStatistic("deviation", away, ddof=self.ddof), 0.0

    def value(self, sample: tuple[Floats, ...]) -> Floats:
        """The statistic of a sample: (width,)."""
        x = sample[0]
        if self.name == "mean":
            return np.array([x.mean()])
        if self.name in ("variance", "std"):
            variance = ((x - x.mean()) ** 2).sum() / (len(x) - self.ddof)
            return np.array([variance if self.name == "variance" else np.sqrt(variance)])
        if self.name == "correlation":
            return np.array([_correlation(*(values - values.mean() for values in sample))])
        if self.name == "trimmed_mean":
            cut = int(self.trim * len(x))
            return np.array([np.sort(x)[cut : len(x) - cut].mean()])
        return _quantiles(np.sort(x), np.asarray(self.q))

    def left_out(self, sample: tuple[Floats, ...]) -> Floats:
        """The statistic without each value in turn: (n, width) (equation R11)."""
        x, n = sample[0], len(sample[0])
        away = x - x.mean()
        found = np.empty((n, len(self.q) if self.name == "quantile" else 1))
        if self.name == "mean":
            found[:, 0] = x.mean() - away / (n - 1)
        elif self.name in ("variance", "std"):
            total = (away**2).sum()
            squares = total - away**2 * (n / (n - 1))
            squares[squares <= _NO_SPREAD * total] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                variance = squares / (n - 1 - self.ddof)
            found[:, 0] = variance if self.name == "variance" else np.sqrt(variance)
        elif self.name == "correlation":
            found[:, 0] = _correlations_without(away, sample[1] - sample[1].mean())
        elif self.name == "trimmed_mean":
            order = np.argsort(x, kind="stable")
            found[order, 0] = x.mean() + _trimmed_without(away[order], self.trim)
        else:
            order = np.argsort(x, kind="stable")
            found[order] = _quantiles_without(x[order], np.asarray(self.q))
        return found


def named_statistic(name: str, q: tuple[float, ...], trim: float, ddof: float, owner: str) -> Named:
    """The statistic of a user's word."""
    if name not in NAMES:
        close = nearest(name, NAMES)
        words = ", ".join(repr(word) for word in NAMES)
        raise ParameterError(
            f"`statistic` of {owner} must be a function or one of {words}; got {told(name)}."
            + (f" Did you mean {close!r}?" if close else "")
        )
    return Named(name, (0.5,) if name == "median" else q, trim, ddof)


def _correlation(x: Floats, y: Floats) -> float:
    return float(np.clip((x @ y) / (np.sqrt(x @ x) * np.sqrt(y @ y)), -1, 1))


def _correlations_without(x: Floats, y: Floats) -> Floats:
    """Of centred columns: sums of squares about the mean lose n/(n-1) times the product of a row."""
    scale = len(x) / (len(x) - 1)
    xx, yy = x @ x - scale * x * x, y @ y - scale * y * y
    xy = x @ y - scale * x * y
    flat = (xx <= _NO_SPREAD * (x @ x)) | (yy <= _NO_SPREAD * (y @ y))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(flat, np.nan, np.clip(xy / np.sqrt(xx * yy), -1, 1))
    return found


def _quantiles(ascending: Floats, q: Floats) -> Floats:
    place = (len(ascending) - 1) * q
    low = np.minimum(place.astype(np.int64), len(ascending) - 1)
    high = np.minimum(low + 1, len(ascending) - 1)
    found: Floats = ascending[low] + (place - low) * (ascending[high] - ascending[low])
    return found


def _quantiles_without(ascending: Floats, q: Floats) -> Floats:
    """(n, len(q)): value k of those left is that of rank k, or k + 1 from the one left out on."""
    n = len(ascending)
    out = np.arange(n)[:, None]
    place = (n - 2) * q
    low = np.minimum(place.astype(np.int64), n - 2)[None, :]
    high = np.minimum(low + 1, n - 2)
    first, second = ascending[low + (low >= out)], ascending[high + (high >= out)]
    found: Floats = first + (place - low) * (second - first)
    return found


def _trimmed_without(ascending: Floats, trim: float) -> Floats:
    n = len(ascending)
    cut = int(trim * (n - 1))
    first, last = cut, n - 1 - cut  # ranks kept among those left
    total = np.concatenate([[0.0], np.cumsum(ascending)])
    out = np.arange(n)
    within = total[last + 1] - total[first] - ascending
    below, above = total[last + 1] - total[first + 1], total[last] - total[first]
    found: Floats = np.where(out < first, below, np.where(out > last, above, within)) / (last - first)
    return found
