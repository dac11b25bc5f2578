"""What a target is taken for, and that what could be the other says so."""

from __future__ import annotations

import numpy as np
import pytest

from weald.runs.task import CLASSIFICATION, REGRESSION, task_of


def counts(rate, shape, n=5000):
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(shape, rate / shape, n))


@pytest.mark.parametrize(
    ("y", "kind", "words"),
    [
        (["no", "yes"] * 9, CLASSIFICATION, "2 labels"),
        ([0, 1] * 9, CLASSIFICATION, "whole numbers with 2 values only"),
        (np.arange(50) / 7, REGRESSION, "numbers with 50 values"),
        (np.arange(50), REGRESSION, "numbers with 50 values"),
        ([0, 0.5, 1, 2] * 9, REGRESSION, "numbers with 4 values"),
        # counts of rare events; the same numbers with shares that no rates give are labels
        (counts(0.1, 1), REGRESSION, "spread as counts are; if they are labels, ask for the task class"),
        (counts(0.5, 2), REGRESSION, "spread as counts are"),
        (
            np.repeat(range(8), [50100, 42185, 4873, 2098, 379, 195, 150, 18]),
            CLASSIFICATION,
            "task regression",
        ),
        (np.repeat(range(5), [411, 265, 109, 107, 28]), CLASSIFICATION, "if they are amounts"),
        (counts(0.1, 1) + 1, CLASSIFICATION, "if they are amounts, ask for the task regression"),
        (np.repeat([0, 1, 2], [900, 90, 9]), CLASSIFICATION, "3 values only; if they are amounts"),
    ],
)
def test_the_task_of_a_target(y, kind, words):
    task = task_of(y)
    assert (task.kind, words in task.reason) == (kind, True), task
    other = REGRESSION if kind == CLASSIFICATION else CLASSIFICATION
    if not isinstance(y[0], str):
        asked = task_of(y, other)
        assert (asked.kind, asked.reason) == (other, "as asked")
