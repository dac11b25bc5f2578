"""Checks: each has a code, says what it found, what may be the cause and what helps, and can be muted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from weald.errors import ParameterError, nearest, told
from weald.pictures.svg.scales import number, percent
from weald.report.records import Classes, DataFacts, Failing, Levels, Matters, Residuals, Scores
from weald.report.summary import Check
from weald.runs.training import Score

#: metrics of which less is better
_LOSSES = frozenset({"log loss", "RMSE", "MAE"})
OK, LOOK, WARN, MUTED, SKIPPED = "ok", "look", "warn", "muted", "skipped"


@dataclass(frozen=True, slots=True)
class Known:
    """What checks are made from."""

    task: str
    n_rows: int
    n_training: int | None
    scores: Scores | None
    data: DataFacts | None
    classes: Classes | None
    residuals: Residuals | None
    matters: Matters | None
    failing: Failing | None


#: what a check says: its state and what it found
_Said = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Rule:
    code: str
    name: str
    judge: Callable[[Known], _Said]
    cause: str
    fix: str


def checks_of(known: Known, mute: Collection[str]) -> tuple[Check, ...]:
    """All checks in the order of their codes."""
    codes = [rule.code for rule in RULES]
    for code in mute:
        if code not in codes:
            close = nearest(str(code), codes)
            raise ParameterError(
                f"`mute` of report names no check: {told(code)}. "
                + (f"Did you mean {close!r}?" if close else f"There are {', '.join(codes)}.")
            )
    return tuple(_made(rule, known, muted=rule.code in mute) for rule in RULES)


def _made(rule: _Rule, known: Known, *, muted: bool) -> Check:
    state, found = rule.judge(known)
    return Check(rule.code, rule.name, MUTED if muted else state, found, rule.cause, rule.fix)


def main_score(scores: Scores) -> Score:
    """The first metric, by which a model is judged."""
    return scores.rows[0]


def gain(score: Score, value: float | None = None) -> float:
    """How much better than the baseline, whichever way the metric goes."""
    sign = -1.0 if score.name in _LOSSES else 1.0
    return sign * ((score.value if value is None else value) - score.baseline)


# --------------------------------------------------------------------------- the rules


def _few_rows(known: Known) -> _Said:
    n = known.n_rows
    rarest = None
    if known.classes is not None:
        rarest = min((each.n_rows for each in known.classes.by_label), default=0)
    said = f"{n:,} rows" + ("" if rarest is None else f", {rarest:,} of the rarest label")
    if n < 50 or (rarest is not None and rarest < 5):
        return WARN, f"The scores rest on {said}."
    if n < 200 or (rarest is not None and rarest < 20):
        return LOOK, f"The scores rest on {said}."
    return OK, f"The scores rest on {said}."


def _baseline(known: Known) -> _Said:
    if known.scores is None:
        return SKIPPED, "There are no scores."
    score = main_score(known.scores)
    worst = min((score.low, score.high), key=lambda end: gain(score, end))
    said = (
        f"{score.name} {number(score.value)} ({number(score.low)} to {number(score.high)}); "
        f"the baseline has {number(score.baseline)}."
    )
    if gain(score) <= 0:
        return WARN, said
    return (LOOK if gain(score, worst) <= 0 else OK), said


def _overfitting(known: Known) -> _Said:
    if known.scores is None or known.scores.training is None:
        return SKIPPED, "Training rows were not given (train=)."
    score = main_score(known.scores)
    seen = next((each for each in known.scores.training if each.name == score.name), None)
    if seen is None:
        return SKIPPED, f"The {score.name} of the training rows is not known."
    away, all_of_it = gain(score, seen.value) - gain(score), abs(gain(score, seen.value)) or 1.0
    said = f"{score.name} {number(seen.value)} on training rows, {number(score.value)} on rows not seen."
    beyond = gain(score, seen.value) > max(gain(score, score.low), gain(score, score.high))
    if beyond and away > 0.35 * all_of_it:
        return WARN, said
    return (LOOK if beyond and away > 0.15 * all_of_it else OK), said


def _leak(known: Known) -> _Said:
    if known.matters is None or known.scores is None or not known.matters.importance:
        return SKIPPED, "The importance of columns is not known."
    sizes = [max(size, 0.0) for size in known.matters.importance]
    share = sizes[0] / sum(sizes) if sum(sizes) > 0 else 0.0
    score = main_score(known.scores)
    name = known.matters.names[0]
    said = f"{name!r} has {percent(share)} of the importance; {score.name} is {number(score.value)}."
    perfect = score.name not in _LOSSES and score.value > 0.99
    if len(sizes) > 1 and share > 0.9 and perfect:
        return WARN, said
    return (LOOK if (len(sizes) > 2 and share > 0.9) or (perfect and share > 0.5) else OK), said


def _seen_rows(known: Known) -> _Said:
    if known.data is None or known.data.n_seen is None:
        return SKIPPED, "Training rows were not given (train=), or there are too many cells."
    n = known.data.n_seen
    share = n / max(known.n_rows, 1)
    said = f"{n:,} of {known.n_rows:,} rows ({percent(share)}) are equal to a training row in every column."
    return (WARN if share > 0.1 else LOOK if share > 0.01 else OK), said


def _imbalance(known: Known) -> _Said:
    if known.classes is None:
        return SKIPPED, "Numbers are predicted, not labels."
    least = min(known.classes.by_label, key=lambda each: each.n_rows)
    share = least.n_rows / max(known.n_rows, 1)
    said = (
        f"{least.label!r} is {percent(share)} of the rows; the model finds {percent(least.recall)} of them."
    )
    lost = least.recall < 0.5
    even = 1 / len(known.classes.by_label)
    if share < 0.2 * even and lost:
        return WARN, said
    return (LOOK if share < 0.4 * even and lost else OK), said


def _calibrated(known: Known) -> _Said:
    found = None if known.classes is None else known.classes.calibration
    if found is None:
        return SKIPPED, "There are no probabilities to judge."
    said = (
        f"Probabilities of {found.of} are off by {number(100 * found.error, 2)} points on average; "
        f"p {_p(found.p_value)}."
    )
    if found.p_value < 0.01 and found.error > 0.05:
        return WARN, said
    return (LOOK if found.p_value < 0.01 and found.error > 0.02 else OK), said


def _unstable(known: Known) -> _Said:
    if known.matters is None or len(known.matters.names) < 2:
        return SKIPPED, "The importance of columns is not known."
    names, sizes, errors = known.matters.names, known.matters.importance, known.matters.standard_error
    best = [(name, size, error) for name, size, error in zip(names, sizes, errors, strict=True)][:5]
    unsure = [name for name, size, error in best if not size > 1.96 * error]
    said = f"Of the {len(best)} most important columns {len(unsure)} cannot be told from 0"
    said += f": {', '.join(unsure)}." if unsure else "."
    if best[0][0] in unsure:
        return WARN, said
    return (LOOK if len(unsure) > 2 else OK), said


def _drift(known: Known) -> _Said:
    if known.data is None or all(each.drift is None for each in known.data.columns):
        return SKIPPED, "Training rows were not given (train=)."
    moved = [
        each
        for each in known.data.columns
        if each.drift is not None and each.drift.p_value < 0.01 and each.drift.distance > 0.05
    ]
    far = [each for each in moved if each.drift is not None and each.drift.distance > 0.2]
    names = ", ".join(
        f"{each.name} ({number(each.drift.distance, 2)})" for each in moved[:5] if each.drift is not None
    )
    said = f"{_columns(len(moved), 'is', 'are')} spread otherwise than in training"
    said += f": {names}." if names else "."
    return (WARN if far else LOOK if moved else OK), said


def _missing(known: Known) -> _Said:
    if known.data is None:
        return SKIPPED, "The table was not looked at."
    empty = [each.name for each in known.data.columns if each.n_missing > 0.5 * known.n_rows]
    said = f"{_columns(len(empty), 'is', 'are')} missing in more than half of the rows"
    said += f": {', '.join(empty[:5])}." if empty else "."
    return (LOOK if empty else OK), said


def _groups(known: Known) -> _Said:
    if known.failing is None or not known.failing.n_groups:
        return SKIPPED, "There are no groups with enough rows."
    sure = [each for each in known.failing.groups if each.p_value < 0.05]
    if not sure:
        return OK, f"None of {known.failing.n_groups} groups fares worse than the others for sure."
    worst = sure[0]
    said = (
        f"{worst.column} {worst.group}: {known.failing.metric} {number(worst.value)}, of all rows "
        f"{number(known.failing.whole)}. {len(sure)} of {known.failing.n_groups} groups fare worse."
    )
    return (WARN if worst.low > 1.5 * known.failing.whole else LOOK), said


def _useless(known: Known) -> _Said:
    if known.matters is None or len(known.matters.names) < 4:
        return SKIPPED, "The importance of columns is not known, or they are few."
    sizes, errors = known.matters.importance, known.matters.standard_error
    idle = sum(not size > 1.96 * error for size, error in zip(sizes, errors, strict=True))
    said = f"{idle} of {len(sizes)} columns do not matter for sure on these rows."
    return (LOOK if idle > 0.6 * len(sizes) else OK), said


def _leaning(known: Known) -> _Said:
    found = known.residuals
    if found is None:
        return SKIPPED, "Labels are predicted, not numbers."
    spread = found.quantiles[3] - found.quantiles[1]
    away = abs(found.mean)
    said = f"Truth − prediction is {number(found.mean)} on average; half of them are within {number(spread)}."
    if away > 3 * found.standard_error and away > 0.1 * spread:
        return (WARN if away > 0.25 * spread else LOOK), said
    return OK, said


def _widening(known: Known) -> _Said:
    found = known.residuals
    if found is None:
        return SKIPPED, "Labels are predicted, not numbers."
    said = f"Errors and predictions rise together with a rank correlation of {number(found.widening, 2)}."
    return (LOOK if found.widening_p < 0.001 and abs(found.widening) > 0.25 else OK), said


def _unseen(known: Known) -> _Said:
    if known.data is None or known.n_training is None:
        return SKIPPED, "Training rows were not given (train=)."
    new = [each for each in known.data.columns if each.drift is not None and each.drift.n_unseen]
    names = ", ".join(f"{each.name} ({_rows(each.drift.n_unseen)})" for each in new[:5] if each.drift)
    many = any(each.drift and each.drift.n_unseen > 0.05 * known.n_rows for each in new)
    said = f"{_columns(len(new), 'has', 'have')} levels that training did not see"
    said += f": {names}." if names else "."
    return (WARN if many else LOOK if new else OK), said


def _rows_named(known: Known) -> _Said:
    if known.data is None or known.n_rows < 50:
        return SKIPPED, "There are too few rows to tell."
    names = [
        each.name
        for each in known.data.columns
        if (isinstance(each.spread, Levels) or each.kind == "whole numbers")
        and each.n_distinct >= 0.95 * (known.n_rows - each.n_missing) > 0
    ]
    same = [each.name for each in known.data.columns if each.n_distinct == 1 and not each.n_missing]
    parts = [f"{', '.join(names[:5])}: other in every row." if names else ""]
    parts.append(f"{', '.join(same[:5])}: the same in every row." if same else "")
    said = " ".join(each for each in parts if each) or "No column names its row or is the same in all."
    return (LOOK if names or same else OK), said


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _columns(n: int, has: str, have: str) -> str:
    return f"1 column {has}" if n == 1 else f"{n} columns {have}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {number(value, 2)}"


RULES = (
    _Rule(
        "WR01", "Too few rows", _few_rows,
        "Few rows leave scores open: see how wide their intervals are.",
        "Score by cross-validation (weald.compare), or gather more rows.",
    ),
    _Rule(
        "WR02", "No better than guessing", _baseline,
        "The columns tell little of the target, or the model cannot read what they tell.",
        "Try other methods (weald.compare) and other columns; see whether the target is what you think.",
    ),
    _Rule(
        "WR03", "Overfitting", _overfitting,
        "The model has learned its rows by heart. Forests and nearest neighbours always do to some extent.",
        "Stop earlier, grow smaller trees (max_depth, min_samples_leaf), or penalise more.",
    ),
    _Rule(
        "WR04", "Leakage suspected", _leak,
        "One column does nearly all the work: it may be written after the target is known.",
        "Ask when that column gets its value. If not before the prediction is due, drop it.",
    ),
    _Rule(
        "WR05", "Rows in both parts", _seen_rows,
        "Repeated rows went to both sides of the split, or the test rows were trained on.",
        "Drop repeated rows, or keep them on one side: groups of a split.",
    ),
    _Rule(
        "WR06", "Rare label lost", _imbalance,
        "A label is so rare that always saying another one costs little.",
        "Move the threshold, weight the labels (class_weight), or use a balanced forest.",
    ),
    _Rule(
        "WR07", "Uncalibrated probabilities", _calibrated,
        "Deep trees and boosting are too sure, forests not sure enough; resampling shifts shares.",
        "Calibrate on rows kept aside (CalibratedClassifierCV), or do not read the scores as probabilities.",
    ),
    _Rule(
        "WR08", "Unstable importance", _unstable,
        "Few rows, or columns that tell the same and stand in for each other.",
        "Score more rows, or permute columns in groups: weald.importance(groups=...).",
    ),
    _Rule(
        "WR09", "Drift", _drift,
        "The rows come from another time, place or selection than the training rows.",
        "Find out what changed. Train on newer rows; split by time if you will predict later ones.",
    ),
    _Rule(
        "WR10", "Mostly missing", _missing,
        "A value that is rarely there says more by being there than by what it is.",
        "Find out why it is missing, and whether it will be so when predictions are due.",
    ),
    _Rule(
        "WR11", "Groups that fare worse", _groups,
        "Few training rows of the group, or a target that other things decide there.",
        "Look at its rows; gather more of them, or columns that tell them apart.",
    ),
    _Rule(
        "WR12", "Columns that do not matter", _useless,
        "Columns without a say cost time and may mislead later.",
        "Try without them: weald.select_columns.",
    ),
    _Rule(
        "WR13", "Predictions that lean", _leaning,
        "The rows differ from training rows, or the loss asks for a median or a quantile.",
        "Compare the target in both parts; train with squared_error if means are wanted.",
    ),
    _Rule(
        "WR14", "Errors that widen", _widening,
        "Large values are harder to tell than small ones, as of prices and counts.",
        "Learn the logarithm, or ask for intervals that widen too (weald.Conformal, quantiles).",
    ),
    _Rule(
        "WR15", "Levels not seen in training", _unseen,
        "Categories are new; the model takes them for missing.",
        "Pool rare categories, or train on rows that have them.",
    ),
    _Rule(
        "WR16", "Names of rows and constants", _rows_named,
        "Numbers of rows and names say nothing of rows to come; constants say nothing at all.",
        "Drop them.",
    ),
)  # fmt: skip
