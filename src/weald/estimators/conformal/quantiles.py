"""The quantiles that CQR starts from: of a booster of several, of one model per level, or of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.arrays import Estimator, TableLike
from weald.data.frames.user_rows import outline
from weald.errors import DataError, ParameterError, naming_member
from weald.estimators.conformal.judges import numbers
from weald.estimators.forest.base import BaseForest
from weald.estimators.shared.members import check_predicted
from weald.numbers import as_float
from weald.uncertainty.conformal import Calibration
from weald.uncertainty.leaf_rows import LeafRows

LEVELS = (0.05, 0.5, 0.95)
_MEDIAN = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class QuantileModels:
    """Fitted quantiles at ascending levels: the first and the last are the ends before calibration."""

    models: list[Any]
    levels: tuple[float, ...]
    #: of a forest: the rows in its leaves
    leaf_rows: LeafRows | None = None

    def predicted(self, X: TableLike) -> NDArray[np.float64]:
        """The quantiles of each row, ascending: (rows, levels)."""
        model, n_rows = self.models[0], outline(X).n_rows
        if self.leaf_rows is not None:
            table, n_threads = model._read(X)
            return self.leaf_rows.quantiles(model.forest_, table, self.levels, n_threads=n_threads)
        if len(self.models) > 1:
            found = np.stack([numbers(each, X, n_rows) for each in self.models], axis=1)
        else:
            with naming_member(f"The {type(model).__name__} of Conformal"):
                found = np.asarray(model.predict(X), np.float64)
                if found.shape[1:] != (len(self.levels),):
                    raise DataError(
                        f"it predicts an array of shape {found.shape} for {len(self.levels)} quantiles."
                    )
                check_predicted(found, n_rows)
        return np.sort(found, axis=1)  # quantiles that cross are put in order

    def ends(self, X: TableLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest quantile of each row."""
        found = self.predicted(X)
        return found[:, 0], found[:, -1]

    def middle(self, X: TableLike) -> NDArray[np.float64]:
        """The median where it is among the levels, else the middle of the ends; a forest's own mean."""
        if self.leaf_rows is not None:
            return numbers(self.models[0], X, outline(X).n_rows)
        found = self.predicted(X)
        if _MEDIAN in self.levels:
            return found[:, self.levels.index(_MEDIAN)]
        middle: NDArray[np.float64] = (found[:, 0] + found[:, -1]) / 2
        return middle

    def intervals(self, X: TableLike, calibration: Calibration, coverage: float) -> NDArray[np.float64]:
        """The interval of each new row (equation Q7): (rows, 2)."""
        lower, upper = self.ends(X)
        return calibration.interval(lower[None], upper[None], None, coverage)


def quantile_members(
    estimator: Estimator, asked: Sequence[float] | None, owner: str
) -> tuple[list[Any], tuple[float, ...]]:
    """What has to be fitted for the quantiles, and their levels."""
    if isinstance(estimator, BaseForest):
        return [clone(estimator)], _levels(asked)
    name, several = _parameter(estimator, owner)
    if several:
        levels = _levels(asked, estimator.get_params()[name])
        return [clone(estimator).set_params(**{name: list(levels)})], levels
    levels = _levels(asked)
    return [clone(estimator).set_params(**{name: level}) for level in levels], levels


def fitted_levels(estimator: Estimator, asked: Sequence[float] | None, owner: str) -> tuple[float, ...]:
    """The levels of a model that is fitted already, which must have several of its own."""
    name, several = ("", False) if isinstance(estimator, BaseForest) else _parameter(estimator, owner)
    levels = _own_levels(estimator.get_params()[name]) if several else None
    if levels is None:
        raise ParameterError(
            f"method='cqr' of {owner} calibrates a fitted model that predicts several quantiles, such as "
            f"XGBRegressor(objective='reg:quantileerror', quantile_alpha=[0.05, 0.5, 0.95]); this "
            f"{type(estimator).__name__} does not. Use `fit`, which fits what is needed."
        )
    if asked is not None and tuple(map(float, asked)) != levels:
        raise ParameterError(
            f"`quantiles` of {owner} are {list(asked)}, and the fitted {type(estimator).__name__} has "
            f"{list(levels)}. Leave them None."
        )
    return levels


def _levels(asked: Sequence[float] | None, own: object = None) -> tuple[float, ...]:
    """The levels asked for, or the member's own, or those of an interval of nine in ten."""
    if asked is not None:
        return tuple(float(level) for level in asked)
    return _own_levels(own) or LEVELS


def _own_levels(own: object) -> tuple[float, ...] | None:
    """Two or more levels that a member has by itself, ascending."""
    if isinstance(own, list | tuple | np.ndarray) and len(own) > 1:
        return tuple(sorted(as_float(level) for level in own))
    return None


def _parameter(estimator: Estimator, owner: str) -> tuple[str, bool]:
    """The parameter that sets the level of a quantile, and whether it takes several."""
    params = estimator.get_params()
    for name in sorted(params):
        stem, _, last = name.rpartition("__")
        beside = {other: params.get(f"{stem}__{other}" if stem else other) for other in ("loss", "objective")}
        if last == "quantile_alpha" and beside["objective"] == "reg:quantileerror":
            return name, True
        if last == "quantile" and beside["loss"] in (None, "quantile"):
            return name, False
        if last == "alpha" and "quantile" in beside.values():
            return name, False
    raise ParameterError(
        f"method='cqr' of {owner} needs an estimator of quantiles, and {type(estimator).__name__} as given "
        "is none. Use XGBRegressor(objective='reg:quantileerror'), a forest of weald, or "
        "GradientBoostingRegressor(loss='quantile') and others with such a loss or a parameter `quantile`."
    )
