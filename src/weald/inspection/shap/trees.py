"""SHAP values of forests, exact: path-dependent, against a background, or approximate."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from weald import engine
from weald.arrays import Floats, WeightLike
from weald.data.native import naming_infinite, native_columns
from weald.data.table import Table
from weald.data.target import read_weight
from weald.engine.memory import memory_bytes
from weald.errors import DataError, ParameterError, WealdError
from weald.model.forest import COMBINATION, Forest
from weald.model.predict import raw_scores
from weald.progress import display_on

#: rows times trees of a step of the progress bar
_STEP = 10_000

# The forest laid out for explanations: made on first use, forgotten with the forest, never pickled or saved.
_explainers: weakref.WeakKeyDictionary[Forest, engine.Explainer] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Background:
    """Rows that columns are taken from where they are not known, and what each weighs."""

    table: Table  # aligned to the model's schema
    weight: Floats  # (n_rows,), adding up to 1

    @classmethod
    def of(cls, table: Table, weight: WeightLike | None = None) -> Background:
        """The rows of a table, each with the same weight unless others are given."""
        return cls(table, shares_of_rows(weight, table.n_rows))


def shares_of_rows(weight: WeightLike | None, n_rows: int) -> Floats:
    """What the rows of a background count, adding up to 1."""
    if n_rows == 0:
        raise no_rows()
    try:
        found = read_weight(weight, n_rows=n_rows)
    except WealdError as error:
        raise type(error)(str(error).replace("sample_weight", "background_weight")) from error
    if found is None:
        return np.full(n_rows, 1.0 / n_rows)
    return np.ascontiguousarray(found / found.sum())


def no_rows() -> DataError:
    """The error of an empty background."""
    return DataError(
        "The background has no rows. Give some of the training table; trees also take None, for "
        "path-dependent values."
    )


def shap_values(
    forest: Forest,
    table: Table,
    trees: tuple[int, int] | None = None,
    *,
    background: Background | None = None,
    interactions: bool = False,
    approximate: bool = False,
    n_threads: int = 1,
    verbose: bool | int = False,
) -> tuple[Floats, Floats]:
    """What each column, or each pair of columns, adds to the raw scores, and what is there without any.

    Parameters
    ----------
    forest : Forest
        The trees; without splits on sums of columns.
    table : Table
        The rows, aligned to the model's schema.
    trees : (int, int), optional
        The trees [first, last); None for all.
    background : Background, optional
        Rows that stand for what is not known. None: the training rows, by the covers of the nodes.
    interactions : bool
        Whether to tell pairs of columns apart.
    approximate : bool
        Whether to give a column what the means of the nodes change by along a row's path, which is quicker
        and depends on the order of the splits.
    n_threads : int
        Threads; the result does not depend on it.
    verbose : bool or int
        Whether to show progress.

    Returns
    -------
    values : ndarray of shape (n_rows, n_outputs, n_columns), or (n_rows, n_outputs, n_columns, n_columns)
        They add up to the raw score without `rest` and the base score.
    rest : ndarray of shape (n_outputs,)
        The mean of the trees over the rows they were grown on, or over the background.
    """
    check_explainable(forest)
    if approximate and (interactions or background is not None):
        what = "interactions" if interactions else "a background"
        raise ParameterError(f"Approximate values have no {what}. Leave approximate=True out.")
    span = (0, forest.n_trees) if trees is None else trees
    explainer = _explainer(forest)
    out = zeros(table.n_rows, forest.n_outputs, forest.n_columns, interactions=interactions)
    with _telling(verbose, table.n_rows * (span[1] - span[0])) as tell, naming_infinite(table):
        rows = native_columns(table, by_rows=True)
        if approximate:
            explainer.approximate(rows, out, span, n_threads=n_threads, tell=tell)
        elif background is None:
            explainer.explain(rows, out, span, n_threads=n_threads, tell=tell)
        else:
            rest = _mean_scores(forest, background, span, n_threads)
            against = native_columns(background.table, by_rows=True)
            explainer.explain(
                rows,
                out,
                span,
                background=against,
                weight=background.weight,
                n_threads=n_threads,
                tell=tell,
            )
            return out, rest
    return out, explainer.expected(span)


def check_explainable(forest: Forest) -> None:
    """Refuse trees that split on sums of columns."""
    if (forest.kind == COMBINATION).any():
        raise DataError(
            "SHAP values are for splits on one column each; these trees split on sums of columns "
            "(feature_combinations). Explain the model as a function: weald.explain(model.predict, X, "
            "background=...)."
        )


def zeros(n_rows: int, n_outputs: int, n_columns: int, *, interactions: bool) -> Floats:
    """Room for values; MemoryError, in words, before it is tried, if there is none."""
    shape = (n_rows, n_outputs, n_columns, n_columns) if interactions else (n_rows, n_outputs, n_columns)
    n_bytes, most = 8 * int(np.prod(shape, dtype=object)), memory_bytes()
    what = "Interactions" if interactions else "Values"
    words = (
        f"{what} of {n_rows:,} rows, {n_columns:,} columns and {n_outputs:,} outputs take "
        f"{n_bytes / 2**30:,.1f} GB, and this process may use {most / 2**30:,.1f} GB. Explain fewer rows at "
        f"a time{', or values instead of interactions' if interactions else ''}."
    )
    if n_bytes > most:
        raise MemoryError(words)
    try:
        return np.zeros(shape)
    except MemoryError:
        raise MemoryError(words) from None


def _explainer(forest: Forest) -> engine.Explainer:
    found = _explainers.get(forest)
    if found is None:
        names = (*engine.PREDICTED_ARRAYS, "cover")
        arrays = {name: getattr(forest, name) for name in names}
        found = _explainers[forest] = engine.Explainer(arrays, forest.n_columns, forest.width)
    return found


def _mean_scores(forest: Forest, background: Background, trees: tuple[int, int], n_threads: int) -> Floats:
    """What the trees predict for the background, in the mean."""
    with naming_infinite(background.table):
        scores = raw_scores(forest, background.table, n_threads=n_threads, trees=trees)
    mean: Floats = background.weight @ (scores - forest.base_score)
    return mean


@contextmanager
def _telling(verbose: bool | int, n_units: int) -> Iterator[Callable[[int], None] | None]:
    """What hears of the work that is done: a bar on stderr, or nothing."""
    if not verbose:
        yield None
        return
    import sys

    n_steps = max(1, -(-n_units // _STEP))
    display = None if sys.stderr is None else display_on(sys.stderr, n_steps, "step")

    def tell(done: int) -> None:
        if display is not None:
            display.show(done // _STEP, "")

    ended = 0
    try:
        yield tell
        ended = n_steps
    finally:
        if display is not None:
            display.close(ended, "")
