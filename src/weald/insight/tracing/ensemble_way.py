"""One row's way through all members of an ensemble of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from weald.insight.tracing.told import ToldRow, told_score
from weald.insight.tracing.way import RowTrace
from weald.pictures.frame import NodeFrame, frame_library_of
from weald.pictures.trace.frames import stacked
from weald.pictures.trace.lines import number


@dataclass(frozen=True, slots=True)
class MemberWay:
    """A row's way through one member, and what the member says in the end."""

    member: int
    name: str
    way: RowTrace | EnsembleRowTrace
    says: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleRowTrace(ToldRow):
    """A row's way through the members of an ensemble.

    Attributes
    ----------
    row : int
        Its number in the table.
    ways : list of MemberWay
        One for each member that was traced, each with `member`, `way` and `says`.
    weights : tuple of float
        What each member of the ensemble counts.
    score : tuple of float
        The mean of what all members say, traced or not.
    prediction : tuple of float
        What the ensemble makes of it: balanced ones undo the balance of their draws.
    """

    _most: ClassVar[int] = 3
    row: int
    ways: list[MemberWay]
    weights: tuple[float, ...]
    joined: str
    score: tuple[float, ...]
    prediction: tuple[float, ...]
    names: tuple[str, ...]  # of the entries of the score
    _frame_library: str | None

    def to_text(self) -> str:
        """The way through every member as text, what each says, and what comes of it."""
        return self._text(None)

    def _text(self, most: int | None) -> str:
        lines = [f"Row {self.row}: the {self.joined} of {len(self.weights):,} members"]
        for each in self.ways[:most]:
            weight = self.weights[each.member]
            counts = "" if weight == 1.0 else f" and counts {number(weight)}"
            lines.append(f"{each.name.capitalize()} says {self._told(each.says)}{counts}")
            way = each.way.to_text() if most is None else str(each.way)
            lines += [f"  {line}" for line in way.split("\n")]
        hidden = 0 if most is None else len(self.ways) - most
        if hidden > 0:
            lines.append(f"… {hidden:,} more members: to_text() writes all of them")
        last = f"In all {self._told(self.score)}"
        if self.prediction != self.score:
            last += f"; by the class shares of the rows of fit {self._told(self.prediction)}"
        return "\n".join([*lines, last])

    def _told(self, score: tuple[float, ...]) -> str:
        return told_score(score, self.names)

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """The way as a frame: one row per tree, with its "member".

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            By default the library of the table.
        """
        frames = {each.member: each.way.to_frame("dict") for each in self.ways}
        return stacked("member", frames, frame_library_of(self, library))
