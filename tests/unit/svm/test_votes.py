"""Votes and scores of pairs of classes, against scikit-learn's own function and by hand."""

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from weald.svm.votes import most_votes, pairs, scores_by_class, vote


def test_pairs_come_in_libsvms_order():
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_a_positive_value_is_a_vote_for_the_first_and_zero_for_the_second():
    decisions = np.array([[1.0, -1.0, 0.0], [2.0, 3.0, -1.0]])
    assert vote(decisions, 3).tolist() == [[1, 0, 2], [2, 0, 1]]


def test_of_equally_many_votes_the_first_class_wins():
    # 0 beats 1, 1 beats 2, 2 beats 0
    assert most_votes(np.array([[0.1, -5.0, 0.1]]), 3).tolist() == [0]


def test_scores_are_scikit_learns():
    decisions = np.random.default_rng(0).normal(size=(50, 6)) * 3
    decisions[0] = 0
    assert np.array_equal(scores_by_class(decisions, 4), _ovr_decision_function(decisions < 0, -decisions, 4))


def test_scores_break_ties_by_the_sum_of_values():
    cycle = np.array([[0.1, -5.0, 0.1]])
    assert scores_by_class(cycle, 3).argmax(axis=1).tolist() == [2]
