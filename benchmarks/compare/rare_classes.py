"""Rare classes on eight real tables: what each remedy does to recall, ranking and probabilities.

    python benchmarks/compare/rare_classes.py --help

A forest as it comes, with class weights, with a threshold, after SMOTE, ADASYN and under-sampling; a balanced
forest and an easy ensemble; and imbalanced-learn's of the last two. Those that change the class shares are
told with and without the correction of probabilities for that. Five folds; ± is the half of a 95 % interval
of the mean over folds (Student's t). The study runs in parts: `--keep FILE --tables NAME` measures one table
and keeps it, and a last run with `--keep FILE --markdown` writes what all of them found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from common import machine, real_tables, report
from common.accuracy import N_FOLDS, folds_of
from common.harness import RESULTS
from common.jobs import DataAbsent
from common.real_tables import Task
from numpy.typing import NDArray
from scipy import optimize, stats

TABLES = (
    "keel_abalone19",
    "keel_car_vgood",
    "keel_yeast4",
    "mammography",
    "oil_spill",
    "sick_thyroid",
    "htru2_pulsars",
    "creditcard_fraud",
)
METRICS = ("recall", "balanced accuracy", "PR-AUC", "Brier", "calibration slope")
#: of which more is better; a calibration slope is best at 1
RISING = ("recall", "balanced accuracy", "PR-AUC")
DISTRIBUTIONS = ("weald", "imbalanced-learn", "scikit-learn")
PEER = "imbalanced-learn: "
#: the summary compares these with imbalanced-learn's by these metrics
PEERS, PEER_METRICS = ("balanced forest", "easy ensemble"), ("balanced accuracy", "PR-AUC")
AS_IT_COMES = "as it comes"
_SMALLEST = 1e-6

#: (parameters of forests, seed) → an unfitted classifier
Maker: TypeAlias = Callable[[dict[str, Any], int], Any]


@dataclass(frozen=True)
class Remedy:
    """What is done about the rare class."""

    name: str
    make: Maker
    shifts: bool = False  # whether class shares change, and probabilities can be corrected for it
    numbers: bool = False  # whether it takes numbers alone


def resampled(sampler: str, **more: Any) -> Maker:
    """A forest on rows that a sampler changed."""

    def make(forest: dict[str, Any], seed: int) -> Any:
        import weald

        made = getattr(weald, sampler)(random_state=seed)
        return weald.Resampled(weald.RandomForestClassifier(**forest, random_state=seed), made, **more)

    return make


def of(kind: str, **more: Any) -> Maker:
    """A forest of weald's."""

    def make(forest: dict[str, Any], seed: int) -> Any:
        import weald

        return getattr(weald, kind)(**forest, **more, random_state=seed)

    return make


def thresholded(forest: dict[str, Any], seed: int) -> Any:
    """A forest with the threshold of the best balanced accuracy, from its out-of-bag rows."""
    import weald

    return weald.Thresholded(weald.RandomForestClassifier(**forest, random_state=seed))


def easy(forest: dict[str, Any], seed: int) -> Any:
    """An easy ensemble of ours."""
    import weald

    return weald.EasyEnsembleClassifier(members_of(forest), random_state=seed)


def members_of(forest: dict[str, Any]) -> int:
    """Members of an easy ensemble: ten, or fewer in a smoke run."""
    return min(10, int(forest["n_estimators"]))


def of_peer(kind: str, forested: bool) -> Maker:
    """An ensemble of imbalanced-learn."""

    def make(forest: dict[str, Any], seed: int) -> Any:
        from imblearn import ensemble

        given = forest if forested else {"n_estimators": members_of(forest)}
        return getattr(ensemble, kind)(random_state=seed, **given)

    return make


REMEDIES = (
    Remedy(AS_IT_COMES, of("RandomForestClassifier")),
    Remedy("class weights", of("RandomForestClassifier", class_weight="balanced")),
    Remedy("threshold", thresholded),
    Remedy("SMOTE", resampled("SMOTE"), shifts=True),
    Remedy("ADASYN", resampled("ADASYN"), shifts=True),
    Remedy("under-sampling", resampled("RandomUnderSampler"), shifts=True),
    Remedy("under-sampling, blended", resampled("RandomUnderSampler", correct_prior="blend"), shifts=True),
    Remedy("balanced forest", of("BalancedRandomForestClassifier"), shifts=True),
    Remedy(
        "balanced forest, blended",
        of("BalancedRandomForestClassifier", correct_prior="blend"),
        shifts=True,
    ),
    Remedy("easy ensemble", easy, shifts=True),
    Remedy(PEER + "balanced forest", of_peer("BalancedRandomForestClassifier", True), numbers=True),
    Remedy(PEER + "easy ensemble", of_peer("EasyEnsembleClassifier", False), numbers=True),
)


def known(remedy: Remedy) -> bool:
    """Whether what a remedy needs is installed."""
    if remedy.name.startswith(PEER):
        return machine.installed("imbalanced-learn") is not None
    try:
        remedy.make({"n_estimators": 1}, 0)
    except AttributeError:
        return False
    return True


