"""Single trees: fitting, coding and predicting, against scikit-learn and LightGBM.

    python benchmarks/compare/trees.py --help

Every fit is timed end to end, from the user's array to the fitted model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within

TREE: dict[str, Any] = {"random_state": 0}
BINNED: dict[str, Any] = {"max_bins": 255, "random_state": 0}
LIGHTGBM: dict[str, Any] = {"max_bin": 255, "verbosity": -1}


def weald_tree(task: str, threads: int, parameters: dict[str, Any]) -> Any:
    """An unfitted tree of ours."""
    import weald

    kind = weald.DecisionTreeClassifier if task == "classification" else weald.DecisionTreeRegressor
    return kind(n_jobs=threads, **parameters)


def sklearn_tree(task: str, threads: int, parameters: dict[str, Any]) -> Any:
    """An unfitted tree of scikit-learn, which uses one thread whatever it may."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    return kind(**parameters)


def n_leaves(model: Any) -> int:
    """Leaves, read from the array both libraries call by the same name."""
    return int(np.count_nonzero(np.asarray(model.tree_.children_left) == -1))


def quality(arrays: Arrays, model: Any) -> Figures:
    """Test accuracy or R² where there are test rows, and the size of the tree."""
    if "X_test" not in arrays:
        return {"leaves": n_leaves(model)}
    name = "accuracy" if hasattr(model, "classes_") else "R²"
    return {name: float(model.score(arrays["X_test"], arrays["y_test"])), "leaves": n_leaves(model)}


Maker = Callable[[str, int, dict[str, Any]], Any]


def fitting(maker: Maker, task: str, parameters: dict[str, Any], arrays: Arrays, threads: int) -> Timed:
    """Time `fit`. Warm-up: imports, and a fit and a predict on the first rows."""
    maker(task, threads, parameters).fit(arrays["X"][:100], arrays["y"][:100]).predict(arrays["X"][:100])
    return Timed(
        run=lambda: maker(task, threads, parameters).fit(arrays["X"], arrays["y"]),
        figures=partial(quality, arrays),
    )


def predicting(maker: Maker, task: str, parameters: dict[str, Any], arrays: Arrays, threads: int) -> Timed:
    """Time `predict` on many rows, with a tree fitted before the clock starts."""
    model = maker(task, threads, parameters).fit(arrays["X"], arrays["y"])
    X, y = arrays["X_test"], arrays["y_test"]
    model.predict(X[:1000])
    return Timed(
        run=lambda: model.predict(X),
        figures=lambda found: {"accuracy": float(np.mean(found == y)), "leaves": n_leaves(model)},
    )


def weald_coding(arrays: Arrays, threads: int) -> Timed:
    """Time array → table → codes."""
    from weald.data.adapters import to_table
    from weald.data.codes import encode

    def code(X: Any) -> Any:
        return encode(to_table(X), max_bins=255, n_threads=threads)

    code(arrays["X"][:1000])
    return Timed(
        run=lambda: code(arrays["X"]),
        figures=lambda codes: {"codes": float(np.sum(codes.n_codes))},
    )


def lightgbm_coding(extra: dict[str, Any], arrays: Arrays, threads: int) -> Timed:
    """Time array → constructed Dataset; without `construct` LightGBM would do nothing yet."""
    import lightgbm

    def code(X: Any) -> Any:
        settings = LIGHTGBM | extra | {"num_threads": threads}
        return lightgbm.Dataset(X, params=settings, free_raw_data=False).construct()

    code(arrays["X"][:1000])
    columns = range(arrays["X"].shape[1])
    return Timed(
        run=lambda: code(arrays["X"]),
        figures=lambda found: {"codes": float(sum(found.feature_num_bin(column) for column in columns))},
    )


def ours(name: str, prepare: Any, parameters: dict[str, Any], **judged: Any) -> Contender:
    """A contender of weald."""
    return Contender(name, "weald", prepare, parameters, ours=True, **judged)


