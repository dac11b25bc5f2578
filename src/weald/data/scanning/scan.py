"""`scan`: data that is read when it is needed, a row group at a time, and never as a whole."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from weald import engine
from weald.data.files.inputs import find, import_pyarrow
from weald.data.scanning.libsvm import LibsvmPart, SparseRows
from weald.data.scanning.parts import ParquetPart, Part, StreamPart, Widened, part_of
from weald.errors import DataError, DataTypeError, ParameterError, listing, nearest

if TYPE_CHECKING:
    import pyarrow as pa

Compress: TypeAlias = Literal["auto", "none", "packed", "zstd"]
#: rows handed on at a time
ROWS = 1 << 16
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {unit + "i": 1024**power for power, unit in enumerate("kmgt", 1)}


class Scan:
    """Data in files, not read yet. Made by `weald.scan`.

    Attributes
    ----------
    parts : list of Part
        The files, in order: rows are numbered in the order of the files, and of the rows in them.
    memory : int
        Bytes that reading may take.
    folder, disks, compress
        Where and how a fit keeps the coded rows.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        memory: int,
        folder: Path | None = None,
        disks: Sequence[Path] = (),
        compress: Compress = "auto",
    ) -> None:
        self.parts = list(parts)
        self.memory, self.folder, self.disks, self.compress = memory, folder, list(disks), compress
        self._n_rows: int | None = None

    # ------------------------------------------------------------------ what is known

    @property
    def sparse(self) -> bool:
        """Whether rows are those of a sparse matrix: LIBSVM's format."""
        return isinstance(self.parts[0], LibsvmPart)

    @property
    def schema(self) -> pa.Schema:
        """The columns of all files; of text as far as it was read. Whole numbers and others merge."""
        return merged_schema(self.parts)

    @property
    def columns(self) -> list[str]:
        """The names of the columns; of a sparse scan those of targets and queries."""
        return list(self.schema.names)

    @property
    def n_rows(self) -> int | None:
        """How many rows; None as long as nothing tells."""
        counts = [part.n_rows for part in self.parts]
        return None if any(count is None for count in counts) else sum(count or 0 for count in counts)

    def key(self) -> str:
        """What tells this data from other data: names, sizes, times, columns and rows of the files."""
        states = [part.state() for part in self.parts]
        return hashlib.sha256(json.dumps(states, default=str).encode()).hexdigest()

    def largest_row_group(self) -> int:
        """Bytes, once decoded, of the largest row group; 0 where none is known."""
        groups = (part.row_groups() for part in self.parts if isinstance(part, ParquetPart))
        return max((n_bytes for each in groups for _, n_bytes in each), default=0)

    def need(self, name: str) -> str:
        """The name, if there is a column so called."""
        names = self.columns
        if name not in names:
            close = nearest(name, names)
            hint = f"Did you mean {close!r}?" if close else f"There are {listing(names)}."
            raise DataError(f"The scan has no column {name!r}. {hint}")
        return name

    # ------------------------------------------------------------------ reading

    def tables(self, rows: int = ROWS, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows in tables of exactly `rows`, but for the last, in the types of `schema`.

        Raises `Widened` if a value told that these are other types: ask again.
        """
        import pyarrow as pa

        schema = self.schema
        wanted = schema if columns is None else pa.schema([schema.field(self.need(name)) for name in columns])
        waiting: list[pa.Table] = []
        n_waiting = 0
        for table in self._pieces(wanted):
            at = 0
            while n_waiting + table.num_rows - at >= rows:
                taken = rows - n_waiting
                yield pa.concat_tables([*waiting, table.slice(at, taken)])
                at, waiting, n_waiting = at + taken, [], 0
            if at < table.num_rows:
                waiting.append(table.slice(at))
                n_waiting += table.num_rows - at
        if n_waiting:
            yield pa.concat_tables(waiting)

    def _pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        for part in self.parts:
            for number, table in enumerate(part.tables(list(schema.names))):
                if table.num_rows:
                    yield _as(table, schema, part, number)

    def sparse_rows(self, rows: int = ROWS) -> Iterator[SparseRows]:
        """All rows of a sparse scan in pieces of exactly `rows`, but for the last."""
        waiting: list[SparseRows] = []
        n_waiting = 0
        for part in self.parts:
            assert isinstance(part, LibsvmPart)
            for piece in part.pieces():
                at, n = 0, piece.X.shape[0]
                while n_waiting + n - at >= rows:
                    taken = rows - n_waiting
                    yield _stacked([*waiting, _some(piece, at, at + taken)])
                    at, waiting, n_waiting = at + taken, [], 0
                if at < n:
                    waiting.append(_some(piece, at, n))
                    n_waiting += n - at
        if n_waiting:
            yield _stacked(waiting)

    def typed_tables(
        self,
        types: Mapping[str, str] | None,
        rows: int,
        columns: Sequence[str] | None,
        keep: Sequence[str] = (),
    ) -> Iterator[pa.Table]:
        """Some columns of all rows, in tables of at most `rows`; text files in the types that are given.

        Columns of text files that have no type stay text; without types they have those of the whole files,
        which are read once more for it.
        """
        from weald.data.files.batches import read_batches
        from weald.data.scanning.text import TextPart

        if types is None:
            self.settle()
        for part in self.parts:
            names = part.names if isinstance(part, TextPart) else part.schema.names
            wanted = list(names) if columns is None else [*columns, *(k for k in keep if k not in columns)]
            absent = [name for name in wanted if name not in names]
            if absent:
                raise DataError(
                    f"{part.name} has no column {absent[0]!r}, which the model was trained on"
                    + (f", and {len(absent) - 1} more are absent" if len(absent) > 1 else "")
                    + f". It has {listing(names)}."
                )
            if isinstance(part, TextPart) and types is not None:
                known = {name: pa_type(kind) for name, kind in types.items() if name in wanted}
                pieces: Iterator[pa.Table] = (table for table, _ in read_batches(part.path, known))
            else:
                pieces = part.tables(wanted)
            for table in pieces:
                for first in range(0, table.num_rows, rows):
                    yield table.slice(first, rows).select(wanted)

    def settle(self) -> None:
        """Read until all types are known, which only text asks for."""
        from weald.data.scanning.text import TextPart

        while True:
            try:
                for part in self.parts:
                    if isinstance(part, TextPart | LibsvmPart) and part.n_rows is None:
                        for _ in part.tables(None):
                            pass
                return
            except Widened:
                continue

    def __repr__(self) -> str:
        """What is known without reading."""
        names = [part.name for part in self.parts]
        rows = "rows not counted yet" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"<Scan of {listing(names, most=2)}: {rows}>"


def pa_type(name: str) -> Any:
    """Arrow's type of a name."""
    import pyarrow as pa

    return {"double": pa.float64(), "bool": pa.bool_(), "timestamp[us]": pa.timestamp("us")}[name]


def _as(table: pa.Table, schema: pa.Schema, part: Part, number: int) -> pa.Table:
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    try:
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError) as error:
        raise DataError(
            f"{part.name}, row group {number}, does not hold what the others do: {error}"
        ) from error


