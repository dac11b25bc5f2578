"""`report`: everything that is to be known of a model, as a record and as one page of HTML."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from weald.arrays import Estimator, TableLike, TargetLike
from weald.errors import DataTypeError, WealdError
from weald.io import place
from weald.parameters import Whole, checked, parameter
from weald.report.finding.checks import Known, checks_of
from weald.report.finding.classes import classes_of
from weald.report.finding.columns import effects_of, matters_of
from weald.report.finding.data import data_facts
from weald.report.finding.failing import failing_of
from weald.report.finding.made import how_to_use, made_of
from weald.report.finding.model import model_facts
from weald.report.finding.residuals import residuals_of
from weald.report.finding.rows import explained
from weald.report.finding.scores import scores_of
from weald.report.records import Asked
from weald.report.result import Report
from weald.report.subject import MOST_WIDE, Subject
from weald.report.summary import Summary
from weald.runs.gathering import PathLike, is_path
from weald.runs.leaderboard import Leaderboard
from weald.runs.task import CLASSIFICATION
from weald.runs.training import Score

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The parameters of `report` that are numbers."""

    max_rows: int = parameter(Whole(10, 100_000), hint="Use 2000.")
    random_state: int = parameter(Whole(0, 2**32 - 1), hint="Use 0.")


def report(
    model: Estimator | Leaderboard,
    X: TableLike | PathLike | None = None,
    y: TargetLike | str | None = None,
    *,
    train: tuple[TableLike | PathLike, TargetLike | str] | None = None,
    path: PathLike | None = None,
    title: str | None = None,
    target: str | None = None,
    source: PathLike | None = None,
    notes: Sequence[str] = (),
    scores: Sequence[Score] | None = None,
    leaderboard: Leaderboard | None = None,
    model_file: PathLike | None = None,
    mute: Sequence[str] = (),
    max_rows: int = 2000,
    random_state: int = 0,
    times: Mapping[str, float] | None = None,
    tell: Callable[[str], object] | None = None,
) -> Report:
    """What is to be known of a model: how good it is, what it goes by, where it fails, what to look at.

    The same model and rows give the same bytes. What takes long is done for rows that are drawn, at most
    `max_rows` of them, and the report says so.

    Parameters
    ----------
    model : fitted estimator or Leaderboard
        Of weald or of any library with scikit-learn's methods, that learned labels or numbers. A leaderboard
        of `compare` gives a report of that alone.
    X, y : table and target, or path and str
        Rows that the model did not see: a table and its target, or a file and the name of the column in it.
    train : tuple of the same, default=None
        The training rows: for drift, overfitting, rows in both parts, and what the baseline knows.
    path : str or path, default=None
        Where to write the page; see also `Report.save`.
    title : str, default=None
        Above the page; None for the target and the model.
    target : str, default=None
        What the target is called; None for the name of the column in a file, else "y".
    source : str or path, default=None
        The file that the rows come from: its name is told, and the hash of its bytes if it is there. None for
        X where that is a file.
    notes : sequence of str, default=()
        What else is to be known of the data, such as columns that were dropped.
    scores : sequence of Score, default=None
        Those of `weald.runs.training` for these rows, if they are known already.
    leaderboard : Leaderboard, default=None
        Of `compare`, as a section.
    model_file : str or path, default=None
        What the model was saved as, for the code to load it.
    mute : sequence of str, default=()
        Codes of checks whose findings are known, such as "WR06".
    max_rows : int, default=2000
        Rows that columns are permuted in.
    random_state : int, default=0
        What is drawn goes by it.
    times : mapping of str to float, default=None
        Seconds to tell, by what they were spent on. Times differ between runs, and so will the pages.
    tell : callable, default=None
        Called with the name of each part before it is made.

    Returns
    -------
    Report
        `summary` is the record, `to_json()` writes it, `to_html()` and `save()` the page.

    Examples
    --------
    >>> import numpy as np, weald
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = weald.RandomForestClassifier(30, random_state=0).fit(X[:200], y[:200])
    >>> told = weald.report(model, X[200:], y[200:], train=(X[:200], y[:200]))
    >>> told.summary.scores.rows[0].name, len(told.summary.explained.singles)
    ('AUC', 5)
    """
    if path is not None:
        place.ready(path)
    values = {"max_rows": max_rows, "random_state": random_state}
    options = checked(ReportOptions, "report", values)
    if source is None and is_path(X) and os.path.isfile(X):
        source = X
    if target is None:
        target = y if is_path(X) and isinstance(y, str) else "y"
    file = None if source is None else Path(source)
    if isinstance(model, Leaderboard):
        summary = _of_leaderboard(model, title, target, file, notes, options, times)
    else:
        if X is None or (y is None and not is_path(X)):
            raise DataTypeError("report needs X and y: rows that the model did not see, with their target.")
        subject = Subject.of(model, X, y, train, options.max_rows, options.random_state)
        parts = _Parts(subject, tell)
        asked = _asked(subject, title, target, file, notes)
        saved = None if model_file is None else os.path.basename(model_file)
        summary = _summary(parts, asked, scores, leaderboard, saved, mute, file, times)
    made = Report(summary)
    if path is not None:
        made.save(path)
    return made


