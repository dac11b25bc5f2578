"""`expected_failed_checks`: what the contract lets an estimator fail."""

from weald import (
    SVC,
    SVR,
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
    XGBClassifier,
    XGBRegressor,
)
from weald.testing import expected_failed_checks


def test_trees_may_fail_nothing():
    assert expected_failed_checks(DecisionTreeClassifier()) == {}
    assert expected_failed_checks(DecisionTreeRegressor()) == {}


def test_kernel_machines_may_fail_what_scikit_learns_may():
    for model in (SVC(), SVR()):
        assert set(expected_failed_checks(model)) == {
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        }


def test_ensembles_may_fail_what_scikit_learns_may():
    for model in (BaggingClassifier(), BaggingRegressor()):
        assert set(expected_failed_checks(model)) == {
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        }
    assert expected_failed_checks(VotingRegressor([("a", DecisionTreeRegressor())])) == {}


def test_adaboost_is_granted_what_its_draws_need():
    for model in (AdaBoostClassifier, AdaBoostRegressor):
        assert expected_failed_checks(model()) == {}
        for drawing in (model(resample="compound"), model(early_stopping=0.2)):
            assert len(expected_failed_checks(drawing)) == 2


def test_the_answer_is_the_callers_own():
    expected_failed_checks(DecisionTreeClassifier())["check_x"] = "changed"
    assert expected_failed_checks(DecisionTreeClassifier()) == {}


def test_boosters_are_granted_what_their_draws_need():
    for model in (XGBClassifier, XGBRegressor):
        assert expected_failed_checks(model()) == {}
        assert expected_failed_checks(model(subsample=1.0)) == {}
        for drawing in (model(subsample=0.5), model(early_stopping=0.2)):
            assert set(expected_failed_checks(drawing)) == {
                "check_sample_weight_equivalence_on_dense_data",
                "check_sample_weight_equivalence_on_sparse_data",
            }


def test_forests_are_granted_what_their_bags_need():
    drawn = {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
    for model in (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor):
        assert set(expected_failed_checks(model(bootstrap=True))) == drawn
        assert expected_failed_checks(model(bootstrap=False)) == {}
    assert set(expected_failed_checks(RandomForestClassifier())) == drawn
    assert expected_failed_checks(ExtraTreesClassifier()) == {}
