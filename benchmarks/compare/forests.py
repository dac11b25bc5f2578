"""Forests: fitting exact and binned trees, predicting, files, proximities.

    python benchmarks/compare/forests.py --help

Against scikit-learn and scikit-learn-intelex. Every fit is timed end to end, from the user's array to the
fitted model, with coding. All libraries have their defaults but for what the parameter table tells: trees are
full, a node of a classifier looks at the square root of the columns.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, AtMost, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (kind of estimator, threads, parameters) → an unfitted forest
Maker: TypeAlias = Callable[[str, int, Parameters], Any]

CLASSIFIER, REGRESSOR, EXTRA = "RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier"
INTELEX = "scikit-learn-intelex"
N_ROWS = 100_000
FOREST: Parameters = {"n_estimators": 100, "random_state": 0}
FEW: Parameters = {"n_estimators": 20, "random_state": 0}

SAME_ACCURACY = Within("accuracy", 0.002, not_worse=True)
SAME_LEAVES = Within("leaves", 0.03, relative=True)
TWO: tuple[int, ...] = (2,)


def weald_forest(kind: str, threads: int, parameters: Parameters) -> Any:
    """A forest of ours."""
    import weald

    return getattr(weald, kind)(n_jobs=threads, **parameters)


def sklearn_forest(kind: str, threads: int, parameters: Parameters) -> Any:
    """A forest of scikit-learn."""
    from sklearn import ensemble

    return getattr(ensemble, kind)(n_jobs=threads, **parameters)


def intelex_forest(kind: str, threads: int, parameters: Parameters) -> Any:
    """A forest of scikit-learn-intelex, which bins columns as it is told."""
    from sklearnex import ensemble

    return getattr(ensemble, kind)(n_jobs=threads, **parameters)


MAKERS: dict[str, Maker] = {"weald": weald_forest, "scikit-learn": sklearn_forest, INTELEX: intelex_forest}


def n_leaves(model: Any) -> int:
    """Leaves of all trees."""
    if hasattr(model, "forest_"):
        return len(model.forest_.value)
    return int(sum(tree.tree_.n_leaves for tree in model.estimators_))


def quality(arrays: Arrays, model: Any) -> Figures:
    """How well the test rows are told, and the size of the trees."""
    name = "accuracy" if hasattr(model, "classes_") else "R²"
    return {name: float(model.score(arrays["X_test"], arrays["y_test"])), "leaves": n_leaves(model)}


def warm_up(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> None:
    """Imports, threads and first calls, on the first rows and two trees."""
    model = maker(kind, threads, parameters | {"n_estimators": 2})
    model.fit(arrays["X"][:400], arrays["y"][:400]).predict(arrays["X"][:400])


def fitting(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit."""
    warm_up(maker, kind, parameters, arrays, threads)
    return Timed(
        run=lambda: maker(kind, threads, parameters).fit(arrays["X"], arrays["y"]),
        figures=partial(quality, arrays),
    )


