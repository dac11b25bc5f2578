"""`weald fit` on rows that stay on disk: when it does so, what it says, and that it learns the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import weald as package
from weald import engine
from weald.cli.commands import weald

N = 70_000  # more than the first rows that columns are looked at in


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x, city = rng.normal(size=N).round(3), rng.choice(["Bern", "Ulm", "Wien"], N)
    label = np.where(x + (city == "Ulm") + rng.normal(size=N) > 0.3, "yes", "no")
    table = pa.table(
        {
            "row": np.arange(N),
            "x": pa.array(x, mask=rng.random(N) < 0.1),
            "city": city,
            "same": np.arange(N) // 69_000,  # the same in the first rows only
            "told": label,
            "w": rng.integers(1, 4, N),
            "g": np.arange(N) // 7,
            "label": pa.array(label, mask=np.arange(N) % 1000 == 7),
            "number": 3 * x + rng.normal(size=N),
        }
    )
    folder = tmp_path_factory.mktemp("shops")
    pq.write_table(table.slice(0, 30_000), folder / "a.parquet")
    pq.write_table(table.slice(30_000), folder / "b.parquet")
    csv.write_csv(table.slice(0, 4_000), folder / "few.csv")
    return folder


def call(*words: object) -> Any:
    return CliRunner().invoke(weald, [str(word) for word in words])


def told(*words: object) -> dict[str, Any]:
    run = call(*words, "--json")
    assert run.exit_code == 0, run.output
    return json.loads(run.output)


FEW = ("--set", "n_estimators=20", "--set", "max_bin=32")


def test_pages_learn_and_test_on_the_rows_that_memory_does(files: Path, tmp_path: Path) -> None:
    asked = ("fit", files / "*.parquet", "--target", "label", "--drop", "number", "--weight", "w", *FEW)
    # Without early stopping the rows trained on are the same too, and so are all scores.
    asked = (*asked, "--set", "early_stopping=none", "--set", "early_stopping_rounds=none", "--keep", "same")
    paged = told(*asked, "--pages", "--model", tmp_path / "pages.weald")
    known = told(*asked, "--no-pages", "--set", "tree_method=hist", "--model", tmp_path / "memory.weald")
    assert paged["scores"] == known["scores"]
    for name in ("task", "rows_without_target", "rows_trained", "rows_tested"):
        assert paged[name] == known[name]
    assert paged["rows_without_target"] == 70
    assert (tmp_path / "pages.weald").read_bytes() == (tmp_path / "memory.weald").read_bytes()
    dropped = {each["column"]: each["what"] for each in paged["columns"] if each["dropped"]}
    assert dropped == {
        "number": "as asked",
        "told": "a copy of the target",
        "w": "weights of the rows",
    }
    assert any("in pages on disk, as asked" in note for note in paged["notes"])


@pytest.mark.lengthy
def test_early_stopping_groups_and_weights_of_labels(files: Path, tmp_path: Path) -> None:
    asked = ("fit", files / "*.parquet", "--target", "label", "--drop", "number", "--drop", "told")
    asked = (*asked, "--group", "g", "--class-weight", "balanced", "--set", "learning_rate=1")
    found = told(*asked, "--pages", "--model", tmp_path / "model.weald")
    model = package.load(tmp_path / "model.weald")
    assert model.best_iteration < 60
    # What is the same in the first rows alone may differ in others.
    assert list(model.feature_names_in_) == ["row", "x", "city", "same", "w"]
    area = next(each for each in found["scores"] if each["name"] == "AUC")
    assert 0.75 < area["low"] < area["value"] < area["high"] < 0.9
    numbers = told(
        "fit", files / "few.csv", "--target", "number", "--drop", "told", "--pages", *FEW, "--order", "row"
    )
    assert next(each for each in numbers["scores"] if each["name"] == "R²")["value"] > 0.5
    assert numbers["rows_tested"] == 800


@pytest.mark.lengthy
def test_large_tables_go_into_pages_by_themselves(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("fit", files / "*.parquet", "--target", "label", "--drop", "number", *FEW)
    assert not any("pages" in note for note in told(*asked)["notes"])
    monkeypatch.setattr(engine, "memory_bytes", lambda: 2_000_000)  # codes of 70,000 × 9 are 630,000 bytes
    run = call(*asked)
    assert run.exit_code == 0, run.output
    assert "in pages on disk: coded they take 630 kB, more than a quarter of memory" in run.output
    assert not any("pages" in note for note in told(*asked, "--no-pages")["notes"])
    notes = told(*asked, "--threshold", "0.5")["notes"]
    assert any("--threshold needs them in memory: leave it out" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "forest"], "use --method xgboost"),
        (["--resample", "over"], "--resample needs them in memory: leave it out"),
        (["--report", "report.html"], "--report needs them in memory"),
        (["--encoding", "cp1252"], "--encoding needs them in memory"),
        (["--set", "tree_method=exact"], "tree_method='hist'"),
    ],
)
def test_what_needs_the_rows_in_memory_is_named(files: Path, words: list[str], said: str) -> None:
    run = call("fit", files / "few.csv", "--target", "label", "--pages", *words)
    assert run.exit_code == 1
    assert said in " ".join(run.output.split()), run.output


def test_the_choice_is_kept_in_a_file_of_options(files: Path, tmp_path: Path) -> None:
    asked = ("fit", files / "few.csv", "--target", "label", *FEW)
    for option, line in (("--pages", "pages = true"), ("--no-pages", "pages = false"), (None, None)):
        config = tmp_path / "fit.toml"
        run = call(*asked, *([option] if option else []), "--write-config", config)
        assert run.exit_code == 0, run.output
        lines = [each for each in config.read_text().splitlines() if each.startswith("pages")]
        assert lines == ([line] if line else [])
        assert call("fit", "--config", config, files / "few.csv").exit_code == 0
