"""What a JSON text will take as Python objects, told before it is parsed.

One vectorised pass over blocks of the text: strings are told from what stands between them, and brackets,
braces, commas and colons between them are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16
_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_STEP = np.zeros(256, np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1
#: Keys that stand thousands of times in a file, and are one object in memory: with the mark that follows.
_COMMON = ("kind", "unit", "levels", "type", "values", "name", "model", "dtype", "shape", "data_offsets")

# bytes of CPython's objects, as many as any version takes
_ITEM, _TEXT, _NUMBER, _LIST, _MAPPING, _COMMON_KEY, _NEW_KEY = 10, 56, 32, 96, 192, 16, 330


@dataclass(frozen=True, slots=True)
class JsonSize:
    """What was counted: how deep brackets are nested, and the memory of the parsed text in bytes."""

    depth: int
    n_bytes: int


def measure(text: str) -> JsonSize:
    """Count the marks of a JSON text outside its strings."""
    marks = np.zeros(256, np.int64)
    n_strings = depth = deepest = 0
    inside = escaped = False
    for start in range(0, len(text), _BLOCK):
        block = np.frombuffer(text[start : start + _BLOCK].encode("ascii", "replace"), np.uint8)
        quotes, escaped = _quotes(block, escaped)
        within = (np.cumsum(quotes, dtype=np.int32) + inside) & 1 == 1
        n_strings += int(quotes.sum())
        inside = bool(within[-1])
        outside = block[~(within | quotes)]
        marks += np.bincount(outside, minlength=256)
        if len(outside):
            levels = depth + np.cumsum(_STEP[outside], dtype=np.int32)
            depth, deepest = int(levels[-1]), max(deepest, int(levels.max()))
    return JsonSize(deepest, _size(text, marks, (n_strings + 1) // 2))


def _quotes(block: NDArray[np.uint8], escaped: bool) -> tuple[NDArray[np.bool_], bool]:
    """Which bytes begin or end a string, and whether the first byte after the block is escaped.

    A byte is escaped if an odd number of backslashes stands before it: every second of a run escapes.
    """
    slashes = block == _BACKSLASH
    place = np.arange(len(block), dtype=np.int32)
    # the place of the last byte before each run of backslashes; a run may go on from the block before
    before = np.maximum.accumulate(np.where(slashes, np.int32(-1), place))
    odd = slashes & ((place - before) % 2 == 1)
    if escaped:
        first = int(np.argmin(slashes)) if not slashes.all() else len(block)
        odd[:first] = slashes[:first] & ~odd[:first]
    after = np.concatenate(([escaped], odd[:-1]))
    return (block == _QUOTE) & ~after, bool(odd[-1])


def _size(text: str, marks: NDArray[np.int64], n_strings: int) -> int:
    """The bytes of the objects: lists, mappings, keys, texts and numbers."""
    lists, mappings, commas, colons = (int(marks[ord(mark)]) for mark in "[{,:")
    others = int(marks.sum() - marks[list(b"[]{},:")].sum())
    common = sum(text.count(f'"{key}":') for key in _COMMON) if colons else 0
    values = commas + lists + mappings + 1
    letters = (len(text) - int(marks.sum())) * (4 if "\\u" in text else 1)
    numbers = min(max(0, values - (n_strings - colons)), others // 2)
    return (
        values * _ITEM
        + n_strings * _TEXT
        - common * _TEXT
        + letters
        + numbers * _NUMBER
        + lists * _LIST
        + mappings * _MAPPING
        + common * _COMMON_KEY
        + max(0, colons - common) * _NEW_KEY
    )
