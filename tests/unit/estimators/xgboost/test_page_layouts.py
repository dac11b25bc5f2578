"""The model of pages is that of memory, to the byte, however the pages are laid out and read."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from weald import XGBClassifier
from weald.rows.paged import store_of

N = 300_000
ROWS = 65_536, 262_144
LAYOUTS = list(product(("none", "packed", "zstd"), (1, 2), ROWS))


def saved(model: Any, path: Path) -> bytes:
    model.set_params(n_jobs=None).save(path)
    return path.read_bytes()


def new_model(n_threads: int) -> XGBClassifier:
    return XGBClassifier(n_estimators=3, max_depth=4, max_bin=40, tree_method="hist", n_jobs=n_threads)


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(26)
    wide = np.where(rng.random(N) < 0.05, np.nan, rng.normal(size=N).round(3))
    city = rng.integers(0, 12, N)
    X = pd.DataFrame(
        {
            "wide": wide,
            "rare": rng.random(N) < 0.01,
            "sorted": np.arange(N) // 50_000,  # one code in a page of 65,536 rows, several in one of 262,144
            "city": pd.Categorical.from_codes(city, [f"city {i}" for i in range(12)]),
        }
    )
    chance = np.nan_to_num(wide) + X["rare"] + (city % 5 == 0) - 0.2 * X["sorted"]
    return X, (chance + rng.normal(size=N) > 0).to_numpy().astype(int)


@pytest.fixture(scope="module")
def known(rows: tuple[pd.DataFrame, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(new_model(2).fit(*rows), tmp_path_factory.mktemp("known") / "memory.weald")


@pytest.mark.parametrize(("compress", "n_disks", "page_rows"), LAYOUTS)
def test_the_model_does_not_depend_on_the_layout_of_pages(
    rows: tuple[pd.DataFrame, np.ndarray],
    known: bytes,
    tmp_path: Path,
    compress: str,
    n_disks: int,
    page_rows: int,
) -> None:
    disks = [tmp_path / f"disk{i}" for i in range(n_disks)]
    for disk in disks:
        disk.mkdir()
    folder = tmp_path / "store"
    with store_of(
        *rows, max_bins=40, folder=folder, page_rows=page_rows, compress=compress, disks=disks, n_jobs=2
    ) as store:
        assert store.n_pages == -(-N // page_rows)
        assert store.compress == compress
        sizes = [sum(file.stat().st_size for file in disk.rglob("codes.pages")) for disk in disks]
        assert all(size > 0 for size in sizes), "every disk has pages"
        for n_threads in (1, 2, 3):
            model = new_model(n_threads).fit(store, "target")
            assert saved(model, tmp_path / "pages.weald") == known, n_threads
