"""`partial_dependence`: predictions while columns are set to one value after another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import overload

import numpy as np

from weald.arrays import Floats, TableLike, WeightLike
from weald.data.target import read_weight
from weald.engine import memory_bytes
from weald.errors import DataError, ParameterError, nearest, told
from weald.insight.dependence.columns import Grid, OneOrTwo, Several, read_axis, read_columns
from weald.insight.dependence.jackknife import model_errors
from weald.insight.dependence.responses import Asked, Model, Target, ask
from weald.inspection.dependence.axes import Axis
from weald.inspection.dependence.moments import Curves, standard_error
from weald.inspection.dependence.records import PartialDependence
from weald.pictures.trained_on import frame_library
from weald.progress import Progress

_KINDS = ("average", "individual", "both")


@overload
def partial_dependence(
    model: Model,
    X: TableLike,
    columns: Several | None = None,
    *,
    kind: str = "average",
    grid: Grid = None,
    centred: bool = False,
    jackknife: bool = False,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list[PartialDependence]: ...
@overload
def partial_dependence(
    model: Model,
    X: TableLike,
    columns: str | int | tuple[Hashable, Hashable],
    *,
    kind: str = "average",
    grid: Grid = None,
    centred: bool = False,
    jackknife: bool = False,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PartialDependence: ...
def partial_dependence(
    model: Model,
    X: TableLike,
    columns: OneOrTwo | Several | None = None,
    *,
    kind: str = "average",
    grid: Grid = None,
    centred: bool = False,
    jackknife: bool = False,
    sample_weight: WeightLike | None = None,
    response: str = "auto",
    target: Target = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PartialDependence | list[PartialDependence]:
    """The mean prediction over rows while one column, or two, is set to one value after another.

    Of weald's trees and their ensembles the whole curve comes from one pass over the rows, for all columns
    together; any other model is asked once for every value. The values are those of asking either way. A
    response that is no sum of trees, such as a probability, is made row by row before the mean is taken.

    Parameters
    ----------
    model : estimator or callable
        A fitted estimator of weald or of any library that keeps scikit-learn's contract, or a function of a
        table.
    X : table
        The rows to average over: a pandas, polars or Arrow frame, an array, a sparse matrix or a list of
        rows.
    columns : str, int, tuple of two of these, or a list of such; default=None
        A column by name or position, or two columns to set together. A list gives a list; None is every
        column.
    kind : {"average", "individual", "both"}, default="average"
        Whether to keep the curve of every row too: "individual" and "both" do.
    grid : int, "thresholds", values, or a mapping of column to values; default=None
        The values to set. None: every value of a column that has at most 100 (25 if two columns are set),
        else so many at equal distances between the 5 % and the 95 % quantile, rounded in a column of whole
        numbers. A number stands for another limit. "thresholds": one value on each step of the curve of a
        model made of trees. Categories always have one point each, and so has a missing value where the
        column has one; None in given values is a missing value.
    centred : bool, default=False
        Whether each row's curve is moved so that it starts from 0.
    jackknife : bool, default=False
        Whether to tell how sure a forest is of the curve: its standard error over other training tables, as
        `model_error`, by the infinitesimal jackknife over the trees. It takes about as many trees as training
        rows to be steady.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows in the mean.
    response : {"auto", "predict_proba", "decision_function", "predict", "raw"}, default="auto"
        What is averaged. "auto": probabilities of a classifier (or its decision function, where it has none),
        predictions of a regressor. "raw": the sum of the trees, before any link.
    target : label or int, default=None
        The class, or the number of an output. None: the second of two classes, else all of them.
    n_jobs : int, default=None
        Threads for weald's trees; None for every CPU of the process. The result does not depend on it.
    progress : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    PartialDependence, or list of PartialDependence
        With `values`, `standard_error`, `grid`, `individual`, `band`, `quantiles` and `to_frame`.

    Examples
    --------
    >>> import weald
    >>> X = {"size": [1, 2, 3, 4] * 10, "city": (["Bern"] * 4 + ["Basel"] * 4) * 5}
    >>> y = [size + 2 * (city == "Bern") for size, city in zip(X["size"], X["city"])]
    >>> model = weald.DecisionTreeRegressor().fit(X, y)
    >>> weald.partial_dependence(model, X, "city").values.round(6).tolist()
    [[2.5, 4.5]]
    """
    keep = _keeps(kind)
    asked = ask(model, X, response=response, target=target, n_jobs=n_jobs)
    table = asked.summed.table
    weight = row_weight(sample_weight, table.n_rows)
    wanted, several = read_columns(table, columns)
    axes = [[(j, read_axis(asked.summed, j, grid, n_free=len(each))) for j in each] for each in wanted]
    _check_room(axes, len(asked.picks), table.n_rows, keep)
    bar = Progress(sum(len(each) for each in axes), word="column") if progress else None
    try:
        if bar is not None:
            bar.start()
        found = _found(asked, axes, weight, centred=centred, keep=keep, told=_telling(bar))
    finally:
        if bar is not None:
            bar.close()
    library = frame_library(X)
    errors = model_errors(model, asked, axes, weight, centred=centred) if jackknife else [None] * len(axes)
    records = [
        _record(asked, each, curves, error, weight, centred=centred, kind=kind, library=library)
        for each, curves, error in zip(axes, found, errors, strict=True)
    ]
    return records if several else records[0]


def row_weight(sample_weight: WeightLike | None, n_rows: int) -> Floats | None:
    """Weights of rows, some above 0; None for 1 each."""
    weight = read_weight(sample_weight, n_rows=n_rows)
    if weight is None:
        return None
    if not (weight > 0).any():
        raise DataError("Every weight is 0: there is no row to average over. Leave `sample_weight` out.")
    return np.ascontiguousarray(weight, np.float64)


def _keeps(kind: str) -> bool:
    if kind not in _KINDS:
        close = nearest(str(kind), _KINDS)
        hint = f" Did you mean {close!r}?" if close else ""
        raise ParameterError(f"`kind` must be 'average', 'individual' or 'both'; got {told(kind)}.{hint}")
    return kind != "average"


def _telling(bar: Progress | None) -> Callable[[int], object]:
    def advance(n_done: int) -> None:
        for _ in range(n_done if bar is not None else 0):
            assert bar is not None
            bar.advance({})

    return advance


def _found(
    asked: Asked,
    axes: Sequence[Sequence[tuple[int, Axis]]],
    weight: Floats | None,
    *,
    centred: bool,
    keep: bool,
    told: Callable[[int], object],
) -> list[Curves]:
    """The curves of single columns together, each of them once; then pairs one by one."""
    single = {each[0][0]: each[0] for each in axes if len(each) == 1}
    summed = asked.summed
    curves = summed.curves(list(single.values()), asked.picks, weight, centred=centred, keep=keep, told=told)
    by_column = dict(zip(single, curves, strict=True))
    out: list[Curves] = []
    for each in axes:
        if len(each) == 1:
            out.append(by_column[each[0][0]])
        else:
            out += summed.curves(each, asked.picks, weight, pair=True, centred=centred, keep=keep, told=told)
    return out


def _check_room(axes: Sequence[Sequence[tuple[int, Axis]]], n_targets: int, n_rows: int, keep: bool) -> None:
    """Say beforehand that the curves of all rows do not fit into memory."""
    if not keep:
        return
    points = sum(int(np.prod([axis.n_points for _, axis in each])) for each in axes)
    needed, there = 8 * points * n_targets * n_rows, memory_bytes()
    if needed > 0.8 * there:
        raise MemoryError(
            f"The curves of {n_rows:,} rows at {points:,} points of {n_targets} targets take "
            f"{needed / 2**30:.1f} GiB, and there are {there / 2**30:.1f} GiB. Use kind='average', or "
            "fewer rows, columns or points."
        )


def _record(
    asked: Asked,
    axes: Sequence[tuple[int, Axis]],
    curves: Curves,
    error: Floats | None,
    weight: Floats | None,
    *,
    centred: bool,
    kind: str,
    library: str | None,
) -> PartialDependence:
    shape = (len(asked.targets), *(axis.n_points for _, axis in axes))
    individual, n_rows = curves.individual, asked.summed.table.n_rows
    return PartialDependence(
        columns=tuple(axis.name for _, axis in axes),
        kinds=tuple(axis.kind for _, axis in axes),
        grid=tuple(axis.values for _, axis in axes),
        values=curves.mean.reshape(shape),
        standard_error=standard_error(curves.squares, weight, n_rows).reshape(shape),
        targets=asked.targets,
        response=asked.response,
        model=asked.name,
        deciles=tuple(axis.deciles for _, axis in axes),
        library=library,
        individual=None if individual is None else individual.reshape(shape[0], n_rows, *shape[1:]),
        model_error=None if error is None else error.reshape(shape),
        weight=weight,
        centred=centred,
        kind=kind,
    )
