"""Weighted quantiles of a stream, in bounded memory and with bounded error (docs/methods/sketch.md)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weald import engine
from weald.data.fixed_point import common_power
from weald.errors import DataError, ParameterError

#: bits by which the total may still grow after weights had to be rounded to coarser units
SPARE_BITS = 4
FINEST = 4096  # a power beyond what any float64 needs
NO_WEIGHTS = np.zeros(0, np.int64)


class QuantileSketch:
    """A summary of (value, weight) pairs that can be added to and merged.

    Every rank it answers is off by at most `epsilon` times the total weight, whatever the values, the
    weights and the order of merges. The same calls give the same bits on every machine; how a stream is cut
    into calls of `add` does not show as long as weights are whole numbers.

    Parameters
    ----------
    epsilon : float, default=0.01
        From 1e-6 to 0.5. Memory grows with log(rows) / epsilon.

    Examples
    --------
    >>> from weald import QuantileSketch
    >>> left, right = QuantileSketch(0.01), QuantileSketch(0.01)
    >>> left.add([5.0, 1.0, float("nan")])
    >>> right.add([3.0, 9.0], weights=[1.0, 2.0])
    >>> left.merge(right)
    >>> left.total_weight, left.quantile(0.5), left.rank_bounds(4.0), left.cuts(2).tolist()
    (5.0, 5.0, (2.0, 2.0), [7.0])
    """

    def __init__(self, epsilon: float = 0.01) -> None:
        if not 1e-6 <= epsilon <= 0.5:
            raise ParameterError(f"epsilon of QuantileSketch must be from 1e-6 to 0.5; got {epsilon!r}.")
        self.epsilon = float(epsilon)
        self._native = engine.NativeSketch(self.epsilon)
        self._power = 0  # weights are held as whole units of 2^-power
        self._summary: engine.SketchSummary | None = None

    def __repr__(self) -> str:
        return f"QuantileSketch(epsilon={self.epsilon:g})"

    def __copy__(self) -> QuantileSketch:
        twin = QuantileSketch(self.epsilon)
        twin._native, twin._power = self._native.copy(), self._power
        return twin

    def __deepcopy__(self, memo: dict[int, object]) -> QuantileSketch:
        return self.__copy__()  # it holds numbers alone

    @property
    def total_weight(self) -> float:
        """The weight of all that was added."""
        return math.ldexp(self._native.total, -self._power)

    @property
    def n_entries(self) -> int:
        """How many values the sketch holds, at most 40 bytes each."""
        return self._native.n_entries

    def add(self, values: ArrayLike, weights: ArrayLike | None = None) -> None:
        """Take in some more values.

        Parameters
        ----------
        values : array-like of shape (n,)
            NaN is missing and passed over.
        weights : array-like of shape (n,), optional
            At least 0; a value of weight 0 is absent. None: all 1.

        Raises
        ------
        DataError
            For infinite values, and for weights that are negative, missing or infinite. Nothing was added.
        """
        numbers = _vector(values, "values")
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise DataError(
                f"values contain inf: row {row} holds {numbers[row]}. Replace infinite values, or use NaN."
            )
        present = ~np.isnan(numbers)
        if weights is None:
            self._take(numbers[present], None)
            return
        weight = _checked_weights(weights, len(numbers))
        present &= weight > 0
        self._take(numbers[present], weight[present])

    def merge(self, other: QuantileSketch) -> None:
        """Take in all that another sketch of the same epsilon holds; the other stays as it is.

        Parameters
        ----------
        other : QuantileSketch
            Of the same epsilon.

        Raises
        ------
        ParameterError
            If `other` is no sketch, or one of another epsilon.
        """
        if not isinstance(other, QuantileSketch) or other.epsilon != self.epsilon:
            got = f"epsilon {other.epsilon}" if isinstance(other, QuantileSketch) else type(other).__name__
            raise ParameterError(f"A sketch of epsilon {self.epsilon} merges only with its like; got {got}.")
        if not other._native.total:
            return
        finer = max(self._power, other._power) if self._native.total else other._power
        power = self._fitting_power(np.array([other.total_weight]), finer)
        merged, added = (
            self._native.copy(),
            other._native.copy(),
        )  # so that a merge which fails changes nothing
        if merged.total:
            merged.scale(power - self._power)
        added.scale(power - other._power)
        merged.merge(added)
        self._native, self._power, self._summary = merged, power, None

    def quantile(self, q: float) -> float:
        """A value with about the share `q` of the weight up to it; the least such, if nothing was pruned.

        In shares of the total, the weight below it is at most q + epsilon, the weight up to and including it
        at least q − epsilon.

        Parameters
        ----------
        q : float
            From 0 to 1.

        Returns
        -------
        float
            One of the values that were added.
        """
        if not 0 <= q <= 1:
            raise ParameterError(f"q of quantile must be from 0 to 1; got {q!r}.")
        if self._native.total == 0:
            raise DataError("The sketch is empty: add values of positive weight first.")
        summary = self._merged()
        return summary.value_at(math.ceil(Fraction(float(q)) * summary.total))

    def rank_bounds(self, value: float) -> tuple[float, float]:
        """Bounds on the weight of all values ≤ `value`; they differ by at most epsilon · total_weight.

        Parameters
        ----------
        value : float
            Any number.

        Returns
        -------
        tuple of float
            The least and the most that the weight can be.
        """
        if math.isnan(value):
            raise ParameterError("value of rank_bounds must be a number; got NaN.")
        low, high = self._merged().rank_bounds(value)
        return math.ldexp(low, -self._power), math.ldexp(high, -self._power)

    def cuts(self, max_bins: int) -> NDArray[np.float64]:
        """Cuts between at most `max_bins` bins of about equal weight, by the rule of `max_bins` of trees.

        Parameters
        ----------
        max_bins : int
            At least 1.

        Returns
        -------
        ndarray of float64, shape (n_bins - 1,)
            Ascending, halfway between the values on both sides.
        """
        if not 1 <= max_bins < 2**32:
            raise ParameterError(f"max_bins of cuts must be a whole number of at least 1; got {max_bins!r}.")
        return self._merged().cuts(max_bins)

    def _take(self, values: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        if not len(values):
            return
        if weight is None and self._power == 0 and self._native.total + len(values) < 2**62:
            units = NO_WEIGHTS
        else:
            weight = np.ones(len(values)) if weight is None else weight
            power = self._power
            if power == 0 and not np.array_equal(weight, np.floor(weight)):
                power = FINEST
            power = self._fitting_power(weight, power)
            if self._native.total:
                self._native.scale(power - self._power)
            self._power = power
            units = np.maximum(engine.to_units(weight, power), 1)
        self._native.add(np.ascontiguousarray(values), units)
        self._summary = None

    def _fitting_power(self, weight: NDArray[np.float64], wanted: int) -> int:
        """The wanted power, or one with which these weights fit beside what is held, with room to grow."""
        together = np.append(weight, self.total_weight)
        with np.errstate(over="ignore"):
            if np.isinf(together.sum()):
                raise DataError("The weights of a sketch add up to more than float64 holds; scale them down.")
        most = common_power(
            together, spare_bits=1
        )  # a bit for those that become one unit though they are less
        return wanted if wanted <= most else most - SPARE_BITS

    def _merged(self) -> engine.SketchSummary:
        if self._summary is None:
            self._summary = self._native.summary()
        return self._summary


def _vector(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} of a sketch must be numbers: {error}.") from None
    if array.ndim != 1:
        raise DataError(f"{name} of a sketch must have one dimension; got shape {array.shape}.")
    return array


def _checked_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    weight = _vector(weights, "weights")
    if len(weight) != n:
        raise DataError(f"values and weights differ in length: {n} and {len(weight)}.")
    bad = ~(weight >= 0) | np.isinf(weight)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"weights must be finite and at least 0: row {row} holds {weight[row]}.")
    return weight
