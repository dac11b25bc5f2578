"""`read`: a table from files of any kind that weald knows."""

from __future__ import annotations

import glob
import importlib.util
import io
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data.files import kinds
from weald.data.files.kinds import FileKind
from weald.data.files.text import TextOptions, read_text
from weald.errors import DataError, listing, nearest

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy import sparse

_WILD = frozenset("*?[")


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
    `n/a` are missing values; `?`, `-` and the like are, among numbers.

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
    import_pyarrow()
    paths = find(path)
    told = [] if notes is None else notes
    wanted = None if columns is None else list(columns)
    options = TextOptions(delimiter, encoding, header, told)
    tables = [_chosen(_read_one(each, options), wanted, str(each)) for each in paths]
    return tables[0] if len(tables) == 1 else _joined(tables, paths)


def read_libsvm(path: str | Path) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Read a file in LIBSVM's format: `target column:value …`, columns counted from 1.

    Parameters
    ----------
    path : str or Path
        The file; may be compressed by gzip or bzip2.

    Returns
    -------
    X : csr_matrix of shape (n_rows, n_columns)
        What is not listed is 0.
    y : ndarray of shape (n_rows,)
        The targets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "train.libsvm"
    >>> _ = file.write_text("1 1:0.5 3:2\\n-1 2:1\\n")
    >>> X, y = read_libsvm(file)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    from sklearn.datasets import load_svmlight_file

    import_pyarrow()
    file = find(path)[0]
    content = sys.stdin.buffer.read() if str(file) == "-" else None
    kind = kinds.kind_of(file) if content is None else kinds.kind_of_bytes(content, "standard input")
    if kind.kind != kinds.LIBSVM:
        raise DataError(f"{file} holds {kind.kind}, not LIBSVM's format. weald.read reads it.")
    with _stream(file, kind, content) as stream:
        try:
            X, y = load_svmlight_file(io.BytesIO(stream.read()))
        except ValueError as error:
            raise DataError(f"{file} is not in LIBSVM's format, `target column:value …`: {error}") from error
    return X, np.asarray(y, np.float64)


def import_pyarrow() -> None:
    """Say how to get pyarrow where it is absent."""
    if importlib.util.find_spec("pyarrow") is None:
        raise DataError("Reading files needs pyarrow. Install with: pip install weald[files]")


def find(path: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files that are meant, in order of their names; `-` stays."""
    several = [path] if isinstance(path, str | Path) else list(path)
    found: list[Path] = []
    for each in several:
        text = str(each)
        if text == "-" or Path(text).is_file():
            found.append(Path(text))
        elif _WILD & set(text):
            found += sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())
        else:
            raise DataError(_absent(Path(text)))
    if not found:
        raise DataError(f"No file is named like {listing([str(each) for each in several])}.")
    return found


def _absent(path: Path) -> str:
    if path.is_dir():
        return f"{path} is a folder. Name its files, such as '{path / '*.parquet'}'."
    if not path.parent.is_dir():
        return f"There is no file {path}: its folder does not exist."
    close = nearest(path.name, [each.name for each in path.parent.iterdir()])
    return f"There is no file {path}." + (f" Did you mean {path.parent / close}?" if close else "")


def _stream(path: Path, kind: FileKind, content: bytes | None) -> Any:
    import pyarrow as pa

    if content is None:
        return kinds.opened(path, kind.compression)
    return pa.input_stream(pa.BufferReader(content), compression=kind.compression)


def _read_one(path: Path, options: TextOptions) -> pa.Table:
    import pyarrow as pa

    content = sys.stdin.buffer.read() if str(path) == "-" else None
    name = "standard input" if content is not None else str(path)
    kind = kinds.kind_of(path) if content is None else kinds.kind_of_bytes(content, name)
    open_stream = partial(_stream, path, kind, content)
    try:
        return _READERS[kind.kind](open_stream, name, options, kind)
    except pa.ArrowException as error:
        raise DataError(f"{name} cannot be read as {kind.kind}: {error}") from error
    except OSError as error:
        if kind.compression is None:
            raise
        raise DataError(f"{name} cannot be decompressed, it is damaged or cut off: {error}") from error


def _read_text(open_stream: Any, name: str, options: TextOptions, kind: FileKind) -> pa.Table:
    delimiter = options.delimiter or ("\t" if kind.kind == kinds.TSV else None)
    return read_text(
        open_stream, name, TextOptions(delimiter, options.encoding, options.header, options.notes)
    )


def _read_parquet(open_stream: Any, name: str, options: TextOptions, kind: FileKind) -> pa.Table:
    from pyarrow import parquet

    with open_stream() as stream:
        return parquet.read_table(stream if kind.compression is None else io.BytesIO(stream.read()))


def _read_arrow(open_stream: Any, name: str, options: TextOptions, kind: FileKind) -> pa.Table:
    import pyarrow as pa
    from pyarrow import feather

    with open_stream() as stream:
        content = pa.py_buffer(stream.read())
    if content[:4].to_pybytes() == b"\xff\xff\xff\xff":
        return pa.ipc.open_stream(content).read_all()
    return feather.read_table(pa.BufferReader(content))


def _read_json(open_stream: Any, name: str, options: TextOptions, kind: FileKind) -> pa.Table:
    from pyarrow import json

    with open_stream() as stream:
        return json.read_json(stream)


def _read_libsvm(open_stream: Any, name: str, options: TextOptions, kind: FileKind) -> pa.Table:
    raise DataError(
        f"{name} is in LIBSVM's format: a sparse matrix and a target. weald.read_libsvm reads it."
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


def _joined(tables: list[pa.Table], paths: list[Path]) -> pa.Table:
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
