"""The boosting loop, whatever the step: XGBoost's, gradient boosting's by leaf rules, or any base's.

    F ← base score
    for each round:
        the step adds its trees, fitted to the loss at F, to the model and to F

Steps are in newton/step.py, stage/tree_step.py and estimators/gradient_boosting/any_bases.py. What happens
around a round is the watch's: metrics, early stopping, callbacks, progress.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from weald.arrays import Floats
from weald.boosting.callbacks import ModelView
from weald.boosting.newton.keeping import Keeper, KeptStep
from weald.boosting.newton.options import BoostOptions
from weald.boosting.newton.step import NewtonStep
from weald.boosting.newton.watch import Watch
from weald.boosting.records import BoostTarget, Objective
from weald.data.codes import Codes
from weald.data.table import Table
from weald.model.assemble import forest_of
from weald.model.boosted_tree import BoostedTree
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.boosting.callbacks import ModelView


class Step(Protocol):
    """One way to improve a model by a round."""

    def add_round(self, learning_rate: float) -> None:
        """Fit one round and bring it to the scores."""


class Around(AbstractContextManager[Any], Protocol):
    """What happens around the rounds; rounds are numbered from 0 in this training."""

    def before_training(self, view: ModelView | None) -> None:
        """Called once."""

    def before_round(self, view: ModelView | None, round_: int) -> bool:
        """True: stop."""

    def learning_rate(self, round_: int, otherwise: float) -> float:
        """The rate of a round."""

    def after_round(self, view: ModelView | None, round_: int) -> bool:
        """True: stop."""

    def after_training(self, view: ModelView | None) -> None:
        """Called once, unless a round failed."""


def run_rounds(
    step: Step, n_rounds: int, learning_rate: float, watch: Around | None, view: ModelView | None = None
) -> None:
    """Let the step add rounds, so many or until the watch says stop."""
    with watch or nullcontext():
        if watch is not None:
            watch.before_training(view)
        for round_ in range(n_rounds):
            if watch is not None and watch.before_round(view, round_):
                break
            step.add_round(learning_rate if watch is None else watch.learning_rate(round_, learning_rate))
            if watch is not None and watch.after_round(view, round_):
                break
        if watch is not None:
            watch.after_training(view)


def boost(
    codes: Codes,
    target: BoostTarget,
    objective: Objective,
    options: BoostOptions,
    *,
    base_scores: Floats,
    scores: Floats,
    start: Sequence[BoostedTree] = (),
    table: Table | None = None,
    watch: Watch | None = None,
    predict: Callable[[Forest, Any], Any] | None = None,
    booster: Callable[[Forest], Any] | None = None,
    keeper: Keeper | None = None,
) -> list[BoostedTree]:
    """Boost for `options.n_rounds` rounds, or until the watch says stop.

    Parameters
    ----------
    codes : Codes
        The coded training rows.
    target : BoostTarget
        Their target, with the weights.
    objective : Objective
        The loss, bound to that target.
    options : BoostOptions
        How to boost.
    base_scores : ndarray of shape (n_outputs,)
        What the model starts from.
    scores : ndarray of shape (n_outputs, n_rows)
        Raw scores of the training rows at the start, margins and the trees of `start` included. Changed in
        place: at the end they are those of the model.
    start : sequence of BoostedTree
        The trees of a model to go on from, which come first; DART changes their weights.
    table : Table, optional
        The training rows as they are; needed only to go on from a model with DART.
    watch : Watch, optional
        Metrics, early stopping, callbacks.
    predict : callable, optional
        Predictions of a forest for a user's table, for callbacks.
    booster : callable, optional
        A forest as callbacks under xgboost's names may use it.
    keeper : Keeper, optional
        Where the training is kept from time to time, and what of it was kept before.

    Returns
    -------
    list of BoostedTree
        All trees, those of `start` included.
    """
    recall = None if keeper is None else keeper.recall
    step = NewtonStep(codes, target, objective, options, scores, start, table, watch, recall)

    def forest() -> Forest:
        return forest_of(step.trees, codes.n_columns, base_scores, objective.link)

    view = ModelView(
        objective=objective.name,
        n_outputs=objective.n_outputs,
        n_rounds=lambda: step.next_round,
        forest=forest,
        predict=None if predict is None else lambda X: predict(forest(), X),
        booster=booster,
    )
    kept = None if keeper is None else KeptStep(step, keeper, forest)
    run_rounds(kept or step, options.n_rounds, options.learning_rate, watch, view)
    if kept is not None:
        kept.finish()
    if watch is not None and watch.n_rounds_kept is not None:
        step.keep_rounds(watch.n_rounds_kept)
    return step.trees
