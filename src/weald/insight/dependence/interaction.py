"""`friedman_h`: how far columns act together rather than each by itself."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import Floats, TableLike, WeightLike
from weald.errors import ParameterError
from weald.insight.dependence.any_model import AnyModel
from weald.insight.dependence.columns import position_of, read_pairs
from weald.insight.dependence.partial import row_weight
from weald.insight.dependence.responses import Asked, Model, Target, ask
from weald.inspection.dependence.axes import Axis, axis_of_all, axis_of_cells
from weald.inspection.dependence.curves import TreeSum
from weald.inspection.dependence.interaction import h_squared
from weald.inspection.dependence.records import FriedmanH
from weald.pictures.trained_on import frame_library
from weald.progress import Progress

#: points of two columns at a time, and curves of all rows at a time
_POINTS, _CURVES = 2**20, 2**24


def friedman_h(
    model: Model,
    X: TableLike,
    pairs: Sequence[tuple[Hashable, Hashable]] | tuple[Hashable, Hashable] | None = None,
    columns: Sequence[Hashable] | None = None,
    *,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FriedmanH:
    """Friedman's H²: the share of a joint effect that is no sum of an effect of each column, from 0 up.

    For two columns, of their joint partial dependence; for one column against all the rest, of the
    prediction. 0 means that the columns add up. All means are over the rows of X, as the definition has it.
    For models made of weald's trees the time grows with the rows; any other model is asked about rows × rows
    for each pair, so give it some hundreds.

    Parameters
    ----------
    model : estimator or callable
        As in `partial_dependence`.
    X : table
        As in `partial_dependence`.
    pairs : list of pairs of columns, or one pair; default=None
        None for all pairs, unless `columns` are given.
    columns : list of columns, default=None
        Those to set against all the rest; None for all columns, unless `pairs` are given.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    response : {"auto", "raw", "predict_proba", "decision_function", "predict"}, default="auto"
        What is taken apart. "auto": the sum of the trees of a model made of trees, where trees of different
        columns add up, else the decision function of a classifier, its probabilities if it has none, or the
        prediction of a regressor.
    target, n_jobs
        As in `partial_dependence`.
    progress : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    FriedmanH
        With `h2`, `strength`, `h2_all`, `matrix` and `to_frame`.

    Examples
    --------
    >>> import weald
    >>> X = [[a, b, c] for a in range(4) for b in range(4) for c in range(4)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [a * b + c for a, b, c in X])
    >>> found = weald.friedman_h(model, X, pairs=[(0, 1), (0, 2)])
    >>> found.h2.round(6).tolist()
    [[0.217391, 0.0]]
    """
    asked = _asked(model, X, response, target, n_jobs)
    table = asked.summed.table
    weight = row_weight(sample_weight, table.n_rows)
    wanted = [] if pairs is None and columns is not None else read_pairs(table, pairs)
    alone = _alone(asked, columns, all_of_them=pairs is None and columns is None)
    effects = _Effects(asked, weight)
    bar = Progress(len(wanted) + len(alone), word="interaction") if progress else None
    h2, strength, h2_all = [], [], []
    try:
        if bar is not None:
            bar.start()
        for a, b in wanted:
            found, size = effects.of_pair(a, b)
            h2.append(found)
            strength.append(size)
            if bar is not None:
                bar.advance({})
        for j in alone:
            h2_all.append(effects.against_rest(j))
            if bar is not None:
                bar.advance({})
    finally:
        if bar is not None:
            bar.close()
    names, n_targets = table.names, len(asked.targets)
    return FriedmanH(
        pairs=tuple((names[a], names[b]) for a, b in wanted),
        h2=np.array(h2).reshape(-1, n_targets).T,
        strength=np.array(strength).reshape(-1, n_targets).T,
        columns=tuple(names[j] for j in alone),
        h2_all=np.array(h2_all).reshape(-1, n_targets).T,
        targets=asked.targets,
        response=asked.response,
        model=asked.name,
        library=frame_library(X),
    )


def _asked(model: Model, X: TableLike, response: str, target: Target, n_jobs: int | None) -> Asked:
    if response != "auto":
        return ask(model, X, response=response, target=target, n_jobs=n_jobs)
    found = ask(model, X, target=None, n_jobs=n_jobs)
    if isinstance(found.summed, TreeSum):
        return ask(model, X, response="raw", target=target, n_jobs=n_jobs)
    scored = hasattr(model, "predict") and is_classifier(model) and hasattr(model, "decision_function")
    chosen = "decision_function" if scored else "auto"
    return ask(model, X, response=chosen, target=target, n_jobs=n_jobs)


def _alone(asked: Asked, columns: Sequence[Hashable] | None, *, all_of_them: bool) -> list[int]:
    table = asked.summed.table
    if columns is None:
        return list(range(table.n_columns)) if all_of_them else []
    if isinstance(columns, str | bytes | tuple) or not hasattr(columns, "__iter__"):
        raise ParameterError(f"`columns` must be a list of columns; got {columns!r}. Use [{columns!r}].")
    return [position_of(table, name) for name in columns]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A column: the points that its rows are at."""

    position: int
    axis: Axis
    places: NDArray[np.intp]
    own: Floats  # its effect at every row: (rows, targets)


