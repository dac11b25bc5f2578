"""The methods of forests that compare rows: shapes, settings, kinds of table, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from weald import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from weald.datasets import load_penguins
from weald.errors import DataError, ParameterError

RANDOM = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
X = RANDOM.normal(size=(120, 3)) + 3 * Y[:, None]


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(n_estimators=30, random_state=0).fit(X, Y)


def test_proximity_is_symmetric_with_ones_on_the_diagonal(forest):
    found = forest.proximity(X)
    assert found.shape == (120, 120)
    assert np.array_equal(found, found.T)
    assert (np.diag(found) == 1).all()
    same = Y[:, None] == Y
    assert found[same].mean() > 5 * found[~same].mean()


def test_proximity_to_other_rows(forest):
    whole = forest.proximity(X)
    assert np.array_equal(forest.proximity(X[:7], X[50:90]), whole[:7, 50:90])


def test_results_do_not_depend_on_threads(forest):
    found = []
    for n_jobs in (1, 2, 5):
        forest.set_params(n_jobs=n_jobs)
        near = forest.nearest_rows(X, 4, oob_only=True)
        found.append(
            (
                forest.proximity(X).tobytes(),
                near.data.tobytes(),
                near.indices.tobytes(),
                near.indptr.tobytes(),
            )
        )
        assert near.shape == (120, 120)
        assert np.diff(near.indptr).max() == 4
        assert near.diagonal().sum() == 0
    assert found[0] == found[1] == found[2]


def test_more_neighbours_than_rows_are_all_that_are_near(forest):
    near = forest.nearest_rows(X, 10_000)
    dense = forest.proximity(X)
    np.fill_diagonal(dense, 0)
    assert np.array_equal(near.toarray(), dense)


def test_out_of_bag_knows_rows_of_weight_0():
    weight = np.ones(120)
    weight[::4] = 0
    model = RandomForestClassifier(n_estimators=80, random_state=0).fit(X, Y, sample_weight=weight)
    given = model.proximity(X, oob_only=True, sample_weight=weight)
    # Absent rows are in no bag, so all trees count for a pair of them.
    leaves = model.apply(X[[0, 4]])
    assert given[0, 4] == np.mean(leaves[0] == leaves[1])
    assert (np.diag(given) == 1).all()


def test_pairs_without_a_tree_are_reported():
    model = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match=r"No tree has both rows out of bag for [\d,]+ of 14,400 pairs"):
        found = model.proximity(X, oob_only=True)
    assert np.isnan(found).any()


def test_refusals(forest):
    with pytest.raises(ParameterError, match="leave Y out"):
        forest.proximity(X, X, oob_only=True)
    with pytest.raises(DataError, match="that had 120 rows, and this one has 119"):
        forest.nearest_rows(X[1:], oob_only=True)
    with pytest.raises(ParameterError, match="`k` must be a whole number of at least 1; got 0"):
        forest.nearest_rows(X, 0)
    with pytest.raises(DataError, match=r"5,000 rows are the limit.*sample"):
        forest.embedding(np.zeros((5001, 3)))
    with pytest.raises(ParameterError, match="every tree saw every row"):
        ExtraTreesRegressor(n_estimators=2).fit(X, Y).proximity(X, oob_only=True)
    with pytest.raises(DataError, match="y has 2 columns"):
        forest.outlier_measure(X, np.c_[Y, Y])


def test_two_million_rows_are_refused_before_anything_is_computed(forest):
    rows = np.broadcast_to(X[:1], (2_000_000, 3))
    with pytest.raises(DataError, match=r"32,000\.0 GB.*nearest_rows"):
        forest.proximity(rows)


def test_a_row_among_another_class_is_an_outlier():
    wrong = Y.copy()
    wrong[5] = 2
    model = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, wrong)
    measure = model.outlier_measure(X, wrong)
    assert np.argmax(np.where(wrong == 2, measure, -np.inf)) == 5
    assert measure[5] > 10
    dense = model.proximity(X)
    members = np.flatnonzero(wrong == 1)
    raw = 120 / (dense[np.ix_(members, members)] ** 2).sum(axis=1)
    apart = raw - np.median(raw)
    assert measure[members] == pytest.approx(apart / np.abs(apart).mean(), rel=1e-12)


def test_outliers_without_labels_are_among_those_predicted(forest):
    assert np.array_equal(forest.outlier_measure(X), forest.outlier_measure(X, forest.predict(X)))


def test_outliers_of_a_regressor_are_among_all_rows():
    model = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0])
    raw = 120 / (model.proximity(X) ** 2).sum(axis=1)
    apart = raw - np.median(raw)
    assert model.outlier_measure(X) == pytest.approx(apart / np.abs(apart).mean(), rel=1e-12)


def test_prototypes_stand_in_the_middle_of_their_class(forest):
    found = forest.prototypes(X, Y, 20)
    assert list(found) == [0, 1, 2]
    for label, row in found.items():
        assert row.shape == (1, 3)
        assert row[0] == pytest.approx(X[label == Y].mean(axis=0), abs=1)
    several = forest.prototypes(X, Y, 8, n_prototypes=3)
    assert several[1].shape == (3, 3)


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
def test_prototypes_are_tables_of_the_users_kind(frame):
    library = {"arrow": "pyarrow"}.get(frame, frame)
    pytest.importorskip(library)
    table, species = load_penguins(frame)
    model = RandomForestClassifier(n_estimators=50, random_state=0).fit(table, species)
    found = model.prototypes(table, species, n_prototypes=2)
    assert list(found) == ["Adelie", "Chinstrap", "Gentoo"]
    for row in found.values():
        assert type(row) is type(table)
        assert row.shape == (2, 7)
    gentoo = found["Gentoo"]
    values = gentoo.to_pydict() if frame == "arrow" else gentoo.to_dict()
    assert (
        next(iter(values["island"])) == "Biscoe"
        if frame != "pandas"
        else gentoo["island"].iloc[0] == "Biscoe"
    )
    # Columns of the table in another order give the same rows.
    if frame == "pandas":
        turned = model.prototypes(table[table.columns[::-1]], species, n_prototypes=2)
        assert turned["Gentoo"][table.columns].equals(gentoo)
        assert gentoo.dtypes.equals(table.dtypes)


def test_embedding_puts_classes_apart(forest):
    places = forest.embedding(X, random_state=0)
    assert places.shape == (120, 2)
    centres = np.stack([places[c == Y].mean(axis=0) for c in range(3)])
    nearest = np.argmin(np.linalg.norm(places[:, None] - centres, axis=2), axis=1)
    assert np.mean(nearest == Y) > 0.9
    assert np.array_equal(places, forest.embedding(X, random_state=0))
