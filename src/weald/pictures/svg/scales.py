"""Scales, ticks and numbers as charts write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_MOST = 1e6


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` as places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value is; values beyond the ends are at the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def scale_of(
    values: Sequence[float], start: float, end: float, *, zero: bool = False, margin: float = 0.04
) -> Scale:
    """A scale on which all values are, and a little room beside them."""
    known = [value for value in values if math.isfinite(value)]
    if zero:
        known.append(0.0)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if not high > low:
        away = abs(low) * 0.1 or 1.0
        low, high = low - away, high + away
    room = margin * (high - low)
    at_zero = zero and low >= 0
    return Scale(0.0 if at_zero else low - room, 0.0 if zero and high <= 0 else high + room, start, end)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0.0, 1.0), ticks(3.0, 47.0, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0])
    """
    if not (math.isfinite(low) and math.isfinite(high) and high > low):
        return []
    step = _round_step((high - low) / about)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)


def number(value: float | None, digits: int = 4) -> str:
    """A number for a reader: so many digits that count, groups of thousands, no needless zeros.

    >>> number(0.123456), number(1234567.0), number(-0.0), number(float("nan")), number(1e-9), number(12.0)
    ('0.1235', '1,234,567', '0', '–', '1e-9', '12')
    """
    if value is None or not math.isfinite(value):
        return "–" if value is None or math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -4 or size > 14:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        text = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{text}e{int(power)}".replace("-", "−", 1) if value < 0 else f"{text}e{int(power)}"
    decimals = max(0, digits - 1 - size)
    text = f"{value:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def percent(share: float | None) -> str:
    """A share in per cent.

    >>> percent(0.25), percent(0.0004), percent(0.0)
    ('25 %', '0.04 %', '0 %')
    """
    if share is None or not math.isfinite(share):
        return "–"
    return f"{number(100 * share, 2 if abs(share) < 0.1 else 3)} %"


def tick_text(value: float) -> str:
    """A number under a tick, short.

    >>> tick_text(2500000.0), tick_text(0.2), tick_text(1500.0)
    ('2.5M', '0.2', '1500')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.6g}{letter}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def clipped(text: str, most: int) -> str:
    """A text of at most so many characters.

    >>> clipped("a long name", 6)
    'a lon…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
