"""The same model, to the byte, whatever the process goes through: forks, threads, signals.

All through the public estimators and their model files. Vector units are in test_vector_units.py.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from reference.compare import assert_same_forest

from weald import DecisionTreeClassifier, DecisionTreeRegressor

TESTS = str(Path(__file__).resolve().parents[1])


def table(n_rows: int = 20_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns as objects (numbers with missing ones, ties, text), labels, and a numeric target."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 4))
    numbers[:, 1] = np.round(numbers[:, 1], 1)
    signal = numbers @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=n_rows)
    numbers[rng.random(n_rows) < 0.2, 0] = np.nan
    town = rng.choice([f"town {i}" for i in range(40)] + [None], n_rows)
    X = np.column_stack([numbers.astype(object), town.astype(object)])
    return X, np.array(["low", "mid", "high"], dtype=object)[np.digitize(signal, [-0.5, 0.8])], signal


def fitted(n_jobs: int = 2) -> list[DecisionTreeClassifier | DecisionTreeRegressor]:
    """One of each: exact and binned, every criterion."""
    X, labels, target = table()
    return [
        DecisionTreeClassifier(min_samples_leaf=5, n_jobs=n_jobs).fit(X, labels),
        DecisionTreeClassifier(criterion="entropy", max_bins=63, max_leaf_nodes=50, n_jobs=n_jobs).fit(
            X, labels
        ),
        DecisionTreeRegressor(min_samples_leaf=5, n_jobs=n_jobs).fit(X, target),
        DecisionTreeRegressor(max_bins=255, max_features=3, random_state=1, n_jobs=n_jobs).fit(X, target),
    ]


def digest(folder: Path, n_jobs: int = 2) -> list[str]:
    """The hashes of the model files."""
    hashes = []
    for i, model in enumerate(fitted(n_jobs)):
        path = Path(folder) / f"{os.getpid()}-{i}.weald"
        model.save(path)
        hashes.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return hashes


def run(script: str, *arguments: str, timeout: float = 120, **environment: str) -> str:
    """The output of a script in a new process that finds this folder."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_thread_count_gives_the_same_files(tmp_path):
    one = digest(tmp_path, n_jobs=1)
    assert digest(tmp_path, n_jobs=2) == one
    assert digest(tmp_path, n_jobs=5) == one


def test_row_order_gives_the_same_file(tmp_path):
    X, labels, target = table(5_000)
    rows = np.random.default_rng(1).permutation(len(X))
    for i, (model, y) in enumerate([(DecisionTreeClassifier(), labels), (DecisionTreeRegressor(), target)]):
        model.fit(X, y).save(tmp_path / f"{i}.weald")
        model.fit(X[rows], y[rows]).save(tmp_path / f"{i}-permuted.weald")
        assert (tmp_path / f"{i}.weald").read_bytes() == (tmp_path / f"{i}-permuted.weald").read_bytes()


def test_fork_then_fit_in_child_and_parent(tmp_path):
    """The parent's pool has threads when it forks; the child has none of them and must make its own."""
    script = """
        import json, os, signal, sys
        from property.test_same_bits import digest
        folder = sys.argv[1]
        before = digest(folder)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a hang in the child ends it
            again = digest(folder)
            os._exit(0 if again == before else 3)
        during = digest(folder)
        _, status = os.waitpid(child, 0)
        after = digest(folder)
        assert during == before and after == before, (before, during, after)
        print(os.waitstatus_to_exitcode(status))
    """
    assert run(script, str(tmp_path)).strip() == "0"


def test_threads_that_fit_at_once_give_the_same_trees():
    alone = [model.forest_ for model in fitted()]
    with ThreadPoolExecutor(3) as pool:
        together = [job.result(timeout=120) for job in [pool.submit(fitted) for _ in range(3)]]
    for models in together:
        for model, forest in zip(models, alone, strict=True):
            assert_same_forest(model.forest_, forest, "fitted beside others")


INTERRUPTED = """
    import os, signal, sys, threading, time
    from pathlib import Path
    import numpy as np
    import weald

    folder = Path(sys.argv[1])
    rng = np.random.default_rng(0)
    X, numbers = rng.normal(size=(700_000, 24)), rng.normal(size=700_000)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

    for name, delay, n_jobs in zip(sys.argv[2::3], map(float, sys.argv[3::3]), map(int, sys.argv[4::3])):
        y = numbers > 0 if name.endswith("Classifier") else numbers
        model = getattr(weald, name)(n_jobs=n_jobs, random_state=0).fit(X[:200], y[:200])
        before = dict(vars(model))
        model.save(folder / "before.weald")
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(delay, interrupt)
        timer.start()
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            waited = time.monotonic() - sent[0]
        else:
            sys.exit("the fit ended before the signal came: make the table larger")
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before), "the estimator changed"
        model.save(folder / "after.weald")
        assert (folder / "before.weald").read_bytes() == (folder / "after.weald").read_bytes()
        again = getattr(weald, name)(n_jobs=n_jobs, random_state=0).fit(X[:200], y[:200])  # the pool works
        again.save(folder / "again.weald")
        assert (folder / "before.weald").read_bytes() == (folder / "again.weald").read_bytes()
        print(waited)
"""

#: a model, seconds until it is interrupted, threads
INTERRUPTIONS = [
    ("DecisionTreeClassifier", 0.3, 2),  # while columns are coded
    ("DecisionTreeClassifier", 2.0, 1),
    ("DecisionTreeRegressor", 1.2, 2),
    ("RandomForestClassifier", 1.5, 2),  # a tree on each thread
    ("ExtraTreesRegressor", 2.0, 1),
]


def test_interrupt_ends_a_fit_within_a_second(tmp_path):
    """One after the other in one process, whose pool outlives each of them."""
    given = [str(part) for each in INTERRUPTIONS for part in each]
    waited = [float(line) for line in run(INTERRUPTED, str(tmp_path), *given).split()]
    assert len(waited) == len(INTERRUPTIONS)
    assert max(waited) < 1.0, list(zip(INTERRUPTIONS, waited, strict=True))


DAEMON = """
    import sys, threading, time
    import numpy as np
    from weald import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(3000, 10))
    y = X[:, 0] + X[:, 1] > 0

    def fit_for_ever():
        while True:
            DecisionTreeClassifier(n_jobs=int(sys.argv[1])).fit(X, y)

    for _ in range(3):
        threading.Thread(target=fit_for_ever, daemon=True).start()
    time.sleep(0.5)
    print("done")
"""


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_daemon_threads_do_not_abort_the_end_of_the_process(n_jobs):
    assert run(DAEMON, n_jobs).strip() == "done"