def fit_job(task: str, figure: str, slack: float, targets: tuple[Target, Target]) -> Job:
    """Exact and binned trees of ours against the same runs of scikit-learn."""
    exact, binned = targets
    return Job(
        name=f"fit-{task}",
        title=f"Fit one full-depth tree, {task}, 100,000 × 28 float32",
        dataset=task,
        contenders=(
            ours(
                "weald exact",
                partial(fitting, weald_tree, task, TREE),
                TREE,
                rules=(Within(figure, slack), Within("leaves", 0.02, relative=True)),
                targets=(exact,),
            ),
            ours(
                "weald binned",
                partial(fitting, weald_tree, task, BINNED),
                BINNED,
                rules=(Within(figure, slack, not_worse=True),),
                targets=(binned,),
            ),
            Contender("scikit-learn", "scikit-learn", partial(fitting, sklearn_tree, task, TREE), TREE),
        ),
    )


def predict_job() -> Job:
    """Many rows through one deep tree."""
    task = "classification"
    return Job(
        name="predict",
        title="Predict 200,000 × 28 float32 rows with one full-depth tree",
        dataset=task,
        contenders=(
            ours(
                "weald",
                partial(predicting, weald_tree, task, TREE),
                TREE,
                rules=(Within("accuracy", 0.005), Within("leaves", 0.02, relative=True)),
                targets=(Target(ratio=2),),
            ),
            Contender("scikit-learn", "scikit-learn", partial(predicting, sklearn_tree, task, TREE), TREE),
        ),
        calls=5,
    )


def coding_job() -> Job:
    """Columns to codes. LightGBM also runs without its search for bundles, in case that is faster."""
    plain: dict[str, Any] = {}
    unbundled: dict[str, Any] = {"enable_bundle": False}
    return Job(
        name="coding",
        title="Code 1,000,000 × 28 float32 in at most 255 bins",
        dataset="columns",
        contenders=(
            ours(
                "weald",
                weald_coding,
                {"max_bins": 255},
                rules=(Within("codes", 0.02, relative=True),),
                targets=(Target(ratio=2),),
            ),
            Contender("LightGBM", "lightgbm", partial(lightgbm_coding, plain), LIGHTGBM),
            Contender(
                "LightGBM unbundled", "lightgbm", partial(lightgbm_coding, unbundled), LIGHTGBM | unbundled
            ),
        ),
    )


def small_job() -> Job:
    """What a fit costs when there is hardly any data: the price of the front door."""
    task = "classification"
    return Job(
        name="small",
        title="Fit one tree on 150 × 4 rows",
        dataset="flowers",
        contenders=(
            ours(
                "weald",
                partial(fitting, weald_tree, task, TREE),
                TREE,
                rules=(Within("leaves", 0.15, relative=True),),
                targets=(Target(seconds=0.005),),
            ),
            Contender("scikit-learn", "scikit-learn", partial(fitting, sklearn_tree, task, TREE), TREE),
        ),
        calls=50,
    )


def sized(make: Callable[..., Arrays], quick_size: tuple[int, ...], size: tuple[int, ...]) -> Any:
    """`make` with the numbers of rows for a quick or a full run."""
    return lambda quick: make(*(quick_size if quick else size))


DATASETS = (
    Dataset("classification", sized(tables.classification, (1000, 1000), (100_000, 200_000))),
    Dataset("regression", sized(tables.regression, (1000, 1000), (100_000, 100_000))),
    Dataset("columns", sized(tables.columns_only, (5000,), (1_000_000,))),
    Dataset("flowers", sized(tables.three_flowers, (150,), (150,))),
)
JOBS = (
    fit_job("classification", "accuracy", 0.005, (Target(ratio=3), Target(ratio=10))),
    fit_job("regression", "R²", 0.01, (Target(), Target())),
    predict_job(),
    coding_job(),
    small_job(),
)

if __name__ == "__main__":
    sys.exit(main("trees", "Single trees", __file__, DATASETS, JOBS))
