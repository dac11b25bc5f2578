"""The codes of a table that comes in pages, where a fit asks about them beside growing trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.codes import Codes
from weald.data.table import Table
from weald.engine.storage.pages import code_sums
from weald.rows.blocks.source import PageSource
from weald.rows.paged.counters import IoCounters


class PagedCodes(Codes):
    """A codebook, and the pages that are coded by it.

    Parameters
    ----------
    source : PageSource
        The pages.
    values : callable, optional
        Gives the values of the rows block by block, from the first row, where trees ask for them that know
        nothing of these codes: those of a model to go on from.
    """

    def __init__(self, source: PageSource, values: Callable[[], Iterator[Table]] | None = None) -> None:
        super().__init__(source.codebook)
        self.source, self.values = source, values
        counters: IoCounters | None = getattr(source, "io", None)
        self._begun = None if counters is None else counters.copy()

    @property
    def io(self) -> IoCounters | None:
        """What reading pages has cost since these codes were made; None where nothing is read."""
        return None if self._begun is None else self.source.io.since(self._begun)  # type: ignore[attr-defined]

    @property
    def n_rows(self) -> int:
        """How many rows all pages have."""
        return self.source.n_rows

    def column(self, j: int) -> NDArray[Any]:
        """The codes of column j, read from all pages: 1, 2 or 4 bytes each in memory."""
        parts = []
        for page in self.source.pages(codes=True):
            assert page.codes is not None
            parts.append(np.array(page.codes.column(j)))
        return np.concatenate(parts)

    def n_entries(self, j: int) -> int:
        """How many rows column j lists; 0 if it is not sparse."""
        if not self.is_sparse(j):
            return 0
        return sum(page.codes.n_entries(j) for page in self.source.pages() if page.codes is not None)

    def has_missing(self, j: int) -> bool:
        """Whether some row is missing in column j."""
        return bool(self.source.has_missing[j])

    def sums(self) -> NDArray[np.uint64]:
        """A number per column that tells its codes and their order."""
        total = np.zeros(self.n_columns, np.uint64)
        for page in self.source.pages(codes=True):
            assert page.codes is not None
            total += code_sums(page.codes, first_row=page.first_row)
        return total
