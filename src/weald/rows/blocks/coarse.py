"""Pages in coarser codes: those of one tree of `tree_method="approx"`, chosen anew by what its rows weigh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.rows.blocks.source import Page, PageLike, PageSource


class CoarsePages:
    """The pages of a source whose numeric columns have at most `max_bins` bins, of about equal weight.

    Making them reads all pages once; then pages are coded anew whenever they are read.

    Parameters
    ----------
    source : PageSource
        The pages, in fine codes.
    weights : ndarray of int64, shape (n_rows,)
        What rows weigh, as in `engine.coarsen`.
    max_bins : int
        Of a numeric column.
    n_threads : int
        The result does not depend on it.
    """

    def __init__(
        self, source: PageSource, weights: NDArray[np.int64], *, max_bins: int, n_threads: int
    ) -> None:
        self._source, self._n_threads = source, n_threads
        self.n_rows, self.has_missing = source.n_rows, source.has_missing
        self._bins = engine.CoarseBins(source.codebook)
        for page in source.pages(codes=True):
            assert page.codes is not None
            self._bins.add(page.codes, weights[page.first_row : page.first_row + page.n_rows], n_threads)
        self._bins.close(max_bins)
        self.codebook = self._bins.codebook()

    def coded(self, codes: engine.NativeCodes) -> engine.NativeCodes:
        """Rows in fine codes, of these pages or others, in those of the tree."""
        return self._bins.code(codes, self._n_threads)

    def pages(self, *, codes: bool = True, extras: Sequence[str] = ()) -> Iterator[PageLike]:
        """All pages, in the order of rows."""
        for page in self._source.pages(codes=codes, extras=extras):
            found = self.coded(page.codes) if page.codes is not None else None
            yield Page(page.first_row, page.n_rows, found, page.extras)
