"""Bagging of trees: every member on its bag, drawn again from the seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from sklearn.base import clone

from weald.arrays import TableLike, TargetLike, WeightLike
from weald.errors import DataTypeError
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.bagging.base import BaseBagging
from weald.estimators.bagging.trees import TreeMembers, coded_of_columns, of_bag
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
from weald.inspection.trace.columns import traced_columns
from weald.inspection.trace.growth import TreePlan
from weald.inspection.trace.records import Agreement
from weald.parameters import TreeOptions


@dataclass(slots=True, kw_only=True)
class BagSource(Source):
    """A bagger of trees."""

    members: TreeMembers
    coded: Coded
    bags: MemberBags

    @classmethod
    def of(
        cls, model: BaseBagging, X: TableLike, y: TargetLike, sample_weight: WeightLike | None
    ) -> BagSource:
        """A fitted bagger with its rows."""
        owner, members = type(model).__name__, model._members
        if not isinstance(members, TreeMembers):
            raise DataTypeError(
                f"trace takes models of trees; the members of this {owner} are of the class "
                f"{type(members.template).__name__}. Trace one of `estimators_`, if it is made of trees."
            )
        options = model._checked_options()
        reader = clone(members.template).set_params(n_jobs=options.n_jobs)
        coded = reader._coded(X, y, sample_weight, members.schema)
        coded = replace(coded, target=known_target(coded.target, members.classes, owner))
        bags = model._draw(options, members.seed, coded.target, coded.table.n_columns, coded.weight)
        agreement = Agreement()
        if members.columns is not None:
            drawn = bags.columns_of_all(len(members)) or ()
            same = len(drawn) == len(members.columns) and all(
                np.array_equal(a, b) for a, b in zip(drawn, members.columns, strict=True)
            )
            agreement.same("columns of the bags", True, same)
        return cls(
            owner=owner,
            forest=members.forest,
            schema=members.schema,
            table=coded.table,
            agreement=agreement,
            n_threads=coded.n_threads,
            classes=members.classes,
            members=members,
            coded=coded,
            bags=bags,
        )

    @property
    def n_rounds(self) -> int:
        """How many members."""
        return len(self.members)

    @property
    def combined(self) -> Combined:
        """The mean of the leaves."""
        return "mean"

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """A member each."""
        for bag in wanted:
            yield RoundPlan(bag, [partial(self._plan, bag)])

    def _plan(self, bag: int) -> TreePlan:
        tree, coded, weight, columns = of_bag(self.members.template, self.coded, self.bags, bag)
        part = coded_of_columns(coded, columns)
        some = None if columns is None else tuple(columns.tolist())
        if part is None:
            limits = tree._limits(coded, weight, some, random_ties=True)
            traced = traced_columns(coded.codes, coded.schema, some)
        else:
            limits = tree._limits(part, weight, random_ties=True)
            traced = traced_columns(part.codes, coded.schema, some, renumbered=True)
        target = traced_target(coded.target, weight, limits)
        alpha = pruning_alpha(cast(TreeOptions, coded.options), None)
        rules = grow_rules(limits, target, len(traced), seed=limits.seed, ccp_alpha=alpha)
        counts = self.bags.counts(bag)
        facts: dict[str, object] = {}
        if self.bags.leaves_rows_out:
            facts = {"rows in the bag": int(counts.sum()), "rows left out": int((counts == 0).sum())}
        if some is not None:
            facts["columns of the bag"] = tuple(self.words().names[j] for j in some)
        return TreePlan(
            tree=bag,
            rows=target.rows,
            columns=traced,
            statistic=target.statistic,
            kept=target.statistic,
            rules=rules,
            values=target.values,
            fitted=self.fitted(bag),
            words=self.words(),
            score_name=score_name(limits),
            facts=facts,
        )
