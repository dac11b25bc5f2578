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
from weald.adaboost.records import Learner, MemberRows, Round, RoundsPlan
from weald.adaboost.weights import TOTAL, RowWeights, drawn_counts, drawn_units
from weald.errors import DataError, ParameterError, WealdError, naming_member, outside

#: how often in a row a round may be tried again
MOST_TRIES = 20
#: an edge over chance that is no larger is one of rounding
_ROUNDING = 2.0**-40
#: the least that a member may count; the most is 1 / this
_LEAST = 1e-290

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

    training: MemberRows
    #: on what the member is judged, in units of about 2^-52 of all
    judging: NDArray[np.int64]
    #: what rows weigh before the update
    base: NDArray[np.float64]
    #: how many of the smallest parts that can be right or wrong there are: units, or draws
    n_parts: int


class RowChoice:
    """Which rows an attempt sees: METHODS' four forms, equation A7. A replay asks it for the same rows again.

    Parameters
    ----------
    plan : RoundsPlan
        The parameters.
    weights : RowWeights
        The weights of the rows, which the loop changes.
    """

    def __init__(self, plan: RoundsPlan, weights: RowWeights) -> None:
        self.weights = weights
        self._resample, self._seed, self._drawn = plan.resample, plan.seed, plan.drawn

    def seen(self, attempt: int) -> Seen:
        """The rows of an attempt."""
        weights = self.weights
        if self._resample is None:
            units = weights.units
            if self._drawn is not None:
                units = drawn_units(weights.values, self._drawn(attempt))
            return self._on_all(MemberRows(units, False, attempt))
        counts = self._counts(attempt)
        training = MemberRows(counts, True, attempt)
        if self._resample == "compound":
            return self._on_all(training)
        n_draws = int(counts.sum())
        judging = counts * (int(TOTAL) // n_draws)  # whole units, as fine as those of weights
        base = weights.start if self._resample == "reset" else counts.astype(np.float64) * (TOTAL / n_draws)
        return Seen(training, judging, base, n_draws)

    def _on_all(self, training: MemberRows) -> Seen:
        """A member that is judged on all rows by their weights."""
        weights = self.weights
        return Seen(training, weights.units, weights.values, int(weights.units.sum()))

    def _counts(self, attempt: int) -> NDArray[np.int64]:
        """A sample. The first member of "reset" and "replace" has all rows, unless they weigh differently."""
        weights = self.weights
        if self._resample != "compound" and attempt == 0 and weights.even:
            return weights.present.astype(np.int64)
        return drawn_counts(weights.units, int(weights.present.sum()), self._seed, attempt)


def boost(plan: RoundsPlan, task: Task, weights: RowWeights, learner: Learner, watch: Watch) -> Boosted:
    """Fit the members, one per round.

    Parameters
    ----------
    plan : RoundsPlan
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
        training_error, ends = watch(outcome.member, outcome.predicted, outcome.weight)
        found.members.append(outcome.member)
        found.rounds.append(
            Round(outcome.error, outcome.weight, seen.training.attempt, restarted, training_error)
        )
        if outcome.last or ends:
            break
        tries, restarted = 0, False
        if len(found.rounds) < plan.n_rounds:
            weights.take(*task.reweighed(seen.base, outcome.losses, outcome.weight))
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
    member: object
    predicted: NDArray[Any]
    losses: NDArray[Any]
    error: float
    weight: float
    last: bool = False


def _attempt(plan: RoundsPlan, task: Task, learner: Learner, seen: Seen, at: _Tries) -> _Kept | str:
    """A member to keep, or "again", "restart" (with the weights of the start) or "end"."""
    if plan.resample == "replace" and _lacks_class(task, seen, at):
        return _no_sample(plan, at)
    answered = _answered(plan, task, learner, seen, at)
    if answered is None:
        return "again"
    member, predicted, losses = answered
    error = task.error(losses, seen.judging)
    if error <= 0.0 and not losses[at.weights.present].any():
        return _Kept(member, predicted, losses, 0.0, 1.0, last=True)
    always_wrong = error >= 1.0 and task.chance == 0.5 and bool(losses[at.weights.present].all())
    if not always_wrong:
        # Right, or wrong, on all of its sample and not on all rows: half a row is the other way.
        half = 0.5 / seen.n_parts
        error = min(max(error, half), 1.0 - half)
    if error < task.chance - _ROUNDING:
        return _Kept(member, predicted, losses, error, _usable(plan, task.weight(error)))
    if plan.worse_than_chance == "negate" and error > task.chance + _ROUNDING:
        weight = -1.0 if always_wrong else _usable(plan, task.weight(error))
        return _Kept(member, predicted, losses, error, weight, last=always_wrong)
    return _no_better(plan, task, learner, at, error, _Kept(member, predicted, losses, error, 1.0, last=True))


def _answered(
    plan: RoundsPlan, task: Task, learner: Learner, seen: Seen, at: _Tries
) -> tuple[Any, NDArray[Any], NDArray[Any]] | None:
    """A member, its answers and losses; None if it cannot learn from a sample that lacks a class."""
    try:
        with naming_member(f"The {learner.name} of round {at.n_done + 1}"):
            member = learner.fit(seen.training)
            predicted = learner.predicted(member)
            return member, predicted, task.losses(predicted, seen.base > 0)
    except WealdError as failure:
        if not (seen.training.counted and _lacks_class(task, seen, at)):
            raise
        if at.over:
            raise DataError(
                f"Round {at.n_done + 1} of {plan.owner} failed in {MOST_TRIES} tries, the last time on a "
                f"sample that lacks a class, which {learner.name} cannot learn from. Use resample=None, "
                f"or an estimator that can ({failure})"
            ) from failure
        return None


def _lacks_class(task: Task, seen: Seen, at: _Tries) -> bool:
    """Whether a class that rows have is not in the sample."""
    return task.shown(seen.training.units) < task.shown(at.weights.units)


def _no_sample(plan: RoundsPlan, at: _Tries) -> str:
    """What follows a sample that lacks a class and would be the data from now on."""
    if not at.over:
        return "again"
    tried = (
        f"none of {at.tries} samples would do, and the last one lacks a class, which no later one could have"
    )
    if at.n_done == 0:
        raise DataError(
            f"In the first round of {plan.owner} {tried}. Use resample='compound' or None, or weights that "
            "let every class be drawn."
        )
    warnings.warn(
        f"{plan.owner} stops after {at.n_done} rounds: {tried}.",
        UserWarning,
        stacklevel=outside(),
    )
    return "end"


def _usable(plan: RoundsPlan, weight: float) -> float:
    """The weight of a member, if votes of that size can be added up and divided."""
    if not _LEAST <= abs(weight) <= 1.0 / _LEAST:
        size = "small" if abs(weight) < 1.0 else "large"
        raise ParameterError(
            f"`learning_rate` of {plan.owner} is too {size}: a member would count {weight:.3g}. Use 1.0, "
            "or a number near it."
        )
    return weight


def _no_better(
    plan: RoundsPlan, task: Task, learner: Learner, at: _Tries, error: float, alone: _Kept
) -> _Kept | str:
    """What follows a member that is no better than chance; `alone`: the same member as the only one."""
    can_differ = (
        plan.resample is not None or plan.drawn is not None or learner.varies or not at.weights.at_start
    )
    restarts = plan.worse_than_chance == "reset" or (
        plan.worse_than_chance == "negate" and plan.resample is not None
    )
    if restarts and can_differ and not at.over:
        return "restart" if plan.worse_than_chance == "reset" else "again"
    if at.n_done > 0:
        if restarts:
            warnings.warn(
                f"{plan.owner} stops after {at.n_done} rounds: the {learner.name} of the next is no better "
                f"than chance (error {error:.3g}) in the last of {at.tries} tries.",
                UserWarning,
                stacklevel=outside(),
            )
        return "end"
    if task.keeps_single:
        return alone
    tried = f" in the last of {at.tries} tries" if at.tries > 1 else ""
    hint = learner.hint if plan.resample is None else ""
    raise DataError(
        f"The {learner.name} of the first round of {plan.owner} is no better than chance{tried}: its error "
        f"is {error:.3g}, and {task.chance_words}. (As scikit-learn says: worse than random.) Use a stronger "
        f"estimator, such as a deeper tree, or columns that tell the classes apart.{hint}"
    )
