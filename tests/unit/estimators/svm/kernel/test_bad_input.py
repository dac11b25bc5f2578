"""What kernel machines refuse, and what the message says: parameter or column, what was there, a way out."""

import logging
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from unit.estimators.svm.kernel.data import blobs, waves

from weald import SVC, SVR
from weald.errors import DataError, DataTypeError, ParameterError, ScaleWarning

X, Y = blobs(40)


@pytest.mark.parametrize("kind", [SVC, SVR])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, r"`C` of SV[CR] must be a number above 0, or inf for a hard margin; got 0\.0\. Use"),
        ({"C": -1}, r"`C` of SV[CR] must be a number above 0"),
        ({"C": np.nan}, r"`C` of SV[CR] must be a number above 0.*got nan"),
        ({"C": True}, r"`C` of SV[CR] must be a number above 0.*got True"),
        ({"gamma": 0.0}, r"`gamma` of SV[CR] must be 'scale' or 'auto' or a number above 0; got 0\.0"),
        ({"gamma": "scal"}, r"`gamma` of SV[CR].*got 'scal'\. Did you mean 'scale'\?"),
        ({"gamma": np.inf}, r"`gamma` of SV[CR].*got inf"),
        ({"sigma": 0}, r"`sigma` of SV[CR] must be None or a number above 0; got 0"),
        ({"sigma": 1.0, "gamma": 2.0}, r"`sigma` of SV[CR] is another way to say `gamma`, and both"),
        ({"sigma": 1e-200}, r"`sigma` of SV[CR] must be a number above 0 whose 1 / \(2 sigma²\)"),
        ({"degree": 0}, r"`degree` of SV[CR] must be a whole number from 1 to 1000; got 0"),
        ({"degree": 2.5}, r"`degree` of SV[CR] must be a whole number from 1 to 1000; got 2\.5"),
        ({"degree": 2000}, r"`degree` of SV[CR] must be a whole number from 1 to 1000; got 2000"),
        ({"coef0": np.inf}, r"`coef0` of SV[CR] must be a finite number; got inf"),
        ({"tol": 0}, r"`tol` of SV[CR] must be a number above 0; got 0\. Use 1e-3"),
        ({"cache_size": 0}, r"`cache_size` of SV[CR] must be a number above 0; got 0"),
        ({"cache_size": 1e-5}, r"`cache_size` of SV[CR] is 1e-05 MB, and one row .* 0\.000153 MB \(40 rows"),
        ({"kernel": "rfb"}, r"`kernel` of SV[CR] must be.*got 'rfb'\. Did you mean 'rbf'\?"),
        ({"kernel": 3}, r"`kernel` of SV[CR] must be.*weald\.kernels or a function f\(X, Z\); got 3"),
        ({"max_iter": -2}, r"`max_iter` of SV[CR] must be a whole number of at least -1; got -2"),
        ({"max_time": 0}, r"`max_time` of SV[CR] must be None or a number above 0; got 0"),
        ({"solver": "exakt"}, r"`solver` of SV[CR] must be.*Did you mean 'exact'\?"),
        ({"n_landmarks": 0}, r"`n_landmarks` of SV[CR] must be None or a whole number of at least 1; got 0"),
        ({"scale": "yes"}, r"`scale` of SV[CR] must be True or False; got 'yes'"),
        ({"shrinking": 1}, r"`shrinking` of SV[CR] must be True or False; got 1"),
        ({"n_jobs": 0}, r"`n_jobs` of SV[CR] must be None or a whole number other than 0; got 0"),
        ({"unknown": "drop"}, r"`unknown` of SV[CR] must be 'missing' or 'error'; got 'drop'"),
    ],
)
def test_parameters_out_of_range(kind, params, message):
    with pytest.raises(ParameterError, match=message):
        kind(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"probability": "platt"}, r"`probability` of SVC must be True or False or 'sigmoid' or 'isotonic'"),
        ({"class_weight": "balance"}, r"`class_weight` of SVC.*Did you mean 'balanced'\?"),
        ({"class_weight": {7: 2.0}}, r"`class_weight` of SVC names 7, but the labels are 0, 1"),
        ({"class_weight": {0: 0.0}}, r"`class_weight` of SVC gives the label 0 the weight 0"),
        ({"class_weight": {0: -1.0}}, r"`class_weight` of SVC must hold finite numbers of at least 0; got"),
        ({"decision_function_shape": "ova"}, r"`decision_function_shape` of SVC must be 'ovr' or 'ovo'"),
        ({"multi_class": "ovr", "decision_function_shape": "ovo"}, r"'ovo' of SVC asks for a value per pair"),
        ({"multi_class": "crammer"}, r"`multi_class` of SVC must be 'ovo' or 'ovr'; got 'crammer'"),
    ],
)
def test_parameters_of_svc_out_of_range(params, message):
    with pytest.raises(ParameterError, match=message):
        SVC(**params).fit(X, Y)


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf, "small"])
def test_the_tube_of_svr_has_a_width(epsilon):
    with pytest.raises(ParameterError, match=r"`epsilon` of SVR must be a number of at least 0; got"):
        SVR(epsilon=epsilon).fit(X, Y)


