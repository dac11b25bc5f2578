"""The description of a model: schema, classes and parameters as one JSON object, and back.

It is untrusted when read: each part is checked for its form here, and for its meaning where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weald.data.schema import ColumnSchema, Positions, Schema
from weald.errors import ModelFileError, WealdError
from weald.io import labels

#: Raised in the major part when older readers would misread, in the minor when they may ignore what is new.
FORMAT = (1, 6)
#: The oldest weald that reads this major format; written into the file for readers that are older still.
NEEDS = "0.1.0"
#: Parameters that shape neither predictions nor a new fit.
NEVER_SAVED = frozenset(
    {
        "n_jobs",
        "nthread",
        "verbose",
        "verbosity",
        "callbacks",
        "device",
        "validate_parameters",
        "enable_categorical",
        "max_cached_hist_node",
        "refresh_leaf",
        "seed_per_iteration",
    }
)
#: Parameters that may be objects with a state of their own, no part of the model: saved only as numbers or
#: words.
_ONLY_NUMBERS = ("random_state", "cv")
#: Parameters whose lists may hold mappings, or lists.
_NESTED = {"class_weight": "dict", "interaction_constraints": "list", "threshold": "list"}

_KINDS = ("numeric", "ordinal", "categorical")
_UNITS = ("number", "bool", "datetime", "instant", "duration")


def mapping(value: object, part: str, known: set[str], *, newer: bool) -> dict[str, Any]:
    """A JSON object with these keys; others are passed over in a file of a newer minor format only."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{part} of the model file is missing or has the wrong form.")
    strange = sorted(set(value) - known)
    if strange and not newer:
        raise ModelFileError(f"{part} of the model file has an unknown entry: {strange[0]!r:.80}.")
    lacking = sorted(known - set(value))
    if lacking:
        raise ModelFileError(f"{part} of the model file lacks the entry {lacking[0]!r}.")
    return {key: value[key] for key in known}


def read_format(description: object) -> bool:
    """Check the format's version; True when it is a newer minor one."""
    version = description.get("format") if isinstance(description, dict) else None
    if not (
        isinstance(description, dict)
        and isinstance(version, list)
        and len(version) == 2
        and all(type(part) is int and 0 <= part < 10_000 for part in version)
    ):
        raise ModelFileError("The model file does not say which format it has.")
    if version[0] != FORMAT[0]:
        needs = description.get("needs")
        way_out = f"weald {needs:.20} or newer" if isinstance(needs, str) else "a newer weald"
        raise ModelFileError(
            f"The model file has format {version[0]}.{version[1]}, and this weald reads format {FORMAT[0]}. "
            f"Load it with {way_out}."
        )
    return int(version[1]) > FORMAT[1]


# --------------------------------------------------------------------------- schema


def encode_schema(schema: Schema) -> dict[str, Any]:
    """Names with their type; per column its kind, and unit or levels. Positions are counted, not listed."""
    columns = schema.columns
    settings = {"named": schema.named, "unknown": schema.unknown}
    if isinstance(columns, Positions):
        return settings | {"columns": _encode_positions(columns), "names": None}
    return settings | {
        "columns": [_encode_column(column) for column in columns],
        "names": labels.encode_values(schema.names, "The column names"),
    }


def _encode_positions(columns: Positions) -> dict[str, Any]:
    others = [[j, _encode_column(column)] for j, column in columns.others.items()]
    return {"count": columns.n_columns, "others": others, "unit": columns.unit}


def _encode_column(column: ColumnSchema) -> dict[str, Any]:
    if column.kind == "numeric":
        return {"kind": column.kind, "unit": column.unit}
    return {
        "kind": column.kind,
        "levels": labels.encode_values(column.levels, f"Column {column.name!r}"),
    }


def decode_schema(value: object, *, newer: bool) -> Schema:
    """The schema that `encode_schema` wrote."""
    record = mapping(value, "The schema", {"columns", "named", "names", "unknown"}, newer=newer)
    if type(record["named"]) is not bool or record["unknown"] not in ("missing", "error"):
        raise ModelFileError("The schema of the model file has an impossible setting.")
    if record["names"] is None and not record["named"]:
        columns: Sequence[ColumnSchema] = _decode_positions(record["columns"], newer=newer)
    else:
        columns = _decode_named(record, newer=newer)
    return Schema(columns=columns, named=record["named"], unknown=record["unknown"])


