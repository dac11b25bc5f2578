"""Many stumps on the same rows with other weights: rows in memory, laid out once for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.data.codes import Codes
from weald.model.forest import Forest
from weald.rows.memory import CLASS_CRITERIA, class_forest


class Stumps:
    """Classification trees of depth 1, without limits, as `grow_classification_tree` would grow them.

    Parameters
    ----------
    codes : Codes
        The coded table; its columns are dense.
    labels : ndarray of int32, shape (n_rows,)
        Class numbers.
    n_classes : int
        How many classes.
    n_threads : int
        Threads to use; the result does not depend on it.
    """

    def __init__(self, codes: Codes, labels: NDArray[np.int32], n_classes: int, *, n_threads: int) -> None:
        self._codes, self._n_threads = codes, n_threads
        self._rows = engine.stump_rows(codes.native, labels, n_classes, n_threads=n_threads)

    def grow(self, weights: NDArray[np.int64], criterion: str) -> tuple[Forest, NDArray[np.int32]]:
        """The stump of some weights, and the class that it gives each row.

        Parameters
        ----------
        weights : ndarray of int64, shape (n_rows,)
            Whole weights; rows of weight 0 are absent.
        criterion : {"gini", "entropy", "misclassification"}
            What the split lowers.
        """
        which = CLASS_CRITERIA.index(criterion)
        arrays, predicted = engine.grow_stump(self._rows, weights, which, n_threads=self._n_threads)
        return class_forest(self._codes, arrays, weight_power=0, bounded=False).forest, predicted
