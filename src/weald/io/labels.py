"""Values with their type: names, levels, class labels and parameters, as JSON and back.

A value that comes back is equal to the one that went in and has the same type; a type that cannot keep this
promise is refused, and the message names the part of the model that holds it.
"""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.errors import ModelFileError
from weald.io import budget

_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_DTYPE = re.compile(
    r"\|b1|[|<][iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,7}|<[Mm]8\[(Y|M|W|D|h|m|s|ms|us|ns)\]|\|O"
)
#: What a value may take beside what JSON made of it.
_PER_VALUE = 100
#: Text arrays may be wider than their longest value, within reason.
_MAX_TEXT_BYTES = 2**26


def _refuse(value: object, part: str) -> ModelFileError:
    return ModelFileError(
        f"{part} holds {value!r:.80} of type {type(value).__name__}, which a model file cannot keep; it "
        "keeps bool, int, float, str, date, datetime and timedelta. Convert it before fitting, or use pickle."
    )


def plain(value: object) -> object:
    """A NumPy scalar as the Python value it stands for; anything else as it is."""
    if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) and not isinstance(
        value, np.timedelta64
    ):
        return value.item()
    return value


# --------------------------------------------------------------------------- one value


def encode_float(value: float) -> object:
    """A float as a JSON number, or as a name when JSON has no number for it."""
    return value if math.isfinite(value) else str(value)


def decode_float(value: object, part: str) -> float:
    """The float that `encode_float` wrote."""
    if type(value) is float:
        return value
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    raise ModelFileError(f"{part} of the model file holds {value!r:.40} where a float should be.")


def _same(kind: type) -> Callable[[object, str], Any]:
    def decode(value: object, part: str) -> object:
        if type(value) is not kind:
            raise ModelFileError(
                f"{part} of the model file holds {value!r:.40} where {kind.__name__} should be."
            )
        return value

    return decode


