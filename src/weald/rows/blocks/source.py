"""Where blocks of coded rows come from: a source is read from first row to last, as often as asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes
from weald.errors import ParameterError

#: rows that the packed sums of a block may take; pages are multiples of it
PAGE_ROWS = 1 << 16


class Page(NamedTuple):
    """Neighbouring rows of a table."""

    first_row: int
    n_rows: int
    codes: engine.NativeCodes | None  # None if they were not asked for
    extras: dict[str, NDArray[Any]]  # columns that are kept beside the codes: targets, weights


class PageLike(Protocol):
    """A page of any source."""

    @property
    def first_row(self) -> int:
        """The number of its first row in the table."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    @property
    def codes(self) -> engine.NativeCodes | None:
        """Their codes, if they were asked for."""

    @property
    def extras(self) -> dict[str, NDArray[Any]]:
        """The kept columns that were asked for."""


class PageSource(Protocol):
    """Coded rows in pages, read again and again."""

    @property
    def n_rows(self) -> int:
        """Of all pages."""

    @property
    def codebook(self) -> engine.NativeCodes:
        """What gives codes their meaning; it may have no rows."""

    @property
    def has_missing(self) -> Sequence[bool]:
        """Whether some row is missing, per column."""

    def pages(self, *, codes: bool = True, extras: Sequence[str] = ()) -> Iterator[PageLike]:
        """All pages, in the order of rows."""


class MemoryPages:
    """A coded table in memory as a source of pages.

    Parameters
    ----------
    codes : Codes
        The table.
    extras : mapping, optional
        Columns to keep beside it, by name: a number per row.
    page_rows : int
        Rows of a page; the last one may have fewer.
    """

    def __init__(
        self, codes: Codes, extras: Mapping[str, NDArray[Any]] | None = None, *, page_rows: int = PAGE_ROWS
    ) -> None:
        if page_rows < 1:
            raise ParameterError(f"page_rows must be at least 1; got {page_rows}.")
        self.n_rows, self.codebook = codes.n_rows, codes.native
        self.has_missing = [codes.has_missing(j) for j in range(codes.n_columns)]
        self._extras, self._page_rows = dict(extras or {}), page_rows

    def pages(self, *, codes: bool = True, extras: Sequence[str] = ()) -> Iterator[Page]:
        """All pages, in the order of rows."""
        for first in range(0, self.n_rows, self._page_rows):
            n = min(self._page_rows, self.n_rows - first)
            block = engine.block_of(self.codebook, first, n) if codes else None
            kept = {name: np.ascontiguousarray(self._extras[name][first : first + n]) for name in extras}
            yield Page(first, n, block, kept)
