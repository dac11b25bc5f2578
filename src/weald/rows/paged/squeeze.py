"""zstd for the columns of a page that shrink by it: smaller on disk, and slower to read."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.engine import NativeCodes
from weald.engine.storage import pages as native

if TYPE_CHECKING:
    from weald.rows.paged.store import Store

_ALIGNMENT = 64
#: a column stays as it is unless zstd takes at most this share of its bytes
WORTH = 0.8


@cache
def _codec() -> Any:
    import pyarrow as pa

    return pa.Codec("zstd", compression_level=1)


def squeezed(page: NDArray[np.uint8], block: NativeCodes) -> NDArray[np.uint8]:
    """The page with every dense column that zstd makes much smaller than it is; sparse ones stay."""
    columns = native.page_directory(page, block.n_columns)
    shorter: dict[int, NDArray[np.uint8]] = {}
    for j in np.flatnonzero(np.isin(columns["encoding"], (native.RAW, native.BITS))).tolist():
        raw = np.ascontiguousarray(block.column(j)).view(np.uint8)
        found = np.frombuffer(_codec().compress(raw, asbytes=True), np.uint8)
        if len(found) <= WORTH * int(columns["n_bytes"][j]):
            shorter[j] = found
    return page if not shorter else _rebuilt(page, block.n_columns, shorter)


def _rebuilt(
    page: NDArray[np.uint8], n_columns: int, shorter: dict[int, NDArray[np.uint8]]
) -> NDArray[np.uint8]:
    old = native.page_directory(page, n_columns)
    new = old.copy()
    head = _aligned(native.HEADER_BYTES + n_columns * native.PAGE_COLUMN.itemsize)
    parts, at = [page[:head].copy()], head
    for j in range(n_columns):
        first, n = int(old["first"][j]), int(old["n_bytes"][j])
        body = shorter.get(j, page[first : first + n])
        new["first"][j], new["n_bytes"][j] = at, len(body)
        if j in shorter:
            new["encoding"][j] = native.OUTSIDE
        parts += [body, np.zeros(_aligned(len(body)) - len(body), np.uint8)]
        at += _aligned(len(body))
    parts[0][native.HEADER_BYTES : native.HEADER_BYTES + new.nbytes] = new.view(np.uint8)
    whole = np.concatenate([*parts, np.zeros(_ALIGNMENT, np.uint8)])
    native.seal_page(whole)
    return whole


def _aligned(n: int) -> int:
    return -(-n // _ALIGNMENT) * _ALIGNMENT


def expanded(store: Store, page: NDArray[np.uint8], first_row: int) -> list[tuple[int, NDArray[np.uint8]]]:
    """The columns that zstd made smaller, as they were; the page is checked first."""
    n_columns = store.n_columns
    if len(page) < native.HEADER_BYTES + n_columns * native.PAGE_COLUMN.itemsize:
        return []  # the check of the page says so
    columns = native.page_directory(page, n_columns)
    found = np.flatnonzero(columns["encoding"] == native.OUTSIDE).tolist()
    if not found:
        return []
    native.check_page(store.codebook, page, store=store.id, first_row=first_row)
    n_rows = int(page[32:36].view("<u4")[0])
    out = []
    for j in found:
        first, n = int(columns["first"][j]), int(columns["n_bytes"][j])
        size = n_rows * int(columns["width"][j])
        raw = _codec().decompress(page[first : first + n], size)
        out.append((j, np.frombuffer(raw, np.uint8)))
    return out
