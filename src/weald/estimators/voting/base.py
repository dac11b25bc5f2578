"""What `VotingClassifier` and `VotingRegressor` share: named members, their parameters, fitting them."""

from __future__ import annotations

import math
import time
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, TableLike, TargetLike, WeightLike
from weald.errors import DataTypeError, ParameterError, naming_member, nearest, told
from weald.estimators.shared.ensemble_options import Trainable, VotingOptions
from weald.estimators.shared.members import fit_member, in_parallel, limit_input_tags
from weald.estimators.shared.routing import check_params, route, routing_is_on
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import OneModel, set_fitted
from weald.estimators.voting.saving import VotingState
from weald.numbers import as_float
from weald.parameters import checked

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRouter

DROP = "drop"
#: columns of a line that `verbose` prints
_WIDE = 70
#: what a member must be; that it predicts is only asked of those that are to
_MEMBER = Trainable("an estimator with fit", ("fit",))


class BaseVoting(OneModel, VotingState, TransformerMixin, Saving, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]  # scikit-learn has no types
    """The shared base of the voters."""

    _options: ClassVar[type[VotingOptions]]
    #: whether an estimator is of the other kind, and the words for what it should be
    _other_kind: ClassVar[Callable[[Any], bool]]
    _kind: ClassVar[str]

    estimators: Sequence[tuple[str, Any]]
    weights: Sequence[float] | NDArray[Any] | None
    n_jobs: int | None
    verbose: object

    estimators_: list[Any]
    named_estimators_: Bunch

    @property
    def named_estimators(self) -> Bunch:
        """The unfitted members by name."""
        return Bunch(**dict(self.estimators))

    @property
    def n_features_in_(self) -> int:
        """How many columns the table had, as the first member counts them."""
        if "estimators_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute n_features_in_ before fit.")
        return self.estimators_[0].n_features_in_  # type: ignore[no-any-return]

    def _shown_members(self) -> list[Any]:
        """The fitted members, whose trees `weald.plot_tree` and its like show by tree=(member, tree)."""
        return self.estimators_

    def _check_params(self, fit_params: Mapping[str, Any]) -> None:
        """Refuse further arguments of `fit` unless they can be routed."""
        check_params(fit_params, type(self).__name__, "fit")

    def _fit_members(
        self,
        X: TableLike,
        y: NDArray[Any],
        weight: WeightLike | None,
        fit_params: Mapping[str, Any],
        options: VotingOptions,
    ) -> list[Any]:
        """A fitted copy of each member that is not dropped."""
        kept = [(name, each) for name, each in options.estimators if not _dropped(each)]
        given = dict(fit_params) if weight is None else {"sample_weight": weight, **fit_params}
        if routing_is_on():
            routed = route(self, "fit", given)
            params = [routed[name].fit for name, _ in kept]
        else:
            self._check_weighable([] if weight is None else kept)
            params = [given] * len(kept)
        loud = bool(options.verbose)
        work = (
            (
                each,
                X,
                y,
                theirs,
                self._who(name, each),
                f"({k} of {len(kept)}) Processing {name}" if loud else None,
            )
            for k, ((name, each), theirs) in enumerate(zip(kept, params, strict=True), start=1)
        )
        return list(in_parallel(_fit_member, work, options.n_jobs))

    def _check_weighable(self, members: list[tuple[str, Any]]) -> None:
        """Refuse members whose `fit` cannot get weights."""
        for name, each in members:
            if not _may_get(each, "sample_weight"):
                raise DataTypeError(
                    f"Underlying estimator {type(each).__name__} does not support sample weights, and "
                    f"sample_weight was given: {self._who(name, each)} has a fit without them. Leave them "
                    "out, drop that member, or use one that takes sample_weight."
                )

    def get_metadata_routing(self) -> MetadataRouter:
        """Which members get what is passed to `fit`.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            As scikit-learn's tools read it.
        """
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        router = MetadataRouter(owner=self)
        for name, member in self.estimators:
            if not _dropped(member):
                router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _set_fitted(self, fitted: list[Any], learned: dict[str, Any]) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        each = iter(fitted)
        named = {name: DROP if _dropped(member) else next(each) for name, member in self.estimators}
        names = getattr(fitted[0], "feature_names_in_", None)
        brought = {} if names is None else {"feature_names_in_": names}
        brought |= {"estimators_": fitted, "named_estimators_": Bunch(**named)}
        set_fitted(self, brought | learned)

    def _who(self, name: str, member: Estimator) -> str:
        """The words for a member."""
        return f"the member {name!r} of {type(self).__name__}, a {type(member).__name__},"

    def _predicted(self, how: Callable[[Any, Any], Any], X: TableLike) -> list[Any]:
        """What each fitted member predicts for a table."""
        check_is_fitted(self)
        names = [name for name, member in self.named_estimators_.items() if not _dropped(member)]
        predicted = []
        for name, member in zip(names, self.estimators_, strict=True):
            with naming_member(_capital(self._who(name, member))):
                predicted.append(how(member, X))
        return predicted

    def _kept_weights(self) -> list[float] | None:
        """The weights of the members that are not dropped."""
        if self.weights is None:
            return None
        if len(self.weights) != len(self.named_estimators_):
            raise ParameterError(
                f"`weights` of {type(self).__name__} has {len(self.weights)} for "
                f"{len(self.named_estimators_)} fitted members. Give one for each, dropped ones too."
            )
        return [
            float(weight)
            for weight, member in zip(self.weights, self.named_estimators_.values(), strict=True)
            if not _dropped(member)
        ]

    def _checked_options(self) -> Any:
        """The parameters as a validated record."""
        owner = type(self).__name__
        values = {each.name: getattr(self, each.name) for each in fields(self._options)}
        options = checked(self._options, owner, values)
        _check_members(options.estimators, owner, list(super().get_params(deep=False)))
        for name, member in options.estimators:
            if not _dropped(member) and type(self)._other_kind(member):
                raise ParameterError(
                    f"{_capital(self._who(name, member))} must be a {self._kind}. Use the other Voting class."
                )
        _check_weights(options, owner)
        return options

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The parameters by name; with `deep` the members too, and their parameters as `name__parameter`.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include members.

        Returns
        -------
        dict
            Names and values.
        """
        found: dict[str, Any] = super().get_params(deep=False)
        if not deep or not _are_pairs(self.estimators):
            return found
        for name, member in self.estimators:
            found[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                found |= {f"{name}__{key}": value for key, value in member.get_params().items()}
        return found

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; a member by its own name, its parameters as `name__parameter`.

        Parameters
        ----------
        **params
            Names and new values; 'drop' as a member leaves it out.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ParameterError
            For a name the estimator does not have, with the nearest one it has.
        """
        if "estimators" in params:
            given: Any = params.pop("estimators")
            self.estimators = given
        members = [name for name, _ in self.estimators] if _are_pairs(self.estimators) else []
        own = list(super().get_params(deep=False))
        for name in params:
            first = name.partition("__")[0]
            if first not in members and first not in own:
                close = nearest(first, [*own, *members])
                way_out = (
                    f"did you mean `{close}`?" if close else f"valid ones are {', '.join(own + members)}."
                )
                raise ParameterError(
                    f"`{first}` is no parameter or member of {type(self).__name__}; {way_out}"
                )
        replaced = {name: params.pop(name) for name in members if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, member)) for name, member in self.estimators]
        return super().set_params(**params)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables that every member takes."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        try:
            members = [member for _, member in self.estimators if not _dropped(member)]
        except (TypeError, ValueError):
            return tags  # not a list of estimators, which `fit` will say
        limit_input_tags(tags, members)
        return tags


