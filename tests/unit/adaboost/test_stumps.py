"""The search for stumps finds what the grower finds, bit for bit, whatever the columns and weights."""

import numpy as np
import pytest

from weald import DecisionTreeClassifier, engine
from weald.adaboost.stumps import Stumps
from weald.errors import NativeError
from weald.estimators.shared.labels import most_frequent
from weald.model.predict import raw_scores
from weald.rows.growth import GrowOptions
from weald.rows.memory import grow_classification_tree


def some_column(rng, n):
    """Numbers of few or many values, words of few or many levels; some with gaps."""
    kind = rng.integers(0, 5)
    if kind == 4:
        column = np.array([f"level {k}" for k in rng.integers(0, int(rng.choice([4, 12, 500])), n)], object)
        column[rng.random(n) < rng.choice([0.0, 0.2])] = None
        return column
    column = rng.normal(size=n)
    if kind > 0:
        column = rng.integers(0, (0, 3, 300, 3000)[kind], n).astype(float)
    column[rng.random(n) < rng.choice([0.0, 0.0, 0.3])] = np.nan
    return column


def some_weights(rng, n):
    """Far apart, some 0, as counts, or all alike."""
    kind = rng.integers(0, 4)
    if kind == 0:
        weights = np.rint(np.exp(3 * rng.normal(size=n)) * 2.0**20).astype(np.int64) + 1
    elif kind == 1:
        weights = np.rint(rng.exponential(size=n) * 2.0**30).astype(np.int64) * (rng.random(n) < 0.6)
    elif kind == 2:
        weights = rng.integers(0, 3, n)
    else:
        weights = np.ones(n, np.int64)
    weights[int(rng.integers(0, n))] += 1
    return weights


def coded_rows(rng, n, n_classes, max_bins=None):
    columns = {f"c{j}": some_column(rng, n) for j in range(int(rng.integers(1, 20)))}
    signal = np.array([0.0 if isinstance(v, str) or v is None else v for v in columns["c0"]], float)
    y = rng.integers(0, n_classes, n)
    y = np.where(rng.random(n) < 0.5, y, np.nan_to_num(signal).astype(int) % n_classes)
    return DecisionTreeClassifier(max_bins=max_bins, n_jobs=1)._coded(columns, y, None)


def same(a, b):
    first, second = a.arrays(), b.arrays()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
def test_a_stump_is_the_growers(criterion, n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(12):
        n = int(rng.choice([2, 30, 700, 4000]))
        coded = coded_rows(rng, n, n_classes, max_bins=rng.choice([None, None, 20]))
        labels = np.ascontiguousarray(coded.target.values[:, 0], np.int32)
        weights = some_weights(rng, n)
        options = GrowOptions(criterion=criterion, max_depth=1)
        grown = grow_classification_tree(
            coded.codes, coded.target.values, coded.target.n_classes, weights.astype(float), options
        ).forest
        for n_threads in (1, 2, 5):
            stumps = Stumps(coded.codes, labels, coded.target.n_classes[0], n_threads=n_threads)
            found, said = stumps.grow(weights, criterion)
            same(found, grown)
            assert np.array_equal(said, most_frequent(raw_scores(grown, coded.table)))


@pytest.mark.parametrize(
    ("change", "message"),
    [({0: -1}, "at least 0"), ({0: 2**62}, "below 2"), (dict.fromkeys(range(9), 2**62), "below 2")],
)
def test_weights_beyond_their_range_are_a_bug(change, message):
    coded = coded_rows(np.random.default_rng(0), 40, 2)
    labels = np.ascontiguousarray(coded.target.values[:, 0], np.int32)
    weights = np.ones(40, np.int64)
    weights[list(change)] = list(change.values())
    with pytest.raises(NativeError, match=message):
        Stumps(coded.codes, labels, 2, n_threads=1).grow(weights, "gini")


@pytest.mark.parametrize("criterion", [-1, 3])
def test_an_unknown_criterion_is_a_bug(criterion):
    coded = coded_rows(np.random.default_rng(0), 40, 2)
    labels = np.ascontiguousarray(coded.target.values[:, 0], np.int32)
    found = engine.stump_rows(coded.codes.native, labels, 2, n_threads=1)
    with pytest.raises(NativeError, match="known criterion"):
        engine.grow_stump(found, np.ones(40, np.int64), criterion, n_threads=1)


def test_the_layout_serves_any_weights():
    rng = np.random.default_rng(0)
    coded = coded_rows(rng, 3000, 2)
    labels = np.ascontiguousarray(coded.target.values[:, 0], np.int32)
    kept = Stumps(coded.codes, labels, 2, n_threads=2)
    for _ in range(10):
        weights = some_weights(rng, 3000)
        fresh = Stumps(coded.codes, labels, 2, n_threads=1)
        same(kept.grow(weights, "gini")[0], fresh.grow(weights, "gini")[0])
