"""`explain_row` of an ensemble: the way of one row through all trees, and the score as it grows.

An estimator tells by `_row_told` what its trees add and how that is put together; what a tree asked follows
from the leaf.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.data.table import Table
from weald.model.conditions import Conditions, label, number
from weald.model.forest import INNER_ARRAYS, Forest
from weald.model.values import plain_labels
from weald.pictures.ensembles.which import TreePlaces
from weald.pictures.explain import is_missing
from weald.pictures.frame import NodeFrame, frame_library_of, in_library

#: so many trees at the start and at the end are shown of more
_HEAD, _TAIL = 8, 4
_MOST_SCORES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What an ensemble tells of one row."""

    owner: str
    #: how members are put together: "sum", "mean", "votes" or "median"
    how: str
    #: whose scores they are; one empty text for a single number
    names: tuple[str, ...]
    start: NDArray[np.float64]  # (n_scores,)
    adds: NDArray[np.float64]  # (n_members, n_scores) what each member adds, or says
    running: NDArray[np.float64]  # (n_members, n_scores)
    prediction: object
    predicted: str
    places: TreePlaces | None = None
    forest: Forest | None = None
    schema: Schema | None = None
    leaves: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # (n_members,)
    row: Table | None = None  # as the trees read it
    member: str = "tree"


@dataclass(frozen=True, slots=True)
class TreeStep:
    """One tree (or other member) on the way of a row."""

    tree: int
    """Its number."""
    round: int | None
    """Its round, of boosters."""
    output: str
    """Whose score it adds to, where trees add to one of several."""
    conditions: tuple[str, ...]
    """What the row fulfils on its way to the leaf."""
    leaf: int | None
    """The leaf it ends in; None for a member that is no single tree."""
    adds: tuple[float, ...]
    """What the tree adds to each score: its leaf value times its weight, or what it says itself."""
    running: tuple[float, ...]
    """The scores after it."""


