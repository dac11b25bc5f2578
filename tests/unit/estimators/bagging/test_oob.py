"""Out-of-bag judgement of bagging: by the members that did not see the row, and by nobody else."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC

from weald import BaggingClassifier, BaggingRegressor
from weald.errors import DataError


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.5])]


def by_hand(model, X, width, say):
    total, votes = np.zeros((len(X), width)), np.zeros(len(X))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        total[out] += say(member, X[out])
        votes[out] += 1
    return total / votes[:, None]


@pytest.mark.parametrize("base", [None, GaussianNB(), SVC()])
@pytest.mark.parametrize("options", [{}, {"bootstrap": False, "max_samples": 0.7}])
def test_labels(base, options):
    X, y = table()
    model = BaggingClassifier(base, n_estimators=40, random_state=0, oob_score=True, **options).fit(X, y)

    def say(member, part):
        if hasattr(member, "predict_proba"):
            return member.predict_proba(part)
        return member.predict(part)[:, None] == model.classes_

    expected = by_hand(model, X, 3, say)
    assert np.allclose(model.oob_decision_function_, expected)
    said = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == accuracy_score(y, said)
    assert model.oob_score_ < model.score(X, y)


@pytest.mark.parametrize("base", [None, KNeighborsRegressor()])
def test_numbers(base):
    X, _ = table()
    y = X[:, 0] + X[:, 1] ** 2
    model = BaggingRegressor(base, n_estimators=40, random_state=0, oob_score=True).fit(X, y)
    expected = by_hand(model, X, 1, lambda member, part: member.predict(part)[:, None])[:, 0]
    assert np.allclose(model.oob_prediction_, expected)
    assert model.oob_score_ == pytest.approx(r2_score(y, expected))
    model.set_params(oob_score=mean_absolute_error).fit(X, y)
    assert model.oob_score_ == pytest.approx(mean_absolute_error(y, expected))


def test_a_metric_of_labels():
    X, y = table()
    model = BaggingClassifier(n_estimators=40, random_state=0, oob_score=balanced_accuracy_score).fit(X, y)
    said = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == balanced_accuracy_score(y, said)


def test_weights_count_in_the_score():
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2, 150)
    model = BaggingClassifier(n_estimators=40, random_state=0, oob_score=True)
    model.fit(X, y, sample_weight=weight)
    said = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == pytest.approx(accuracy_score(y, said, sample_weight=weight))


def test_rows_in_every_bag_are_named():
    X, y = table()
    model = BaggingClassifier(n_estimators=2, random_state=0, oob_score=True)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores") as caught:
        model.fit(X, y)
    lacking = np.flatnonzero(np.isnan(model.oob_decision_function_).any(axis=1))
    inside = set(model.estimators_samples_[0]) & set(model.estimators_samples_[1])
    assert set(lacking.tolist()) == {int(row) for row in inside}
    text = str(caught[0].message)
    first = ", ".join(map(str, lacking[:5]))
    assert f"{len(lacking)} of 150 rows, {first} and {len(lacking) - 5} more" in text
    assert "Use more members (n_estimators)" in text
    assert caught[0].filename == __file__
    voted = ~np.isnan(model.oob_decision_function_).any(axis=1)
    said = model.classes_[model.oob_decision_function_[voted].argmax(axis=1)]
    assert model.oob_score_ == accuracy_score(y[voted], said)


def test_no_row_out_of_bag_at_all():
    with pytest.raises(DataError, match="No row is out of bag for any of the 3 members"):
        BaggingRegressor(n_estimators=3, oob_score=True).fit([[1.0]], [1.0])
    weight = [1.0, 0.0]
    with pytest.raises(DataError, match="No row is out of bag"):
        BaggingRegressor(n_estimators=3, oob_score=True).fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=weight)


def test_close_to_the_test_error():
    X, y = table(600, seed=1)
    model = BaggingClassifier(n_estimators=60, random_state=0, oob_score=True).fit(X, y)
    new_X, new_y = table(2000, seed=2)
    noise = 3 * np.sqrt(0.25 / 600 + 0.25 / 2000)
    assert abs(model.oob_score_ - model.score(new_X, new_y)) < noise


def test_old_results_go_with_a_new_fit():
    X, y = table()
    model = BaggingClassifier(n_estimators=40, random_state=0, oob_score=True).fit(X, y)
    model.set_params(oob_score=np.False_, bootstrap=np.True_).fit(X, y)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")


def test_warm_start_judges_all_members():
    X, y = table()
    whole = BaggingClassifier(n_estimators=40, random_state=0, oob_score=True).fit(X, y)
    grown = BaggingClassifier(n_estimators=20, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=40, oob_score=True).fit(X, y)
    assert np.array_equal(whole.oob_decision_function_, grown.oob_decision_function_)
