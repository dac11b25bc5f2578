"""Metadata routing: what `fit` and `predict` of bagging and voting pass on to members that ask for it."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import VotingClassifier as TheirVoting
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.neighbors import KNeighborsClassifier

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
)
from weald.errors import DataTypeError, ParameterError, UnsupportedTargetError

X = np.arange(12.0).reshape(6, 2)
Y = np.array(["a", "b", "a", "b", "a", "b"])


class Asks(ClassifierMixin, BaseEstimator):
    """Remembers what comes with the table."""

    def fit(self, X, y, sample_weight=None, tags=None):
        self.classes_ = np.array(["a", "b"])
        self.weight_, self.tags_, self.rows_ = sample_weight, tags, X
        return self

    def predict(self, X, tags=None):
        self.said_ = ("predict", tags)
        return np.repeat("a", len(X))


class AsksMore(Asks):
    """The same with probabilities."""

    def predict_proba(self, X, tags=None):
        self.said_ = ("predict_proba", tags)
        return np.tile([0.75, 0.25], (len(X), 1))

    def predict_log_proba(self, X, tags=None):
        self.said_ = ("predict_log_proba", tags)
        return np.log(np.tile([0.75, 0.25], (len(X), 1)))

    def decision_function(self, X, tags=None):
        self.said_ = ("decision_function", tags)
        return np.zeros(len(X))


class AsksOfNumbers(RegressorMixin, BaseEstimator):
    """The same of a regressor."""

    def fit(self, X, y, tags=None):
        self.tags_ = tags
        return self

    def predict(self, X, tags=None):
        self.said_ = tags
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("base", "method", "reached"),
    [
        (Asks, "predict", "predict"),
        (Asks, "predict_proba", "predict"),
        (Asks, "predict_log_proba", "predict"),
        (AsksMore, "predict", "predict_proba"),
        (AsksMore, "predict_proba", "predict_proba"),
        (AsksMore, "predict_log_proba", "predict_log_proba"),
        (AsksMore, "decision_function", "decision_function"),
    ],
)
def test_bagging_passes_on_what_members_ask_for(base, method, reached):
    with config_context(enable_metadata_routing=True):
        member = getattr(base().set_fit_request(tags=True), f"set_{reached}_request")(tags=True)
        model = BaggingClassifier(member, n_estimators=2, random_state=0).fit(X, Y, tags="all")
        said = getattr(model, method)(X, tags="new")
        assert [each.tags_ for each in model.estimators_] == ["all", "all"]
        assert [each.said_ for each in model.estimators_] == [(reached, "new")] * 2
        assert np.array_equal(said, getattr(model, method)(X))


def test_bagging_of_numbers_passes_on_what_members_ask_for():
    with config_context(enable_metadata_routing=True):
        member = AsksOfNumbers().set_fit_request(tags=True).set_predict_request(tags=True)
        model = BaggingRegressor(member, n_estimators=2).fit(X, np.arange(6.0), tags="all")
        assert model.predict(X, tags="new").tolist() == [0] * 6
        assert [(each.tags_, each.said_) for each in model.estimators_] == [("all", "new")] * 2


def test_what_has_a_value_a_row_is_cut_to_the_rows_of_the_bag():
    with config_context(enable_metadata_routing=True):
        member = Asks().set_fit_request(tags=True)  # asks for no weights: rows stand as often as drawn
        model = BaggingClassifier(member, n_estimators=2, random_state=0).fit(X, Y, tags=list("uvwxyz"))
        for each, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            assert each.tags_ == ["uvwxyz"[row] for row in rows]
            assert np.array_equal(each.rows_, X[rows])
            assert each.weight_ is None
        asking = Asks().set_fit_request(sample_weight=True, tags=True)
        model = BaggingClassifier(asking, n_estimators=2, random_state=0).fit(X, Y, tags=list("uvwxyz"))
        assert all(each.tags_ == list("uvwxyz") and each.weight_.sum() == 6 for each in model.estimators_)


def test_voting_passes_on_what_members_ask_for():
    with config_context(enable_metadata_routing=True):
        members = [
            ("both", Asks().set_fit_request(sample_weight=True, tags=True)),
            ("none", Asks().set_fit_request(sample_weight=False, tags=False)),
            ("gone", "drop"),
        ]
        model = VotingClassifier(members).fit(X, Y, sample_weight=np.arange(6.0), tags="all")
        both, none = model.estimators_
        assert (both.tags_, both.weight_.tolist()) == ("all", list(range(6)))
        assert (none.tags_, none.weight_) == (None, None)
        with pytest.raises(UnsetMetadataPassedError, match="not explicitly set as requested"):
            VotingClassifier([("a", Asks())]).fit(X, Y, tags="all")


def test_without_routing_more_arguments_are_refused():
    for model in (BaggingClassifier(Asks()), VotingClassifier([("a", Asks())])):
        with pytest.raises(
            ParameterError, match=r"fit is only supported if enable_metadata_routing=True.*'tags'"
        ):
            model.fit(X, Y, tags="all")
    with pytest.raises(ParameterError, match=r"BaggingClassifier\.predict_proba is only supported"):
        BaggingClassifier(Asks()).fit(X, Y).predict_proba(X, tags="all")
    with pytest.raises(ParameterError, match=r"BaggingRegressor\.predict is only supported"):
        BaggingRegressor().fit(X, np.arange(6.0)).predict(X, tags="all")


def test_weights_that_a_member_of_a_vote_does_not_take():
    members = [("tree", DecisionTreeClassifier()), ("near", KNeighborsClassifier(1))]
    with pytest.raises(
        DataTypeError, match="Underlying estimator KNeighborsClassifier does not support sample"
    ):
        VotingClassifier(members).fit(X, Y, sample_weight=np.ones(6))


def test_several_labels_a_row_are_not_voted_on():
    with pytest.raises(NotImplementedError, match="only supports binary or multiclass") as caught:
        VotingClassifier([("a", DecisionTreeClassifier())]).fit(X, np.ones((6, 2), int))
    assert isinstance(caught.value, UnsupportedTargetError | ValueError)


def test_a_vote_prints_a_line_for_each_member(capsys):
    members = [("first", DecisionTreeClassifier()), ("second", DecisionTreeClassifier())]
    VotingClassifier(members, verbose=True).fit(X, Y)
    printed, nothing = capsys.readouterr()
    assert nothing == ""
    lines = printed.splitlines()
    assert [line[:10] for line in lines] == ["[Voting] ."] * 2
    assert "(1 of 2) Processing first, total=" in lines[0]
    assert "(2 of 2) Processing second, total=" in lines[1]
    assert all(len(line) == 70 for line in lines)
    TheirVoting(members, verbose=True).fit(X, Y)
    theirs = capsys.readouterr().out.splitlines()
    time = re.compile(r"\d+\.\d(?=s$)")
    assert [time.sub("t", line) for line in lines] == [time.sub("t", line) for line in theirs]
    VotingRegressor([("a", DecisionTreeRegressor())]).fit(X, np.arange(6.0))
    assert capsys.readouterr().out == ""
