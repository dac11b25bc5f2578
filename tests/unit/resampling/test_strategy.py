"""`sampling_strategy`: what each form means, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.data.target import Labels
from weald.errors import DataError, ParameterError
from weald.resampling.strategy import rows_per_class

LABELS = Labels(np.array(["a", "b", "c"]), np.repeat([0, 1, 2], [2, 5, 9]).astype(np.int32))
TWO = Labels(np.array([False, True]), np.repeat([0, 1], [9, 3]).astype(np.int32))


@pytest.mark.parametrize(
    ("strategy", "kind", "expected"),
    [
        ("auto", "over", {0: 7, 1: 4}),
        ("minority", "over", {0: 7}),
        ("not minority", "over", {1: 4, 2: 0}),
        ("all", "over", {0: 7, 1: 4, 2: 0}),
        ("auto", "under", {1: 2, 2: 2}),
        ("majority", "under", {2: 2}),
        ("not majority", "under", {0: 2, 1: 2}),
        ("auto", "clean", {1: 2, 2: 2}),
        (["c", "a"], "clean", {0: 2, 2: 2}),
        ({"c": 9, "a": 5}, "over", {0: 3, 2: 0}),
        ({"c": 1, "b": np.int64(5)}, "under", {1: 5, 2: 1}),
        (lambda y: {y[0]: 6}, "over", {0: 4}),
    ],
)
def test_forms(strategy: Any, kind: Any, expected: dict[int, int]) -> None:
    found = rows_per_class(strategy, LABELS, kind, "Sampler")
    assert found == expected
    assert list(found) == sorted(found)


def test_a_ratio_is_of_the_rarer_class_to_the_other() -> None:
    assert rows_per_class(0.5, TWO, "over", "Sampler") == {1: 1}
    assert rows_per_class(1.0, TWO, "over", "Sampler") == {1: 6}
    assert rows_per_class(0.5, TWO, "under", "Sampler") == {0: 6}


@pytest.mark.parametrize(
    ("strategy", "kind", "labels", "words"),
    [
        ("majority", "over", LABELS, "Use 'not majority', which is 'auto'"),
        ("minority", "under", LABELS, "Use 'not minority', which is 'auto'"),
        ("minority", "clean", LABELS, "Use 'not minority'"),
        (0.5, "over", LABELS, "which only two classes have; y has 3"),
        (0.5, "clean", TWO, "cannot be a number"),
        (0.1, "over", TWO, "Give a larger ratio"),
        (0.1, "under", TWO, r"Give a ratio of at least 0\.333"),
        ({"a": 1}, "over", LABELS, "asks for 1 rows of class 'a', which has 2"),
        ({"a": 3}, "under", LABELS, "asks for 3 rows of class 'a', which has 2"),
        ({"a": 2.5}, "over", LABELS, "asks for 2.5 rows"),
        ({"a": -1}, "under", LABELS, "at least 0"),
        ({"a": 3}, "clean", LABELS, "Give a list of the classes"),
        (["a"], "over", LABELS, "Give a dict of label to rows"),
        ({"z": 3}, "over", LABELS, r"names 'z', which no row of y has.*give a function of y"),
        (lambda y: [1], "over", LABELS, r"must give a dict of label to rows; it gave \[1\]"),
    ],
)
def test_what_is_refused_says_the_way_out(strategy: Any, kind: Any, labels: Labels, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        rows_per_class(strategy, labels, kind, "Sampler")


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(DataError, match=r"needs rows of more than 1 class; y holds 'a' alone.*stratified"):
        rows_per_class("auto", Labels(np.array(["a"]), np.zeros(3, np.int32)), "over", "SMOTE")
