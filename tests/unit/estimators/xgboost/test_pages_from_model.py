"""`XGB*` that go on from a model, on rows in files: the models of memory, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from weald import XGBClassifier, XGBRanker, XGBRegressor, open_store, read, scan
from weald.errors import DataError

PAGE = 65_536
N = PAGE + 2_000  # two pages
SHAPE = {"n_estimators": 3, "max_depth": 4, "max_bin": 32, "tree_method": "hist"}
LEARNT = ["a", "b", "city", "size"]


def rows(seed: int, cities: list[str], n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n).round(3) + seed
    city = rng.choice(cities, n)
    late = a + rng.normal(size=n) + (city > "city 2")
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.integers(0, 40, n),
            "city": city,
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "late": late,
            "label": np.where(late > 0.5, "late", "on time"),
            "kind": np.digitize(late, [0.5, 2.0]),
            "w": rng.integers(0, 3, n).astype(np.float64),
            "q": np.sort(rng.integers(0, n // 20, n)),
        }
    )


@pytest.fixture(scope="module")
def old() -> pd.DataFrame:
    return rows(0, [f"city {i}" for i in range(6)], 3_000)


@pytest.fixture(scope="module")
def new() -> pd.DataFrame:
    """Other numbers, and categories: one is gone, two were never seen."""
    return rows(1, [f"city {i}" for i in (*range(1, 6), 7, 8)])


def file_of(frame: pd.DataFrame, path: Path, roles: list[str]) -> Path:
    pq.write_table(pa.Table.from_pandas(frame[[*LEARNT, *roles]], preserve_index=False), path)
    return path


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("model", "target", "roles"),
    [
        (XGBRegressor(**SHAPE), "late", {}),
        (XGBRegressor(**SHAPE, objective="reg:absoluteerror"), "late", {"sample_weight": "w"}),
        (XGBClassifier(**SHAPE), "label", {"sample_weight": "w"}),
        (XGBClassifier(**SHAPE, booster="dart", rate_drop=0.5, max_cat_to_onehot=9), "kind", {}),
        (XGBRanker(**SHAPE, grow_policy="lossguide", max_leaves=9), "kind", {"qid": "q"}),
    ],
)
@pytest.mark.parametrize("how", ["exact", "hist"])
def test_the_model_is_that_of_memory(
    old: pd.DataFrame, new: pd.DataFrame, tmp_path: Path, model: Any, target: str, roles: Any, how: str
) -> None:
    path = file_of(new, tmp_path / "rows.parquet", [target, *roles.values()])
    of_old = {role: old[name].to_numpy() for role, name in roles.items()}
    of_new = {role: new[name].to_numpy() for role, name in roles.items()}
    start = type(model)(**model.get_params() | {"tree_method": how, "max_bin": None})
    start.fit(old[LEARNT], old[target], **of_old)
    known = saved(model.fit(new[LEARNT], new[target], xgb_model=start, **of_new), tmp_path / "memory.weald")
    found = saved(model.fit(scan(path), target, xgb_model=start, **roles), tmp_path / "pages.weald")
    assert found == known
    assert model.n_rounds_ == 6


def test_sets_start_from_the_model_too(old: pd.DataFrame, new: pd.DataFrame, tmp_path: Path) -> None:
    whole, other = (
        scan(file_of(frame, tmp_path / f"{name}.parquet", ["late"]))
        for name, frame in (("train", new), ("test", old))
    )
    start = XGBRegressor(n_estimators=4, max_depth=3).fit(old[LEARNT], old["late"])
    shape = SHAPE | {"booster": "dart", "rate_drop": 0.6, "n_estimators": 4}
    tables = [(new[LEARNT], new["late"]), (old[LEARNT], old["late"])]
    known = XGBRegressor(**shape).fit(*tables[0], eval_set=tables, xgb_model=start)
    files = [(whole, "late"), (other, "late")]
    found = XGBRegressor(**shape).fit(whole, "late", eval_set=files, xgb_model=start)
    assert found.evals_result_ == known.evals_result_
    held_out = XGBRegressor(**shape, early_stopping=files[1]).fit(whole, "late", xgb_model=start)
    assert held_out.evals_result_["held_out"] == known.evals_result_["validation_1"]


def test_stores(old: pd.DataFrame, new: pd.DataFrame, tmp_path: Path) -> None:
    path, folder = file_of(new, tmp_path / "rows.parquet", ["late"]), tmp_path / "store"
    kept = scan(path, folder=folder)
    shape = SHAPE | {"n_estimators": 6, "booster": "dart", "rate_drop": 0.3, "max_cat_to_onehot": 9}
    first = XGBRegressor(**shape).fit(kept, "late")
    model = XGBRegressor(**shape)
    known = saved(model.fit(new[LEARNT], new["late"], xgb_model=first), tmp_path / "memory.weald")
    other = XGBRegressor(n_estimators=1).fit(old[LEARNT], old["late"])
    exact = XGBRegressor(n_estimators=1, tree_method="exact").fit(new[LEARNT], new["late"])
    with open_store(folder) as store:  # the trees of `first` split at cuts of the store: its codes will do
        assert saved(model.fit(store, "late", xgb_model=first), tmp_path / "store.weald") == known
        with pytest.raises(DataError, match="columns of the store, or their categories"):
            model.fit(store, "late", xgb_model=other)
        with pytest.raises(DataError, match="which is no cut of the store"):
            model.fit(store, "late", xgb_model=exact)
    assert saved(model.fit(kept, "late", xgb_model=first), tmp_path / "folder.weald") == known
    known = saved(model.fit(new[LEARNT], new["late"], xgb_model=exact), tmp_path / "memory.weald")
    assert saved(model.fit(kept, "late", xgb_model=exact), tmp_path / "folder.weald") == known
    with pytest.raises(DataError, match="other settings"):
        model.fit(kept, "late", xgb_model=other)
    own = scan(path, folder=tmp_path / "own")
    known = saved(model.fit(new[LEARNT], new["late"], xgb_model=other), tmp_path / "memory.weald")
    for _ in range(2):  # built, and opened again
        assert saved(model.fit(own, "late", xgb_model=other), tmp_path / "own.weald") == known


def test_text_and_sparse_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    n = 1_500
    X = sparse.random(n, 12, density=0.2, random_state=0, format="csr")
    X.data = np.round(X.data * 9)
    y = np.round(X.toarray()[:, 0] + rng.normal(size=n), 2)
    start = XGBRegressor(n_estimators=3).fit(X, y)
    narrow = X[:, :9]  # no row of the file has the last columns
    dump_svmlight_file(narrow, y, str(tmp_path / "rows.svm"))
    wide = sparse.csr_matrix((narrow.data, narrow.indices, narrow.indptr), X.shape)
    model = XGBRegressor(**SHAPE)
    known = saved(model.fit(wide, y, xgb_model=start), tmp_path / "memory.weald")
    found = model.fit(scan(tmp_path / "rows.svm"), "target", xgb_model=start)
    assert saved(found, tmp_path / "pages.weald") == known

    table = pd.DataFrame({"a": rng.integers(0, 9, n).astype(object), "b": X.toarray()[:, 1], "y": y})
    first = XGBRegressor(n_estimators=3).fit(table[["a", "b"]].astype(float), y)
    table.loc[n - 1, "a"] = 2.5  # a whole number until the last row
    table.to_csv(tmp_path / "rows.csv", index=False)
    known_table = read(tmp_path / "rows.csv")
    model.fit(known_table.drop_columns(["y"]), known_table["y"], xgb_model=first)
    known = saved(model, tmp_path / "memory.weald")
    for _ in range(2):  # built, and opened again, when the types of columns are not known yet
        kept = scan(tmp_path / "rows.csv", folder=tmp_path / "coded")
        assert saved(model.fit(kept, "y", xgb_model=first), tmp_path / "pages.weald") == known
