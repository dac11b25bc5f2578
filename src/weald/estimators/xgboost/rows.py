"""Rows for boosting, as users give them → aligned tables, targets, weights and margins, each checked.

Training rows and the sets of `eval_set` come the same way; `Given.where` names a set in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import ClassWeight, ColumnLike, Floats, TableLike, TargetLike, WeightLike
from weald.boosting.records import BoostTarget
from weald.data.adapters import to_table
from weald.data.missing import mark_missing
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Table
from weald.data.target import Labels, positions_among, read_labels
from weald.errors import DataError, DataTypeError, ParameterError, WealdError, listing
from weald.estimators.shared.class_weight import Weights, weigh_by_class, without_absent
from weald.estimators.xgboost.constraints import categorical_by_type, check_types
from weald.estimators.xgboost.options import ReadingOptions, XGBOptions
from weald.rows.blocks import PagedCodes
from weald.rows.dask.codes import DaskCodes


@dataclass(frozen=True, slots=True)
class Given:
    """Rows as the user gave them."""

    X: TableLike
    y: TargetLike | None
    sample_weight: WeightLike | None = None
    base_margin: ColumnLike | None = None
    group: ColumnLike | None = None
    qid: ColumnLike | None = None
    where: str = ""  # such as "eval_set[0]"; empty for the training rows
    values: Callable[[], Iterator[Table]] | None = None  # what codes in pages stand for, where that is asked
    sort_groups: bool = False  # whether rows of a query are to be put together first

    def same_rows(self, other: Given) -> bool:
        """Whether these are the very objects of `other`: nothing has to be read or predicted twice."""
        return (
            self.X is other.X
            and self.y is other.y
            and self.base_margin is other.base_margin
            and self.qid is other.qid
            and self.group is other.group
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in the engine's words."""

    table: Table  # aligned to the schema
    target: BoostTarget
    margin: Floats | None  # (n_rows, n_outputs); what boosting starts from instead of the base score
    pages: PagedCodes | DaskCodes | None = (
        None  # where the rows are, if not in `table`, which then only tells how many
    )

    def take(self, rows: NDArray[np.int64], weight: Weights | None = None) -> Rows:
        """Some of the rows, with other weights if given; of a ranking, whole queries in their order."""
        target = self.target
        kept = weight if weight is not None else None if target.weight is None else target.weight[rows]
        group_start = None
        if target.group_start is not None:
            query = np.searchsorted(target.group_start, rows, side="right")
            group_start = np.concatenate(([0], np.flatnonzero(np.diff(query)) + 1, [len(rows)]))
        return Rows(
            take_rows(self.table, rows),
            BoostTarget(np.ascontiguousarray(target.values[rows]), kept, group_start),
            None if self.margin is None else self.margin[rows],
        )


@contextmanager
def naming_set(where: str) -> Iterator[None]:
    """Put the name of an evaluation set before what is wrong with it."""
    try:
        yield
    except WealdError as error:
        if not where:
            raise
        raise type(error)(f"{where}: {error}") from error


def read_table(X: TableLike, options: XGBOptions, owner: str) -> Table:
    """The training table, with the categories and missing values that the parameters declare."""
    declared = categorical_by_type(options.feature_types, options.categorical_features, owner)
    if options.feature_types is None:
        table = to_table(X, categorical_features=declared)
    else:
        table = to_table(X)
        check_types(options.feature_types, table.n_columns, owner)
        if declared is not None and any(declared):
            table = to_table(X, categorical_features=declared)
    return mark_missing(table, options.missing if options.missing is not None else np.nan)


def aligned_table(
    X: TableLike, schema: Schema, options: ReadingOptions, owner: str, *, validate_features: bool = True
) -> Table:
    """A new table in the order and levels of a schema; by position alone if features are not validated."""
    names = schema.names
    categorical = [names[j] for j in _categorical(schema)]
    try:
        table = to_table(X, categorical_features=categorical or None)
    except ParameterError:
        table = to_table(X)  # an absent column: `align` says which
    table = mark_missing(table, options.missing if options.missing is not None else np.nan)
    if not validate_features and table.n_columns == len(schema.columns):
        table = renamed(table, schema.names, named=schema.named)
    return schema.align(table, estimator=owner)


def _categorical(schema: Schema) -> Sequence[int]:
    """The columns whose categories are numbers: only declaring them makes them categories again."""
    columns = getattr(schema.columns, "others", None)
    pairs = columns.items() if columns is not None else enumerate(schema.columns)
    return [
        j
        for j, column in pairs
        if column.kind == "categorical" and not all(isinstance(level, str) for level in column.levels)
    ]


def training_table(X: TableLike, options: XGBOptions, owner: str, schema: Schema | None) -> Table:
    """The training table: with a schema, that of a model to go on from, aligned to it."""
    if schema is None:
        return read_table(X, options, owner)
    return aligned_table(X, schema, options, owner)


def as_wide(X: TableLike, n_columns: int) -> TableLike:
    """A sparse matrix of files with so many columns: rows of a block may lack the last ones."""
    if not isinstance(X, sparse.csr_matrix) or X.shape[1] >= n_columns:
        return X
    wide: TableLike = sparse.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], n_columns))
    return wide


def renamed(table: Table, names: Sequence[Hashable], *, named: bool) -> Table:
    """The same table with other names; `named`: whether these are the user's own."""
    columns = table.columns
    if isinstance(columns, BlockColumns):
        return Table(BlockColumns(columns.block, columns.placed, names), table.n_rows, named)
    given = tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
    return Table(given, table.n_rows, named)