def test_unknown_parameters_name_the_nearest():
    with pytest.raises(ParameterError, match=r"`gama` is no parameter of SVC; did you mean `gamma`\?"):
        SVC().set_params(gama=1)
    with pytest.raises(TypeError):
        SVC(gama=1)


# --------------------------------------------------------------------------- kernels


def test_a_kernel_that_returns_nan_is_named():
    def broken(A, B):
        return np.full((A.shape[0], B.shape[0]), np.nan)

    with pytest.raises(DataError, match=r"The kernel broken returned nan for a pair of rows"):
        SVC(kernel=broken).fit(X, Y)


def test_a_kernel_of_the_wrong_shape_is_named():
    def elementwise(A, B):
        return A

    with pytest.raises(DataError, match=r"The kernel elementwise returned an array of shape \(\d+, 3\)"):
        SVC(kernel=elementwise).fit(X, Y)


def test_a_kernel_that_returns_no_numbers_is_named():
    def words(A, B):
        return "like"

    with pytest.raises(DataTypeError, match="The kernel words must be an array of real numbers; got str"):
        SVC(kernel=words).fit(X, Y)


def test_a_kernel_that_fails_later_is_named_at_predict():
    state = {"broken": False}

    def kernel(A, B):
        return A @ B.T if not state["broken"] else np.inf * (A @ B.T)

    model = SVC(kernel=kernel).fit(X, Y)
    state["broken"] = True
    with pytest.raises(DataError, match=r"The kernel kernel returned (inf|-inf|nan)"):
        model.predict(X)


def test_a_precomputed_matrix_must_be_square():
    with pytest.raises(DataError, match=r"must be a square matrix\. Input is a 40x3 matrix\. SVC with"):
        SVC(kernel="precomputed").fit(X, Y)
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(DataError, match="X has 3 features, but SVC is expecting 40 features"):
        model.predict(X)


def test_a_precomputed_matrix_must_be_symmetric():
    K = X @ X.T
    K[3, 5] += 1e-12
    SVC(kernel="precomputed").fit(K, Y)
    K[3, 5] += 1.0
    with pytest.raises(DataError, match=r"not symmetric: row 3, column 5 holds .*, and row 5, column 3"):
        SVC(kernel="precomputed").fit(K, Y)


def test_a_precomputed_matrix_holds_numbers():
    K = X @ X.T
    K[3, 5] = np.nan
    with pytest.raises(DataError, match=r"contains NaN: row 3, column 5 of the precomputed kernel matrix"):
        SVC(kernel="precomputed").fit(K, Y)
    frame = pd.DataFrame(X @ X.T).astype({0: str})
    frame.columns = [str(name) for name in frame.columns]
    with pytest.raises(DataError, match="Column '0' of a precomputed kernel matrix holds categories"):
        SVC(kernel="precomputed").fit(frame, Y)


