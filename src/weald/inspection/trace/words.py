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

    def condition(self, candidate: Candidate) -> str:
        """What sends a row left."""
        if candidate.kind == "combination":
            terms = " + ".join(f"{a:.4g}·{self.names[j]}" for j, a in candidate.terms)
            return f"{terms} <= {candidate.threshold:.6g}"
        name = self.names[candidate.column]
        if not candidate.parts_present:
            return f"{name} is missing" if candidate.missing_left else f"{name} is present"
        text = self._test(candidate, name)
        return f"{text} or missing" if candidate.missing_left else text

    def _test(self, candidate: Candidate, name: str) -> str:
        column = self._columns[candidate.column]
        if candidate.kind == "categories":
            return f"{name} in {self.levels(candidate.column, candidate.left_codes)}"
        threshold = candidate.threshold
        if column.kind == "ordinal" and 1 <= threshold < len(column.levels) + 1:
            return f"{name} <= {label(column.levels[math.floor(threshold) - 1])}"
        if column.unit == "bool" and 0 <= threshold < 1:
            return f"{name} is false"
        if column.unit in ("datetime", "instant"):
            return f"{name} <= {instant(threshold)}"
        if column.unit == "duration":
            return f"{name} <= {duration(threshold)}"
        return f"{name} <= {threshold:.10g}"

    def levels(self, j: int, codes: Sequence[int]) -> str:
        """Some levels of a column in braces, the first few by name."""
        levels = self._columns[j].levels
        shown = [label(levels[code - 1]) for code in codes[:_MOST_LEVELS] if code <= len(levels)]
        more = len(codes) - len(shown)
        return "{" + ", ".join(shown) + (f" and {more} more" if more > 0 else "") + "}"
