"""The steps of `fit` that both baggers share, and what they remember."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline
from weald.data.target import read_weight
from weald.engine import thread_count
from weald.errors import DataError, ParameterError, WealdError, outside
from weald.estimators.bagging.any_members import OtherMembers, as_given, fit_others, names_of, sees_all_rows
from weald.estimators.bagging.bags import MemberBags, make_bags
from weald.estimators.bagging.out_of_bag import (
    OutOfBagMeans,
    check_oob,
    judge_others,
    judge_trees,
    warn_of_rows_in_every_bag,
)
from weald.estimators.bagging.routing import BaggingRouting
from weald.estimators.bagging.saving import BaggingState
from weald.estimators.bagging.shap import BaggingShap
from weald.estimators.bagging.showing import BaggedMembers
from weald.estimators.bagging.trees import TreeMembers, grow_trees, shares_codes
from weald.estimators.shared.category_shrinkage import shrinkage_of
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.estimators.tree.base import BaseTree
from weald.model.join import joined
from weald.pictures.trained_on import frame_library, missing_columns

if TYPE_CHECKING:
    from sklearn.utils import Tags

Members: TypeAlias = TreeMembers | OtherMembers
_OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")


@dataclass(frozen=True, slots=True)
class Bagged:
    """What a fit brings."""

    members: Members
    bags: MemberBags
    target: Target
    weight: Weights | None  # as the user gave them
    out_of_bag: OutOfBagMeans | None
    learned: dict[str, Any]


class BaseBagging(
    BaggedMembers,
    BaggingRouting,
    BaggingState,
    BaggingShap,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base of `BaggingClassifier` and `BaggingRegressor`."""

    _default: ClassVar[type[Any]]
    _options = BaggingOptions
    _nested = True
    _fit_bags: ClassVar[Callable[..., list[Any]]] = staticmethod(fit_others)
    _on_codes: ClassVar[Callable[..., Any]] = staticmethod(shares_codes)

    estimator: Estimator | None
    n_jobs: int | None
    random_state: RandomState

    estimator_: Estimator
    n_features_in_: int
    _members: Members
    _bags: MemberBags | None

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | Callable[..., float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        """The target as numbers or class numbers, and the classes if it has any.

        With weights classes are left out whose rows all weigh 0.
        """

    @abstractmethod
    def _check_kind(self, base: Estimator) -> None:
        """Refuse a base estimator of the other kind."""

    @abstractmethod
    def _check_target(self, y: TargetLike | None, target: Target) -> None:
        """Refuse or warn of targets of a shape that is not taken."""

    @abstractmethod
    def _judged(self, found: OutOfBagMeans, bagged: Bagged) -> dict[str, Any]:
        """The fitted attributes of an out-of-bag judgement."""

    def fit(
        self,
        X: TableLike,
        y: TargetLike | None = None,
        sample_weight: WeightLike | None = None,
        **fit_params: object,
    ) -> Self:
        """Draw the bags and fit a member on each.

        Parameters
        ----------
        X : table
            Any table that weald reads. Estimators that are not weald's get rows of it in its own type: frames
            stay frames, sparse matrices CSR or CSC (other kinds become CSR); lists become arrays.
        y : array-like of shape (n_rows,) or, for numbers, (n_rows, n_outputs)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0: bags draw rows in proportion to them, one of weight 0 never. Members get no
            other weights than how often their bag has a row.
        **fit_params
            More for `fit` of the members, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        base = self._base(options)
        routed = self._routed("fit", fit_params)
        if sample_weight is not None and not options.bootstrap:
            warnings.warn(self._said_of_weights(), UserWarning, stacklevel=outside())
        before = self._before(options, base)
        seed = before.seed if before else check_random_state(options.random_state).randint(2**31 - 1)
        if self._on_codes(base):
            bagged = self._fit_trees(X, y, sample_weight, options, cast(BaseTree, base), seed, before)
        else:
            bagged = self._fit_others(X, y, sample_weight, options, base, seed, before, routed.get("fit", {}))
        if bagged.out_of_bag is not None:
            warn_of_rows_in_every_bag(bagged.out_of_bag, bagged.weight, len(bagged.members), owner)
            bagged.learned.update(self._judged(bagged.out_of_bag, bagged))
        self._set_fitted(bagged.members, bagged.bags, bagged.learned)
        return self

    def _said_of_weights(self) -> str:
        """What to say of weights where rows are drawn without replacement."""
        return (
            f"When fitting {type(self).__name__} with sample_weight it is recommended to use bootstrap=True, "
            f"got {self.bootstrap}: without replacement rows are not drawn as often as they weigh."
        )

    def _fit_trees(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: BaggingOptions,
        base: BaseTree,
        seed: int,
        before: TreeMembers | None,
    ) -> Bagged:
        """Members that are weald's trees, on one coding of the table."""
        reader = clone(base).set_params(n_jobs=options.n_jobs)
        coded = reader._coded(X, y, sample_weight, None if before is None else before.schema)
        self._check_target(y, coded.target)
        bags = self._draw(options, seed, coded.target, coded.table.n_columns, coded.weight)
        numbers = self._missing(options, before, bags, coded.target)
        forests = grow_trees(base, coded, bags, numbers, options.n_jobs, options.verbose)
        forest = joined([*([before.forest] if before else []), *forests])
        missing = missing_columns(coded.codes, forest)
        members = TreeMembers(
            template=base,
            seed=seed,
            forest=forest,
            schema=coded.schema,
            classes=coded.target.classes,
            columns=bags.columns_of_all(options.n_estimators),
            trained_on={"_frame_library": frame_library(X), "_missing_columns": missing},
        )
        n_threads, known = thread_count(options.n_jobs), {"category_shrinkage_": shrinkage_of(coded)}
        judged = judge_trees(members, coded.table, bags, n_threads) if options.oob_score else None
        return Bagged(members, bags, coded.target, coded.weight, judged, known)

    def _fit_others(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: BaggingOptions,
        base: Estimator,
        seed: int,
        before: OtherMembers | None,
        params: Mapping[str, Any],
    ) -> Bagged:
        """Members of any other kind, on rows of the user's table."""
        X = indexable(X) if before is None else before.read(X, type(self).__name__)
        given = outline(X)
        weight = read_weight(sample_weight, n_rows=given.n_rows)
        target = self._read_target(y, given.n_rows, None if sees_all_rows(base) else weight)
        self._check_target(y, target)
        bags = self._draw(options, seed, target, given.n_columns, weight)
        numbers = self._missing(options, before, bags, target)
        fitted = self._fit_bags(
            base, X, as_given(target), bags, numbers, options.n_jobs, options.verbose, params
        )
        members = OtherMembers(
            template=base,
            seed=seed,
            fitted=[*(before.fitted if before else []), *fitted],
            schema=names_of(given),
            classes=target.classes,
            columns=bags.columns_of_all(options.n_estimators),
        )
        judged = None
        if options.oob_score:
            width = target.n_outputs if target.classes is None else target.n_classes[0]
            judged = judge_others(members, X, bags, width, options.n_jobs)
        return Bagged(members, bags, target, weight, judged, {})

    def _base(self, options: BaggingOptions) -> Estimator:
        """A copy of the base estimator, or the default one."""
        base: Estimator = self._default() if options.estimator is None else clone(options.estimator)
        self._check_kind(base)
        return base

    def _draw(
        self, options: BaggingOptions, seed: int, target: Target, n_columns: int, weight: Weights | None
    ) -> MemberBags:
        """How bags are drawn from the rows of a target."""
        owner, n_rows = type(self).__name__, len(target.values)
        bags = make_bags(options, owner, seed=seed, n_rows=n_rows, n_columns=n_columns, weight=weight)
        bags = self._balanced(bags, options, target)
        check_oob(options, bags, owner)
        return bags

    def _balanced(self, bags: MemberBags, options: BaggingOptions, target: Target) -> MemberBags:
        """The bags as they are."""
        return bags

    def _before(self, options: BaggingOptions, base: Estimator) -> Any:
        """The fitted members that `warm_start` goes on from, or None."""
        if not options.warm_start or "_members" not in vars(self):
            return None
        owner, members = type(self).__name__, self._members
        if self._bags is None:
            raise ParameterError(
                f"`warm_start` of {owner} cannot go on from a model file, which does not keep how the bags "
                "were drawn. Fit it anew."
            )
        if options.n_estimators < len(members):
            raise ParameterError(
                f"`n_estimators` of {owner} must be at least the {len(members)} members that are fitted when "
                f"warm_start=True; got {options.n_estimators}."
            )
        if isinstance(members, TreeMembers) != self._on_codes(base):
            raise ParameterError(
                f"`estimator` of {owner} has become one of another kind, a {type(base).__name__}, so that "
                "`warm_start` cannot go on. Fit anew with warm_start=False."
            )
        return members

    def _missing(
        self, options: BaggingOptions, before: Members | None, bags: MemberBags, target: Target
    ) -> range:
        """The numbers of the bags that have no member yet."""
        if before is None:
            return range(options.n_estimators)
        owner = type(self).__name__
        assert self._bags is not None
        differences = bags.differences(self._bags)
        if differences:
            raise DataError(
                f"`warm_start` of {owner} goes on with the same rows and the same draws; changed: "
                f"{', '.join(differences)}. Fit anew with warm_start=False."
            )
        same = all(
            np.array_equal(new, old)
            for new, old in zip(target.classes or (), before.classes or (), strict=True)
        )
        if not same:
            raise DataError(
                f"`warm_start` of {owner} goes on with the same labels; y now has others. Fit anew with "
                "warm_start=False."
            )
        if options.n_estimators == len(before):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members: `n_estimators` "
                f"of {owner} is still {len(before)}.",
                UserWarning,
                stacklevel=outside(),
            )
        return range(len(before), options.n_estimators)

    def _set_fitted(self, members: Members, bags: MemberBags | None, learned: dict[str, Any]) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        brought: dict[str, Any] = {
            "_members": members,
            "_bags": bags,
            "estimator_": members.template,
        }
        brought |= class_attributes(members.classes and members.classes[:1]) | learned
        set_fitted(self, brought, schema=members.schema, forgotten=_OUT_OF_BAG)

    def _mean(self, X: TableLike, method: str, params: Mapping[str, Any]) -> NDArray[np.float64]:
        """The mean of what the members predict: (rows, width)."""
        check_is_fitted(self)
        members, owner = self._members, type(self).__name__
        asked = self._routed(method, params)
        n_jobs = self._checked_options().n_jobs
        if isinstance(members, TreeMembers):
            return members.mean(X, owner, n_jobs)
        return members.mean(X, owner, n_jobs, asked)

    @property
    def estimators_(self) -> list[Estimator]:
        """The fitted members, in the order of their bags."""
        check_is_fitted(self)
        return self._members.estimators()

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The columns of each member, by position."""
        check_is_fitted(self)
        if self._members.columns is None:
            return [np.arange(self.n_features_in_) for _ in range(len(self._members))]
        return list(self._members.columns)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows of each bag, ascending, drawn again from the seed; with replacement they may repeat."""
        check_is_fitted(self)
        if self._bags is None:
            raise WealdError("This model comes from a file, which does not keep the rows of its bags.")
        return [self._bags.rows(bag) for bag in range(len(self._members))]

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "_members" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables as the base estimator takes them."""
        tags = super().__sklearn_tags__()
        base = self._default() if self.estimator is None else self.estimator
        try:
            theirs = get_tags(base).input_tags
        except (AttributeError, TypeError):
            return tags  # not an estimator, which `fit` will say
        tags.input_tags = replace(theirs, pairwise=False)
        return tags
