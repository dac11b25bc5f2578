"""Messages show plain values, have an end, and suggest only what is near."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import weald
from weald.errors import DataError, MemberError, WealdError, listing, nearest, plainly, short, told

ESTIMATORS = [
    getattr(weald, name)
    for name in weald.__all__
    if isinstance(getattr(weald, name), type) and issubclass(getattr(weald, name), BaseEstimator)
]


@pytest.mark.parametrize(
    ("name", "valid", "expected"),
    [
        ("IsolationForest", weald.__all__, None),
        ("LinearRegression", weald.__all__, None),
        ("SGDClassifier", weald.__all__, None),
        ("MLPClassifier", weald.__all__, None),
        ("BernoulliNB", weald.__all__, None),
        ("StackingRegressor", weald.__all__, None),
        ("DecisionTreeClasifier", weald.__all__, "DecisionTreeClassifier"),
        ("xgbclassifier", weald.__all__, "XGBClassifier"),
        ("svc", weald.__all__, "SVC"),
        ("HistGradientBoostingRegressor", weald.__all__, "GradientBoostingRegressor"),
        ("Max_Deph", ["max_bins", "max_depth"], "max_depth"),
        ("learing_rat", ["learning_rate"], "learning_rate"),
        ("rfb", ["linear", "rbf"], "rbf"),
        ("Age", ["page", "age"], "age"),
        ("agee", ["age"], "age"),
        ("x1", ["x2"], None),
        ("", ["age"], None),
        ("age", [], None),
        ("x" * 10_000, ["x" * 9_999], "x" * 9_999),
    ],
)
def test_only_near_names_are_suggested(name: str, valid: list[str], expected: str | None) -> None:
    assert nearest(name, valid) == expected


def test_no_far_name_of_the_package_is_suggested() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = weald.IsolationForest
    assert str(caught.value) == "module 'weald' has no attribute 'IsolationForest'."


def test_values_are_told_plainly_and_briefly() -> None:
    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError

    assert told(np.str_("yes")) == "'yes'"
    assert told([np.float64(1.5), np.int8(3), np.True_]) == "[1.5, 3, True]"
    assert told(np.datetime64("2020-01-01")) == "'2020-01-01'"
    assert told(np.timedelta64(5, "D")) == "5 D"
    assert told(pd.Timestamp("2020-01-01")) == "2020-01-01 00:00:00"
    assert told(10**5000) == "an integer of 5001 digits"
    assert told(10**40 - 1) == "9" * 40
    assert told([10**5000]) == "a list"
    assert told(Bad()) == "a Bad"
    assert len(told("x" * 10**6)) == 120
    assert len(listing(["x" * 10**6] * 100)) < 700
    assert plainly("use np.median(y), np.zeros(n)") == "use np.median(y), np.zeros(n)"
    assert plainly("""np.str_("it's") np.str_('a(b)')""") == """"it's" 'a(b)'"""


def test_a_message_never_exceeds_a_thousand_characters() -> None:
    error = DataError("start " + "x" * 5000 + " end")
    assert len(str(error)) == 1000
    assert str(error).startswith("start xxx")
    assert str(error).endswith("xxx end")
    assert "np." not in str(MemberError("got np.str_('yes')"))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert short("abc") == "abc"


LONG = "column " * 300


def _absurd() -> dict[str, tuple[Any, Any]]:
    """Tables and targets with something wrong in them, and absurdly long or wrapped."""
    y = np.array(["yes", "no"] * 3)
    wide = pd.DataFrame(np.zeros((6, 20)), columns=[f"{LONG}{j}" for j in range(20)])
    infinite = pd.DataFrame({LONG: [np.inf] * 6})
    mixed = pd.DataFrame({LONG: np.array(["x" * 5000, 1] * 3, dtype=object)})
    return {
        "names twice": (pd.concat([wide, wide], axis=1), y),
        "infinity": (infinite, y),
        "mixed": (mixed, y),
        "kinds of names": (wide.rename(columns={wide.columns[0]: 1}), y),
        "objects": (pd.DataFrame({LONG: [[1] * 5000] * 6}), y),
        "one long row": ([[1.0]] * 5 + [[1.0] * 5000], y),
        "text for a column": ({LONG: "x" * 5000, "b": [1]}, y),
        "no table": ("x" * 10**6, y),
        "long labels": (wide, np.array(["x" * 5000, np.nan] * 3, dtype=object)),
        "text weights": (wide, np.array([np.str_("x" * 3000)] * 6)),
        "too many": (wide, ["x" * 3000] * 500),
        "a huge integer": (pd.DataFrame({LONG: np.array([10**5000] * 6, dtype=object)}), y),
    }


ABSURD = _absurd()


def _made(kind: type[Any]) -> Any:
    """A small model."""
    if kind.__name__.startswith("Voting"):
        regresses = kind.__name__.endswith("Regressor")
        return kind([("m", weald.DecisionTreeRegressor() if regresses else weald.DecisionTreeClassifier())])
    if kind is weald.Resampled:
        return kind(weald.DecisionTreeClassifier(), weald.RandomOverSampler())
    if kind in (weald.Conformal, weald.Thresholded):
        return kind(weald.DecisionTreeClassifier())
    model = kind()
    return model.set_params(n_estimators=2) if "n_estimators" in model.get_params() else model


def _complaint(model: Any, X: Any, y: Any) -> str | None:
    """What a fit, or the model on another table, complains of; anything but weald's own errors passes on."""
    try:
        if hasattr(model, "fit_resample"):
            model.fit_resample(X, y)
            return None
        model.fit(X, y)
        ask = model.predict if hasattr(model, "predict") else model.transform
        ask(pd.DataFrame({f"{LONG}{j}": [1.0] for j in range(25)}))
    except WealdError as error:
        return str(error)
    return None


