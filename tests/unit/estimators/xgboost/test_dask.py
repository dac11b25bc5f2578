"""`XGB*` on Dask: the models of tables in memory, byte for byte, whatever the partitions and the workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from distributed import Client, LocalCluster
from distributed.security import Security
from sklearn.base import clone
from support.clusters import LEARNT, flights, on_dask, parts, started

from weald import RandomForestRegressor, XGBClassifier, XGBRanker, XGBRegressor, scan
from weald.boosting.newton import dask_rows
from weald.boosting.newton.step import NewtonStep
from weald.errors import ClusterError, DataError, DataTypeError, ParameterError

SHAPE = {"n_estimators": 2, "max_depth": 3, "max_bin": 32, "tree_method": "hist"}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return flights()


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Client]:
    with started(2) as found:
        yield found


@pytest.fixture
def client(two_workers: Client) -> Iterator[Client]:
    """The current client, of two workers in this process."""
    with two_workers.as_current():
        yield two_workers


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


SETTINGS: dict[str, tuple[Any, str, str | None]] = {
    "numbers": (XGBRegressor(**SHAPE | {"n_estimators": 5, "max_depth": 1}), "late", None),
    "leafwise": (
        XGBRegressor(**SHAPE, subsample=0.5, grow_policy="lossguide", max_leaves=6),
        "late",
        "w",
    ),
    "few rows": (XGBRegressor(**SHAPE, subsample=0.0001), "late", "w"),
    "labels": (XGBClassifier(**SHAPE, class_weight="balanced", scale_pos_weight=1.5), "label", "share"),
    "classes": (XGBClassifier(**SHAPE, colsample_bynode=0.7), "kind", "w"),
    "counts": (XGBRegressor(**SHAPE, objective="count:poisson"), "kind", None),
    "logarithms": (XGBRegressor(**SHAPE, objective="reg:squaredlogerror"), "kind", "share"),
    "forest": (XGBRegressor(**SHAPE, num_parallel_tree=2, gamma=0.5, prune="post"), "late", None),
    "shared trees": (XGBClassifier(**SHAPE, multi_strategy="multi_output_tree"), "kind", None),
    "dart": (XGBClassifier(**SHAPE | {"n_estimators": 4}, booster="dart", rate_drop=0.5), "label", None),
    "medians": (XGBRegressor(**SHAPE, objective="reg:absoluteerror"), "late", "w"),
    "by gradient": (XGBRegressor(**SHAPE, sampling_method="gradient_based", subsample=0.3), "late", None),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_memory(
    client: Client, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(dask_rows, "ROUNDS_OF_A_CHAIN", 2)
    model, target, weight = SETTINGS[name]
    roles = {} if weight is None else {"sample_weight": frame[weight].to_numpy()}
    known = saved(model.fit(frame[LEARNT], frame[target], **roles), tmp_path / "memory.weald")
    kept = [target] + ([weight] if weight else [])
    rows = on_dask(frame[LEARNT + kept])
    found = model.fit(rows, target, **({} if weight is None else {"sample_weight": weight}))
    assert saved(found, tmp_path / "dask.weald") == known


@pytest.mark.parametrize("n_workers", [1, 3])
def test_workers_and_partitions_do_not_show(frame: pd.DataFrame, tmp_path: Path, n_workers: int) -> None:
    model = XGBClassifier(**SHAPE, subsample=0.5)
    kept = frame[[*LEARNT, "label", "w"]]
    known = model.fit(kept[LEARNT], kept["label"], sample_weight=kept["w"].to_numpy())
    known = saved(known, tmp_path / "memory.weald")
    kept.to_parquet(tmp_path / "rows.parquet")
    pages = model.fit(scan(tmp_path / "rows.parquet"), "label", sample_weight="w")
    assert saved(pages, tmp_path / "pages.weald") == known
    with started(n_workers) as client, client.as_current():
        for n in (1, 3, 8):
            found = model.fit(on_dask(kept, n), "label", sample_weight="w")
            assert saved(found, tmp_path / f"{n}.weald") == known


def test_frames_arrays_and_pieces(client: Client, frame: pd.DataFrame, tmp_path: Path) -> None:
    model = XGBRegressor(**SHAPE)
    kept = frame[[*LEARNT, "late"]]
    known = saved(model.fit(kept[LEARNT], kept["late"]), tmp_path / "memory.weald")
    ddf = dd.from_pandas(kept, npartitions=3)
    assert saved(model.fit(ddf, "late"), tmp_path / "frame.weald") == known
    assert saved(model.fit(ddf[LEARNT], ddf["late"]), tmp_path / "series.weald") == known
    futures = client.compute(on_dask(kept))
    assert saved(model.fit(futures, "late"), tmp_path / "futures.weald") == known
    arrow = [dask.delayed(pa.Table.from_pandas(part, preserve_index=False)) for part in parts(kept, 2)]
    assert saved(model.fit(arrow, "late"), tmp_path / "arrow.weald") == known
    polars = [dask.delayed(pl.from_pandas(part)) for part in parts(kept, 2)]
    assert saved(model.fit(polars, "late"), tmp_path / "polars.weald") == known
    X = frame[["a", "b"]].to_numpy()
    known = saved(model.fit(X, frame["late"].to_numpy()), tmp_path / "array.weald")
    blocks = da.from_array(X, chunks=(1_500, 1))
    y = da.from_array(frame["late"].to_numpy(), chunks=1_500)
    assert saved(model.fit(blocks, y), tmp_path / "blocks.weald") == known


def test_columns_in_another_order_and_without_values(
    client: Client, frame: pd.DataFrame, tmp_path: Path
) -> None:
    some = frame[[*LEARNT, "late"]].assign(
        empty=lambda rows: np.where(np.arange(len(rows)) < 1_000, None, rows["city"]).astype(object)
    )
    model = XGBRegressor(**SHAPE)
    known = saved(model.fit(some.drop(columns="late"), some["late"]), tmp_path / "memory.weald")
    turned = some.iloc[1_000:][["late", "empty", "city", "b", "a"]]
    first = some.iloc[:1_000].assign(empty=np.nan)
    rows = [dask.delayed(first), dask.delayed(turned)]
    assert saved(model.fit(rows, "late"), tmp_path / "dask.weald") == known


def test_sets_are_measured_alike(client: Client, frame: pd.DataFrame) -> None:
    train, test = frame.iloc[:3_000], frame.iloc[3_000:]
    shape = SHAPE | {"n_estimators": 8, "early_stopping_rounds": 1, "learning_rate": 1.0}
    known = XGBClassifier(**shape).fit(
        train[LEARNT],
        train["label"],
        eval_set=[(train[LEARNT], train["label"]), (test[LEARNT], test["label"])],
    )
    whole, other = on_dask(train[[*LEARNT, "label"]]), on_dask(test[[*LEARNT, "label"]])
    found = XGBClassifier(**shape).fit(whole, "label", eval_set=[(whole, "label"), (other, "label")])
    assert found.evals_result_ == known.evals_result_
    assert found.best_iteration == known.best_iteration < 7
    in_memory = XGBClassifier(**shape).fit(whole, "label", eval_set=[(test[LEARNT], test["label"])])
    assert in_memory.evals_result_["validation_0"] == known.evals_result_["validation_1"]
    held_out = XGBClassifier(**SHAPE, early_stopping=(other, "label"))
    assert held_out.fit(whole, "label").evals_result_["held_out"]


def test_a_function_as_objective(client: Client, frame: pd.DataFrame, tmp_path: Path) -> None:
    def squared(y_true: Any, y_pred: Any) -> Any:
        return y_pred - y_true, np.ones_like(y_true)

    model = XGBRegressor(**SHAPE, objective=squared)
    known = saved(model.fit(frame[LEARNT], frame["late"]), tmp_path / "memory.weald")
    found = model.fit(on_dask(frame[[*LEARNT, "late"]]), "late")
    assert saved(found, tmp_path / "dask.weald") == known


@pytest.mark.parametrize(
    ("shape", "target"), [({}, "label"), ({}, "kind"), ({"booster": "dart", "rate_drop": 0.5}, "label")]
)
def test_a_model_to_go_on_from(
    client: Client, frame: pd.DataFrame, shape: dict[str, Any], target: str
) -> None:
    """Its cuts and categories are those of other rows."""
    old = frame.iloc[2_000:].assign(a=lambda rows: rows["a"] * 1.3)
    model = XGBClassifier(**SHAPE, **shape)
    start = clone(model).fit(old[LEARNT], old[target])
    new, other = frame.iloc[:1_500], frame.iloc[1_500:2_000]
    X, y = new[LEARNT], new[target]
    sets = [(X, y), (other[LEARNT], other[target])]
    known = clone(model).fit(X, y, sample_weight=new["w"].to_numpy(), xgb_model=start, eval_set=sets)
    rows, more = on_dask(new[[*LEARNT, target, "w"]]), on_dask(other[[*LEARNT, target]])
    sets_there = [(rows, target), (more, target)]
    found = model.fit(rows, target, sample_weight="w", xgb_model=start, eval_set=sets_there)
    assert found.to_bytes() == known.to_bytes()
    assert found.n_rounds_ == 4
    assert found.evals_result_["validation_1"] == known.evals_result_["validation_1"]


def test_ranking_and_margins(client: Client, frame: pd.DataFrame, tmp_path: Path) -> None:
    """Queries may go across partitions; their rows must stand together."""
    ranker = XGBRanker(**SHAPE)
    known = saved(ranker.fit(frame[LEARNT], frame["kind"], qid=frame["q"].to_numpy()), tmp_path / "a.weald")
    rows = on_dask(frame[[*LEARNT, "kind", "q"]])
    assert saved(ranker.fit(rows, "kind", qid="q"), tmp_path / "b.weald") == known
    apart = on_dask(frame[[*LEARNT, "kind", "q"]].sample(frac=1, random_state=0))
    with pytest.raises(DataError, match="sort_groups=True does it"):
        ranker.fit(apart, "kind", qid="q")
    model = XGBRegressor(**SHAPE)
    known = saved(
        model.fit(frame[LEARNT], frame["late"], base_margin=frame["share"].to_numpy()), tmp_path / "c.weald"
    )
    found = model.fit(on_dask(frame[[*LEARNT, "late", "share"]]), "late", base_margin="share")
    assert saved(found, tmp_path / "d.weald") == known


@pytest.mark.parametrize("query", ["q", "city"])
def test_queries_are_put_together(client: Client, frame: pd.DataFrame, query: str) -> None:
    """From any partitions, by numbers or text; other columns have dictionaries of their own."""
    columns = ["a", "b", "w", *({"city"} - {query})]
    mixed = frame.sample(frac=1, random_state=0)
    mixed = mixed[mixed["city"].notna()][[*columns, "kind", query]]
    order = np.argsort(pd.factorize(mixed[query])[0], kind="stable")
    sorted_rows = mixed.iloc[order]
    ranker = XGBRanker(**SHAPE, subsample=0.7)
    known = ranker.fit(
        sorted_rows[columns],
        sorted_rows["kind"],
        qid=sorted_rows[query].to_numpy(),
        eval_set=[(sorted_rows[columns], sorted_rows["kind"])],
        eval_qid=[sorted_rows[query].to_numpy()],
    )
    told, metrics = known.to_bytes(), known.evals_result_
    kind = {"city": "category"} if query == "q" else {}
    rows = [dask.delayed(part.astype(kind)) for part in parts(mixed, 4)]
    found = ranker.fit(rows, "kind", qid=query, eval_set=[(rows, "kind")], eval_qid=[query], sort_groups=True)
    assert found.to_bytes() == told
    assert found.evals_result_ == metrics
    with pytest.raises(ParameterError, match="is for rows on Dask"):
        ranker.fit(sorted_rows[columns], sorted_rows["kind"], qid=sorted_rows[query], sort_groups=True)


@pytest.mark.parametrize("watches", [False, True])
def test_scores_are_here_only_to_be_measured(
    client: Client, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, watches: bool
) -> None:
    """Eight bytes a row and output that the client need not have."""
    taken = []
    begin = NewtonStep.add_round

    def add_round(step: NewtonStep, rate: float) -> None:
        taken.append(step._scores.strides[1] > 0)
        begin(step, rate)

    monkeypatch.setattr(NewtonStep, "add_round", add_round)
    rows = on_dask(frame[[*LEARNT, "kind"]])
    sets = {"eval_set": [(rows, "kind")]} if watches else {}
    XGBClassifier(**SHAPE).fit(rows, "kind", **sets)
    assert taken == [watches, watches]


def test_no_warning_of_large_tasks(client: Client, frame: pd.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = [dask.delayed(lambda: pd.concat([frame[["a", "late"]]] * 400))()]
        XGBRegressor(n_estimators=1, max_depth=1, tree_method="hist").fit(rows, "late")


def test_what_is_wrong_is_named(client: Client, frame: pd.DataFrame) -> None:
    rows = on_dask(frame[[*LEARNT, "late", "label"]])
    model = XGBRegressor(**SHAPE)
    with pytest.raises(DataTypeError, match="`sample_weight` of rows on Dask is the name"):
        model.fit(rows, "late", sample_weight=np.ones(len(frame)))
    with pytest.raises(DataError, match=r"Partition \d: there is no column 'lates'"):
        model.fit(rows, "lates")
    with pytest.raises(DataTypeError, match=r"eval_set\[0\] of XGBRegressor is on Dask"):
        model.fit(frame[LEARNT], frame["late"], eval_set=[(rows, "late")])
    for method in ("exact", "approx"):
        with pytest.raises(ParameterError, match="tree_method='hist'"):
            XGBRegressor(tree_method=method).fit(rows, "late")
    with pytest.raises(ParameterError, match="random_split"):
        XGBRegressor(early_stopping=0.1).fit(rows, "late")


def test_partitions_that_do_not_fit_are_named(client: Client, frame: pd.DataFrame) -> None:
    model = XGBRegressor(**SHAPE)
    first = dask.delayed(frame[["a", "b", "late"]].iloc[:1_000])
    more = dask.delayed(frame[["a", "late", "w"]].iloc[1_000:])
    with pytest.raises(DataError, match="Partition 1 lacks 'b' and has 'w' besides"):
        model.fit([first, more], "late")
    text = dask.delayed(frame[["a", "b", "late"]].iloc[1_000:].assign(b="much"))
    with pytest.raises(DataError, match=r"Column 'b' holds numbers in partition 0 and text or categories in"):
        model.fit([first, text], "late")
    with pytest.raises(DataError, match="No partition has a row"):
        model.fit([dask.delayed(frame[["a", "late"]].iloc[:0])], "late")
    infinite = dask.delayed(frame[["a", "b", "late"]].iloc[1_000:].assign(b=np.inf))
    with pytest.raises(DataError, match=r"row 1000"):
        model.fit([first, infinite], "late")
    ddf = dd.from_pandas(frame[["a", "late"]], npartitions=3)
    with pytest.raises(DataError, match=r"`y` has 2 partitions, and the rows have 3"):
        model.fit(ddf[["a"]], ddf["late"].repartition(npartitions=2))
    with pytest.raises(DataError, match=r"Partition 0: it has .* rows, and its part of `y` has"):
        model.fit([first], [more["late"]])


def test_no_client(frame: pd.DataFrame) -> None:
    with pytest.raises(ClusterError, match="no Dask client"):
        XGBRegressor(**SHAPE).fit(dd.from_pandas(frame[["a", "late"]], npartitions=2), "late")


def test_workers_without_weald_or_with_another(
    client: Client, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = on_dask(frame[[*LEARNT, "late"]])

    def run(*args: object, **options: object) -> dict[str, object]:
        return {"tcp://10.0.0.1:4000": "0.0.1"}

    with monkeypatch.context() as patch:
        patch.setattr(client, "run", run)
        with pytest.raises(ClusterError, match=r"tcp://10\.0\.0\.1:4000 has 0\.0\.1"):
            XGBRegressor(**SHAPE).fit(rows, "late")


def test_predictions_are_lazy_and_those_of_memory(client: Client, frame: pd.DataFrame) -> None:
    X = frame[LEARNT].set_index(np.arange(len(frame)) * 2)
    model = XGBClassifier(**SHAPE).fit(X, frame["label"])
    ddf = dd.from_pandas(X, npartitions=3)
    labels = model.predict(ddf)
    assert isinstance(labels, dd.Series)
    pd.testing.assert_series_equal(
        labels.compute(), pd.Series(model.predict(X), index=X.index), check_dtype=False
    )
    shares = model.predict_proba(ddf)
    assert isinstance(shares, da.Array)
    np.testing.assert_array_equal(shares.compute(), model.predict_proba(X))
    some = model.predict_proba(ddf, iteration_range=(0, 1)).compute()
    np.testing.assert_array_equal(some, model.predict_proba(X, iteration_range=(0, 1)))
    pieces = dask.compute(*model.predict([dask.delayed(part) for part in parts(X, 2)]))
    assert np.concatenate(pieces).tolist() == model.predict(X).tolist()
    empty = ddf[ddf["a"] > 1e9]
    assert len(model.predict(empty).compute()) == len(model.predict_proba(empty).compute()) == 0


def test_predictions_of_arrays(client: Client, frame: pd.DataFrame) -> None:
    X = frame[["a", "b"]].to_numpy()
    blocks = da.from_array(X, chunks=(1_500, 1))
    model = XGBRegressor(**SHAPE).fit(X, frame["late"])
    found = model.predict(blocks)
    assert isinstance(found, da.Array)
    assert found.shape == (len(X),)
    np.testing.assert_array_equal(found.compute(), model.predict(X))
    leaves = model.apply(blocks)
    assert leaves.shape == (len(X), 2)
    np.testing.assert_array_equal(leaves.compute(), model.apply(X))
    other = RandomForestRegressor(n_estimators=2, max_depth=3, random_state=0).fit(X, frame["late"])
    np.testing.assert_array_equal(other.predict(blocks).compute(), other.predict(X))
    with pytest.raises(DataTypeError, match="'base_margin' is on Dask too"):
        model.predict(blocks, base_margin=blocks[:, 0])


def test_a_tls_cluster_trains_and_predicts(frame: pd.DataFrame, tmp_path: Path) -> None:
    model = XGBRegressor(**SHAPE)
    known = saved(model.fit(frame[["a", "b"]], frame["late"]), tmp_path / "memory.weald")
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    security = Security.temporary()
    with (
        LocalCluster(n_workers=2, protocol="tls://", security=security, **options) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
        client.as_current(),
    ):
        assert client.scheduler.address.startswith("tls://")
        ddf = dd.from_pandas(frame[["a", "b", "late"]], npartitions=3)
        found = model.fit(ddf, "late")
        assert saved(found, tmp_path / "dask.weald") == known
        np.testing.assert_array_equal(
            found.predict(ddf[["a", "b"]]).compute(), found.predict(frame[["a", "b"]])
        )
