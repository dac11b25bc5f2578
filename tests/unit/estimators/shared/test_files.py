"""Estimators that learn from tables alone say so of rows in files, before anything else, and name the way."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weald
from weald.errors import DataError
from weald.rows.paged import store_of_scan

LEARNERS = [
    thing
    for name in sorted(weald.__all__)
    if inspect.isclass(thing := getattr(weald, name))
    and hasattr(thing, "get_params")
    and (hasattr(thing, "fit") or hasattr(thing, "fit_resample"))
    and not getattr(thing, "_trains_from_files", False)
]


def made(kind: Any) -> Any:
    """With an estimator where one has to be named."""
    needed = {
        name: weald.XGBClassifier() if name == "estimator" else [("a", weald.DecisionTreeClassifier())]
        for name, each in inspect.signature(kind).parameters.items()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    }
    return kind(**needed)


def test_those_that_learn_from_files_are_boosters_trees_and_forests() -> None:
    found = {n for n in weald.__all__ if getattr(getattr(weald, n), "_trains_from_files", False)}
    assert {"XGBClassifier", "XGBModel", "XGBRanker", "XGBRegressor"} <= found
    others = {name for name in found if not name.startswith("XGB")}
    kinds = ("DecisionTree", "RandomForest", "ExtraTrees")
    assert others == {f"{kind}{task}" for kind in kinds for task in ("Classifier", "Regressor")}
    assert len(LEARNERS) > 25


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_rows_in_files_are_refused_with_the_way(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.arange(8.0), "y": [0, 1] * 4}), path)
    scan = weald.scan(path)
    methods = [name for name in ("fit", "fit_resample", "calibrate") if hasattr(kind, name)]
    assert methods
    with store_of_scan(weald.scan(path, folder=tmp_path / "coded"), ["y"], max_bins=8) as store:
        for rows in (scan, path, str(path), store, tmp_path / "coded", str(tmp_path / "coded"), [path]):
            for method in methods:
                with pytest.raises(DataError) as raised:
                    getattr(made(kind), method)(rows, "y")
                said = str(raised.value)
                assert f"{kind.__name__} learns from a table in memory alone" in said
                assert "weald.read(" in said
    model = made(kind)
    for check, way in ((weald.AdaBoostClassifier, "XGBClassifier"), (weald.SVR, "XGBRegressor")):
        if isinstance(model, check):
            with pytest.raises(DataError, match=rf"rows\.parquet'\), or fit {way}\(tree_method='hist'\)"):
                model.fit(X=scan, y="y")
