"""Variances, quantiles and intervals as users ask for them: shapes, refusals, warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import weald
from weald import RandomForestClassifier, RandomForestRegressor
from weald.errors import DataError, DataTypeError, ParameterError


def data(n_rows: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + rng.normal(0, 0.5, n_rows)


@pytest.fixture(scope="module")
def fitted() -> tuple[RandomForestRegressor, np.ndarray, np.ndarray]:
    X, y = data()
    return RandomForestRegressor(60, random_state=0).fit(X, y), X, y


def test_shapes_of_variances():
    X, y = data()
    both = np.column_stack([y, X[:, 1]])
    labels = np.column_stack([np.digitize(y, [-0.5, 0.5]), y > 0])
    forest = {"n_estimators": 2000, "min_samples_leaf": 5, "random_state": 0}
    assert RandomForestRegressor(**forest).fit(X, y).predict_variance(X[:4]).shape == (4,)
    assert RandomForestRegressor(**forest).fit(X, both).predict_variance(X[:4]).shape == (4, 2)
    one = RandomForestClassifier(**forest).fit(X, labels[:, 0])
    assert one.predict_variance(X[:4]).shape == (4, 3)
    several = RandomForestClassifier(**forest).fit(X, labels).predict_variance(X[:4])
    assert [each.shape for each in several] == [(4, 3), (4, 2)]
    # The shares of two classes add up to 1, so they vary alike.
    np.testing.assert_allclose(several[1][:, 0], several[1][:, 1], rtol=1e-9)


def test_variances_below_zero_become_zero_with_a_warning():
    X, y = data()
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match=r"came out below 0.*n_estimators"):
        found = model.predict_variance(X)
    assert (found >= 0).all()
    assert (found == 0).any()
    assert (found > 0).any()


def test_rows_that_every_tree_saw_are_named(fitted):
    X, y = data()
    model = RandomForestRegressor(2, random_state=0).fit(X, y)
    seen = [row for row in range(50) if all(model.bags_.counts(t)[row] for t in range(2))]
    assert len(seen) > 5
    words = rf"Every tree saw {len(seen)} of the 50 training rows \({seen[0]}, {seen[1]}, .*n_estimators"
    with pytest.warns(UserWarning, match=words):
        ends = model.predict_interval(X, train=(X, y), coverage=0.5)
    assert np.isfinite(ends).all()
    with pytest.warns(UserWarning, match=words) as caught:
        model.predict_variance(X, method="jackknife")
    assert caught[0].filename == __file__


def test_no_row_left_out_at_all():
    model = RandomForestRegressor(5, random_state=0).fit([[1.0]], [2.0])
    with pytest.raises(DataError, match="Every tree saw every one of the 1 rows"):
        model.predict_interval([[1.0]], train=([[1.0]], [2.0]))


def test_too_few_rows_for_the_coverage_give_infinite_ends(fitted):
    model, X, y = fitted
    with pytest.warns(UserWarning, match=r"coverage 0.99 need at least 99 rows.*there are 50"):
        ends = model.predict_interval(X[:3], train=(X, y), coverage=0.99)
    np.testing.assert_array_equal(ends, [[-np.inf, np.inf]] * 3)
    with warnings.catch_warnings():  # 49 = .98 / .02 are just enough
        warnings.simplefilter("error")
        assert np.isfinite(model.predict_interval(X[:3], train=(X, y), coverage=0.98, max_rows=49)).all()


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, np.nan, "0.9", True, None])
def test_coverage_must_be_between_0_and_1(fitted, coverage):
    model, X, y = fitted
    with pytest.raises(
        ParameterError, match="`coverage` of predict_interval must be a number between 0 and 1"
    ):
        model.predict_interval(X, train=(X, y), coverage=coverage)


@pytest.mark.parametrize("max_rows", [0, -1, 2.5, "all", True])
def test_max_rows_must_be_a_whole_number(fitted, max_rows):
    model, X, y = fitted
    with pytest.raises(ParameterError, match="`max_rows` of predict_interval must be a whole number"):
        model.predict_interval(X, train=(X, y), max_rows=max_rows)


@pytest.mark.parametrize("quantiles", [-0.1, 1.1, [0.5, 2], [], [[0.5]], np.nan])
def test_quantiles_must_be_from_0_to_1(fitted, quantiles):
    model, X, y = fitted
    with pytest.raises(ParameterError, match="`quantiles` must be a number from 0 to 1"):
        model.predict_quantiles(X, quantiles, train=(X, y))


def test_quantiles_must_be_numbers(fitted):
    model, X, y = fitted
    with pytest.raises(DataTypeError, match="`quantiles` must be numbers"):
        model.predict_quantiles(X, ["median"], train=(X, y))


def test_unknown_method(fitted):
    model, X, _ = fitted
    with pytest.raises(ParameterError, match="'infinitesimal' or 'jackknife'; got 'bootstrap'"):
        model.predict_variance(X, method="bootstrap")


def test_without_bags():
    X, y = data()
    model = RandomForestRegressor(5, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(
        ParameterError, match="predict_variance of RandomForestRegressor needs bootstrap=True"
    ):
        model.predict_variance(X)
    with pytest.raises(
        ParameterError, match="predict_interval of RandomForestRegressor needs bootstrap=True"
    ):
        model.predict_interval(X, train=(X, y))
    assert model.predict_quantiles(X, [0.5], train=(X, y)).shape == (50, 1)


def test_one_tree_has_no_variance():
    X, y = data()
    with pytest.raises(ParameterError, match="two trees or more"):
        RandomForestRegressor(1, random_state=0).fit(X, y).predict_variance(X)


def test_labels_have_no_intervals():
    X, y = data()
    model = RandomForestClassifier(5, random_state=0).fit(X, y > 0)
    with pytest.raises(ParameterError, match=r"RandomForestClassifier predicts labels. Use predict_variance"):
        model.predict_interval(X, train=(X, y > 0))
    with pytest.raises(ParameterError, match=r"RandomForestClassifier predicts labels. Use predict_proba"):
        model.predict_quantiles(X, 0.5, train=(X, y > 0))


METHODS = {
    "predict_quantiles": lambda model, X, train, **more: model.predict_quantiles(X, 0.5, train=train, **more),
    "predict_interval": lambda model, X, train, **more: model.predict_interval(X, train=train, **more),
}


@pytest.mark.parametrize("method", METHODS)
def test_another_training_table_is_refused(fitted, method):
    model, X, y = fitted
    ask = METHODS[method]
    with pytest.raises(DataError, match=f"`train` of {method} has 49 rows, and the forest was fitted on 50"):
        ask(model, X, (X[1:], y[1:]))
    with pytest.raises(DataError, match="inconsistent numbers"):
        ask(model, X, (X, y[1:]))
    with pytest.raises(DataError, match="not the table that this forest was fitted on"):
        ask(model, X, (X[::-1], y[::-1]))
    with pytest.raises(DataError, match="has 2 columns, and that of the fit had 1"):
        ask(model, X, (X, np.column_stack([y, y])))
    for train in (X, None, (X, y, y)):
        with pytest.raises(DataTypeError, match=r"must be the pair \(X_train, y_train\)"):
            ask(model, X, train)


def test_forgotten_weights_are_noticed():
    X, y = data()
    weight = np.where(np.arange(50) < 10, 0.0, 1.0)
    model = RandomForestRegressor(60, random_state=0).fit(X, y, sample_weight=weight)
    for method in METHODS.values():
        with pytest.raises(
            DataError, match=r"40 draws .* leaves 50 such rows. Give the sample_weight of `fit`"
        ):
            method(model, X, (X, y))
    with pytest.raises(DataError, match="Give the sample_weight of `fit`"):
        model.predict_variance(X)
    with pytest.raises(DataError, match="sample_weight has 3 values for 50 rows"):
        model.predict_variance(X, sample_weight=[1.0, 1.0, 1.0])


def test_not_fitted():
    X, y = data()
    model = RandomForestRegressor()
    for method in METHODS.values():
        with pytest.raises(NotFittedError):
            method(model, X, (X, y))
    with pytest.raises(NotFittedError):
        model.predict_variance(X)


def test_a_loaded_forest_and_one_of_more_threads_say_the_same(fitted, tmp_path):
    model, X, y = fitted
    model.save(tmp_path / "forest.weald")
    loaded = weald.load(tmp_path / "forest.weald")
    threads = RandomForestRegressor(60, random_state=0, n_jobs=2).fit(X, y)
    for other in (loaded, threads):
        for method in METHODS.values():
            np.testing.assert_array_equal(method(other, X, (X, y)), method(model, X, (X, y)))
        with pytest.warns(UserWarning, match="below 0"):
            mine, theirs = (each.predict_variance(X) for each in (model, other))
        np.testing.assert_array_equal(mine, theirs)


def test_trees_added_later_have_bags_of_their_own():
    X, y = data()
    model = RandomForestRegressor(30, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=60).fit(X, y)
    whole = RandomForestRegressor(60, random_state=0).fit(X, y)
    for method in METHODS.values():
        np.testing.assert_array_equal(method(model, X, (X, y)), method(whole, X, (X, y)))
