"""The estimator contract: scikit-learn's checks, and the few that an estimator is allowed to fail.

A check may fail only where scikit-learn grants that to its own class of the same role, and with a reason.
"""

from __future__ import annotations

from typing import Any

from weald.arrays import AnyEstimator, Estimator

#: what scikit-learn grants its own baggers
_DRAWN_BAGS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "bags draw rows one by one, so a row of weight 2 is not two rows",
)
#: what scikit-learn's own baggers of such parameters raise of, too
_PASTED_FRACTIONS = dict.fromkeys(
    ("check_sample_weights_list", "check_sample_weights_not_overwritten"),
    "a fractional max_samples is one of the sum of the weights, here more rows than can be drawn once",
)
#: what scikit-learn grants its own TunedThresholdClassifierCV
_FOLDED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "thresholds are judged on rows that count alike, in folds or bags that other rows would fall into",
)
#: what scikit-learn grants its own SVC and SVR
_BY_SPREAD = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "gamma='scale' goes by the spread of the rows, weights aside, as in scikit-learn; and two solutions "
    "within `tol` are no closer to each other than that",
)
#: what scikit-learn grants its own CalibratedClassifierCV and searches
_HELD_OUT = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "which rows are held out goes by their places, so a row of weight 2 is not two rows",
)
#: as scikit-learn grants its own baggers
_RESAMPLED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "samplers draw rows one by one, or make rows between them, so a row of weight 2 is not two rows",
)
#: class name → check → why it may fail. scikit-learn grants its decision trees nothing, so neither do we.
_GRANTED: dict[str, dict[str, str]] = {
    "AdaBoostClassifier": {},
    "AdaBoostRegressor": {},
    "BaggingClassifier": _DRAWN_BAGS,
    "BaggingRegressor": _DRAWN_BAGS,
    "ColumnSelector": _HELD_OUT,
    "Conformal": {},
    "BalancedRandomForestClassifier": _DRAWN_BAGS,
    "RUSBoostClassifier": _DRAWN_BAGS,
    "DecisionTreeClassifier": {},
    "DecisionTreeRegressor": {},
    "SVC": _BY_SPREAD,
    "SVR": _BY_SPREAD,
    "Thresholded": _FOLDED,
    "VotingClassifier": {},
    "VotingRegressor": {},
    "ExtraTreesClassifier": {},
    "ExtraTreesRegressor": {},
    "RandomForestClassifier": {},
    "RandomForestRegressor": {},
    "KNeighborsClassifier": {},
    "KNeighborsRegressor": {},
    "Landmarks": {},
    "LinearSVC": {},
    "LinearSVR": {},
    "LogisticRegression": {},
    "ProximityImputer": {},
    "Resampled": _RESAMPLED,
    "XGBClassifier": {},
    "XGBRegressor": {},
    # scikit-learn has no ranker.
    "XGBRanker": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
            "check_sample_weights_not_an_array",
            "check_sample_weights_not_overwritten",
        ),
        "queries have weights, not rows, as in xgboost; the checks give the rows of one query different ones",
    ),
}
#: what scikit-learn grants its own boosted trees, HistGradientBoosting*, and its random forests, where rows
#: are drawn
_DRAWN = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "rows are drawn one by one, so a row of weight 2 is not two rows",
)
#: what scikit-learn grants its own LinearSVC
_NEARBY = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "two solutions within `tol` of the best are no closer to each other than that",
)


def expected_failed_checks(estimator: Estimator) -> dict[str, str]:
    """The checks of scikit-learn that `estimator` is allowed to fail.

    Parameters
    ----------
    estimator : estimator
        Any estimator of weald.

    Returns
    -------
    dict
        From the name of the check to the reason, as `parametrize_with_checks` takes it.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier
    >>> expected_failed_checks(DecisionTreeClassifier())
    {}
    """
    names = [each.__name__ for each in type(estimator).__mro__]  # a subclass may do what its parent may
    granted = next((_GRANTED[name] for name in names if name in _GRANTED), {})
    drawn: object = estimator  # a bagging, where its rows are bags
    pasted = not getattr(drawn, "bootstrap", True) and isinstance(getattr(drawn, "max_samples", None), float)
    if granted is _DRAWN_BAGS and pasted:
        return {**granted, **_PASTED_FRACTIONS}
    if type(estimator).__name__ == "LinearSVC" and _stops_nearby(estimator):
        return dict(_NEARBY)
    if type(estimator).__name__ == "Conformal" and _predicts_by_some_rows(estimator):
        return dict(_HELD_OUT)
    return {**granted, **_DRAWN} if _draws_rows(estimator) else dict(granted)


def _stops_nearby(machine: AnyEstimator) -> bool:
    """Whether a linear machine is solved to `tol` and no further: by no Newton method of a smooth loss."""
    return machine.loss == "hinge" or machine.dual is True or machine.multi_class == "crammer_singer"


def _predicts_by_some_rows(conformal: Any) -> bool:
    """Whether what predicts was fitted on the rows that were not held out, or draws rows itself."""
    return conformal.method in ("split", "cqr") or _draws_rows(conformal.estimator)


def _draws_rows(estimator: Estimator) -> bool:
    """Whether a booster holds rows out or draws some for each tree, or an ensemble draws them."""
    if getattr(estimator, "bootstrap", False) or getattr(estimator, "resample", None) is not None:
        return True
    held_out = getattr(estimator, "early_stopping", getattr(estimator, "n_iter_no_change", None))
    drawn = getattr(estimator, "subsample", None)
    return held_out is not None or (drawn is not None and drawn < 1)
