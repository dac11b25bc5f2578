"""From a file to a model by the command line: what it finds, what it says, how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

import weald as package  # noqa: E402
from weald.cli.commands import weald  # noqa: E402
from weald.runs.methods import METHODS, make  # noqa: E402

N = 300


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A table with an id, a constant, a copy of the target, gaps, and labels that two columns tell."""
    rng = np.random.default_rng(0)
    x, city = rng.normal(size=N), rng.choice(["Bern", "Ulm", "Wien"], N)
    label = np.where(x + (city == "Ulm") + 0.7 * rng.normal(size=N) > 0.3, "yes", "no")
    table = pa.table(
        {
            "row": np.arange(N),
            "x": pa.array(x, mask=rng.random(N) < 0.1),
            "city": city,
            "same": ["a"] * N,
            "told": label,
            "day": np.arange(N)[::-1] // 3,
            "label": label,
            "number": 3 * x + rng.normal(size=N),
        }
    )
    path = tmp_path_factory.mktemp("shops") / "shops.parquet"
    parquet.write_table(table, path)
    return path


def call(*words):
    return CliRunner().invoke(weald, [str(word) for word in words])


@pytest.fixture(scope="module")
def model(shops):
    path = shops.parent / "model.weald"
    run = call("fit", shops, "--target", "label", "--drop", "number", "--model", path)
    assert run.exit_code == 0, run.output
    return path


def test_fit_says_what_it_found_and_how_well_it_does(shops):
    run = call("fit", shops, "--target", "label", "--drop", "number", "--json")
    assert run.exit_code == 0, run.output
    told = json.loads(run.output)
    assert (told["task"], told["rows_trained"], told["rows_tested"]) == ("classification", 240, 60)
    dropped = {each["column"]: each["what"] for each in told["columns"] if each["dropped"]}
    assert dropped == {
        "number": "as asked",
        "row": "numbers the rows",
        "same": "the same in every row",
        "told": "a copy of the target",
    }
    area = next(each for each in told["scores"] if each["name"] == "AUC")
    assert 0.7 < area["low"] < area["value"] < area["high"] <= 1
    assert area["baseline"] == 0.5


def test_the_same_run_gives_the_same_bytes(shops, tmp_path, model):
    again = tmp_path / "again.weald"
    call("fit", shops, "--target", "label", "--drop", "number", "--model", again, "--threads", 1)
    assert again.read_bytes() == model.read_bytes()


def test_a_suspect_is_named_and_kept(tmp_path):
    x = np.random.default_rng(0).normal(size=400)
    path = tmp_path / "t.csv"
    lines = "\n".join(f"{value},{2 * value},{int(value > 0)}" for value in x)
    path.write_text(f"a,b,y\n{lines}\n")
    told = json.loads(call("fit", path, "--target", "y", "--json").output)
    assert [(each["column"], each["dropped"]) for each in told["columns"]] == [("a", False), ("b", False)]
    assert "alone it predicts the target" in told["columns"][0]["what"]


