"""`counterfactual`: the smallest change of few columns that gives another prediction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weald.arrays import AnyEstimator, Integers, TableLike
from weald.data.adapters import to_table
from weald.data.frames.user_rows import indexable, outline
from weald.data.rows import take_rows, take_values, with_columns
from weald.data.table import LevelColumn, Table
from weald.errors import DataError, ParameterError, told
from weald.estimators.shared.members import in_order
from weald.insight.changes.candidates import Candidates, ColumnLimits, candidates_of
from weald.insight.changes.goals import Goal, goal_of
from weald.insight.changes.options import CounterfactualOptions
from weald.insight.changes.records import ColumnChange, Counterfactuals, RowChange, plain
from weald.insight.changes.search import Search
from weald.insight.changes.stacked import MadeRows, stacked, value_at
from weald.insight.made_of_trees import ModelTrees, deciding_trees, fitted_model, predicts_tables
from weald.inspection.groups import column_list
from weald.numbers import as_float
from weald.parameters import checked
from weald.pictures.trained_on import frame_library

_OWNER = "counterfactual"


def counterfactual(
    model: object,
    row: object,
    *,
    target: object = None,
    X: TableLike | None = None,
    fixed: Sequence[object] = (),
    directions: Mapping[str, int] | Mapping[int, int] | None = None,
    ranges: Mapping[str, object] | Mapping[int, object] | None = None,
    max_columns: int = 3,
    n: int = 3,
    min_probability: float | None = None,
    cost: str = "quantile",
    quantiles: tuple[float, float] = (0.01, 0.99),
    budget: int = 200_000,
) -> Counterfactuals:
    """The smallest changes of a row that change what a model says of it.

    Of every column one value is tried between every two thresholds of the model's trees (of other models
    values at quantiles), always one that some row of X has. A change costs, for each column, the share of
    rows of X between the two values; another category costs 1, and so does a value in the place of a gap.
    Changes of one and two columns are tried in the order of their cost, so that none is overlooked; more
    columns are searched by extending what comes nearest. Every answer is predicted by the model.

    Parameters
    ----------
    model : fitted estimator
        Of weald or of any library with scikit-learn's methods; of one output.
    row : table of one row, mapping or sequence
        The row that is asked about, with the columns of X.
    target : label, or (low, high), default=None
        What the model should say: a label, or for numbers a range with None for an open end. None for any
        other label.
    X : table
        Rows of training, or others like them, from which values are taken. Models do not keep them.
    fixed : list of columns, default=()
        Columns that cannot change.
    directions : dict, default=None
        1 for columns that can only grow, -1 for those that can only become less.
    ranges : dict, default=None
        For numbers (low, high), None for an open end; for categories a list of those that are possible.
    max_columns : int, default=3
        The most columns that change.
    n : int, default=3
        The most answers; each changes other columns.
    min_probability : float, default=None
        For labels: how probable the wanted one must be.
    cost : {"quantile", "spread"}, default="quantile"
        What a change of a number costs: the share of rows of X between the two values, or their distance in
        robust standard deviations (1.4826 times the median absolute deviation).
    quantiles : (float, float), default=(0.01, 0.99)
        Numbers beyond these quantiles of X are not proposed.
    budget : int, default=200_000
        The most rows that are predicted for pairs of columns, and again for more.

    Returns
    -------
    Counterfactuals
        The answers, the cheapest first, with `to_frame()` and `rows`; none if none was found.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> X = np.random.default_rng(0).normal(size=(300, 3)).round(2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    >>> model = weald.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    >>> found = weald.counterfactual(model, [-0.5, 0.1, 0.0], X=X, fixed=[1])
    >>> found.before, found[0].prediction, [change.column for change in found[0].changes]
    ('no', 'yes', [0])
    """
    options = checked(
        CounterfactualOptions,
        _OWNER,
        {"max_columns": max_columns, "n": n, "cost": cost, "budget": budget},
    )
    fitted = fitted_model(model, _OWNER)
    if X is None:
        raise DataError(
            f"{_OWNER} needs X: which values are plausible is told by rows like those of training, and "
            f"{type(fitted).__name__} does not keep them, loaded from a file or not. Give the training table."
        )
    asked = _Asked.of(fitted, X, row)
    goal = goal_of(fitted, target, np.asarray(fitted.predict(asked.own())), min_probability)
    limits = _limits(asked, fixed, directions, ranges)
    columns = [
        asked.candidates(j, limit, _checked_quantiles(quantiles), options.cost)
        for j, limit in limits.items()
        if asked.matters(j)
    ]
    columns = [each for each in columns if len(each.rows)]
    search = Search.of(
        columns,
        lambda m, donors: goal.reached(asked.made(m, donors)),
        lambda m, donors: goal.short(asked.made(m, donors)),
        asked.rows.n_known,
        options.budget,
    )
    if not goal.reached(asked.own())[0]:
        search.run(options.n, options.max_columns)
    return _told(asked, goal, search, options, len(columns), frame_library(X))


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The model, the known rows with the row that is asked about below them, and how the model reads them."""

    model: AnyEstimator
    trees: ModelTrees | None
    rows: MadeRows
    names: Sequence[Hashable]
    table: Table  # all rows, as the model reads them or as weald does
    read: bool  # whether the model predicts such tables

    @classmethod
    def of(cls, model: AnyEstimator, X: TableLike, row: object) -> _Asked:
        trees = deciding_trees(model)
        known = indexable(X) if trees is None else in_order(X, trees.schema, type(model).__name__)
        whole = stacked(known, row, _OWNER)
        table = to_table(whole) if trees is None else trees.read(whole)
        read = trees is not None and predicts_tables(model, table)
        return cls(model, trees, MadeRows(whole), outline(whole).names, table, read)

    def own(self) -> Any:
        """The row as it is, as a user's table."""
        return self.rows.made(1, {})

    def made(self, n_made: int, donors: Mapping[int, Integers]) -> Any:
        """Changed rows in the form that the model reads quickest."""
        if not self.read:
            return self.rows.made(n_made, donors)
        same = take_rows(self.table, np.full(n_made, self.rows.n_known, np.int64))
        return with_columns(same, {j: take_values(self.table.columns[j], rows) for j, rows in donors.items()})

    def matters(self, column: int) -> bool:
        """Whether the model may read the column."""
        return self.trees is None or bool(self.trees.columns_read()[column])

    def candidates(
        self, j: int, limits: ColumnLimits, quantiles: tuple[float, float], cost: str
    ) -> Candidates:
        """The values that a column could have."""
        column = self.table.columns[j]
        known = take_values(column, np.arange(self.rows.n_known))
        own = take_values(column, np.array([self.rows.n_known]))
        thresholds = None if self.trees is None else self.trees.thresholds(j)
        return candidates_of(j, known, own, limits, thresholds, quantiles, cost)


def _limits(
    asked: _Asked,
    fixed: Sequence[object],
    directions: Mapping[Any, int] | None,
    ranges: Mapping[Any, object] | None,
) -> dict[int, ColumnLimits]:
    """What is allowed in each column that may change."""
    still = set(column_list(fixed, asked.names, "fixed", _OWNER))
    found = {j: ColumnLimits() for j in range(len(asked.names)) if j not in still}
    for parameter, given in (("directions", directions), ("ranges", ranges)):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            raise ParameterError(f"`{parameter}` of {_OWNER} must be a dict by column; got {told(given)}.")
        for name, value in given.items():
            j = column_list([name], asked.names, parameter, _OWNER)[0]
            change = _direction if parameter == "directions" else _range
            limits = change(found.get(j, ColumnLimits()), asked.table.columns[j], name, value)
            if j in found:
                found[j] = limits
    return found


def _direction(limits: ColumnLimits, column: object, name: object, value: object) -> ColumnLimits:
    if isinstance(value, bool) or value not in (-1, 0, 1):
        raise ParameterError(
            f"`directions` of {_OWNER} must be 1 (only more), -1 (only less) or 0 for {told(name)}; got "
            f"{told(value)}."
        )
    if value and isinstance(column, LevelColumn) and not column.ordered:
        raise ParameterError(
            f"`directions` of {_OWNER} names {told(name)}, whose categories have no order. Use "
            f"ranges={{{told(name)}: [...]}} for those that are possible, or fixed."
        )
    return replace(limits, direction=int(value))


def _range(limits: ColumnLimits, column: object, name: object, value: object) -> ColumnLimits:
    if isinstance(column, LevelColumn):
        if isinstance(value, str | bytes) or not isinstance(value, list | tuple | set | frozenset):
            raise ParameterError(
                f"`ranges` of {_OWNER} must be a list of categories for {told(name)}; got {told(value)}."
            )
        return replace(limits, levels=frozenset(value))
    pair = list(value) if isinstance(value, list | tuple) and len(value) == 2 else [np.nan, np.nan]
    low = -np.inf if pair[0] is None else as_float(pair[0])
    high = np.inf if pair[1] is None else as_float(pair[1])
    if np.isnan(low) or np.isnan(high) or low > high:
        raise ParameterError(
            f"`ranges` of {_OWNER} must be (low, high) for {told(name)}, with None for an open end; got "
            f"{told(value)}."
        )
    return replace(limits, low=low, high=high)


def _checked_quantiles(quantiles: object) -> tuple[float, float]:
    pair = list(quantiles) if isinstance(quantiles, tuple | list) and len(quantiles) == 2 else []
    low, high = (as_float(each) for each in pair) if pair else (np.nan, np.nan)
    if not 0 <= low < high <= 1:
        raise ParameterError(
            f"`quantiles` of {_OWNER} must be two shares, from 0 to 1 and ascending; got {told(quantiles)}. "
            "Use (0, 1) for all values of X."
        )
    return low, high


def _told(
    asked: _Asked,
    goal: Goal,
    search: Search,
    options: CounterfactualOptions,
    n_open: int,
    library: str | None,
) -> Counterfactuals:
    """The answers, each predicted from a row of the user's own kind of table."""
    answers = search.answers(options.n)
    places = np.full((len(answers) + 1, options.max_columns), -1, np.int64)
    for k, (_, chosen) in enumerate(answers):
        places[k + 1, : len(chosen)] = chosen
    made = asked.rows.made(len(places), search.donors(places))
    stands = goal.reached(made)
    if not stands[1:].all():
        kept = np.concatenate([[True], stands[1:]])
        answers = [answer for answer, good in zip(answers, stands[1:], strict=True) if good]
        places = places[kept]
        made = asked.rows.made(len(places), search.donors(places))
    said = plain(np.asarray(asked.model.predict(made)))
    sure = _probabilities(asked.model, made, said)
    told_answers = [
        RowChange(_changes(asked, made, k + 1, search, chosen), cost, said[k + 1], sure[k + 1])
        for k, (cost, chosen) in enumerate(answers)
    ]
    exact = bool(answers) and answers[0][0] <= search.exact_below
    return Counterfactuals(
        tuple(told_answers), said[0], sure[0], goal.told(), made, exact, options.max_columns, n_open, library
    )


def _changes(
    asked: _Asked, made: object, k: int, search: Search, chosen: tuple[int, ...]
) -> tuple[ColumnChange, ...]:
    found = []
    for place in chosen:
        j = int(search.column[place])
        before, after = value_at(made, 0, j), value_at(made, k, j)
        found.append(ColumnChange(asked.names[j], before, after, float(search.cost[place])))
    return tuple(sorted(found, key=lambda change: -change.cost))


def _probabilities(model: AnyEstimator, made: object, said: list[Any]) -> list[float | None]:
    """How probable the predicted labels are, where the model tells."""
    if not hasattr(model, "predict_proba"):
        return [None] * len(said)
    shares = np.asarray(model.predict_proba(made), np.float64)
    classes = np.asarray(model.classes_).tolist()
    return [float(shares[k, classes.index(label)]) for k, label in enumerate(said)]
