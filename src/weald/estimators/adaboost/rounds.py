"""What can be read of each round of a fitted AdaBoost: the weights that its rows had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.loop import RowChoice
from weald.adaboost.weights import TOTAL, RowWeights
from weald.arrays import TableLike, TargetLike, WeightLike
from weald.data.target import read_weight
from weald.errors import DataError, ParameterError
from weald.estimators.adaboost.stopping import stopping_of

if TYPE_CHECKING:
    from weald.estimators.adaboost.base import BaseAdaBoost


class RoundReading:
    """The row weights of each round, told again from the members instead of kept."""

    def staged_row_weights(
        self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None
    ) -> Iterator[NDArray[Any]]:
        """The weights of the training rows, round by round.

        Parameters
        ----------
        X, y : table, array-like of shape (n_rows,)
            The rows of `fit`, in their order.
        sample_weight : array-like of shape (n_rows,), default=None
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            What rows weighed when the member of the round was fitted, or its sample drawn; their sum is 1.
        """
        own = cast("BaseAdaBoost", self)
        check_is_fitted(self)
        options, owner, members = own._fitted_options, type(self).__name__, own._members
        table = members.read(X, owner)
        n_rows = members.n_rows(table)
        weight = read_weight(sample_weight, n_rows=n_rows)
        target = own._read_target(y, n_rows, weight)
        if target.classes is not None and not np.array_equal(target.classes[0], own.classes_):
            raise DataError(f"y has other labels than {owner} was fitted on. Give the rows of `fit`.")
        stopping = stopping_of(options, target, weight, members.seed, owner)
        weights = RowWeights(stopping.weight, n_rows)
        task = own._task(target, weights.present, options)
        choice = RowChoice(own._plan(options, members.seed), weights)
        for each, predicted in zip(
            own._rounds, members.each(table, own._checked_options().n_jobs), strict=True
        ):
            if each.restarted:
                weights.reset()
            yield weights.units / TOTAL
            seen = choice.seen(each.attempt)
            weights.take(*task.reweighed(seen.base, task.losses(predicted, seen.base > 0), each.weight))

    def row_weights(
        self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None, *, round_number: int
    ) -> NDArray[Any]:
        """The weights of the training rows in one round.

        Parameters
        ----------
        X, y : table, array-like of shape (n_rows,)
            The rows of `fit`, in their order.
        sample_weight : array-like of shape (n_rows,), default=None
            As in `fit`.
        round_number : int
            Which round; the first is 1, where rows have the weights of the start.

        Returns
        -------
        ndarray of shape (n_rows,)
            What rows weighed when the member of the round was fitted, or its sample drawn; their sum is 1.
        """
        own = cast("BaseAdaBoost", self)
        check_is_fitted(self)
        n_rounds = len(own._rounds)
        if not isinstance(round_number, int | np.integer) or not 1 <= round_number <= n_rounds:
            raise ParameterError(
                f"`round_number` must be a whole number from 1 to {n_rounds}, the rounds of this "
                f"{type(self).__name__}; got {round_number!r}."
            )
        stages = own.staged_row_weights(X, y, sample_weight)
        return next(weights for number, weights in enumerate(stages, 1) if number == round_number)
