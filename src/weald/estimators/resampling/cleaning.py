"""`TomekLinks`, `EditedNearestNeighbours` and `NearMiss`: rows dropped by what is near them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from weald.arrays import CategoricalFeatures, Estimator
from weald.errors import DataError, told
from weald.estimators.resampling.base import Given, Outcome
from weald.estimators.resampling.options import EditedOptions, NearMissOptions, SearchOptions
from weald.estimators.resampling.search import SearchingSampler
from weald.resampling.neighbours import affordable
from weald.resampling.strategy import Strategy, rarest
from weald.resampling.under import edited, near_miss, tomek_links


class TomekLinks(SearchingSampler[SearchOptions]):
    """Drop rows of frequent classes that are in a Tomek link: with a row of another class, each nearest to
    each.

    Equation R8 of docs/methods/resampling.md. Tables are compared as in `SMOTE`; the rows that stay keep
    their order, pandas rows their index.

    Parameters
    ----------
    sampling_strategy : str, list or callable, default="auto"
        Which classes lose rows: "auto" = "not minority", "majority", "not majority", "all", or a list of
        labels.
    n_jobs : int, default=None
        Threads; None for every CPU of the process. The result does not depend on it.
    categorical_features, scale
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_ : dict
        The classes that lose rows.
    sample_indices_ : ndarray of shape (n_rows_resampled,)
        The rows of X that stay.
    synthetic_ : ndarray of bool of shape (n_rows_resampled,)
        False for every row.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import TomekLinks
    >>> TomekLinks().fit_resample([[0.0], [1.0], [2.9], [3.0], [9.0]], [0, 0, 0, 1, 1])
    ([[0.0], [1.0], [3.0], [9.0]], [0, 0, 1, 1])
    """

    _options = SearchOptions
    _kind = "clean"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.scale = scale

    def _decide(self, given: Given, options: SearchOptions) -> Outcome:
        near = self._neighbourhood(given, 1, options)
        dropped = tomek_links(near, given.labels.indices, given.asked)
        return Outcome(kept=np.flatnonzero(~dropped))


class EditedNearestNeighbours(SearchingSampler[EditedOptions]):
    """Drop rows of frequent classes whose neighbours are of other classes, after Wilson.

    Equation R9 of docs/methods/resampling.md. Tables are compared as in `SMOTE`; the rows that stay come
    class by class, pandas rows keep their index.

    Parameters
    ----------
    sampling_strategy : str, list or callable, default="auto"
        Which classes lose rows: "auto" = "not minority", "majority", "not majority", "all", or a list of
        labels.
    n_neighbors : int or object, default=3
        How many neighbours are asked.
    kind_sel : {"all", "mode"}, default="all"
        Whether a row stays if all its neighbours are of its class, or if most are.
    n_jobs, categorical_features, scale
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_, sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `TomekLinks`.

    Examples
    --------
    >>> from weald import EditedNearestNeighbours
    >>> X = [[0.0], [1.0], [2.0], [2.9], [3.0], [3.1], [3.2]]
    >>> EditedNearestNeighbours(n_neighbors=2).fit_resample(X, [0, 0, 0, 0, 1, 1, 1])[1]
    [0, 0, 0, 1, 1, 1]
    """

    _options = EditedOptions
    _kind = "clean"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        n_neighbors: int | Estimator = 3,
        kind_sel: Literal["all", "mode"] = "all",
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.n_neighbors = n_neighbors
        self.kind_sel = kind_sel
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.scale = scale

    def _decide(self, given: Given, options: EditedOptions) -> Outcome:
        owner = type(self).__name__
        asked = self._count(options.n_neighbors, "n_neighbors")
        k = affordable(asked, given.n_rows, "The table", owner, "n_neighbors")
        near = self._neighbourhood(given, options.n_neighbors, options)
        kept = edited(near, given.labels.indices, given.asked, k, options.kind_sel)
        if not len(kept):
            raise DataError(
                f"{owner} would drop every row: each has a neighbour of another class. Use kind_sel='mode', "
                "fewer n_neighbors, or leave rare classes out of sampling_strategy."
            )
        return Outcome(kept=kept)


class NearMiss(SearchingSampler[NearMissOptions]):
    """Keep those rows of frequent classes that are near rows of the rarest one.

    Version 1 keeps the rows with the smallest mean distance to their `n_neighbors` nearest rare rows, version
    2 to the `n_neighbors` rare rows farthest from them. Version 3 first takes the `n_neighbors_ver3` nearest
    rows of each rare row, and keeps those of them whose mean distance to their nearest rare rows is largest;
    it may find fewer than asked for, which a warning tells. Tables are compared as in `SMOTE`; the rows that
    stay come class by class, pandas rows keep their index.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        As in `RandomUnderSampler`.
    version : {1, 2, 3}, default=1
        Which rows stay.
    n_neighbors : int or object, default=3
        How many rare rows distances are taken to.
    n_neighbors_ver3 : int or object, default=3
        How many rows version 3 takes near each rare row.
    n_jobs, categorical_features, scale
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_ : dict
        Rows to keep, by label.
    sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `TomekLinks`.

    Examples
    --------
    >>> from weald import NearMiss
    >>> NearMiss(n_neighbors=1).fit_resample([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1, 1])
    ([[2.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    """

    _options = NearMissOptions
    _kind = "under"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        version: int = 1,
        n_neighbors: int | Estimator = 3,
        n_neighbors_ver3: int | Estimator = 3,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.version = version
        self.n_neighbors = n_neighbors
        self.n_neighbors_ver3 = n_neighbors_ver3
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.scale = scale

    def _decide(self, given: Given, options: NearMissOptions) -> Outcome:
        owner, counts = type(self).__name__, given.counts
        rare = rarest(counts)
        label = given.labels.classes.tolist()[rare]
        asked = self._count(options.n_neighbors, "n_neighbors", itself=False)
        who = f"The rarest class, {told(label)},"
        k = affordable(asked, int(counts[rare]), who, owner, "n_neighbors", itself=False)
        kept = near_miss(
            self._neighbourhood(given, options.n_neighbors, options),
            given.labels.indices,
            given.asked,
            rare,
            version=options.version,
            k=k,
            k_first=self._count(options.n_neighbors_ver3, "n_neighbors_ver3", itself=False),
            labels=given.labels.classes.astype(object),
        )
        return Outcome(kept=kept)