def _some(piece: SparseRows, first: int, last: int) -> SparseRows:
    return SparseRows(
        piece.X[first:last], {name: values[first:last] for name, values in piece.columns.items()}
    )


def _stacked(pieces: Sequence[SparseRows]) -> SparseRows:
    from scipy import sparse

    width = max(piece.X.shape[1] for piece in pieces)
    wide = [sparse.csr_matrix((p.X.data, p.X.indices, p.X.indptr), (p.X.shape[0], width)) for p in pieces]
    names = pieces[0].columns
    columns = {name: np.concatenate([piece.columns[name] for piece in pieces]) for name in names}
    return SparseRows(wide[0] if len(wide) == 1 else sparse.vstack(wide, format="csr"), columns)


def merged_schema(parts: Sequence[Part]) -> pa.Schema:
    """One schema for all files: columns by name, in the order of the first; raises where they differ."""
    import pyarrow as pa

    first = parts[0]
    merged = first.schema
    for part in parts[1:]:
        own = part.schema
        absent = [name for name in merged.names if name not in own.names]
        extra = [name for name in own.names if name not in merged.names]
        if absent or extra:
            what = f"has no column {absent[0]!r}" if absent else f"has a column {extra[0]!r}"
            raise DataError(
                f"{part.name} {what}, other than {first.name}. Files scanned together have the same columns."
            )
        fields = [_merged_field(merged.field(name), own.field(name), part, first) for name in merged.names]
        merged = pa.schema(fields)
    return merged.remove_metadata()


def _merged_field(known: Any, own: Any, part: Part, first: Part) -> Any:
    import pyarrow as pa

    if known.type == own.type:
        return known.with_nullable(True).remove_metadata()
    try:
        merged = pa.unify_schemas(
            [pa.schema([pa.field("x", known.type)]), pa.schema([pa.field("x", own.type)])],
            promote_options="permissive",
        )
    except pa.ArrowException:
        raise DataError(
            f"{part.name}, row group 0: column {known.name!r} is {own.type}, and it is {known.type} in "
            f"{first.name}. Numbers merge with numbers, text with text; write the column anew in one of them."
        ) from None
    return pa.field(known.name, merged.field(0).type)


