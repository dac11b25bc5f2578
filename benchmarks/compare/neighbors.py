"""The five nearest of every row, many columns and few, dense and text, against scikit-learn and intelex.

    python benchmarks/compare/neighbors.py --help

Every contender is timed from the user's array to distances and row numbers: fit, then `kneighbors` of all
rows, none its own. scikit-learn's brute force gets float64, as all do; its tree where columns are few.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from common import tables
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

Parameters: TypeAlias = dict[str, Any]
#: (threads, parameters) → an unfitted model
Maker: TypeAlias = Callable[[int, Parameters], Any]

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
#: means of the distances and of the sorted row numbers
EQUAL = (Within("mean distance", 1e-7, relative=True), Within("mean row", 1e-6, relative=True))


def weald_model(threads: int, parameters: Parameters) -> Any:
    """Ours."""
    import weald

    return weald.KNeighborsClassifier(n_jobs=threads, **parameters)


def sklearn_model(threads: int, parameters: Parameters) -> Any:
    """scikit-learn's."""
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_jobs=threads, **parameters)


def intelex_model(threads: int, parameters: Parameters) -> Any:
    """scikit-learn-intelex's; threads by environment."""
    from sklearnex.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_jobs=threads, **parameters)


MAKERS: dict[str, Maker] = {"weald": weald_model, SKLEARN: sklearn_model, INTELEX: intelex_model}


# --------------------------------------------------------------------------- tables


def wide(n_train: int, n_test: int) -> Arrays:
    """28 columns of float64."""
    made = tables.classification(n_train, n_test)
    return {"X": made["X"].astype(np.float64), "y": made["y"]}


def narrow(n_rows: int, n_columns: int, seed: int = 3) -> Arrays:
    """Few columns, in clusters."""
    random = np.random.default_rng(seed)
    centre = random.normal(size=(20, n_columns)) * 4
    label = random.integers(20, size=n_rows)
    return {"X": centre[label] + random.normal(size=(n_rows, n_columns)), "y": label}


def texts(n_rows: int, n_columns: int, seed: int = 8) -> Arrays:
    """Rows of some eighty words, rare ones as in natural language, of length 1."""
    from scipy import sparse

    random = np.random.default_rng(seed)
    share = np.cumsum(1.0 / np.arange(1, n_columns + 1))
    word = np.searchsorted(share / share[-1], random.random(80 * n_rows))
    row = np.repeat(np.arange(n_rows), 80)
    X = sparse.csr_matrix((np.ones(len(row)), (row, word)), shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return {**tables.csr_parts(X), "y": random.integers(2, size=n_rows)}


# --------------------------------------------------------------------------- what is timed


def quality(found: tuple[Any, Any]) -> Figures:
    """What equal neighbours have in common."""
    distances, rows = found
    return {"mean distance": float(np.mean(distances)), "mean row": float(np.mean(rows))}


def asking(maker: Maker, parameters: Parameters, arrays: Arrays, threads: int) -> Timed:
    """Time fit and the neighbours of all rows, after imports and first calls on the first rows."""
    X, y = (arrays["X"] if "X" in arrays else tables.csr_of(arrays)), arrays["y"]
    maker(threads, parameters).fit(X[:500], y[:500]).kneighbors()
    return Timed(run=lambda: maker(threads, parameters).fit(X, y).kneighbors(), figures=quality)


def job(name: str, title: str, dataset: str, targets: tuple[Target, ...], **each: Parameters) -> Job:
    """Ours with its own choice of the way, the others with their fastest."""
    contenders = [
        Contender(
            "weald", "weald", partial(asking, weald_model, {}), {}, ours=True, rules=EQUAL, targets=targets
        )
    ]
    for key, parameters in each.items():
        library = {"sklearn": SKLEARN, "intelex": INTELEX}[key]
        contenders.append(
            Contender(library, library, partial(asking, MAKERS[library], parameters), parameters)
        )
    return Job(name, title, dataset, tuple(contenders), (2,))


DATASETS = (
    Dataset("wide", sized(wide, (2000, 100), (100_000, 1000))),
    Dataset("narrow", sized(narrow, (2000, 3), (100_000, 3))),
    Dataset("texts", sized(texts, (500, 2000), (10_000, 50_000))),
)
BRUTE: Parameters = {"algorithm": "brute"}
TREE: Parameters = {"algorithm": "kd_tree"}
JOBS = (
    job(
        "wide",
        "5 nearest of 100,000 × 28 float64",
        "wide",
        (Target(ratio=2),),
        sklearn=BRUTE,
        intelex=BRUTE,
    ),
    job(
        "narrow",
        "5 nearest of 100,000 × 3 float64",
        "narrow",
        (Target(ratio=1.0),),
        sklearn=TREE,
        intelex=TREE,
    ),
    job("texts", "5 nearest of 10,000 × 50,000 CSR text", "texts", (Target(ratio=1.0),), sklearn=BRUTE),
)

if __name__ == "__main__":
    sys.exit(main("neighbors", "Nearest rows", __file__, DATASETS, JOBS))
