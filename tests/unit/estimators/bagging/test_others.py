"""Bagging with estimators of other libraries: rows in the user's own type, votes, joblib, errors."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from weald import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, XGBRegressor
from weald.errors import DataError, DataTypeError, MemberError, ParameterError


def points(n=120, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    return X, np.array(["lo", "mid", "hi"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])]


@pytest.mark.parametrize(
    "base",
    [
        KNeighborsClassifier(3),
        SVC(),
        LogisticRegression(),
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        DecisionTreeClassifier(prune="cv", cv=3),
    ],
)
def test_any_classifier(base):
    X, y = points()
    model = BaggingClassifier(base, n_estimators=5, random_state=0).fit(X, y)
    assert type(model.estimators_[0]) is type(base)
    assert set(model.predict(X)) <= {"lo", "mid", "hi"}
    assert model.score(X, y) > 0.75
    shares = model.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    if hasattr(base, "predict_proba"):
        expected = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    else:
        said = [member.predict(X)[:, None] == model.classes_ for member in model.estimators_]
        expected = np.mean(said, axis=0)
    assert np.allclose(shares, expected)


def test_rows_drawn_twice_weigh_twice_or_stand_twice():
    X, y = points()
    seen = {}

    class Weighing(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen["weighing"] = (len(X), sample_weight)
            return super().fit(X, y, sample_weight)

    class Plain(KNeighborsClassifier):
        def fit(self, X, y):
            seen["plain"] = len(X)
            return super().fit(X, y)

    model = BaggingClassifier(Weighing(), n_estimators=1, random_state=0).fit(X, y)
    rows, weight = seen["weighing"]
    assert rows == 120
    assert np.array_equal(weight, np.bincount(model.estimators_samples_[0], minlength=120))
    BaggingClassifier(Plain(), n_estimators=1, random_state=0).fit(X, y)
    assert seen["plain"] == 120
    BaggingClassifier(Weighing(), n_estimators=1, bootstrap=False).fit(X, y)
    assert seen["weighing"] == (120, None)


def test_rows_are_told_in_the_order_in_which_members_get_them():
    X, y = points()

    class Keeps(KNeighborsClassifier):
        def fit(self, X, y):
            self.table_ = X
            return super().fit(X, y)

    model = BaggingClassifier(Keeps(), n_estimators=3, random_state=0).fit(X, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert np.array_equal(member.table_, X[rows])


def test_weights_as_repeated_rows():
    X, y = points()
    model = BaggingClassifier(GaussianNB(), n_estimators=3, random_state=0).fit(X, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert np.allclose(member.theta_, GaussianNB().fit(X[rows], y[rows]).theta_)


def test_weights_where_members_take_none():
    X, y = points()
    weight = np.linspace(0.0, 2.0, 120)
    model = BaggingClassifier(KNeighborsClassifier(1), n_estimators=3).fit(X, y, sample_weight=weight)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert np.array_equal(member.predict(X[rows]), y[rows])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_members_get_frames_of_the_users_type(frame):
    X, y = points()
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"city": np.array(["Bern", "Chur"])[(X[:, 3] > 0) * 1]}
    table = frame(columns)
    seen = []

    class Spy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            seen.append(type(X))
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            seen.append(type(X))
            return np.full(len(X), self.classes_[0])

    model = BaggingClassifier(Spy(), n_estimators=2, max_features=0.5, random_state=0).fit(table, y)
    assert model.predict(table).tolist() == ["hi"] * 120
    assert set(seen) == {type(table)}
    if frame is not pa.table:
        steps = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
        mixed = BaggingClassifier(make_pipeline(steps, GaussianNB()), n_estimators=3, random_state=0)
        mixed.fit(table, y)
        assert mixed.score(table, y) > 0.7
        shuffled = frame({name: columns[name] for name in ("city", "x2", "x0", "x1")})
        assert np.array_equal(mixed.predict_proba(shuffled), mixed.predict_proba(table))


def test_sparse_and_lists():
    X, y = points()
    X[X < 0] = 0
    model = BaggingClassifier(LogisticRegression(), n_estimators=3, max_features=0.75, random_state=0)
    dense = model.fit(X, y).predict_proba(X)
    assert np.array_equal(clone(model).fit(X.tolist(), y.tolist()).predict_proba(X.tolist()), dense)
    assert np.allclose(
        clone(model).fit(sparse.csc_array(X), y).predict_proba(sparse.coo_array(X)), dense, atol=1e-3
    )


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_same_for_any_number_of_jobs(backend):
    X, _ = points()
    numbers = np.asarray(X[:, 0] ** 2)
    with parallel_config(backend=backend):
        found = [
            BaggingRegressor(
                KNeighborsRegressor(),
                n_estimators=4,
                n_jobs=n,
                random_state=0,
                max_features=2,
                oob_score=True,
            )
            for n in (1, 2, 5)
        ]
        for model in found:
            with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
                model.fit(X, numbers)
        for model in found[1:]:
            assert np.array_equal(model.predict(X), found[0].predict(X))
            assert np.array_equal(model.oob_prediction_, found[0].oob_prediction_, equal_nan=True)
            assert model.oob_score_ == found[0].oob_score_


def test_every_part_with_a_seed_gets_its_own():
    X, _ = points()

    class Noise(RegressorMixin, BaseEstimator):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y):
            self.seed_ = self.random_state
            return self

        def predict(self, X):
            return np.full(len(X), float(self.seed_ % 7))

    first, again = (
        [
            m[-1].seed_
            for m in BaggingRegressor(make_pipeline(StandardScaler(), Noise()), random_state=1).fit(
                X, X[:, 0]
            )
        ]
        for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == 10
    assert all(type(seed) is int for seed in first)


def test_decision_functions_are_averaged():
    X, y = points()
    model = BaggingClassifier(SVC(), n_estimators=3, random_state=0).fit(X, y)
    expected = sum(member.decision_function(X) for member in model.estimators_) / 3
    assert np.array_equal(model.decision_function(X), expected)
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier(KNeighborsClassifier()).fit(X, y), "decision_function")
    rare = y.astype(object)
    rare[rare == "mid"] = "lo"
    rare[:1] = "rare"
    model = BaggingClassifier(LinearSVC(), n_estimators=10, random_state=0).fit(X, rare)
    with pytest.raises(DataError, match=r"LinearSVC of bag \d+ failed.*2 of 3 classes"):
        model.decision_function(X)
    assert model.predict(X).shape == (120,)


def test_classes_that_a_bag_lacks_get_0():
    X, y = points()
    rare = y.astype(object)
    rare[:1] = "rare"
    model = BaggingClassifier(GaussianNB(), n_estimators=8, random_state=0).fit(X, rare)
    assert min(len(member.classes_) for member in model.estimators_) == 3
    assert model.predict_proba(X).shape == (120, 4)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


class Failing(RegressorMixin, BaseEstimator):
    """Fails where a row is in its bag."""

    def __init__(self, error=ValueError, when="fit"):
        self.error = error
        self.when = when

    def fit(self, X, y):
        if self.when == "fit" and 7.0 in y:
            raise self.error("no sevens please")
        return self

    def predict(self, X):
        if self.when == "predict":
            raise self.error("not today")
        return np.zeros(len(X))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    ("error", "raised"), [(ValueError, DataError), (TypeError, DataTypeError), (KeyError, MemberError)]
)
def test_one_that_fails_is_named(error, raised, n_jobs):
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = BaggingRegressor(Failing(error), n_estimators=6, random_state=0, n_jobs=n_jobs)
    clean = BaggingRegressor(Failing(when="never"), n_estimators=6, random_state=0).fit(X, y)
    bags = "|".join(str(k) for k, rows in enumerate(clean.estimators_samples_) if 7 in rows)
    # Processes could not import a class of this file.
    with (
        parallel_config(backend="threading"),
        pytest.raises(
            raised, match=rf"The Failing of bag ({bags}) failed: {error.__name__}: .*no sevens please"
        ),
    ):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")
    late = BaggingRegressor(Failing(error, "predict"), n_estimators=2).fit(X, y)
    with pytest.raises(raised, match=r"The Failing of bag 0 failed.*not today"):
        late.predict(X)


def test_warm_start():
    X, y = points()
    model = BaggingClassifier(GaussianNB(), n_estimators=2, random_state=1, warm_start=True).fit(X, y)
    kept = model.estimators_[0]
    model.set_params(n_estimators=5).fit(X, y)
    assert model.estimators_[0] is kept
    fresh = BaggingClassifier(GaussianNB(), n_estimators=5, random_state=1).fit(X, y)
    assert np.array_equal(model.predict_proba(X), fresh.predict_proba(X))
    model.set_params(estimator=None, n_estimators=6)
    with pytest.raises(ParameterError, match="another kind, a DecisionTreeClassifier"):
        model.fit(X, y)


def test_several_outputs_and_other_columns():
    X, _ = points()
    model = BaggingRegressor(LinearRegression(), n_estimators=3, random_state=0)
    assert np.allclose(model.fit(X, X[:, :2]).predict(X), X[:, :2])
    with pytest.raises(DataError, match="X has 2 features, but BaggingRegressor is expecting 4"):
        model.predict(X[:, :2])
    frame = pd.DataFrame(X, columns=list("abcd"))
    model.fit(frame, X[:, 0])
    with pytest.raises(DataError, match="unseen at fit time:\n- e"):
        model.predict(frame.rename(columns={"a": "e"}))
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        model.fit(frame, X[:50, 0])


def test_pickled_with_its_members():
    X, y = points()
    model = BaggingClassifier(KNeighborsClassifier(), n_estimators=3, random_state=0).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_a_wrong_parameter_of_a_member_stays_one():
    X, _ = points()
    with pytest.raises(
        ParameterError, match=r"The XGBRegressor of bag 0 failed: ParameterError: `max_depth`"
    ):
        BaggingRegressor(XGBRegressor(max_depth=-3)).fit(X, X[:, 0])


def test_boosters_as_members():
    X, _ = points()
    model = BaggingRegressor(XGBRegressor(n_estimators=5), n_estimators=3, random_state=0, max_features=0.5)
    table = {f"x{j}": X[:, j].tolist() for j in range(4)}
    model.fit(table, X[:, 0])
    assert model.predict(table).shape == (120,)
    assert [member.n_features_in_ for member in model.estimators_] == [2, 2, 2]


def test_silent_unless_asked(capfd):
    X, y = points()
    for base in (None, GaussianNB()):
        BaggingClassifier(base, n_estimators=3).fit(X, y)
        assert capfd.readouterr() == ("", "")
        BaggingClassifier(base, n_estimators=3, verbose=1).fit(X, y)
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("member 3/3")
        assert "members/s" in err
