"""Numbers that the guide names are those of the code."""

from __future__ import annotations

from pathlib import Path

from weald.estimators.xgboost.plan import EXACT_CELLS, EXACT_ROWS
from weald.svm.solver_choice import MOST_COLUMNS, MOST_ROWS, WORKING_ROWS

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def test_sizes_that_auto_decides_by() -> None:
    boosting = (GUIDE / "boosting.md").read_text(encoding="utf-8")
    assert f"every threshold up to {EXACT_ROWS:,} rows (and {EXACT_CELLS:,} cells)" in boosting
    machines = (GUIDE / "svm.md").read_text(encoding="utf-8")
    assert f"exact up to {MOST_ROWS:,} rows" in machines
    assert f"{WORKING_ROWS:,} rows of the kernel matrix" in machines
    assert f"up to {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns" in machines
