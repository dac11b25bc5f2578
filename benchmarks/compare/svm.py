"""Kernel machines with a Gaussian kernel, fitting and predicting, against scikit-learn and intelex.

    python benchmarks/compare/svm.py --help

Columns are standardised, C = 1, gamma = "scale", tol = 1e-3. Every fit is timed end to end, from the user's
array to the fitted model. The dual objective is worked out in the same way for all, from support rows,
coefficients and kernel values in float64.
"""

from __future__ import annotations

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
#: (kind of machine, threads, parameters) → an unfitted machine
Maker: TypeAlias = Callable[[str, int, Parameters], Any]

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
CLASSES: Parameters = {"C": 1.0, "kernel": "rbf", "gamma": "scale"}
NUMBERS: Parameters = CLASSES | {"epsilon": 0.1}
TWO: tuple[int, ...] = (2,)
SAME_OBJECTIVE = Within("objective", 1e-4, relative=True)
SAME_ACCURACY = Within("accuracy", 0.002)
#: support rows whose kernel values are held at once for the objective
BLOCK = 2_000


def weald_machine(kind: str, threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    return getattr(weald, kind)(n_jobs=threads, **parameters)


def sklearn_machine(kind: str, threads: int, parameters: Parameters) -> Any:
    """scikit-learn's, which has one thread."""
    from sklearn import svm

    return getattr(svm, kind)(cache_size=1000, **parameters)


def intelex_machine(kind: str, threads: int, parameters: Parameters) -> Any:
    """scikit-learn-intelex's; threads by environment."""
    from sklearnex import svm

    return getattr(svm, kind)(cache_size=1000, **parameters)


MAKERS: dict[str, Maker] = {"weald": weald_machine, SKLEARN: sklearn_machine, INTELEX: intelex_machine}


def standardised(make: Callable[[int, int], Arrays], n_train: int, n_test: int) -> Arrays:
    """A table of the other comparisons, in float64 and standard units; numbers too."""
    made = make(n_train, n_test)
    X = made["X"].astype(np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    out = {name: (made[name].astype(np.float64) - mean) / deviation for name in ("X", "X_test")}
    y, y_test = made["y"], made["y_test"]
    if y.dtype.kind == "f":
        y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()
    return out | {"y": y, "y_test": y_test}


def objective(model: Any, y: Any) -> float:
    """The dual objective as LIBSVM minimises it: ½ αᵀQα + pᵀα."""
    from sklearn.metrics.pairwise import rbf_kernel

    rows, beta = np.asarray(model.support_vectors_, np.float64), np.asarray(model.dual_coef_, np.float64)[0]
    gamma = float(model._gamma)  # resolved from "scale" by all three under this name
    square = 0.0
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        square += float(beta[part] @ (rbf_kernel(rows[part], rows, gamma=gamma) @ beta))
    if hasattr(model, "classes_"):
        return 0.5 * square - float(np.abs(beta).sum())
    linear = 0.1 * np.abs(beta).sum() - np.asarray(y, np.float64)[model.support_] @ beta
    return 0.5 * square + float(linear)


def quality(arrays: Arrays, model: Any) -> Figures:
    """The objective and how many support rows there are."""
    return {"objective": objective(model, arrays["y"]), "support rows": len(model.support_)}


def warmed(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> None:
    """Imports, threads and first calls, on the first rows."""
    maker(kind, threads, parameters).fit(arrays["X"][:400], arrays["y"][:400]).predict(arrays["X"][:400])


def fitting(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit."""
    warmed(maker, kind, parameters, arrays, threads)
    return Timed(
        run=lambda: maker(kind, threads, parameters).fit(arrays["X"], arrays["y"]),
        figures=partial(quality, arrays),
    )


def predicting(maker: Maker, kind: str, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the labels of the test rows."""
    model = maker(kind, threads, parameters).fit(arrays["X"], arrays["y"])
    X, y = arrays["X_test"], arrays["y_test"]
    model.predict(X[:100])
    return Timed(run=lambda: model.predict(X), figures=lambda said: {"accuracy": float(np.mean(said == y))})


def accuracy(arrays: Arrays, model: Any) -> Figures:
    """How well the test rows are told."""
    return {"accuracy": float(model.score(arrays["X_test"], arrays["y_test"]))}


def fitting_some(n_rows: int | None, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit of ours on the first rows, or on all."""
    warmed(weald_machine, "SVC", parameters, arrays, threads)
    X, y = arrays["X"][:n_rows], arrays["y"][:n_rows]
    return Timed(
        run=lambda: weald_machine("SVC", threads, parameters).fit(X, y), figures=partial(accuracy, arrays)
    )


def covertype(quick: bool) -> Arrays:
    """The real table: is a forest of the commonest kind? 200,000 rows, and 20,000 to predict."""
    import pandas as pd

    n = 800 if quick else 220_000
    frame = pd.read_parquet(tables.data_file("covertype.parquet")).sample(n, random_state=0)
    y = (frame.pop("Cover_Type") == 2).to_numpy()
    X = frame.to_numpy(np.float64)
    train = n // 11 * 10
    return {"X": X[:train], "y": y[:train], "X_test": X[train:], "y_test": y[train:]}


def landmarks_job() -> Job:
    """All rows by landmarks, against the exact machine of a tenth of them."""
    options: Parameters = {"scale": True, "random_state": 0}
    many = options | {"solver": "landmarks"}
    few = options | {"solver": "exact"}
    exact = "weald, exact, 20,000 rows"
    ours = Contender(
        "weald, landmarks, 200,000 rows",
        "weald",
        partial(fitting_some, None, many),
        many,
        ours=True,
        rules=(Within("accuracy", 0.01, not_worse=True), AtMost("fit MB", 2000.0)),
        targets=(Target(against=exact),),
    )
    other = Contender(exact, "weald", partial(fitting_some, 20_000, few), few)
    title = "Landmarks of 200,000 × 54 rows (covertype), against the exact machine of 20,000"
    return Job("landmarks", title, "covertype", (ours, other), TWO, memory=True)


def job(
    name: str,
    title: str,
    dataset: str,
    prepare: Callable[..., Timed],
    targets: dict[str, Target],
    calls: int = 1,
) -> Job:
    """Ours against those that have a target."""
    kind, parameters = ("SVR", NUMBERS) if "regression" in dataset else ("SVC", CLASSES)
    rule = SAME_ACCURACY if prepare is predicting else SAME_OBJECTIVE
    contenders = [
        Contender(
            "weald",
            "weald",
            partial(prepare, weald_machine, kind, parameters),
            parameters,
            ours=True,
            rules=(rule,),
            targets=tuple(targets.values()),
        )
    ]
    contenders += [
        Contender(library, library, partial(prepare, MAKERS[library], kind, parameters), parameters)
        for library in targets
    ]
    return Job(name, title, dataset, tuple(contenders), TWO, calls=calls)


def dataset(name: str, make: Callable[[int, int], Arrays], n_rows: int) -> Dataset:
    """So many rows, and 5,000 to predict."""
    return Dataset(name, sized(partial(standardised, make), (400, 300), (n_rows, 5_000)))


DATASETS = (
    dataset("classification-10", tables.classification, 10_000),
    dataset("classification-30", tables.classification, 30_000),
    dataset("regression-10", tables.regression, 10_000),
    dataset("regression-30", tables.regression, 30_000),
    Dataset("covertype", covertype),
)
SMALL = {
    INTELEX: Target(ratio=1.3, goal=2.5, against=INTELEX),
    SKLEARN: Target(ratio=8, against=SKLEARN),
}
LARGE = {INTELEX: Target(ratio=1.2, against=INTELEX)}
PREDICT = {SKLEARN: Target(ratio=10, against=SKLEARN), INTELEX: Target(against=INTELEX)}
JOBS = (
    job("svc", "Fit SVC, Gaussian kernel, 10,000 × 28", "classification-10", fitting, SMALL),
    job("svc-large", "Fit SVC, Gaussian kernel, 30,000 × 28", "classification-30", fitting, LARGE),
    job("svr", "Fit SVR, Gaussian kernel, 10,000 × 28", "regression-10", fitting, SMALL),
    job("svr-large", "Fit SVR, Gaussian kernel, 30,000 × 28", "regression-30", fitting, LARGE),
    job(
        "predict",
        "Predict 5,000 rows by SVC of 10,000 × 28",
        "classification-10",
        predicting,
        PREDICT,
        calls=3,
    ),
    landmarks_job(),
)

if __name__ == "__main__":
    sys.exit(main("svm", "Support vector machines", __file__, DATASETS, JOBS))
