"""The promise of pages: the codes, the codebook and the columns that memory has, whatever the pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.data.scanning import scan
from weald.data.training import learn_columns
from weald.rows.paged import Store, store_of, store_of_scan

PAGE = 65_536


def assert_as_in_memory(
    store: Store, X: Any, weight: np.ndarray | None, max_bins: int, **reading: Any
) -> None:
    schema, aligned = learn_columns(to_table(X, **reading), weight, unknown="missing", owner="test")
    codes = encode(aligned, max_bins=max_bins, weight=weight, n_threads=2)
    assert store.n_rows == codes.n_rows
    assert store.schema == schema
    assert store.codes.n_codes.tolist() == codes.n_codes.tolist()
    assert store.has_missing == [codes.has_missing(j) for j in range(codes.n_columns)]
    for j in range(codes.n_columns):
        assert store.codes.cuts(j).tolist() == codes.cuts(j).tolist()
        assert store.codebook.default_code(j) == codes.native.default_code(j)
    known = [codes.column(j) for j in range(codes.n_columns)]
    at = 0
    for page in store.pages():
        assert page.first_row == at
        assert page.codes is not None
        for j, column in enumerate(known):
            found = page.codes.column(j)
            assert found.dtype == column.dtype
            assert np.array_equal(found, column[at : at + page.n_rows])
        at += page.n_rows
    assert at == store.n_rows


def mixed(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n).round(int(rng.integers(0, 6)))
    a[rng.random(n) < rng.random() / 2] = np.nan
    text = rng.choice(["b", "a", "ä", "long text", ""], n).astype(object)
    text[rng.random(n) < 0.1] = None
    levels = list("dcab")
    return pd.DataFrame(
        {
            "a": a,
            "f": rng.exponential(size=n).astype(np.float32),
            "i": rng.integers(-(2**40), 2**40, n) if rng.random() < 0.5 else rng.integers(0, 4, n),
            "t": text,
            "o": pd.Categorical(rng.choice(levels, n), levels, ordered=True),
            "c": pd.Categorical(rng.choice(levels[:3], n), levels),
            "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
            "b": rng.random(n) < 0.3,
            "one": np.full(n, 7.0),
            "none": np.full(n, np.nan),
        }
    )


def weights(kind: str, n: int, seed: int) -> np.ndarray | None:
    rng = np.random.default_rng(seed)
    if kind == "none":
        return None
    if kind == "whole":
        return np.maximum(rng.integers(0, 4, n), np.arange(n) == 0).astype(float)
    return rng.gamma(2.0, size=n) * (rng.random(n) < 0.9) + (np.arange(n) == 0)


@settings(max_examples=12, deadline=None)
@given(
    n=st.sampled_from([1, 2, 100, PAGE, PAGE + 1]),
    seed=st.integers(0, 2**20),
    weight=st.sampled_from(["none", "whole", "real"]),
    max_bins=st.sampled_from([2, 15, 255, 300, 65_535]),
    compress=st.sampled_from(["none", "packed", "zstd"]),
)
def test_a_store_has_the_codes_of_memory(
    n: int, seed: int, weight: str, max_bins: int, compress: str
) -> None:
    X, w = mixed(n, seed), weights(weight, n, seed)
    with store_of(X, weight=w, max_bins=max_bins, compress=compress, n_jobs=2) as store:
        assert_as_in_memory(store, X, w, max_bins)
        if w is not None:
            assert np.array_equal(store.column("weight"), w)


@settings(max_examples=9, deadline=None)
@given(
    n=st.sampled_from([1, 100, PAGE + 1]),
    seed=st.integers(0, 2**20),
    density=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    form=st.sampled_from(["csr", "csc"]),
    weight=st.sampled_from(["none", "real"]),
    compress=st.sampled_from(["none", "packed", "zstd"]),
)
def test_sparse_columns_stay_sparse(
    n: int, seed: int, density: float, form: str, weight: str, compress: str
) -> None:
    rng = np.random.default_rng(seed)
    X = sparse.random(n, 7, density, format=form, random_state=rng)
    X.data = np.where(rng.random(len(X.data)) < 0.1, np.nan, X.data.round(1) - 0.5)
    w = weights(weight, n, seed)
    with store_of(X, weight=w, compress=compress) as store:
        assert_as_in_memory(store, X, w, 255)
        assert all(store.codebook.is_sparse(j) for j in range(7))


@pytest.mark.parametrize("weight", ["none", "whole", "real"])
def test_the_sample_of_a_larger_table(weight: str) -> None:
    n = 600_000  # cuts come from a sample, which is pruned on the way
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=n), rng.exponential(size=n), np.round(rng.normal(size=n), 1)])
    w = weights(weight, n, 4)
    with store_of(X, weight=w, page_rows=2 * PAGE, n_jobs=2) as store:
        assert_as_in_memory(store, X, w, 255)


@settings(max_examples=5, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    group_rows=st.sampled_from([999, 20_000, 10**6]),
    n_files=st.integers(1, 3),
    weight=st.sampled_from([None, "w"]),
)
def test_files_give_the_codes_of_the_whole_table(
    tmp_path_factory: pytest.TempPathFactory, seed: int, group_rows: int, n_files: int, weight: str | None
) -> None:
    folder = tmp_path_factory.mktemp("files")
    frame = mixed(70_000, seed).assign(y=np.arange(70_000) % 3, w=weights("real", 70_000, seed))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    size = -(-table.num_rows // n_files)
    parts = [table.slice(first, size) for first in range(0, table.num_rows, size)]
    for i, part in enumerate(parts):
        as_text = part["t"].dictionary_encode() if i % 2 == 0 else part["t"]
        part = part.set_column(3, "t", as_text.cast(pa.string()))
        pq.write_table(part, folder / f"{i}.parquet", row_group_size=group_rows)
    whole = pa.concat_tables([pq.read_table(folder / f"{i}.parquet") for i in range(n_files)])
    store = store_of_scan(scan(folder / "*.parquet"), ["y", "w"], max_bins=255, weight=weight, n_threads=2)
    assert_as_in_memory(
        store, whole.drop_columns(["y", "w"]), None if weight is None else frame["w"].to_numpy(), 255
    )
    assert np.array_equal(store.column("y"), frame["y"])


def test_numbers_that_are_categories() -> None:
    n = PAGE + 10
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 9, n).astype(float), rng.normal(size=n)])
    X[-1, 0] = 2.5  # only the last page has a level that is no whole number
    with store_of(to_table(X, categorical_features=[0])) as store:
        assert_as_in_memory(store, X, None, 255, categorical_features=[0])
