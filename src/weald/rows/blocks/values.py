"""The values of rows that come in pages, block by block: for trees whose thresholds are no codes of these.

Rows of files are read again. Of a store only the codes are left: each stands for the values of its bin, and a
number of that bin passes every threshold that is a cut of the column as all of them do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.data.table import Column, LevelColumn, NumericColumn, Table
from weald.engine import NativeCodes
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


class Decoder:
    """Makes rows that stand for codes, in the columns that a forest asks for; missing in the others.

    Parameters
    ----------
    codebook : sequence of CodebookColumn
        What gives codes their meaning.
    schema : Schema
        The columns.
    forest : Forest
        Its thresholds are cuts of the codebook.
    """

    def __init__(self, codebook: Sequence[native.CodebookColumn], schema: Schema, forest: Forest) -> None:
        self._schema = schema
        self._asked = set(np.unique(forest.column).tolist())
        binned = [j for j in self._asked if codebook[j].kind == native.BINNED]
        self._numbers = {j: _numbers(codebook[j].marks) for j in binned}

    def table(self, codes: NativeCodes, n_rows: int) -> Table:
        """Rows with these codes."""
        no_numbers, no_levels = np.full(n_rows, np.nan), np.full(n_rows, -1, np.int32)
        columns: list[Column] = []
        for j, column in enumerate(self._schema.columns):
            if column.kind == "numeric":
                values = self._numbers[j][np.asarray(codes.column(j))] if j in self._asked else no_numbers
                columns.append(NumericColumn(column.name, values, unit=column.unit))
            else:
                indices = no_levels
                if j in self._asked:
                    indices = np.asarray(codes.column(j)).astype(np.int32) - np.int32(1)
                columns.append(LevelColumn(column.name, indices, column.levels, column.kind == "ordinal"))
        return Table(tuple(columns), n_rows, self._schema.named)


def decoded(codes: PagedCodes, schema: Schema, forest: Forest) -> Iterator[Table]:
    """Rows that stand for those of each page, in the columns that a forest asks for."""
    decoder = Decoder(native.codebook_columns(codes.native), schema, forest)
    for page in codes.source.pages(codes=True):
        assert page.codes is not None
        yield decoder.table(page.codes, page.n_rows)


def _numbers(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number for each code of a column: missing, the upper end of each bin, and one above the last cut."""
    above = np.nextafter(cuts[-1:], np.inf) if len(cuts) else np.zeros(1)
    return np.concatenate([[np.nan], cuts, np.where(np.isfinite(above), above, cuts[-1:])])
