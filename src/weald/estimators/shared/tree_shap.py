"""`shap_values` of every estimator whose raw scores are a sum over trees."""

from __future__ import annotations

from abc import abstractmethod

from weald.arrays import Floats, TableLike, WeightLike
from weald.inspection.shap.model import TreeModel


class TreeShap:
    """An estimator that can be taken apart by columns."""

    @abstractmethod
    def _shap_model(self) -> TreeModel:
        """The trees, and how their sum becomes raw scores; raises if the members are no trees."""

    def shap_values(
        self,
        X: TableLike,
        *,
        background: TableLike | None = None,
        background_weight: WeightLike | None = None,
        interactions: bool = False,
        approximate: bool = False,
        verbose: bool | int = False,
    ) -> Floats:
        """What each column adds to the raw score of each row: SHAP values, exact.

        Raw scores are what the trees add up to, before any link: margins of boosting, shares or means of
        trees and forests, votes of AdaBoost. `weald.explain` gives the same with the base values, to which
        the values of a row add up with its raw score.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        background : table, default=None
            Rows that stand for the columns that are not known (interventional values): the time grows with
            its rows, not with their product with those of X. None takes the training rows, by the weight that
            came to each node (path-dependent values).
        background_weight : array-like of shape (n_background_rows,), default=None
            What each row of the background counts.
        interactions : bool, default=False
            Whether to tell pairs of columns apart. A row's matrix is symmetric, and its rows add up to the
            values.
        approximate : bool, default=False
            Whether to give Saabas's values: what the means of the nodes change by along the path of a row.
            Quicker, but columns that are split lower in the trees get more than their due.
        verbose : bool or int, default=False
            Whether to show progress on stderr.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_outputs)
            Of interactions (n_rows, n_columns, n_columns), outputs last.
        """
        told = self._shap_model().explain(
            X,
            background=background,
            background_weight=background_weight,
            interactions=interactions,
            approximate=approximate,
            verbose=verbose,
        )
        return told.shaped
