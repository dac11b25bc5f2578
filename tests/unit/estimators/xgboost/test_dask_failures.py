"""Workers that are killed, leave or join while `XGB*` trains on Dask: time is lost, never the model."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from weald import XGBClassifier, XGBRegressor
from weald.boosting.newton import dask_rows
from weald.rows.dask.cluster import Cluster

SHAPE = {"max_depth": 3, "max_bin": 32, "tree_method": "hist"}
#: what a dead worker costs is Dask's waiting for it more than the work
QUICK = {
    "distributed.scheduler.allowed-failures": 30,
    # LocalCluster gives up a worker that is not back by then, which on a busy machine leaves none.
    "distributed.deploy.lost-worker-timeout": "10 minutes",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}
#: a word of a task and the beginning of its place, such as ("visit", (round, tree, level))
Place = tuple[str, tuple[int, ...]]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers, each a process that is started again when it dies."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set(QUICK),
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster, set_as_default=False) as found,
        found.as_current(),
    ):
        yield found


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = 3_000
    a = rng.normal(size=n)
    late = rng.normal(size=n) + a
    return pd.DataFrame(
        {"a": a, "b": rng.integers(0, 40, n), "late": late, "kind": np.digitize(late, [-1, 1])}
    )


def on_dask(frame: pd.DataFrame, n: int) -> list[Any]:
    cuts = np.linspace(0, len(frame), n + 1).astype(int)
    return [dask.delayed(frame.iloc[a:b]) for a, b in itertools.pairwise(cuts)]


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def pids(client: Client) -> list[int]:
    return [int(pid) for pid in client.run(os.getpid).values()]


def do_at(monkeypatch: pytest.MonkeyPatch, places: list[Place], act: Callable[[], None]) -> list[Place]:
    """Act when the first task of each place is submitted; returns the places still to come."""
    waiting = list(places)

    def watch(name: str) -> None:
        submit = getattr(Cluster, name)

        def watched(self: Cluster, word: str, where: tuple[object, ...], *rest: object) -> object:
            for place in waiting:
                if place[0] == word and where[: len(place[1])] == place[1]:
                    waiting.remove(place)
                    act()
                    break
            return submit(self, word, where, *rest)

        monkeypatch.setattr(Cluster, name, watched)

    watch("submit")
    watch("each")
    return waiting


def kill(client: Client, n: int = 1) -> None:
    for pid in pids(client)[:n]:
        os.kill(pid, signal.SIGKILL)


#: ten places over a fit, three of which find both workers; one is enough where nobody waits for a new process
KILLS = [
    ([("visit", (1, 1, 2))], 1),
    ([("open", ())], 1),
    ([("learn", ())], 1),
    ([("code", ())], 2),
    ([("count", (0, 0))], 1),
    ([("visit", (0, 2, 0))], 1),
    ([("scores", (1,))], 2),
    ([("all_gradients", (2,))], 1),
    ([("fresh_scores", (2,))], 2),
    ([("visit", (2, 2, 3))], 1),
    ([("code", ()), ("visit", (1, 1, 2))], 1),
]


@pytest.mark.parametrize(
    ("places", "n_killed"),
    [
        pytest.param(places, n, id=f"{places[-1]}, {n}", marks=[] if k == 0 else pytest.mark.slow)
        for k, (places, n) in enumerate(KILLS)
    ],
)
def test_killed_workers_cost_time_alone(
    client: Client,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    places: list[Place],
    n_killed: int,
) -> None:
    monkeypatch.setattr(dask_rows, "ROUNDS_OF_A_CHAIN", 2)
    model = XGBClassifier(**SHAPE, n_estimators=3)
    known = saved(model.fit(frame[["a", "b"]], frame["kind"]), tmp_path / "memory.weald")
    left = do_at(monkeypatch, places, lambda: kill(client, n_killed))
    rows = on_dask(frame[["a", "b", "kind"]], 3)
    assert saved(model.fit(rows, "kind"), tmp_path / "dask.weald") == known
    assert left == []


def test_a_worker_that_joins_is_used(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those from before leave, and what they held is worked out on the new one."""
    model = XGBRegressor(**SHAPE, n_estimators=3)
    known = saved(model.fit(frame[["a", "b"]], frame["late"]), tmp_path / "memory.weald")
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with (
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        before = set(client.scheduler_info(n_workers=-1)["workers"])

        def join() -> None:
            cluster.scale(3)
            client.wait_for_workers(3)
            for address in before:
                client.retire_workers([address], close_workers=False)

        left = do_at(monkeypatch, [("visit", (1, 0, 1))], join)
        found = model.fit(on_dask(frame[["a", "b", "late"]], 3), "late")
        after = set(client.scheduler_info(n_workers=-1)["workers"])
    assert saved(found, tmp_path / "dask.weald") == known
    assert left == []
    assert after - before


@pytest.mark.slow
def test_a_kill_every_few_seconds(client: Client, frame: pd.DataFrame, tmp_path: Path) -> None:
    """Two minutes of it; the next is killed when the one before is back, or nothing would ever be done."""
    model = XGBRegressor(**SHAPE, n_estimators=10)
    known = saved(model.fit(frame[["a", "b"]], frame["late"]), tmp_path / "memory.weald")
    over, killed, n_fits = threading.Event(), 0, 0

    def killer() -> None:
        nonlocal killed
        while not over.wait(4.0):
            workers = list(client.cluster.workers.values())
            if len(client.cluster.scheduler.workers) < len(workers) or not workers:
                continue
            pid = getattr(workers[killed % len(workers)], "pid", None)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                killed += 1

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        begun = time.monotonic()
        while time.monotonic() - begun < 120:
            found = model.fit(on_dask(frame[["a", "b", "late"]], 4), "late")
            assert saved(found, tmp_path / "dask.weald") == known
            n_fits += 1
    finally:
        over.set()
        thread.join()
    assert killed >= 3, f"{n_fits} fits"
    print(f"{n_fits} fits, {killed} kills")  # shown by pytest -s
