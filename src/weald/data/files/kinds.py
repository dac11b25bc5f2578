"""Which kind of table a file holds: by its name, checked against its first bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from weald.errors import DataError

CSV, TSV, PARQUET, ARROW, JSON_LINES, LIBSVM = "CSV", "TSV", "Parquet", "Arrow", "JSON lines", "LIBSVM"

_BY_SUFFIX = {
    ".csv": CSV,
    ".txt": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".ipc": ARROW,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": JSON_LINES,
    ".svm": LIBSVM,
    ".libsvm": LIBSVM,
    ".svmlight": LIBSVM,
}
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_COMPRESSED_BYTES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
#: what files that are no text begin with
_BINARY = {b"PAR1": PARQUET, b"ARROW1": ARROW, b"FEA1": ARROW, b"\xff\xff\xff\xff": ARROW}
#: other things that people take for tables
_OTHERS = {
    b"PK\x03\x04": "a zip archive (an Excel workbook is one)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
    b"SQLite": "a SQLite database",
}
#: as many bytes as tell a kind of text
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file holds, and what it is compressed with."""

    kind: str
    compression: str | None = None


def kind_of(path: Path) -> FileKind:
    """The kind of a file.

    Raises
    ------
    DataError
        If the first bytes are not those of the kind that its name tells, or the file is empty.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    named = _COMPRESSED.get(suffixes[-1]) if suffixes else None
    told = _BY_SUFFIX.get((suffixes[:-1] if named else suffixes)[-1]) if suffixes[bool(named) :] else None
    with open(path, "rb") as file:
        compression = compression_of(file.read(4))
    with opened(path, compression) as stream:
        head = _head(stream, path.name)
    return FileKind(_checked(head, told, path.name), compression)


def kind_of_bytes(content: bytes, name: str) -> FileKind:
    """The kind of what came without a name."""
    import pyarrow as pa

    compression = compression_of(content[:4])
    with pa.input_stream(pa.BufferReader(content), compression=compression) as stream:
        head = _head(stream, name)
    return FileKind(_checked(head, None, name), compression)


def compression_of(first: bytes) -> str | None:
    """The name that pyarrow has for the compression of a file that begins so."""
    return next((name for magic, name in _COMPRESSED_BYTES.items() if first.startswith(magic)), None)


def opened(path: Path, compression: str | None) -> Any:
    """The content of a file as a stream of pyarrow's, decompressed."""
    import pyarrow as pa

    return pa.input_stream(str(path), compression=compression)


def _head(stream: IO[bytes], name: str) -> bytes:
    import pyarrow as pa

    try:
        head = stream.read(_HEAD)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{name} cannot be decompressed, it is damaged or cut off: {error}") from error
    if not head.strip():
        raise DataError(f"{name} is empty: a table has a line of column names and at least one row.")
    return bytes(head)


def _checked(head: bytes, told: str | None, name: str) -> str:
    """The kind by the first bytes, where these tell; else the one that was told."""
    for magic, other in _OTHERS.items():
        if head.startswith(magic):
            raise DataError(
                f"{name} is {other}, no table that weald reads. Export it as CSV or Parquet and give that."
            )
    found = next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), None)
    if found is not None:
        if told not in {None, found}:
            raise DataError(f"{name} is named as {told}, but holds {found}. Rename it.")
        return found
    if told in {PARQUET, ARROW}:
        raise DataError(f"{name} is no {told} file: it begins with {head[:40]!r}. If it is text, rename it.")
    return told if told is not None else _kind_of_text(head)


def _kind_of_text(head: bytes) -> str:
    line = head.lstrip(b"\xef\xbb\xbf \r\n").split(b"\n", 1)[0].strip()
    if line.startswith(b"{"):
        return JSON_LINES
    fields = line.split()
    pairs = [field.split(b":") for field in fields[1:]]
    if pairs and all(len(pair) == 2 and pair[0].isdigit() for pair in pairs):
        return LIBSVM
    return TSV if line.count(b"\t") > line.count(b",") else CSV
