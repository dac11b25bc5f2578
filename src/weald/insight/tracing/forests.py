"""Forests: every tree on its bag, drawn again from the seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.estimators.forest.base import BaseForest
from weald.estimators.forest.options import ForestOptions
from weald.estimators.shared.coded import Coded
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
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.combinations import column_scales
from weald.inspection.trace.growth import LeafValues, TreePlan
from weald.inspection.trace.records import Agreement, NodeTrace
from weald.random import Purpose, draw
from weald.rows.bags import BagRecord
from weald.rows.growth import GrowOptions


@dataclass(slots=True, kw_only=True)
class ForestSource(Source):
    """A forest."""

    model: BaseForest
    coded: Coded
    record: BagRecord
    limits: GrowOptions
    columns: list[TracedColumn]
    scales: tuple[float, ...]
    present: NDArray[np.bool_] | None

    @classmethod
    def of(
        cls, model: BaseForest, X: TableLike, y: TargetLike, sample_weight: WeightLike | None
    ) -> ForestSource:
        """A fitted forest with its rows."""
        coded = model._coded(X, y, sample_weight, model.schema_)
        owner, classes = type(model).__name__, model._classes_by_output()
        coded = replace(coded, target=known_target(coded.target, classes, owner))
        weight, n_rows = coded.target.weight, coded.table.n_rows
        agreement = Agreement()
        agreement.same("rows of the table", model.bags_.n_rows, n_rows)
        present = None if weight is None or weight.all() else weight > 0
        labels = None
        if model.bags_.by_class is not None:
            labels = coded.target.values[:, 0].astype(np.int32)
            labels = labels if present is None else np.where(present, labels, np.int32(-1))
        n_absent = 0 if present is None else n_rows - int(np.count_nonzero(present))
        record = replace(model.bags_, n_rows=n_rows, n_absent=n_absent, present=present, labels=labels)
        limits = model._growth(coded)
        columns = all_columns(coded.codes, coded.schema)
        scales: tuple[float, ...] = ()
        if limits.combined_columns:
            used = np.arange(n_rows) if present is None else np.flatnonzero(present)
            scales = column_scales(columns, coded.codes, used)
        return cls(
            owner=owner,
            forest=model.forest_,
            schema=model.schema_,
            table=coded.table,
            agreement=agreement,
            n_threads=coded.n_threads,
            classes=classes,
            model=model,
            coded=coded,
            record=record,
            limits=limits,
            columns=columns,
            scales=scales,
            present=present,
        )

    @property
    def n_rounds(self) -> int:
        """How many trees."""
        return self.forest.n_trees

    @property
    def combined(self) -> Combined:
        """The mean of the leaves."""
        return "mean"

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """A tree each."""
        for t in wanted:
            yield RoundPlan(t, [partial(self._plan, t)])

    def _plan(self, t: int) -> TreePlan:
        coded, record = self.coded, self.record
        options = cast(ForestOptions, coded.options)
        counts = record.counts(t, self.present).astype(np.int64)
        bags = record.of_trees(1, t)
        target = traced_target(
            coded.target,
            coded.target.weight,
            self.limits,
            counts=counts if record.leaves_rows_out or record.n_draws else None,
            n_draws=bags.most_draws,
            balance=getattr(self.model, "_balances_bags", lambda _: False)(options),
        )
        rules = grow_rules(
            self.limits,
            target,
            coded.table.n_columns,
            seed=int(draw(record.seed, Purpose.FOREST_TREE, t)[0]),
            share=options.min_weight_fraction_leaf,
            ccp_alpha=options.ccp_alpha if options.ccp_alpha != 0 else None,
            scales=self.scales,
        )
        facts: dict[str, object] = {}
        if record.leaves_rows_out:
            facts = {"rows in the bag": int(counts.sum()), "rows left out": int((counts == 0).sum())}
        return TreePlan(
            tree=t,
            rows=target.rows,
            columns=self.columns,
            statistic=target.statistic,
            kept=target.statistic,
            rules=rules,
            values=self._rounded(target.values),
            fitted=self.fitted(t),
            words=self.words(),
            score_name=score_name(self.limits),
            facts=facts,
        )

    def _rounded(self, values: LeafValues) -> LeafValues:
        """Leaf values as the forest keeps them: of 24 bits, where it was asked for."""
        kept = self.forest.value
        if cast(ForestOptions, self.coded.options).leaf_dtype == "float64":
            return values
        if not np.array_equal(kept, kept.astype(np.float32)):
            return values

        def rounded(leaves: Sequence[NodeTrace]) -> Floats:
            return values(leaves).astype(np.float32).astype(np.float64)

        return rounded
