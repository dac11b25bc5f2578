"""Model files: one safetensors file that holds a fitted model, written whole and read with suspicion.

The arrays of the forest are stored as arrays; everything else is one canonical JSON text. Nothing in a file
is ever run, imported or unpickled. docs/methods/model_file.md describes the format.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from numpy.typing import NDArray

from weald.errors import ModelFileError, WealdError
from weald.io import canonical, container, description, forest_arrays, labels
from weald.io.arrays import Shelf
from weald.io.saved_state import Saveable, SavedState
from weald.io.validate import check_boosted, check_forest, check_task, check_trees
from weald.model.forest import Forest

Classes: TypeAlias = tuple[NDArray[Any], ...]

_PREFIX = "forest."
_ENTRIES = {"checksum", "classes", "estimator", "extra", "forest", "format", "needs", "params", "schema"}
_FACTS = {"columns", "link", "nodes", "outputs", "trees", "width"}


@dataclass(frozen=True, slots=True)
class _Kind:
    """An estimator that model files know: where its class lives, and what its forest must be."""

    module: str
    classifier: bool
    rule: Callable[..., None] = check_task

    def check(self, forest: Forest, classes: Classes | None) -> None:
        """Raise ModelFileError unless the forest can be that of such an estimator."""
        self.rule(forest, classes, classifier=self.classifier)


_KINDS = {
    "DecisionTreeClassifier": _Kind("weald.estimators.tree", classifier=True),
    "DecisionTreeRegressor": _Kind("weald.estimators.tree", classifier=False),
    "ExtraTreesClassifier": _Kind("weald.estimators.extra_trees", classifier=True, rule=check_trees),
    "ExtraTreesRegressor": _Kind("weald.estimators.extra_trees", classifier=False, rule=check_trees),
    "RandomForestClassifier": _Kind("weald.estimators.random_forest", classifier=True, rule=check_trees),
    "RandomForestRegressor": _Kind("weald.estimators.random_forest", classifier=False, rule=check_trees),
    "XGBClassifier": _Kind("weald.estimators.xgboost_classifier", classifier=True, rule=check_boosted),
    "XGBRegressor": _Kind("weald.estimators.xgboost_regressor", classifier=False, rule=check_boosted),
    "XGBRanker": _Kind("weald.estimators.xgboost_ranker", classifier=False, rule=check_boosted),
}


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
    name = type(model).__name__
    if name not in _KINDS or type(model) is not _class(name):
        raise ModelFileError(
            f"A model file cannot keep a {name}; it keeps {', '.join(_KINDS)}. Use pickle for others."
        )
    state = model._saved_state()
    check_forest(state.forest, state.schema)
    _KINDS[name].check(state.forest, state.classes)
    facts, arrays = forest_arrays.encode(state.forest)
    tensors = {_PREFIX + key: array for key, array in arrays.items()}
    content: dict[str, Any] = {
        "classes": _encode_classes(state.classes),
        "estimator": name,
        "extra": {key: labels.encode_parameter(value, f"`{key}`") for key, value in state.extra.items()},
        "forest": facts,
        "format": list(description.FORMAT),
        "needs": description.NEEDS,
        "params": description.encode_params(state.params),
        "schema": description.encode_schema(state.schema),
    }
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    return container.pack(canonical.dumps(content), tensors)


def _build(text: str, tensors: container.Tensors, *, verify: bool) -> Any:
    content = canonical.loads(text, "description of the model file")
    newer = description.read_format(content)
    if verify:
        _verify(content, tensors)
    content = description.mapping(content, "The description", _ENTRIES, newer=newer)
    name = content["estimator"]
    if not isinstance(name, str) or name not in _KINDS:
        way_out = " Load it with a newer weald." if newer else ""
        raise ModelFileError(
            f"The model file holds an estimator that is unknown here: {name!r:.80}.{way_out}"
        )
    cls = _class(name)
    state = SavedState(
        params=description.decode_params(content["params"], _parameter_names(cls), newer=newer),
        schema=description.decode_schema(content["schema"], newer=newer),
        forest=_decode_forest(content["forest"], tensors, newer=newer),
        classes=_decode_classes(content["classes"]),
        extra=_decode_extra(content["extra"]),
    )
    check_forest(state.forest, state.schema)
    _KINDS[name].check(state.forest, state.classes)
    try:
        return cls._from_saved_state(state)
    except ModelFileError:
        raise
    except WealdError as error:
        raise ModelFileError(f"The parts of the model file do not fit each other: {error}") from error


def _verify(content: dict[str, Any], tensors: container.Tensors) -> None:
    rest = {key: value for key, value in content.items() if key != "checksum"}
    if content.get("checksum") != container.checksum(canonical.dumps(rest), tensors):
        raise ModelFileError("The model file is damaged: its checksum does not match. Save or copy it again.")


def _decode_forest(facts: object, tensors: container.Tensors, *, newer: bool) -> Any:
    shelf = Shelf({name.removeprefix(_PREFIX): t for name, t in tensors.items() if name.startswith(_PREFIX)})
    forest = forest_arrays.decode(description.mapping(facts, "The forest", _FACTS, newer=newer), shelf)
    strange = shelf.left() + sorted(name for name in tensors if not name.startswith(_PREFIX))
    if strange and not newer:
        raise ModelFileError(f"The model file holds an array nobody asked for: {strange[0]!r:.80}.")
    return forest


def _encode_classes(classes: Classes | None) -> Any:
    """The labels of the one output, or a list with those of each."""
    if classes is None:
        return None
    records = [labels.encode_array(each, "The class labels") for each in classes]
    return records[0] if len(records) == 1 else records


def _decode_classes(value: object) -> Classes | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) < 2:
        raise ModelFileError("The model file lists the classes of several outputs and has fewer than two.")
    found = tuple(
        labels.decode_array(record, "The class labels")
        for record in (value if isinstance(value, list) else [value])
    )
    for each in found:
        if len(set(each.tolist())) != len(each):
            raise ModelFileError("The model file names a class twice.")
    return found


def _decode_extra(value: object) -> dict[str, int | float | str]:
    if not isinstance(value, dict):
        raise ModelFileError("The extra values of the model file have the wrong form.")
    decoded = {key: labels.decode_parameter(item, f"`{key:.80}`") for key, item in value.items()}
    if not all(type(item) in (int, float, str) for item in decoded.values()):
        raise ModelFileError("The extra values of the model file are not all numbers or text.")
    return decoded


def _class(name: str) -> type[Saveable]:
    """The class of a registered name; imported late, so that `weald.io` needs no estimator."""
    return cast("type[Saveable]", getattr(importlib.import_module(_KINDS[name].module), name))


def _parameter_names(cls: Any) -> set[str]:
    return set(cls._get_param_names())
