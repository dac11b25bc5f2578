"""What all ensembles do for their members: keep them, name them, give them the tables they take."""

import errno
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from weald.errors import DataError, MemberError, ParameterError, WealdError, naming_member
from weald.estimators.shared import members

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
LABELS = np.where(Y > 0, "yes", "no")


class Silent(RegressorMixin, BaseEstimator):
    """A regressor whose `fit` returns nothing."""

    def fit(self, X, y, sample_weight=None):
        self.kind_ = type(X)
        self.model_ = LinearRegression().fit(X, y, sample_weight)

    def predict(self, X):
        return self.model_.predict(X)


class SilentClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose `fit` returns nothing."""

    def fit(self, X, y, sample_weight=None):
        self.kind_ = type(X)
        self.model_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize(
    "model",
    [
        BaggingRegressor(Silent(), n_estimators=2),
        VotingRegressor([("a", Silent())]),
        AdaBoostRegressor(Silent(), n_estimators=2),
        GradientBoostingRegressor(estimator=Silent(), n_estimators=2),
        GradientBoostingRegressor(init=Silent(), n_estimators=2),
    ],
)
def test_a_member_whose_fit_returns_nothing_is_kept(model):
    model.fit(X, Y)
    members = np.ravel(model.init_ if model.get_params().get("init") is not None else model.estimators_)
    assert all(isinstance(member, Silent) for member in members)
    assert model.score(X, Y) > 0.3


class Keeps(Silent):
    """A regressor that remembers the kind of table it was given."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return self


class KeepsClassifier(SilentClassifier):
    """A classifier that does so."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return self


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(KeepsClassifier(), n_estimators=2, random_state=0),
        BaggingRegressor(Keeps(), n_estimators=2, random_state=0),
        AdaBoostClassifier(KeepsClassifier(), n_estimators=2),
        AdaBoostRegressor(Keeps(), n_estimators=2),
        VotingClassifier([("a", KeepsClassifier())]),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("container", ["csr_matrix", "csc_matrix", "csr_array", "csc_array", "coo_matrix"])
def test_members_get_sparse_tables_of_the_kind_that_was_given(container, model):
    table = getattr(sparse, container)(np.where(X > 0, X, 0.0))
    y = LABELS if is_classifier(model) else Y
    model.fit(table, y)
    if container != "coo_matrix":
        assert {member.kind_ for member in model.estimators_} == {type(table)}
    elif not isinstance(model, VotingClassifier):
        assert {member.kind_ for member in model.estimators_} == {sparse.csr_matrix}
    if not is_classifier(model):
        assert np.allclose(model.predict(table), model.predict(table.toarray()))
    assert model.score(table, y) > 0.5


def test_a_lack_of_memory_stays_a_memory_error():
    class Greedy(Silent):
        def fit(self, X, y, sample_weight=None):
            raise MemoryError("no room")

    for model in (
        BaggingRegressor(Greedy(), n_estimators=2),
        VotingRegressor([("a", Greedy())]),
        AdaBoostRegressor(Greedy(), n_estimators=2),
        GradientBoostingRegressor(estimator=Greedy(), n_estimators=2),
        GradientBoostingRegressor(init=Greedy(), n_estimators=2),
    ):
        with pytest.raises(MemoryError, match="no room") as caught:
            model.fit(X, Y)
        assert not isinstance(caught.value, WealdError)


def test_the_system_s_lack_of_memory_is_a_memory_error():
    with pytest.raises(MemoryError, match="Cannot allocate"), naming_member("Member 3"):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    with pytest.raises(MemberError, match="Member 3 failed: FileNotFoundError"), naming_member("Member 3"):
        raise FileNotFoundError(errno.ENOENT, "absent")


def test_joblib_finds_no_memory(monkeypatch):
    def refused(self, tasks):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("sklearn.utils.parallel.Parallel.__call__", refused)
    with pytest.raises(MemoryError, match="Cannot allocate"):
        list(members.in_parallel(abs, [(-1,), (2,)], 2))
    monkeypatch.setattr(members, "has", lambda n_bytes: False)  # then joblib is not even asked
    assert list(members.in_parallel(abs, [(-1,), (2,)], 2)) == [1, 2]


def test_errors_of_scikit_learn_can_still_be_caught():
    expected = pytest.raises(NotFittedError, match="The member of round 1 failed: NotFittedError")
    with expected as caught, naming_member("The member of round 1"):
        LinearRegression().predict(X)
    assert isinstance(caught.value, DataError)
    sent = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(sent, NotFittedError)
    assert isinstance(sent, DataError)
    assert str(sent) == str(caught.value)


def test_adaboost_takes_arrays_of_more_dimensions_if_members_do():
    images = RNG.normal(size=(40, 3, 2))
    labels = AdaBoostClassifier(DummyClassifier()).fit(images, [0] * 25 + [1] * 15)
    assert labels.predict(images).tolist() == [0] * 40
    assert labels.n_features_in_ == 3
    numbers = AdaBoostRegressor(DummyRegressor()).fit(images, RNG.normal(size=40))
    assert numbers.predict(images[:5]).shape == (5,)
    with pytest.raises(DataError, match="Found array with dim 3"):
        AdaBoostClassifier().fit(images, [0] * 25 + [1] * 15)


def test_regressors_without_weights_are_boosted_on_rows_drawn_by_weight():
    class Plain(Silent):
        def fit(self, X, y):
            super().fit(X, y)

    drawn = AdaBoostRegressor(Plain(), n_estimators=5, random_state=0).fit(X, Y)
    asked = AdaBoostRegressor(Plain(), n_estimators=5, random_state=0, resample="compound").fit(X, Y)
    assert np.array_equal(drawn.predict(X), asked.predict(X))
    told, expected = drawn.staged_row_weights(X, Y), asked.staged_row_weights(X, Y)
    assert all(np.array_equal(a, b) for a, b in zip(told, expected, strict=True))

    class PlainClassifier(SilentClassifier):
        def fit(self, X, y):
            super().fit(X, y)

    with pytest.raises(ParameterError, match="PlainClassifier doesn't support sample_weight"):
        AdaBoostClassifier(PlainClassifier()).fit(X, LABELS)


def test_voting_takes_texts():
    texts = ["good film", "bad film", "good play", "bad play"] * 5
    y = ["up", "down", "up", "down"] * 5
    vote = VotingClassifier([("words", make_pipeline(CountVectorizer(), MultinomialNB()))]).fit(texts, y)
    assert vote.predict(["good", "bad"]).tolist() == ["up", "down"]
    with pytest.raises(DataError, match="19"):
        VotingClassifier([("words", make_pipeline(CountVectorizer(), MultinomialNB()))]).fit(texts, y[1:])
