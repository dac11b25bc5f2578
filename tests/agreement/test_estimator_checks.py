"""Every estimator keeps scikit-learn's contract, in its default and in its telling settings."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.testing import expected_failed_checks

ESTIMATORS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=5),
    DecisionTreeClassifier(max_bins=16),
    DecisionTreeClassifier(max_features="sqrt", random_state=0),
    DecisionTreeClassifier(class_weight="balanced"),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=5),
    DecisionTreeRegressor(max_bins=16),
    DecisionTreeRegressor(max_features="sqrt", random_state=0),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)
