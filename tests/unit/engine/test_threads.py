"""The engine's own functions: thread count, instruction sets, logarithms, infinite values."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from weald import engine
from weald.data.codes import encode
from weald.data.table import NumericColumn, Table
from weald.engine import threads
from weald.errors import DataError, ParameterError

# threads


@pytest.fixture
def eight_processors(monkeypatch):
    monkeypatch.setattr(threads, "_available_processors", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.usefixtures("eight_processors")
@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, 8), (1, 1), (3, 3), (100, 100), (-1, 8), (-2, 7), (-8, 1), (-9, 1), (-100, 1)],
)
def test_thread_count(n_jobs, threads):
    assert engine.thread_count(n_jobs) == threads


@pytest.mark.usefixtures("eight_processors")
@pytest.mark.parametrize(
    ("setting", "threads"),
    [
        ("3", 3),
        ("1", 1),
        ("99", 8),
        (" 2 ", 2),
        ("4,2", 4),
        ("", 8),
        ("0", 8),
        ("-3", 8),
        ("many", 8),
        ("²", 8),
    ],
)
def test_none_is_bounded_by_the_environment(monkeypatch, setting, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert engine.thread_count(None) == threads
    assert engine.thread_count(5) == 5
    assert engine.thread_count(-1) == 8
    assert engine.thread_count(-2) == 7


def test_no_threads_at_all_is_an_error():
    with pytest.raises(ParameterError, match="`n_jobs` must be a whole number other than 0"):
        engine.thread_count(0)


def test_processors_are_those_of_affinity_and_container(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(threads, "_cgroup_processors", lambda: None)
    assert engine.thread_count(None) == 6
    monkeypatch.setattr(threads, "_cgroup_processors", lambda: 2)
    assert engine.thread_count(-1) == 2
    monkeypatch.setattr(threads, "_cgroup_processors", lambda: 9)
    assert engine.thread_count(-1) == 6


@pytest.mark.parametrize(
    ("text", "processors"),
    [
        ("max 100000\n", None),
        ("150000 100000\n", 2),
        ("50000 100000\n", 1),
        ("", None),
        ("nonsense here\n", None),
    ],
)
def test_processors_of_a_container(monkeypatch, text, processors):
    class File:
        def __init__(self, _):
            pass

        def read_text(self, **_):
            return text

    monkeypatch.setattr(threads, "Path", File)
    assert threads._cgroup_processors.__wrapped__() == processors


# instruction sets


def run(simd: str) -> subprocess.CompletedProcess[str]:
    script = "from weald import engine; print(engine.simd_level())"
    environment = {**os.environ, "WEALD_SIMD": simd, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_unknown_instruction_set_is_an_error():
    done = run("sse9")
    assert done.returncode == 1
    assert "WEALD_SIMD must be baseline, avx2 or avx512; got 'sse9'" in done.stderr
    assert "ParameterError" in done.stderr


@pytest.mark.parametrize("simd", ["baseline", "avx2", "avx512", ""])
def test_instruction_set_can_be_capped(simd):
    done = run(simd)
    assert done.returncode == 0, done.stderr
    levels = ["baseline", "avx2", "avx512"]
    allowed = levels[: levels.index(simd or "avx512") + 1]
    assert done.stdout.strip() in allowed


# logarithms


def test_log2_is_exact_at_powers_of_two():
    exponents = np.arange(-1022, 1024)
    assert engine.log2(np.ldexp(1.0, exponents)).tolist() == exponents.tolist()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no longer float to compare with")
@pytest.mark.parametrize("where", ["counts", "weights", "all", "near one"])
def test_log2_is_near_the_true_value(where):
    rng = np.random.default_rng(0)
    n = 200_000
    values = {
        "counts": np.arange(1.0, n),
        "weights": rng.integers(1, 2**62, n).astype(np.float64),
        "all": np.exp2(rng.uniform(-1021, 1023, n)),
        "near one": 1 + rng.uniform(-1, 1, n) * np.exp2(-rng.integers(1, 52, n).astype(float)),
    }[where]
    true = np.log2(values.astype(np.longdouble))
    error = np.abs(engine.log2(values) - true) / np.spacing(np.abs(true).astype(np.float64))
    far = np.abs(true) >= 1
    assert float(error.max()) < 3.0
    assert not far.any() or float(error[far].max()) < 1.5


def test_log2_never_falls():
    rng = np.random.default_rng(1)
    values = np.exp2(rng.uniform(-1000, 1000, 200_000))
    assert (engine.log2(np.nextafter(values, np.inf)) >= engine.log2(values)).all()
    counts = np.arange(1.0, 100_000)
    assert (np.diff(engine.log2(counts)) > 0).all()
    edge = np.sqrt(0.5) * (1 + np.arange(-2000, 2000) * 2.0**-52)  # where the exponent is taken from
    assert (np.diff(engine.log2(edge)) >= 0).all()


def test_log2_reads_any_layout():
    values = np.arange(1.0, 21.0).reshape(4, 5)
    assert engine.log2(values.T[::-1]).tolist() == engine.log2(values.T[::-1].ravel()).tolist()
    assert engine.log2(np.zeros(0)).tolist() == []


# infinite values


def test_the_first_infinite_value_is_named():
    def message(columns, masks):
        table = Table(
            tuple(NumericColumn(j, c, m) for j, (c, m) in enumerate(zip(columns, masks, strict=True))),
            2000,
            False,
        )
        with pytest.raises(DataError) as caught:
            encode(table, max_bins=None, n_threads=2)
        return str(caught.value)

    columns, masks = [np.zeros(2000) for _ in range(3)], [None, None, None]
    columns[2][3] = np.inf
    assert "Column 2 contains inf: row 3 holds inf" in message(columns, masks)
    columns[1][1500] = -np.inf
    columns[1][1999] = np.inf
    assert "Column 1 contains inf: row 1500 holds -inf" in message(columns, masks)
    masks[1] = np.arange(2000) == 1500
    assert "Column 1 contains inf: row 1999 holds inf" in message(columns, masks)
