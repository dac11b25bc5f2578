"""A small cluster in this process, and rows in uneven partitions for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

LEARNT = ["a", "b", "city"]


@contextmanager
def started(n_workers: int) -> Iterator[Client]:
    """A client of workers with a thread each, not yet the current one."""
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with (
        LocalCluster(n_workers=n_workers, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def flights() -> pd.DataFrame:
    """Numbers, missing ones, categories, and targets of several kinds."""
    rng = np.random.default_rng(4)
    n = 4_000
    a = rng.normal(size=n).round(3)
    city = rng.choice([f"city {i}" for i in range(90)], n)
    late = rng.normal(size=n) + a + (city > "city 5")
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.integers(0, 40, n),
            "city": np.where(rng.random(n) < 0.02, None, city),
            "late": late,
            "label": np.where(late > 0.5, "late", "on time"),
            "kind": np.digitize(late, [-0.5, 1.0]),
            "w": rng.integers(0, 3, n).astype(np.float64),
            "share": rng.random(n).round(2),
            "q": np.sort(rng.integers(0, 300, n)),
        }
    )


def parts(frame: pd.DataFrame, n: int) -> list[pd.DataFrame]:
    """Uneven parts, one of them empty if there are three or more."""
    cuts = np.sort(np.random.default_rng(n).choice(np.arange(1, len(frame)), n - 1, replace=False))
    if n >= 3:
        cuts[1] = cuts[0]
    return [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)]


def on_dask(frame: pd.DataFrame, n: int = 3) -> list[Any]:
    """Delayed parts, of which each has its own dictionary of cities."""
    return [dask.delayed(part.astype({"city": "category"})) for part in parts(frame, n)]
