"""SHAP values of the same trees: along paths, of deep forests, against a background, and of pairs of columns.

    python benchmarks/compare/explain.py --help

All contenders hold the trees that xgboost has grown, and are timed from the user's array to the array of
values; ours lays the forest out anew in every run. Memory is that of the timed call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from common.harness import main
from common.jobs import Arrays, Contender, Dataset, Figures, Job, Target, Timed, Within
from trees import sized

#: arrays, whether there is a background, whether pairs are asked for, threads → what gives the values
Maker: TypeAlias = Callable[[Arrays, bool, bool, int], Callable[[], Any]]

#: of equal values; xgboost adds up in float32
EQUAL = (Within("mean size", 1e-4, relative=True), Within("mean square", 1e-4, relative=True))


def rows_and_target(n_rows: int, seed: int = 4) -> Arrays:
    """20 columns of float32, some of which act together."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 20)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + np.sin(3 * X[:, 3]) * X[:, 4] + X[:, 5:].sum(axis=1) / 10
    return {"X": X, "y": y + random.normal(size=n_rows) / 3}


def boosted(n_train: int, n_rows: int, n_background: int, depth: int, n_trees: int, forest: int) -> Arrays:
    """Rows to explain, a background, and xgboost's model of others; `forest`: trees of one round."""
    import xgboost

    made = rows_and_target(n_train)
    parameters = {"max_depth": depth, "eta": 0.1, "nthread": 1, "num_parallel_tree": forest}
    if forest > 1:
        parameters |= {"eta": 1.0, "subsample": 0.6, "colsample_bynode": 0.6}
    model = xgboost.train(parameters, xgboost.DMatrix(made["X"], made["y"]), n_trees)
    return {
        "X": rows_and_target(n_rows, seed=5)["X"],
        "background": rows_and_target(n_background, seed=6)["X"],
        "model": np.frombuffer(bytes(model.save_raw("ubj")), np.uint8),
    }


def booster_of(arrays: Arrays, threads: int) -> Any:
    """xgboost's model."""
    import xgboost

    booster = xgboost.Booster({"nthread": threads})
    booster.load_model(bytearray(arrays["model"].tobytes()))
    return booster


def imported(name: str) -> Any:
    """A library that uses numba, which looks for the package coverage and must not find the script."""
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
    return import_module(name)


# --------------------------------------------------------------------------- contenders


def ours(arrays: Arrays, against: bool, pairs: bool, threads: int) -> Callable[[], Any]:
    """weald's core on the same trees."""
    from weald.data.adapters import to_table
    from weald.inspection.shap.trees import Background, shap_values
    from weald.testing.foreign_trees import forest_of_xgboost

    X = arrays["X"]
    forest = forest_of_xgboost(booster_of(arrays, threads), X.shape[1])

    def run() -> Any:
        background = Background.of(to_table(arrays["background"])) if against else None
        anew = replace(forest)  # nothing is remembered of it
        return shap_values(anew, to_table(X), background=background, interactions=pairs, n_threads=threads)[0]

    return run


def theirs(arrays: Arrays, against: bool, pairs: bool, threads: int) -> Callable[[], Any]:
    """xgboost's own."""
    import xgboost

    booster, X = booster_of(arrays, threads), arrays["X"]

    def run() -> Any:
        told = booster.predict(xgboost.DMatrix(X), pred_contribs=not pairs, pred_interactions=pairs)
        return told[:, :-1, :-1] if pairs else told[:, :-1]

    return run


def woodelf(arrays: Arrays, against: bool, pairs: bool, threads: int) -> Callable[[], Any]:
    """woodelf's; it reads frames."""
    import pandas as pd

    explaining = imported("woodelf")
    X, background = pd.DataFrame(arrays["X"]), pd.DataFrame(arrays["background"])
    for frame in (X, background):
        frame.columns = [f"f{j}" for j in range(frame.shape[1])]
    booster = booster_of(arrays, threads)
    booster.feature_names = list(X.columns)
    kind = "interventional" if against else "tree_path_dependent"

    def run() -> Any:
        explainer = explaining.WoodelfExplainer(
            booster, background if against else None, feature_perturbation=kind
        )
        return explainer.shap_values(X, verbose=False)

    return run


def shap_trees(arrays: Arrays, against: bool, pairs: bool, threads: int) -> Callable[[], Any]:
    """shap's TreeExplainer, which has one thread; without the masker it takes 100 rows of the background."""
    shap = imported("shap")
    booster, X, background = booster_of(arrays, threads), arrays["X"], arrays["background"]

    def run() -> Any:
        whole = shap.maskers.Independent(background, max_samples=len(background))
        return shap.TreeExplainer(booster, whole, feature_perturbation="interventional").shap_values(X)

    return run


