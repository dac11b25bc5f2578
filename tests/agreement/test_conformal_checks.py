"""`Conformal` keeps scikit-learn's contract, around weald's estimators and others."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import Conformal, DecisionTreeClassifier, RandomForestClassifier, XGBRegressor
from weald.testing import expected_failed_checks

ESTIMATORS = [
    Conformal(Ridge()),
    Conformal(DecisionTreeClassifier(max_depth=3), method="cv+", cv=3),
    Conformal(RandomForestClassifier(8, random_state=0), method="jackknife+", conformity_score="aps"),
    Conformal(XGBRegressor(n_estimators=4, objective="reg:quantileerror"), method="cqr"),
]


# Eight trees are quick, and few for small tables.
@pytest.mark.filterwarnings("ignore:Every member saw:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)
