"""Model files: one safetensors file that holds a fitted model, written whole and read with suspicion.

The arrays of the forest are stored as arrays; everything else is one canonical JSON text. Nothing in a file
is ever run, imported or unpickled. docs/methods/model_file.md describes the format.
"""

from __future__ import annotations

import os
from typing import Any

from weald.errors import ModelFileError
from weald.io import canonical, container, description, parts
from weald.io.saved_state import Saveable

_ABOUT = {"checksum", "format", "needs"}


def save(model: Saveable, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file.

    The file appears whole or not at all. Models trained alike give the same bytes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of weald.
    path : str or path-like
        Where to write; an existing file is replaced.

    Raises
    ------
    ModelFileError
        If the model holds something a file cannot keep, such as labels of a type of your own.
    """
    container.write(path, to_bytes(model))


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap : bool, default=False
        Map the arrays from the file instead of copying them, and skip the checksum. For trusted files that
        stay as they are while the model lives.

    Returns
    -------
    estimator
        The fitted estimator: it predicts as the saved one did, with default `n_jobs`.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, no model file, or of a newer format.
    """
    try:
        text, tensors = container.read(path, mmap=mmap)
        return _build(text, tensors, verify=not mmap)
    except MemoryError:
        raise ModelFileError(f"{os.fspath(path)}: the file asks for more memory than there is.") from None
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def to_bytes(model: Saveable) -> bytes:
    """The bytes of the file that `save` would write."""
    tensors: container.Tensors = {}
    content = parts.encode(model, tensors)
    content |= {"format": list(description.FORMAT), "needs": description.NEEDS}
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    return container.pack(canonical.dumps(content), tensors)


def _build(text: str, tensors: container.Tensors, *, verify: bool) -> Any:
    content = canonical.loads(text, "description of the model file")
    newer = description.read_format(content)
    if verify:
        _verify(content, tensors)
    lacking = sorted(_ABOUT - set(content))
    if lacking:
        raise ModelFileError(f"The description of the model file lacks the entry {lacking[0]!r}.")
    left = dict(tensors)
    about_model = {key: value for key, value in content.items() if key not in _ABOUT}
    model = parts.decode(about_model, left, newer=newer)
    if left and not newer:
        raise ModelFileError(f"The model file holds an array nobody asked for: {min(left)!r:.80}.")
    return model


def _verify(content: dict[str, Any], tensors: container.Tensors) -> None:
    rest = {key: value for key, value in content.items() if key != "checksum"}
    if content.get("checksum") != container.checksum(canonical.dumps(rest), tensors):
        raise ModelFileError("The model file is damaged: its checksum does not match. Save or copy it again.")
