"""Tables written to a file as they come: the file is there with all rows or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weald.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

WRITTEN = (".csv", ".parquet", ".arrow", ".feather")


def write_tables(tables: Iterator[pa.Table], path: Path) -> int:
    """Write tables of one schema, one under the other; returns the number of rows."""
    if path.suffix not in WRITTEN:
        raise ParameterError(f"{path} must end in {', '.join(WRITTEN)}, which tells what is written.")
    beside = path.with_name(path.name + ".part")
    try:
        with open(beside, "wb") as file:
            n_rows = _write(tables, file, path.suffix)
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(path.parent).free
            raise DataError(
                f"The disk of {path} is full: {free:,} bytes are free. Name another file."
            ) from error
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return n_rows


def _write(tables: Iterator[pa.Table], file: object, suffix: str) -> int:
    import pyarrow as pa
    from pyarrow import csv, parquet

    makers: dict[str, Any] = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
    writer, schema, n_rows = None, None, 0
    try:
        for table in tables:
            if writer is None:
                schema = table.schema
                writer = makers.get(suffix, pa.ipc.new_file)(file, schema)
            writer.write_table(table.cast(schema))
            n_rows += table.num_rows
    finally:
        if writer is not None:
            writer.close()
    return n_rows
