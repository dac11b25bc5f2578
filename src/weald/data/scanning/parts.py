"""What a scan asks of each of its files, and the readers of Parquet and Arrow files."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from weald.data.files import kinds
from weald.data.files.reading import read
from weald.errors import DataError, DataTypeError, told

if TYPE_CHECKING:
    import pyarrow as pa

#: rows taken at a time from a row group that is larger than the memory it may have
SOME_ROWS = 1 << 16


class Widened(Exception):  # noqa: N818  # no error: the reader starts again and never sees it
    """A value told that a column is of a wider type than the values before it: read from the beginning."""


class Part(Protocol):
    """One file, or one stream."""

    name: str

    @property
    def schema(self) -> pa.Schema:
        """The columns as they are known so far."""

    @property
    def n_rows(self) -> int | None:
        """How many rows, if that is known without reading them."""

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """The rows in pieces; raises `Widened` if `schema` is another now."""

    def state(self) -> list[Any]:
        """What changes if the content does."""


@dataclass(frozen=True, slots=True)
class FileState:
    """Size and time of a file."""

    path: str
    size: int
    time: int

    @classmethod
    def of(cls, path: Path) -> FileState:
        """As the system tells it."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise unreadable(path, error) from error
        return cls(str(path.resolve()), found.st_size, found.st_mtime_ns)


def unreadable(path: object, error: OSError) -> DataError:
    """The error for a file that the system refuses."""
    if isinstance(error, PermissionError):
        return DataError(f"{path} cannot be read: permission is denied. Give yourself the right to read it.")
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is gone: it was there when the scan began.")
    return DataError(f"{path} cannot be read: {error.strerror or error}.")


class ParquetPart:
    """A Parquet file, one row group at a time; its own reader would read ahead without bound."""

    def __init__(self, path: Path, memory: int) -> None:
        self.path, self.name, self._memory = path, str(path), memory
        self._metadata: Any = None
        self._schema: Any = None

    def _open(self) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            file = parquet.ParquetFile(self.path, memory_map=False, pre_buffer=False)
        except pa.ArrowException as error:
            raise DataError(f"{self.path} cannot be read as Parquet: {error}") from error
        except OSError as error:
            raise unreadable(self.path, error) from error
        if self._metadata is None:
            self._metadata, self._schema = file.metadata, file.schema_arrow
        elif not file.metadata.equals(self._metadata):
            raise DataError(f"{self.path} has changed since the scan began. Scan it again.")
        return file

    @property
    def schema(self) -> pa.Schema:
        """From its footer."""
        if self._schema is None:
            self._open().close()
        return self._schema

    @property
    def n_rows(self) -> int:
        """From its footer."""
        _ = self.schema
        return int(self._metadata.num_rows)

    def row_groups(self) -> list[tuple[int, int]]:
        """Rows and bytes, once decoded, of each row group."""
        _ = self.schema
        groups = (self._metadata.row_group(i) for i in range(self._metadata.num_row_groups))
        return [(int(group.num_rows), int(group.total_byte_size)) for group in groups]

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """A table per row group, or several of one that is too large."""
        import pyarrow as pa

        file = self._open()
        try:
            for number, (_, n_bytes) in enumerate(self.row_groups()):
                try:
                    if n_bytes <= self._memory:
                        yield file.read_row_group(number, columns=columns)
                        continue
                    batches = file.iter_batches(SOME_ROWS, row_groups=[number], columns=columns)
                    for batch in batches:
                        yield pa.Table.from_batches([batch])
                except (pa.ArrowException, OSError) as error:
                    raise DataError(f"{self.path}, row group {number}, cannot be read: {error}") from error
        finally:
            file.close()

    def state(self) -> list[Any]:
        """Size, time and footer."""
        found = FileState.of(self.path)
        return [found.path, found.size, found.time, self.n_rows, str(self.schema)]


