"""Single trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import cast

import numpy as np

from weald.arrays import TableLike, TargetLike, WeightLike
from weald.estimators.shared.coded import Coded
from weald.estimators.tree.base import BaseTree
from weald.insight.tracing.source import (
    Combined,
    RoundPlan,
    Source,
    all_columns,
    grow_rules,
    known_target,
    score_name,
    traced_target,
)
from weald.inspection.trace.growth import TreePlan
from weald.inspection.trace.records import Agreement
from weald.parameters import TreeOptions
from weald.rows.growth import GrowOptions


@dataclass(slots=True, kw_only=True)
class TreeSource(Source):
    """A single tree."""

    model: BaseTree
    coded: Coded

    @classmethod
    def of(cls, model: BaseTree, X: TableLike, y: TargetLike, sample_weight: WeightLike | None) -> TreeSource:
        """A fitted tree with its rows."""
        coded = model._coded(X, y, sample_weight, model.schema_)
        owner, classes = type(model).__name__, model._classes_by_output()
        target = known_target(coded.target, classes, owner)
        options = coded.options
        if not isinstance(options.random_state, Integral):
            # A generator of the user's is not asked for numbers.
            options = replace(options, random_state=0)
        return cls(
            owner=owner,
            forest=model.forest_,
            schema=model.schema_,
            table=coded.table,
            agreement=Agreement(),
            n_threads=coded.n_threads,
            classes=classes,
            model=model,
            coded=replace(coded, target=target, options=options),
        )

    @property
    def n_rounds(self) -> int:
        """One."""
        return 1

    @property
    def combined(self) -> Combined:
        """The value of the leaf."""
        return "sum"

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """The only one."""
        for number in wanted:
            yield RoundPlan(number, [self._plan])

    def _plan(self) -> TreePlan:
        coded, model = self.coded, self.model
        weight = coded.target.weight
        limits = model._limits(coded, weight)
        target = traced_target(coded.target, weight, limits)
        rules = grow_rules(
            limits,
            target,
            coded.table.n_columns,
            seed=self._seed(limits),
            ccp_alpha=pruning_alpha(cast(TreeOptions, coded.options), getattr(model, "ccp_alpha_", None)),
        )
        return TreePlan(
            tree=0,
            rows=target.rows,
            columns=all_columns(coded.codes, coded.schema),
            statistic=target.statistic,
            kept=target.statistic,
            rules=rules,
            values=target.values,
            fitted=self.fitted(0),
            words=self.words(),
            score_name=score_name(limits),
        )

    def _seed(self, limits: GrowOptions) -> int | None:
        """What draws start from; None if the model does not know."""
        if isinstance(self.model.random_state, Integral | np.integer):
            return limits.seed
        if limits.splitter == "random" or limits.max_columns is not None:
            self.notes.append(
                "random_state is not a whole number, so what was drawn cannot be told again: of drawn "
                "columns the candidates of all columns are shown, and the split is held against the best "
                "of its own column; of drawn thresholds the one that was made is shown"
            )
            return None
        return 0


def pruning_alpha(options: TreeOptions, chosen: float | None) -> float | None:
    """The alpha that a tree was pruned by; None if it was not."""
    if options.prune is not None:
        return chosen
    return options.ccp_alpha if options.ccp_alpha != 0 else None
