"""METHODS, section 2: proximity, and missing values by proximity."""

from __future__ import annotations

import numpy as np
import pytest

from weald import ProximityImputer, RandomForestClassifier, RandomForestRegressor
from weald.datasets import load_penguins
from weald.impute.columns import KnownColumn
from weald.impute.rules import first_number, level_worth, most_votes, number_fill
from weald.impute.sums import _LevelSums, _NumberSums


def some_rows(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.1 * random.normal(size=n)


def counted(model, X, oob):
    """The definition, pair by pair and tree by tree."""
    leaves = model.apply(X)
    n, trees = leaves.shape
    counts = np.stack([model.bags_.counts(t) == 0 for t in range(trees)], axis=1)
    out = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            looked = [t for t in range(trees) if not oob or (counts[i, t] and counts[j, t])]
            if looked:
                out[i, j] = sum(leaves[i, t] == leaves[j, t] for t in looked) / len(looked)
    return out


@pytest.mark.parametrize("oob", [False, True])
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_proximity_equals_a_brute_force_count(kind, oob):
    X, y = some_rows()
    y = np.digitize(y, [-0.5, 0.5]) if kind is RandomForestClassifier else y
    model = kind(n_estimators=70, min_samples_leaf=2, random_state=0, n_jobs=2).fit(X, y)
    expected = counted(model, X, oob)
    assert np.array_equal(model.proximity(X, oob_only=oob), expected)


@pytest.mark.parametrize("oob", [False, True])
def test_the_sparse_form_has_the_largest_of_the_brute_force_count(oob):
    X, y = some_rows()
    model = RandomForestRegressor(n_estimators=70, min_samples_leaf=3, random_state=1).fit(X, y)
    dense = counted(model, X, oob)
    near = model.nearest_rows(X, k=5, oob_only=oob)
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i and dense[i, j] > 0]
        best = sorted(others, key=lambda j: (-dense[i, j], j))[:5]
        place = slice(near.indptr[i], near.indptr[i + 1])
        assert near.indices[place].tolist() == best
        assert near.data[place].tolist() == [dense[i, j] for j in best]


def test_first_guess_of_125_and_210_is_167_5():
    assert first_number(np.array([125.0, 210.0])) == 167.5
    column = KnownColumn(
        "weight", np.array([125.0, 180.0, 0.0, 210.0]), np.array([1, 1, 0, 1], bool), "number"
    )
    same_label = np.array([1, 0, 1, 1], np.int32)  # the 180 belongs to a row of another label
    assert column.guesses(same_label, 2).tolist() == [180.0, 167.5]


def meetings(shares, n_trees=10):
    """Leaves of training rows that give these proximities to a row which is always in leaf 1."""
    nodes = np.zeros((len(shares), n_trees), np.int32)
    first = 0
    for row, share in enumerate(shares):
        nodes[row, first : first + round(share * n_trees)] = 1
        first += round(share * n_trees)
    return nodes


def filled_by(sums, nodes):
    for t in range(nodes.shape[1]):
        sums.add(nodes[:, t], np.ones(1, np.int32), 2)
    return sums.fills()


def test_weights_1_1_8_on_125_180_210_give_198_5():
    values, weights = np.array([125.0, 180.0, 210.0]), np.array([0.1, 0.1, 0.8])
    assert number_fill(weights @ values, weights.sum()) == pytest.approx(198.5, abs=1e-12)
    column = KnownColumn("weight", values, np.ones(3, bool), "number")
    found = filled_by(_NumberSums(column, np.zeros(1, np.intp)), meetings(weights))
    assert found == pytest.approx([198.5], abs=1e-12)


def test_yes_1_30_against_no_3_5_gives_no():
    assert level_worth(1, 3, 0.1, 1.0) == pytest.approx(1 / 30)
    assert level_worth(2, 3, 0.9, 1.0) == pytest.approx(3 / 5)
    column = KnownColumn("pain", np.array([1, 0, 0], np.int32), np.ones(3, bool), None, ("no", "yes"))
    sums = _LevelSums(column, np.zeros(1, np.intp))
    assert filled_by(sums, meetings([0.1, 0.1, 0.8])).tolist() == [0]
    assert sums.met.toarray().tolist() == [[9, 1]]


def test_a_rare_level_wins_by_proximity_alone_only_where_it_is_much_nearer():
    column = KnownColumn("pain", np.array([1, 0, 0], np.int32), np.ones(3, bool), None, ("no", "yes"))
    even = filled_by(_LevelSums(column, np.zeros(1, np.intp)), meetings([0.6, 0.2, 0.2]))
    assert even.tolist() == [0]  # 1/3 · .6 against 2/3 · .4
    near = filled_by(_LevelSums(column, np.zeros(1, np.intp)), meetings([0.7, 0.1, 0.2]))
    assert near.tolist() == [1]  # 1/3 · .7 against 2/3 · .3


def test_80_against_60_votes_keeps_the_first_class():
    assert most_votes(np.array([[80, 60]])).tolist() == [0]
    assert most_votes(np.array([[60, 80]])).tolist() == [1]


def test_a_new_row_is_filled_as_the_class_whose_copy_gets_the_most_votes():
    random = np.random.default_rng(2)
    y = np.repeat([0, 1], 60)
    X = np.c_[random.normal(size=120) + 6 * y, random.normal(size=120) + 40 * y, random.normal(size=120)]
    imputer = ProximityImputer(random_state=0).fit(X, y)
    new = imputer.transform(np.array([[0.0, np.nan, 0.0], [6.0, np.nan, 0.0]]))
    assert abs(new[0, 1]) < 3
    assert abs(new[1, 1] - 40) < 3


def removed_cells(X, share, seed):
    """The frame with a share of its known entries gone, and which."""
    random = np.random.default_rng(seed)
    gone = (random.random(X.shape) < share) & X.notna().to_numpy()
    return X.mask(gone), gone


def errors(X, filled, gone):
    """Numbers: root mean squared error in standard deviations; levels: share of wrong ones; per column."""
    found = {}
    for j, name in enumerate(X.columns):
        truth, said = X[name][gone[:, j]], filled[name][gone[:, j]]
        if X[name].dtype.kind == "f":
            found[name] = float(np.sqrt(np.mean((truth - said) ** 2)) / X[name].std())
        else:
            found[name] = float(np.mean(truth.to_numpy() != said.to_numpy()))
    return found


def test_imputation_beats_median_and_mode():
    """20 % of the entries of the penguins removed: every column is filled better."""
    pytest.importorskip("pandas")
    X, y = load_penguins("pandas")
    X = X.drop(columns="year")
    with_gaps, gone = removed_cells(X, 0.2, seed=0)
    assert 350 < gone.sum() < 450
    simple = with_gaps.fillna({c: with_gaps[c].median() for c in X if X[c].dtype.kind == "f"})
    simple = simple.fillna({c: with_gaps[c].mode()[0] for c in X if X[c].dtype.kind != "f"})
    filled = ProximityImputer(random_state=0).fit_transform(with_gaps, y)
    assert filled.notna().all(axis=None)
    ours, theirs = errors(X, filled, gone), errors(X, simple, gone)
    assert all(ours[name] < theirs[name] for name in X), (ours, theirs)
    assert np.mean(list(ours.values())) < 0.8 * np.mean(list(theirs.values()))
