"""CSV and TSV: every column gets the type that all of its values have.

pyarrow guesses types from the first block of a file. Where a later value does not fit, the column is read
again as the next wider type, so that 1, 2, …, 2.5 are numbers and 1, 2, …, n/a are numbers with a gap.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weald.errors import DataError, ParameterError, listing

if TYPE_CHECKING:
    import pyarrow as pa

#: what stands for a missing value in any column
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "n/a")
#: what does in a column whose other values are numbers
MARKERS = ("?", "-", "--", ".", "*", "missing", "unknown", "none", "None", "NONE", "Unknown", "Missing")
#: bytes of a file that its delimiter, quotes and encoding are guessed from
SAMPLE = 1 << 20
#: what text is most often in that is no UTF-8; the last one knows every byte
OLD_ENCODINGS = (("cp1252", "Windows-1252"), ("latin-1", "Latin-1"))
_DELIMITERS = (",", ";", "\t", "|")
#: columns read anew before all are read as text
_TRIES = 8
_PLACE = re.compile(r"In CSV column #(\d+)")
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")


@dataclass
class TextOptions:
    """How the text is laid out; what is None is guessed."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    notes: list[str] = field(default_factory=list)


def read_text(open_stream: Callable[[], Any], name: str, options: TextOptions) -> pa.Table:
    """A table from text.

    Parameters
    ----------
    open_stream : callable
        Gives the content from its beginning, as often as it is called.
    name : str
        The file, for messages.
    options : TextOptions
        The layout; `notes` gets what was guessed and is worth knowing.
    """
    with open_stream() as stream:
        sample = bytes(stream.read(SAMPLE))
    encoding = encoding_of(sample, options.encoding)
    delimiter = options.delimiter or delimiter_of(sample.decode(encoding, "replace"))
    layout = _Layout(open_stream, name, delimiter, encoding, options.header, b'"' in sample)
    table = _in_some_encoding(layout, options)
    check_names(table.column_names, name, header=options.header)
    return _with_markers(table, options.notes)


@dataclass
class _Layout:
    open_stream: Callable[[], Any]
    name: str
    delimiter: str
    encoding: str
    header: bool
    quoted: bool
    types: dict[str, Any] = field(default_factory=dict)
    all_text: bool = False


def _in_some_encoding(layout: _Layout, options: TextOptions) -> pa.Table:
    """The table; what is no UTF-8 is read as what it most often is, and said to be."""
    try:
        return _by_whole_columns(layout)
    except UnicodeError:
        if options.encoding is not None:
            raise DataError(
                f"{layout.name} is not in the encoding {options.encoding}. Leave the encoding out to have it "
                "guessed, or name the right one, such as cp1252 or utf-16."
            ) from None
    for encoding, called in OLD_ENCODINGS:
        layout.encoding = encoding
        with suppress(UnicodeError):
            table = _by_whole_columns(layout)
            options.notes.append(f"{layout.name} is not UTF-8: it was read as {called}")
            return table
    raise DataError(f"{layout.name} is in no encoding that weald knows. Export it as UTF-8.")


def encoding_of(sample: bytes, asked: str | None = None) -> str:
    """The encoding that was asked for, else UTF-16 where marks or zeros tell it, else UTF-8."""
    if asked is not None:
        try:
            return codecs.lookup(asked).name
        except LookupError:
            raise ParameterError(
                f"There is no encoding {asked!r}. Some are utf-8, utf-16, cp1252, latin-1, shift_jis."
            ) from None
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = sample[:4096]
    zeros = [head[side::2].count(0) for side in (0, 1)]
    if max(zeros) > len(head) // 5 and min(zeros) <= len(head) // 100:
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return "utf-8"


def delimiter_of(sample: str) -> str:
    """The one that parts the first lines into equally many fields, and into most of them."""
    lines = sample.splitlines()[:50]
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        counts = [
            len(row) for row in csv.reader(io.StringIO("\n".join(lines[:-1] or lines)), delimiter=delimiter)
        ]
        counts = [count for count in counts if count]
        if counts and min(counts) == max(counts) and counts[0] > most:
            best, most = delimiter, counts[0]
    return best


def _by_whole_columns(layout: _Layout) -> pa.Table:
    """The table, with columns read again as wider types until all values fit."""
    import pyarrow as pa

    wider = {"int64": pa.float64(), "null": pa.string()}
    for _ in range(_TRIES):
        try:
            return _read_once(layout)
        except pa.ArrowInvalid as error:
            message = str(error)
            if "UTF8" in message or "UTF-8" in message:
                raise UnicodeError(message) from error
            place = _PLACE.search(message)
            if place is None:
                _retry_or_say(layout, message, error)
                continue
            column = _names(layout)[int(place[1])]
            failed = re.search(r"conversion error to (\w+)", message)
            if column in layout.types or failed is None:
                layout.types[column] = pa.string()
            else:
                layout.types[column] = wider.get(failed[1], pa.string())
    layout.all_text = True
    return _retyped(_read_once(layout))


