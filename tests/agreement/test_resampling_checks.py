"""Samplers and `Resampled` keep scikit-learn's contract, as far as it says anything of samplers."""

from typing import Any

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import weald
from weald.testing import expected_failed_checks

SAMPLERS = [
    weald.RandomOverSampler(),
    weald.RandomOverSampler(shrinkage=0.5),
    weald.RandomUnderSampler(),
    weald.SMOTE(k_neighbors=2),
    weald.SMOTENC(k_neighbors=2),
    weald.SMOTEN(k_neighbors=2),
    weald.BorderlineSMOTE(k_neighbors=2, m_neighbors=2),
    weald.ADASYN(n_neighbors=2),
    weald.TomekLinks(),
    weald.EditedNearestNeighbours(),
    weald.NearMiss(n_neighbors=1),
    weald.SMOTEENN(),
    weald.SMOTETomek(),
]


@parametrize_with_checks(SAMPLERS, expected_failed_checks=expected_failed_checks)
def test_samplers_keep_the_contract(estimator: Any, check: Any) -> None:
    check(estimator)


# Of a rare class with few rows there is a warning, which the checks are not about.
@pytest.mark.filterwarnings("ignore::weald.errors.ResamplingWarning")
@parametrize_with_checks(
    [
        weald.Resampled(weald.DecisionTreeClassifier(max_depth=3), weald.RandomOverSampler(random_state=0)),
        weald.Resampled(GaussianNB(), weald.SMOTE(k_neighbors=2, random_state=0)),
        weald.Resampled(
            weald.DecisionTreeClassifier(random_state=0),
            weald.RandomUnderSampler(random_state=0),
            correct_prior=False,
            decide="corrected",
        ),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_resampled_keeps_the_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_there_are_checks_of_samplers() -> None:
    assert len(list(estimator_checks_generator(weald.SMOTE()))) > 20
