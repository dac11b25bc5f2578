"""The steps of `fit` that both AdaBoost estimators share, and what they remember."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.following import Follower, HeldOut, Score
from weald.adaboost.judging import Task
from weald.adaboost.loop import Boosted, boost
from weald.adaboost.records import Learner, Round, RoundsPlan
from weald.adaboost.table import RoundTable
from weald.adaboost.weights import RowWeights
from weald.arrays import Estimator, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline
from weald.data.schema import Schema
from weald.data.target import positions_among, read_weight, restore_labels, warn_of_column
from weald.errors import DataError, ParameterError, listing, naming_member
from weald.estimators.adaboost import any_members as adaboost_others
from weald.estimators.adaboost import trees as adaboost_trees
from weald.estimators.adaboost.any_members import BoostedOthers, OtherLearner, for_members
from weald.estimators.adaboost.options import AdaBoostOptions, as_fitted
from weald.estimators.adaboost.rounds import RoundReading
from weald.estimators.adaboost.saving import AdaBoostState
from weald.estimators.adaboost.shap import AdaBoostShap
from weald.estimators.adaboost.showing import RoundMembers
from weald.estimators.adaboost.stopping import Stopping, stopping_of
from weald.estimators.adaboost.stumps import tree_learner
from weald.estimators.adaboost.trees import BoostedTrees
from weald.estimators.bagging.any_members import names_of
from weald.estimators.bagging.trees import shares_codes
from weald.estimators.shared.category_shrinkage import shrinkage_of
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.members import showing
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.estimators.tree.base import BaseTree
from weald.model.join import joined
from weald.pictures.trained_on import frame_library, missing_columns

if TYPE_CHECKING:
    from sklearn.utils import Tags

Members: TypeAlias = BoostedTrees | BoostedOthers

#: whose errors these are, for messages
_SET = "The set of `early_stopping`"


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a fit brings."""

    members: Members
    rounds: list[Round]
    learned: dict[str, Any]


