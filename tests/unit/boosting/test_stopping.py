"""Early stopping decides as xgboost's does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weald.boosting.stopping import EarlyStopping
from weald.errors import DataError, ParameterError

xgb_callback = pytest.importorskip("xgboost.callback")


class Model:
    """What both sides ask of a model."""

    def __init__(self, n_rounds: int = 0) -> None:
        self.n_rounds = n_rounds
        self.notes: dict[str, str] = {}

    def num_boosted_rounds(self) -> int:
        return self.n_rounds

    def set_attr(self, **notes: str) -> None:
        self.notes.update(notes)


def rounds_until_stop(callback: Any, model: Model, logs: dict[str, dict[str, list[float]]]) -> int:
    """Feed the values round by round; how many rounds there were."""
    n = len(next(iter(next(iter(logs.values())).values())))
    callback.before_training(model)
    for r in range(n):
        so_far = {data: {m: values[: r + 1] for m, values in log.items()} for data, log in logs.items()}
        if callback.after_iteration(model, r, so_far):
            return r + 1
    return n


VALUES = st.lists(st.sampled_from([0.0, 0.1, 0.15, 0.2, 0.5, 1.0, float("inf")]), min_size=1, max_size=12)


@given(
    values=VALUES,
    rounds=st.integers(1, 4),
    min_delta=st.sampled_from([0.0, 0.05, 0.3]),
    maximize=st.sampled_from([None, True, False]),
    metric=st.sampled_from(["rmse", "auc", "mape", "map@3", "ndcg", "error@0.3", "pre"]),
    start=st.sampled_from([0, 7]),
)
def test_same_as_xgboost(values, rounds, min_delta, maximize, metric, start):
    level = [0.3] * len(values)
    logs = {"validation_0": {metric: level}, "validation_1": {"mae": level, metric: values}}
    options = {"rounds": rounds, "min_delta": min_delta, "maximize": maximize}
    theirs, model = xgb_callback.EarlyStopping(**options), Model(start)
    n_rounds = rounds_until_stop(theirs, model, logs)
    ours = EarlyStopping(**options)
    assert rounds_until_stop(ours, Model(start), logs) == n_rounds
    assert ours.best_round == int(model.notes["best_iteration"])
    assert ours.best_score == float(model.notes["best_score"])


def test_chosen_set_and_metric():
    down, up, level = [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0]
    logs = {"a": {"rmse": down, "mae": up}, "b": {"rmse": level, "mae": level}}
    stopping = EarlyStopping(1, metric_name="rmse", data_name="a")
    assert rounds_until_stop(stopping, Model(), logs) == 3
    assert (stopping.best_round, stopping.best_score) == (2, 1.0)
    assert rounds_until_stop(EarlyStopping(1, data_name="a"), Model(), logs) == 2


def test_direction_told():
    """A function's direction comes from its metric, not from its name."""
    stopping = EarlyStopping(2)
    stopping.told({"accuracy": True})
    logs = {"a": {"accuracy": [0.1, 0.2, 0.3, 0.2, 0.2, 0.2]}}
    assert rounds_until_stop(stopping, Model(), logs) == 5
    assert stopping.best_round == 2


def test_one_object_serves_twice():
    stopping = EarlyStopping(1)
    for _ in range(2):
        assert rounds_until_stop(stopping, Model(), {"a": {"rmse": [2.0, 1.0, 1.0]}}) == 3
        assert stopping.best_round == 1


def test_folds():
    """Cross-validation logs (mean, deviation); the mean decides."""
    logs: Any = {"test": {"rmse": [(2.0, 0.1), (1.0, 9.0), (1.5, 0.0)]}}
    stopping = EarlyStopping(1)
    assert rounds_until_stop(stopping, Model(), logs) == 3
    assert (stopping.best_round, stopping.best_score) == (1, 1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rounds": 0}, "a whole number from 1; got 0"),
        ({"rounds": 2.5}, "a whole number from 1; got 2.5"),
        ({"rounds": True}, "a whole number from 1; got True"),
        ({"rounds": 1, "min_delta": -0.1}, "a number from 0; got -0.1"),
        ({"rounds": 1, "min_delta": float("nan")}, "a number from 0; got nan"),
    ],
)
def test_wrong_options(options: dict[str, Any], said: str):
    with pytest.raises(ParameterError, match=re.escape(said)):
        EarlyStopping(**options)


def test_nothing_to_go_by():
    with pytest.raises(ParameterError, match="give `eval_set`"):
        EarlyStopping(1).after_iteration(Model(), 0, {})
    log = {"validation_0": {"logloss": [0.5]}}
    with pytest.raises(ParameterError, match=re.escape("'validation_1'. Did you mean 'validation_0'?")):
        EarlyStopping(1, data_name="validation_1").after_iteration(Model(), 0, log)
    with pytest.raises(ParameterError, match=re.escape("no metric is called 'auc'. There are 'logloss'.")):
        EarlyStopping(1, metric_name="auc").after_iteration(Model(), 0, log)


def test_no_number_at_first():
    with pytest.raises(DataError, match="cannot go by 'auc' on 'a': it is NaN"):
        EarlyStopping(1).after_iteration(Model(), 0, {"a": {"auc": [float("nan")]}})


def test_no_number_later_is_no_improvement():
    stopping = EarlyStopping(2)
    assert rounds_until_stop(stopping, Model(), {"a": {"rmse": [1.0, float("nan"), float("nan"), 0.1]}}) == 3
    assert stopping.best_round == 0
