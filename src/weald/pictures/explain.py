"""`explain_row`: the way of one row through a tree, split by split, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from weald.data import pandas_frame
from weald.data.adapters import to_table
from weald.data.levels import missing_rows
from weald.data.table import LevelColumn, Table
from weald.errors import DataError, DataTypeError
from weald.model.conditions import combination_terms, duration, instant, label, number, telling
from weald.model.forest import CATEGORIES, COMBINATION
from weald.model.read import read_aligned
from weald.model.values import plain_labels, rows
from weald.pictures.nodes import ShownTree, fitted_forest


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

    def __str__(self) -> str:
        """The step as one line."""
        return f"{self.why()}: {self.side}, to {rows(self.count)}, {self.prediction}"

    def why(self) -> str:
        """The value, and what sends it to its side."""
        short = self.condition.removeprefix(f"{self.column} ").removesuffix(" or missing")
        if self.unknown:
            return (
                f"{self.column} is {self.value}, unknown to the model and so missing, which goes with {short}"
            )
        if self.missing:
            return f"{self.column} is missing" + (
                "" if short == "is missing" else f", which goes with {short}"
            )
        return f"{self.column} is {self.value}" + ("" if short.startswith("is ") else f" ({short})")


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
    prediction: Any
    """What the model predicts for the row: a label or a number; a list of such for several outputs."""

    def __str__(self) -> str:
        """The way as text."""
        lines = [f"Start: {rows(self.count)}, {self.start}"]
        lines += [f"{k}. {step}" for k, step in enumerate(self.steps, start=1)]
        return "\n".join([*lines, f"Prediction: {self._predicted()}"])

    def _predicted(self) -> str:
        parts = self.prediction if isinstance(self.prediction, list) else [self.prediction]
        return ", ".join(number(part, 6) if isinstance(part, float) else label(part) for part in parts)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return asdict(self) | {"steps": [asdict(step) for step in self.steps]}

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
            f"<p>Prediction: <b>{escape(self._predicted())}</b></p>"
        )


def explain_row(model: Any, row: Any) -> RowExplanation:
    """The way of one row through the tree of an estimator; see `TreePictures.explain_row`."""
    fitted_forest(model, "explain_row")
    tree = ShownTree.of(model, "explain_row", all_missing=True)
    walk = _Walk(tree, _one_row(row, model.schema_))
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
    )


def _prediction(tree: ShownTree, node: int) -> Any:
    value, several = tree.value[node], tree.outputs.n_outputs > 1
    if tree.outputs.classes is None:
        return value.tolist() if several else float(value[0])
    labels = tree.model.classes_ if isinstance(tree.model.classes_, list) else [tree.model.classes_]
    best = [plain_labels(own)[k] for own, k in zip(labels, tree.outputs.best(value), strict=True)]
    return best if several else best[0]


def _one_row(row: Any, schema: Any) -> Any:
    """The row as a table that `to_table` reads; values without names belong to the columns in order."""
    if isinstance(row, Mapping):
        scalar = [isinstance(value, str | bytes) or not hasattr(value, "__len__") for value in row.values()]
        return {name: [value] for name, value in row.items()} if all(scalar) else row
    if pandas_frame.is_series(row):
        if schema.named and row.index.is_unique and set(row.index) >= set(schema.names):
            return {name: [row[name]] for name in schema.names}
        return _in_order(row.tolist(), schema)
    if isinstance(row, str | bytes) or row is None:
        raise DataTypeError(f"explain_row takes one row: a table, dict, list or array; got {row!r}.")
    if hasattr(row, "tocsr") and row.shape[0] == 1:
        row = row.toarray()  # a sparse row
    if isinstance(row, np.void):
        return np.array([row])
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None:
        return _in_order(list(row), schema)
    if isinstance(row, list | tuple) and not any(isinstance(v, list | tuple | np.ndarray) for v in row):
        return _in_order(list(row), schema)
    return row


def _in_order(values: list[Any], schema: Any) -> Any:
    if schema.named and len(values) == len(schema.columns):
        return {name: [value] for name, value in zip(schema.names, values, strict=True)}
    return [values]


class _Walk:
    """One row, as given and as the model reads it, and the splits it meets."""

    def __init__(self, tree: ShownTree, row: Any) -> None:
        model, self.tree = tree.model, tree
        declared = model.categorical_features
        self.aligned = read_aligned(row, model.schema_, declared=declared, owner=type(model).__name__)
        if self.aligned.n_rows != 1:
            raise DataError(
                f"explain_row explains one row; got a table of {self.aligned.n_rows}. Pass one of them, "
                "for example X[:1]."
            )
        self.given = to_table(row)

    def step(self, node: int) -> Step:
        """What happens at a node."""
        tree, i = self.tree, self.tree.split(node)
        value, words, unknown = self._value(i)
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
        )

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
        column = self.aligned.columns[j]
        if isinstance(column, LevelColumn):
            return None if column.indices[0] < 0 else float(column.indices[0] + 1)
        return None if missing_rows(column) is not None else float(column.values[0])

    def _stranger(self, j: int) -> Any:
        """The value as the user gave it, where the model knows no such level; None if it is missing."""
        schema = self.tree.model.schema_
        at = j
        if schema.named and self.given.named:
            at = self.given.names.index(schema.columns[j].name)
        return _first_value(self.given, at)


def _first_value(table: Table, j: int) -> Any:
    column = table.columns[j]
    if isinstance(column, LevelColumn):
        return None if column.indices[0] < 0 else column.levels[int(column.indices[0])]
    return None if missing_rows(column) is not None else column.values[0].item()


def _unit_words(value: float, unit: str, threshold: float) -> str:
    if unit == "bool":
        return "true" if value else "false"
    if unit in ("datetime", "instant"):
        return instant(value) + (" UTC" if unit == "instant" else "")
    if unit == "duration":
        return duration(value)
    return telling(value, abs(value - threshold) or np.inf, 3)
