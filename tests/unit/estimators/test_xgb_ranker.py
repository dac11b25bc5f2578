"""`XGBRanker`: queries, their weights, sets, early stopping and what goes wrong."""

import numpy as np
import pytest
import xgboost
from sklearn.metrics import ndcg_score
from unit.estimators.xgb_data import queries

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
    alone = XGBRanker(n_estimators=5).fit(X, y)
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
    with pytest.raises(DataError, match="one relevance a row"):
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


def test_a_column_qid_is_no_feature_of_one_large_query():
    X, y, qid = queries()
    table = {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "qid": qid}
    with pytest.raises(DataError, match=r"column 'qid'.*qid=X\['qid'\]"):
        XGBRanker(n_estimators=2).fit(table, y)
    assert XGBRanker(n_estimators=2).fit(table, y, qid=qid).n_features_in_ == X.shape[1] + 1


def test_sets_of_a_ranking_with_queries_need_queries():
    X, y, qid = queries()
    with pytest.raises(DataError, match=r"eval_set\[1\] has no queries.*eval_qid"):
        XGBRanker(n_estimators=2).fit(X, y, qid=qid, eval_set=[(X, y), (X, y)], eval_qid=[qid, None])
    measured = XGBRanker(n_estimators=2).fit(X, y, eval_set=[(X, y)])
    assert len(measured.evals_result()["validation_0"]["ndcg@32"]) == 2
