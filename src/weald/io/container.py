"""The outer shell of a model file: named arrays and one text, in the safetensors format.

Reading is done here, because every promise of an untrusted header must be held against the real size of the
file before anything is allocated; writing too, because the library of that name panics where memory runs out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.errors import ModelFileError
from weald.io import canonical

#: The only metadata key: several would come out in random order.
KEY = "weald"
MAX_HEADER = 100_000_000
_ALIGNMENT = 8  # of the largest numbers
_MOST_EMPTY = 1_000_000  # the length of an array without any number
#: In the order in which arrays lie in a file, from the last to the first.
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_PLACES = {dtype: -place for place, dtype in enumerate(_NAMES)}

Tensors = dict[str, NDArray[Any]]
Bytes = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where one array lies: its bytes are [start, stop) of the data after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


def pack(text: str, tensors: Tensors) -> bytes:
    """The bytes of a file that holds `text` and the arrays."""
    if 2 * len(text) > MAX_HEADER:
        raise ModelFileError(
            f"The description of this model (names, levels and parameters) takes {len(text):,} characters, "
            f"and a model file holds {MAX_HEADER // 2:,}. Use pickle."
        )
    header: dict[str, Any] = {"__metadata__": {KEY: text}}
    data, end = [], 0
    little = {name: tensor.dtype.newbyteorder("<") for name, tensor in tensors.items()}
    for name in sorted(tensors, key=lambda name: (_PLACES[little[name]], name)):
        tensor = np.asarray(tensors[name], little[name], order="C")
        start, end = end, end + tensor.nbytes
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
        if tensor.size:
            data.append(tensor.data)
    head = json.dumps(header, separators=(",", ":")).encode("ascii")
    head += b" " * (-len(head) % _ALIGNMENT)
    return b"".join([len(head).to_bytes(8, "little"), head, *data])


def read(source: str | os.PathLike[str] | Bytes, *, mmap: bool) -> tuple[str, Tensors]:
    """The text and the arrays of a file, or of its bytes.

    With `mmap`, arrays are read-only windows on the file, if aligned.
    """
    if isinstance(source, Bytes):
        view = memoryview(source).cast("B")
        return _read(_View(view), view.nbytes, None)
    with open(source, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return _read(file, size, file if mmap else None)


class _Readable(Protocol):
    """A file open for reading bytes, or what reads like one."""

    def read(self, size: int, /) -> bytes: ...

    def readinto(self, out: memoryview, /) -> int: ...


class _View:
    """Bytes in memory, read like a file without a copy of all of them."""

    def __init__(self, view: memoryview) -> None:
        self._view, self._at = view, 0

    def read(self, size: int) -> bytes:
        found = bytes(self._view[self._at : self._at + size])
        self._at += len(found)
        return found

    def readinto(self, out: memoryview) -> int:
        flat = out.cast("B")
        found = self._view[self._at : self._at + flat.nbytes]
        flat[: found.nbytes] = found
        self._at += found.nbytes
        return found.nbytes


def _read(file: _Readable, size: int, mapped: BinaryIO | None) -> tuple[str, Tensors]:
    length = _header_length(file, size)
    text, entries = _parse_header(file.read(length), size - 8 - length)
    aligned = (8 + length) % _ALIGNMENT == 0  # else every array would have to be copied anyway
    data = np.memmap(mapped, np.uint8, mode="r")[8 + length :] if mapped is not None and aligned else None
    return text, {entry.name: _tensor(file, entry, data) for entry in entries}


def _tensor(file: _Readable, entry: _Entry, data: NDArray[np.uint8] | None) -> NDArray[Any]:
    """One array, out of the mapped data or read from the file, which stands at its first byte."""
    if data is not None and entry.stop > entry.start:
        return data[entry.start : entry.stop].view(entry.dtype).reshape(entry.shape)
    tensor = np.empty(entry.shape, entry.dtype)
    if tensor.size and file.readinto(tensor.data) != tensor.nbytes:
        raise ModelFileError("The model file became shorter while it was read.")
    return tensor


def checksum(text: str, tensors: Tensors) -> str:
    """A digest of the text and of every array with its name, dtype and shape."""
    digest = hashlib.sha256(text.encode("ascii"))
    for name in sorted(tensors):
        tensor = tensors[name]
        little = np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("<"))
        digest.update(f"\n{name} {little.dtype.str} {little.shape}\n".encode())
        if little.size:
            digest.update(little.data)
    return "sha256:" + digest.hexdigest()


def _header_length(file: _Readable, size: int) -> int:
    length = int.from_bytes(file.read(8), "little")
    if size < 10 or length < 2 or length > MAX_HEADER:
        raise ModelFileError(
            "This is not a model file of weald: it does not begin with a safetensors header."
        )
    if length > size - 8:
        raise ModelFileError(
            f"This is no whole model file of weald: it has {size:,} bytes and its header claims {length:,}."
        )
    return length


def _parse_header(header: bytes, data_size: int) -> tuple[str, list[_Entry]]:
    """Check that the arrays of the header fill the data exactly, one after another."""
    try:
        text = header.decode("ascii")
    except UnicodeDecodeError:
        raise ModelFileError("This is not a model file of weald: its header is not text.") from None
    del header
    parsed = canonical.loads(text, "header of the model file")
    del text
    metadata = parsed.pop("__metadata__", None) if isinstance(parsed, dict) else None
    if not isinstance(metadata, dict) or list(metadata) != [KEY] or not isinstance(metadata[KEY], str):
        raise ModelFileError(
            "This is not a model file of weald: its header carries no description of a weald model."
        )
    entries = sorted((_entry(name, value) for name, value in parsed.items()), key=lambda e: (e.start, e.stop))
    end = 0
    for entry in entries:
        if entry.start != end:
            raise ModelFileError(f"Array {entry.name!r} of the model file overlaps another or leaves a gap.")
        end = entry.stop
    if end != data_size:
        raise ModelFileError(
            f"The model file is damaged or cut: its header promises {end:,} bytes of arrays, "
            f"and {data_size:,} follow."
        )
    return metadata[KEY], entries


def _entry(name: str, value: object) -> _Entry:
    name = name[:80]
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"Array {name!r} of the model file is described wrongly.")
    dtype = _DTYPES.get(value["dtype"]) if isinstance(value["dtype"], str) else None
    if dtype is None:
        raise ModelFileError(f"Array {name!r} of the model file has an unknown type: {value['dtype']!r:.40}.")
    shape, offsets = value["shape"], value["data_offsets"]
    if not (_naturals(shape) and len(shape) <= 2 and _naturals(offsets) and len(offsets) == 2):
        raise ModelFileError(f"Array {name!r} of the model file has an impossible shape or place.")
    start, stop = offsets
    if stop - start != math.prod(shape) * dtype.itemsize or max(shape, default=0) > 2**48:
        raise ModelFileError(f"Array {name!r} of the model file has a size that does not fit its shape.")
    if 0 in shape and max(shape) > _MOST_EMPTY:
        raise ModelFileError(f"Array {name!r} of the model file has a shape too large for what it holds.")
    if start % dtype.itemsize:
        raise ModelFileError(f"Array {name!r} of the model file is not aligned.")
    return _Entry(name, dtype, tuple(shape), start, stop)


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
