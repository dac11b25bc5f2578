"""What the wide integer sums of boosting promise: rows have no order, and a whole weight is a repeated row.

Both hold to the byte with exact codes, and with hist where no column has more values than bins: of the model
file for the order, of every array but the count of rows for weights.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from weald import XGBClassifier, XGBRegressor
from weald.io.model_file import to_bytes

CLASSES = {"reg:squarederror": XGBRegressor, "binary:logistic": XGBClassifier}
SOME_PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"reg_lambda": 0.0, "min_child_weight": 0.0, "max_depth": 12},
    {"gamma": 0.4, "reg_alpha": 0.3},
    {"grow_policy": "lossguide", "max_leaves": 7},
    {"booster": "dart", "rate_drop": 0.5},
    {"monotone_constraints": (1, -1, 0)},
)
shapes = {
    "seed": st.integers(0, 2**32 - 1),
    "n_rows": st.integers(1, 120),
    "parameters": st.sampled_from(SOME_PARAMETERS),
    "method": st.sampled_from(["exact", "hist"]),
    "objective": st.sampled_from(sorted(CLASSES)),
}


def table(rng: np.random.Generator, n_rows: int, objective: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Few distinct values per column, missing ones too; a target of many magnitudes, or two classes."""
    X = rng.integers(-5, 6, (n_rows, 3)) / 3
    X[rng.random(X.shape) < 0.15] = np.nan
    signal = np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows)
    if objective == "reg:squarederror":
        return X, signal * 10.0 ** rng.integers(-3, 4, n_rows)
    return X, signal > 0.2


def model(X: Any, y: Any, weight: Any, objective: str, method: str, parameters: dict[str, Any]) -> Any:
    given = {"n_estimators": 4, "tree_method": method, "n_jobs": 2, **parameters}
    return CLASSES[objective](**given).fit(X, y, sample_weight=weight)


def assert_repeats_are_weights(
    X: Any, y: Any, count: NDArray[np.int64], rows: NDArray[np.int64], *how: Any
) -> None:
    """`rows`: each row as many times as `count` says. Nodes count rows as they come, so that may differ."""
    weighted = model(X, y, count.astype(float), *how).forest_
    repeated = model(X[rows], y[rows], None, *how).forest_
    for field in fields(weighted):
        if field.name != "count":
            ours, theirs = getattr(weighted, field.name), getattr(repeated, field.name)
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name, strict=True)
    assert repeated.count[0] == count.sum()


@given(weighted=st.booleans(), **shapes)
def test_rows_have_no_order(seed, n_rows, parameters, method, objective, weighted):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n_rows, objective)
    weight = rng.exponential(size=n_rows) if weighted else None
    order = rng.permutation(n_rows)
    other = None if weight is None else weight[order]
    how = (objective, method, parameters)
    assert to_bytes(model(X, y, weight, *how)) == to_bytes(model(X[order], y[order], other, *how))


@given(**shapes)
def test_a_whole_weight_is_a_repeated_row(seed, n_rows, parameters, method, objective):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n_rows, objective)
    count = rng.integers(0, 4, n_rows)
    count[rng.integers(n_rows)] += 1
    assert_repeats_are_weights(
        X, y, count, np.repeat(np.arange(n_rows), count), objective, method, parameters
    )


@pytest.mark.parametrize("objective", CLASSES)
@pytest.mark.parametrize("method", ["exact", "hist"])
def test_many_rows(method, objective):
    """More blocks of rows than one, and for hist so few that statistics stay wide."""
    rng = np.random.default_rng(1)
    X, y = table(rng, 20_000, objective)
    count = rng.integers(0, 3, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), count))
    assert_repeats_are_weights(X, y, count, rows, objective, method, {})