class BaseAdaBoost(
    RoundMembers,
    RoundReading,
    AdaBoostState,
    AdaBoostShap,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base of `AdaBoostClassifier` and `AdaBoostRegressor`."""

    _options: ClassVar[type[AdaBoostOptions]]
    _nested = True
    #: whether members draw rows besides what `resample` asks for
    _draws_rows: ClassVar[bool] = False
    #: "classifier" or "regressor"
    _kind: ClassVar[str]

    estimator: Estimator | None
    n_jobs: int | None

    estimator_: Estimator
    estimator_weights_: NDArray[np.float64]
    estimator_errors_: NDArray[np.float64]
    n_features_in_: int
    rounds_: RoundTable
    _members: Members
    _rounds: tuple[Round, ...]
    #: the parameters of the fit, which may have been set anew since
    _fitted_options: AdaBoostOptions

    @abstractmethod
    def _default(self) -> Estimator:
        """The base estimator where none is given."""

    @abstractmethod
    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        """The target as numbers or class numbers, and the classes if it has any."""

    @abstractmethod
    def _task(self, target: Target, present: NDArray[np.bool_], options: AdaBoostOptions) -> Task:
        """How members are judged."""

    @abstractmethod
    def _score(self, truth: NDArray[Any], target: Target, units: NDArray[np.int64]) -> Score:
        """How the ensemble is judged on rows of this truth; the target is that of training."""

    @abstractmethod
    def _round_table(
        self, rounds: tuple[Round, ...], options: AdaBoostOptions, classes: NDArray[Any] | None
    ) -> RoundTable:
        """The rounds to read."""

    def fit(self, X: TableLike, y: TargetLike | None = None, sample_weight: WeightLike | None = None) -> Self:
        """Fit the members, one after another.

        Parameters
        ----------
        X : table
            Any table that weald reads. Estimators that are not weald's get rows of it in its own type: frames
            stay frames, sparse matrices CSR or CSC (other kinds become CSR); lists become arrays. Arrays of
            more dimensions pass to members that take them.
        y : array-like of shape (n_rows,)
            The target: labels of any type for a classifier, numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            What rows weigh at the start, at least 0. A row of weight 0 is absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        options: AdaBoostOptions = self._checked_options()
        base = self._base(options)
        step: Callable[..., Fitted] = self._fit_trees if shares_codes(base) else self._fit_others
        options = for_members(options, base, self._kind, type(self).__name__)
        fitted = step(X, y, sample_weight, options, base)
        self._set_fitted(fitted.members, tuple(fitted.rounds), options, fitted.learned)
        return self

    def _fit_trees(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: AdaBoostOptions,
        base: BaseTree,
    ) -> Fitted:
        """Members that are weald's trees, on one coding of the table."""
        coded = clone(base).set_params(n_jobs=options.n_jobs)._coded(X, y, sample_weight)
        self._check_target(y, coded.target)
        seed = _seed(options, self._draws_rows or adaboost_trees.is_random(coded))
        learner = tree_learner(base, coded, seed, options.cat_penalty)
        boosted, learned = self._boost(learner, coded.target, coded.weight, options, seed)
        forest = joined(boosted.members)
        shown = {
            "_frame_library": frame_library(X),
            "_missing_columns": missing_columns(coded.codes, forest),
        }
        members = BoostedTrees(
            forest=forest, trained_on=shown, **_shared(base, seed, coded.schema, coded.target, boosted)
        )
        learned["category_shrinkage_"] = shrinkage_of(coded)
        return Fitted(members, boosted.rounds, learned)

    def _fit_others(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: AdaBoostOptions,
        base: Estimator,
    ) -> Fitted:
        """Members of any other kind, on rows of the user's table."""
        X = indexable(X, any_shape=True)
        given = outline(X)
        weight = read_weight(sample_weight, n_rows=given.n_rows)
        target = self._read_target(y, given.n_rows, weight)
        self._check_target(y, target)
        classes = None if target.classes is None else target.classes[0]
        values = target.values[:, 0]
        as_given = values if classes is None else restore_labels(classes, values)
        seed = _seed(options, self._draws_rows or adaboost_others.is_random(base))
        learner = OtherLearner(base, X, as_given, classes, seed)
        boosted, learned = self._boost(learner, target, weight, options, seed)
        members = BoostedOthers(
            fitted=boosted.members, **_shared(base, seed, names_of(given), target, boosted)
        )
        return Fitted(members, boosted.rounds, learned)

    def _boost(
        self, learner: Learner, target: Target, weight: Weights | None, options: AdaBoostOptions, seed: int
    ) -> tuple[Boosted, dict[str, Any]]:
        """The members up to the best round, and what is learnt beside them."""
        owner = type(self).__name__
        stopping = stopping_of(options, target, weight, seed, owner)
        weights = RowWeights(stopping.weight, len(target.values))
        task = self._task(target, weights.present, options)
        training = None
        if self._kind == "classifier":
            training = self._score(target.values[:, 0], target, weights.start_units)
        held_out = self._held_out(learner, target, weight, stopping)
        with showing(options.n_estimators, options.verbose) as done:
            follower = Follower(training, held_out, stopping.wait, done)
            plan = replace(self._plan(options, seed), drawn=self._drawn(options, seed, target, weights))
            boosted = boost(plan, task, weights, learner, follower)
        n = follower.n_best
        learned: dict[str, Any] = {}
        if options.keep_row_weights:
            learned["row_weights_"] = np.stack(boosted.row_weights[:n])
        if n is not None:
            learned["validation_errors_"] = np.array(follower.errors)
            boosted = Boosted(boosted.members[:n], boosted.rounds[:n], [])
        return boosted, learned

    def _held_out(
        self, learner: Learner, target: Target, weight: Weights | None, stopping: Stopping
    ) -> HeldOut | None:
        """The rows that say when to stop."""
        rows = stopping.rows
        if rows is not None:
            units = RowWeights(None if weight is None else weight[rows], len(rows)).start_units
            score = self._score(target.values[rows, 0], target, units)
            return HeldOut(score, lambda _, predicted: predicted[rows])
        if stopping.given is None:
            return None
        return self._on_set(learner, target, *stopping.given)

    def _on_set(self, learner: Learner, target: Target, X: TableLike, y: TargetLike | None) -> HeldOut:
        """A set of the user's as the rows that say when to stop."""
        with naming_member(_SET):
            table, n_rows = learner.read(X, type(self).__name__)
            theirs = self._read_target(y, n_rows, None)
            if theirs.n_outputs > 1:
                raise DataError(f"y has {theirs.n_outputs} columns where one is needed.")
            truth = theirs.values[:, 0]
            if theirs.classes is not None and target.classes is not None:
                truth = _places(theirs.classes[0], target.classes[0])[truth]

        def answers(member: Estimator, _: NDArray[Any]) -> NDArray[Any]:
            with naming_member(_SET):
                return learner.answers(member, table)

        return HeldOut(self._score(truth, target, np.ones(n_rows, np.int64)), answers)

    def _plan(self, options: AdaBoostOptions, seed: int) -> RoundsPlan:
        return RoundsPlan(
            n_rounds=options.n_estimators,
            resample=options.resample,
            worse_than_chance=options.worse_than_chance,
            seed=seed,
            owner=type(self).__name__,
            keep_row_weights=bool(options.keep_row_weights),
        )

    def _drawn(
        self, options: AdaBoostOptions, seed: int, target: Target, weights: RowWeights
    ) -> Callable[[int], NDArray[np.integer]] | None:
        """How often each member has each row; None: members have all rows."""
        return None

    def _base(self, options: AdaBoostOptions) -> Estimator:
        """A copy of the base estimator, or the default one."""
        base = self._default() if options.estimator is None else clone(options.estimator)
        self._check_kind(base)
        return base

    def _check_kind(self, base: Estimator) -> None:
        """Refuse a base estimator of the other kind."""
        other = "regressor" if self._kind == "classifier" else "classifier"
        if {"regressor": is_regressor, "classifier": is_classifier}[other](base):
            raise ParameterError(
                f"`estimator` of {type(self).__name__} must be a {self._kind}; got {type(base).__name__}, a "
                f"{other}. Use AdaBoost{other.capitalize()}."
            )

    def _check_target(self, y: TargetLike | None, target: Target) -> None:
        """Refuse a target of several columns."""
        if target.n_outputs > 1:
            what = "label" if self._kind == "classifier" else "number"
            raise DataError(
                f"{type(self).__name__} takes one {what} per row; y has {target.n_outputs} columns. Fit one "
                "for each."
            )
        warn_of_column(y)

    def _set_fitted(
        self, members: Members, rounds: tuple[Round, ...], options: AdaBoostOptions, learned: dict[str, Any]
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        brought: dict[str, Any] = {
            "_members": members,
            "_rounds": rounds,
            "_fitted_options": as_fitted(options),
            "estimator_": members.template,
            "estimator_weights_": np.array([each.weight for each in rounds]),
            "estimator_errors_": np.array([each.error for each in rounds]),
            "rounds_": self._round_table(rounds, options, members.classes),
        }
        brought |= class_attributes(None if members.classes is None else [members.classes]) | learned
        forgotten = ("validation_errors_", "row_weights_", "rounds_")
        set_fitted(self, brought, schema=members.schema, forgotten=forgotten)

    @property
    def estimators_(self) -> list[Estimator]:
        """The fitted members, in the order of their rounds."""
        check_is_fitted(self)
        return self._members.estimators()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The mean of the members' importances, each counting by the size of its weight."""
        check_is_fitted(self)
        size = np.abs(self.estimator_weights_)
        found: NDArray[np.float64] = size @ self._members.importances() / size.sum()
        return found

    def __len__(self) -> int:
        """How many members are fitted."""
        check_is_fitted(self)
        return len(self._members)

    def __bool__(self) -> bool:
        """True, fitted or not: an estimator is never empty."""
        return True

    def __getitem__(self, number: int) -> Estimator:
        """The member of one round; the first is 0."""
        return self.estimators_[number]

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


def _seed(options: AdaBoostOptions, random_members: bool) -> int:
    """What draws start from; 0 where nothing is drawn, so that a fit without chance can be repeated."""
    holds_out = isinstance(options.early_stopping, float)
    if not (random_members or holds_out or options.resample is not None):
        return 0
    return int(check_random_state(options.random_state).randint(2**31 - 1))


def _shared(
    template: Estimator, seed: int, schema: Schema, target: Target, boosted: Boosted
) -> dict[str, Any]:
    """What both kinds of members keep."""
    return {
        "template": template,
        "seed": seed,
        "schema": schema,
        "classes": None if target.classes is None else target.classes[0],
        "weights": np.array([each.weight for each in boosted.rounds]),
        "attempts": tuple(each.attempt for each in boosted.rounds),
    }


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Where each label stands among the classes; -1 for one that is none of them. Not all may be none."""
    found = positions_among(labels, classes).astype(np.int32)
    if (found < 0).all():
        raise DataError(
            f"none of its labels was trained on: it has {listing(labels.tolist())}, training has "
            f"{listing(classes.tolist())}."
        )
    return found
