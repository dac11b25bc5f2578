"""Whole numbers that no machine integer holds: a model or a sentence, never an error of the bindings."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import weald
from weald.errors import WealdError

HUGE = 2**70
#: with these so much is asked for, in trees, rounds or processes, and so it is done
ASKED_FOR = {"n_estimators", "num_parallel_tree", "n_repeats", "n_iterations", "n_jobs", "verbose"}
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def _cases():
    for name in sorted(weald.__all__):
        estimator = getattr(weald, name)
        if not (inspect.isclass(estimator) and issubclass(estimator, BaseEstimator)):
            continue
        parameters = inspect.signature(estimator).parameters.values()
        needed = [
            each.name for each in parameters if each.default is each.empty and each.kind != each.VAR_KEYWORD
        ]
        for each in parameters:
            if (
                not {each.name, *needed} & ASKED_FOR
                and set(needed) <= {"estimator"}
                and each.name != "estimator"
            ):
                yield pytest.param(estimator, each.name, needed, id=f"{name}-{each.name}")


@pytest.mark.parametrize(("estimator", "name", "needed"), list(_cases()))
def test_a_huge_number_gives_a_model_or_a_sentence(estimator, name, needed):
    given = [weald.DecisionTreeClassifier(max_depth=2)] if needed else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = estimator(*given, **{name: HUGE})
            if "n_estimators" in made.get_params():
                made.set_params(n_estimators=3)
            made.fit(X, Y) if hasattr(made, "fit") else made.fit_resample(X, Y)
            if hasattr(made, "predict"):
                made.predict(X)
        except (WealdError, MemoryError):
            pass
