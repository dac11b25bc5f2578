"""Kernel values and scores: against the naive twin, dense and compressed, same bits wherever computed."""

from __future__ import annotations

import numpy as np
import pytest
from reference.kernel_machines import kernel_matrix
from scipy import sparse

from weald import _core
from weald.data.matrix.matrix import Matrix
from weald.engine.svm import kernel_scores, kernel_values
from weald.errors import DataError

RNG = np.random.default_rng(11)
#: not negative, so that every kernel is defined; a third is 0, as in a table that comes compressed
ROWS = np.abs(RNG.normal(size=(70, 11))) * (RNG.random((70, 11)) > 1 / 3)

PROGRAMS = {
    "linear": [[0, 0, 0, 0]],
    "polynomial": [[1, 3, 0.5, 1.0]],
    "polynomial of degree 0": [[1, 0, 0.5, 1.0]],
    "polynomial of degree 7": [[1, 7, 0.1, -0.2]],
    "rbf": [[2, 0.3, 0, 0]],
    "sigmoid": [[3, 0, 0.05, -0.3]],
    "laplacian": [[4, 0.2, 0, 0]],
    "chi squared": [[5, 0.4, 0, 0]],
    "intersection": [[6, 0, 0, 0]],
    "constant": [[10, 2.5, 0, 0]],
    # 2 · linear + rbf · (laplacian + 1)
    "combined": [
        *([0, 0, 0, 0], [9, 2, 0, 0], [2, 0.3, 0, 0], [4, 0.1, 0, 0], [10, 1, 0, 0]),
        *([7, 0, 0, 0], [8, 0, 0, 0], [7, 0, 0, 0]),
    ],
}
#: sums of products keep the order of dense rows; the others add what one row lacks at the start
SAME_BITS = ("linear", "polynomial", "sigmoid")


def program(name: str) -> np.ndarray:
    return np.array(PROGRAMS[name], np.float64)


def csr(values: np.ndarray) -> Matrix:
    return Matrix.of(sparse.csr_array(values))


@pytest.fixture
def baseline():
    _core.set_simd(False)
    yield
    _core.set_simd(True)


