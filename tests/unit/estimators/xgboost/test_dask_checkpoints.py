"""A client that is lost while `XGB*` trains on Dask: what was kept goes on, anywhere, to the same bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import pandas as pd
import pytest
from distributed import Client
from support.clusters import LEARNT, flights, on_dask, parts, started

from weald import TrainingCallback, XGBClassifier, XGBRegressor, load

SHAPE = {"n_estimators": 2, "max_depth": 3, "max_bin": 32, "tree_method": "hist"}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return flights()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with started(2) as found, found.as_current():
        yield found


@pytest.mark.parametrize(
    ("shape", "target"),
    [({}, "label"), ({}, "kind"), ({"booster": "dart", "rate_drop": 0.5}, "label")],
    ids=["by row", "classes", "dart"],
)
def test_a_lost_client(
    client: Client, frame: pd.DataFrame, tmp_path: Path, shape: dict[str, Any], target: str
) -> None:
    """What was kept goes on with other partitions, in memory, and there again."""
    model = XGBClassifier(**SHAPE | {"n_estimators": 5} | shape)
    kept, file = frame[[*LEARNT, target, "w"]], tmp_path / "kept.weald"
    in_memory = {"X": kept[LEARNT], "y": kept[target], "sample_weight": kept["w"].to_numpy()}
    rows = on_dask(kept)
    known = model.fit(**in_memory, eval_set=[(in_memory["X"], in_memory["y"])])
    told, told_of_metrics = known.to_bytes(), known.evals_result_

    def end(fit: Callable[[], Any], n_rounds: int) -> None:
        model.set_params(callbacks=[_EndBefore(n_rounds)])
        with pytest.raises(InterruptedError):
            fit()
        model.set_params(callbacks=None)

    keeping: dict[str, Any] = {"checkpoint": file, "checkpoint_rounds": 1, "resume": True}
    end(lambda: model.fit(rows, target, sample_weight="w", **keeping), 3)
    assert load(file).n_rounds_ == 2
    found = model.fit(on_dask(kept, 2), target, sample_weight="w", **keeping)
    assert found.to_bytes() == told
    file.unlink()
    end(lambda: model.fit(**in_memory, **keeping), 4)
    found = model.fit(rows, target, sample_weight="w", eval_set=[(rows, target)], **keeping)
    assert found.to_bytes() == told
    assert found.evals_result_ == told_of_metrics


class _EndBefore(TrainingCallback):
    """Ends a fit before a round, the rounds before it kept."""

    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == self.n_rounds:
            raise InterruptedError
        return False


def test_a_killed_client(client: Client, frame: pd.DataFrame, tmp_path: Path) -> None:
    """SIGKILL of the process that asked, with its cluster; another goes on."""
    kept = frame[["a", "b", "late"]]
    kept.to_parquet(tmp_path / "rows.parquet")
    model = XGBRegressor(**SHAPE | {"n_estimators": 6}, subsample=0.5)
    known = model.fit(kept[["a", "b"]], kept["late"]).to_bytes()
    file = tmp_path / "kept.weald"
    script = textwrap.dedent(
        """
        import os, signal, sys
        import dask.dataframe as dd
        from dask.distributed import Client, LocalCluster
        from weald import TrainingCallback, XGBRegressor

        class Kill(TrainingCallback):
            def before_iteration(self, model, epoch, evals_log):
                if epoch == 4:
                    os.kill(os.getpid(), signal.SIGKILL)

        cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
        with cluster, Client(cluster):
            model = XGBRegressor(n_estimators=6, max_depth=3, max_bin=32, subsample=0.5, callbacks=[Kill()])
            rows = dd.from_pandas(dd.read_parquet(sys.argv[1]).compute(), npartitions=2)
            model.fit(rows, "late", checkpoint=sys.argv[2], checkpoint_rounds=1)
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path / "rows.parquet"), str(file)]
    ended = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert load(file).n_rounds_ == 3
    found = model.fit([dask.delayed(part) for part in parts(kept, 3)], "late", checkpoint=file, resume=True)
    assert found.to_bytes() == known
