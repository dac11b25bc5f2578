"""`trace`: a fitted model of trees told again from its rows, number by number, as textbooks work examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from numbers import Integral
from typing import TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from weald.arrays import ColumnLike, Estimator, TableLike, TargetLike, WeightLike
from weald.errors import DataTypeError, ParameterError, naming_member
from weald.estimators.adaboost.base import BaseAdaBoost
from weald.estimators.bagging.base import BaseBagging
from weald.estimators.forest.base import BaseForest
from weald.estimators.gradient_boosting.base import BaseGradientBoosting
from weald.estimators.tree.base import BaseTree
from weald.estimators.voting.base import BaseVoting
from weald.estimators.xgboost.base import BaseXGB
from weald.insight.tracing.bags import BagSource
from weald.insight.tracing.ensemble import AnyTrace, EnsembleTrace
from weald.insight.tracing.forests import ForestSource
from weald.insight.tracing.members import ModelMembers, members_of
from weald.insight.tracing.newton import NewtonSource
from weald.insight.tracing.result import Trace
from weald.insight.tracing.reweighted import AdaBoostSource
from weald.insight.tracing.single import TreeSource
from weald.insight.tracing.source import RoundPlan, Source
from weald.insight.tracing.staged import StageSource
from weald.insight.tracing.wrappers import way_out
from weald.inspection.trace.growth import TreeGrowth
from weald.inspection.trace.records import RoundTrace
from weald.pictures.nodes import check_whole
from weald.pictures.trained_on import frame_library
from weald.progress import Progress

Extras: TypeAlias = dict[str, ColumnLike | None]


def trace(
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    sample_weight: WeightLike | None = None,
    *,
    top: int = 3,
    rounds: int | Sequence[int] | None = None,
    base_margin: ColumnLike | None = None,
    group: ColumnLike | None = None,
    qid: ColumnLike | None = None,
    feature_weights: ColumnLike | None = None,
    verbose: int = 0,
) -> Trace | EnsembleTrace:
    """Tell a fit again from its rows: every sum, candidate, gain and leaf value, held against the model.

    Bags, subsamples and drawn columns are drawn again from the seed. Every node is added up and searched
    anew, in plain NumPy, apart from the core that grew the model; what differs is named.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagger or booster of trees of weald, or a bagger, voter or easy ensemble of
        such models; loaded from a file or not.
    X : table
        The rows of `fit`, in their order.
    y : array-like
        The target of `fit`.
    sample_weight : array-like of shape (n_rows,), default=None
        The weights of `fit`.
    top : int, default=3
        How many candidates of every column are kept for each node.
    rounds : int or sequence of int, default=None
        Of boosting so many first rounds, or these by number; of forests trees, of ensembles of models
        members. None for all: that takes about a millisecond for each node and column of a few hundred rows.
    base_margin, group, qid, feature_weights : array-like, default=None
        What `fit` of XGB models was given.
    verbose : int, default=0
        1 shows progress.

    Returns
    -------
    Trace or EnsembleTrace
        Text by `str` and `to_text`, frames by `to_frame` and `candidates_frame`, HTML in notebooks, `row(i)`
        for the way of one row, and `agrees`. Of an ensemble of models the trace of each is in `members`.

    Examples
    --------
    >>> from weald import XGBRegressor, trace
    >>> X, y = [[10.0], [20.0], [25.0], [35.0]], [-10.0, 7.0, 8.0, -7.0]
    >>> model = XGBRegressor(n_estimators=1, max_depth=1, reg_lambda=0, base_score=0.5).fit(X, y)
    >>> found = trace(model, X, y)
    >>> found.agrees, round(found.tree(0).nodes[0].gain, 2)
    (True, 120.33)
    """
    check_whole(top, "top", least=1)
    extras: Extras = {
        "base_margin": base_margin,
        "group": group,
        "qid": qid,
        "feature_weights": feature_weights,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `fit` has warned
        return _told(model, X, y, sample_weight, extras, top, rounds, verbose)


def _told(
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    sample_weight: WeightLike | None,
    extras: Extras,
    top: int,
    rounds: int | Sequence[int] | None,
    verbose: int,
) -> AnyTrace:
    """The trace of a model; of an ensemble of models one for each."""
    if isinstance(model, BaseBagging | BaseVoting):
        check_is_fitted(model)
    members = members_of(model, X, y, sample_weight)
    if members is not None:
        _refuse_extras(model, extras)
        return _of_members(members, _wanted(rounds, members.n_members, "member"), top, verbose, X)
    source = _source(model, X, y, sample_weight, extras)
    wanted = _wanted(rounds, source.n_rounds, source.word)
    found = []
    with Progress(len(wanted), word=source.word) if verbose else nullcontext() as progress:
        for plan in source.rounds(wanted):
            found.append(_traced(plan, source, top))
            if progress is not None:
                progress.advance({})
    return Trace(source, found, model, frame_library(X))


def _of_members(
    source: ModelMembers, wanted: list[int], top: int, verbose: int, X: TableLike
) -> EnsembleTrace:
    """Each member by the rows that it was fitted on."""
    found: list[AnyTrace] = []
    with Progress(len(wanted), word="member") if verbose else nullcontext() as progress:
        for number in wanted:
            each = source.member(number)
            with naming_member(f"The trace of {source.member_name(number)} of this {source.owner}"):
                found.append(_told(each.model, each.X, each.y, each.weight, {}, top, None, 0))
            if progress is not None:
                progress.advance({})
    return EnsembleTrace(source, wanted, found, frame_library(X))


def _traced(plan: RoundPlan, source: Source, top: int) -> RoundTrace:
    trees = [TreeGrowth(make(), source.agreement, plan.number, top).grow() for make in plan.trees]
    return RoundTrace(number=plan.number, trees=trees, facts=plan.facts, rows=plan.rows)


def _source(
    model: object,
    X: TableLike,
    y: TargetLike,
    sample_weight: WeightLike | None,
    extras: Extras,
) -> Source:
    """The model with its rows, by its family."""
    families: tuple[tuple[type, Callable[..., Source]], ...] = (
        (BaseTree, TreeSource.of),
        (BaseForest, ForestSource.of),
        (BaseBagging, BagSource.of),
        (BaseAdaBoost, AdaBoostSource.of),
        (BaseGradientBoosting, StageSource.of),
    )
    if isinstance(model, BaseXGB):
        check_is_fitted(model)
        given = {name: extras.get(name) for name in ("base_margin", "group", "qid", "feature_weights")}
        return NewtonSource.of(model, X, y, sample_weight, **given)
    for family, make in families:
        if isinstance(model, family):
            check_is_fitted(model)
            _refuse_extras(model, extras)
            return make(model, X, y, sample_weight)
    name = f"{type(model).__module__}.{type(model).__qualname__}"
    raise DataTypeError(
        f"trace takes a fitted tree, forest or booster of trees of weald, or an ensemble of such models; got "
        f"{name}. {way_out(model)}".rstrip()
    )


def _refuse_extras(model: object, extras: Extras) -> None:
    given = [name for name, value in extras.items() if value is not None]
    if given:
        raise ParameterError(f"`{given[0]}` is for XGB models; got it for a {type(model).__name__}.")


def _wanted(rounds: int | Sequence[int] | None, n: int, word: str) -> list[int]:
    """The numbers of the rounds to trace."""
    if rounds is None:
        return list(range(n))
    if isinstance(rounds, Integral | np.integer) and not isinstance(rounds, bool):
        check_whole(rounds, "rounds", least=1)
        return list(range(min(int(rounds), n)))
    if isinstance(rounds, str) or not hasattr(rounds, "__iter__"):
        raise ParameterError(
            f"`rounds` must be None, a whole number from 1 up or a list of {word}s; got {rounds!r}."
        )
    numbers: list[object] = list(rounds)  # type: ignore[arg-type]  # what is no list was refused above
    for each in numbers:
        if isinstance(each, bool) or not isinstance(each, Integral | np.integer) or not 0 <= int(each) < n:
            raise ParameterError(f"`rounds` must name {word}s from 0 to {n - 1}; got {each!r}.")
    return sorted({int(each) for each in numbers})  # type: ignore[call-overload]