def shapiq_trees(arrays: Arrays, against: bool, pairs: bool, threads: int) -> Callable[[], Any]:
    """shapiq's TreeExplainer, row by row."""
    import pandas as pd
    from xgboost import XGBRegressor

    shapiq = imported("shapiq")
    pd.set_option("future.infer_string", False)  # it puts numbers into a column of text
    model, X = XGBRegressor(), arrays["X"]
    model.load_model(bytearray(arrays["model"].tobytes()))
    model.base_score = 0.0  # a list after loading, which it does not read; values do not depend on it

    def run() -> Any:
        explainer = shapiq.TreeExplainer(model, index="SV", max_order=1)
        found = np.zeros(X.shape)
        for i, row in enumerate(X):
            found[i] = explainer.explain(row).get_n_order_values(1)
        return found

    return run


# --------------------------------------------------------------------------- what is timed


def sizes(values: Any) -> Figures:
    """What equal values have in common."""
    found = np.asarray(values, np.float64)
    return {"mean size": float(np.abs(found).mean()), "mean square": float((found**2).mean())}


def asking(maker: Maker, against: bool, pairs: bool, arrays: Arrays, threads: int) -> Timed:
    """Time the values of all rows, after imports and a first call on few."""
    few = arrays | {"X": arrays["X"][:10], "background": arrays["background"][:10]}
    maker(few, against, pairs, threads)()
    return Timed(run=maker(arrays, against, pairs, threads), figures=sizes)


MAKERS: dict[str, tuple[str, Maker]] = {
    "xgboost": ("xgboost", theirs),
    "woodelf": ("woodelf_explainer", woodelf),
    "shap": ("shap", shap_trees),
    "shapiq": ("shapiq", shapiq_trees),
}


#: contenders that would take hours: a call is stopped at so many times the minimum of ours
LIMITS = {"shap": 100.0}


def job(
    name: str,
    title: str,
    opponents: dict[str, Target],
    *,
    against: bool = False,
    pairs: bool = False,
    dataset: str | None = None,
    bounded: bool = False,
) -> Job:
    """Ours against others on the same trees; `bounded`: those with a limit are stopped there."""
    targets = tuple(replace(target, against=opponent) for opponent, target in opponents.items())
    mine = partial(asking, ours, against, pairs)
    contenders = [Contender("weald", "weald", mine, {}, ours=True, rules=EQUAL, targets=targets)]
    for opponent in opponents:
        library, maker = MAKERS[opponent]
        prepare, limit = partial(asking, maker, against, pairs), LIMITS.get(opponent) if bounded else None
        contenders.append(Contender(opponent, library, prepare, {}, limit=limit))
    return Job(name, title, dataset or name, tuple(contenders), (2,), memory=True)


DATASETS = (
    Dataset("path", sized(boosted, (300, 300, 10, 4, 5, 1), (10_000, 10_000, 10, 6, 100, 1))),
    Dataset("rows", sized(boosted, (300, 20, 10, 4, 5, 1), (10_000, 50, 10, 6, 100, 1))),
    Dataset("deep", sized(boosted, (300, 50, 10, 8, 1, 3), (10_000, 1000, 10, 12, 1, 100))),
    Dataset("background", sized(boosted, (300, 300, 200, 4, 5, 1), (10_000, 10_000, 10_000, 6, 100, 1))),
    Dataset("pairwise", sized(boosted, (300, 50, 30, 4, 5, 1), (10_000, 1000, 1000, 6, 100, 1))),
)
JOBS = (
    job(
        "path",
        "Values of 10,000 rows × 20, 100 trees of depth 6",
        {"xgboost": Target(ratio=4, goal=8), "woodelf": Target(ratio=1)},
    ),
    job("rows", "Values of 50 rows × 20, 100 trees of depth 6", {"shapiq": Target(ratio=1)}),
    job("deep", "Values of 1,000 rows × 20, a forest of 100 trees of depth 12", {"xgboost": Target(ratio=4)}),
    job(
        "background",
        "Values of 10,000 rows against 10,000, 100 trees of depth 6",
        {"woodelf": Target(ratio=1), "shap": Target(ratio=100)},
        against=True,
        bounded=True,
    ),
    job(
        "small-background",
        "Values of 1,000 rows against 1,000, 100 trees of depth 6",
        {"shap": Target(ratio=100)},
        against=True,
        dataset="pairwise",
    ),
    job(
        "pairs",
        "Interactions of 1,000 rows × 20, 100 trees of depth 6",
        {"xgboost": Target(ratio=4)},
        pairs=True,
        dataset="pairwise",
    ),
)

if __name__ == "__main__":
    sys.exit(main("explain", "Explanations", __file__, DATASETS, JOBS))
