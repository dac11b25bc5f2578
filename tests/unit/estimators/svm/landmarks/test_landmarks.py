"""The transformer Landmarks: tables, names, parameters, and model files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import weald
from weald import Landmarks
from weald.errors import DataError, ModelFileError, ParameterError, ScaleWarning
from weald.io import model_file
from weald.kernels import RBF, ChiSquared, Linear, Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
FRAME = pd.DataFrame(
    {"x": X[:, 0], "y": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "c": np.where(X[:, 2] > 0, "a", "b")}
)
TEXTS = ["".join(RNG.choice(list("abcd"), 12)) for _ in range(40)]


def test_shape_names_and_attributes() -> None:
    found = Landmarks(10, random_state=0).fit(X)
    assert found.transform(X).shape == (80, 10)
    assert found.get_feature_names_out().tolist() == [f"landmarks{i}" for i in range(10)]
    np.testing.assert_array_equal(found.components_, X[found.component_indices_])
    assert found.kernel_ == RBF(1 / (3 * X.var()))
    assert found.n_features_in_ == 3
    assert not hasattr(found, "feature_names_in_")
    assert Landmarks().fit(FRAME).feature_names_in_.tolist() == ["x", "y", "c"]


def test_frames_come_back_as_asked() -> None:
    found = Landmarks(5, random_state=0).set_output(transform="pandas").fit(FRAME)
    frame = found.transform(FRAME)
    assert list(frame.columns) == [f"landmarks{i}" for i in range(5)]
    assert frame.index.equals(FRAME.index)
    polars = Landmarks(5, random_state=0).set_output(transform="polars").fit_transform(pl.from_pandas(FRAME))
    np.testing.assert_array_equal(polars.to_numpy(), frame.to_numpy())


def test_shares_of_rows() -> None:
    assert Landmarks(0.25, random_state=0).fit(X).components_.shape == (20, 3)
    assert Landmarks(1.0).fit(X).components_.shape == (80, 3)
    assert Landmarks(1).fit(X).components_.shape == (1, 3)


def test_given_landmarks_are_read_as_the_table_is() -> None:
    given = FRAME.iloc[[3, 50]]
    found = Landmarks(landmarks=given, features="similarity", scale=True, gamma=0.5).fit(FRAME)
    assert found.component_indices_ is None
    features = found.transform(FRAME)
    assert features.shape == (80, 2)
    np.testing.assert_array_equal(features[[3, 50], [0, 1]], 1.0)


def test_all_rows_as_landmarks_give_the_kernel() -> None:
    features = Landmarks(1.0, gamma=0.3).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, RBF(0.3)(X), atol=1e-9)


def test_every_kernel_by_name() -> None:
    positive = np.abs(X)
    for name in ("linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "intersection"):
        assert np.isfinite(Landmarks(5, kernel=name, random_state=0).fit_transform(positive)).all()
    function = Landmarks(5, kernel=lambda A, B: A @ B.T, random_state=0).fit_transform(X)
    np.testing.assert_allclose(function @ function.T, X @ X.T, atol=1e-9)


def test_texts() -> None:
    for kernel in ("spectrum", Spectrum(3)):
        found = Landmarks(1.0, kernel=kernel).fit(TEXTS)
        features = found.transform(TEXTS)
        np.testing.assert_allclose(features @ features.T, Spectrum(3)(TEXTS), atol=1e-9)
        assert found.kernel_ == Spectrum(3)
    frame = pd.DataFrame({"text": TEXTS})
    np.testing.assert_array_equal(
        Landmarks(9, kernel="spectrum", random_state=0).fit_transform(frame),
        Landmarks(9, kernel="spectrum", random_state=0).fit_transform(TEXTS),
    )


def test_sparse_rows_give_the_same_columns() -> None:
    S = X * (X > 0.5)
    want = Landmarks(9, random_state=0, gamma=0.5).fit(S)
    found = Landmarks(9, random_state=0, gamma=0.5).fit(sparse.csr_array(S))
    np.testing.assert_allclose(found.transform(sparse.csr_array(S)), want.transform(S), atol=1e-9)
    np.testing.assert_allclose(found.transform(S), want.transform(S), atol=1e-9)


def test_scale_makes_units_irrelevant() -> None:
    other = X * [1.0, 1000.0, 1e-6]
    want = Landmarks(9, random_state=0, scale=True).fit_transform(X)
    np.testing.assert_allclose(Landmarks(9, random_state=0, scale=True).fit_transform(other), want, atol=1e-9)


def test_threads_change_nothing() -> None:
    found = [Landmarks(20, random_state=0, n_jobs=n).fit(X) for n in (1, 2, 5)]
    for other in found[1:]:
        np.testing.assert_array_equal(other.component_indices_, found[0].component_indices_)
        np.testing.assert_array_equal(other.transform(X), found[0].transform(X))


def test_a_linear_machine_on_landmarks_is_a_kernel_machine() -> None:
    ring = (X**2).sum(axis=1) > 2.5
    model = make_pipeline(Landmarks(40, random_state=0), RidgeClassifier(alpha=1e-3)).fit(X, ring)
    assert model.score(X, ring) > 0.95
    assert RidgeClassifier().fit(X, ring).score(X, ring) < 0.8


def test_columns_of_different_spread_are_hinted_at() -> None:
    with pytest.warns(ScaleWarning, match="Landmarks: .* far wider than column .*scale=True") as found:
        Landmarks(5).fit(X * [1.0, 1.0, 1e4])
    assert found[0].filename == __file__
    Landmarks(5, kernel="linear").fit(X * [1.0, 1.0, 1e4])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"n_landmarks": 0}, "`n_landmarks` of Landmarks must be a whole number of at least 1"),
    ({"n_landmarks": 1.5}, "`n_landmarks`"),
    ({"kernel": "precomputed"}, "`kernel` of Landmarks must be"),
    ({"kernel": "rfb"}, "Did you mean 'rbf'"),
    ({"gamma": -1.0}, "`gamma` of Landmarks"),
    ({"sigma": 1.0, "gamma": 0.5}, "both are given"),
    ({"degree": 0}, "`degree`"),
    ({"coef0": np.nan}, "`coef0` of Landmarks must be a finite number"),
    ({"landmarks": "kmeans"}, "`landmarks`"),
    ({"landmarks": 5}, "`landmarks`"),
    ({"features": "nystrom"}, "Did you mean 'nystroem'"),
    ({"scale": "yes"}, "`scale`"),
    ({"n_jobs": 0}, "`n_jobs`"),
    ({"random_state": -1}, "`random_state`"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=str)
def test_parameters_out_of_range(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Landmarks(**params).fit(X)


def test_unknown_parameters_are_told() -> None:
    with pytest.raises(ParameterError, match="did you mean `n_landmarks`"):
        Landmarks().set_params(n_landmark=3)


def test_bad_rows_are_told() -> None:
    with pytest.raises(DataError, match=r"Column 1 holds -3 in row 0.*negative"):
        Landmarks(kernel="chi2").fit([[1.0, -3.0]])
    with pytest.raises(DataError, match=r"Column 0 holds -1.*negative"):
        Landmarks(kernel=ChiSquared()).fit([[1.0, 3.0]]).transform([[-1.0, 1.0]])
    with pytest.raises(DataError, match="features, but Landmarks is expecting 3 features"):
        Landmarks(landmarks=[[1.0, 2.0]]).fit(X)
    with pytest.raises(DataError, match="No text is as long as 3"):
        Landmarks(kernel="spectrum").fit(["a", "b"])
    with pytest.raises(DataError, match="contains inf"):
        Landmarks().fit([[np.inf, 1.0]])


# --------------------------------------------------------------------------- model files

MODELS: dict[str, Any] = {
    "frame": (Landmarks(9, random_state=0, scale=True), FRAME),
    "array": (Landmarks(0.2, kernel="poly", coef0=1.0, random_state=0), X),
    "similarity": (Landmarks(9, features="similarity", kernel=RBF(0.5) + Linear(), random_state=0), X),
    "sparse": (Landmarks(9, random_state=0), sparse.csr_array(X * (X > 0.5))),
    "given": (Landmarks(landmarks=X[:4]), X),
    "texts": (Landmarks(9, kernel="spectrum", random_state=0), TEXTS),
    "text columns": (
        Landmarks(9, kernel=Spectrum(2, all_lengths=True), random_state=0),
        pd.DataFrame({"a": TEXTS, "b": TEXTS}),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_saved_landmarks_give_the_same_columns(name: str, tmp_path: Path) -> None:
    estimator, table = MODELS[name]
    fitted = clone(estimator).fit(table)
    fitted.save(tmp_path / "m.weald")
    again = weald.load(tmp_path / "m.weald")
    np.testing.assert_array_equal(again.transform(table), fitted.transform(table))
    assert again.kernel_ == fitted.kernel_
    assert model_file.to_bytes(again) == model_file.to_bytes(fitted)
    assert model_file.to_bytes(clone(estimator).set_params(n_jobs=2).fit(table)) == model_file.to_bytes(
        fitted
    )
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).transform(table), fitted.transform(table)
    )
    if name != "given":
        assert again.get_params() | {"n_jobs": None} == fitted.get_params() | {"n_jobs": None}


def test_functions_are_not_saved(tmp_path: Path) -> None:
    def my_kernel(A: Any, B: Any) -> Any:
        return A @ B.T

    with pytest.raises(ModelFileError, match=r"my_kernel.*pickle"):
        Landmarks(5, kernel=my_kernel).fit(X).save(tmp_path / "m.weald")


def damaged(change: Any, name: str = "frame") -> Any:
    """The estimator that `change` of the parts of a fitted one would give."""
    estimator, table = MODELS[name]
    state = clone(estimator).fit(table)._saved_state()
    facts, arrays = dict(state.facts), dict(state.arrays)
    change(facts, arrays)
    from dataclasses import replace

    return Landmarks._from_saved_state(replace(state, facts=facts, arrays=arrays))


DAMAGE: dict[str, Any] = {
    "no facts": lambda f, a: f.clear(),
    "more facts": lambda f, a: f.update(more=1),
    "flags": lambda f, a: f.update(nystroem=1),
    "kernel": lambda f, a: f.update(kernel={"kernel": "rbf", "gamma": "scale", "sigma": None}),
    "kernel form": lambda f, a: f.update(kernel=3),
    "plan": lambda f, a: f.update(plan={}),
    "text": lambda f, a: f.update(text=True),
    "landmarks": lambda f, a: a.update(landmarks=np.zeros((3, 2))),
    "no landmarks": lambda f, a: a.pop("landmarks"),
    "nan": lambda f, a: a.update(landmarks=np.full((9, 4), np.nan)),
    "projection": lambda f, a: a.update(projection=np.zeros((3, 9))),
    "infinite projection": lambda f, a: a.update(projection=np.full((9, 9), np.inf)),
    "rows": lambda f, a: a.update(rows=np.zeros(3, np.int64)),
    "negative rows": lambda f, a: a.update(rows=np.full(9, -1)),
    "strange": lambda f, a: a.update(strange=np.zeros(3)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_parts_raise(name: str) -> None:
    with pytest.raises((ModelFileError, ParameterError)):
        damaged(DAMAGE[name])


def test_undamaged_parts_do_not_raise() -> None:
    assert damaged(lambda f, a: None).transform(FRAME).shape == (80, 9)