class ArrowPart:
    """An Arrow or Feather file, one record batch at a time."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self._schema: object = None
        self.n_rows: int | None = None

    @property
    def schema(self) -> pa.Schema:
        """From its beginning."""
        if self._schema is None:
            batches = self._batches()
            self._schema = next(batches)
            batches.close()
        return self._schema

    def _batches(self) -> Generator[Any, None, None]:
        """The schema, then the batches."""
        import pyarrow as pa

        try:
            with pa.OSFile(str(self.path), "rb") as source:
                head = source.read(4)
                source.seek(0)
                if head == b"FEA1":
                    table = read(self.path)
                    yield table.schema
                    yield from table.to_batches()
                    return
                if head == b"\xff\xff\xff\xff":
                    with pa.ipc.open_stream(source) as stream:
                        yield stream.schema
                        yield from stream
                    return
                with pa.ipc.open_file(source) as file:
                    yield file.schema
                    for i in range(file.num_record_batches):
                        yield file.get_batch(i)
        except pa.ArrowException as error:
            raise DataError(f"{self.path} cannot be read as Arrow: {error}") from error
        except OSError as error:
            raise unreadable(self.path, error) from error

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """A table per record batch."""
        import pyarrow as pa

        batches, n = self._batches(), 0
        schema = next(batches)
        for batch in batches:
            n += batch.num_rows
            table = pa.Table.from_batches([batch], schema)
            yield table if columns is None else table.select(columns)
        self.n_rows = n

    def state(self) -> list[Any]:
        """Size and time."""
        found = FileState.of(self.path)
        return [found.path, found.size, found.time, str(self.schema)]


class WholePart:
    """A file of a kind that is only read as a whole: JSON lines, and compressed Parquet or Arrow."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self._schema: object = None
        self.n_rows: int | None = None

    @property
    def schema(self) -> pa.Schema:
        """After reading it."""
        if self._schema is None:
            self._schema = read(self.path).schema
        return self._schema

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """All of it."""
        table = read(self.path)
        self.n_rows = table.num_rows
        yield table if columns is None else table.select(columns)

    def state(self) -> list[Any]:
        """Size and time."""
        found = FileState.of(self.path)
        return [found.path, found.size, found.time]


class StreamPart:
    """A source of Arrow batches in memory or elsewhere that can be asked for its stream again and again."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.name = f"the {type(source).__name__}"
        self.n_rows: int | None = None
        self._schema: Any = None

    def _reader(self) -> Any:
        import pyarrow as pa

        made = self._source() if callable(self._source) else self._source
        if isinstance(made, pa.RecordBatchReader):
            return made
        if hasattr(made, "to_reader"):
            return made.to_reader()
        if hasattr(made, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(made)
        batches = iter(made)
        first = next(batches, None)
        if first is None:
            raise DataError(f"{self.name} gave no batch: a table has at least one row.")
        if not hasattr(first, "schema"):
            raise DataTypeError(
                f"{self.name} gave {told(first)} where a batch of Arrow is expected. Give "
                "pyarrow.RecordBatch."
            )
        chained = (each for each in _chain(first, batches))
        return pa.RecordBatchReader.from_batches(first.schema, chained)

    @property
    def schema(self) -> pa.Schema:
        """Of the stream."""
        if self._schema is None:
            self._schema = self._reader().schema
        return self._schema

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """A table per batch."""
        import pyarrow as pa

        n = 0
        reader = self._reader()
        for batch in reader:
            n += batch.num_rows
            table = pa.Table.from_batches([batch], reader.schema)
            yield table if columns is None else table.select(columns)
        self.n_rows = n

    def state(self) -> list[Any]:
        """Itself: nothing tells another time that it gives the same."""
        return ["stream", id(self._source), str(self.schema)]


def _chain(first: object, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def part_of(path: Path, memory: int) -> Part:
    """The reader for a file, by its kind."""
    from weald.data.scanning.libsvm import LibsvmPart
    from weald.data.scanning.text import TextPart

    try:
        kind = kinds.kind_of(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if kind.kind in (kinds.CSV, kinds.TSV):
        return TextPart(path, kind)
    if kind.kind == kinds.LIBSVM:
        return LibsvmPart(path, kind)
    if kind.compression is None and kind.kind == kinds.PARQUET:
        return ParquetPart(path, memory)
    if kind.compression is None and kind.kind == kinds.ARROW:
        return ArrowPart(path)
    return WholePart(path)
