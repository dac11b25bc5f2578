"""The watch around a loop: values, order of calls, stopping, progress closed whatever happens."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from weald.boosting.callbacks import LearningRateScheduler, ModelView, TrainingCallback
from weald.boosting.metrics.names import make_metric, make_metrics
from weald.boosting.newton.watch import Watch
from weald.boosting.records import BoostTarget, WatchedRows
from weald.boosting.stopping import EarlyStopping
from weald.errors import DataError, ParameterError
from weald.progress import Progress


def first_output(scores: np.ndarray) -> np.ndarray:
    return scores[0]


def rows(name: str, values: list[float], weight: list[float] | None = None) -> WatchedRows:
    target = BoostTarget(np.array(values), None if weight is None else np.array(weight))
    return WatchedRows(name, None, target, np.zeros((1, len(values))))


def train(watch: Watch, sets: list[WatchedRows], steps: list[float], start: int = 0) -> int:
    """A loop that adds a constant to the scores each round; how many rounds it made."""
    n_rounds = [start]
    view = ModelView(
        objective="reg:squarederror", n_outputs=1, n_rounds=lambda: n_rounds[0], forest=lambda: None
    )
    with watch:
        watch.before_training(view)
        for round_, step in enumerate(steps):
            if watch.before_round(view, round_):
                break
            for watched in sets:
                watched.scores += step
            n_rounds[0] += 1
            if watch.after_round(view, round_):
                break
        watch.after_training(view)
    return n_rounds[0] - start


def of(asked: Any = "mae"):
    return make_metrics(asked, objective_name="reg:squarederror", n_outputs=1)


def test_values_by_set_and_metric():
    sets = [rows("validation_0", [1.0, 3.0]), rows("validation_1", [1.0, 3.0], [0.0, 1.0])]
    watch = Watch(sets=sets, metrics=of(["rmse", "mae"]), link=first_output)
    assert watch.watches
    assert train(watch, sets, [1.0, 1.0, 1.0]) == 3
    assert watch.evals_result == {
        "validation_0": {"rmse": pytest.approx([2**0.5, 1.0, 2**0.5]), "mae": [1.0, 1.0, 1.0]},
        "validation_1": {"rmse": [2.0, 1.0, 0.0], "mae": [2.0, 1.0, 0.0]},
    }
    assert watch.best_round is None
    assert watch.best_score is None
    assert watch.n_rounds_kept is None


def test_predictions_are_linked():
    sets = [rows("a", [1.0])]
    watch = Watch(sets=sets, metrics=of(), link=lambda scores: np.exp(scores[0]))
    train(watch, sets, [0.0, 1.0])
    assert watch.evals_result["a"]["mae"] == pytest.approx([0.0, np.e - 1.0])


def test_early_stopping():
    sets = [rows("a", [2.0]), rows("b", [3.0])]
    watch = Watch(sets=sets, metrics=of(), link=first_output, early_stopping=EarlyStopping(2, save_best=True))
    assert train(watch, sets, [1.0] * 9) == 5
    assert (watch.best_round, watch.best_score, watch.n_rounds_kept) == (2, 0.0, 3)


def test_continued_training():
    """The best round counts from the model's first, the log from this training's."""
    sets = [rows("a", [2.0])]
    watch = Watch(sets=sets, metrics=of(), link=first_output, callbacks=[EarlyStopping(1)])
    assert train(watch, sets, [1.0] * 9, start=10) == 3
    assert watch.best_round == 11
    assert watch.n_rounds_kept is None
    assert watch.evals_result["a"]["mae"] == [1.0, 0.0, 1.0]


def test_direction_of_a_function():
    def gain(y_true, y_pred):
        return float(y_pred[0])

    metric = make_metric(gain, objective_name="custom", n_outputs=1, maximize=True)
    sets = [rows("a", [0.0])]
    watch = Watch(sets=sets, metrics=[metric], link=first_output, early_stopping=EarlyStopping(2))
    assert train(watch, sets, [1.0, 1.0, -1.0, -1.0, 5.0]) == 4
    assert watch.best_round == 1


class Recorder(TrainingCallback):
    def __init__(self, stop_before: int = 99, stop_after: int = 99) -> None:
        self.calls: list[Any] = []
        self.stop_before, self.stop_after = stop_before, stop_after

    def before_training(self, model):
        self.calls.append(("start", model.n_rounds))

    def after_training(self, model):
        self.calls.append(("end", model.n_rounds))

    def before_iteration(self, model, epoch, evals_log):
        self.calls.append(("before", epoch, model.n_rounds, {d: len(m["mae"]) for d, m in evals_log.items()}))
        return epoch == self.stop_before

    def after_iteration(self, model, epoch, evals_log):
        self.calls.append(("after", epoch, model.n_rounds, {d: len(m["mae"]) for d, m in evals_log.items()}))
        return epoch == self.stop_after


def test_order_of_calls():
    sets, recorder = [rows("a", [2.0])], Recorder(stop_after=1)
    watch = Watch(sets=sets, metrics=of(), link=first_output, callbacks=[recorder])
    assert train(watch, sets, [1.0] * 5) == 2
    assert recorder.calls == [
        ("start", 0),
        ("before", 0, 0, {}),
        ("after", 0, 1, {"a": 1}),
        ("before", 1, 1, {"a": 1}),
        ("after", 1, 2, {"a": 2}),
        ("end", 2),
    ]


def test_stop_before_a_round():
    assert train(Watch(link=first_output, callbacks=[Recorder(stop_before=3)]), [], [1.0] * 5) == 3


def test_callbacks_of_xgboost():
    """Objects that only use the four methods work unchanged."""
    xgb_callback = pytest.importorskip("xgboost.callback")

    class Theirs(xgb_callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            return evals_log["a"]["mae"][-1] == 0.0

    lines: list[str] = []
    monitor = xgb_callback.EvaluationMonitor(period=2, logger=lines.append)
    sets = [rows("a", [2.0])]
    watch = Watch(sets=sets, metrics=of(), link=first_output, callbacks=[Theirs(), monitor])
    assert train(watch, sets, [1.0] * 5) == 2
    assert lines == ["[0]\ta-mae:1.00000\n", "[1]\ta-mae:0.00000\n"]


def test_early_stopping_of_xgboost_names_ours():
    xgb_callback = pytest.importorskip("xgboost.callback")
    sets = [rows("a", [2.0])]
    callbacks = [xgb_callback.EarlyStopping(rounds=2)]
    watch = Watch(sets=sets, metrics=of(), link=first_output, callbacks=callbacks)
    with pytest.raises(AttributeError, match="weald's EarlyStopping"):
        train(watch, sets, [1.0])


def test_learning_rate():
    plain = Watch(link=first_output)
    assert [plain.learning_rate(r, 0.3) for r in range(2)] == [0.3, 0.3]
    scheduled = Watch(link=first_output, callbacks=[Recorder(), LearningRateScheduler([0.2, 0.1])])
    assert [scheduled.learning_rate(r, 0.3) for r in range(3)] == [0.3, 0.2, 0.1]


def test_learning_rate_of_xgboost():
    """The rate after round r shrinks round r + 1, as in xgboost."""
    xgboost = pytest.importorskip("xgboost")
    X, y = np.arange(8.0)[:, None], np.repeat([0.0, 1.0], 4)
    log: dict[str, Any] = {}
    data = xgboost.DMatrix(X, label=y)
    rates = [0.5, 0.25, 0.125]
    xgboost.train(
        {"eta": 1.0, "lambda": 0.0, "max_depth": 1, "base_score": 0.5, "nthread": 1, "max_delta_step": 0.1},
        data,
        3,
        evals=[(data, "a")],
        evals_result=log,
        verbose_eval=False,
        callbacks=[xgboost.callback.LearningRateScheduler(rates)],
    )
    watch = Watch(link=first_output, callbacks=[LearningRateScheduler(rates)])
    left = 0.5 - 0.1 * np.cumsum([watch.learning_rate(r, 1.0) for r in range(3)])
    assert log["a"]["rmse"] == pytest.approx(left, rel=1e-5)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_progress_ends_with_an_error(error: BaseException):
    class Raise(TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch == 1:
                raise error

    sets, stream = [rows("a", [2.0])], io.StringIO()
    watch = Watch(
        sets=sets, metrics=of(), link=first_output, callbacks=[Raise()], progress=Progress(5, stream=stream)
    )
    with pytest.raises(type(error)) as raised:
        train(watch, sets, [1.0] * 5)
    assert raised.value is error
    assert stream.getvalue().startswith("round 1/5")
    assert stream.getvalue().endswith("a-mae 0\n")


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]):
    sets = [rows("a", [2.0])]
    train(Watch(sets=sets, metrics=of(), link=first_output, early_stopping=EarlyStopping(1)), sets, [1.0] * 3)
    assert capfd.readouterr() == ("", "")


def test_sets_that_cannot_be_measured():
    for sets, error, said in (
        ([rows("a", [])], DataError, "'a' has no rows"),
        ([rows("a", [1.0, 2.0], [0.0, 0.0])], DataError, "All rows of the watched set 'a' have weight 0"),
        ([rows("a", [1.0]), rows("a", [1.0])], ParameterError, "Two watched sets are called 'a'"),
    ):
        with pytest.raises(error, match=said):
            Watch(sets=sets, metrics=of(), link=first_output)


def test_one_watch_serves_twice():
    sets = [rows("a", [2.0])]
    watch = Watch(sets=sets, metrics=of(), link=first_output)
    train(watch, sets, [1.0, 1.0])
    train(watch, sets, [1.0])
    assert watch.evals_result == {"a": {"mae": [1.0]}}
    assert not Watch(metrics=of(), link=first_output).watches
