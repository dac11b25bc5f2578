"""`ColumnSelector` keeps scikit-learn's contract of transformers."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import ColumnSelector, DecisionTreeClassifier, RandomForestRegressor
from weald.testing import expected_failed_checks

ESTIMATORS = [
    ColumnSelector(RandomForestRegressor(3, random_state=0)),
    ColumnSelector(DecisionTreeClassifier(max_depth=3), by="held_out", drop=0.5),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_estimator_check(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
