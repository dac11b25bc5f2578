"""AdaBoost of trees: the weights of the rows, the member on them, its error and its say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.adaboost.judging import Task
from weald.adaboost.loop import RowChoice, Seen
from weald.adaboost.records import Round
from weald.adaboost.weights import TOTAL, RowWeights
from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.errors import DataTypeError
from weald.estimators.adaboost.base import BaseAdaBoost
from weald.estimators.adaboost.stopping import stopping_of
from weald.estimators.adaboost.trees import UNIT_POWER, BoostedTrees, TreeLearner
from weald.estimators.shared.coded import Coded
from weald.insight.tracing.single import pruning_alpha
from weald.insight.tracing.source import (
    Combined,
    RoundPlan,
    Source,
    grow_rules,
    known_target,
    score_name,
    traced_target,
)
from weald.inspection.trace.columns import TracedColumn, traced_columns
from weald.inspection.trace.growth import TreePlan
from weald.inspection.trace.records import Agreement
from weald.parameters import TreeOptions


@dataclass(slots=True, kw_only=True)
class AdaBoostSource(Source):
    """An AdaBoost of trees."""

    members: BoostedTrees
    coded: Coded
    learner: TreeLearner
    weights: RowWeights
    task: Task
    choice: RowChoice
    kept: tuple[Round, ...]
    columns: list[TracedColumn]

    @classmethod
    def of(
        cls, model: BaseAdaBoost, X: TableLike, y: TargetLike, sample_weight: WeightLike | None
    ) -> AdaBoostSource:
        """A fitted model with its rows."""
        owner, members = type(model).__name__, model._members
        if not isinstance(members, BoostedTrees):
            raise DataTypeError(
                f"trace takes models of trees; the members of this {owner} are of the class "
                f"{type(members.template).__name__}. Trace one of `estimators_`, if it is made of trees."
            )
        options = model._fitted_options
        reader = clone(members.template).set_params(n_jobs=model._checked_options().n_jobs)
        coded = reader._coded(X, y, sample_weight, members.schema)
        classes = None if members.classes is None else (members.classes,)
        coded = replace(coded, target=known_target(coded.target, classes, owner))
        stopping = stopping_of(options, coded.target, coded.weight, members.seed, owner)
        weights = RowWeights(stopping.weight, coded.table.n_rows)
        plan = model._plan(options, members.seed)
        plan = replace(plan, drawn=model._drawn(options, members.seed, coded.target, weights))
        return cls(
            owner=owner,
            forest=members.forest,
            schema=members.schema,
            table=coded.table,
            agreement=Agreement(),
            n_threads=coded.n_threads,
            classes=classes,
            word="round",
            members=members,
            coded=coded,
            learner=TreeLearner(members.template, coded, members.seed, options.cat_penalty),
            weights=weights,
            task=model._task(coded.target, weights.present, options),
            choice=RowChoice(plan, weights),
            kept=model._rounds,
            columns=traced_columns(coded.codes, coded.schema),
        )

    @property
    def n_rounds(self) -> int:
        """How many members."""
        return len(self.members)

    @property
    def combined(self) -> Combined:
        """Votes for labels, a weighted median of numbers."""
        return "median" if self.classes is None else "votes"

    def tree_weights(self) -> Floats:
        """What the members count."""
        return self.members.weights

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """Rounds in order; the model's own members weigh the rows anew."""
        answers = self.members.each(self.table, self.n_threads)
        last = max(wanted, default=-1)
        for number, (kept, predicted) in enumerate(zip(self.kept, answers, strict=True)):
            if number > last:
                return
            if kept.restarted:
                self.weights.reset()
            before = self.weights.units / TOTAL
            seen = self.choice.seen(kept.attempt)
            losses = self.task.losses(predicted, seen.base > 0)
            values, units = self.task.reweighed(seen.base, losses, kept.weight)
            if number in wanted:
                after = units / units.sum()
                yield self._round(number, kept, seen, losses, before, after)
            self.weights.take(values, units)

    def _round(
        self,
        number: int,
        kept: Round,
        seen: Seen,
        losses: NDArray[Any],
        before: Floats,
        after: Floats,
    ) -> RoundPlan:
        error = self.task.error(losses, seen.judging)
        at = (number, number, None)
        shown = self._judged(error, seen, losses)
        self.agreement.number("error", kept.error, shown, at=at)
        facts: dict[str, object] = {"error": shown}
        sure = (
            number == len(self.kept) - 1 and abs(kept.weight) == 1.0
        )  # always right, or alone: it just counts
        if not sure:
            weight = self.task.weight(shown)
            self.agreement.number("weight of the member", kept.weight, weight, at=at)
            facts["weight"] = weight
            if self.classes is not None:
                facts["say"] = weight / 2
        else:
            facts["weight"] = kept.weight
        if kept.restarted:
            facts["weights of the rows"] = "those of the start again"
        rows = {"weight": before, "loss": np.asarray(losses, np.float64), "weight after": after}
        if seen.training.counted:
            rows["times in the sample"] = seen.training.units.astype(np.float64)
        return RoundPlan(number, [partial(self._plan, number, seen)], facts, rows)

    def _judged(self, error: float, seen: Seen, losses: NDArray[Any]) -> float:
        """The error as it counts: never quite 0 or 1 where that is so of the sample alone."""
        present = self.weights.present
        if error <= 0.0 and not losses[present].any():
            return 0.0
        if error >= 1.0 and self.task.chance == 0.5 and bool(losses[present].all()):
            return error
        half = 0.5 / seen.n_parts
        return min(max(error, half), 1.0 - half)

    def _plan(self, number: int, seen: Seen) -> TreePlan:
        tree, coded, weight, caution = self.learner.asked(seen.training)
        limits = tree._limits(coded, weight, caution=caution)
        power = 0 if seen.training.counted else UNIT_POWER
        target = traced_target(coded.target, weight, limits, shown_power=power)
        alpha = pruning_alpha(cast(TreeOptions, coded.options), None)
        rules = grow_rules(limits, target, len(self.columns), seed=limits.seed, ccp_alpha=alpha)
        return TreePlan(
            tree=number,
            rows=target.rows,
            columns=self.columns,
            statistic=target.statistic,
            kept=target.statistic,
            rules=rules,
            values=target.values,
            fitted=self.fitted(number),
            words=self.words(),
            score_name=score_name(limits),
            weight=float(self.members.weights[number]),
        )
