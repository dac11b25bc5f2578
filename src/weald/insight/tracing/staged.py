"""Gradient boosting by stages: pseudo-residuals, a tree by squared error, leaf values by the leaf rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.boosting.newton.options import caution
from weald.boosting.stage.leaf_rules import Leaves, leaf_values, newton_values
from weald.boosting.stage.losses import StageLoss
from weald.boosting.stage.options import StageOptions
from weald.boosting.stage.rows import RowWeight
from weald.data.codes import encode
from weald.data.fixed_point import common_power
from weald.data.target import positions_among
from weald.errors import DataError, DataTypeError
from weald.estimators.gradient_boosting.base import BaseGradientBoosting
from weald.estimators.gradient_boosting.models import TreeRounds, start_scores
from weald.estimators.gradient_boosting.rows import StageData, hold_out
from weald.estimators.gradient_boosting.start import EstimatorStart, fit_start
from weald.insight.tracing.boosted import BoostedSource, in_order
from weald.insight.tracing.source import RoundPlan
from weald.inspection.trace.columns import traced_columns
from weald.inspection.trace.gradients import NewtonTerms, TracedGradients, gradient_target
from weald.inspection.trace.growth import LeafValues, TreePlan
from weald.inspection.trace.records import Agreement, NodeTrace
from weald.inspection.trace.rules import TreeRules
from weald.model.predict import leaf_nodes
from weald.random import Purpose, draw, tree_seed

#: as in weald.boosting.stage.rows: packed sums, and 16 bits a row, from so many rows on
_PACKED_ROWS, _NARROW_ROWS = 1 << 12, 1 << 18
_ROUNDING = 2.0**-10


@dataclass(slots=True, kw_only=True)
class StageSource(BoostedSource):
    """A gradient booster of trees."""

    data: StageData  # the rows that were trained on
    options: StageOptions
    loss: StageLoss
    base: Floats
    init: EstimatorStart | None

    @classmethod
    def of(
        cls,
        model: BaseGradientBoosting,
        X: TableLike,
        y: TargetLike,
        sample_weight: WeightLike | None,
    ) -> StageSource:
        """A fitted model with its rows."""
        rounds, owner = model._rounds, type(model).__name__
        if not isinstance(rounds, TreeRounds):
            raise DataTypeError(
                f"trace takes models of trees; this {owner} was fitted with `estimator`, and has none. Leave "
                "`estimator` None."
            )
        options = model._checked_options()
        model._check_bases(options)
        data = _with_classes(model._read_data(X, y, sample_weight, options, rounds), model, owner)
        n_all = data.n_rows
        if options.n_iter_no_change is not None:
            state = options.random_state if isinstance(options.random_state, int) else model._seed
            data, _ = hold_out(data, options.validation_fraction, state, owner)
        loss = model._bound_loss(options, data)
        settings = model._stage_options(options, data, model._seed)
        assert data.table is not None
        codes = encode(
            data.table, max_bins=options.max_bins, weight=data.weight, n_threads=settings.n_threads
        )
        agreement = Agreement()
        if rounds.init is None and not rounds.zero:
            agreement.numbers("initial score", rounds.base, fit_start(None, loss, data, owner)[0])
        source = cls(
            owner=owner,
            forest=rounds.forest,
            schema=rounds.schema,
            table=data.table,
            agreement=agreement,
            n_threads=settings.n_threads,
            classes=None if data.classes is None else (data.classes,),
            word="round",
            data=data,
            options=settings,
            loss=loss,
            base=rounds.base,
            init=rounds.init,
            first_scores=start_scores(data, rounds.base, rounds.init, None, settings.n_threads),
            columns=traced_columns(codes, rounds.schema),
        )
        source.note_held_out(n_all - data.n_rows)
        return source

    def start_elsewhere(self, X: TableLike) -> Floats:
        """A constant, and what `init` predicts for it."""
        found = np.asarray(self.base, np.float64)
        return found if self.init is None else found + self.init.raw(X)[0]

    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """Rounds in order; the model's own trees bring the scores from one to the next."""
        scores, forest = self.first_scores.copy(), self.forest
        for number in range(max(wanted, default=-1) + 1):
            trees = np.flatnonzero(forest.tree_round == number).tolist()
            if number in wanted:
                yield self._round(number, trees, scores)
            for t in trees:
                nodes = leaf_nodes(forest, self.table, n_threads=self.n_threads, trees=(t, t + 1))[:, 0]
                value = forest.value[~forest.slot[nodes + forest.tree_start[t]], 0]
                scores[int(forest.tree_output[t])] += float(forest.tree_weight[t]) * value

    def _round(self, number: int, trees: list[int], scores: Floats) -> RoundPlan:
        g, h = np.empty_like(scores), np.ones_like(scores)
        before = scores.copy()
        self.loss.prepare(before)
        self.loss.gradients(before, g, h, n_threads=self.n_threads)
        drawn = self._drawn(number)
        facts: dict[str, object] = {
            "loss": self.loss.name,
            "learning rate": float(self.forest.tree_weight[trees[0]]),
        }
        rows: dict[str, NDArray[np.float64]] = {}
        for k in range(len(scores)):
            suffix = "" if len(scores) == 1 else f" {k}"
            rows |= {f"score{suffix}": before[k], f"residual{suffix}": -g[k]}
        plans = [partial(self._plan, number, t, before, g, h, drawn) for t in trees]
        return RoundPlan(number, plans, facts, rows)

    def _drawn(self, number: int) -> RowWeight:
        """The weights of the rows that a round was fitted on."""
        weight, n_rows = self.data.weight, self.data.n_rows
        whole = RowWeight(weight, n_rows)
        if self.options.subsample >= 1:
            return whole
        n_drawn = max(1, int(self.options.subsample * whole.n_present))
        places = np.arange(n_rows, dtype=np.uint64)
        if weight is not None:
            places = places[weight > 0]
        keys = draw(self.options.seed, Purpose.STAGE_ROWS, number, places)
        mask = np.zeros(n_rows, np.bool_)
        mask[places[np.argpartition(keys, n_drawn - 1)[:n_drawn]].astype(np.int64)] = True
        return RowWeight(whole.some(mask), n_rows)

    def _plan(self, number: int, t: int, scores: Floats, g: Floats, h: Floats, drawn: RowWeight) -> TreePlan:
        output = int(self.forest.tree_output[t])
        seed = tree_seed(self.options.seed, number, output)
        rows = np.arange(drawn.n_rows) if drawn.values is None else np.flatnonzero(drawn.values != 0)
        terms = self._terms(drawn, seed, number)
        ones = np.ones(drawn.n_rows)
        target = gradient_target(g[output], ones, rows, drawn.values, terms, whole=drawn.whole)
        facts: dict[str, object] = {}
        if drawn.n_present < self.data.n_rows:
            facts["rows drawn"] = drawn.n_present
        if not target.wide:
            facts["sums that found the splits"] = (
                "16 bits a row" if len(rows) >= _NARROW_ROWS else "30 bits a sum"
            )
        return TreePlan(
            tree=t,
            output=output,
            rows=rows,
            columns=self.columns,
            statistic=target.found_by,
            kept=target.told_by,
            rules=self._rules(target, terms, drawn, seed),
            values=self._values(target, scores, output, t, g[output], h[output], drawn),
            fitted=self.fitted(t),
            words=self.words(),
            score_name="similarity",
            weight=float(self.forest.tree_weight[t]),
            value_scale=float(np.abs(g).max(initial=0.0)),
            facts=facts,
        )

    def _terms(self, drawn: RowWeight, seed: int, number: int) -> NewtonTerms:
        options = self.options
        n_rows = int(drawn.total) if drawn.whole else drawn.n_present
        careful, of_a_row = caution(n_rows, options.cat_smooth, options.cat_l2), drawn.total / n_rows
        many = any(column.kind == "categorical" and column.n_codes > 64 for column in self.columns)
        counted = options.min_rows_leaf > 1 and drawn.n_present >= 2 * options.min_rows_leaf
        least = options.min_weight_fraction * drawn.total
        packed = options.binned and options.max_columns == 0 and drawn.n_present >= _PACKED_ROWS
        return NewtonTerms(
            min_weight=max(least, float(options.min_rows_leaf)) if counted and drawn.unit else least,
            smooth=careful.smooth * of_a_row,
            category_lambda=careful.penalty * of_a_row,
            believes=options.cat_smooth == "auto" and many,
            packed=packed and not (counted and not drawn.unit),
            narrow_rows=_NARROW_ROWS,
            seed=seed,
            round_number=number,
        )

    def _rules(self, target: TracedGradients, terms: NewtonTerms, drawn: RowWeight, seed: int) -> TreeRules:
        options = self.options
        counted = options.min_rows_leaf > 1 and drawn.n_present >= 2 * options.min_rows_leaf
        zero_gain = options.monotone is None and target.wide
        least = min(np.ceil(terms.min_weight * 2.0**target.powers.h), 2.0**62)
        return TreeRules(
            max_depth=options.max_depth or np.inf,
            min_rows_split=max(options.min_rows_split, 2 * options.min_rows_leaf),
            min_rows_leaf=options.min_rows_leaf if counted and not drawn.unit else 1,
            min_units_leaf=int(least),
            max_leaves=options.max_leaves,
            min_gain=options.min_decrease * drawn.total,
            must_gain=not zero_gain,
            stop_alike=zero_gain,
            ccp_alpha=options.ccp_alpha if options.ccp_alpha > 0 else None,
            seed=seed,
            max_columns=options.max_columns,
            monotone=options.monotone or (),
            rare_units=terms.smooth * (1 - _ROUNDING) * 2.0**target.powers.h,
            believes=options.cat_smooth == "auto",
            weight_limit=("min_samples_leaf" if counted else "min_weight_fraction_leaf", terms.min_weight),
        )

    def _values(
        self,
        target: TracedGradients,
        scores: Floats,
        output: int,
        t: int,
        g: Floats,
        h: Floats,
        drawn: RowWeight,
    ) -> LeafValues:
        """The leaf rule of the loss; the rate is the weight of the tree."""
        loss, options, forest = self.loss, self.options, self.fitted(t).forest

        def values(leaves: Sequence[NodeTrace]) -> Floats:
            if loss.rule == "mean":
                found = target.values(leaves)
            else:
                told = _TracedLeaves(leaves, drawn, self.n_threads)
                if loss.rule == "newton" and not options.exact_leaves:
                    found = newton_values(told.sums(g, h), loss.n_outputs)[:, np.newaxis]
                else:
                    exact = options.exact_leaves
                    found = leaf_values(loss, told, scores, output, h, exact=exact)[:, np.newaxis]
            if options.monotone is None:
                return found
            return in_order(forest, leaves, found, options.monotone)

        return values


