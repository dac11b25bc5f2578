"""Landmarks: how they are chosen, and the columns they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

from weald.data.matrix.matrix import Matrix
from weald.errors import DataError
from weald.kernels import (
    RBF,
    ChiSquared,
    Constant,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
)
from weald.svm import landmarks
from weald.svm.kernels.diagonal import diagonal
from weald.svm.kernels.gram import gram
from weald.svm.landmarks import choose_landmarks, nystroem_map, similarity_map

KERNELS: list[Any] = [
    Linear(),
    Polynomial(2, 0.5, 1.0),
    RBF(0.5),
    Sigmoid(0.1, 0.2),
    Laplacian(0.3),
    ChiSquared(1.0),
    Intersection(),
    2.0 * RBF(0.5) + Linear() * Constant(0.5),
]


def rows(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, d))


def chosen(kernel: Any, X: Any, n: int, method: Any = "k-means++", seed: int = 0, **more: Any) -> list[int]:
    found = choose_landmarks(kernel, Matrix.of(X), n, method=method, seed=seed, n_threads=1, **more)
    return found.tolist()


# --------------------------------------------------------------------------- diagonal


def twice_linear(A, B):
    return (A @ B.T) * 2


@pytest.mark.parametrize("kernel", [*KERNELS, twice_linear], ids=lambda k: getattr(k, "__name__", str(k)))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_diagonal_is_that_of_the_kernel_matrix(kernel: Any, form: Any) -> None:
    X = Matrix.of(form(rows(20) * (rows(20, seed=1) > 0.4)))
    np.testing.assert_allclose(diagonal(kernel, X), gram(kernel, X).diagonal(), rtol=1e-12)


# --------------------------------------------------------------------------- the choice


@pytest.mark.parametrize("method", ["k-means++", "random"])
def test_the_same_seed_gives_the_same_landmarks(method: str) -> None:
    X = rows(200)
    first = chosen(RBF(1.0), X, 20, method, 3)
    assert first == chosen(RBF(1.0), X, 20, method, 3)
    assert first != chosen(RBF(1.0), X, 20, method, 4)
    assert len(set(first)) == 20
    assert first == sorted(first)


@pytest.mark.parametrize("method", ["k-means++", "random"])
def test_as_many_landmarks_as_rows_are_all_rows(method: str) -> None:
    X = np.zeros((7, 2))
    assert chosen(RBF(1.0), X, 7, method) == list(range(7))
    assert chosen(RBF(1.0), X, 100, method) == list(range(7))


def test_rows_of_weight_zero_are_never_drawn() -> None:
    X = rows(50)
    weight = np.arange(50.0) % 5
    for method in ("k-means++", "random"):
        for n in (10, 45, 50):
            found = chosen(RBF(1.0), X, n, method, weight=weight)
            assert weight[found].min() > 0
            assert len(found) == min(n, 40)


def test_repeated_rows_are_one_landmark() -> None:
    X = np.repeat(rows(6), 10, axis=0)
    found = chosen(RBF(1.0), X, 30)
    assert len(found) == 6
    assert len(np.unique(X[found], axis=0)) == 6


def test_distances_are_those_of_the_kernel_space() -> None:
    """Two far heaps that a periodic kernel cannot tell apart are one heap to it."""
    heaps = np.concatenate((np.zeros(50), np.full(50, np.pi)))[:, None]

    def periodic(A: Any, B: Any) -> Any:
        return np.cos(A - B.T) ** 2

    assert len(chosen(periodic, heaps, 5)) == 1
    assert len(chosen(RBF(1.0), heaps, 5)) == 2


def test_k_means_plus_plus_covers_small_heaps() -> None:
    X = np.concatenate([np.full((n, 1), 10.0 * i) for i, n in enumerate((1000, 5, 5, 5))])
    X = X + 1e-3 * rows(len(X), 1)
    for seed in range(20):
        heaps = {round(float(X[i, 0]) / 10) for i in chosen(RBF(0.1), X, 8, seed=seed)}
        assert heaps == {0, 1, 2, 3}


def test_batches_draw_as_one_row_at_a_time_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four rows on a line, how often each pair and triple is drawn, against the exact chances."""
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    D = (X - X.T) ** 2

    def exact(n: int) -> dict[tuple[int, ...], float]:
        chances = {(i,): 0.25 for i in range(4)}
        for _ in range(n - 1):
            longer: dict[tuple[int, ...], float] = {}
            for drawn, chance in chances.items():
                squared = D[:, list(drawn)].min(axis=1)
                for i in range(4):
                    if squared[i]:
                        longer[(*drawn, i)] = longer.get((*drawn, i), 0) + chance * squared[i] / squared.sum()
            chances = longer
        sets: dict[tuple[int, ...], float] = {}
        for drawn, chance in chances.items():
            sets[tuple(sorted(drawn))] = sets.get(tuple(sorted(drawn)), 0) + chance
        return sets

    monkeypatch.setattr(landmarks, "_BATCH", 3.0)
    n_draws = 1500
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(n_draws):
        found = tuple(chosen(Linear(), X, 3, seed=seed))
        counts[found] = counts.get(found, 0) + 1
    want = exact(3)
    assert set(counts) <= set(want)
    for drawn, chance in want.items():
        spread = 5 * np.sqrt(chance * (1 - chance) / n_draws)
        assert counts.get(drawn, 0) / n_draws == pytest.approx(chance, abs=spread)


