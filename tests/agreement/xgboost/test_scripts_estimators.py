"""Scripts in the manner of xgboost's guides: estimators and data that come in batches.

See test_scripts_native.py, whose twin this is.
"""

import pickle
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pytest
import xgboost
from joblib import parallel_config
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_regression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import weald


@pytest.fixture(params=[weald, xgboost], ids=["weald", "xgboost"])
def xgb(request):
    """What the script calls xgb."""
    return request.param


def test_cat_in_the_dat(xgb):
    """All of it but save_model, which for estimators says that the way is save."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": pd.Categorical(rng.choice(list("uvxyz"), 400)), "size": rng.normal(size=400)})
    y = X.kind.isin(["u", "x"]).astype(int) ^ (rng.random(400) < 0.1)
    areas = []
    for table, enabled in ((X, True), (pd.get_dummies(X), False)):
        model = xgb.XGBClassifier(
            tree_method="hist", n_estimators=8, enable_categorical=enabled, eval_metric="auc"
        )
        model.fit(
            table[:300], y[:300], eval_set=[(table[300:], y[300:]), (table[:300], y[:300])], verbose=False
        )
        assert model.predict_proba(table[300:])[:, 1].shape == (100,)
        areas.append(model.evals_result()["validation_0"]["auc"][-1])
    assert min(areas) > 0.8


def test_cat_pipeline(xgb):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(32, 96, (400, 2)), columns=["brand_id", "shop_id"])
    X["price"], X["on_sale"] = rng.integers(100, 200, 400), rng.choice([True, False], 400)
    y = X.brand_id % 5 + rng.normal(size=400) * 0.1
    coder = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
            make_column_selector(".*_id"),
        ),
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    types = ["c", "c", "q", "q"]
    model = xgb.XGBRegressor(feature_types=types, enable_categorical=True, n_estimators=10)
    steps = make_pipeline(coder, model).fit(X, y)
    assert list(model.get_booster().feature_types) == types
    assert np.array_equal(steps.predict(X[:16]), steps.predict(X)[:16])


def test_categorical(xgb):
    """Levels one against the rest are the table of 0 and 1 in other words."""
    rng = np.random.default_rng(0)
    codes = pd.DataFrame(rng.integers(0, 4, (100, 5)), columns=list("abcde"))
    y = codes.sum(axis=1)
    X = codes.astype(pd.CategoricalDtype(range(4)))
    coded = pd.get_dummies(X)
    model = xgb.XGBRegressor(
        tree_method="hist", enable_categorical=True, max_cat_to_onehot=5, n_estimators=20
    )
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    other = xgb.XGBRegressor(tree_method="hist", n_estimators=20)
    other.fit(coded, y, eval_set=[(coded, y)], verbose=False)
    curves = [each.evals_result()["validation_0"]["rmse"] for each in (model, other)]
    assert np.allclose(*curves, rtol=1e-4)
    booster, matrix = model.get_booster(), xgb.DMatrix(X, enable_categorical=True)
    shares = booster.predict(matrix, pred_contribs=True)
    assert np.allclose(shares.sum(axis=-1), booster.predict(matrix, output_margin=True), rtol=1e-3)


def test_continuation(xgb):
    """From a pickle; from JSON it comes with the reader of xgboost's files."""
    X, y = load_breast_cancer(return_X_y=True)

    def fitted(n_rounds, **options):
        start = options.pop("xgb_model", None)
        model = xgb.XGBClassifier(n_estimators=n_rounds, eval_metric="logloss", max_depth=3, **options)
        return model.fit(X, y, eval_set=[(X, y)], xgb_model=start, verbose=False)

    whole, first = fitted(24), fitted(8)
    assert first.get_booster().num_boosted_rounds() == 8
    both = fitted(16, xgb_model=pickle.loads(pickle.dumps(first)))
    assert both.get_booster().num_boosted_rounds() == 24
    assert np.allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-4)

    def patient():
        return {"callbacks": [xgb.callback.EarlyStopping(rounds=5, save_best=True)]}

    flat = {"learning_rate": 1.0, "gamma": 1.0}  # so that there is nothing left to learn at some time
    best = fitted(100, **patient(), **flat).best_iteration
    first = fitted(4, **patient(), **flat)
    assert first.get_booster().num_boosted_rounds() == 4
    onward = fitted(96, xgb_model=first, **patient(), **flat)
    assert 4 < onward.best_iteration == best < 100


