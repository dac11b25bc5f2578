"""`KNeighborsRegressor`: the mean of the nearest rows' numbers, under scikit-learn's names."""

from __future__ import annotations

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Floats, TableLike, TargetLike
from weald.data.target import read_target
from weald.estimators.neighbors.base import BaseNeighbors
from weald.estimators.neighbors.target import NeighborsTarget
from weald.estimators.neighbors.votes import means


class KNeighborsRegressor(RegressorMixin, BaseNeighbors):  # type: ignore[misc]  # scikit-learn has no types
    """The mean of the nearest rows' numbers.

    Any table as it is: see `KNeighborsClassifier`.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows the mean is of.
    weights : {"uniform", "distance"}, function or None, default="uniform"
        Whether all count alike, or by 1 / distance; or a function from distances to weights.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How rows are found, which changes no answer: by tiles of distances or by a tree. "ball_tree" is taken
        as "kd_tree"; SciPy matrices are always searched by their columns.
    leaf_size : int, default=30
        Rows of a leaf of the tree.
    p : float, default=2
        The power of "minkowski": 2 is Euclid's distance, 1 the sum of differences, inf the largest.
    metric : str, default="minkowski"
        "minkowski", "euclidean" (or "l2"), "manhattan" ("l1", "cityblock"), "chebyshev", "cosine" or "mixed",
        which is "euclidean" on standardised columns.
    metric_params : dict, default=None
        {"p": number}, in place of `p`.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.
    scale : bool, default=False
        Whether to standardise numbers and ranks inside the model.
    unknown : {"missing", "error"}, default="missing"
        What a category that training never saw means.
    categorical_features : names, positions, a mask, "from_dtype" or None, default=None
        Columns to read as categories whatever their type.

    Attributes
    ----------
    effective_metric_ : str
        The metric under its plainest name: "euclidean" for "minkowski" with p=2.
    effective_metric_params_ : dict
        {"p": number} for "minkowski", else empty.
    n_samples_fit_ : int
        Fitted rows.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.

    Examples
    --------
    >>> from weald import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    def _read_target(self, y: TargetLike | None, n_rows: int) -> NeighborsTarget:
        """Finite numbers, of one output or several."""
        return NeighborsTarget(numbers=read_target(y, n_rows=n_rows, estimator=type(self).__name__))

    def predict(self, X: TableLike | None) -> Floats:
        """The mean of the numbers of the nearest rows.

        Parameters
        ----------
        X : table or None
            As in `fit`. None predicts the fitted rows, each by its others.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            The predictions.
        """
        check_is_fitted(self)
        numbers = self._target_.numbers
        assert numbers is not None
        found = means(*self._neighbors_and_weights(X), numbers)
        return found[:, 0] if numbers.shape[1] == 1 else found
