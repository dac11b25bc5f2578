"""The options of `weald fit` and its sisters: what each changes, and what wrong ones say."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, feather, parquet  # noqa: E402

import weald as package  # noqa: E402
from weald.cli.commands import weald  # noqa: E402

N = 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with a rare label, groups and weights, as Parquet, CSV and LIBSVM."""
    rng = np.random.default_rng(0)
    x, city = rng.normal(size=N), rng.choice(["Bern", "Ulm", "Wien"], N)
    label = np.where(x + (city == "Ulm") + 0.7 * rng.normal(size=N) > 1.2, "yes", "no")
    table = pa.table(
        {
            "x": pa.array(x, mask=rng.random(N) < 0.1),
            "city": city,
            "weight": rng.integers(1, 4, N),
            "house": np.arange(N) // 4,
            "label": label,
            "number": 3 * x + rng.normal(size=N),
        }
    )
    place = tmp_path_factory.mktemp("options")
    parquet.write_table(table, place / "t.parquet")
    csv.write_csv(table, place / "t.csv")
    lines = [f"{int(value == 'yes')} 1:{a:.4f} 7:1" for a, value in zip(x, label, strict=True)]
    (place / "t.svm").write_text("\n".join(lines) + "\n")
    return place


def call(*words):
    return CliRunner().invoke(weald, [str(word) for word in words])


def told(*words):
    run = call(*words, "--json")
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


TREE = ("--method", "tree", "--drop", "number")


def test_a_file_of_options_repeats_a_run(folder, tmp_path):
    config, models = tmp_path / "run.toml", [tmp_path / "a.weald", tmp_path / "b.weald"]
    words = ["fit", folder / "t.csv", "--target", "label", *TREE, "--set", "max_depth=3", "--seed", 4]
    words += ["--class-weight", "yes=5", "--group", "house"]
    assert call(*words, "--model", models[0], "--write-config", config).exit_code == 0
    run = call("fit", "--config", config, "--model", models[1])
    assert run.exit_code == 0, run.output
    assert models[0].read_bytes() == models[1].read_bytes()
    params = package.load(models[1]).get_params()
    assert (params["max_depth"], params["class_weight"], params["random_state"]) == (3, {"yes": 5.0}, 4)
    assert told("fit", "--config", config, "--set", "max_depth=1")["method"] == "tree"
    config.write_text("targt = 'label'\n")
    run = call("fit", "--config", config, folder / "t.csv")
    assert run.exit_code == 1
    assert "unknown entry 'targt'. Did you mean 'target'?" in run.output
    config.write_text("target = \n")
    assert "is no TOML" in call("fit", "--config", config, folder / "t.csv").output


def test_weights_and_groups(folder):
    found = told(
        "fit", folder / "t.parquet", "--target", "label", *TREE, "--weight", "weight", "--group", "house"
    )
    assert {each["column"]: each["what"] for each in found["columns"]} == {
        "number": "as asked",
        "weight": "weights of the rows",
        "house": "groups of rows",
    }
    run = call("fit", folder / "t.parquet", "--target", "label", "--weight", "city")
    assert "weights in column 'city' must be numbers" in run.output
    run = call("fit", folder / "t.parquet", "--target", "label", "--method", "knn", "--weight", "weight")
    assert (run.exit_code, "takes no weights" in run.output) == (1, True)


def test_class_weights_resampling_and_thresholds(folder, tmp_path):
    path = tmp_path / "m.weald"
    words = ["fit", folder / "t.parquet", "--target", "label", *TREE, "--model", path]
    call(*words, "--class-weight", "balanced")
    assert package.load(path).get_params()["class_weight"] == "balanced"
    assert call(*words, "--resample", "smote", "--threshold", "f1").exit_code == 0
    model = package.load(path)
    assert (type(model).__name__, type(model.estimator_).__name__) == ("Thresholded", "Resampled")
    call(*words, "--threshold", "0.9")
    assert package.load(path).threshold_ == 0.9
    for option, value, message in (
        ("--class-weight", "maybe=2", "The labels are 'no', 'yes'"),
        ("--class-weight", "yes=x", "must be a number from 0 on"),
        ("--resample", "smot", "Did you mean 'smote'?"),
        ("--threshold", "f2", "best for: balanced_accuracy or f1"),
    ):
        run = call(*words, option, value)
        assert (run.exit_code, message in run.output) == (1, True), run.output
    run = call("fit", folder / "t.parquet", "--target", "number", "--resample", "smote")
    assert "--resample is for labels" in run.output


