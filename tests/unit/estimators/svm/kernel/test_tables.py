"""Kernel machines on tables of every kind: categories, gaps, frames, texts, units; a fit that is stopped."""

import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from unit.estimators.svm.kernel.data import blobs, waves

import weald
from weald import SVC, SVR
from weald.errors import DataError
from weald.io.model_file import to_bytes
from weald.kernels import RBF, Linear, Spectrum

X, Y = blobs(90, 3, spread=1.5)
FRAME = pd.DataFrame(
    {
        "length": np.where(np.arange(90) % 11 == 0, np.nan, X[:, 0]),
        "colour": np.array(["red", "green", "blue"])[Y],
        "size": pd.Categorical(np.array(["S", "M", "L"])[Y[::-1]], ["S", "M", "L"], ordered=True),
    }
)


def test_categories_become_columns_and_gaps_medians():
    model = SVC().fit(FRAME, Y)
    assert model.n_features_in_ == 3
    assert model.support_vectors_.shape[1] == 5
    assert model.feature_names_in_.tolist() == ["length", "colour", "size"]
    by_hand = pd.DataFrame(
        {
            "length": FRAME["length"].fillna(FRAME["length"].median()),
            **{f"colour={c}": (FRAME["colour"] == c) * 1.0 for c in ("blue", "green", "red")},
            "size": FRAME["size"].cat.codes.astype(float),
        }
    )
    plain = SVC().fit(by_hand, Y)
    assert model.decision_function(FRAME) == pytest.approx(plain.decision_function(by_hand))


def test_columns_of_the_matrix_have_names(tmp_path):
    names = ("length", "colour=blue", "colour=green", "colour=red", "size")
    for model in (SVC(kernel="linear"), SVC(), SVR(kernel="linear"), SVC(kernel=lambda A, B: A @ B.T)):
        model.fit(FRAME, Y)
        assert model.column_names_ == names
        assert model.support_vectors_.shape[1] == len(names)
        if model.kernel == "linear":
            assert model.coef_.shape[1] == len(names)
    assert SVC().fit(X, Y).column_names_ == (0, 1, 2)
    model = SVC(kernel="linear").fit(FRAME, Y)
    model.save(tmp_path / "model.weald")
    assert weald.load(tmp_path / "model.weald").column_names_ == names
    assert not hasattr(SVC(), "column_names_")
    with pytest.raises(AttributeError, match="kernel='precomputed': the table holds kernel values"):
        _ = SVC(kernel="precomputed").fit(X @ X.T, Y).column_names_


def test_columns_of_texts_are_substrings():
    texts, labels = ["abab", "ba"] * 3, [0, 1] * 3
    model = SVC(kernel="spectrum", degree=2).fit(texts, labels)
    assert model.column_names_ == ("ab", "ba")
    assert model.support_vectors_.shape[1] == 2
    framed = SVC(kernel="spectrum", degree=2).fit(pd.DataFrame({"text": texts}), labels)
    assert framed.column_names_ == ("text=ab", "text=ba")


def test_every_library_gives_the_same_bytes():
    sizes = pl.Series("size", FRAME["size"].astype(str)).cast(pl.Enum(["S", "M", "L"]))
    polars = pl.from_pandas(FRAME.drop(columns="size")).with_columns(sizes)
    arrow = pa.Table.from_pandas(FRAME, preserve_index=False)
    models = [SVC(scale=True).fit(frame, Y) for frame in (FRAME, polars, arrow)]
    assert len({to_bytes(model) for model in models}) == 1
    assert np.array_equal(models[0].predict(FRAME[["size", "length", "colour"]]), models[0].predict(FRAME))


def test_unknown_categories_are_missing_or_refused():
    strange = FRAME.assign(colour="mauve")
    missing = FRAME.assign(colour=None)
    model = SVC().fit(FRAME, Y)
    assert np.array_equal(
        model.decision_function(strange), model.decision_function(missing.astype({"colour": object}))
    )
    with pytest.raises(DataError, match="'mauve'"):
        SVC(unknown="error").fit(FRAME, Y).predict(strange)


def test_declared_categories_are_expanded_wherever_they_stand():
    table = pd.DataFrame({"code": Y * 100, "x": X[:, 0]})
    model = SVC(categorical_features=["code"]).fit(table, Y)
    assert model.support_vectors_.shape[1] == 4
    assert np.array_equal(model.predict(table[["x", "code"]]), model.predict(table))


@pytest.mark.filterwarnings("ignore::weald.errors.ScaleWarning")
@pytest.mark.parametrize(
    ("kind", "kernel"), [(SVC, "rbf"), (SVR, "rbf"), (SVC, "intersection"), (SVR, "chi2")]
)
def test_with_scale_the_unit_of_a_column_does_not_matter(kind, kernel):
    rows = np.abs(X)
    other = rows * [1.0, 1024.0, 1.0]
    y = Y if kind is SVC else rows[:, 0]
    one, two = kind(scale=True, kernel=kernel).fit(rows, y), kind(scale=True, kernel=kernel).fit(other, y)
    ask = "decision_function" if kind is SVC else "predict"
    assert getattr(two, ask)(other) == pytest.approx(getattr(one, ask)(rows), abs=1e-6)
    plain = kind(kernel=kernel, gamma=one._gamma or "scale").fit(other, y)
    assert not np.allclose(getattr(plain, ask)(other), getattr(one, ask)(rows), atol=1e-2)


def test_texts_are_compared_by_their_substrings():
    texts = ["the cat sat", "a cat ran", "cats run", "dogs bark", "a dog barks", "the dog barked"] * 3
    labels = np.repeat([["cat"] * 3 + ["dog"] * 3], 3, axis=0).ravel()
    model = SVC(kernel="spectrum").fit(texts, labels)
    assert model.predict(["my cat", "his dog"]).tolist() == ["cat", "dog"]
    frame = pd.DataFrame({"text": texts})
    assert np.array_equal(SVC(kernel="spectrum").fit(frame, labels).predict(frame), model.predict(texts))
    longer = SVC(kernel=Spectrum(length=4)).fit(texts, labels)
    assert longer.kernel_ == Spectrum(length=4)
    given = SVC(kernel="precomputed").fit(Spectrum(3)(texts), labels)
    assert given.decision_function(Spectrum(3)(texts)) == pytest.approx(
        model.decision_function(texts), abs=1e-3
    )


def test_kernel_objects_speak_for_themselves():
    model = SVC(kernel=RBF(gamma=0.2) + Linear(), gamma=77.0).fit(X, Y)
    given = SVC(kernel="precomputed").fit((RBF(gamma=0.2) + Linear())(X), Y)
    assert model.decision_function(X) == pytest.approx(
        given.decision_function((RBF(gamma=0.2) + Linear())(X)), abs=1e-3
    )
    named = SVC(kernel="rbf").fit(X, Y)
    assert np.array_equal(SVC(kernel=RBF()).fit(X, Y).decision_function(X), named.decision_function(X))


def test_a_fit_that_is_stopped_leaves_the_model_as_it_was():
    rows, y = waves(4000, 6)
    model = SVR().fit(X, Y)
    before = to_bytes(model)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.set_params(C=1e6, epsilon=0.0, tol=1e-12, max_time=60.0).fit(rows, y)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    model.set_params(C=1.0, epsilon=0.1, tol=1e-3, max_time=None)
    assert to_bytes(model) == before


def test_public_names_are_there():
    assert weald.SVC is SVC
    assert {"SVC", "SVR", "kernels", "check_mercer", "Landmarks"} <= set(weald.__all__)