@dataclass(slots=True)
class _Parts:
    """The parts as they are made; those that do not apply are noted with the reason."""

    subject: Subject
    tell: Callable[[str], object] | None
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def part(self, name: str, make: Callable[[], Found], *, wide: bool = True) -> Found | None:
        """One part, or None with a sentence why."""
        n_columns = len(self.subject.names)
        if not wide and n_columns > MOST_WIDE:
            self.left_out.append((name, f"{n_columns:,} columns are too many to be looked at one by one."))
            return None
        if self.tell is not None:
            self.tell(name)
        try:
            return make()
        except (WealdError, MemoryError, NotImplementedError) as error:
            self.left_out.append((name, str(error)))
            return None


def _asked(
    subject: Subject, title: str | None, target: str, source: Path | None, notes: Sequence[str]
) -> Asked:
    name = type(subject.model).__name__
    return Asked(
        title or f"{target} by {name}",
        subject.kind,
        target,
        name,
        subject.rows.n,
        subject.n_training,
        len(subject.names),
        tuple(str(label) for label in subject.labels),
        None if source is None else source.name,
        (*notes, *subject.notes),
    )


def _summary(
    parts: _Parts,
    asked: Asked,
    given: Sequence[Score] | None,
    leaderboard: Leaderboard | None,
    model_file: str | None,
    mute: Sequence[str],
    source: Path | None,
    times: Mapping[str, float] | None,
) -> Summary:
    subject = parts.subject
    labels = subject.kind == CLASSIFICATION
    scores = parts.part("scores", lambda: scores_of(subject, given))
    data = parts.part("data", lambda: data_facts(subject), wide=False)
    classes = parts.part("classes", lambda: classes_of(subject)) if labels else None
    residuals = None if labels else parts.part("residuals", lambda: residuals_of(subject))
    matters = parts.part("what matters", lambda: matters_of(subject))
    effects = None
    if matters is not None:
        effects = parts.part("effects of columns", lambda: effects_of(subject, matters), wide=False)
    rows = parts.part("single rows", lambda: explained(subject), wide=False)
    failing = parts.part("where it fails", lambda: failing_of(subject, matters))
    facts = parts.part("the model", lambda: model_facts(subject))
    known = Known(
        subject.kind, asked.n_rows, asked.n_training_rows, scores, data, classes, residuals, matters, failing
    )
    made = made_of(subject.model, subject.seed, subject.max_rows, source, times)
    return Summary(
        asked=asked,
        made=made,
        scores=scores,
        data=data,
        classes=classes,
        residuals=residuals,
        matters=matters,
        effects=effects or (),
        explained=rows,
        failing=failing,
        model=facts,
        checks=checks_of(known, mute),
        leaderboard=leaderboard,
        use=how_to_use(subject.model, model_file, subject.kind, saves=made.model_sha256 is not None),
        left_out=tuple(parts.left_out),
    )


def _of_leaderboard(
    board: Leaderboard,
    title: str | None,
    target: str,
    source: Path | None,
    notes: Sequence[str],
    options: ReportOptions,
    times: Mapping[str, float] | None,
) -> Summary:
    name = None if source is None else source.name
    asked = Asked(
        title or f"{target} by {len(board.places)} methods",
        "comparison",
        target,
        board.places[0].estimator,
        board.n_rows,
        None,
        0,
        (),
        name,
        tuple(notes),
    )
    made = made_of(None, options.random_state, options.max_rows, source, times)
    return Summary(asked=asked, leaderboard=board, made=made)