@dataclass(frozen=True, slots=True)
class EnsembleExplanation:
    """The way of one row through an ensemble; prints as text, shows as a table in notebooks."""

    owner: str
    """The estimator's name."""
    how: str
    """How trees are put together: "sum", "mean", "votes" or "median"."""
    names: tuple[str, ...]
    """Whose scores they are; one empty text for a single number."""
    start: tuple[float, ...]
    """The scores before the first tree."""
    trees: tuple[TreeStep, ...]
    """The trees in their order, those that `predict` uses."""
    score: tuple[float, ...]
    """The scores after the last."""
    prediction: object
    """What the model predicts for the row: a label or a number; a list of such for several outputs."""
    predicted: str
    """The prediction in words."""
    asked: tuple[tuple[str, int], ...]
    """How often the way asked for which column, the most asked first."""
    member: str = "tree"

    def __str__(self) -> str:
        """The way as text; of many trees the first and the last."""
        head, tail = self._shown()
        lines = [f"{self.owner}: {self._what()}"]
        if self.how == "sum":
            lines.append(f"Start: {self._scores(self.start)}")
        lines += [self._line(step) for step in head]
        hidden = len(self.trees) - len(head) - len(tail)
        if hidden:
            lines.append(f"… {hidden:,} more {self.member}s (all are in .trees)")
            lines += [self._line(step) for step in tail]
        if self.asked:
            most = ", ".join(f"{name} ({times:,})" for name, times in self.asked[:5])
            rest = len(self.asked) - 5
            lines.append(f"Splits on the way: {most}{f', {rest} more columns' if rest > 0 else ''}")
        return "\n".join([*lines, f"Prediction: {self.predicted}"])

    def to_dict(self) -> dict[str, Any]:
        """The same as values that JSON has."""
        found: dict[str, Any] = _lists(asdict(self))
        return found

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """One row per tree: `tree`, `round`, `output`, `conditions`, `leaf`, what it adds, scores after it.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            What to return; None for the first of the libraries that is installed.
        """
        columns: dict[str, list[Any]] = {
            "tree": [step.tree for step in self.trees],
            "round": [step.round for step in self.trees],
            "output": [step.output or None for step in self.trees],
            "conditions": [" and ".join(step.conditions) for step in self.trees],
            "leaf": [step.leaf for step in self.trees],
        }
        for k, name in enumerate(self.names):
            end = f"_{name}" if name else ""
            columns[f"adds{end}"] = [step.adds[k] for step in self.trees]
            columns[f"running{end}"] = [step.running[k] for step in self.trees]
        return in_library(columns, frame_library_of(None, library))

    def _repr_html_(self) -> str:
        """The way as an HTML table; of many trees the first and the last."""
        head, tail = self._shown()
        hidden = len(self.trees) - len(head) - len(tail)
        titles = (self.member, "conditions", "says" if self.how in ("mean", "median") else "adds", "after it")
        body = _cells("", "start", "", self._scores(self.start)) if self.how == "sum" else ""
        body += "".join(self._html_line(step) for step in head)
        if hidden:
            body += _cells("…", f"{hidden:,} more {self.member}s", "", "")
        body += "".join(self._html_line(step) for step in tail)
        return (
            f"<p>{escape(self.owner)}: {escape(self._what())}</p><table><thead><tr>"
            + "".join(f"<th>{title}</th>" for title in titles)
            + f"</tr></thead><tbody>{body}</tbody></table><p>Prediction: <b>{escape(self.predicted)}</b></p>"
        )

    def _shown(self) -> tuple[tuple[TreeStep, ...], tuple[TreeStep, ...]]:
        if len(self.trees) <= _HEAD + _TAIL:
            return self.trees, ()
        return self.trees[:_HEAD], self.trees[-_TAIL:]

    def _what(self) -> str:
        words = {
            "sum": "each adds to the raw score",
            "mean": "their mean decides",
            "votes": "each votes with its say",
            "median": "their weighted median decides",
        }
        n = len(self.trees)
        return f"{n:,} {self.member}{'' if n == 1 else 's'}; {words[self.how]}"

    def _head(self, step: TreeStep) -> str:
        where = f"{self.member.capitalize()} {step.tree}"
        return f"{where} ({step.output})" if step.output else where

    def _line(self, step: TreeStep) -> str:
        way = f": {' and '.join(step.conditions)}" if step.conditions else ""
        return f"{self._head(step)}{way} → {self._adds(step)}; then {self._scores(step.running)}"

    def _html_line(self, step: TreeStep) -> str:
        way = " and ".join(step.conditions)
        return _cells(self._head(step), way, self._adds(step), self._scores(step.running))

    def _adds(self, step: TreeStep) -> str:
        if step.output:
            k = int(np.argmax(np.abs(step.adds)))
            return f"{step.adds[k]:+.4g}"
        if len(step.adds) == 1:
            return f"{step.adds[0]:+.4g}" if self.how == "sum" else number(step.adds[0], 4)
        return self._scores(step.adds, zeros=self.how == "sum")

    def _scores(self, scores: tuple[float, ...], *, zeros: bool = True) -> str:
        """Scores by name; of many the largest, in their order."""
        if len(scores) == 1 and not self.names[0]:
            return number(scores[0], 4)
        kept = [k for k in range(len(scores)) if zeros or scores[k]]
        order = sorted(sorted(kept, key=lambda k: -scores[k])[:_MOST_SCORES])
        shown = ", ".join(f"{self.names[k]}: {number(scores[k], 4)}" for k in order)
        hidden = len(kept) - len(order)
        return f"{shown} and {hidden} more" if hidden else shown


def tell(told: Told) -> EnsembleExplanation:
    """The whole story of one row."""
    ways = _Ways(told) if told.forest is not None else None
    steps, asked = [], Counter[str]()
    several = len(told.names) > 1
    for t in range(len(told.adds)):
        conditions: tuple[str, ...] = ()
        if ways is not None:
            conditions, names = ways.of(t)
            asked.update(names)
        places = told.places
        round_ = output = None
        if places is not None and places.rounds is not None and places.outputs is not None:
            round_ = int(places.rounds[t])
            single = told.forest is not None and told.forest.width == 1
            output = told.names[int(places.outputs[t])] if several and single else None
        steps.append(
            TreeStep(
                tree=t,
                round=round_,
                output=output or "",
                conditions=conditions,
                leaf=int(told.leaves[t]) if len(told.leaves) else None,
                adds=tuple(told.adds[t].tolist()),
                running=tuple(told.running[t].tolist()),
            )
        )
    return EnsembleExplanation(
        owner=told.owner,
        how=told.how,
        names=told.names,
        start=tuple(told.start.tolist()),
        trees=tuple(steps),
        score=steps[-1].running if steps else tuple(told.start.tolist()),
        prediction=told.prediction,
        predicted=told.predicted,
        asked=tuple(sorted(asked.items(), key=lambda each: (-each[1], each[0]))),
        member=told.member,
    )


