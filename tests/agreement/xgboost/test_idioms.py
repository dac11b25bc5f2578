"""Code that uses xgboost's native names runs with weald's, and says the same: DMatrix, train, cv, Booster."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse
from sklearn.model_selection import KFold

import weald

EXACT = {"tree_method": "exact", "max_depth": 3}


def rows(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2).astype(np.float32)
    X[::9, 2] = np.nan
    return X, X[:, 0] - 2 * (X[:, 1] > 0) + 0.1 * rng.normal(size=n)


def labels(kind):
    X, y = rows()
    return X, (np.digitize(y, [-1.0, 0.5]) if kind == "multi" else (y > 0).astype(float))


def both(params, X, y, n_rounds, **data):
    """A booster of each library, and the matrices they were trained on."""
    pairs = []
    for library in (weald, xgboost):
        matrix = library.DMatrix(X, label=y, **data)
        pairs.append((library.train(params, matrix, n_rounds, verbose_eval=False), matrix))
    return pairs


@pytest.mark.parametrize(
    ("objective", "kind"),
    [
        (None, "number"),
        ("reg:logistic", "two"),
        ("binary:logistic", "two"),
        ("binary:logitraw", "two"),
        ("binary:hinge", "two"),
        ("multi:softmax", "multi"),
        ("multi:softprob", "multi"),
        ("count:poisson", "two"),
    ],
)
def test_predictions_are_those_of_xgboosts_booster(objective, kind):
    X, y = rows() if kind == "number" else labels(kind)
    params = EXACT | ({} if objective is None else {"objective": objective})
    params |= {"num_class": 3} if kind == "multi" else {}
    (ours, mine), (theirs, yours) = both(params, X, y, 5)
    for options in ({}, {"output_margin": True}, {"strict_shape": True}, {"iteration_range": (1, 3)}):
        said, expected = ours.predict(mine, **options), theirs.predict(yours, **options)
        assert said.shape == expected.shape, options
        assert np.allclose(said, expected, atol=2e-4), options
    for strict in (False, True):
        said = ours.predict(mine, pred_leaf=True, strict_shape=strict)
        expected = theirs.predict(yours, pred_leaf=True, strict_shape=strict)
        assert said.shape == expected.shape
        assert (said == expected).mean() > 0.99  # rounding to float32 may send a row elsewhere
    assert np.array_equal(ours.inplace_predict(X), ours.predict(mine))
    assert (
        ours.inplace_predict(X, predict_type="margin").shape
        == theirs.predict(yours, output_margin=True).shape
    )


def test_weights_margins_and_queries_of_a_matrix_count():
    X, y = rows()
    rng = np.random.default_rng(1)
    weight, margin = rng.random(150), rng.normal(size=150)
    (ours, mine), (theirs, yours) = both(EXACT, X, y, 4, weight=weight, base_margin=margin)
    assert np.allclose(ours.predict(mine), theirs.predict(yours), atol=1e-4)
    assert np.allclose(mine.get_weight(), yours.get_weight())
    assert np.allclose(mine.get_base_margin(), yours.get_base_margin())
    grade, qid = np.digitize(y, [-1, 0, 1]), np.repeat(np.arange(15), 10)
    params = EXACT | {"objective": "rank:ndcg", "eval_metric": "ndcg@3"}
    logs = []
    for library in (weald, xgboost):
        matrix = library.DMatrix(X, label=grade, qid=qid, weight=np.linspace(1, 2, 15))
        log = {}
        library.train(params, matrix, 3, evals=[(matrix, "d")], evals_result=log, verbose_eval=False)
        logs.append(log["d"]["ndcg@3"])
        assert list(matrix.get_group()) == [10] * 15
    assert np.allclose(*logs, atol=0.02)


def test_dumps_are_worded_as_xgboosts():
    X, y = rows()
    (ours, _), (theirs, _) = both(EXACT, X, y, 3)
    number = re.compile(r"(?<=[<=])-?[\d.]+(?:e-?\d+)?(?=[\],\n])")
    unseen = re.compile(r"missing=\d+")  # a node that saw nothing missing sends it to the larger child
    for one, other in zip(ours.get_dump(with_stats=True), theirs.get_dump(with_stats=True), strict=True):
        one, other = unseen.sub("missing", one), unseen.sub("missing", other)
        assert number.sub("#", one) == number.sub("#", other)  # columns, nodes and where they lead
        told, expected = ([float(x) for x in number.findall(text)] for text in (one, other))
        assert np.allclose(told, expected, rtol=1e-3, atol=1e-3)
    for one, other in zip(
        ours.get_dump(dump_format="json"), theirs.get_dump(dump_format="json"), strict=True
    ):
        told, expected = json.loads(one), json.loads(other)
        assert told.keys() == expected.keys()
        assert all(told[name] == expected[name] for name in ("nodeid", "depth", "split", "yes", "no"))
    frame, expected = ours.trees_to_dataframe(), theirs.trees_to_dataframe()
    assert list(frame.columns) == list(expected.columns)
    same = ["Tree", "Node", "ID", "Feature", "Yes", "No"]
    pd.testing.assert_frame_equal(frame[same], expected[same])
    for kind in ("weight", "gain", "cover", "total_gain", "total_cover"):
        score, other = ours.get_score(importance_type=kind), theirs.get_score(importance_type=kind)
        assert score.keys() == other.keys()
        assert all(np.isclose(score[name], other[name], rtol=1e-3) for name in score), kind
    assert ours.get_fscore() == theirs.get_fscore()


@pytest.mark.parametrize("near", [False, True])
def test_dumped_rows_go_where_predictions_say(near):
    """What `<` says of the shown threshold holds for every float32 value, also for the threshold itself."""
    X, y = rows()
    if near:  # neighbours, between which float32 has no number: half of the thresholds round to the lower one
        steps = np.arange(150)
        X, y = (1 + steps[:, np.newaxis] * np.finfo(np.float32).eps).astype(np.float32), np.sin(steps / 4)
    matrix = weald.DMatrix(X, label=y)
    booster = weald.train(EXACT, matrix, 2)
    leaves = booster.predict(matrix, pred_leaf=True)
    frame = booster.trees_to_dataframe().set_index("ID")
    for i in range(len(X)):
        node = "0-0"
        while frame.Feature[node] != "Leaf":
            value = X[i, int(frame.Feature[node][1:])]
            way = "Missing" if np.isnan(value) else "Yes" if value < np.float32(frame.Split[node]) else "No"
            node = frame[way][node]
        assert int(node[2:]) == leaves[i, 0]


def test_learning_curves_early_stopping_and_going_on():
    X, y = rows(300)
    logs, boosters = [], []
    for library in (weald, xgboost):
        train, valid = library.DMatrix(X[:200], y[:200]), library.DMatrix(X[200:], y[200:])
        log = {}
        booster = library.train(
            EXACT | {"eval_metric": ["mae", "rmse"], "eta": 0.5},
            train,
            100,
            evals=[(train, "train"), (valid, "valid")],
            early_stopping_rounds=3,
            evals_result=log,
            verbose_eval=False,
        )
        logs.append(log)
        boosters.append((booster, library.train(EXACT, train, 4, xgb_model=booster), valid))
    (ours, onward, mine), (theirs, further, yours) = boosters
    assert list(logs[0]) == ["train", "valid"]
    assert list(logs[0]["valid"]) == ["mae", "rmse"]
    n = min(ours.num_boosted_rounds(), theirs.num_boosted_rounds())
    assert np.allclose(logs[0]["valid"]["rmse"][:n], logs[1]["valid"]["rmse"][:n], atol=2e-3)
    assert ours.best_iteration == theirs.best_iteration
    assert ours.num_boosted_rounds() == theirs.num_boosted_rounds() == ours.best_iteration + 4
    assert ours.attributes().keys() == theirs.attributes().keys()
    assert onward.num_boosted_rounds() == further.num_boosted_rounds()
    # As in xgboost all rounds predict, unless those up to the best are asked for.
    best = (0, ours.best_iteration + 1)
    assert np.isclose(ours.predict(mine), theirs.predict(yours), atol=1e-2).mean() > 0.95  # but for ties
    said = ours.predict(mine, iteration_range=best)
    assert not np.array_equal(said, ours.predict(mine))
    assert np.array_equal(said, ours.predict(mine, ntree_limit=best[1]))
    assert np.array_equal(said, ours[: best[1]].predict(mine))


def test_functions_of_ones_own_get_scores_and_the_matrix():
    X, y = labels("two")

    def logistic(predt, dtrain):
        p = 1 / (1 + np.exp(-predt))
        assert dtrain.num_row() == len(predt)
        return p - dtrain.get_label(), p * (1 - p)

    def own_error(predt, dmatrix):
        predt[:] = predt > 0  # scores are the function's own
        return "own", float((predt != dmatrix.get_label()).mean())

    results = []
    for library in (weald, xgboost):
        matrix = library.DMatrix(X, label=y)
        log = {}
        params = EXACT | {"objective": "binary:logistic", "base_score": 0.5}
        booster = library.train(
            params,
            matrix,
            5,
            obj=logistic,
            custom_metric=own_error,
            evals=[(matrix, "d")],
            evals_result=log,
            verbose_eval=False,
        )
        plain = library.train(params, matrix, 5)
        assert np.allclose(booster.predict(matrix), plain.predict(matrix), atol=1e-4)
        results.append((log, booster.predict(matrix)))
    assert list(results[0][0]["d"]) == list(results[1][0]["d"]) == ["logloss", "own"]
    assert np.allclose(results[0][0]["d"]["own"], results[1][0]["d"]["own"])
    assert np.allclose(results[0][1], results[1][1], atol=1e-4)


def test_a_metric_without_an_objective_gets_predictions():
    X, y = labels("multi")
    for objective, shape in (("multi:softmax", (150,)), ("multi:softprob", (150, 3))):
        seen = []

        def metrics(predt, dmatrix, seen=seen):
            seen.append(predt.shape)
            return [("one", 1.0), ("two", 2.0)]

        for library in (weald, xgboost):
            matrix = library.DMatrix(X, label=y)
            log = {}
            params = {"objective": objective, "num_class": 3}
            library.train(
                params,
                matrix,
                2,
                custom_metric=metrics,
                evals=[(matrix, "d")],
                evals_result=log,
                verbose_eval=False,
            )
            assert list(log["d"]) == ["mlogloss", "one", "two"]
        assert set(seen) == {shape}


def test_an_objective_with_classes_of_its_own():
    """As in xgboost: several scores per row by `num_class`, and raw scores as predictions."""
    X, y = labels("multi")

    def softmax(predt, dtrain):
        assert predt.shape == (150, 3)
        e = np.exp(predt - predt.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        hot = np.eye(3)[dtrain.get_label().astype(int)]
        return p - hot, np.maximum(2 * p * (1 - p), 1e-6)

    matrix = weald.DMatrix(X, label=y)
    start = {"num_class": 3, "base_score": np.full(3, 1 / 3)}
    own = weald.train(EXACT | start | {"disable_default_eval_metric": True}, matrix, 4, obj=softmax)
    named = weald.train(EXACT | start | {"objective": "multi:softmax"}, matrix, 4)
    raw = own.predict(matrix)
    assert raw.shape == (150, 3)
    assert np.array_equal(raw.argmax(axis=1), named.predict(matrix))


def test_cv_is_that_of_xgboost():
    X, y = labels("two")
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    params = EXACT | {"objective": "binary:logistic"}

    def weigh(dtrain, dtest, param):
        label = dtrain.get_label()
        param["scale_pos_weight"] = float((label == 0).sum() / (label == 1).sum())
        return dtrain, dtest, param

    def raw_error(predt, dmatrix):
        return "own", float(((predt > 0) != dmatrix.get_label()).mean())

    def logistic(predt, dtrain):
        p = 1 / (1 + np.exp(-predt))
        return p - dtrain.get_label(), p * (1 - p)

    for options in (
        {"metrics": {"error"}},
        {"metrics": ["logloss", "auc"], "fpreproc": weigh},
        {"obj": logistic, "custom_metric": raw_error},
        {"metrics": "logloss", "early_stopping_rounds": 2},
    ):
        tables = []
        for library in (weald, xgboost):
            matrix = library.DMatrix(X, label=y)
            tables.append(library.cv(params, matrix, 6, folds=folds, as_pandas=False, **options))
        ours, theirs = tables
        assert ours.keys() == theirs.keys(), options
        assert all(np.allclose(ours[name], theirs[name], atol=5e-3) for name in ours), options
    assert len(weald.cv(params, weald.DMatrix(X, label=y), 4, nfold=5)) == 4


def test_cv_of_queries_keeps_them_whole():
    X, y = rows()
    seen = []

    def look(dtrain, dtest, param):
        seen.append((dtrain.get_group().sum(), dtest.get_group().tolist()))
        return dtrain, dtest, param

    matrix = weald.DMatrix(X, label=np.digitize(y, [-1, 0, 1]), group=[10] * 15)
    weald.cv({"objective": "rank:pairwise"}, matrix, 2, nfold=3, fpreproc=look)
    assert [n for n, _ in seen] == [100] * 3
    assert [sizes for _, sizes in seen] == [[10] * 5] * 3


def test_tables_of_all_kinds_give_one_model():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    dense = weald.train(EXACT, weald.DMatrix(X, label=y, feature_names=list("abcd")), 3)
    named = weald.train(EXACT, weald.DMatrix(frame, label=y), 3)
    assert named.feature_names == dense.feature_names == list("abcd")
    assert named.get_dump() == dense.get_dump()
    whole = np.nan_to_num(X)
    csr = weald.train(EXACT, weald.DMatrix(sparse.csr_matrix(whole), label=y), 3)
    assert csr.get_dump() == weald.train(EXACT, weald.DMatrix(whole, label=y), 3).get_dump()
    quantile = weald.QuantileDMatrix(X, label=y, max_bin=16)
    assert (
        weald.train({}, quantile, 3).get_dump()
        == weald.train({"max_bin": 16}, weald.DMatrix(X, y), 3).get_dump()
    )


def test_names_are_checked_as_xgboost_does():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    for library in (weald, xgboost):
        named = library.train(EXACT, library.DMatrix(frame, label=y), 2)
        plain = library.train(EXACT, library.DMatrix(X, label=y), 2)
        with pytest.raises(ValueError, match="data did not contain feature names"):
            named.predict(library.DMatrix(X))
        with pytest.raises(ValueError, match=r"feature[ _]names"):
            named.predict(library.DMatrix(frame.rename(columns={"a": "z"})), validate_features=True)
        said = named.predict(library.DMatrix(frame), validate_features=False)
        assert np.allclose(said, plain.predict(library.DMatrix(frame)), atol=1e-6)
    turned = weald.DMatrix(frame[["d", "c", "b", "a"]])
    ours = weald.train(EXACT, weald.DMatrix(frame, label=y), 2)
    assert np.array_equal(ours.predict(turned), ours.predict(weald.DMatrix(frame)))


def test_the_booster_of_an_estimator():
    X, y = labels("multi")
    names = np.array(["low", "mid", "high"])
    model = weald.XGBClassifier(n_estimators=4, max_depth=3).fit(X, names[y])
    booster = model.get_booster()
    assert booster is model.get_booster()
    assert booster.num_boosted_rounds() == 4
    assert booster.num_features() == 4
    assert np.array_equal(booster.predict(weald.DMatrix(X)), model.predict_proba(X))
    assert booster.get_score(importance_type="gain") == {
        f"f{j}": value for j, value in enumerate(model.importances("gain")) if value
    }
    booster.set_attr(owner="me", gone="x")
    booster.set_attr(gone=None)
    assert model.get_booster().attributes() == {"owner": "me"}
    assert pickle.loads(pickle.dumps(model)).get_booster().attr("owner") == "me"
    model.fit(X, names[y])
    assert model.get_booster().attr("owner") is None
    types = ["q", "c", "q", "q"]
    typed = weald.XGBRegressor(n_estimators=2, feature_types=types).fit(np.nan_to_num(X).round(), y)
    assert typed.get_booster().feature_types == types


def test_callbacks_see_a_booster():
    X, y = rows()
    matrix = weald.DMatrix(X, label=y)
    seen = []

    class Look(weald.callback.TrainingCallback):
        def before_training(self, model):
            model.set_attr(mark="begun")
            return model

        def after_iteration(self, model, epoch, evals_log):
            seen.append((model.num_boosted_rounds(), len(model.get_dump()), model.attr("mark")))
            self.said = model.predict(matrix)
            self.half = model[: epoch // 2 + 1].num_boosted_rounds()
            return epoch == 3

    look = Look()
    booster = weald.train(EXACT, matrix, 10, evals=[(matrix, "d")], callbacks=[look])
    assert seen == [(n, n, "begun") for n in (1, 2, 3, 4)]
    assert look.half == 2
    assert np.array_equal(look.said, booster.predict(matrix))
    assert booster.attributes() == {"mark": "begun"}
    model = weald.XGBRegressor(n_estimators=3, max_depth=2, callbacks=[Look()]).fit(X, y)
    assert seen[-1] == (3, 3, "begun")
    assert model.n_rounds_ == 3
