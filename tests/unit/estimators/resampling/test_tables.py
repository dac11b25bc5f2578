"""Samplers take every kind of table and give it back: same kind, same types, the same values from all."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weald
from weald.data.adapters import to_table
from weald.data.table import LevelColumn

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

SAMPLERS = [
    weald.RandomOverSampler(random_state=0),
    weald.RandomOverSampler(random_state=0, shrinkage=1.0),
    weald.RandomUnderSampler(random_state=0),
    weald.SMOTE(random_state=0, k_neighbors=3),
    weald.SMOTENC(random_state=0, k_neighbors=3),
    weald.SMOTEN(random_state=0, k_neighbors=3),
    weald.BorderlineSMOTE(random_state=0, k_neighbors=3, m_neighbors=6),
    weald.BorderlineSMOTE(random_state=0, k_neighbors=3, m_neighbors=6, kind="borderline-2"),
    weald.ADASYN(random_state=0, n_neighbors=4),
    weald.TomekLinks(sampling_strategy="all"),
    weald.EditedNearestNeighbours(kind_sel="mode"),
    weald.NearMiss(),
    weald.SMOTEENN(smote=weald.SMOTE(random_state=0, k_neighbors=3)),
    weald.SMOTETomek(smote=weald.SMOTE(random_state=0, k_neighbors=3)),
]
by_sampler = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: repr(s).partition("(")[0])

N = 60
Y = np.where(np.arange(N) % 5 == 0, "rare", "often")


def mixed() -> dict[str, list[Any]]:
    """Numbers, whole numbers, bools, dates, ordered and unordered levels, text, gaps in all but one."""
    rng = np.random.default_rng(3)
    day = dt.datetime(2024, 1, 1)
    columns: dict[str, list[Any]] = {
        "number": (rng.normal(size=N) + (Y == "rare")).tolist(),
        "count": rng.integers(0, 9, N).tolist(),
        "flag": (rng.random(N) < 0.5).tolist(),
        "when": [day + dt.timedelta(hours=int(hours)) for hours in rng.integers(0, 1000, N)],
        "size": [("small", "middle", "large")[i] for i in rng.integers(0, 3, N)],
        "city": [("Bern", "Rom", "Oslo", "Wien")[i] for i in rng.integers(0, 4, N)],
    }
    for name, share in (("number", 0.1), ("when", 0.1), ("size", 0.1), ("city", 0.1)):
        for row in np.flatnonzero(rng.random(N) < share):
            columns[name][row] = None
    return columns


LEVELS = ["small", "middle", "large"]


def as_pandas() -> Any:
    frame = pd.DataFrame(mixed(), index=[f"row {i}" for i in range(N)])
    frame["number"] = frame["number"].astype(float)
    frame["size"] = pd.Categorical(frame["size"], LEVELS, ordered=True)
    frame["city"] = pd.Categorical(frame["city"])
    frame["when"] = pd.to_datetime(frame["when"])
    return frame


def as_polars() -> Any:
    return pl.DataFrame(
        mixed(),
        schema={
            "number": pl.Float64,
            "count": pl.Int64,
            "flag": pl.Boolean,
            "when": pl.Datetime("us"),
            "size": pl.Enum(LEVELS),
            "city": pl.String,
        },
    )


def as_arrow() -> Any:
    columns = mixed()
    order = {level: i for i, level in enumerate(LEVELS)}
    codes = pa.array([None if v is None else order[v] for v in columns["size"]], pa.int8())
    return pa.table(
        {
            "number": pa.array(columns["number"], pa.float64()),
            "count": pa.array(columns["count"], pa.int64()),
            "flag": pa.array(columns["flag"], pa.bool_()),
            "when": pa.array(columns["when"], pa.timestamp("us")),
            "size": pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=True),
            "city": pa.array(columns["city"], pa.string()),
        }
    )


def plain(table: Any) -> list[list[Any]]:
    """The values of a table, by column."""
    found = []
    for column in to_table(table).columns:
        if isinstance(column, LevelColumn):
            found.append([None if i < 0 else column.levels[i] for i in column.indices.tolist()])
        else:
            values = column.values.astype(float)
            missing = np.isnan(values) if column.missing is None else column.missing | np.isnan(values)
            found.append([None if gone else v for v, gone in zip(values.tolist(), missing, strict=True)])
    return found


@by_sampler
def test_frames_come_back_as_they_went_in(sampler: Any) -> None:
    kinds = {"pandas": as_pandas(), "polars": as_polars(), "arrow": as_arrow(), "lazy": as_polars().lazy()}
    results = {}
    for kind, X in kinds.items():
        found, y = sampler.fit_resample(X, Y)
        assert type(found) is type(X)
        results[kind] = (plain(found), y.tolist())
    frame, _ = sampler.fit_resample(kinds["pandas"], Y)
    assert frame.dtypes.tolist() == kinds["pandas"].dtypes.tolist()
    assert sampler.fit_resample(kinds["polars"], Y)[0].schema == kinds["polars"].schema
    assert sampler.fit_resample(kinds["arrow"], Y)[0].schema == kinds["arrow"].schema
    for kind in ("polars", "arrow", "lazy"):
        assert results[kind][1] == results["pandas"][1]
        for ours, theirs in zip(results[kind][0], results["pandas"][0], strict=True):
            assert ours == theirs


@by_sampler
def test_no_level_is_new_and_whole_numbers_stay_whole(sampler: Any) -> None:
    X = as_polars()
    found, _ = sampler.fit_resample(X, Y)
    for name in ("size", "city", "flag"):
        assert set(found[name].unique()) <= set(X[name].unique())
    assert found["count"].dtype == pl.Int64
    assert found["count"].min() >= X["count"].min()
    assert found["count"].max() <= X["count"].max()
    if not getattr(sampler, "shrinkage", None):
        assert found["when"].drop_nulls().is_between(X["when"].min(), X["when"].max()).all()


@by_sampler
def test_arrays_lists_and_sparse_matrices_agree(sampler: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, 4)) + (Y == "rare")[:, None], 1)
    X[rng.random(X.shape) < 0.5] = 0.0
    expected, labels = sampler.fit_resample(X, Y)
    assert isinstance(expected, np.ndarray)
    assert expected.dtype == X.dtype
    as_list, y_list = sampler.fit_resample(X.tolist(), Y.tolist())
    assert isinstance(as_list, list)
    assert isinstance(y_list, list)
    assert as_list == expected.tolist()
    assert y_list == labels.tolist()
    named = {f"x{j}": X[:, j] for j in range(4)}
    mapping, _ = sampler.fit_resample(named, Y)
    np.testing.assert_array_equal(np.column_stack([mapping[name] for name in named]), expected)
    frame, _ = sampler.fit_resample(pd.DataFrame(named), Y)
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    noisy = getattr(sampler, "shrinkage", None) is not None
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        matrix, y_matrix = sampler.fit_resample(form(X), Y)
        assert type(matrix) is form
        assert y_matrix.tolist() == labels.tolist()
        if not noisy:  # noise is added to what is stored alone
            np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_, ">f8"])
def test_arrays_of_other_types(dtype: Any) -> None:
    X = (np.random.default_rng(0).random((N, 3)) * 9).astype(dtype)
    found, _ = weald.SMOTE(random_state=0).fit_resample(X, Y)
    assert found.dtype == np.dtype(dtype)
    assert (found[:N] == X).all()
    if np.dtype(dtype).kind != "b":
        assert found[N:].min() >= X.min()
        assert found[N:].max() <= X.max()


def test_records_structures_and_objects() -> None:
    records = [{"x": float(i % 7), "c": "ab"[i % 2]} for i in range(N)]
    found, _ = weald.SMOTE(random_state=0).fit_resample(records, Y)
    assert found[:N] == records
    assert {type(row["x"]) for row in found} == {float}
    structured = np.array([(row["x"], row["c"]) for row in records], dtype=[("x", float), ("c", "U1")])
    again, _ = weald.SMOTE(random_state=0).fit_resample(structured, Y)
    assert again.dtype == structured.dtype
    assert [row["x"] for row in found] == again["x"].tolist()
    objects = np.array([[row["x"], row["c"]] for row in records], dtype=object)
    array, _ = weald.SMOTE(random_state=0).fit_resample(objects, Y)
    assert array.dtype == object
    assert array[:, 1].tolist() == [row["c"] for row in found]


def test_pandas_types_of_its_own() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "Int64": pd.array([None if i % 9 == 0 else i for i in range(N)], "Int64"),
            "Float32": pd.array(rng.normal(size=N), "Float32"),
            "string": pd.array(list("abc" * (N // 3)), "string"),
            "boolean": pd.array([None if i % 7 == 0 else bool(i % 2) for i in range(N)], "boolean"),
            "zone": pd.date_range("2024-01-01", periods=N, freq="h", tz="Europe/Zurich"),
            "span": pd.to_timedelta(rng.integers(0, 10**6, N), unit="s"),
            "arrow": pd.array(rng.normal(size=N), pd.ArrowDtype(pa.float64())),
            "whole": rng.integers(0, 100, N).astype(object),
            "money": [Decimal(int(v)) / 4 for v in rng.integers(0, 99, N)],
        }
    )
    found, _ = weald.SMOTE(random_state=0).fit_resample(frame, Y)
    assert found.dtypes.tolist() == frame.dtypes.tolist()
    assert {type(v) for v in found["whole"]} == {int}
    assert {type(v) for v in found["money"]} == {Decimal}
    assert found["zone"].between(frame["zone"].min(), frame["zone"].max()).all()
    assert found["Int64"].isna().any()


def test_the_index_of_pandas() -> None:
    X, y = as_pandas(), pd.Series(Y, index=[f"row {i}" for i in range(N)], name="label")
    kept, labels = weald.RandomUnderSampler(random_state=0).fit_resample(X, y)
    assert kept.index.tolist() == labels.index.tolist()
    assert kept.index[0].startswith("row")
    made, labels = weald.SMOTE(random_state=0).fit_resample(X, y)
    assert made.index.tolist() == list(range(len(made)))
    assert labels.index.tolist() == list(range(len(made)))
    assert labels.name == "label"


@pytest.mark.parametrize(
    "labels",
    [
        Y.tolist(),
        Y,
        (Y == "rare"),
        (Y == "rare").astype(int),
        pd.Series(Y),
        pd.Series(pd.Categorical(Y)),
        pl.Series(Y),
        pa.array(Y.tolist()),
        np.column_stack([Y == "rare", Y == "often"]).astype(int),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_of_every_kind_come_back(labels: Any) -> None:
    X = np.random.default_rng(0).normal(size=(N, 3))
    _, y = weald.SMOTE(random_state=0).fit_resample(X, labels)
    assert type(y) is type(labels)
    assert len(y) == 96
    if hasattr(labels, "dtype"):
        assert y.dtype == labels.dtype


def test_gaps_stay_as_frequent_as_they_were() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = np.arange(2000) % 20 == 0
    X[rng.random(2000) < 0.3, 0] = np.nan
    sampler = weald.SMOTE(random_state=0)
    found, _ = sampler.fit_resample(X, y)
    before, after = np.isnan(X[y, 0]).mean(), np.isnan(found[2000:, 0]).mean()
    assert abs(before - after) < 0.1
    assert not np.isnan(found[:, 1]).any()


def test_declared_categories_are_never_between() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=N), rng.choice([1.0, 2.0, 40.0], N)])
    for sampler in (
        weald.SMOTE(categorical_features=[1], random_state=0),
        weald.SMOTENC([1], random_state=0),
        weald.SMOTENC([False, True], random_state=0),
        weald.ADASYN(categorical_features=[1], random_state=0),
        weald.RandomOverSampler(categorical_features=[1], shrinkage=1, random_state=0),
    ):
        found, _ = sampler.fit_resample(X, Y)
        assert set(found[:, 1]) <= {1.0, 2.0, 40.0}
        assert len(np.unique(found[:, 0])) > N
    matrix, _ = weald.SMOTE(categorical_features=[1], random_state=0).fit_resample(sparse.csr_array(X), Y)
    np.testing.assert_allclose(
        matrix.toarray(), weald.SMOTENC([1], random_state=0).fit_resample(X, Y)[0], rtol=1e-12
    )
