"""Trees as DOT are written as xgboost writes them, for models of the same splits."""

from __future__ import annotations

import re

import numpy as np
import pytest

import weald

xgboost = pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).astype(np.float32).astype(float)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "tree_method": "exact", "base_score": 0.5}


def alike(text: str) -> str:
    """Numbers to four digits, line breaks one way; xgboost colours the way of missing values, weald `yes`."""
    text = re.sub(r"\\n|\n(?=gain|cover)", "|", text)
    text = re.sub(r' color="#\w+"|    graph .*\n', "", text).strip()
    return re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.4g}", text)


@pytest.mark.parametrize("with_stats", [False, True])
def test_dumps(with_stats):
    theirs = xgboost.train(PARAMS, xgboost.DMatrix(X, Y), 3)
    ours = weald.train(PARAMS, weald.DMatrix(X, Y), 3)
    for tree, other in zip(
        ours.get_dump(dump_format="dot", with_stats=with_stats),
        theirs.get_dump(dump_format="dot", with_stats=with_stats),
        strict=True,
    ):
        # Where no value was missing in training, each has its own rule for where missing values go.
        assert alike(tree).replace(", missing", "") == alike(other).replace(", missing", "")


def test_to_graphviz():
    pytest.importorskip("graphviz")
    theirs = xgboost.train(PARAMS, xgboost.DMatrix(X, Y), 2)
    ours = weald.train(PARAMS, weald.DMatrix(X, Y), 2)
    options = {"tree_idx": 1, "rankdir": "LR", "condition_node_params": {"shape": "box"}}
    expected = xgboost.to_graphviz(theirs, **options).source
    assert alike(weald.to_graphviz(ours, **options)).replace(", missing", "") == alike(expected).replace(
        ", missing", ""
    )
