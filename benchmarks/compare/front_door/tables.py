"""Every table straight from its file by the command line, and its accuracy beside that of LightGBM.

    python benchmarks/compare/front_door/tables.py FOLDER [--only NAME …] [--commands NAME …] [--alone]
        [--json OUT]

FOLDER has the tables and an `index.json` that names files and targets. Each command runs with no option but
`--target`. LightGBM gets the rows that `weald fit` trained on, 2,000 rounds of 0.1 at most, and finds how
many by the rule that weald has: by five folds where rows are not many, else by early stopping on a tenth.
Once more it gets the small steps and draws that weald takes. Scores are those of `weald
fit`: the area of two labels, else accuracy; R². What the JSON file has already is not run again. Beside
the seconds of every command stand those of its processors, which tell more where a machine does much else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from weald.engine import thread_count
from weald.runs.gathering import Question, gather
from weald.runs.methods import CV_LABEL_ROWS, Size, make
from weald.runs.recipe import rows_of as split_rows
from weald.runs.task import CLASSIFICATION
from weald.runs.training import hold_out

FORK = multiprocessing.get_context("fork")
#: what commands import
IMPORTED = (
    *(
        f"weald.cli.{name}"
        for name in ("commands", "fit", "predict", "evaluate", "info", "explain", "compare")
    ),
    *("pyarrow.csv", "pyarrow.parquet", "pandas", "lightgbm"),
)
THREADS = thread_count(None)
COMMANDS = ("fit", "predict", "evaluate", "info", "explain", "compare")
#: those that need the model of `fit`
OF_MODEL = frozenset(COMMANDS[1:5])
#: what LightGBM gets
ROUNDS, RATE, WAIT, SHARE = 2000, 0.1, 30, 0.1
#: what it gets of weald's settings once more
STEPS = ("n_estimators", "learning_rate", "subsample", "colsample_bytree")


def called(words: list[str], out: int, err: int) -> None:
    """A command in this process, which ends with it."""
    from weald.cli.main import main as weald_main

    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.argv = ["weald", *words]
    weald_main()


def processors() -> float:
    """Seconds of all processes that this one started and that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def weald(*words: object, limit: float) -> tuple[int, str, float, float]:
    """A command in a process of its own: exit code, output, seconds, seconds of processors.

    It begins as a copy of this one, which has imported all that commands need: what an import takes is told
    elsewhere, and would be most of the time here.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start, before = time.perf_counter(), processors()
        process = FORK.Process(target=called, args=(list(map(str, words)), out.fileno(), err.fileno()))
        process.start()
        process.join(limit)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        seconds, spent = time.perf_counter() - start, processors() - before
        if late:
            return 1, f"not done in {limit:.0f} s", seconds, spent
        told = out if process.exitcode == 0 else err
        told.seek(0)
        return process.exitcode or 0, told.read().decode(), seconds, spent


def commands(file: Path, target: str, folder: Path, known: dict[str, Any], asked: Any) -> dict[str, Any]:
    """What each command says of a table; those that succeeded before are not run again."""
    model = folder / "m.weald"
    learned = () if file.name.endswith(".svm.gz") else ("--target", target)
    calls: dict[str, tuple[object, ...]] = {
        "fit": ("fit", file, *learned, "--model", model, "--json"),
        "predict": ("predict", model, file, "-o", folder / "o.parquet"),
        "evaluate": ("evaluate", model, file, *learned, "--json"),
        "info": ("info", model, "--json"),
        "explain": ("explain", model, file, "--json"),
        "compare": ("compare", file, *learned, "--json"),
    }
    failed = known.get("failed", {})
    wanted = {name for name in asked.commands if name not in known.get("seconds", {}) or name in failed}
    if wanted & OF_MODEL:
        wanted.add("fit")
    found: dict[str, Any] = {each: dict(known.get(each, {})) for each in ("seconds", "processors", "failed")}
    for name, words in calls.items():
        if name not in wanted or (name in OF_MODEL and "fit" in found["failed"]):
            continue
        code, text, seconds, spent = weald(*words, limit=asked.limit)
        found["seconds"][name], found["processors"][name] = round(seconds, 1), round(spent, 1)
        found["failed"].pop(name, None)
        print(f"{file.name} {name} {seconds:.1f} s{' failed' if code else ''}", file=sys.stderr, flush=True)
        if code:
            found["failed"][name] = text[-500:]
        elif name in ("fit", "compare"):
            found[name] = json.loads(text)
    return found


def for_lightgbm(X: Any) -> Any:
    """A table of pandas with categories as such; matrices stay what they are."""
    if not hasattr(X, "column_names"):
        return X.astype(np.float64)
    X = X.to_pandas()
    for name in X.columns:
        kind = X[name].dtype.kind
        if kind in "OMmb" or str(X[name].dtype) in {"category", "str", "string"}:
            first = X[name].dropna().iloc[0]
            if hasattr(first, "toordinal") and kind == "O":
                X[name] = X[name].astype("datetime64[s]")
            numbers = X[name].dtype.kind in "Mmb"
            X[name] = X[name].astype("int64") if numbers else X[name].astype("category")
    X.columns = [f"c{j}" for j in range(X.shape[1])]
    return X


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def rounds_by_folds(model: Any, X: Any, codes: np.ndarray[Any, Any], wait: int, *, labels: bool) -> int:
    """How many rounds five folds find best, by the mean of their losses as weald has it."""
    import lightgbm

    n_labels = len(np.unique(codes))
    loss = "regression" if not labels else "binary" if n_labels == 2 else "multiclass"
    options = {"objective": loss, "verbose": -1, "num_threads": THREADS, "seed": 0}
    for name in ("learning_rate", "subsample", "subsample_freq", "colsample_bytree"):
        options[name] = getattr(model, name)
    if loss == "multiclass":
        options["num_class"] = n_labels
    folds = (StratifiedKFold if labels else KFold)(5, shuffle=True, random_state=0)
    found: Any = lightgbm.cv(
        options,
        lightgbm.Dataset(X, codes),
        num_boost_round=model.n_estimators,
        folds=list(folds.split(np.zeros(len(codes)), codes)),
        callbacks=[lightgbm.early_stopping(wait, verbose=False)],
    )
    return len(next(iter(found.values())))


def lightgbm_score(question: Question, *, shared: bool = False) -> float:
    """LightGBM on the split of `weald fit`; where shared, with the steps and draws of weald."""
    import lightgbm

    given = gather(question)
    X: Any = for_lightgbm(given.X)
    split, y = hold_out(given.task), given.task.y
    labels = given.task.kind == CLASSIFICATION
    codes = np.unique(y, return_inverse=True)[1] if labels else y.astype(np.float64)
    train = split.train
    of_training = split_rows(given.X, train)
    counts = np.unique(codes[train], return_counts=True)[1] if labels else np.array([CV_LABEL_ROWS])
    cls = lightgbm.LGBMClassifier if labels else lightgbm.LGBMRegressor
    ours = make("xgboost", given.task.kind, size=Size.of(of_training, y[train], given.task.kind)).get_params()
    model = cls(n_estimators=ROUNDS, learning_rate=RATE, verbose=-1, n_jobs=THREADS, random_state=0)
    wait = WAIT
    if shared:
        taken = {name: ours[name] for name in STEPS}
        model.set_params(subsample_freq=1, **taken)
        wait = ours["early_stopping_rounds"]
    if ours["early_stopping"] == "cv":
        known = rows_of(X, train)
        model.set_params(n_estimators=rounds_by_folds(model, known, codes[train], wait, labels=labels))
        model.fit(known, codes[train])
    else:
        stratify = codes[train] if labels and counts.min() > 1 else None
        train, watch = train_test_split(train, test_size=SHARE, random_state=0, stratify=stratify)
        if labels:  # labels that only the rows watched have cannot be watched
            watch = watch[np.isin(codes[watch], codes[train])]
        stop = lightgbm.early_stopping(wait, verbose=False)
        model.fit(
            rows_of(X, train),
            codes[train],
            eval_set=[(rows_of(X, watch), codes[watch])],
            callbacks=[stop],
        )
    truth, test = codes[split.test], rows_of(X, split.test)
    if not labels:
        return float(r2_score(truth, model.predict(test)))
    if len(np.unique(codes)) == 2:
        return float(roc_auc_score(truth, np.asarray(model.predict_proba(test))[:, 1]))
    return float(accuracy_score(truth, model.predict(test)))


def one(table: dict[str, Any], known: dict[str, Any], asked: Any) -> dict[str, Any]:
    """The row of a table."""
    file = asked.folder / table["file"]
    with tempfile.TemporaryDirectory() as place:
        found = commands(file, table["target"], Path(place), known, asked)
    row = known | {"table": table["name"]}
    row |= {each: found[each] for each in ("seconds", "processors", "failed")}
    if "fit" in found:
        score = found["fit"]["scores"][0]
        row |= {"metric": score["name"], "weald": score["value"], "baseline": score["baseline"]}
        row |= {"interval": [score["low"], score["high"]]}
    if "compare" in found:
        row["places"] = [[place["method"], place["score"]] for place in found["compare"]["places"]]
        row["compared_rows"], row["not_trained"] = found["compare"]["n_rows"], found["compare"]["failed"]
    if "weald" in row and "lightgbm" not in row and not asked.alone:
        libsvm = file.name.endswith(".svm.gz")
        start = time.perf_counter()
        question = Question((str(file),), None if libsvm else table["target"])
        with ProcessPoolExecutor(
            1, mp_context=FORK
        ) as other:  # this process is copied: it must have no threads
            row["lightgbm"] = other.submit(lightgbm_score, question).result()
            row["lightgbm_shared"] = other.submit(lightgbm_score, question, shared=True).result()
        row["seconds"]["lightgbm"] = round(time.perf_counter() - start, 1)
    return row


def rank(a: float, b: float) -> float:
    """Of the first of two scores, as far as four decimals tell."""
    a, b = round(a, 4), round(b, 4)
    return 1.5 if a == b else 1.0 if a > b else 2.0


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of results; `the same steps` is LightGBM with the steps and draws of weald."""
    names = COMMANDS
    heads = " | ".join(f"{name} s" for name in names)
    lines = [
        f"| table | metric | weald fit | LightGBM | the same steps | {heads} | failed |",
        "|---|---|--:|--:|--:|" + "--:|" * len(names) + "---|",
    ]
    told = [row for row in rows if "lightgbm" in row]
    for row in rows:
        failed = ", ".join(row["failed"])
        if "lightgbm" not in row:
            lines.append(f"| {row['table']} | | | | |{' |' * len(names)} {failed} |")
            continue
        seconds = " | ".join(str(row["seconds"].get(name, "")) for name in names)
        scores = " | ".join(f"{row[name]:.4f}" for name in ("weald", "lightgbm", "lightgbm_shared"))
        lines.append(f"| {row['table']} | {row['metric']} | {scores} | {seconds} | {failed} |")
    if not told:
        return "\n".join([*lines, ""])
    means = [
        np.mean([rank(row["weald"], row[name]) for row in told]) for name in ("lightgbm", "lightgbm_shared")
    ]
    lines.append(
        f"| mean rank of weald beside it | | | {means[0]:.2f} | {means[1]:.2f} |{' |' * (len(names) + 1)}"
    )
    return "\n".join([*lines, ""])


def size(table: dict[str, Any]) -> int:
    """By what tables are taken in order; of sparse ones some hundred columns count."""
    return int(table["rows"] * (300 if table["file"].endswith(".svm.gz") else table["cols"]))


def main() -> None:
    """Run, and write what was found after every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--commands", nargs="*", choices=COMMANDS, default=COMMANDS[:5])
    parser.add_argument("--alone", action="store_true", help="without LightGBM")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each command")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    asked = parser.parse_args()
    for name in IMPORTED:
        importlib.import_module(name)
    tables = json.loads((asked.folder / "index.json").read_text())
    rows: dict[str, dict[str, Any]] = {}
    if asked.json and asked.json.exists():
        rows = {row["table"]: row for row in json.loads(asked.json.read_text())}
    for table in sorted(tables, key=size):
        name = table["name"]
        if asked.only and name not in asked.only:
            continue
        rows[name] = one(table, rows.get(name, {}), asked)
        print(json.dumps(rows[name]), flush=True)
        if asked.json:
            asked.json.write_text(json.dumps(list(rows.values()), indent=1))
        if asked.markdown:
            asked.markdown.write_text(markdown(list(rows.values())))
    print(markdown(list(rows.values())))


if __name__ == "__main__":
    main()
