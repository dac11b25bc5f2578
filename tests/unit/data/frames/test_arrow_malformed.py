"""Arrow arrays built by hand: what contradicts itself raises, and everything is released exactly once."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

from weald import engine
from weald.errors import DataError


class CSchema(ctypes.Structure):
    pass


class CArray(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(CSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))
CSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.POINTER(CSchema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
CArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.POINTER(CArray)),
    ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Handmade:
    """One array of a given format and buffers, which counts how often it is released."""

    def __init__(self, fmt, buffers, length, *, null_count=0, offset=0, dictionary=None):
        self.released = []
        self.buffers = (ctypes.c_void_p * max(1, len(buffers)))(
            *[None if b is None else b.ctypes.data for b in buffers]
        )
        self.kept = buffers
        self.on_schema = RELEASE_SCHEMA(self._release_schema)
        self.on_array = RELEASE_ARRAY(self._release_array)
        self.schema = CSchema(format=fmt, name=b"v", release=self.on_schema)
        self.array = CArray(
            length=length,
            null_count=null_count,
            offset=offset,
            n_buffers=len(buffers),
            buffers=self.buffers,
            release=self.on_array,
        )
        if dictionary is not None:
            self.inner = dictionary
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def _release_schema(self, pointer):
        self.released.append("schema")
        pointer.contents.release = RELEASE_SCHEMA()

    def _release_array(self, pointer):
        self.released.append("array")
        pointer.contents.release = RELEASE_ARRAY()

    def read(self):
        schema = new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None)
        array = new_capsule(ctypes.addressof(self.array), b"arrow_array", None)
        return engine.read_arrow_array(schema, array)


def i32(*values):
    return np.array(values, dtype=np.int32)


LONG_VIEW = i32(20, 0, 0, 0)
TEXT = np.frombuffer(b"some bytes of text here", dtype=np.uint8)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Handmade(b"i", [None, None], 3), "has no values"),
        (lambda: Handmade(b"i", [None], 3), "lacks buffers"),
        (lambda: Handmade(b"u", [None, i32(0, 1)], 1), "lacks buffers"),
        (lambda: Handmade(b"i", [None, i32(1)], -1), "negative length"),
        (lambda: Handmade(b"i", [None, i32(1)], 1, offset=-1), "negative length or offset"),
        (lambda: Handmade(b"i", [None, i32(1)], 1, offset=2**62), "impossible offset"),
        (lambda: Handmade(b"i", [None, i32(1)], 1, null_count=1), "no validity bitmap"),
        (lambda: Handmade(b"u", [None, i32(3, 1), TEXT], 1), "do not ascend"),
        (lambda: Handmade(b"u", [None, i32(0, 4), None], 1), "no bytes"),
        (lambda: Handmade(b"vu", [None, i32(-1, 0, 0, 0), np.zeros(1, np.int64)], 1), "negative length"),
        (lambda: Handmade(b"vu", [None, LONG_VIEW, np.zeros(1, np.int64)], 1), "not there"),
        (lambda: Handmade(b"vu", [None, LONG_VIEW, TEXT, np.array([5])], 1), "beyond its buffer"),
        (lambda: Handmade(b"vu", [None, LONG_VIEW, TEXT, None], 1), "no buffer lengths"),
        (
            lambda: Handmade(b"i", [None, i32(2)], 1, dictionary=Handmade(b"i", [None, i32(1, 2)], 2)),
            "beyond its",
        ),
        (
            lambda: Handmade(b"i", [None, i32(-1)], 1, dictionary=Handmade(b"i", [None, i32(1)], 1)),
            "beyond its",
        ),
        (
            lambda: Handmade(b"f", [None, i32(0)], 1, dictionary=Handmade(b"i", [None, i32(1)], 1)),
            "whole numbers",
        ),
        (lambda: Handmade(None, [None, i32(1)], 1), "has no format"),
    ],
)
def test_malformed_arrays_raise_and_are_released(made, message):
    handmade = made()
    with pytest.raises(DataError, match=message):
        handmade.read()
    gc.collect()
    assert sorted(handmade.released) == ["array", "schema"]


def test_handmade_arrays_are_released_when_the_last_view_goes():
    handmade = Handmade(b"i", [None, i32(7, 8, 9)], 2, offset=1)
    column = handmade.read().columns[0]
    assert column.values.tolist() == [8, 9]
    assert handmade.released == ["schema"]
    del column
    gc.collect()
    assert handmade.released == ["schema", "array"]


def test_unaligned_buffers_are_copied():
    raw = np.zeros(17, dtype=np.uint8)
    raw[1:] = np.array([5, 6], dtype=np.int64).view(np.uint8)
    column = Handmade(b"l", [None, raw[1:]], 2).read().columns[0]
    assert column.values.tolist() == [5, 6]


def test_unknown_formats_are_unsupported():
    for fmt in (b"", b"tsx:", b"d:1", b"d:1,2,7", b"d:x,1", b"t", b"td?", b"?"):
        assert Handmade(fmt, [None, i32(1)], 1).read().columns[0].unit == "unsupported"