class _TracedLeaves(Leaves):
    """The leaves of a traced tree, as leaf rules ask for them."""

    def __init__(self, leaves: Sequence[NodeTrace], weight: RowWeight, n_threads: int) -> None:
        self._leaves = [node.rows if node.rows is not None else np.zeros(0, np.int64) for node in leaves]
        self.weight, self.n_leaves, self.n_threads = weight, len(leaves), n_threads
        self.joined = None
        found = np.full(weight.n_rows, -1, np.int32)
        for place, rows in enumerate(self._leaves):
            found[rows] = place
        self.__dict__["of_row"] = found

    def sums(self, g: Floats, h: Floats) -> Floats:
        """Σ w·g and Σ w·h of each leaf."""
        out = np.zeros((self.n_leaves, 2))
        rows = np.concatenate(self._leaves) if self._leaves else np.zeros(0, np.int64)
        for k, values in enumerate((g, h)):
            weight = np.ones(len(values)) if self.weight.values is None else self.weight.values
            product = values * weight
            power = common_power(np.ascontiguousarray(product[rows]))
            units = np.rint(np.ldexp(product, power)).astype(np.int64)
            out[:, k] = [np.ldexp(float(int(units[own].sum())), -power) for own in self._leaves]
        return out

    def shifted(self, scores: Floats, values: Floats) -> Floats:
        """A copy of scores with the value of its leaf added to each row that the tree was grown on."""
        out = scores.copy()
        inside = self.of_row >= 0
        out[inside] += values[self.of_row[inside]]
        return out


def _with_classes(data: StageData, model: BaseGradientBoosting, owner: str) -> StageData:
    """The target by the classes of the model."""
    known = getattr(model, "classes_", None)
    if known is None or data.classes is None:
        return data
    places = positions_among(data.classes, known)
    if (places < 0).any():
        strange = data.classes[places < 0].tolist()[0]
        raise DataError(
            f"y holds the label {strange!r}, which {owner} was not fitted on. Give the y of `fit`."
        )
    return replace(data, classes=known, target=places[data.target.astype(np.intp)].astype(np.float64))
