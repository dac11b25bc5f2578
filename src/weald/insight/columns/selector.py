"""`ColumnSelector`: the selection of columns as a step of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, Folds, RandomState, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.schema import Schema
from weald.errors import DataError
from weald.estimators.bagging.any_members import names_of
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.members import in_order
from weald.estimators.shared.state import set_fitted
from weald.insight.columns.options import SelectionOptions
from weald.insight.columns.selection import select_columns
from weald.insight.columns.selection_record import ColumnSelection

if TYPE_CHECKING:
    from sklearn.utils import Tags


class ColumnSelector(
    CheckedParameters,
    MetaEstimatorMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Keep the columns that a model needs, by `select_columns`.

    Tables come back as they went in, with fewer columns: categories and missing values are no trouble where
    the estimator takes them.

    Parameters
    ----------
    estimator : estimator, default=None
        What judges columns; it is copied. None for a `RandomForestClassifier` or `RandomForestRegressor`, as
        y has labels or numbers.
    by : {"auto", "oob", "held_out", "cv"}, default="auto"
        What judges: rows out of bag, held out, or folds.
    metric : str or callable, default=None
        A scorer of scikit-learn by name, any scorer, or a function of (y_true, y_pred).
    method : {"permutation", "conditional"}, default="permutation"
        How importance is told.
    groups : dict or list, default=None
        Columns that stay or go together.
    keep : list of columns, default=()
        Columns that always stay.
    drop : int or float, default=0.2
        How many go in a step, or which share of those that are left.
    min_columns : int, default=1
        Where to stop.
    rule : {"one_se", "best"}, default="one_se"
        The fewest columns within one standard error of the best score, or the best.
    test_size : float, default=0.25
        The share of rows that is held out, for by="held_out".
    cv : int, splitter or iterable, default=5
        The folds, for by="cv".
    n_repeats : int, default=1
        Permutations of each column.
    random_state : int or RandomState, default=0
        What rows are held out and permuted by, and what the default estimator grows from.
    n_jobs : int, default=None
        As in `importance`.

    Attributes
    ----------
    selection_ : ColumnSelection
        The whole way, with `to_frame()` and `plot()`.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import ColumnSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> ColumnSelector(random_state=0).fit(X, X[:, 2] > 0).get_support(indices=True).tolist()
    [2]
    """

    _options = SelectionOptions
    _nested = True

    selection_: ColumnSelection
    n_features_in_: int
    _schema: Schema

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        by: str = "auto",
        metric: str | Callable[..., Any] | None = None,
        method: str = "permutation",
        groups: Mapping[str, object] | Iterable[object] | None = None,
        keep: Sequence[object] = (),
        drop: int | float = 0.2,
        min_columns: int = 1,
        rule: str = "one_se",
        test_size: float = 0.25,
        cv: Folds = 5,
        n_repeats: int = 1,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.by = by
        self.metric = metric
        self.method = method
        self.groups = groups
        self.keep = keep
        self.drop = drop
        self.min_columns = min_columns
        self.rule = rule
        self.test_size = test_size
        self.cv = cv
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None) -> Self:
        """Find the columns.

        Parameters
        ----------
        X : table
            All columns.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Labels or numbers.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        self
            The fitted selector.
        """
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Give the labels "
                "or numbers that columns are to predict."
            )
        self._checked_options()  # a slip is told as one of the selector's
        table = indexable(X)
        options = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        found = select_columns(self._judging(y), X, y, sample_weight=sample_weight, **options)
        schema = names_of(outline(table))
        set_fitted(self, {"selection_": found, "_schema": schema}, schema=schema)
        return self

    def _judging(self, y: TargetLike) -> object:
        if self.estimator is not None:
            return self.estimator
        from weald.estimators.forest.random_forest import RandomForestClassifier, RandomForestRegressor

        target = np.asarray(y)
        labels = target.dtype.kind != "f" or not type_of_target(target).startswith("continuous")
        forest = RandomForestClassifier if labels else RandomForestRegressor
        return forest(random_state=self.random_state)

    def transform(self, X: TableLike) -> TableLike:
        """The chosen columns of a table.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        table
            Of the kind of X; lists become arrays.
        """
        check_is_fitted(self)
        rows = in_order(X, self._schema, type(self).__name__)
        return take(rows, None, self.get_support(indices=True).tolist())  # type: ignore[no-any-return]

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which columns are chosen.

        Parameters
        ----------
        indices : bool, default=False
            Whether to give positions, not a mask.

        Returns
        -------
        ndarray of bool of shape (n_features_in_,), or of int
            In the order of the training table.
        """
        check_is_fitted(self)
        mask = self.selection_.support
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """The names of the chosen columns.

        Parameters
        ----------
        input_features : list of str, default=None
            The names of all columns; None for those of `fit`, or x0, x1, … if it saw none.

        Returns
        -------
        ndarray of str
            In the order of the table.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = (
                np.array([f"x{j}" for j in range(self.n_features_in_)], object) if known is None else known
            )
        else:
            names = np.asarray(input_features, object)
            if known is not None and not np.array_equal(known, names):
                raise DataError("input_features is not equal to feature_names_in_. Leave it out.")
            if len(names) != self.n_features_in_:
                raise DataError(
                    f"input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}."
                )
        chosen: NDArray[Any] = np.asarray(names, object)[self.get_support()]
        return chosen

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "selection_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables that the estimator takes, and a target."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        taken = ("allow_nan", "sparse", "string")
        if self.estimator is None:
            theirs = None
        else:
            try:
                theirs = get_tags(self.estimator).input_tags
            except (AttributeError, TypeError, ValueError):
                return tags  # not an estimator, which `fit` will say
        for name in taken:
            setattr(tags.input_tags, name, True if theirs is None else getattr(theirs, name))
        return tags
