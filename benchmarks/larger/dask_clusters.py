"""Boosting on a Dask cluster of two workers with a thread each, beside memory with two threads, and peers.

    python benchmarks/larger/dask_clusters.py --rows 1000000 --rounds 10 --repeats 5

Rows of 28 numeric columns, persisted on the workers in partitions of equal size; a fit is timed from the call
to its return, so that coding and binning are in it. The libraries take turns on one cluster; the table tells
minima, the time of a tree (the slope between a few rounds and many), and what weald's Dask adds to a tree and
to a level. With --kill a worker is killed in the middle of a fit and what becomes of it is told; --quick runs
everything once on few rows, to see that it runs.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from weald import XGBClassifier

sys.path.insert(0, str(Path(__file__).parents[1] / "compare"))
from common import tables

DEPTH = 6
SHAPE: dict[str, Any] = {"max_depth": DEPTH, "learning_rate": 0.1}
#: a fit of so many rounds
Fit = Callable[[int], object]


def partitions(n_rows: int, n: int) -> Any:
    """The columns and the target of a table, on the workers: blocks are drawn there."""
    size = -(-n_rows // n)
    sizes = tuple(min(size, n_rows - first) for first in range(0, n_rows, size))

    def block(block_info: Any = None) -> np.ndarray[Any, Any]:
        (first, last), _ = block_info[None]["array-location"]
        found = tables.classification(last - first, 1, seed=int(first))
        return np.column_stack([found["X"], found["y"]]).astype(np.float32)

    whole = da.map_blocks(block, chunks=(sizes, (29,)), dtype=np.float32, meta=np.empty((0, 29), np.float32))
    return whole.persist()


def contenders(client: Client, whole: Any, in_memory: Any) -> dict[str, Fit]:
    """A fit of every library on the same rows."""
    X, y = whole[:, :28].persist(), whole[:, 28].persist()
    wait([X, y])

    def weald_memory(rounds: int) -> object:
        model = XGBClassifier(n_estimators=rounds, tree_method="hist", max_bin=255, n_jobs=2, **SHAPE)
        return model.fit(in_memory[:, :28], in_memory[:, 28])

    def weald_dask(rounds: int) -> object:
        model = XGBClassifier(n_estimators=rounds, tree_method="hist", max_bin=255, n_jobs=1, **SHAPE)
        return model.fit(X, y)

    def xgboost_dask(rounds: int) -> object:
        import xgboost.dask

        model = xgboost.dask.DaskXGBClassifier(n_estimators=rounds, tree_method="hist", max_bin=256, **SHAPE)
        model.client = client
        return model.fit(X, y)

    def lightgbm_dask(rounds: int) -> object:
        import lightgbm

        model = lightgbm.DaskLGBMClassifier(
            n_estimators=rounds, max_bin=255, num_leaves=2**DEPTH, verbose=-1, client=client, **SHAPE
        )
        return model.fit(X, y)

    return {
        "weald in memory": weald_memory,
        "weald on Dask": weald_dask,
        "xgboost on Dask": xgboost_dask,
        "LightGBM on Dask": lightgbm_dask,
    }


def timed(fit: Fit, rounds: int) -> float:
    begun = time.perf_counter()
    fit(rounds)
    return time.perf_counter() - begun


def compare(fits: dict[str, Fit], rounds: int, repeats: int) -> None:
    """Prints minima of a few rounds and of many, library by library in turn."""
    few = max(1, rounds // 5)
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(repeats):
        for name, fit in fits.items():
            for n in (few, rounds):
                times.setdefault((name, n), []).append(timed(fit, n))
    best = {key: min(found) for key, found in times.items()}
    per_tree = {name: (best[name, rounds] - best[name, few]) / (rounds - few) for name in fits}
    print(f"| library | {few} rounds, s | {rounds} rounds, s | a tree, ms |\n|---|---:|---:|---:|")
    for name in fits:
        print(f"| {name} | {best[name, few]:.2f} | {best[name, rounds]:.2f} | {1000 * per_tree[name]:.1f} |")
    if {"weald in memory", "weald on Dask"} <= set(fits):
        added = 1000 * (per_tree["weald on Dask"] - per_tree["weald in memory"])
        print(f"\nDask adds {added:.1f} ms a tree, {added / (DEPTH + 2):.1f} ms a pass.")


def kill_in(client: Client, fit: Fit, rounds: int, after: float) -> str:
    """What becomes of a fit whose worker is killed after so many seconds."""
    pids = list(client.run(os.getpid).values())
    killer = threading.Timer(after, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    begun, end = time.perf_counter(), "the model after"
    found: list[str] = []

    def run() -> None:
        try:
            fit(rounds)
        except Exception as error:
            found.append(f"{type(error).__name__}: {str(error)[:80]} after")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(120)
    killer.join()
    end = "nothing after" if thread.is_alive() else found[0] if found else end
    return f"{end} {time.perf_counter() - begun:.1f} s"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="only these libraries, by the first word of their names")
    parser.add_argument("--kill", type=float, help="kill a worker after so many seconds instead")
    parser.add_argument("--quick", action="store_true", help="a few thousand rows, once")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.rounds, options.repeats = 4_000, 2, 1
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        whole = partitions(options.rows, options.partitions)
        fits = contenders(client, whole, whole.compute())
        if options.only:
            fits = {name: fit for name, fit in fits.items() if name in options.only}
        if options.kill is None:
            compare(fits, options.rounds, options.repeats)
            return
        for name, fit in fits.items():
            if name != "weald in memory":
                print(f"{name}: {kill_in(client, fit, options.rounds, options.kill)}", flush=True)


if __name__ == "__main__":
    main()