def _decode_named(record: dict[str, Any], *, newer: bool) -> Sequence[ColumnSchema]:
    names = labels.decode_values(record["names"], "The column names")
    columns = record["columns"]
    if not isinstance(columns, list) or len(columns) != len(names) or len(set(names)) != len(names):
        raise ModelFileError("The schema of the model file does not have one name for each column.")
    if not record["named"] and all(isinstance(name, str) for name in names):
        raise ModelFileError("The columns of the model file are unnamed and have names.")
    return tuple(
        _decode_column(name, column, newer=newer) for name, column in zip(names, columns, strict=True)
    )


def _decode_positions(value: object, *, newer: bool) -> Positions:
    """Columns by position: a count, what most of them are, and the others. A count costs no memory."""
    record = mapping(value, "The columns", {"count", "others", "unit"}, newer=newer)
    count, unit, others = record["count"], record["unit"], record["others"]
    if type(count) is not int or not 0 < count < 2**31 or unit not in _UNITS:
        raise ModelFileError("The columns of the model file have an impossible number or unit.")
    if not isinstance(others, list) or not all(_is_pair(pair) for pair in others):
        raise ModelFileError("The columns of the model file have the wrong form.")
    positions = [j for j, _ in others]
    if not all(a < b for a, b in zip([-1, *positions], [*positions, count], strict=True)):
        raise ModelFileError("The columns of the model file have positions out of order or out of range.")
    return Positions(count, unit, {j: _decode_column(j, column, newer=newer) for j, column in others})


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is int


def _decode_column(name: object, value: object, *, newer: bool) -> ColumnSchema:
    part = f"Column {name!r:.80}"
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in _KINDS:
        raise ModelFileError(f"{part} of the model file has an unknown kind: {kind!r:.40}.")
    if kind == "numeric":
        unit = mapping(value, part, {"kind", "unit"}, newer=newer)["unit"]
        if unit not in _UNITS:
            raise ModelFileError(f"{part} of the model file has an unknown unit: {unit!r:.40}.")
        return ColumnSchema(name=name, kind=kind, unit=unit)
    record = mapping(value, part, {"kind", "levels"}, newer=newer)
    levels = labels.decode_values(record["levels"], part)
    if _twice(levels) or any(level != level for level in levels):
        raise ModelFileError(f"{part} of the model file has a level twice, or NaN as a level.")
    return ColumnSchema(name=name, kind=kind, levels=tuple(levels))


def _twice(levels: list[Any]) -> bool:
    """Whether a level stands there twice; False and 0, and True and 1, are two."""
    bools = sum(type(level) is bool for level in levels)
    if 0 < bools < len(levels):
        return len({(type(level) is bool, level) for level in levels}) != len(levels)
    return len(set(levels)) != len(levels)


# --------------------------------------------------------------------------- parameters


def encode_params(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that shape predictions or a new fit."""
    kept = {name: value for name, value in params.items() if name not in NEVER_SAVED}
    for name in _ONLY_NUMBERS:
        value = kept.get(name)
        if not (value is None or isinstance(labels.plain(value), int | str)):
            del kept[name]
    return {
        name: _encode_kernel(value)
        if name == "kernel" and not isinstance(value, str)
        else labels.encode_parameter(value, f"Parameter `{name}`", nested=_NESTED.get(name))
        for name, value in kept.items()
    }


def _encode_kernel(kernel: object) -> dict[str, Any]:
    """A kernel object; a function of the user's own is code, which no file keeps."""
    from weald.svm.kernels.functions import Kernel

    if isinstance(kernel, Kernel):
        return {"kernel": kernel.to_json()}
    name = getattr(kernel, "__name__", type(kernel).__name__)
    raise ModelFileError(
        f"The kernel {name} is a function of your own, which a model file cannot keep. Use pickle, or a "
        "kernel of weald.kernels."
    )


def decode_params(value: object, known: set[str], *, newer: bool) -> dict[str, Any]:
    """The parameters that `encode_params` wrote; those left out are not in the result."""
    if not isinstance(value, dict):
        raise ModelFileError("The parameters of the model file are missing or have the wrong form.")
    strange = sorted(set(value) - (known - NEVER_SAVED))
    if strange and not newer:
        raise ModelFileError(f"The model file sets an unknown parameter: {strange[0]!r:.80}.")
    return {
        name: _decode_kernel(value[name])
        if name == "kernel" and isinstance(value[name], dict)
        else labels.decode_parameter(value[name], f"Parameter `{name}`", nested=_NESTED.get(name))
        for name in sorted(set(value) - set(strange))
    }


def _decode_kernel(record: dict[str, Any]) -> object:
    from weald.svm.kernels.functions import Kernel

    if list(record) != ["kernel"]:
        raise ModelFileError("Parameter `kernel` of the model file has an unknown form.")
    try:
        return Kernel.from_json(record["kernel"])
    except WealdError as error:
        raise ModelFileError(f"Parameter `kernel` of the model file cannot be: {error}") from error
