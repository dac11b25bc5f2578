"""What a model file keeps of `Resampled`, and the classifier made again from that.

The estimator must be weald's. A sampler shapes no prediction: weald's own is kept as its parameters, so that
the loaded model can be fitted again; any other, and one with code in its parameters, is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np
from sklearn.base import clone, is_classifier

from weald.arrays import Floats
from weald.errors import ModelFileError, ParameterError
from weald.io import description
from weald.io.arrays import Shelf
from weald.io.saved_state import SavedEnsemble
from weald.resampling.calibration import MAP_FACT, ShareMap

if TYPE_CHECKING:
    from weald.estimators.resampling.base import BaseSampler
    from weald.estimators.resampling.resampled import Resampled

_MEMBER: Final = "estimator"
SAMPLERS: Final = (
    *("ADASYN", "BorderlineSMOTE", "EditedNearestNeighbours", "NearMiss", "RandomOverSampler"),
    *("RandomUnderSampler", "SMOTE", "SMOTEENN", "SMOTEN", "SMOTENC", "SMOTETomek", "TomekLinks"),
)


class ResampledState:
    """The parts of a fitted `Resampled`."""

    def _saved_state(self) -> SavedEnsemble:
        own = cast("Resampled", self)
        sampler = encode_sampler(own.sampler)
        told: dict[str, int | float | str] = {} if own.share_map_ is None else own.share_map_.facts()
        if sampler is not None:
            told["sampler"] = sampler
        return SavedEnsemble(
            params={"correct_prior": own.correct_prior, "decide": own.decide},
            classes=(own.classes_,),
            extra=told,
            members=((_MEMBER, own.estimator_),),
            arrays={"share": own.class_shares_, "share_after": own.resampled_shares_},
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        if state.schema is not None or state.forest is not None or state.base is not None:
            raise ParameterError("A Resampled has nothing but its estimator.")
        fitted = _checked_member(state)
        assert state.classes is not None
        text = state.extra.get("sampler")
        if set(state.extra) - {"sampler", MAP_FACT} or not isinstance(text, str | None):
            raise ParameterError("The facts of a Resampled are not what they should be.")
        sampler = None if text is None else decode_sampler(text)
        shelf, n_classes = Shelf(state.arrays), len(state.classes[0])
        shares = [_shares(shelf, name, n_classes) for name in ("share", "share_after")]
        if shelf.left():
            raise ParameterError(f"A Resampled has no array {shelf.left()[0]!r:.80}.")
        model = cast("type[Resampled]", cls)(clone(fitted), sampler, **state.params)
        model._how()
        more = {"n_features_in_": fitted.n_features_in_}
        names = getattr(fitted, "feature_names_in_", None)
        more |= {} if names is None else {"feature_names_in_": names}
        share_map = ShareMap.from_facts(state.extra, n_classes)
        model._set_fitted(fitted, state.classes[0], shares[0], shares[1], share_map, more)
        return cast("Self", model)


def _checked_member(state: SavedEnsemble) -> Any:
    """The estimator of a file, which may hold anything: a classifier of these labels."""
    if len(state.members) != 1 or state.members[0][0] != _MEMBER or state.members[0][1] is None:
        raise ParameterError("A Resampled has exactly one member, its estimator.")
    fitted = state.members[0][1]
    if state.classes is None or len(state.classes) != 1 or len(state.classes[0]) < 2:
        raise ParameterError("A Resampled has one output of at least two classes.")
    theirs = getattr(fitted, "classes_", None)
    known = set(state.classes[0].tolist())
    if (
        not is_classifier(fitted)
        or not isinstance(theirs, np.ndarray)
        or not known.issuperset(theirs.tolist())
    ):
        raise ParameterError("The estimator of a Resampled is no classifier of its labels.")
    return fitted


def _shares(shelf: Shelf, name: str, n_classes: int) -> Floats:
    found = shelf.floats(name, (n_classes,), low=0.0)
    if not abs(float(found.sum()) - 1.0) < 1e-6:
        raise ParameterError(f"The class shares {name!r} of a Resampled do not add up to 1.")
    return found


def encode_sampler(sampler: object) -> str | None:
    """A sampler of weald's as text: its class and parameters; None for any that a file cannot keep."""
    import weald

    name = type(sampler).__name__
    if name not in SAMPLERS or type(sampler) is not getattr(weald, name):
        return None
    params = cast("BaseSampler", sampler).get_params(deep=False)
    nested = {}
    for key in [key for key, value in params.items() if hasattr(value, "fit_resample")]:
        nested[key] = encode_sampler(params.pop(key))
        if nested[key] is None:
            return None
    try:
        plain = description.encode_params(params)
    except ModelFileError:  # code, or an object of another library
        return None
    return json.dumps({"class": name, "params": plain, "samplers": nested}, sort_keys=True)


def decode_sampler(text: str, depth: int = 0) -> Any:
    """The sampler that a file holds as text; raises ParameterError for anything but one of weald's."""
    import weald

    try:
        record = json.loads(text)
        name, params, nested = record["class"], record["params"], record["samplers"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ParameterError("The sampler of a Resampled has the wrong form.") from None
    if not isinstance(name, str) or name not in SAMPLERS or not isinstance(nested, dict) or depth > 1:
        raise ParameterError(f"The sampler of a Resampled is unknown here: {name!r:.80}.")
    cls = getattr(weald, name)
    known = set(cls._get_param_names())
    given = description.decode_params(params, known - set(nested), newer=False)
    if not known.issuperset(nested) or not all(isinstance(each, str) for each in nested.values()):
        raise ParameterError("The sampler of a Resampled has parts that it cannot have.")
    sampler = cls(**given, **{key: decode_sampler(each, depth + 1) for key, each in nested.items()})
    sampler._checked_options()
    return sampler
