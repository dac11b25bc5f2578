"""`explain_row`: the way of one row through a tree, split by split, in words."""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, cast

import numpy as np

from weald.arrays import AnyEstimator, TableLike
from weald.data.adapters import to_table
from weald.data.frames import from_pandas as pandas_frame
from weald.data.levels import missing_rows
from weald.data.schema import Schema
from weald.data.table import LevelColumn, Table
from weald.errors import DataError, DataTypeError
from weald.model.conditions import combination_terms, duration, instant, label, number, telling
from weald.model.forest import CATEGORIES, COMBINATION
from weald.model.read import read_aligned
from weald.model.values import plain_labels, rows
from weald.pictures.ensembles.which import TreeChoice
from weald.pictures.nodes import ShownTree


@dataclass(frozen=True, slots=True)
class Step:
    """One split on the way of a row."""

    node: int
    """The node that asks."""
    column: str
    """The column it asks for; the terms, for a split on a sum of columns."""
    value: str
    """The row's value in words."""
    missing: bool
    """Whether the value is missing."""
    unknown: bool
    """Whether the value is a category that training did not see, which counts as missing."""
    condition: str
    """What the rows of the child fulfil."""
    side: str
    """The child the row goes to: "left" or "right"."""
    goes_to: int
    """The number of that child."""
    count: int
    """The training rows there."""
    cover: float
    """Their weight."""
    prediction: str
    """What that child predicts, in words."""
    raw: object
    """The row's value as a Python value, the sum for a split on a sum of columns; None if it is missing."""
    threshold: object
    """Values up to it go left: a number, level, date or duration; None where there is none."""
    categories: tuple[Any, ...] | None
    """The categories that go left, for a split by categories."""
    node_value: tuple[float, ...]
    """The value of the child: the share of each class in the order of `classes_`, or its numbers."""

    def __str__(self) -> str:
        """The step as one line."""
        return f"{self.why()}: {self.side}, to {rows(self.count)}, {self.prediction}"

    def why(self) -> str:
        """The value, and what sends it to its side."""
        short = self.condition.removeprefix(f"{self.column} ").removesuffix(" or missing")
        if not (self.missing or self.unknown):
            obvious = short in ("is true", "is false")
            return f"{self.column} is {self.value}" + ("" if obvious else f" ({short})")
        said = f"{self.column} is missing"
        if self.unknown:
            said = f"{self.column} is {self.value}, a category unseen in training, so it counts as missing"
        if short == "is missing":
            return said
        where = f"is {short}" if short.startswith(("in ", "not in ")) else short
        return f"{said}; missing values go where {self.column} {where}"


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """The way of one row through a tree; prints as text, shows as a table in notebooks."""

    start: str
    """What the root predicts, in words."""
    count: int
    """The rows the tree was trained on."""
    steps: tuple[Step, ...]
    """The splits on the way."""
    leaf: int
    """The leaf it ends in."""
    prediction: object
    """What the model predicts for the row: a label or a number; a list of such for several outputs."""
    predicted: str
    """The prediction in words; labels with their share."""
    cover: float
    """The weight of the rows the tree was trained on."""
    start_value: tuple[float, ...]
    """The value of the root, as `node_value` of a step."""
    value: tuple[float, ...]
    """The value of the leaf, as `node_value` of a step."""

    def __str__(self) -> str:
        """The way as text."""
        lines = [f"Start: {rows(self.count)}, {self.start}"]
        lines += [f"{k}. {step}" for k, step in enumerate(self.steps, start=1)]
        return "\n".join([*lines, f"Prediction: {self.predicted}"])

    def to_dict(self) -> dict[str, Any]:
        """The same as values that JSON has: dates as ISO text, durations in seconds, lists for tuples."""
        plain: dict[str, Any] = _jsonable(asdict(self))
        return plain

    def _repr_html_(self) -> str:
        """The way as an HTML table."""
        head = "".join(f"<th>{word}</th>" for word in ("", "value and condition", "side", "rows", "there"))
        body = (
            f"<tr><td></td><td>start</td><td></td><td>{self.count:,}</td><td>{escape(self.start)}</td></tr>"
        )
        for k, step in enumerate(self.steps, start=1):
            cells = (str(k), step.why(), step.side, f"{step.count:,}", step.prediction)
            body += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>Prediction: <b>{escape(self.predicted)}</b></p>"
        )


def explain_row(model: object, row: TableLike, tree: TreeChoice = None) -> RowExplanation:
    """The way of one row through one tree of an estimator; see `TreePictures.explain_row`."""
    return _way(ShownTree.of(model, "explain_row", tree=tree, all_missing=True), row)


