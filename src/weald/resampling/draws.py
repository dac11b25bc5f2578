"""Draws of a sampler: each is a hash of (seed, purpose, class, number), so that threads never show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.engine.resampling import hashed_words
from weald.random import Purpose, draw, uniform


def uniforms(seed: int, purpose: Purpose, group: int, n: int) -> Floats:
    """`n` numbers in (0, 1]."""
    return uniform(hashed_words(seed, purpose, group, n))


def positions(seed: int, purpose: Purpose, group: int, n: int, below: int) -> NDArray[np.intp]:
    """`n` whole numbers from 0 to below - 1, each as likely as any other.

    >>> positions(0, Purpose.RESAMPLED_ROW, 0, 5, 1).tolist()
    [0, 0, 0, 0, 0]
    """
    words = hashed_words(seed, purpose, group, n)
    found = ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53 * below).astype(np.intp)
    return np.minimum(found, below - 1)


def without_replacement(seed: int, group: int, n: int, among: int) -> NDArray[np.intp]:
    """`n` different ones of 0 to among - 1, in random order."""
    words = hashed_words(seed, Purpose.KEPT_ROW, group, among)
    return np.argsort(words, kind="stable")[:n]


def normals(seed: int, group: int, column: int, n: int) -> Floats:
    """`n` draws of the standard normal distribution for a column, by Box and Muller."""
    key = int(draw(seed, Purpose.RESAMPLED_NOISE, group, column)[0] >> np.uint64(1))
    radius = np.sqrt(-2.0 * np.log(uniforms(key, Purpose.RESAMPLED_NOISE, 0, n)))
    angle = 2.0 * np.pi * uniforms(key, Purpose.RESAMPLED_NOISE, 1, n)
    found: Floats = radius * np.cos(angle)
    return found