ScanSource: TypeAlias = "str | Path | Iterable[str | Path] | Callable[[], object] | object"


def scan(
    paths: object,
    *,
    memory: int | str | None = None,
    folder: str | Path | None = None,
    disks: Sequence[str | Path] | None = None,
    compress: Compress = "auto",
) -> Scan:
    """Data that is too large for memory, for `fit` and `predict` in place of a table.

    Nothing is read until it is needed. A fit reads the data twice: once to learn how to code it, once to code
    it into pages on disk, which are then read again and again. The model is byte for byte the one that memory
    gives.

    Parameters
    ----------
    paths : str, Path, iterable of them, or a source of Arrow batches
        Parquet, CSV, Arrow and LIBSVM files; names may have `*`, `?` and `**`, files are taken in order of
        their names. Or what can be asked for its Arrow stream again and again: a table, a dataset, or a
        function that gives batches.
    memory : int or str, default=None
        Bytes that reading may take at a time, such as "2GB"; a quarter of the machine's by default.
    folder : str or Path, default=None
        Where the coded rows are kept, to be used again by later fits and `weald.open_store`. By default they
        are temporary, and gone when the fit has ended, however it ends.
    disks : sequence of str or Path, default=None
        Folders on several disks, over which the pages are dealt out.
    compress : {"auto", "none", "packed", "zstd"}, default="auto"
        How codes are kept: as they are, in as many bits as they need, or by zstd too where that makes them
        smaller. "auto" measures the disk.

    Returns
    -------
    Scan
        In `fit`, target and weights are names of its columns: `fit(scan, "late", sample_weight="w")`.

    Raises
    ------
    DataError
        If there are no such files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("age,late\\n36,0\\n41,1\\n")
    >>> _ = (folder / "b.csv").write_text("age,late\\n28.5,1\\n")
    >>> scan(folder / "*.csv").schema.field("age").type
    DataType(double)
    """
    import_pyarrow()
    room = _bytes(memory)
    if compress not in ("auto", "none", "packed", "zstd"):
        raise ParameterError(f"compress must be 'auto', 'none', 'packed' or 'zstd'; got {compress!r}.")
    where = [Path(each) for each in disks or ()]
    for each in where:
        if not each.is_dir():
            raise DataError(f"disks names {each}, which is no folder. Make it, or leave it out.")
    return Scan(
        _parts(paths, room),
        memory=room,
        folder=None if folder is None else Path(folder),
        disks=where,
        compress=compress,
    )


def is_path(value: object) -> bool:
    """Whether a value stands for files: a path, or several."""
    if isinstance(value, str | Path):
        return True
    return (
        isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(each, Path) for each in value)
    )


def _parts(paths: object, memory: int) -> list[Part]:
    import pyarrow as pa

    if isinstance(paths, pa.RecordBatchReader):
        raise DataTypeError(
            "A RecordBatchReader can be read only once, and a fit reads the data more often. Give a function "
            "that makes one: weald.scan(lambda: …)."
        )
    if callable(paths) or hasattr(paths, "__arrow_c_stream__") or hasattr(paths, "to_reader"):
        return [StreamPart(paths)]
    if hasattr(paths, "to_batches"):  # a dataset, which is read as its files' batches come
        return [StreamPart(paths.to_batches)]
    if not isinstance(paths, str | Path | Iterable):
        raise DataTypeError(
            f"A path, several, or a source of Arrow batches is expected; got {type(paths).__name__}."
        )
    found = find(paths)
    if any(str(path) == "-" for path in found):
        raise DataError("Standard input can be read only once, and a fit reads the data more often.")
    parts = [part_of(path, memory) for path in found]
    if len({isinstance(part, LibsvmPart) for part in parts}) > 1:
        raise DataError("Some files are in LIBSVM's format and others are not. Scan them apart.")
    return parts


def _bytes(memory: int | str | None) -> int:
    """Bytes of a number, or of text such as "2GB"."""
    if memory is None:
        return max(engine.memory_bytes() // 4, 1 << 26)
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?i?)b?\s*", memory.lower())
        if found is None:
            raise ParameterError(f"memory must be bytes, or text such as '2GB'; got {memory!r}.")
        return int(float(found[1]) * _UNITS[found[2]])
    if isinstance(memory, bool) or not isinstance(memory, int | np.integer) or memory < 1 << 20:
        raise ParameterError(
            f"memory must be at least 1,048,576 bytes, or text such as '2GB'; got {memory!r}."
        )
    return int(memory)
