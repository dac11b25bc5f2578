"""Ensembles of whole models: which rows each member was fitted on, and what its answer counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Estimator, Floats, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.target import read_weight
from weald.errors import DataTypeError
from weald.estimators.bagging.any_members import OtherMembers, as_given, rows_of_bag, sees_all_rows
from weald.estimators.bagging.base import BaseBagging
from weald.estimators.balanced.base import BalancedMembers
from weald.estimators.balanced.sampled import SampledBags, sampled_rows
from weald.estimators.shared.routing import takes_weights
from weald.estimators.voting.base import BaseVoting
from weald.estimators.voting.voting import VotingClassifier
from weald.insight.tracing.source import known_target
from weald.inspection.trace.records import Agreement


@dataclass(frozen=True, slots=True, eq=False)
class FittedMember:
    """One member with what it was fitted on."""

    model: Estimator
    X: TableLike
    y: TargetLike
    weight: Floats | None
    columns: list[int] | None = None  # of the table; None for all


@dataclass(slots=True, kw_only=True, eq=False)
class ModelMembers:
    """The members of an ensemble of models, with the rows of its fit."""

    owner: str
    X: TableLike  # all rows, as members read them
    n_rows: int
    n_members: int
    labels: NDArray[Any] | None
    member: Callable[[int], FittedMember]
    names: list[str] | None = None  # of members that were given names
    #: what each member says of a table: (n_members, n_rows, width)
    says: Callable[[TableLike], Floats]
    #: what the ensemble makes of the mean of that, if it is something else: (n_rows, width)
    answers: Callable[[TableLike], Floats] | None = None
    weights: Floats
    joined: str  # how the answers become one
    agreement: Agreement = field(default_factory=Agreement)
    notes: list[str] = field(default_factory=list)

    def member_name(self, number: int) -> str:
        """What a member is called."""
        return f"member {number}" if self.names is None else f"member {number}, {self.names[number]!r}"

    def row(self, number: int) -> TableLike:
        """One row of the table, in its type."""
        found: TableLike = take(self.X, np.array([number]))
        return found


def members_of(
    model: object, X: TableLike, y: TargetLike, sample_weight: WeightLike | None
) -> ModelMembers | None:
    """The members of a fitted ensemble of models; None if it is none of weald's."""
    if isinstance(model, BaseVoting):
        return _of_voting(model, X, y, sample_weight)
    if isinstance(model, BaseBagging) and isinstance(model._members, OtherMembers):
        return _of_bagging(model, model._members, X, y, sample_weight)
    return None


def _of_bagging(
    model: BaseBagging,
    members: OtherMembers,
    X: TableLike,
    y: TargetLike,
    sample_weight: WeightLike | None,
) -> ModelMembers:
    """The members of a bagger, each with the rows that it drew."""
    owner, options, template = type(model).__name__, model._checked_options(), members.template
    if model._on_codes(template):
        raise DataTypeError(
            f"The members of this {owner} learned from rows that a sampler made, and a model file keeps no "
            "sampler. Set it again, model.set_params(sampler=…) with the one of `fit`, and trace then."
        )
    table = members.read(X, owner)
    given = outline(table)
    weight = read_weight(sample_weight, n_rows=given.n_rows)
    target = model._read_target(y, given.n_rows, None if sees_all_rows(template) else weight)
    target = known_target(target, members.classes, owner)
    bags = model._draw(options, members.seed, target, given.n_columns, weight)
    labels, weighs = as_given(target), takes_weights(template)
    agreement, notes = Agreement(), []
    if members.columns is not None:
        drawn = bags.columns_of_all(len(members)) or ()
        same = len(drawn) == len(members.columns) and all(map(np.array_equal, drawn, members.columns))
        agreement.same("columns of the bags", True, same)
    if hasattr(options, "sampler") and options.sampler is None and model._bags is None:
        notes.append(
            "a model file keeps no sampler: if `fit` had one, give it by set_params(sampler=…) first"
        )

    def member(bag: int) -> FittedMember:
        columns = bags.columns(bag).tolist() if bags.some_columns else None
        if isinstance(bags, SampledBags):
            rows, own = sampled_rows(table, labels, bags, bag)
            return FittedMember(members.fitted[bag], rows, own, None, columns)
        chosen, times = rows_of_bag(template, labels, bags, bag, weighs)
        own = labels if chosen is None else labels[chosen]
        return FittedMember(members.fitted[bag], take(table, chosen, columns), own, times, columns)

    def says(some: TableLike) -> Floats:
        read = members.read(some, owner)
        return np.stack(list(members.each(members.predicting, read, None)))

    return ModelMembers(
        owner=owner,
        X=table,
        n_rows=given.n_rows,
        n_members=len(members),
        labels=None if members.classes is None else members.classes[0],
        member=member,
        says=says,
        answers=_corrected(model),
        weights=np.ones(len(members)),
        joined="mean",
        agreement=agreement,
        notes=notes,
    )


def _corrected(model: BaseBagging) -> Callable[[TableLike], Floats] | None:
    """The probabilities of an ensemble that undoes the balance of its draws; None of others."""
    if not getattr(model._checked_options(), "correct_prior", False):
        return None
    found: Callable[[TableLike], Floats] = cast(BalancedMembers, model).predict_proba
    return found


def _of_voting(
    model: BaseVoting, X: TableLike, y: TargetLike, sample_weight: WeightLike | None
) -> ModelMembers:
    """The members of a voter: all have all rows."""
    owner, table = type(model).__name__, indexable(X)
    n_rows = outline(table).n_rows
    weight = read_weight(sample_weight, n_rows=n_rows)
    names = [name for name, each in model.named_estimators_.items() if not isinstance(each, str)]
    weights = model._kept_weights() or [1.0] * len(names)
    labels = model.classes_ if isinstance(model, VotingClassifier) else None
    hard = isinstance(model, VotingClassifier) and model.voting != "soft"

    def member(number: int) -> FittedMember:
        return FittedMember(model.estimators_[number], X, y, weight)

    def says(some: TableLike) -> Floats:
        if isinstance(model, VotingClassifier):
            if model.voting == "soft":
                return np.asarray(model._shares(some))
            return np.eye(len(model.classes_))[np.stack(model._chosen(some))]
        told: Floats = model.transform(some).T[..., np.newaxis]
        return told

    return ModelMembers(
        owner=owner,
        X=table,
        n_rows=n_rows,
        n_members=len(names),
        labels=labels,
        member=member,
        names=names,
        says=says,
        weights=np.asarray(weights, np.float64),
        joined="share of votes" if hard else "mean",
    )
