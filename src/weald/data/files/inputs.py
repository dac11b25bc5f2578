"""What is to be read: files by name or pattern, and standard input, with their kind found out once."""

from __future__ import annotations

import glob
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weald.data.files import kinds
from weald.errors import DataError, DataTypeError, listing, nearest, told

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Input:
    """A file, or all of standard input, which can be read once only and so is held."""

    path: Path
    name: str
    kind: str
    compression: str | None
    content: bytes | None = None

    def open(self) -> Any:
        """The content from its beginning, decompressed, as a stream of pyarrow's."""
        import pyarrow as pa

        if self.content is None:
            return kinds.opened(self.path, self.compression)
        return pa.input_stream(pa.BufferReader(self.content), compression=self.compression)


def inputs(path: str | Path | Iterable[str | Path]) -> list[Input]:
    """The files that are meant, each with its kind."""
    import_pyarrow()
    return [_input(each) for each in find(path)]


def _input(path: Path) -> Input:
    if str(path) == "-":
        content = sys.stdin.buffer.read()
        found = kinds.kind_of_bytes(content, "standard input")
        return Input(path, "standard input", found.kind, found.compression, content)
    found = kinds.kind_of(path)
    return Input(path, str(path), found.kind, found.compression)


def import_pyarrow() -> None:
    """Say how to get pyarrow where it is absent."""
    if importlib.util.find_spec("pyarrow") is None:
        raise DataError("Reading files needs pyarrow. Install with: pip install weald[files]")


def find(path: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files that are meant, in order of their names; `-` stays."""
    several = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(several, Iterable):
        raise DataTypeError(f"A path, or several, is expected; got {told(path)}.")
    several = list(several)
    if not several:
        raise DataError("No file was named: the list of paths is empty.")
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
