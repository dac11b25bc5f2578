"""Trees and forests of classes and of means on pages: those of memory, whatever fits there."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from weald.data.adapters import to_table
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.model.forest import Forest
from weald.rows.blocks import MemoryPages, PagedCodes, statistic
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.memory import grow_classification_tree, grow_regression_tree

N = 2_000
#: bytes that a tree may have: none but a row, so that all is added up level by level; some; all
ROOM = {"levels": 0, "branches": 400_000, "memory": 1 << 30}
AUTO = {"category_chance": 1.0, "chance_within": True, "tree_orders": True}


def coded(kind: str) -> Codes:
    rng = np.random.default_rng(7)
    if kind == "sparse":
        X: Any = sparse.random(N, 40, density=0.05, random_state=3, format="csr")
        X.data = np.round(4 * X.data)
    else:
        X = pd.DataFrame(
            {
                "a": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)).round(2),
                "b": rng.integers(0, 9, N),
                "same": np.zeros(N),
                "c": pd.Categorical(rng.choice([f"c{i}" for i in range(30)], N)),
                "d": pd.Categorical(rng.choice(["x", "y"], N)),
                "wide": rng.normal(size=N),
                "ranked": pd.Categorical(rng.integers(0, 5, N), ordered=True),
            }
        )
    table = to_table(X)
    return encode(Schema.of(table, unknown="missing").align(table, estimator="test"), max_bins=20)


CODES = {kind: coded(kind) for kind in ("mixed", "sparse")}
RNG = np.random.default_rng(11)
CODE = {kind: codes.column(0).astype(float) + codes.column(3) % 4 for kind, codes in CODES.items()}
WEIGHT = {
    "none": None,
    "whole": RNG.integers(0, 4, N).astype(float),
    "fractions": np.where(RNG.random(N) < 0.1, 0.0, RNG.random(N)),
}
NOISE = RNG.normal(size=(N, 2))


def target_of(name: str, kind: str) -> Any:
    """Class numbers and how many there are, or numbers."""
    value = CODE[kind]
    two = (value + 3 * NOISE[:, 0] > np.median(value)).astype(np.int32)
    many = np.clip(np.digitize(value + NOISE[:, 1], [3, 6, 9]), 0, 3).astype(np.int32)
    return {
        "two": (two, 2),
        "four": (many, 4),
        "pair": (np.stack([two, many], axis=1), [2, 4]),
        "hundreds": ((many * 80 + np.abs(NOISE[:, 0] * 20).astype(np.int32) % 80).astype(np.int32), 320),
        "number": value + NOISE[:, 0],
        "alike": np.round(value) * 1e9 + 1e12,
        "numbers": np.stack([value, NOISE[:, 1] * 1e-3], axis=1),
        "counts": np.abs(np.round(value)),
    }[name]


def assert_same(found: Forest, known: Forest) -> None:
    for each in fields(Forest):
        a, b = getattr(found, each.name), getattr(known, each.name)
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype, each.name
            assert a.tobytes() == b.tobytes(), each.name
        else:
            assert a == b or (a is None and b is None), each.name


SETTINGS = {
    "plain": ("two", {"criterion": "gini"}, "none", None),
    "entropy": ("two", {"criterion": "entropy", "max_depth": 5}, "whole", None),
    "errors": ("four", {"criterion": "misclassification", "max_depth": 6}, "none", None),
    "fractions": ("four", {"criterion": "gini", "min_rows_leaf": 7} | AUTO, "fractions", None),
    "auto": ("two", {"criterion": "gini"} | AUTO, "none", None),
    "auto of weights": ("two", {"criterion": "entropy", "min_rows_leaf": 3} | AUTO, "whole", None),
    "outputs": ("pair", {"criterion": "gini", "max_depth": 7} | AUTO, "fractions", None),
    "hundreds": ("hundreds", {"criterion": "entropy", "max_depth": 4}, "none", None),
    "best first": ("two", {"criterion": "gini", "max_leaves": 25}, "whole", None),
    "constraint": ("two", {"criterion": "gini", "monotone": (1, -1, 0, 0, 0, 0, 0)}, "none", None),
    "limits": (
        "two",
        {"criterion": "gini", "min_rows_split": 60, "min_impurity_decrease": 1e-3},
        "none",
        None,
    ),
    "random": ("two", {"criterion": "gini", "splitter": "random", "seed": 5}, "fractions", None),
    "drawn": ("four", {"criterion": "gini", "max_columns": 2, "seed": 5, "random_ties": True}, "none", None),
    "forest": ("two", {"criterion": "gini", "max_columns": 2, "random_ties": True} | AUTO, "none", 5),
    "weighted forest": (
        "four",
        {"criterion": "entropy", "max_columns": 3, "random_ties": True},
        "fractions",
        3,
    ),
    "extra trees": ("two", {"criterion": "gini", "splitter": "random", "random_ties": True}, "none", 0),
    "extra trees of some": ("two", {"criterion": "gini", "splitter": "random", "max_columns": 2}, "whole", 4),
    "mean": ("number", {"criterion": "squared_error", "max_depth": 6}, "none", None),
    "leaf values": (
        "number",
        {"criterion": "squared_error", "leaf_values_only": True, "min_rows_leaf": 5} | AUTO,
        "whole",
        None,
    ),
    "alike": ("alike", {"criterion": "squared_error"}, "fractions", None),
    "numbers": ("numbers", {"criterion": "squared_error", "max_depth": 6}, "whole", None),
    "poisson": ("counts", {"criterion": "poisson", "max_depth": 6}, "none", None),
    "bounded means": (
        "number",
        {"criterion": "squared_error", "monotone": (1, 0, 0, 0, 0, -1, 0), "max_leaves": 30},
        "none",
        None,
    ),
    "forest of means": (
        "number",
        {"criterion": "squared_error", "max_columns": 3, "random_ties": True, "leaf_values_only": True},
        "fractions",
        4,
    ),
    "drawn cuts of means": (
        "number",
        {"criterion": "squared_error", "splitter": "random", "min_rows_leaf": 4},
        "whole",
        3,
    ),
}
#: of sparse columns, these are searched in ways of their own
SPARSE = ("plain", "random", "weighted forest", "extra trees of some", "mean", "forest of means")
CASES = [("mixed", name) for name in SETTINGS] + [("sparse", name) for name in SPARSE]


def grown(codes: Codes, name: str, kind: str, n_threads: int) -> Any:
    what, options, weight, trees = SETTINGS[name]
    grow = GrowOptions(**options, n_threads=n_threads)  # type: ignore[arg-type]
    bags = None
    if trees is not None:
        draws = 1_700 if trees else None
        bags = TreeBags(n_trees=trees or 3, first_tree=1, n_draws=draws, seed=9, min_weight_share=0.002)
    target = target_of(what, kind)
    if isinstance(target, tuple):
        return grow_classification_tree(codes, *target, WEIGHT[weight], grow, bags)
    return grow_regression_tree(codes, target, WEIGHT[weight], grow, bags)


@pytest.mark.parametrize("room", ROOM)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_trees_on_pages_are_those_of_memory(
    monkeypatch: pytest.MonkeyPatch, name: str, room: str, kind: str
) -> None:
    monkeypatch.setattr(statistic, "memory_share", lambda: ROOM[room])
    known = grown(CODES[kind], name, kind, 2)
    for page_rows, n_threads in ((701, 1), (2_048, 3)):
        pages = PagedCodes(MemoryPages(CODES[kind], page_rows=page_rows))
        found = grown(pages, name, kind, n_threads)
        assert_same(found.forest, known.forest)
        assert found.node_value.tobytes() == known.node_value.tobytes()
