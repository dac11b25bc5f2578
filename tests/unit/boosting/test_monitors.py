"""`EvaluationMonitor` and `TrainingCheckPoint`."""

import os
import pickle

import numpy as np
import pytest
import xgboost
from unit.estimators.xgboost.data import numbers

import weald
from weald.errors import ParameterError


@pytest.mark.parametrize("period", [1, 3, 4])
def test_lines_are_those_of_xgboost(period):
    X, y = numbers()
    lines = []
    for library in (weald, xgboost):
        matrix, said = library.DMatrix(X, y), []
        monitor = library.callback.EvaluationMonitor(period=period, logger=said.append)
        params = {"tree_method": "exact", "max_depth": 2, "eval_metric": ["rmse", "mae"]}
        library.train(params, matrix, 6, evals=[(matrix, "d")], callbacks=[monitor], verbose_eval=False)
        lines.append(said)
    assert lines[0] == lines[1]


def test_nothing_prints_unless_asked(capsys):
    X, y = numbers()
    matrix = weald.DMatrix(X, y)
    weald.train({}, matrix, 3, evals=[(matrix, "d")])
    weald.cv({}, matrix, 3)
    assert capsys.readouterr() == ("", "")
    weald.train({}, matrix, 3, evals=[(matrix, "d")], verbose_eval=2)
    assert [line[:3] for line in capsys.readouterr().out.splitlines()] == ["[0]", "[2]"]
    weald.cv({}, matrix, 2, verbose_eval=True, show_stdv=True)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 2
    assert out[0].count("+") == 2
    weald.cv({}, matrix, 2, callbacks=[weald.callback.EvaluationMonitor()])
    assert "+" not in capsys.readouterr().out


def test_models_are_saved_on_the_way(tmp_path):
    X, y = numbers()
    matrix = weald.DMatrix(X, y)
    point = weald.callback.TrainingCheckPoint(directory=tmp_path, name="m", interval=2)
    booster = weald.train({"max_depth": 2}, matrix, 7, callbacks=[point])
    assert sorted(os.listdir(tmp_path)) == ["m_2.weald", "m_4.weald", "m_6.weald"]
    for epoch in (2, 4, 6):
        part = weald.load(tmp_path / f"m_{epoch}.{point.default_format}")
        assert part.get_dump() == booster[: epoch + 1].get_dump()
    onward = weald.train({"max_depth": 2}, matrix, 3, xgb_model=part, callbacks=[point])
    assert "m_9.weald" in os.listdir(tmp_path)
    assert onward.num_boosted_rounds() == 10
    pickles = weald.callback.TrainingCheckPoint(tmp_path, as_pickle=True, interval=1)
    model = weald.XGBRegressor(n_estimators=2, callbacks=[pickles]).fit(X, y)
    again = pickle.loads((tmp_path / "model_1.pkl").read_bytes())
    assert np.array_equal(again.predict(matrix), model.predict(X))


def test_names_of_xgboost():
    names = (
        "EarlyStopping",
        "EvaluationMonitor",
        "LearningRateScheduler",
        "TrainingCallback",
        "TrainingCheckPoint",
    )
    for name in names:
        assert hasattr(weald.callback, name)
        assert hasattr(xgboost.callback, name)
    assert weald.callback.EarlyStopping is weald.EarlyStopping
    assert weald.callback.TrainingCallback.EvalsLog
    for make in (
        lambda: weald.callback.EvaluationMonitor(period=0),
        lambda: weald.callback.TrainingCheckPoint(".", interval=0),
    ):
        with pytest.raises(ParameterError, match="a whole number from 1"):
            make()


def test_the_best_rounds_are_kept_when_training_went_on():
    """`save_best` counts from the model's first round, whichever training it came from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + rng.normal(size=300)
    whole, first, onward = [], [], []
    for library in (weald, xgboost):
        train, valid = library.DMatrix(X[:200], y[:200]), library.DMatrix(X[200:], y[200:])
        params = {"tree_method": "exact", "max_depth": 2, "eta": 0.1}

        def stop(library=library):
            return [library.callback.EarlyStopping(rounds=5, save_best=True)]

        evals = {"evals": [(valid, "v")], "verbose_eval": False}
        whole.append(library.train(params, train, 200, callbacks=stop(), **evals))
        first.append(library.train(params, train, 5))
        onward.append(library.train(params, train, 200, callbacks=stop(), xgb_model=first[-1], **evals))
    assert [booster.best_iteration for booster in onward] == [booster.best_iteration for booster in whole]
    assert [booster.num_boosted_rounds() for booster in onward] == [
        booster.best_iteration + 1 for booster in whole
    ]
