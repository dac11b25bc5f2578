"""Linear support vector machines, dense and text, against scikit-learn (LIBLINEAR).

    python benchmarks/compare/linear_svm.py --help

Every fit is timed end to end, from the user's array to the fitted model. scikit-learn's hinge does not
converge within its default 1,000 passes on the dense table; ours is timed to a solution whose objective
is not higher than where scikit-learn ends. LIBLINEAR has one thread.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (threads, parameters) → an unfitted machine
Maker: TypeAlias = Callable[[int, Parameters], Any]

NOT_HIGHER = (Within("objective", 1e-9, relative=True, not_more=True),)
EQUAL = (Within("objective", 1e-3, relative=True),)


def weald_machine(threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    return weald.LinearSVC(n_jobs=threads, **parameters)


def sklearn_machine(threads: int, parameters: Parameters) -> Any:
    """scikit-learn's."""
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0, **parameters)


# --------------------------------------------------------------------------- tables


def dense(n_train: int, n_test: int) -> Arrays:
    """28 columns of float64, two classes."""
    made = tables.classification(n_train, n_test)
    return {"X": made["X"].astype(np.float64), "y": made["y"]}


def words(n_rows: int, n_columns: int, seed: int = 8) -> Arrays:
    """Texts of some hundred words, rare ones as in natural language, weighed by tf-idf; two classes."""
    from scipy import sparse

    random = np.random.default_rng(seed)
    share = np.cumsum(1.0 / np.arange(1, n_columns + 1) ** 1.05)
    length = random.poisson(160, n_rows) + 5
    drawn = np.searchsorted(share / share[-1], random.random(int(length.sum())))
    word = random.permutation(n_columns)[np.minimum(drawn, n_columns - 1)]
    row = np.repeat(np.arange(n_rows), length)
    X = sparse.csr_matrix((np.ones(len(row)), (row, word)), shape=(n_rows, n_columns))
    X.sum_duplicates()
    inverse = np.log((1 + n_rows) / (1 + np.bincount(X.indices, minlength=n_columns))) + 1
    X.data = np.log1p(X.data) * inverse[X.indices]
    norm = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(norm, np.diff(X.indptr))
    signal = X @ (random.standard_normal(n_columns) * (random.random(n_columns) < 0.05))
    noisy = signal + 0.3 * signal.std() * random.standard_normal(n_rows)
    return {**tables.csr_parts(X), "y": (noisy > np.median(noisy)).astype(np.int64)}


def news(quick: bool) -> Arrays:
    """The real texts, twenty classes; rows of length 1."""
    X, y = tables.svmlight("news20.svm.gz")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    if quick:
        X, y = X[:400], y[:400]
    return {**tables.csr_parts(X), "y": y.astype(np.int64)}


def matrix(arrays: Arrays) -> Any:
    """The table of a job."""
    return arrays["X"] if "X" in arrays else tables.csr_of(arrays)


# --------------------------------------------------------------------------- what is timed


def quality(X: Any, y: Any, squared: bool, model: Any) -> Figures:
    """The primal objective of all machines together, C = 1, intercepts as weights; and the accuracy."""
    scores = np.asarray(X @ model.coef_.T) + model.intercept_
    labels = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    slack = np.maximum(0.0, 1.0 - np.where(y[:, None] == labels, 1.0, -1.0) * scores)
    loss = float((slack**2 if squared else slack).sum())
    size = float((model.coef_**2).sum() + (np.asarray(model.intercept_) ** 2).sum()) / 2
    return {"objective": size + loss, "accuracy": float(np.mean(model.predict(X) == y))}


def fitting(maker: Maker, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit, after imports and first calls on the first rows."""
    warnings.simplefilter("ignore")  # scikit-learn's says that it did not converge
    X, y = matrix(arrays), arrays["y"]
    maker(threads, parameters).fit(X[:400], y[:400])
    squared = parameters.get("loss", "squared_hinge") == "squared_hinge"
    return Timed(run=lambda: maker(threads, parameters).fit(X, y), figures=partial(quality, X, y, squared))


def predicting(maker: Maker, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time the labels of all rows, by a machine fitted on some rows before the clock starts."""
    X, y = matrix(arrays), arrays["y"]
    model = maker(threads, parameters).fit(X[:2000], y[:2000])
    model.predict(X[:100])
    return Timed(run=lambda: model.predict(X), figures=lambda said: {"accuracy": float(np.mean(said == y))})


def job(
    name: str,
    title: str,
    dataset: str,
    loss: str,
    target: Target,
    rules: tuple[Within, ...],
    prepare: Callable[..., Timed] = fitting,
) -> Job:
    """Ours against scikit-learn's, with the same parameters."""
    parameters: Parameters = {"loss": loss, "C": 1.0}
    ours = Contender(
        "weald",
        "weald",
        partial(prepare, weald_machine, parameters),
        parameters,
        ours=True,
        rules=rules,
        targets=(target,),
    )
    theirs = Contender(
        "scikit-learn", "scikit-learn", partial(prepare, sklearn_machine, parameters), parameters
    )
    return Job(name, title, dataset, (ours, theirs), (2,))


DATASETS = (
    Dataset("dense", sized(dense, (2000, 400), (200_000, 1000))),
    Dataset("words", sized(words, (500, 2000), (20_000, 100_000))),
    Dataset("news20", news),
)
DENSE, TEXT, NEWS = "200,000 × 28 float64", "20,000 × 100,000 CSR text", "news20, 20 classes"
JOBS = (
    job("dense", f"Hinge, {DENSE}", "dense", "hinge", Target(ratio=3, goal=6), NOT_HIGHER),
    job("dense-squared", f"Squared hinge, {DENSE}", "dense", "squared_hinge", Target(), EQUAL),
    job("text", f"Hinge, {TEXT}", "words", "hinge", Target(ratio=1.0), EQUAL),
    job("text-squared", f"Squared hinge, {TEXT}", "words", "squared_hinge", Target(ratio=1.0), EQUAL),
    job("news20", f"Squared hinge, {NEWS}", "news20", "squared_hinge", Target(ratio=1.0), EQUAL),
    job(
        "predict",
        f"Predict, {DENSE}",
        "dense",
        "squared_hinge",
        Target(),
        (Within("accuracy", 0.001),),
        predicting,
    ),
)

if __name__ == "__main__":
    sys.exit(main("linear_svm", "Linear support vector machines", __file__, DATASETS, JOBS))
