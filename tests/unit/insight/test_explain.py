"""`explain` and `Explanation`: trees, weighted sums and functions, slicing, errors."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import weald
from weald import Explanation, explain
from weald.errors import DataError, DataTypeError, ParameterError


def frame(n=80, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "c": pd.Categorical(rng.choice([*"xyz", None], n)),
            "d": rng.choice([1.0, 2.0, np.nan], n),
        }
    )


def target(F):
    return (F.a * F.b + (F.c == "x") * 2 + F.d.fillna(0)).to_numpy()


def added(told):
    values = told.values.sum(axis=2) if told.interactions else told.values
    return values.sum(axis=1) + told.base_values


MODELS = {
    "forest": (weald.RandomForestRegressor(5, random_state=0), "predict", False),
    "boosted": (weald.XGBClassifier(n_estimators=3), "margin", True),
    "svc": (weald.SVC(), "decision_function", True),
    "logistic": (weald.LogisticRegression(), "decision_function", True),
    "lines": (weald.LinearSVR(), "predict", False),
    "neighbours": (weald.KNeighborsClassifier(), "predict_proba", True),
    "median": (weald.AdaBoostRegressor(n_estimators=3), "predict", False),
    "easy": (weald.EasyEnsembleClassifier(n_estimators=2, random_state=0), "decision_function", True),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_and_base_add_up_for_every_model(name):
    model, method, labels = MODELS[name]
    F = frame()
    y = target(F)
    model.fit(F, np.where(y > 1, "yes", "no") if labels else y)
    said = model.predict(F[:5], output_margin=True) if method == "margin" else getattr(model, method)(F[:5])
    for asked in ({}, {"interactions": True}, {"n_permutations": 3, "random_state": 0}):
        told = explain(model, F[:5], background=F[:9], **asked)
        assert np.allclose(added(told), said, atol=1e-9)
        assert told.feature_names == ["a", "b", "c", "d"]
        assert told.display_data[0, 2] == F.c[0]
    if said.ndim == 2:
        assert told.output_names == ["no", "yes"]


def test_ways_that_are_exact_agree():
    F = frame()
    y = target(F)
    forest = weald.RandomForestRegressor(5, random_state=0).fit(F, y)
    logistic = weald.LogisticRegression().fit(F, y > 1)
    for model, output in ((forest, "predict"), (logistic, "decision_function")):
        for interactions in (False, True):
            asked = {"background": F[5:15], "background_weight": np.arange(10), "interactions": interactions}
            ours, brute = (explain(model, F[:4], output=o, **asked) for o in (None, output))
            assert np.allclose(ours.values, brute.values, atol=1e-9)
            assert np.allclose(ours.base_values, brute.base_values, atol=1e-9)


def test_orders_drawn_by_chance_come_near_and_tell_how_near():
    F = frame()
    model = weald.GradientBoostingRegressor(n_estimators=10).fit(F, target(F))
    exact = explain(model, F[:8], background=F[:20]).values
    one, again = (
        explain(model, F[:8], background=F[:20], output="predict", n_permutations=30, random_state=1)
        for _ in range(2)
    )
    assert np.array_equal(one.values, again.values)
    assert np.array_equal(one[2:3].values, explain_one(model, F, 2))
    off = np.abs(one.values - exact)
    assert (off <= 5 * one.standard_errors + 1e-9).all()
    assert np.median(one.standard_errors) > 0


def explain_one(model, F, i):
    """The same row among fewer: its draws depend on its place, so it stays in its place."""
    told = explain(model, F[: i + 1], background=F[:20], output="predict", n_permutations=30, random_state=1)
    return told[i : i + 1].values


def test_many_columns_are_sampled_and_few_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 14))
    told = explain(lambda T: T @ np.arange(14.0), X[:2], background=X, n_permutations=None)
    assert told.standard_errors.max() < 1e-12  # a sum has no error, whatever the order
    assert np.allclose(told.values, (X[:2] - X.mean(axis=0)) * np.arange(14.0))
    assert explain(lambda T: T.sum(axis=1), X[:2, :3], background=X[:, :3]).standard_errors is None


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars", "arrow", "sparse"])
def test_functions_get_the_users_own_kind_of_table(kind):
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(3, 3)).round(1), rng.normal(size=(4, 3)).round(1)
    names = ["a", "b", "c"]
    makers = {
        "array": lambda A: A,
        "list": lambda A: A.tolist(),
        "pandas": lambda A: pd.DataFrame(A, columns=names),
        "polars": lambda A: pl.DataFrame(A, schema=names),
        "arrow": lambda A: pl.DataFrame(A, schema=names).to_arrow(),
        "sparse": sparse.csr_matrix,
    }
    make = makers[kind]
    expected = {"list": np.ndarray, "array": np.ndarray}.get(kind, type(make(X)))

    def function(T):
        assert isinstance(T, expected)
        A = (
            T.toarray()
            if kind == "sparse"
            else np.column_stack(list(T.columns))
            if kind == "arrow"
            else np.asarray(T)
        )
        return A[:, 0] * A[:, 1] + A[:, 2]

    told = explain(function, make(X), background=make(B))
    plain = explain(lambda A: A[:, 0] * A[:, 1] + A[:, 2], X, background=B)
    assert np.allclose(told.values, plain.values)
    assert np.array_equal(told.data, X)


def test_boosters_matrices_and_loaded_models(tmp_path):
    F = frame()
    y = target(F)
    booster = weald.train({"max_depth": 3}, weald.DMatrix(F, y), 4)
    told = explain(booster, weald.DMatrix(F[:5]))
    parts = booster.predict(weald.DMatrix(F[:5]), pred_contribs=True)
    assert np.array_equal(told.values, parts[:, :-1])
    assert np.allclose(told.base_values, parts[:, -1])
    model = weald.RandomForestClassifier(5, random_state=0).fit(F, y > 1)
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    for asked in ({}, {"background": F[:10]}, {"interactions": True}):
        assert np.array_equal(explain(loaded, F, **asked).values, explain(model, F, **asked).values)


def test_raw_scores_of_a_start_that_is_a_model():
    F = frame()[["a", "b"]]
    y = F.a.to_numpy() * 2 + F.b.to_numpy() ** 2
    model = weald.GradientBoostingRegressor(n_estimators=3, init=weald.LinearSVR()).fit(F, y)
    assert np.allclose(added(explain(model, F)), model.predict(F), atol=1e-9)


def test_what_is_refused():
    F = frame()
    y = target(F)
    knn = weald.KNeighborsRegressor().fit(F, y)
    forest = weald.RandomForestRegressor(2, random_state=0).fit(F, y)
    with pytest.raises(DataError, match="explained against a background"):
        explain(knn, F)
    with pytest.raises(DataError, match="The background has no rows"):
        explain(knn, F, background=F[:0])
    with pytest.raises(DataError, match="other columns than X"):
        explain(knn, F, background=F.rename(columns={"a": "z"}))
    with pytest.raises(DataError, match="The background has 3 columns"):
        explain(lambda T: T[:, 0], np.zeros((2, 2)), background=np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="approximate=True is for models made of weald's trees"):
        explain(knn, F, background=F, approximate=True)
    with pytest.raises(ParameterError, match="at least 2"):
        explain(knn, F, background=F, n_permutations=1)
    with pytest.raises(ParameterError, match="12 columns at most"):
        explain(lambda T: T[:, 0], np.zeros((2, 13)), background=np.zeros((2, 13)), interactions=True)
    with pytest.raises(ParameterError, match="does not have"):
        explain(forest, F, background=F, output="predict_probability")
    with pytest.raises(ParameterError, match="model or a function"):
        explain(3, F, background=F)
    with pytest.raises(DataTypeError, match="a number per row"):
        explain(lambda T: np.array(["no"] * len(T)), F, background=F)
    with pytest.raises(DataError, match="This AdaBoostRegressor predicts the median"):
        weald.AdaBoostRegressor(n_estimators=2).fit(F, y).shap_values(F)
    with pytest.raises(DataError, match="no trees of weald"):
        weald.BaggingRegressor(weald.KNeighborsRegressor(), 2, random_state=0).fit(F, y).shap_values(F)
    with pytest.raises(DataError, match="another estimator than trees"):
        weald.GradientBoostingRegressor(estimator=weald.LinearSVR(), n_estimators=1).fit(F, y).shap_values(F)


def test_sums_of_columns_are_explained_as_a_function():
    F = frame()[["a", "b"]]
    model = weald.RandomForestRegressor(2, feature_combinations=2, random_state=0).fit(F, F.a * F.b)
    assert np.allclose(added(explain(model, F[:4], background=F[:9])), model.predict(F[:4]), atol=1e-9)


def test_progress_shows(capsys):
    explain(lambda T: T[:, 0], np.zeros((2, 2)), background=np.zeros((2, 2)), verbose=1)
    assert "row 2/2" in capsys.readouterr().err


# ---------------------------------------------------------------------- Explanation


def three_outputs():
    rng = np.random.default_rng(0)
    return Explanation(
        rng.normal(size=(5, 3, 2)),
        rng.normal(size=(5, 2)),
        rng.normal(size=(5, 3)),
        feature_names=["a", "b", "c"],
        output_names=["no", "yes"],
        standard_errors=np.ones((5, 3, 2)),
    )


def test_slices_take_all_parts_along():
    told = three_outputs()
    one = told[2, :, "yes"]
    assert np.array_equal(one.values, told.values[2, :, 1])
    assert one.base_values == told.base_values[2, 1]
    assert np.array_equal(one.data, told.data[2])
    assert (one.feature_names, one.output_names) == (["a", "b", "c"], "yes")
    column = told[:, "b"]
    assert column.feature_names == "b"
    assert np.array_equal(column.data, told.data[:, 1])
    assert told[..., ["yes", "no"]].output_names == ["yes", "no"]
    some = told[np.array([True, False, True, False, False]), ["c", "a"]]
    assert some.shape == (2, 2, 2)
    assert np.array_equal(some.data, told.data[[0, 2]][:, [2, 0]])
    assert np.array_equal(some.standard_errors, np.ones((2, 2, 2)))
    assert len(told[1:3]) == 2
    assert np.array_equal(told[-1].values, told.values[-1])


def test_sizes_and_orders():
    told = three_outputs()[..., 0]
    mean = told.abs.mean(0)
    assert np.allclose(mean.values, np.abs(told.values).mean(axis=0))
    order = mean.argsort.flip
    assert told[:, order].feature_names == [["a", "b", "c"][j] for j in np.argsort(mean.values)[::-1]]
    for name in ("sum", "max", "min"):
        assert np.allclose(getattr(told, name)(1).values, getattr(told.values, name)(axis=1))
    assert repr(told) == "Explanation of 5 rows x 3 columns"
    assert repr(mean) == "Explanation of 3 columns"


def test_pairs_have_two_axes_of_columns():
    rng = np.random.default_rng(0)
    told = Explanation(rng.normal(size=(4, 3, 3)), np.zeros(4), rng.normal(size=(4, 3)), interactions=True)
    assert told.interactions
    assert told.feature_names == ["0", "1", "2"]
    pair = told[:, "1", "2"]
    assert np.array_equal(pair.values, told.values[:, 1, 2])
    assert pair.data.shape == (4,)
    assert told[:, "1"].data.shape == (4, 3)
    assert not told[:, "1"].interactions


def test_explanations_that_do_not_fit():
    with pytest.raises(DataError, match="n_rows, n_columns"):
        Explanation(np.zeros(3))
    with pytest.raises(DataError, match="2 names for 3"):
        Explanation(np.zeros((2, 3)), feature_names=["a", "b"])
    told = three_outputs()
    with pytest.raises(ParameterError, match=r"no column 'ages' in this Explanation\. Did you mean 'age'"):
        Explanation(np.zeros((2, 1)), feature_names=["age"])[:, "ages"]
    with pytest.raises(IndexError, match="row 9"):
        told[9]
    with pytest.raises(ParameterError, match="has 3 axes; got 4"):
        told[0, 0, 0, 0]


def test_it_can_be_pickled():
    told = three_outputs()
    again = pickle.loads(pickle.dumps(told))
    assert np.array_equal(again.values, told.values)
    assert again.output_names == told.output_names


def test_a_function_that_forgets_rows():
    F = frame(6)[["a", "b"]]
    with pytest.raises(DataError, match="gave 3 numbers for 6 rows"):
        explain(lambda rows: np.zeros(3), F, background=F)
