"""Boosting on pages gives the trees of boosting in memory, byte for byte: forty named settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from weald.boosting.loop import boost
from weald.boosting.newton.losses import make_objective
from weald.boosting.newton.options import BoostOptions, DartOptions
from weald.boosting.records import BoostTarget
from weald.data.adapters import to_table
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.errors import ParameterError
from weald.model.assemble import forest_of
from weald.model.forest import Forest
from weald.rows.blocks import MemoryPages, PagedCodes, tree
from weald.rows.blocks.source import Page

LARGE, SMALL = 66_000, 1_500  # from 65,536 rows on, histograms have 16 bits


@cache
def table(kind: str) -> tuple[Codes, np.ndarray]:
    """Coded rows and what is to be learnt from them."""
    rng = np.random.default_rng(5)
    n = LARGE if kind == "large" else SMALL
    X = rng.normal(size=(n, 4))
    y = X[:, 0] * 2 + X[:, 1] ** 2 + rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "sparse":
        matrix = sparse.random(n, 40, density=0.1, random_state=0, format="csr")
        matrix.data = np.round(matrix.data * 9)
        return encode(to_table(matrix), max_bins=64), y + 3 * matrix.toarray()[:, 0]
    frame = pd.DataFrame(X, columns=list("abcd"))
    if kind != "numbers":
        many = rng.integers(0, 150, n)
        frame["few"] = pd.Categorical(rng.integers(0, 6, n))
        frame["many"] = pd.Categorical(many)
        y = y + rng.normal(size=150)[many]
    read = to_table(frame)
    schema = Schema.of(read, used=None, unknown="missing")
    return encode(schema.align(read, estimator="test"), max_bins=64), y


def weights(kind: str, n: int) -> np.ndarray | None:
    rng = np.random.default_rng(6)
    if kind == "real":
        return np.where(np.arange(n) < 30, 0.0, rng.random(n))
    return rng.integers(0, 4, n).astype(np.float64) if kind == "whole" else None


def trained(
    codes: Codes, target: BoostTarget, objective: str, options: BoostOptions, parameters: Any
) -> tuple[Forest, np.ndarray]:
    n_classes = 3 if objective.startswith("multi:") else None
    bound = make_objective(objective, target, n_classes=n_classes, parameters=parameters)
    base = bound.base_scores()
    scores = np.tile(base, (target.n_rows, 1)).T.copy()
    trees = boost(codes, target, bound, options, base_scores=base, scores=scores)
    return forest_of(trees, codes.n_columns, base, bound.link), scores


def assert_as_in_memory(
    kind: str,
    objective: str,
    options: BoostOptions,
    *,
    weight: str = "none",
    page_rows: int = 700,
    splits: bool | None = True,
    **parameters: Any,
) -> None:
    codes, y = table(kind)
    if objective.startswith(("binary:", "rank:")):
        y = (y > 0).astype(np.float64)
    elif objective.startswith("multi:"):
        y = np.digitize(y, [-1, 1]).astype(np.float64)
    elif objective in ("count:poisson", "reg:gamma", "reg:tweedie"):
        y = np.abs(y) + 0.1
    if parameters.pop("two_targets", False):
        y = np.stack([y, y**2], axis=1)
    target = BoostTarget(y, weights(weight, len(y)))
    known, scores = trained(codes, target, objective, options, parameters)
    pages = PagedCodes(MemoryPages(codes, page_rows=page_rows))
    found, own = trained(pages, target, objective, options, parameters)
    for field in fields(Forest):
        one, other = getattr(known, field.name), getattr(found, field.name)
        same = one.tobytes() == other.tobytes() if isinstance(one, np.ndarray) else one == other
        assert same, field.name
    assert scores.tobytes() == own.tobytes()
    assert known.n_trees > 0
    if splits is not None:
        assert (len(known.slot) > known.n_trees) == splits


DEPTH = BoostOptions(n_rounds=3, max_depth=4)
LEAVES = replace(DEPTH, max_depth=0, max_leaves=15, grow_policy="lossguide")
SQUARED, BINARY, MULTI = "reg:squarederror", "binary:logistic", "multi:softprob"
NAMED: dict[str, tuple[str, str, BoostOptions, dict[str, Any]]] = {
    "squared": ("numbers", SQUARED, DEPTH, {}),
    "logistic": ("numbers", BINARY, DEPTH, {}),
    "weights": ("numbers", SQUARED, DEPTH, {"weight": "real"}),
    "whole weights": ("numbers", BINARY, DEPTH, {"weight": "whole"}),
    "deep": ("numbers", SQUARED, replace(DEPTH, max_depth=12, n_rounds=2), {}),
    "no limit of depth": ("numbers", SQUARED, replace(DEPTH, max_depth=0, n_rounds=1), {}),
    "min_child_weight": ("numbers", BINARY, replace(DEPTH, min_child_weight=30.0), {}),
    "gamma": ("numbers", SQUARED, replace(DEPTH, gamma=40.0), {}),
    "gamma while growing": ("numbers", SQUARED, replace(DEPTH, gamma=40.0, prune="pre"), {}),
    "lambda and alpha": ("numbers", BINARY, replace(DEPTH, reg_lambda=3.0, reg_alpha=0.7), {}),
    "max_delta_step": ("numbers", BINARY, replace(DEPTH, max_delta_step=0.2), {}),
    "best first": ("numbers", SQUARED, LEAVES, {}),
    "best first, deep limit": ("numbers", BINARY, replace(LEAVES, max_depth=3, max_leaves=6), {}),
    "fewer leaves by level": ("numbers", SQUARED, replace(DEPTH, max_leaves=5), {}),
    "subsample": ("numbers", SQUARED, replace(DEPTH, subsample=0.4), {"weight": "whole"}),
    "one row": ("numbers", SQUARED, replace(DEPTH, subsample=1e-9, min_child_weight=0.0), {"splits": False}),
    "by gradients": (
        "numbers",
        BINARY,
        replace(DEPTH, subsample=0.4, sampling_method="gradient_based"),
        {"weight": "real"},
    ),
    "columns": (
        "mixed",
        SQUARED,
        replace(DEPTH, colsample_bytree=0.8, colsample_bylevel=0.7, colsample_bynode=0.7),
        {},
    ),
    "column weights": (
        "numbers",
        SQUARED,
        replace(DEPTH, colsample_bynode=0.5, feature_weights=np.array([1.0, 2.0, 0.0, 1.0])),
        {},
    ),
    "monotone": ("numbers", SQUARED, replace(DEPTH, monotone=(1, 0, -1, 0)), {}),
    "interactions": ("numbers", SQUARED, replace(DEPTH, interactions=((0, 1), (2, 3))), {}),
    "parallel trees": ("numbers", SQUARED, replace(DEPTH, num_parallel_tree=3, subsample=0.6), {}),
    "categories": ("mixed", SQUARED, DEPTH, {}),
    "categories and weights": ("mixed", BINARY, DEPTH, {"weight": "real"}),
    "categories, whole weights": ("mixed", SQUARED, DEPTH, {"weight": "whole"}),
    "categories by rows": ("mixed", SQUARED, replace(DEPTH, cat_smooth="rows"), {}),
    "categories, best first": ("mixed", BINARY, LEAVES, {}),
    "sparse": ("sparse", SQUARED, DEPTH, {}),
    "sparse, best first": ("sparse", BINARY, LEAVES, {"weight": "real"}),
    "classes": ("mixed", MULTI, DEPTH, {}),
    "classes in one tree": ("numbers", MULTI, replace(DEPTH, multi_strategy="multi_output_tree"), {}),
    "several targets": ("numbers", SQUARED, DEPTH, {"two_targets": True}),
    "targets in one tree": (
        "sparse",
        SQUARED,
        replace(DEPTH, multi_strategy="multi_output_tree"),
        {"two_targets": True, "weight": "real"},
    ),
    "dart": ("mixed", SQUARED, replace(DEPTH, n_rounds=6, dart=DartOptions(rate_drop=0.5)), {}),
    "absolute error": ("numbers", "reg:absoluteerror", DEPTH, {"weight": "real"}),
    "quantiles": (
        "numbers",
        "reg:quantileerror",
        replace(DEPTH, subsample=0.7),
        {"quantile_alpha": [0.2, 0.9]},
    ),
    "poisson": ("numbers", "count:poisson", DEPTH, {}),
    "gamma deviance": ("mixed", "reg:gamma", DEPTH, {"weight": "whole"}),
    "tweedie": ("numbers", "reg:tweedie", DEPTH, {}),
    "huber": ("numbers", "reg:pseudohubererror", DEPTH, {}),
    "hinge": ("numbers", "binary:hinge", DEPTH, {}),
    "16 bits": ("large", BINARY, replace(DEPTH, n_rounds=2), {"page_rows": 7_000}),
    "16 bits, whole weights": (
        "large",
        SQUARED,
        replace(LEAVES, n_rounds=2),
        {"weight": "whole", "page_rows": 65_536},
    ),
    "16 bits and weights": (
        "large",
        SQUARED,
        replace(DEPTH, n_rounds=2),
        {"weight": "real", "page_rows": 66_000},
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_settings(name: str) -> None:
    kind, objective, options, more = NAMED[name]
    assert_as_in_memory(kind, objective, options, **more)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("page_rows", [1, 999, 5_000])
def test_any_pages_and_threads(n_threads: int, page_rows: int) -> None:
    options = replace(DEPTH, n_rounds=1, max_depth=3, n_threads=n_threads)
    assert_as_in_memory("mixed", BINARY, options, page_rows=page_rows)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_random_settings(data: st.DataObject) -> None:
    draw = data.draw
    best_first = draw(st.booleans())
    options = BoostOptions(
        n_rounds=2,
        max_depth=draw(st.integers(0 if best_first else 1, 7)),
        max_leaves=draw(st.integers(2, 40)) if best_first else 0,
        grow_policy="lossguide" if best_first else draw(st.sampled_from(["depthwise", "lossguide"])),
        gamma=draw(st.sampled_from([0.0, 1.0, 20.0])),
        min_child_weight=draw(st.sampled_from([0.0, 1.0, 20.0])),
        reg_lambda=draw(st.sampled_from([0.0, 1.0, 5.0])),
        subsample=draw(st.sampled_from([1.0, 0.5])),
        colsample_bynode=draw(st.sampled_from([1.0, 0.6])),
        num_parallel_tree=draw(st.integers(1, 2)),
        seed=draw(st.integers(0, 99)),
        n_threads=draw(st.integers(1, 3)),
    )
    kind = draw(st.sampled_from(["numbers", "mixed", "sparse"]))
    objective = draw(st.sampled_from([SQUARED, BINARY, MULTI, "reg:absoluteerror"]))
    weight = draw(st.sampled_from(["none", "real", "whole"]))
    page_rows = draw(st.integers(100, 2_000))
    assert_as_in_memory(kind, objective, options, weight=weight, page_rows=page_rows, splits=None)


def test_gradients_worked_out_for_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short, nothing is kept of them."""
    monkeypatch.setattr(tree, "_SHARE_OF_MEMORY", 1 << 60)
    for name in ("16 bits", "16 bits, whole weights"):
        kind, objective, options, more = NAMED[name]
        assert_as_in_memory(kind, objective, options, **more)


@pytest.mark.parametrize(("policy", "depth"), [("depthwise", 6), ("lossguide", 3)])
def test_a_pass_takes_a_whole_level(monkeypatch: pytest.MonkeyPatch, policy: Any, depth: int) -> None:
    codes, y = table("numbers")
    source = MemoryPages(codes)
    read: list[bool] = []
    pages = source.pages

    def counted(*, codes: bool = True, extras: Sequence[str] = ()) -> Iterator[Page]:
        read.append(codes)
        return pages(codes=codes, extras=extras)

    monkeypatch.setattr(source, "pages", counted)
    options = BoostOptions(n_rounds=1, max_depth=depth, grow_policy=policy)
    trained(PagedCodes(source), BoostTarget(y), SQUARED, options, {})
    assert sum(read) == depth + 1  # the root, and the splits of every level


def test_what_needs_memory_is_refused() -> None:
    codes, y = table("numbers")
    pages = PagedCodes(MemoryPages(codes))
    with pytest.raises(ParameterError, match="tree_method='hist'"):
        trained(pages, BoostTarget(y), SQUARED, replace(DEPTH, tree_method="exact"), {})
