"""Conformal intervals and sets, against the definitions by loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weald import RandomForestRegressor
from weald.uncertainty import conformal, leaf_rows
from weald.uncertainty.conformal import Calibration, drawn_by, in_stretches, label_scores, quantile_scores
from weald.uncertainty.leaf_rows import LeafRows
from weald.uncertainty.left_out import LeftOut
from weald.uncertainty.trees import Drawn, TrainingRows


def interval_by_loops(scores, group, lower, upper, scale, coverage):
    """Barber, Candès, Ramdas and Tibshirani (2021), row by row."""
    n = len(scores)
    rank_high, rank_low = (
        math.ceil(round((n + 1) * coverage, 9)),
        math.floor(round((n + 1) * (1 - coverage), 9)),
    )
    out = []
    for x in range(lower.shape[1]):
        widths = [s * (1.0 if scale is None else scale[g, x]) for s, g in zip(scores, group, strict=True)]
        low = sorted(lower[g, x] - w for w, g in zip(widths, group, strict=True))
        high = sorted(upper[g, x] + w for w, g in zip(widths, group, strict=True))
        ends = (
            low[rank_low - 1] if rank_low >= 1 else -math.inf,
            high[rank_high - 1] if rank_high <= n else math.inf,
        )
        out.append(sorted(ends))
    return np.array(out)


@pytest.mark.parametrize("n_groups", [1, 3, 60], ids=["split", "cv+", "jackknife+"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.97])
def test_an_interval_is_that_of_the_definition(n_groups, scaled, coverage):
    rng = np.random.default_rng(n_groups)
    scores = np.abs(rng.normal(size=60))
    group = np.arange(60) if n_groups == 60 else rng.integers(0, n_groups, 60)
    lower = rng.normal(size=(n_groups, 7))
    upper = lower + (rng.random((n_groups, 7)) if n_groups == 1 else 0.0)
    scale = rng.uniform(0.5, 2, (n_groups, 7)) if scaled else None
    found = Calibration(scores, group).interval(lower, upper, scale, coverage)
    np.testing.assert_array_equal(found, interval_by_loops(scores, group, lower, upper, scale, coverage))


def test_many_rows_of_few_groups_give_the_same_number_bit_by_bit(monkeypatch):
    # Rows that are many for their groups are searched by halving; ties and signs must not matter.
    rng = np.random.default_rng(1)
    scores = np.round(np.abs(rng.normal(size=5000)), 2)
    group = rng.integers(0, 3, 5000)
    centre, scale = rng.normal(size=(3, 40)), rng.uniform(0.5, 2, (3, 40))
    centre[:, :5] = 0.0
    known = Calibration(scores, group)
    for factor in (None, scale):
        found = known.interval(centre, centre, factor, 0.9)
        with monkeypatch.context() as patch:
            patch.setattr(conformal, "_BITS", 10**9)
            patch.setattr(conformal, "CELLS", 4096)
            np.testing.assert_array_equal(found, known.interval(centre, centre, factor, 0.9))


def test_ends_that_cross_are_swapped():
    known = Calibration(np.full(9, -2.0), np.zeros(9, np.int64))
    assert known.interval(np.zeros((1, 1)), np.ones((1, 1)), None, 0.5).tolist() == [[-1.0, 2.0]]


@pytest.mark.parametrize(("n_rows", "finite"), [(8, False), (9, True)])
def test_too_few_rows_leave_all_ends_infinite(n_rows, finite):
    known = Calibration(np.ones(n_rows), np.zeros(n_rows, np.int64))
    found = known.interval(np.zeros((1, 2)), np.zeros((1, 2)), None, 0.9)
    assert np.isfinite(found).all() == finite
    assert found.tolist() == [[-1, 1]] * 2 if finite else (np.abs(found) == np.inf).all()
    assert known.too_few(0.9) == ([] if finite else [0])


# --------------------------------------------------------------------------- sets


def aps_by_loops(shares, u):
    """Romano, Sesia and Candès (2020): the labels at least as likely, but for u times the own probability."""
    order = sorted(range(len(shares)), key=lambda k: (-shares[k], k))
    scores, total = [0.0] * len(shares), 0.0
    for k in order:
        total += shares[k]
        scores[k] = total - u * shares[k]
    return scores


def test_aps_is_that_of_the_definition():
    shares = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 20))
    shares[0, 0] = [0.25, 0.25, 0.5, 0.0]
    found, drawn = label_scores(shares, "aps"), drawn_by(shares[0])
    np.testing.assert_array_equal(label_scores(shares[0], "aps"), found[0])
    for place in np.ndindex(3, 20):
        np.testing.assert_allclose(
            found[place], aps_by_loops(shares[place].tolist(), drawn[place[1]]), atol=1e-15
        )


def test_lac_is_one_minus_the_probability():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    np.testing.assert_array_equal(label_scores(shares, "lac"), 1 - shares)


def test_drawn_numbers_are_uniform_and_follow_the_row_alone():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), size=4000)
    drawn = drawn_by(shares)
    assert drawn.min() > 0
    assert drawn.max() <= 1
    assert np.histogram(drawn, 10, (0, 1))[0].min() > 320
    np.testing.assert_array_equal(drawn[::-1], drawn_by(shares[::-1]))
    np.testing.assert_array_equal(drawn, drawn_by(shares * (1 + 4e-16)))  # what rounding may do


@pytest.mark.parametrize("n_groups", [1, 3, 60], ids=["split", "cv+", "jackknife+"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_set_is_that_of_the_definition(n_groups, apart):
    rng = np.random.default_rng(n_groups)
    own = np.round(rng.random(60), 1)
    group = np.arange(60) if n_groups == 60 else rng.integers(0, n_groups, 60)
    label = rng.integers(0, 3, 60)
    scores = np.round(rng.random((n_groups, 9, 3)), 1)
    found = Calibration(own, group, label if apart else None).sets(scores, 0.8)
    for x in range(9):
        for k in range(3):
            rows = [i for i in range(60) if not apart or label[i] == k]
            below = sum(own[i] < scores[group[i], x, k] for i in rows)
            assert found[x, k] == (below < 0.8 * (len(rows) + 1))


def test_a_class_with_too_few_rows_is_in_every_set():
    known = Calibration(np.zeros(12), np.zeros(12, np.int64), np.array([0] * 10 + [1] * 2))
    assert known.too_few(0.9) == [1]
    assert known.sets(np.ones((1, 2, 2)), 0.9).tolist() == [[False, True]] * 2


def test_quantile_scores():
    found = quantile_scores(np.zeros(4), np.ones(4), np.array([-2.0, 0.25, 0.5, 3.0]))
    assert found.tolist() == [2.0, -0.25, -0.5, 2.0]


def test_stretches_are_never_empty():
    assert list(in_stretches(3, 0)) == [slice(0, 1), slice(1, 2), slice(2, 3)]


# --------------------------------------------------------------------------- forests


def test_members_that_lack_a_row():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 2, (12, 30))
    counts[0] = 0
    rows = np.arange(1, 30, 2)
    left_out = LeftOut.of_counts(iter(counts), rows)
    values, own = rng.normal(size=(12, 5)), rng.normal(size=(12, len(rows), 2))
    for place, row in enumerate(rows):
        without = counts[:, row] == 0
        np.testing.assert_allclose(left_out.means(values)[place], values[without].mean(axis=0))
        np.testing.assert_allclose(left_out.spread(values)[place], values[without].std(axis=0))
    for places in (slice(0, 15), slice(3, 11)):
        part = own[:, places]
        lack = counts[:, rows[places]] == 0
        expected = [part[lack[:, i], i].mean(axis=0) for i in range(lack.shape[1])]
        np.testing.assert_allclose(left_out.own_means(part, places), expected)
        spread = [part[lack[:, i], i, 0].std() for i in range(lack.shape[1])]
        np.testing.assert_allclose(left_out.own_spread(part[:, :, 0], places), spread)
    again = LeftOut(left_out.bits, len(rows))
    np.testing.assert_array_equal(again.means(values), left_out.means(values))


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_of_kept_leaves_are_those_of_the_table(monkeypatch, weighted):
    monkeypatch.setattr(leaf_rows, "_CELLS", 400)
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(90, 3)), rng.integers(1, 4, 90).astype(float) if weighted else None
    y = X[:, 0] + rng.normal(size=90)
    model = RandomForestRegressor(9, min_samples_leaf=3, random_state=0).fit(X, y, sample_weight=weight)
    table, n_threads = model._read(X)
    train = TrainingRows(Drawn(model.bags_, 9, None), table, y[:, None], weight)
    kept = LeafRows.of(model.forest_, train, n_threads=n_threads)
    new = rng.normal(size=(17, 3))
    levels = [0.0, 0.1, 0.5, 1.0]
    found = kept.quantiles(model.forest_, model._read(new)[0], levels, n_threads=1)
    expected = model.predict_quantiles(new, levels, train=(X, y), sample_weight=weight)
    np.testing.assert_array_equal(found, expected)
