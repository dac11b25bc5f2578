"""One training: a plan and its rows → a forest, its learning curves and its best round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.boosting.callbacks import EvalsLog
from weald.boosting.links import apply_link
from weald.boosting.loop import boost
from weald.boosting.metrics.names import Metric, check_metric_names, make_metrics
from weald.boosting.newton.custom import MatrixObjective
from weald.boosting.newton.keeping import Keeper
from weald.boosting.newton.watch import OwnMetric, Watch
from weald.boosting.records import Objective, WatchedRows
from weald.boosting.stopping import EarlyStopping
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError
from weald.estimators.shared.category_shrinkage import boosted_shrinkage
from weald.estimators.xgboost.plan import Plan
from weald.estimators.xgboost.rows import Rows, check_margin
from weald.model.assemble import forest_of, trees_of
from weald.model.boosted_tree import BoostedTree
from weald.model.forest import Forest
from weald.model.predict import add_tree_scores
from weald.progress import Progress
from weald.rows.blocks.values import value_blocks
from weald.rows.dask.codes import DaskCodes
from weald.rows.many_classes import check_scores


@dataclass(frozen=True, slots=True)
class Watched:
    """A set whose metrics are followed; rows None: the training rows themselves."""

    name: str
    rows: Rows | None
    weight: Floats | None = None  # of the training rows as a set of their own


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training gives."""

    forest: Forest
    objective: str
    codes: Codes
    evals_result: EvalsLog
    best_round: int | None = None
    best_score: float | None = None


