"""`import weald` is light: it loads nothing beyond an allow-list."""

import json
import subprocess
import sys

import pytest

FORBIDDEN = {
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "sklearn.tree",
    "sklearn.ensemble",
    "sklearn.svm",
    "sklearn.metrics",
}
ALLOWED = {"weald"}


#: in this order in one process: each loads what those before it have not
STEPS = {
    "nothing": "pass",
    "weald": "import weald",
    "theirs": "import numpy, scipy.sparse, sklearn.base",
    "estimators": "weald.DecisionTreeClassifier; weald.DecisionTreeRegressor; weald.RandomForestClassifier",
    "fit": "weald.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[0.5]])",
    "ensembles": "weald.BaggingClassifier; weald.VotingRegressor; weald.forest_bound(0.5, 0.1)",
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """The modules in a fresh interpreter after each step."""
    lines = ["import json, sys", "found = {}"]
    for name, step in STEPS.items():
        lines += [step, f"found[{name!r}] = list(sys.modules)"]
    code = "\n".join([*lines, "print(json.dumps(found))"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def foreign(modules: set[str]) -> set[str]:
    """The packages that are no part of Python itself."""
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)


def test_import_weald_loads_only_weald(loaded):
    assert foreign(loaded["weald"]) - foreign(loaded["nothing"]) <= ALLOWED


def test_estimators_load_what_sklearn_base_loads_and_no_frame_library(loaded):
    # scikit-learn itself loads pandas where it is installed; weald must add nothing of the kind.
    ours, theirs = loaded["estimators"], loaded["theirs"]
    assert not (ours - theirs) & FORBIDDEN
    assert foreign(ours) - foreign(theirs) <= {"weald", "narwhals"}


def test_fit_and_predict_on_arrays_load_no_frame_library(loaded):
    assert not (loaded["fit"] - loaded["theirs"]) & FORBIDDEN


def test_ensembles_load_no_more_than_trees(loaded):
    assert not (loaded["ensembles"] - loaded["fit"]) & FORBIDDEN
    assert foreign(loaded["ensembles"]) <= foreign(loaded["estimators"])


def test_unknown_name_has_a_hint():
    code = "import weald\ntry: weald.DecisionTreeClasifier\nexcept AttributeError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = (
        "module 'weald' has no attribute 'DecisionTreeClasifier'. Did you mean 'DecisionTreeClassifier'?"
    )
    assert done.stdout.strip() == expected


def test_public_names_are_listed():
    code = "import weald, json; print(json.dumps(dir(weald)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"DecisionTreeClassifier", "DecisionTreeRegressor", "load", "errors"} <= set(
        json.loads(done.stdout)
    )
