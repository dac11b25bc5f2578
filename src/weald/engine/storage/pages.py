"""Pages: coded blocks as bytes and back; codebooks without rows; the rows that cuts are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.codes import NativeCodes

#: rows that shape the cuts of a larger table, about
SAMPLE_LIMIT: int = _core.SAMPLE_LIMIT
HEADER_BYTES: int = _core.PAGE_HEADER_BYTES
EXACT, BINNED, ORDINAL, CATEGORICAL = range(4)
#: the directory of a page, after its header
PAGE_COLUMN = np.dtype(
    [
        ("encoding", "u1"),
        ("width", "u1"),
        ("bits", "u1"),
        ("zero", "u1"),
        ("value", "<u4"),
        ("first", "<u8"),
        ("n_bytes", "<u8"),
    ]
)
CONSTANT, RAW, BITS, ENTRIES, OUTSIDE = range(5)


class CodebookColumn(NamedTuple):
    """What gives codes of one column their meaning."""

    kind: int
    n_codes: int
    marks: NDArray[np.float64]  # cuts, or distinct values
    sparse: bool = False
    default_code: int = 0  # of rows that a sparse column does not list


def make_codebook(columns: Sequence[CodebookColumn]) -> NativeCodes:
    """Codes of no rows."""
    return _core.make_codebook([tuple(column) for column in columns])


def codebook_columns(codes: NativeCodes) -> list[CodebookColumn]:
    """What `make_codebook` makes the codebook of these codes from."""
    return [CodebookColumn(*parts) for parts in _core.codebook_parts(codes)]


def make_page(block: NativeCodes, *, store: int, first_row: int, pack: bool) -> NDArray[np.uint8]:
    """The bytes of a block; `pack`: columns in fewer bits where that is possible."""
    return _core.make_page(block, store, first_row, pack)


def seal_page(page: NDArray[np.uint8]) -> None:
    """Write size and checksum into a page that was changed, in place."""
    _core.seal_page(page)


def check_page(codebook: NativeCodes, page: NDArray[np.uint8], *, store: int, first_row: int) -> None:
    """Raise DataError, which says what is wrong, unless the page is whole and the one expected."""
    _core.check_page(codebook, page, store, first_row)


def read_page(
    codebook: NativeCodes,
    page: NDArray[np.uint8],
    *,
    store: int,
    first_row: int,
    outside: Sequence[tuple[int, NDArray[np.uint8]]] = (),
) -> NativeCodes:
    """The codes of a page; they point into it, and into what `outside` brings of columns not in it.

    Raises DataError, which says what is wrong, unless the page is whole and the one expected.
    """
    return _core.read_page(codebook, page, store, first_row, list(outside))


def page_directory(page: NDArray[np.uint8], n_columns: int) -> NDArray[np.void]:
    """The entry of each column, a view."""
    last = HEADER_BYTES + n_columns * PAGE_COLUMN.itemsize
    return page[HEADER_BYTES:last].view(PAGE_COLUMN)


def checksum(data: NDArray[np.uint8]) -> int:
    """64 bits that tell damage."""
    return _core.checksum(data)


def code_sums(codes: NativeCodes, *, first_row: int = 0) -> NDArray[np.uint64]:
    """A number per column that tells its codes and their order.

    Those of the blocks of a table add up to those of the table, modulo 2^64; `first_row` is the number of the
    first row.
    """
    return _core.code_sums(codes, first_row)


def sample_bound(n_present: int) -> int:
    """The draw below which a row is in the sample of a table with so many rows that count."""
    return _core.sample_bound(n_present)


def sampled_rows(first: int, n: int, below: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Which rows from first on, n of them, have a draw below the bound, counted from first; the draws."""
    rows, draws = _core.sampled_rows(first, n, below)
    return rows, draws
