"""What `Conformal` refuses, and what it says aloud."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC

import weald
from weald import (
    BaggingRegressor,
    Conformal,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBRegressor,
)
from weald.errors import DataError, DataTypeError, ParameterError

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] + 0.1
LABELS = np.where(Y > 0.3, "yes", "no").astype(object)


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 1.5, 90, np.nan, True, "0.9", None, [0.9]])
def test_a_coverage_is_between_zero_and_one(coverage):
    with pytest.raises(
        ParameterError, match="`coverage` of predict_interval must be a number between 0 and 1"
    ):
        Conformal(Ridge()).fit(X, Y).predict_interval(X, coverage)
    with pytest.raises(ParameterError, match="`coverage` of predict_set must be a number between 0 and 1"):
        Conformal(GaussianNB()).fit(X, LABELS).predict_set(X, coverage=coverage)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Conformal(Ridge), "`estimator` of Conformal must be an estimator with fit and predict.*not a class"),
        (Conformal(KMeans()), "must be a classifier or a regressor; KMeans is neither"),
        (Conformal(Ridge(), method="cv"), "Did you mean 'cv\\+'"),
        (Conformal(Ridge(), conformity_score="lac"), "Ridge predicts numbers. Use 'absolute' or 'scaled'"),
        (Conformal(Ridge(), conformity_score="scaled"), "Ridge is no forest .*'absolute', or method='cqr'"),
        (Conformal(Ridge(), class_conditional=True), "is for classifiers, and Ridge predicts numbers"),
        (Conformal(Ridge(), calibration_size=1.0), "`calibration_size` of Conformal must be"),
        (Conformal(Ridge(), calibration_size=40), "holds out 40 of 40 rows.*Use a fraction"),
        (Conformal(Ridge(), method="cv+", cv=1), "`cv` of Conformal must be"),
        (Conformal(Ridge(), method="cv+", cv=41), "asks for 41 folds of 40 rows.*method='split'"),
        (Conformal(Ridge(), quantiles=[0.1, 0.9]), "`quantiles` of Conformal are for method='cqr'"),
        (Conformal(Ridge(), method="cqr"), "needs an estimator of quantiles, and Ridge as given is none"),
        (Conformal(XGBRegressor(), method="cqr"), "XGBRegressor as given is none"),
        (Conformal(GradientBoostingRegressor(), method="cqr"), "GradientBoostingRegressor as given is none"),
        (
            Conformal(RandomForestRegressor(), method="cqr", quantiles=[0.9, 0.1]),
            "two or more ascending numbers between 0 and 1; got \\[0.9, 0.1\\]",
        ),
        (Conformal(RandomForestRegressor(), method="cqr", quantiles=[0.5]), "two or more ascending"),
        (
            Conformal(RandomForestRegressor(), method="cqr", conformity_score="scaled"),
            "method='cqr' of Conformal has a score of its own",
        ),
        (
            Conformal(ExtraTreesRegressor(), method="jackknife+"),
            "Use ExtraTreesRegressor\\(bootstrap=True\\)",
        ),
        (
            Conformal(BaggingRegressor(bootstrap=False), method="jackknife+"),
            "without bootstrap all of them see all rows",
        ),
        (
            Conformal(BaggingRegressor(Ridge(), random_state=0, n_estimators=30), conformity_score="scaled"),
            "BaggingRegressor is no forest or bagging of weald's trees",
        ),
        (Conformal(Ridge(), max_rows=0), "`max_rows` of Conformal must be"),
    ],
)
def test_parameters_that_cannot_be(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Conformal(GaussianNB(), method="cqr"), "for numbers, and GaussianNB predicts labels. Use 'split'"),
        (Conformal(GaussianNB(), conformity_score="absolute"), "predicts labels. Use 'lac' or 'aps'"),
        (Conformal(LinearSVC()), "LinearSVC has no predict_proba.*CalibratedClassifierCV"),
        (Conformal(weald.LinearSVC()), "LinearSVC has no predict_proba"),
    ],
)
def test_parameters_that_cannot_be_with_labels(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(X, LABELS)


def test_an_unknown_parameter_raises_with_the_nearest():
    with pytest.raises(ParameterError, match="did you mean `calibration_size`"):
        Conformal(Ridge()).set_params(calibration_sizes=3)


def test_each_kind_has_its_own_answer():
    with pytest.raises(ParameterError, match="Use predict_set"):
        Conformal(GaussianNB()).fit(X, LABELS).predict_interval(X)
    with pytest.raises(ParameterError, match="Use predict_interval"):
        Conformal(Ridge()).fit(X, Y).predict_set(X)
    assert not hasattr(Conformal(Ridge()), "predict_proba")
    assert not hasattr(Conformal(Ridge()).fit(X, Y), "classes_")


@pytest.mark.parametrize("what", ["predict", "predict_interval"])
def test_not_fitted(what):
    with pytest.raises(NotFittedError):
        getattr(Conformal(Ridge()), what)(X)
    with pytest.raises(NotFittedError):
        Conformal(Ridge()).calibrate(X, Y)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (Conformal(Ridge(), calibration_size=8), Y),
        (Conformal(RandomForestRegressor(20, random_state=0), method="jackknife+", max_rows=8), Y),
        (Conformal(GradientBoostingRegressor(loss="quantile"), method="cqr", calibration_size=8), Y),
    ],
)
def test_too_few_rows_for_a_coverage_are_said_aloud(model, y):
    model.fit(X, y)
    with pytest.warns(UserWarning, match="needs at least 9 calibration rows, and there are 8: all ends"):
        found = model.predict_interval(X[:3])
    assert found.tolist() == [[-np.inf, np.inf]] * 3
    assert np.isfinite(model.predict_interval(X[:3], 0.8)).all()


def test_too_few_rows_of_labels_are_said_aloud():
    model = Conformal(GaussianNB(), calibration_size=8).fit(X, LABELS)
    with pytest.warns(UserWarning, match="there are 8: every label is in every set"):
        assert model.predict_set(X).all()
    y = LABELS.copy()
    y[:5] = "rare"
    apart = Conformal(GaussianNB(), method="cv+", class_conditional=True).fit(X, y)
    with pytest.warns(
        UserWarning, match="of each class, and there are fewer of 'rare': they are in every set"
    ):
        found = apart.predict_set(X)
    assert found[:, 1].all()
    assert not found.all()


def test_a_class_without_calibration_rows():
    own = GaussianNB().fit(X, LABELS)
    some = LABELS == "yes"
    with pytest.raises(DataError, match="rows of every class, and there are none of 'no'"):
        Conformal(own, class_conditional=True).calibrate(X[some], LABELS[some])
    y = LABELS.copy()
    y[3] = "once"
    with pytest.raises(DataError, match="there are none of 'once'"):
        Conformal(GaussianNB(), class_conditional=True).fit(X, y)


def test_a_label_that_a_fitted_estimator_does_not_know():
    own = GaussianNB().fit(X, LABELS)
    with pytest.raises(DataError, match="y holds 'maybe', which the fitted estimator does not know"):
        Conformal(own).calibrate(X, np.where(Y > 1, "maybe", LABELS))


def test_what_cannot_be_calibrated_as_it_is():
    with pytest.raises(ParameterError, match=r"method='cv\+' would fit others beside it. Use method='split'"):
        Conformal(Ridge().fit(X, Y), method="cv+").calibrate(X, Y)
    stages = GradientBoostingRegressor(loss="quantile", n_estimators=2).fit(X, Y)
    with pytest.raises(ParameterError, match=r"this GradientBoostingRegressor does not. Use `fit`"):
        Conformal(stages, method="cqr").calibrate(X, Y)
    booster = XGBRegressor(n_estimators=2, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9]).fit(X, Y)
    with pytest.raises(ParameterError, match="Leave them None"):
        Conformal(booster, method="cqr", quantiles=[0.2, 0.8]).calibrate(X, Y)


def test_a_fitted_forest_wants_its_own_rows():
    forest = RandomForestRegressor(20, random_state=0).fit(X, Y)
    with pytest.raises(DataError, match="by the rows of its own fit, of which there were 40; got 30"):
        Conformal(forest, method="jackknife+").calibrate(X[:30], Y[:30])
    with pytest.raises(DataError, match="not the table that this forest was fitted on"):
        Conformal(forest, method="jackknife+").calibrate(X[::-1], Y[::-1])
    bags = weald.load(BaggingRegressor(DecisionTreeRegressor(), random_state=0).fit(X, Y).to_bytes())
    with pytest.raises(DataError, match="does not keep how its bags were drawn"):
        Conformal(bags, method="jackknife+").calibrate(X, Y)


def test_rows_that_every_member_saw():
    with pytest.warns(UserWarning, match=r"Every member saw .* of the 40 training rows"):
        model = Conformal(RandomForestRegressor(3, random_state=0), method="jackknife+").fit(X, Y)
    assert len(model.calibration_rows_) < 40
    with pytest.raises(DataError, match=r"has none to calibrate by. Use more members"):
        Conformal(RandomForestRegressor(2, max_samples=5000), method="jackknife+").fit(X[:5], Y[:5])


@pytest.mark.parametrize("method", ["split", "jackknife+"])
def test_one_row_is_too_few(method):
    with pytest.raises(DataError, match="n_samples=1"):
        Conformal(Ridge(), method=method).fit(X[:1], Y[:1])


def test_folds_that_hold_a_row_out_twice_or_train_on_it():
    with pytest.raises(ParameterError, match="holds out again row"):
        Conformal(Ridge(), method="cv+", cv=RepeatedKFold(n_splits=3, n_repeats=2)).fit(X, Y)
    rows = np.arange(40)
    with pytest.raises(ParameterError, match=r"trains on and holds out row 0"):
        Conformal(Ridge(), method="cv+", cv=[(rows, rows[:20]), (rows[:20], rows[20:])]).fit(X, Y)


def test_targets_of_another_shape():
    with pytest.raises(DataError, match="takes one number per row; y has 2 columns"):
        Conformal(Ridge()).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(DataError, match="takes one label per row; y has 2 columns"):
        Conformal(RandomForestClassifier()).fit(X, np.column_stack([LABELS, LABELS]))
    with pytest.raises(DataError, match="NaN"):
        Conformal(Ridge()).fit(X, np.where(np.arange(40) == 3, np.nan, Y))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        Conformal(Ridge()).fit(X, Y[:, None])


@pytest.mark.parametrize(("member", "y"), [(KNeighborsRegressor(), Y), (KNeighborsClassifier(), LABELS)])
def test_weights_that_the_estimator_does_not_take(member, y):
    with pytest.raises(DataTypeError, match="does not support sample weights"):
        Conformal(member).fit(X, y, sample_weight=np.ones(40))


def test_an_error_of_a_member_names_it():
    class Broken(Ridge):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no")

    with pytest.raises(DataError, match="The Broken of Conformal failed: ValueError: no"):
        Conformal(Broken()).fit(X, Y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = Conformal(LogisticRegression()).fit(X, LABELS)
    before = model.predict_set(X)
    with pytest.raises(DataError):
        model.fit(X, LABELS[:3])
    np.testing.assert_array_equal(model.predict_set(X), before)
