"""LinearSVC and LinearSVR: tables, margins, threads, files, bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import weald
from weald import LinearSVC, LinearSVR
from weald.errors import DataError, ModelFileError, ParameterError


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X @ np.array([1.0, -2.0, 0.5, 0.0, 0.0, 3.0]) + 0.5 * rng.normal(size=n) + 1.0


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = np.array(["red", "green", "blue"], object)[rng.integers(0, 3, n)]
    y = np.where(size + 2.0 * (colour == "red") + 0.3 * rng.normal(size=n) > 0.7, "yes", "no")
    size[rng.random(n) < 0.1] = np.nan
    colour[rng.random(n) < 0.1] = None
    return {"size": size, "colour": colour.tolist()}, y


MODELS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC("l1", C=0.1),
    LinearSVC(dual=True, C=0.01),
    LinearSVC(multi_class="crammer_singer", C=0.01),
    LinearSVC(scale=True, intercept_scaling="free"),
    LinearSVC(fit_intercept=False),
]


def target(model, numbers_):
    if isinstance(model, LinearSVR):
        return numbers_
    return np.digitize(numbers_, [-1.0, 2.0])


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("model", [*MODELS, LinearSVR(), LinearSVR(dual=True, C=0.01)], ids=repr)
def test_the_same_bytes_for_any_number_of_threads(model, as_sparse, tmp_path):
    X, y = numbers()
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if as_sparse else X
    files = []
    for n_jobs in (1, 2, 5):
        fitted = clone(model).set_params(n_jobs=n_jobs, max_iter=20_000).fit(X, target(model, y))
        fitted.save(tmp_path / "m.weald")
        files.append((tmp_path / "m.weald").read_bytes())
    assert files[0] == files[1] == files[2]
    again = weald.load(tmp_path / "m.weald")
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(again.coef_, fitted.coef_)
    assert again.n_iter_ == fitted.n_iter_
    assert again.primal_objective_ == pytest.approx(fitted.primal_objective_, nan_ok=True)


def test_a_score_does_not_depend_on_the_other_rows():
    X, y = numbers()
    model = LinearSVR().fit(X, y)
    assert np.array_equal(model.predict(X)[7:20], model.predict(X[7:20]))
    assert np.allclose(model.predict(X), X @ model.coef_ + model.intercept_)


def test_tables_of_every_library_give_one_model():
    table, y = mixed()
    frames = [pd.DataFrame(table), pl.DataFrame(table, strict=False)]
    frames[0]["colour"] = frames[0]["colour"].astype("category")
    models = [LinearSVC(C=0.1).fit(frame, y) for frame in frames]
    assert models[0].column_names_ == ("size", "colour=blue", "colour=green", "colour=red")
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert models[0].score(frames[1], y) > 0.8


def test_sparse_rows_are_dense_rows():
    X, y = numbers()
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    for model in (LinearSVC(), LinearSVC(loss="hinge", tol=1e-7)):
        dense = clone(model).fit(X, y > 0)
        thin = clone(model).fit(sparse.csr_matrix(X), y > 0)
        assert np.allclose(dense.coef_, thin.coef_, atol=1e-4)


def test_a_weight_of_two_is_two_rows_and_of_zero_none():
    X, y = numbers(120)
    weight = np.random.default_rng(1).integers(0, 3, 120)
    rows = np.repeat(np.arange(120), weight)
    for model, y_ in ((LinearSVC(), y > 0), (LinearSVR(loss="squared_epsilon_insensitive"), y)):
        weighed = clone(model).fit(X, y_, weight)
        repeated = clone(model).fit(X[rows], y_[rows])
        assert np.allclose(weighed.coef_, repeated.coef_, atol=1e-6)


def test_margins_and_slacks():
    X, y = numbers()
    model = LinearSVC(loss="hinge").fit(X, y > 0)
    side = np.where(y > 0, 1.0, -1.0)
    functional = model.functional_margin(X, y > 0)
    assert np.allclose(functional, side * model.decision_function(X))
    assert np.allclose(model.geometric_margin(X, y > 0), functional / np.linalg.norm(model.coef_))
    assert np.allclose(model.slack(X, y > 0), np.maximum(0.0, 1.0 - functional))
    assert model.margin_width_ == pytest.approx(2.0 / np.linalg.norm(model.coef_))
    assert model.duality_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    assert (model.slack(X, y > 0) > 1).sum() == (model.predict(X) != (y > 0)).sum()
    several = LinearSVC().fit(X, np.digitize(y, [-1.0, 2.0]))
    assert several.slack(X, np.digitize(y, [-1.0, 2.0])).shape == (300, 3)
    tube = LinearSVR(epsilon=0.3).fit(X, y)
    assert np.allclose(tube.slack(X, y), np.maximum(0.0, np.abs(y - tube.predict(X)) - 0.3))
    with pytest.raises(DataError, match="'perhaps', which was not there"):
        LinearSVC().fit(X, np.where(y > 0, "yes", "no")).slack(X[:1], ["perhaps"])


def test_other_units_change_nothing_with_scale():
    X, y = numbers()
    grams = X * np.array([1.0, 1e9, 1.0, 1e-6, 1.0, 1.0]) + np.array([0.0, 1e9, 0, 0, 0, 0])
    one, other = (LinearSVC(scale=True).fit(table, y > 0) for table in (X, grams))
    assert np.allclose(one.decision_function(X), other.decision_function(grams), atol=1e-4)


def test_constant_columns_weigh_nothing():
    X, y = numbers()
    model = LinearSVC(scale=True).fit(np.column_stack([X, np.full(300, 1e9)]), y > 0)
    assert model.coef_[0, -1] == 0.0


def test_stopping_early_is_told_and_leaves_a_model():
    X, y = numbers()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1.*duality gap is .*The model can be used"):
        model = LinearSVC(dual=True, C=100.0, max_iter=1).fit(X, y > 0)
    assert model.predict(X).shape == (300,)
    forever = LinearSVC(max_time=1e300).fit(X, y > 0)
    assert forever.coef_ == pytest.approx(LinearSVC().fit(X, y > 0).coef_, abs=0)
    with pytest.warns(ConvergenceWarning, match="or max_time=1e-09"):
        LinearSVC(dual=True, C=1e4, max_iter=10**6, max_time=1e-9).fit(X, y > 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "`C` of LinearSVC must be a number above 0"),
        ({"C": float("nan")}, "`C` of LinearSVC"),
        ({"tol": -1.0}, "`tol` of LinearSVC"),
        ({"loss": "hing"}, "`loss` of LinearSVC must be 'hinge' or 'squared_hinge'"),
        ({"intercept_scaling": 0.0}, "`intercept_scaling` of LinearSVC"),
        ({"penalty": "l1", "loss": "hinge"}, "goes with loss='squared_hinge'"),
        ({"penalty": "l1", "dual": True}, "use dual='auto' or dual=False"),
        ({"max_iter": 0}, "`max_iter` of LinearSVC"),
        ({"class_weight": {True: 0.0}}, "gives the label True the weight 0"),
    ],
)
def test_bad_parameters(options, message):
    X, y = numbers(40)
    with pytest.raises(ParameterError, match=message):
        LinearSVC(**options).fit(X, y > 0)


def test_bad_tables():
    X, y = numbers(40)
    with pytest.raises(DataError, match="has only True"):
        LinearSVC().fit(X, np.ones(40, bool))
    with pytest.raises(DataError, match="Column 2"):
        LinearSVC().fit(np.where(np.arange(6) == 2, np.inf, X), y > 0)
    with pytest.raises(NotFittedError):
        LinearSVR().predict(X)
    with pytest.raises(ParameterError, match="did you mean `epsilon`"):
        LinearSVR().set_params(epsilom=1.0)


def test_a_damaged_file_is_refused(tmp_path):
    X, y = numbers(40)
    path = tmp_path / "m.weald"
    LinearSVC().fit(X, y > 0).save(path)
    content = bytearray(path.read_bytes())
    content[-9] ^= 255
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        weald.load(path)


def test_progress_is_shown_when_asked(capsys):
    X, y = numbers()
    LinearSVC(verbose=1).fit(X, y > 0)
    assert "machine 1 of 1" in capsys.readouterr().err
    LinearSVC().fit(X, y > 0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [LinearSVC, LinearSVR])
def test_dual_false_does_not_descend_the_dual_of_wide_tables(kind):
    # the descent draws the order of rows, Newton's steps draw nothing
    random = np.random.default_rng(2)
    X = sparse.random_array((150, 3000), density=0.02, rng=random, format="csr")
    y = X @ random.normal(size=3000)
    loss = "squared_hinge" if kind is LinearSVC else "squared_epsilon_insensitive"
    target = y > 0 if kind is LinearSVC else y

    def weights(dual, seed):
        return kind(loss=loss, dual=dual, random_state=seed, tol=1e-6).fit(X, target).coef_

    assert weights(False, 0).tobytes() == weights(False, 1).tobytes()
    assert weights(True, 0).tobytes() != weights(True, 1).tobytes()
    assert weights(True, 0) == pytest.approx(weights(False, 0), abs=1e-4)