class _Ways:
    """What a row fulfils on its way to its leaf in each tree."""

    def __init__(self, told: Told) -> None:
        assert told.forest is not None
        self._forest, self._schema, self._leaves = told.forest, told.schema, told.leaves
        self._row = told.row

    def of(self, t: int) -> tuple[tuple[str, ...], list[str]]:
        """The conditions, and the columns they ask for."""
        inner, went_left = self._path(t)
        way = _alone(self._forest, inner, went_left)
        conditions = Conditions(way, self._schema, way.slot, 3, missing_in=())
        said, asked = [], []
        for k, left in enumerate(went_left):
            said.append(conditions.of(k)[0 if left else 1])
            j = int(way.column[k])
            if j >= 0:
                asked.append(conditions.name(j))
                if self._row is not None and is_missing(self._row, j):
                    said[-1] = f"{asked[-1]} is missing"
        return tuple(said), asked

    def _path(self, t: int) -> tuple[list[int], list[bool]]:
        """The inner nodes on the way to the leaf of tree `t`, and at which of them it goes left."""
        forest, leaf = self._forest, int(self._leaves[t])
        start = int(forest.tree_start[t])
        node, inner, went_left = 0, [], []
        while node != leaf:
            i = int(forest.slot[start + node])
            right = int(forest.right[i])
            inner.append(i)
            went_left.append(leaf < right)
            node = node + 1 if leaf < right else right
        return inner, went_left


def _alone(forest: Forest, inner: list[int], went_left: list[bool]) -> Forest:
    """A way through a tree as a small tree of its own, whose other children are leaves.

    In preorder: the other child of a node stands right after it where the way goes right, and after the whole
    way where it goes left.
    """
    slot: list[int] = []
    right = np.zeros(len(inner), np.int32)
    for k, left in enumerate(went_left):
        slot += [k] if left else [k, ~0]
        right[k] = len(slot)
    slot.append(~0)
    for k in range(len(inner) - 1, -1, -1):
        if went_left[k]:
            right[k] = len(slot)
            slot.append(~0)
    places = np.array(inner, np.int64)
    arrays: dict[str, Any] = {name: getattr(forest, name)[places] for name in INNER_ARRAYS}
    return replace(forest, **(arrays | {"slot": np.array(slot, np.int32), "right": right}))


def adds_of(forest: Forest, leaves: NDArray[np.int64], *, weighted: bool = True) -> NDArray[np.float64]:
    """What each tree adds to each output for the one row that came to these leaves: (n_trees, n_outputs)."""
    adds = np.zeros((forest.n_trees, forest.n_outputs))
    slots = ~forest.slot[forest.tree_start[:-1] + leaves]
    values = forest.value[slots]
    if weighted:
        values = values * forest.tree_weight[:, None]
    columns = forest.tree_output[:, None] + np.arange(forest.width)
    np.put_along_axis(adds, columns.astype(np.int64), values, axis=1)
    return adds


def predicted_words(prediction: object, shares: NDArray[np.float64] | None, classes: object) -> str:
    """A prediction for reading: a label with its probability, or a number.

    >>> predicted_words("yes", np.array([0.25, 0.75]), np.array(["no", "yes"]))
    'yes (probability 0.750)'
    """
    if isinstance(prediction, list):
        return ", ".join(predicted_words(each, None, None) for each in prediction)
    if shares is None or not isinstance(classes, np.ndarray):
        return number(prediction, 6) if isinstance(prediction, float) else label(prediction)
    found = [k for k, own in enumerate(plain_labels(classes)) if own == prediction]
    share = f" (probability {float(shares[found[0]]):.3f})" if found else ""
    return f"{label(prediction)}{share}"


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _lists(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _lists(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_lists(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
