"""Voting: named members, their parameters, 'drop', weights, what each says, and errors that name a member."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from unit.io import boosters

from weald import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
    XGBClassifier,
    XGBRegressor,
)
from weald.errors import DataError, DataTypeError, MemberError, ParameterError


def points(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.array([10, 20, 30])[np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.5])]


def members():
    return [
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3)),
        ("knn", KNeighborsClassifier()),
    ]


@pytest.mark.parametrize("flatten_transform", [True, False])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_as_scikit_learns_with_a_member_dropped(voting, flatten_transform):
    X, y = points()
    options = {"voting": voting, "weights": [1, 5, 2], "flatten_transform": flatten_transform}
    ours = VotingClassifier(members(), **options).set_params(tree="drop").fit(X, y)
    theirs = ensemble.VotingClassifier(members(), **options).set_params(tree="drop").fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    assert len(ours.estimators_) == 2
    assert ours.named_estimators_["tree"] == "drop"
    assert ours.named_estimators_.bayes is ours.estimators_[0]
    assert ours.n_features_in_ == theirs.n_features_in_ == 4
    if flatten_transform:
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        frame = ours.set_output(transform="pandas").transform(X)
        assert frame.columns.tolist() == theirs.get_feature_names_out().tolist()
    elif voting == "soft":
        with pytest.raises(DataError, match="three dimensions"):
            ours.get_feature_names_out()


def test_equal_votes_go_to_the_first_label():
    class Says(ClassifierMixin, BaseEstimator):
        def __init__(self, label=None):
            self.label = label

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.label)

    X, y = np.zeros((4, 1)), np.array(["a", "b", "c", "c"])
    model = VotingClassifier([("one", Says("c")), ("two", Says("b"))]).fit(X, y)
    assert model.predict(X).tolist() == ["b"] * 4
    assert model.set_params(weights=[1.5, 1]).predict(X).tolist() == ["c"] * 4
    strange = VotingClassifier([("odd", Says("z")), ("two", Says("b"))]).fit(X, y)
    with pytest.raises(
        DataError, match=r"The member 'odd' of VotingClassifier, a Says, failed.*'z'.*none of the"
    ):
        strange.predict(X)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_tables_of_every_kind_and_labels_of_any_type(make):
    X = boosters.rows(120)
    columns = {name: X[name] for name in ("length", "flag", "island", "code")}
    y = np.where(np.array([v or 0.0 for v in X["length"]]) > 0, "yes", "no").astype(object)
    model = VotingClassifier(
        [
            ("tree", DecisionTreeClassifier(class_weight={"yes": 2.0})),
            ("boosted", XGBClassifier(n_estimators=3)),
            ("bagged", BaggingClassifier(n_estimators=3, random_state=0)),
        ],
        voting="soft",
    ).fit(make(columns), y)
    assert model.score(make(columns), y) > 0.9
    assert model.named_estimators_.tree.predict(columns).tolist() == y.tolist()
    assert np.allclose(model.predict_proba(make(columns)).sum(axis=1), 1)
    assert model.feature_names_in_.tolist() == list(columns)


def test_the_same_for_any_number_of_jobs():
    X, y = points()
    found = [
        VotingClassifier(members(), voting="soft", n_jobs=n).fit(X, y).predict_proba(X) for n in (None, 2)
    ]
    assert np.array_equal(*found)


def test_parameters_of_members():
    model = VotingClassifier(members())
    names = model.get_params()
    assert names["tree__max_depth"] == 3
    assert names["tree"] is model.estimators[1][1]
    assert set(model.get_params(deep=False)) == {
        "estimators",
        "flatten_transform",
        "n_jobs",
        "verbose",
        "voting",
        "weights",
    }
    model.set_params(tree__max_depth=5, voting="soft", knn=GaussianNB())
    assert model.estimators[1][1].max_depth == 5
    assert type(model.estimators[2][1]) is GaussianNB
    assert model.named_estimators.tree.max_depth == 5
    model.set_params(estimators=[("new", SVC())], new__C=7)
    assert model.estimators[0][1].C == 7
    with pytest.raises(ParameterError, match=r"`voting_` is no parameter or member .*did you mean `voting`"):
        model.set_params(voting_="soft")
    copy = clone(VotingClassifier(members()))
    assert copy.estimators[1][1] is not members()[1][1]
    X, y = points()
    search = GridSearchCV(VotingClassifier(members()), {"tree__max_depth": [1, 3], "knn": ["drop"]}, cv=2)
    assert len(search.fit(X, y).best_estimator_.estimators_) == 2


def test_weights_reach_every_member():
    X, y = points()
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    pair = [("tree", DecisionTreeClassifier(max_depth=2)), ("bayes", GaussianNB())]
    model = VotingClassifier(pair, voting="soft").fit(X, y, sample_weight=weight)
    theirs = ensemble.VotingClassifier(pair, voting="soft").fit(X, y, sample_weight=weight)
    assert np.array_equal(model.predict_proba(X), theirs.predict_proba(X))
    with pytest.raises(DataTypeError, match=r"the member 'knn' of VotingClassifier, a KNeighborsClassifier,"):
        VotingClassifier(members()).fit(X, y, sample_weight=weight)


def test_numbers():
    X, _ = points()
    y = X[:, 0] + X[:, 1]
    model = VotingRegressor([("a", Ridge()), ("b", XGBRegressor(n_estimators=5))], weights=[3, 1]).fit(X, y)
    said = model.transform(X)
    assert np.array_equal(model.predict(X), np.average(said, axis=1, weights=[3, 1]))
    assert model.get_feature_names_out().tolist() == ["votingregressor_a", "votingregressor_b"]
    assert np.array_equal(VotingRegressor(model.estimators).fit_transform(X, y), said)
    with pytest.raises(DataError, match="one number per row; y has 2 columns"):
        model.fit(X, X[:, :2])
    several = XGBRegressor(n_estimators=2, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9])
    with pytest.raises(DataError, match=r"The member 'q'.*one number per row is needed"):
        VotingRegressor([("q", several)]).fit(X, y).predict(X)


def test_pickled_and_unfitted():
    X, y = points()
    model = VotingClassifier(members())
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "predict_proba")
    model.fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    assert pipeline.score(X, y) > 0.5


def test_silent_unless_asked(capfd):
    X, y = points()
    VotingClassifier(members()).fit(X, y)
    assert capfd.readouterr() == ("", "")
    VotingClassifier(members(), verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    assert err == ""
    assert out.count("[Voting]") == 3
    assert "(2 of 3) Processing tree, total=" in out


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimators": []}, "non-empty list"),
        ({"estimators": None}, "`estimators` of VotingClassifier must be a list"),
        ({"estimators": [GaussianNB()]}, r"list of \(name, estimator\)"),
        ({"estimators": [("a", GaussianNB()), ("a", SVC())]}, "not unique.*'a' twice"),
        ({"estimators": [("a__b", GaussianNB())]}, "must not contain __"),
        ({"estimators": [("voting", GaussianNB())]}, "conflict with constructor arguments"),
        ({"estimators": [("a", GaussianNB)]}, "The member 'a' of VotingClassifier must be an estimator"),
        ({"estimators": [("a", "drop")]}, "All estimators are dropped"),
        ({"estimators": [("a", Ridge())]}, "The member 'a' .* must be a classifier"),
        ({"voting": "loud"}, "`voting` of VotingClassifier must be 'hard' or 'soft'"),
        ({"weights": [1]}, "`weights` of VotingClassifier has 1 for 3 estimators"),
        ({"weights": [1, -1, 2]}, "finite numbers of at least 0; got -1"),
        ({"weights": [1, None, 2]}, "finite numbers"),
        ({"weights": [0, 0, 0]}, "no member with a weight above 0"),
        ({"n_jobs": 0}, "`n_jobs`"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ParameterError, match=message):
        VotingClassifier(**({"estimators": members()} | params)).fit(*points())


def test_a_member_that_fails_is_named():
    X, y = points()
    broken = X.copy()
    broken[3, 1] = np.nan
    model = VotingClassifier([("tree", DecisionTreeClassifier()), ("line", LogisticRegression())])
    with pytest.raises(
        DataError, match=r"The member 'line' of VotingClassifier, a LogisticRegression, failed.*NaN"
    ):
        model.fit(broken, y)
    assert not hasattr(model, "estimators_")
    model.fit(X, y)
    with pytest.raises(DataError, match=r"The member 'tree'.*X has 2 features"):
        model.predict(X[:, :2])
    no_shares = VotingClassifier([("svm", SVC())], voting="soft").fit(X, y)
    with pytest.raises(MemberError, match=r"The member 'svm'.*no predict_proba"):
        no_shares.predict(X)
    with pytest.raises(ParameterError, match="must be a regressor"):
        VotingRegressor([("a", DecisionTreeClassifier())]).fit(X, y)
    with pytest.raises(DataError, match="are not supported: y has 2 columns"):
        model.fit(X, np.column_stack([y, y]))
    assert VotingRegressor([("a", DecisionTreeRegressor())]).fit(X, y).predict(X).shape == (150,)
