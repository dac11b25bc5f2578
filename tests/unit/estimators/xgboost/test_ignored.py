"""Parameters without effect warn; arguments that belong elsewhere say where."""

import numpy as np
import pytest
from sklearn.base import clone
from unit.estimators.xgboost.data import numbers, queries, three_classes, two_classes

from weald import XGBClassifier, XGBRanker, XGBRegressor, XGBRFClassifier
from weald.errors import ArgumentError, IgnoredParameterWarning, ParameterError

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
    assert fitted.tree_method_ == plain.tree_method_
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
        ("pred_interactions", r"shap_values\(X, interactions=True\)"),
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