@dataclass(frozen=True)
class Found:
    """One table: the scores of each remedy, metric by metric, fold by fold."""

    name: str
    n_rows: int
    n_columns: int
    n_rare: int
    scores: dict[str, dict[str, list[float]]]
    seconds: float

    def difference(self, one: str, other: str, metric: str) -> tuple[float, float]:
        """Of one remedy to another, above 0 where it is better, and its standard error."""
        sign = 1.0 if metric in RISING else -1.0
        mine, yours = (np.array(self.scores[name][metric]) for name in (one, other))
        found = sign * (mine - yours)
        return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))

    def not_worse(self, one: str, other: str, metric: str) -> bool:
        """Whether the difference is at most one standard error below 0."""
        mean, error = self.difference(one, other, metric)
        return mean >= -error


def slope(y: NDArray[np.int64], probability: NDArray[np.float64]) -> float:
    """The slope of the logistic regression of the truth on the log odds: 1 of calibrated probabilities.

    Below 1 they are too far from the mean, above 1 too near.
    """
    inner = np.clip(probability, _SMALLEST, 1 - _SMALLEST)
    odds = np.log(inner / (1 - inner))

    def loss(parameters: NDArray[np.float64]) -> float:
        z = parameters[0] + parameters[1] * odds
        return float(np.mean(np.logaddexp(0.0, z) - y * z))

    found = optimize.minimize(loss, np.array([0.0, 1.0]), method="BFGS")
    return float(found.x[1])


def judged(y: NDArray[np.int64], called: NDArray[np.int64], p: NDArray[np.float64]) -> dict[str, float]:
    """All metrics of one fold; class 1 is the rare one."""
    from sklearn import metrics

    return {
        "recall": float(np.mean(called[y == 1])),
        "balanced accuracy": float(metrics.balanced_accuracy_score(y, called)),
        "PR-AUC": float(metrics.average_precision_score(y, p)),
        "Brier": float(np.mean((p - y) ** 2)),
        "calibration slope": slope(y, p),
    }


def as_numbers(X: Any) -> NDArray[np.float64]:
    """Categories as their ranks, missing values as medians, for libraries that take numbers alone.

    A column that is missing throughout (TBG of sick_thyroid) is 0.
    """
    from forests_accuracy import as_numbers as ranks

    found = np.asarray(ranks(X), np.float64)
    gone = np.isnan(found).all(axis=0)
    found[:, gone] = 0.0
    return np.where(np.isnan(found), np.nanmedian(found, axis=0), found)


def with_rare_class(task: Task) -> Task:
    """The rarest class as 1, all others as 0."""
    rarest = int(np.argmin(np.bincount(task.y)))
    return replace(task, y=(task.y == rarest).astype(np.int64))


def measure(task: Task, options: argparse.Namespace) -> Found:
    """Every remedy on every fold."""
    start = time.perf_counter()
    scores: dict[str, dict[str, list[float]]] = {}
    forest = {"n_estimators": options.trees, "n_jobs": options.threads}

    def note(name: str, found: dict[str, float]) -> None:
        kept = scores.setdefault(name, {metric: [] for metric in METRICS})
        for metric, value in found.items():
            kept[metric].append(value)

    for remedy in (each for each in REMEDIES if known(each)):
        for fold, (train, test) in enumerate(folds_of(task, 1)):
            (X, y), (X_test, y_test) = task.rows(train), task.rows(test)
            if remedy.numbers:
                X, X_test = as_numbers(X), as_numbers(X_test)
            model = remedy.make(forest, fold).fit(X, y)
            called = np.asarray(model.predict(X_test))
            note(remedy.name, judged(y_test, called, model.predict_proba(X_test)[:, 1]))
            if remedy.shifts and not remedy.name.endswith("blended"):  # the same without correction
                model.set_params(correct_prior=False)
                plain = model.predict_proba(X_test)[:, 1]
                note(f"{remedy.name}, not corrected", judged(y_test, called, plain))
    n_columns = task.X.shape[1]
    return Found(task.name, len(task.y), n_columns, int(task.y.sum()), scores, time.perf_counter() - start)


