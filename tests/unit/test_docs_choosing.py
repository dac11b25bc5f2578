"""The cells of the table of docs/guide/choosing.md are what the methods do."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from weald.datasets import load_penguins
from weald.estimators.xgboost.plan import EXACT_CELLS, EXACT_ROWS
from weald.runs.methods import METHODS, make
from weald.svm.solver_choice import MOST_ROWS, WORKING_ROWS

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "choosing.md"
COLUMNS = ("method", "text", "missing", "outlier", "units", "reading")
ROWS = 400
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(ROWS, 4)), RNG.normal(size=(300, 4))


def _side(rows):
    return np.where(rows[:, 0] + rows[:, 1] ** 2 > 1, "in", "out")


Y = _side(X + 0.2 * np.random.default_rng(1).normal(size=X.shape))


def _table() -> dict[str, dict[str, str]]:
    lines = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| `[a-z-]+` \|", line)
    ]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]
    return {
        row[0].strip("` "): dict(zip(COLUMNS, row, strict=True)) for row in rows if len(row) == len(COLUMNS)
    }


TABLE = _table()


def model(method: str, *, scale: bool | None = None):
    """The method as `weald fit` sets it, with fewer trees."""
    made = make(method, "classification", threads=1)
    changes: dict[str, object] = {name: 40 for name in made.get_params() if name.endswith("n_estimators")}
    if scale is not None and "scale" in made.get_params():
        changes["scale"] = scale
    return made.set_params(**changes)


def alike(one, other, new=NEW, again=NEW) -> float:
    """The share of new rows on which two models agree."""
    return float(np.mean(one.predict(new) == other.predict(again)))


def test_the_table_has_every_method_that_compares():
    assert set(TABLE) == set(METHODS) - {"balanced-forest"}


@pytest.mark.parametrize("method", TABLE)
def test_tables_go_in_as_they_are(method: str):
    table, labels = load_penguins("pandas")
    assert table.isna().any(axis=None)
    assert table["island"].dtype.kind not in "iuf"
    assert model(method).fit(table, labels).score(table, labels) > 0.9


@pytest.mark.filterwarnings("ignore::weald.errors.ScaleWarning")
@pytest.mark.parametrize("method", TABLE)
def test_units(method: str):
    cell, units = TABLE[method]["units"], np.array([1024.0, 1.0, 1.0, 1.0])
    agree = alike(model(method).fit(X, Y), model(method).fit(X * units, Y), again=NEW * units)
    assert agree == 1, "as `weald fit` sets it, units never matter"
    if cell.startswith("matter"):
        bare = alike(
            model(method, scale=False).fit(X, Y),
            model(method, scale=False).fit(X * units, Y),
            again=NEW * units,
        )
        assert bare < 0.95
    else:
        assert cell == "no matter" or "penalty" in cell or "members" in cell


@pytest.mark.parametrize("method", TABLE)
def test_an_outlier_in_a_column(method: str):
    cell, spoilt = TABLE[method]["outlier"], X.copy()
    spoilt[0, 0] = 1e6
    agree = alike(model(method).fit(X, Y), model(method).fit(spoilt, Y))
    least, most = {"no matter": (0.97, 1.0), "hardly matters": (0.93, 1.0), "matters": (0.0, 0.9)}[cell]
    assert least <= agree <= most, agree


def test_numbers_of_rows_in_the_guides_are_those_of_the_code() -> None:
    boosting, svm = (PAGE.with_name(name).read_text(encoding="utf-8") for name in ("boosting.md", "svm.md"))
    assert (
        f'`tree_method="auto"` tries every threshold up to {EXACT_ROWS:,} rows (and {EXACT_CELLS:,} cells)'
        in boosting
    )
    assert f'`solver="auto"` follows this: exact up to {MOST_ROWS:,} rows' in svm
    assert f"`cache_size` does not hold {WORKING_ROWS:,} rows of the kernel matrix" in svm
