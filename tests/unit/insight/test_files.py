"""Rows in files: SHAP values come in blocks; what looks at a whole table says so and names the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weald
from weald.errors import DataTypeError
from weald.estimators.shared import blocks

N = 700


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    a = np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N).round(3))
    return pd.DataFrame({"a": a, "t": rng.choice(["x", "y", "z"], N), "c": rng.integers(0, 5, N)})


@pytest.fixture
def files(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "ROWS", 128)
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path


def fitted(model: Any, frame: pd.DataFrame) -> Any:
    chance = (frame["a"].fillna(0) + (frame["t"] == "y")).to_numpy()
    return model.fit(frame, np.digitize(chance, [0, 1]) if hasattr(model, "predict_proba") else chance)


@pytest.mark.parametrize(
    "model",
    [
        weald.XGBRegressor(n_estimators=4, max_depth=3),
        weald.XGBClassifier(n_estimators=2, max_depth=3),
        weald.RandomForestClassifier(n_estimators=3, max_depth=4, random_state=0),
        weald.DecisionTreeRegressor(max_depth=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_shap_values_of_blocks_are_those_of_the_table(model: Any, frame: pd.DataFrame, files: Path) -> None:
    model = fitted(model, frame)
    known = model.shap_values(frame)
    for name in ("x.parquet", "x.csv"):
        found = model.shap_values(weald.scan(files / name))
        assert len(found) == N
        # Rows of one leaf path are added up together, so that the last bits go by the block.
        np.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)


def test_what_looks_at_a_whole_table_names_the_way(frame: pd.DataFrame, files: Path) -> None:
    boosted, forest = (
        fitted(model, frame)
        for model in (
            weald.XGBRegressor(n_estimators=2),
            weald.RandomForestRegressor(n_estimators=2, random_state=0),
        )
    )
    scan, y = weald.scan(files / "x.parquet"), np.zeros(N)
    for model in (boosted, forest, boosted.predict):
        for rows in (scan, files / "x.parquet"):
            for ask in (
                lambda m, X: weald.partial_dependence(m, X, "a"),
                lambda m, X: weald.accumulated_local_effects(m, X, "a"),
                lambda m, X: weald.friedman_h(m, X, ("a", "c")),
            ):
                with pytest.raises(DataTypeError, match=r"stands for rows in files.*weald\.read"):
                    ask(model, rows)
    with pytest.raises(DataTypeError, match=r"stands for rows in files.*weald\.read"):
        weald.importance(boosted, scan, y)