class _Effects:
    """Partial dependence at the rows of a table, of one column or two; what was found once is kept."""

    def __init__(self, asked: Asked, weight: Floats | None) -> None:
        self._asked, self._weight = asked, weight
        self._sides: dict[int, _Side] = {}

    def of_pair(self, a: int, b: int) -> tuple[Floats, Floats]:
        """H² of two columns, and its strength."""
        first, second = self._side(a), self._side(b)
        if self._add_up(a, b):
            nothing = np.zeros(len(self._asked.targets))
            return nothing, nothing
        joint = (
            self._joint_of_any(first, second)
            if isinstance(self._asked.summed, AnyModel)
            else self._joint(first, second)
        )
        return h_squared(joint, first.own, second.own, self._weight)

    def against_rest(self, j: int) -> Floats:
        """H² of a column against all others together."""
        side = self._side(j)
        whole = self._asked.at({})
        found, _ = h_squared(whole, side.own, self._rest(side), self._weight)
        return found

    def _add_up(self, a: int, b: int) -> bool:
        """Whether no tree reads both columns, and trees add up."""
        summed = self._asked.summed
        if not isinstance(summed, TreeSum) or summed.finish is not None or summed.link != "identity":
            return False
        return not summed.share_a_tree(a, b)

    def _side(self, j: int) -> _Side:
        if j not in self._sides:
            summed = self._asked.summed
            column = summed.table.columns[j]
            if isinstance(summed, TreeSum):
                axis, places = axis_of_cells(column, summed.thresholds(j))
            else:
                axis = axis_of_all(column)
                places = axis.places(column)
            curves = summed.curves([(j, axis)], self._asked.picks, self._weight)[0]
            self._sides[j] = _Side(j, axis, places, curves.mean.T[places])
        return self._sides[j]

    def _joint(self, first: _Side, second: _Side) -> Floats:
        """The joint effect of two columns at every row, of trees: some points of the first at a time."""
        summed, picks = self._asked.summed, self._asked.picks
        assert isinstance(summed, TreeSum)
        plain = summed.finish is None and summed.link == "identity"
        out = np.empty((summed.table.n_rows, len(picks)))
        for points, axis in _parts(first.axis, max(1, _POINTS // second.axis.n_points)):
            axes = [(first.position, axis), (second.position, second.axis)]
            if plain:
                found = summed.means(axes, self._weight, pair=True)
                mean = np.stack([pick.offset + pick.sign * found[:, pick.result] for pick in picks])
            else:
                mean = summed.curves(axes, picks, self._weight, pair=True)[0].mean
            rows = np.flatnonzero((first.places >= points.start) & (first.places < points.stop))
            at = (first.places[rows] - points.start) * second.axis.n_points + second.places[rows]
            out[rows] = mean.T[at]
        return out

    def _joint_of_any(self, first: _Side, second: _Side) -> Floats:
        """The same of any model: asked once for every pair of values that some row has."""
        both = first.places * second.axis.n_points + second.places
        distinct, inverse = np.unique(both, return_inverse=True)
        n_rows = len(both)
        w = np.ones(n_rows) if self._weight is None else self._weight
        means = np.empty((len(distinct), len(self._asked.targets)))
        for i, (p, q) in enumerate(zip(*np.divmod(distinct, second.axis.n_points), strict=True)):
            columns = {
                first.position: first.axis.column(np.full(n_rows, p)),
                second.position: second.axis.column(np.full(n_rows, q)),
            }
            means[i] = (w[:, None] * self._asked.at(columns)).sum(axis=0) / w.sum()
        return means[inverse]

    def _rest(self, side: _Side) -> Floats:
        """The effect of all other columns at every row: its curve, averaged over the values of the column."""
        summed, n_rows = self._asked.summed, len(side.places)
        w = np.ones(n_rows) if self._weight is None else self._weight
        shares = np.bincount(side.places, w, side.axis.n_points) / w.sum()
        out = np.zeros((n_rows, len(self._asked.targets)))
        for points, axis in _parts(side.axis, max(1, _CURVES // n_rows)):
            curves = summed.curves([(side.position, axis)], self._asked.picks, None, keep=True)[0].individual
            assert curves is not None
            out += (curves * shares[points]).sum(axis=2).T
        return out


def _parts(axis: Axis, most: int) -> list[tuple[slice, Axis]]:
    """The points of an axis, at most so many at a time."""
    n_codes, parts = len(axis.codes), []
    for first in range(0, axis.n_points, most):
        points = slice(first, min(first + most, axis.n_points))
        missing = axis.missing and points.stop > n_codes
        parts.append(
            (points, replace(axis, codes=axis.codes[first : min(points.stop, n_codes)], missing=missing))
        )
    return parts