def _way(tree: ShownTree, row: TableLike) -> RowExplanation:
    walk = _Walk(tree, one_row(row, tree.model.schema_))
    node, steps = 0, []
    while tree.split(node) >= 0:
        step = walk.step(node)
        steps.append(step)
        node = step.goes_to
    return RowExplanation(
        start=tree.outputs.words(tree.value[0], 3),
        count=int(tree.forest.count[0]),
        steps=tuple(steps),
        leaf=node,
        prediction=_prediction(tree, node),
        predicted=_predicted(tree, node),
        cover=float(tree.forest.cover[0]),
        start_value=tuple(tree.value[0].tolist()),
        value=tuple(tree.value[node].tolist()),
    )


def _jsonable(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(entry) for entry in value]
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return value.isoformat() if isinstance(value, dt.date | dt.time) else value


def _prediction(tree: ShownTree, node: int) -> object:
    value, several = tree.value[node], tree.outputs.n_outputs > 1
    if tree.outputs.classes is None:
        return value.tolist() if several else float(value[0])
    labels = tree.model.classes_ if isinstance(tree.model.classes_, list) else [tree.model.classes_]
    best = [plain_labels(own)[k] for own, k in zip(labels, tree.outputs.best(value), strict=True)]
    return best if several else best[0]


def _predicted(tree: ShownTree, node: int) -> str:
    value = tree.value[node]
    if tree.outputs.classes is None:
        return ", ".join(number(float(part), 6) for part in value)
    parts = zip(tree.outputs.classes, tree.outputs.parts(value), tree.outputs.best(value), strict=True)
    return ", ".join(f"{names[k]} (share {float(shares[k]):.3f})" for names, shares, k in parts)


def one_row(row: Any, schema: Schema) -> TableLike:
    """The row as a table that `to_table` reads; values without names belong to the columns in order."""
    if isinstance(row, Mapping):
        scalar = [isinstance(value, str | bytes) or not hasattr(value, "__len__") for value in row.values()]
        return {name: [value] for name, value in row.items()} if all(scalar) else row
    if pandas_frame.is_series(row):
        if schema.named and row.index.is_unique and set(row.index) >= set(schema.names):
            return {name: [row[name]] for name in schema.names}
        return _in_order(row.tolist(), schema)
    if isinstance(row, str | bytes) or row is None or _is_number(row):
        raise DataTypeError(
            "explain_row takes the values of one row: a table of one row, a dict, a list or a 1-D array, not "
            f"its index; got {row!r}. For row 5 of a table pass X[5:6], or X.iloc[[5]]."
        )
    if hasattr(row, "tocsr") and row.shape[0] == 1:
        row = row.toarray()  # a sparse row
    if isinstance(row, np.void):
        return np.array([row])
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None:
        return _in_order(list(row), schema)
    if isinstance(row, list | tuple) and not any(isinstance(v, list | tuple | np.ndarray) for v in row):
        return _in_order(list(row), schema)
    return cast(TableLike, row)


def _is_number(row: object) -> bool:
    return isinstance(row, numbers.Number) or (isinstance(row, np.ndarray) and row.ndim == 0)


def _in_order(values: list[Any], schema: Schema) -> TableLike:
    if schema.named and len(values) == len(schema.columns):
        return {name: [value] for name, value in zip(schema.names, values, strict=True)}
    return [values]


def read_row(model: AnyEstimator, row: TableLike) -> Table:
    """A table in the columns of a model, as the model reads it."""
    if hasattr(model, "_aligned"):  # a booster, which knows more words for missing
        aligned: Table = model._aligned(row)
        return aligned
    declared = model.categorical_features
    return read_aligned(row, model.schema_, declared=declared, owner=type(model).__name__)


def is_missing(row: Table, j: int) -> bool:
    """Whether the one row of an aligned table has no value in a column, or a level that training had not."""
    column = row.columns[j]
    if isinstance(column, LevelColumn):
        return bool(column.indices[0] < 0)
    return missing_rows(column) is not None


def check_one(n_rows: int) -> None:
    """Refuse a table of no row or of several."""
    if n_rows != 1:
        raise DataError(
            f"explain_row explains one row; got a table of {n_rows}. Pass one of them, for example X[:1]."
        )


