"""What users of xgboost's scikit-learn classes rely on: names, warnings, attributes, words."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

import weald
from weald import XGBClassifier, XGBRanker, XGBRegressor, XGBRFRegressor
from weald.errors import DataError, ParameterError

# ------------------------------------------------------------------ categories, tables


def test_a_column_of_unseen_categories_is_logged_once(caplog):
    frame = pd.DataFrame({"city": ["Bern", "Basel"] * 10, "x": np.arange(20.0)})
    model = XGBRegressor(n_estimators=2).fit(frame, np.arange(20.0))
    other = frame.assign(city="bern")
    with caplog.at_level(logging.WARNING, logger="weald.data"):
        model.predict(frame)
        model.predict(frame.assign(city=None))
        model.predict(frame.assign(city=["Bern", "bern"] * 10))
        assert not caplog.records
        model.predict(other)
        model.predict(other)
    assert len(caplog.records) == 1
    assert "column 'city'" in caplog.text
    assert "row 0, 'bern'; training saw 'Basel', 'Bern'" in caplog.text
    caplog.clear()
    tree = weald.DecisionTreeRegressor().fit(frame, np.arange(20.0))
    tree.predict(other)
    assert len(caplog.records) == 1


def test_a_lazy_frame_is_collected():
    X, y = numbers()
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    model = XGBRegressor(n_estimators=2).fit(frame.lazy(), y, eval_set=[(frame.lazy(), y)])
    expected = XGBRegressor(n_estimators=2).fit(frame, y)
    assert np.array_equal(model.predict(frame.lazy()), expected.predict(frame))
    bag = weald.BaggingRegressor(n_estimators=2, random_state=0)
    assert np.array_equal(
        bag.fit(frame.lazy(), y).predict(frame.lazy()), clone(bag).fit(frame, y).predict(frame)
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_a_series_for_a_table_says_how_to_make_one(library):
    X, y = numbers()
    with pytest.raises(DataError, match=r"X is one column.*to_frame\(\)"):
        XGBRegressor().fit(library.Series(X[:, 0]), y)


# ------------------------------------------------------------------ train, cv, curves


def test_pairs_of_parameters_keep_every_metric():
    X, y = two_classes()
    pairs = [
        ("eval_metric", "auc"),
        ("objective", "binary:logistic"),
        ("eval_metric", "error"),
        ("eta", 1),
        ("eta", 0.5),
    ]
    model = weald.train(pairs, X, y, 2, evals=[(X, y, "train")])
    assert list(model.evals_result()["train"]) == ["auc", "error"]
    assert model.eta == 0.5
    table = weald.cv([*pairs, ("eval_metric", ["logloss"])], X, y, 2, as_pandas=False)
    assert [name for name in table if name.startswith("test") and name.endswith("mean")] == [
        "test-auc-mean",
        "test-error-mean",
        "test-logloss-mean",
    ]


def test_metrics_of_cv_may_be_a_set():
    X, y = two_classes()
    for metrics in ({"error"}, frozenset({"error"}), ("error",), ["error"], "error"):
        table = weald.cv({"objective": "binary:logistic"}, X, y, 2, metrics=metrics, as_pandas=False)
        assert [name for name in table if name.endswith("mean")] == ["train-error-mean", "test-error-mean"]


def test_a_custom_objective_of_two_targets_records_rmse():
    X, y = numbers()
    Y = np.column_stack([y, X[:, 1]])

    def squared(truth, raw):
        return raw - truth, np.ones_like(raw)

    params = {"objective": squared, "n_estimators": 3, "tree_method": "exact"}
    ours = XGBRegressor(**params).fit(X, Y, eval_set=[(X, Y)]).evals_result()
    theirs = xgboost.XGBRegressor(**params).fit(X, Y, eval_set=[(X, Y)], verbose=False).evals_result()
    np.testing.assert_allclose(ours["validation_0"]["rmse"], theirs["validation_0"]["rmse"], rtol=1e-6)


# ------------------------------------------------------------------ subclasses


class Passing(XGBClassifier):
    def __init__(self, extra=1, **kw):
        self.extra = extra
        super().__init__(**kw)


class PassingOn(Passing):
    def __init__(self, *, more=2, **kw):
        self.more = more
        super().__init__(**kw)


class Closed(XGBRegressor):
    def __init__(self, depth=2):
        self.depth = depth
        super().__init__(max_depth=depth, n_estimators=3)


def test_a_subclass_that_passes_parameters_on():
    X, y = two_classes()
    model = clone(PassingOn(more=3, extra=5, max_depth=2, n_estimators=4)).fit(X, y)
    assert np.array_equal(model.predict(X), XGBClassifier(max_depth=2, n_estimators=4).fit(X, y).predict(X))
    params = model.get_params()
    assert (params["more"], params["extra"], params["max_depth"], params["booster"]) == (3, 5, 2, None)
    assert set(params) == set(XGBClassifier().get_params()) | {"more", "extra"}
    assert repr(Passing(extra=2, max_depth=3)) == "Passing(extra=2, max_depth=3)"
    with pytest.raises(ParameterError, match="`max_dept` is no parameter of Passing"):
        Passing(max_dept=3)


def test_a_subclass_with_parameters_of_its_own_alone():
    X, y = numbers()
    model = clone(Closed(depth=1)).fit(X, y)
    assert model.get_params() == {"depth": 1}
    assert np.array_equal(model.predict(X), XGBRegressor(max_depth=1, n_estimators=3).fit(X, y).predict(X))


# ------------------------------------------------------------------ what can be read


def test_the_objective_can_be_read():
    X, y = three_classes()
    model = XGBClassifier(n_estimators=1)
    assert model.objective == "binary:logistic"
    assert model.fit(X, y).objective == "multi:softprob"
    assert model.get_params()["objective"] is None
    assert clone(model).objective == "binary:logistic"
    assert model.get_xgb_params()["objective"] == "multi:softprob"
    assert XGBClassifier(n_estimators=1).fit(X, y > 0).objective == "binary:logistic"
    assert XGBClassifier(n_estimators=1, objective="multi:softmax").fit(X, y).objective == "multi:softmax"
    assert XGBRegressor().objective == "reg:squarederror"
    assert XGBRegressor(objective="count:poisson").objective == "count:poisson"
    assert XGBRanker().objective == "rank:ndcg"

    def own(truth, raw):
        return raw - truth, np.ones_like(raw)

    assert XGBRegressor(n_estimators=1, objective=own).fit(X, y).objective is own


def test_get_xgb_params_trains_the_same_model():
    X, y = three_classes()
    model = XGBClassifier(n_estimators=3, max_depth=2, eta=0.2, random_state=np.random.RandomState(3)).fit(
        X, y
    )
    params = model.get_xgb_params()
    assert isinstance(params["random_state"], int)
    assert "n_estimators" not in params
    again = weald.train(params, X, y, model.get_num_boosting_rounds())
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_several_labels_a_row_have_two_classes_each():
    X, Y = make_multilabel_classification(n_samples=60, n_classes=4, random_state=0)
    model = XGBClassifier(n_estimators=2).fit(X, Y)
    assert model.n_classes_ == xgboost.XGBClassifier(n_estimators=2).fit(X, Y).n_classes_ == 2
    assert model.objective == "binary:logistic"
    assert model.predict_proba(X).shape == Y.shape


def test_no_rounds_predict_the_base_score(tmp_path):
    X, y = three_classes()
    model = XGBClassifier(n_estimators=0).fit(X, y, eval_set=[(X, y)])
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile(share, (len(X), 1)))
    assert model.apply(X).shape == (len(X), 0)
    assert list(model.staged_predict(X)) == []
    assert not model.feature_importances_.any()
    assert (model.n_rounds_, model.n_estimators_, model.get_num_boosting_rounds()) == (0, 0, 0)
    model.save(tmp_path / "m.weald")
    assert np.array_equal(weald.load(tmp_path / "m.weald").predict(X), model.predict(X))
    more = XGBClassifier(n_estimators=2).fit(X, y, xgb_model=model)
    assert np.array_equal(more.predict_proba(X), XGBClassifier(n_estimators=2).fit(X, y).predict_proba(X))
    assert XGBRFRegressor(n_estimators=0).fit(*numbers()).predict(X[:1]) == np.mean(numbers()[1])
    table = weald.train({"objective": "reg:squarederror"}, *numbers(), 0)
    assert table.n_rounds_ == 0


@pytest.mark.parametrize("params", [{}, {"booster": "dart", "rate_drop": 0.5}, {"tree_method": "hist"}])
def test_a_rate_of_0_learns_nothing(params):
    X, y = numbers()
    model = XGBRegressor(n_estimators=4, learning_rate=0, **params).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.full(len(X), y.mean()), rtol=1e-12)
    assert model.n_rounds_ == 4
    theirs = xgboost.XGBRegressor(n_estimators=4, learning_rate=0).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), theirs, rtol=1e-5)


def test_a_classifier_by_reg_logistic():
    X, y = two_classes()
    model = XGBClassifier(objective="reg:logistic", n_estimators=5).fit(X, y, eval_set=[(X, y)])
    plain = XGBClassifier(n_estimators=5).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert list(model.evals_result()["validation_0"]) == ["rmse"]
    with pytest.raises(DataError, match="two classes, and y has 3"):
        XGBClassifier(objective="reg:logistic").fit(*three_classes())


def test_attributes_of_other_boosters_and_times_say_so():
    X, y = two_classes()
    model = XGBClassifier(n_estimators=2).fit(X, y)
    for name, way_out in (("coef_", "feature_importances_"), ("best_ntree_limit", r"best_iteration \+ 1")):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=way_out):
            getattr(model, name)


@pytest.mark.parametrize("least", [0, 1, 7, 20, 31, 45, 500])
def test_trees_of_several_outputs_take_min_child_weight_as_xgboost(least):
    X, y = numbers(n=60)
    Y = np.column_stack([y, X[:, 1] ** 2, X[:, 2] - X[:, 0]])
    labels = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5]).astype(int)
    params = {
        "n_estimators": 3,
        "max_depth": 3,
        "multi_strategy": "multi_output_tree",
        "min_child_weight": least,
    }
    for name, target, more in (
        ("XGBRegressor", Y, {}),
        ("XGBClassifier", labels, {"base_score": 0.5}),
    ):
        ours = getattr(weald, name)(**params, **more).fit(X, target).predict(X, output_margin=True)
        peer = getattr(xgboost, name)(tree_method="hist", **params, **more).fit(X, target)
        np.testing.assert_allclose(ours, peer.predict(X, output_margin=True), atol=1e-5)
