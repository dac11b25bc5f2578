"""`Trace`: what `weald.trace` gives back."""

from __future__ import annotations

from typing import Any

from weald.arrays import Estimator, TableLike
from weald.errors import ParameterError
from weald.insight.made_of_trees import trees_of
from weald.insight.tracing.source import Source
from weald.insight.tracing.told import Told, checked_row
from weald.insight.tracing.way import RowTrace, row_of_fit, row_trace
from weald.inspection.trace.records import Agreement, RoundTrace, TreeTrace
from weald.model.values import rows as so_many_rows
from weald.pictures.frame import NodeFrame, frame_library_of
from weald.pictures.trace.frames import candidate_frame, node_frame, rows_frame
from weald.pictures.trace.html import TraceHtml
from weald.pictures.trace.text import TraceText

_MOST_NODES, _MOST_ROWS = 60, 8


class Trace(Told):
    """A fit told again from its rows; `weald.trace` makes it.

    Attributes
    ----------
    agrees : bool
        Whether everything recomputed is what the model has, to a relative 1e-9.
    largest_difference : float
        The largest relative difference of two numbers that were compared; infinite where shapes differ.
    where : str
        Where that is.
    n_compared : int
        How many numbers and splits were compared.
    disagreements : list of Disagreement
        Every difference, each with `round`, `tree`, `node`, `what`, `model` and `recomputed`.
    rounds : list of RoundTrace
        What was traced: rounds of boosting, or trees of a forest.
    notes : list of str
        What could not be told again, and what is shown instead.
    """

    def __init__(
        self, source: Source, rounds: list[RoundTrace], model: Estimator, library: str | None
    ) -> None:
        self._source, self._model, self._frame_library = source, model, library
        self.rounds = rounds
        self.notes = list(source.notes)

    @property
    def _agreement(self) -> Agreement:
        return self._source.agreement

    def tree(self, number: int) -> TreeTrace:
        """One of the trees that were traced, by its number in the model.

        Parameters
        ----------
        number : int
            Counted from 0 over all rounds and outputs.
        """
        for round_ in self.rounds:
            for tree in round_.trees:
                if tree.tree == number:
                    return tree
        known = [tree.tree for round_ in self.rounds for tree in round_.trees]
        raise ParameterError(f"Tree {number!r} was not traced; those that were: {_span(known)}.")

    def row(self, i: int) -> RowTrace:
        """One row's way through all trees of the model, with the score as it grows.

        Parameters
        ----------
        i : int
            The number of the row in the table; the first is 0.

        Returns
        -------
        RowTrace
            Text by `str`, a frame by `to_frame`.
        """
        return row_of_fit(self._source, checked_row(i, self._source.table.n_rows), self._frame_library)

    def _way(self, X: TableLike, row: int) -> RowTrace:
        """The way of a row that is alone in a table."""
        found = trees_of(self._model)
        assert found is not None
        start = self._source.start_elsewhere(X)
        return row_trace(self._source, found.read(X), start, row, self._frame_library)

    def to_text(self, *, most_rows: int = _MOST_ROWS) -> str:
        """The whole trace as text.

        Parameters
        ----------
        most_rows : int, default=8
            Rows of a round whose scores, residuals or weights are written.
        """
        return self._text(None, most_rows)

    def _text(self, most_nodes: int | None, most_rows: int) -> str:
        writer = TraceText(self._source.words(), self._source.word, most_nodes, most_rows)
        return writer.write(self._title(), self.rounds, self._agreement, self.notes)

    def _title(self) -> str:
        word, n = self._source.word, len(self.rounds)
        some = (
            f"{n:,} of {self._source.n_rounds:,} {word}s" if n != self._source.n_rounds else f"{n:,} {word}"
        )
        plural = "s" if n == self._source.n_rounds and n != 1 else ""
        return f"{type(self._model).__name__}: {some}{plural}, {so_many_rows(self._source.table.n_rows)}"

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """The nodes as a frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.

        Returns
        -------
        frame
            Columns "round", "tree", "node" (−1 for one that pruning cut away), "rows", "cover", the sums by
            name, "score" (of boosting the similarity), "impurity", "gain", "value", "why" and others.
        """
        return node_frame(self.rounds, self._source.words(), frame_library_of(self, library))

    def candidates_frame(self, library: str | None = None) -> NodeFrame:
        """The best candidates of every column in every node as a frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.

        Returns
        -------
        frame
            "condition", "gain", what is "held_back" of it, the sizes of both sides, "chosen", and "refused":
            why a better one may not be made.
        """
        return candidate_frame(self.rounds, self._source.words(), frame_library_of(self, library))

    def rows_frame(self, number: int = 0, library: str | None = None) -> NodeFrame:
        """What each row had in a round of boosting: scores, gradients, residuals or weights.

        Parameters
        ----------
        number : int, default=0
            The round, one that was traced.
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.
        """
        for round_ in self.rounds:
            if round_.number == number:
                return rows_frame(round_, frame_library_of(self, library))
        known: list[Any] = [round_.number for round_ in self.rounds]
        raise ParameterError(f"Round {number!r} was not traced; those that were: {_span(known)}.")

    def __str__(self) -> str:
        """The trace as text, the first nodes of it."""
        return self._text(_MOST_NODES, _MOST_ROWS)

    def _repr_html_(self) -> str:
        """For notebooks: rounds and nodes that open and close."""
        writer = TraceHtml(self._source.words(), self._source.word)
        return writer.write(self._title(), self.rounds, self._agreement, self.notes)


def _span(numbers: list[int]) -> str:
    shown = ", ".join(str(each) for each in numbers[:10])
    return f"{shown}, …" if len(numbers) > 10 else shown or "none"
