"""Many trees grow by one thread each (core/tree/grow_drawn), few by all threads together: the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator
from reference.compare import assert_same_forest

import weald
from weald import _core

N_TREES = 4


def mixed(rng: Generator, n_rows: int, kind: str) -> pd.DataFrame:
    """A table of five columns or more, of one kind or all kinds."""
    X = rng.normal(size=(n_rows, 5))
    if kind == "ties":
        X = X.round(1)
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    if kind == "categories":
        frame["f"] = pd.Categorical(rng.choice(list("stuvwxyz"), n_rows))
        frame["g"] = rng.integers(0, 900, n_rows).astype(np.float32)
    return frame


def target(rng: Generator, X: pd.DataFrame, n_classes: int) -> Any:
    y = (X["a"].fillna(0.5) + rng.normal(size=len(X))).to_numpy()
    return y if n_classes == 0 else np.digitize(y, np.linspace(-1, 1, n_classes + 1)[1:-1])


def assert_same_either_way(name: str, X: pd.DataFrame, y: Any, weight: Any, **options: Any) -> None:
    make = getattr(weald, name)
    alone = make(N_TREES, random_state=3, n_jobs=1, **options).fit(X, y, sample_weight=weight)
    together = make(N_TREES, random_state=3, n_jobs=N_TREES, **options).fit(X, y, sample_weight=weight)
    assert_same_forest(alone.forest_, together.forest_, f"{name} {options}")


OPTIONS = (
    {},
    {"min_samples_leaf": 4},
    {"min_weight_fraction_leaf": 0.01},
    {"max_depth": 5, "min_impurity_decrease": 1e-3},
    {"max_bins": 40},
    {"max_bins": 700, "bootstrap": False},
    {"max_features": None, "ccp_alpha": 1e-4},
)


@pytest.mark.parametrize("kind", ["plain", "ties", "float32", "missing", "categories"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_classes_and_numbers(name, options, kind):
    rng = np.random.default_rng(len(kind))
    X = mixed(rng, 900, kind)
    drawn = {"max_features": 2} | options
    weight = rng.integers(0, 3, len(X)) * 0.7
    assert_same_either_way(name + "Classifier", X, target(rng, X, 2), None, **drawn)
    assert_same_either_way(name + "Classifier", X, target(rng, X, 2), weight, criterion="entropy", **drawn)
    assert_same_either_way(
        name + "Classifier", X, target(rng, X, 4), None, class_weight="balanced_subsample", **drawn
    )
    assert_same_either_way(name + "Regressor", X, target(rng, X, 0), weight, **drawn)
    assert_same_either_way(name + "Regressor", X, abs(target(rng, X, 0)), None, criterion="poisson", **drawn)


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier"])
@pytest.mark.parametrize("kind", ["plain", "float32", "missing"])
def test_parts_of_every_size(name, kind):
    """So many rows that trees have parts, and these parts of their own."""
    rng = np.random.default_rng(1)
    X = mixed(rng, 50_000, kind)
    y = target(rng, X, 2)
    assert_same_either_way(name, X, y, None, max_features=2, bootstrap=name.startswith("Random"))


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_many_columns(name):
    """Beyond 256 columns, parts copy a column when it is drawn."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(3000, 300))).add_prefix("c")
    y = (X["c0"] + rng.normal(size=len(X)) > 0).to_numpy()
    assert_same_either_way(name, X, y, None, max_features=20)


def test_heavy_rows():
    """Weights that no half of a word holds."""
    rng = np.random.default_rng(4)
    X = mixed(rng, 400, "float32")
    y = target(rng, X, 2)
    assert_same_either_way("ExtraTreesClassifier", X.iloc[:30], y[:30], None, bootstrap=True, max_features=2)
    assert_same_either_way("ExtraTreesClassifier", X, y, np.full(400, 2.0**40), max_features=2)


@pytest.fixture(params=["baseline", "best"])
def _simd(request):
    """Both builds of the kernels."""
    before = _core.simd_level()
    _core.set_simd(request.param == "best")
    yield
    _core.set_simd(before != "baseline")


@pytest.mark.usefixtures("_simd")
@pytest.mark.parametrize("max_features", range(1, 11))
def test_columns_together(max_features):
    """Up to eight columns of a small node are looked at together."""
    rng = np.random.default_rng(max_features)
    X = pd.DataFrame(rng.normal(size=(700, 10)).astype(np.float32)).add_prefix("c")
    X["c3"] = X["c3"].round(1)
    X["c4"] = np.float32(7)
    y = target(rng, X.rename(columns={"c0": "a"}), 2)
    for bootstrap in (False, True):
        assert_same_either_way(
            "ExtraTreesClassifier", X, y, None, max_features=max_features, bootstrap=bootstrap
        )