def _fit_member(
    member: Estimator,
    X: TableLike,
    y: TargetLike | None,
    params: Mapping[str, Any],
    who: str,
    message: str | None,
) -> Estimator:
    start = time.monotonic()
    with naming_member(_capital(who)):
        fitted: Estimator = fit_member(clone(member), X, y, **params)
    if message is not None:
        print(_line(message, time.monotonic() - start))
    return fitted


def _line(message: str, seconds: float) -> str:
    """What is told of a member that is fitted, in the words of scikit-learn.

    >>> _line("(1 of 2) Processing tree", 3.14)
    '[Voting] ..................... (1 of 2) Processing tree, total=   3.1s'
    """
    took = f"{seconds / 60:4.1f}min" if seconds > 60 else f" {seconds:5.1f}s"
    first, last = "[Voting] ", f" {message}, total={took}"
    return first + "." * (_WIDE - len(first) - len(last)) + last


def _may_get(member: Estimator, argument: str) -> bool:
    """Whether `fit` has this argument, or takes any."""
    taken = signature(member.fit).parameters
    return argument in taken or any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())


def _dropped(member: Estimator) -> bool:
    return isinstance(member, str) and member == DROP


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _are_pairs(estimators: object) -> bool:
    return isinstance(estimators, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in estimators
    )


def _check_members(estimators: Sequence[tuple[str, Any]], owner: str, own: list[str]) -> None:
    """Names that can be told apart, and at least one estimator."""
    what = f"`estimators` of {owner}"
    if not _are_pairs(estimators) or not estimators:
        raise ParameterError(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (name, estimator) "
            f"tuples with string names; {what} are {told(estimators)}."
        )
    names = [name for name, _ in estimators]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ParameterError(f"Names provided are not unique: {what} has {twice[0]!r} twice. Rename one.")
    for name in names:
        if "__" in name:
            raise ParameterError(
                f"Estimator names must not contain __: {what} has {name!r}. The two underscores part a name "
                "from a parameter."
            )
        if name in own:
            raise ParameterError(
                f"Estimator names conflict with constructor arguments: {what} has {name!r}. Rename it."
            )
    for name, member in estimators:
        if not _dropped(member) and not _MEMBER.admits(member):
            raise ParameterError(
                f"The member {name!r} of {owner} must be {_MEMBER.says}, or 'drop'; got {told(member)}."
            )
    if all(_dropped(member) for _, member in estimators):
        raise ParameterError(
            "All estimators are dropped. At least one is required to be an estimator, and not 'drop', in "
            f"{what}."
        )


def _check_weights(options: VotingOptions, owner: str) -> None:
    weights = options.weights
    if weights is None:
        return
    if len(weights) != len(options.estimators):
        raise ParameterError(
            f"Number of `estimators` and weights must be equal: `weights` of {owner} has {len(weights)} for "
            f"{len(options.estimators)} estimators. Give one for each, dropped ones too."
        )
    for weight in weights:
        if not 0 <= as_float(weight) < math.inf:
            raise ParameterError(
                f"`weights` of {owner} must be finite numbers of at least 0; got {told(weight)}."
            )
    if not any(
        weight > 0
        for weight, (_, member) in zip(weights, options.estimators, strict=True)
        if not _dropped(member)
    ):
        raise ParameterError(f"`weights` of {owner} leave no member with a weight above 0.")


def feature_names(prefix: str, parts: list[str]) -> NDArray[Any]:
    """Names of the columns that `transform` gives."""
    return np.array([f"{prefix.lower()}_{part}" for part in parts], dtype=object)
