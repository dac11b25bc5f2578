"""Bagging and voting keep scikit-learn's contract, with weald's members and with others."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
    XGBRegressor,
)
from weald.testing import expected_failed_checks

CLASSIFIERS = [
    ("a", DecisionTreeClassifier(max_depth=3, max_features=1, random_state=0)),
    ("b", DecisionTreeClassifier(max_depth=3, random_state=1)),
]
REGRESSORS = [("a", DecisionTreeRegressor(max_depth=3)), ("b", XGBRegressor(n_estimators=5))]

ESTIMATORS = [
    BaggingClassifier(n_estimators=5),
    BaggingClassifier(n_estimators=5, max_samples=0.7, max_features=0.7, bootstrap=False),
    BaggingClassifier(DecisionTreeClassifier(max_features="sqrt"), n_estimators=5, bootstrap_features=True),
    # Bags that are drawn anew each time might all miss the row or the column that a check spoils.
    BaggingClassifier(GaussianNB(), n_estimators=5, random_state=0),
    BaggingRegressor(n_estimators=5),
    BaggingRegressor(n_estimators=5, max_samples=0.7, max_features=0.7, bootstrap=False),
    BaggingRegressor(Ridge(), n_estimators=5, random_state=0),
    VotingClassifier(CLASSIFIERS),
    VotingClassifier(CLASSIFIERS, voting="soft", weights=[1, 2]),
    VotingRegressor(REGRESSORS),
]


# scikit-learn's own baggers warn so of weights too.
@pytest.mark.filterwarnings("ignore:When fitting Bagging.* with sample_weight:UserWarning")
@pytest.mark.filterwarnings("ignore:Using the fractional value max_samples:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)


# These members take no weights, and so neither do ensembles of them; all other checks must pass.
WITHOUT_WEIGHTS = [
    (estimator, check)
    for estimator in (
        BaggingClassifier(KNeighborsClassifier(), n_estimators=5, random_state=0),
        BaggingClassifier(
            make_pipeline(StandardScaler(), GaussianNB()), n_estimators=5, max_features=0.8, random_state=0
        ),
        BaggingRegressor(KNeighborsRegressor(), n_estimators=5, bootstrap_features=True, random_state=0),
    )
    for _, check in estimator_checks_generator(estimator)
    if "sample_weight" not in check.func.__name__
]


@pytest.mark.parametrize(
    ("estimator", "check"),
    WITHOUT_WEIGHTS,
    ids=[f"{estimator!r}-{check.func.__name__}" for estimator, check in WITHOUT_WEIGHTS],
)
def test_keeps_the_contract_without_weights(estimator, check):
    check(estimator)
