"""How sure a forest is of what it predicts: variances, quantiles, intervals. Nothing is fitted again."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import TableLike, TargetLike, WeightLike
from weald.data.table import Table
from weald.data.target import read_target, read_weight
from weald.data.training import used_rows
from weald.errors import DataError, DataTypeError, ParameterError, listing, outside
from weald.estimators.shared.labels import split_shares
from weald.model.forest import Forest
from weald.rows.bags import BagRecord
from weald.uncertainty.intervals import drawn_rows, interval_ranks, jackknife_plus
from weald.uncertainty.jackknife import Method, prediction_variance
from weald.uncertainty.quantiles import forest_quantiles
from weald.uncertainty.trees import Drawn, TrainingRows


class ForestUncertainty:
    """Variances of a forest's predictions, and for numbers quantiles and intervals of the target."""

    forest_: Forest
    bags_: BagRecord
    n_outputs_: int
    _read: Callable[..., tuple[Table, int]]
    _checked_options: Callable[[], Any]
    _n_draws: Callable[..., int]
    _classes_by_output: Callable[[], tuple[NDArray[Any], ...] | None]

    def predict_variance(
        self, X: TableLike, *, method: str = "infinitesimal", sample_weight: WeightLike | None = None
    ) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """How much the prediction would vary if the forest were fitted on other rows of the same source.

        This is the variance of the forest's mean, or of each class's share; it leaves out the noise of a new
        row's own target. Both methods are corrected for the finite number of trees, on average; it takes
        about as many trees as training rows to make them steady. Values that fall below 0
        become 0, with a warning. The cost is rows of `X` × training rows × trees, as matrix products in
        blocks.

        Parameters
        ----------
        X : table
            As in `fit`.
        method : {"infinitesimal", "jackknife"}, default="infinitesimal"
            The infinitesimal jackknife of Wager, Hastie and Efron (2014), which leans low in small tables, or
            the jackknife after the bootstrap, which leans high; the mean of the two is nearer than either.
            Both account for `max_samples`.
        sample_weight : array-like of shape (n_training_rows,), default=None
            The weights of the fit; needed only if some were 0 (or a class had the weight 0).

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            For numbers. For labels (n_rows, n_classes_), and a list of such, one per output, if there are
            several.
        """
        check_is_fitted(self)
        if method not in ("infinitesimal", "jackknife"):
            raise ParameterError(
                f"`method` of predict_variance must be 'infinitesimal' or 'jackknife'; got {method!r}."
            )
        drawn = self._drawn("predict_variance", read_weight(sample_weight, n_rows=self.bags_.n_rows))
        if drawn.n_trees < 2:
            raise ParameterError("A variance needs two trees or more. Refit with a larger n_estimators.")
        if method == "jackknife":
            self._left_out_rows(drawn)
        table, n_threads = self._read(X)
        found = prediction_variance(
            self.forest_, table, drawn, method=cast("Method", method), n_threads=n_threads
        )
        found = _at_least_zero(found)
        classes = self._classes_by_output()
        if classes is None:
            return found[:, 0] if self.n_outputs_ == 1 else found
        parts = split_shares(found, [len(labels) for labels in classes])
        return parts[0] if len(parts) == 1 else parts

    def predict_quantiles(
        self,
        X: TableLike,
        quantiles: ArrayLike,
        *,
        train: tuple[TableLike, TargetLike],
        sample_weight: WeightLike | None = None,
    ) -> NDArray[np.float64]:
        """Quantiles of the target given each row, by Meinshausen's quantile regression forest (2006).

        A training row weighs what it weighs in the leaves that the new row comes to, averaged over trees. The
        q-quantile is the smallest target for which the weights of all targets up to it are at least q. Leaves
        of several rows (`min_samples_leaf=5`, say) make smoother quantiles. Works without bags too.

        Parameters
        ----------
        X : table
            As in `fit`.
        quantiles : float, or sequence of float
            From 0 to 1.
        train : tuple of (X_train, y_train)
            The table and target of the fit, rows in the same order.
        sample_weight : array-like of shape (n_training_rows,), default=None
            The weights of the fit, if it had any.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles), or (n_rows, n_quantiles, n_outputs_)
            Without the axis of quantiles if `quantiles` is one number.
        """
        check_is_fitted(self)
        self._refuse_labels("predict_quantiles", "predict_proba, which gives the shares of the classes")
        asked, single = _read_quantiles(quantiles)
        given = self._rows_of_fit("predict_quantiles", train, sample_weight)
        table, n_threads = self._read(X)
        found = forest_quantiles(self.forest_, table, given, asked, n_threads=n_threads)
        if self.n_outputs_ == 1:
            found = found[:, :, 0]
        return found[:, 0] if single else found

    def predict_interval(
        self,
        X: TableLike,
        *,
        train: tuple[TableLike, TargetLike],
        coverage: float = 0.9,
        sample_weight: WeightLike | None = None,
        max_rows: int | None = 2000,
    ) -> NDArray[np.float64]:
        """An interval for the target of each row, by the jackknife+ after the bootstrap.

        Each training row in turn counts as left out: the trees whose bags lack it predict the new row, and
        how they erred on the row itself is added on both sides (Kim, Xu and Barber, 2020). If new rows come
        from the same source as the training rows, a share `coverage` of the intervals holds the target, or
        very nearly so (at the least 1 - 2 · (1 - coverage), whatever the data). Rows count alike, whatever
        their weights above 0. The cost is rows of `X` × rows left out × trees, as matrix products in blocks.

        Parameters
        ----------
        X : table
            As in `fit`.
        train : tuple of (X_train, y_train)
            The table and target of the fit, rows in the same order.
        coverage : float, default=0.9
            The share of targets that the intervals should hold, between 0 and 1.
        sample_weight : array-like of shape (n_training_rows,), default=None
            The weights of the fit; needed only if some were 0.
        max_rows : int or None, default=2000
            The most training rows that are left out in turn, drawn by a hash of the forest's seed and the
            row's number; None for all. They must be at least coverage / (1 - coverage), or the ends
            are infinite, with a warning. Rows that every tree saw cannot be left out: they are named in a
            warning, and the others stand for them.

        Returns
        -------
        ndarray of shape (n_rows, 2), or (n_rows, 2, n_outputs_)
            The lower and the upper end.
        """
        check_is_fitted(self)
        self._refuse_labels("predict_interval", "predict_variance, the variance of each class's share")
        _check_coverage(coverage, max_rows)
        given = self._rows_of_fit("predict_interval", train, sample_weight, needs_bags=True)
        rows = drawn_rows(self._left_out_rows(given.drawn), max_rows, self.bags_.seed)
        if interval_ranks(len(rows), coverage)[0] < 1:
            fewest = math.ceil(coverage / (1 - coverage) - 1e-9)
            warnings.warn(
                f"Intervals of coverage {coverage} need at least {fewest:,} rows to leave out, and there are "
                f"{len(rows):,}: all ends are infinite. Use a smaller coverage, or more rows.",
                UserWarning,
                stacklevel=outside(),
            )
        table, n_threads = self._read(X)
        found = jackknife_plus(self.forest_, table, given, rows, float(coverage), n_threads=n_threads)
        return found[:, :, 0] if self.n_outputs_ == 1 else found

    def _refuse_labels(self, method: str, instead: str) -> None:
        if self._classes_by_output() is not None:
            raise ParameterError(
                f"{method} is for targets that are numbers, and {type(self).__name__} predicts labels. "
                f"Use {instead}."
            )

    def _drawn(self, method: str, weight: NDArray[np.float64] | None, needs_bags: bool = True) -> Drawn:
        """The bags, and the rows they were drawn from."""
        owner, bags = type(self).__name__, self.bags_
        if needs_bags and bags.n_draws == 0:
            raise ParameterError(
                f"{method} of {owner} needs bootstrap=True: in this forest every tree saw every row. Refit "
                "with bootstrap=True."
            )
        present = used_rows(weight)
        n_present = bags.n_rows if present is None else int(np.count_nonzero(present))
        if bags.n_draws not in (0, self._n_draws(self._checked_options(), n_present)):
            raise DataError(
                f"The bags of this forest have {bags.n_draws:,} draws from the rows of positive weight, and "
                f"`sample_weight` leaves {n_present:,} such rows. Give the sample_weight of `fit`."
            )
        return Drawn(bags, self.forest_.n_trees, present)

    def _rows_of_fit(
        self,
        method: str,
        train: tuple[TableLike, TargetLike],
        sample_weight: WeightLike | None,
        *,
        needs_bags: bool = False,
    ) -> TrainingRows:
        """The table, target and weights of the fit, checked as far as the forest remembers them."""
        if not isinstance(train, tuple | list) or len(train) != 2:
            raise DataTypeError(
                f"`train` of {method} must be the pair (X_train, y_train) of the fit; got "
                f"{type(train).__name__}."
            )
        table, n_threads = self._read(train[0])
        if table.n_rows != self.bags_.n_rows:
            raise DataError(
                f"`train` of {method} has {table.n_rows:,} rows, and the forest was fitted on "
                f"{self.bags_.n_rows:,}. Give the table of `fit`, rows in the same order."
            )
        target = read_target(train[1], n_rows=table.n_rows, estimator=type(self).__name__)
        if target.shape[1] != self.n_outputs_:
            raise DataError(
                f"The target in `train` has {target.shape[1]} columns, and that of the fit had "
                f"{self.n_outputs_}. Give the target of `fit`."
            )
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        given = TrainingRows(self._drawn(method, weight, needs_bags), table, target, weight)
        given.check(self.forest_, n_threads)
        return given

    def _left_out_rows(self, drawn: Drawn) -> NDArray[np.int64]:
        """The rows that some bag lacks; a warning names the others."""
        lacking = drawn.n_trees_without()[drawn.rows] > 0
        seen = drawn.rows[~lacking]
        if not lacking.any():
            raise DataError(
                f"Every tree saw every one of the {len(seen):,} rows. Refit with more trees (n_estimators)."
            )
        if len(seen):
            warnings.warn(
                f"Every tree saw {len(seen):,} of the {drawn.bags.n_rows:,} training rows "
                f"({listing(seen.tolist())}); they cannot be left out, and the others stand for them. "
                "Use more trees (n_estimators).",
                UserWarning,
                stacklevel=outside(),
            )
        return drawn.rows[lacking]


