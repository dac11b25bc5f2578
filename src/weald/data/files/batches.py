"""A table in files, some rows at a time: what prediction in bounded memory reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weald.data.files import kinds
from weald.data.files.reading import find, import_pyarrow, read
from weald.data.files.text import MARKERS, MISSING, SAMPLE, delimiter_of, encoding_of, names_of
from weald.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

#: rows of a batch
ROWS = 1 << 16


def read_batches(path: str | Path, types: Mapping[str, Any]) -> Iterator[pa.Table]:
    """The rows of files in order, in batches.

    Parquet and plain text are read as they are needed; other kinds are read whole, file by file.

    Parameters
    ----------
    path : str or Path
        As `weald.read` takes it.
    types : mapping of name to pyarrow type
        Of the columns of text files that are no text.
    """
    import_pyarrow()
    for each in find(path):
        kind = None if str(each) == "-" else kinds.kind_of(each)
        if kind is not None and kind.kind == kinds.PARQUET and kind.compression is None:
            yield from _parquet(each)
        elif kind is not None and kind.kind in {kinds.CSV, kinds.TSV}:
            yield from _text(each, kind, types)
        else:
            table = read(each)
            for first in range(0, max(table.num_rows, 1), ROWS):
                yield table.slice(first, ROWS)


def _parquet(path: Path) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS):
                yield pa.Table.from_batches([batch])
    except pa.ArrowException as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from error


def _text(path: Path, kind: kinds.FileKind, types: Mapping[str, Any]) -> Iterator[pa.Table]:
    """Every field is read as text first: what a column is, the model knows, and no block of the file."""
    import pyarrow as pa
    from pyarrow import csv

    with kinds.opened(path, kind.compression) as stream:
        sample = bytes(stream.read(SAMPLE))
    encoding = encoding_of(sample)
    delimiter = "\t" if kind.kind == kinds.TSV else delimiter_of(sample.decode(encoding, "replace"))
    names = names_of(sample.decode(encoding, "replace"), delimiter)
    with kinds.opened(path, kind.compression) as stream:
        try:
            reader = csv.open_csv(
                stream,
                read_options=csv.ReadOptions(encoding=encoding, block_size=1 << 22),
                parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in sample),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                ),
            )
            for batch in reader:
                yield _typed(pa.Table.from_batches([batch]), types, path)
        except pa.ArrowException as error:
            raise DataError(f"{path} cannot be read as text in columns: {error}") from error


def _typed(table: pa.Table, types: Mapping[str, Any], path: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(table.column_names):
        if name not in types:
            continue
        known = pc.if_else(pc.is_in(table[name], value_set=pa.array(MARKERS)), None, table[name])
        try:
            table = table.set_column(place, name, known.cast(types[name]))
        except pa.ArrowException as error:
            raise DataError(
                f"{path}: column {name!r} has values that are not what the model learned from: {error}"
            ) from error
    return table
