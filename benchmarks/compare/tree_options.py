"""Single trees beyond the plain fit: other criteria, random splits, sparse text, pruning by cross-validation.

    python benchmarks/compare/tree_options.py --help

Every fit is timed end to end, from the user's table to the fitted model. The sparse job reads news20 from the
folder of real tables (WEALD_DATA, or shared/data beside the clone) and falls back to a made-up text table.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, DataAbsent, Dataset, Job, Target, Timed, Within
from trees import Maker, fitting, n_leaves, ours, sized, sklearn_tree, weald_tree

ABSOLUTE: dict[str, Any] = {"criterion": "absolute_error", "random_state": 0}
POISSON: dict[str, Any] = {"criterion": "poisson", "random_state": 0}
RANDOM: dict[str, Any] = {"splitter": "random", "random_state": 0}
DEPTH_10: dict[str, Any] = {"max_depth": 10, "random_state": 0}
PLAIN: dict[str, Any] = {"random_state": 0}
PRUNED: dict[str, Any] = {"prune": "cv", "random_state": 0}


def twenty_columns(n_rows: int, seed: int = 5) -> Arrays:
    """Twenty normal columns, a target of three of them and noise; a test set as large."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((2 * n_rows, 20))
    y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + np.abs(X[:, 2]) + random.standard_normal(2 * n_rows)
    return {"X": X[:n_rows], "y": y[:n_rows], "X_test": X[n_rows:], "y_test": y[n_rows:]}


def counts(n_rows: int) -> Arrays:
    """The same columns with Poisson counts."""
    arrays = twenty_columns(n_rows)
    random = np.random.default_rng(6)
    return arrays | {name: random.poisson(np.exp(arrays[name] / 4)).astype(float) for name in ("y", "y_test")}


def text(quick: bool) -> Arrays:
    """The parts of a CSR matrix of words, and labels."""
    try:
        if quick:
            raise DataAbsent
        X, y = tables.svmlight("news20.svm.gz")
    except DataAbsent:
        from scipy import sparse

        random = np.random.default_rng(7)
        size = (500, 2000) if quick else (16_000, 60_000)
        y = random.integers(0, 20, size[0]).astype(np.float64)
        X = sparse.random(*size, density=0.0013, format="csr", random_state=8)
    return tables.csr_parts(X) | {"y": y}


def fitting_text(maker: Maker, parameters: dict[str, Any], arrays: Arrays, threads: int) -> Timed:
    """Time `fit` on the CSR matrix."""
    X, y = tables.csr_of(arrays), arrays["y"]
    maker("classification", threads, parameters).fit(X[:50, :100], y[:50])
    return Timed(
        run=lambda: maker("classification", threads, parameters).fit(X, y),
        figures=lambda model: {"accuracy": float(model.score(X, y)), "leaves": n_leaves(model)},
    )


def regression_job(
    name: str, title: str, dataset: str, parameters: dict[str, Any], target: Target, rule: Within
) -> Job:
    """One setting of ours against the same of scikit-learn."""
    task = "regression"
    return Job(
        name=name,
        title=title,
        dataset=dataset,
        contenders=(
            ours(
                "weald",
                partial(fitting, weald_tree, task, parameters),
                parameters,
                rules=(rule,),
                targets=(target,),
            ),
            Contender(
                "scikit-learn", "scikit-learn", partial(fitting, sklearn_tree, task, parameters), parameters
            ),
        ),
        calls=3,
    )


def sparse_job() -> Job:
    """A text table in CSR, with the memory it takes."""
    return Job(
        name="sparse",
        title="Fit a tree of depth 10 on sparse text, 15,935 × 62,061 with 1.27 million entries (news20)",
        dataset="text",
        contenders=(
            ours(
                "weald",
                partial(fitting_text, weald_tree, DEPTH_10),
                DEPTH_10,
                rules=(Within("accuracy", 0.005), Within("peak MB", 0.0, not_more=True)),
                targets=(Target(ratio=1),),
            ),
            Contender(
                "scikit-learn", "scikit-learn", partial(fitting_text, sklearn_tree, DEPTH_10), DEPTH_10
            ),
        ),
        memory=True,
    )


def pruning_job() -> Job:
    """Pruning by cross-validation in terms of one plain fit."""
    task = "regression"
    return Job(
        name="pruning",
        title="Prune by 5-fold cross-validation, 20,000 × 20, against one plain fit",
        dataset="twenty thousand",
        contenders=(
            ours(
                "weald prune",
                partial(fitting, weald_tree, task, PRUNED),
                PRUNED,
                rules=(Within("R²", 0.0, not_worse=True),),
                targets=(Target(ratio=0.1),),
            ),
            Contender("weald plain", "weald", partial(fitting, weald_tree, task, PLAIN), PLAIN),
        ),
        calls=3,
    )


DATASETS = (
    Dataset("ten thousand", sized(twenty_columns, (300,), (10_000,))),
    Dataset("twenty thousand", sized(twenty_columns, (300,), (20_000,))),
    Dataset("counts", sized(counts, (300,), (20_000,))),
    Dataset("text", text),
)
NEAR = Within("R²", 0.02, not_worse=True)
JOBS = (
    regression_job(
        "absolute",
        "Fit a full tree by absolute error, 10,000 × 20",
        "ten thousand",
        ABSOLUTE,
        Target(ratio=5),
        NEAR,
    ),
    regression_job(
        "poisson",
        "Fit a full tree by Poisson deviance, 20,000 × 20",
        "counts",
        POISSON,
        Target(ratio=1),
        NEAR,
    ),
    regression_job(
        "random",
        "Fit a full tree of random splits, 20,000 × 20",
        "twenty thousand",
        RANDOM,
        Target(ratio=1),
        NEAR,
    ),
    sparse_job(),
    pruning_job(),
)

if __name__ == "__main__":
    sys.exit(main("tree-options", "Trees: criteria, sparse tables, pruning", __file__, DATASETS, JOBS))
