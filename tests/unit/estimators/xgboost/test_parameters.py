"""The parameters of `XGB*`: xgboost's names, aliases, ranges, and what weald does not have."""

import inspect

import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

import weald
from weald import XGBClassifier, XGBRanker, XGBRegressor
from weald.errors import DataError, ParameterError
from weald.estimators.xgboost.options import DEFAULTS, XGBOptions, read_options, seed_of

ALL = (XGBClassifier, XGBRegressor, XGBRanker)
NATIVE = (
    *(
        "eta",
        "alpha",
        "nthread",
        "seed",
        "min_split_loss",
        "sampling_method",
        "sample_type",
        "normalize_type",
    ),
    *("rate_drop", "one_drop", "skip_drop", "tweedie_variance_power", "huber_slope", "quantile_alpha"),
    *("num_class", "num_target", "lambdarank_pair_method", "lambdarank_num_pair_per_sample"),
    *("lambdarank_normalization", "lambdarank_unbiased", "lambdarank_bias_norm", "ndcg_exp_gain"),
    *("lambdarank_score_normalization", "max_cached_hist_node", "refresh_leaf", "process_type", "updater"),
    *("seed_per_iteration", "disable_default_eval_metric"),
)


def options(**params):
    return read_options("XGBRegressor", XGBRegressor(**params).get_params())


@pytest.mark.parametrize("model", ALL)
def test_every_name_of_xgboost_is_a_parameter(model):
    ours = set(inspect.signature(model).parameters)
    for theirs in (xgboost.XGBModel, getattr(xgboost, model.__name__)):
        names = set(inspect.signature(theirs).parameters) - {"kwargs"}
        assert names <= ours
    assert set(NATIVE) <= ours


@pytest.mark.parametrize("model", ALL)
def test_init_only_stores_and_clone_gives_the_same(model):
    given = model(max_depth=3, eta=0.1, monotone_constraints={"a": 1}, early_stopping=0.2)
    assert given.get_params()["max_depth"] == 3
    assert clone(given).get_params() == given.get_params()
    shown = given.get_xgb_params()
    assert {name: value for name, value in shown.items() if value is not None} == {
        "max_depth": 3,
        "eta": 0.1,
        "monotone_constraints": {"a": 1},
        "objective": getattr(xgboost, model.__name__)().objective,
    }
    assert model().get_xgb_params() == getattr(xgboost, model.__name__)().get_xgb_params()


def test_the_record_has_every_parameter():
    names = set(inspect.signature(XGBClassifier).parameters)
    assert set(XGBOptions.__dataclass_fields__) == names


def test_none_means_the_default():
    found = options()
    assert all(getattr(found, name) == value for name, value in DEFAULTS.items() if name != "missing")
    assert found.n_estimators == 100
    assert seed_of(found) == 0


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("eta", "learning_rate"),
        ("nthread", "n_jobs"),
        ("seed", "random_state"),
        ("alpha", "reg_alpha"),
        ("lambda_", "reg_lambda"),
        ("lambda", "reg_lambda"),
        ("min_split_loss", "gamma"),
    ],
)
def test_aliases_are_the_same_parameter(alias, name):
    assert getattr(options(**{alias: 1}), name) == 1
    assert getattr(options(**{alias: 1, name: 1}), name) == 1
    with pytest.raises(ParameterError, match=f"`{name}` and `{alias.rstrip('_')}_?` .* differ"):
        options(**{alias: 1, name: 2})


@pytest.mark.parametrize("alias", ["nthread", "n_jobs"])
def test_threads_of_predictions_have_two_names(alias, monkeypatch):
    model = XGBRegressor(n_estimators=2, **{alias: 1}).fit([[0.0], [1.0]], [0.0, 1.0])
    seen = []
    monkeypatch.setattr("weald.estimators.xgboost.predict.thread_count", lambda n: seen.append(n) or 1)
    monkeypatch.setattr("weald.estimators.xgboost.native.reading.thread_count", lambda n: seen.append(n) or 1)
    model.predict([[0.5]])
    matrix = weald.DMatrix([[0.0], [1.0]], [0.0, 1.0])
    weald.train({alias: 1}, matrix, 2).predict(matrix, pred_contribs=True)
    assert seen == [1, 1]


