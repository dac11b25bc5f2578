"""Parameters out of range raise one sentence: what, where, got, way out."""

import re

import numpy as np
import pytest

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import ParameterError
from weald.parameters import (
    AnyOf,
    Choice,
    Nothing,
    Number,
    RegressionTreeOptions,
    Whole,
    checked,
)

X, Y = [[0.0], [1.0], [2.0]], [0, 1, 1]
SAMPLES = "must be a whole number of at least 2 or a fraction above 0 and at most 1"
LEAF = "must be a whole number of at least 1 or a fraction above 0 and below 1"
COLUMNS = (
    "must be None, 'sqrt' or 'log2' or 'log2+1' or 'third', a whole number of at least 1 or a fraction above "
    "0 and at most 1"
)
BINS = "must be None or a whole number from 2 to 65535"
DEPTH = "must be None or a whole number of at least 1"
LEAVES = "must be None or a whole number of at least 2"
JOBS = "must be None or a whole number other than 0"
SEED = "must be None, a whole number from 0 to 4294967295 or a numpy.random.RandomState"
CATEGORIES = "must be None, 'from_dtype' or a list of column names, of positions or of True and False"

BAD = [
    (
        {"criterion": "Gini"},
        "`criterion` of {} must be 'gini' or 'entropy' or 'log_loss' or 'misclassification'; got 'Gini'.",
    ),
    ({"splitter": "worst"}, "`splitter` of {} must be 'best' or 'random'; got 'worst'."),
    ({"ccp_alpha": -0.5}, "`ccp_alpha` of {} must be a number of at least 0; got -0.5."),
    ({"prune": "1se"}, "`prune` of {} must be None or 'cv' or 'cv-1se'; got '1se'."),
    ({"monotonic_cst": "rise"}, "`monotonic_cst` of {} must be None"),
    ({"max_depth": 0}, f"`max_depth` of {{}} {DEPTH}; got 0. Leave it None"),
    ({"max_depth": 2.0}, f"`max_depth` of {{}} {DEPTH}; got 2.0."),
    ({"max_depth": True}, f"`max_depth` of {{}} {DEPTH}; got True."),
    ({"min_samples_split": 1}, f"`min_samples_split` of {{}} {SAMPLES}; got 1. Use 2"),
    ({"min_samples_split": 1.5}, f"`min_samples_split` of {{}} {SAMPLES}; got 1.5."),
    ({"min_samples_split": float("nan")}, f"`min_samples_split` of {{}} {SAMPLES}; got nan."),
    ({"min_samples_leaf": 0}, f"`min_samples_leaf` of {{}} {LEAF}; got 0. Use 1"),
    ({"min_samples_leaf": 1.0}, f"`min_samples_leaf` of {{}} {LEAF}; got 1.0."),
    (
        {"min_weight_fraction_leaf": 0.6},
        "`min_weight_fraction_leaf` of {} must be a number of at least 0 and at most 0.5; got 0.6. Use 0.0",
    ),
    ({"max_features": "all"}, f"`max_features` of {{}} {COLUMNS}; got 'all'. Leave it None"),
    ({"max_features": 0}, f"`max_features` of {{}} {COLUMNS}; got 0."),
    ({"max_features": 1.1}, f"`max_features` of {{}} {COLUMNS}; got 1.1."),
    ({"random_state": "x"}, f"`random_state` of {{}} {SEED}; got 'x'. Use a whole number"),
    ({"random_state": -1}, f"`random_state` of {{}} {SEED}; got -1."),
    ({"max_leaf_nodes": 1}, f"`max_leaf_nodes` of {{}} {LEAVES}; got 1. Leave it None"),
    (
        {"min_impurity_decrease": -0.1},
        "`min_impurity_decrease` of {} must be a number of at least 0; got -0.1.",
    ),
    ({"max_bins": 1}, f"`max_bins` of {{}} {BINS}; got 1. Use 255, or None for exact thresholds."),
    ({"max_bins": 65536}, f"`max_bins` of {{}} {BINS}; got 65536."),
    ({"n_jobs": 0}, f"`n_jobs` of {{}} {JOBS}; got 0. Leave it None"),
    ({"n_jobs": "all"}, f"`n_jobs` of {{}} {JOBS}; got 'all'."),
    ({"categorical_features": "colour"}, f"`categorical_features` of {{}} {CATEGORIES}; got 'colour'."),
    ({"unknown": "ignore"}, "`unknown` of {} must be 'missing' or 'error'; got 'ignore'."),
    (
        {"class_weight": "auto"},
        "`class_weight` of {} must be None, 'balanced', a dict from label to weight or a list of such, one "
        "per output; got 'auto'.",
    ),
    ({"class_weight": 2}, "`class_weight` of {} must be None, 'balanced', a dict"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=lambda value: str(value)[:40])
def test_out_of_range(params, message):
    expected = re.escape(message.format("DecisionTreeClassifier"))
    with pytest.raises(ParameterError, match=f"^{expected}"):
        DecisionTreeClassifier(**params).fit(X, Y)


def test_a_slip_of_the_pen_is_recognised():
    with pytest.raises(ParameterError, match=r"got 'ginni'\. Did you mean 'gini'\?$"):
        DecisionTreeClassifier(criterion="ginni").fit(X, Y)


@pytest.mark.parametrize("criterion", ["gini", "mse", None])
def test_regressor_criteria(criterion):
    expected = (
        "`criterion` of DecisionTreeRegressor must be 'squared_error' or 'friedman_mse' or 'absolute_error' "
        f"or 'poisson'; got {criterion!r}."
    )
    with pytest.raises(ParameterError, match=re.escape(expected)):
        DecisionTreeRegressor(criterion=criterion).fit(X, Y)


@pytest.mark.parametrize("name", ["ccp", "max_dept"])
def test_unknown_parameters_are_refused_by_the_constructor(name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        DecisionTreeClassifier(**{name: None})


def test_parameters_are_keyword_only():
    with pytest.raises(TypeError, match="positional argument"):
        DecisionTreeClassifier("gini")


def test_set_params_names_the_nearest():
    tree = DecisionTreeRegressor()
    expected = "`max_dept` is no parameter of DecisionTreeRegressor; did you mean `max_depth`?"
    with pytest.raises(ParameterError, match=re.escape(expected)):
        tree.set_params(max_dept=3)
    with pytest.raises(ParameterError, match="valid ones are cat_penalty, categorical_features, "):
        tree.set_params(qqqq=3)
    assert tree.set_params(max_depth=3).max_depth == 3


def test_set_params_changes_nothing_if_a_name_is_wrong():
    tree = DecisionTreeRegressor()
    with pytest.raises(ParameterError):
        tree.set_params(max_depth=3, min_sample_leaf=2)
    assert tree.max_depth is None


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": np.int64(2)},
        {"min_samples_split": np.float32(0.5)},
        {"min_samples_leaf": np.uint8(1)},
        {"max_features": np.float32(0.5)},
        {"min_impurity_decrease": 0},
        {"max_bins": np.int32(2)},
        {"n_jobs": np.int64(-1)},
        {"random_state": np.random.RandomState(0), "max_features": 1},
        {"categorical_features": "from_dtype"},
        {"categorical_features": ()},
    ],
)
def test_numpy_numbers_are_numbers(params):
    DecisionTreeClassifier(**params).fit(X, Y)


