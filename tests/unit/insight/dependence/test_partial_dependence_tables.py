"""Partial dependence on every kind of table, by any number of threads, of files and of any model."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from reference.dependence import curves
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.dependence import LABELS, REGRESSORS, RNG, N, X, Y, check, matrix

import weald


def test_every_table_gives_the_same():
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    table = X[["size", "rooms", "city", "noise"]]
    model = weald.XGBRegressor(n_estimators=10).fit(table, Y)
    first = weald.partial_dependence(model, table, ["size", "city"])
    for other in (
        polars.from_pandas(table),
        arrow.Table.from_pandas(table),
        table[::-1][["noise", "city", "rooms", "size"]],
    ):
        again = weald.partial_dependence(model, other, ["size", "city"])
        for a, b in zip(first, again, strict=True):
            np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-12)
    frame = weald.partial_dependence(model, polars.from_pandas(table), "city").to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["city", "value", "standard_error"]
    assert frame["city"].to_list() == ["Basel", "Bern", "Chur", "Genf", None]


def test_sparse_and_dense_and_lists_give_the_same():
    from scipy import sparse

    numbers = np.where(RNG.random((80, 5)) < 0.6, 0.0, RNG.normal(size=(80, 5)))
    target = numbers[:, 0] - numbers[:, 3]
    model = weald.XGBRegressor(n_estimators=5).fit(numbers, target)
    linear = LinearRegression().fit(numbers, target)
    for estimator in (model, linear):
        dense = weald.partial_dependence(estimator, numbers, [0, (3, 1)], grid=5)
        for other in (sparse.csr_matrix(numbers), numbers.tolist()):
            if estimator is linear and isinstance(other, list):
                continue
            again = weald.partial_dependence(estimator, other, [0, (3, 1)], grid=5)
            for a, b in zip(dense, again, strict=True):
                np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-12)


def test_threads_do_not_show():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3000, 4))
    model = weald.XGBClassifier(n_estimators=10).fit(table, table[:, 0] * table[:, 1] > 0)
    asked = [0, 1, (0, 1)]
    first = weald.partial_dependence(model, table, asked, kind="both", grid=12, n_jobs=1)
    for n_jobs in (2, 5):
        again = weald.partial_dependence(model, table, asked, kind="both", grid=12, n_jobs=n_jobs)
        for a, b in zip(first, again, strict=True):
            assert a.values.tobytes() == b.values.tobytes()
            assert a.standard_error.tobytes() == b.standard_error.tobytes()
            assert a.individual.tobytes() == b.individual.tobytes()


def test_columns_together_and_alone_give_the_same_bits():
    model = REGRESSORS["xgboost"].fit(X, Y)
    together = weald.partial_dependence(model, X)
    for each in together:
        alone = weald.partial_dependence(model, X, each.columns[0])
        assert alone.values.tobytes() == each.values.tobytes()


def test_a_loaded_model_and_a_booster():
    model = weald.XGBRegressor(n_estimators=8).fit(X, Y)
    found = weald.partial_dependence(model, X, "size")
    loaded = weald.load(io.BytesIO(model.to_bytes()))
    assert weald.partial_dependence(loaded, X, "size").values.tobytes() == found.values.tobytes()
    numbers = X[["rooms", "noise"]].astype(float)
    booster = weald.train({"objective": "binary:logistic"}, weald.DMatrix(numbers, label=Y > 2), 5)
    by_booster = weald.partial_dependence(booster, numbers, "noise", grid=[0.25])
    moved = numbers.assign(noise=0.25)
    np.testing.assert_allclose(
        by_booster.values[0, 0], booster.predict(weald.DMatrix(moved)).mean(), atol=1e-12
    )


def test_rows_that_weigh_nothing_do_not_count():
    model = REGRESSORS["forest"].fit(X, Y)
    weight = np.repeat([2.0, 0.0], [60, N - 60])
    found = weald.partial_dependence(model, X, "rooms", sample_weight=weight)
    part = weald.partial_dependence(model, X[:60], "rooms", grid=found.grid[0])
    np.testing.assert_allclose(found.values, part.values, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, part.standard_error, atol=1e-12)


def test_models_without_trees():
    table = X[["size", "noise", "rooms"]].fillna(0.0)
    machine = weald.SVR().fit(table, Y)
    logistic = weald.LogisticRegression().fit(X, LABELS)
    voting = weald.VotingRegressor([("a", weald.KNeighborsRegressor(5)), ("b", LinearRegression())]).fit(
        table, Y
    )
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, LABELS)
    for model, rows, predict in (
        (machine, table, lambda moved: matrix(machine.predict(moved))),
        (voting, table, lambda moved: matrix(voting.predict(moved))),
        (pipeline, table, pipeline.predict_proba),
        (
            lambda moved: moved["noise"] * moved["rooms"],
            table,
            lambda moved: matrix((moved["noise"] * moved["rooms"]).to_numpy()),
        ),
    ):
        found = weald.partial_dependence(model, rows, "noise", kind="both", grid=4)
        expected = curves(predict, rows, ["noise"], found.grid)
        np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)
    city, size = weald.partial_dependence(logistic, X, ["city", "size"], kind="both", grid=4, target="low")
    k = logistic.classes_.tolist().index("low")
    check(city, lambda moved: logistic.predict_proba(moved)[:, [k]])
    check(size, lambda moved: logistic.predict_proba(moved)[:, [k]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy", "dict"])
def test_values_between_whole_numbers_for_a_model_of_another_library(library):
    whole = pd.DataFrame({"n": np.arange(6), "m": np.arange(6)[::-1]})
    if library == "pandas":
        table, column = whole, lambda moved: np.asarray(moved["n"])
    elif library == "numpy":
        table, column = whole.to_numpy(), lambda moved: moved[:, 0]
    elif library == "dict":
        table, column = (
            {name: values.tolist() for name, values in whole.items()},
            lambda moved: np.asarray(moved["n"]),
        )
    else:
        pytest.importorskip(library)
        import polars

        table = polars.from_pandas(whole)
        table = table.to_arrow() if library == "pyarrow" else table
        column = lambda moved: np.asarray(moved["n"])  # noqa: E731
    found = weald.partial_dependence(column, table, 0, grid=[0.5, 2.25])
    assert found.values.tolist() == [[0.5, 2.25]]
