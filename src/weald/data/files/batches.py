"""A table in files, some rows at a time: what prediction in bounded memory reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weald.data.files import kinds
from weald.data.files.dates import as_learned, from_text
from weald.data.files.inputs import Input, inputs
from weald.data.files.libsvm import libsvm_batches
from weald.data.files.reading import read_table
from weald.data.files.text import (
    MARKERS,
    MISSING,
    OLD_ENCODINGS,
    SAMPLE,
    TextOptions,
    delimiter_of,
    encoding_of,
    names_of,
    unreadable,
)
from weald.errors import DataError, short

if TYPE_CHECKING:
    import pyarrow as pa

#: rows of a batch
ROWS = 1 << 16
#: bytes of text that are read at once, and rows of the longest kind seen that this has at least
_BLOCK, _ROWS_OF_BLOCK = 1 << 20, 8


def read_batches(
    path: str | Path | Iterable[str | Path],
    types: Mapping[str, Any],
    options: TextOptions | None = None,
    *,
    n_columns: int | None = None,
    columns: Collection[str] | None = None,
    rows: int = ROWS,
) -> Iterator[tuple[Any, Any]]:
    """The rows of files in order, in batches: tables, and the targets where the format has them.

    Parquet, Arrow, JSON lines, LIBSVM and text are read as they are needed; Parquet and Arrow within another
    compression are read whole.

    Parameters
    ----------
    path : str, Path or iterable of them
        As `weald.read` takes it.
    types : mapping of name to pyarrow type
        Of the columns of text files that are no text.
    options : TextOptions, default=None
        The layout of text.
    n_columns : int, default=None
        Of a model, for files in LIBSVM's format.
    columns : collection of str, default=None
        What is needed; other columns of text and Parquet may be left out where all of these are there.
    rows : int, default=65536
        The most rows of a batch.
    """
    import pyarrow as pa

    layout = options or TextOptions()
    for each in inputs(path):
        try:
            if each.kind == kinds.LIBSVM:
                yield from libsvm_batches(each, rows, 0 if n_columns is None else n_columns)
                continue
            for table in _with_dates(_tables(each, types, layout, columns), types, each.name):
                for first in range(0, max(table.num_rows, 1), rows):
                    yield table.slice(first, rows), None
        except MemoryError:
            raise
        except pa.ArrowException as error:
            raise DataError(f"{each.name} cannot be read as {each.kind}: {error}") from error


def _with_dates(tables: Iterator[pa.Table], types: Mapping[str, Any], name: str) -> Iterator[pa.Table]:
    import pyarrow as pa

    for table in tables:
        try:
            known = as_learned(table, types)
        except pa.ArrowInvalid as error:
            raise DataError(f"{name} has text where the model learned from dates: {error}") from error
        yield known


def _tables(
    each: Input, types: Mapping[str, Any], options: TextOptions, columns: Collection[str] | None
) -> Iterator[pa.Table]:
    if each.kind in {kinds.CSV, kinds.TSV}:
        return _text(each, types, options, columns)
    if each.kind == kinds.JSON_LINES:
        return _json(each, types)
    if each.compression is None and each.kind == kinds.PARQUET:
        return _parquet(each, columns)
    if each.compression is None and each.kind == kinds.ARROW:
        return _arrow(each)
    return iter([read_table(each, options)])


def _parquet(each: Input, columns: Collection[str] | None) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import parquet

    source = pa.BufferReader(each.content) if each.content is not None else each.path
    with parquet.ParquetFile(source) as file:
        for batch in file.iter_batches(ROWS, columns=_only(columns, file.schema_arrow.names)):
            yield pa.Table.from_batches([batch])


def _only(columns: Collection[str] | None, names: Sequence[str]) -> list[str] | None:
    """The columns to read, in the order of the file; None for all."""
    if not columns or not set(columns) <= set(names):
        return None
    return [name for name in names if name in set(columns)]


def _arrow(each: Input) -> Iterator[pa.Table]:
    import pyarrow as pa

    with each.open() as stream:
        first = stream.read(4)
    if first == b"FEA1":
        yield read_table(each, TextOptions())
        return
    with each.open() as source:
        if first == b"\xff\xff\xff\xff":
            for batch in pa.ipc.open_stream(source):
                yield pa.Table.from_batches([batch])
            return
    with pa.OSFile(str(each.path)) if each.content is None else pa.BufferReader(each.content) as source:
        file = pa.ipc.open_file(source)
        for k in range(file.num_record_batches):
            yield pa.Table.from_batches([file.get_batch(k)])


def _json(each: Input, types: Mapping[str, Any]) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import json

    if not hasattr(json, "open_json"):  # older than pyarrow 20
        yield read_table(each, TextOptions())
        return
    schema = pa.schema(list(types.items())) if types else None
    with each.open() as stream:
        reader = json.open_json(stream, parse_options=json.ParseOptions(explicit_schema=schema))
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _text(
    each: Input, types: Mapping[str, Any], options: TextOptions, columns: Collection[str] | None
) -> Iterator[pa.Table]:
    """Every field is read as text first: what a column is, the model knows, and no block of the file."""
    import pyarrow as pa
    from pyarrow import csv

    with each.open() as stream:
        sample = bytes(stream.read(SAMPLE))
    encoding = sampled_encoding(sample, options)
    told = "\t" if each.kind == kinds.TSV else None
    text = sample.decode(encoding, "replace")
    delimiter = options.delimiter or told or delimiter_of(text)
    names = names_of(text, delimiter)
    if not options.header:
        names = [f"f{i}" for i in range(len(names))]
    with each.open() as stream:
        try:
            reader = csv.open_csv(
                stream,
                read_options=csv.ReadOptions(
                    encoding=encoding,
                    block_size=max(_BLOCK, _ROWS_OF_BLOCK * max(map(len, sample.splitlines()))),
                    autogenerate_column_names=not options.header,
                ),
                parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in sample),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                    include_columns=_only(columns, names),
                ),
            )
            for batch in reader:
                yield _typed(pa.Table.from_batches([batch]), types, each.name)
        except MemoryError:  # pyarrow's is an ArrowException too
            raise
        except (pa.ArrowException, UnicodeError) as error:
            raise _said(error, each, delimiter, encoding) from error


def sampled_encoding(sample: bytes, options: TextOptions) -> str:
    """The first encoding, of those that reading a whole file tries, that the beginning of a file is in."""
    found = encoding_of(sample, options.encoding)
    if options.encoding is not None or found != "utf-8":
        return found
    for encoding in (found, *(name for name, _ in OLD_ENCODINGS)):
        try:  # the sample may end within a letter
            sample[:-4].decode(encoding) if len(sample) == SAMPLE else sample.decode(encoding)
        except UnicodeDecodeError as error:
            if len(sample) == SAMPLE and error.start > len(sample) - 9:
                return encoding
            continue
        return encoding
    return found


def _said(error: Exception, each: Input, delimiter: str, encoding: str) -> DataError:
    message = str(error)
    if isinstance(error, UnicodeError) or "UTF8" in message or "UTF-8" in message:
        return DataError(f"{each.name} is not all in {encoding}. Name its encoding, such as cp1252.")
    return unreadable(message, each.name, delimiter, encoding, each.open)


def _typed(table: pa.Table, types: Mapping[str, Any], name_of_file: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(table.column_names):
        if name not in types:
            continue
        known = table[name]
        try:
            table = table.set_column(place, name, from_text(known, types[name]))
            continue
        except pa.ArrowException:  # most often there is nothing that stands for missing values
            known = pc.if_else(pc.is_in(known, value_set=pa.array(MARKERS)), None, known)
        try:
            table = table.set_column(place, name, from_text(known, types[name]))
        except pa.ArrowException as error:
            raise DataError(
                f"{name_of_file}: column {name!r} holds {_first_refused(known, types[name])!r}, where the "
                f"model learned {_words(types[name])}."
            ) from error
    return table


def _first_refused(text: pa.ChunkedArray, wanted: pa.DataType) -> str:
    """The first value that is not of a type."""
    import pyarrow as pa

    first, last = 0, len(text)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            from_text(text.slice(first, middle - first), wanted)
            first = middle
        except pa.ArrowException:
            last = middle
    return short(str(text[first].as_py()), 60)


def _words(wanted: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(wanted):
        return "truth values"
    if pa.types.is_integer(wanted):
        return "whole numbers"
    return "dates" if pa.types.is_temporal(wanted) else "numbers"
