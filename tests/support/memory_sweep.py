"""Every kind of model under every limit on memory, by hand: what each limit ends in.

    python tests/support/memory_sweep.py                          # all kinds, 60 MB in steps of 2.5
    python tests/support/memory_sweep.py bagging svc --step 0.5   # some of them, finer

A process fits and uses each model once, forks for each limit, and the fork limits itself and tries: it begins
with all that was imported, and without a thread. A letter a limit: `.` all went well, `m` MemoryError, `A`
aborted, `S` segmentation fault, `H` did not end in time, `E` another error (printed). Exits 1 if there is a
capital.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import weald

MB = 2**20
FINE, SHORT = ".", "m"
STEPS = ("all", "predict", "save", "load")
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt


@dataclass(frozen=True)
class Kind:
    """A model, and how many rows and columns make it need some tens of MB."""

    make: Callable[[int], Any]  # of n_jobs
    n_rows: int
    n_columns: int = 8
    regression: bool = False
    ranking: bool = False
    transforms: bool = False
    saves: bool = True  # a file keeps only members of weald


def _voting(n_jobs: int) -> Any:
    members = [
        ("tree", weald.DecisionTreeClassifier(random_state=0)),
        ("forest", weald.RandomForestClassifier(n_estimators=6, random_state=0)),
        ("theirs", DecisionTreeClassifier(random_state=0)),
    ]
    return weald.VotingClassifier(members, n_jobs=n_jobs)


KINDS: dict[str, Kind] = {
    "tree": Kind(lambda n: weald.DecisionTreeClassifier(n_jobs=n), 60_000),
    "tree_regressor": Kind(lambda n: weald.DecisionTreeRegressor(n_jobs=n), 60_000, regression=True),
    "forest": Kind(lambda n: weald.RandomForestClassifier(12, n_jobs=n, random_state=0), 12_000),
    "forest_regressor": Kind(
        lambda n: weald.RandomForestRegressor(8, n_jobs=n, random_state=0, oob_score=True),
        8_000,
        regression=True,
    ),
    "extra_trees": Kind(lambda n: weald.ExtraTreesClassifier(12, n_jobs=n, random_state=0), 8_000),
    "bagging": Kind(lambda n: weald.BaggingClassifier(n_estimators=12, n_jobs=n, random_state=0), 4_000),
    "bagging_regressor": Kind(
        lambda n: weald.BaggingRegressor(n_estimators=12, n_jobs=n, random_state=0, oob_score=True),
        4_000,
        regression=True,
    ),
    "bagging_others": Kind(
        lambda n: weald.BaggingClassifier(DecisionTreeClassifier(), n_estimators=8, n_jobs=n, random_state=0),
        6_000,
        saves=False,
    ),
    "voting": Kind(_voting, 8_000, saves=False),
    "adaboost": Kind(lambda n: weald.AdaBoostClassifier(n_estimators=20, random_state=0), 60_000),
    "adaboost_regressor": Kind(
        lambda n: weald.AdaBoostRegressor(n_estimators=5, random_state=0), 20_000, regression=True
    ),
    "gradient_boosting": Kind(
        lambda n: weald.GradientBoostingClassifier(n_estimators=6, random_state=0), 50_000
    ),
    "gradient_boosting_regressor": Kind(
        lambda n: weald.GradientBoostingRegressor(n_estimators=6, subsample=0.5, random_state=0),
        50_000,
        regression=True,
    ),
    "xgb_hist": Kind(lambda n: weald.XGBClassifier(n_estimators=4, n_jobs=n), 100_000),
    "xgb_exact": Kind(lambda n: weald.XGBClassifier(n_estimators=3, n_jobs=n, tree_method="exact"), 50_000),
    "xgb_approx": Kind(
        lambda n: weald.XGBRegressor(n_estimators=3, n_jobs=n, tree_method="approx"), 50_000, regression=True
    ),
    "xgb_ranker": Kind(lambda n: weald.XGBRanker(n_estimators=4, n_jobs=n), 60_000, ranking=True),
    "svc": Kind(lambda n: weald.SVC(**_jobs(weald.SVC, n)), 1_500),
    "svc_probability": Kind(lambda n: weald.SVC(probability=True, **_jobs(weald.SVC, n)), 800),
    "svr": Kind(lambda n: weald.SVR(**_jobs(weald.SVR, n)), 1_500, regression=True),
    "linear_svc": Kind(lambda n: weald.LinearSVC(**_jobs(weald.LinearSVC, n)), 60_000),
    "logistic": Kind(lambda n: weald.LogisticRegression(**_jobs(weald.LogisticRegression, n)), 60_000),
    "linear_svr": Kind(lambda n: weald.LinearSVR(**_jobs(weald.LinearSVR, n)), 60_000, regression=True),
    "landmarks": Kind(
        lambda n: weald.Landmarks(n_landmarks=100, **_jobs(weald.Landmarks, n)), 8_000, transforms=True
    ),
    "landmarks_indefinite": Kind(
        lambda n: weald.Landmarks(kernel="sigmoid", n_landmarks=300, **_jobs(weald.Landmarks, n)),
        4_000,
        transforms=True,
    ),
    "imputer": Kind(
        lambda n: weald.ProximityImputer(**_jobs(weald.ProximityImputer, n)), 500, transforms=True
    ),
}


def _jobs(of: Any, n_jobs: int) -> dict[str, int]:
    return {"n_jobs": n_jobs} if "n_jobs" in of().get_params() else {}


def data_of(kind: Kind, n_rows: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, kind.n_columns))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    if kind.ranking:
        return X, (score > 0).astype(int) + (score > 1), {"qid": np.arange(n_rows) // 20}
    if kind.transforms:
        X[rng.random(X.shape) < 0.05] = np.nan
    return X, score if kind.regression else (score > 0).astype(int), {}


def steps_of(kind: Kind, place: Path, n_rows: int, n_jobs: int) -> dict[str, Callable[[], Any]]:
    """What is tried, one after the other, on a model that the steps share."""
    X, y, more = data_of(kind, n_rows)
    if kind.transforms and "imputer" not in place.name:
        X = np.nan_to_num(X)
    model = kind.make(n_jobs)
    use = model.transform if kind.transforms else model.predict
    asked = np.tile(X, (min(8, n_rows // 60), 1))
    steps = {"fit": lambda: model.fit(X, y, **more), "predict": lambda: use(asked)}
    if kind.saves:
        steps |= {"save": lambda: model.save(place), "load": lambda: weald.load(place)}
    return steps


def _limit(extra: int | None) -> None:
    """Allow so many bytes more than are in use; None takes the limit away."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)  # who lowers it may not raise it again
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (hard if extra is None else used + extra, hard))


