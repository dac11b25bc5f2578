"""Every estimator keeps scikit-learn's contract, in its default and in its telling settings."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.testing import expected_failed_checks

ESTIMATORS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=5),
    DecisionTreeClassifier(max_bins=16),
    DecisionTreeClassifier(max_features="sqrt", random_state=0),
    DecisionTreeClassifier(class_weight="balanced"),
    DecisionTreeClassifier(criterion="misclassification"),
    DecisionTreeClassifier(criterion="misclassification", max_leaf_nodes=5),
    DecisionTreeClassifier(splitter="random", random_state=0),
    DecisionTreeClassifier(splitter="random", max_bins=16, random_state=0),
    DecisionTreeClassifier(monotonic_cst={}),
    DecisionTreeClassifier(monotonic_cst={0: 1}),
    DecisionTreeClassifier(ccp_alpha=0.01),
    DecisionTreeClassifier(prune="cv", cv=3, random_state=0),
    DecisionTreeClassifier(prune="cv-1se", cv=3, random_state=0),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=5),
    DecisionTreeRegressor(max_bins=16),
    DecisionTreeRegressor(max_features="sqrt", random_state=0),
    DecisionTreeRegressor(criterion="friedman_mse"),
    DecisionTreeRegressor(criterion="absolute_error"),
    DecisionTreeRegressor(criterion="absolute_error", max_bins=16),
    DecisionTreeRegressor(splitter="random", random_state=0),
    DecisionTreeRegressor(monotonic_cst={0: 1}),
    DecisionTreeRegressor(monotonic_cst={0: -1}, criterion="absolute_error"),
    DecisionTreeRegressor(ccp_alpha=0.01),
    DecisionTreeRegressor(prune="cv", cv=3, random_state=0),
    DecisionTreeRegressor(prune="cv-1se", cv=3, random_state=0),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_keeps_the_contract(estimator, check):
    check(estimator)


# The check of several outputs gives negative targets to estimators that say they take none; all others ask
# what the tag `positive_only` allows.
POISSON = [
    check
    for _, check in estimator_checks_generator(DecisionTreeRegressor(criterion="poisson"))
    if check.func.__name__ != "check_regressor_multioutput"
]


@pytest.mark.parametrize("check", POISSON, ids=lambda check: check.func.__name__)
def test_poisson_keeps_the_contract_on_positive_targets(check):
    check(DecisionTreeRegressor(criterion="poisson"))
