"""Candidates in words: what sends a row left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from weald.data.schema import Schema
from weald.inspection.trace.records import Candidate
from weald.model.conditions import duration, instant, label

_MOST_LEVELS = 6


class Words:
    """The columns of a model by name, and candidates as conditions.

    Parameters
    ----------
    schema : Schema
        Names, units and levels.
    """

    def __init__(self, schema: Schema) -> None:
        self._columns = schema.columns

    @cached_property
    def names(self) -> dict[int, str]:
        """The name of every column; -1 is a combination of some."""
        found = {j: self._name(column.name) for j, column in enumerate(self._columns)}
        return {-1: "a combination of columns", **found}

    @staticmethod
    def _name(name: object) -> str:
        return f"column {name}" if isinstance(name, int) else label(name)

    def condition(self, candidate: Candidate, *, right: bool = False) -> str:
        """What sends a row left, or right."""
        if candidate.kind == "combination":
            name = " + ".join(f"{a:.4g}·{self.names[j]}" for j, a in candidate.terms)
        else:
            name = self.names[candidate.column]
        if not candidate.parts_present:
            return f"{name} is missing" if right != bool(candidate.missing_left) else f"{name} is present"
        text = self._test(candidate, name, "not in" if right else "in", ">" if right else "<=")
        takes_missing = candidate.missing_left is not None and candidate.missing_left != right
        return f"{text} or missing" if takes_missing else text

    def _test(self, candidate: Candidate, name: str, among: str, than: str) -> str:
        threshold = candidate.threshold
        if candidate.kind == "combination":
            return f"{name} {than} {threshold:.6g}"
        column = self._columns[candidate.column]
        if candidate.kind == "categories":
            return f"{name} {among} {self.levels(candidate.column, candidate.left_codes)}"
        if column.kind == "ordinal" and 1 <= threshold < len(column.levels) + 1:
            return f"{name} {than} {label(column.levels[math.floor(threshold) - 1])}"
        if column.unit == "bool" and 0 <= threshold < 1:
            return f"{name} is {'true' if than == '>' else 'false'}"
        if column.unit in ("datetime", "instant"):
            return f"{name} {than} {instant(threshold)}"
        if column.unit == "duration":
            return f"{name} {than} {duration(threshold)}"
        return f"{name} {than} {threshold:.10g}"

    def levels(self, j: int, codes: Sequence[int]) -> str:
        """Some levels of a column in braces, the first few by name."""
        levels = self._columns[j].levels
        shown = [label(levels[code - 1]) for code in codes[:_MOST_LEVELS] if code <= len(levels)]
        more = len(codes) - len(shown)
        return "{" + ", ".join(shown) + (f" and {more} more" if more > 0 else "") + "}"
