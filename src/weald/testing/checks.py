"""The estimator contract: scikit-learn's checks, and the few that an estimator is allowed to fail.

A check may fail only where scikit-learn grants that to its own class of the same role, and with a reason.
"""

from __future__ import annotations

from typing import Any

#: class name → check → why it may fail. scikit-learn grants its decision trees nothing, so neither do we.
_GRANTED: dict[str, dict[str, str]] = {
    "DecisionTreeClassifier": {},
    "DecisionTreeRegressor": {},
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
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
    return dict(_GRANTED.get(type(estimator).__name__, {}))
