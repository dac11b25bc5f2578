"""Kernels out of model files: each object of the JSON is checked before it becomes a kernel."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from weald.errors import ModelFileError
from weald.svm.kernels.base import DEEPEST, Kernel
from weald.svm.kernels.functions import BY_NAME, Constant, Product, Scaled, Sum

_SINGLE: dict[str, Any] = {**BY_NAME, Constant.name: Constant}
_JOINED: dict[str, Any] = {Sum.name: Sum, Product.name: Product}


def kernel_from_json(value: object, depth: int = 0) -> Kernel:
    """The kernel of a JSON object; its numbers are checked by the kernel itself."""
    if not isinstance(value, dict) or not isinstance(value.get("kernel"), str) or depth > DEEPEST:
        raise ModelFileError("The kernel of the model file is missing or has the wrong form.")
    rest = {key: item for key, item in value.items() if key != "kernel"}
    name: str = value["kernel"]
    if name in _SINGLE:
        cls = _SINGLE[name]
        if set(rest) != {field.name for field in fields(cls)}:
            raise ModelFileError(f"The kernel {name!r} of the model file has other numbers than it should.")
        return cls(**rest)  # type: ignore[no-any-return]
    if name not in (*_JOINED, Scaled.name):
        raise ModelFileError(f"The model file has an unknown kernel: {name!r:.40}.")
    parts = _parts(name, rest, depth)
    if name in _JOINED:
        return _JOINED[name](tuple(parts))  # type: ignore[no-any-return]
    return Scaled(parts[0], rest["factor"])


def _parts(name: str, rest: dict[str, Any], depth: int) -> list[Kernel]:
    wanted = {"of", "factor"} if name == Scaled.name else {"of"}
    parts = rest.get("of")
    if set(rest) != wanted or not isinstance(parts, list) or (name == Scaled.name and len(parts) != 1):
        raise ModelFileError(f"The kernel {name!r} of the model file has the wrong form.")
    return [kernel_from_json(part, depth + 1) for part in parts]