def read_margin(margin: ColumnLike | None, n_rows: int) -> Floats | None:
    """Raw scores to start from: (n_rows, n_outputs), finite. `check_margin` looks at how many outputs."""
    if margin is None:
        return None
    try:
        values = np.asarray(margin, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError("base_margin must be numbers: raw scores to start from, one per row.") from None
    if values.ndim not in (1, 2) or len(values) != n_rows:
        raise DataError(
            f"base_margin has shape {values.shape}, and there are {n_rows} rows. Give raw scores of shape "
            f"({n_rows},), or ({n_rows}, n_outputs) for several outputs."
        )
    bad = ~np.isfinite(values).reshape(n_rows, -1).all(axis=1)
    if bad.any():
        raise DataError(f"base_margin must be finite; row {int(np.argmax(bad))} is not.")
    return np.ascontiguousarray(values.reshape(n_rows, -1))


def check_margin(margin: Floats | None, n_outputs: int) -> None:
    """Refuse margins for another number of outputs."""
    if margin is not None and margin.shape[1] != n_outputs:
        raise DataError(
            f"base_margin has {margin.shape[1]} raw scores per row, and the model has {n_outputs} outputs. "
            f"Give it the shape ({len(margin)}, {n_outputs})."
        )


# --------------------------------------------------------------------------- labels


@dataclass(frozen=True, slots=True)
class Classes:
    """Labels as class numbers: one output, or several of two classes each."""

    values: Floats  # (n_rows,), or (n_rows, n_outputs) of 0 and 1
    classes: tuple[NDArray[Any], ...]
    weight: Weights | None


def read_classes(
    y: TargetLike | None, n_rows: int, weight: Weights | None, class_weight: ClassWeight, owner: str
) -> Classes:
    """Class numbers of the training rows, and weights times the factors of the classes."""
    outputs = [without_absent(found, weight) for found in read_labels(y, n_rows=n_rows, estimator=owner)]
    if len(outputs) > 1:
        for k, found in enumerate(outputs):
            if len(found.classes) > 2:
                raise DataError(
                    f"y has {len(outputs)} columns, and column {k} has {len(found.classes)} classes. {owner} "
                    "takes several columns of two classes each; for more, fit one model per column "
                    "(scikit-learn's MultiOutputClassifier does)."
                )
    weight = weigh_by_class(class_weight, owner, outputs, weight)
    return Classes(_numbers(outputs), tuple(found.classes for found in outputs), weight)


def read_known_classes(
    y: TargetLike | None, n_rows: int, classes: tuple[NDArray[Any], ...], owner: str
) -> Floats:
    """Class numbers by the classes of a model; a label it does not have is an error."""
    outputs = read_labels(y, n_rows=n_rows, estimator=owner)
    if len(outputs) != len(classes):
        raise DataError(f"y has {len(outputs)} columns, and the training rows have {len(classes)}.")
    return _numbers([_known(found, known) for found, known in zip(outputs, classes, strict=True)])


def _known(found: Labels, known: NDArray[Any]) -> Labels:
    places = positions_among(found.classes, known).astype(np.int32)
    if (places < 0).any():
        strange = found.classes[places < 0].tolist()[0]
        raise DataError(
            f"y holds the label {strange!r}, which training did not see; the labels are "
            f"{listing(known.tolist())}. Drop these rows, or add some of them to the training rows."
        )
    return Labels(known, places[found.indices])


def _numbers(outputs: Sequence[Labels]) -> Floats:
    columns = [found.indices.astype(np.float64) for found in outputs]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


# --------------------------------------------------------------------------- evaluation sets


def given_sets(
    eval_set: object,
    weights: object,
    margins: object,
    groups: object = None,
    qids: object = None,
    *,
    where: str = "eval_set",
) -> list[Given]:
    """The sets of `eval_set` with their weights, margins and queries, one list entry each."""
    if eval_set is None:
        for name, value in (
            ("sample_weight_eval_set", weights),
            ("base_margin_eval_set", margins),
            ("eval_group", groups),
            ("eval_qid", qids),
        ):
            if value is not None:
                raise DataError(f"{name} is given without eval_set. Give both, or neither.")
        return []
    pairs = _pairs(eval_set, where)
    n = len(pairs)
    extras = [
        _one_each(value, n, name, where)
        for name, value in (
            ("sample_weight_eval_set", weights),
            ("base_margin_eval_set", margins),
            ("eval_group", groups),
            ("eval_qid", qids),
        )
    ]
    weight, margin, group, qid = extras
    return [
        Given(X, y, weight[i], margin[i], group[i], qid[i], f"{where}[{i}]") for i, (X, y) in enumerate(pairs)
    ]


def _pairs(eval_set: object, where: str) -> list[tuple[Any, Any]]:
    way_out = f"{where} must be a list of pairs (X, y), such as {where}=[(X_test, y_test)]"
    if not isinstance(eval_set, list | tuple):
        raise DataTypeError(f"{way_out}; got {type(eval_set).__name__}.")
    for i, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            size = f" of {len(pair)}" if isinstance(pair, list | tuple) else ""
            raise DataTypeError(f"{way_out}; entry {i} is a {type(pair).__name__}{size}.")
    return [(X, y) for X, y in eval_set]


def _one_each(values: object, n: int, name: str, where: str) -> list[Any]:
    if values is None:
        return [None] * n
    if not isinstance(values, list | tuple) or len(values) != n:
        got = f"{len(values)} entries" if isinstance(values, list | tuple) else type(values).__name__
        raise DataError(
            f"{name} must be a list with one entry for each of the {n} sets of {where}; got {got}. Use None "
            "for a set that has none."
        )
    return list(values)
