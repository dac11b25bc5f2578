"""`EnsembleTrace`: what `weald.trace` gives back of an ensemble of models, one trace per member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import TypeAlias

import numpy as np

from weald.arrays import TableLike
from weald.data.frames.user_rows import take
from weald.errors import ParameterError
from weald.insight.tracing.ensemble_way import EnsembleRowTrace, MemberWay
from weald.insight.tracing.members import ModelMembers
from weald.insight.tracing.result import Trace
from weald.insight.tracing.told import Told, checked_row
from weald.inspection.trace.records import Agreement, TreeTrace
from weald.model.values import class_words
from weald.model.values import rows as so_many_rows
from weald.pictures.frame import NodeFrame, frame_library_of
from weald.pictures.trace.frames import stacked
from weald.pictures.trace.lines import agreement_line

AnyTrace: TypeAlias = "Trace | EnsembleTrace"
_MOST_MEMBERS, _MOST_ROWS = 3, 8


class EnsembleTrace(Told):
    """The fit of an ensemble of models told again, member by member; `weald.trace` makes it.

    Each member has a trace of its own, of the rows that it was fitted on: rows are counted within those.

    Attributes
    ----------
    members : list of Trace or EnsembleTrace
        One for each member that was traced.
    numbers : list of int
        Which members these are.
    agrees : bool
        Whether everything recomputed is what the model has, to a relative 1e-9.
    largest_difference : float
        The largest relative difference of two numbers that were compared; infinite where shapes differ.
    where : str
        Where that is.
    n_compared : int
        How many numbers and splits were compared.
    disagreements : list of Disagreement
        Every difference, each with `member`, `round`, `tree`, `node`, `what`, `model` and `recomputed`.
    notes : list of str
        What could not be told again, and what is shown instead.
    """

    def __init__(
        self, source: ModelMembers, numbers: list[int], members: list[AnyTrace], library: str | None
    ) -> None:
        self._source, self._frame_library = source, library
        self.numbers, self.members = numbers, members
        self.notes = list(source.notes)

    @property
    def _agreement(self) -> Agreement:
        """All comparisons together."""
        own = self._source.agreement
        found = replace(own, disagreements=list(own.disagreements))
        for number, member in zip(self.numbers, self.members, strict=True):
            theirs = member._agreement
            found.n_compared += theirs.n_compared
            found.disagreements += [
                replace(each, member=(number, *each.member)) for each in theirs.disagreements
            ]
            if theirs.largest > found.largest:
                found.largest, found.where = theirs.largest, f"member {number}, {theirs.where}"
        return found

    def member(self, number: int) -> AnyTrace:
        """The trace of one member, by its number in the ensemble.

        Parameters
        ----------
        number : int
            Counted from 0.
        """
        if number not in self.numbers:
            known = ", ".join(map(str, self.numbers[:10])) + (", …" if len(self.numbers) > 10 else "")
            raise ParameterError(f"Member {number!r} was not traced; those that were: {known}.")
        return self.members[self.numbers.index(number)]

    def tree(self, number: int, *, member: int = 0) -> TreeTrace:
        """One of the trees that were traced, by its number in its member.

        Parameters
        ----------
        number : int
            Counted from 0 over all rounds and outputs of the member.
        member : int, default=0
            The member.
        """
        return self.member(member).tree(number)

    def row(self, i: int) -> EnsembleRowTrace:
        """One row's way through all trees of the members that were traced, and what the ensemble makes of it.

        Parameters
        ----------
        i : int
            The number of the row in the table of `trace`; the first is 0. Members whose draw lacks it are
            asked all the same.

        Returns
        -------
        EnsembleRowTrace
            Text by `str`, a frame by `to_frame`.
        """
        i = checked_row(i, self._source.n_rows)
        return self._way(self._source.row(i), i)

    def _way(self, X: TableLike, row: int) -> EnsembleRowTrace:
        """The way of a row that is alone in a table."""
        source, ways = self._source, []
        says = source.says(X)[:, 0]
        for number, member in zip(self.numbers, self.members, strict=True):
            fitted = source.member(number)
            way = member._way(take(X, columns=fitted.columns), row)
            ways.append(MemberWay(number, source.member_name(number), way, tuple(says[number].tolist())))
        mean = np.average(says, axis=0, weights=source.weights)
        told = mean if source.answers is None else source.answers(X)[0]
        return EnsembleRowTrace(
            row=row,
            ways=ways,
            weights=tuple(source.weights.tolist()),
            joined=source.joined,
            score=tuple(mean.tolist()),
            prediction=tuple(told.tolist()),
            names=() if source.labels is None else class_words(source.labels),
            _frame_library=self._frame_library,
        )

    # ---------------------------------------------------------------- text, frames, HTML

    def to_text(self, *, most_rows: int = _MOST_ROWS) -> str:
        """The whole trace as text.

        Parameters
        ----------
        most_rows : int, default=8
            Rows of a round whose scores, residuals or weights are written.
        """
        return self._text(None, lambda member: member.to_text(most_rows=most_rows))

    def _text(self, most: int | None, write: Callable[[AnyTrace], str]) -> str:
        lines = [self._title(), agreement_line(self._agreement)]
        lines += [f"Note: {note}." for note in self.notes]
        for name, member in self._shown(most):
            lines += ["", name, *(f"  {line}".rstrip() for line in write(member).split("\n"))]
        hidden = len(self.members) - len(self._shown(most))
        if hidden > 0:
            lines.append(f"… {hidden:,} more members: to_text() writes all of them.")
        return "\n".join(lines)

    def _shown(self, most: int | None) -> list[tuple[str, AnyTrace]]:
        """The first members with their names."""
        pairs = list(zip(self.numbers, self.members, strict=True))[:most]
        return [(self._source.member_name(number).capitalize(), member) for number, member in pairs]

    def _title(self) -> str:
        source, n = self._source, len(self.members)
        some = f"{n:,} of {source.n_members:,} members" if n != source.n_members else f"{n:,} members"
        return f"{source.owner}: {some}, {so_many_rows(source.n_rows)}"

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """The nodes of all members as a frame, one row each: "member", and what `Trace.to_frame` has.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.
        """
        return self._stacked(lambda member: member.to_frame("dict"), library)

    def candidates_frame(self, library: str | None = None) -> NodeFrame:
        """The best candidates of every column in every node of all members as a frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.
        """
        return self._stacked(lambda member: member.candidates_frame("dict"), library)

    def rows_frame(self, number: int = 0, library: str | None = None, *, member: int = 0) -> NodeFrame:
        """What each row of a member had in a round of boosting.

        Parameters
        ----------
        number : int, default=0
            The round of the member.
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of X, or one that is installed.
        member : int, default=0
            The member.
        """
        return self.member(member).rows_frame(number, frame_library_of(self, library))

    def _stacked(self, frame: Callable[[AnyTrace], NodeFrame], library: str | None) -> NodeFrame:
        chosen = frame_library_of(self, library)
        return stacked("member", dict(zip(self.numbers, map(frame, self.members), strict=True)), chosen)

    def __str__(self) -> str:
        """The trace as text, the first members of it."""
        return self._text(_MOST_MEMBERS, str)

    def _repr_html_(self) -> str:
        """For notebooks: members that open and close."""
        parts = [f"<div><b>{escape(self._title())}</b></div>"]
        parts.append(f"<div>{escape(agreement_line(self._agreement))}</div>")
        parts += [f"<div>Note: {escape(note)}.</div>" for note in self.notes]
        for name, member in self._shown(_MOST_MEMBERS):
            parts.append(f"<details><summary>{escape(name)}</summary>{member._repr_html_()}</details>")
        hidden = len(self.members) - _MOST_MEMBERS
        if hidden > 0:
            parts.append(f"<div>… {hidden:,} more members</div>")
        return "".join(parts)
