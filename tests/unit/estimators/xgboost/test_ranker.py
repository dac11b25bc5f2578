"""`XGBRanker`: queries, their weights, sets, early stopping and what goes wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from unit.estimators.xgboost.data import queries

import weald
from weald import XGBRanker
from weald.errors import DataError, ParameterError


def test_rows_are_put_in_order():
    X, y, qid = queries()
    model = XGBRanker(n_estimators=20).fit(X, y, qid=qid)
    assert model.objective_ == "rank:ndcg"
    scores = model.predict(X)
    assert scores.shape == (len(X),)
    by_query = [ndcg_score([y[qid == q]], [scores[qid == q]]) for q in range(20)]
    assert np.mean(by_query) > 0.95
    assert model.score(X, y, qid=qid) > 0.95
    assert np.array_equal(model.predict(X, output_margin=True), scores)
    assert np.array_equal(list(model.staged_predict(X))[-1], scores)


def test_queries_by_id_or_by_size_are_the_same():
    X, y, qid = queries()
    by_id = XGBRanker(n_estimators=5).fit(X, y, qid=qid)
    by_name = XGBRanker(n_estimators=5).fit(X, y, qid=[f"q{q}" for q in qid])
    by_size = XGBRanker(n_estimators=5).fit(X, y, group=[10] * 20)
    assert np.array_equal(by_id.predict(X), by_size.predict(X))
    assert np.array_equal(by_id.predict(X), by_name.predict(X))
    alone = XGBRanker(n_estimators=5).fit(X, y, qid=np.zeros(200))
    assert np.array_equal(alone.predict(X), XGBRanker(n_estimators=5).fit(X, y, group=[200]).predict(X))


@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg"])
def test_curves_come_near_those_of_xgboost(objective):
    X, y, qid = queries()
    sets = {"eval_set": [(X, y)], "eval_qid": [qid]}
    params = {"n_estimators": 10, "objective": objective, "eval_metric": "ndcg@5"}
    ours = XGBRanker(**params).fit(X, y, qid=qid, **sets)
    theirs = xgboost.XGBRanker(tree_method="exact", **params).fit(X, y, qid=qid, verbose=False, **sets)
    a = ours.evals_result()["validation_0"]["ndcg@5"]
    b = theirs.evals_result()["validation_0"]["ndcg@5"]
    assert np.abs(np.array(a) - b).max() < 0.05


def test_weights_are_of_queries():
    X, y, qid = queries()
    weight = np.arange(20) % 2
    a = XGBRanker(n_estimators=5).fit(X, y, qid=qid, sample_weight=weight)
    by_row = XGBRanker(n_estimators=5).fit(X, y, qid=qid, sample_weight=weight[qid])
    assert np.array_equal(a.predict(X), by_row.predict(X))
    plain = XGBRanker(n_estimators=5).fit(X, y, qid=qid)
    assert not np.array_equal(a.predict(X), plain.predict(X))


def test_early_stopping_of_every_kind():
    X, y, qid = queries(n_queries=40)
    part = qid < 30
    a = XGBRanker(n_estimators=60, early_stopping_rounds=3).fit(
        X[part], y[part], qid=qid[part], eval_set=[(X[~part], y[~part])], eval_qid=[qid[~part]]
    )
    assert a.n_rounds_ < 60
    held = XGBRanker(n_estimators=60, early_stopping=0.25).fit(X, y, qid=qid)
    assert list(held.evals_result()) == ["held_out"]
    folds = XGBRanker(n_estimators=60, early_stopping="cv").fit(X, y, qid=qid)
    assert folds.n_rounds_ == folds.best_iteration + 1


def test_train_and_cv():
    X, y, qid = queries()
    model = weald.train({"objective": "rank:pairwise"}, X, y, 5, qid=qid)
    assert isinstance(model, XGBRanker)
    table = weald.cv({"objective": "rank:ndcg"}, X, y, 4, nfold=4, qid=qid, as_pandas=False)
    assert len(table["test-ndcg@32-mean"]) == 4


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"group": [10] * 19}, DataError, "add up to 190, but there are 200 rows"),
        ({"qid": np.arange(200) % 20}, DataError, "must stand together"),
        ({"qid": np.zeros(200), "group": [200]}, ParameterError, "both `qid` and `group`"),
        ({"group": [200], "sample_weight": [1.0, 2.0]}, DataError, "2 values for 1 queries"),
        ({"group": [200], "eval_qid": [[1]]}, DataError, "eval_qid is given without eval_set"),
    ],
)
def test_queries_that_do_not_add_up(arguments, error, message):
    X, y, _ = queries()
    with pytest.raises(error, match=message):
        XGBRanker().fit(X, y, **arguments)


def test_queries_of_a_set_are_named():
    X, y, qid = queries()
    with pytest.raises(DataError, match=r"eval_set\[0\]: The sizes in group add up to 3"):
        XGBRanker().fit(X, y, qid=qid, eval_set=[(X[:50], y[:50])], eval_group=[[3]])
    with pytest.raises(DataError, match="one relevance per row"):
        XGBRanker().fit(X, np.column_stack([y, y]), qid=qid)
    with pytest.raises(DataError, match="row 3"):
        XGBRanker().fit(X, np.where(np.arange(200) == 3, -1, y), qid=qid)


def test_a_file_keeps_a_ranker(tmp_path):
    X, y, qid = queries()
    model = XGBRanker(n_estimators=3, lambdarank_num_pair_per_sample=8).fit(X, y, qid=qid)
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert np.array_equal(model.predict(X), loaded.predict(X))
    assert loaded.lambdarank_num_pair_per_sample == 8


def test_rows_without_queries_raise_and_name_the_way():
    X, y, _ = queries()
    message = r"Either `group` or `qid` is required by XGBRanker.*qid=np\.zeros\(n\)"
    with pytest.raises(DataError, match=message):
        XGBRanker(n_estimators=2).fit(X, y)
    with pytest.raises(DataError, match=message):
        weald.train({"objective": "rank:ndcg"}, X, y, 2)
    with pytest.raises(DataError, match=message):
        XGBRanker(n_estimators=2).fit(X, y, qid=np.zeros(len(X))).score(X, y)


def test_sets_of_a_ranking_need_queries():
    X, y, qid = queries()
    with pytest.raises(DataError, match=r"eval_set\[1\].*Either `group` or `qid`.*eval_qid, one entry"):
        XGBRanker(n_estimators=2).fit(X, y, qid=qid, eval_set=[(X, y), (X, y)], eval_qid=[qid, None])


def table_of(form, X, qid=None):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | ({} if qid is None else {"qid": qid})
    return columns if form is dict else form(columns)


@pytest.mark.parametrize("form", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_a_column_qid_holds_the_queries(form):
    X, y, qid = queries()
    with_queries, features = table_of(form, X, qid), table_of(form, X)
    ranker = XGBRanker(n_estimators=3).fit(with_queries, y, eval_set=[(with_queries, y), (features, y)][:1])
    expected = XGBRanker(n_estimators=3).fit(features, y, qid=qid)
    assert ranker.n_features_in_ == X.shape[1]
    for table in (with_queries, features):
        assert np.array_equal(ranker.predict(table), expected.predict(features))
        assert np.array_equal(ranker.apply(table), expected.apply(features))
    assert np.array_equal(list(ranker.staged_predict(with_queries))[-1], ranker.predict(features))
    assert ranker.score(with_queries, y) == expected.score(features, y, qid=qid)
    assert ranker.evals_result()["validation_0"]["ndcg@32"][-1] == ranker.score(with_queries, y)


def test_queries_are_given_once():
    X, y, qid = queries()
    table = table_of(pd.DataFrame, X, qid)
    with pytest.raises(DataError, match=r"column 'qid'.*Give them once"):
        XGBRanker(n_estimators=2).fit(table, y, qid=qid)
    with pytest.raises(DataError, match=r"eval_set\[0\]: .*column 'qid'.*Give them once"):
        XGBRanker(n_estimators=2).fit(table, y, eval_set=[(table, y)], eval_qid=[qid])


def test_other_columns_may_be_numbered():
    X, y, qid = queries()
    frame = pd.DataFrame(X)
    frame["qid"] = qid
    ranker = XGBRanker(n_estimators=3).fit(frame, y)
    assert np.array_equal(ranker.predict(frame), XGBRanker(n_estimators=3).fit(X, y, qid=qid).predict(X))


def test_a_model_of_old_that_has_qid_for_a_feature_keeps_it(monkeypatch):
    X, y, qid = queries()
    table = table_of(pd.DataFrame, X, qid)
    monkeypatch.setattr("weald.estimators.xgboost.ranker.QUERIES", "another")
    ranker = XGBRanker(n_estimators=3).fit(table, y, qid=qid)
    monkeypatch.undo()
    assert len(ranker.predict(table)) == len(X)


def test_scikit_learn_divides_queries_with_the_rows():
    X, y, qid = queries(n_queries=30)
    frame = table_of(pd.DataFrame, X, qid)
    scores = cross_val_score(XGBRanker(n_estimators=5), frame, y, cv=GroupKFold(3), groups=qid)
    assert len(scores) == 3
    assert min(scores) > 0.9
    search = GridSearchCV(XGBRanker(n_estimators=2), {"max_depth": [1, 3]}, cv=GroupKFold(2))
    assert search.fit(frame, y, groups=qid).best_score_ > 0.8


def test_early_stopping_on_a_set_with_a_column_qid():
    X, y, qid = queries(n_queries=40)
    part = qid < 30
    train, held = (table_of(pd.DataFrame, X[rows], qid[rows]) for rows in (part, ~part))
    ranker = XGBRanker(n_estimators=60, early_stopping=(held, y[~part])).fit(train, y[part])
    assert ranker.n_rounds_ < 60
    assert (
        len(weald.cv({"objective": "rank:ndcg"}, train, y[part], 3, as_pandas=False)["test-ndcg@32-mean"])
        == 3
    )
