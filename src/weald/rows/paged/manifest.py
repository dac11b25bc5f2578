"""The description of a store, which stands beside its pages as `store.json`, and its codebook.

Written last and at once: a folder without it is a store that is not finished.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weald.data.column_schema import ColumnSchema, Positions
from weald.data.schema import Schema
from weald.engine import NativeCodes
from weald.engine.storage import pages as native
from weald.errors import DataError
from weald.rows.paged.extras import Extra

FORMAT = [1, 0]
NAME, CODEBOOK, LOG, LEARNED = "store.json", "codebook.bin", "building.log", "building.json"


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where the bytes of a page are."""

    disk: int
    offset: int
    n_bytes: int


@dataclass
class Manifest:
    """Everything about a store but its pages."""

    id: int
    key: str  # of data and settings: equal keys mean equal stores
    n_rows: int
    page_rows: int
    compress: str
    schema: Schema
    settings: dict[str, Any]
    codebook: NativeCodes
    extras: list[Extra]
    disks: list[str]
    codes: list[PagePlace]
    extra_pages: dict[str, list[PagePlace]]
    has_missing: list[bool]

    @property
    def n_pages(self) -> int:
        """How many pages of codes."""
        return -(-self.n_rows // self.page_rows)

    def rows_of(self, page: int) -> int:
        """How many rows a page has."""
        return min(self.page_rows, self.n_rows - page * self.page_rows)


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Make the store in a folder a finished one."""
    marks = write_codebook(manifest.codebook, folder / CODEBOOK)
    record = {
        "format": FORMAT,
        "id": manifest.id,
        "key": manifest.key,
        "n_rows": manifest.n_rows,
        "page_rows": manifest.page_rows,
        "compress": manifest.compress,
        "schema": schema_record(manifest.schema),
        "settings": manifest.settings,
        "codebook": marks,
        "extras": [extra_record(extra) for extra in manifest.extras],
        "disks": manifest.disks,
        "codes": [[p.disk, p.offset, p.n_bytes] for p in manifest.codes],
        "extra_pages": {
            name: [[p.disk, p.offset, p.n_bytes] for p in places]
            for name, places in manifest.extra_pages.items()
        },
        "has_missing": manifest.has_missing,
    }
    write_whole(folder / NAME, json.dumps(record, sort_keys=True, ensure_ascii=False).encode())


def write_whole(path: Path, content: bytes) -> None:
    """A file that is there with all of its content or not at all."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read_manifest(folder: Path) -> Manifest:
    """The description of the store in a folder."""
    path = folder / NAME
    try:
        record = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        begun = (folder / LOG).exists()
        what = (
            "a store that was not finished: build it again with the same data, it goes on"
            if begun
            else "no store"
        )
        raise DataError(f"{folder} holds {what}.") from None
    except PermissionError:
        raise DataError(f"{path} cannot be read: permission is denied.") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {error}. Build the store again.") from None
    major, minor = (record.get("format") or [0, 0])[:2]
    if major > FORMAT[0]:
        raise DataError(
            f"{folder} is a store of the format {major}.{minor}, newer than this weald reads ({FORMAT[0]}."
            f"{FORMAT[1]}). Use a newer weald, or build the store again."
        )
    try:
        return Manifest(
            id=record["id"],
            key=record["key"],
            n_rows=record["n_rows"],
            page_rows=record["page_rows"],
            compress=record["compress"],
            schema=read_schema(record["schema"]),
            settings=record["settings"],
            codebook=read_codebook(folder / CODEBOOK, record["codebook"]),
            extras=[Extra(**each | {"levels": read_levels(each["levels"])}) for each in record["extras"]],
            disks=record["disks"],
            codes=[PagePlace(*place) for place in record["codes"]],
            extra_pages={
                name: [PagePlace(*place) for place in places]
                for name, places in record["extra_pages"].items()
            },
            has_missing=record["has_missing"],
        )
    except (KeyError, TypeError, ValueError, struct.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is damaged: {error!r}. Build the store again.") from None


# --------------------------------------------------------------------------- parts


def write_codebook(codes: NativeCodes, path: Path) -> dict[str, Any]:
    """The marks of all columns in a file; the record tells the rest."""
    columns = native.codebook_columns(codes)
    marks = np.concatenate([column.marks for column in columns]) if columns else np.zeros(0)
    content = marks.astype("<f8").tobytes()
    write_whole(path, content)
    return {
        "columns": [[c.kind, c.n_codes, len(c.marks), int(c.sparse), c.default_code] for c in columns],
        "checksum": native.checksum(np.frombuffer(content, np.uint8)),
    }


def read_codebook(path: Path, record: dict[str, Any]) -> NativeCodes:
    """The codebook of a store."""
    try:
        content = np.fromfile(path, np.uint8)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Build the store again.") from None
    if native.checksum(content) != record["checksum"]:
        raise DataError(f"{path} is damaged: its checksum is wrong. Build the store again.")
    marks, columns, first = content.view("<f8"), [], 0
    for kind, n_codes, n_marks, sparse, default in record["columns"]:
        own = np.ascontiguousarray(marks[first : first + n_marks])
        columns.append(native.CodebookColumn(kind, n_codes, own, bool(sparse), default))
        first += n_marks
    return native.make_codebook(columns)


def schema_record(schema: Schema) -> dict[str, Any]:
    """A schema as plain values."""
    columns = schema.columns
    record: dict[str, Any] = {"named": schema.named, "unknown": schema.unknown}
    if isinstance(columns, Positions):
        others = [[j, *_column_record(column)[1:]] for j, column in columns.others.items()]
        return record | {"positions": [columns.n_columns, columns.unit, others]}
    return record | {"columns": [_column_record(column) for column in columns]}


def _column_record(column: ColumnSchema) -> list[Any]:
    return [column.name, column.kind, column.unit, levels_record(column.levels)]


def read_schema(record: dict[str, Any]) -> Schema:
    """The schema of a record."""
    if "positions" in record:
        n, unit, others = record["positions"]
        found = {
            j: ColumnSchema(j, kind, own, tuple(read_levels(levels) or ())) for j, kind, own, levels in others
        }
        return Schema(Positions(n, unit, found), record["named"], record["unknown"])
    columns = [
        ColumnSchema(name, kind, unit, tuple(read_levels(levels) or ()))
        for name, kind, unit, levels in record["columns"]
    ]
    return Schema(tuple(columns), record["named"], record["unknown"])


def extra_record(extra: Extra) -> dict[str, Any]:
    """A kept column as plain values."""
    levels = None if extra.levels is None else levels_record(extra.levels)
    return {"name": extra.name, "dtype": extra.dtype, "unit": extra.unit, "levels": levels}


def levels_record(levels: Any) -> list[Any]:
    """Levels as plain values: text, numbers and bools as they are, times with their type."""
    return [_level_record(level) for level in levels]


def _level_record(level: object) -> Any:
    if isinstance(level, np.datetime64 | np.timedelta64):
        return [level.dtype.str, int(level.astype(np.int64))]
    if isinstance(level, dt.datetime):
        return ["datetime", level.isoformat()]
    if isinstance(level, dt.date):
        return ["date", level.isoformat()]
    if isinstance(level, dt.timedelta):
        return ["timedelta", [level.days, level.seconds, level.microseconds]]
    if isinstance(level, str | bool | int | float):
        return level
    raise DataError(f"A category of the type {type(level).__name__} cannot be stored. Convert it to text.")


def read_levels(record: list[Any] | None) -> list[Any] | None:
    """The levels of a record."""
    return None if record is None else [_read_level(each) for each in record]


def _read_level(record: object) -> Any:
    if not isinstance(record, list):
        return record
    kind, value = record
    if kind == "datetime":
        return dt.datetime.fromisoformat(value)
    if kind == "date":
        return dt.date.fromisoformat(value)
    if kind == "timedelta":
        return dt.timedelta(*value)
    return np.int64(value).view(kind)