class Training:
    """Rows and sets made ready to be boosted, at once or some rounds at a time.

    Parameters
    ----------
    plan : Plan
        What to train.
    rows : Rows
        The rows to train on.
    watched : sequence of Watched
        The sets to measure on.
    start : Forest, optional
        A model to go on from.
    own_metric : callable, optional
        A metric that names itself; see `Watch`.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Rows,
        watched: Sequence[Watched] = (),
        start: Forest | None = None,
        *,
        own_metric: OwnMetric | None = None,
    ) -> None:
        n_threads = plan.boost.n_threads
        self.plan, self.rows, self.own_metric = plan, rows, own_metric
        self.objective = plan.bind(rows.target)
        self.options = plan.options_for(self.objective)
        self._forest = _checked_start(start, self.objective, plan)
        self._trees = [] if start is None else trees_of(start)
        self.base = plan.base_scores(self.objective) if start is None else start.base_score
        check_metric_names(plan.eval_metric)
        self.metrics = _metrics(plan, self.objective) if watched else []
        if self.objective.link == "softmax":
            n_rows, n_classes = rows.target.n_rows, len(self.base)
            check_scores(n_rows, n_classes, "a raw score, a gradient and a curvature", 3)
        self.codes = rows.pages or encode(
            rows.table, max_bins=plan.fine_bins, weight=rows.target.weight, n_threads=n_threads
        )
        self.scores = self._first_scores(rows)
        self.sets = [self._watched(each) for each in watched]

    def judged(self, schema: Schema, classes: tuple[NDArray[Any], ...] | None) -> dict[str, Any]:
        """What `cat_smooth="auto"` is about, for the columns that it judges; what reading pages cost."""
        spent = None if self.rows.pages is None else self.rows.pages.io
        read = {} if spent is None else {"io_": spent}
        if self.options.cat_smooth != "auto":
            return read
        target = self.rows.target
        if classes is not None and len(classes) > 1:
            classes = None  # several questions: each is 0 or 1, as a number may be
        found = boosted_shrinkage(schema, self.codes, target.values, classes, target.weight)
        return read | {"category_shrinkage_": found}

    def run(
        self,
        n_rounds: int | None = None,
        *,
        callbacks: Sequence[object] | None = None,
        early_stopping: EarlyStopping | None = None,
        progress: Progress | None = None,
        predict: Callable[[Forest, Any], Any] | None = None,
        booster: Callable[[Forest], Any] | None = None,
        keeper: Keeper | None = None,
    ) -> Trained:
        """Boost, by default for as many rounds as planned; a second call goes on from the first."""
        watch = self.add_rounds(
            self.options.n_rounds if n_rounds is None else n_rounds,
            callbacks=callbacks,
            early_stopping=early_stopping,
            progress=progress,
            predict=predict,
            booster=booster,
            keeper=keeper,
        )
        return Trained(
            forest=self.forest,
            objective=self.plan.objective_name,
            codes=self.codes,
            evals_result=watch.evals_result,
            best_round=watch.best_round,
            best_score=watch.best_score,
        )

    @property
    def forest(self) -> Forest:
        """The model so far."""
        if self._forest is None:
            self._forest = forest_of(self._trees, self.codes.n_columns, self.base, self.objective.link)
        return self._forest

    def add_rounds(
        self,
        n_rounds: int,
        *,
        callbacks: Sequence[object] | None = None,
        early_stopping: EarlyStopping | None = None,
        progress: Progress | None = None,
        predict: Callable[[Forest, Any], Any] | None = None,
        booster: Callable[[Forest], Any] | None = None,
        keeper: Keeper | None = None,
    ) -> Watch:
        """As `run`, and what watched it; trees are put together to a forest only where one is asked for."""
        watch = Watch(
            sets=self.sets,
            metrics=self.metrics,
            link=_linked(self.objective.link),
            callbacks=callbacks,
            early_stopping=early_stopping,
            progress=progress,
            own_metric=self.own_metric,
        )
        n_known = len(self._trees)
        self._trees = boost(
            self.codes,
            self.rows.target,
            self.objective,
            replace(self.options, n_rounds=n_rounds),
            base_scores=self.base,
            scores=self.scores,
            start=self._trees,
            table=self.rows.table,
            watch=watch,
            predict=predict,
            booster=booster,
            keeper=keeper,
        )
        self._forest = None
        _check_finite(self._trees[n_known:], self.objective.name)
        return watch

    def _watched(self, watched: Watched) -> WatchedRows:
        if watched.rows is None:
            target = replace(self.rows.target, weight=watched.weight)
            return WatchedRows(watched.name, None, target, self.scores)
        rows = watched.rows
        return WatchedRows(watched.name, rows.table, rows.target, self._start_scores(rows), rows.pages)

    def _first_scores(self, rows: Rows) -> Floats:
        """Those of the training rows; where rows are on a cluster and start alike, one number per output.

        It looks as if there were one for each row, and cannot be written to.
        """
        if rows.margin is not None or self._trees or not isinstance(rows.pages, DaskCodes):
            return self._start_scores(rows)
        return np.broadcast_to(self.base[:, np.newaxis], (len(self.base), rows.target.n_rows))

    def _start_scores(self, rows: Rows) -> Floats:
        """Raw scores before the first new round: (n_outputs, n_rows)."""
        check_margin(rows.margin, len(self.base))
        scores = np.empty((len(self.base), rows.target.n_rows))  # no copy on the way: it would be a peak
        scores[...] = self.base[:, np.newaxis] if rows.margin is None else rows.margin.T
        if not self._trees:
            return scores
        if isinstance(rows.pages, DaskCodes):
            rows.pages.add_start(self.forest, scores)
            return scores
        trees, n_threads = (0, self.forest.n_trees), self.plan.boost.n_threads
        for own, table in value_blocks(rows.table, rows.pages):
            add_tree_scores(self.forest, table, scores.T[own], *trees, n_threads=n_threads)
        return scores


def _linked(link: str) -> Callable[[Floats], Floats]:
    """Predictions as users see them, of raw scores (n_outputs, n_rows)."""

    def predictions(scores: Floats) -> Floats:
        predicted = apply_link(link, np.ascontiguousarray(scores.T))
        return predicted[:, 0] if predicted.ndim == 2 and predicted.shape[1] == 1 else predicted

    return predictions


def _metrics(plan: Plan, objective: Objective) -> list[Metric]:
    name = objective.name
    if isinstance(plan.objective, MatrixObjective):
        name = plan.objective.named
    elif plan.custom:  # its link tells what it predicts
        name = {"logistic": "binary:logistic", "softmax": "multi:softprob"}.get(objective.link, name)
    found = make_metrics(
        plan.eval_metric, objective_name=name, n_outputs=objective.n_outputs, parameters=plan.parameters
    )
    if plan.default_metric:
        return found
    asked = plan.eval_metric
    entries = [] if asked is None else [asked] if isinstance(asked, str) or callable(asked) else list(asked)
    return found if any(isinstance(entry, str) for entry in entries) else found[1:]


def _check_finite(trees: Sequence[BoostedTree], objective: str) -> None:
    """Refuse trees that overflowed: they predict nothing, and no file keeps them."""
    if not trees:
        return
    finite = bool(np.isfinite(np.concatenate([tree.value for tree in trees])).all())
    if not finite or not np.isfinite(np.concatenate([tree.arrays["cover"] for tree in trees])).all():
        what = "hessians of a node" if finite else "values of a leaf"
        raise DataError(
            f"The {what} overflow float64 under the objective {objective!r}. Bring the target, or what the "
            "objective returns, to a smaller scale; reg_lambda=1 or max_delta_step keep leaf values small."
        )


def _checked_start(start: Forest | None, objective: Objective, plan: Plan) -> Forest | None:
    """The model to go on from, if it predicts what the objective learns."""
    if start is None:
        return None
    link = objective.link
    if start.n_outputs != objective.n_outputs or start.link != link:
        raise ParameterError(
            f"xgb_model predicts {start.n_outputs} output{'s' * (start.n_outputs > 1)} by the link "
            f"{start.link!r}; {objective.name} of {plan.owner} needs {objective.n_outputs} by {link!r}. Give "
            "the objective that the model was trained with."
        )
    return start