def _retry_or_say(layout: _Layout, message: str, error: Exception) -> None:
    """Look for lines within quotes where a row seems cut, then for its number; then say it."""
    if not layout.quoted:
        layout.quoted = True
        return
    raise unreadable(message, layout.name, layout.delimiter, layout.encoding, layout.open_stream) from error


def unreadable(
    message: str, name: str, delimiter: str, encoding: str, open_stream: Callable[[], Any]
) -> DataError:
    """What pyarrow said of text in columns, with the line where a row is ragged."""
    found = _RAGGED.search(message)
    if found is None:
        return DataError(f"{name} cannot be read as text in columns: {message}")
    line = _ragged_line(int(found[1]), delimiter, encoding, open_stream)
    return DataError(
        f"{name}{line}: {found[2]} fields where the others have {found[1]}. Mend the row, or name the "
        f"delimiter if {delimiter!r} is not the one."
    )


def _ragged_line(expected: int, delimiter: str, encoding: str, open_stream: Callable[[], Any]) -> str:
    """The line that the first ragged row ends on: fields in quotes may have several lines."""
    with open_stream() as stream:
        lines = csv.reader(io.TextIOWrapper(stream, encoding, "replace", newline=""), delimiter=delimiter)
        try:
            found = next((lines.line_num for fields in lines if fields and len(fields) != expected), None)
        except csv.Error:
            return ""
    return "" if found is None else f", line {found:,}"


def _read_once(layout: _Layout) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = dict.fromkeys(_names(layout), pa.string()) if layout.all_text else layout.types
    with layout.open_stream() as stream:
        table = arrow_csv.read_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                encoding=layout.encoding,
                autogenerate_column_names=not layout.header,
                block_size=1 << 22,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.delimiter, newlines_in_values=layout.quoted
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, null_values=list(MISSING), strings_can_be_null=True
            ),
        )
    _ = table.column_names  # names in another encoding raise here
    if any(pa.types.is_binary(each) for each in table.schema.types):  # what pyarrow makes of other text
        raise UnicodeError("no UTF-8")
    return table


def _names(layout: _Layout) -> list[str]:
    """The names of the columns as pyarrow has them."""
    with layout.open_stream() as stream:
        sample = bytes(stream.read(SAMPLE)).decode(layout.encoding, "replace")
    first = names_of(sample, layout.delimiter)
    return first if layout.header else [f"f{i}" for i in range(len(first))]


def names_of(sample: str, delimiter: str) -> list[str]:
    """The fields of the first line."""
    return next(csv.reader(io.StringIO(sample.lstrip("\ufeff")), delimiter=delimiter))


def _retyped(table: pa.Table) -> pa.Table:
    """Columns of text as what all of their values are."""
    import pyarrow as pa

    columns = []
    for column in table.columns:
        for wanted in (pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us")):
            try:
                columns.append(column.cast(wanted))
                break
            except pa.ArrowInvalid:
                continue
        else:
            columns.append(column)
    return pa.table(columns, names=table.column_names)


def _with_markers(table: pa.Table, notes: list[str]) -> pa.Table:
    """Columns of numbers whose gaps have a marker of their own, as numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if not pa.types.is_string(column.type):
            continue
        marked = pc.is_in(column, value_set=pa.array(MARKERS))
        n_marked = pc.sum(marked).as_py() or 0
        if n_marked == 0 or n_marked == len(column) - column.null_count:
            continue
        try:
            numbers = pc.if_else(marked, None, column).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
        found = pc.unique(column.filter(marked)).to_pylist()
        notes.append(f"column {name!r} has numbers, and {listing(found)} for {n_marked:,} missing ones")
        table = table.set_column(place, name, numbers)
    return table


def check_names(names: list[str], name: str, *, header: bool = True) -> None:
    """Refuse names that come twice, and numbers where names should stand."""
    twice = sorted({each for each in names if names.count(each) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError(f"{name} has several columns named {listing(twice)}. Give each a name of its own.")
    if header and all(_is_number(each) for each in names):
        raise DataError(
            f"{name} has numbers where the names of columns should stand ({listing(names[:3])} …). Add a "
            "line of names, or say that there is none: header=False, on the command line --no-header."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
