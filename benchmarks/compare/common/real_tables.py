"""Every real table of the data folder as a learning task: columns as a user would give them, and the target.

`index.json` of the folder names file, target, kind of task and categorical columns. What its notes say about
ids, leaks and the usual variant of a target is in `NOTES` here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import tables

#: a class with fewer rows cannot be in every fold and still be learnt
FEWEST_ROWS_OF_A_CLASS = 10


@dataclass(frozen=True)
class Note:
    """What a table's notes ask for: columns to leave out, another target made of the given one.

    `ordered` are categories whose order means something, as a library that reads them as ranks sees anyway.
    """

    drop: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    task: str | None = None
    variant: str = ""  # the target in words, where it is not the column itself
    target: Callable[[Any], Any] | None = None
    rounds: int | None = None


def is_ill(column: Any) -> Any:
    return column > 0


#: known only once the aircraft is in the air, constant, or said again by other columns
AFTER_DEPARTURE = ("dep_time", "dep_delay", "arr_time", "air_time", "year", "time_hour")
NOTES = {
    "titanic": Note(drop=("PassengerId", "Name")),
    "heart_cleveland": Note(task="binary", variant="num > 0", target=is_ill),
    "heart_4sites": Note(task="binary", variant="num > 0", target=is_ill),
    "nyc_taxis_small": Note(drop=("pickup", "dropoff")),
    "adult": Note(drop=("split",)),
    "bank_marketing": Note(drop=("duration",)),
    "bike_sharing_hour": Note(drop=("dteday",), ordered=("season", "mnth", "hr", "weekday", "weathersit")),
    "higgs_18k": Note(drop=("part",)),
    # diagnoses are numbers of a catalogue in which kindred diseases are neighbours
    "diabetes130": Note(drop=("patient_nbr",), ordered=("age", "diag_1", "diag_2", "diag_3")),
    "weather_aus": Note(drop=("Date",)),
    "nycflights13": Note(
        drop=AFTER_DEPARTURE, task="binary", variant="arr_delay > 15", target=lambda delay: delay > 15
    ),
    "kddcup99_10pct": Note(
        task="binary",
        variant="label ≠ normal",
        target=lambda label: ~label.astype(str).str.startswith("normal"),
    ),
    "oil_spill": Note(drop=("x0",)),
    "be_mtpl97": Note(task="counts"),
    # xgboost takes most of a second for a tree of so many columns
    "news20": Note(rounds=5),
    "movie_reviews_bow": Note(rounds=20),
}


@dataclass(frozen=True)
class Task:
    """A table to learn: X is a frame or a CSR matrix; classes are 0, 1, …"""

    name: str
    task: str  # binary, multiclass, regression, counts
    X: Any
    y: NDArray[Any]
    variant: str = ""
    rounds: int | None = None

    @property
    def n_classes(self) -> int:
        """How many classes; of a number to learn, none."""
        return int(self.y.max()) + 1 if self.task in ("binary", "multiclass") else 0

    def rows(self, which: NDArray[np.int64]) -> tuple[Any, NDArray[Any]]:
        """Some rows and their targets."""
        return self.X.iloc[which] if hasattr(self.X, "iloc") else self.X[which], self.y[which]


def entries() -> list[dict[str, Any]]:
    """What the index of the data folder lists."""
    text = tables.data_file("index.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    return found


def read(entry: dict[str, Any], max_rows: int) -> Task:
    """One table, at most so many rows of it (drawn from a fixed seed)."""
    name, file = entry["name"], entry["file"]
    note = NOTES.get(name, Note())
    task = note.task or entry["task"].split()[0]
    if file.endswith(".svm.gz"):
        X, y = tables.svmlight(file)
        X = X.astype(np.float32)
    else:
        X, y = columns_and_target(entry, note)
    if task in ("binary", "multiclass"):
        X, y = frequent_classes(X, y)
    y = np.asarray(y, dtype=np.int64 if task in ("binary", "multiclass") else np.float64)
    made = Task(name, task, X, y, note.variant, note.rounds)
    if len(y) <= max_rows:
        return made
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:max_rows])
    X, y = made.rows(chosen)
    if task in ("binary", "multiclass"):
        X, y = frequent_classes(X, y)
    return Task(name, task, X, y, note.variant, note.rounds)


def columns_and_target(entry: dict[str, Any], note: Note) -> tuple[Any, Any]:
    """The frame without the target, categories as such, and the target where it is known."""
    import pandas as pd

    path = tables.data_file(entry["file"])
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    frame = frame.dropna(subset=entry["target"]).reset_index(drop=True)
    y = frame.pop(entry["target"])
    if note.target is not None:
        y = note.target(y)
    frame = frame.drop(columns=list(note.drop))
    kept = {}
    for i, name in enumerate(frame.columns):
        column = frame[name]
        if name in entry["cats"] or not pd.api.types.is_numeric_dtype(column):
            levels = pd.Categorical(column).rename_categories(str)
            column = pd.Series(levels.as_ordered() if name in note.ordered else levels)
        kept[f"c{i}"] = column  # LightGBM refuses some names
    return pd.DataFrame(kept), y.to_numpy()


def frequent_classes(X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The rows of classes that every fold can have, with classes 0, 1, …"""
    _, number, count = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    keep = np.flatnonzero(count[number] >= FEWEST_ROWS_OF_A_CLASS)
    X = X.iloc[keep].reset_index(drop=True) if hasattr(X, "iloc") else X[keep]
    return X, np.unique(number[keep], return_inverse=True)[1]
