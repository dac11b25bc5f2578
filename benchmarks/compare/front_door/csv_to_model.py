"""From a CSV file to a model: weald's reader and XGBClassifier against pyarrow's and LightGBM, end to end.

    python benchmarks/compare/front_door/csv_to_model.py [--rows 1000000] [--columns 28] [--repeats 3]

Each run is a process of its own, interleaved: start, read, train 100 trees of depth 6, end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WEALD = """
import sys, weald
table = weald.read(sys.argv[1])
y = table["y"].to_numpy()
X = table.drop_columns(["y"])
weald.XGBClassifier(n_estimators=100, max_depth=6, learning_rate=0.1, n_jobs=2).fit(X, y)
"""
LIGHTGBM = """
import sys, lightgbm
from pyarrow import csv
table = csv.read_csv(sys.argv[1])
y = table["y"].to_numpy()
lightgbm.LGBMClassifier(
    n_estimators=100, max_depth=6, num_leaves=64, learning_rate=0.1, n_jobs=2, verbose=-1
).fit(table.drop_columns(["y"]).to_pandas(), y)
"""


def written(path: Path, n_rows: int, n_columns: int) -> None:
    """Numbers of three decimals, and labels that some of them tell."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).round(3)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0).astype(np.int64)
    columns = {f"c{j}": X[:, j] for j in range(n_columns)}
    csv.write_csv(pa.table(columns | {"y": y}), path)


def seconds(code: str, path: Path) -> float:
    """Of one process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Write the file, run both in turn, tell the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    times: dict[str, list[float]] = {"weald": [], "pyarrow + LightGBM": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        written(path, asked.rows, asked.columns)
        for _ in range(asked.repeats):
            times["weald"].append(seconds(WEALD, path))
            times["pyarrow + LightGBM"].append(seconds(LIGHTGBM, path))
    ours, theirs = (float(np.median(each)) for each in times.values())
    for name, each in times.items():
        print(f"{name:20}{np.median(each):7.2f} s   ({', '.join(f'{one:.2f}' for one in each)})")
    print(f"ratio {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
