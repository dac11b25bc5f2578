"""Margins, strength and correlation against loops over rows and trees."""

import math

import numpy as np
import pytest
from support.out_of_bag import unseen_answers, vote_counts

from weald import ExtraTreesClassifier, RandomForestClassifier
from weald.inspection.strength import generalisation_bound, margins_of


def data(n_classes: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + y[:, None] * [4.0, 2.0, 0.0], y + 10


def naive_margins(votes: np.ndarray, y: np.ndarray, classes: np.ndarray) -> tuple[list[float], list]:
    """The margin of each row and its most voted wrong label."""
    margins, rivals = [], []
    for row, label in zip(votes.tolist(), y.tolist(), strict=True):
        share = {c: n / sum(row) for c, n in zip(classes.tolist(), row, strict=True)}
        others = [c for c in share if c != label]
        rivals.append(max(others, key=share.get) if others else None)
        margins.append(share[label] - max((share[c] for c in others), default=0.0))
    return margins, rivals


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_strength_by_the_definitions(kind, n_classes):
    X, y = data(n_classes)
    model = kind(40, bootstrap=True, max_depth=3, random_state=0).fit(X, y)
    margins, rivals = naive_margins(vote_counts(model, X), y, model.classes_)
    np.testing.assert_allclose(model.oob_margins(X, y), margins, rtol=1e-12, atol=1e-15)
    found = model.strength(X, y)
    s = np.mean(margins)
    variance = np.mean(np.square(margins)) - s**2
    deviations = []
    for rows, said in unseen_answers(model, X):
        raw = [
            int(a == y[i]) - int(a == rivals[i] and a != y[i])
            for i, a in zip(rows.tolist(), said.tolist(), strict=True)
        ]
        deviations.append(np.std(raw))
    assert found.strength == pytest.approx(s)
    assert found.margin_variance == pytest.approx(variance, abs=1e-12)
    if n_classes == 1:
        assert found == type(found)(1.0, 0.0, 0.0, 0.0, 0.0)
        return
    rho = variance / np.mean(deviations) ** 2
    assert found.correlation == pytest.approx(rho)
    assert s > 0.05  # else there is no bound: see below
    assert found.variance_bound == pytest.approx(variance / s**2)
    assert found.bound == pytest.approx(rho * (1 - s**2) / s**2)


def test_rows_of_weight_0_do_not_count():
    """Rows of another class altogether are as if they were not there."""
    X, y = data(3)
    weight = np.where(y == 12, 0.0, 1.0)
    model = RandomForestClassifier(60, random_state=0).fit(X, y, weight)
    kept = weight > 0
    margins = model.oob_margins(X, y, sample_weight=weight)
    expected, _ = naive_margins(vote_counts(model, X, kept)[kept], y[kept], model.classes_)
    np.testing.assert_allclose(margins[kept], expected, rtol=1e-12)
    assert np.isnan(margins[~kept]).all()
    assert model.strength(X, y, sample_weight=weight).strength == pytest.approx(np.mean(expected))


def test_no_strength_no_bound():
    """Labels that nothing tells, in a forest that is wrong on average."""
    X = np.arange(20.0)[:, None]
    y = np.arange(20) % 2  # neighbours always differ
    found = RandomForestClassifier(100, random_state=0).fit(X, y).strength(X, y)
    assert found.strength < 0
    assert found.variance_bound == found.bound == math.inf


def test_margins_without_votes():
    assert np.isnan(margins_of(np.array([[0, 0], [1, 3]]), np.array([0, 0]))).tolist() == [True, False]
    assert margins_of(np.array([[4]]), np.array([0])).tolist() == [1.0]


def test_bound_by_hand():
    assert generalisation_bound(0.5, 0.2) == pytest.approx(0.2 * 0.75 / 0.25)


def test_rows_that_every_tree_saw_are_named():
    X, y = data(2)
    model = RandomForestClassifier(1, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="Every tree saw .* which have NaN"):
        margins = model.oob_margins(X, y)
    with pytest.warns(UserWarning, match="Every tree saw .* which are left out"):
        found = model.strength(X, y)
    assert found.strength == pytest.approx(np.nanmean(margins))