@pytest.mark.parametrize("name", list(PROGRAMS))
@pytest.mark.parametrize("made", [Matrix, csr])
def test_kernel_values_are_those_of_the_naive_twin(name, made):
    found = kernel_values(program(name), made(ROWS[:30]), made(ROWS[30:]), n_threads=1)
    assert found == pytest.approx(kernel_matrix(program(name), ROWS[:30], ROWS[30:]), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_negative_values_too_where_the_kernel_takes_them(name):
    if name == "chi squared":
        return
    rows = ROWS - 0.4
    found = kernel_values(program(name), Matrix(rows[:20]), Matrix(rows), n_threads=1)
    assert found == pytest.approx(kernel_matrix(program(name), rows[:20], rows), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", SAME_BITS)
def test_compressed_rows_have_the_bits_of_dense_ones(name):
    dense = kernel_values(program(name), Matrix(ROWS), Matrix(ROWS), n_threads=1)
    assert kernel_values(program(name), csr(ROWS), csr(ROWS), n_threads=1).tobytes() == dense.tobytes()
    assert kernel_values(program(name), csr(ROWS), Matrix(ROWS), n_threads=1).tobytes() == dense.tobytes()


@pytest.mark.parametrize("name", list(PROGRAMS))
@pytest.mark.parametrize("made", [Matrix, csr])
def test_same_bits_for_threads_instruction_sets_and_neighbours(name, made, request):
    rows = RNG.random((1100, 11)) * (RNG.random((1100, 11)) > 0.5)
    weights = RNG.normal(size=(2, 600))
    support, X = made(rows[:600]), made(rows)

    def both(n_threads, of):
        values = kernel_values(program(name), of, support, n_threads=n_threads)
        return values, kernel_scores(program(name), of, support, weights, n_threads=n_threads)

    values, scores = both(1, X)
    for n_threads in (2, 5):
        again = both(n_threads, X)
        assert again[0].tobytes() == values.tobytes()
        assert again[1].tobytes() == scores.tobytes()
    some = np.array([700, 3, 1099])
    alone = both(2, made(rows[some]))
    assert alone[0].tobytes() == values[some].tobytes()
    assert alone[1].tobytes() == scores[some].tobytes()
    request.getfixturevalue("baseline")
    again = both(1, X)
    assert again[0].tobytes() == values.tobytes()
    assert again[1].tobytes() == scores.tobytes()


@pytest.mark.parametrize("name", ["linear", "rbf", "combined"])
@pytest.mark.parametrize("made", [Matrix, csr])
def test_scores_are_sums_of_kernel_values(name, made):
    rows = RNG.random((2500, 5))
    weights = RNG.normal(size=(3, 2200)) * (RNG.random((3, 2200)) > 0.5)
    found = kernel_scores(program(name), made(rows[2200:]), made(rows[:2200]), weights, n_threads=2)
    values = kernel_values(program(name), made(rows[2200:]), made(rows[:2200]), n_threads=2)
    assert found == pytest.approx(values @ weights.T, rel=1e-11, abs=1e-10)


def test_scores_of_no_rows_and_of_no_support():
    empty = Matrix(np.empty((0, 11)))
    assert kernel_scores(program("rbf"), empty, Matrix(ROWS), np.ones((2, 70)), n_threads=2).shape == (0, 2)
    none = kernel_scores(program("rbf"), Matrix(ROWS), empty, np.ones((2, 0)), n_threads=2)
    assert none.tolist() == [[0.0, 0.0]] * 70


@pytest.mark.parametrize("move", [0.0, 1e9])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_distances_keep_their_digits_far_from_the_origin(move, size):
    # spread of `size` around `move`: x·z would lose what ‖x − z‖² is about
    rows = np.float64(move) + size * np.round(RNG.normal(size=(40, 3)), 2)
    wanted = kernel_matrix(np.array([[2, 0.5 / size**2, 0, 0]]), rows, rows)
    found = kernel_values(np.array([[2, 0.5 / size**2, 0, 0]]), Matrix(rows), Matrix(rows), n_threads=1)
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_a_row_is_at_no_distance_from_its_like():
    for scale in (1.0, 1e-3, 1e7):
        rows = Matrix(np.vstack([ROWS, ROWS]) * scale)
        values = kernel_values(program("rbf"), rows, rows, n_threads=1)
        assert (np.diag(values) == 1).all()
        assert (np.diag(values[:70, 70:]) == 1).all()


def test_rows_too_far_away_to_square_are_far_away():
    far = Matrix(np.array([[1e200] * 11, [-1e300] * 11]))
    scores = kernel_scores(program("rbf"), far, Matrix(ROWS), np.ones((1, 70)), n_threads=1)
    assert np.abs(scores).max() < 1e-300


def test_narrow_kernels_in_double_need_no_room_for_error():
    # γ‖x‖² of 1e9: as ‖x‖² + ‖z‖² − 2 x·z the distance of neighbours would be noise
    rows = 1000 + np.arange(20.0)[:, None] * [1.0, 0.5] * 1e-2
    rows = np.vstack([rows, -rows])
    found = kernel_values(np.array([[2, 1e3, 0, 0]]), Matrix(rows), Matrix(rows), n_threads=1)
    assert found == pytest.approx(kernel_matrix(np.array([[2, 1e3, 0, 0]]), rows, rows), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([[11, 0, 0, 0]], "no such kernel operation"),
        ([[0.5, 0, 0, 0]], "no such kernel operation"),
        ([[2, np.inf, 0, 0]], "must be finite"),
        ([[1, 2.5, 1, 0]], "whole number"),
        ([[1, -1, 1, 0]], "whole number"),
        ([[7, 0, 0, 0]], "more kernels than it has"),
        ([[0, 0, 0, 0], [0, 0, 0, 0]], "end with one kernel"),
        (np.empty((0, 4)), "1 to 1000 steps"),
    ],
)
def test_what_is_no_program_is_refused(steps, message):
    with pytest.raises(DataError, match=message):
        kernel_values(np.asarray(steps, np.float64), Matrix(ROWS), Matrix(ROWS), n_threads=1)


def test_what_is_no_compressed_matrix_is_refused():
    parts = (2, 3, np.array([0, 2, 2]), np.array([2, 1], np.int32), np.ones(2))
    with pytest.raises(DataError, match="ascending columns"):
        _core.kernel_values(program("linear"), parts, parts, 1)
    parts = (2, 3, np.array([0, 1, 2]), np.array([2, 3], np.int32), np.ones(2))
    with pytest.raises(DataError, match="ascending columns"):
        _core.kernel_values(program("linear"), parts, parts, 1)
