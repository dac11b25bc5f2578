"""Folds: every way to ask for them, and what is wrong with the bad ones."""

from __future__ import annotations

import re
import warnings
from itertools import chain

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from weald.errors import ParameterError
from weald.estimators.shared.folds import Fold, folds

N = 30
LABELS = (np.arange(N) % 3).astype(np.int32)[:, None]


def ask(cv, values=LABELS, weight=None, *, labels=True, random_state=0) -> list[Fold]:
    X = np.zeros((len(values), 1))
    return list(folds(cv, X, values, weight, labels=labels, random_state=random_state, owner="Tree"))


def held_out(found: list[Fold]) -> list[list[int]]:
    return [np.flatnonzero(fold.held_out).tolist() for fold in found]


def test_a_number_divides_every_row_once():
    found = ask(4, labels=False)
    assert sorted(chain.from_iterable(held_out(found))) == list(range(N))
    for fold in found:
        np.testing.assert_array_equal(fold.train + fold.held_out, np.ones(N))


def test_labels_are_stratified():
    for rows in held_out(ask(5)):
        assert np.bincount(LABELS[rows, 0]).tolist() == [2, 2, 2]


def test_the_seed_decides():
    assert held_out(ask(5)) == held_out(ask(5)) != held_out(ask(5, random_state=1))
    state = np.random.RandomState(0)
    assert held_out(ask(5, random_state=state)) != held_out(ask(5, random_state=state))


def test_folds_are_those_of_scikit_learn():
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(LABELS, LABELS[:, 0])
    assert held_out(ask(5)) == [test.tolist() for _, test in expected]
    expected = KFold(3, shuffle=True, random_state=0).split(LABELS)
    assert held_out(ask(3, labels=False)) == [test.tolist() for _, test in expected]


@pytest.mark.parametrize(
    "counts", [[28, 2], [26, 2, 2], [2] * 15, [1] * 30, [24, 3, 3], [29, 1], [10, 10, 4, 3, 2, 1]], ids=str
)
def test_rare_classes_need_no_warning(counts):
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.int32)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = held_out(ask(5, labels))
    assert [len(rows) for rows in found] == [6] * 5
    assert sorted(chain.from_iterable(found)) == list(range(N))
    for frequent in np.flatnonzero(np.array(counts) >= 5 * 4):
        per_fold = [int((labels[rows, 0] == frequent).sum()) for rows in found]
        assert max(per_fold) - min(per_fold) <= 2


def test_several_outputs_are_not_stratified():
    two = np.hstack([LABELS, LABELS])
    assert held_out(ask(5, two)) == held_out(ask(5, LABELS, labels=False))


def test_rows_of_weight_zero_take_no_part_in_numbered_folds():
    weight = np.ones(N)
    weight[::3] = 0
    found = ask(4, weight=weight, labels=False)
    assert sorted(chain.from_iterable(held_out(found))) == np.flatnonzero(weight).tolist()
    assert [len(rows) for rows in held_out(found)] == [5] * 4


def test_weights_are_kept():
    weight = np.arange(1.0, N + 1)
    for fold in ask(3, weight=weight):
        np.testing.assert_array_equal(fold.train + fold.held_out, weight)


def test_splitters_and_lists():
    splitter = KFold(3)
    pairs = list(splitter.split(LABELS))
    assert held_out(ask(splitter)) == held_out(ask(pairs)) == held_out(ask(iter(pairs)))
    masks = [(np.isin(np.arange(N), train), np.isin(np.arange(N), test)) for train, test in pairs]
    assert held_out(ask(masks)) == held_out(ask(pairs))
    lists = [[train.tolist(), test.tolist()] for train, test in pairs]
    assert held_out(ask(lists)) == held_out(ask(pairs))
    assert len(ask(LeaveOneOut())) == N
    assert len(ask(ShuffleSplit(7, random_state=0))) == 7


def test_a_row_named_twice_counts_twice():
    fold = ask([([0, 0, 1], [2, 3, 3, 3]), ([2], [1])])[0]
    assert fold.train[:4].tolist() == [2, 1, 0, 0]
    assert fold.held_out[:4].tolist() == [0, 0, 1, 3]


GOOD = ([0, 1], [2, 3])
BAD = [
    ([GOOD, ([0, 1], [2, 30])], "Fold 2 of `cv` of Tree: test names row 30; the table has the rows 0 to 29."),
    ([([-1, 1], [2]), GOOD], "Fold 1 of `cv` of Tree: train names row -1;"),
    ([GOOD, ([], [2])], "Fold 2 of `cv` of Tree trains on no rows of positive weight."),
    ([GOOD, ([2], [])], "Fold 2 of `cv` of Tree holds out no rows of positive weight."),
    ([GOOD, (["a"], [2])], "Fold 2 of `cv` of Tree: train must be a list of row numbers; got ['a']."),
    ([GOOD, ([0.5], [2])], "Fold 2 of `cv` of Tree: train must be a list of row numbers; got [0.5]."),
    ([GOOD, ([True, False], [2])], "Fold 2 of `cv` of Tree: train must be a list of row numbers;"),
    ([GOOD, (3, [2])], "Fold 2 of `cv` of Tree: train must be a list of row numbers; got 3."),
    ([GOOD, ([[1], [2, 3]], [2])], "Fold 2 of `cv` of Tree: train must be a list of row numbers;"),
    ([GOOD, 7], "Fold 2 of `cv` of Tree must be a pair (train, test) of row numbers; got 7."),
    ([GOOD, (1, 2, 3)], "Fold 2 of `cv` of Tree must be a pair"),
    ({"a": 1, "b": 2}, "Fold 1 of `cv` of Tree must be a pair"),
    ([GOOD], "`cv` of Tree gives 1 fold; cross-validation needs at least 2."),
    ([], "`cv` of Tree gives 0 folds; cross-validation needs at least 2."),
    (ShuffleSplit(1, random_state=0), "`cv` of Tree gives 1 fold;"),
    (31, "`cv` of Tree asks for 31 folds of 30 rows (n_samples=30; rows of weight 0 do not count). Use"),
    (KFold(40), "The splitter `cv` of Tree cannot divide these rows: Cannot have number of splits"),
    (GroupKFold(2), "The splitter `cv` of Tree cannot divide these rows: The 'groups' parameter"),
]


@pytest.mark.parametrize(("cv", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_folds(cv, message):
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
        ask(cv)


def test_a_fold_without_weight():
    weight = np.ones(N)
    weight[[0, 1]] = 0
    with pytest.raises(ParameterError, match=r"^Fold 2 of `cv` of Tree trains on no rows of positive weight"):
        ask([([4], [5]), ([0, 1], [2])], weight=weight)
    with pytest.raises(ParameterError, match=r"^Fold 1 of `cv` of Tree holds out no rows of positive weight"):
        ask([([4], [1]), ([0, 1], [2])], weight=weight)


@pytest.mark.parametrize(
    ("cv", "message"),
    [(1, "at least 2 folds; got 1"), (-3, "got -3"), ("five", "got 'five'"), (2.5, "got 2.5")],
)
def test_what_is_no_way_to_divide(cv, message):
    with pytest.raises(ParameterError, match=message):
        ask(cv)


def test_numbers_of_numpy_count():
    assert held_out(ask(np.int64(3))) == held_out(ask(3))
