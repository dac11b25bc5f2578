"""Partial dependence, local effects and H as their definitions say: one prediction after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

#: a table → (rows, targets)
Predict = Callable[[pd.DataFrame], np.ndarray]


def with_values(X: pd.DataFrame, values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """The table with other values in some columns, whose kinds stay."""
    out = X.copy()
    for name, column in values.items():
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            out[name] = pd.Categorical(column, dtype=X[name].dtype)
        elif X[name].dtype.kind == "O":
            out[name] = pd.Series(list(column), index=X.index, dtype=object)
        else:
            out[name] = np.asarray(column, np.float64)
    return out


def curves(predict: Predict, X: pd.DataFrame, columns: Sequence[str], grid: Sequence[Any]) -> np.ndarray:
    """What is predicted for each row at each point: (targets, rows, points, ...)."""
    shape = tuple(len(points) for points in grid)
    found = []
    for at in np.ndindex(shape):
        values = {name: [points[i]] * len(X) for name, points, i in zip(columns, grid, at, strict=True)}
        found.append(predict(with_values(X, values)))
    stacked = np.stack(found, axis=-1)  # rows, targets, points
    return np.swapaxes(stacked, 0, 1).reshape(stacked.shape[1], len(X), *shape)


def standard_error(individual: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """That of the weighted mean over rows, by the effective number of rows."""
    mean = np.average(individual, axis=1, weights=weight)
    spread = np.average((individual - mean[:, None]) ** 2, axis=1, weights=weight)
    n = weight.sum() ** 2 / (weight**2).sum()
    return np.sqrt(spread / (n - 1))


def dependence_at_rows(
    predict: Predict, X: pd.DataFrame, columns: Sequence[str], weight: np.ndarray
) -> np.ndarray:
    """Partial dependence at the values of each row: (rows, targets)."""
    out = []
    for i in range(len(X)):
        moved = with_values(X, {name: [X[name].iloc[i]] * len(X) for name in columns})
        out.append(np.average(predict(moved), axis=0, weights=weight))
    return np.array(out)


def h_squared(predict: Predict, X: pd.DataFrame, pair: tuple[str, str], weight: np.ndarray) -> np.ndarray:
    """H² of two columns, of each target."""
    joint = dependence_at_rows(predict, X, pair, weight)
    return _share(joint, [dependence_at_rows(predict, X, [name], weight) for name in pair], weight)


def h_squared_against_rest(predict: Predict, X: pd.DataFrame, column: str, weight: np.ndarray) -> np.ndarray:
    """H² of a column against all others, of each target."""
    alone = dependence_at_rows(predict, X, [column], weight)
    rest = sum(
        w * predict(with_values(X, {column: [X[column].iloc[k]] * len(X)})) for k, w in enumerate(weight)
    )
    return _share(predict(X), [alone, rest / weight.sum()], weight)


def _share(joint: np.ndarray, apart: Sequence[np.ndarray], weight: np.ndarray) -> np.ndarray:
    joint, first, second = (values - np.average(values, axis=0, weights=weight) for values in (joint, *apart))
    rest = np.average((joint - first - second) ** 2, axis=0, weights=weight)
    return rest / np.average(joint**2, axis=0, weights=weight)


def local_effects(
    predict: Predict, X: pd.DataFrame, column: str, edges: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Effects of numbers at ascending edges, centred: (targets, edges)."""
    x = X[column].to_numpy(np.float64)
    means, weights = [], []
    for k in range(1, len(edges)):
        inside = (x <= edges[k]) & ((x > edges[k - 1]) | ((k == 1) & (x == edges[0])))
        rows = X[inside]
        up = predict(with_values(rows, {column: [edges[k]] * len(rows)}))
        down = predict(with_values(rows, {column: [edges[k - 1]] * len(rows)}))
        means.append(np.average(up - down, axis=0, weights=weight[inside]))
        weights.append(weight[inside].sum())
    total = np.concatenate([np.zeros((1, len(means[0]))), np.cumsum(means, axis=0)])
    middle = (total[1:] + total[:-1]) / 2
    return (total - np.average(middle, axis=0, weights=weights)).T


def level_effects(
    predict: Predict, X: pd.DataFrame, column: str, levels: Sequence[Any], weight: np.ndarray
) -> np.ndarray:
    """Effects of levels in this order, centred: (targets, levels)."""
    values = X[column].to_numpy(object)
    means = []
    for low, high in pairwise(levels):
        inside = (values == low) | (values == high)
        rows = X[inside]
        up = predict(with_values(rows, {column: [high] * len(rows)}))
        down = predict(with_values(rows, {column: [low] * len(rows)}))
        means.append(np.average(up - down, axis=0, weights=weight[inside]))
    total = np.concatenate([np.zeros((1, len(means[0]))), np.cumsum(means, axis=0)])
    shares = [weight[values == level].sum() for level in levels]
    return (total - np.average(total, axis=0, weights=shares)).T


def joint_effects(
    predict: Predict, X: pd.DataFrame, pair: tuple[str, str], edges: Sequence[np.ndarray], weight: np.ndarray
) -> np.ndarray:
    """Effects of two columns of numbers without those of either alone; every cell has rows. One target."""
    k = [np.maximum(np.searchsorted(e, X[name]) - 1, 0) for name, e in zip(pair, edges, strict=True)]
    n = [len(e) - 1 for e in edges]
    total, by_cell = np.zeros((n[0] + 1, n[1] + 1)), np.zeros(n)
    for i in range(n[0]):
        for j in range(n[1]):
            inside = (k[0] == i) & (k[1] == j)
            rows, w = X[inside], weight[inside]
            at = [
                predict(
                    with_values(
                        rows, {pair[0]: [edges[0][i + a]] * len(rows), pair[1]: [edges[1][j + b]] * len(rows)}
                    )
                )
                for a in (0, 1)
                for b in (0, 1)
            ]
            step = np.average(at[3] - at[1] - at[2] + at[0], axis=0, weights=w)[0]
            total[i + 1, j + 1] = total[i, j + 1] + total[i + 1, j] - total[i, j] + step
            by_cell[i, j] = w.sum()
    alone = []
    for values, w in ((total, by_cell), (total.T, by_cell.T)):
        steps = np.diff(values, axis=0)
        middle = (steps[:, 1:] + steps[:, :-1]) / 2
        alone.append(np.append(0, np.cumsum((middle * w).sum(axis=1) / w.sum(axis=1))))
    apart = total - alone[0][:, None] - alone[1]
    corners = (apart[1:, 1:] + apart[1:, :-1] + apart[:-1, 1:] + apart[:-1, :-1]) / 4
    return apart - np.average(corners, weights=by_cell)
