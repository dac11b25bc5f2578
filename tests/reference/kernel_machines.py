"""Kernel machines as their equations read: kernels of two rows by NumPy, the dual by one pair at a time.

Kernel programs, the dual problem and what is optimal are stated in docs/methods/svm.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: a pair that does not curve moves as if it curved this much
TAU = 1e-12

LINEAR, POLYNOMIAL, RBF, SIGMOID, LAPLACIAN, CHI_SQUARED, INTERSECTION, ADD, MULTIPLY, SCALE, CONSTANT = (
    range(11)
)


def leaf(op: int, a: float, b: float, c: float, x: Array, z: Array) -> float:
    """The kernel of two rows."""
    if op == LINEAR:
        return float(x @ z)
    if op == POLYNOMIAL:
        return float((b * (x @ z) + c) ** a)
    if op == RBF:
        return float(np.exp(-a * np.sum((x - z) ** 2)))
    if op == SIGMOID:
        return float(np.tanh(b * (x @ z) + c))
    if op == LAPLACIAN:
        return float(np.exp(-a * np.sum(np.abs(x - z))))
    if op == CHI_SQUARED:
        some = (x + z) != 0
        return float(np.exp(-a * np.sum((x - z)[some] ** 2 / (x + z)[some])))
    if op == INTERSECTION:
        return float(np.sum(np.minimum(x, z)))
    return a


def kernel_value(program: Array, x: Array, z: Array) -> float:
    """A kernel program on two rows."""
    stack: list[float] = []
    for op, a, b, c in program:
        if op == ADD:
            stack[-2:] = [stack[-2] + stack[-1]]
        elif op == MULTIPLY:
            stack[-2:] = [stack[-2] * stack[-1]]
        elif op == SCALE:
            stack[-1] = a * stack[-1]
        else:
            stack.append(leaf(int(op), a, b, c, x, z))
    (value,) = stack
    return value


def kernel_matrix(program: Array, A: Array, B: Array) -> Array:
    """The kernel of each row of A with each row of B."""
    return np.array([[kernel_value(program, x, z) for z in B] for x in A])


def violation(beta: Array, low: Array, high: Array, F: Array) -> float:
    """By how much the gradients of variables that may fall exceed those of variables that may rise."""
    up, down = beta < high, beta > low
    if not up.any() or not down.any():
        return 0.0
    return max(float(F[down].max() - F[up].min()), 0.0)


def solve(K: Array, signs: Array, linear: Array, upper: Array, tol: float) -> tuple[Array, float, float]:
    """α, intercept and objective of the dual; K is of the variables, not of the rows."""
    low, high = np.where(signs > 0, 0.0, -upper), np.where(signs > 0, upper, 0.0)
    beta, F = np.zeros(len(signs)), signs * linear
    while violation(beta, low, high, F) > tol:
        i = int(np.argmin(np.where(beta < high, F, np.inf)))
        amount = np.where(beta > low, F - F[i], -np.inf)
        curve = K[i, i] + np.diag(K) - 2 * K[i]
        curve = np.where(curve > 0, curve, TAU)
        j = int(np.argmax(np.where(amount > 0, amount**2 / curve, -np.inf)))
        step = min(amount[j] / curve[j], high[i] - beta[i], beta[j] - low[j])
        beta[i] = high[i] if step == high[i] - beta[i] else beta[i] + step
        beta[j] = low[j] if step == beta[j] - low[j] else beta[j] - step
        F = F + step * (K[i] - K[j])
    free = (beta > low) & (beta < high)
    bounds = F[beta < high].min(initial=np.inf), F[beta > low].max(initial=-np.inf)
    rho = float(F[free].mean()) if free.any() else sum(bounds) / 2
    return signs * beta, -rho, float(0.5 * beta @ K @ beta + (signs * linear) @ beta)
