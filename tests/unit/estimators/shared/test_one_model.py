"""While one thread refits an estimator and another asks it, every answer is wholly of one model."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier as TheirTree

import weald
from weald.estimators.shared.state import set_fitted, snapshot

ROWS = 24
ESTIMATORS = [
    getattr(weald, name)
    for name in weald.__all__
    if isinstance(getattr(weald, name), type) and issubclass(getattr(weald, name), BaseEstimator)
]
SMALL = {
    "RandomForestClassifier": {"n_estimators": 3},
    "RandomForestRegressor": {"n_estimators": 3, "oob_score": False},
    "ExtraTreesClassifier": {"n_estimators": 3},
    "ExtraTreesRegressor": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 2},
    "BaggingRegressor": {"n_estimators": 2},
    "AdaBoostClassifier": {"n_estimators": 3},
    "AdaBoostRegressor": {"n_estimators": 3},
    "GradientBoostingClassifier": {"n_estimators": 3},
    "GradientBoostingRegressor": {"n_estimators": 3},
    "XGBClassifier": {"n_estimators": 3},
    "XGBRegressor": {"n_estimators": 3},
    "XGBRFClassifier": {"n_estimators": 3},
    "XGBRFRegressor": {"n_estimators": 3},
    "XGBRanker": {"n_estimators": 3},
    "Landmarks": {"n_landmarks": 4},
    "Conformal": {"estimator": weald.DecisionTreeClassifier()},
    "Thresholded": {"estimator": weald.DecisionTreeClassifier(), "threshold": 0.5},
    "Resampled": {"estimator": weald.DecisionTreeClassifier(), "sampler": weald.RandomOverSampler()},
    "ProximityImputer": {"estimator": weald.RandomForestClassifier(n_estimators=3), "max_iter": 1},
}


def made(kind: type[Any]) -> Any:
    """A small, repeatable model."""
    name = kind.__name__
    if name.startswith("Voting"):
        task = name.removeprefix("Voting")
        members = [getattr(weald, f"{family}{task}") for family in ("DecisionTree", "Bagging")]
        return kind([(f"m{k}", made(each)) for k, each in enumerate(members)])
    model = kind(**SMALL.get(name, {}))
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def rows_of(part: int) -> tuple[dict[str, Any], Any, Any]:
    """One of two tables, with labels and numbers: the other has other levels, labels and values."""
    random = np.random.default_rng(part)
    x = random.normal(size=ROWS)
    levels = [f"{'pq'[part]}{k}" for k in range(3 + part)]
    X = {"x": (x * (1 + 9 * part)).tolist(), "c": [levels[i % len(levels)] for i in range(ROWS)]}
    labels = np.array([f"{'ab'[part]}{i % (2 + part)}" for i in range(ROWS)])
    return X, labels, 100 * part + x


def fitted(model: Any, part: int) -> Any:
    X, labels, numbers = rows_of(part)
    if isinstance(model, weald.XGBRanker):
        return model.fit(X, np.abs(numbers).astype(int) % 3, qid=np.repeat(np.arange(4), ROWS // 4))
    regresses = getattr(model, "_estimator_type", None) == "regressor" or "Regressor" in type(model).__name__
    if isinstance(model, weald.SVR | weald.LinearSVR) or regresses:
        return model.fit(X, numbers)
    if type(model) is weald.XGBModel:
        return model.fit(X, numbers)
    if isinstance(model, weald.Thresholded):  # a number parts two classes
        return model.fit(X, np.where(labels == labels[0], labels[0], "other"))
    return model.fit(X, labels)


def answers(model: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What to ask, of a table that both models can read."""
    X = {"x": [-1.0, 0.5, None], "c": ["p0", "q1", None]}
    for name in ("predict", "predict_proba", "decision_function", "transform", "apply"):
        if hasattr(model, name) and not isinstance(model, weald.XGBRanker):
            yield name, lambda name=name: getattr(model, name)(X)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(list(a[name]) == list(b[name]) for name in a)
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype.kind == b.dtype.kind and a.tobytes() == b.tobytes()


STRESSED = [
    weald.DecisionTreeClassifier,
    weald.RandomForestClassifier,
    weald.BaggingClassifier,
    weald.VotingClassifier,
    weald.AdaBoostClassifier,
    weald.GradientBoostingClassifier,
    weald.XGBClassifier,
    weald.SVC,
    weald.LinearSVC,
    weald.LogisticRegression,
    weald.Landmarks,
    weald.ProximityImputer,
    weald.Conformal,
]


