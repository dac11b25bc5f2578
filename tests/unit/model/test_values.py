import datetime as dt

import numpy as np
import pytest

from weald.model.values import Outputs, class_words, plain_labels, rows


def test_classes_of_one_output():
    outputs = Outputs.of(np.array(["cat", "dog, big", "owl"]), 3)
    assert outputs.words(np.array([0.2, 0.5, 0.3]), 3) == "'dog, big': 0.500, owl: 0.300, cat: 0.200"
    assert outputs.named(np.array([0.4, 0.4, 0.2])) == "cat"
    assert outputs.width == 3


def test_classes_of_several_outputs():
    outputs = Outputs.of([np.array(["a", "b", "c"]), np.array([False, True])], 5)
    value = np.array([0.0, 1.0, 0.0, 0.25, 0.75])
    assert [part.tolist() for part in outputs.parts(value)] == [[0.0, 1.0, 0.0], [0.25, 0.75]]
    assert outputs.best(value) == [1, 1]
    assert outputs.named(value) == "[b, True]"
    assert outputs.words(value, 2) == "b; True: 0.75, False: 0.25"
    assert outputs.width == 5


def test_numbers():
    assert Outputs.of(None, 1, shares=False).words(np.array([2.5]), 3) == "2.5"
    several = Outputs.of(None, 2, shares=False)
    assert several.words(np.array([2.5, 1 / 3]), 2) == "[2.5, 0.33]"
    assert (several.n_outputs, several.width) == (2, 2)


def test_bare_forests_have_numbered_classes():
    assert Outputs.of(None, 2, first=3).words(np.array([0.0, 1.0]), 3) == "class 4"


def test_a_single_class_is_named():
    assert Outputs.of(np.array(["only"]), 1).words(np.array([1.0]), 3) == "only"


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D"])
def test_labels_that_are_dates(unit):
    labels = np.array(["2020-01-02", "2020-01-03"], dtype=f"datetime64[{unit}]")
    assert class_words(labels) == ("2020-01-02", "2020-01-03")


def test_labels_that_are_durations():
    assert plain_labels(np.array([90], "timedelta64[s]")) == [dt.timedelta(seconds=90)]


def test_rows():
    assert (rows(np.int64(1)), rows(12_345)) == ("1 row", "12,345 rows")
