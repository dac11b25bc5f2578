"""The pruning table as text, HTML and columns."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from weald.estimators.tree.pruning_table import PruningTable


def make(n: int, chosen: int) -> PruningTable:
    alpha = np.arange(n) / 64
    return PruningTable(
        alpha=alpha,
        tested_alpha=np.append((alpha[:-1] + alpha[1:]) / 2, np.inf),
        mean_loss=np.arange(n)[::-1] / 8 + 0.5,
        standard_error=np.full(n, 0.03125),
        leaves=np.arange(n, 0, -1) * 1000,
        chosen=np.arange(n) == chosen,
        loss="squared <error>",
        n_folds=5,
    )


def test_text():
    assert repr(make(3, 1)) == (
        "Pruning by cross-validation, 5 folds, squared <error>: ccp_alpha 0.015625, 2,000 leaves of 3,000\n"
        "   ccp_alpha  mean loss  standard error  leaves\n"
        "           0       0.75         0.03125   3,000\n"
        "*   0.015625      0.625         0.03125   2,000\n"
        "     0.03125        0.5         0.03125   1,000"
    )
    assert str(make(3, 1)) == repr(make(3, 1))


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        (50, [0, 1, 2, *range(45, 56), 97, 98, 99]),
        (0, [*range(6), 97, 98, 99]),
        (99, [0, 1, 2, *range(94, 100)]),
        (7, [*range(13), 97, 98, 99]),
    ],
)
def test_long_tables_are_cut_around_the_chosen_row(chosen, shown):
    lines = repr(make(100, chosen)).splitlines()[2:]
    leaves = [int(line.split()[-1].replace(",", "")) for line in lines if "…" not in line]
    assert leaves == [1000 * (100 - k) for k in shown]
    assert [line.startswith("*") for line in lines if "…" not in line] == [k == chosen for k in shown]
    gaps = sum(b - a > 1 for a, b in pairwise(shown))
    assert sum("…" in line for line in lines) == gaps


def test_html():
    text = make(40, 20)._repr_html_()
    assert text.count("<tr") == 1 + 3 + 11 + 3 + 2
    assert text.count("font-weight: bold") == 1
    assert "squared &lt;error&gt;" in text
    assert "<td>0.3125</td>" in text


def test_columns():
    table = make(4, 2)
    columns = table.to_dict()
    assert list(columns) == ["alpha", "tested_alpha", "mean_loss", "standard_error", "leaves", "chosen"]
    assert columns["chosen"] == [False, False, True, False]
    assert columns["leaves"] == [4000, 3000, 2000, 1000]
    assert len(pd.DataFrame(columns)) == len(table) == 4


def test_frozen_and_pickled():
    table = make(4, 2)
    with pytest.raises(FrozenInstanceError):
        table.loss = "another"
    assert repr(pickle.loads(pickle.dumps(table))) == repr(table)