def test_cover_type(xgb):
    """Asked for a graphics card: a warning, and it goes on."""
    X, y = load_iris(return_X_y=True)
    results = []
    for device in ("cuda", "cpu"):
        model = xgb.XGBClassifier(device=device, n_estimators=4)
        if device == "cuda":
            # xgboost itself warns by a build's own rules, or not at all.
            expected = pytest.warns(UserWarning, match="(?i)device") if xgb is weald else catch_warnings()
            with expected:
                if xgb is not weald:
                    simplefilter("ignore")
                model.fit(X, y, eval_set=[(X, y)], verbose=False)
        else:
            model.fit(X, y, eval_set=[(X, y)], verbose=False)
        results.append(model.evals_result())
    assert results[0] == results[1]


def batches_of(xgb, batches, **options):
    """An iterator as the guides write them."""

    class Batches(xgb.DataIter):
        def __init__(self):
            self.at = 0
            super().__init__(**options)

        def next(self, input_data):
            if self.at == len(batches):
                return False
            input_data(**batches[self.at])
            self.at += 1
            return True

        def reset(self):
            self.at = 0

    return Batches()


def test_external_memory(xgb, tmp_path):
    X, y = make_regression(800, 6, n_informative=3, random_state=0)
    parts = [{"data": X[i : i + 200], "label": y[i : i + 200]} for i in range(0, 800, 200)]
    rows = batches_of(xgb, parts, cache_prefix=str(tmp_path / "cache"))
    fits = []
    for matrix, method in (
        (xgb.ExtMemQuantileDMatrix(rows, missing=np.nan, enable_categorical=False), "hist"),
        (xgb.DMatrix(rows, missing=np.nan, enable_categorical=False), "approx"),
    ):
        params = {"tree_method": method, "max_depth": 4, "device": "cpu"}
        booster = xgb.train(params, matrix, evals=[(matrix, "Train")], num_boost_round=10, verbose_eval=False)
        fits.append(booster.predict(matrix))
    assert all(np.corrcoef(fit, y)[0, 1] > 0.9 for fit in fits)


def test_quantile_data_iterator(xgb):
    rng = np.random.default_rng(0)
    parts = [
        {"data": rng.normal(size=(100, 8)), "label": rng.normal(size=100), "weight": rng.random(100)}
        for _ in range(4)
    ]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    matrices = [xgb.QuantileDMatrix(batches_of(xgb, parts)), xgb.DMatrix(**whole)]
    assert matrices[0].num_row() == matrices[1].num_row() == 400
    assert matrices[0].num_col() == matrices[1].num_col() == 8
    one, other = (
        xgb.train({"tree_method": "hist"}, matrix, num_boost_round=10).predict(matrix) for matrix in matrices
    )
    assert np.allclose(one, other, atol=1e-4)


