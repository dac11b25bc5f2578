"""Ensembles for rare classes and thresholds keep scikit-learn's contract."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import (
    AdaBoostClassifier,
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    DecisionTreeClassifier,
    EasyEnsembleClassifier,
    RandomForestClassifier,
    RUSBoostClassifier,
    Thresholded,
)
from weald.testing import expected_failed_checks

ESTIMATORS = [
    BalancedRandomForestClassifier(n_estimators=5),
    BalancedBaggingClassifier(n_estimators=3),
    EasyEnsembleClassifier(n_estimators=2, estimator=AdaBoostClassifier(n_estimators=3)),
    RUSBoostClassifier(n_estimators=5),
    Thresholded(DecisionTreeClassifier(max_depth=3), cv=2),
    # At one half decisions are those of the largest probability, which a check wants to see.
    Thresholded(RandomForestClassifier(n_estimators=9, random_state=0), threshold=0.5),
    Thresholded(LogisticRegression(), threshold=0.5),
]


@pytest.mark.filterwarnings("ignore:When fitting BalancedBagging.* with sample_weight:UserWarning")
@pytest.mark.filterwarnings("ignore:When fitting EasyEnsemble.* with sample_weight:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)