@pytest.mark.parametrize("kernel", ["chi2", "intersection"])
def test_kernels_of_counts_refuse_negative_values(kernel):
    table = pd.DataFrame(np.abs(X), columns=["a", "b", "c"])
    model = SVC(kernel=kernel).fit(table, Y)
    table.loc[7, "b"] = -0.5
    for action in (lambda: SVC(kernel=kernel).fit(table, Y), lambda: model.predict(table)):
        with pytest.raises(DataError, match=r"Column 'b' holds -0\.5 in row 7, and .* no negative values"):
            action()
    with pytest.raises(DataError, match=r"Column 1 holds -0\.5 in row 7"):
        SVC(kernel=kernel).fit(sparse.csr_matrix(table.to_numpy()), Y)


def test_a_kernel_beyond_float64_is_refused():
    with pytest.raises(DataError, match="float64"):
        SVC(kernel="poly", degree=60, gamma=1.0).fit(X * 1e6, Y)


def test_texts_and_numbers_are_told_apart():
    with pytest.raises(DataTypeError, match="this kernel compares texts"):
        SVC(kernel="spectrum").fit(X, Y)
    with pytest.raises(DataError, match=r"No text is as long as 3 characters.*Use a lower length: `degree`"):
        SVC(kernel="spectrum").fit(["ab", "cd"], [0, 1])
    with pytest.raises(DataTypeError, match="A list of texts is expected; got one text"):
        SVC(kernel="spectrum", degree=2).fit(["ab", "cd"], [0, 1]).predict("ab")


# --------------------------------------------------------------------------- tables and targets


def test_one_class_is_not_enough():
    with pytest.raises(DataError, match=r"got 1 class: SVC draws a boundary .* y has only 'a'"):
        SVC().fit(X, ["a"] * 40)
    with pytest.raises(DataError, match=r"y has only 1 among the rows of positive sample_weight"):
        SVC().fit(X, Y, sample_weight=Y)


def test_infinite_values_name_their_column():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.loc[4, "c"] = np.inf
    for kind in (SVC, SVR):
        with pytest.raises(DataError, match=r"Column 'c' contains inf: row 4 holds inf"):
            kind().fit(table, Y)
    model = SVC().fit(X, Y)
    with pytest.raises(DataError, match=r"Column 2 contains inf"):
        model.predict(table.to_numpy())


def test_targets_are_checked():
    with pytest.raises(DataError, match="y has 2 columns, and SVC takes one"):
        SVC().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(DataError, match="y has 2 columns, and SVR takes one"):
        SVR().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        SVC().fit(X, X[:, 0])
    with pytest.raises(DataError, match="y must be numbers"):
        SVR().fit(X, ["a"] * 40)


def test_weights_that_overflow_are_refused():
    with pytest.raises(DataError, match=r"`C`=1e\+10 of SVC times the weights is beyond float64"):
        SVC(C=1e10).fit(X, Y, sample_weight=np.full(40, 1e300))


def test_labels_of_margins_must_be_known():
    model = SVC().fit(X, Y)
    with pytest.raises(DataError, match=r"y holds the label 5, which was not there .* it knows 0, 1"):
        model.slack(X[:2], [0, 5])


def test_constant_columns_change_nothing():
    wide = np.column_stack([X, np.full(40, 3.0)])
    for scale in (False, True):
        gamma = SVC(scale=scale).fit(X, Y)._gamma
        one = SVC(scale=scale, gamma=gamma).fit(X, Y).decision_function(X)
        other = SVC(scale=scale, gamma=gamma).fit(wide, Y).decision_function(wide)
        assert other == pytest.approx(one, abs=1e-6)
    nothing = SVC().fit(np.ones((40, 2)), np.where(np.arange(40) < 30, "many", "few"))
    assert nothing.predict([[1.0, 1.0]]) == ["many"]


