"""Callbacks, the model they see, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from weald.boosting.callbacks import Callbacks, LearningRateScheduler, ModelView, TrainingCallback
from weald.errors import ParameterError


def view(n_rounds: list[int], built: list[int] | None = None, **options: Any) -> ModelView:
    def forest() -> Any:
        if built is not None:
            built.append(n_rounds[0])
        return f"forest of {n_rounds[0]}"

    return ModelView(
        objective="binary:logistic", n_outputs=1, n_rounds=lambda: n_rounds[0], forest=forest, **options
    )


def test_view_reads():
    rounds, built = [3], []
    model = view(rounds, built, predict=lambda X: X + 1)
    assert (model.objective, model.n_outputs) == ("binary:logistic", 1)
    assert model.n_rounds == model.num_boosted_rounds() == 3
    assert built == []  # only when asked for
    assert model.forest is model.forest
    rounds[0] = 4
    assert model.forest == "forest of 4"
    assert built == [3, 4]
    assert model.predict(1) == 2


def test_view_does_not_change():
    model = view([0])
    for name in ("n_rounds", "forest", "best_iteration"):
        with pytest.raises(AttributeError, match=f"Cannot set '{name}': the model .* is read-only"):
            setattr(model, name, 1)
    with pytest.raises(AttributeError, match="read-only"):
        del model.forest
    with pytest.raises(AttributeError, match=re.escape("no 'get_dump'. It has n_rounds,")):
        model.get_dump()
    with pytest.raises(AttributeError, match="weald's EarlyStopping"):
        model.set_attr(best_iteration="1")
    assert not hasattr(model, "save_model")
    with pytest.raises(ParameterError, match="cannot predict"):
        model.predict([[1]])


def test_objects_without_a_method_are_passed_over():
    class Half:
        def __init__(self):
            self.asked = []

        def after_iteration(self, model, epoch, evals_log):
            self.asked.append((model, epoch, evals_log))
            return epoch == 1

    half = Half()
    callbacks = Callbacks([half, TrainingCallback(), half])
    callbacks.run("before_training", "model")
    assert not callbacks.run("before_iteration", "model", 0, {})
    assert not callbacks.run("after_iteration", "model", 0, {})
    assert callbacks.run("after_iteration", "model", 1, {})
    assert half.asked == [("model", 0, {}), ("model", 1, {})]  # given twice, asked once


def test_all_are_asked_after_one_stopped():
    asked = []

    class Stop(TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            asked.append(self)
            return True

    assert Callbacks([Stop(), Stop()]).run("after_iteration", None, 0, {})
    assert len(asked) == 2


def test_exceptions_pass_unchanged():
    error = ZeroDivisionError("mine")

    class Raise(TrainingCallback):
        def before_iteration(self, model, epoch, evals_log):
            raise error

    with pytest.raises(ZeroDivisionError) as raised:
        Callbacks([Raise()]).run("before_iteration", None, 0, {})
    assert raised.value is error


@pytest.mark.parametrize(
    ("callbacks", "said"),
    [
        (3, "`callbacks` must be a list of callbacks; got 3."),
        ([TrainingCallback], "the class TrainingCallback at place 0. Give an object: TrainingCallback(...)"),
        ([TrainingCallback(), print], "at place 1, which has none of before_training,"),
    ],
)
def test_what_is_no_callback(callbacks: Any, said: str):
    with pytest.raises(ParameterError, match=re.escape(said)):
        Callbacks(callbacks)


def test_no_callbacks():
    assert Callbacks(None).all == []


def test_learning_rates():
    of_list, of_function = LearningRateScheduler([0.5, 0.25]), LearningRateScheduler(lambda e: 1 / (1 + e))
    assert [of_list.learning_rate(r) for r in range(3)] == [None, 0.5, 0.25]
    assert [of_function.learning_rate(r) for r in range(3)] == [None, 1.0, 0.5]
    with pytest.raises(ParameterError, match="has 2 rates, but there is a round 3"):
        of_list.learning_rate(3)
    with pytest.raises(ParameterError, match="must be a function of the round or a sequence; got 3"):
        LearningRateScheduler(3)
    for wrong in (-0.1, float("nan"), "0.1"):
        with pytest.raises(ParameterError, match=f"gave {wrong!r} for round 0"):
            LearningRateScheduler([wrong]).learning_rate(1)
