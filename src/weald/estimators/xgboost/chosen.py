"""What stands in place of parameters that nobody gave and that wait for the table (boosting.md, 12).

Tables of numbers and rankings have xgboost's defaults. Where there are categories, steps are smaller, trees
grow where they gain most, and leaves answer less boldly.
"""

from __future__ import annotations

from typing import Any

from weald.boosting.newton.learning_rate import USUAL_RATE, chosen_rate
from weald.boosting.records import BoostTarget
from weald.data.schema import Schema
from weald.estimators.xgboost.options import DEFAULTS, XGBOptions

#: xgboost's
USUAL: dict[str, Any] = {
    "learning_rate": USUAL_RATE,
    "max_depth": 6,
    "max_leaves": 0,
    "grow_policy": "depthwise",
    "min_child_weight": 1.0,
    "reg_lambda": 1.0,
}
#: the fitted attributes that tell them
CHOSEN = tuple(f"{name}_" for name in USUAL)
#: the shape of a tree; whoever gives one of them has xgboost's others
_SHAPE = ("max_depth", "max_leaves", "grow_policy")
#: where there are categories
_SHAPE_WITH_CATEGORIES: dict[str, Any] = {"max_depth": 0, "max_leaves": 31, "grow_policy": "lossguide"}
_LAMBDA_WITH_CATEGORIES = 3.0
#: the hessians of one class among several are small
_LEAST_WEIGHT_WITH_CATEGORIES = 2.0


def given(options: XGBOptions) -> dict[str, Any]:
    """The parameters that wait for the table, as given or as xgboost has them."""
    values = {name: getattr(options, name) for name in USUAL}
    return {name: USUAL[name] if value is None else value for name, value in values.items()}


def chosen(options: XGBOptions, schema: Schema, target: BoostTarget, n_classes: int | None) -> dict[str, Any]:
    """The parameters that wait for the table, for this one; `n_classes` is None for numbers."""
    found = given(options)
    if target.group_start is not None or not _has_categories(options, schema):
        return found
    if options.learning_rate is None:
        found["learning_rate"] = chosen_rate(target, options.n_estimators)  # type: ignore[arg-type]
    if options.reg_lambda is None:
        found["reg_lambda"] = _LAMBDA_WITH_CATEGORIES
    if options.min_child_weight is None and (n_classes is None or n_classes <= 2):
        found["min_child_weight"] = _LEAST_WEIGHT_WITH_CATEGORIES
    if all(getattr(options, name) is None for name in _SHAPE):
        found |= _SHAPE_WITH_CATEGORIES
    return found


def _has_categories(options: XGBOptions, schema: Schema) -> bool:
    """Whether a column has categories, and not those only that were asked to be split one against the rest.

    The latter are a table of 0 and 1 in other words, and learnt as that is.
    """
    most = options.max_cat_to_onehot or 0
    few = most if most != DEFAULTS["max_cat_to_onehot"] else 0
    return any(column.kind == "categorical" and len(column.levels) > few for column in schema.columns)