@pytest.mark.parametrize(("target", "columns"), [("number", ["low_0.8", "high_0.8"]), ("label", ["set_0.8"])])
def test_intervals(folder, tmp_path, target, columns):
    path, out = tmp_path / "m.weald", tmp_path / "o.parquet"
    other = {"number": "label", "label": "number"}[target]
    words = ["fit", folder / "t.csv", "--target", target, "--drop", other, "--method", "tree"]
    assert call(*words, "--model", path, "--intervals").exit_code == 0
    run = call("predict", path, folder / "t.csv", "--interval", 0.8, "-o", out)
    assert run.exit_code == 0, run.output
    found, truth = parquet.read_table(out), parquet.read_table(folder / "t.parquet")[target].to_pylist()
    assert found.column_names == ["prediction", *columns]
    if target == "number":
        low, high = (found[name].to_numpy() for name in columns)
        inside = np.mean((low <= truth) & (truth <= high))
    else:
        inside = np.mean(
            [each in there for each, there in zip(truth, found[columns[0]].to_pylist(), strict=True)]
        )
    assert inside > 0.75
    call(*words, "--model", path)
    run = call("predict", path, folder / "t.csv", "--interval", 0.8)
    assert "gives no intervals" in run.output
    assert "--intervals" in run.output


def test_contributions_add_up(folder, tmp_path):
    path, out = tmp_path / "m.weald", tmp_path / "o.arrow"
    words = ["fit", folder / "t.csv", "--target", "number", "--drop", "label", "--method", "tree"]
    call(*words, "--model", path)
    assert call("predict", path, folder / "t.csv", "--explain", "-o", out).exit_code == 0
    found = feather.read_table(out)
    parts = np.sum(
        [found[name].to_numpy() for name in found.column_names if name.startswith("explain_")], axis=0
    )
    assert np.allclose(parts, found["prediction"].to_numpy())
    told_of = told("explain", path, folder / "t.csv", "--row", 3)
    assert np.isclose(told_of["sum"], found["prediction"][2].as_py())
    assert told("explain", path)["columns"][0]["column"] == "x"
    assert told("explain", path, folder / "t.csv")["columns"][0]["column"] == "x"
    assert "x" in call("explain", path, folder / "t.csv", "--row", 3).output
    run = call("explain", path, folder / "t.csv", "--row", 999)
    assert (run.exit_code, "There is no row 999" in run.output) == (1, True)


def test_libsvm_all_the_way(folder, tmp_path):
    path = tmp_path / "m.weald"
    run = call("fit", folder / "t.svm", "--method", "logistic", "--model", path)
    assert run.exit_code == 0, run.output
    run = call("predict", path, folder / "t.svm")
    assert len(run.output.splitlines()) == N + 1
    assert told("evaluate", path, folder / "t.svm")["scores"][0]["value"] > 0.6
    assert told("info", path)["n_columns"] == 7
    run = call("predict", path, folder / "t.csv")
    assert "trained on 7 columns without names" in run.output
    run = call("fit", folder / "t.svm", "--target", "x")
    assert "Leave --target out" in run.output
    (tmp_path / "wide.svm").write_text("1 9:1\n")
    run = call("predict", path, tmp_path / "wide.svm")
    assert "a value in column 9; the model was trained on 7 columns" in run.output
    (tmp_path / "bad.svm").write_text("1 1:0.5\n0 1:zwei\n")
    run = call("fit", tmp_path / "bad.svm")
    assert "`target column:value …`, line 2" in run.output


def test_tuning_goes_on_where_it_was(folder, tmp_path):
    state, config = tmp_path / "scores.jsonl", tmp_path / "best.toml"
    words = ["tune", folder / "t.csv", "--target", "label", *TREE, "--trials", 6, "--state", state]
    first = told(*words, "--write-config", config)
    assert (first["known"], first["fits"] > 18) == (0, True)
    lines = state.read_text().splitlines()
    state.write_text("\n".join(lines[:8]) + '\n["half a li')
    again = told(*words)
    assert (again["known"], again["fits"]) == (7, first["fits"] - 7)
    assert (again["best"], again["scores"]) == (first["best"], first["scores"])
    assert told("fit", "--config", config)["scores"] == first["scores"]
    run = call(*words, "--seed", 1)
    assert "the scores of another search: seed was 0 and is 1" in run.output
    run = call("tune", folder / "t.csv", "--target", "label", "--method", "voting")
    assert "has nothing to be tuned" in run.output


def test_reports(folder, tmp_path):
    page = tmp_path / "r.html"
    run = call("fit", folder / "t.csv", "--target", "label", *TREE, "--report", page)
    assert run.exit_code == 0, run.output
    assert f"report    {page}" in run.output
    assert page.read_text().lower().startswith("<!doctype html>")


def test_compare_draws_rows_of_large_tables(folder):
    words = ["compare", folder / "t.csv", "--target", "label", "--drop", "number", "--method", "tree"]
    board = told(*words, "--rows", 100, "--folds", 2)
    assert (board["n_rows"], board["n_given_rows"]) == (100, N)
    assert "drawn from 240; --rows all takes all." in call(*words, "--rows", 100, "--folds", 2).output
    assert told(*words, "--rows", "all", "--folds", 2)["n_rows"] == N
    assert "--rows takes a number" in call(*words, "--rows", "many").output
