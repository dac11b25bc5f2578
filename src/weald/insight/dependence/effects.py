"""`accumulated_local_effects`: what a column does, from differences between values that rows are near to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import overload

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike, WeightLike
from weald.data.table import Column, LevelColumn
from weald.errors import ParameterError, told
from weald.insight.dependence.columns import OneOrTwo, Several, read_columns
from weald.insight.dependence.partial import row_weight
from weald.insight.dependence.responses import Asked, Model, Target, ask
from weald.inspection.dependence.axes import Axis, axis_of_all, lacking
from weald.inspection.dependence.effects import (
    MOST_BINS,
    Bins,
    Steps,
    filling,
    level_bins,
    number_bins,
    summed,
    summed_twice,
)
from weald.inspection.dependence.likeness import order_by_likeness
from weald.inspection.dependence.records import AccumulatedLocalEffects
from weald.pictures.trained_on import frame_library
from weald.progress import Progress


@overload
def accumulated_local_effects(
    model: Model,
    X: TableLike,
    columns: Several | None = None,
    *,
    bins: int | None = None,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list[AccumulatedLocalEffects]: ...
@overload
def accumulated_local_effects(
    model: Model,
    X: TableLike,
    columns: str | int | tuple[Hashable, Hashable],
    *,
    bins: int | None = None,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> AccumulatedLocalEffects: ...
def accumulated_local_effects(
    model: Model,
    X: TableLike,
    columns: OneOrTwo | Several | None = None,
    *,
    bins: int | None = None,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> AccumulatedLocalEffects | list[AccumulatedLocalEffects]:
    """Local differences of predictions, added up along a column; of two columns what they do only together.

    Each row is moved to the ends of the bin that it is in, and no further: unlike partial dependence, no row
    gets a value that hardly goes with its others. The effect is 0 on average over the rows; of an additive
    model it is the column's own term. Categories are stepped through in an order in which neighbours are
    alike in the other columns, ordered levels in theirs; rows of both levels count in a step. Where values
    are missing, the last point tells by how much the prediction of those rows differs from the mean of what
    it is at the edges, by their share of rows.

    Parameters
    ----------
    model : estimator or callable
        As in `partial_dependence`.
    X : table
        As in `partial_dependence`.
    columns : str, int, tuple of two of these, or a list of such; default=None
        A column, or two columns whose joint effect is asked for. A list gives a list; None is every column.
    bins : int, default=None
        The most bins of a column of numbers, of about equally many rows each. None: 40, or 20 of each of two
        columns, and fewer where there would be less than five rows or so in a bin or cell.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    response, target, n_jobs
        As in `partial_dependence`.
    progress : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    AccumulatedLocalEffects, or list of AccumulatedLocalEffects
        With `values`, `standard_error`, `grid` (the edges of bins), `counts`, `band` and `to_frame`.

    Examples
    --------
    >>> import weald
    >>> X = [[i / 10, (i * 7) % 5] for i in range(50)]
    >>> model = weald.DecisionTreeRegressor().fit(X, [3.0 * b for a, b in X])
    >>> effect = weald.accumulated_local_effects(model, X, 1)
    >>> effect.values.round(6).tolist()
    [[-5.1, -2.1, 0.9, 3.9, 6.9]]
    """
    _check_bins(bins)
    asked = ask(model, X, response=response, target=target, n_jobs=n_jobs)
    table = asked.summed.table
    given = row_weight(sample_weight, table.n_rows)
    weight = np.ones(table.n_rows) if given is None else given
    wanted, several = read_columns(table, columns)
    library = frame_library(X)
    found: list[AccumulatedLocalEffects] = []
    bar = Progress(len(wanted), word="column") if progress else None
    try:
        if bar is not None:
            bar.start()
        for each in wanted:
            most = bins or _most_bins(table.n_rows, len(each))
            sides = [(j, _bins_of(asked, j, most, weight)) for j in each]
            effect = _single(asked, *sides[0], weight) if len(sides) == 1 else _joint(asked, sides, weight)
            found.append(replace(effect, library=library))
            if bar is not None:
                bar.advance({})
    finally:
        if bar is not None:
            bar.close()
    return found if several else found[0]


def _check_bins(bins: object) -> None:
    if bins is None:
        return
    if not isinstance(bins, Integral) or isinstance(bins, bool) or int(bins) < 1:
        raise ParameterError(
            f"`bins` must be a whole number of at least 1, or None; got {told(bins)}. Use 40."
        )


def _most_bins(n_rows: int, n_free: int) -> int:
    """Bins of a column such that there are five rows or so in each, or in each cell of two columns."""
    rows_each = n_rows / 5 if n_free == 1 else np.sqrt(n_rows / 5)
    return int(np.clip(rows_each, 2, 40 if n_free == 1 else 20))


def _bins_of(asked: Asked, position: int, most: int, weight: Floats) -> Bins:
    table = asked.summed.table
    column = table.columns[position]
    every = axis_of_all(column)
    if isinstance(column, LevelColumn):
        levels = every.codes.astype(np.intp)
        if every.kind == "categorical":
            levels = order_by_likeness(table, position, levels, weight)
        place = np.full(len(column.levels) + 1, -1)
        place[levels] = np.arange(len(levels))
        return level_bins(replace(every, codes=levels.astype(np.float64)), place[column.indices], weight)
    places = every.places(column)
    present = places[(places >= 0) & (places < len(every.codes))]
    edges = np.arange(len(every.codes))
    if len(edges) > most + 1:
        shares = np.arange(most + 1) / most
        edges = np.unique(np.quantile(present, shares, method="inverted_cdf"))
    axis = replace(every, codes=every.codes[edges])
    lacks = (places < 0) | (places >= len(every.codes))
    at = np.where(lacks, -1, np.searchsorted(edges, places))
    return number_bins(axis, at, weight)


def _edge(bins: Bins, member: NDArray[np.intp], upper: bool) -> Column:
    """The column with each row at one end of its bin; rows in no bin are not asked about."""
    return bins.axis.column(np.maximum(member, 0) + int(upper))


def _single(asked: Asked, position: int, bins: Bins, weight: Floats) -> AccumulatedLocalEffects:
    """The effect of one column: equations E5 and E6."""
    n_edges = len(bins.axis.codes)
    n_targets = len(asked.targets)
    values, errors = np.zeros((n_edges, n_targets)), np.zeros((n_edges, n_targets))
    if bins.n_bins:
        differences = [
            asked.at({position: _edge(bins, member, True)}) - asked.at({position: _edge(bins, member, False)})
            for member in bins.members
        ]
        steps = Steps(bins.members, differences, weight, bins.n_bins)
        means, total = steps.means()
        operator = summed(bins)
        values = operator @ means
        errors = (
            steps.errors(operator, means, total) if bins.n_bins <= MOST_BINS else np.full_like(values, np.nan)
        )
    counts = bins.counts
    if bins.axis.missing:
        extra, error, n = _of_missing(asked, position, bins, weight)
        values, errors = np.vstack([values, extra]), np.vstack([errors, error])
        counts = np.append(counts, n)
    return _record(asked, (bins.axis,), values.T, errors.T, counts)


def _of_missing(asked: Asked, position: int, bins: Bins, weight: Floats) -> tuple[Floats, Floats, int]:
    """What rows without a value have beyond the mean of what they would have with one."""
    column = asked.summed.table.columns[position]
    n_rows, n_edges = asked.summed.table.n_rows, len(bins.axis.codes)
    lacks = lacking(column)
    assert lacks is not None
    w = weight * lacks
    gap = asked.at({})
    for edge in range(n_edges):
        if bins.shares[edge] > 0:
            gap = gap - bins.shares[edge] * asked.at({position: bins.axis.column(np.full(n_rows, edge))})
    total = w.sum()
    if total <= 0:
        nothing = np.zeros((1, gap.shape[1]))
        return nothing, nothing, int(lacks.sum())
    mean = (w[:, None] * gap).sum(axis=0) / total
    n = int((w > 0).sum())
    spread = (np.square(w[:, None] * (gap - mean))).sum(axis=0) / total**2
    error = np.sqrt(spread * n / (n - 1)) if n > 1 else np.full(gap.shape[1], np.nan)
    return mean[None], error[None], int(lacks.sum())


def _joint(asked: Asked, sides: Sequence[tuple[int, Bins]], weight: Floats) -> AccumulatedLocalEffects:
    """What two columns do beyond each by itself: equation E7."""
    (a, first), (b, second) = sides
    n_targets = len(asked.targets)
    shape = (len(first.axis.codes), len(second.axis.codes))
    n_cells = first.n_bins * second.n_bins
    axes = tuple(replace(bins.axis, missing=False) for bins in (first, second))
    if not n_cells:
        nothing = np.zeros((n_targets, *shape))
        return _record(asked, axes, nothing, nothing, np.zeros(shape, np.int64))
    cells: list[NDArray[np.intp]] = []
    differences: list[Floats] = []
    for ma, mb in product(first.members, second.members):
        ends = {
            (ua, ub): asked.at({a: _edge(first, ma, ua), b: _edge(second, mb, ub)})
            for ua in (False, True)
            for ub in (False, True)
        }
        differences.append(ends[True, True] - ends[False, True] - ends[True, False] + ends[False, False])
        cells.append(np.where((ma >= 0) & (mb >= 0), ma * second.n_bins + mb, -1))
    steps = Steps(cells, differences, weight, n_cells)
    means, total = steps.means()
    source = filling(first, second, total)
    values = summed_twice(first, second, means[source], total)
    errors = np.full_like(values, np.nan)
    if n_cells <= MOST_BINS:
        operator = summed_twice(first, second, np.eye(n_cells)[source], total).reshape(-1, n_cells)
        errors = steps.errors(operator, means, total).reshape(values.shape)
    counts = np.zeros(shape, np.int64)
    inside = (first.places >= 0) & (second.places >= 0)
    np.add.at(counts, (first.places[inside], second.places[inside]), 1)
    return _record(asked, axes, np.moveaxis(values, 2, 0), np.moveaxis(errors, 2, 0), counts)


def _record(
    asked: Asked, axes: Sequence[Axis], values: Floats, errors: Floats, counts: NDArray[np.int64]
) -> AccumulatedLocalEffects:
    return AccumulatedLocalEffects(
        columns=tuple(axis.name for axis in axes),
        kinds=tuple(axis.kind for axis in axes),
        grid=tuple(axis.values for axis in axes),
        values=np.ascontiguousarray(values),
        standard_error=np.ascontiguousarray(errors),
        targets=asked.targets,
        response=asked.response,
        model=asked.name,
        deciles=tuple(axis.deciles for axis in axes),
        library=None,
        counts=counts.astype(np.int64),
    )