def test_lambda_can_be_set_as_in_xgboost():
    assert XGBRegressor(**{"lambda": 2}).lambda_ == 2
    assert XGBRegressor().set_params(**{"lambda": 3}).lambda_ == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_dept": 3}, r"`max_dept` is no parameter of XGBRegressor; did you mean `max_depth`\?"),
        ({"feature_selector": "cyclic"}, "gblinear.*linear models"),
        ({"aft_loss_distribution": "normal"}, "survival"),
        ({"lr": 0.1}, "Use learning_rate"),
        ({"num_leaves": 31}, "max_leaves, with grow_policy='lossguide'"),
    ],
)
def test_unknown_names_raise_with_the_way_out(wrong, message):
    with pytest.raises(ParameterError, match=message):
        XGBRegressor(**wrong)
    with pytest.raises(ParameterError, match=message):
        XGBRegressor().set_params(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"max_bin": 1},
            "`max_bin` of XGBRegressor must be None or a whole number from 2 to 65535; got 1. Use 255",
        ),
        ({"max_bin": 65536}, "from 2 to 65535"),
        ({"booster": "gblinear"}, "booster='gblinear' of XGBRegressor is not in weald.*linear models"),
        ({"tree_method": "hists"}, "Did you mean 'hist'"),
        ({"device": "tpu"}, "`device` .* got 'tpu'.*CPU"),
        ({"updater": "prune"}, "`updater` .*no updaters; choose the method by `tree_method`"),
        ({"process_type": "update"}, "`process_type` .*does not update old trees"),
        ({"objective": "survival:cox"}, "survival"),
        ({"objective": "reg:squareerror"}, "reg:squarederror"),
        ({"learning_rate": -0.1}, "`learning_rate` .* at least 0"),
        ({"n_estimators": -1}, "`n_estimators` .* at least 0"),
        ({"subsample": 1.5}, "`subsample`.* at most 1"),
        ({"rate_drop": 0.1}, "booster='dart'"),
        ({"quantile_alpha": 1.5, "objective": "reg:quantileerror"}, "quantile_alpha"),
        ({"early_stopping": (1, 2, 3)}, r"\(X, y\)"),
        ({"early_stopping": 1.0}, "`early_stopping`"),
        ({"early_stopping_rounds": 5}, "Must have at least 1 validation dataset.*early_stopping=0.1"),
        ({"class_weight": "balanced"}, "no classes"),
        ({"feature_types": ["q", "z"]}, "'z'"),
        ({"feature_types": ["q"]}, "1 entries .* 4 columns"),
        ({"feature_types": ["q"] * 4, "categorical_features": [0]}, "both"),
        ({"feature_weights": [1, 2]}, "4 columns"),
        ({"feature_weights": [1, 2, -1, 0]}, "column 2"),
        ({"feature_weights": [0, 0, 0, 0]}, "all 0"),
        ({"num_target": 3}, "y has 1 columns"),
        ({"base_score": [0.5, 0.5]}, "base_score"),
        ({"monotone_constraints": (1, 0)}, "4 features"),
        ({"monotone_constraints": {"z": 1}}, "'z'"),
        ({"monotone_constraints": {0: 2}}, "-1, 0 or 1"),
        ({"monotone_constraints": "(1,"}, "cannot be read"),
        ({"interaction_constraints": [[0, 9]]}, "column 9"),
        ({"interaction_constraints": [[0, 0]]}, "twice"),
        ({"interaction_constraints": [0, 1]}, "list of lists"),
        ({"interaction_constraints": "[[0, 1]"}, "cannot be read"),
        ({"eval_metric": "rmsee", "early_stopping": 0.2}, "rmse"),
    ],
)
def test_values_out_of_range_raise_at_fit(wrong, message):
    X, y = numbers()
    with pytest.raises((ParameterError, DataError), match=message):
        XGBRegressor(**{"n_estimators": 2, **wrong}).fit(X, y)


def test_named_columns_are_constrained_once():
    X, y = numbers()
    table = {name: X[:, j] for j, name in enumerate("abcd")}
    with pytest.raises(ParameterError, match="'a' twice: by name and by position"):
        XGBRegressor(monotone_constraints={"a": 1, 0: -1}).fit(table, y)
    with pytest.raises(ParameterError, match="categories have no order"):
        XGBRegressor(monotone_constraints={"a": 1}, categorical_features=["a"]).fit(table, y)


