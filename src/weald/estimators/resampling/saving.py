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
from weald.resampling.calibration import MAP_FACT, PLAIN_FACT, ShareMap

if TYPE_CHECKING:
    from weald.estimators.resampling.base import BaseSampler
    from weald.estimators.resampling.resampled import Resampled

_MEMBER: Final = "estimator"
#: the same fitted on the rows as they are, where it takes part in probabilities
_PLAIN: Final = "plain"
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
        plain = own.plain_estimator_
        return SavedEnsemble(
            params={"correct_prior": own.correct_prior, "decide": own.decide},
            classes=(own.classes_,),
            extra=told,
            members=((_MEMBER, own.estimator_), *(() if plain is None else ((_PLAIN, plain),))),
            arrays={"share": own.class_shares_, "share_after": own.resampled_shares_},
        )

    @classmethod
    def _from_saved_state(cls, state: SavedEnsemble) -> Self:
        if state.schema is not None or state.forest is not None or state.base is not None:
            raise ParameterError("A Resampled has nothing but its estimator.")
        fitted, plain = _checked_members(state)
        assert state.classes is not None
        text = state.extra.get("sampler")
        if set(state.extra) - {"sampler", MAP_FACT, PLAIN_FACT} or not isinstance(text, str | None):
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
        if (plain is not None) != (share_map is not None and share_map.blends):
            raise ParameterError("The map of a Resampled and its second estimator do not go together.")
        more |= {"share_map_": share_map, "plain_estimator_": plain}
        model._set_fitted(fitted, state.classes[0], shares[0], shares[1], more)
        return cast("Self", model)


def _checked_members(state: SavedEnsemble) -> tuple[Any, Any]:
    """The estimators of a file, which may hold anything: one or two classifiers of these labels."""
    names = tuple(name for name, member in state.members if member is not None)
    if len(names) != len(state.members) or names not in ((_MEMBER,), (_MEMBER, _PLAIN)):
        raise ParameterError("A Resampled has its estimator as a member, and at most one more.")
    if state.classes is None or len(state.classes) != 1 or len(state.classes[0]) < 2:
        raise ParameterError("A Resampled has one output of at least two classes.")
    known = set(state.classes[0].tolist())
    fitted = [member for _, member in state.members]
    for each in fitted:
        theirs = getattr(each, "classes_", None)
        if (
            not is_classifier(each)
            or not isinstance(theirs, np.ndarray)
            or not known.issuperset(theirs.tolist())
        ):
            raise ParameterError("The estimator of a Resampled is no classifier of its labels.")
    if len({each.n_features_in_ for each in fitted}) > 1:
        raise ParameterError("The estimators of a Resampled were fitted on different columns.")
    if not hasattr(fitted[-1], "predict_proba") and len(fitted) > 1:
        raise ParameterError("The second estimator of a Resampled has no probabilities.")
    return fitted[0], fitted[1] if len(fitted) > 1 else None


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
