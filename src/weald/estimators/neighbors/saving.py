"""What a model file keeps of neighbours: rows where they stand, and their target; and how it comes back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import Floats
from weald.data.column_schema import ColumnSchema, Positions
from weald.data.matrix.matrix import Matrix
from weald.data.schema import Schema
from weald.errors import ModelFileError, ParameterError
from weald.estimators.neighbors.options import NeighborsOptions, chosen_metric
from weald.estimators.neighbors.target import NeighborsTarget
from weald.estimators.svm.kernel.saving import check_declared
from weald.io.arrays import Shelf, pack_bits
from weald.io.matrices import decode_matrix, encode_matrix
from weald.io.saved_state import SavedMachine
from weald.neighbors.metrics import Metric
from weald.neighbors.places import Places
from weald.neighbors.search import Search
from weald.neighbors.space import RowSpace

if TYPE_CHECKING:
    from weald.estimators.neighbors.base import BaseNeighbors

_FACTS = {"gaps", "is_sparse", "metric", "n_rows", "p", "scaled"}
_NUMBERS = ("shift", "divisor", "middle", "spread")


class SavedNeighbors:
    """The parts of a fitted `KNeighborsClassifier` or `KNeighborsRegressor`."""

    def _saved_state(self) -> SavedMachine:
        own = cast("BaseNeighbors", self)
        params = own.get_params(deep=False)
        if callable(params["weights"]):
            name = getattr(params["weights"], "__name__", type(params["weights"]).__name__)
            raise ModelFileError(
                f"`weights`={name} of this {type(self).__name__} is a function of your own, which a model "
                "file cannot keep. Use pickle, or weights='distance'."
            )
        space, places = own._search_.space, own._search_.fitted
        if params.pop("metric_params"):
            params["p"] = space.metric.p  # which is all that they can say
        entries = places.numeric.data if places.is_sparse else places.numeric
        gaps = np.isnan(entries)
        metric = space.metric
        arrays = {f"space.{name}": getattr(space, name) for name in (*_NUMBERS, "mismatch")}
        arrays["space.known"] = space.known.astype(np.uint8)
        arrays["space.shares"] = np.concatenate([np.zeros(0), *space.shares])
        if len(space.known):
            arrays |= _encode_numbers(places, gaps)
        if gaps.any():
            arrays["gaps"] = pack_bits(gaps.ravel())
        if len(space.shares):
            arrays["codes"] = places.codes.ravel()
        return SavedMachine(
            params=params,
            schema=space.schema,
            classes=own._target_.classes,
            facts={
                "gaps": bool(gaps.any()),
                "is_sparse": space.is_sparse,
                "metric": metric.name,
                "n_rows": places.n_rows,
                "p": "inf" if math.isinf(metric.p) else metric.p,
                "scaled": space.scaled,
            },
            arrays=arrays | _encode_target(own._target_),
        )

    @classmethod
    def _from_saved_state(cls, state: SavedMachine) -> Self:
        estimator = cast("type[BaseNeighbors]", cls)(**state.params)
        options: NeighborsOptions = estimator._checked_options()
        shelf, facts = Shelf(state.arrays), state.facts
        if state.schema is None or is_classifier(estimator) != (state.classes is not None):
            raise ParameterError("Neighbours have no columns, or have labels where they have numbers.")
        _check_facts(facts, newer=state.newer)
        check_declared(state.schema, options.categorical_features)
        metric = _metric(facts, options, type(estimator).__name__)
        space = _decode_space(shelf, state.schema, metric, facts)
        places = _decode_places(shelf, space, facts)
        target = _decode_target(shelf, state.classes, places.n_rows)
        if shelf.left() and not state.newer:
            raise ModelFileError(f"The model file holds an array nobody asked for: {shelf.left()[0]!r:.80}.")
        search = Search(space, places, algorithm=options.algorithm, leaf_size=options.leaf_size)
        estimator._set_fitted(search, target)
        return cast("Self", estimator)


# --------------------------------------------------------------------------- to arrays


def _encode_numbers(places: Places, gaps: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The numbers, 0 where one is missing: a file holds no NaN."""
    numeric = places.numeric
    if not places.is_sparse:
        return encode_matrix(Matrix(np.where(gaps, 0.0, numeric)), "rows")
    filled = numeric.copy()
    filled.data[gaps] = 0.0
    return encode_matrix(Matrix(filled), "rows")


def _encode_target(target: NeighborsTarget) -> dict[str, NDArray[Any]]:
    if target.numbers is not None:
        return {"target": target.numbers}
    return {"labels": np.stack(target.labels).ravel()}


# --------------------------------------------------------------------------- back


