"""Kernels as their formulas are written, pair by pair: the readable twin of the core's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.svm.kernels.functions import (
    RBF,
    ChiSquared,
    Constant,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)


def pair(kernel: Kernel, x: Sequence[float], z: Sequence[float]) -> float:
    """One kernel value; gamma must be a number."""
    dot = math.fsum(a * b for a, b in zip(x, z, strict=True))
    match kernel:
        case Linear():
            return dot
        case Polynomial(degree, gamma, coef0):
            return (gamma * dot + coef0) ** degree
        case RBF(gamma, sigma):
            gamma = gamma if sigma is None else 1 / (2 * sigma**2)
            return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
        case Sigmoid(gamma, coef0):
            return math.tanh(gamma * dot + coef0)
        case Laplacian(gamma):
            return math.exp(-gamma * math.fsum(abs(a - b) for a, b in zip(x, z, strict=True)))
        case ChiSquared(gamma):
            terms = ((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
            return math.exp(-gamma * math.fsum(terms))
        case Intersection():
            return math.fsum(map(min, x, z))
        case Constant(value):
            return value
        case Scaled(part, factor):
            return factor * pair(part, x, z)
        case Sum(parts):
            return math.fsum(pair(part, x, z) for part in parts)
        case Product(parts):
            return math.prod(pair(part, x, z) for part in parts)
    raise TypeError(kernel)


def values(kernel: Kernel, X: Any, Z: Any) -> NDArray[np.float64]:
    """All pairs."""
    X, Z = np.asarray(X, np.float64).tolist(), np.asarray(Z, np.float64).tolist()
    return np.array([[pair(kernel, x, z) for z in Z] for x in X])


def substrings(text: str | None, length: int, *, all_lengths: bool = False) -> Counter[str]:
    """How often each substring occurs."""
    text = text or ""
    lengths = range(1 if all_lengths else length, length + 1)
    return Counter(text[i : i + k] for k in lengths for i in range(len(text) - k + 1))


def spectrum(x: str | None, z: str | None, length: int, *, normalise: bool, all_lengths: bool) -> float:
    """One value of the spectrum kernel."""
    a, b = (substrings(text, length, all_lengths=all_lengths) for text in (x, z))
    value = float(sum(a[s] * b[s] for s in a.keys() & b.keys()))
    if not normalise or not value:
        return value
    return value / math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