def test_of_many_rows_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landmarks, "_FEWEST_POOL", 50)
    X = rows(2000)
    assert len(chosen(RBF(1.0), X, 10)) == 10


# --------------------------------------------------------------------------- the columns


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, Sigmoid)], ids=str)
def test_inner_products_are_the_kernel_where_rows_are_landmarks(kernel: Any) -> None:
    X = Matrix.of(rows(40))
    features = nystroem_map(kernel, X, n_threads=1).apply(X, n_threads=1)
    np.testing.assert_allclose(features @ features.T, gram(kernel, X), atol=1e-8)


def test_nystroem_is_scikit_learns_up_to_a_rotation() -> None:
    X, Z = rows(60), rows(10, seed=1)
    theirs = Nystroem(gamma=0.5, n_components=15, random_state=0).fit(X)
    ours = nystroem_map(RBF(0.5), Matrix.of(theirs.components_), n_threads=1)
    A, B = ours.apply(Matrix.of(Z), n_threads=1), theirs.transform(Z)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-6)


def test_directions_below_the_floor_are_dropped() -> None:
    X = Matrix.of(rows(20, 2))
    found = nystroem_map(Linear(), X, n_threads=1)
    assert found.n_features == 2
    repeated = nystroem_map(RBF(1.0), X.take(np.repeat(np.arange(5), 3)), n_threads=1)
    assert repeated.n_features == 5


def test_negative_eigenvalues_of_no_mercer_kernel_are_dropped() -> None:
    X = Matrix.of(np.random.default_rng(0).normal(size=(30, 2)))
    found = nystroem_map(Sigmoid(1.0, -1.0), X, n_threads=1)
    assert 0 < found.n_features < 30
    assert np.isfinite(found.apply(X, n_threads=1)).all()


def test_similarity_is_the_kernel_with_each_landmark() -> None:
    X = rows(30)
    found = similarity_map(RBF(0.5), Matrix.of(X[:4]))
    np.testing.assert_array_equal(found.apply(Matrix.of(X), n_threads=1), RBF(0.5)(X, X[:4]))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X = Matrix.of(rows(50))
    found = nystroem_map(RBF(0.5), X.take(np.arange(7)), n_threads=1)
    want = found.apply(X, n_threads=1)
    monkeypatch.setattr(landmarks, "_BLOCK", 20)
    assert len(list(found.blocks(X, n_threads=1))) == 25
    np.testing.assert_allclose(found.apply(X, n_threads=2), want, rtol=1e-12, atol=1e-13)


def test_landmarks_that_tell_nothing_are_told() -> None:
    with pytest.raises(DataError, match="0 or negative between all landmarks"):
        nystroem_map(Linear(), Matrix.of(np.zeros((3, 2))), n_threads=1)


def test_overflow_is_told() -> None:
    X = Matrix.of(rows(5) * 1e200)
    with pytest.raises(DataError, match="leaves float64"):
        nystroem_map(Polynomial(3, 1.0), X, n_threads=1)
