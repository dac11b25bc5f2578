"""What users of xgboost's scikit-learn classes rely on: names, warnings, attributes, words."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_multilabel_classification
from unit.estimators.xgboost.data import numbers, queries, three_classes, two_classes

import weald
from weald import XGBClassifier, XGBModel, XGBRanker, XGBRegressor, XGBRFClassifier, XGBRFRegressor
from weald.errors import ArgumentError, DataError, IgnoredParameterWarning, ParameterError

# ------------------------------------------------------------------ parameters without effect


@pytest.mark.parametrize(
    ("model", "target", "params", "message"),
    [
        (XGBClassifier, three_classes, {"scale_pos_weight": 50}, "scale_pos_weight.*y has 3.*class_weight"),
        (XGBRegressor, numbers, {"scale_pos_weight": 2.0}, "scale_pos_weight.*squarederror.*sample_weight"),
        (XGBRegressor, numbers, {"quantile_alpha": 0.5}, "quantile_alpha.*reg:squarederror"),
        (XGBRegressor, numbers, {"huber_slope": 2.0}, "huber_slope"),
        (XGBClassifier, two_classes, {"tweedie_variance_power": 1.2}, "tweedie_variance_power"),
        (XGBClassifier, two_classes, {"lambdarank_pair_method": "mean"}, "lambdarank_pair_method"),
        (XGBClassifier, two_classes, {"sample_type": "weighted"}, "sample_type.*booster='dart'"),
        (XGBClassifier, two_classes, {"device": "cuda:0"}, "device='cuda:0'.*CPU"),
        (XGBClassifier, two_classes, {"tree_method": "gpu_hist"}, "gpu_hist.*'hist'"),
        (XGBClassifier, two_classes, {"use_label_encoder": False}, "use_label_encoder.*Leave it out"),
        (XGBClassifier, two_classes, {"silent": True}, "silent.*prints"),
        (XGBRegressor, numbers, {"predictor": "gpu_predictor"}, "predictor.*Leave it out"),
        (XGBRegressor, numbers, {"gpu_id": 0}, "gpu_id.*CPU"),
    ],
)
def test_a_parameter_without_effect_warns_and_training_goes_on(model, target, params, message):
    X, y = target()
    with pytest.warns(IgnoredParameterWarning, match=message) as caught:
        fitted = model(n_estimators=2, **params).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    method = {"tree_method": "hist"} if "tree_method" in params else {}
    plain = model(n_estimators=2, **method).fit(X, y)
    assert np.array_equal(fitted.predict(X), plain.predict(X))


def test_a_parameter_that_is_read_does_not_warn():
    X, y = two_classes()
    XGBClassifier(n_estimators=2, scale_pos_weight=5).fit(X, y)
    XGBClassifier(n_estimators=2, scale_pos_weight=1).fit(*three_classes())
    X, y = numbers()
    measured = XGBRegressor(n_estimators=2, quantile_alpha=0.5, eval_metric=["quantile", "rmse"])
    assert "quantile" in measured.fit(X, y, eval_set=[(X, y)]).evals_result()["validation_0"]
    XGBClassifier(n_estimators=2, nthread=1, seed=3, eta=0.1, verbosity=0).fit(*two_classes())


def test_a_dead_name_warns_once_for_all_clones():
    with pytest.warns(IgnoredParameterWarning) as caught:
        model = XGBClassifier(use_label_encoder=False)
    assert len(caught) == 1
    assert clone(model).get_params() == XGBClassifier().get_params()
    with pytest.warns(IgnoredParameterWarning, match="silent"):
        model.set_params(silent=1)


def test_feature_weights_of_constructor_and_fit():
    X, y = numbers()
    weights = [1.0, 2.0, 3.0, 4.0]
    by_constructor = XGBRegressor(n_estimators=3, colsample_bytree=0.5, feature_weights=weights).fit(X, y)
    by_fit = XGBRegressor(n_estimators=3, colsample_bytree=0.5).fit(X, y, feature_weights=weights)
    assert np.array_equal(by_constructor.predict(X), by_fit.predict(X))
    with pytest.raises(ParameterError, match="`feature_weights` of XGBRegressor is given twice"):
        XGBRegressor(feature_weights=weights).fit(X, y, feature_weights=weights)


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


# ------------------------------------------------------------------ random forests, XGBModel


@pytest.mark.parametrize(
    ("ours", "theirs", "data"),
    [
        (XGBRFRegressor, xgboost.XGBRFRegressor, numbers),
        (XGBRFClassifier, xgboost.XGBRFClassifier, three_classes),
    ],
)
def test_forests_are_as_xgboosts(ours, theirs, data):
    X, y = data(n=400)
    model = ours(n_estimators=30, max_depth=4).fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    peer = theirs(n_estimators=30, max_depth=4)
    peer.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    (name,) = peer.evals_result()["validation_0"]
    (a,), (b,) = model.evals_result()["validation_0"][name], peer.evals_result()["validation_0"][name]
    assert abs(a - b) < 0.1 * b
    assert model.apply(X).shape == peer.apply(X).shape
    assert model.get_num_boosting_rounds() == peer.get_num_boosting_rounds() == 1
    assert ours(n_estimators=7).get_xgb_params() == theirs(n_estimators=7).get_xgb_params()
    assert isinstance(model, XGBModel)


def test_forests_have_xgboosts_defaults_and_same_bits():
    X, y = numbers()
    by_hand = XGBRegressor(
        n_estimators=1,
        num_parallel_tree=9,
        learning_rate=1,
        subsample=0.8,
        colsample_bynode=0.8,
        reg_lambda=1e-5,
    )
    forest = XGBRFRegressor(n_estimators=9, n_jobs=1).fit(X, y)
    assert np.array_equal(forest.predict(X), by_hand.fit(X, y).predict(X))
    assert np.array_equal(forest.predict(X), XGBRFRegressor(n_estimators=9, n_jobs=2).fit(X, y).predict(X))
    assert (forest.forest_.n_trees, forest.n_rounds_) == (9, 1)
    other_name = XGBRFRegressor(n_estimators=9, eta=0.5, **{"lambda": 1.0}).fit(X, y)
    renamed = XGBRFRegressor(n_estimators=9, learning_rate=0.5, reg_lambda=1.0).fit(X, y)
    assert np.array_equal(other_name.predict(X), renamed.predict(X))
    assert repr(XGBRFRegressor(n_estimators=9)) == "XGBRFRegressor(n_estimators=9)"


@pytest.mark.parametrize("params", [{"early_stopping_rounds": 3}, {"early_stopping": 0.2}, {"callbacks": []}])
def test_forests_have_one_round(params):
    X, y = numbers()
    with pytest.raises(NotImplementedError, match=r"not implemented for random forest.*XGBRegressor"):
        XGBRFRegressor(**params).fit(X, y, eval_set=[(X, y)])
    with pytest.raises(ParameterError, match=r"`num_parallel_tree` .* is 3.*`n_estimators` is the number"):
        XGBRFRegressor(n_estimators=5, num_parallel_tree=3).fit(X, y)


@pytest.mark.parametrize(
    "model", [XGBRFClassifier(n_estimators=3), XGBRFRegressor(n_estimators=3), XGBModel(n_estimators=3)]
)
def test_a_file_keeps_forests_and_models(model, tmp_path):
    X, y = (three_classes if is_classifier(model) else numbers)()
    model.fit(X, y).save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.predict(X), model.predict(X))
    loaded.save(tmp_path / "again.weald")
    assert (tmp_path / "m.weald").read_bytes() == (tmp_path / "again.weald").read_bytes()


def test_xgb_model_is_what_all_are_of():
    X, y = two_classes()
    truth = (y == "yes").astype(float)
    for estimator in (XGBClassifier, XGBRegressor, XGBRanker, XGBRFClassifier, XGBRFRegressor):
        assert issubclass(estimator, XGBModel)
    model = XGBModel(objective="binary:logistic", n_estimators=5).fit(X, truth, eval_set=[(X, truth)])
    assert not is_classifier(model)
    assert not is_regressor(model)
    chances = XGBClassifier(n_estimators=5).fit(X, y).predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X), chances)
    assert list(model.evals_result()["validation_0"]) == ["logloss"]


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


# ------------------------------------------------------------------ arguments that are elsewhere


@pytest.mark.parametrize(
    ("argument", "way_out"),
    [
        ("early_stopping_rounds", r"constructor: XGB\w+\(early_stopping_rounds=\.\.\.\), or set_params"),
        ("eval_metric", r"constructor: XGB\w+\(eval_metric"),
        ("callbacks", r"constructor: XGB\w+\(callbacks"),
        ("n_estimators", "constructor"),
        ("verbose_eval", "Use verbose"),
        ("evals", r"eval_set=\[\(X_test, y_test\)\]"),
        ("sample_weigth", "Did you mean `sample_weight`"),
        ("eval_names", "validation_0"),
        ("zzz", "It takes X, y"),
    ],
)
@pytest.mark.parametrize("model", [XGBClassifier, XGBRegressor, XGBRanker, XGBRFClassifier])
def test_fit_says_where_an_argument_belongs(model, argument, way_out):
    X, y, _ = queries()
    with pytest.raises(
        ArgumentError, match=rf"{model.__name__}.fit has no argument `{argument}`.*{way_out}"
    ) as said:
        model().fit(X, y, **{argument: 3})
    assert isinstance(said.value, TypeError)


@pytest.mark.parametrize(
    ("argument", "way_out"),
    [
        ("ntree_limit", r"iteration_range=\(0, n\)"),
        ("pred_contribs", r"get_booster\(\)\.predict\(weald\.DMatrix\(X\), pred_contribs=True\)"),
        ("pred_interactions", "pred_contribs=True"),
        ("pred_leaf", r"apply\(X\)"),
        ("data", "called X"),
        ("output_margins", "Did you mean `output_margin`"),
    ],
)
def test_predict_says_where_an_argument_belongs(argument, way_out):
    X, y = two_classes()
    for model in (XGBClassifier(n_estimators=1).fit(X, y), XGBRegressor(n_estimators=1).fit(X, X[:, 0])):
        with pytest.raises(ArgumentError, match=f"predict has no argument `{argument}`.*{way_out}"):
            model.predict(X, **{argument: True})
    with pytest.raises(ArgumentError, match="predict_proba has no argument `ntree_limit`"):
        XGBClassifier(n_estimators=1).fit(X, y).predict_proba(X, ntree_limit=1)


def test_weights_by_position_are_taken_with_a_warning():
    X, y = numbers()
    weight = np.arange(len(y)) + 1.0
    with pytest.warns(FutureWarning, match="Give sample_weight=... by name") as caught:
        model = XGBRegressor(n_estimators=2).fit(X, y, weight)
    assert caught[0].filename == __file__
    expected = XGBRegressor(n_estimators=2).fit(X, y, sample_weight=weight)
    assert np.array_equal(model.predict(X), expected.predict(X))
    with pytest.raises(ArgumentError, match=r"by position. Give sample_weight, base_margin"):
        model.fit(X, y, weight, sample_weight=weight)
