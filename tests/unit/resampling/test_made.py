"""Numbers between rows, levels by majority, ranks between ranks: by hand and by what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weald.data.adapters import to_table
from weald.data.target import Labels
from weald.random import Purpose, draw, uniform
from weald.resampling.draws import normals, positions, uniforms, without_replacement
from weald.resampling.levels import between_ranks, class_profiles, majority_rows
from weald.resampling.made import Between, blend

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(numbers, numbers, st.floats(0, 1))
def test_a_number_between_two_is_never_beyond_either(x: float, z: float, step: float) -> None:
    made = blend(np.array([x]), np.array([z]), np.array([step]))[0]
    assert min(x, z) <= made <= max(x, z)


def test_ends_and_the_middle() -> None:
    x, z = np.full(3, 2.0), np.full(3, 6.0)
    assert blend(x, z, np.array([0.0, 0.5, 1.0])).tolist() == [2.0, 4.0, 6.0]


def test_of_a_gap_the_nearer_row_decides() -> None:
    nan = np.nan
    x, z = np.array([nan, nan, 1.0, 1.0, nan]), np.array([2.0, 2.0, nan, nan, nan])
    made = blend(x, z, np.array([0.4, 0.6, 0.4, 0.6, 0.5]))
    np.testing.assert_array_equal(made, [nan, 2.0, 1.0, nan, nan])


def test_ends_too_far_apart_for_a_difference() -> None:
    made = blend(np.array([-1.7e308]), np.array([1.7e308]), np.array([0.25]))
    assert made[0] == pytest.approx(-0.85e308)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, np.uint64, np.bool_])
def test_arrays_keep_their_dtype_and_round(dtype: type) -> None:
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    out = np.empty((2, 2), dtype)
    Between(np.array([0, 1]), np.array([1, 2]), np.array([0.2, 0.8])).of_block(array, out)
    expected = np.array([[0.2, 0.8], [1.0, 0.8]])
    np.testing.assert_allclose(out, expected if np.dtype(dtype).kind == "f" else np.rint(expected), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ">f8", np.float16])
@pytest.mark.parametrize("layout", ["C", "F", "every other"])
def test_arrays_of_any_layout_and_threads_give_the_same_rows(dtype: str, layout: str) -> None:
    random = np.random.default_rng(0)
    array = random.normal(size=(400, 5)).astype(dtype)
    array[::7, 2] = np.nan
    array[3, 1] = np.finfo(array.dtype).max
    array[4, 1] = -np.finfo(array.dtype).max
    base, other, step = random.integers(0, 400, 3000), random.integers(0, 400, 3000), random.random(3000)
    base[0], other[0] = 3, 4
    x, z = array[base].astype(np.float64), array[other].astype(np.float64)
    expected = np.where((step > 0.5)[:, None], blend(z, x, 1.0 - step), blend(x, z, step)).astype(dtype)
    given = {"C": array, "F": np.asfortranarray(array), "every other": np.repeat(array, 2, axis=1)[:, ::2]}
    for n_threads in (1, 2, 5):
        out = np.empty((3000, 5), dtype)
        Between(base, other, step, n_threads).of_block(given[layout], out)
        np.testing.assert_array_equal(out, expected)


def test_draws_are_those_of_the_hash() -> None:
    words = draw(7, Purpose.RESAMPLED_STEP, 3, np.arange(50, dtype=np.uint64))
    np.testing.assert_array_equal(uniforms(7, Purpose.RESAMPLED_STEP, 3, 50), uniform(words))


def test_whole_numbers_beyond_float64_are_those_of_the_nearer_row() -> None:
    array = np.array([[2**62 + 1], [2**62 + 7]])
    out = np.empty((2, 1), np.int64)
    Between(np.array([0, 0]), np.array([1, 1]), np.array([0.3, 0.7])).of_block(array, out)
    assert out.tolist() == [[2**62 + 1], [2**62 + 7]]


# --------------------------------------------------------------------------- levels


def test_the_most_frequent_level_wins_and_missing_is_one() -> None:
    levels = np.array([0, 1, 1, -1, -1, -1], np.int32)
    near = np.array([[1, 2, 0], [3, 4, 1]])
    found = majority_rows(levels, near, None, np.array([0, 5]), np.array([0, 1]), np.array([0.5, 0.5]))
    assert levels[found].tolist() == [1, -1]


def test_equally_frequent_levels_are_drawn() -> None:
    levels = np.array([0, 1, 2, 2, 1], np.int32)
    near = np.array([[0, 1, 2, 3, 4]])
    at = np.zeros(3, np.intp)
    found = majority_rows(levels, near, None, np.array([0]), at, np.array([0.2, 0.7, 1.0]))
    assert levels[found].tolist() == [1, 2, 2]


def test_only_voters_vote_and_without_any_the_row_keeps_its_level() -> None:
    levels = np.array([0, 1, 1, 2], np.int32)
    near = np.array([[1, 2, 3], [1, 2, 3]])
    voters = np.array([[False, False, True], [False, False, False]])
    found = majority_rows(levels, near, voters, np.array([0, 0]), np.array([0, 1]), np.array([0.5, 0.5]))
    assert levels[found].tolist() == [2, 0]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.integers(0, 2**32))
def test_majority_by_counting(levels: list[int], seed: int) -> None:
    codes = np.array(levels, np.int32)
    near = np.arange(len(codes))[np.newaxis, :]
    tie = uniforms(seed, Purpose.RESAMPLED_LEVEL, 0, 8)
    found = codes[majority_rows(codes, near, None, np.zeros(1, np.intp), np.zeros(8, np.intp), tie)]
    counts = np.bincount(codes)
    assert (counts[found] == counts.max()).all()


def test_ranks_are_whole_and_of_levels_in_use() -> None:
    levels = np.array([0, 4, 9, -1], np.int32)  # ranks 0, 1, 2
    base, other = np.zeros(5, np.intp), np.full(5, 2)
    found = between_ranks(levels, base, other, np.array([0.1, 0.3, 0.6, 0.8, 1.0]))
    assert levels[found].tolist() == [0, 4, 4, 9, 9]
    gap = between_ranks(levels, np.array([0, 0]), np.array([3, 3]), np.array([0.3, 0.7]))
    assert levels[gap].tolist() == [0, -1]


def test_ranks_of_a_column_without_any_value() -> None:
    levels = np.full(3, -1, np.int32)
    assert between_ranks(levels, np.array([0]), np.array([2]), np.array([0.2])).tolist() == [0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_profiles_have_the_distances_of_the_value_difference_metric(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    rows = [[str(a), None if b == 0 else str(b)] for a, b in rng.integers(0, 3, (30, 2))]
    labels = Labels(np.arange(n_classes), (np.arange(30) % n_classes).astype(np.int32))
    table = to_table(rows)
    points = class_profiles(table, labels)

    def shares(column: int, row: int) -> np.ndarray:
        same = [r for r in range(30) if rows[r][column] == rows[row][column]]
        return np.bincount(labels.indices[same], minlength=n_classes) / len(same)

    for a, b in ((0, 1), (3, 17), (5, 5)):
        expected = sum(((shares(j, a) - shares(j, b)) ** 2).sum() for j in range(2))
        assert ((points[a] - points[b]) ** 2).sum() == pytest.approx(expected, abs=1e-12)


# --------------------------------------------------------------------------- draws


def test_draws_are_uniform_and_keyed() -> None:
    found = positions(1, Purpose.RESAMPLED_ROW, 0, 60_000, 6)
    counts = np.bincount(found, minlength=6)
    assert len(counts) == 6
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 25
    assert (found[:10] == positions(1, Purpose.RESAMPLED_ROW, 0, 10, 6)).all()
    assert (found != positions(1, Purpose.RESAMPLED_ROW, 1, 60_000, 6)).any()


def test_draws_without_replacement_are_different_rows() -> None:
    found = without_replacement(3, 0, 50, 80)
    assert len(set(found.tolist())) == 50
    assert found.max() < 80


def test_normal_draws() -> None:
    found = normals(0, 0, 3, 50_000)
    assert abs(found.mean()) < 0.02
    assert found.std() == pytest.approx(1, abs=0.02)
    assert (np.abs(found) < 1.959964).mean() == pytest.approx(0.95, abs=0.005)
    assert np.corrcoef(found, normals(0, 0, 4, 50_000))[0, 1] == pytest.approx(0, abs=0.02)
