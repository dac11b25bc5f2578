"""Boosting on more rows than memory holds: 20 trees of depth 6, the cost of a row, and the memory it takes.

    python benchmarks/larger/hundred_millions.py --rows 10000000 100000000 --folder /data/scratch

Rows are made a block at a time, whenever they are read: 28 columns of float32 and a label. Each size has a
process of its own. Building the store (two reads) and training are timed apart; training reads the store as
the page cache happens to have it. The folder is emptied again.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

COLUMNS, BLOCK, ROUNDS, DEPTH = 28, 1 << 18, 20, 6
MOST_RESIDENT = 2.5e9
MOST_GROWTH = 1.2  # of the seconds a row and round takes, from the smallest size to the largest


def measure(n_rows: int, threads: int, folder: Path) -> dict[str, float]:
    """Build a store and train from it, in this process."""
    import pyarrow as pa

    import weald

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, n_rows, BLOCK):
            random = np.random.default_rng(first)
            X = random.normal(size=(min(BLOCK, n_rows - first), COLUMNS)).astype(np.float32)
            score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + random.normal(size=len(X))
            columns = {f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(COLUMNS)}
            yield pa.RecordBatch.from_pydict(columns | {"label": (score > 0).astype(np.uint8)})

    def model(rounds: int) -> weald.XGBClassifier:
        return weald.XGBClassifier(
            n_estimators=rounds, max_depth=DEPTH, tree_method="hist", n_jobs=threads, verbosity=0
        )

    place = folder / f"store-{n_rows}"
    begun = time.perf_counter()
    model(1).fit(weald.scan(batches, memory="256MiB", folder=place), "label")  # one tree is little beside it
    built = time.perf_counter()
    with weald.open_store(place) as store:
        trained = model(ROUNDS).fit(store, "label")
        ended = time.perf_counter()
        on_disk = store.n_bytes
    return {
        "rows": n_rows,
        "building": built - begun,
        "training": ended - built,
        "read": trained.io_.bytes_read,
        "on_disk": on_disk,
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "row_and_round": (ended - built) / n_rows / ROUNDS,
    }


def main() -> int:
    """Measure every size; the exit code tells whether both bounds hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the stores are made: 30 bytes a row")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one is not None:
        print(json.dumps(measure(asked.rows[0], asked.threads, asked.one)))
        return 0
    found = []
    for n_rows in asked.rows:
        folder = Path(tempfile.mkdtemp(dir=asked.folder))
        command = [sys.executable, __file__, "--rows", str(n_rows), "--threads", str(asked.threads)]
        try:
            done = subprocess.run(
                [*command, "--one", str(folder)], capture_output=True, text=True, check=True
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        one = json.loads(done.stdout.splitlines()[-1])
        found.append(one)
        print(
            f"{n_rows:,} rows: built in {one['building']:.1f} s, {ROUNDS} trees in {one['training']:.1f} s "
            f"({1e9 * one['row_and_round']:.1f} ns a row and tree), {one['read'] / 1e9:.2f} GB read, "
            f"{one['on_disk'] / 1e9:.2f} GB on disk, {one['resident'] / 1e9:.2f} GB resident at most",
            flush=True,
        )
    growth = found[-1]["row_and_round"] / found[0]["row_and_round"]
    fits = all(one["resident"] <= MOST_RESIDENT for one in found)
    print(
        f"a row costs {growth:.2f} times as much as in the smallest; within {MOST_RESIDENT / 1e9} GB: {fits}"
    )
    return 0 if fits and growth <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