def test_what_is_about_execution_changes_nothing():
    X, y = numbers()
    plain = XGBRegressor(n_estimators=5).fit(X, y).predict(X)
    accepted = XGBRegressor(
        n_estimators=5,
        verbosity=2,
        nthread=1,
        device="cpu",
        enable_categorical=True,
        validate_parameters=True,
        seed_per_iteration=True,
        max_cached_hist_node=7,
        refresh_leaf=1,
        process_type="default",
        num_target=1,
    )
    assert np.array_equal(accepted.fit(X, y).predict(X), plain)


def test_a_generator_is_asked_once():
    draws = {seed_of(options(random_state=np.random.RandomState(3))) for _ in range(2)}
    assert len(draws) == 1
    assert seed_of(options(random_state=np.random.default_rng(3))) >= 0


@pytest.mark.parametrize(
    ("params", "n", "method", "bins"),
    [
        ({}, 200, "exact", None),
        ({}, 5000, "hist", 255),
        ({"tree_method": "auto", "max_bin": 16}, 200, "hist", 16),
        ({"tree_method": "hist"}, 200, "hist", 255),
        ({"tree_method": "approx"}, 200, "approx", 33),
        ({"tree_method": "exact"}, 5000, "exact", None),
        ({"tree_method": "exact", "max_bin": 10}, 200, "exact", None),
    ],
)
def test_the_chosen_method_can_be_read(params, n, method, bins):
    X, y = numbers(n=n)
    model = XGBRegressor(n_estimators=1, **params).fit(X, y)
    assert (model.tree_method_, model.max_bin_) == (method, bins)


@pytest.mark.parametrize("form", ["(0, 1, 0, 0)", (0, 1, 0, 0), {1: 1}, "[0,1,0,0]"])
def test_monotone_constraints_in_every_form(form):
    X, _ = numbers()
    y = -X[:, 1]
    model = XGBRegressor(n_estimators=5, monotone_constraints=form).fit(X, y)
    line = np.zeros((50, 4))
    line[:, 1] = np.linspace(-2, 2, 50)
    assert np.all(np.diff(model.predict(line)) >= 0)


@pytest.mark.parametrize("form", ["[[0, 1], [2, 3]]", [[0, 1], [2, 3]], [("0", "1"), ["2", "3"]]])
def test_interaction_constraints_in_every_form(form):
    X, y = numbers()
    table = {str(j): X[:, j] for j in range(4)}
    model = XGBRegressor(n_estimators=5, max_depth=3, interaction_constraints=form).fit(table, y * X[:, 2])
    forest = model.forest_
    for t in range(forest.n_trees):
        nodes = np.arange(forest.tree_start[t], forest.tree_start[t + 1])
        used = {int(c) for c in forest.column[forest.slot[nodes][forest.slot[nodes] >= 0]]}
        root = forest.column[forest.slot[nodes[0]]] if used else 0
        assert used <= ({0, 1} if root < 2 else {2, 3})


def test_classes_and_objectives_must_fit():
    X, y = three_classes()
    with pytest.raises(DataError, match="two classes, and y has 3"):
        XGBClassifier(objective="binary:hinge").fit(X, y)
    with pytest.raises(ParameterError, match="Use XGBRegressor"):
        XGBClassifier(objective="reg:squarederror").fit(X, y)
    with pytest.raises(ParameterError, match="Use XGBRanker"):
        XGBRegressor(objective="rank:ndcg").fit(X, y)
    with pytest.raises(ParameterError, match="`num_class` of XGBClassifier is 5, and y has 3"):
        XGBClassifier(num_class=5).fit(X, y)
    with pytest.raises(ParameterError, match="none for ranking"):
        XGBRanker(objective="reg:squarederror").fit(X, y, qid=np.zeros(len(X)))


def test_missing_can_be_a_number():
    X, y = two_classes()
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    a = XGBClassifier(n_estimators=3).fit(np.where(holes, np.nan, X), y)
    b = XGBClassifier(n_estimators=3, missing=-999).fit(np.where(holes, -999.0, X), y)
    assert np.array_equal(
        a.predict_proba(np.where(holes, np.nan, X)), b.predict_proba(np.where(holes, -999, X))
    )
