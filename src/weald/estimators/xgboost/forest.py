"""`XGBRFClassifier` and `XGBRFRegressor`: random forests by one round of boosting, under xgboost's names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weald.errors import ParameterError
from weald.estimators.xgboost.chosen import given
from weald.estimators.xgboost.classifier import XGBClassifier
from weald.estimators.xgboost.model import XGBModel
from weald.estimators.xgboost.options import DEFAULTS, XGBOptions
from weald.estimators.xgboost.regressor import XGBRegressor


class NoRoundsError(ParameterError, NotImplementedError):
    """A parameter that is about rounds, and a forest has one: xgboost raises NotImplementedError."""


class OneRound(XGBModel):
    """What makes a forest of a booster: `n_estimators` trees in the only round."""

    def _options(self) -> XGBOptions:
        """The parameters as the boosting loop reads them: one round of many trees."""
        options, owner = super()._options(), type(self).__name__
        for name in ("early_stopping_rounds", "early_stopping", "callbacks"):
            if getattr(options, name) is not None:
                raise NoRoundsError(
                    f"`{name}` is not implemented for random forest: {owner} trains one round of "
                    "`n_estimators` trees, and nothing can stop between rounds. Leave it None, or use "
                    f"{owner.replace('RF', '')}."
                )
        n_trees = self._n_trees()
        if self.num_parallel_tree not in (None, n_trees):
            raise ParameterError(
                f"`num_parallel_tree` of {owner} is {self.num_parallel_tree!r}, and `n_estimators` is the "
                f"number of trees: {n_trees}. Leave `num_parallel_tree` None."
            )
        usual = given(options)  # what boosting chooses where there are categories is for many small steps
        return replace(options, n_estimators=min(n_trees, 1), num_parallel_tree=max(n_trees, 1), **usual)

    def _boosting_params(self) -> dict[str, Any]:
        """A booster goes on from here by rounds of as many trees."""
        others = {name: value for name, value in super()._boosting_params().items() if name != "n_estimators"}
        return others | {"num_parallel_tree": max(self._n_trees(), 1)}

    def _n_trees(self) -> int:
        asked = self.n_estimators
        return int(DEFAULTS["n_estimators"] if asked is None else asked)

    def get_num_boosting_rounds(self) -> int:
        """How many rounds `fit` trains: one.

        Returns
        -------
        int
            1.
        """
        return 1

    def get_xgb_params(self) -> dict[str, object]:
        """As that of boosters, with the number of trees as `num_parallel_tree`.

        Returns
        -------
        dict
            Name to value.
        """
        return super().get_xgb_params() | {"num_parallel_tree": self._n_trees()}


class XGBRFClassifier(OneRound, XGBClassifier):
    """A random forest for class labels, grown by one round of boosting.

    As `XGBClassifier` with `num_parallel_tree` trees in one round and other defaults: learning_rate=1,
    subsample=0.8, colsample_bynode=0.8, reg_lambda=1e-5. Its trees are Newton's;
    `RandomForestClassifier` grows Breiman's.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees. Parameters of early stopping and callbacks raise: there is one round.
    learning_rate : float, default=1
        What leaf values are multiplied by.
    subsample : float, default=0.8
        The share of rows each tree is grown on.
    colsample_bynode : float, default=0.8
        The share of columns drawn for a node.
    reg_lambda : float, default=1e-5
        L2 penalty on leaf values.
    **kwargs
        The other parameters of `XGBClassifier`.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, sorted; of each output if there are several.
    n_classes_ : int
        How many labels; with several outputs how many each of them has, which is two.
    {attributes}

    Examples
    --------
    >>> from weald import XGBRFClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["green", None]] * 5
    >>> model = XGBRFClassifier(n_estimators=20).fit(X, ["stop", "stop", "go", "go"] * 5)
    >>> model.predict([["red", None], ["blue", 9.0]]).tolist(), model.forest_.n_trees
    (['stop', 'go'], 20)
    """

    def __init__(
        self,
        *,
        learning_rate: float | None = 1.0,
        subsample: float | None = 0.8,
        colsample_bynode: float | None = 0.8,
        reg_lambda: float | None = 1e-5,
        **kwargs: object,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            reg_lambda=reg_lambda,
            **kwargs,  # type: ignore[arg-type]  # names are checked as those of any parameter
        )


class XGBRFRegressor(OneRound, XGBRegressor):
    """A random forest for numbers, grown by one round of boosting.

    As `XGBRegressor` with `num_parallel_tree` trees in one round and other defaults: learning_rate=1,
    subsample=0.8, colsample_bynode=0.8, reg_lambda=1e-5. `RandomForestRegressor` grows Breiman's forests.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees. Parameters of early stopping and callbacks raise: there is one round.
    learning_rate : float, default=1
        What leaf values are multiplied by.
    subsample : float, default=0.8
        The share of rows each tree is grown on.
    colsample_bynode : float, default=0.8
        The share of columns drawn for a node.
    reg_lambda : float, default=1e-5
        L2 penalty on leaf values.
    **kwargs
        The other parameters of `XGBRegressor`.

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from weald import XGBRFRegressor
    >>> X = [[1.0], [2.0], [8.0], [9.0]] * 5
    >>> model = XGBRFRegressor(n_estimators=50, max_depth=1).fit(X, [10.0, 10.0, 40.0, 40.0] * 5)
    >>> model.predict([[0.0], [9.0]]).round(1).tolist()
    [10.0, 40.0]
    """

    def __init__(
        self,
        *,
        learning_rate: float | None = 1.0,
        subsample: float | None = 0.8,
        colsample_bynode: float | None = 0.8,
        reg_lambda: float | None = 1e-5,
        **kwargs: object,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            reg_lambda=reg_lambda,
            **kwargs,  # type: ignore[arg-type]  # names are checked as those of any parameter
        )
