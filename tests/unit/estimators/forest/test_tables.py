"""Forests on every kind of table, target and weight."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from unit.estimators.forest.data import (
    ALL,
    CLASSIFIERS,
    NUMBERS,
    REGRESSORS,
    TWO,
    N,
    X,
    Y,
    assert_same_trees,
    named,
)

from weald import RandomForestClassifier, RandomForestRegressor
from weald.errors import DataError
from weald.io import model_file

TOWNS = [None if i % 13 == 0 else f"town {i * i % 8}" for i in range(N)]
GAPS = [None if i % 6 == 0 else float(v) for i, v in enumerate(X[:, 0])]
WHOLE = (np.arange(N) * 7 % 23).tolist()
COLUMNS = {"gaps": GAPS, "town": TOWNS, "whole": WHOLE}

NAMED = {
    "lists": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas categories": lambda: pd.DataFrame(COLUMNS).astype({"town": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categories": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("town").cast(pl.Categorical)),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow dictionary": lambda: pa.table({**COLUMNS, "town": pa.array(TOWNS).dictionary_encode()}),
}


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    return request.param(n_estimators=8, random_state=0)


class TestTables:
    @pytest.mark.parametrize("library", list(NAMED)[1:])
    def test_every_frame_gives_the_same_file(self, forest, library):
        expected = clone(forest).fit(COLUMNS, Y)
        model = forest.fit(NAMED[library](), Y)
        assert model_file.to_bytes(model) == model_file.to_bytes(expected)
        np.testing.assert_array_equal(model.predict(NAMED[library]()), expected.predict(COLUMNS))

    def test_arrays_and_lists_of_rows_give_the_same_file(self, forest):
        rows = [list(row) for row in zip(*COLUMNS.values(), strict=True)]
        by_rows = clone(forest).fit(rows, Y)
        by_array = clone(forest).fit(np.array(rows, object), Y)
        assert model_file.to_bytes(by_rows) == model_file.to_bytes(by_array)
        by_name = forest.fit(COLUMNS, Y)
        assert_same_trees(by_rows, by_name)
        np.testing.assert_array_equal(by_rows.predict(rows), by_name.predict(COLUMNS))

    @pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
    def test_a_sparse_matrix_gives_the_file_of_its_dense_copy(self, forest, kind):
        dense = np.where(np.abs(X) < 0.8, 0.0, X)
        by_entries = clone(forest).fit(kind(dense), Y)
        by_cells = forest.fit(dense, Y)
        assert model_file.to_bytes(by_entries) == model_file.to_bytes(by_cells)
        np.testing.assert_array_equal(by_entries.predict(kind(dense)), by_cells.predict(dense))

    def test_columns_are_matched_by_name(self, forest):
        frame = pd.DataFrame(COLUMNS)
        forest.fit(frame, Y)
        np.testing.assert_array_equal(forest.predict(frame[["whole", "gaps", "town"]]), forest.predict(frame))

    def test_float32_gives_the_file_of_float64(self, forest):
        single = X.astype(np.float32)
        first, second = clone(forest).fit(single, Y), forest.fit(single.astype(np.float64), Y)
        assert model_file.to_bytes(first) == model_file.to_bytes(second)

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_missing_values_and_categories_are_learnt_from(self, kind):
        y = np.array([town is None or town in ("town 1", "town 4") for town in TOWNS])
        model = kind(20, max_features=None, random_state=0).fit({"town": TOWNS, "whole": WHOLE}, y)
        assert model.score({"town": TOWNS, "whole": WHOLE}, y) == 1.0
        gone = [value is None for value in GAPS]
        model = kind(20, max_features=None, random_state=0).fit({"gaps": GAPS, "whole": WHOLE}, gone)
        assert model.score({"gaps": GAPS, "whole": WHOLE}, gone) == 1.0

    @pytest.mark.parametrize("kind", ALL, ids=named)
    def test_unknown_categories(self, kind):
        new = {"gaps": [0.0], "town": ["Atlantis"], "whole": [3]}
        kind(3).fit(COLUMNS, Y).predict(new)
        with pytest.raises(DataError, match="'Atlantis'"):
            kind(3, unknown="error").fit(COLUMNS, Y).predict(new)

    @pytest.mark.parametrize("kind", ALL, ids=named)
    def test_declared_categories(self, kind):
        model = kind(3, categorical_features=["whole"]).fit(COLUMNS, Y)
        assert model.schema_.columns[2].kind == "categorical"
        model.predict(COLUMNS)

    def test_bins(self, forest):
        forest.set_params(max_bins=4).fit(X, Y)
        for column in range(5):
            used = forest.forest_.threshold[forest.forest_.column == column]
            assert len(np.unique(used)) <= 4  # three cuts; infinity where only missing go right


class TestTargets:
    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"],
            [False, True],
            [-7, 300],
            np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
            np.array(["a", "b"], dtype=object),
        ],
        ids=["text", "bool", "int", "date", "object"],
    )
    def test_labels_come_back_as_they_were(self, kind, labels):
        y = np.asarray(labels)[(X[:, 0] > 0).astype(int)]
        model = kind(15, max_features=None, random_state=0).fit(X, y)
        assert model.predict(X).dtype == y.dtype
        assert model.predict(X).tolist() == y.tolist()
        assert model.classes_.tolist() == np.asarray(labels).tolist()

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_several_outputs_of_different_types(self, kind):
        y = {"size": np.array(["s", "m", "l"])[Y].tolist(), "ripe": (TWO == 1).tolist()}
        model = kind(10, random_state=0).fit(X, y)
        assert [labels.tolist() for labels in model.classes_] == [["l", "m", "s"], [False, True]]
        assert model.n_classes_ == [3, 2]
        assert model.n_outputs_ == 2
        shares = model.predict_proba(X)
        assert [each.shape for each in shares] == [(N, 3), (N, 2)]
        predicted = model.predict(X)
        assert predicted.shape == (N, 2)
        assert model.score(X, y) > 0.9
        total = np.zeros((N, 2))
        for tree in model:
            total += tree.predict_proba(X)[1]
        np.testing.assert_array_equal(shares[1], total / 10)

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    @pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
    def test_several_numbers(self, kind, criterion):
        y = np.column_stack([NUMBERS, -3 * NUMBERS])
        y -= y.min()
        model = kind(10, criterion=criterion, random_state=0).fit(X, y)
        assert model.n_outputs_ == 2
        assert model.predict(X).shape == (N, 2)
        assert model.score(X, y) > 0.6

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_one_class(self, kind):
        model = kind(3).fit(X, ["only"] * N)
        assert model.predict(X[:2]).tolist() == ["only"] * 2
        assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]

    @pytest.mark.parametrize("kind", ALL, ids=named)
    def test_one_row(self, kind):
        assert kind(3).fit(X[:1], [1]).predict(X[:3]).tolist() == [1, 1, 1]

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    def test_large_and_small_targets(self, kind):
        for y in (NUMBERS * 1e100, NUMBERS * 1e-100, NUMBERS + 1e9):
            assert kind(10, random_state=0).fit(X, y).score(X, y) > 0.6


class TestWeights:
    @pytest.mark.parametrize("fractions", [False, True])
    def test_a_row_of_weight_zero_is_absent(self, forest, fractions):
        rng = np.random.default_rng(7)
        weight = rng.uniform(0.1, 2, N) if fractions else np.ones(N)
        weight[rng.random(N) < 0.4] = 0
        kept = weight > 0
        forest.set_params(bootstrap=True, min_samples_split=0.05, min_weight_fraction_leaf=0.01)
        weighted = clone(forest).fit(X, Y, sample_weight=weight)
        without = forest.fit(X[kept], Y[kept], sample_weight=weight[kept] if fractions else None)
        assert_same_trees(weighted, without)
        for t in range(8):
            counts = weighted.bags_.counts(t, kept)
            assert not counts[~kept].any()
            np.testing.assert_array_equal(counts[kept], without.bags_.counts(t))

    @pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
    def test_a_row_of_weight_zero_is_absent_for_other_criteria(self, criterion):
        y = NUMBERS - NUMBERS.min()
        kept = np.arange(N) % 3 > 0
        weighted, without = (RandomForestRegressor(5, criterion=criterion, random_state=0) for _ in range(2))
        weighted.fit(X, y, sample_weight=kept.astype(float))
        assert_same_trees(weighted, without.fit(X[kept], y[kept]))

    def test_categories_of_rows_of_weight_zero_are_unknown(self, forest):
        weight = np.array([town != "town 1" for town in TOWNS], float)
        kept = np.flatnonzero(weight)
        weighted = clone(forest).fit(COLUMNS, Y, sample_weight=weight)
        without = forest.fit({name: [column[i] for i in kept] for name, column in COLUMNS.items()}, Y[kept])
        assert weighted.schema_ == without.schema_
        assert_same_trees(weighted, without)

    def test_a_class_without_weight_is_absent(self):
        model = RandomForestClassifier(5).fit(X, Y, sample_weight=(Y != 1).astype(float))
        assert model.classes_.tolist() == [0, 2]

    def test_weights_of_one_are_no_weights(self, forest):
        weighted = clone(forest).fit(X, Y, sample_weight=np.ones(N))
        assert_same_trees(weighted, forest.fit(X, Y))

    def test_weights_count(self, forest):
        """Rows of one class weigh a thousand times as much."""
        weight = np.where(Y == 2, 1000.0, 1.0)
        model = forest.set_params(max_depth=1).fit(X, Y, sample_weight=weight)
        assert (model.predict(X) > 1.5).mean() > (Y == 2).mean() + 0.2

    @pytest.mark.parametrize("weight", [2.0**52, 1e-290, 1e290])
    def test_large_and_small_weights(self, forest, weight):
        skewed = np.full(N, weight)
        skewed[:3] = weight / 4
        forest.set_params(bootstrap=True).fit(X, Y, sample_weight=skewed)
        assert forest.score(X, Y) > 0.7
