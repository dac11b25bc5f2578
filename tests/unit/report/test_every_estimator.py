"""A report of every kind of estimator: what does not apply is left out with a sentence, nothing fails."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald

RNG = np.random.default_rng(3)
N = 150
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "<b>age</b>": RNG.integers(1, 9, N).astype(float),
        "town": pd.Categorical(RNG.choice(["Bern", "Basel", "<i>Chur</i>"], N)),
    }
)
TABLE.loc[::9, "<b>age</b>"] = np.nan
WHOLE = TABLE.assign(**{"<b>age</b>": TABLE["<b>age</b>"].fillna(3.0)})
SCORE = TABLE["size"] + 0.7 * (TABLE["town"] == "Bern") + 0.3 * RNG.normal(size=N)
TWO = np.where(SCORE > 0.2, "yes", "no")
THREE = np.array(["low", "mid", "high"])[np.digitize(SCORE, [-0.3, 0.7])]
NUMBERS = SCORE.to_numpy() * 10
PLAIN = WHOLE[["size", "<b>age</b>"]]

CLASSIFIERS = [
    weald.DecisionTreeClassifier(max_depth=4),
    weald.RandomForestClassifier(8, random_state=0),
    weald.ExtraTreesClassifier(8, random_state=0),
    weald.BalancedRandomForestClassifier(8, random_state=0),
    weald.BaggingClassifier(n_estimators=5, random_state=0),
    weald.BalancedBaggingClassifier(n_estimators=4, random_state=0),
    weald.EasyEnsembleClassifier(n_estimators=3, random_state=0),
    weald.RUSBoostClassifier(n_estimators=5, random_state=0),
    weald.AdaBoostClassifier(n_estimators=8, random_state=0),
    weald.GradientBoostingClassifier(n_estimators=8, random_state=0),
    weald.XGBClassifier(n_estimators=8),
    weald.XGBRFClassifier(n_estimators=5),
    weald.SVC(),
    weald.SVC(probability=True, random_state=0),
    weald.LinearSVC(),
    weald.LogisticRegression(),
    weald.KNeighborsClassifier(),
    weald.VotingClassifier(
        [("tree", weald.DecisionTreeClassifier(max_depth=3)), ("near", weald.KNeighborsClassifier())],
        voting="soft",
    ),
    weald.VotingClassifier([("tree", weald.DecisionTreeClassifier()), ("line", weald.LinearSVC())]),
    weald.Resampled(weald.DecisionTreeClassifier(max_depth=3), weald.RandomOverSampler(random_state=0)),
]
REGRESSORS = [
    weald.DecisionTreeRegressor(max_depth=4),
    weald.RandomForestRegressor(8, random_state=0),
    weald.ExtraTreesRegressor(8, random_state=0),
    weald.BaggingRegressor(n_estimators=5, random_state=0),
    weald.AdaBoostRegressor(n_estimators=8, random_state=0),
    weald.GradientBoostingRegressor(n_estimators=8, random_state=0),
    weald.XGBRegressor(n_estimators=8),
    weald.XGBRFRegressor(n_estimators=5),
    weald.SVR(),
    weald.LinearSVR(),
    weald.KNeighborsRegressor(),
    weald.VotingRegressor([("tree", weald.DecisionTreeRegressor()), ("near", weald.KNeighborsRegressor())]),
]


def told(model: object, y: np.ndarray, X: pd.DataFrame = WHOLE) -> weald.report.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:100], y[:100])
        return weald.report(model, X[100:], y[100:], train=(X[:100], y[:100]), max_rows=40)


def sound(made: weald.report.Report) -> None:
    page = made.to_html()
    assert "<i>Chur" not in page
    assert "<b>age" not in page
    assert not re.search(r"\bnan\b", page)
    assert page.count("<svg") == page.count("</svg>") > 3
    assert made.to_json() == made.to_json()


#: of three labels those that answer in ways of their own
CASES = [*((model, TWO) for model in CLASSIFIERS), *((CLASSIFIERS[k], THREE) for k in (1, 8, 10, 12, 14, 18))]


@pytest.mark.parametrize(
    ("model", "y"), CASES, ids=[f"{type(model).__name__}-{len(set(y.tolist()))}" for model, y in CASES]
)
def test_classifiers(model: object, y: np.ndarray) -> None:
    made = told(model, y)
    sound(made)
    found = made.summary
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        assert found.left_out == ()
    else:  # labels alone cannot be averaged
        assert [name for name, _ in found.left_out] == ["effects of columns", "single rows"]
    assert found.scores is not None
    assert found.classes is not None
    assert (found.classes.roc is not None) == (
        len(model.classes_) == 2 and found.classes.thresholds is not None
    )
    assert (found.classes.calibration is None) == (not hasattr(model, "predict_proba"))


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_regressors(model: object) -> None:
    made = told(model, NUMBERS)
    sound(made)
    assert made.summary.left_out == ()
    assert made.summary.residuals is not None


def test_missing_values_and_a_threshold() -> None:
    inner = weald.RandomForestClassifier(8, random_state=0)
    sound(told(weald.Thresholded(inner, cv=2), TWO, TABLE))
    sound(told(weald.Conformal(weald.RandomForestRegressor(8, random_state=0)), NUMBERS, TABLE))


def test_models_of_scikit_learn() -> None:
    made = told(make_pipeline(StandardScaler(), LinearRegression()), NUMBERS, PLAIN)
    sound(made)
    assert "no file of weald" in made.summary.made.notes[0]
    sound(told(HistGradientBoostingClassifier(max_iter=5), THREE, PLAIN))


def test_a_booster_has_no_labels() -> None:
    booster = weald.train({"objective": "binary:logistic"}, weald.DMatrix(PLAIN[:100], TWO[:100] == "yes"), 2)
    with pytest.raises(weald.errors.DataTypeError, match="XGBClassifier"):
        weald.report(booster, PLAIN[100:], TWO[100:] == "yes")
