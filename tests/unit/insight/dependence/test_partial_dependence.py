"""Partial dependence equals asking again and again, for every family, kind of column, response and table."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from reference.dependence import curves, standard_error
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald.errors import DataError, ParameterError
from weald.insight.dependence.any_model import AnyModel
from weald.insight.dependence.responses import ask
from weald.inspection.dependence.curves import TreeSum

RNG = np.random.default_rng(7)
N = 100
X = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "rooms": RNG.integers(0, 6, N),
        "city": RNG.choice(["Bern", "Basel", "Genf", "Chur"], N),
        "state": pd.Categorical(
            RNG.choice(["poor", "fair", "good"], N), ["poor", "fair", "good"], ordered=True
        ),
        "noise": RNG.normal(size=N),
    }
)
X.loc[::9, "size"] = np.nan
X.loc[::11, "city"] = None
Y = (
    2 * np.nan_to_num(X["size"], nan=1.5) * (X["city"] == "Bern")
    + X["rooms"]
    + (X["state"] == "good")
    + 0.3 * X["noise"] * X["rooms"]
).to_numpy()
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [1.5, 3.5])]
WEIGHT = RNG.random(N)

REGRESSORS = {
    "tree": weald.DecisionTreeRegressor(max_depth=6),
    "forest": weald.RandomForestRegressor(8, random_state=0),
    "extra trees": weald.ExtraTreesRegressor(5, random_state=0),
    "bagging": weald.BaggingRegressor(n_estimators=4, max_features=0.7, random_state=0),
    "gradient boosting": weald.GradientBoostingRegressor(n_estimators=15, random_state=0),
    "xgboost": weald.XGBRegressor(n_estimators=15, max_depth=4),
    "dart": weald.XGBRegressor(n_estimators=12, max_depth=4, booster="dart", rate_drop=0.3, random_state=0),
    "poisson": weald.XGBRegressor(n_estimators=10, objective="count:poisson"),
    "quantiles": weald.XGBRegressor(
        n_estimators=10, objective="reg:quantileerror", quantile_alpha=[0.2, 0.8]
    ),
    "xgboost forest": weald.XGBRFRegressor(n_estimators=8, random_state=0),
    "median of members": weald.AdaBoostRegressor(n_estimators=3, random_state=0),
    "from another model": weald.GradientBoostingRegressor(
        n_estimators=5, init=weald.DecisionTreeRegressor(max_depth=2), random_state=0
    ),
}
CLASSIFIERS = {
    "tree": weald.DecisionTreeClassifier(max_depth=5),
    "forest": weald.RandomForestClassifier(8, random_state=0),
    "balanced forest": weald.BalancedRandomForestClassifier(6, random_state=0),
    "bagging": weald.BaggingClassifier(n_estimators=4, random_state=0),
    "balanced bagging": weald.BalancedBaggingClassifier(n_estimators=4, random_state=0),
    "gradient boosting": weald.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "xgboost": weald.XGBClassifier(n_estimators=8, max_depth=4),
    "AdaBoost": weald.AdaBoostClassifier(n_estimators=8),
    "AdaBoost, logistic": weald.AdaBoostClassifier(n_estimators=8, probability="logistic"),
    "RUSBoost": weald.RUSBoostClassifier(n_estimators=5, random_state=0),
}


def matrix(values):
    return values.reshape(len(values), -1)


def check(found, predict, weight=None, centred=False):
    """A record against one prediction after another."""
    expected = curves(predict, X, found.columns, found.grid)
    if centred:
        start = (slice(None), slice(None), *(slice(0, 1) for _ in found.columns))
        expected = expected - expected[start]
    weight = np.ones(N) if weight is None else weight
    np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values, np.average(expected, axis=1, weights=weight), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.standard_error, standard_error(expected, weight), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_of_trees(name):
    model = REGRESSORS[name].fit(X, Y - Y.min())
    asked = ask(model, X)
    apart = name in ("median of members", "from another model")
    assert isinstance(asked.summed, AnyModel if apart else TreeSum)
    for found in weald.partial_dependence(model, X, kind="both", grid=6, sample_weight=WEIGHT):
        check(found, lambda table: matrix(model.predict(table)), WEIGHT)
    pair = weald.partial_dependence(model, X, ("size", "city"), kind="both", grid=3)
    check(pair, lambda table: matrix(model.predict(table)))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_trees(name):
    model = CLASSIFIERS[name].fit(X, LABELS)
    assert isinstance(ask(model, X).summed, TreeSum)
    found = weald.partial_dependence(model, X, ["size", "state", ("city", "rooms")], kind="both", grid=4)
    for each in found:
        assert each.targets == tuple(model.classes_)
        check(each, model.predict_proba)
    two = CLASSIFIERS[name].fit(X, LABELS == "high")
    for target in (None, True, False):
        one = weald.partial_dependence(two, X, "city", kind="both", target=target)
        k = int(target is not False)
        assert one.targets == (bool(k),)
        check(one, lambda table: two.predict_proba(table)[:, [k]])  # noqa: B023


@pytest.mark.parametrize("name", ["gradient boosting", "xgboost", "AdaBoost"])
@pytest.mark.parametrize("labels", [LABELS, LABELS == "low"], ids=["three", "two"])
def test_decision_functions_and_centred_curves(name, labels):
    model = CLASSIFIERS[name].fit(X, labels)
    for centred in (False, True):
        found = weald.partial_dependence(
            model, X, "size", kind="both", grid=5, response="decision_function", centred=centred
        )
        check(found, lambda table: matrix(model.decision_function(table)), centred=centred)
    pair = weald.partial_dependence(model, X, ("rooms", "city"), kind="both", centred=True)
    wanted = slice(1, None) if len(np.unique(labels)) == 2 else slice(None)
    check(pair, lambda table: model.predict_proba(table)[:, wanted], centred=True)


def test_several_outputs():
    both = np.column_stack([Y, -2 * Y])
    model = weald.RandomForestRegressor(4, random_state=0).fit(X, both)
    found = weald.partial_dependence(model, X, "size", kind="both", grid=4)
    assert found.targets == (0, 1)
    check(found, model.predict)
    second = weald.partial_dependence(model, X, "size", grid=4, target=1)
    np.testing.assert_array_equal(second.values[0], found.values[1])
    labels = np.column_stack([LABELS, np.where(Y > 2, "yes", "no")])
    forest = weald.RandomForestClassifier(4, random_state=0).fit(X, labels)
    several = weald.partial_dependence(forest, X, "size", kind="both", grid=4)
    assert several.targets[:2] == ((0, "high"), (0, "low"))
    check(several, lambda table: np.concatenate(forest.predict_proba(table), axis=1))


def test_a_forest_that_splits_by_combinations_is_asked_again():
    numbers = X[["size", "noise"]].fillna(0.0).to_numpy()
    model = weald.RandomForestRegressor(3, feature_combinations=2, random_state=0).fit(numbers, Y)
    assert isinstance(ask(model, numbers).summed, AnyModel)
    found = weald.partial_dependence(model, numbers, 0, grid=4)
    moved = numbers.copy()
    moved[:, 0] = found.grid[0][2]
    np.testing.assert_allclose(found.values[0, 2], model.predict(moved).mean())


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_over_random_tables(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 90))
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
            "k": rng.choice([None, *"abcdefgh"], n),
            "z": rng.normal(size=n),
        }
    )
    table.loc[0, "k"] = "a"  # a column of nothing but None has no type
    kind = [weald.ExtraTreesRegressor, weald.RandomForestRegressor][seed % 2]
    model = kind(3, random_state=seed).fit(table, rng.normal(size=n))
    predict = lambda rows: matrix(model.predict(rows))  # noqa: E731
    for columns in ("x", "k", ("x", "k"), ("k", "z")):
        found = weald.partial_dependence(model, table, columns, kind="both", grid={"x": [4, None, -1.0, 2.0]})
        expected = curves(predict, table, found.columns, found.grid)
        np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)


def test_more_categories_than_bits_in_a_word():
    rng = np.random.default_rng(0)
    names = np.array([f"level {i}" for i in range(150)])
    table = pd.DataFrame({"k": np.concatenate([names, rng.choice(names, 450)]), "z": rng.normal(size=600)})
    target = table["k"].str[6:].astype(int) % 7 + table["z"]
    model = weald.DecisionTreeRegressor(cat_penalty=0.0).fit(table, target)
    found = weald.partial_dependence(model, table, "k", kind="both")
    expected = curves(lambda rows: matrix(model.predict(rows)), table, ["k"], found.grid)
    np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)


# ---- grids -------------------------------------------------------------------------------------------------


def test_points_of_each_kind_of_column():
    model = REGRESSORS["forest"].fit(X, Y)
    size, rooms, city, state, noise = weald.partial_dependence(model, X, grid=50)
    assert len(size.grid[0]) == 51
    assert size.missing == (True,)
    present = X["size"].dropna()
    np.testing.assert_allclose(size.grid[0][[0, 49]], np.quantile(present, [0.05, 0.95]), atol=0.1)
    assert rooms.grid[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert city.grid[0].tolist() == ["Basel", "Bern", "Chur", "Genf", None]
    assert state.grid[0].tolist() == ["poor", "fair", "good"]
    assert noise.missing == (False,)


def test_whole_numbers_stay_whole():
    many = pd.DataFrame({"n": np.arange(500)})
    model = weald.DecisionTreeRegressor(max_depth=3).fit(many, np.arange(500) % 50)
    points = weald.partial_dependence(model, many, "n", grid=20).grid[0]
    assert (points == np.rint(points)).all()
    assert len(points) == 20


def test_every_step_of_the_curve():
    model = weald.DecisionTreeRegressor(max_depth=4).fit(X, Y)
    found = weald.partial_dependence(model, X, "noise", grid="thresholds")
    points = found.grid[0]
    assert len(points) > 2
    # Between two thresholds the curve does not move; above the last it has a point too.
    fine = np.sort(np.concatenate([points, (points[1:] + points[:-1]) / 2]))
    dense = weald.partial_dependence(model, X, "noise", grid=fine)
    steps = found.values[0][np.searchsorted(points, fine)]
    np.testing.assert_allclose(dense.values[0], steps, atol=1e-12)
    with pytest.raises(DataError, match="made of trees"):
        weald.partial_dependence(lambda table: table[:, 0], np.zeros((3, 2)), 0, grid="thresholds")


def test_dates():
    days = pd.date_range("2024-01-01", periods=N)
    table = pd.DataFrame({"day": days, "x": X["noise"]})
    model = weald.DecisionTreeRegressor(max_depth=3).fit(table, np.arange(N) > 50)
    given = [days[3], days[90]]
    found = weald.partial_dependence(model, table, "day", grid=given)
    assert found.grid[0].dtype.kind == "M"
    assert found.values[0].tolist() == [0.0, 1.0]
    assert str(found.to_frame()["day"][0])[:10] == "2024-01-04"


# ---- tables, threads, files --------------------------------------------------------------------------------


def test_every_table_gives_the_same():
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    table = X[["size", "rooms", "city", "noise"]]
    model = weald.XGBRegressor(n_estimators=10).fit(table, Y)
    first = weald.partial_dependence(model, table, ["size", "city"])
    for other in (
        polars.from_pandas(table),
        arrow.Table.from_pandas(table),
        table[::-1][["noise", "city", "rooms", "size"]],
    ):
        again = weald.partial_dependence(model, other, ["size", "city"])
        for a, b in zip(first, again, strict=True):
            np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-12)
    frame = weald.partial_dependence(model, polars.from_pandas(table), "city").to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["city", "value", "standard_error"]
    assert frame["city"].to_list() == ["Basel", "Bern", "Chur", "Genf", None]


def test_sparse_and_dense_and_lists_give_the_same():
    from scipy import sparse

    numbers = np.where(RNG.random((80, 5)) < 0.6, 0.0, RNG.normal(size=(80, 5)))
    target = numbers[:, 0] - numbers[:, 3]
    model = weald.XGBRegressor(n_estimators=5).fit(numbers, target)
    linear = LinearRegression().fit(numbers, target)
    for estimator in (model, linear):
        dense = weald.partial_dependence(estimator, numbers, [0, (3, 1)], grid=5)
        for other in (sparse.csr_matrix(numbers), numbers.tolist()):
            if estimator is linear and isinstance(other, list):
                continue
            again = weald.partial_dependence(estimator, other, [0, (3, 1)], grid=5)
            for a, b in zip(dense, again, strict=True):
                np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-12)


def test_threads_do_not_show():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3000, 4))
    model = weald.XGBClassifier(n_estimators=10).fit(table, table[:, 0] * table[:, 1] > 0)
    asked = [0, 1, (0, 1)]
    first = weald.partial_dependence(model, table, asked, kind="both", grid=12, n_jobs=1)
    for n_jobs in (2, 5):
        again = weald.partial_dependence(model, table, asked, kind="both", grid=12, n_jobs=n_jobs)
        for a, b in zip(first, again, strict=True):
            assert a.values.tobytes() == b.values.tobytes()
            assert a.standard_error.tobytes() == b.standard_error.tobytes()
            assert a.individual.tobytes() == b.individual.tobytes()


def test_columns_together_and_alone_give_the_same_bits():
    model = REGRESSORS["xgboost"].fit(X, Y)
    together = weald.partial_dependence(model, X)
    for each in together:
        alone = weald.partial_dependence(model, X, each.columns[0])
        assert alone.values.tobytes() == each.values.tobytes()


def test_a_loaded_model_and_a_booster():
    model = weald.XGBRegressor(n_estimators=8).fit(X, Y)
    found = weald.partial_dependence(model, X, "size")
    loaded = weald.load(io.BytesIO(model.to_bytes()))
    assert weald.partial_dependence(loaded, X, "size").values.tobytes() == found.values.tobytes()
    numbers = X[["rooms", "noise"]].astype(float)
    booster = weald.train({"objective": "binary:logistic"}, weald.DMatrix(numbers, label=Y > 2), 5)
    by_booster = weald.partial_dependence(booster, numbers, "noise", grid=[0.25])
    moved = numbers.assign(noise=0.25)
    np.testing.assert_allclose(
        by_booster.values[0, 0], booster.predict(weald.DMatrix(moved)).mean(), atol=1e-12
    )


def test_rows_that_weigh_nothing_do_not_count():
    model = REGRESSORS["forest"].fit(X, Y)
    weight = np.repeat([2.0, 0.0], [60, N - 60])
    found = weald.partial_dependence(model, X, "rooms", sample_weight=weight)
    part = weald.partial_dependence(model, X[:60], "rooms", grid=found.grid[0])
    np.testing.assert_allclose(found.values, part.values, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, part.standard_error, atol=1e-12)


# ---- models that are not made of trees ---------------------------------------------------------------------


def test_models_without_trees():
    table = X[["size", "noise", "rooms"]].fillna(0.0)
    machine = weald.SVR().fit(table, Y)
    logistic = weald.LogisticRegression().fit(X, LABELS)
    voting = weald.VotingRegressor([("a", weald.KNeighborsRegressor(5)), ("b", LinearRegression())]).fit(
        table, Y
    )
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, LABELS)
    for model, rows, predict in (
        (machine, table, lambda moved: matrix(machine.predict(moved))),
        (voting, table, lambda moved: matrix(voting.predict(moved))),
        (pipeline, table, pipeline.predict_proba),
        (
            lambda moved: moved["noise"] * moved["rooms"],
            table,
            lambda moved: matrix((moved["noise"] * moved["rooms"]).to_numpy()),
        ),
    ):
        found = weald.partial_dependence(model, rows, "noise", kind="both", grid=4)
        expected = curves(predict, rows, ["noise"], found.grid)
        np.testing.assert_allclose(found.individual, expected, rtol=0, atol=1e-9)
    city, size = weald.partial_dependence(logistic, X, ["city", "size"], kind="both", grid=4, target="low")
    k = logistic.classes_.tolist().index("low")
    check(city, lambda moved: logistic.predict_proba(moved)[:, [k]])
    check(size, lambda moved: logistic.predict_proba(moved)[:, [k]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy", "dict"])
def test_values_between_whole_numbers_for_a_model_of_another_library(library):
    whole = pd.DataFrame({"n": np.arange(6), "m": np.arange(6)[::-1]})
    if library == "pandas":
        table, column = whole, lambda moved: np.asarray(moved["n"])
    elif library == "numpy":
        table, column = whole.to_numpy(), lambda moved: moved[:, 0]
    elif library == "dict":
        table, column = (
            {name: values.tolist() for name, values in whole.items()},
            lambda moved: np.asarray(moved["n"]),
        )
    else:
        pytest.importorskip(library)
        import polars

        table = polars.from_pandas(whole)
        table = table.to_arrow() if library == "pyarrow" else table
        column = lambda moved: np.asarray(moved["n"])  # noqa: E731
    found = weald.partial_dependence(column, table, 0, grid=[0.5, 2.25])
    assert found.values.tolist() == [[0.5, 2.25]]


# ---- records -----------------------------------------------------------------------------------------------


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


# ---- bad input ---------------------------------------------------------------------------------------------


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
