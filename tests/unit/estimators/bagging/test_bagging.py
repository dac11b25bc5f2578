"""Bagging with weald's own trees: one coding, bags by seed, the same for any number of threads."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from unit.estimators.bagging.data import labels, mixed, numbers

from weald import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.errors import DataError, ParameterError
from weald.estimators.bagging import trees as bagging_trees


def test_members_are_normal_trees_of_their_bags():
    X, y = mixed(), labels()
    model = BaggingClassifier(n_estimators=7, random_state=1).fit(X, y)
    assert len(model) == len(model.estimators_) == 7
    assert model.estimators_[2] is model[2]
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert type(member) is DecisionTreeClassifier
        assert member.classes_.tolist() == ["high", "low", "mid"]
        assert len(rows) == 200
        assert member.tree_.weighted_n_node_samples[0] == 200
        assert member.tree_.n_node_samples[0] == len(np.unique(rows))
        assert member.score({k: [v[i] for i in rows] for k, v in X.items()}, y[rows]) > 0.99
        assert member.to_text()
    mean = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    assert np.allclose(model.predict_proba(X), mean, rtol=0, atol=1e-15)
    assert np.array_equal(model.predict(X), model.classes_[mean.argmax(axis=1)])
    assert np.allclose(np.exp(model.predict_log_proba(X)), mean)


@pytest.mark.usefixtures("_first_of_tied_columns")
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_member_is_the_tree_of_its_weights(criterion):
    X, y = numbers()
    weight = np.random.default_rng(1).integers(1, 4, 200).astype(float)
    base = DecisionTreeRegressor(criterion=criterion, ccp_alpha=0.01, min_samples_leaf=0.02)
    model = BaggingRegressor(base, n_estimators=4, random_state=0).fit(X, y, sample_weight=weight)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=200)
        alone = clone(base).fit(X, y, sample_weight=counts)
        assert np.array_equal(member.predict(X), alone.predict(X))
        assert np.array_equal(member.tree_.threshold, alone.tree_.threshold)
    assert np.allclose(model.predict(X), np.mean([m.predict(X) for m in model.estimators_], axis=0))


@pytest.mark.parametrize(
    "base",
    [
        None,
        DecisionTreeClassifier(max_features=2),
        DecisionTreeClassifier(splitter="random", max_bins=16),
        DecisionTreeClassifier(class_weight="balanced"),
        DecisionTreeClassifier(class_weight={"low": 3.0}),
    ],
)
@pytest.mark.parametrize("options", [{}, {"max_features": 0.6, "max_samples": 0.5, "bootstrap": False}])
def test_the_same_for_any_number_of_jobs(base, options, monkeypatch):
    X, y = mixed(), labels()
    models = [
        BaggingClassifier(base, n_estimators=6, random_state=3, n_jobs=n_jobs, **options).fit(X, y)
        for n_jobs in (1, 2, 5)
    ]
    monkeypatch.setattr(bagging_trees, "LARGE", 1)  # trees one after another, threads inside
    models.append(BaggingClassifier(base, n_estimators=6, random_state=3, n_jobs=2, **options).fit(X, y))
    for other in models[1:]:
        assert np.array_equal(models[0].predict_proba(X), other.predict_proba(X))
        for a, b in zip(models[0].estimators_, other.estimators_, strict=True):
            assert a.forest_.threshold.tobytes() == b.forest_.threshold.tobytes()


@pytest.mark.parametrize("max_features", [None, 2, "sqrt"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_members_split_on_their_columns_only(wrap, max_features):
    X, y = numbers(k=8)
    X[X < 0] = 0
    base = DecisionTreeRegressor(max_features=max_features, random_state=0, monotonic_cst={1: 1})
    model = BaggingRegressor(base, n_estimators=6, max_features=4, random_state=0).fit(wrap(X), y)
    assert len({tuple(columns) for columns in model.estimators_features_}) > 1
    total = 0
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        assert len(columns) == 4
        assert (np.diff(columns) > 0).all()
        assert member.n_features_in_ == 4
        total = total + member.predict(wrap(X)[:, columns])
    assert np.allclose(model.predict(wrap(X)), total / 6)
    assert np.allclose(model.predict(X), model.predict(sparse.csc_array(X)))


@pytest.mark.usefixtures("_first_of_tied_columns")
def test_a_member_of_some_columns_is_the_tree_of_those():
    X, y = numbers(k=6)
    model = BaggingRegressor(n_estimators=5, max_features=0.5, random_state=4).fit(X, y)
    for member, rows, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        alone = DecisionTreeRegressor().fit(X[:, columns], y, sample_weight=np.bincount(rows, minlength=200))
        assert np.array_equal(member.forest_.threshold, alone.forest_.threshold)
        assert np.array_equal(member.forest_.column, alone.forest_.column)


def test_members_break_ties_by_chance():
    X, y = numbers()
    same = np.repeat(X[:, :1], 5, axis=1)
    model, again = (BaggingRegressor(n_estimators=4, random_state=0).fit(same, y) for _ in range(2))
    for member, other in zip(model.estimators_, again.estimators_, strict=True):
        assert set(member.forest_.column.tolist()) == set(range(5))
        assert member.forest_.column.tobytes() == other.forest_.column.tobytes()


def test_columns_drawn_with_replacement_are_there_once():
    X, y = numbers(k=6)
    model = BaggingRegressor(n_estimators=20, bootstrap_features=True, random_state=0).fit(X, y)
    sizes = [len(columns) for columns in model.estimators_features_]
    assert 3 <= min(sizes) < 6
    assert all(len(np.unique(columns)) == len(columns) for columns in model.estimators_features_)


def test_pasting_draws_rows_once():
    X, y = numbers()
    model = BaggingRegressor(n_estimators=5, max_samples=50, bootstrap=False, random_state=0).fit(X, y)
    for rows in model.estimators_samples_:
        assert len(np.unique(rows)) == len(rows) == 50
    whole = BaggingRegressor(n_estimators=2, bootstrap=False).fit(X, y)
    assert np.array_equal(whole.predict(X), DecisionTreeRegressor().fit(X, y).predict(X))


def test_more_rows_than_there_are():
    X, y = numbers()
    model = BaggingRegressor(n_estimators=2, max_samples=500, random_state=0).fit(X, y)
    assert [len(rows) for rows in model.estimators_samples_] == [500, 500]


def test_draws_depend_on_seed_and_bag_alone():
    X, y = numbers()
    few = BaggingRegressor(n_estimators=3, random_state=5).fit(X, y)
    many = BaggingRegressor(n_estimators=9, random_state=5).fit(X, y)
    for a, b in zip(few.estimators_samples_, many.estimators_samples_[:3], strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(many.estimators_samples_[0], many.estimators_samples_[1])
    other = BaggingRegressor(n_estimators=3, random_state=6).fit(X, y)
    assert not np.array_equal(few.estimators_samples_[0], other.estimators_samples_[0])
    seeds = {member.random_state for member in many.estimators_}
    assert len(seeds) == 9


def test_rows_of_weight_0_count_as_absent():
    X, y = numbers()
    weight = np.ones(200)
    weight[::4] = 0
    model = BaggingRegressor(n_estimators=20, random_state=0, oob_score=True, max_samples=0.9)
    model.fit(X, y, sample_weight=weight)
    kept = weight > 0
    alone = clone(model).fit(X[kept], y[kept])
    assert np.array_equal(model.predict(X), alone.predict(X))
    assert model.oob_score_ == pytest.approx(alone.oob_score_)
    for rows in model.estimators_samples_:
        assert (weight[rows] > 0).all()
        assert len(rows) == 135


def test_labels_of_any_type_and_of_weight_0():
    X, _ = numbers()
    for values in (
        np.array([10, -3]),
        np.array([True, False]),
        np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    ):
        y = values[(X[:, 0] > 0).astype(int)]
        model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
        assert model.predict(X).dtype == y.dtype
        assert (model.predict(X) == y).mean() > 0.95
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:3] = "rare"
    weight = np.ones(200)
    weight[:3] = 0
    model = BaggingClassifier(n_estimators=20, random_state=0, oob_score=True, max_samples=0.5)
    model.fit(X, y, sample_weight=weight)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.oob_score_ > 0.8


def test_a_class_that_a_bag_lacks():
    X, _ = numbers()
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:2] = "rare"
    for base in (None, DecisionTreeClassifier(class_weight="balanced")):
        model = BaggingClassifier(base, n_estimators=20, random_state=0).fit(X, y)
        bags = [set(y[rows]) for rows in model.estimators_samples_]
        assert any("rare" not in bag for bag in bags)
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.predict(X[:2]).tolist() == ["rare", "rare"]


def test_all_frames_say_the_same():
    X, y = mixed(), labels()
    columns = {name: X[name] for name in ("length", "flag", "island", "code")}
    model = BaggingClassifier(n_estimators=5, random_state=0, max_features=0.75)
    expected = model.fit(columns, y).predict_proba(columns)
    assert model.feature_names_in_.tolist() == list(columns)
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        again = clone(model).fit(table, y)
        assert np.array_equal(again.predict_proba(table), expected)
        assert np.array_equal(again.predict_proba(columns), expected)
    shuffled = pd.DataFrame(columns)[["code", "length", "island", "flag"]]
    assert np.array_equal(model.predict_proba(shuffled), expected)
    member, columns_of = model.estimators_[0], model.estimators_features_[0]
    assert member.feature_names_in_.tolist() == [list(columns)[j] for j in columns_of]


def test_several_outputs():
    X, y = numbers()
    both = np.column_stack([y, -2 * y])
    model = BaggingRegressor(n_estimators=20, random_state=0, oob_score=True, max_samples=0.6).fit(X, both)
    assert model.predict(X).shape == (200, 2)
    assert model.oob_prediction_.shape == (200, 2)
    assert model.score(X, both) > 0.9
    with pytest.raises(DataError, match=r"one label per row; y has 2 columns"):
        BaggingClassifier().fit(X, (both > 0).astype(int))


def test_warm_start_adds_members():
    X, y = mixed(), labels()
    model = BaggingClassifier(n_estimators=3, random_state=2, warm_start=True, max_features=0.8).fit(X, y)
    first = model.estimators_[0].forest_.threshold.tobytes()
    model.set_params(n_estimators=8).fit(X, y)
    fresh = BaggingClassifier(n_estimators=8, random_state=2, max_features=0.8).fit(X, y)
    assert np.array_equal(model.predict_proba(X), fresh.predict_proba(X))
    assert model.estimators_[0].forest_.threshold.tobytes() == first
    with pytest.warns(UserWarning, match="does not fit new members: .* is still 8"):
        model.fit(X, y)
    with pytest.raises(ParameterError, match=r"`n_estimators` .* at least the 8 members"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=9, max_samples=0.5)
    with pytest.raises(DataError, match=r"same draws; changed: max_samples\. Fit anew"):
        model.fit(X, y)
    model.set_params(max_samples=None)
    with pytest.raises(DataError, match="changed: the number of rows"):
        model.fit({k: v[:100] for k, v in X.items()}, y[:100])
    with pytest.raises(DataError, match="same labels"):
        model.fit(X, np.where(y == "low", "new", y))
    model.set_params(estimator=DecisionTreeClassifier(prune="cv"))
    with pytest.raises(ParameterError, match="another kind"):
        model.fit(X, y)
    assert len(model) == 8
    model.set_params(estimator=None, warm_start=False, n_estimators=2).fit(X, y)
    assert len(model) == 2


def test_pruning_by_folds_works_through_rows():
    X, y = numbers()
    base = DecisionTreeRegressor(prune="cv", cv=3)
    model = BaggingRegressor(base, n_estimators=3, random_state=0).fit(X, y)
    assert [member.ccp_alpha_ >= 0 for member in model.estimators_] == [True] * 3
    assert model.score(X, y) > 0.7


def test_scikit_learns_tools():
    X, y = numbers()
    pipeline = make_pipeline(FunctionTransformer(), BaggingRegressor(n_estimators=4, random_state=0))
    search = GridSearchCV(
        pipeline,
        {"baggingregressor__max_samples": [0.5, 1.0], "baggingregressor__n_estimators": [2, 4]},
        cv=2,
    )
    assert search.fit(X, y).best_score_ > 0.5
    nested = BaggingRegressor(DecisionTreeRegressor(), n_estimators=3, random_state=0)
    deep = GridSearchCV(nested, {"estimator__max_depth": [1, 5]}, cv=2).fit(X, y)
    assert deep.best_params_ == {"estimator__max_depth": 5}
    assert (cross_val_score(nested, X, y, cv=3) > 0.5).all()


def test_pickled_and_copied():
    X, y = mixed(), labels()
    model = BaggingClassifier(n_estimators=5, random_state=0, max_features=0.7, oob_score=True)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.estimators_samples_[3], model.estimators_samples_[3])
    assert again.estimators_[1].to_text() == model.estimators_[1].to_text()


def test_parameters_that_speak_of_columns_follow_the_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 4, (200, 2))])
    y = X[:, 0] + (X[:, 3] == 2) + 0.5 * (X[:, 4] == 1)
    for declared in ([3, 4], [False, False, False, True, True]):
        base = DecisionTreeRegressor(
            max_depth=4, categorical_features=declared, monotonic_cst=[1, 0, 0, 0, 0]
        )
        model = BaggingRegressor(base, n_estimators=6, max_features=3, random_state=0).fit(X, y)
        total = 0
        for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            places = [place for place, j in enumerate(columns) if j >= 3]
            assert member.categorical_features == (places or None)
            assert member.monotonic_cst == [int(j == 0) for j in columns]
            total = total + member.predict(X[:, columns])
            assert clone(member).fit(X[:, columns], y).schema_ == member.schema_
        assert np.allclose(model.predict(X), total / 6)
