"""`importance`: how much the columns matter to any fitted model, by any of the ways there are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.arrays import AnyEstimator, Floats, RandomState, TableLike, TargetLike, WeightLike
from weald.errors import DataError, DataTypeError, ParameterError
from weald.insight.columns.cells import Cells
from weald.insight.columns.options import MIN_CELL, ImportanceOptions
from weald.insight.columns.permuted import PermutedRows
from weald.insight.columns.records import Importance, sorted_importance
from weald.insight.columns.scoring import (
    Scoring,
    ToldOfSome,
    jackknife_error,
    leave_out_groups,
    scores_without,
)
from weald.insight.columns.shap_means import shap_importance
from weald.insight.columns.splits import split_importance
from weald.insight.made_of_trees import fitted_model
from weald.inspection.groups import column_groups, column_list
from weald.parameters import checked
from weald.pictures.trained_on import frame_library
from weald.progress import Progress
from weald.uncertainty.bootstrap.options import drawn_seed
from weald.uncertainty.scores.evaluators import Evaluator
from weald.uncertainty.scores.told import Given, Told

_OWNER = "importance"
_SPLITS = ("gain", "cover", "count")
Groups = Sequence[tuple[Hashable, list[int]]]


def importance(
    model: object,
    X: TableLike | None = None,
    y: TargetLike | None = None,
    *,
    method: str = "permutation",
    metric: str | Callable[..., Any] | None = None,
    groups: Mapping[str, object] | Iterable[object] | None = None,
    n_repeats: int = 5,
    given: Sequence[object] | None = None,
    cells: str = "tree",
    min_cell: int = MIN_CELL,
    sample_weight: WeightLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | int = False,
) -> Importance:
    """How much the columns of a table matter to a fitted model, with standard errors.

    Parameters
    ----------
    model : fitted estimator
        Of weald or of any library with scikit-learn's methods; a `Booster` too.
    X : table, default=None
        The rows to judge by, best those that the model did not see. "oob" needs the training table;
        "gain", "cover" and "count" need none.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs), default=None
        Their labels or numbers, for "permutation", "conditional" and "oob".
    method : str, default="permutation"
        "permutation": how much the metric drops when a column takes the values of other rows.
        "conditional": the same, but only rows that are alike in other columns exchange values, so that a
        column matters for what no other column tells.
        "oob": by the rows that each tree of a forest did not see (`permutation_importance` of forests).
        "shap": the mean size of the SHAP values (`explain`); those of models that are not trees are estimated
        against 25 rows of X, which takes long for many rows.
        "gain", "cover", "count": what the splits on a column gained, how much weight came to them, and how
        many they are.
    metric : str or callable, default=None
        A scorer of scikit-learn by name, any scorer, or a function of (y_true, y_pred) of which more is
        better; scikit-learn's own functions of errors and losses are known as such. None for the accuracy of
        classifiers and R² of others.
    groups : dict or list, default=None
        Columns that count together, by name or position: a dict from the group's name to its columns, or a
        list with a column or a list of columns per group. None: every column by itself.
    n_repeats : int, default=5
        Permutations of each column.
    given : list of columns, default=None
        For "conditional": in which columns rows are to be alike; None for all others.
    cells : {"tree", "proximity"}, default="tree"
        For "conditional": whether rows are alike that share a leaf of a tree that predicts the column from
        the others, or by how many trees of a forest in which they share one.
    min_cell : int, default=20
        For "conditional": the fewest rows of such a leaf.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    random_state : int or RandomState, default=0
        What the permutations start from; None draws anew every time.
    n_jobs : int, default=None
        Permutations that are predicted at once, for models that are not weald's; None for one. weald's models
        use the threads that they were made with.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    Importance
        The columns by falling importance, with `to_frame()` and `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 1] + 0.1 * X[:, 2] > 0
    >>> model = weald.RandomForestClassifier(50, random_state=0).fit(X[:200], y[:200])
    >>> found = weald.importance(model, X[200:], y[200:])
    >>> found.names[0], bool(found.importances_mean[0] > 0.3)
    (1, True)
    """
    options = checked(
        ImportanceOptions,
        _OWNER,
        {
            "method": method,
            "n_repeats": n_repeats,
            "cells": cells,
            "min_cell": min_cell,
            "random_state": random_state,
            "n_jobs": n_jobs,
        },
    )
    fitted = fitted_model(model, _OWNER)
    library = getattr(fitted, "_frame_library", None) if X is None else frame_library(X)
    if options.method in _SPLITS:
        return split_importance(fitted, options.method, groups, library)
    if X is None:
        raise DataError(
            f"{_OWNER}(method={options.method!r}) needs X: models do not keep the rows that they were fitted "
            "on. Give a table, or ask for method='gain', which the trees alone tell."
        )
    if options.method == "shap":
        seed = drawn_seed(options.random_state)
        return shap_importance(fitted, X, groups, sample_weight, library, seed, verbose=bool(progress))
    if options.method == "oob":
        return _out_of_bag(fitted, X, y, metric, groups, options, sample_weight, library)
    if given is not None and options.method != "conditional":
        raise ParameterError(
            f"`given` of {_OWNER} is for method='conditional'; the method is {options.method!r}."
        )
    task = PermutationTask.of(fitted, X, y, metric, groups, given, sample_weight, options)
    return task.importance(options, library, bar=bool(progress))


def beyond_rounding(score: float, other: float) -> float:
    """How much more the first is than the second; 0 where that is less than sums of rows are sure of."""
    difference = score - other
    unsure = 64 * np.finfo(np.float64).eps * max(abs(score), abs(other))
    return 0.0 if abs(difference) <= unsure else difference


@dataclass(frozen=True, slots=True, eq=False)
class PermutationTask:
    """A model, the rows and the metric that judge it, and what is permuted."""

    model: AnyEstimator
    rows: PermutedRows
    scoring: Scoring
    groups: Groups
    given: list[int]
    seed: int

    @classmethod
    def of(
        cls,
        model: AnyEstimator,
        X: TableLike,
        y: TargetLike | None,
        metric: str | Callable[..., Any] | None,
        groups: Mapping[Any, object] | Iterable[object] | None,
        given: Sequence[object] | None,
        sample_weight: WeightLike | None,
        options: ImportanceOptions,
    ) -> PermutationTask:
        rows = PermutedRows(model, X)
        scoring = Scoring.of(metric, model, y, rows.n_rows, sample_weight, _OWNER)
        known = list(range(len(rows.names)))
        if given is not None:
            known = column_list(given, rows.names, "given", _OWNER)
        seed = drawn_seed(options.random_state)
        return cls(model, rows, scoring, column_groups(groups, rows.names, "groups", _OWNER), known, seed)

    def importance(
        self, options: ImportanceOptions, library: str | None, *, bar: bool, errors: bool = True
    ) -> Importance:
        """The importances; without `errors` standard errors are left out (NaN), which take most of the time
        where a metric follows from no sums.
        """
        n_groups, n_repeats = len(self.groups), options.n_repeats
        before = Told(self.model, self.rows.given)
        base = self.scoring.of_told(before)
        score = base.value()
        if not np.isfinite(score):
            raise DataError(
                f"The metric {self.scoring.name!r} of {_OWNER} is {score} on these rows, so nothing can be "
                "said of what lowers it. Check y and the predictions."
            )
        left_out = leave_out_groups(self.scoring.y, self.seed, base) if errors else None
        single, spread_of_rows = np.zeros((n_groups, n_repeats)), np.zeros(n_groups)
        busy = [g for g, (_, columns) in enumerate(self.groups) if not self.rows.unused(columns)]
        shown = Progress(len(busy), word="column") if bar else None
        with shown or nullcontext():
            for g in busy:
                single[g], spread_of_rows[g] = self._one(g, options, before, base, left_out)
                if shown is not None:
                    shown.advance({})
        spread = single.std(axis=1, ddof=1) if n_repeats > 1 else np.full(n_groups, np.nan)
        return sorted_importance(
            [name for name, _ in self.groups],
            single.mean(axis=1),
            spread_of_rows,
            options.method,
            importances_repeat_se=spread / np.sqrt(n_repeats),
            importances=single,
            metric=self.scoring.name,
            score=float(score),
            n_rows=self.rows.n_rows,
            less_is_better=self.scoring.sign < 0,
            frame_library=library,
        )

    def _one(
        self, g: int, options: ImportanceOptions, before: Told, base: Evaluator, left_out: Any
    ) -> tuple[Floats, float]:
        """What permuting one group costs, in every repeat, and the standard error of the mean."""
        columns, score = self.groups[g][1], base.value()
        n_parts = 0 if left_out is None else int(left_out.max()) + 1
        orders = self._orders(columns, options)

        def cost(order: Any) -> tuple[float, Floats]:
            permuted = self.scoring.of_told(self._permuted(columns, order, before), base)
            drop = self.scoring.sign * beyond_rounding(score, permuted.value())
            if left_out is None:
                return drop, np.zeros(0)
            # A row is in a permuted table twice: as itself, and where its value went.
            gone = (left_out, left_out[order])
            return drop, scores_without(base, gone, n_parts) - scores_without(permuted, gone, n_parts)

        found = _side_by_side(cost, orders, options.n_jobs if self.rows.side_by_side else 1)
        without = np.mean([parts for _, parts in found], axis=0)
        return np.array([drop for drop, _ in found]), jackknife_error(without)

    def _permuted(self, columns: list[int], order: Any, before: Told) -> Told:
        """What the model says with some columns in another order of rows."""
        rows = self.rows.moved(columns, order)
        if rows is None:
            return Told(self.model, self.rows.permuted(columns, order))
        return ToldOfSome(self.model, self.rows.some(columns, order, rows), before, rows)

    def _orders(self, columns: list[int], options: ImportanceOptions) -> list[Any]:
        """The permutations of one group, keyed by its first column: no other group matters."""
        rngs = [np.random.default_rng([self.seed, 2, columns[0], r]) for r in range(options.n_repeats)]
        if options.method == "permutation":
            return [rng.permutation(self.rows.n_rows) for rng in rngs]
        cells = Cells(
            self.rows.table(),
            columns,
            self.given,
            by=options.cells,
            min_cell=options.min_cell,
            n_repeats=options.n_repeats,
            seed=self.seed,
        )
        return [cells.order(r, rng) for r, rng in enumerate(rngs)]


def _side_by_side(
    cost: Callable[[Any], tuple[float, Floats]], orders: list[Any], n_jobs: int | None
) -> list[tuple[float, Floats]]:
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    if effective_n_jobs(n_jobs) == 1:
        return [cost(order) for order in orders]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(cost)(order) for order in orders))


def _out_of_bag(
    model: AnyEstimator,
    X: TableLike,
    y: TargetLike | None,
    metric: str | Callable[..., Any] | None,
    groups: Mapping[str, object] | Iterable[object] | None,
    options: ImportanceOptions,
    sample_weight: WeightLike | None,
    library: str | None,
) -> Importance:
    """The importances that forests tell by the rows that their trees did not see."""
    if not (hasattr(model, "permutation_importance") and hasattr(model, "bags_")):
        raise DataTypeError(
            f"{_OWNER}(method='oob') is for weald's forests, whose trees did not see some rows; got "
            f"{type(model).__name__}. Use method='permutation' on rows that it was not fitted on."
        )
    labels = hasattr(model, "classes_")
    error, name, loss = None, "accuracy" if labels else "the mean squared error", not labels
    if y is None:
        raise DataError(f"{_OWNER}(method='oob') needs y, the training target; got None.")
    if metric is not None:
        scoring = Scoring.of(metric, model, y, len(np.asarray(y)), None, _OWNER)
        name, loss = scoring.name, scoring.sign < 0

        def error(y_true: Any, y_pred: Any) -> float:
            return -scoring.sign * float(scoring.scorer(Given(y_pred, y_true), None, y_true))

    found = model.permutation_importance(
        X,
        y,
        groups=groups,
        metric=error,
        n_repeats=options.n_repeats,
        random_state=options.random_state,
        sample_weight=sample_weight,
    )
    return sorted_importance(
        found.names,
        found.importances_mean,
        found.importances_se,
        "oob",
        metric=name,
        n_rows=model.bags_.n_rows,
        less_is_better=loss,
        frame_library=library,
    )
