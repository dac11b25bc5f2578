"""`XGB*` on scans, paths and stores: the models of tables in memory, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weald import XGBClassifier, XGBRanker, XGBRegressor
from weald.data.scanning.scan import scan
from weald.errors import DataError, DataTypeError, ParameterError
from weald.rows.paged import Store, store_of_scan

PAGE = 65_536
SHAPE = {"n_estimators": 3, "max_depth": 4, "max_bin": 32, "tree_method": "hist"}
APPROX = SHAPE | {"tree_method": "approx"}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = PAGE + 3_000  # two pages
    a = rng.normal(size=n).round(3)
    city = rng.choice([f"city {i}" for i in range(90)], n)
    late = rng.normal(size=n) + a + (city > "city 5")
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.integers(0, 40, n),
            "city": city,
            "late": late,
            "label": np.where(late > 0.5, "late", "on time"),
            "kind": np.digitize(late, [-0.5, 1.0]),
            "w": rng.integers(0, 3, n).astype(np.float64),
            "q": np.sort(rng.integers(0, 4_000, n)),
        }
    )


@pytest.fixture(scope="module")
def files(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    parts = [frame.iloc[:30_000], frame.iloc[30_000:]]
    for i, part in enumerate(parts):
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"part{i}.parquet")
    return folder


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


LEARNT = ["a", "b", "city"]
ROLES = {"late", "label", "kind", "w", "q"}


def files_of(frame: pd.DataFrame, folder: Path, name: str, roles: list[str]) -> Path:
    """A file of the columns to learn from and those that have a role."""
    path = folder / f"{name}.parquet"
    pq.write_table(pa.Table.from_pandas(frame[LEARNT + roles], preserve_index=False), path)
    return path


@pytest.mark.parametrize(
    ("model", "target", "weight"),
    [
        (XGBRegressor(**SHAPE), "late", None),
        (XGBRegressor(**SHAPE, subsample=0.5, grow_policy="lossguide", max_leaves=9), "late", "w"),
        (XGBClassifier(**SHAPE), "label", "w"),
        (XGBClassifier(**SHAPE, booster="dart", rate_drop=0.5), "kind", None),
        (XGBRegressor(**SHAPE, objective="reg:absoluteerror"), "late", "w"),
        (XGBRegressor(**APPROX), "late", "w"),
        (XGBClassifier(**APPROX, subsample=0.5, booster="dart", rate_drop=0.5), "kind", None),
        (XGBClassifier(**APPROX, grow_policy="lossguide", max_leaves=9), "label", "w"),
    ],
)
def test_the_model_is_that_of_memory(
    frame: pd.DataFrame, tmp_path: Path, model: Any, target: str, weight: str | None
) -> None:
    path = files_of(frame, tmp_path, "rows", [target] + ([weight] if weight else []))
    roles = {} if weight is None else {"sample_weight": frame[weight].to_numpy()}
    known = saved(model.fit(frame[LEARNT], frame[target], **roles), tmp_path / "memory.weald")
    found = model.fit(scan(path), target, **({} if weight is None else {"sample_weight": weight}))
    assert saved(found, tmp_path / "pages.weald") == known


def test_paths_and_stores(frame: pd.DataFrame, files: Path, tmp_path: Path) -> None:
    path = files_of(frame, tmp_path, "rows", ["late"])
    model = XGBRegressor(**SHAPE)
    known = saved(model.fit(frame[LEARNT], frame["late"]), tmp_path / "memory.weald")
    assert saved(model.fit(str(path), "late"), tmp_path / "path.weald") == known
    with store_of_scan(scan(path), ["late"], max_bins=32) as store:
        assert saved(model.fit(store, "late"), tmp_path / "store.weald") == known
        with pytest.raises(ParameterError, match="built with max_bins=32"):
            XGBRegressor(**SHAPE | {"max_bin": 16}).fit(store, "late")
    kept = tmp_path / "store"
    assert saved(model.fit(scan(path, folder=kept), "late"), tmp_path / "kept.weald") == known
    assert saved(model.fit(kept, "late"), tmp_path / "again.weald") == known


@pytest.mark.parametrize("method", ["hist", "approx"])
def test_sets_are_measured_alike(frame: pd.DataFrame, tmp_path: Path, method: str) -> None:
    train, test = frame.iloc[:50_000], frame.iloc[50_000:]
    paths = [files_of(part, tmp_path, name, ["label"]) for part, name in ((train, "train"), (test, "test"))]
    boosting = SHAPE | {"n_estimators": 12, "learning_rate": 1.0, "tree_method": method}
    shape = boosting | {"early_stopping_rounds": 2}
    known = XGBClassifier(**shape).fit(
        train[LEARNT],
        train["label"],
        eval_set=[(train[LEARNT], train["label"]), (test[LEARNT], test["label"])],
    )
    whole = scan(paths[0])
    sets = [(whole, "label"), (scan(paths[1]), "label")]
    found = XGBClassifier(**shape).fit(whole, "label", eval_set=sets)
    assert found.evals_result_ == known.evals_result_
    assert found.best_iteration == known.best_iteration
    in_memory = XGBClassifier(**shape).fit(whole, "label", eval_set=[(test[LEARNT], test["label"])])
    assert in_memory.evals_result_["validation_0"] == known.evals_result_["validation_1"]
    held_out = XGBClassifier(**boosting, early_stopping=sets[1])
    assert held_out.fit(whole, "label").evals_result_["held_out"]


def test_ranking(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = files_of(frame, tmp_path, "rows", ["kind", "q"])
    model = XGBRanker(**SHAPE)
    known = saved(model.fit(frame[LEARNT], frame["kind"], qid=frame["q"].to_numpy()), tmp_path / "a.weald")
    assert saved(model.fit(scan(path), "kind", qid="q"), tmp_path / "b.weald") == known


def test_what_is_wrong_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = files_of(frame, tmp_path, "rows", ["late", "label"])
    source = scan(path)
    regressor = XGBRegressor(**SHAPE)
    with pytest.raises(DataTypeError, match="target is the name of a column"):
        regressor.fit(source, frame["late"])
    with pytest.raises(DataTypeError, match="`sample_weight` of XGBRegressor is the name"):
        regressor.fit(source, "late", sample_weight=np.ones(len(frame)))
    with pytest.raises(DataError, match="no column 'lates'"):
        regressor.fit(source, "lates")
    with pytest.raises(DataTypeError, match=r"eval_set\[0\] of XGBRegressor is in files"):
        regressor.fit(frame[LEARNT], frame["late"], eval_set=[(source, "late")])
    with pytest.raises(ParameterError, match="tree_method='hist' or 'approx'"):
        XGBRegressor(tree_method="exact").fit(source, "late")
    with pytest.raises(ParameterError, match="sample_weight"):
        XGBClassifier(**SHAPE, class_weight="balanced").fit(source, "label")
    for early_stopping in (0.1, "cv"):
        with pytest.raises(ParameterError, match="file of their own"):
            XGBRegressor(**SHAPE, early_stopping=early_stopping).fit(source, "late")


def test_a_store_is_not_closed(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = files_of(frame.iloc[:2_000], tmp_path, "rows", ["late"])
    store: Store = store_of_scan(scan(path), ["late"], max_bins=32)
    model = XGBRegressor(**SHAPE)
    assert model.fit(store, "late").n_rounds_ == model.fit(store, "late").n_rounds_ == 3