class _Walk:
    """One row, as given and as the model reads it, and the splits it meets."""

    def __init__(self, tree: ShownTree, row: TableLike) -> None:
        self.tree = tree
        self.aligned = read_row(tree.model, row)
        check_one(self.aligned.n_rows)
        self.given = to_table(row)

    def step(self, node: int) -> Step:
        """What happens at a node."""
        tree, i = self.tree, self.tree.split(node)
        value, words, unknown = self._value(i)
        threshold, categories = self._cut(i)
        left = self._left(i, value)
        child = (node + 1) if left else int(tree.forest.right[i])
        return Step(
            node=node,
            column=self._asked(i),
            value=words,
            missing=value is None,
            unknown=unknown,
            condition=tree.conditions.of(i)[0 if left else 1],
            side="left" if left else "right",
            goes_to=child,
            count=int(tree.forest.count[child]),
            cover=float(tree.forest.cover[child]),
            prediction=tree.outputs.words(tree.value[child], 3),
            raw=self._raw(i, value, unknown),
            threshold=threshold,
            categories=categories,
            node_value=tuple(tree.value[child].tolist()),
        )

    def _raw(self, i: int, value: float | None, unknown: bool) -> object:
        """The row's value as a Python value."""
        j = int(self.tree.forest.column[i])
        if value is None:
            return self._stranger(j) if unknown else None
        if self.tree.forest.kind[i] == COMBINATION:
            return value
        column = self.aligned.columns[j]
        return (
            column.levels[int(value) - 1] if isinstance(column, LevelColumn) else _in_unit(value, column.unit)
        )

    def _cut(self, i: int) -> tuple[Any, tuple[Any, ...] | None]:
        """The threshold of a split, or the categories it sends left."""
        forest, threshold = self.tree.forest, float(self.tree.forest.threshold[i])
        if forest.kind[i] == COMBINATION:
            return threshold, None
        column = self.aligned.columns[int(forest.column[i])]
        levels = column.levels if isinstance(column, LevelColumn) else ()
        if forest.kind[i] == CATEGORIES:
            return None, tuple(level for k, level in enumerate(levels, start=1) if self._left(i, float(k)))
        if math.isinf(threshold):
            return None, None
        if isinstance(column, LevelColumn):
            return (levels[math.floor(threshold) - 1] if 1 <= threshold < len(levels) + 1 else None), None
        return _in_unit(threshold, column.unit), None

    def _asked(self, i: int) -> str:
        j = int(self.tree.forest.column[i])
        if j >= 0:
            return self.tree.names[j]
        return " + ".join(self.tree.names[j] for j, _ in combination_terms(self.tree.forest, i))

    def _left(self, i: int, value: float | None) -> bool:
        forest = self.tree.forest
        if value is None:
            return bool(forest.missing_left[i])
        if forest.kind[i] != CATEGORIES:
            return value <= float(forest.threshold[i])
        side = int(forest.side[i])
        return bool((forest.listed_codes(side) == int(value)).any()) == bool(forest.set_left[side])

    def _value(self, i: int) -> tuple[float | None, str, bool]:
        """The number that is compared (None: missing), its words, and whether it is an unknown category."""
        forest, threshold = self.tree.forest, float(self.tree.forest.threshold[i])
        if forest.kind[i] == COMBINATION:
            terms = [(self._number(j), factor) for j, factor in combination_terms(forest, i)]
            if any(value is None for value, _ in terms):
                return None, "missing", False
            total = float(sum(value * factor for value, factor in terms if value is not None))
            return total, telling(total, abs(total - threshold) or np.inf, 3), False
        j = int(forest.column[i])
        column, value = self.aligned.columns[j], self._number(j)
        if isinstance(column, LevelColumn):
            if value is not None:
                return value, label(column.levels[int(value) - 1]), False
            stranger = self._stranger(j)
            return None, "missing" if stranger is None else repr(stranger), stranger is not None
        if value is None:
            return None, "missing", False
        return value, _unit_words(value, column.unit, threshold), False

    def _number(self, j: int) -> float | None:
        """The row's number in a column, or the rank of its level; None if it is missing."""
        if is_missing(self.aligned, j):
            return None
        column = self.aligned.columns[j]
        return float(column.indices[0] + 1 if isinstance(column, LevelColumn) else column.values[0])

    def _stranger(self, j: int) -> object:
        """The value as the user gave it, where the model knows no such level; None if it is missing."""
        schema = self.tree.model.schema_
        at = j
        if schema.named and self.given.named:
            at = self.given.names.index(schema.columns[j].name)
        return _first_value(self.given, at)


def _first_value(table: Table, j: int) -> object:
    column = table.columns[j]
    if isinstance(column, LevelColumn):
        return None if column.indices[0] < 0 else column.levels[int(column.indices[0])]
    return None if missing_rows(column) is not None else column.values[0].item()


def _in_unit(value: float, unit: str) -> object:
    """A number as the value it stands for; as it is, where Python's dates do not go so far."""
    if unit == "bool":
        return value >= 1  # a threshold between them: false goes left
    try:
        if unit in ("datetime", "instant"):
            zone = dt.UTC if unit == "instant" else None
            return dt.datetime(1970, 1, 1, tzinfo=zone) + dt.timedelta(microseconds=math.floor(value))
        return dt.timedelta(microseconds=math.floor(value)) if unit == "duration" else value
    except OverflowError:
        return value


def _unit_words(value: float, unit: str, threshold: float) -> str:
    if unit == "bool":
        return "true" if value else "false"
    if unit in ("datetime", "instant"):
        return instant(value) + (" UTC" if unit == "instant" else "")
    if unit == "duration":
        return duration(value)
    return telling(value, abs(value - threshold) or np.inf, 3)