def cell(values: Sequence[float]) -> str:
    """The mean over folds and the half of its interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3g} ± {half:.2g}"


def table_of(found: Found) -> str:
    """One table of the data as one of the page."""
    rows = [["remedy", *METRICS]]
    rows += [[name, *(cell(kept[metric]) for metric in METRICS)] for name, kept in found.scores.items()]
    title = f"### {found.name}: {found.n_rare:,} of {found.n_rows:,} rows, {found.n_columns} columns"
    return f"{title}\n\n{report.markdown_table(rows)}"


def means_of(found: Sequence[Found]) -> str:
    """The means over all tables."""
    names = [name for name in found[0].scores if all(name in each.scores for each in found)]
    rows = [["mean over tables", *METRICS]]
    for name in names:
        values = [[np.mean(each.scores[name][metric]) for each in found] for metric in METRICS]
        rows.append([name, *(f"{np.mean(each):.3g}" for each in values)])
    return report.markdown_table(rows)


def verdicts(found: Sequence[Found]) -> list[str]:
    """What must hold: corrected probabilities no worse than a plain forest's, ours no worse than theirs."""
    lines = []
    for remedy in (each.name for each in REMEDIES if each.shifts and each.name in found[0].scores):
        worse = [each.name for each in found if not each.not_worse(remedy, AS_IT_COMES, "Brier")]
        lines.append(_line(f"Brier of {remedy}, corrected, against the forest {AS_IT_COMES}", found, worse))
    for name in (each for each in PEERS if PEER + each in found[0].scores):
        for metric in PEER_METRICS:
            worse = [each.name for each in found if not each.not_worse(name, PEER + name, metric)]
            lines.append(_line(f"{metric} of {name} against imbalanced-learn's", found, worse))
    return lines


def _line(what: str, found: Sequence[Found], worse: Sequence[str]) -> str:
    rest = f"; worse: {', '.join(worse)}" if worse else ""
    return (
        f"- {what}: not worse beyond one standard error on {len(found) - len(worse)} of {len(found)}{rest}."
    )


def section(found: Sequence[Found], facts: dict[str, str], options: argparse.Namespace) -> str:
    """The part of the results page."""
    parts = [
        "## Rare classes: eight real tables",
        " · ".join(f"{key} {value}" for key, value in facts.items()),
        f"{N_FOLDS} folds, at most {options.rows:,} rows of a table, {options.trees} trees. ± is the half "
        "of a 95 % interval of the mean over folds. `predict` decides, so that recall does not change with "
        "the correction of probabilities. A calibration slope of 1 is right; below, probabilities are too "
        "extreme.",
        means_of(found),
        "\n".join(verdicts(found)),
        *(table_of(each) for each in found),
    ]
    return "\n\n".join(parts) + "\n"


def small_tasks() -> list[Task]:
    """For a smoke run: one made-up table with categories and missing values."""
    import pandas as pd

    random = np.random.default_rng(0)
    n = 150
    X = pd.DataFrame({"c0": random.normal(size=n), "c1": random.normal(size=n)})
    X["c2"] = pd.Categorical.from_codes(random.integers(0, 3, n), ["a", "b", "c"])
    strength = X["c0"].to_numpy() + (X["c2"] == "b").to_numpy() + random.normal(size=n) / 3
    X.loc[::7, "c1"] = np.nan
    return [Task("made up", "binary", X, (strength > np.quantile(strength, 0.88)).astype(np.int64))]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare: remedies for rare classes.")
    parser.add_argument("--tables", nargs="+", metavar="NAME", default=TABLES, help="only these")
    parser.add_argument("--rows", type=int, default=50_000, help="rows taken of a table (default 50,000)")
    parser.add_argument("--trees", type=int, default=100, help="trees of a forest (default 100)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="write finished tables there and reuse them; delete it when a library changes",
    )
    parser.add_argument("--quick", action="store_true", help="a small made-up table, few trees: a smoke run")
    parser.add_argument("--check", action="store_true", help="exit 1 when something is worse")
    parser.add_argument("--markdown", type=Path, nargs="?", const=RESULTS, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.quick:
        options.trees, options.threads = 2, 1
    return options


def kept(options: argparse.Namespace) -> dict[str, Found]:
    """The tables of an earlier run with as many rows and trees."""
    if options.keep is None or not options.keep.exists():
        return {}
    state = json.loads(options.keep.read_text(encoding="utf-8"))
    same = state["run"] == [options.rows, options.trees]
    return {each["name"]: Found(**each) for each in state["tables"]} if same else {}


def keep(found: dict[str, Found], options: argparse.Namespace) -> None:
    """Write what is finished."""
    if options.keep is not None:
        state = {"run": [options.rows, options.trees], "tables": [asdict(each) for each in found.values()]}
        options.keep.write_text(json.dumps(state, indent=1), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section if that is asked for."""
    options = parse(arguments)
    facts = machine.facts(DISTRIBUTIONS)
    known, found = kept(options), []
    try:
        tasks: Any = small_tasks() if options.quick else real_tables.entries()
    except DataAbsent as error:
        print(f"skipped: {error}")
        return 0
    for task in tasks:
        name = task.name if options.quick else task["name"]
        if not options.quick and name not in options.tables:
            continue
        if name not in known:
            ready = with_rare_class(task if options.quick else real_tables.read(task, options.rows))
            known[name] = measure(ready, options)
            keep(known, options)
        found.append(known[name])
        print(table_of(found[-1]), f"{found[-1].seconds:.0f} s", sep="\n", flush=True)
    told = verdicts(found)
    print(*told, f"{len(found)} tables", sep="\n")
    if options.markdown is not None:
        report.write_section(options.markdown, "rare-classes", section(found, facts, options))
    return int(options.check and any("; worse: " in line for line in told))


if __name__ == "__main__":
    sys.exit(main())
