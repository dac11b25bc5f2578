"""Probabilities of `SVC`: they agree with predictions, are calibrated, and appear only when asked for."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from unit.estimators.svm.kernel.data import blobs

from weald import SVC
from weald.errors import DataError

HOW = [
    {"n_classes": n, "probability": probability, "multi_class": multi_class, "class_weight": class_weight}
    for n, multi_class in ((2, "ovo"), (4, "ovo"), (4, "ovr"))
    for probability in (True, "isotonic")
    for class_weight in (None, "balanced")
]


@pytest.mark.parametrize("how", HOW, ids=str)
def test_the_likeliest_class_is_the_predicted_one(how):
    X, y = blobs(120, how["n_classes"], spread=3.0)
    y = np.where(np.arange(120) % 5 == 0, y, 0)  # classes of different size, and much that overlaps
    model = SVC(random_state=0, **{name: value for name, value in how.items() if name != "n_classes"})
    model.fit(X, np.array(list("abcd"))[y])
    new = np.random.default_rng(1).normal(size=(500, 3)) * 4
    shares = model.predict_proba(new)
    assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(new))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares >= 0).all()
    assert np.array_equal(np.exp(model.predict_log_proba(new)), np.exp(np.log(shares)))
    plain = SVC(multi_class=how["multi_class"], class_weight=how["class_weight"])
    assert np.array_equal(plain.fit(X, np.array(list("abcd"))[y]).predict(new), model.predict(new))


def overlapping(n_rows, seed):
    """Rows of one column whose class has a known probability."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n_rows, 1))
    truth = 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, (rng.random(n_rows) < truth).astype(int), truth


@pytest.mark.parametrize("probability", ["sigmoid", "isotonic"])
def test_probabilities_are_calibrated(probability):
    X, y, _ = overlapping(600, 0)
    new, labels, truth = overlapping(2000, 1)
    model = SVC(kernel="linear", probability=probability, random_state=0).fit(X, y)
    shares = model.predict_proba(new)[:, 1]
    assert np.abs(shares - truth).mean() < (0.03 if probability == "sigmoid" else 0.06)
    assert log_loss(labels, shares) < log_loss(labels, truth) + 0.02


def test_probabilities_are_absent_unless_asked_for():
    X, y = blobs()
    for model in (SVC(), SVC().fit(X, y)):
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError) as caught:
        SVC().fit(X, y).predict_proba(X)
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)
    assert hasattr(SVC(probability=True), "predict_proba")


def test_probabilities_follow_the_seed():
    X, y = blobs(60, spread=3.0)
    one, same, other = (
        SVC(probability=True, random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_rare_class_takes_fewer_folds_and_a_single_row_is_refused():
    X, _ = blobs(40)
    rare = np.where(np.arange(40) < 2, 1, 0)
    assert SVC(probability=True, random_state=0).fit(X, rare).predict_proba(X).shape == (40, 2)
    single = np.where(np.arange(40) < 1, "few", "many")
    with pytest.raises(DataError, match=r"`probability` of SVC needs two rows of every class.*'few' has 1"):
        SVC(probability=True).fit(X, single)


def test_weights_shape_the_probabilities_as_repeated_rows_would():
    X, y, _ = overlapping(300, 3)
    heavy = SVC(kernel="linear", probability=True, random_state=0, class_weight={1: 4.0}).fit(X, y)
    even = SVC(kernel="linear", probability=True, random_state=0).fit(X, y)
    at = [[0.0]]
    odds = [model.predict_proba(at)[0, 1] / model.predict_proba(at)[0, 0] for model in (heavy, even)]
    assert odds[0] / odds[1] == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("ensemble", [True, False])
def test_scikit_learns_calibration_takes_it(ensemble):
    X, y = blobs(90, 3)
    model = CalibratedClassifierCV(SVC(), ensemble=ensemble, cv=3).fit(X, y)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert (model.predict(X) == y).mean() > 0.8
