"""`Thresholded`: where a probability becomes a decision."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef
from sklearn.model_selection import GridSearchCV, KFold, TunedThresholdClassifierCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald import AdaBoostClassifier, BalancedRandomForestClassifier, RandomForestClassifier, Thresholded
from weald.errors import DataError, ModelFileError, ParameterError
from weald.estimators.thresholds.curve import GRID, ThresholdCurve

COSTS = [[0.0, 90.0], [4.0, 0.0]]  # of "rare" called "usual", and the other way round


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 3, "rare", "usual")


X, Y = rows()
FOREST = RandomForestClassifier(30, random_state=0)


def cost_of(truth, called):
    place = {"rare": 0, "usual": 1}
    return -np.mean([COSTS[place[a]][place[b]] for a, b in zip(truth.tolist(), called.tolist(), strict=True)])


METRICS = {
    "f1": (lambda truth, called: f1_score(truth, called, pos_label="rare"), "f1"),
    "balanced_accuracy": (balanced_accuracy_score, "balanced_accuracy"),
    "costs": (cost_of, COSTS),
}


@pytest.mark.parametrize(("score", "threshold"), METRICS.values(), ids=METRICS)
def test_out_of_bag_rows_judge_every_threshold(score, threshold):
    model = Thresholded(FOREST, threshold).fit(X, Y)
    p = model.estimator_.oob_decision_function_[:, 0]
    assert model.pos_label_ == "rare"

    def at(t):
        return score(Y, np.where(p >= t, "rare", "usual"))

    some = np.linspace(0, len(model.curve_) - 1, 15).astype(int)
    assert model.curve_.scores[some] == pytest.approx([at(t) for t in model.curve_.thresholds[some]])
    assert model.best_score_ == pytest.approx(at(model.threshold_))
    assert model.best_score_ >= max(at(t) for t in np.linspace(0.01, 0.99, 40)) - 1e-12
    called = np.where(model.predict_proba(X)[:, 0] >= model.threshold_, "rare", "usual")
    assert (model.predict(X) == called).all()
    assert ((model.decision_function(X) > 0) == (called == "usual")).mean() > 0.999


@pytest.mark.parametrize(("score", "threshold"), METRICS.values(), ids=METRICS)
def test_folds_are_those_of_scikit_learn(score, threshold):
    from sklearn.metrics import make_scorer

    folds = list(KFold(2, shuffle=True, random_state=0).split(X))
    model = Thresholded(LogisticRegression(), threshold, cv=KFold(2, shuffle=True, random_state=0)).fit(X, Y)
    places = (Y == "rare").astype(int)

    def as_labels(truth, called):
        return score(*(np.where(each == 1, "rare", "usual") for each in (truth, called)))

    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=make_scorer(as_labels), thresholds=GRID, cv=folds, store_cv_results=True
    ).fit(X, places)
    assert model.threshold_ == tuned.best_threshold_
    assert model.curve_.scores == pytest.approx(tuned.cv_results_["scores"])
    assert ((model.predict(X) == "rare") == (tuned.predict(X) == 1)).all()


def test_a_number_needs_no_rows_held_out():
    model = Thresholded(FOREST, 0.2).fit(X, Y)
    assert (model.estimator_.predict_proba(X) == FOREST.fit(X, Y).predict_proba(X)).all()
    assert ((model.predict(X) == "rare") == (model.predict_proba(X)[:, 0] >= 0.2)).all()
    assert not hasattr(model, "curve_")


def test_a_metric_of_the_users_own():
    model = Thresholded(FOREST, matthews_corrcoef).fit(X, Y)
    p = model.estimator_.oob_decision_function_[:, 0]
    expected = [matthews_corrcoef(Y, np.where(p >= t, "rare", "usual")) for t in GRID]
    assert model.best_score_ == pytest.approx(max(expected))
    again = weald.load(model.to_bytes())
    assert again.threshold == again.threshold_ == model.threshold_


def test_least_expected_cost_of_three_classes():
    y = np.where(Y == "rare", "r", np.where(X[:, 2] > 0, "p", "q"))
    cost = np.array([[0, 1, 2], [1, 0, 2], [30, 30, 0.0]])
    model = Thresholded(FOREST, cost).fit(X, y)
    proba = model.predict_proba(X)
    expected = [
        min(range(3), key=lambda j: sum(row[i] * cost[i, j] for i in range(3))) for row in proba.tolist()
    ]
    assert (model.predict(X) == np.array(["p", "q", "r"])[expected]).all()
    assert (np.argmax(model.decision_function(X), axis=1) == expected).all()
    assert np.mean(model.predict(X) == "r") > np.mean(y == "r")
    again = weald.load(model.to_bytes())
    assert (again.predict(X) == model.predict(X)).all()
    assert not hasattr(again, "threshold_")


def test_equal_costs_decide_for_the_largest_probability():
    y = np.digitize(X[:, 0], [-1, 1])
    model = Thresholded(FOREST, 1 - np.eye(3)).fit(X, y)
    assert (model.predict(X) == model.estimator_.predict(X)).mean() > 0.999  # but for equal shares


def test_a_fitted_estimator_can_be_judged_on_other_rows():
    fitted = LogisticRegression().fit(X, Y)
    new, truth = rows(seed=1)
    model = Thresholded(fitted, "f1", cv="prefit").fit(new, truth)
    p = fitted.predict_proba(new)[:, 0]
    assert model.estimator_ is fitted
    assert model.best_score_ == pytest.approx(
        f1_score(truth, np.where(p >= model.threshold_, "rare", "usual"), pos_label="rare")
    )


def test_balanced_forests_have_out_of_bag_rows_without_bootstrap():
    model = Thresholded(BalancedRandomForestClassifier(30, random_state=0), "f1").fit(X, Y)
    assert hasattr(model.estimator_, "oob_decision_function_")
    assert len(model.curve_) < len(np.unique(model.estimator_.oob_decision_function_))


def test_every_kind_of_table():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    tables = (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), X, X.tolist())
    estimator = AdaBoostClassifier(n_estimators=3)
    found = [Thresholded(estimator, "f1", cv=2).fit(table, Y).predict(table) for table in tables]
    assert all((each == found[0]).all() for each in found)


@pytest.mark.parametrize("labels", [[True, False], [3, 7], ["no", "yes"]])
def test_labels_of_any_type_and_the_positive_one(labels):
    y = np.array(labels)[(Y == "usual").astype(int)]
    model = Thresholded(FOREST, "f1").fit(X, y)
    assert model.pos_label_ == labels[0]
    other = Thresholded(FOREST, 0.9, pos_label=labels[1]).fit(X, y)
    assert (
        (other.predict(X) == labels[1]) == (other.predict_proba(X)[:, 1 if labels[1] else 0] >= 0.9)
    ).all()


def test_files_and_pickles():
    model = Thresholded(AdaBoostClassifier(n_estimators=3), "f1", cv=2).fit(X, Y)
    for again in (weald.load(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X) == model.predict(X)).all()
        assert again.threshold_ == model.threshold_
        assert (again.curve_.scores == model.curve_.scores).all()
        assert again.to_bytes() == model.to_bytes()
    with pytest.raises(ModelFileError, match="Member 'estimator' of Thresholded"):
        Thresholded(LogisticRegression(), 0.3).fit(X, Y).to_bytes()


def test_weights_reach_the_estimator_and_rows_of_weight_0_are_absent():
    weight = (np.arange(len(X)) % 4 > 0) * 2.0
    model = Thresholded(FOREST, "f1").fit(X, Y, sample_weight=weight)
    kept = weight > 0
    same = Thresholded(FOREST, "f1").fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert model.threshold_ == same.threshold_
    assert (model.predict_proba(X) == same.predict_proba(X)).all()


def test_in_pipelines_and_searches():
    pipe = make_pipeline(StandardScaler(), Thresholded(LogisticRegression(), "f1", cv=2))
    assert cross_val_score(pipe, X, Y, cv=2, scoring="balanced_accuracy").min() > 0.6
    grid = {"thresholded__threshold": [0.3, 0.2], "thresholded__estimator__C": [0.1, 1.0]}
    assert GridSearchCV(pipe, grid, cv=2).fit(X, Y).best_params_


def test_the_curve_is_readable():
    curve = ThresholdCurve(np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.8, 0.6]))
    assert repr(curve).splitlines() == [
        "threshold   score",
        "   0.1000  0.5000",
        "   0.2000  0.8000 best",
        "   0.3000  0.6000",
    ]
    assert curve.to_dict() == {"threshold": [0.1, 0.2, 0.3], "score": [0.5, 0.8, 0.6]}
    assert "<td>best</td>" in curve._repr_html_()
    assert len(repr(ThresholdCurve(GRID, np.sin(GRID))).splitlines()) <= 14


@pytest.mark.parametrize("threshold", [0.0, 1.0, 1.5, -0.2, "f2", None, True])
def test_a_threshold_that_cannot_be(threshold):
    with pytest.raises(
        ParameterError, match="`threshold` of Thresholded must be 'balanced_accuracy' or 'f1'"
    ):
        Thresholded(FOREST, threshold).fit(X, Y)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ([[0, 1, 2]], "2 × 2 matrix.*the shape 1 × 3"),
        (np.zeros((3, 3)), "the shape 3 × 3"),
        ([[0, 1], [2]], "another form"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[5, 1], [1, 0]], "dearer to call a row of class 'rare' right"),
    ],
)
def test_costs_that_cannot_be(cost, words):
    with pytest.raises(ParameterError, match=words):
        Thresholded(FOREST, cost).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({"threshold": "f1"}, np.digitize(X[:, 0], [-1, 1]), "parts two classes, and y has 3"),
        ({}, np.zeros(len(X)), "one class alone, 0"),
        ({"cv": 5}, (np.arange(len(X)) < 3).astype(int), "class 1 has only 3 rows.* Use cv=3"),
        ({"cv": 2}, (np.arange(len(X)) < 1).astype(int), "class 1 has only 1 row, .* Use a number"),
        ({"cv": KFold(2)}, np.sort(Y), "rows of one class alone"),
        ({"pos_label": "strange"}, Y, "`pos_label` of Thresholded is 'strange'"),
        ({"estimator": LogisticRegression(), "cv": "oob"}, Y, "judges no rows out of bag"),
        ({"estimator": weald.LinearSVC()}, Y, "fit and predict_proba"),
        ({"estimator": RandomForestClassifier}, Y, "fit and predict_proba"),
    ],
)
def test_what_cannot_be_is_said(options, y, words):
    model = Thresholded(**{"estimator": FOREST} | options)
    with pytest.raises((DataError, ParameterError), match=words):
        model.fit(X, y)


def test_a_class_that_no_tree_can_judge_is_said():
    few = RandomForestClassifier(2, random_state=3)
    bags = few.fit(X, Y).estimators_samples_
    in_both = np.intersect1d(*bags)[0]  # bags do not depend on labels
    y = np.where(np.arange(len(X)) == in_both, "one", "others")
    unjudged = pytest.warns(UserWarning, match="do not have OOB scores")
    with unjudged, pytest.raises(DataError, match="there is none of class 'one'"):
        Thresholded(few, "f1").fit(X, y)
