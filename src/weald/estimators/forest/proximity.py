"""How near rows are, by the leaves of a forest: proximity, nearest rows, outliers, prototypes, a picture."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import RandomState, TableLike, TargetLike, WeightLike
from weald.data.adapters import to_table
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import read_labels, read_weight
from weald.errors import DataError, ParameterError
from weald.model.forest import Forest
from weald.rows.bags import BagRecord

if TYPE_CHECKING:
    from scipy import sparse

    from weald.inspection.proximity import Leaves


class ForestProximity:
    """The methods of a forest that compare rows by the leaves they share."""

    forest_: Forest
    schema_: Schema
    bags_: BagRecord
    _read: Callable[[Any], tuple[Table, int]]
    _classes_by_output: Callable[[], tuple[NDArray[Any], ...] | None]

    def proximity(
        self,
        X: TableLike,
        Y: TableLike | None = None,
        *,
        oob_only: bool = False,
        sample_weight: WeightLike | None = None,
    ) -> NDArray[np.float64]:
        """The share of trees in which two rows come to the same leaf.

        Parameters
        ----------
        X : table
            As in `fit`.
        Y : table, default=None
            Other rows to compare those of X with; None for those of X themselves.
        oob_only : bool, default=False
            Whether to count, for each pair, only trees that saw neither of the two. X is then the table of
            `fit`, in the same order, and Y is None.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`, if there were any; only read with `oob_only`, which needs to know rows of
            weight 0.

        Returns
        -------
        ndarray of shape (n_rows of X, n_rows of Y)
            From 0 to 1. NaN, with a warning, for pairs of which every tree saw one (`oob_only`).

        Raises
        ------
        DataError
            If the matrix would take more than 2 GiB; `nearest_rows` does not need it.
        """
        from weald.inspection.proximity import Leaves, check_dense, dense_proximity

        if Y is not None and oob_only:
            raise ParameterError("oob_only=True compares the rows of the training table: leave Y out.")
        table, n_threads = self._read(X)
        if Y is None:
            check_dense(table.n_rows, table.n_rows)
            leaves = self._leaves(table, n_threads, oob_only, sample_weight)
            return dense_proximity(leaves, leaves, n_threads=n_threads)
        others, _ = self._read(Y)
        check_dense(table.n_rows, others.n_rows)
        mine = Leaves.of(self.forest_, table, n_threads=n_threads)
        return dense_proximity(
            mine, Leaves.of(self.forest_, others, n_threads=n_threads), n_threads=n_threads
        )

    def nearest_rows(
        self, X: TableLike, k: int = 10, *, oob_only: bool = False, sample_weight: WeightLike | None = None
    ) -> sparse.csr_matrix:
        """The k nearest other rows of each row, by proximity.

        Exact, and without a matrix of all pairs: it takes about 13 bytes for each row and tree, and as many
        steps as there are pairs of a row and another in one of its leaves. That is quick for deep trees; with
        few large leaves, as in trees of limited depth, it comes near trees · rows², divided by the number of
        leaves.

        Parameters
        ----------
        X : table
            As in `fit`.
        k : int, default=10
            How many.
        oob_only : bool, default=False
            As in `proximity`.
        sample_weight : array-like of shape (n_rows,), default=None
            As in `proximity`.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_rows, n_rows)
            At most k entries per row, by falling proximity, then by row number. The row itself is left out,
            and so are rows of proximity 0.
        """
        from weald.inspection.proximity import nearest_rows

        _check_count("k", k)
        table, n_threads = self._read(X)
        leaves = self._leaves(table, n_threads, oob_only, sample_weight)
        return nearest_rows(leaves, int(k), n_threads=n_threads)

    def outlier_measure(self, X: TableLike, y: TargetLike | None = None) -> NDArray[np.float64]:
        """How far each row is from the others of its class; above 10 or so it deserves a look.

        The number of rows, divided by the sum of squared proximities to the rows of the class, less the
        median of the class, in mean absolute deviations of the class.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,), default=None
            The labels that tell the classes. None for those that the forest predicts; all rows are one class
            if it predicts numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
            0 for the middle row of a class.
        """
        from weald.inspection.proximity import Leaves, outlier_measure

        table, n_threads = self._read(X)
        if y is None and self._classes_by_output() is not None:
            y = self.predict(X)  # type: ignore[attr-defined]
        group = np.zeros(table.n_rows, np.int32)
        if y is not None:
            group = self._labels(
                y, table.n_rows, "outlier_measure", "Leave y out to compare all rows, or give"
            )[1]
        leaves = Leaves.of(self.forest_, table, n_threads=n_threads)
        return outlier_measure(leaves, group, n_threads=n_threads)

    def prototypes(
        self, X: TableLike, y: TargetLike, k: int = 30, *, n_prototypes: int = 1
    ) -> dict[Hashable, TableLike]:
        """Rows that stand for each class.

        Of the rows of a class, the one with the most rows of the class among its k nearest; of these rows
        together the medians of numbers and the most frequent levels. Further prototypes leave these rows out.

        Parameters
        ----------
        X : table
            As in `fit`.
        y : array-like of shape (n_rows,)
            Labels.
        k : int, default=30
            How many of the nearest rows are looked at.
        n_prototypes : int, default=1
            The most prototypes of a class.

        Returns
        -------
        dict
            Label → a table of the kind of X, one row per prototype, the most crowded first. Numbers in
            columns of whole numbers are rounded.
        """
        from weald.data.frames.write import places
        from weald.inspection.prototypes import neighbourhoods, prototype_table
        from weald.inspection.proximity import Leaves, nearest_rows
        from weald.model.values import plain_labels

        _check_count("k", k)
        _check_count("n_prototypes", n_prototypes)
        table, n_threads = self._read(X)
        classes, indices = self._labels(y, table.n_rows, "prototypes", "Give")
        near = nearest_rows(Leaves.of(self.forest_, table, n_threads=n_threads), int(k), n_threads=n_threads)
        order = places(self.schema_.names, to_table(X).names)
        return {
            label: prototype_table(X, table, order, neighbourhoods(near, indices == c, int(n_prototypes)))
            for c, label in enumerate(plain_labels(classes))
        }

    def embedding(
        self, X: TableLike, n_components: int = 2, random_state: RandomState = 0
    ) -> NDArray[np.float64]:
        """Places in a plane, or a space, whose distances are near 1 - proximity.

        By scikit-learn's multidimensional scaling, which looks at all pairs of rows hundreds of times.

        Parameters
        ----------
        X : table
            As in `fit`; at most 5,000 rows.
        n_components : int, default=2
            How many coordinates.
        random_state : int or RandomState, default=0
            Where the scaling starts.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            The places.
        """
        from weald.inspection.proximity import MOST_LAID_OUT, Leaves, dense_proximity, laid_out

        _check_count("n_components", n_components)
        table, n_threads = self._read(X)
        if table.n_rows > MOST_LAID_OUT:
            raise DataError(
                f"The embedding of {table.n_rows:,} rows would take too long: multidimensional scaling looks "
                f"at all pairs in every step, so {MOST_LAID_OUT:,} rows are the limit. Give a sample of the "
                "rows, or lay out nearest_rows(X) by a method for sparse neighbours."
            )
        leaves = Leaves.of(self.forest_, table, n_threads=n_threads)
        return laid_out(dense_proximity(leaves, leaves, n_threads=n_threads), int(n_components), random_state)

    def _leaves(
        self, table: Table, n_threads: int, oob_only: bool, sample_weight: WeightLike | None
    ) -> Leaves:
        """The leaves of rows, in all trees or in those that did not see them."""
        from weald.inspection.proximity import Leaves, check_out_of_bag

        if not oob_only:
            return Leaves.of(self.forest_, table, n_threads=n_threads)
        check_out_of_bag(self.bags_, table.n_rows, type(self).__name__)
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        present = None if weight is None else weight > 0
        return Leaves.out_of_bag(self.forest_, table, self.bags_, present, n_threads=n_threads)

    def _labels(
        self, y: TargetLike | None, n_rows: int, method: str, way_out: str
    ) -> tuple[Any, NDArray[np.int32]]:
        """The classes of one column of labels, and the class of each row."""
        try:
            outputs = read_labels(y, n_rows=n_rows, estimator=type(self).__name__)
        except DataError as error:
            if self._classes_by_output() is not None or "continuous" not in str(error):
                raise
            raise DataError(
                f"`y` of {method} must be labels, which tell the rows that belong together; the numbers that "
                f"{type(self).__name__} learns do not. {way_out} one label per row, such as y > np.median(y)."
            ) from None
        if len(outputs) > 1:
            raise DataError(
                f"One label per row is expected; y has {len(outputs)} columns. Give one of them as y."
            )
        return outputs[0]


def _check_count(name: str, value: object) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"`{name}` must be a whole number of at least 1; got {value!r}.")
