"""scikit-learn's own test files, run with weald's classes in place of its own.

The tests are those of the installed scikit-learn; nothing of them is kept here. For each suite the table
beside this file (`scikit_learn_suites.toml`) says which classes are exchanged, which tests cannot pass, and
why. A run fails if a test outside that table fails, if a test in it passes, or if fewer pass than the table
wants.

    python tests/agreement/scikit_learn_suites.py             all suites
    python tests/agreement/scikit_learn_suites.py tree svm    some
    python tests/agreement/scikit_learn_suites.py forest --only warm_start --show
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Suite:
    """One test file of scikit-learn and what is known of it."""

    name: str
    module: str  # the test file, as a module
    classes: list[str]  # those exchanged: names that scikit-learn and weald share
    at_least: int  # tests that have to pass
    reasons: dict[str, str]  # test, with * for any characters, to why it cannot pass

    def reason(self, test: str) -> str | None:
        """Why a test cannot pass; None if it can."""
        return next((why for pattern, why in self.reasons.items() if _matches(pattern, test)), None)


@dataclass(frozen=True)
class Verdict:
    """What one run of a suite came to."""

    suite: Suite
    outcomes: dict[str, str]  # test to "passed", "failed" or "skipped"
    whole: bool  # whether no test was left out on purpose

    @property
    def n_passed(self) -> int:
        """How many passed."""
        return Counter(self.outcomes.values())["passed"]

    @property
    def unexpected(self) -> list[str]:
        """The tests that failed without a reason in the table."""
        return [t for t, found in self.outcomes.items() if found == "failed" and not self.suite.reason(t)]

    @property
    def stale(self) -> list[str]:
        """The tests that passed although the table says that they cannot."""
        return [t for t, found in self.outcomes.items() if found == "passed" and self.suite.reason(t)]

    @property
    def enough(self) -> bool:
        """Whether as many tests passed as the table wants."""
        return not self.whole or self.n_passed >= self.suite.at_least

    @property
    def good(self) -> bool:
        """Whether the run came out as the table says."""
        return bool(self.outcomes) and not self.unexpected and not self.stale and self.enough

    def lines(self) -> Iterator[str]:
        """The verdict in words."""
        counts = Counter(self.outcomes.values())
        skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
        yield (
            f"{self.suite.name}: {self.n_passed} of {len(self.outcomes)} passed{skipped}; "
            f"{counts['failed'] - len(self.unexpected)} cannot"
        )
        yield from (f"  failed without a reason: {test}" for test in self.unexpected)
        yield from (f"  passed although listed: {test}" for test in self.stale)
        if not self.enough:
            yield f"  at least {self.suite.at_least} should pass"
        if not self.outcomes:
            yield "  no test ran"


def suites(table: Path = TABLE) -> dict[str, Suite]:
    """The suites of the table by name."""
    with table.open("rb") as file:
        entries = tomllib.load(file)
    return {
        name: Suite(
            name=name,
            module=entry["module"],
            classes=entry["classes"],
            at_least=entry["at_least"],
            reasons={test: each["reason"] for each in entry.get("cannot", []) for test in each["tests"]},
        )
        for name, entry in entries.items()
    }


def run(suite: Suite, *, only: str = "", show: bool = False) -> Verdict:
    """Run a suite in a process and a folder of its own.

    Parameters
    ----------
    suite : Suite
        What to run.
    only : str
        An expression in the words of pytest's `-k`, to run some tests.
    show : bool
        Whether the failures are shown as pytest does.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "outcomes.json"
        command = [sys.executable, __file__, suite.name, "--only", only, "--outcomes", str(report)]
        settings = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "SKLEARN_WARNINGS_AS_ERRORS": "0"}
        done = subprocess.run(
            command, cwd=folder, env=settings, capture_output=not show, text=True, check=False
        )
        if not report.exists():
            raise RuntimeError(f"The suite {suite.name} did not run:\n{done.stdout}{done.stderr}")
        return Verdict(suite, json.loads(report.read_text()), whole=not only)


def run_here(suite: Suite, only: str, report: Path) -> None:
    """Exchange the classes in this process, run the test file, and write down what came of each test."""
    import pytest

    exchange(suite.classes)
    outcomes = Outcomes()
    pytest.main(
        [
            *("--pyargs", suite.module, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("-c", os.devnull, "--rootdir", os.getcwd(), "--tb", "short", "-k", only),
        ],
        plugins=[outcomes],
    )
    report.write_text(json.dumps(outcomes.found))


def exchange(names: list[str]) -> None:
    """Put weald's classes where test files import scikit-learn's from.

    Those modules of scikit-learn that use the classes themselves are imported before, to keep its own.
    """
    import weald

    homes = [importlib.import_module(f"sklearn.{name}") for name in ("tree", "ensemble", "svm")]
    for user in ("calibration", "inspection", "utils.estimator_checks"):
        importlib.import_module(f"sklearn.{user}")
    for home in homes:
        for name in names:
            if hasattr(home, name):
                setattr(home, name, getattr(weald, name))


class Outcomes:
    """The part of a pytest run that keeps what came of each test."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_setup(self, item: Any) -> None:
        """Start every test from the same state of NumPy's global generator."""
        import numpy as np

        np.random.seed(0)  # noqa: NPY002  # tests without a seed draw from here

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported is a failure too."""
        if report.failed:
            self.found[report.nodeid] = "failed"

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the worst of the steps of a test; what scikit-learn expects to fail counts as passed."""
        test = report.nodeid.split("::", 1)[-1]
        if report.failed:
            self.found[test] = "failed"
        elif report.skipped:
            self.found[test] = "passed" if hasattr(report, "wasxfail") else "skipped"
        else:
            self.found.setdefault(test, "passed")


def _matches(pattern: str, test: str) -> bool:
    """Whether a test is meant by an entry of the table."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), test, re.DOTALL) is not None


def main() -> int:
    """Run the suites named on the command line; the number of those that did not come out as told."""
    known = suites()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("suite", nargs="*", help=f"of {', '.join(known)}; all if none is named")
    parser.add_argument("--only", default="", help="an expression as for pytest -k")
    parser.add_argument("--show", action="store_true", help="show pytest's own report of failures")
    parser.add_argument("--outcomes", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = [name for name in given.suite if name not in known]
    if unknown:
        parser.error(f"no suite {unknown[0]!r}; there are {', '.join(known)}")
    if given.outcomes is not None:
        run_here(known[given.suite[0]], given.only, given.outcomes)
        return 0
    n_bad = 0
    for name in given.suite or known:
        verdict = run(known[name], only=given.only, show=given.show)
        print("\n".join(verdict.lines()), flush=True)
        n_bad += not verdict.good
    return n_bad


if __name__ == "__main__":
    sys.exit(main())