def test_learning_to_rank(xgb):
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(300, 6)).astype(np.float32), np.sort(rng.integers(0, 20, 300))
    grade = np.clip((2 * X[:, 0] + 2).round(), 0, 4).astype(np.int32)
    ranker = xgb.XGBRanker(
        tree_method="hist",
        lambdarank_pair_method="topk",
        lambdarank_num_pair_per_sample=13,
        eval_metric=["ndcg@1", "ndcg@8"],
        n_estimators=20,
    )
    ranker.fit(X, grade, qid=query, eval_set=[(X, grade)], eval_qid=[query], verbose=False)
    assert ranker.evals_result()["validation_0"]["ndcg@8"][-1] > 0.95
    seen = []

    class Count(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            seen.append(model.num_boosted_rounds())
            return False

    clicked = (grade > 2).astype(np.int32)
    ranker = xgb.XGBRanker(
        n_estimators=8,
        tree_method="hist",
        learning_rate=0.01,
        reg_lambda=1.5,
        subsample=0.8,
        objective="rank:ndcg",
        lambdarank_unbiased=True,
        lambdarank_bias_norm=1,
        lambdarank_num_pair_per_sample=12,
        lambdarank_pair_method="topk",
        ndcg_exp_gain=True,
        eval_metric=["ndcg@1", "ndcg@3"],
        callbacks=[Count()],
    )
    ranker.fit(
        X,
        clicked,
        qid=query,
        eval_set=[(X, grade), (X, clicked)],
        eval_qid=[query, query],
        verbose=False,
    )
    assert seen == list(range(1, 9))
    assert list(ranker.evals_result()) == ["validation_0", "validation_1"]
    assert ranker.predict(X).shape == (300,)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_multioutput_regression(xgb, strategy):
    rng = np.random.default_rng(0)
    X = np.sort(200 * rng.random((100, 1)) - 100, axis=0)
    y = np.column_stack([np.sin(X), np.cos(X)])
    model = xgb.XGBRegressor(
        tree_method="hist",
        n_estimators=32,
        n_jobs=2,
        max_depth=8,
        multi_strategy=strategy,
        subsample=0.6,
    )
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    assert model.predict(X).shape == (100, 2)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_multioutput_regression_of_ones_own(xgb, strategy):
    rng = np.random.default_rng(0)
    X = np.sort(200 * rng.random((100, 1)) - 100, axis=0)
    y = np.column_stack([np.sin(X), np.cos(X)])
    matrix = xgb.DMatrix(X, y, nthread=2)

    def squares(predt, dtrain):
        assert dtrain.num_row() == predt.shape[0]
        return predt - dtrain.get_label().reshape(predt.shape), np.ones(predt.shape)

    def rmse(predt, dtrain):
        return "PyRMSE", np.sqrt(np.mean((dtrain.get_label().reshape(predt.shape) - predt) ** 2))

    log = {}
    params = {"tree_method": "hist", "num_target": 2, "nthread": 2, "multi_strategy": strategy}
    booster = xgb.train(
        params,
        dtrain=matrix,
        num_boost_round=16,
        obj=squares,
        evals=[(matrix, "Train")],
        evals_result=log,
        custom_metric=rmse,
    )
    assert booster.inplace_predict(X).shape == (100, 2)
    assert np.allclose(log["Train"]["rmse"], log["Train"]["PyRMSE"], rtol=1e-2)
    assert log["Train"]["rmse"][-1] < 0.5 * log["Train"]["rmse"][0]


def test_predict_first_ntree_of_an_estimator(xgb):
    X, y = load_breast_cancer(return_X_y=True)
    model = xgb.XGBClassifier(n_estimators=3, max_depth=2, eta=1)
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    assert model.n_classes_ == 2
    first = np.mean(model.predict(X, iteration_range=(0, 1)) != y)
    assert np.mean(model.predict(X) != y) < first < 0.2


def test_sklearn_evals_result(xgb):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = (np.sum(X**2, axis=1) > 9.34).astype(int)
    model = xgb.XGBModel(objective="binary:logistic", n_estimators=2, eval_metric="logloss")
    model.fit(X[:300], y[:300], eval_set=[(X[:300], y[:300]), (X[300:], y[300:])], verbose=False)
    log = model.evals_result()
    assert {data: list(metrics) for data, metrics in log.items()} == {
        "validation_0": ["logloss"],
        "validation_1": ["logloss"],
    }
    assert log["validation_0"]["logloss"][1] < log["validation_0"]["logloss"][0]


def test_sklearn_examples(xgb):
    random = np.random.RandomState(31337)  # as the guide has it
    for table, least in ((load_digits(n_class=2), 0.97), (load_iris(), 0.85)):
        X, y = table["data"], table["target"]
        for train, test in KFold(2, shuffle=True, random_state=random).split(X):
            model = xgb.XGBClassifier(n_jobs=1, n_estimators=20).fit(X[train], y[train])
            cells = confusion_matrix(y[test], model.predict(X[test]))
            assert np.trace(cells) / cells.sum() > least
    X, y = make_regression(200, 4, random_state=0)
    search = GridSearchCV(
        xgb.XGBRegressor(n_jobs=1), {"max_depth": [2, 4], "n_estimators": [5, 10]}, n_jobs=1, cv=3
    )
    search.fit(X, y)
    assert np.array_equal(search.predict(X), pickle.loads(pickle.dumps(search)).predict(X))
    X, y = load_breast_cancer(return_X_y=True)
    model = xgb.XGBClassifier(n_jobs=1, early_stopping_rounds=3, eval_metric="auc")
    model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], verbose=False)
    assert model.best_iteration < 99


def test_sklearn_parallel(xgb):
    X, y = make_regression(200, 4, random_state=0)
    model = xgb.XGBRegressor(n_jobs=1, tree_method="hist")
    search = GridSearchCV(model, {"max_depth": [2, 4], "n_estimators": [5, 20]}, n_jobs=2, cv=3)
    with parallel_config(backend="threading"):
        search.fit(X, y)
    assert search.best_params_["n_estimators"] == 20
