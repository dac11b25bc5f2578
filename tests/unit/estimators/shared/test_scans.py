"""Predictions of files in blocks: those of the table, whatever estimator answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weald
from weald.errors import DataError, DataTypeError, ParameterError
from weald.estimators.shared import blocks

N = 900


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, N), unit="h")
    text = rng.choice(["x", "y", None], N)
    return pd.DataFrame({"a": rng.normal(size=N).round(3), "t": text, "day": day, "id": np.arange(N)})


@pytest.fixture
def files(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "ROWS", 128)
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "x.parquet", row_group_size=200
    )
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path


ESTIMATORS = [
    weald.XGBClassifier(n_estimators=3),
    weald.RandomForestClassifier(n_estimators=3, random_state=0),
    weald.DecisionTreeClassifier(),
    weald.GradientBoostingClassifier(n_estimators=3),
    weald.BaggingClassifier(n_estimators=2, random_state=0),
    weald.AdaBoostClassifier(n_estimators=3, random_state=0),
    weald.VotingClassifier([("tree", weald.DecisionTreeClassifier()), ("other", weald.XGBClassifier())]),
    weald.LogisticRegression(scale=True),
    weald.KNeighborsClassifier(),
    weald.LinearSVC(scale=True),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_answers_of_blocks_are_those_of_the_table(model: Any, frame: pd.DataFrame, files: Path) -> None:
    X = frame[["a", "t", "day"]]
    model.fit(X, np.where(frame["a"] > 0, "yes", "no"))
    for name in ("x.parquet", "x.csv"):
        for method in ("predict", "predict_proba", "decision_function", "apply"):
            if hasattr(model, method):
                answer = getattr(model, method)
                assert np.array_equal(answer(weald.scan(files / name)), answer(X)), (name, method)
        assert np.array_equal(model.predict(str(files / name)), model.predict(X))


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.arrow"])
def test_predictions_go_into_a_file(name: str, frame: pd.DataFrame, files: Path) -> None:
    X = frame[["a", "t", "day"]]
    model = weald.XGBClassifier(n_estimators=3).fit(X, np.where(frame["a"] > 0, "yes", "no"))
    n = model.predict_to(weald.scan(files / "x.parquet"), files / name, probabilities=True, keep=["id"])
    written = weald.read(files / name)
    assert n == written.num_rows == N
    assert written.column_names == ["id", "prediction", "probability_no", "probability_yes"]
    assert written["id"].to_pylist() == list(range(N))
    assert written["prediction"].to_pylist() == model.predict(X).tolist()
    assert np.array_equal(written["probability_yes"].to_numpy(), model.predict_proba(X)[:, 1])


def test_nothing_is_left_of_predictions_that_fail(frame: pd.DataFrame, files: Path) -> None:
    model = weald.XGBRegressor(n_estimators=2).fit(frame[["a", "t"]], frame["a"])
    lacking = files / "lacking.parquet"
    pq.write_table(pa.table({"a": [1.0]}), lacking)
    with pytest.raises(DataError, match=r"lacking.parquet has no column 't'"):
        model.predict_to(lacking, files / "out.parquet")
    assert not list(files.glob("out.parquet*"))
    with pytest.raises(ParameterError, match="no probabilities"):
        model.predict_to(files / "x.csv", files / "out.parquet", probabilities=True)
    with pytest.raises(ParameterError, match="must end in"):
        model.predict_to(files / "x.csv", files / "out.json")
    with pytest.raises(DataTypeError, match="Use predict for a table"):
        model.predict_to(frame, files / "out.parquet")


def test_a_plan_tells_what_a_fit_needs(frame: pd.DataFrame, files: Path) -> None:
    model = weald.XGBRegressor(n_estimators=10, max_depth=3)
    told = weald.plan(model, weald.scan(files / "x.parquet"))
    assert (told.n_rows, told.n_columns, told.store, told.passes) == (N, 4, "pages", 32)
    assert told.bytes_on_disk > N * 4
    assert "rows      in pages" in str(told)
    about = weald.plan(model, files / "x.csv")
    assert abs(about.n_rows - N) < N / 10
    assert weald.plan(model, frame).store == "memory"
    assert weald.plan(weald.RandomForestRegressor(n_estimators=7, max_depth=2), frame).passes == 3


def test_models_of_text_and_sparse_files_are_those_of_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{rng.normal():.3f},{'?' if i % 5 == 0 else i % 17},{'ab'[i % 3 == 0]}" for i in range(3000)]
    (tmp_path / "x.csv").write_text("\n".join(["number,marked,y", *lines]) + "\n")
    entries = (f"{i % 2} {1 + i % 4}:{rng.random():.2f} {6 + i % 3}:1" for i in range(3000))
    (tmp_path / "x.svm").write_text("\n".join(entries) + "\n")
    table, (X, y) = weald.read(tmp_path / "x.csv"), weald.read_libsvm(tmp_path / "x.svm")
    for name, target, rows, labels in (
        ("x.csv", "y", table.drop_columns(["y"]), table["y"]),
        ("x.svm", "target", X, y),
    ):
        model = weald.XGBClassifier(n_estimators=4, max_depth=3, tree_method="hist")
        model.fit(rows, labels).save(tmp_path / "memory.weald")
        model.fit(tmp_path / name, target).save(tmp_path / "files.weald")
        assert model.io_.bytes_read > 0
        assert (tmp_path / "files.weald").read_bytes() == (tmp_path / "memory.weald").read_bytes()
        model.fit(rows, labels)
        assert not hasattr(model, "io_")


def test_where_to_write(files: Path, frame: pd.DataFrame) -> None:
    model = weald.DecisionTreeClassifier(max_depth=2).fit(frame[["a"]], frame["a"] > 0)
    with pytest.raises(DataTypeError, match="name of a file; got 3"):
        model.predict_to(files / "x.csv", 3)  # type: ignore[arg-type]
