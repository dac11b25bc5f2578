"""`XGBRegressor`: boosted trees for numbers, under xgboost's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import RegressorMixin

from weald.estimators.xgboost.model import XGBModel

if TYPE_CHECKING:
    from sklearn.utils import Tags


class XGBRegressor(RegressorMixin, XGBModel):  # type: ignore[misc]  # scikit-learn has no types
    """Boosted trees for numbers.

    The objective is "reg:squarederror" unless another is given. With "reg:quantileerror" and several
    `quantile_alpha` each row gets one prediction per quantile, in ascending order. A target of several
    columns is learnt column by column, or by trees for all of them (`multi_strategy`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from weald import XGBRegressor
    >>> model = XGBRegressor(n_estimators=1, learning_rate=1.0, reg_lambda=0.0, max_depth=1)
    >>> model = model.fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 40.0, 42.0])
    >>> model.predict([[0.0], [9.0]]).round(3).tolist()
    [11.0, 41.0]
    """

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