def _check_facts(facts: dict[str, Any], *, newer: bool) -> None:
    if not set(facts) >= _FACTS or (set(facts) != _FACTS and not newer):
        raise ParameterError("The facts of neighbours are not complete, or there are others.")
    flags = all(type(facts[name]) is bool for name in ("gaps", "is_sparse", "scaled"))
    if not flags or type(facts["n_rows"]) is not int or not 0 < facts["n_rows"] < 2**62:
        raise ParameterError("The facts of neighbours have the wrong form.")


def _metric(facts: dict[str, Any], options: NeighborsOptions, owner: str) -> Metric:
    """The metric of the file, which its parameters must not contradict."""
    p = math.inf if facts["p"] == "inf" else facts["p"]
    if not isinstance(facts["metric"], str) or not isinstance(p, int | float):
        raise ParameterError("The metric of neighbours has the wrong form.")
    metric = Metric(facts["metric"], float(p))
    same = metric == chosen_metric(options, owner)
    if not same or facts["scaled"] != (options.scale or metric.always_scaled):
        raise ParameterError("The metric of neighbours is not the one of their parameters.")
    return metric


def _decode_space(shelf: Shelf, schema: Schema, metric: Metric, facts: dict[str, Any]) -> RowSpace:
    columns = schema.columns
    others = columns.others.values() if isinstance(columns, Positions) else columns
    levels = [len(each.levels) for each in cast("list[ColumnSchema]", others) if each.kind == "categorical"]
    n_numeric = len(columns) - len(levels)
    known = shelf.integers("space.known", n_numeric, 0, 1).astype(np.bool_)
    numbers = {name: shelf.floats(f"space.{name}", (n_numeric,)) for name in _NUMBERS}
    if (numbers["divisor"] <= 0).any() or (numbers["spread"] < 0).any():
        raise ModelFileError("The columns of the model file are divided by impossible numbers.")
    mismatch = shelf.floats("space.mismatch", (len(levels),), low=0.0)
    shares = shelf.floats("space.shares", (sum(levels),), low=0.0)
    if (shares > 1).any():
        raise ModelFileError("The levels of the model file have shares beyond 1.")
    each = tuple(np.split(shares, np.cumsum(levels)[:-1])) if levels else ()
    return RowSpace(
        schema, metric, facts["scaled"], facts["is_sparse"], known, **numbers, mismatch=mismatch, shares=each
    )


def _decode_places(shelf: Shelf, space: RowSpace, facts: dict[str, Any]) -> Places:
    n_rows, n_numeric, n_categorical = facts["n_rows"], len(space.known), len(space.shares)
    codes = np.empty((n_rows, 0), np.int32)
    if n_categorical:
        most = max(len(share) for share in space.shares)
        codes = shelf.integers("codes", n_rows * n_categorical, 0, most, np.int32).reshape(n_rows, -1)
        if any(int(codes[:, c].max()) > len(share) for c, share in enumerate(space.shares)):
            raise ModelFileError("The rows of the model file have levels that its columns do not have.")
    if not n_numeric and space.is_sparse:
        raise ModelFileError("The rows of the model file are sparse, but hold no numbers.")
    if not n_numeric:
        return Places(np.empty((n_rows, 0)), codes)
    values: Any = decode_matrix(shelf, "rows", n_numeric, is_sparse=space.is_sparse).values
    if values.shape[0] != n_rows:
        raise ModelFileError(f"The model file holds {values.shape[0]} rows and tells of {n_rows}.")
    if facts["gaps"]:
        entries: Floats = values.data if space.is_sparse else values
        gaps = shelf.bits("gaps", entries.size).reshape(entries.shape)
        if space.is_sparse:
            values.data = np.where(gaps, np.nan, entries)
        else:
            values = entries if entries.flags.writeable else entries.copy()
            values[gaps] = np.nan
    return Places(values, codes)


def _decode_target(shelf: Shelf, classes: tuple[NDArray[Any], ...] | None, n_rows: int) -> NeighborsTarget:
    if classes is None:
        return NeighborsTarget(numbers=np.ascontiguousarray(shelf.floats("target", (n_rows, None))))
    if not classes or any(not len(each) for each in classes):
        raise ModelFileError("The outputs of the model file have no labels.")
    most = max(len(each) for each in classes) - 1
    labels = shelf.integers("labels", n_rows * len(classes), 0, most, np.int32).reshape(len(classes), n_rows)
    if any(int(of_row.max()) >= len(each) for of_row, each in zip(labels, classes, strict=True)):
        raise ModelFileError("The rows of the model file have labels that its outputs do not have.")
    return NeighborsTarget(classes, tuple(labels))