def test_columns_of_a_billion_are_solved_in_float64():
    """Rows that differ in the tenth digit: float32 would not tell them apart."""
    far = X + 1e9
    for kind, y in ((SVC, Y), (SVR, X[:, 0])):
        near_by, far_off = kind(gamma=0.3).fit(X, y), kind(gamma=0.3).fit(far, y)
        ask = "decision_function" if kind is SVC else "predict"
        assert getattr(far_off, ask)(far) == pytest.approx(getattr(near_by, ask)(X), abs=5e-3)
    wide = X * 1e9
    unit, large = SVC().fit(X, Y), SVC().fit(wide, Y)
    assert np.array_equal(large.predict(wide), unit.predict(X))
    one_column = X.copy()
    one_column[:, 0] *= 1e9
    scaled, plain = SVC(scale=True).fit(one_column, Y), SVC(scale=True).fit(X, Y)
    assert np.array_equal(scaled.predict(one_column), plain.predict(X))


# --------------------------------------------------------------------------- not converged


def test_stopping_at_max_iter_warns_with_the_gap_and_leaves_a_model():
    rows, y = blobs(200, spread=3.0)
    with pytest.warns(
        ConvergenceWarning,
        match=r"SVC did not converge within max_iter=40: the KKT gap is \d.*, above tol=.* after 40 updates",
    ):
        model = SVC(max_iter=40).fit(rows, y)
    assert model.fit_status_ == 1
    assert model.n_iter_.tolist() == [40]
    assert model.kkt_gap_ > 1e-3
    assert (model.predict(rows) == y).mean() > 0.5
    assert model.duality_gap_ > 0


def test_the_warning_names_the_worst_of_several_machines():
    rows, y = blobs(200, 3, spread=3.0)
    with pytest.warns(ConvergenceWarning, match=r"\(3 of 3 machines; the worst: the labels \d and \d\)"):
        SVC(max_iter=5).fit(rows, y)


def test_a_tolerance_below_rounding_ends_and_warns():
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 3))
    with pytest.warns(ConvergenceWarning, match=r"to `tol`, which the rounding .* Raise `tol`"):
        model = SVC(tol=1e-16, C=10.0).fit(rows, rows[:, 0] + random.normal(size=200) > 0)
    assert model.kkt_gap_ < 1e-12


def test_stopping_at_max_time_warns_and_leaves_a_model():
    rows, y = waves(3000, 5)
    with pytest.warns(ConvergenceWarning, match=r"SVR did not converge within max_time=0\.01"):
        model = SVR(max_time=0.01, C=1e6, epsilon=0, tol=1e-9).fit(rows, y)
    assert np.isfinite(model.predict(rows)).all()


def test_a_fit_that_converges_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC().fit(X, Y).fit_status_ == 0


# --------------------------------------------------------------------------- what the log says


def test_columns_of_different_spread_are_hinted_at(caplog):
    """A warning where a kernel compares rows by all columns, one per fit; a line in the log elsewhere."""
    wide = X * [1.0, 1000.0, 1.0]
    for kernel in ("rbf", "poly", "laplacian"):
        with pytest.warns(ScaleWarning, match="SVC: Column 1 .* scale=True") as found:
            SVC(kernel=kernel, max_iter=10**6).fit(wide, Y)
        assert len([each for each in found if each.category is ScaleWarning]) == 1
        assert found[0].filename == __file__
    with caplog.at_level(logging.INFO, logger="weald.svm"):
        SVC(kernel="linear").fit(wide, Y)  # no warning, which would be an error here
        assert any("Column 1" in text and "scale=True" in text for text in caplog.messages)
        assert any("solver='exact'" in text for text in caplog.messages)
        caplog.clear()
        SVC(scale=True).fit(wide, Y)
        SVC().fit(X, Y)
        assert not any("scale=True" in text for text in caplog.messages)


def test_progress_is_shown_when_asked_for(capsys):
    SVC().fit(X, Y)
    assert capsys.readouterr() == ("", "")
    SVC(verbose=1, probability=True).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "machine 6 of 6" in err
    assert "gap" in err
