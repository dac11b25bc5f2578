"""What columns add to the raw scores of a booster, in the shapes of xgboost's `pred_contribs`."""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats, TableLike
from weald.errors import ParameterError
from weald.estimators.xgboost.native.learner import Learner
from weald.estimators.xgboost.rows import check_margin
from weald.inspection.shap.trees import shap_values


def contributions(
    model: Learner,
    table: TableLike,
    margin: Floats | None,
    rounds: tuple[int, int] | None,
    *,
    by_name: bool,
    n_threads: int,
    interactions: bool,
    approximate: bool,
    strict_shape: bool,
) -> Floats:
    """Values and last what is there without any: (n_rows, n_columns + 1), of pairs one axis more.

    Several outputs come before the columns.
    """
    if interactions and approximate:
        raise ParameterError(
            "approx_contribs is for pred_contribs; interactions are exact. Leave approx_contribs=True out."
        )
    forest = model.forest_
    aligned = model._aligned(table, validate_features=by_name)
    check_margin(margin, forest.n_outputs)
    values, rest = shap_values(
        forest,
        aligned,
        model._trees(rounds),
        interactions=interactions,
        approximate=approximate,
        n_threads=n_threads,
    )
    start = forest.base_score if margin is None else margin
    n_rows, n_outputs, n_columns = values.shape[:3]
    shape = (n_rows, n_outputs, n_columns + 1)
    whole = np.zeros((*shape, n_columns + 1) if interactions else shape)
    if interactions:
        whole[:, :, :n_columns, :n_columns] = values
        whole[:, :, n_columns, n_columns] = start + rest
    else:
        whole[:, :, :n_columns] = values
        whole[:, :, n_columns] = start + rest
    return whole if strict_shape or n_outputs > 1 else whole[:, 0]
