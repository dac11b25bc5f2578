"""`weald.nearest_like`: proximities are those of the forest, the rows come back, and slips are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression as ForeignLogistic

import weald
from weald.errors import DataError, DataTypeError, ParameterError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=80), "city": pd.Categorical(RNG.choice(["Bern", "Genf"], 80))})
FRAME.loc[::9, "x"] = np.nan
LABEL = np.where((FRAME["x"].fillna(0) > 0) | (FRAME["city"] == "Genf"), "yes", "no")
FOREST = weald.RandomForestClassifier(25, random_state=0).fit(FRAME, LABEL)


def test_proximities_are_the_forests() -> None:
    row = {"x": 0.3, "city": "Bern"}
    expected = FOREST.proximity(pd.DataFrame([row]).astype(FRAME.dtypes.to_dict()), FRAME)[0]
    found = weald.nearest_like(FOREST, row, FRAME, LABEL, k=7)
    order = np.argsort(-expected, kind="stable")[:7]
    assert found.rows.tolist() == order.tolist()
    np.testing.assert_allclose(found.proximities, expected[order])
    assert found.targets == LABEL[order].tolist()
    assert found.table.equals(FRAME.iloc[order].reset_index(drop=True)) or found.table.equals(
        FRAME.iloc[order]
    )
    frame = found.to_frame()
    assert frame.columns.tolist() == ["row", "proximity", "target", "x", "city"]
    assert repr(found).startswith("The 7 rows most alike:\n  row ")


def test_libraries_boosters_and_loaded_models(tmp_path: Path) -> None:
    polars = pl.from_pandas(FRAME)
    found = weald.nearest_like(FOREST, polars[3], polars)
    assert type(found.to_frame()) is pl.DataFrame
    assert type(found.table) is pl.DataFrame
    assert found.rows.tolist() == weald.nearest_like(FOREST, FRAME.iloc[3], FRAME).rows.tolist()
    assert found.proximities[0] == 1.0
    booster = weald.XGBClassifier(n_estimators=5).fit(FRAME, LABEL)
    leaves = booster.apply(FRAME)
    near = weald.nearest_like(booster, FRAME.iloc[5], FRAME, k=80)
    np.testing.assert_allclose(near.proximities, (leaves == leaves[5]).mean(axis=1)[near.rows])
    FOREST.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert weald.nearest_like(loaded, FRAME.iloc[3], FRAME).rows.tolist() == found.rows.tolist()
    with pytest.raises(DataError, match="does not keep those that it was fitted on, loaded from a file"):
        weald.nearest_like(loaded, FRAME.iloc[3])


def test_a_column_called_row() -> None:
    table = pd.DataFrame({"row": np.arange(30.0)})
    model = weald.RandomForestRegressor(5, random_state=0).fit(table, table["row"])
    frame = weald.nearest_like(model, [3.0], table, k=2).to_frame()
    assert frame.columns.tolist() == ["row", "proximity", "row (column)"]


def test_bad_input() -> None:
    with pytest.raises(DataTypeError, match="LogisticRegression is not"):
        weald.nearest_like(ForeignLogistic().fit([[0.0], [1.0]], [0, 1]), [0.0], [[0.0], [1.0]])
    with pytest.raises(ParameterError, match="`k` of nearest_like"):
        weald.nearest_like(FOREST, FRAME.iloc[0], FRAME, k=0)
    with pytest.raises(DataError, match="80 rows and y 3"):
        weald.nearest_like(FOREST, FRAME.iloc[0], FRAME, LABEL[:3])
    with pytest.raises(DataError, match="Unknown: 'town'"):
        weald.nearest_like(FOREST, {"x": 1.0, "city": "Bern", "town": 1}, FRAME)
