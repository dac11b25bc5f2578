"""`expected_failed_checks`: what the contract lets an estimator fail."""

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.testing import expected_failed_checks


def test_trees_may_fail_nothing():
    assert expected_failed_checks(DecisionTreeClassifier()) == {}
    assert expected_failed_checks(DecisionTreeRegressor()) == {}


def test_the_answer_is_the_callers_own():
    expected_failed_checks(DecisionTreeClassifier())["check_x"] = "changed"
    assert expected_failed_checks(DecisionTreeClassifier()) == {}