def _decode_date(value: object, part: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(_same(str)(value, part))
    except ValueError:
        raise ModelFileError(f"{part} of the model file holds {value!r:.40}, which is no date.") from None


def _decode_datetime(value: object, part: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(_same(str)(value, part))
    except ValueError:
        raise ModelFileError(f"{part} of the model file holds {value!r:.40}, which is no datetime.") from None


def _decode_duration(value: object, part: str) -> datetime.timedelta:
    try:
        return datetime.timedelta(microseconds=_same(int)(value, part))
    except OverflowError:
        raise ModelFileError(f"{part} of the model file holds an impossible duration.") from None


def _decode_nanoseconds(kind: str) -> Callable[[object, str], Any]:
    def decode(value: object, part: str) -> Any:
        ticks = _same(int)(value, part)
        if not -(2**63) < ticks < 2**63:
            raise ModelFileError(f"{part} of the model file holds a time beyond 64 bits of nanoseconds.")
        return np.int64(ticks).view(f"{kind}[ns]")

    return decode


def _nanoseconds(value: np.datetime64 | np.timedelta64) -> int:
    return int(value.astype(f"{value.dtype.kind}8[ns]").view(np.int64))


_ENCODE: dict[type, tuple[str, Callable[[Any], object]]] = {
    bool: ("bool", bool),
    int: ("int", int),
    float: ("float", encode_float),
    str: ("str", str),
    datetime.date: ("date", datetime.date.isoformat),
    datetime.datetime: ("datetime", datetime.datetime.isoformat),
    datetime.timedelta: ("duration", lambda span: span // datetime.timedelta(microseconds=1)),
    np.datetime64: ("datetime_ns", _nanoseconds),
    np.timedelta64: ("duration_ns", _nanoseconds),
}
_DECODE: dict[str, Callable[[object, str], Any]] = {
    "bool": _same(bool),
    "int": _same(int),
    "float": decode_float,
    "str": _same(str),
    "date": _decode_date,
    "datetime": _decode_datetime,
    "duration": _decode_duration,
    "datetime_ns": _decode_nanoseconds("M8"),
    "duration_ns": _decode_nanoseconds("m8"),
}


# --------------------------------------------------------------------------- many values of few types


def encode_values(values: Iterable[object], part: str) -> dict[str, Any]:
    """Values as `{"type": …, "values": […]}`; with several types, "type" is a list, one entry per value.

    >>> encode_values(["a", "b"], "classes")
    {'type': 'str', 'values': ['a', 'b']}
    """
    types, texts = [], []
    for value in map(plain, values):
        found = _ENCODE.get(type(value))
        if found is None:
            raise _refuse(value, part)
        types.append(found[0])
        texts.append(found[1](value))
    return {"type": types[0] if len(set(types)) == 1 else types, "values": texts}


def decode_values(record: object, part: str) -> list[Any]:
    """The values that `encode_values` wrote."""
    if not isinstance(record, dict) or not isinstance(record.get("values"), list):
        raise ModelFileError(f"{part} of the model file is not a list of typed values.")
    values, types = record["values"], record.get("type")
    if not isinstance(types, str) and (not isinstance(types, list) or len(types) != len(values)):
        raise ModelFileError(f"{part} of the model file has {len(values)} values and not a type for each.")
    # the list itself, dates that become objects, and a set to find those that come twice
    budget.spend(len(values) * _PER_VALUE, f"{len(values):,} values for {part}")
    decoded = []
    for kind, value in zip(
        itertools.repeat(types) if isinstance(types, str) else types, values, strict=False
    ):
        decode = _DECODE.get(kind) if isinstance(kind, str) else None
        if decode is None:
            raise ModelFileError(f"{part} of the model file has values of an unknown type: {kind!r:.40}.")
        decoded.append(decode(value, part))
    return decoded


# --------------------------------------------------------------------------- a vector with its dtype


def encode_array(array: NDArray[Any], part: str) -> dict[str, Any]:
    """A vector of labels with its dtype."""
    dtype = array.dtype.newbyteorder("<")
    if array.ndim != 1 or not _DTYPE.fullmatch(dtype.str):
        raise ModelFileError(
            f"{part} is an array of dtype {array.dtype} and shape {array.shape}, which a model file cannot "
            "keep. Use pickle."
        )
    if dtype.kind in "Mm":
        record = encode_values(array.astype(np.int64).tolist(), part)
    else:
        record = encode_values(array.tolist(), part)
    if dtype.kind == "U" and dtype.itemsize * len(array) > _MAX_TEXT_BYTES:
        dtype = np.dtype(f"<U{_longest(record['values'])}")
    return {"dtype": dtype.str, **record}


def decode_array(record: object, part: str) -> NDArray[Any]:
    """The vector that `encode_array` wrote, in the machine's byte order."""
    values = decode_values(record, part)
    name = record.get("dtype") if isinstance(record, dict) else None
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"{part} of the model file has an unknown dtype: {name!r:.40}.")
    dtype = np.dtype(name).newbyteorder("=")
    if dtype.kind == "O":
        array = np.empty(len(values), object)
        array[:] = values
        return array
    wanted = {"b": bool, "i": int, "u": int, "f": float, "U": str, "M": int, "m": int}[dtype.kind]
    if any(type(value) is not wanted for value in values):
        raise ModelFileError(f"{part} of the model file holds values that are not of its dtype {name}.")
    budget.spend(2 * dtype.itemsize * len(values), f"{part} of dtype {name}")
    if dtype.kind == "U":
        longest = _longest(values)
        too_wide = dtype.itemsize * len(values) > _MAX_TEXT_BYTES and dtype.itemsize > 4 * longest
        if dtype.itemsize < 4 * longest or too_wide or any(value.endswith("\0") for value in values):
            raise ModelFileError(f"{part} of the model file holds text that does not fit its dtype {name}.")
    return _exact_array(values, dtype, part)


def _exact_array(values: list[Any], dtype: np.dtype[Any], part: str) -> NDArray[Any]:
    try:
        with np.errstate(all="ignore"):
            if dtype.kind in "Mm":
                return np.array(values, np.int64).view(dtype)
            array = np.array(values, dtype)
    except (OverflowError, ValueError, TypeError):
        raise ModelFileError(f"{part} of the model file holds values beyond its dtype {dtype}.") from None
    if any(a != b and a == a for a, b in zip(values, array.tolist(), strict=True)):
        raise ModelFileError(f"{part} of the model file holds values that its dtype {dtype} cannot.")
    return array


def _longest(values: list[str]) -> int:
    return max(1, max(map(len, values), default=1))


# --------------------------------------------------------------------------- parameters


def encode_parameter(value: object, part: str, *, nested: str | None = None) -> object:
    """A constructor parameter: a typed value or None, a list, tuple or mapping of such, or a vector.

    With `nested` the items of a list may be mappings, "dict" (`class_weight` has one per output), or lists,
    "list" (`interaction_constraints`).
    """
    if isinstance(value, np.ndarray):
        return {"array": encode_array(value, part)}
    if isinstance(value, list | tuple):
        form = "list" if isinstance(value, list) else "tuple"
        return {form: [_encode_member(item, part, nested) for item in value]}
    if isinstance(value, Mapping):
        return _encode_mapping(value, part)
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        # An index or a set of a library or the language: a list of the same items, in one order.
        items = sorted(value, key=repr) if isinstance(value, Set) else value
        return {"list": [_encode_item(item, part) for item in items]}
    return _encode_item(value, part)


def _encode_member(value: object, part: str, nested: str | None) -> object:
    if nested == "dict" and isinstance(value, Mapping):
        return _encode_mapping(value, part)
    if nested == "list" and isinstance(value, list | tuple):
        return {"list": [_encode_item(item, part) for item in value]}
    return _encode_item(value, part)


def _encode_mapping(value: Mapping[Any, Any], part: str) -> object:
    return {"dict": [[_encode_item(k, part), _encode_item(v, part)] for k, v in value.items()]}


def _encode_item(value: object, part: str) -> object:
    value = plain(value)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    return {"value": encode_values([value], part)}


def decode_parameter(record: object, part: str, *, nested: str | None = None) -> Any:
    """The parameter that `encode_parameter` wrote.

    What it is made of is always hashable, unless `nested` admits mappings or lists in a list.
    """
    if isinstance(record, dict) and len(record) == 1:
        ((form, inner),) = record.items()
        if form == "array":
            return decode_array(inner, part)
        if form in ("list", "tuple") and isinstance(inner, list):
            items = [_decode_member(item, part, nested) for item in inner]
            return items if form == "list" else tuple(items)
        if form == "dict":
            return _decode_mapping(inner, part)
    return _decode_item(record, part)


def _decode_member(record: object, part: str, nested: str | None) -> Any:
    if nested is not None and isinstance(record, dict) and list(record) == [nested]:
        if nested == "dict":
            return _decode_mapping(record["dict"], part)
        if isinstance(record["list"], list):
            return [_decode_item(item, part) for item in record["list"]]
    return _decode_item(record, part)


def _decode_mapping(inner: object, part: str) -> dict[Any, Any]:
    if not isinstance(inner, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in inner):
        raise ModelFileError(f"{part} of the model file is not a mapping.")
    return {_decode_item(key, part): _decode_item(value, part) for key, value in inner}


def _decode_item(record: object, part: str) -> Any:
    if record is None or type(record) in (bool, int, str, float):
        return record
    if isinstance(record, dict) and list(record) == ["value"]:
        values = decode_values(record["value"], part)
        if len(values) == 1:
            return values[0]
    raise ModelFileError(f"{part} of the model file has an unknown form.")
