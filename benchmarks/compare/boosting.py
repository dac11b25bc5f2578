"""Boosting: fitting dense, small, sparse and categorical tables, predicting, memory.

    python benchmarks/compare/boosting.py --help

Against LightGBM and xgboost. Every fit is timed end to end, from the user's table to the fitted model, with
binning. The same regularisation holds for all; the parameter table tells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import boosting_tables, tables
from common.boosters import LIGHTGBM, WEALD, XGBOOST, Library, Parameters, Setting
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from numpy.typing import NDArray
from trees import sized

#: X, y, X_test, y_test of a table
Rows: TypeAlias = tuple[Any, Any, Any, Any]

LEAVES_63 = Setting(max_leaves=63)
LEAVES_31 = Setting(max_leaves=31)
DEPTH_6 = Setting(max_depth=6)
EXACT = Setting(max_depth=6, rounds=20, tree_method="exact")
CATEGORIES = Setting(max_leaves=63, categories=True)

SAME_AUC = Within("AUC", 0.001, not_worse=True)
LESS_MEMORY = (Within("fit MB", 0.0, not_more=True), Within("peak MB", 0.0, not_more=True))


def dense_rows(arrays: Arrays) -> Rows:
    """Plain arrays as they are."""
    return arrays["X"], arrays["y"], arrays["X_test"], arrays["y_test"]


def auc(y: NDArray[Any], found: NDArray[np.float64]) -> float:
    """The area under the curve of the test rows."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, found))


def warm_up(library: Library, parameters: Parameters, threads: int, X: Any, y: Any) -> None:
    """Imports, threads and first calls, on the first rows and two rounds."""
    rounds = {name: 2 for name in ("n_estimators", "num_iterations") if name in parameters}
    model = library.fit("binary", parameters | rounds, threads, X[:400], y[:400])
    library.predict(model, X[:400], threads)


Reader: TypeAlias = Callable[[Arrays], Rows]


def fitting(library: Library, parameters: Parameters, rows: Reader, arrays: Arrays, threads: int) -> Timed:
    """Time one fit."""
    X, y, X_test, y_test = rows(arrays)
    warm_up(library, parameters, threads, X, y)

    def figures(model: Any) -> Figures:
        return {
            "AUC": auc(y_test, library.predict(model, X_test, threads)),
            "leaves": library.leaves(model),
        }

    return Timed(run=lambda: library.fit("binary", parameters, threads, X, y), figures=figures)


def fitting_several(
    library: Library, parameters: Parameters, n_rows: int, arrays: Arrays, threads: int
) -> Timed:
    """Time a fit on each small table, one after another; their mean AUC says more than that of one."""
    X, y, X_test, y_test = dense_rows(arrays)
    starts = range(0, len(y), n_rows)
    parts = [(X[i : i + n_rows].copy(), y[i : i + n_rows].copy()) for i in starts]
    warm_up(library, parameters, threads, X, y)

    def figures(models: list[Any]) -> Figures:
        areas = [auc(y_test, library.predict(model, X_test, threads)) for model in models]
        return {"AUC": float(np.mean(areas)), "leaves": sum(library.leaves(model) for model in models)}

    return Timed(
        run=lambda: [library.fit("binary", parameters, threads, *part) for part in parts],
        figures=figures,
    )


