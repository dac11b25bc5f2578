"""Model files: one safetensors file that holds a fitted model, written whole and read with suspicion.

The arrays of the forest are stored as arrays; everything else is one canonical JSON text. Nothing in a file
is ever run, imported or unpickled. docs/methods/model_file.md describes the format.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from typing import Any, BinaryIO, TypeAlias

from weald.arrays import LoadedModel
from weald.errors import ModelFileError, ParameterError, WealdError
from weald.io import budget, canonical, container, description, parts, place
from weald.io.saved_state import Saveable

Path: TypeAlias = str | os.PathLike[str]

_ABOUT = {"checksum", "format", "needs"}


def save(model: Saveable, path: Path | BinaryIO) -> None:
    """Write a fitted model to one file.

    The file appears whole or not at all, and what is written can be read: the model is made again from its
    bytes before any of them is written. Models trained alike give the same bytes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of weald.
    path : str, path-like or binary file object
        Where to write. An existing file is replaced and keeps its mode; a symbolic link stays one.

    Raises
    ------
    ModelFileError
        If the model holds something a file cannot keep, such as labels of a type of your own.
    MemoryError
        If there is not enough to write it; the old file stays as it was.
    """
    if isinstance(path, str | os.PathLike):
        place.write(path, checked_bytes(model))
        return
    write = _method(path, "write")
    left = memoryview(checked_bytes(model))
    while left.nbytes:
        try:
            written = write(left)
        except TypeError:
            raise ParameterError(
                'save writes bytes, and this file takes text. Open it with mode "wb".'
            ) from None
        left = left[_taken(written, path, left.nbytes) :]


def load(source: Path | container.Bytes | BinaryIO, *, mmap: bool = False) -> LoadedModel:
    """Read a model that `save` wrote.

    Parameters
    ----------
    source : str, path-like, bytes-like or binary file object
        The file; or its bytes, or an open file, which is read to its end.
    mmap : bool, default=False
        Map the arrays from the file instead of copying them, and skip the checksum. For trusted files that
        stay as they are while the model lives; for paths only.

    Returns
    -------
    estimator
        The fitted estimator: it predicts as the saved one did, with default `n_jobs`.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, no model file, or of a newer format. Reading never takes more memory
        than ten times the size of the file and 50 MB.
    MemoryError
        If there is not even that much.

    Examples
    --------
    >>> import weald
    >>> model = weald.DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> weald.load(model.to_bytes()).predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    if isinstance(source, str | os.PathLike):
        place.check_path(source)
    data, name = _opened(source)
    if mmap and isinstance(data, container.Bytes):
        raise ParameterError("mmap=True maps a file, so it needs a path; got bytes or an open file.")
    try:
        return _read(data, mmap=mmap)
    except (OSError, MemoryError):  # no fault of the file: what it may ask for is limited by its size
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from error.__cause__
    except Exception as error:
        # Whatever slipped through the checks: the file is at fault, not who loads it.
        raise ModelFileError(
            f"{name}: the parts of the model file do not fit each other ({error})."
        ) from error


def about(data: bytes) -> dict[str, str]:
    """What a model file says of itself: its `format`, the version that it `needs`, its `checksum`."""
    with budget.reading(len(data)):
        text, _ = container.read(data, mmap=False)
        content = canonical.loads(text, "description of the model file")
    major, minor = content["format"]
    return {
        "format": f"{major}.{minor}",
        "needs": str(content["needs"]),
        "checksum": str(content["checksum"]),
    }


def to_bytes(model: Saveable) -> bytes:
    """The bytes of the file that `save` would write."""
    tensors: container.Tensors = {}
    content = parts.encode(model, tensors)
    content |= {"format": list(description.FORMAT), "needs": description.NEEDS}
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    return container.pack(canonical.dumps(content), tensors)


def checked_bytes(model: Saveable) -> bytes:
    """The bytes of the file, after the model was made again from them."""
    data = to_bytes(model)
    try:
        _read(data, mmap=False, verify=False)
    except (WealdError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ModelFileError(
            f"This {type(model).__name__} cannot be saved: a file of it could not be read again ({error}). "
            "Was it fitted on extreme values, or changed by hand? Use pickle."
        ) from error
    return data


def _taken(written: object, file: object, asked: int) -> int:
    """How many bytes a file took, as its `write` tells; OSError for one that takes none and never will."""
    if not isinstance(written, int) and not isinstance(file, io.RawIOBase):
        return asked  # many files of users' own return nothing
    if isinstance(written, int) and written > 0:
        return written
    raise BlockingIOError(
        errno.EAGAIN, f"The file took none of the last {asked:,} bytes of the model: write gave {written!r}"
    )


def _opened(source: object) -> tuple[Path | container.Bytes, str]:
    """A path, or all bytes of what is open; and how messages call it."""
    if isinstance(source, str | os.PathLike):
        return source, os.fspath(source)
    if isinstance(source, container.Bytes):
        return source, "The bytes"
    data = _method(source, "read")()
    if not isinstance(data, container.Bytes):
        raise ParameterError('load reads bytes, and this file gives text. Open it with mode "rb".')
    return data, str(getattr(source, "name", "The file"))


def _method(file: object, name: str) -> Callable[..., Any]:
    found = getattr(file, name, None)
    if not callable(found):
        raise ParameterError(
            f"A model file is named by a path or given as an open binary file; got {type(file).__name__}."
        )
    return found  # type: ignore[no-any-return]


def _read(data: Path | container.Bytes, *, mmap: bool, verify: bool = True) -> LoadedModel:
    """The model of a file, within the memory that a file of its size may take."""
    with budget.reading(_size(data)):
        text, tensors = container.read(data, mmap=mmap)
        return _build(text, tensors, verify=verify and not mmap)


def _size(data: Path | container.Bytes) -> int:
    return memoryview(data).nbytes if isinstance(data, container.Bytes) else os.stat(data).st_size


def _build(text: str, tensors: container.Tensors, *, verify: bool) -> LoadedModel:
    """The model; arrays are taken out of `tensors` as they are used, so that they are not held twice."""
    content = canonical.loads(text, "description of the model file")
    newer = description.read_format(content)
    if verify:
        _verify(content, text, tensors)
    lacking = sorted(_ABOUT - set(content))
    if lacking:
        raise ModelFileError(f"The description of the model file lacks the entry {lacking[0]!r}.")
    about_model = {key: value for key, value in content.items() if key not in _ABOUT}
    model = parts.decode(about_model, tensors, newer=newer)
    if tensors and not newer:
        raise ModelFileError(f"The model file holds an array nobody asked for: {min(tensors)!r:.80}.")
    return model


def _verify(content: dict[str, Any], text: str, tensors: container.Tensors) -> None:
    """Raise ModelFileError unless the checksum is that of the description without it, and of the arrays."""
    told = content.get("checksum")
    entry = f'"checksum":"{told}",'
    if isinstance(told, str) and text.count(entry) == 1:
        rest = text.replace(entry, "")  # as dumps would write it, without the memory that takes
        if told == container.checksum(rest, tensors):
            return
    budget.spend(3 * len(text), "the description of the model file is not in its canonical form")
    rest = canonical.dumps({key: value for key, value in content.items() if key != "checksum"})
    if told != container.checksum(rest, tensors):
        raise ModelFileError("The model file is damaged: its checksum does not match. Save or copy it again.")