def test_a_regression_and_a_test_in_order(shops):
    told = json.loads(call("fit", shops, "--target", "number", "--order", "day", "--json").output)
    assert told["task"] == "regression"
    assert [each["name"] for each in told["scores"]] == ["R²", "RMSE", "MAE"]
    rmse = told["scores"][1]
    assert rmse["low"] < rmse["value"] < rmse["high"] < rmse["baseline"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_method_has_its_estimators(method, task):
    if task == "regression" and method in {"balanced-forest", "logistic"}:
        with pytest.raises(package.errors.ParameterError, match="learns labels, not numbers"):
            make(method, task)
        return
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b") if task == "classification" else X[:, 0]
    estimator = make(method, task, threads=1)
    few = {"n_estimators": 3} if "n_estimators" in estimator.get_params() else {}
    assert len(estimator.set_params(**few).fit(X, y).predict(X)) == 60


def test_predict_writes_what_the_model_says(shops, model, tmp_path):
    out = tmp_path / "out.parquet"
    run = call("predict", model, shops, "-o", out, "--proba", "--copy")
    assert run.exit_code == 0, run.output
    assert "300 rows" in run.output
    found, rows = parquet.read_table(out), parquet.read_table(shops)
    estimator = package.load(model)
    X = rows.select(list(estimator.feature_names_in_))
    assert found["prediction"].to_pylist() == estimator.predict(X).tolist()
    assert np.array_equal(found["probability_yes"], estimator.predict_proba(X)[:, 1])
    assert found.column_names[:8] == rows.column_names


def test_predict_of_text_in_batches_is_that_of_the_whole(shops, model, tmp_path, monkeypatch):
    from pyarrow import csv

    rows = parquet.read_table(shops)
    csv.write_csv(pa.concat_tables([rows] * 200), tmp_path / "long.csv")
    run = call("predict", model, tmp_path / "long.csv")
    assert run.exit_code == 0, run.output[-300:]
    lines = run.output.splitlines()
    estimator = package.load(model)
    expected = estimator.predict(rows.select(list(estimator.feature_names_in_))).tolist()
    assert [line.strip('"') for line in lines[1:]] == expected * 200


def test_evaluate(shops, model):
    run = call("evaluate", model, shops, "--target", "label", "--json")
    assert run.exit_code == 0, run.output
    told = json.loads(run.output)
    assert told["rows"] == N
    assert told["scores"][0]["name"] == "AUC"
    assert "AUC" in call("evaluate", model, shops, "--target", "label").output


def test_evaluate_of_two_rows_tells_scores_without_intervals(tmp_path):
    numbers = np.arange(60.0)
    table = pa.table({"a": numbers})
    package.DecisionTreeRegressor().fit(table, numbers).save(tmp_path / "m.weald")
    (tmp_path / "two.csv").write_text("a,y\n1.0,1.5\n2.0,2.0\n")
    told = call("evaluate", tmp_path / "m.weald", tmp_path / "two.csv", "--target", "y")
    assert told.exit_code == 0
    assert "R²: The rows (2) are too few for an interval; give more." in told.output
    asked = call("evaluate", tmp_path / "m.weald", tmp_path / "two.csv", "--target", "y", "--json")
    first = json.loads(asked.output)["scores"][0]
    assert (first["low"], first["high"]) == (None, None)


def test_evaluate_of_rows_of_one_label_tells_accuracy(tmp_path):
    numbers = np.arange(60.0)
    labels = np.where(numbers < 30, "low", "high")
    package.DecisionTreeClassifier().fit(pa.table({"a": numbers}), labels).save(tmp_path / "m.weald")
    (tmp_path / "one.csv").write_text("a,y\n1.0,low\n2.0,low\n50.0,low\n")
    run = call("evaluate", tmp_path / "m.weald", tmp_path / "one.csv", "--target", "y", "--json")
    assert run.exit_code == 0, run.output
    scores = {each["name"]: each["value"] for each in json.loads(run.output)["scores"]}
    assert scores == {"accuracy": pytest.approx(2 / 3)}


def test_compare_ranks_methods(shops):
    words = ["compare", shops, "--target", "label", "--drop", "number", "--folds", 3]
    chosen = ["--method", "tree", "--method", "logistic", "--method", "linear-svm"]
    run = call(*words, *chosen, "--json")
    assert run.exit_code == 0, run.output
    told = json.loads(run.output)
    scores = [each["score"] for each in told["places"]]
    assert scores == sorted(scores, reverse=True)
    assert {each["method"] for each in told["places"]} == {"tree", "logistic", "linear-svm"}
    assert told["places"][0]["p_value"] is None
    assert 0 <= told["places"][2]["p_value"] <= 1
    assert all(each["low"] <= each["score"] <= each["high"] for each in told["places"])
    assert "Take" in (out := call(*words, *chosen).output) or "scores best" in out


def test_compare_in_python():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    board = package.compare(X, y, folds=2, n_jobs=1, methods=["tree", "knn"])
    assert board.metric == "R²"
    assert "tree" in str(board)
    with pytest.raises(package.errors.ParameterError, match="learns labels"):
        package.compare(X, y, methods=["logistic"])
    with pytest.raises(package.errors.DataError, match="X has 40 rows and y has 39"):
        package.compare(X, y[:-1])
    with pytest.raises(package.errors.DataError, match="99 folds of 40 rows"):
        package.compare(X, y, folds=99)


def test_compare_gives_the_same_for_any_frame(shops):
    pytest.importorskip("pandas")
    rows = parquet.read_table(shops).select(["x", "city", "label"])
    y = rows["label"].to_numpy()
    boards = [package.compare(X, y, methods=["tree"], folds=2) for X in (rows, rows.to_pandas())]
    assert boards[0].places[0].fold_scores == boards[1].places[0].fold_scores


def test_info_reads_the_file_alone(model):
    told = json.loads(call("info", model, "--json").output)
    assert told["kind"] == "XGBClassifier"
    assert told["classes"] == ["no", "yes"]
    assert [each["name"] for each in told["columns"]] == ["x", "city", "day"]
    assert told["parameters"]["learning_rate"] == 0.05
    assert "missing" not in told["parameters"]
    assert "categorical" in call("info", model).output


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["fit", "SHOPS", "--target", "lable"], 1, "no column 'lable'. Did you mean 'label'?"),
        (["fit", "SHOPS", "--target", "same"], 1, "'same' has 1 value; there is nothing to learn"),
        (["fit", "SHOPS", "--target", "label", "--method", "forrest"], 1, "Did you mean 'forest'?"),
        (["fit", "SHOPS", "--target", "label", "--set", "max_dept=3"], 1, "did you mean `max_depth`?"),
        (["fit", "SHOPS", "--target", "label", "--set", "max_depth"], 1, "--set takes name=value"),
        (["fit", "SHOPS", "--target", "label", "--drop", "citty"], 1, "Did you mean 'city'?"),
        (["fit", "SHOPS", "--target", "label", "--task", "regression"], 1, "cannot be a regression"),
        (["fit", "SHOPS", "--target", "label", "--weight", "x"], 1, "missing values; its role needs all"),
        (["fit", "SHOPS"], 1, "Name the target (--target on the command line); there are 'row'"),
        (["fit", "nowhere.csv", "--target", "y"], 1, "There is no file nowhere.csv"),
        (["predict", "MODEL", "SHOPS", "-o", "out.xlsx"], 1, "must end in .csv, .parquet"),
        (["predict", "SHOPS", "SHOPS"], 1, "model file"),
        (["info", "nowhere.weald"], 74, "No such file"),
    ],
)
def test_failures_are_one_line(shops, model, words, code, message):
    paths = {"SHOPS": shops, "MODEL": model}
    run = call(*(paths.get(word, word) for word in words))
    assert run.exit_code == code, run.output
    assert message in run.output
    assert "Traceback" not in run.output


def test_a_table_of_other_columns_names_the_first_that_is_absent(model, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("x,town\n1,Bern\n")
    run = call("predict", model, path, "-o", tmp_path / "out.csv")
    assert run.exit_code == 1
    assert "no column 'city', which the model was trained on, and lacks 1 more of its 3: 'day'" in run.output
    assert not list(tmp_path.glob("*out*")), "nothing is left of a file that was not finished"


@pytest.mark.lengthy
def test_a_closed_pipe_is_no_error(model, shops, tmp_path):
    rows = parquet.read_table(shops)
    parquet.write_table(pa.concat_tables([rows] * 500), tmp_path / "long.parquet")
    command = f"'{sys.executable}' -m weald predict '{model}' '{tmp_path / 'long.parquet'}' | head -1"
    run = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert run.stdout == '"prediction"\n'
    assert run.stderr == ""