def predicting(library: Library, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the probabilities of the test rows, with a model fitted before the clock starts."""
    X, y, X_test, y_test = dense_rows(arrays)
    model = library.fit("binary", parameters, threads, X, y)
    library.predict(model, X_test[:1000], threads)
    return Timed(
        run=lambda: library.predict(model, X_test, threads),
        figures=lambda found: {"AUC": auc(y_test, found), "leaves": library.leaves(model)},
    )


Preparer: TypeAlias = Callable[..., Timed]


def contenders(
    prepare: Preparer,
    setting: Setting,
    targets: tuple[Target, ...],
    *,
    rules: tuple[Within, ...] = (SAME_AUC,),
    lightgbm: tuple[str, ...] = ("LightGBM",),
    rest: tuple[Any, ...] = (),
) -> tuple[Contender, ...]:
    """Ours, LightGBM as often as named, and xgboost, all with one setting; `rest` goes on to `prepare`."""
    ours = WEALD.parameters(setting)
    found = [
        Contender(
            "weald",
            "weald",
            partial(prepare, WEALD, ours, *rest),
            ours,
            ours=True,
            rules=rules,
            targets=targets,
        )
    ]
    for name in lightgbm:
        given = LIGHTGBM.parameters(setting, quantized=name.endswith("quantized"))
        found.append(Contender(name, "lightgbm", partial(prepare, LIGHTGBM, given, *rest), given))
    theirs = XGBOOST.parameters(setting)
    found.append(Contender("xgboost", "xgboost", partial(prepare, XGBOOST, theirs, *rest), theirs))
    return tuple(found)


TWO: tuple[int, ...] = (2,)


def dense_jobs() -> tuple[Job, Job]:
    """A million rows: leaf by leaf against all, level by level against xgboost; and the memory of both."""
    rules = (SAME_AUC, *LESS_MEMORY)
    against_all = (
        Target(ratio=1.3, goal=2, against="LightGBM quantized"),
        Target(ratio=1.8, goal=2.8, against="LightGBM"),
        Target(ratio=1.8, goal=2.8, against="xgboost"),
    )
    both = ("LightGBM quantized", "LightGBM")
    by_leaf = contenders(fitting, LEAVES_63, against_all, rules=rules, lightgbm=both, rest=(dense_rows,))
    by_level = contenders(
        fitting,
        DEPTH_6,
        (Target(ratio=1.5, goal=2.5, against="xgboost"),),
        rules=rules,
        lightgbm=(),
        rest=(dense_rows,),
    )
    size = "1,000,000 × 28 float32, 100 rounds"
    return (
        Job("leaves", f"Fit trees of 63 leaves, {size}", "million", by_leaf, TWO, memory=True),
        Job("depth", f"Fit trees of depth 6, {size}", "million", by_level, TWO, memory=True),
    )


def small_job(name: str, title: str, dataset: str, setting: Setting, n_rows: int) -> Job:
    """Several small tables against the faster of the two."""
    rest = (n_rows,)
    made = contenders(fitting_several, setting, (Target(ratio=1.5, goal=3),), rest=rest)
    return Job(name, f"Fit {title}, 100 rounds", dataset, made, TWO)


def one_hot_job(name: str, title: str, dataset: str, setting: Setting, goal: float, rows: Reader) -> Job:
    """Against LightGBM; xgboost for information, and for its AUC."""
    targets = (Target(ratio=1, goal=goal, against="LightGBM"), Target(against="xgboost"))
    made = contenders(fitting, setting, targets, rest=(rows,))
    return Job(name, title, dataset, made, TWO, memory=True)


def exact_job() -> Job:
    """Every threshold, as xgboost's exact method."""
    targets = (Target(ratio=1.5, goal=3, against="xgboost"),)
    made = contenders(fitting, EXACT, targets, lightgbm=(), rest=(dense_rows,))
    title = "Fit 20 exact trees of depth 6, 100,000 × 28 float32"
    return Job("exact", title, "hundred thousand", made, TWO)


def predict_job(name: str, title: str, setting: Setting) -> Job:
    """Many rows through a hundred trees, which are grown on 100,000 rows before the clock starts."""
    targets = (Target(ratio=1.2, goal=2.5, against="xgboost"), Target(against="LightGBM"))
    made = contenders(predicting, setting, targets)
    return Job(name, f"Predict 200,000 × 28 float32 rows, {title}", "hundred thousand", made, TWO, calls=5)


SPARSE = boosting_tables.sparse_rows
SPARSE_SIZE = "200,000 × 6,274 with 4 million entries"
DATASETS = (
    Dataset("million", sized(tables.classification, (400, 400), (1_000_000, 200_000))),
    Dataset("hundred thousand", sized(tables.classification, (400, 400), (100_000, 200_000))),
    Dataset("1k", sized(tables.classification, (2000, 400), (20_000, 100_000))),
    Dataset("10k", sized(tables.classification, (2000, 400), (200_000, 100_000))),
    Dataset("one-hot", sized(boosting_tables.one_hot, (300, 300), (200_000, 50_000))),
    Dataset("a9a", boosting_tables.adult_bits),
    Dataset("w8a", boosting_tables.web_bits),
    Dataset("flights", boosting_tables.flights),
)
JOBS = (
    *dense_jobs(),
    small_job("1k-leaves", "20 tables of 1,000 × 28, trees of 31 leaves", "1k", LEAVES_31, 1000),
    small_job("1k-depth", "20 tables of 1,000 × 28, trees of depth 6", "1k", DEPTH_6, 1000),
    small_job("10k-leaves", "20 tables of 10,000 × 28, trees of 31 leaves", "10k", LEAVES_31, 10_000),
    small_job("10k-depth", "20 tables of 10,000 × 28, trees of depth 6", "10k", DEPTH_6, 10_000),
    one_hot_job("one-hot", f"Fit one-hot CSR, {SPARSE_SIZE}", "one-hot", LEAVES_63, 1.5, SPARSE),
    one_hot_job("a9a", "Fit one-hot CSR, a9a, 32,561 × 123", "a9a", LEAVES_63, 1.5, SPARSE),
    one_hot_job("w8a", "Fit one-hot CSR, w8a, 39,799 × 300", "w8a", LEAVES_63, 1.5, SPARSE),
    one_hot_job(
        "categories",
        "Fit native categories, nycflights13, 261,876 × 12 in a frame",
        "flights",
        CATEGORIES,
        1.6,
        boosting_tables.flight_rows,
    ),
    exact_job(),
    predict_job("predict-leaves", "100 trees of 63 leaves", LEAVES_63),
    predict_job("predict-depth", "100 trees of depth 6", DEPTH_6),
)

if __name__ == "__main__":
    sys.exit(main("boosting", "Boosting", __file__, DATASETS, JOBS))
