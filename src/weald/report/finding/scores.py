"""How good the model is: metrics with intervals, beside a baseline, and on training rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weald.report.records import Scores
from weald.report.subject import Subject
from weald.runs.training import Score
from weald.runs.training import scores as usual_scores


def scores_of(subject: Subject, given: Sequence[Score] | None) -> Scores:
    """The usual metrics by `weald.runs.training.scores`, or those that were found already."""
    notes = []
    train_y = None if subject.training is None else subject.training.y
    rows = tuple(
        usual_scores(subject.told, subject.everything, subject.rows.y, subject.kind, train_y)
        if given is None
        else given
    )
    training, n_training = None, None
    if subject.training is not None:
        drawn = subject.draw(subject.training.n, max(subject.max_rows, 100), purpose=1)
        part = subject.training.take(drawn)
        n_training = part.n
        if n_training < subject.training.n:
            notes.append(f"Of the training rows {n_training:,} were drawn to be scored.")
        known = part.y if subject.kind != "classification" else part.y[np.isin(part.y, subject.labels)]
        if len(known) == part.n and len(np.unique(part.y)) > 1:
            training = usual_scores(subject.model, part.X, part.y, subject.kind, train_y)
    if train_y is None:
        notes.append("Training rows were not given: the baseline knows the labels of these rows.")
    return Scores(rows, training, subject.rows.n, n_training, tuple(notes))
