"""What every tree estimator shares: the steps of `fit`, reading tables at predict, scikit-learn's manners.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is
interrupted stays as it was.
"""

from __future__ import annotations

import math
import os
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weald.data.adapters import categorical_mask, to_table
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import read_weight, total_weight
from weald.engine import thread_count
from weald.errors import ParameterError
from weald.estimators.class_weight import Weights
from weald.estimators.options import TreeOptions, check_names, checked
from weald.estimators.pictures import TreePictures
from weald.io.saved_state import SavedState
from weald.model.forest import Forest
from weald.model.predict import decision_path, leaf_nodes, raw_scores
from weald.model.read import read_aligned
from weald.model.tree_view import TreeView
from weald.pictures.trained_on import frame_library, missing_columns
from weald.rows.memory import Grown, GrowOptions


@dataclass(frozen=True, slots=True)
class Target:
    """What a tree learns: numbers or class numbers, one column an output, and the weights of the rows.

    `several` tells whether `y` had columns: then predictions have them too, even if it is only one.
    """

    values: NDArray[Any]  # (n_rows, n_outputs): int32 class numbers or float64
    classes: tuple[NDArray[Any], ...] | None  # the labels of each output; None for numbers
    weight: Weights | None
    several: bool

    @property
    def n_classes(self) -> list[int]:
        """How many labels each output has."""
        return [] if self.classes is None else [len(labels) for labels in self.classes]


class BaseTree(TreePictures, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]  # scikit-learn has no types
    """The shared base of `DecisionTreeClassifier` and `DecisionTreeRegressor`.

    A subclass names its record of options and says how it reads the target and how it grows.
    """

    _options: ClassVar[type[TreeOptions]]

    max_features: int | float | str | None
    categorical_features: Any

    forest_: Forest
    schema_: Schema
    tree_: TreeView

    @abstractmethod
    def _read_target(self, y: Any, n_rows: int, weight: Weights | None, options: Any) -> Target:
        """The target as numbers, the classes if it has any, and the weights to train with."""

    @abstractmethod
    def _grow(self, codes: Codes, target: Target, grow: GrowOptions) -> Grown:
        """One tree on coded rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array or a list of rows. Missing values are welcome in
            every column; text and unordered categories are split by sets, ordered categories by rank.
        y : array-like of shape (n_rows,)
            The target: labels of any type for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0. A row of weight 0 counts as absent, a row of weight 2 as two rows for
            everything but the limits on rows (`min_samples_split`, `min_samples_leaf`).

        Returns
        -------
        self
            The fitted estimator.
        """
        options = self._checked_options()
        n_threads = thread_count(options.n_jobs)
        table = to_table(X, categorical_features=options.categorical_features)
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        target = self._read_target(y, table.n_rows, weight, options)
        schema = Schema.of(table, used=_used(target.weight), unknown=options.unknown)
        aligned = schema.align(table, estimator=type(self).__name__)
        codes = encode(aligned, max_bins=options.max_bins, weight=target.weight, n_threads=n_threads)
        grow = _grow_options(options, table, target.weight, n_threads)
        forest = self._grow(codes, target, grow).forest
        self._take(forest, schema, None if target.classes is None else target.classes[0])
        self._frame_library, self._missing_columns = frame_library(X), missing_columns(aligned, forest)
        return self

    def _take(self, forest: Forest, schema: Schema, classes: NDArray[Any] | None) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        n_columns = len(schema.columns)
        learned: dict[str, Any] = {
            "forest_": forest,
            "schema_": schema,
            "tree_": TreeView(
                forest,
                schema,
                n_classes=1 if classes is None else len(classes),
                declared=self.categorical_features,
            ),
            "n_features_in_": n_columns,
            "n_outputs_": 1,
            "max_features_": _max_columns(self.max_features, n_columns),
        }
        if classes is not None:
            learned |= {"classes_": classes, "n_classes_": len(classes)}
        names = [column.name for column in schema.columns]
        if schema.named and all(isinstance(name, str) for name in names):
            learned["feature_names_in_"] = np.array(names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(learned)

    def _checked_options(self) -> Any:
        """The parameters as a validated record."""
        values = {each.name: getattr(self, each.name) for each in fields(self._options)}
        return checked(self._options, type(self).__name__, values)

    def _read(self, X: Any) -> tuple[Table, int]:
        """A new table in the order and codes of the fitted one, and the threads to use on it."""
        check_is_fitted(self)
        options = self._checked_options()
        owner = type(self).__name__
        table = read_aligned(X, self.schema_, declared=options.categorical_features, owner=owner)
        return table, thread_count(options.n_jobs)

    def _raw_scores(self, X: Any) -> NDArray[np.float64]:
        """The leaf values of each row: (rows, outputs)."""
        table, n_threads = self._read(X)
        return raw_scores(self.forest_, table, n_threads=n_threads)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf that each row comes to.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Node numbers, as in the arrays of `tree_`.
        """
        table, n_threads = self._read(X)
        return leaf_nodes(self.forest_, table, n_threads=n_threads)[:, 0].astype(np.int64)

    def decision_path(self, X: Any) -> Any:
        """The nodes that each row passes.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_rows, n_nodes)
            1 where the row of the table passes the node.
        """
        table, n_threads = self._read(X)
        return decision_path(self.forest_, table, n_threads=n_threads)

    def get_depth(self) -> int:
        """The splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the splits on each column lowered the criterion, scaled to add up to 1.

        All zero if the tree has no split that lowered it.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, which `weald.load` reads back.

        Parameters
        ----------
        path : str or path-like
            Where to; by habit the name ends in `.weald`.
        """
        check_is_fitted(self)
        from weald.io import model_file

        model_file.save(self, path)

    def _saved_state(self) -> SavedState:
        """The parts of the fitted model that a file keeps."""
        classes = getattr(self, "classes_", None)
        return SavedState(
            params=self.get_params(deep=False), schema=self.schema_, forest=self.forest_, classes=classes
        )

    @classmethod
    def _from_saved_state(cls, state: SavedState) -> Self:
        """The fitted estimator of these parts, which come from a file and may not fit each other."""
        model = cls(**state.params)
        options = model._checked_options()
        declared = categorical_mask(state.schema.names, options.categorical_features)
        for column, wanted in zip(state.schema.columns, declared, strict=True):
            if wanted and column.kind != "categorical":
                raise ParameterError(f"`categorical_features` names {column.name!r}, which is {column.kind}.")
        model._take(state.forest, state.schema, state.classes)
        return model

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params
            Names and new values; they are checked when `fit` reads them.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ParameterError
            For a name the estimator does not have, with the nearest one it has.
        """
        check_names(list(params), type(self).__name__, list(self.get_params(deep=False)))
        return super().set_params(**params)  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "forest_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _used(weight: Weights | None) -> NDArray[np.bool_] | None:
    """The rows that count, or None if all do."""
    if weight is None:
        return None
    used = weight > 0
    return None if used.all() else used