def test_a_record_holds_plain_values():
    values = DecisionTreeRegressor(max_depth=np.int64(3), min_impurity_decrease=np.float32(0.5)).get_params()
    record = checked(RegressionTreeOptions, "DecisionTreeRegressor", values)
    assert type(record.max_depth) is int
    assert type(record.min_impurity_decrease) is float
    with pytest.raises(AttributeError):
        record.max_depth = 4


def test_long_values_are_cut_in_messages():
    with pytest.raises(ParameterError, match=r"got 'x{106} … x{9}'\."):
        DecisionTreeClassifier(criterion="x" * 500).fit(X, Y)


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        (Whole(2, 5), [2, 5, np.int8(3)], [1, 6, 2.0, True, None, "3"]),
        (Number(0, 1), [0, 1, 0.5, np.float32(0.5)], [-1, 2, float("nan"), True, "0"]),
        (Number(0, 1, "()"), [0.5], [0, 1]),
        (Number(0), [0, 1e300], [float("inf"), -1e-300]),
        (Choice(("a", "b")), ["a"], ["c", None, 1, ["a"]]),
        (AnyOf((Nothing(), Whole(1))), [None, 1], [0, "None"]),
    ],
)
def test_rules(rule, inside, outside):
    assert [value for value in inside if not rule.admits(value)] == []
    assert [value for value in outside if rule.admits(value)] == []
