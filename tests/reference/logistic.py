"""The objective and the gradient of logistic regression, written down in NumPy."""

import numpy as np
from scipy.special import expit, logsumexp, softmax


def objective(X, y, coef, intercept, *, C=1.0, l1_ratio=0.0, weight=None, intercept_seen=False):
    """C Σ w loss + penalty, of class numbers `y`; C=inf: no penalty."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = np.asarray(X @ coef.T) + intercept
    if len(coef) == 1:
        loss = np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * scores[:, 0])
    else:
        loss = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    total = float(np.sum(weight * loss))
    if np.isinf(C):
        return total
    seen = np.concatenate([coef.ravel(), intercept]) if intercept_seen else coef
    return C * total + l1_ratio * np.abs(seen).sum() + (1 - l1_ratio) / 2 * (seen**2).sum()


def gradient(X, y, coef, intercept, *, C=1.0, l1_ratio=0.0, weight=None):
    """The largest distance of 0 from the subgradients of any weight or intercept, over C Σ w."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = np.asarray(X @ coef.T) + intercept
    if len(coef) == 1:
        derivative = (expit(scores[:, 0]) - (y == 1))[:, None]
    else:
        derivative = softmax(scores, axis=1) - (y[:, None] == np.arange(len(coef)))
    factor, lasso, ridge = (1.0, 0.0, 0.0) if np.isinf(C) else (C, l1_ratio, 1 - l1_ratio)
    derivative = derivative * (factor * weight)[:, None]
    slope = np.asarray(X.T @ derivative).T + ridge * coef
    open_ = np.where(coef != 0, np.abs(slope + lasso * np.sign(coef)), np.maximum(np.abs(slope) - lasso, 0))
    return max(open_.max(), np.abs(derivative.sum(axis=0)).max()) / (factor * weight.sum())
