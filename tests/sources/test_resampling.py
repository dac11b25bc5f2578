"""Section 7 of METHODS.md by name: what resampling makes of the rare classes of its example."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import NearestNeighbors

from weald import ADASYN, SMOTE, RandomOverSampler, RandomUnderSampler, Resampled


@pytest.fixture(scope="module")
def example() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n_classes=3,
        weights=[0.03, 0.07, 0.9],
        n_features=10,
        n_clusters_per_class=1,
        n_samples=2000,
        random_state=10,
    )


def test_the_example_has_the_classes_of_the_source(example: tuple[np.ndarray, np.ndarray]) -> None:
    assert np.bincount(example[1]).tolist() == [64, 141, 1795]


@pytest.mark.parametrize("seed", [0, 42])
def test_smote_brings_every_class_to_1795(example: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    assert np.bincount(SMOTE(random_state=seed).fit_resample(*example)[1]).tolist() == [1795] * 3


@pytest.mark.parametrize("seed", [0, 42])
def test_adasyn_brings_classes_to_1795_1805_1795(example: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    assert np.bincount(ADASYN(random_state=seed).fit_resample(*example)[1]).tolist() == [1795, 1805, 1795]


def test_random_samplers_bring_classes_to_the_most_and_the_fewest(
    example: tuple[np.ndarray, np.ndarray],
) -> None:
    assert np.bincount(RandomOverSampler().fit_resample(*example)[1]).tolist() == [1795] * 3
    assert np.bincount(RandomUnderSampler().fit_resample(*example)[1]).tolist() == [64] * 3


def test_a_new_row_is_on_the_line_to_one_of_five_neighbours_of_the_class(
    example: tuple[np.ndarray, np.ndarray],
) -> None:
    """x_syn = x_i + λ(x_k − x_i), λ in (0, 1], by brute force."""
    X, y = example
    sampler = SMOTE(random_state=0)
    X_new, y_new = sampler.fit_resample(X, y)
    for at in np.flatnonzero(sampler.synthetic_)[::97]:
        start = X[sampler.sample_indices_[at]]
        own = X[y == y_new[at]]
        away = np.sqrt(((own - start) ** 2).sum(axis=1))
        ends = own[np.argsort(away, kind="stable")[1:6]] - start
        step = ((X_new[at] - start) * ends).sum(axis=1) / (ends**2).sum(axis=1)
        off = np.abs(start + step[:, None] * ends - X_new[at]).max(axis=1)
        assert ((off < 1e-9) & (step > 0) & (step <= 1 + 1e-9)).any()


def test_adasyn_allots_by_the_share_of_other_classes(example: tuple[np.ndarray, np.ndarray]) -> None:
    """g_i = round(r_i / Σr · G), counted from the rows that new ones start from."""
    X, y = example
    sampler = ADASYN(random_state=0)
    sampler.fit_resample(X, y)
    near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    made = np.bincount(sampler.sample_indices_[sampler.synthetic_], minlength=len(X))
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        share = (y[near[rows]] != label).mean(axis=1)
        expected = np.rint(share / share.sum() * (1795 - len(rows)))
        assert made[rows].tolist() == expected.tolist()


class Remembers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that keeps the rows it learned from, and is told which rows it is scored on."""

    seen: list[tuple[np.ndarray, np.ndarray]] = []  # noqa: RUF012

    def fit(self, X: np.ndarray, y: np.ndarray) -> Remembers:
        self.classes_ = np.unique(y)
        self.X_ = X
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        Remembers.seen.append((self.X_, X))
        return np.full(len(X), self.classes_[0])


def test_a_scored_fold_has_no_synthetic_row_and_no_parent_of_one(
    example: tuple[np.ndarray, np.ndarray],
) -> None:
    """The leak test: what is scored is rows of the data, and what was learned is made of the others alone."""
    X, y = example
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    Remembers.seen.clear()
    cross_val_score(Resampled(Remembers(), SMOTE(random_state=0)), X, y, cv=folds)
    assert len(Remembers.seen) == 3
    for (train, test), (learned, scored) in zip(folds, Remembers.seen, strict=True):
        assert (scored == X[test]).all()
        assert (learned[: len(train)] == X[train]).all()
        assert len(learned) == 3 * np.bincount(y[train]).max()
        alone = SMOTE(random_state=0).fit_resample(X[train], y[train])[0]
        assert (alone == learned).all()  # made of the training rows of the fold, and of nothing else