@pytest.fixture
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("many_switches")
@pytest.mark.parametrize("kind", STRESSED)
def test_answers_never_mix_two_models(kind: type[Any]) -> None:
    expected = [{name: ask() for name, ask in answers(fitted(made(kind), part))} for part in (0, 1)]
    model = fitted(made(kind), 0)
    asked = list(answers(model))
    assert not any(same(expected[0][name], expected[1][name]) for name, _ in asked)
    done = threading.Event()

    def refit() -> None:
        part = 0
        while not done.is_set():
            part = 1 - part
            fitted(model, part)

    other = threading.Thread(target=refit)
    other.start()
    try:
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            for name, ask in asked:
                found = ask()
                assert any(same(found, each[name]) for each in expected), (name, found)
    finally:
        done.set()
        other.join()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_refit_leaves_the_old_state_as_it_was(kind: type[Any]) -> None:
    model = fitted(made(kind), 0)
    old = vars(model)
    before = dict(old)
    fitted(model, 1)
    assert vars(model) is not old
    assert old.keys() == before.keys()
    assert all(old[name] is before[name] for name in before)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_public_method_works_on_one_state(kind: type[Any]) -> None:
    loose = []
    for part in kind.__mro__:
        if part.__module__.partition(".")[0] != "weald":
            continue
        for name, value in vars(part).items():
            inner = value.fget if isinstance(value, property) else getattr(value, "fn", value)
            writes = name.startswith(("_", "fit", "partial_fit", "calibrate", "set_", "load"))
            if isinstance(inner, FunctionType) and not writes and not hasattr(inner, "_on_one_model"):
                loose.append(f"{part.__name__}.{name}")
    assert loose == []


def test_an_iterator_of_stages_stays_with_the_model_it_began_with() -> None:
    model = fitted(made(weald.GradientBoostingClassifier), 0)
    X = rows_of(0)[0]
    expected = list(model.staged_predict_proba(X))
    stages = model.staged_predict_proba(X)
    first = next(stages)
    fitted(model, 1)
    assert [each.tobytes() for each in (first, *stages)] == [each.tobytes() for each in expected]


def test_subclasses_clones_and_copies_are_as_they_were() -> None:
    class Mine(weald.DecisionTreeClassifier):
        calls = 0

        def predict_proba(self, X: Any) -> Any:
            self.calls += 1
            return super().predict_proba(X)

        def train_again(self, X: Any, y: Any) -> Mine:
            return self.fit(X, y)

    model = Mine()
    X, labels, _ = rows_of(0)
    assert model.train_again(X, labels) is model
    model.predict_log_proba(X)
    assert model.calls == 1  # predict_log_proba asks predict_proba; what it writes is not lost
    assert vars(clone(model)).keys() == vars(Mine()).keys()
    for other in (copy.copy(model), copy.deepcopy(model)):
        assert other.predict(X).tolist() == model.predict(X).tolist()
    kept = pickle.loads(pickle.dumps(fitted(weald.DecisionTreeClassifier(), 0)))
    assert kept.predict(X).tolist() == model.predict(X).tolist()


def test_errors_name_the_method_itself_and_signatures_stay() -> None:
    import inspect

    with pytest.raises(TypeError, match=r"predict\(\) got an unexpected keyword argument 'Z'"):
        weald.DecisionTreeRegressor().predict(Z=1)
    assert list(inspect.signature(weald.DecisionTreeRegressor.predict).parameters) == ["self", "X"]
    assert weald.DecisionTreeRegressor.predict.__doc__.startswith("The mean target")


def test_replacing_and_sharing_a_state() -> None:
    class Holder:
        pass

    model = Holder()
    vars(model).update({"kept": 1, "gone": 2, "new": 3})
    held = snapshot(model)
    set_fitted(model, {"new": 4}, forgotten=["gone", "never_there"])
    assert vars(model) == {"kept": 1, "new": 4}
    assert vars(held) == {"kept": 1, "gone": 2, "new": 3}
    assert type(held) is Holder


def test_members_of_other_libraries_too() -> None:
    model = weald.BaggingClassifier(TheirTree(), n_estimators=2, random_state=0)
    X = np.arange(8.0).reshape(-1, 1)
    held = snapshot(model.fit(X, np.arange(8) % 2))
    expected = held.predict(X).tolist()
    model.fit(X, np.arange(8) % 3)
    assert held.predict(X).tolist() == expected