def _at_least_zero(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimates below 0 as 0, with a warning that counts their rows."""
    below = np.count_nonzero((variance < 0).any(axis=1))
    if below:
        warnings.warn(
            f"The variance of {below:,} of {len(variance):,} rows came out below 0, where the correction for "
            "the finite number of trees outweighs it; it is given as 0. Use more trees (n_estimators).",
            UserWarning,
            stacklevel=outside(),
        )
    return np.maximum(variance, 0.0)


def _read_quantiles(quantiles: ArrayLike) -> tuple[Sequence[float], bool]:
    """The quantiles as a list, and whether it was one number."""
    try:
        asked = np.asarray(quantiles, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"`quantiles` must be numbers from 0 to 1; got {quantiles!r}.") from None
    if asked.ndim > 1 or asked.size == 0 or not ((asked >= 0) & (asked <= 1)).all():
        raise ParameterError(
            f"`quantiles` must be a number from 0 to 1, or a list of such; got {quantiles!r}. "
            "Use [0.05, 0.5, 0.95] for a median and its surroundings."
        )
    return np.atleast_1d(asked).tolist(), asked.ndim == 0


def _check_coverage(coverage: float, max_rows: int | None) -> None:
    number = isinstance(coverage, int | float | np.number) and not isinstance(coverage, bool)
    if not number or not 0 < coverage < 1:
        raise ParameterError(
            f"`coverage` of predict_interval must be a number between 0 and 1; got {coverage!r}. "
            "Use 0.9 for intervals that hold nine targets of ten."
        )
    whole = isinstance(max_rows, int | np.integer) and not isinstance(max_rows, bool)
    if max_rows is not None and (not whole or max_rows < 1):
        raise ParameterError(
            f"`max_rows` of predict_interval must be a whole number of at least 1, or None for all rows; got "
            f"{max_rows!r}."
        )