def _is_short_and_plain(message: str | None) -> bool:
    return message is None or (len(message) <= 1000 and "np.str_(" not in message and "np.fl" not in message)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore::weald.errors.ResamplingWarning")  # of few rows
def test_messages_on_absurd_input_are_short_and_plain(kind: type[Any]) -> None:
    for what, (X, y) in ABSURD.items():
        message = _complaint(_made(kind), X, y)
        # Samplers that only repeat or drop rows have nothing to say of values.
        assert message or hasattr(kind, "fit_resample"), what
        assert _is_short_and_plain(message), (what, message)


@pytest.mark.filterwarnings("ignore")  # of parameters without effect
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_messages_on_absurd_parameters_are_short_and_plain(kind: type[Any]) -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    for name in _made(kind).get_params(deep=False):
        for value in (np.str_("x" * 10**4), [np.float64(1.5)] * 2000, 10**5000, np.array([np.nan] * 2000)):
            message = _complaint(_made(kind).set_params(**{name: value}), X, y)
            assert _is_short_and_plain(message), (name, message)


def test_a_class_of_one_row_is_named_by_its_label() -> None:
    X, y = np.arange(11.0).reshape(-1, 1), np.array(["no"] * 10 + ["yes"])
    with pytest.raises(DataError, match=r"the class 'yes' has only 1 row.*n_iter_no_change=None"):
        weald.GradientBoostingClassifier(n_iter_no_change=2).fit(X, y)
    with pytest.raises(DataError, match="trains on no row of the class 'yes'"):
        weald.XGBClassifier(early_stopping="cv", n_estimators=2).fit(X, y)
    with pytest.raises(DataError, match="the label 'yes' has 1"):
        weald.SVC(probability="sigmoid").fit(X, y)


def test_outliers_and_prototypes_of_a_regressor_say_what_they_need() -> None:
    X, y = np.arange(12.0).reshape(-1, 1), np.arange(12.0) + 0.5
    model = weald.RandomForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(
        DataError, match=r"`y` of outlier_measure must be labels.*Leave y out.*y > np\.median"
    ):
        model.outlier_measure(X, y)
    with pytest.raises(DataError, match=r"`y` of prototypes must be labels.*Give one label per row"):
        model.prototypes(X, y)
    assert len(model.outlier_measure(X)) == len(model.outlier_measure(X, y > 6)) == 12
