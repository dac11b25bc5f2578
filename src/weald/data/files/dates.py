"""Dates that a file holds as text: formats with types of their own often keep them so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_LIKE_A_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")


def with_dates(table: pa.Table, notes: list[str]) -> pa.Table:
    """Columns of text as dates or times where all of their values are written as such, and a note of each."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table[name]
        if not is_text(column.type) or not _starts_like_a_date(column):
            continue
        for wanted in (pa.date32(), pa.timestamp("us")):
            try:
                dates = from_text(column, wanted)
            except pa.ArrowInvalid:
                continue
            table = table.set_column(place, name, dates)
            notes.append(f"column {name!r} is text that holds dates: it was read as dates")
            break
    return table


def as_learned(table: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Columns of text as the dates that a model learned them as; others stay as they are."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        wanted = types.get(name)
        if wanted is not None and pa.types.is_temporal(wanted) and is_text(table[name].type):
            table = table.set_column(place, name, from_text(table[name], wanted))
    return table


def is_text(kind: pa.DataType) -> bool:
    """Whether values are text, plain or by number."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def from_text(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """Text as dates; a text that many rows have is read once. Times with a zone are told in UTC."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return _parsed(column, wanted)
    chunks = [_parsed(chunk.dictionary, wanted).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, wanted)


def _parsed(text: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    try:
        return text.cast(wanted)
    except pa.ArrowInvalid:
        if not pa.types.is_timestamp(wanted):
            raise
        return text.cast(pa.timestamp(wanted.unit, "UTC")).cast(wanted)


def _starts_like_a_date(column: pa.ChunkedArray) -> bool:
    """Whether the first value there is looks like a date: most columns of text are told apart by it alone."""
    for chunk in column.chunks:
        for value in chunk:
            if value.is_valid:
                return _LIKE_A_DATE.match(value.as_py()) is not None
    return False
