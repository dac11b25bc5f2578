"""Logistic regression, dense and sparse, against every solver of scikit-learn that fits the problem.

    python benchmarks/compare/logistic.py --help

Every fit is timed end to end, from the user's array to the fitted model, each with its default tolerance.
scikit-learn's solvers stop at different objectives; ours must be at or below the lowest of them. LIBLINEAR
sees the intercept, so it is met by our solver="liblinear", which does too.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from linear_svm import Maker, Parameters, matrix, news
from trees import sized

#: half a millionth: where two solvers have both ended
NOT_HIGHER = (Within("objective", 5e-7, relative=True, not_more=True),)


def weald_model(threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    return weald.LogisticRegression(n_jobs=threads, **parameters)


def sklearn_model(threads: int, parameters: Parameters) -> Any:
    """scikit-learn's; its matrix products take the threads of the environment."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=0, **parameters)


# --------------------------------------------------------------------------- tables


def dense(n_rows: int, n_classes: int, seed: int = 4) -> Arrays:
    """28 columns of float64, some of them alike; classes by a noisy linear rule."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 28))
    X[:, 20:] = 0.8 * X[:, :8] + 0.6 * X[:, 20:]
    signal = X @ (0.5 * random.standard_normal((28, n_classes)))
    return {"X": X, "y": np.argmax(signal + random.gumbel(size=signal.shape), axis=1).astype(np.int64)}


def real(name: str, quick: bool) -> Arrays:
    """A sparse table of two classes."""
    X, y = tables.svmlight(name)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    step = 20 if quick else 1
    return {**tables.csr_parts(X[::step]), "y": (y[::step] > np.min(y)).astype(np.int64)}


# --------------------------------------------------------------------------- what is timed


def quality(X: Any, y: Any, parameters: Parameters, model: Any) -> Figures:
    """The objective, and the accuracy; the intercept counts where LIBLINEAR's does."""
    from scipy.special import logsumexp

    coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
    scores = np.asarray(X @ coef.T) + intercept
    if len(coef) == 1:
        loss = np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * scores[:, 0]).sum()
    else:
        loss = (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).sum()
    seen = np.concatenate([coef.ravel(), intercept]) if parameters.get("solver") == "liblinear" else coef
    ratio = parameters.get("l1_ratio", 0.0)
    size = ratio * np.abs(seen).sum() + (1 - ratio) / 2 * (seen**2).sum()
    return {"objective": float(loss + size), "accuracy": float(np.mean(model.predict(X) == y))}


def fitting(maker: Maker, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time one fit, after imports and first calls on some rows."""
    warnings.simplefilter("ignore")  # some of scikit-learn's do not converge within their steps
    X, y = matrix(arrays), arrays["y"]
    step = max(1, X.shape[0] // 400)
    maker(threads, parameters).fit(X[::step], y[::step])
    return Timed(run=lambda: maker(threads, parameters).fit(X, y), figures=partial(quality, X, y, parameters))


def job(name: str, title: str, dataset: str, solvers: tuple[str, ...], ratio: float = 0.0) -> Job:
    """Ours against some of scikit-learn's solvers."""
    shared: Parameters = {"l1_ratio": ratio}
    own = shared | ({"solver": "liblinear"} if solvers == ("liblinear",) else {})
    ours = Contender(
        "weald",
        "weald",
        partial(fitting, weald_model, own),
        own,
        ours=True,
        rules=NOT_HIGHER,
        targets=(Target(ratio=2, goal=4),),
    )
    theirs = [
        Contender(
            f"scikit-learn {solver}",
            "scikit-learn",
            partial(fitting, sklearn_model, shared | {"solver": solver}),
            shared | {"solver": solver},
        )
        for solver in solvers
    ]
    return Job(name, title, dataset, (ours, *theirs), (2,))


DATASETS = (
    Dataset("two", sized(partial(dense, n_classes=2), (2000,), (200_000,))),
    Dataset("five", sized(partial(dense, n_classes=5), (2000,), (200_000,))),
    Dataset("a9a", partial(real, "a9a.svm.gz")),
    Dataset("w8a", partial(real, "w8a.svm.gz")),
    Dataset("reviews", partial(real, "movie_reviews_bow.svm.gz")),
    Dataset("news20", news),
)
SMOOTH = ("lbfgs", "newton-cholesky", "newton-cg")
JOBS = (
    job("two", "Two classes, 200,000 × 28 float64", "two", (*SMOOTH, "saga")),
    job("five", "Five classes, 200,000 × 28 float64", "five", SMOOTH),
    job("two-l1", "Two classes, absolute values, 200,000 × 28 float64", "two", ("saga",), 1.0),
    job("a9a", "a9a, CSR, 123 columns", "a9a", SMOOTH),
    job("w8a", "w8a, CSR, 300 columns", "w8a", SMOOTH),
    job("a9a-liblinear", "a9a, penalised intercept", "a9a", ("liblinear",)),
    job("w8a-liblinear", "w8a, penalised intercept", "w8a", ("liblinear",)),
    job("reviews", "Movie reviews, CSR, 50,920 columns", "reviews", ("lbfgs", "newton-cg")),
    job("reviews-liblinear", "Movie reviews, penalised intercept", "reviews", ("liblinear",)),
    job("a9a-l1", "a9a, absolute values, penalised intercept", "a9a", ("liblinear",), 1.0),
    job("reviews-l1", "Movie reviews, absolute values, penalised intercept", "reviews", ("liblinear",), 1.0),
    job("news20", "news20, CSR, 20 classes", "news20", ("lbfgs", "newton-cg")),
)

if __name__ == "__main__":
    sys.exit(main("logistic", "Logistic regression", __file__, DATASETS, JOBS))
