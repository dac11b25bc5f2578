"""Pages coded anew for a tree of "approx" have the codes of the whole table coded anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from weald import engine
from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.data.schema import Schema
from weald.rows.blocks import MemoryPages
from weald.rows.blocks.coarse import CoarsePages

N = 3_000


def table_of(kind: str) -> Any:
    rng = np.random.default_rng(3)
    if kind == "sparse":
        X = sparse.random(N, 12, density=0.2, random_state=5, format="csr")
        X.data = np.round(9 * X.data) - 2  # some are 0
        return X
    return pd.DataFrame(
        {
            "wide": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
            "few": rng.integers(0, 5, N),
            "same": np.zeros(N),
            "city": pd.Categorical(rng.choice(["a", "b", "c"], N)),
        }
    )


@pytest.mark.parametrize("kind", ["mixed", "sparse"])
@pytest.mark.parametrize("page_rows", [700, 5_000])
def test_pages_have_the_codes_of_the_whole_table(kind: str, page_rows: int) -> None:
    table = to_table(table_of(kind))
    fine = encode(Schema.of(table, unknown="missing").align(table, estimator="test"), max_bins=65_535)
    weights = np.random.default_rng(8).integers(0, 50, N)
    known = engine.coarsen(fine.native, weights, 7, n_threads=2)
    source = CoarsePages(MemoryPages(fine, page_rows=page_rows), weights, max_bins=7, n_threads=2)
    pages = [page.codes for page in source.pages()]
    assert len(pages) == -(-N // page_rows)
    assert max(known.n_codes(j) for j in range(known.n_columns)) > 5
    for j in range(known.n_columns):
        found = np.concatenate([page.column(j) for page in pages])
        np.testing.assert_array_equal(found, known.column(j))
        assert found.dtype == known.column(j).dtype
        for own in (source.codebook, *pages):
            assert own.n_codes(j) == known.n_codes(j)
            assert own.is_sparse(j) == known.is_sparse(j)
            assert own.default_code(j) == known.default_code(j)
            np.testing.assert_array_equal(own.marks(j), known.marks(j))
    assert [page.codes for page in source.pages(codes=False)] == [None] * len(pages)
