"""Pages under a limit of memory that the table itself exceeds; a limit too small is said beforehand."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import weald
from weald import engine

#: 240 MB of numbers, made anew at each reading, and 200 MB more than the process has before it trains
SCRIPT = """
import resource
import numpy as np, pyarrow as pa
import weald, sklearn.utils
N, COLUMNS, BLOCK = 3_000_000, 20, 100_000

def batches():
    for first in range(0, N, BLOCK):
        X = np.random.default_rng(first).random((BLOCK, COLUMNS), np.float32)
        columns = {f"c{i}": X[:, i] for i in range(COLUMNS)} | {"y": X[:, 0] + X[:, 1] * X[:, 2]}
        yield pa.RecordBatch.from_pydict(columns)

next(batches())
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 200_000_000,) * 2)
model = weald.XGBRegressor(n_estimators=2, max_depth=3, max_bin=64, tree_method="hist", n_jobs=1)
model.fit(weald.scan(batches, memory="32MiB"), "y")
print(model.n_rounds_)
try:
    np.ones((N, COLUMNS), np.float32)
except MemoryError:
    print("the table does not fit")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on address space are Linux's")
def test_a_table_larger_than_the_memory_that_is_left() -> None:
    few = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, env=os.environ | few
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["2", "the table does not fit"]


def test_a_limit_too_small_is_said_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({f"c{i}": np.zeros(100_000, np.float32) for i in range(3)})
    model = weald.XGBRegressor(n_estimators=2, max_depth=2, max_bin=8, tree_method="hist")
    for room, fits in ((100_000_000, True), (900_000, False)):
        monkeypatch.setattr(engine, "memory_bytes", lambda room=room: room)
        notes = weald.plan(model, weald.scan(rows, memory="2MB")).notes
        assert (
            any("this does not fit: 22 bytes a row stay in memory, 2.2 MB" in each for each in notes) != fits
        )


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (None, "plan asks an estimator"),
        (weald.XGBClassifier, "plan asks an estimator"),
        (
            weald.XGBClassifier(n_estimators="x"),
            "`n_estimators` of XGBClassifier must be None or a whole number",
        ),
    ],
)
def test_a_plan_asks_for_an_estimator(estimator, message):
    with pytest.raises(weald.errors.WealdError, match=message):
        weald.plan(estimator, np.zeros((20, 2)))


def test_what_learns_in_memory_is_planned_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 344)
    told = weald.plan(weald.KNeighborsClassifier(), path)
    assert (told.store, told.n_rows) == ("memory", 344)
    assert any("weald.read" in each for each in told.notes)
