"""`read`: a table from files of any kind that weald knows."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weald.data.files import kinds
from weald.data.files.dates import with_dates
from weald.data.files.inputs import Input, inputs
from weald.data.files.text import TextOptions, read_text
from weald.errors import DataError, listing, nearest

if TYPE_CHECKING:
    import pyarrow as pa


def read(
    path: str | Path | Iterable[str | Path],
    *,
    columns: Iterable[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    notes: list[str] | None = None,
) -> pa.Table:
    """Read a table from a file, or from several with the same columns.

    CSV and TSV get the type of each column from all of its values: whole numbers, numbers, truth values,
    dates and times, else text, which estimators take for categories. Empty fields, `NA`, `NaN`, `null` and
    `n/a` are missing values; `?`, `-` and the like are, among numbers. Other formats tell types themselves,
    but text that holds dates throughout is read as dates there too.

    Parameters
    ----------
    path : str, Path or iterable of them
        CSV, TSV, Parquet, Arrow or Feather, or JSON lines, plain or compressed by gzip, zstd or bzip2. A name
        may have `*`, `?` and `**`; the files are taken in order of their names. `-` is standard input.
    columns : iterable of str, default=None
        Only these.
    delimiter, encoding : str, default=None
        Of CSV; guessed if None.
    header : bool, default=True
        Whether the first line of CSV has the names of the columns.
    notes : list of str, default=None
        Gets what was guessed and is worth knowing.

    Returns
    -------
    pyarrow.Table
        Which every estimator takes; `.to_pandas()` gives a frame of pandas.

    Raises
    ------
    DataError
        If there is no such file, or it is not what its name says; names the row where the text is ragged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ages.csv"
    >>> _ = file.write_text("name,age\\nAda,36\\nAlan,?\\n")
    >>> read(file)["age"].to_pylist()
    [36.0, None]
    """
    told = [] if notes is None else notes
    options = TextOptions(delimiter, encoding, header, told)
    return read_inputs(inputs(path), options, None if columns is None else list(columns))


def read_inputs(given: Sequence[Input], options: TextOptions, columns: list[str] | None = None) -> pa.Table:
    """The tables of several inputs one under the other."""
    tables = [_chosen(read_table(each, options), columns, each.name) for each in given]
    return tables[0] if len(tables) == 1 else _joined(tables, [each.name for each in given])


def read_table(each: Input, options: TextOptions) -> pa.Table:
    """The table of one input."""
    import pyarrow as pa

    try:
        table = _READERS[each.kind](each, options)
        return table if each.kind in {kinds.CSV, kinds.TSV} else with_dates(table, options.notes)
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except pa.ArrowException as error:
        raise DataError(f"{each.name} cannot be read as {each.kind}: {error}") from error
    except OSError as error:
        if each.compression is None:
            raise
        raise DataError(f"{each.name} cannot be decompressed, it is damaged or cut off: {error}") from error


def _read_text(each: Input, options: TextOptions) -> pa.Table:
    delimiter = options.delimiter or ("\t" if each.kind == kinds.TSV else None)
    return read_text(
        each.open, each.name, TextOptions(delimiter, options.encoding, options.header, options.notes)
    )


def _read_parquet(each: Input, options: TextOptions) -> pa.Table:
    from pyarrow import parquet

    with each.open() as stream:
        return parquet.read_table(stream if each.compression is None else io.BytesIO(stream.read()))


def _read_arrow(each: Input, options: TextOptions) -> pa.Table:
    import pyarrow as pa
    from pyarrow import feather

    with each.open() as stream:
        content = pa.py_buffer(stream.read())
    if content[:4].to_pybytes() == b"\xff\xff\xff\xff":
        return pa.ipc.open_stream(content).read_all()
    return feather.read_table(pa.BufferReader(content))


def _read_json(each: Input, options: TextOptions) -> pa.Table:
    from pyarrow import json

    with each.open() as stream:
        return json.read_json(stream)


def _read_libsvm(each: Input, options: TextOptions) -> pa.Table:
    raise DataError(
        f"{each.name} is in LIBSVM's format: a sparse matrix and a target. weald.read_libsvm reads it."
    )


_READERS = {
    kinds.CSV: _read_text,
    kinds.TSV: _read_text,
    kinds.PARQUET: _read_parquet,
    kinds.ARROW: _read_arrow,
    kinds.JSON_LINES: _read_json,
    kinds.LIBSVM: _read_libsvm,
}


def _chosen(table: pa.Table, columns: list[str] | None, name: str) -> pa.Table:
    if columns is None:
        return table
    for each in columns:
        if each not in table.column_names:
            close = nearest(each, table.column_names)
            way_out = f"did you mean {close!r}?" if close else f"it has {listing(table.column_names)}."
            raise DataError(f"{name} has no column {each!r}; {way_out}")
    return table.select(columns)


def _joined(tables: list[pa.Table], paths: Sequence[str]) -> pa.Table:
    """Tables one under the other, with columns by name."""
    import pyarrow as pa

    first = tables[0].column_names
    for table, path in zip(tables[1:], paths[1:], strict=True):
        absent = [name for name in first if name not in table.column_names]
        extra = [name for name in table.column_names if name not in first]
        if absent or extra:
            what = f"has no column {absent[0]!r}" if absent else f"has a column {extra[0]!r}"
            raise DataError(
                f"{path} {what}, other than {paths[0]}. Files read together have the same columns."
            )
    try:
        return pa.concat_tables([table.select(first) for table in tables], promote_options="permissive")
    except pa.ArrowException as error:
        raise DataError(
            f"The columns of {paths[0]} and the files after it differ in type: {error}"
        ) from error
