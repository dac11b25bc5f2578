"""The values of rows that come in pages, block by block: for trees whose thresholds are no codes of these.

Rows of files are read again. Of a store only the codes are left: each stands for the values of its bin, and a
number of that bin passes every threshold that is a cut of the column as all of them do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.engine.storage import pages as native
from weald.model.forest import NUMERIC, Forest
from weald.rows.blocks.codes import PagedCodes


def value_blocks(table: Table | None, pages: PagedCodes | None) -> Iterator[tuple[slice, Table]]:
    """Which rows, and their values: the whole table, or the blocks of rows in pages."""
    if pages is None:
        assert table is not None
        yield slice(0, table.n_rows), table
        return
    assert pages.values is not None
    first = 0
    for block in pages.values():
        yield slice(first, first + block.n_rows), block
        first += block.n_rows


def between_cuts(forest: Forest, codes: PagedCodes) -> tuple[int, float] | None:
    """The column and the threshold of a split that the codes cannot tell; None where they tell all."""
    for j in np.unique(forest.column[forest.kind == NUMERIC]).tolist():
        asked = forest.threshold[(forest.kind == NUMERIC) & (forest.column == j)]
        asked = np.unique(asked[np.isfinite(asked)])
        strange = asked[~np.isin(asked, codes.cuts(j))]
        if len(strange):
            return j, float(strange[0])
    return None


def decoded(codes: PagedCodes, schema: Schema, forest: Forest) -> Iterator[Table]:
    """Rows that stand for those of each page, in the columns that a forest asks for; 0 in the others."""
    asked = set(np.unique(forest.column).tolist())
    known = native.codebook_columns(codes.native)
    numbers = {j: _numbers(known[j].marks) for j in asked if known[j].kind == native.BINNED}
    for page in codes.source.pages(codes=True):
        assert page.codes is not None
        unasked = np.zeros(page.n_rows)
        columns: list[Column] = []
        for j, column in enumerate(schema.columns):
            if column.kind == "numeric":
                values = numbers[j][np.asarray(page.codes.column(j))] if j in asked else unasked
                columns.append(NumericColumn(column.name, values, unit=column.unit))
            else:
                indices = np.asarray(page.codes.column(j)).astype(np.int32) - np.int32(1)
                columns.append(LevelColumn(column.name, indices, column.levels, column.kind == "ordinal"))
        yield Table(tuple(columns), page.n_rows, schema.named)


def _numbers(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number for each code of a column: missing, the upper end of each bin, and one above the last cut."""
    above = np.nextafter(cuts[-1:], np.inf) if len(cuts) else np.zeros(1)
    return np.concatenate([[np.nan], cuts, np.where(np.isfinite(above), above, cuts[-1:])])
