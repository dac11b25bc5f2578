"""One estimator as a record of the description and its arrays, and back; ensembles hold records of others.

The arrays of a member stand under its own prefix, `members.0.`, `members.1.` and so on, however deep.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from weald.arrays import Estimator, LoadedModel
from weald.errors import ModelFileError, WealdError
from weald.io import budget, description, forest_arrays, labels
from weald.io.arrays import Shelf, narrow
from weald.io.container import Tensors
from weald.io.kinds import (
    KINDS,
    Classes,
    as_known,
    class_of,
    parameter_names,
    read_name,
)
from weald.io.saved_state import LOADED, Saveable, SavedEnsemble, SavedMachine, SavedState
from weald.io.validate import check_forest
from weald.model.forest import Forest

_FOREST, _ARRAY, _MEMBER, _MACHINE = "forest.", "array.", "members.", "machine."
ENTRIES = {"classes", "estimator", "extra", "forest", "params", "schema"}
ENSEMBLE_ENTRIES = ENTRIES | {"base", "members"}
MACHINE_ENTRIES = {"classes", "estimator", "machine", "params", "schema"}
#: members of members of members …: deeper than any use, and well within what the reader of JSON takes
_DEEPEST = 6
#: bytes of what an ensemble remembers of each tree: its round, its columns
_PER_TREE = 500
_FACTS = {"columns", "link", "nodes", "outputs", "trees", "width"}


# --------------------------------------------------------------------------- to a record


def encode(model: Saveable, tensors: Tensors, prefix: str = "") -> dict[str, Any]:
    """The record of a fitted estimator; its arrays are added to `tensors`."""
    name, model = as_known(model)
    if prefix.count(_MEMBER) > _DEEPEST:
        raise ModelFileError(
            f"its members are nested more than {_DEEPEST} deep, which a model file cannot keep. Use pickle."
        )
    state = model._saved_state()
    if isinstance(state, SavedMachine):
        return _encode_machine(name, state, tensors, prefix)
    facts = None
    if state.forest is not None:
        assert state.schema is not None
        check_forest(state.forest, state.schema)
        KINDS[name].check(state.forest, state.classes)
        facts, arrays = forest_arrays.encode(state.forest)
        tensors |= {prefix + _FOREST + key: array for key, array in arrays.items()}
    record: dict[str, Any] = {
        "classes": _encode_classes(state.classes),
        "estimator": name,
        "extra": {key: labels.encode_parameter(value, f"`{key}`") for key, value in state.extra.items()},
        "forest": facts,
        "params": description.encode_params(state.params),
        "schema": None if state.schema is None else description.encode_schema(state.schema),
    }
    if isinstance(state, SavedEnsemble):
        tensors |= {prefix + _ARRAY + key: narrow(array) for key, array in state.arrays.items()}
        record["base"] = _encode_base(state.base)
        record["members"] = [
            _encode_member(name, member_name, member, tensors, f"{prefix}{_MEMBER}{i}.")
            for i, (member_name, member) in enumerate(state.members)
        ]
    return record


def _encode_machine(name: str, state: SavedMachine, tensors: Tensors, prefix: str) -> dict[str, Any]:
    tensors |= {prefix + _MACHINE + key: narrow(array) for key, array in state.arrays.items()}
    return {
        "classes": _encode_classes(state.classes),
        "estimator": name,
        "machine": state.facts,
        "params": description.encode_params(state.params),
        "schema": None if state.schema is None else description.encode_schema(state.schema),
    }


def _encode_base(base: Estimator | None) -> dict[str, Any] | None:
    """An estimator that is not fitted."""
    if base is None:
        return None
    name, base = as_known(base)
    return {
        "estimator": name,
        "params": description.encode_params(base.get_params(deep=False)),
    }


def _encode_member(
    owner: str, name: str, member: Saveable | None, tensors: Tensors, prefix: str
) -> dict[str, Any]:
    """A member with its name; None is one that was dropped."""
    try:
        return {"model": None if member is None else encode(member, tensors, prefix), "name": name}
    except ModelFileError as error:
        raise ModelFileError(f"Member {name!r} of {owner}: {error}") from error


def _encode_classes(classes: Classes | None) -> object:
    """The labels of the one output, or a list with those of each."""
    if classes is None:
        return None
    records = [labels.encode_array(each, "The class labels") for each in classes]
    return records[0] if len(records) == 1 else records


# --------------------------------------------------------------------------- from a record


def decode(value: object, tensors: Tensors, *, newer: bool, prefix: str = "") -> LoadedModel:
    """The fitted estimator of a record; the arrays it uses are taken out of `tensors`."""
    name = read_name(value.get("estimator") if isinstance(value, dict) else None, newer=newer)
    kind = KINDS[name]
    if kind.machine:
        return _made(name, _decode_machine(name, value, tensors, prefix, newer=newer))
    plain = not kind.ensemble and not (kind.besides and isinstance(value, dict) and "members" in value)
    entries = ENTRIES if plain else ENSEMBLE_ENTRIES
    record = description.mapping(value, "The description", entries, newer=newer)
    known: dict[str, Any] = {
        "params": description.decode_params(record["params"], parameter_names(name), newer=newer),
        "classes": _decode_classes(record["classes"]),
        "extra": _decode_extra(record["extra"]),
    }
    known["schema"] = (
        description.decode_schema(record["schema"], newer=newer)
        if plain or record["schema"] is not None
        else None
    )
    forest = None
    if plain or record["forest"] is not None:
        if not plain:
            budget.spend(_PER_TREE * _n_trees(record["forest"]), "many trees of an ensemble")
        forest = _decode_forest(record["forest"], tensors, prefix + _FOREST, newer=newer)
        if known["schema"] is None:
            raise ModelFileError("The model file holds a forest without the columns it was grown on.")
        check_forest(forest, known["schema"])
        kind.check(forest, known["classes"])
    known["forest"] = forest
    state: SavedState | SavedEnsemble
    if plain:
        state = SavedState(**known)
    else:
        state = SavedEnsemble(
            **known,
            base=_decode_base(record["base"], newer=newer),
            members=_decode_members(record["members"], tensors, prefix, newer=newer),
            arrays=_numbers(tensors, prefix + _ARRAY),
        )
    return _made(name, state)


def _n_trees(facts: object) -> int:
    """How many trees a record of a forest claims."""
    found = facts.get("trees") if isinstance(facts, dict) else 0
    return found if type(found) is int and found > 0 else 0


def _decode_machine(name: str, value: object, tensors: Tensors, prefix: str, *, newer: bool) -> SavedMachine:
    record = description.mapping(value, "The description", MACHINE_ENTRIES, newer=newer)
    if not isinstance(record["machine"], dict):
        raise ModelFileError("The machine of the model file is missing or has the wrong form.")
    schema = record["schema"]
    return SavedMachine(
        params=description.decode_params(record["params"], parameter_names(name), newer=newer),
        facts=record["machine"],
        arrays=_numbers(tensors, prefix + _MACHINE),
        schema=None if schema is None else description.decode_schema(schema, newer=newer),
        classes=_decode_classes(record["classes"]),
        newer=newer,
    )


def _made(name: str, state: SavedState | SavedEnsemble | SavedMachine) -> LoadedModel:
    try:
        model = cast("LoadedModel", class_of(name)._from_saved_state(state))
    except ModelFileError:
        raise
    except WealdError as error:
        raise ModelFileError(f"The parts of the model file do not fit each other: {error}") from error
    vars(model)[LOADED] = True
    return model


def _numbers(tensors: Tensors, prefix: str) -> Tensors:
    """The arrays under a prefix, taken out; each may become one of 64 bits."""
    found = _taken(tensors, prefix)
    for name, array in found.items():
        budget.spend(array.size * 8 if array.itemsize < 8 else 0, f"the array {name!r:.80}")
    return found


def _taken(tensors: Tensors, prefix: str) -> Tensors:
    """The arrays under a prefix, taken out."""
    return {name.removeprefix(prefix): tensors.pop(name) for name in list(tensors) if name.startswith(prefix)}


def _decode_forest(facts: object, tensors: Tensors, prefix: str, *, newer: bool) -> Forest:
    shelf = Shelf(_taken(tensors, prefix))
    forest = forest_arrays.decode(description.mapping(facts, "The forest", _FACTS, newer=newer), shelf)
    tensors |= {prefix + name: np.zeros(0) for name in shelf.left()}  # whoever asks for all finds them left
    return forest


def _decode_base(value: object, *, newer: bool) -> Estimator | None:
    if value is None:
        return None
    record = description.mapping(value, "The base estimator", {"estimator", "params"}, newer=newer)
    name = read_name(record["estimator"], newer=newer)
    if KINDS[name].ensemble or KINDS[name].boosted or KINDS[name].machine:
        raise ModelFileError(f"The model file has a {name} as the base of a forest.")
    params = description.decode_params(record["params"], parameter_names(name), newer=newer)
    return cast("Estimator", class_of(name)(**params))


def _decode_members(
    value: object, tensors: Tensors, prefix: str, *, newer: bool
) -> tuple[tuple[str, Any], ...]:
    if not isinstance(value, list):
        raise ModelFileError("The members of the model file have the wrong form.")
    members = []
    for i, item in enumerate(value):
        record = description.mapping(item, "A member", {"model", "name"}, newer=newer)
        if not isinstance(record["name"], str):
            raise ModelFileError("A member of the model file has no name.")
        model = record["model"]
        if model is not None:
            model = decode(model, tensors, newer=newer, prefix=f"{prefix}{_MEMBER}{i}.")
        members.append((record["name"], model))
    return tuple(members)


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
