"""Out-of-bag votes and error curves against loops over trees."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, zero_one_loss
from support.out_of_bag import unseen_answers, unseen_rows, vote_counts

from weald import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from weald.inspection import votes as module

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]


def data(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers with gaps, labels of three classes, a number to predict."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    signal = X[:, 0] + rng.normal(size=n) / 2
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.array(["high", "low", "mid"])[np.digitize(signal, [-0.5, 0.5])], signal


def forest(kind, **parameters):
    return kind(**{"n_estimators": 15, "random_state": 3, "bootstrap": True, "max_depth": 3, **parameters})


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_votes_of_classes_are_counted_right(kind):
    X, labels, _ = data()
    model = forest(kind).fit(X, labels)
    assert np.array_equal(model.oob_votes(X), vote_counts(model, X))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_votes_of_numbers_are_means_of_the_trees_that_did_not_see_a_row(kind):
    X, _, y = data()
    model = forest(kind, oob_score=True).fit(X, y)
    n_trees, mean = model.oob_votes(X)
    sums, counts = np.zeros(len(y)), np.zeros(len(y), int)
    for rows, said in unseen_answers(model, X):
        sums[rows] += said
        counts[rows] += 1
    assert np.array_equal(n_trees, counts)
    np.testing.assert_allclose(mean, sums / counts, rtol=1e-14)
    assert np.array_equal(mean, model.oob_prediction_)


def test_rows_of_weight_0_are_seen_by_no_tree():
    X, labels, _ = data()
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    model = forest(RandomForestClassifier, n_estimators=25).fit(X, labels, weight)
    votes = model.oob_votes(X, sample_weight=weight)
    assert np.array_equal(votes[weight > 0], vote_counts(model, X, weight > 0)[weight > 0])
    assert (votes[weight == 0].sum(axis=1) == len(model)).all()


def test_labels_tell_which_rows_a_class_weight_of_0_leaves_out():
    X, labels, _ = data()
    model = forest(RandomForestClassifier, class_weight={"mid": 0}).fit(X, labels)
    present = labels != "mid"
    expected = vote_counts(model, X, present)[present]
    assert np.array_equal(model.oob_votes(X, labels)[present], expected)
    with pytest.raises(ValueError, match=r"gives a class the weight 0.*Give y"):
        model.oob_votes(X)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_curve_of_a_classifier_is_the_error_of_the_first_trees(kind):
    X, labels, _ = data()
    model = forest(kind, oob_score=True).fit(X, labels)
    shares, counts, expected = np.zeros((len(X), 3)), np.zeros(len(X), int), []
    for tree, rows in zip(model.estimators_, unseen_rows(model), strict=True):
        shares[rows] += tree.predict_proba(X[rows])
        counts[rows] += 1
        said = model.classes_[np.argmax(shares / np.maximum(counts, 1)[:, None], axis=1)]
        expected.append(np.mean((said != labels)[counts > 0]))
    curve = model.oob_error_curve(X, labels)
    np.testing.assert_allclose(curve, expected, rtol=1e-14)
    assert curve[-1] == pytest.approx(1 - model.oob_score_)
    # A metric of one's own gets the labels themselves.
    np.testing.assert_allclose(model.oob_error_curve(X, labels, metric=zero_one_loss), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("metric", [None, mean_absolute_error])
def test_curve_of_a_regressor_is_the_error_of_the_first_trees(kind, metric):
    X, _, y = data()
    model = forest(kind).fit(X, y)
    sums, counts, expected = np.zeros(len(y)), np.zeros(len(y)), []
    for rows, said in unseen_answers(model, X):
        sums[rows] += said
        counts[rows] += 1
        judged = counts > 0
        missed = y[judged] - sums[judged] / counts[judged]
        expected.append(np.mean(missed**2) if metric is None else np.mean(np.abs(missed)))
    np.testing.assert_allclose(model.oob_error_curve(X, y, metric=metric), expected, rtol=1e-12)


def test_curve_leaves_out_rows_of_weight_0():
    X, labels, _ = data()
    weight = np.where(labels == "low", 0, 2)
    model = forest(RandomForestClassifier, oob_score=True).fit(X, labels, weight)
    curve = model.oob_error_curve(X, labels, sample_weight=weight)
    assert curve[-1] == pytest.approx(1 - model.oob_score_)


def test_several_outputs_have_a_curve():
    X, labels, y = data()
    both = np.column_stack([labels, np.where(y > 0, "yes", "no")])
    model = forest(RandomForestClassifier, oob_score=True).fit(X, both)
    assert model.oob_error_curve(X, both)[-1] == pytest.approx(1 - model.oob_score_)
    wrong = model.oob_error_curve(X, both, metric=lambda a, b: np.mean((a != b).any(axis=1)))
    np.testing.assert_allclose(wrong, model.oob_error_curve(X, both))
    numbers = np.column_stack([y, y**2])
    model = forest(RandomForestRegressor, oob_score=lambda a, b: np.mean((a - b) ** 2)).fit(X, numbers)
    assert model.oob_error_curve(X, numbers)[-1] == pytest.approx(model.oob_score_)
    n_trees, mean = model.oob_votes(X)
    assert n_trees.shape == (len(X),)
    assert np.array_equal(mean, model.oob_prediction_)


def test_few_trees_at_a_time_change_nothing(monkeypatch):
    X, labels, _ = data()
    model = forest(RandomForestClassifier).fit(X, labels)
    votes, curve = model.oob_votes(X), model.oob_error_curve(X, labels)
    monkeypatch.setattr(module, "_CELLS", 4 * len(X))
    assert np.array_equal(model.oob_votes(X), votes)
    assert np.array_equal(model.oob_error_curve(X, labels), curve)


def test_rows_that_every_tree_saw_are_named():
    X, labels, y = data(n=30)
    model = forest(RandomForestClassifier, n_estimators=2).fit(X, labels)
    seen = np.setdiff1d(np.arange(30), np.concatenate(unseen_rows(model)))
    assert len(seen) > 5
    named = ", ".join(map(str, seen[:5]))
    with pytest.warns(UserWarning, match=rf"{len(seen)} of the 30 rows \({named}, …\), which have no votes"):
        votes = model.oob_votes(X)
    assert np.array_equal(np.flatnonzero(votes.sum(axis=1) == 0), seen)
    with pytest.warns(UserWarning, match="which are left out.*more trees"):
        model.oob_error_curve(X, labels)
    model = forest(RandomForestRegressor, n_estimators=2).fit(X, y)
    with pytest.warns(UserWarning, match="which have NaN"):
        _, mean = model.oob_votes(X)
    assert np.array_equal(np.flatnonzero(np.isnan(mean)), seen)


def test_curve_is_nan_as_long_as_no_row_is_out_of_bag():
    """A table of one row, which every tree saw."""
    model = forest(RandomForestRegressor, n_estimators=3).fit([[1.0]], [2.0])
    with pytest.warns(UserWarning, match="1 of the 1 rows"):
        curve = model.oob_error_curve([[1.0]], [2.0], metric=lambda a, b: 1 / len(a))
    assert np.isnan(curve).all()
