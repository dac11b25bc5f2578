"""A run on rows that stay in files: what trains, stops and tests are rows of one scan, told apart by a mask.

The target, weights, groups and the mask (a byte a row) are in memory; all other columns pass by in blocks.
The rows kept aside are those that a run in memory would keep aside.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from weald import engine
from weald.arrays import AnyEstimator
from weald.data.files.inputs import find
from weald.data.scanning.scan import ROWS, Scan, scan
from weald.errors import DataError, ParameterError
from weald.runs.columns import Found, look_at
from weald.runs.gathering import Given, Question, column_of, in_role, read_weight
from weald.runs.plan import SHARE, coded_bytes, size_in_words
from weald.runs.recipe import Recipe
from weald.runs.task import CLASSIFICATION, read_task
from weald.runs.training import Run, Split, hold_out, scores

if TYPE_CHECKING:
    import pyarrow as pa

OUT, TRAIN, STOP, TEST = range(4)
#: of the training rows, to stop early by where the method would fold them
STOP_SHARE = 0.1
#: files hold at most so many values a byte: smaller ones are not looked into
MOST_SQUEEZED = 100
#: what the first rows cannot prove of all
_UNPROVEN = ("all missing", "the same in every row")


def choose(
    question: Question, recipe: Recipe, asked: bool | None, *, report: bool
) -> tuple[Scan | None, list[str]]:
    """The scan to train from, or None to read the rows into memory; and what is to be said of it.

    Parameters
    ----------
    question : Question
        The files.
    recipe : Recipe
        Only boosting learns from pages.
    asked : bool or None
        Whether to; None where the coded rows would take more than a quarter of memory.
    report : bool
        Whether a report was asked for, which looks at rows in memory.
    """
    if asked is False:
        return None, []
    hindered = _hindrance(question, recipe, report)
    if asked:
        if hindered is not None:
            raise ParameterError(f"--pages keeps the rows on disk, and {hindered}.")
        found = scan(list(question.data))
        if found.sparse:
            raise DataError("--pages is for columns with names, and these files are in LIBSVM's format.")
        return found, ["the coded rows are in pages on disk, as asked"]
    large = _too_large(question, recipe)
    if large is None:
        return None, []
    found, n_bytes = large
    why = f"coded they take {size_in_words(n_bytes)}, more than a quarter of memory"
    if hindered is None and found.sparse:
        hindered = "files in LIBSVM's format are read whole here: XGB*.fit takes a scan of them"
    if hindered is not None:
        return None, [f"the rows are in memory, and {why}; pages on disk would take less, but {hindered}"]
    return found, [f"the coded rows are in pages on disk: {why}"]


def _hindrance(question: Question, recipe: Recipe, report: bool) -> str | None:
    """What needs the rows in memory, and the way."""
    if recipe.method != "xgboost":
        return f"the method {recipe.method!r} learns from rows in memory alone: use --method xgboost"
    layout = question.layout
    asked = {
        "--resample": recipe.resample is not None,
        "--threshold": recipe.threshold is not None,
        "--intervals": recipe.intervals,
        "--report": report,
        "--delimiter": layout.delimiter is not None,
        "--encoding": layout.encoding is not None,
        "--no-header": not layout.header,
        "--set categorical_features": recipe.settings.get("categorical_features") is not None,
    }
    named = [name for name, given in asked.items() if given]
    return f"{named[0]} needs them in memory: leave it out" if named else None


def _too_large(question: Question, recipe: Recipe) -> tuple[Scan, int] | None:
    """The scan of files whose codes exceed a quarter of memory, and their bytes."""
    most = SHARE * engine.memory_bytes()
    try:
        paths = find(list(question.data))
        if sum(path.stat().st_size for path in paths) * MOST_SQUEEZED < most:
            return None
        found = scan(list(question.data))
        n_bytes = coded_bytes(found, recipe.settings.get("max_bin"))
    except (DataError, OSError):
        return None  # what is no scan, standard input too; reading tells what is wrong
    return (found, n_bytes) if n_bytes > most else None


@dataclass(frozen=True, slots=True)
class PagedRows:
    """Some of the columns of a scan, with the target that was read from it."""

    scan: Scan
    columns: list[str]
    given: Given
    weight: NDArray[np.float64] | None
    part: NDArray[np.uint8]
    names: tuple[str, str]  # of target and weight, beside the columns

    def rows(self, part: int) -> Scan:
        """Those of one part, as often as wanted."""
        return scan(lambda: self._batches(part), memory=max(self.scan.memory, 1 << 20))

    def _batches(self, part: int) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        task, first, n_known = self.given.task, 0, 0
        begun = self.scan.key()
        for table in self.scan.tables(ROWS, self.columns):
            last = first + table.num_rows
            known = task.known[first:last]
            chosen = np.flatnonzero(self.part[first:last] == part)
            places = n_known + np.cumsum(known)[chosen] - 1
            rows = table.take(chosen)
            rows = rows.append_column(self.names[0], pa.array(task.y[places]))
            if self.weight is not None:
                rows = rows.append_column(self.names[1], pa.array(self.weight[places]))
            yield from rows.combine_chunks().to_batches()
            first, n_known = last, n_known + int(known.sum())
        if self.scan.key() != begun or first != len(task.known):
            raise DataError("A file has changed while it was read. Fit again when nobody writes to it.")


def gather_pages(found: Scan, question: Question, notes: list[str]) -> tuple[Given, list[str]]:
    """What `gather` tells, of files that are not read into memory; and the columns to learn from.

    Columns are looked at in the first rows alone, and left out only for what these prove.
    """
    import pyarrow as pa

    if question.target is None:
        raise DataError("Which column is to be learned? Name it with --target.")
    roles = [each for each in (question.weight, question.group, question.order) if each is not None]
    wanted = [found.need(name) for name in dict.fromkeys([question.target, *roles])]
    found.settle()
    kept = pa.concat_tables(list(found.tables(ROWS, wanted)))
    head = next(found.tables(ROWS))
    task = read_task(kept, question.target, question.task)
    seen = task.known[: head.num_rows]
    first = replace(task, y=task.y[: int(seen.sum())], known=seen)
    dropped = [name for name in (question.weight, question.group) if name is not None]
    X, told = look_at(head, first, drop=(*question.drop, *dropped), keep=question.keep)
    if head.num_rows < kept.num_rows:
        told = [each for each in told if each.what not in _UNPROVEN]
        notes = [*notes, f"columns were looked at in the first {head.num_rows:,} rows"]
    gone = {question.target, *(each.column for each in told if each.dropped)}
    columns = [name for name in head.column_names if name not in gone]
    known = kept.filter(pa.array(task.known))
    shown: list[Found] = [in_role(each, question) for each in told]
    given = Given(
        X.schema.empty_table() if columns == X.column_names else head.select(columns).slice(0, 0),
        task,
        shown,
        notes,
        read_weight(known, question.weight),
        column_of(known, question.group),
        column_of(known, question.order),
    )
    return given, columns


def run_pages(found: Scan, given: Given, columns: list[str], recipe: Recipe, test_share: float) -> Run:
    """Train on one part of the rows, stop by another, score on a third."""
    task, seed = given.task, recipe.seed or 0
    split = hold_out(task, test_share, seed=seed, groups=given.groups, ordered_by=given.order)
    model = recipe.estimator(task, np.empty((0, len(columns))), task.y[split.train])
    params = model.get_params(deep=False)
    stop = params.get("early_stopping")
    share = stop if isinstance(stop, float) else None if stop is None else STOP_SHARE
    rows = _parted(found, given, columns, recipe, split, share)
    target, weight = rows.names
    model.set_params(early_stopping=None, tree_method=params.get("tree_method") or "hist")
    if "class_weight" in params:
        model.set_params(class_weight=None)
    asked: dict[str, Any] = {} if rows.weight is None else {"sample_weight": weight}
    if share is not None:
        asked["eval_set"] = [(rows.rows(STOP), target)]
        if rows.weight is not None:
            asked["sample_weight_eval_set"] = [weight]
    start = time.perf_counter()
    model.fit(rows.rows(TRAIN), target, **asked)
    seconds = time.perf_counter() - start
    answers = _answers(model, rows.rows(TEST), task.kind)
    places = np.arange(len(split.test))[:, None]
    test, train = task.y[split.test], task.y[split.train]
    return Run(model, split, scores(answers, places, test, task.kind, train), seconds)


def _parted(
    found: Scan, given: Given, columns: list[str], recipe: Recipe, split: Split, share: float | None
) -> PagedRows:
    """The mask of the rows."""
    task = given.task
    train = split.train
    if task.kind == CLASSIFICATION and len(np.unique(task.y[train])) < 2:
        raise DataError(f"All {len(train):,} training rows have the label {task.y[train][0]!r}.")
    of_known = np.full(len(task.y), TRAIN, np.uint8)
    of_known[split.test] = TEST
    if share is not None:
        inner = hold_out(
            replace(task, y=task.y[train]),
            share,
            seed=recipe.seed or 0,
            groups=None if given.groups is None else given.groups[train],
            ordered_by=None if given.order is None else given.order[train],
        )
        of_known[train[inner.test]] = STOP
    part = np.full(len(task.known), OUT, np.uint8)
    part[task.known] = of_known
    weight = recipe.row_weights(task, task.y, given.weight)
    return PagedRows(
        found, columns, given, weight, part, (_free("target", columns), _free("weight", columns))
    )


def _free(name: str, taken: list[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


def _answers(model: AnyEstimator, rows: Scan, kind: str) -> Any:
    """What the model says of the rows, in the place of a model that is asked for them by number."""
    if kind != CLASSIFICATION:
        return _Numbers(np.asarray(model.predict(rows)))
    return _Labels(np.asarray(model.predict_proba(rows)), model.classes_)


class _Numbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predictions that are there already."""

    def __init__(self, answers: NDArray[Any]) -> None:
        self.answers = answers

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Those of rows by their numbers."""
        return np.asarray(self.answers[_numbers(rows)])


class _Labels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Probabilities that are there already."""

    def __init__(self, answers: NDArray[Any], classes: NDArray[Any]) -> None:
        self.answers, self.classes = answers, classes
        self.classes_ = classes

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The likeliest labels of rows by their numbers."""
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(axis=1)])

    def predict_proba(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The probabilities of rows by their numbers."""
        return np.asarray(self.answers[_numbers(rows)])


def _numbers(rows: object) -> NDArray[np.int64]:
    return np.asarray(rows).reshape(-1).astype(np.int64)