def _max_columns(max_features: int | float | str | None, n_columns: int) -> int:
    """How many columns a node looks at."""
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, math.isqrt(n_columns))
    if max_features == "log2":
        return max(1, n_columns.bit_length() - 1)
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, int(float(max_features) * n_columns))


def _row_limit(limit: int | float, n_rows: int, least: int) -> int:
    """A limit on rows: given as such, or as a fraction of the rows."""
    return limit if isinstance(limit, int) else max(least, math.ceil(limit * n_rows))


def _grow_options(options: Any, table: Table, weight: Weights | None, n_threads: int) -> GrowOptions:
    """The parameters in the engine's words: fractions resolved, the seed drawn only if it matters."""
    n_rows = table.n_rows if weight is None else int(np.count_nonzero(weight))
    total = float(n_rows) if weight is None else total_weight(weight)
    max_columns: int | None = _max_columns(options.max_features, table.n_columns)
    if max_columns is not None and max_columns >= table.n_columns:
        max_columns = None
    seed = 0
    if max_columns is not None:
        seed = int(check_random_state(options.random_state).randint(np.iinfo(np.int32).max))
    return GrowOptions(
        criterion="entropy" if options.criterion == "log_loss" else options.criterion,
        max_depth=options.max_depth,
        min_rows_split=_row_limit(options.min_samples_split, n_rows, 2),
        min_rows_leaf=_row_limit(options.min_samples_leaf, n_rows, 1),
        min_weight_leaf=options.min_weight_fraction_leaf * total,
        max_leaves=options.max_leaf_nodes,
        min_impurity_decrease=options.min_impurity_decrease,
        max_columns=max_columns,
        seed=seed,
        n_threads=n_threads,
    )
