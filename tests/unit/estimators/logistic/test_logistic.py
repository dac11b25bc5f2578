"""`LogisticRegression` finds the optimum of every penalty, tells how near it is, and reads any table."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import weald
from tests.reference.logistic import gradient, objective
from weald import LogisticRegression
from weald.data.matrix.matrix import Matrix
from weald.engine.logistic import solve_logistic
from weald.errors import DataError, ParameterError

PENALTIES = [(1.0, 0.0), (0.01, 0.0), (100.0, 0.0), (1.0, 1.0), (0.05, 1.0), (1.0, 0.4), (np.inf, 0.0)]


def made(n_rows, n_columns, n_classes, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_columns))
    noise = 1.5 * random.gumbel(size=(n_rows, n_classes))
    return X, np.argmax(X @ random.standard_normal((n_columns, n_classes)) + noise, axis=1)


@pytest.mark.parametrize(("C", "l1_ratio"), PENALTIES)
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_gradient_vanishes(n_classes, C, l1_ratio, as_sparse):
    X, y = made(300, 5, n_classes)
    X = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)) if as_sparse else X
    weight = np.random.default_rng(1).random(300) + 0.1
    model = LogisticRegression(C=C, l1_ratio=l1_ratio, tol=1e-8).fit(X, y, weight)
    given = {"C": C, "l1_ratio": l1_ratio, "weight": weight}
    found = gradient(X, y, model.coef_, model.intercept_, **given)
    assert found <= 1.01e-8
    assert model.gradient_norm_ == pytest.approx(found, rel=1e-3, abs=1e-12)
    assert model.objective_ == pytest.approx(
        objective(X, y, model.coef_, model.intercept_, **given), rel=1e-12
    )
    assert np.isnan(model.duality_gap_) if np.isinf(C) else 0 <= model.duality_gap_ <= 1e-5 * model.objective_


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0, 0.3])
def test_the_gap_bounds_the_distance(l1_ratio):
    X, y = made(400, 6, 3)
    best = LogisticRegression(l1_ratio=l1_ratio, tol=1e-8).fit(X, y)
    for max_iter in (1, 2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            rough = LogisticRegression(l1_ratio=l1_ratio, tol=1e-10, max_iter=max_iter).fit(X, y)
        assert rough.objective_ - best.objective_ <= rough.duality_gap_ * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_rows", [900, 30_000])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_same_bits_for_any_number_of_threads(n_classes, n_rows, l1_ratio):
    X, y = made(n_rows, 4, n_classes)
    fits = [LogisticRegression(l1_ratio=l1_ratio, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 5)]
    assert len({fit.coef_.tobytes() + fit.intercept_.tobytes() for fit in fits}) == 1
    assert len({fit.predict_proba(X).tobytes() for fit in fits}) == 1


@pytest.mark.parametrize("n_lines", [1, 3, 5])
@pytest.mark.parametrize(("ridge", "lasso"), [(0.0, 1.0), (0.6, 0.4)])
def test_both_solvers_of_absolute_values_agree(n_lines, ridge, lasso):
    X, y = made(500, 6, max(n_lines, 2))
    found = [
        solve_logistic(
            Matrix(X), y[None], np.ones(500), None, n_lines=n_lines, bias=1.0, free_intercept=True,
            ridge=ridge, lasso=lasso, tol=1e-7, max_iter=1000, n_threads=2, solver=solver,
        )[0]
        for solver in ("proximal", "coordinates")
    ]  # fmt: skip
    assert all(each["converged"] for each in found)
    np.testing.assert_allclose(found[0]["objective"], found[1]["objective"], rtol=1e-8)
    np.testing.assert_allclose(found[0]["weight"][:, :-1], found[1]["weight"][:, :-1], atol=2e-3)


def test_many_columns_take_other_ways():
    """Wide dense, wide sparse and a wide table of several classes: diagonals, columns, lines apart."""
    random = np.random.default_rng(2)
    for n_columns, n_classes, as_sparse in (
        (1100, 2, False),
        (2500, 2, True),
        (150, 4, False),
        (900, 3, True),
    ):
        X = random.standard_normal((250, n_columns)) * (random.random((250, n_columns)) < 0.1)
        y = random.integers(0, n_classes, 250)
        X = sparse.csr_array(X) if as_sparse else X
        for l1_ratio in (0.0, 1.0):
            model = LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-6, max_iter=1000).fit(X, y)
            found = gradient(X, y, model.coef_, model.intercept_, C=0.5, l1_ratio=l1_ratio)
            assert found <= 1.01e-6
            assert l1_ratio == 0 or (model.coef_ == 0).mean() > 0.5


def test_a_sample_of_rows_leads_to_the_same_optimum():
    X, y = made(40_000, 3, 3)
    X[::9] *= 30  # rows that a sample of every fourth may miss
    model = LogisticRegression(tol=1e-7).fit(X, y)
    assert gradient(X, y, model.coef_, model.intercept_) <= 1.01e-7


# --------------------------------------------------------------------------- parameters


def test_old_and_new_words_for_penalties():
    X, y = made(200, 4, 2)

    def coef(**options):
        return LogisticRegression(**options).fit(X, y).coef_.tobytes()

    assert coef(penalty="l2") == coef() == coef(penalty="deprecated") == coef(penalty="l2", l1_ratio=None)
    assert coef(penalty="l1") == coef(l1_ratio=1.0) != coef()
    assert coef(penalty="elasticnet", l1_ratio=0.5) == coef(l1_ratio=0.5)
    assert coef(penalty=None) == coef(C=np.inf)
    with pytest.raises(ParameterError, match=r"contradicts `l1_ratio`=0\.5"):
        coef(penalty="l1", l1_ratio=0.5)
    with pytest.raises(ParameterError, match="needs `l1_ratio`"):
        coef(penalty="elasticnet", l1_ratio=None)
    with pytest.raises(ParameterError, match="`C` of LogisticRegression must be a number above 0, or inf"):
        coef(C=0.0)
    with pytest.raises(ParameterError, match=r"`solver`.*'newton-cholesky'"):
        coef(solver="newton")


def test_the_penalised_intercept_of_liblinear():
    X, y = made(300, 4, 2)
    X = X + 2.0
    model = LogisticRegression(solver="liblinear", C=0.1, tol=1e-8).fit(X, y)
    free = LogisticRegression(C=0.1, tol=1e-8).fit(X, y)
    assert model.objective_ == pytest.approx(
        objective(X, y, model.coef_, model.intercept_, C=0.1, intercept_seen=True), rel=1e-12
    )
    assert abs(model.intercept_[0]) < abs(free.intercept_[0])
    far = LogisticRegression(solver="liblinear", intercept_scaling=1e4, C=0.1, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(far.intercept_, free.intercept_, rtol=1e-3)
    assert LogisticRegression(fit_intercept=False).fit(X, y).intercept_.tolist() == [0.0]


def test_one_against_the_rest_is_a_model_per_class():
    X, y = made(300, 4, 3)
    model = LogisticRegression(multi_class="ovr").fit(X, y)
    for k in range(3):
        alone = LogisticRegression().fit(X, y == k)
        assert model.coef_[k].tobytes() == alone.coef_[0].tobytes()
    shares = np.column_stack([LogisticRegression().fit(X, y == k).predict_proba(X)[:, 1] for k in range(3)])
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.n_iter_.shape == model.gradient_norm_.shape == (3,)
    assert LogisticRegression(solver="liblinear").fit(X, y).n_iter_.shape == (3,)


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = made(2000, 6, 3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_.tolist() == [0]
    assert model.coef_.tobytes() == before.tobytes()
    model.fit(X[:, :4], y)  # other columns: from the start again
    assert model.coef_.tobytes() == LogisticRegression().fit(X[:, :4], y).coef_.tobytes()


def test_class_weight_is_a_weight_of_rows():
    X, y = made(300, 4, 2)
    weight = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    total = np.bincount(y, weight)
    by_hand = weight * (total.sum() / (2 * total))[y]
    balanced = LogisticRegression(class_weight="balanced", tol=1e-9).fit(X, y, weight)
    np.testing.assert_allclose(
        balanced.coef_, LogisticRegression(tol=1e-9).fit(X, y, by_hand).coef_, rtol=1e-6
    )
    named = LogisticRegression(class_weight={0: 2.0}, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        named.coef_, LogisticRegression(tol=1e-9).fit(X, y, np.where(y == 0, 2.0, 1.0)).coef_, rtol=1e-6
    )


# --------------------------------------------------------------------------- what it tells


def test_odds_ratios_by_name_and_unit():
    colour = np.array(["red", "blue"])[np.arange(200) % 2]
    years = np.linspace(20, 70, 200)
    random = np.random.default_rng(3)
    y = random.random(200) < 1 / (1 + np.exp(-0.1 * (years - 45) - (colour == "red")))
    table = {"years": years, "colour": colour}
    model = LogisticRegression(C=np.inf, scale=True, categorical_features=["colour"], fit_intercept=False)
    model.fit(table, y)
    assert model.column_names_ == ("years", "colour=blue", "colour=red")
    np.testing.assert_array_equal(model.odds_ratios_, np.exp(model.coef_))
    unit = model.odds_ratios_per_unit_[0, 0]
    assert 1.05 < unit < 1.2
    assert model.odds_ratios_[0, 0] == pytest.approx(unit ** years.std())
    plain = LogisticRegression(C=1e8, tol=1e-9).fit(years[:, None], y)
    scaled = LogisticRegression(C=1e8, tol=1e-9, scale=True).fit(years[:, None], y)
    np.testing.assert_allclose(scaled.coef_per_unit_, plain.coef_, rtol=1e-5)
    np.testing.assert_allclose(scaled.intercept_per_unit_, plain.intercept_, rtol=1e-5)


def test_probabilities_add_up():
    X, y = made(100, 3, 4)
    model = LogisticRegression().fit(X, np.array(["a", "b", "c", "d"])[y])
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares, rtol=1e-14)
    assert model.decision_function(X).shape == (100, 4)
    two = LogisticRegression().fit(X, y > 1)
    assert two.decision_function(X).shape == (100,)
    assert two.predict_proba([[800.0, 0, 0]]).min() >= 0


# --------------------------------------------------------------------------- extreme inputs


def test_separable_without_a_penalty_says_so():
    X = np.array([[0.0, 1], [1, 0], [2, 1], [10, 0], [11, 1], [12, 0]])
    with pytest.warns(ConvergenceWarning, match=r"told apart so well.*Use a penalty \(C=1.0"):
        model = LogisticRegression(C=np.inf).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 0, 1, 1, 1]
    assert np.isfinite(model.coef_).all()
    quasi = np.array([[0.0], [0], [1], [1], [1], [0]])  # a level that occurs with one label alone
    with pytest.warns(ConvergenceWarning, match="told apart so well"):
        LogisticRegression(C=np.inf).fit(quasi, [0, 1, 1, 1, 1, 0])
    with pytest.warns(ConvergenceWarning, match="told apart so well"):
        LogisticRegression(C=np.inf).fit(np.arange(9.0)[:, None], np.arange(9) // 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
        many, labels = made(500, 4, 3)
        LogisticRegression(C=np.inf).fit(many, labels)


def test_columns_that_tell_nothing():
    X, y = made(200, 3, 2)
    odd = np.column_stack([X, np.full(200, 7.0), np.full(200, np.nan)])
    model = LogisticRegression(tol=1e-8).fit(odd, y)
    np.testing.assert_allclose(model.coef_[0, :3], LogisticRegression(tol=1e-8).fit(X, y).coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.coef_[0, 3:], 0.0, atol=1e-6)
    for C in (1.0, np.inf):
        alike = LogisticRegression(C=C, tol=1e-6).fit(np.column_stack([X, X[:, 0], np.ones(200)]), y)
        assert np.isfinite(alike.coef_).all()
    assert np.isfinite(model.predict_proba([[np.nan] * 5])).all()


@pytest.mark.parametrize("size", [1e-150, 1e-8, 1e8, 1e100])
def test_huge_and_tiny_values_stay_finite(size):
    X, y = made(100, 3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression().fit(X * size, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X * size)).all()
    scaled = LogisticRegression(scale=True).fit(X * size, y)
    np.testing.assert_allclose(scaled.coef_, LogisticRegression(scale=True).fit(X, y).coef_, rtol=1e-6)


def test_rows_of_weight_0_count_as_absent():
    X, y = made(300, 4, 3)
    weight = np.ones(300)
    weight[::3] = 0
    with_zeros, without = (
        LogisticRegression().fit(X, y, weight),
        LogisticRegression().fit(X[weight > 0], y[weight > 0]),
    )
    np.testing.assert_allclose(with_zeros.coef_, without.coef_, rtol=1e-9)


def test_bad_input_is_refused():
    X, y = made(50, 3, 2)
    with pytest.raises(DataError, match="only 1"):
        LogisticRegression().fit(X, np.ones(50, int))
    with pytest.raises(DataError, match="same class"):
        LogisticRegression().fit(X, y, y.astype(float))
    with pytest.raises(DataError, match="beyond float64"):
        LogisticRegression(C=1e300).fit(X, y, np.full(50, 1e300))
    with pytest.raises(DataError, match=r"inf: row 3"):
        LogisticRegression().fit(np.where(np.arange(150).reshape(50, 3) == 10, np.inf, X), y)
    with pytest.raises(ParameterError, match="did you mean `max_iter`"):
        LogisticRegression().set_params(max_iters=3)
    with pytest.warns(ConvergenceWarning, match=r"did not converge within max_iter=1.*Raise the limit"):
        LogisticRegression(max_iter=1, tol=1e-12).fit(X, y)


# --------------------------------------------------------------------------- tables and files


def test_every_library_gives_the_same_model():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X, y = made(120, 3, 3)
    X[::7, 1] = np.nan
    names = ["a", "b", "c"]
    frames = [
        pandas.DataFrame(X, columns=names),
        polars.DataFrame(X, schema=names),
        pyarrow.table({name: X[:, j] for j, name in enumerate(names)}),
        X,
        X.tolist(),
    ]
    fits = [LogisticRegression().fit(frame, y) for frame in frames]
    assert len({fit.coef_.tobytes() for fit in fits}) == 1
    assert len({fit.predict_proba(frame).tobytes() for fit, frame in zip(fits, frames, strict=True)}) == 1


@pytest.mark.parametrize(
    "options", [{}, {"C": np.inf}, {"l1_ratio": 1.0, "scale": True}, {"multi_class": "ovr"}]
)
def test_save_and_load(tmp_path, options):
    X, y = made(150, 4, 3)
    table = {"a": X[:, 0], "b": X[:, 1], "kind": np.array(["x", "y", "z"])[np.arange(150) % 3]}
    model = LogisticRegression(**options).fit(table, np.array(["p", "q", "r"])[y])
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert loaded.predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
    assert loaded.n_iter_.tolist() == model.n_iter_.tolist()
    np.testing.assert_array_equal(loaded.duality_gap_, model.duality_gap_)
    np.testing.assert_array_equal(loaded.gradient_norm_, model.gradient_norm_)
    loaded.save(tmp_path / "again.weald")
    assert (tmp_path / "again.weald").read_bytes() == (tmp_path / "m.weald").read_bytes()


def test_verbose_shows_progress_and_changes_nothing(capsys):
    X, y = made(300, 3, 2)
    quiet, loud = LogisticRegression().fit(X, y), LogisticRegression(verbose=1).fit(X, y)
    assert loud.coef_.tobytes() == quiet.coef_.tobytes()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("solver", ["lbfgs", "liblinear"])
def test_wide_counts_of_two_classes_have_an_objective_as_low_as_liblinear(C, solver):
    """Words that come together, some in nearly every row: weights one by one are slow there."""
    from sklearn.linear_model import LogisticRegression as Other

    random = np.random.default_rng(3)
    topics = random.gamma(0.3, size=(6, 4000))
    mixture = random.dirichlet(np.full(6, 0.3), 300)
    X = sparse.csr_matrix(random.poisson(mixture @ topics * 0.3).astype(np.float64))
    y = (mixture[:, 0] + mixture[:, 1] + random.normal(0, 0.1, 300) > 0.4).astype(int)
    model = LogisticRegression(C=C, l1_ratio=1.0, solver=solver, tol=1e-5, max_iter=500).fit(X, y)
    other = Other(C=C, l1_ratio=1.0, solver="liblinear", tol=1e-7, max_iter=5000, random_state=0).fit(X, y)

    def objective(fitted):
        f = X @ fitted.coef_[0] + fitted.intercept_[0]
        size = np.abs(fitted.coef_).sum() + (np.abs(fitted.intercept_[0]) if solver == "liblinear" else 0.0)
        return C * np.logaddexp(0.0, np.where(y == 1, -f, f)).sum() + size

    assert objective(model) <= objective(other) * (1 + 1e-6)
    assert 0 < (model.coef_ != 0).sum() <= 300  # zeros are zeros to the bit
