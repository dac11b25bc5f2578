"""Coded columns as a trace reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.codes import Codes
from weald.data.schema import Schema

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TracedColumn:
    """A column as codes: 0 is missing, 1 … n_codes are values in order, bins, ranks or categories."""

    number: int  # among the columns that the tree was grown on: draws and ties go by it
    column: int  # of the model
    kind: Literal["exact", "binned", "ordinal", "categorical"]
    codes: Ints  # (n_rows,)
    n_codes: int
    marks: NDArray[np.float64]  # the values of an exact column, the cuts of a binned one

    def threshold(self, below: int, above: int) -> float:
        """What parts the codes up to `below` from those from `above` on; 0 for none: present from missing.

        Equation 7 of docs/methods/trees.md.
        """
        if above == 0:
            return math.inf
        if self.kind == "exact":
            low, high = float(self.marks[below - 1]), float(self.marks[above - 1])
            middle = low + (high - low) / 2
            return low if middle >= high else middle
        return float(self.marks[below - 1]) if self.kind == "binned" else float(below)


def traced_columns(
    codes: Codes, schema: Schema, places: Sequence[int] | None = None, *, renumbered: bool = False
) -> list[TracedColumn]:
    """The columns of a coded table.

    Parameters
    ----------
    codes : Codes
        The rows.
    schema : Schema
        What kinds the columns are of.
    places : sequence of int, optional
        Some of the columns, by their numbers in the schema; None for all.
    renumbered : bool
        Whether the codes have these columns alone, numbered anew.
    """
    wanted = range(len(schema.columns)) if places is None else places
    found = []
    for place, j in enumerate(wanted):
        number = place if renumbered else j
        kind, marks, n_codes = schema.columns[j].kind, codes.cuts(number), int(codes.n_codes[number])
        exact = len(marks) == n_codes
        found.append(
            TracedColumn(
                number=number,
                column=j,
                kind=("exact" if exact else "binned") if kind == "numeric" else kind,
                codes=codes.column(number).astype(np.int64),
                n_codes=n_codes,
                marks=marks,
            )
        )
    return found
