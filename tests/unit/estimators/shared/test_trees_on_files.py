"""Trees and forests on scans, paths and stores: the models of tables in memory, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBClassifier,
    open_store,
    plan,
    scan,
)
from weald.errors import DataError, DataTypeError, ParameterError
from weald.rows.blocks import statistic

LEARNT = ["a", "b", "city"]
N = 65_536 + 4_000  # two pages


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(26)
    a, city = rng.normal(size=N).round(3), rng.integers(0, 40, N)
    late = rng.normal(size=N) + a + (city % 5 == 0)
    return pd.DataFrame(
        {
            "a": np.where(rng.random(N) < 0.1, np.nan, a),
            "b": rng.integers(0, 30, N),
            "city": np.array([f"city {i}" for i in range(40)], object)[city],
            "late": late,
            "wait": np.abs(late).round(1),
            "label": np.where(late > 0.5, "late", "on time"),
            "kind": np.digitize(late, [-0.5, 1.0]),
            "w": rng.integers(0, 3, N).astype(np.float64),
        }
    )


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def file_of(frame: pd.DataFrame, folder: Path, *roles: str) -> Path:
    path = folder / "rows.parquet"
    table = pa.Table.from_pandas(frame[[*LEARNT, *roles]], preserve_index=False)
    pq.write_table(table, path, row_group_size=20_000)
    return path


SHAPE: dict[str, Any] = {"max_bins": 40, "max_depth": 6}
FOREST: dict[str, Any] = SHAPE | {"n_estimators": 3, "random_state": 4}


@pytest.mark.parametrize(
    ("model", "target", "weight"),
    [
        (DecisionTreeClassifier(**SHAPE), "label", None),
        (DecisionTreeClassifier(**SHAPE, criterion="entropy", ccp_alpha=1e-3), "kind", "w"),
        (DecisionTreeRegressor(**SHAPE, cat_penalty=0), "late", "w"),
        (DecisionTreeRegressor(max_bins=300, max_leaf_nodes=12), ["late", "wait"], None),
        (RandomForestClassifier(**FOREST), "label", "w"),
        (RandomForestRegressor(**FOREST, criterion="poisson", max_samples=0.3), "wait", None),
        (ExtraTreesClassifier(**FOREST), "kind", None),
        (ExtraTreesRegressor(**FOREST, bootstrap=True, leaf_dtype="float32"), "late", "w"),
    ],
)
def test_the_model_is_that_of_memory(
    monkeypatch: pytest.MonkeyPatch,
    frame: pd.DataFrame,
    tmp_path: Path,
    model: Any,
    target: Any,
    weight: str | None,
) -> None:
    targets = [target] if isinstance(target, str) else target
    path = file_of(frame, tmp_path, *targets, *([weight] if weight else []))
    given = None if weight is None else frame[weight]
    known = saved(clone(model).fit(frame[LEARNT], frame[target], sample_weight=given), tmp_path / "memory")
    monkeypatch.setattr(statistic, "memory_share", lambda: 1_500_000)  # no whole tree fits
    assert saved(clone(model).fit(str(path), target, sample_weight=weight), tmp_path / "path") == known
    kept = scan(path, folder=tmp_path / "coded")
    for n_threads in (1, 2):
        found = clone(model).set_params(n_jobs=n_threads).fit(kept, target, sample_weight=weight)
        assert saved(found.set_params(n_jobs=None), tmp_path / "scan") == known
        assert found.io_.passes > 2
        assert found.io_.bytes_read > 0
    with open_store(tmp_path / "coded") as store:
        assert saved(clone(model).fit(store, target, sample_weight=weight), tmp_path / "store") == known
    np.testing.assert_array_equal(found.predict(kept), found.predict(frame[LEARNT]))


def test_trees_of_a_forest_share_passes_and_a_store_serves_boosting_too(
    monkeypatch: pytest.MonkeyPatch, frame: pd.DataFrame, tmp_path: Path
) -> None:
    monkeypatch.setattr(statistic, "memory_share", lambda: 20_000_000)
    rows = scan(file_of(frame, tmp_path, "label"), folder=tmp_path / "coded")
    passes = {}
    for n_trees in (1, 8):
        forest = RandomForestClassifier(n_trees, max_bins=255, max_depth=5, random_state=0)
        passes[n_trees] = forest.fit(rows, "label").io_.passes
    assert passes[8] <= passes[1] + 8, "room for branches is shared, levels are passed once"
    before = sorted((tmp_path / "coded").iterdir())
    boosted = XGBClassifier(n_estimators=1, tree_method="hist", max_bin=255).fit(rows, "label")
    assert boosted.io_.bytes_written == 0
    assert sorted((tmp_path / "coded").iterdir()) == before
    told = plan(RandomForestClassifier(20, max_bins=255, max_depth=5), rows)
    assert told.store == "pages"
    assert told.passes == 2 * 5 + 2


def test_trees_are_added_to_a_forest_on_files(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = file_of(frame, tmp_path, "label")
    whole = RandomForestClassifier(**FOREST | {"n_estimators": 4}).fit(path, "label")
    grown = RandomForestClassifier(**FOREST, warm_start=True).fit(path, "label")
    grown.set_params(n_estimators=4).fit(path, "label").set_params(warm_start=False)
    assert saved(grown, tmp_path / "grown") == saved(whole, tmp_path / "whole")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (DecisionTreeClassifier(), "max_bins=None of DecisionTreeClassifier sorts .* Use max_bins=255"),
        (DecisionTreeClassifier(max_bins=9, class_weight="balanced"), "name it as sample_weight"),
        (DecisionTreeClassifier(max_bins=9, prune="cv"), "`prune` .* Use ccp_alpha"),
        (DecisionTreeRegressor(max_bins=9, criterion="absolute_error"), "looks for medians .* Use 'squared"),
        (RandomForestClassifier(2, max_bins=9, oob_score=True), "`oob_score` .* Predict a file"),
        (RandomForestClassifier(2, max_bins=9, feature_combinations=2), "`feature_combinations` .* None"),
    ],
)
def test_what_needs_all_rows_is_refused_with_the_way(
    frame: pd.DataFrame, tmp_path: Path, model: Any, says: str
) -> None:
    path = file_of(frame[:100], tmp_path, "label", "late")
    with pytest.raises(ParameterError, match=says):
        model.fit(path, "label")


def test_roles_are_names_of_columns(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = file_of(frame[:100], tmp_path, "label")
    model = DecisionTreeClassifier(max_bins=9)
    with pytest.raises(DataTypeError, match="the target is the name of a column"):
        model.fit(path, frame["label"][:100])
    with pytest.raises(DataTypeError, match="`sample_weight` of DecisionTreeClassifier is the name"):
        model.fit(path, "label", sample_weight=np.ones(100))
    with pytest.raises(DataError, match=r"no column 'lable'\. Did you mean 'label'"):
        model.fit(path, "lable")
    rows = scan(path, folder=tmp_path / "coded")
    model.fit(rows, "label")
    with pytest.raises(ParameterError, match="built with max_bins=9, and DecisionTreeClassifier asks for 8"):
        DecisionTreeClassifier(max_bins=8).fit(open_store(tmp_path / "coded"), "label")
