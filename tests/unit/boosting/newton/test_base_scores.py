"""Base scores of objectives: without an order of rows, finite, and those of users."""

from __future__ import annotations

import numpy as np
import pytest
from unit.boosting.newton.objectives import NATIVE, bound, example

from weald.boosting.links import apply_link
from weald.errors import ParameterError


@pytest.mark.parametrize("name", NATIVE)
def test_base_scores_know_no_order_of_rows_and_whole_weights_are_repeats(name):
    rng = np.random.default_rng(8)
    _, y, _ = example(name, n=200)
    weight = rng.integers(0, 4, 200).astype(float)
    n_classes = 4 if name.startswith("multi") else None
    alpha = {"quantile_alpha": [0.2, 0.7]} if "quantile" in name else {}
    start = bound(name, y, weight=weight, n_classes=n_classes, **alpha).base_scores()
    order = rng.permutation(200)
    shuffled = bound(name, y[order], weight=weight[order], n_classes=n_classes, **alpha)
    assert shuffled.base_scores().tolist() == start.tolist()
    repeated = np.repeat(y, weight.astype(int))
    ones = np.ones(len(repeated))
    again = bound(name, repeated, weight=ones, n_classes=n_classes, **alpha)
    assert again.base_scores().tolist() == start.tolist()


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("binary:logistic", [0.0, 0.0], 1e-6),
        ("binary:logistic", [1.0, 1.0], 1 - 1e-6),
        ("count:poisson", [0.0, 0.0], 1e-6),
        ("reg:tweedie", [0.0], 1e-6),
    ],
)
def test_targets_of_one_value_start_finite(name, values, expected):
    objective = bound(name, values)
    assert apply_link(objective.link, objective.base_scores())[0] == pytest.approx(expected, rel=1e-9)


def test_heavy_tails_and_large_numbers_keep_their_mean():
    y = np.array([1e12, -1e12, 3.0, 1e-9])
    assert bound("reg:squarederror", y).base_scores()[0] == pytest.approx(3.0 / 4, rel=1e-8)


def test_base_scores_of_users():
    logistic = bound("binary:logistic", [0.0, 1.0])
    assert logistic.raw_base_scores(0.75) == pytest.approx([np.log(3)])
    assert logistic.raw_base_scores(0)[0] == pytest.approx(np.log(1e-6), rel=1e-6)
    assert bound("count:poisson", [1.0]).raw_base_scores(5).tolist() == pytest.approx([np.log(5)])
    softmax = bound("multi:softprob", [0.0, 1.0, 2.0], n_classes=3)
    assert softmax.raw_base_scores(0.5).tolist() == [0.5, 0.5, 0.5]
    assert softmax.raw_base_scores([0.1, 0.2, 0.3]).tolist() == [0.1, 0.2, 0.3]
    for bad in ([0.1, 0.2], "x", np.nan, [[0.1, 0.2, 0.3]]):
        with pytest.raises(ParameterError, match="base_score"):
            softmax.raw_base_scores(bad)
    with pytest.raises(ParameterError, match=r"between 0 and 1, both excluded; got 1\.5"):
        logistic.raw_base_scores(1.5)
