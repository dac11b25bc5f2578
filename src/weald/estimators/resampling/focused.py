"""`BorderlineSMOTE` and `ADASYN`: new rows where classes meet."""

from __future__ import annotations

import warnings
from typing import Any, Literal

from weald.arrays import CategoricalFeatures, Estimator, RandomState
from weald.engine import thread_count
from weald.errors import ResamplingWarning, outside, told
from weald.estimators.resampling.base import Given, Outcome
from weald.estimators.resampling.options import AdasynOptions, BorderlineOptions
from weald.estimators.resampling.search import SearchingSampler
from weald.estimators.shared.growth import drawn_seed
from weald.resampling.neighbours import affordable
from weald.resampling.over import (
    adasyn_allotment,
    borderline_centres,
    draw_lines,
    in_danger,
    joined,
    smote_centres,
)
from weald.resampling.strategy import Strategy


class BorderlineSMOTE(SearchingSampler[BorderlineOptions]):
    """`SMOTE` that starts only from rows in danger: those with many, but not only, rows of other classes
    near.

    A row is in danger if at least half of its `m_neighbors` nearest rows, but not all, are of other classes
    (Han and others; equation R5 of docs/methods/resampling.md). Tables, categories and gaps as in `SMOTE`. If
    no row of a class is in danger it gets no new ones, with a warning.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int or RandomState, default=None
        What all draws start from.
    k_neighbors : int or object, default=5
        How many neighbours lines are drawn to.
    m_neighbors : int or object, default=10
        How many neighbours tell whether a row is in danger.
    kind : {"borderline-1", "borderline-2"}, default="borderline-1"
        Whether lines go to rows of the class, or also to rows of others and then at most half of the way;
        levels are voted on by rows of the class alone.
    categorical_features, scale, n_jobs
        As in `SMOTE`.

    Attributes
    ----------
    in_danger_indices : dict
        The rows in danger, by label.
    sampling_strategy_, sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import BorderlineSMOTE
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [4.5], [6.0], [7.0], [8.0]])
    >>> sampler = BorderlineSMOTE(k_neighbors=2, m_neighbors=3, random_state=0)
    >>> X_new, y_new = sampler.fit_resample(X, [0, 0, 0, 0, 0, 1, 1, 1, 1])
    >>> sampler.in_danger_indices[1].tolist()
    [5]
    """

    _options = BorderlineOptions
    _kind = "over"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        k_neighbors: int | Estimator = 5,
        m_neighbors: int | Estimator = 10,
        kind: Literal["borderline-1", "borderline-2"] = "borderline-1",
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.k_neighbors = k_neighbors
        self.m_neighbors = m_neighbors
        self.kind = kind
        self.categorical_features = categorical_features
        self.scale = scale
        self.n_jobs = n_jobs

    def _decide(self, given: Given, options: BorderlineOptions) -> Outcome:
        owner, seed = type(self).__name__, drawn_seed(options.random_state)
        k = self._count(options.k_neighbors, "k_neighbors")
        m = self._count(options.m_neighbors, "m_neighbors")
        wide = near = self._neighbourhood(given, options.m_neighbors, options)
        if not (isinstance(options.k_neighbors, int) and isinstance(options.m_neighbors, int)):
            near = self._neighbourhood(given, options.k_neighbors, options)
        assert given.table is not None
        growing = self._classes_to_grow(given)
        if growing:
            m = affordable(m, given.n_rows, "The table", owner, "m_neighbors")
        parts, dangers = [], {}
        for one in growing:
            danger = in_danger(wide, one, given.labels.indices, m)
            if not danger.any():
                _tell_safe(one.label, m, owner)
                continue
            dangers[one.label] = one.rows[danger]
            both = options.kind == "borderline-2"
            own_k = (
                affordable(k, given.n_rows, "The table", owner, "k_neighbors")
                if both
                else one.neighbours(k, owner, "k_neighbors")
            )
            centres = borderline_centres(near, one, given.labels.indices, danger, own_k, both=both)
            parts.append(draw_lines(centres, given.table, one, seed))
        return Outcome(
            made=joined(parts, thread_count(options.n_jobs)), learned={"in_danger_indices": dangers}
        )


class ADASYN(SearchingSampler[AdasynOptions]):
    """`SMOTE` that makes more rows where more rows of other classes are near.

    Row i of a class gets round(r_i / Σr · G) new rows, r_i the share of other classes among its `n_neighbors`
    nearest rows of the table and G the rows the class lacks (He and others; equation R6 of
    docs/methods/resampling.md). By that rounding the classes come out about equal. Lines, tables, categories
    and gaps as in `SMOTE`.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        As in `SMOTE`.
    random_state : int or RandomState, default=None
        What all draws start from.
    n_neighbors : int or object, default=5
        How many neighbours, of all rows for the shares and of the class for the lines.
    categorical_features, scale, n_jobs
        As in `SMOTE`.

    Attributes
    ----------
    sampling_strategy_, sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import ADASYN
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [4.5], [6.0], [7.0]])
    >>> sampler = ADASYN(n_neighbors=2, random_state=0)
    >>> X_new, y_new = sampler.fit_resample(X, [0, 0, 0, 0, 0, 1, 1, 1])
    >>> X[sampler.sample_indices_[sampler.synthetic_]].ravel().tolist()  # the rows that new ones start from
    [4.5, 4.5]
    """

    _options = AdasynOptions
    _kind = "over"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        n_neighbors: int | Estimator = 5,
        categorical_features: CategoricalFeatures = None,
        scale: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features
        self.scale = scale
        self.n_jobs = n_jobs

    def _decide(self, given: Given, options: AdasynOptions) -> Outcome:
        owner, seed = type(self).__name__, drawn_seed(options.random_state)
        k = self._count(options.n_neighbors, "n_neighbors")
        near = self._neighbourhood(given, options.n_neighbors, options)
        assert given.table is not None
        parts = []
        for one in self._classes_to_grow(given):
            own_k = one.neighbours(k, owner, "n_neighbors")
            all_k = min(k, given.n_rows - 1)
            allotted = adasyn_allotment(near, one, given.labels.indices, all_k, owner)
            parts.append(draw_lines(smote_centres(near, one, own_k), given.table, one, seed, allotted))
        return Outcome(made=joined(parts, thread_count(options.n_jobs)), learned={})


def _tell_safe(label: Any, m: int, owner: str) -> None:
    warnings.warn(
        f"No row of class {told(label)} is in danger: of the {m} nearest rows of each, fewer than half or "
        f"all are of other classes. {owner} makes no rows of it. Use SMOTE, or another m_neighbors.",
        ResamplingWarning,
        stacklevel=outside(),
    )
