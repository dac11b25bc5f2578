"""Every table straight from its file by the command line, and its accuracy beside that of LightGBM.

    python benchmarks/compare/front_door/tables.py FOLDER [--only NAME …] [--json OUT] [--markdown OUT]

FOLDER has the tables and an `index.json` that names files and targets. Each command runs with no option but
`--target`. LightGBM gets the rows that `weald fit` trained on, 2,000 rounds of 0.1 and early stopping on a
tenth of them, as weald has; scores are those of `weald fit`: the area of two labels, else accuracy; R².
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from weald.runs.gathering import Given, Question, gather
from weald.runs.task import CLASSIFICATION
from weald.runs.training import hold_out

#: what LightGBM gets
ROUNDS, RATE, WAIT, SHARE = 2000, 0.1, 30, 0.1


def weald(*words: object) -> tuple[int, str, float]:
    """A command: exit code, output, seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "weald", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout if run.returncode == 0 else run.stderr, time.perf_counter() - start


def commands(file: Path, target: str, folder: Path, *, compare: bool) -> dict[str, Any]:
    """What each command says of a table."""
    model = folder / "m.weald"
    asked = () if file.name.endswith(".svm.gz") else ("--target", target)
    calls: dict[str, tuple[object, ...]] = {
        "fit": ("fit", file, *asked, "--model", model, "--json"),
        "predict": ("predict", model, file, "-o", folder / "o.parquet"),
        "evaluate": ("evaluate", model, file, *asked, "--json"),
        "info": ("info", model, "--json"),
        "explain": ("explain", model, file, "--json"),
    }
    if compare:
        calls["compare"] = ("compare", file, *asked, "--json")
    found: dict[str, Any] = {"seconds": {}, "failed": {}}
    for name, words in calls.items():
        code, text, seconds = weald(*words)
        found["seconds"][name] = round(seconds, 1)
        if code:
            found["failed"][name] = text[-300:]
        elif name == "fit":
            found["fit"] = json.loads(text)
    return found


def lightgbm_score(given: Given) -> float:
    """LightGBM on the split of `weald fit`."""
    import lightgbm

    X: Any = given.X
    if hasattr(X, "column_names"):
        X = X.to_pandas()
        for name in X.columns:
            kind = X[name].dtype.kind
            if kind in "OMmb" or str(X[name].dtype) in {"category", "str", "string"}:
                dates = kind in "Mm"
                X[name] = X[name].astype("int64") if dates or kind == "b" else X[name].astype("category")
        X.columns = [f"c{j}" for j in range(X.shape[1])]
    split, y = hold_out(given.task), given.task.y
    labels = given.task.kind == CLASSIFICATION
    codes = np.unique(y, return_inverse=True)[1] if labels else y.astype(np.float64)
    counts = np.bincount(codes[split.train]) if labels else np.array([2])
    train, watch = train_test_split(
        split.train,
        test_size=SHARE,
        random_state=0,
        stratify=codes[split.train] if counts.min() > 1 else None,
    )

    def rows(which: np.ndarray[Any, Any]) -> Any:
        return X.iloc[which] if hasattr(X, "iloc") else X[which].astype(np.float64)

    cls = lightgbm.LGBMClassifier if labels else lightgbm.LGBMRegressor
    model = cls(n_estimators=ROUNDS, learning_rate=RATE, verbose=-1, n_jobs=2, random_state=0)
    stop = lightgbm.early_stopping(WAIT, verbose=False)
    if labels:  # labels that only the rows watched have cannot be watched
        watch = watch[np.isin(codes[watch], codes[train])]
    model.fit(rows(train), codes[train], eval_set=[(rows(watch), codes[watch])], callbacks=[stop])
    truth, test = codes[split.test], rows(split.test)
    if not labels:
        return float(r2_score(truth, model.predict(test)))
    if len(np.unique(codes)) == 2:
        return float(roc_auc_score(truth, model.predict_proba(test)[:, 1]))
    return float(accuracy_score(truth, model.predict(test)))


def one(table: dict[str, Any], folder: Path, *, compare: bool) -> dict[str, Any]:
    """The row of a table."""
    file = folder / table["file"]
    with tempfile.TemporaryDirectory() as place:
        found = commands(file, table["target"], Path(place), compare=compare)
    row = {"table": table["name"], "seconds": found["seconds"], "failed": found["failed"]}
    if "fit" in found:
        score = found["fit"]["scores"][0]
        row |= {"metric": score["name"], "weald": score["value"], "baseline": score["baseline"]}
        libsvm = file.name.endswith(".svm.gz")
        row["lightgbm"] = lightgbm_score(gather(Question((str(file),), None if libsvm else table["target"])))
    return row


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of results."""
    lines = ["| table | metric | weald fit | LightGBM | fit s | failed |", "|---|---|--:|--:|--:|---|"]
    ranks = []
    for row in rows:
        if "weald" not in row:
            lines.append(f"| {row['table']} | | | | | {', '.join(row['failed'])} |")
            continue
        a, b = round(row["weald"], 4), round(row["lightgbm"], 4)
        ranks.append(1.5 if a == b else 1.0 if a > b else 2.0)
        failed = ", ".join(row["failed"])
        lines.append(
            f"| {row['table']} | {row['metric']} | {a:.4f} | {b:.4f} | {row['seconds']['fit']} | {failed} |"
        )
    mean = float(np.mean(ranks)) if ranks else float("nan")
    return "\n".join([*lines, f"| mean rank | | {mean:.2f} | {3 - mean:.2f} | | |", ""])


def main() -> None:
    """Run, and write what was found after every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--no-compare", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    asked = parser.parse_args()
    tables = json.loads((asked.folder / "index.json").read_text())
    rows: list[dict[str, Any]] = []
    for table in sorted(tables, key=lambda each: each["rows"] * each["cols"]):
        if asked.only and table["name"] not in asked.only:
            continue
        rows.append(one(table, asked.folder, compare=not asked.no_compare))
        print(json.dumps(rows[-1]), flush=True)
        if asked.json:
            asked.json.write_text(json.dumps(rows, indent=1))
        if asked.markdown:
            asked.markdown.write_text(markdown(rows))
    print(markdown(rows))


if __name__ == "__main__":
    main()
