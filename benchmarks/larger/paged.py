"""Boosting on rows that are not in memory: ours from pages against ours in memory, and xgboost's.

    python benchmarks/larger/paged.py --help

Pages are built before the clock starts, and are in the page cache; so is xgboost's external memory. All
contenders grow trees of depth 6 on 255 bins. Ours give the same model, to the byte: the figure "model".
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "compare"))
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

ROUNDS, DEPTH, BINS = 10, 6, 255
BATCH = 1 << 18  # rows of one of xgboost's batches, which it wants large
PAGE = 1 << 16  # of a page of ours, as scans choose it for so many columns


def rows_and_labels(n_rows: int) -> Arrays:
    """28 columns of float32; half of the rows have the label 1."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n_rows, 28)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + random.normal(size=n_rows)
    return {"X": X, "y": (y > 0).astype(np.float64)}


def boosted(codes: Any, y: Any, threads: int) -> Any:
    """Our loop, from coded rows to the forest."""
    from weald.boosting.loop import boost
    from weald.boosting.newton.losses import make_objective
    from weald.boosting.newton.options import BoostOptions
    from weald.boosting.records import BoostTarget

    target = BoostTarget(y)
    objective = make_objective("binary:logistic", target, n_classes=2, parameters={})
    options = BoostOptions(n_rounds=ROUNDS, max_depth=DEPTH, max_bin=BINS, n_threads=threads)
    base = objective.base_scores()
    scores = np.tile(base, (target.n_rows, 1)).T.copy()
    return boost(codes, target, objective, options, base_scores=base, scores=scores)


def told(forest: Any) -> Figures:
    """What equal models have in common."""
    parts = (forest.column, forest.threshold, forest.value, forest.slot)
    digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()
    return {"model": float(int.from_bytes(digest[:6], "big")), "leaves": float(len(forest.value))}


def in_memory(arrays: Arrays, threads: int) -> Timed:
    """Codes in memory."""
    from weald.data.adapters import to_table
    from weald.data.codes import encode

    codes = encode(to_table(arrays["X"]), max_bins=BINS, n_threads=threads)
    return Timed(run=lambda: boosted(codes, arrays["y"], threads), figures=told)


def from_pages(arrays: Arrays, threads: int) -> Timed:
    """Codes in pages on disk."""
    from weald.rows.blocks import PagedCodes
    from weald.rows.paged import store_of

    store = store_of(arrays["X"], max_bins=BINS, page_rows=PAGE, compress="none", n_jobs=threads)
    codes = PagedCodes(store)
    return Timed(run=lambda: boosted(codes, arrays["y"], threads), figures=told)


def external(arrays: Arrays, threads: int) -> Timed:
    """xgboost's ExtMemQuantileDMatrix."""
    import xgboost

    X, y = arrays["X"], arrays["y"]

    class Batches(xgboost.DataIter):
        def __init__(self, folder: str) -> None:
            self._at = 0
            super().__init__(cache_prefix=str(Path(folder) / "cache"))

        def next(self, input_data: Callable[..., Any]) -> bool:
            """One batch."""
            if self._at >= len(y):
                return False
            rows = slice(self._at, self._at + BATCH)
            input_data(data=X[rows], label=y[rows])
            self._at += BATCH
            return True

        def reset(self) -> None:
            """From the first batch on."""
            self._at = 0

    folder = tempfile.TemporaryDirectory()
    data = xgboost.ExtMemQuantileDMatrix(Batches(folder.name), max_bin=BINS, nthread=threads)
    parameters = {
        "objective": "binary:logistic",
        "max_depth": DEPTH,
        "max_bin": BINS,
        "tree_method": "hist",
        "nthread": threads,
    }

    def run() -> Any:
        kept = folder  # gone with what runs
        return xgboost.train(parameters, data, ROUNDS) if kept else None

    return Timed(run=run, figures=lambda model: {"leaves": float(leaves_of(model))})


def leaves_of(model: Any) -> int:
    """How many leaves xgboost's trees have."""
    return sum(1 for line in lines_of(model) if "leaf=" in line)


def lines_of(model: Any) -> Iterator[str]:
    """The text of all trees."""
    for tree in model.get_dump():
        yield from tree.splitlines()


SHAPE = {"rounds": ROUNDS, "max_depth": DEPTH, "max_bin": BINS}


def job(name: str, n_rows: str) -> Job:
    """Ours from pages, ours in memory, xgboost's external memory."""
    contenders = (
        Contender(
            "pages",
            "weald",
            from_pages,
            SHAPE,
            ours=True,
            rules=(Within("leaves", 0.05, relative=True),),
            targets=(Target(ratio=2, against="xgboost"), Target(ratio=1 / 1.2, against="memory")),
        ),
        Contender("memory", "weald", in_memory, SHAPE),
        Contender("xgboost", "xgboost", external, SHAPE),
    )
    return Job(
        name, f"{n_rows} rows × 28, {ROUNDS} trees of depth {DEPTH}", name, contenders, (2,), memory=True
    )


DATASETS = (
    Dataset("one-million", sized(rows_and_labels, (70_000,), (1_000_000,))),
    Dataset("two-millions", sized(rows_and_labels, (70_000,), (2_000_000,))),
    Dataset("ten-millions", sized(rows_and_labels, (70_000,), (10_000_000,))),
)
JOBS = (
    job("one-million", "1,000,000"),
    job("two-millions", "2,000,000"),
    job("ten-millions", "10,000,000"),
)

if __name__ == "__main__":
    sys.exit(main("paged", "Rows that are not in memory", __file__, DATASETS, JOBS))
