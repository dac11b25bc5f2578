"""One row's way through all trees of a model, with the score as it grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weald.adaboost.medians import weighted_median
from weald.arrays import Floats
from weald.boosting.links import apply_link
from weald.data.rows import take_rows
from weald.data.table import Table
from weald.insight.tracing.source import Source
from weald.insight.tracing.told import ToldRow, told_score
from weald.model.conditions import Conditions
from weald.model.predict import leaf_nodes
from weald.model.values import class_words
from weald.pictures.frame import NodeFrame, frame_library_of
from weald.pictures.trace.frames import Kind, made
from weald.pictures.trace.lines import number


@dataclass(frozen=True, slots=True)
class RowStep:
    """What one tree does to a row."""

    round: int
    tree: int
    output: int
    conditions: tuple[str, ...]  # from the root to the leaf
    leaf: int
    value: tuple[float, ...]
    weight: float
    running: tuple[float, ...]  # the score after it


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTrace(ToldRow):
    """A row's way through all rounds.

    Attributes
    ----------
    row : int
        Its number in the table.
    start : tuple of float
        The score before the first tree.
    steps : list of RowStep
        One per tree, in order.
    score : tuple of float
        The score after the last.
    prediction : tuple of float
        What the link of the model makes of it; of votes and medians the score itself.
    """

    _most: ClassVar[int] = 60
    row: int
    start: tuple[float, ...]
    steps: list[RowStep]
    score: tuple[float, ...]
    prediction: tuple[float, ...]
    names: tuple[str, ...]  # of the entries of the score
    combined: str
    word: str
    _frame_library: str | None

    def to_text(self) -> str:
        """The way as text: for every tree the conditions the row fulfils, its leaf, and the score so far."""
        return self._text(None)

    def _text(self, most: int | None) -> str:
        lines = [f"Row {self.row}: {self._start_words()}"]
        for step in self.steps[:most]:
            way = " -> ".join(step.conditions) or "the only leaf"
            lines.append(f"  {self.word} {step.round}, tree {step.tree}: {way} -> node {step.leaf}")
            lines.append(f"      {self._adds(step)}; so far {self._told(step.running)}")
        hidden = 0 if most is None else len(self.steps) - most
        if hidden > 0:
            lines.append(f"  … {hidden:,} more trees: to_text() writes all of them")
        lines.append(f"  in all {self._told(self.score)}, predicted {self._told(self.prediction)}")
        return "\n".join(lines)

    def _start_words(self) -> str:
        words = {
            "sum": f"starts at {self._told(self.start)}",
            "mean": "the mean over trees",
            "votes": "the votes of members",
            "median": "the weighted median of members",
        }
        return words[self.combined]

    def _adds(self, step: RowStep) -> str:
        value = number(step.value)
        if self.combined in ("votes", "median"):
            return f"says {value} and counts {number(step.weight)}"
        if self.combined == "mean":
            return f"says {value}"
        if step.weight == 1.0:
            return f"adds {value}"
        return f"adds {number(step.weight)} × {value}"

    def _told(self, score: tuple[float, ...]) -> str:
        return told_score(score, self.names)

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """The way as a frame: one row per tree.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of the table.
        """
        columns: dict[str, list[Any]] = {
            "round": [step.round for step in self.steps],
            "tree": [step.tree for step in self.steps],
            "output": [step.output for step in self.steps],
            "conditions": [" and ".join(step.conditions) for step in self.steps],
            "leaf": [step.leaf for step in self.steps],
            "weight": [step.weight for step in self.steps],
        }
        for name, width in (("value", "value"), ("running", "running")):
            length = max((len(getattr(step, width)) for step in self.steps), default=1)
            for k in range(length):
                label = name if length == 1 else f"{name} {k}"
                columns[label] = [float(getattr(step, width)[k]) for step in self.steps]
        kinds: dict[str, Kind] = dict.fromkeys(("round", "tree", "output", "leaf"), "whole")
        kinds["conditions"] = "text"
        return made(columns, kinds, frame_library_of(self, library))


def row_of_fit(source: Source, row: int, library: str | None) -> RowTrace:
    """The way of one row of the table that was traced."""
    one = take_rows(source.table, np.array([row], np.int64))
    return row_trace(source, one, source.start(row), row, library)


def row_trace(source: Source, one: Table, start: Floats, row: int, library: str | None) -> RowTrace:
    """The way of one row, alone in a table that the schema of the model was aligned to.

    `start`: its score before the first tree; `row`: what it is called.
    """
    forest = source.forest
    leaves = leaf_nodes(forest, one, n_threads=1)[0].tolist()
    weights = source.tree_weights()
    running = _Running(source, start)
    steps = []
    for t, leaf in enumerate(leaves):
        first = int(forest.tree_start[t])
        slot = forest.slot[first : int(forest.tree_start[t + 1])]
        value = running.says(forest.value[~int(slot[leaf])])
        output, weight = int(forest.tree_output[t]), float(weights[t])
        steps.append(
            RowStep(
                round=int(forest.tree_round[t]) if source.word == "round" and source.combined == "sum" else t,
                tree=t,
                output=output,
                conditions=_conditions(source, slot, leaf),
                leaf=leaf,
                value=tuple(value.tolist()),
                weight=weight,
                running=running.add(value, weight, output),
            )
        )
    score = running.score
    predicted = score
    if source.combined == "sum" and forest.link not in ("identity", "shares"):
        predicted = apply_link(forest.link, score[np.newaxis].copy()).ravel()
    names = () if source.classes is None else tuple(n for each in source.classes for n in class_words(each))
    return RowTrace(
        row=row,
        start=tuple(running.start.tolist()),
        steps=steps,
        score=tuple(score.tolist()),
        prediction=tuple(predicted.tolist()),
        names=names,
        combined=source.combined,
        word=source.word,
        _frame_library=library,
    )


class _Running:
    """The score of a row after each tree."""

    def __init__(self, source: Source, start: Floats) -> None:
        self._combined, self._n = source.combined, 0
        width = source.forest.width
        self.start: Floats = start if self._combined == "sum" else np.zeros(width)
        self.score = self.start.astype(np.float64).copy()
        self._sum = np.zeros(width)
        self._said: list[float] = []
        self._counts: list[float] = []

    def says(self, value: Floats) -> Floats:
        """What a tree says: the value of the leaf, or its vote for the largest share."""
        if self._combined != "votes":
            return value
        vote = np.zeros(len(value))
        vote[int(np.argmax(value))] = 1.0
        return vote

    def add(self, value: Floats, weight: float, output: int) -> tuple[float, ...]:
        """The score with one more tree."""
        self._n += 1
        if self._combined == "mean":
            self._sum = self._sum + value
            self.score = self._sum / self._n
        elif self._combined == "median":
            self._said.append(float(value[0]))
            self._counts.append(weight)
            self.score = weighted_median(np.array([self._said]), np.array(self._counts))
        else:
            score = self.score.copy()
            score[output : output + len(value)] += weight * value
            self.score = score
        return tuple(self.score.tolist())


def _conditions(source: Source, slot: np.typing.NDArray[np.int32], leaf: int) -> tuple[str, ...]:
    """What a row fulfils on its way to a leaf of a tree."""
    forest = source.forest
    texts = Conditions(forest, source.schema, slot, 3)
    found, node = [], 0
    while node != leaf:
        inner = int(slot[node])
        right = int(forest.right[inner])
        left_text, right_text = texts.of(inner)
        found.append(left_text if leaf < right else right_text)
        node = node + 1 if leaf < right else right
    return tuple(found)
