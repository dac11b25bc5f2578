"""`ProximityImputer`: missing values filled from the rows that come to the same leaves of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, Estimator, RandomState, TableLike, TargetLike
from weald.data.adapters import categorical_positions, to_table
from weald.data.frames.write import (
    ObjectType,
    check_writable,
    object_types,
    places,
    take_rows,
    write_cells,
)
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import read_labels
from weald.errors import DataError, ParameterError
from weald.estimators.forest.base import BaseForest
from weald.estimators.forest.tasks import ForestClassifier
from weald.estimators.impute.options import ImputerOptions, has_labels
from weald.estimators.impute.saving import SavedImputer
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.impute.columns import KnownColumn, missing_cells
from weald.impute.rules import most_votes
from weald.impute.sums import own_votes, proximity_fills

if TYPE_CHECKING:
    from sklearn.utils import Tags

#: copies of new rows that are filled together
_COPIES = 1 << 18

Fills = dict[int, NDArray[Any]]
Gaps = dict[int, NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class _GivenColumns:
    """The columns of new rows: where those of training are, and what columns of objects hold in all rows."""

    order: Sequence[int]
    objects: dict[int, ObjectType]


class ProximityImputer(
    SavedImputer,
    CheckedParameters,
    OneToOneFeatureMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    Saving,
    BaseEstimator,  # type: ignore[misc]
):
    """Fill missing values by the proximity of rows in a forest, after Breiman.

    The forest learns `y`, so rows are near each other in what matters for it. Training rows start from the
    median (numbers) or the most frequent level (ordered and unordered categories, text) among rows of the
    same label; then a forest is grown and every missing value replaced: a number by the mean of all rows that
    have one, weighted by proximity, a level by the one with the largest share of rows times share of
    proximity; and so on until the fills stop moving. Nothing is drawn that the forest does not draw, and no
    matrix of proximities is made: the time is that of the forests and rows · trees for each column with gaps.

    `transform` fills new rows, whose label is not known, without growing: by a classifier one copy per class,
    filled as that class; the copy whose own class gets the most votes is kept. By a regressor, from the
    medians and modes of all rows. It gives `fit_transform` of the training rows only where nothing is
    missing, since that knows their labels.

    Forests and boosters of weald take missing values as they are, as a rule to better effect.

    Parameters
    ----------
    estimator : forest of weald, default=None
        The forest to grow; None for RandomForestClassifier where y has labels (text, bools, dates, at most 50
        different whole numbers), else RandomForestRegressor, with 100 trees.
    max_iter : int, default=6
        The most forests grown by `fit`, and the most steps for new rows.
    tol : float, default=0.01
        Fills have stopped moving when their mean change is at most this: numbers in standard deviations of
        the column, levels 1 if they change.
    n_jobs : int, default=None
        Threads; None for the estimator's own. The fills do not depend on it.
    random_state : int or RandomState, default=None
        What all draws start from; None for the estimator's own. Every forest of one fit has the same bags.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None for the estimator's own.

    Attributes
    ----------
    estimator_ : forest
        The last forest grown.
    n_iter_ : int
        How many forests were grown.
    converged_ : bool
        Whether the fills stopped moving.
    changes_ : list of float
        The mean change of the fills in every step.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import ProximityImputer
    >>> low = [[1.0, 10.0], [1.1, np.nan], [1.2, 12.0], [1.3, 13.0], [1.4, 14.0]]
    >>> high = [[5.0, 90.0], [5.1, 91.0], [5.2, 92.0], [np.nan, 93.0], [5.4, 94.0]]
    >>> y = ["low"] * 5 + ["high"] * 5
    >>> full = ProximityImputer(random_state=0).fit_transform(np.array(low + high), y)
    >>> full[[1, 8]].round(1)
    array([[ 1.1, 12.2],
           [ 5.2, 93. ]])
    """

    _options = ImputerOptions
    _nested = True

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        max_iter: int = 6,
        tol: float = 0.01,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.estimator = estimator
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: TableLike, y: TargetLike | None = None) -> Self:
        """Learn what new rows are filled from.

        Parameters
        ----------
        X : table
            A pandas or polars frame, a pyarrow table, a NumPy array, a mapping of name to values or a list of
            rows.
        y : array-like of shape (n_rows,)
            The target: labels, or numbers (then with several columns too).

        Returns
        -------
        self
            The fitted imputer.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: TableLike, y: TargetLike | None = None) -> TableLike:
        """Fill the training rows.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            The target.

        Returns
        -------
        table
            A copy of X, of the same kind and types, without missing values (lists become an array).
        """
        return self._fit(X, y)

    def _fit(self, X: TableLike, y: TargetLike | None) -> TableLike:
        """Fit, and give the filled training table."""
        options = self._checked_options()
        check_writable(X)
        declared = options.categorical_features
        if declared is None and options.estimator is not None:
            declared = options.estimator.categorical_features
        table = to_table(X, categorical_features=declared)
        model = self._forest(options, y, table.n_rows).set_params(categorical_features=declared)
        schema = Schema.of(table)
        columns = [KnownColumn.of(column) for column in schema.align(table).columns]
        for column in columns:
            column.check_any()
        group, n_groups = self._groups(model, y, table.n_rows)
        guesses = [column.guesses(group, n_groups) for column in columns]
        gaps = {j: column.gaps for j, column in enumerate(columns) if len(column.gaps)}
        fills = {j: guesses[j][group[rows]] for j, rows in gaps.items()}
        changes: list[float] = []
        while len(changes) < options.max_iter and not (changes and changes[-1] <= options.tol):
            filled = _filled(X, columns, gaps, fills)
            model = clone(model).fit(filled, y)
            rows, n_threads = model._read(filled)
            found = proximity_fills(model.forest_, rows, None, columns, gaps, n_threads=n_threads)
            moves, fills = _moved(columns, fills, found)
            changes.append(float(np.mean(np.concatenate(list(moves.values())))) if moves else 0.0)
        filled = _filled(X, columns, gaps, fills)
        converged = changes[-1] <= options.tol
        self._set_fitted(model, schema, columns, guesses, model._read(filled)[0], changes, converged)
        return filled

    def _set_fitted(
        self,
        model: BaseForest,
        schema: Schema,
        columns: list[KnownColumn],
        guesses: list[NDArray[Any]],
        rows: Table,
        changes: list[float],
        converged: bool,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        learned: dict[str, Any] = {
            "estimator_": model,
            "n_iter_": len(changes),
            "converged_": converged,
            "changes_": changes,
            "_schema": schema,
            "_columns": columns,
            "_guesses": guesses,
            "_rows": rows,
        }
        set_fitted(self, learned, schema=schema)

    def transform(self, X: TableLike) -> TableLike:
        """Fill new rows.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        table
            A copy of X, of the same kind and types, without missing values (lists become an array).
        """
        check_is_fitted(self)
        options = self._checked_options()
        check_writable(X)
        table = self._new_table(X)
        given = _GivenColumns(places(self._schema.names, table.names), object_types(X))
        for column in self._schema.align(table, estimator=type(self).__name__).columns:
            KnownColumn.of(column)  # refuses infinite numbers
        lacking = {j: missing_cells(table.columns[place]) for j, place in enumerate(given.order)}
        incomplete = np.flatnonzero(np.logical_or.reduce(list(lacking.values())))
        n_copies = len(self._guesses[0])
        together = max(1, _COPIES // n_copies)
        parts: list[tuple[Gaps, Fills]] = []
        for first in range(0, len(incomplete), together):
            rows = incomplete[first : first + together]
            gaps = {j: np.flatnonzero(mask[rows]) for j, mask in lacking.items() if mask[rows].any()}
            fills = self._new_fills(take_rows(X, np.tile(rows, n_copies)), len(rows), gaps, given, options)
            parts.append(({j: rows[at] for j, at in gaps.items()}, fills))
        cells = {}
        for j, place in enumerate(given.order):
            at = [gaps[j] for gaps, _ in parts if j in gaps]
            values = [fills[j] for _, fills in parts if j in fills]
            if at:
                cells[place] = self._columns[j].cells(np.concatenate(at), np.concatenate(values))
        filled: TableLike = write_cells(X, cells)
        return filled

    def _new_fills(
        self, copies: TableLike, n_rows: int, gaps: Gaps, given: _GivenColumns, options: ImputerOptions
    ) -> Fills:
        """Fills of some new rows, given as a table of one copy of all of them after another."""
        model, columns = self.estimator_, self._columns
        n_copies = len(self._guesses[0])
        all_gaps = {j: np.concatenate([at + c * n_rows for c in range(n_copies)]) for j, at in gaps.items()}
        fills = {j: np.repeat(self._guesses[j], len(at)) for j, at in gaps.items()}
        self._settle(copies, all_gaps, fills, given, options)
        if n_copies == 1:
            return fills
        rows, n_threads = model._read(_filled(copies, columns, all_gaps, fills, given))
        own = np.repeat(np.arange(n_copies), n_rows)
        votes = own_votes(model.forest_, rows, own, n_threads=n_threads).reshape(n_copies, n_rows)
        kept = most_votes(votes.T)
        return {
            j: fills[j].reshape(n_copies, len(at))[kept[at], np.arange(len(at))] for j, at in gaps.items()
        }

    def _settle(
        self, copies: TableLike, gaps: Gaps, fills: Fills, given: _GivenColumns, options: ImputerOptions
    ) -> None:
        """Refill the gaps of new rows, in place; a row ends when its own fills rest, whatever others do."""
        columns = self._columns
        moving = np.arange(1 + max(int(at[-1]) for at in gaps.values()))
        for _ in range(options.max_iter):
            cells = {j: np.flatnonzero(np.isin(at, moving)) for j, at in gaps.items()}
            some_gaps = {j: np.searchsorted(moving, gaps[j][at]) for j, at in cells.items() if len(at)}
            some = {j: fills[j][cells[j]] for j in some_gaps}
            table = _filled(take_rows(copies, moving), columns, some_gaps, some, given)
            rows, n_threads = self.estimator_._read(table)
            found = proximity_fills(
                self.estimator_.forest_, self._rows, rows, columns, some_gaps, n_threads=n_threads
            )
            changes, after = _moved(columns, some, found)
            for j, moved in after.items():
                fills[j][cells[j]] = moved
            moving = moving[_mean_by_row(some_gaps, changes, len(moving)) > options.tol]
            if not len(moving):
                break

    def _forest(self, options: ImputerOptions, y: TargetLike | None, n_rows: int) -> BaseForest:
        """The forest to grow, not fitted, with one seed for all iterations."""
        from weald.estimators.forest.random_forest import RandomForestClassifier, RandomForestRegressor

        if options.estimator is None:
            labels = has_labels(y, n_rows, type(self).__name__)
            model: BaseForest = RandomForestClassifier() if labels else RandomForestRegressor()
        else:
            model = clone(options.estimator)
        state = model.random_state if options.random_state is None else options.random_state
        n_jobs = model.n_jobs if options.n_jobs is None else options.n_jobs
        return model.set_params(random_state=drawn_seed(state), n_jobs=n_jobs, warm_start=False)

    def _groups(self, model: BaseForest, y: TargetLike | None, n_rows: int) -> tuple[NDArray[np.int32], int]:
        """Which rows share a first guess: those of a label, or all."""
        if not isinstance(model, ForestClassifier):
            return np.zeros(n_rows, np.int32), 1
        owner = type(self).__name__
        outputs = read_labels(y, n_rows=n_rows, estimator=owner)
        if len(outputs) > 1:
            raise DataError(
                f"{owner} fills rows by one label each; y has {len(outputs)} columns of labels. Give one."
            )
        return outputs[0].indices, len(outputs[0].classes)

    def _new_table(self, X: TableLike) -> Table:
        """A new table, with the columns as categories that training read as such."""
        names = self._schema.names
        asked = [names[j] for j in categorical_positions(names, self.estimator_.categorical_features)]
        try:
            return to_table(X, categorical_features=asked or None)
        except ParameterError:
            return to_table(X)  # a column is absent: `align` words that better

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _filled(
    X: TableLike, columns: Sequence[KnownColumn], gaps: Gaps, fills: Fills, given: _GivenColumns | None = None
) -> TableLike:
    """The user's table with these fills; without `given`, its columns are those of training."""
    cells = {}
    for j, rows in gaps.items():
        place = j if given is None else given.order[j]
        cells[place] = columns[j].cells(rows, fills[j], None if given is None else given.objects.get(place))
    filled: TableLike = write_cells(X, cells)
    return filled


def _moved(columns: Sequence[KnownColumn], before: Fills, found: Fills) -> tuple[Fills, Fills]:
    """The change of every fill, and the new ones; a row that meets no row with a value keeps its fill."""
    changes: Fills = {}
    after: Fills = {}
    for j, old in before.items():
        new = found[j]
        after[j] = np.where(new < 0 if columns[j].unit is None else np.isnan(new), old, new)
        changes[j] = columns[j].changes(old, after[j])
    return changes, after


def _mean_by_row(gaps: Gaps, changes: Fills, n_rows: int) -> NDArray[np.float64]:
    """The mean change of the fills of each row."""
    rows = np.concatenate(list(gaps.values()))
    total = np.bincount(rows, np.concatenate([changes[j] for j in gaps]), minlength=n_rows)
    return total / np.bincount(rows, minlength=n_rows)