def outcome(work: Sequence[Callable[[], Any]], extra: int, patience: float) -> str:
    """What `work` ends in, in a fork that may have `extra` bytes more."""
    pid = os.fork()
    if pid == 0:
        code = 4
        try:
            _limit(extra)
            for step in work:
                step()
            code = 0
        except MemoryError:
            code = 3
        except BaseException:
            _limit(None)
            traceback.print_exc()
        finally:
            os._exit(code)
    end = time.monotonic() + patience
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "H"
        time.sleep(0.005)
    return {0: FINE, 3 << 8: SHORT, 4 << 8: "E"}.get(status, "S" if status & 0x7F == signal.SIGSEGV else "A")


def sweep(
    name: str,
    limits: Sequence[int],
    *,
    rows: float,
    patience: float,
    only: Sequence[str] = STEPS,
    n_jobs: int = 4,
) -> Iterator[tuple[str, str]]:
    """For all steps in one, and for each that uses a fitted model, a letter a limit."""
    kind = KINDS[name]
    n_rows = int(rows * kind.n_rows)
    # What is freed goes back at once, so that no limit is met from what an earlier fit left behind.
    ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 2**16)
    ctypes.CDLL(None).mallopt(_TRIM_THRESHOLD, 2**16)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        place = Path(folder) / f"{name}.weald"
        for step in steps_of(kind, place, 60, 1).values():  # what is imported when first needed
            step()
        steps = list(steps_of(kind, place, n_rows, n_jobs).values())
        if "all" in only:
            yield "all", "".join(outcome(steps, extra, patience) for extra in limits)
        if list(only) == ["all"]:
            return
        fitted = steps_of(kind, place, n_rows, n_jobs=1)  # without threads, whose memory would stay
        fitted.pop("fit")()
        if kind.saves:
            fitted["save"]()
        before = place.read_bytes() if kind.saves else b""
        for step, work in fitted.items():
            if step in only:
                yield step, "".join(outcome([work], extra, patience) for extra in limits[: len(limits) // 2])
        if kind.saves and (place.read_bytes() != before or os.listdir(folder) != [place.name]):
            yield "file", "E"  # a save that failed left something else than the old file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--most", type=float, default=60.0, help="MB")
    parser.add_argument("--step", type=float, default=2.5, help="MB")
    parser.add_argument("--rows", type=float, default=1.0, help="a share of the rows of each kind")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds a limit")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=STEPS, help="all steps in one, or each")
    options = parser.parse_args()
    limits = range(0, int(options.most * MB), int(options.step * MB))
    bad = False
    for name in options.kinds or KINDS:
        for step, letters in sweep(
            name, limits, rows=options.rows, patience=options.patience, only=options.only
        ):
            bad = bad or not set(letters) <= {FINE, SHORT}
            print(f"{name:28}{step:8} {letters}", flush=True)
    return int(bad)


if __name__ == "__main__":
    assert threading.active_count() == 1
    faulthandler.enable()  # says where a segmentation fault was
    sys.exit(main())
