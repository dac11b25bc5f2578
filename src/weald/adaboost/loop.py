"""The rounds of AdaBoost: draw or weigh, fit, judge, weigh anew.

Which rows a member sees, on which it is judged and from which weights the next round starts depends on
`resample`; what happens to a member no better than chance on `worse_than_chance`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.judging import Task
from weald.adaboost.records import Learner, Plan, Round, Training
from weald.adaboost.weights import TOTAL, RowWeights, drawn_counts
from weald.errors import DataError, MemberError
from weald.estimators.members import naming

#: how often in a row a round may be tried again
MOST_TRIES = 20
#: an edge over chance that is no larger is one of rounding
_ROUNDING = 2.0**-40

#: (member, its answers to every row, its weight) → the error of the ensemble on the rows of training or NaN,
#: and whether boosting should end
Watch = Callable[[Any, NDArray[Any], float], tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class Boosted:
    """What the loop brings."""

    members: list[Any]
    rounds: list[Round]
    row_weights: list[NDArray[np.float64]]  # of each round, if they are kept


@dataclass(frozen=True, slots=True)
class Seen:
    """The rows of one attempt."""

    training: Training
    #: on what the member is judged
    judging: NDArray[np.int64]
    #: what rows weigh before the update
    base: NDArray[np.float64]


class RowChoice:
    """Which rows an attempt sees: METHODS' four forms, equation A7. A replay asks it for the same rows again.

    Parameters
    ----------
    plan : Plan
        The parameters.
    weights : RowWeights
        The weights of the rows, which the loop changes.
    """

    def __init__(self, plan: Plan, weights: RowWeights) -> None:
        self.weights = weights
        self._resample, self._seed = plan.resample, plan.seed

    def seen(self, attempt: int) -> Seen:
        """The rows of an attempt."""
        weights = self.weights
        if self._resample is None:
            return Seen(Training(weights.units, False, attempt), weights.units, weights.values)
        counts = self._counts(attempt)
        training = Training(counts, True, attempt)
        if self._resample == "compound":
            return Seen(training, weights.units, weights.values)
        if self._resample == "reset":
            return Seen(training, counts, weights.start)
        return Seen(training, counts, counts.astype(np.float64) * (TOTAL / int(counts.sum())))

    def _counts(self, attempt: int) -> NDArray[np.int64]:
        """A sample. The first member of "reset" and "replace" has all rows, unless they weigh differently."""
        weights = self.weights
        if self._resample != "compound" and attempt == 0 and weights.even:
            return weights.present.astype(np.int64)
        return drawn_counts(weights.units, int(weights.present.sum()), self._seed, attempt)


def boost(plan: Plan, task: Task, weights: RowWeights, learner: Learner, watch: Watch) -> Boosted:
    """Fit the members, one a round.

    Parameters
    ----------
    plan : Plan
        The parameters.
    task : Task
        How members are judged.
    weights : RowWeights
        The weights of the rows; they are changed.
    learner : Learner
        What fits members.
    watch : function
        Is told of every member that is kept.

    Raises
    ------
    DataError
        If no member of the first round is better than chance, where it has to be.
    """
    choice = RowChoice(plan, weights)
    found = Boosted([], [], [])
    attempt, tries, restarted = 0, 0, False
    while len(found.rounds) < plan.n_rounds:
        seen = choice.seen(attempt)
        attempt, tries = attempt + 1, tries + 1
        outcome = _attempt(plan, task, learner, seen, _Tries(len(found.rounds), tries, weights))
        if isinstance(outcome, str):
            if outcome == "end":
                break
            if outcome == "restart":
                weights.reset()
                restarted = True
            continue
        if plan.keep_row_weights:
            found.row_weights.append(weights.units / TOTAL)
        training_error, ends = watch(outcome.member, outcome.said, outcome.weight)
        found.members.append(outcome.member)
        found.rounds.append(
            Round(outcome.error, outcome.weight, seen.training.attempt, restarted, training_error)
        )
        if outcome.last or ends:
            break
        tries, restarted = 0, False
        if len(found.rounds) < plan.n_rounds:
            weights.take(*task.reweighed(seen.base, outcome.losses, outcome.weight))
    if not found.rounds:
        raise DataError(
            f"{plan.owner} found no sample with rows of more than one class in {MOST_TRIES} tries. Use "
            "resample=None, or weights that let every class be drawn."
        )
    return found


@dataclass(frozen=True, slots=True)
class _Tries:
    """How far the loop is: rounds done, tries at this one, and the weights."""

    n_done: int
    tries: int
    weights: RowWeights

    @property
    def over(self) -> bool:
        """Whether the round may not be tried again."""
        return self.tries >= MOST_TRIES


@dataclass(frozen=True, slots=True)
class _Kept:
    member: Any
    said: NDArray[Any]
    losses: NDArray[Any]
    error: float
    weight: float
    last: bool = False


def _attempt(plan: Plan, task: Task, learner: Learner, seen: Seen, at: _Tries) -> _Kept | str:
    """A member to keep, or "again", "restart" (with the weights of the start) or "end"."""
    who = f"The {learner.name} of round {at.n_done + 1}"
    if plan.resample == "replace" and task.one_sided(seen.training.units):
        # No later sample could have the other classes again.
        return "end" if at.over else "again"
    try:
        with naming(who):
            member = learner.fit(seen.training)
    except (DataError, MemberError) as failure:
        if not (seen.training.counted and task.one_sided(seen.training.units)):
            raise
        if at.over:
            raise DataError(
                f"Round {at.n_done + 1} of {plan.owner}: {MOST_TRIES} samples in a row had rows of one class "
                f"only, which {learner.name} cannot learn from. Use resample=None, or an estimator that can "
                f"({failure})"
            ) from failure
        return "again"
    with naming(who):
        said = learner.said(member)
        losses = task.losses(said)
    error = task.error(losses, seen.judging)
    if error <= 0.0 and not losses[at.weights.present].any():
        return _Kept(member, said, losses, 0.0, 1.0, last=True)
    always_wrong = error >= 1.0 and task.chance == 0.5 and bool(losses[at.weights.present].all())
    if not always_wrong:
        # Right, or wrong, on all of its sample and not on all rows: half a row is the other way.
        half = 0.5 / int(seen.judging.sum())
        error = min(max(error, half), 1.0 - half)
    if error < task.chance - _ROUNDING:
        return _Kept(member, said, losses, error, task.weight(error))
    if plan.worse_than_chance == "negate" and error > task.chance + _ROUNDING:
        weight = -1.0 if always_wrong else task.weight(error)
        return _Kept(member, said, losses, error, weight, last=always_wrong)
    return _no_better(plan, task, learner, at, error, _Kept(member, said, losses, error, 1.0, last=True))


def _no_better(
    plan: Plan, task: Task, learner: Learner, at: _Tries, error: float, alone: _Kept
) -> _Kept | str:
    """What follows a member that is no better than chance; `alone`: the same member as the only one."""
    can_differ = plan.resample is not None or learner.varies or not at.weights.at_start
    restarts = plan.worse_than_chance == "reset" or (
        plan.worse_than_chance == "negate" and plan.resample is not None
    )
    if restarts and can_differ and not at.over:
        return "restart" if plan.worse_than_chance == "reset" else "again"
    if at.n_done > 0:
        if restarts:
            warnings.warn(
                f"{plan.owner} stops after {at.n_done} rounds: the {learner.name} of the next is no better "
                f"than chance (error {error:.3g}), also after {at.tries} tries.",
                UserWarning,
                stacklevel=7,
            )
        return "end"
    if task.keeps_single:
        return alone
    tried = f" in {at.tries} tries" if at.tries > 1 else ""
    raise DataError(
        f"The {learner.name} of the first round of {plan.owner} is no better than chance{tried}: its error "
        f"is {error:.3g}, and {task.chance_words}. Use a stronger estimator, such as a deeper tree, or "
        "columns that tell the classes apart."
    )
