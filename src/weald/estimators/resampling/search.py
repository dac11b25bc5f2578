"""Samplers that look for neighbours: how many, in which space, by whose search."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from sklearn.base import clone

from weald.arrays import CategoricalFeatures, Estimator
from weald.data.frames.by_column import rows_of
from weald.engine import thread_count
from weald.errors import ParameterError
from weald.estimators.resampling.base import Given, RowSampler
from weald.estimators.resampling.options import SearchOptions
from weald.resampling.neighbours import Neighbourhood, ObjectNeighbours, TableNeighbours
from weald.resampling.over import OneClass

SearchT = TypeVar("SearchT", bound=SearchOptions)


class SearchingSampler(RowSampler[SearchT]):
    """The shared base of samplers that look for neighbours."""

    categorical_features: CategoricalFeatures
    scale: bool | None
    n_jobs: int | None

    def _neighbourhood(self, given: Given, k: int | Estimator, options: SearchOptions) -> Neighbourhood:
        """Who is near whom: by weald's search, or by an object of the user's."""
        assert given.table is not None
        if not isinstance(k, int):
            return ObjectNeighbours(lambda: clone(k), lambda rows: rows_of(given.X, rows), given.n_rows)
        return TableNeighbours.of(given.table, scale=options.scale, n_threads=thread_count(options.n_jobs))

    def _count(self, k: int | Estimator, parameter: str, *, itself: bool = True) -> int:
        """How many neighbours are asked for; an object counts the row itself, where `itself` says so."""
        if isinstance(k, int):
            return k
        found = getattr(k, "n_neighbors", None)
        if not isinstance(found, int | np.integer) or found < 1 + itself:
            raise ParameterError(
                f"`{parameter}` of {type(self).__name__} is a {type(k).__name__} whose n_neighbors is "
                f"{found!r}; a whole number of at least {1 + itself} is "
                f"needed{', the row itself counted' if itself else ''}."
            )
        return int(found) - itself

    def _classes_to_grow(self, given: Given) -> list[OneClass]:
        """The classes that get new rows."""
        labels = given.labels.classes.tolist()
        return [OneClass(k, labels[k], given.rows_of_class(k), n) for k, n in given.asked.items() if n > 0]
