"""What `KNeighborsClassifier` and `KNeighborsRegressor` share: `fit`, and which rows are nearest."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, Floats, Integers, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.training import learn_columns
from weald.engine import thread_count
from weald.errors import DataError, ParameterError
from weald.estimators.neighbors.options import NeighborsOptions, Weights, chosen_metric
from weald.estimators.neighbors.saving import SavedNeighbors
from weald.estimators.neighbors.target import NeighborsTarget
from weald.estimators.neighbors.votes import neighbor_weights
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.model.read import read_aligned
from weald.neighbors.search import Search
from weald.neighbors.space import RowSpace
from weald.numbers import as_float

if TYPE_CHECKING:
    from sklearn.utils import Tags


class BaseNeighbors(
    SavedNeighbors,
    TableManners,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base; a subclass says what its target is."""

    _options: ClassVar[type[NeighborsOptions]] = NeighborsOptions
    _mark = "_search_"

    _search_: Search
    _target_: NeighborsTarget

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Weights = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        metric_params: Mapping[str, float] | None = None,
        n_jobs: int | None = None,
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features

    @abstractmethod
    def _read_target(self, y: TargetLike | None, n_rows: int) -> NeighborsTarget:
        """The target of the fitted rows."""

    def fit(self, X: TableLike, y: TargetLike) -> Self:
        """Remember the rows.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Missing values and categories are welcome.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target: labels of any type for a classifier, finite numbers for a regressor.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        metric = chosen_metric(options, owner)
        table = to_table(X, categorical_features=options.categorical_features)
        target = self._read_target(y, table.n_rows)
        schema, aligned = learn_columns(table, None, unknown=options.unknown, owner=owner)
        space = RowSpace.of(aligned, schema, metric=metric, scale=options.scale)
        search = Search(space, space.place(aligned), algorithm=options.algorithm, leaf_size=options.leaf_size)
        self._set_fitted(search, target)
        return self

    def _set_fitted(self, search: Search, target: NeighborsTarget) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        metric = search.space.metric
        learned: dict[str, Any] = {
            "_search_": search,
            "_target_": target,
            "n_samples_fit_": search.fitted.n_rows,
            "effective_metric_": metric.name if self.metric == "minkowski" else self.metric,
            "effective_metric_params_": {"p": metric.p} if metric.name == "minkowski" else {},
        }
        set_fitted(self, learned | self._target_attributes(target), schema=search.space.schema)

    def _target_attributes(self, target: NeighborsTarget) -> dict[str, Any]:
        """What the target adds to the fitted attributes."""
        return {}

    # ------------------------------------------------------------------ neighbours

    def kneighbors(
        self, X: TableLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Floats, Integers] | Integers:
        """The nearest fitted rows of each row, nearest first; of equally near ones the first in the table.

        Parameters
        ----------
        X : table, default=None
            As in `fit`. None asks for the neighbours of the fitted rows, none of which is its own.
        n_neighbors : int, default=None
            How many; None for `n_neighbors` of the estimator.
        return_distance : bool, default=True
            Whether distances are given too.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_neighbors)
            Only if `return_distance`.
        rows : ndarray of shape (n_rows, n_neighbors)
            Numbers of fitted rows.
        """
        distances, rows = self._nearest(X, n_neighbors)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(
        self, X: TableLike | None = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """The nearest fitted rows as a sparse matrix.

        Parameters
        ----------
        X : table, default=None
            As in `kneighbors`.
        n_neighbors : int, default=None
            How many; None for `n_neighbors` of the estimator.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether an entry is 1 or the distance.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_rows, n_samples_fit_)
            An entry per neighbour.
        """
        if mode not in ("connectivity", "distance"):
            raise ParameterError(
                f"`mode` of kneighbors_graph must be 'connectivity' or 'distance'; got {mode!r}. "
                "(Unsupported mode.)"
            )
        distances, rows = self._nearest(X, n_neighbors)
        entries = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return sparse.csr_matrix(
            (entries, rows.ravel(), starts), shape=(len(rows), self._search_.fitted.n_rows)
        )

    def _nearest(self, X: TableLike | None, n_neighbors: int | None = None) -> tuple[Floats, Integers]:
        """Distances and row numbers."""
        check_is_fitted(self)
        options, owner = self._checked_options(), type(self).__name__
        search = self._search_
        k = _checked_count(options.n_neighbors if n_neighbors is None else n_neighbors)
        most = search.fitted.n_rows - (X is None)
        if k > most:
            others = f", each of which has {most} others" if X is None else ""
            raise DataError(
                f"{k} neighbours are asked for, and this {owner} was fitted on {search.fitted.n_rows} rows"
                f"{others}. Lower `n_neighbors`, or fit more rows. (Expected n_neighbors "
                f"{'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{search.fitted.n_rows}.)"
            )
        n_threads = thread_count(options.n_jobs)
        if X is None:
            return search.nearest(search.fitted, k, exclude_self=True, n_threads=n_threads)
        table = read_aligned(X, search.space.schema, declared=options.categorical_features, owner=owner)
        return search.nearest(search.space.place(table), k, n_threads=n_threads)

    def _neighbors_and_weights(self, X: TableLike | None) -> tuple[Integers, Floats | None]:
        """The nearest rows of each row, and what they weigh."""
        distances, rows = self._nearest(X)
        return rows, neighbor_weights(distances, self._checked_options().weights)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _checked_count(n_neighbors: object) -> int:
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole:
        raise DataError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value.")
    if as_float(n_neighbors) < 1:
        raise DataError(f"Expected n_neighbors > 0. Got {n_neighbors}.")
    return int(cast(int, n_neighbors))
