"""XGBoost's boosting: gradients at the scores so far, trees on them, DART's drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike, TargetLike, WeightLike
from weald.boosting.callbacks import Callbacks
from weald.boosting.newton.dart import dropped_trees, normalised
from weald.boosting.newton.options import BoostOptions
from weald.boosting.records import Objective
from weald.boosting.sampling import n_drawn, row_factors, tree_columns
from weald.data.codes import Codes, coarsen
from weald.data.fixed_point import to_units
from weald.estimators.xgboost.base import BaseXGB
from weald.estimators.xgboost.chosen import USUAL
from weald.estimators.xgboost.plan import Method, Plan
from weald.estimators.xgboost.rows import Given, Rows
from weald.estimators.xgboost.training import Training
from weald.insight.tracing.boosted import BoostedSource, in_order
from weald.insight.tracing.source import RoundPlan
from weald.inspection.trace.columns import TracedColumn, traced_columns
from weald.inspection.trace.gradients import NewtonTerms, TracedGradients, gradient_target, many_gradients
from weald.inspection.trace.growth import LeafValues, TreePlan
from weald.inspection.trace.records import Agreement, NodeTrace
from weald.inspection.trace.rules import TreeRules, drawn_rows
from weald.model.predict import leaf_nodes
from weald.random import tree_seed

_MOST_ROWS = 2.0**31


@dataclass(slots=True, kw_only=True)
class NewtonSource(BoostedSource):
    """A model of XGBoost's family."""

    options: BoostOptions
    objective: Objective
    rows: Rows
    codes: Codes
    rates: list[float]
    may_stop: bool  # whether training may have gone on after the last round that was kept

    @classmethod
    def of(
        cls,
        model: BaseXGB,
        X: TableLike,
        y: TargetLike,
        sample_weight: WeightLike | None,
        *,
        base_margin: ColumnLike | None,
        group: ColumnLike | None,
        qid: ColumnLike | None,
        feature_weights: ColumnLike | None,
    ) -> NewtonSource:
        """A fitted model with its rows."""
        options = model._options()
        data = model._read_training(Given(X, y, sample_weight, base_margin, group, qid), options, model)
        plan: Plan = model._make_plan(options, data, feature_weights)
        rows, _ = model._hold_out(options, data, plan)
        method = cast(Method, model.tree_method_)
        boost = replace(
            plan.boost,
            tree_method=method,
            max_bin=model.max_bin_ or plan.boost.max_bin,
            **{name: getattr(model, f"{name}_") for name in USUAL},
        )
        training = Training(replace(plan, boost=boost), rows)
        agreement = Agreement()
        agreement.numbers("base score", model.forest_.base_score, training.base)
        source = cls(
            owner=type(model).__name__,
            forest=model.forest_,
            schema=model.schema_,
            table=rows.table,
            agreement=agreement,
            n_threads=boost.n_threads,
            classes=data.classes,
            word="round",
            options=training.options,
            objective=training.objective,
            rows=rows,
            codes=training.codes,
            first_scores=_start(model, rows, training),
            columns=traced_columns(training.codes, model.schema_),
            rates=_rates(model, options.callbacks, training.options),
            may_stop=options.early_stopping is not None or options.early_stopping_rounds is not None,
        )
        source.note_held_out(data.rows.table.n_rows - rows.table.n_rows)
        if boost.dart is not None and source.may_stop:
            source.notes.append(
                "rounds that early stopping gave up may have changed the weights of DART's trees, which are "
                "not compared"
            )
        return source

    @property
    def _many(self) -> bool:
        return self.options.multi_strategy == "multi_output_tree" and self.objective.n_outputs > 1

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """Rounds in order; the model's own trees bring the scores from one to the next."""
        scores, forest = self.first_scores.copy(), self.forest
        weights: list[float] = []  # of the trees so far, as DART changes them
        leaves: list[NDArray[np.intp]] = []  # the leaf of every row in each tree, of DART alone
        last = max(wanted, default=-1)
        for number in range(last + 1):
            trees = np.flatnonzero(forest.tree_round == number).tolist()
            dropped, weight, factor = self._drops(number, np.array(weights), len(trees))
            for t in dropped:
                self._add(scores, t, leaves[t], -weights[t])
            if number in wanted:
                yield self._round(number, trees, scores, dropped, weight)
            for t in dropped:
                self._add(scores, t, leaves[t], factor * weights[t])
                weights[t] *= factor
            for t in trees:
                found = self._leaves(t)
                weights.append(weight)
                self._add(scores, t, found, weight)
                if self.options.dart is not None:
                    leaves.append(found)
        if self.options.dart is not None and not self.may_stop and last + 1 == self.n_rounds:
            self.agreement.numbers("weights of the trees", forest.tree_weight, weights)

    def _drops(self, number: int, weights: Floats, n_new: int) -> tuple[list[int], float, float]:
        """The trees that a round of DART leaves out, the weight of its own, and the factor for the others."""
        if self.options.dart is None:
            return [], 1.0, 1.0
        dropped = dropped_trees(self.options.dart, weights, self.options.seed, number)
        return dropped, *normalised(self.options.dart, len(dropped), self._rate(number) / max(1, n_new))

    def _leaves(self, t: int) -> NDArray[np.intp]:
        """For every row the number of its leaf among those of the forest."""
        nodes = leaf_nodes(self.forest, self.table, n_threads=self.n_threads, trees=(t, t + 1))[:, 0]
        found: NDArray[np.intp] = (~self.forest.slot[nodes + self.forest.tree_start[t]]).astype(np.intp)
        return found

    def _add(self, scores: Floats, t: int, leaves: NDArray[np.intp], weight: float) -> None:
        first, values = int(self.forest.tree_output[t]), self.forest.value
        scores[first : first + values.shape[1]] += weight * values[leaves].T

    def _round(
        self, number: int, trees: list[int], scores: Floats, dropped: list[int], weight: float
    ) -> RoundPlan:
        g, h = np.empty_like(scores), np.empty_like(scores)
        before = scores.copy()
        self.objective.gradients(scores, g, h, round_=number, n_threads=self.n_threads)
        facts: dict[str, object] = {"objective": self.objective.name}
        if self.options.dart is not None:
            facts |= {"trees left out": tuple(dropped), "weight of new trees": weight}
        rows: dict[str, NDArray[np.float64]] = {}
        for k in range(len(scores)):
            suffix = "" if len(scores) == 1 else f" {k}"
            rows |= {f"score{suffix}": before[k], f"g{suffix}": g[k], f"h{suffix}": h[k]}
        per_output = max(1, self.options.num_parallel_tree)
        plans = []
        for place, t in enumerate(trees):
            plans.append(partial(self._plan, number, t, place % per_output, before, g, h))
        return RoundPlan(number, plans, facts, rows)

    def _plan(self, number: int, t: int, place: int, scores: Floats, g: Floats, h: Floats) -> TreePlan:
        options, output = self.options, int(self.forest.tree_output[t])
        seed = tree_seed(options.seed, number, output * options.num_parallel_tree + place)
        part = slice(None) if self._many else slice(output, output + 1)
        g, h = g[part], h[part]
        weight, whole = self._weights()
        facts: dict[str, object] = {}
        left_out = None
        if options.sampling_method == "gradient_based" and options.subsample < 1:
            factor = self._row_factors(g, h, seed)
            g, h, left_out = g * factor, h * factor, factor == 0
            share = 1.0
        else:
            share = options.subsample
        rows = drawn_rows(seed, share, weight, self.table.n_rows)
        columns = self._coded(h)
        terms = self._terms(columns, seed, number)
        if self._many:
            target = many_gradients(g, h, rows, weight, terms, whole=whole)
        else:
            target = gradient_target(g[0], h[0], rows, weight, terms, whole=whole)
        rate = self._rate(number) / options.num_parallel_tree
        drawn = rows if left_out is None else rows[~left_out[rows]]
        if len(drawn) < self.table.n_rows:
            facts["rows drawn"] = len(drawn)
        if not target.wide:
            facts["sums that found the splits"] = "16 bits a row" if len(rows) >= 1 << 16 else "30 bits a sum"
        return TreePlan(
            tree=t,
            output=output,
            rows=rows,
            columns=self._tree_columns(columns, seed),
            statistic=target.found_by,
            kept=target.told_by,
            rules=self._rules(target, seed),
            values=self._values(target, scores, output, t, rate, drawn),
            fitted=self.fitted(t),
            words=self.words(),
            score_name="similarity",
            weight=float(self.forest.tree_weight[t]),
            rate=rate,
            value_scale=float(np.abs(g).max(initial=0.0)),
            facts=facts,
        )

    def _rate(self, number: int) -> float:
        return self.rates[number] if number < len(self.rates) else self.options.learning_rate

    def _weights(self) -> tuple[Floats | None, bool]:
        """The weights that gradients are multiplied with, and whether they count rows."""
        weight = self.rows.target.weight
        if weight is None:
            return None, False
        if self.objective.weighted:
            return (weight > 0).astype(np.float64), True
        return weight, bool(np.all(weight == np.floor(weight))) and float(weight.sum()) < _MOST_ROWS

    def _row_factors(self, g: Floats, h: Floats, seed: int) -> Floats:
        weight = self.rows.target.weight
        if weight is not None and not self.objective.weighted:
            g, h = g * weight, h * weight
        return row_factors(g, h, self.options.subsample, self.options.reg_lambda, seed)

    def _coded(self, h: Floats) -> list[TracedColumn]:
        """The columns of a tree: of "approx" with cuts of its own."""
        if self.options.tree_method != "approx":
            return self.columns
        weight = self.rows.target.weight
        hessian = h.mean(axis=0)
        if weight is not None and not self.objective.weighted:
            hessian = hessian * weight
        units = to_units(np.maximum(hessian, 0.0)).units
        coarse = coarsen(self.codes, units, max_bins=self.options.max_bin, n_threads=self.n_threads)
        return traced_columns(coarse, self.schema)

    def _tree_columns(self, columns: list[TracedColumn], seed: int) -> list[TracedColumn]:
        options = self.options
        if options.colsample_bytree >= 1:
            return columns
        drawn = tree_columns(seed, len(columns), options.colsample_bytree, options.feature_weights)
        return [columns[j] for j in drawn]

    def _terms(self, columns: list[TracedColumn], seed: int, number: int) -> NewtonTerms:
        options = self.options
        caution = options.caution(self.table.n_rows)
        many = any(column.kind == "categorical" and column.n_codes > 64 for column in columns)
        return NewtonTerms(
            reg_lambda=options.reg_lambda,
            reg_alpha=options.reg_alpha,
            max_step=options.max_delta_step,
            min_weight=options.min_child_weight,
            smooth=caution.smooth,
            category_lambda=caution.penalty,
            believes=options.cat_smooth == "auto" and many and not self._many,
            packed=options.tree_method == "hist",
            seed=seed,
            round_number=number,
        )

    def _rules(self, target: TracedGradients, seed: int) -> TreeRules:
        options, n = self.options, len(self.columns)
        caution = options.caution(self.table.n_rows)
        level = node = 0
        if options.colsample_bytree < 1:
            n = len(tree_columns(seed, n, options.colsample_bytree, options.feature_weights))
        if options.colsample_bylevel < 1:
            n = level = n_drawn(options.colsample_bylevel, n)
        if options.colsample_bynode < 1:
            node = n_drawn(options.colsample_bynode, n)
        least = options.min_child_weight * 2.0**target.powers.h
        weights = options.feature_weights
        return TreeRules(
            max_depth=options.max_depth or np.inf,
            min_units_leaf=0 if self._many else int(min(np.ceil(least), 2.0**62)),
            max_leaves=options.max_leaves,
            by_level=options.grow_policy == "depthwise",
            min_gain=options.gamma if options.prune == "pre" else 0.0,
            must_gain=True,
            stop_alike=False,
            gamma=options.gamma if options.prune == "post" else 0.0,
            seed=seed,
            level_columns=level,
            node_columns=node,
            column_weights=() if weights is None else tuple(weights.tolist()),
            monotone=options.monotone or (),
            interactions=options.interactions or (),
            one_hot=options.max_cat_to_onehot,
            max_categories=options.max_cat_threshold,
            rare_rows=caution.smooth,
            group_rows=caution.group_rows,
            believes=options.cat_smooth == "auto",
            weight_limit=("min_child_weight", options.min_child_weight),
            gain_limit="gamma",
            leaves_limit="max_leaves",
        )

    def _values(
        self,
        target: TracedGradients,
        scores: Floats,
        output: int,
        t: int,
        rate: float,
        drawn: NDArray[np.int64],
    ) -> LeafValues:
        """Newton's values, or the objective's own, times the rate."""
        forest = self.fitted(t).forest

        def values(leaves: Sequence[NodeTrace]) -> Floats:
            found = target.values(leaves)
            if self.objective.refreshes_leaves:
                found = self._refreshed(leaves, found, scores, output, drawn)
                if self.options.monotone is not None:
                    found = in_order(forest, leaves, found, self.options.monotone)
            return found * rate

        return values

    def _refreshed(
        self,
        leaves: Sequence[NodeTrace],
        values: Floats,
        scores: Floats,
        output: int,
        drawn: NDArray[np.int64],
    ) -> Floats:
        """Quantiles of the residuals, for absolute and quantile error."""
        of_row = np.full(self.table.n_rows, -1, np.int32)
        kept = np.zeros(self.table.n_rows, np.bool_)
        kept[drawn] = True
        for place, node in enumerate(leaves):
            assert node.rows is not None
            of_row[node.rows[kept[node.rows]]] = place
        columns = []
        for k in range(values.shape[1]):
            better = self.objective.leaf_values(scores, output + k, of_row, len(leaves))
            columns.append(values[:, k] if better is None else better)
        return np.stack(columns, axis=1)


def _start(model: BaseXGB, rows: Rows, training: Training) -> Floats:
    """Raw scores before the first round, from the model's own base score unless margins were given."""
    if rows.margin is not None:
        return training.scores.copy()
    return np.tile(model.forest_.base_score[:, np.newaxis], (1, rows.table.n_rows))


def _rates(model: BaseXGB, callbacks: Any, options: BoostOptions) -> list[float]:
    """The learning rate of every round, where callbacks change it."""
    asked = Callbacks(callbacks)
    found = [asked.learning_rate(number) for number in range(model.n_rounds_)]
    return [options.learning_rate if rate is None else rate for rate in found]
