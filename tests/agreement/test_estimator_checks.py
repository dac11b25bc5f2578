"""Every estimator keeps scikit-learn's contract, in its default and in its telling settings."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from weald import (
    SVC,
    SVR,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Landmarks,
    ProximityImputer,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBClassifier,
    XGBModel,
    XGBRanker,
    XGBRegressor,
    XGBRFClassifier,
    XGBRFRegressor,
)
from weald.testing import expected_failed_checks


class XGBRankerOfOneQuery(XGBRanker):
    """A ranker of tables without queries, which is what scikit-learn's checks give."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def _read_target(self, given, n_rows, options, known):
        return super()._read_target(replace(given, qid=np.zeros(n_rows)), n_rows, options, known)


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
    XGBClassifier(n_estimators=10),
    XGBClassifier(n_estimators=5, tree_method="hist"),
    XGBClassifier(n_estimators=5, tree_method="approx"),
    XGBClassifier(n_estimators=5, grow_policy="lossguide", max_leaves=8),
    XGBClassifier(n_estimators=5, booster="dart", rate_drop=0.2),
    XGBClassifier(n_estimators=5, multi_strategy="multi_output_tree"),
    XGBClassifier(n_estimators=5, objective="multi:softprob"),
    XGBClassifier(n_estimators=5, objective="binary:logitraw"),
    XGBClassifier(n_estimators=10, early_stopping=0.3),
    XGBRegressor(n_estimators=10),
    XGBRegressor(n_estimators=5, tree_method="hist"),
    XGBRegressor(n_estimators=5, tree_method="approx"),
    XGBRegressor(n_estimators=5, objective="reg:absoluteerror"),
    XGBRegressor(n_estimators=5, booster="dart", rate_drop=0.2),
    XGBRegressor(n_estimators=5, multi_strategy="multi_output_tree"),
    XGBRegressor(n_estimators=10, early_stopping=0.3),
    XGBModel(n_estimators=5),
    XGBRFClassifier(n_estimators=10),
    XGBRFClassifier(n_estimators=10, tree_method="hist", objective="reg:logistic"),
    XGBRFRegressor(n_estimators=10),
    XGBRFRegressor(n_estimators=10, tree_method="hist", multi_strategy="multi_output_tree"),
    XGBRankerOfOneQuery(n_estimators=5, objective="rank:pairwise"),
    RandomForestClassifier(n_estimators=5),
    RandomForestClassifier(n_estimators=40, oob_score=True, random_state=0),
    RandomForestClassifier(n_estimators=5, max_bins=16),
    RandomForestClassifier(n_estimators=5, warm_start=True),
    RandomForestClassifier(n_estimators=5, bootstrap=False, max_features=None),
    RandomForestClassifier(n_estimators=5, class_weight="balanced_subsample"),
    RandomForestClassifier(n_estimators=5, max_samples=0.5, criterion="entropy"),
    RandomForestRegressor(n_estimators=5),
    RandomForestRegressor(n_estimators=40, oob_score=True, random_state=0),
    RandomForestRegressor(n_estimators=5, max_bins=16, max_features="third"),
    RandomForestRegressor(n_estimators=5, warm_start=True),
    RandomForestRegressor(n_estimators=5, criterion="absolute_error"),
    RandomForestRegressor(n_estimators=5, monotonic_cst={0: 1}),
    ExtraTreesClassifier(n_estimators=5),
    ExtraTreesClassifier(n_estimators=40, bootstrap=True, oob_score=True, random_state=0),
    ExtraTreesClassifier(n_estimators=5, max_bins=16),
    ExtraTreesClassifier(n_estimators=5, warm_start=True),
    ExtraTreesRegressor(n_estimators=5),
    ExtraTreesRegressor(n_estimators=40, bootstrap=True, oob_score=True, random_state=0),
    ExtraTreesRegressor(n_estimators=5, max_bins=16),
    ExtraTreesRegressor(n_estimators=5, warm_start=True),
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingClassifier(n_estimators=5, loss="exponential"),
    GradientBoostingClassifier(n_estimators=5, max_bins=16, leaf="exact"),
    GradientBoostingClassifier(n_estimators=5, n_iter_no_change=3, validation_fraction=0.3),
    GradientBoostingClassifier(n_estimators=5, warm_start=True),
    GradientBoostingClassifier(n_estimators=5, init=DecisionTreeClassifier(max_depth=2)),
    GradientBoostingClassifier(
        n_estimators=2, learning_rate=0.5, estimator=DecisionTreeRegressor(max_depth=2)
    ),
    GradientBoostingRegressor(n_estimators=10),
    GradientBoostingRegressor(n_estimators=10, loss="huber", leaf="exact"),
    GradientBoostingRegressor(n_estimators=10, subsample=0.5, max_features=0.5, learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=10, max_bins=16),
    GradientBoostingRegressor(n_estimators=10, monotonic_cst={0: 1}),
    GradientBoostingRegressor(
        n_estimators=4, learning_rate=0.5, estimator=DecisionTreeRegressor(max_depth=2)
    ),
    SVC(),
    SVC(kernel="precomputed"),
    SVC(C=10.0, scale=True, multi_class="ovr"),
    SVC(probability=True, random_state=0),
    SVC(solver="landmarks", random_state=0),
    SVR(),
    SVR(kernel="precomputed"),
    SVR(solver="landmarks", random_state=0),
    KNeighborsClassifier(),
    KNeighborsClassifier(weights="distance", metric="mixed"),
    KNeighborsClassifier(n_neighbors=1, metric="cosine"),
    KNeighborsRegressor(),
    KNeighborsRegressor(algorithm="kd_tree", p=1),
    ProximityImputer(RandomForestClassifier(n_estimators=5), max_iter=2),
    ProximityImputer(RandomForestRegressor(n_estimators=5), max_iter=2),
    Landmarks(),
    Landmarks(5, landmarks="random", features="similarity", random_state=0),
    Landmarks(0.5, kernel="laplacian", scale=True, random_state=0),
]


# Some checks fit twice; with warm_start the second fit warns that it adds no tree, as scikit-learn's do.
@pytest.mark.filterwarnings("ignore:Warm-start fitting without increasing n_estimators:UserWarning")
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