def fitted(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Any:
    """A forest, before the clock starts."""
    return maker(kind, threads, parameters).fit(arrays["X"], arrays["y"])


def predicting(
    n_rows: int | None, maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int
) -> Timed:
    """Time the labels of the test rows, or of the first few of them."""
    model = fitted(maker, kind, parameters, arrays, threads)
    X, y = arrays["X_test"][:n_rows], arrays["y_test"][:n_rows]
    model.predict(X[:1000])
    return Timed(
        run=lambda: model.predict(X),
        figures=lambda found: {"accuracy": float(np.mean(found == y)), "leaves": n_leaves(model)},
    )


def filing(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the bytes of the model file, or the pickle of a library that has no other."""
    model = fitted(maker, kind, parameters, arrays, threads)
    leaves = n_leaves(model)

    def write() -> bytes:
        if maker is not weald_forest:
            return pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL)
        from weald.io.model_file import to_bytes

        return to_bytes(model)

    def figures(data: bytes) -> Figures:
        nodes = 2 * leaves - parameters["n_estimators"]
        return {"file MB": len(data) / 1e6, "bytes per node": len(data) / nodes, "leaves": leaves}

    return Timed(run=write, figures=figures)


def finding_nearest(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the ten nearest rows of every training row, by proximity."""
    model = fitted(maker, kind, parameters, arrays, threads)
    model.nearest_rows(arrays["X"][:300], k=3)

    def figures(found: Any) -> Figures:
        return {"pairs": found.nnz, "nearest": float(np.mean(found.max(axis=1).toarray()))}

    return Timed(run=lambda: model.nearest_rows(arrays["X"], k=10), figures=figures)


Preparer: TypeAlias = Callable[..., Timed]


def ours(
    prepare: Preparer,
    kind: str,
    parameters: Parameters,
    rules: tuple[Within | AtMost, ...],
    targets: tuple[Target, ...],
    name: str = "weald",
) -> Contender:
    """A contender of weald."""
    made = partial(prepare, weald_forest, kind, parameters)
    return Contender(name, "weald", made, parameters, ours=True, rules=rules, targets=targets)


def theirs(prepare: Preparer, kind: str, library: str, parameters: Parameters, name: str = "") -> Contender:
    """One of another library."""
    made = partial(prepare, MAKERS[library], kind, parameters)
    return Contender(name or library, library, made, parameters)


def fit_job(
    name: str,
    title: str,
    kind: str,
    parameters: tuple[Parameters, Parameters],
    library: str,
    target: Target,
    rules: tuple[Within, ...] = (SAME_ACCURACY, SAME_LEAVES),
) -> Job:
    """Ours against one library, each with parameters of its own."""
    mine, other = parameters
    contenders = (
        ours(fitting, kind, mine, rules, (target,)),
        theirs(fitting, kind, library, other),
    )
    dataset = "regression" if kind == REGRESSOR else "classification"
    return Job(name, f"Fit {title}, 100,000 × 28 float32", dataset, contenders, TWO)


def fit_jobs() -> tuple[Job, ...]:
    """Exact, binned, extremely randomised; and numbers, for information."""
    bins = ({"max_bins": 255}, {"max_bins": 256})
    binned = (FOREST | bins[0], FOREST | bins[1])
    same_r2 = (Within("R²", 0.01, not_worse=True), SAME_LEAVES)
    return (
        fit_job(
            "exact", "100 exact trees", CLASSIFIER, (FOREST, FOREST), "scikit-learn", Target(ratio=4, goal=8)
        ),
        # A bin a row is slow there: twenty trees for both.
        fit_job(
            "exact-intelex",
            "20 exact trees (max_bins = rows)",
            CLASSIFIER,
            (FEW, FEW | {"max_bins": N_ROWS}),
            INTELEX,
            Target(ratio=2),
        ),
        fit_job(
            "binned",
            "100 trees on bins",
            CLASSIFIER,
            binned,
            INTELEX,
            Target(ratio=1.5, goal=3),
            (SAME_ACCURACY,),
        ),
        fit_job(
            "extra",
            "100 extremely randomised trees",
            EXTRA,
            (FOREST, FOREST),
            "scikit-learn",
            Target(ratio=4),
        ),
        fit_job(
            "regression",
            "20 exact regression trees",
            REGRESSOR,
            (FEW, FEW),
            "scikit-learn",
            Target(),
            same_r2,
        ),
    )


def predict_job() -> Job:
    """Many rows through a hundred full trees on bins, which both grow before the clock starts."""
    prepare = partial(predicting, None)
    contenders = (
        ours(prepare, CLASSIFIER, FOREST | {"max_bins": 255}, (SAME_ACCURACY,), (Target(ratio=1.1),)),
        theirs(prepare, CLASSIFIER, INTELEX, FOREST | {"max_bins": 256}),
    )
    title = "Predict 200,000 × 28 float32 rows, 100 full trees"
    return Job("predict", title, "classification", contenders, TWO, calls=5)


def ten_rows_job() -> Job:
    """What a prediction costs when there is hardly anything to predict."""
    prepare = partial(predicting, 10)
    contenders = (
        ours(prepare, CLASSIFIER, FOREST, (), (Target(seconds=0.002),)),
        theirs(prepare, CLASSIFIER, "scikit-learn", FOREST),
    )
    return Job("ten-rows", "Predict 10 rows, 100 full trees", "classification", contenders, TWO, calls=50)


def file_job() -> Job:
    """The model file in terms of scikit-learn's pickle."""
    rules = (Within("file MB", 0.0, not_more=True, share=0.25), AtMost("bytes per node", 20.0))
    contenders = (
        ours(filing, CLASSIFIER, FOREST, rules, (Target(),)),
        theirs(filing, CLASSIFIER, "scikit-learn", FOREST),
    )
    return Job("file", "Write 100 full trees: file against pickle", "classification", contenders, TWO)


def proximity_job() -> Job:
    """The ten nearest rows of each, in terms of the fit."""
    rules = (AtMost("fit MB", 1000.0),)
    targets = (Target(ratio=1, against="weald fit"),)
    contenders = (
        ours(finding_nearest, CLASSIFIER, FOREST, rules, targets, name="weald nearest rows"),
        theirs(fitting, CLASSIFIER, "weald", FOREST, name="weald fit"),
    )
    title = "Ten nearest of 100,000 rows by proximity, 100 full trees, against the fit"
    return Job("proximity", title, "classification", contenders, TWO, memory=True)


DATASETS = (
    Dataset("classification", sized(tables.classification, (600, 600), (N_ROWS, 200_000))),
    Dataset("regression", sized(tables.regression, (600, 600), (N_ROWS, 100_000))),
)
JOBS = (*fit_jobs(), predict_job(), ten_rows_job(), file_job(), proximity_job())

if __name__ == "__main__":
    sys.exit(main("forests", "Forests", __file__, DATASETS, JOBS))
