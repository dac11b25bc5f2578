"""Records of partial dependence, and what is asked for wrongly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.dependence import CLASSIFIERS, LABELS, REGRESSORS, RNG, N, X, Y

import weald
from weald.errors import DataError, ParameterError


def test_bands_and_quantiles():
    model = REGRESSORS["forest"].fit(X, Y)
    found = weald.partial_dependence(model, X, "size", kind="both", grid=5)
    low, high = found.band(0.9)
    np.testing.assert_allclose(high - found.values, 1.6448536269514722 * found.standard_error)
    np.testing.assert_allclose(found.values - low, high - found.values)
    shares = found.quantiles(0.0, 0.5, 1.0)
    np.testing.assert_array_equal(shares[0], found.individual.min(axis=1))
    np.testing.assert_array_equal(shares[2], found.individual.max(axis=1))
    np.testing.assert_array_equal(
        shares[1], np.quantile(found.individual, 0.5, axis=1, method="inverted_cdf")
    )
    some = weald.partial_dependence(
        model, X, "size", kind="both", grid=5, sample_weight=np.repeat([1.0, 0.0], [50, N - 50])
    )
    np.testing.assert_array_equal(some.quantiles(0.0)[0], found.individual[:, :50].min(axis=1))
    assert found.average is found.values
    with pytest.raises(ParameterError, match="none were kept"):
        weald.partial_dependence(model, X, "size").quantiles()
    with pytest.raises(ParameterError, match="between 0 and 1"):
        found.band(95)


def test_frames_of_several_targets_and_of_pairs():
    model = CLASSIFIERS["tree"].fit(X, LABELS)
    frame = weald.partial_dependence(model, X, ("rooms", "city")).to_frame("dict")
    assert list(frame) == ["target", "rooms", "city", "value", "standard_error"]
    assert len(frame["value"]) == 3 * 6 * 5
    assert frame["city"][:5] == ["Basel", "Bern", "Chur", "Genf", None]
    with pytest.raises(ParameterError, match="polars"):
        weald.partial_dependence(model, X, "rooms").to_frame("polar")


@pytest.mark.filterwarnings("ignore:The variance")
def test_a_forest_tells_how_sure_it_is_of_a_curve():
    """Of one row the curve is its prediction, whose variance the forest tells too."""
    model = weald.RandomForestRegressor(300, min_samples_leaf=4, random_state=0).fit(X, Y)
    found = weald.partial_dependence(
        model, X[:1], ["noise", ("rooms", "noise")], grid=[0.3, 2.0], jackknife=True
    )
    for each in found:
        at = np.stack(np.meshgrid(*each.grid, indexing="ij"), axis=-1).reshape(-1, len(each.columns))
        rows = pd.concat([X[:1].assign(**dict(zip(each.columns, point, strict=True))) for point in at])
        variance = model.predict_variance(rows)
        np.testing.assert_allclose(each.model_error.ravel() ** 2, variance, rtol=1e-9, atol=1e-12)
        assert variance.max() > 0
    assert "model_error" in found[0].to_frame("dict")
    labels = weald.RandomForestClassifier(200, random_state=0).fit(X, LABELS)
    shares = weald.partial_dependence(labels, X, "rooms", jackknife=True, centred=True, target="low")
    assert shares.model_error[0, 0] == 0.0 < shares.model_error[0].max()
    with pytest.raises(ParameterError, match="random forests"):
        weald.partial_dependence(REGRESSORS["xgboost"].fit(X, Y), X, "noise", jackknife=True)
    with pytest.raises(ParameterError, match="bootstrap=True"):
        weald.partial_dependence(REGRESSORS["extra trees"].fit(X, Y), X, "noise", jackknife=True)


def test_one_row_has_no_standard_error():
    model = REGRESSORS["forest"].fit(X, Y)
    found = weald.partial_dependence(model, X[:1], "noise", grid=[0.0, 1.0])
    assert np.isnan(found.standard_error).all()
    assert np.isfinite(found.values).all()


def test_a_column_that_the_model_never_uses_is_flat():
    table = X.assign(same=1.0, other=RNG.normal(size=N))
    model = weald.DecisionTreeRegressor(max_depth=1).fit(table, X["rooms"])
    found = weald.partial_dependence(model, table, ["same", "other", ("same", "other")], kind="both", grid=4)
    for each in found:
        assert np.ptp(each.individual.reshape(N, -1), axis=1).max() == 0.0
        np.testing.assert_allclose(each.values, model.predict(table).mean())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "sise"}, "Did you mean 'size'"),
        ({"columns": 9}, "0 to 4"),
        ({"columns": []}, "empty"),
        ({"columns": ("size", "size")}, "twice"),
        ({"columns": ("size", "city", "rooms")}, "two columns"),
        ({"columns": "city", "grid": ["Bern", "Base"]}, "Did you mean 'Basel'"),
        ({"columns": "city", "grid": ["Rom"]}, "never seen"),
        ({"columns": "size", "grid": ["a"]}, "must hold numbers"),
        ({"columns": "size", "grid": [np.inf]}, "infinite"),
        ({"columns": "size", "grid": []}, "empty"),
        ({"columns": "size", "grid": 1}, "at least 2"),
        ({"columns": "size", "grid": "quantiles"}, "thresholds"),
        ({"columns": "size", "grid": {"sizes": [1.0]}}, "Did you mean 'size'"),
        ({"columns": "size", "kind": "both "}, "Did you mean 'both'"),
        ({"columns": "size", "response": "predict_prob"}, "Did you mean 'predict_proba'"),
        ({"columns": "size", "response": "decision_function"}, "has no decision_function"),
        ({"columns": "size", "target": 4}, "must be one of 0"),
        ({"columns": "size", "sample_weight": np.zeros(N)}, "weight"),
    ],
)
def test_what_is_asked_for_wrongly(options, words):
    model = REGRESSORS["tree"].fit(X, Y)
    with pytest.raises((DataError, ParameterError), match=words):
        weald.partial_dependence(model, X, **options)


def test_models_and_tables_that_do_not_do():
    model = CLASSIFIERS["tree"].fit(X, LABELS)
    with pytest.raises(DataError, match=r"0 sample"):
        weald.partial_dependence(model, X[:0], "size")
    with pytest.raises(DataError, match="feature names should match"):
        weald.partial_dependence(model, X.drop(columns="city"), "size")
    with pytest.raises(ParameterError, match="Did you mean 'middle'"):
        weald.partial_dependence(model, X, "size", target="midle")
    with pytest.raises(ParameterError, match="labels"):
        weald.partial_dependence(model, X, "size", response="predict")
    with pytest.raises(ParameterError, match="fitted estimator"):
        weald.partial_dependence(3, X, "size")
    with pytest.raises(ParameterError, match="the class"):
        weald.partial_dependence(weald.SVC, X, "size")
    with pytest.raises(ValueError, match="not fitted"):
        weald.partial_dependence(weald.RandomForestRegressor(), X, "size")
    machine = weald.SVR().fit(X[["noise"]], Y)
    with pytest.raises(ParameterError, match="no such sum"):
        weald.partial_dependence(machine, X[["noise"]], "noise", response="raw")
    with pytest.raises(DataError, match="contains inf"):
        weald.partial_dependence(model, X.assign(noise=np.inf), "noise")
    unseen = weald.partial_dependence(model, X.assign(city="Rom"), "size", grid=3)  # they count as missing
    missing = weald.partial_dependence(model, X.assign(city=None), "size", grid=3)
    np.testing.assert_array_equal(unseen.values, missing.values)


def test_memory_is_told_beforehand(monkeypatch):
    from weald.insight.dependence import partial

    monkeypatch.setattr(partial, "memory_bytes", lambda: 10_000)
    model = REGRESSORS["tree"].fit(X, Y)
    with pytest.raises(MemoryError, match="Use kind='average'"):
        weald.partial_dependence(model, X, "size", kind="individual")
    weald.partial_dependence(model, X, "size")


def test_progress_is_shown_on_demand(capsys):
    model = REGRESSORS["tree"].fit(X, Y)
    weald.partial_dependence(model, X, ["size", ("rooms", "city")])
    assert capsys.readouterr() == ("", "")
    weald.partial_dependence(model, X, ["size", ("rooms", "city")], progress=True)
    assert "column 3/3" in capsys.readouterr().err


def test_records_print_as_one_line():
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
    model = weald.XGBRegressor(n_estimators=2).fit(frame, frame.a * frame.b)
    assert repr(weald.partial_dependence(model, frame, "b")) == (
        "<PartialDependence of 'b': 3 points, XGBRegressor>"
    )
    pair = weald.partial_dependence(model, frame, ("a", "b"), grid=5)
    assert repr(pair) == "<PartialDependence of 'a' and 'b': 5 x 3 points, XGBRegressor>"
    effects = weald.accumulated_local_effects(model, frame, "b")
    assert repr(effects).startswith("<AccumulatedLocalEffects of 'b'")
    found = weald.friedman_h(model, frame, [("a", "b")], ["a"])
    assert repr(found).startswith("<FriedmanH of 1 pair and 1 column against the rest, most 0.")
