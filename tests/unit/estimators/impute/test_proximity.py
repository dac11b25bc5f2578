"""`ProximityImputer`: iterations, new rows, kinds of column and of table, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from weald import ProximityImputer, RandomForestClassifier, RandomForestRegressor
from weald.datasets import load_penguins
from weald.errors import DataError, DataTypeError, ParameterError
from weald.estimators.impute.options import has_labels

RANDOM = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 50)
WHOLE = RANDOM.normal(size=(150, 4)) + 4 * Y[:, None]
GAPS = RANDOM.random(WHOLE.shape) < 0.2
X = np.where(GAPS, np.nan, WHOLE)
SMALL = RandomForestClassifier(n_estimators=20)


def brute_force(model, filled, X):
    """Fills of missing numbers, by a matrix of proximities."""
    proximity = model.proximity(filled)
    out = filled.copy()
    for i, j in np.argwhere(np.isnan(X)):
        known = ~np.isnan(X[:, j])
        out[i, j] = np.average(X[known, j], weights=proximity[i, known])
    return out


def test_one_step_is_the_proximity_weighted_mean_over_all_rows():
    medians = np.stack([np.nanmedian(X[c == Y], axis=0) for c in range(3)])
    guess = np.where(GAPS, medians[Y], X)
    imputer = ProximityImputer(SMALL, max_iter=1, random_state=3)
    filled = imputer.fit_transform(X, Y)
    assert filled == pytest.approx(brute_force(imputer.estimator_, guess, X), rel=1e-12)
    assert np.array_equal(filled[~GAPS], X[~GAPS])
    assert imputer.n_iter_ == 1
    assert len(imputer.changes_) == 1


def test_it_iterates_until_the_fills_stop_moving():
    table, species = load_penguins()
    imputer = ProximityImputer(SMALL, random_state=0, max_iter=50, tol=0.02).fit(table, species)
    assert imputer.converged_
    assert imputer.changes_[-1] <= 0.02 < imputer.changes_[-2]
    assert imputer.n_iter_ == len(imputer.changes_) > 1
    hasty = ProximityImputer(SMALL, random_state=0, max_iter=2, tol=0.0).fit(table, species)
    assert not hasty.converged_
    assert hasty.n_iter_ == 2
    assert hasty.changes_ == imputer.changes_[:2]


def test_fills_are_near_the_truth():
    filled = ProximityImputer(random_state=0).fit_transform(X, Y)
    error = np.sqrt(np.mean((filled - WHOLE)[GAPS] ** 2))
    medians = np.where(GAPS, np.nanmedian(X, axis=0), X)
    assert error < 0.5 * np.sqrt(np.mean((medians - WHOLE)[GAPS] ** 2))


def test_same_fills_for_any_threads_and_by_seed():
    found = [
        ProximityImputer(SMALL, random_state=1, n_jobs=n).fit_transform(X, Y).tobytes() for n in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]
    assert found[0] != ProximityImputer(SMALL, random_state=2).fit_transform(X, Y).tobytes()


def test_new_rows_of_a_regressor_are_filled_by_proximity_to_training_rows():
    y = WHOLE[:, 0] + WHOLE[:, 1]
    imputer = ProximityImputer(
        RandomForestRegressor(n_estimators=20, min_samples_leaf=5), max_iter=1, random_state=0
    )
    imputer.fit(X, y)
    model = imputer.estimator_
    training = np.where(GAPS, 0.0, X)
    training[GAPS] = imputer.fit_transform(X, y)[GAPS]
    row = np.array([[4.0, np.nan, 4.0, 4.0]])
    guess = np.where(np.isnan(row), np.nanmedian(X, axis=0), row)
    known = ~GAPS[:, 1]
    weights = imputer.estimator_.proximity(guess, training)[0]
    expected = np.average(X[known, 1], weights=weights[known])
    assert imputer.transform(row)[0, 1] == pytest.approx(expected, rel=1e-12)
    assert model is not None


@pytest.mark.parametrize("max_iter", [1, 6])
def test_new_rows_are_independent_of_each_other_and_of_blocks(monkeypatch, max_iter):
    imputer = ProximityImputer(SMALL, random_state=0, max_iter=max_iter).fit(X, Y)
    together = imputer.transform(X)
    assert not np.isnan(together).any()
    assert np.array_equal(imputer.transform(X[40:43]), together[40:43])
    assert np.array_equal(np.vstack([imputer.transform(row[None]) for row in X[::9]]), together[::9])
    monkeypatch.setattr("weald.estimators.impute.proximity._COPIES", 9)
    assert np.array_equal(imputer.transform(X), together)


def test_new_rows_get_the_fills_of_their_likeliest_class():
    imputer = ProximityImputer(random_state=0).fit(X, Y)
    rows = np.array([[0.0, np.nan, 0.0, np.nan], [8.0, np.nan, 8.0, 8.0], [np.nan] * 4])
    filled = imputer.transform(rows)
    assert filled[0, [1, 3]] == pytest.approx([0, 0], abs=1.5)
    assert filled[1, 1] == pytest.approx(8, abs=1.5)
    assert np.isfinite(filled[2]).all()


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
def test_tables_come_back_as_what_they_were(frame):
    pytest.importorskip({"arrow": "pyarrow"}.get(frame, frame))
    table, species = load_penguins(frame)
    imputer = ProximityImputer(SMALL, random_state=0)
    filled = imputer.fit_transform(table, species)
    again = imputer.transform(table)
    for out in (filled, again):
        assert type(out) is type(table)
        assert out.shape == table.shape
        if frame == "pandas":
            assert out.dtypes.equals(table.dtypes)
            assert out.notna().all(axis=None)
            assert out[table.notna()].equals(table)
        else:
            assert out.schema == table.schema
            columns = [
                out[name].to_pylist() if frame == "arrow" else out[name].to_list()
                for name in imputer.feature_names_in_
            ]
            assert not any(value is None for column in columns for value in column)
    assert imputer.get_feature_names_out().tolist() == list(imputer.feature_names_in_)


def test_the_kind_of_table_does_not_change_the_fills():
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    filled = {}
    for frame in ("pandas", "polars"):
        table, species = load_penguins(frame)
        filled[frame] = ProximityImputer(SMALL, random_state=0).fit_transform(table, species)
    assert filled["pandas"].values.tolist() == [list(row) for row in filled["polars"].iter_rows()]


def test_every_kind_of_column_in_pandas():
    pd = pytest.importorskip("pandas")
    n = 90
    y = np.repeat(["a", "b", "c"], n // 3)
    number = np.arange(n, dtype=float)
    frame = pd.DataFrame(
        {
            "number": number,
            "whole": pd.array(number.astype(int) // 30, dtype="Int64"),
            "flag": pd.array(y == "a", dtype="boolean"),
            "size": pd.Categorical(
                np.repeat(["small", "mid", "large"], 30), ["small", "mid", "large"], ordered=True
            ),
            "kind": pd.Categorical(y),
            "text": y,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) // 30, unit="D"),
        }
    )
    truth = frame.copy()
    for j, name in enumerate(frame):
        frame.loc[[5 + j, 40 + j, 70 + j], name] = None
    filled = ProximityImputer(random_state=0).fit_transform(frame, y)
    assert filled.dtypes.equals(truth.dtypes)
    for name in ("whole", "flag", "size", "kind", "text"):
        assert (filled[name] == truth[name]).all(), name
    assert (filled["number"] - truth["number"]).abs().max() < 20
    assert (filled["day"] - truth["day"]).abs().max() < pd.Timedelta(days=1)


def test_declared_categories_are_filled_as_such():
    codes = np.repeat([1.0, 2.0, 7.0], 50)[:, None]
    table = np.c_[codes, X[:, :2]]
    table[::9, 0] = np.nan
    imputer = ProximityImputer(SMALL, categorical_features=[0], random_state=0)
    filled = imputer.fit_transform(table, Y)
    assert set(filled[:, 0]) == {1.0, 2.0, 7.0}
    assert set(imputer.transform(table)[:, 0]) == {1.0, 2.0, 7.0}
    plain = ProximityImputer(SMALL, random_state=0).fit_transform(table, Y)
    assert len(set(plain[:, 0])) > 3


def test_columns_are_matched_by_name_and_unknown_categories_stay():
    pd = pytest.importorskip("pandas")
    table, species = load_penguins("pandas")
    imputer = ProximityImputer(SMALL, random_state=0).fit(table, species)
    new = table.iloc[:20][table.columns[::-1]].copy()
    new.loc[0, "island"] = "Atlantis"
    filled = imputer.transform(new)
    assert list(filled.columns) == list(new.columns)
    assert filled.loc[0, "island"] == "Atlantis"
    assert filled.notna().all(axis=None)
    with pytest.raises(ValueError, match="yet now missing"):
        imputer.transform(table.drop(columns="sex"))
    assert isinstance(filled, pd.DataFrame)


def test_a_complete_table_is_returned_as_a_copy():
    imputer = ProximityImputer(SMALL, random_state=0)
    filled = imputer.fit_transform(WHOLE, Y)
    assert np.array_equal(filled, WHOLE)
    assert not np.shares_memory(filled, WHOLE)
    assert imputer.converged_
    assert imputer.n_iter_ == 1
    assert not np.isnan(imputer.transform(X)).any()


def test_a_row_that_meets_nobody_with_a_value_keeps_its_first_guess():
    # One leaf per row: no two rows ever meet, and the row itself has no value.
    table = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, np.nan], [3.0, 9.0]])
    model = RandomForestRegressor(n_estimators=5, bootstrap=False, max_features=None)
    filled = ProximityImputer(model, random_state=0).fit_transform(table, [0.0, 0.25, 0.5, 0.75])
    assert filled[2, 1] == 3.0


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (["a", "b"] * 60, True),
        ([True, False] * 60, True),
        ([0, 1] * 60, True),
        ([0.0, 1.0] * 60, True),
        ([0.5, 1.0] * 60, False),
        (list(range(120)), False),
        (np.c_[np.arange(120) % 3, np.arange(120) + 0.5], False),
    ],
)
def test_which_targets_are_labels(y, labels):
    assert has_labels(y, 120, "Imputer") is labels


def test_the_forest_is_of_the_targets_kind():
    kinds = {0: RandomForestClassifier, 1: RandomForestRegressor}
    for i, y in enumerate((Y, WHOLE[:, 0])):
        model = ProximityImputer(random_state=0, max_iter=1, n_jobs=1).fit(X, y).estimator_
        assert type(model) is kinds[i]
        assert model.n_estimators == 100
        assert model.n_jobs == 1


def test_several_numbers_to_learn_are_fine_and_several_labels_are_not():
    filled = ProximityImputer(random_state=0, max_iter=1).fit_transform(X, WHOLE[:, :2])
    assert not np.isnan(filled).any()
    with pytest.raises(DataError, match="y has 2 columns of labels"):
        ProximityImputer(max_iter=1).fit(X, np.c_[Y, Y])


def test_refusals():
    from scipy import sparse
    from sklearn.ensemble import RandomForestClassifier as Foreign

    with pytest.raises(DataError, match="requires y to be passed"):
        ProximityImputer().fit(X)
    empty = X.copy()
    empty[:, 2] = np.nan
    with pytest.raises(DataError, match=r"Column 2 is missing in every row.*Drop it"):
        ProximityImputer().fit(empty, Y)
    infinite = X.copy()
    infinite[7, 1] = np.inf
    with pytest.raises(DataError, match="Column 1 contains inf: row 7"):
        ProximityImputer().fit(infinite, Y)
    with pytest.raises(DataError, match="Column 1 contains inf: row 7"):
        ProximityImputer(SMALL, max_iter=1).fit(X, Y).transform(infinite)
    with pytest.raises(DataTypeError, match="sparse"):
        ProximityImputer().fit(sparse.eye(150), Y)
    with pytest.raises(
        ParameterError, match="`estimator` of ProximityImputer must be None or a forest of weald"
    ):
        ProximityImputer(Foreign()).fit(X, Y)
    with pytest.raises(ParameterError, match="max_iter"):
        ProximityImputer(max_iter=0).fit(X, Y)
    with pytest.raises(ParameterError, match="did you mean `max_iter`"):
        ProximityImputer().set_params(max_itr=3)


def test_in_a_pipeline_cloned_and_pickled():
    steps = make_pipeline(
        ProximityImputer(SMALL, random_state=0), RandomForestClassifier(n_estimators=20, random_state=0)
    )
    steps.fit(X, Y)
    assert steps.score(X, Y) > 0.95
    again = pickle.loads(pickle.dumps(steps))
    assert np.array_equal(again.predict(X), steps.predict(X))
    imputer = clone(steps[0]).set_params(estimator__n_estimators=3)
    assert imputer.estimator.n_estimators == 3
    assert SMALL.n_estimators == 20


def test_set_output():
    pd = pytest.importorskip("pandas")
    imputer = ProximityImputer(SMALL, random_state=0, max_iter=1).set_output(transform="pandas")
    assert isinstance(imputer.fit_transform(X, Y), pd.DataFrame)
