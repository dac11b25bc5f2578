"""`SMOTE`, `SMOTENC` and `SMOTEN`: new rows between rows of a class and their neighbours."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from weald.arrays import CategoricalFeatures, Estimator, Floats, RandomState, TableLike
from weald.data.adapters import to_table
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import IgnoredParameterWarning, outside
from weald.estimators.resampling.base import Given, Outcome
from weald.estimators.resampling.options import NominalOptions, SmoteOptions, TableOptions
from weald.estimators.resampling.search import SearchingSampler
from weald.estimators.shared.growth import drawn_seed
from weald.resampling.levels import class_profiles
from weald.resampling.neighbours import Neighbourhood
from weald.resampling.over import draw_lines, draw_votes, joined, smote_centres
from weald.resampling.strategy import Strategy


class SMOTE(SearchingSampler[SmoteOptions]):
    """Make rows of rare classes on the lines between their rows and their nearest rows of the class.

    A new row is x + step · (z - x), with x a row of the class, z one of its `k_neighbors` nearest rows of the
    class, and a step drawn between 0 and 1 (Chawla and others; equation R1 of docs/methods/resampling.md).
    Any table will do. Categories get the level that most of the neighbours have, as in SMOTE-NC; ordered
    levels the rank between the two rows, rounded to one that is there; whole numbers, dates and bools stay
    such, by rounding; a number that one of the two rows lacks is that of the nearer row, gap or not, so that
    gaps stay as frequent as they were.

    Rows are compared by Euclidean distance; two levels of a category differ by the median of the standard
    deviations of the numeric columns in the class. A class with fewer than `k_neighbors` + 1 rows uses all
    its rows, with a warning; one of a single row is an error.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Which classes, and how many rows: "auto" = "not majority", "minority", "all"; for two classes the
        ratio of the rarer to the other; a dict of label to rows; a function of y that gives one.
    random_state : int or RandomState, default=None
        What all draws start from.
    k_neighbors : int or object, default=5
        How many neighbours, or an object with `kneighbors` that looks for them (the row itself counted).
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories. Text and unordered categories always are.
    scale : bool, default=None
        Whether to compare columns in standard deviations. None: as they are, as imbalanced-learn does; in
        standard deviations where some hold dates or durations.
    n_jobs : int, default=None
        Threads; None for every CPU of the process. The result does not depend on it.

    Attributes
    ----------
    sampling_strategy_ : dict
        Rows to add, by label.
    sample_indices_ : ndarray of shape (n_rows_resampled,)
        The row of X that each row is, or starts from.
    synthetic_ : ndarray of bool of shape (n_rows_resampled,)
        Which rows are new.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import SMOTE
    >>> X = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.1], [0.2, 0.3], [5.0, 5.0], [6.0, 6.0]])
    >>> X_new, y_new = SMOTE(k_neighbors=1, random_state=0).fit_resample(X, [0, 0, 0, 0, 1, 1])
    >>> np.bincount(y_new).tolist()
    [4, 4]
    >>> bool((X_new[6:, 0] == X_new[6:, 1]).all())  # on the line from (5, 5) to (6, 6)
    True
    """

    _options: ClassVar[type[Any]] = SmoteOptions
    _kind = "over"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        k_neighbors: int | Estimator = 5,
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.categorical_features = categorical_features
        self.scale = scale
        self.n_jobs = n_jobs

    def _decide(self, given: Given, options: SmoteOptions) -> Outcome:
        seed = drawn_seed(options.random_state)
        k = self._count(options.k_neighbors, "k_neighbors")
        near = self._neighbourhood(given, options.k_neighbors, options)
        assert given.table is not None
        parts = []
        for one in self._classes_to_grow(given):
            own_k = one.neighbours(k, type(self).__name__, "k_neighbors")
            parts.append(draw_lines(smote_centres(near, one, own_k), given.table, one, seed))
        return Outcome(made=joined(parts, thread_count(options.n_jobs)), learned=self._learned(given, near))

    def _learned(self, given: Given, near: Neighbourhood) -> dict[str, Any]:
        return {}


class SMOTENC(SMOTE):
    """`SMOTE` for tables with categories, by imbalanced-learn's name: which columns these are comes first.

    Since `SMOTE` takes categories as they are, this differs in its parameters alone. Nothing is one-hot
    encoded. Two levels differ by the median of the standard deviations of the numeric columns in the class,
    as in the paper (imbalanced-learn: by 1/√2 of that). Tables of categories alone are taken too.

    Parameters
    ----------
    categorical_features : "auto" or list of names, positions or bools, default="auto"
        Columns to treat as categories whatever their type; "auto" for those whose type says so. Text and
        unordered categories always are.
    categorical_encoder : object, default=None
        Without effect: categories are compared as they are.
    sampling_strategy, random_state, k_neighbors, scale, n_jobs
        As in `SMOTE`.

    Attributes
    ----------
    categorical_features_ : ndarray
        The positions of the columns with unordered levels.
    continuous_features_ : ndarray
        The positions of all others.
    sampling_strategy_, sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> from weald import SMOTENC
    >>> X = [[1.0, "red"], [1.2, "red"], [1.1, "blue"], [1.3, "red"], [5.0, "green"], [5.1, "green"]]
    >>> X_new, y_new = SMOTENC([1], k_neighbors=1, random_state=0).fit_resample(X, [0, 0, 0, 0, 1, 1])
    >>> {row[1] for row, label in zip(X_new, y_new) if label == 1}
    {'green'}
    """

    _options: ClassVar[type[Any]] = NominalOptions

    def __init__(
        self,
        categorical_features: CategoricalFeatures | str = "auto",
        *,
        categorical_encoder: object = None,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        k_neighbors: int | Estimator = 5,
        scale: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.categorical_encoder = categorical_encoder
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.scale = scale
        self.n_jobs = n_jobs

    def _decide(self, given: Given, options: SmoteOptions) -> Outcome:
        _tell_unused(options, type(self).__name__)
        return super()._decide(given, options)

    def _learned(self, given: Given, near: Neighbourhood) -> dict[str, Any]:
        assert given.table is not None
        kinds = [column.kind == "categorical" for column in given.table.columns]
        return {
            "categorical_features_": np.flatnonzero(kinds),
            "continuous_features_": np.flatnonzero(~np.array(kinds, np.bool_)),
        }


class SMOTEN(SMOTE):
    """`SMOTE` for tables of categories alone: a new row has in each column the level most of its like have.

    Every column is taken as categories, numbers by their distinct values, and missing as a level of its own.
    Two levels are as far apart as the shares of the classes among their rows differ (the value difference
    metric, equation R7); a new row has in each column the level that is most frequent among a row of the
    class and its `k_neighbors` nearest.

    Parameters
    ----------
    categorical_encoder : object, default=None
        Without effect: categories are compared as they are.
    sampling_strategy, random_state, k_neighbors, n_jobs
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_, sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> from weald import SMOTEN
    >>> X = [["A"]] * 10 + [["B"]] * 20 + [["C"]] * 30
    >>> X_new, y_new = SMOTEN(random_state=0).fit_resample(X, [0] * 20 + [1] * 40)
    >>> y_new.count(0), sorted({row[0] for row in X_new[60:]})
    (40, ['A', 'B'])
    """

    _options: ClassVar[type[Any]] = NominalOptions

    def __init__(
        self,
        categorical_encoder: object = None,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        k_neighbors: int | Estimator = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.categorical_encoder = categorical_encoder
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.n_jobs = n_jobs

    #: what SMOTE has besides
    scale = None
    categorical_features = None

    def _table(self, X: TableLike, options: TableOptions) -> Table:
        table = to_table(X)
        table = to_table(table, categorical_features=list(range(table.n_columns)))
        return Schema.of(table).align(table)

    def _decide(self, given: Given, options: SmoteOptions) -> Outcome:
        _tell_unused(options, type(self).__name__)
        seed = drawn_seed(options.random_state)
        k = self._count(options.k_neighbors, "k_neighbors")
        assert given.table is not None
        profiles = class_profiles(given.table, given.labels)
        near = self._neighbourhood(self._as_numbers(given, profiles), options.k_neighbors, options)
        parts = []
        for one in self._classes_to_grow(given):
            own_k = one.neighbours(k, type(self).__name__, "k_neighbors")
            parts.append(draw_votes(smote_centres(near, one, own_k), given.table, one, seed))
        return Outcome(made=joined(parts, thread_count(options.n_jobs)))

    def _as_numbers(self, given: Given, profiles: Floats) -> Given:
        """The rows as points, whose distance is that of their levels."""
        return replace(given, X=profiles, table=to_table(profiles))


def _tell_unused(options: SmoteOptions, owner: str) -> None:
    if isinstance(options, NominalOptions) and options.categorical_encoder is not None:
        warnings.warn(
            f"`categorical_encoder` of {owner} has no effect: categories are compared as they are, and never "
            "encoded. Leave it None.",
            IgnoredParameterWarning,
            stacklevel=outside(),
        )
