"""AdaBoost of estimators that are not weald's trees: rows of the user's own table, weights or samples."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from unit.estimators.adaboost.data import curve, rows

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    RandomForestClassifier,
    XGBClassifier,
    XGBRegressor,
)
from weald.errors import DataError, ParameterError

# Weights add up to 1, as in scikit-learn, and a booster's limits are on their sums.
BOOSTER = XGBClassifier(n_estimators=2, max_depth=1, min_child_weight=0, reg_lambda=0)
WEIGHED = [GaussianNB(), LogisticRegression(C=1e4), SVC(C=1e4), BOOSTER]
DRAWN = [KNeighborsClassifier(5), make_pipeline(StandardScaler(), SVC(C=10.0))]


@pytest.mark.parametrize("base", WEIGHED, ids=lambda base: type(base).__name__)
def test_bases_with_weights(base):
    X, y = rows(200)
    words = np.array(["no", "yes"])[y]
    model = AdaBoostClassifier(base, n_estimators=4, random_state=0).fit(X, words)
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.score(X, words) > 0.6
    stages = list(model.staged_predict(X))
    assert np.array_equal(stages[-1], model.predict(X))
    assert list(model.staged_score(X, words))[-1] == model.score(X, words)
    assert model.rounds_.training_error[-1] == pytest.approx(1 - model.score(X, words))


@pytest.mark.parametrize("base", DRAWN, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("resample", ["compound", "reset", "replace"])
def test_bases_without_weights(base, resample):
    X, y = rows(200)
    model = AdaBoostClassifier(base, n_estimators=4, resample=resample, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    again = AdaBoostClassifier(base, n_estimators=4, resample=resample, random_state=0).fit(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ParameterError, match="doesn't support sample_weight"):
        AdaBoostClassifier(base).fit(X, y)


def test_weights_go_to_the_samples_of_bases_without():
    X, y = rows(200)
    weight = np.where(y == 1, 1.0, 0.0)
    weight[:5] = 1.0
    model = AdaBoostClassifier(KNeighborsClassifier(1), n_estimators=1, resample="compound", random_state=0)
    model.fit(X, y, weight)
    assert model.estimators_[0].n_samples_fit_ == np.count_nonzero(weight)
    seen = model.estimators_[0].predict(X[weight == 0])
    assert (seen == 1).mean() > 0.8


def test_numbers():
    X, y = curve()
    weighed = AdaBoostRegressor(Ridge(), n_estimators=5, loss="square").fit(X, y)
    assert weighed.score(X, y) > 0.2
    drawn = AdaBoostRegressor(KNeighborsRegressor(3), resample="compound", random_state=0).fit(X, y)
    assert drawn.score(X, y) > 0.9
    boosted = AdaBoostRegressor(XGBRegressor(n_estimators=3), n_estimators=3).fit(X, y)
    assert np.array_equal(list(boosted.staged_predict(X))[-1], boosted.predict(X))


def test_tables_stay_what_they_are():
    X, y = rows(100)
    names = list("abcde")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        kinds = []

        class Watching(GaussianNB):
            def fit(self, X, y, sample_weight=None, kinds=kinds):
                kinds.append(type(X))
                return super().fit(np.asarray(X), y, sample_weight)

            def predict(self, X):
                return super().predict(np.asarray(X))

        model = AdaBoostClassifier(Watching(), n_estimators=2, resample="compound", random_state=0)
        model.fit(frame, y)
        assert kinds == [type(frame)] * 2
        turned = frame[names[::-1]]
        assert np.array_equal(model.predict(turned), model.predict(frame))
        assert model.feature_names_in_.tolist() == names
        with pytest.raises(DataError):
            model.predict(frame[names[:3]])
    base = LogisticRegression()
    matrix = sparse.csr_matrix(X)
    one = AdaBoostClassifier(base, n_estimators=3).fit(matrix, y)
    two = AdaBoostClassifier(base, n_estimators=3).fit(X, y)
    assert one.predict_proba(matrix) == pytest.approx(two.predict_proba(X), abs=1e-6)


def test_early_stopping():
    X, y = rows(300, noise=2.0)
    for held_out in (0.3, (X[200:], y[200:])):
        model = AdaBoostClassifier(
            GaussianNB(), n_estimators=50, early_stopping=held_out, early_stopping_rounds=2, random_state=0
        ).fit(X[:200], y[:200])
        assert len(model) == model.validation_errors_.argmin() + 1


def test_importances_are_those_of_the_members():
    X, y = rows(200)
    forests = AdaBoostClassifier(
        RandomForestClassifier(n_estimators=3, max_depth=1), n_estimators=3, random_state=0
    ).fit(X, y)
    assert forests.feature_importances_.sum() == pytest.approx(1)
    bayes = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    assert not hasattr(bayes, "feature_importances_")
    with pytest.raises(AttributeError, match="GaussianNB has none"):
        bayes.feature_importances_  # noqa: B018
