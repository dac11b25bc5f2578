"""CSV and TSV by blocks: the types are those that the whole file gives, found on the way.

A column has the first type, in the order in which pyarrow tries them, that takes all of its values. The
first block tells the types to begin with; where a later value does not fit, the type becomes the next one
that takes it, and the reading begins again, once or twice in most files where it has to.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weald.data.files import kinds
from weald.data.files.batches import sampled_encoding
from weald.data.files.text import (
    MARKERS,
    MISSING,
    OLD_ENCODINGS,
    SAMPLE,
    TextOptions,
    check_names,
    delimiter_of,
    names_of,
)
from weald.data.files.text import unreadable as unreadable_text
from weald.data.scanning.parts import FileState, Widened, unreadable
from weald.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_PLACE = re.compile(r"In CSV column #(\d+)")
_VALUE = re.compile(r"invalid value '(.*)'", re.DOTALL)
_BLOCK = 1 << 22


class TextPart:
    """A file of text in columns."""

    def __init__(self, path: Path, kind: kinds.FileKind) -> None:
        self.path, self.name, self._kind = path, str(path), kind
        self.n_rows: int | None = None
        self._types: dict[str, Any] = {}
        self._marked: set[str] = set()  # numbers whose gaps have a marker
        self._settled = False
        self._layout: tuple[str, str, bool] | None = None  # encoding, delimiter, lines within quotes
        self._encoding: str | None = None  # that a later block asked for
        self._names: list[str] = []

    def _look(self) -> tuple[str, str, bool]:
        if self._layout is None:
            with self._stream() as stream:
                sample = bytes(stream.read(SAMPLE))
            encoding = self._encoding or sampled_encoding(sample, TextOptions())
            text = sample.decode(encoding, "replace")
            delimiter = "\t" if self._kind.kind == kinds.TSV else delimiter_of(text)
            self._names = names_of(text, delimiter)
            check_names(self._names, self.name)
            self._layout = (encoding, delimiter, b'"' in sample)
        return self._layout

    def _stream(self) -> Any:
        try:
            return kinds.opened(self.path, self._kind.compression)
        except OSError as error:
            raise unreadable(self.path, error) from error

    @property
    def names(self) -> list[str]:
        """The first line."""
        self._look()
        return list(self._names)

    @property
    def schema(self) -> pa.Schema:
        """What is known so far: of the first block, before all was read once."""
        import pyarrow as pa

        while not self._types:  # each time round another layout is tried, and the last of them raises
            with suppress(Widened):
                self._take_types(self._reader(self._stream()).schema)
        types = self._types | dict.fromkeys(self._marked, pa.float64())
        return pa.schema([(name, types[name]) for name in self._names])

    def _take_types(self, schema: pa.Schema) -> None:
        self._types = {field.name: field.type for field in schema}

    def _reader(self, stream: object) -> Any:
        from pyarrow import csv

        encoding, delimiter, quoted = self._look()
        try:
            return csv.open_csv(
                stream,
                read_options=csv.ReadOptions(encoding=encoding, block_size=_BLOCK),
                parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
                convert_options=csv.ConvertOptions(
                    column_types=self._types, null_values=list(MISSING), strings_can_be_null=True
                ),
            )
        except Exception as error:
            self._widen(error)
            raise Widened from None

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """A table per block of the file."""
        import pyarrow as pa

        _ = self.schema
        numbers = _MarkedColumns() if not self._settled else None
        with self._stream() as stream:
            reader, n = self._reader(stream), 0
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    break
                except (pa.ArrowException, UnicodeError) as error:
                    self._widen(error)
                    raise Widened from None
                n += batch.num_rows
                table = self._with_markers(pa.Table.from_batches([batch]))
                if numbers is not None:
                    numbers.look(table)
                yield table if columns is None else table.select(columns)
        found = set() if numbers is None else numbers.found()
        self._settled, self.n_rows = True, n
        if found:
            self._marked |= found
            raise Widened

    def _with_markers(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa

        for name in self._marked:
            known = _unmarked(table[name])
            try:
                numbers = known.cast(pa.float64())
            except pa.ArrowInvalid:
                self._marked.discard(name)
                raise Widened from None
            table = table.set_column(table.column_names.index(name), name, numbers)
        return table

    def _widen(self, error: Exception) -> None:
        """Change what the error tells to be too narrow, or say what is wrong."""
        if self._settled:
            raise DataError(
                f"{self.path} has changed since the scan began: {error}. Scan it again."
            ) from error
        encoding, delimiter, quoted = self._look()
        message = str(error)
        if isinstance(error, UnicodeError) or "UTF8" in message or "UTF-8" in message:
            names = [encoding, *(name for name, _ in OLD_ENCODINGS)]
            tried = max(at for at, name in enumerate(names) if name == encoding)
            if tried + 1 == len(names):
                raise DataError(
                    f"{self.path} is in no encoding that weald knows. Export it as UTF-8."
                ) from error
            self._encoding, self._layout, self._types = names[tried + 1], None, {}
            return
        place = _PLACE.search(message)
        if place is not None:
            name = self._names[int(place[1])]
            value = _VALUE.search(message)
            self._types[name] = next_type(self._types.get(name), None if value is None else value[1])
            return
        if not quoted:
            self._layout = (encoding, delimiter, True)
            return
        raise unreadable_text(message, self.name, delimiter, encoding, self._stream) from error

    def state(self) -> list[Any]:
        """Size and time."""
        found = FileState.of(self.path)
        return [found.path, found.size, found.time, self.names]


def _unmarked(column: object) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_in(column, value_set=pa.array(MARKERS)), None, column)


class _MarkedColumns:
    """Which columns of text are numbers but for markers of gaps, once all blocks have been looked at."""

    def __init__(self) -> None:
        self._candidates: set[str] | None = None
        self._marked: set[str] = set()
        self._numbers: set[str] = set()

    def look(self, table: pa.Table) -> None:
        import pyarrow as pa

        if self._candidates is None:
            self._candidates = {f.name for f in table.schema if pa.types.is_string(f.type)}
        for name in list(self._candidates):
            column = table[name]
            known = _unmarked(column)
            try:
                known.cast(pa.float64())
            except pa.ArrowInvalid:
                self._candidates.discard(name)
                continue
            if known.null_count > column.null_count:
                self._marked.add(name)
            if known.null_count < len(known):
                self._numbers.add(name)

    def found(self) -> set[str]:
        return (self._candidates or set()) & self._marked & self._numbers


def next_type(known: object, value: str | None) -> Any:
    """The next type, in pyarrow's own order, that a value fits which does not fit the known one."""
    import pyarrow as pa

    order = [
        pa.null(),
        pa.int64(),
        pa.bool_(),
        pa.float64(),
        pa.date32(),
        pa.time32("s"),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.string(),
    ]
    after = order[order.index(known) + 1 :] if known in order else [pa.string()]
    for each in after:
        if value is None or _fits(value, each):
            return each
    return pa.string()


def _fits(value: str, kind: object) -> bool:
    import pyarrow as pa
    from pyarrow import csv

    quoted = '"' + value.replace('"', '""') + '"'
    try:
        csv.read_csv(
            io.BytesIO(f"x\n{quoted}\n".encode()),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={"x": kind}, null_values=list(MISSING), strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        return False
    return True
