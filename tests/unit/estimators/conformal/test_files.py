"""Model files of `Conformal`: what intervals and sets need, no row of a table, and nothing wrong gets in."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from unit.io.models import rewritten

import weald
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    Conformal,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBClassifier,
    XGBRegressor,
)
from weald.errors import ModelFileError
from weald.io import container


def frame(n_rows=70, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"size": rng.normal(size=n_rows), "town": rng.choice(["rome", "oslo"], n_rows)})


X = frame()
NUMBERS = (X["size"] * 2 + (X["town"] == "oslo")).to_numpy() + np.sin(np.arange(70.0))
LABELS = np.where(NUMBERS > 0.5, "much", "little")
NEW = frame(9, 5)

MODELS = {
    "split": lambda: Conformal(XGBRegressor(n_estimators=3)).fit(X, NUMBERS),
    "scaled": lambda: Conformal(
        RandomForestRegressor(6, random_state=0), method="cv+", cv=2, conformity_score="scaled"
    ).fit(X, NUMBERS),
    "one by one": lambda: Conformal(DecisionTreeRegressor(max_depth=2), method="jackknife+").fit(
        X[:20], NUMBERS[:20]
    ),
    "bags": lambda: Conformal(
        BaggingRegressor(n_estimators=20, random_state=0), method="jackknife+", conformity_score="scaled"
    ).fit(X, NUMBERS),
    "booster of quantiles": lambda: Conformal(
        XGBRegressor(n_estimators=3, objective="reg:quantileerror"), method="cqr"
    ).fit(X, NUMBERS),
    "quantiles apart": lambda: Conformal(
        GradientBoostingRegressor(loss="quantile", n_estimators=3), method="cqr"
    ).fit(X, NUMBERS),
    "leaves": lambda: Conformal(
        RandomForestRegressor(5, min_samples_leaf=3, random_state=0), method="cqr", quantiles=(0.1, 0.9)
    ).fit(X, NUMBERS),
    "calibrated": lambda: Conformal(XGBClassifier(n_estimators=3).fit(X, LABELS)).calibrate(
        X[:30], LABELS[:30]
    ),
    "classes apart": lambda: Conformal(
        RandomForestClassifier(20, random_state=0),
        method="jackknife+",
        conformity_score="aps",
        class_conditional=True,
    ).fit(X, LABELS),
    "bagged classes": lambda: Conformal(
        BaggingClassifier(XGBClassifier(n_estimators=2), n_estimators=12, random_state=0), method="jackknife+"
    ).fit(X, LABELS),
}


def said(model):
    asked = model.predict_set if hasattr(model, "classes_") else model.predict_interval
    return asked(NEW, 0.7), asked(NEW, 0.85), model.predict(NEW)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_says_what_the_saved_one_does(name, tmp_path):
    model, path = MODELS[name](), tmp_path / "m.weald"
    model.save(path)
    loaded = weald.load(path)
    for ours, theirs in zip(said(model), said(loaded), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert loaded.to_bytes() == path.read_bytes() == MODELS[name]().to_bytes()
    np.testing.assert_array_equal(loaded.conformity_scores_, model.conformity_scores_)
    assert loaded.feature_names_in_.tolist() == ["size", "town"]
    assert len(loaded.estimators_) == len(model.estimators_)
    with pytest.raises(
        AttributeError, match="loaded from a model file and has no attribute 'calibration_rows_'"
    ):
        _ = loaded.calibration_rows_
    for ours, theirs in zip(said(model), said(pickle.loads(pickle.dumps(model))), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if name != "calibrated":
        again = clone(loaded).fit(X, LABELS if hasattr(model, "classes_") else NUMBERS)
        assert again.get_params().keys() == model.get_params().keys()


def test_a_member_of_another_library_is_named():
    model = Conformal(Ridge()).fit(X[["size"]], NUMBERS)
    with pytest.raises(ModelFileError, match="Member 'model' of Conformal: A model file cannot keep a Ridge"):
        model.to_bytes()


def _drop(name):
    def change(_, tensors):
        del tensors[f"array.{name}"]

    return change


def _set(name, value):
    def change(_, tensors):
        tensors[f"array.{name}"] = value(tensors[f"array.{name}"])

    return change


SPOILT = [
    ("split", _drop("scores")),
    ("split", _drop("group")),
    ("split", _set("scores", lambda a: a[:0])),
    ("split", _set("scores", lambda a: np.full_like(a, np.nan))),
    ("split", _set("scores", lambda a: a[:-1])),
    ("split", _set("group", lambda a: a + 1)),
    ("split", lambda content, _: content.update(extra={"seed": 1})),
    ("split", lambda content, _: content["members"][0].update(name="other")),
    ("split", lambda content, _: content.update(members=[])),
    ("split", lambda content, _: content["members"][0].update(model=None)),
    ("split", lambda content, _: content.update(schema=None)),
    ("split", lambda content, _: content["params"].update(method="cqr")),
    ("split", lambda content, _: content["params"].update(conformity_score="scaled")),
    ("split", lambda content, _: content["params"].update(conformity_score="aps")),
    ("split", lambda _, tensors: tensors.update({"array.strange": np.zeros(3, np.uint8)})),
    ("bags", _set("lack", np.zeros_like)),
    ("bags", _set("lack", lambda a: a[:-1])),
    ("bags", _set("lack", lambda a: a.astype(np.uint16) + 300)),
    ("bags", _set("group", lambda a: a[::-1].copy())),
    ("leaves", _drop("leaf_rows")),
    ("leaves", _set("leaf_ends", lambda a: a[::-1].copy())),
    ("leaves", _set("leaf_rows", lambda a: a + 60)),
    ("leaves", _set("leaf_shares", lambda a: a / 2)),
    ("leaves", _set("leaf_targets", lambda a: a[:0])),
    ("quantiles apart", _set("levels", lambda a: a[:1])),
    ("quantiles apart", _set("levels", lambda a: a[::-1].copy())),
    ("quantiles apart", _set("levels", lambda a: a[:2])),
    ("classes apart", _drop("label")),
    ("classes apart", _set("label", lambda a: a * 0)),
    ("classes apart", _set("label", lambda a: a + 1)),
    ("classes apart", lambda content, _: content.update(classes=None)),
]


@pytest.mark.parametrize("which", range(len(SPOILT)))
def test_what_cannot_be_is_refused(which, tmp_path):
    name, change = SPOILT[which]
    path = tmp_path / "m.weald"
    MODELS[name]().save(path)
    rewritten(path, change)
    with pytest.raises(ModelFileError):
        weald.load(path)


def test_no_row_of_the_table_is_kept(tmp_path):
    path = tmp_path / "m.weald"
    MODELS["bags"]().save(path)
    _, tensors = container.read(path, mmap=False)
    own = {name for name in tensors if name.startswith("array.")}
    assert own == {"array.scores", "array.group", "array.lack"}
    assert tensors["array.lack"].nbytes == 20 * 9
