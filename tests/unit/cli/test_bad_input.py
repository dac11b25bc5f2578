"""Bad input, item by item: the message, the exit code, and that no file is left half written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, parquet  # noqa: E402

from weald.cli.commands import weald  # noqa: E402

TABLE = pa.table(
    {
        "id": [f"r{i}" for i in range(80)],
        "x": np.arange(80) % 7 + np.arange(80) / 100,
        "one": ["a"] * 80,
        "none": pa.nulls(80, pa.float64()),
        "y": ["no", "yes"] * 40,
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(TABLE, "t.csv")
    call("fit", "t.csv", "--target", "y", "--method", "tree", "--model", "m.weald")
    return tmp_path


def call(*words):
    return CliRunner().invoke(weald, [str(word) for word in words])


def start(*words, **more):
    command = [sys.executable, "-m", "weald", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize(
    ("content", "words", "code", "message"),
    [
        (None, ["fit", "t.csv", "--target", "Y"], 1, "no column 'Y'. Did you mean 'y'?"),
        (None, ["fit", "t.csv", "--target", "one"], 1, "'one' has 1 value; there is nothing to learn"),
        (None, ["fit", "t.csv", "--target", "none"], 1, "'none' has no values; there is nothing to learn"),
        (None, ["fit", "t.csv", "--target", "id"], 1, "80 different values in 80 rows: it names rows"),
        (None, ["fit", "t.csv", "--target", "y", "--method", "xgbost"], 1, "Did you mean 'xgboost'?"),
        (None, ["fit", "t.csv", "--target", "y", "--drop", "x"], 1, "No column is left to learn from"),
        (None, ["fit", "t.csv", "--target", "y", "--encoding", "utf-99"], 1, "no encoding 'utf-99'"),
        (None, ["fit", "t.csv", "--target", "y", "--test-share", "2"], 2, "2.0 is not in the range"),
        (None, ["fit", "t.csv", "--target", "y", "--sed", "2"], 2, "No such option"),
        ("a,y\n", ["fit", "b.csv", "--target", "y"], 1, "no rows: there is nothing to learn from"),
        ("a,y\n1,2\n", ["fit", "b.csv", "--target", "y"], 1, "'y' has 1 value"),
        ("a,y\n1,no\n2,yes\n", ["fit", "b.csv", "--target", "y"], 1, "2 rows are too few"),
        (
            "a,y\n1,2\n\n3,4,5\n",
            ["fit", "b.csv", "--target", "y"],
            1,
            "line 4: 3 fields where the others have 2",
        ),
        ("PAR1\x00\x00", ["fit", "b.csv", "--target", "y"], 1, "is named as CSV, but holds Parquet"),
        ("a,y\n1,inf\n2,3\n", ["fit", "b.csv", "--target", "y"], 1, "is infinite in row 1"),
        ("x\n1\n", ["predict", "m.weald", "b.csv", "-o", "o.xlsx"], 1, "must end in .csv, .parquet"),
        ("z\n1\n", ["predict", "m.weald", "b.csv"], 1, "no column 'x', which the model was trained on"),
        ("x\n1\n2,3\n", ["predict", "m.weald", "b.csv"], 1, "line 3: 2 fields where the others have 1"),
        (
            "x\n1\nfar\n",
            ["predict", "m.weald", "b.csv"],
            1,
            "column 'x' holds 'far', where the model learned",
        ),
        ("x\n", ["predict", "m.weald", "b.csv"], 1, "no rows: there is nothing to predict"),
        (
            "x,y\n1,maybe\n2,never\n1,never\n2,maybe\n",
            ["evaluate", "m.weald", "b.csv", "--target", "y"],
            1,
            "none of them",
        ),
        ("x\n1\n", ["predict", "t.csv", "b.csv"], 1, "model file"),
        (None, ["predict", "m.weald", "t.csv", "-o", "no/o.csv"], 74, "folder does not exist"),
        (
            None,
            ["fit", "t.csv", "--target", "y", "--method", "tree", "--model", "no/m.weald"],
            74,
            "folder does not exist",
        ),
        (
            None,
            ["fit", "t.csv", "--target", "y", "--model", "a", "--report", "./a"],
            1,
            "Two files are to be written to",
        ),
    ],
)
def test_messages_and_exit_codes(folder, content, words, code, message):
    if content is not None:
        (folder / "b.csv").write_text(content)
    there = sorted(each.name for each in folder.iterdir())
    run = call(*words)
    assert (run.exit_code, message in run.output) == (code, True), run.output
    assert "Traceback" not in run.output
    assert sorted(each.name for each in folder.iterdir()) == there


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "--model"],
        ["fit", "--report"],
        ["fit", "--write-config"],
        ["compare", "--report"],
        ["tune", "--state"],
        ["tune", "--model"],
        ["tune", "--report"],
        ["tune", "--write-config"],
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(folder, monkeypatch, words):
    def work(*_):
        raise AssertionError("the work has begun")

    for command in ("fit", "compare", "tune"):
        monkeypatch.setattr(f"weald.cli.{command}.gather", work)
    command, option = words
    (folder / "inside").mkdir()
    for path, message in (("no/o", "its folder does not exist"), ("inside", "it is a folder")):
        run = call(command, "t.csv", "--target", "y", option, path)
        assert (run.exit_code, f"{path}: {message}" in run.output) == (74, True), run.output
    (folder / "old").write_text("old")
    run = call(command, "t.csv", "--target", "y", option, "old")
    assert "the work has begun" in run.output
    assert (folder / "old").read_text() == "old"


def test_text_where_a_regressor_learned_numbers(folder):
    csv.write_csv(pa.table({"x": np.arange(80) % 9, "y": np.arange(80) / 7}), "n.csv")
    call("fit", "n.csv", "--target", "y", "--method", "tree", "--model", "n.weald")
    (folder / "b.csv").write_text("x,y\n1,2.5\n2,many\n")
    parquet.write_table(pa.table({"x": [1, 2], "y": ["2.5", "many"]}), "b.parquet")
    for data, message in (
        ("b.csv", "b.csv: column 'y' holds 'many', where the model learned numbers."),
        ("b.parquet", "'y' holds string, such as '2.5', and no numbers"),
    ):
        run = call("evaluate", "n.weald", data, "--target", "y")
        assert (run.exit_code, message in run.output) == (1, True), run.output
    parquet.write_table(pa.table({"x": range(40), "y": [f"{i}.5" for i in range(40)]}), "b.parquet")
    assert call("evaluate", "n.weald", "b.parquet", "--target", "y").exit_code == 0


def test_a_bug_is_told_as_one(folder, monkeypatch):
    monkeypatch.setattr("weald.cli.info.describe", lambda path: 1 / 0)
    run = call("info", "m.weald")
    assert (run.exit_code, "This is a bug of weald's (ZeroDivisionError)" in run.output) == (70, True)


@pytest.mark.lengthy
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(folder):
    for words in (["predict", "m.weald", "t.csv", "-o", "full.csv"], ["info", "m.weald"]):
        if "-o" in words:
            os.symlink("/dev/full", "full.csv")
            run = start(*words)
        else:
            with open("/dev/full", "w") as full:
                run = subprocess.Popen(
                    [sys.executable, "-m", "weald", *words], stdout=full, stderr=subprocess.PIPE, text=True
                )
        _, error = run.communicate()
        assert (run.returncode, "the disk is full" in error) == (74, True), error
        assert "Traceback" not in error
        assert "Exception" not in error


@pytest.mark.lengthy
def test_a_file_that_may_not_grow(folder):
    """As on a full disk, a part is written before it fails; an old file stays as it was."""
    parquet.write_table(pa.concat_tables([TABLE] * 500), "long.parquet")
    (folder / "o.csv").write_text("old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    run = start("predict", "m.weald", "long.parquet", "--copy", "-o", "o.csv", preexec_fn=limit)
    _, error = run.communicate()
    assert (run.returncode, "larger than is allowed" in error) == (74, True), error
    assert (folder / "o.csv").read_text() == "old"
    assert not [each.name for each in folder.iterdir() if each.name.startswith(".")]


@pytest.mark.lengthy
def test_an_interrupt(folder):
    """Standard input that never ends keeps the command waiting where it is."""
    run = start("fit", "-", "--target", "y", "--model", "i.weald", stdin=subprocess.PIPE)
    run.stdin.write("a,y\n1,2\n")
    run.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _has_read(run.pid):
        time.sleep(0.2)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert (run.returncode, "interrupted" in error) == (130, True), error
    assert "Traceback" not in error
    assert not (folder / "i.weald").exists()


def _has_read(pid):
    """Whether the process has loaded what it reads files with."""
    with open(f"/proc/{pid}/maps") as maps:
        return "libarrow" in maps.read()


@pytest.mark.lengthy
def test_no_bar_and_no_colour_where_nobody_sees_them(folder):
    environment = {**os.environ, "NO_COLOR": "1"}
    words = ["compare", "t.csv", "--target", "y", "--method", "tree", "--folds", "2"]
    output, error = start(*words, env=environment).communicate()
    assert "tree" in output
    assert error == ""
    assert "\x1b" not in output


@pytest.mark.lengthy
def test_prediction_within_a_limit_on_address_space(folder):
    """As by `ulimit -v`: a file of ten times what may be taken beyond what a smaller one took.

    Nothing else is set: threads and pools, which reserve address space, are the command's own affair.
    """
    block = "".join(f"{i % 7}.5,{'z' * 400}\n" for i in range(20_000))
    sizes = {"short.csv": 5, "long.csv": 50}
    for name, n_blocks in sizes.items():
        with open(name, "w") as file:
            file.write("x,note\n")
            for _ in range(n_blocks):
                file.write(block)
    code = (
        "import resource\n"
        "from weald.cli.commands import weald\n"
        "def predict(data):\n"
        "    weald(['predict', 'm.weald', data, '-o', 'o.parquet'], standalone_mode=False)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 33, resource.RLIM_INFINITY))\n"
        "predict('short.csv')\n"
        "lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        f"most = 1024 * int(lines['VmPeak'].split()[0]) + {os.path.getsize('long.csv') // 10}\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))\n"
        "predict('long.csv')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert parquet.read_metadata("o.parquet").num_rows == sizes["long.csv"] * 20_000
