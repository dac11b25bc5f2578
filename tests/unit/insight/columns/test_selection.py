"""`select_columns` and `ColumnSelector`: planted columns are found, with categories, gaps and weights."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as ForeignLogistic
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier as ForeignTree

import weald
from weald.errors import DataError, DataTypeError, ParameterError
from weald.insight.columns.some_columns import for_columns

RNG = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame(
    {
        "noise": RNG.normal(size=N),
        "size": RNG.normal(size=N),
        "level": RNG.integers(0, 5, N),
        "city": pd.Categorical(RNG.choice(["Bern", "Basel", "Genf"], N)),
        "more": RNG.normal(size=N),
    }
)
FRAME.loc[::8, "size"] = np.nan
SCORE = np.nan_to_num(FRAME["size"]) + 1.5 * (FRAME["city"] == "Bern")
LABEL = np.where((SCORE > 0.5) ^ (np.arange(N) % 15 == 0), "yes", "no")
FOREST = weald.RandomForestClassifier(30, min_samples_leaf=8, random_state=0)


@pytest.mark.parametrize("by", ["oob", "held_out", "cv"])
def test_planted_columns_are_found(by: str) -> None:
    found = weald.select_columns(FOREST, FRAME, LABEL, by=by, cv=3, drop=1)
    assert found.columns == ("size", "city")
    assert found.support.tolist() == [False, True, False, True, False]
    assert [len(step.columns) for step in found.path] == [5, 4, 3, 2, 1]
    assert found.path[-1].dropped == ()
    frame = found.to_frame()
    assert type(frame) is pd.DataFrame
    assert frame["n_columns"].tolist() == [5, 4, 3, 2, 1]
    assert frame["chosen"].sum() == 1
    assert found.take(FRAME).columns.tolist() == ["size", "city"]
    assert repr(found).startswith(f"2 of 5 columns by {by}: accuracy 0.")


def test_out_of_bag_scores_are_the_forests() -> None:
    found = weald.select_columns(FOREST, FRAME, LABEL, by="oob", drop=1)
    step = found.path[2]
    forest = weald.RandomForestClassifier(30, min_samples_leaf=8, random_state=0, oob_score=True)
    forest.fit(FRAME.iloc[:, list(step.columns)], LABEL)
    assert step.score == pytest.approx(forest.oob_score_)
    expected = np.sqrt(step.score * (1 - step.score) / N)  # of a share of rows
    assert step.standard_error == pytest.approx(expected, rel=0.35)
    known = forest.permutation_importance(FRAME.iloc[:, list(step.columns)], LABEL, random_state=found_seed())
    assert dict(step.importances) == pytest.approx(
        dict(zip(known.names, known.importances_mean, strict=True)), abs=1e-12
    )


def found_seed() -> int:
    from weald.uncertainty.bootstrap.options import drawn_seed

    return drawn_seed(0)


def test_scores_of_folds_are_those_of_fits() -> None:
    rows = FRAME[["noise", "more", "level"]].to_numpy()
    folds = list(KFold(4, shuffle=True, random_state=1).split(rows))
    labels = np.where(rows[:, 2] + 0.3 * rows[:, 0] > 2, 1, 0)
    tree = ForeignTree(max_depth=3, random_state=0)
    found = weald.select_columns(tree, rows, labels, by="cv", cv=folds, drop=1)
    for step in found.path:
        some = rows[:, list(step.columns)]
        scores = [
            accuracy_score(labels[test], tree.fit(some[train], labels[train]).predict(some[test]))
            for train, test in folds
        ]
        assert step.score == pytest.approx(np.mean(scores))
        assert step.standard_error == pytest.approx(np.std(scores, ddof=1) / 2)
    assert found.columns[-1] == 2


def test_one_standard_error_or_the_best() -> None:
    loose = weald.select_columns(FOREST, FRAME, LABEL, by="oob")
    best = weald.select_columns(FOREST, FRAME, LABEL, by="oob", rule="best")
    assert best.chosen == best.best == loose.best
    top = loose.path[loose.best]
    assert loose.path[loose.chosen].score >= top.score - top.standard_error
    after = loose.path[loose.chosen + 1 :]
    assert all(step.score < top.score - top.standard_error for step in after)


def test_groups_and_columns_that_stay() -> None:
    found = weald.select_columns(
        FOREST, FRAME, LABEL, groups={"pair": ["noise", "city"]}, keep=["level"], drop=1, by="oob"
    )
    assert all(2 in step.columns for step in found.path)
    assert all((0 in step.columns) == (3 in step.columns) for step in found.path)
    assert {"noise", "city", "size", "level"} == set(found.columns)
    least = weald.select_columns(FOREST, FRAME, LABEL, min_columns=4, by="oob")
    assert len(least.path[-1].columns) == 4


def test_every_library_selects_the_same() -> None:
    found = weald.select_columns(FOREST, FRAME, LABEL, by="held_out")
    for table in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), FRAME.to_dict("list")):
        other = weald.select_columns(FOREST, table, LABEL, by="held_out")
        assert other.columns == found.columns
        np.testing.assert_array_equal(other.scores, found.scores)
    taken = weald.select_columns(FOREST, pl.from_pandas(FRAME), LABEL).take(pl.from_pandas(FRAME))
    assert type(taken) is pl.DataFrame
    rows = sparse.csr_array(RNG.normal(size=(100, 4)) * (RNG.random((100, 4)) > 0.5))
    target = rows.toarray()[:, 1]
    assert weald.select_columns(weald.XGBRegressor(n_estimators=10), rows, target, cv=2).columns == (1,)


def test_weights_shape_fits_and_scores() -> None:
    weight = np.where(np.arange(N) % 2 == 0, 1.0, 0.0)
    wrong = np.where(np.arange(N) % 2 == 0, LABEL, "no")  # rows without weight tell nothing
    found = weald.select_columns(FOREST, FRAME, wrong, by="oob", sample_weight=weight)
    assert set(found.columns) == {"size", "city"}
    assert found.path[0].score > 0.8


def test_numbers_losses_and_several_outputs() -> None:
    found = weald.select_columns(
        weald.RandomForestRegressor(20, random_state=0), FRAME, SCORE, metric="neg_mean_absolute_error"
    )
    assert set(found.columns) == {"size", "city"}
    assert (found.scores < 0).all()
    error = weald.select_columns(
        weald.RandomForestRegressor(20, random_state=0), FRAME, SCORE, metric=mean_absolute_error
    )
    assert error.metric == "neg_mean_absolute_error"
    np.testing.assert_allclose(error.scores, found.scores)
    given = weald.select_columns(
        weald.XGBRegressor(n_estimators=10), FRAME, SCORE, method="conditional", by="held_out"
    )
    assert set(given.columns) == {"size", "city"}
    both = np.column_stack([SCORE, FRAME["level"]])
    several = weald.select_columns(weald.RandomForestRegressor(20, random_state=0), FRAME, both, rule="best")
    assert set(several.columns) >= {"size", "city", "level"}
    labels = np.column_stack([LABEL, FRAME["level"].astype(str)])
    pairs = weald.select_columns(FOREST, FRAME, labels, rule="best")
    assert set(pairs.columns) >= {"city", "level"}


def test_parameters_that_speak_of_columns() -> None:
    model = weald.XGBClassifier(n_estimators=5, monotone_constraints={"size": 1, "noise": -1})
    assert for_columns(model, list(FRAME), [1, 3]).get_params()["monotone_constraints"] == {"size": 1}
    tree = weald.DecisionTreeClassifier(
        categorical_features=["level", "city"], monotonic_cst=[1, 0, 0, 0, -1]
    )
    part = for_columns(tree, list(FRAME), [0, 2]).get_params()
    assert (part["categorical_features"], part["monotonic_cst"]) == (["level"], [1, 0])
    bag = weald.BaggingClassifier(weald.DecisionTreeClassifier(categorical_features=[2, 3]))
    assert for_columns(bag, list(FRAME), [1, 3]).get_params()["estimator__categorical_features"] == [1]
    mask = weald.DecisionTreeClassifier(categorical_features=[False, False, True, True, False])
    assert for_columns(mask, list(FRAME), [0, 2]).get_params()["categorical_features"] == [False, True]
    forest = weald.RandomForestClassifier(5, random_state=0, categorical_features=["level"])
    assert "city" in weald.select_columns(forest, FRAME, LABEL).columns


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="which is for weald's forests with bootstrap=True"):
        weald.select_columns(weald.XGBClassifier(), FRAME, LABEL, by="oob")
    with pytest.raises(ParameterError, match="'conditional', which is told by rows held out"):
        weald.select_columns(FOREST, FRAME, LABEL, by="oob", method="conditional")
    with pytest.raises(ParameterError, match="`drop` of select_columns"):
        weald.select_columns(FOREST, FRAME, LABEL, drop=1.5)
    with pytest.raises(ParameterError, match="has the column 'size' twice"):
        weald.select_columns(FOREST, FRAME, LABEL, groups=[["size", "city"], ["size"]])
    with pytest.raises(ParameterError, match="`keep` of select_columns names the column 'town'"):
        weald.select_columns(FOREST, FRAME, LABEL, keep=["town"])
    with pytest.raises(ParameterError, match=r"Use \['size'\]"):
        weald.select_columns(FOREST, FRAME, LABEL, keep="size")
    with pytest.raises(ParameterError, match="no scorer of scikit-learn"):
        weald.select_columns(FOREST, FRAME, LABEL, metric="acc")
    with pytest.raises(DataTypeError, match="needs an estimator with fit"):
        weald.select_columns(3, FRAME, LABEL)
    with pytest.raises(ParameterError, match="holds out 1 of 300 rows"):
        weald.select_columns(FOREST, FRAME, LABEL, by="held_out", test_size=0.002)
    with pytest.raises(DataError, match="lacks the chosen columns 'size'"):
        weald.select_columns(FOREST, FRAME, LABEL).take(FRAME[["city"]])
    with pytest.raises(ValueError, match="The LogisticRegression of 5 columns failed"):
        weald.select_columns(ForeignLogistic(), FRAME, LABEL)


# --------------------------------------------------------------------------- the step of a pipeline


def test_selector_in_a_pipeline() -> None:
    steps = [("select", weald.ColumnSelector(FOREST)), ("model", weald.XGBClassifier(n_estimators=10))]
    model = Pipeline(steps).fit(FRAME[:200], LABEL[:200])
    assert model.named_steps["model"].feature_names_in_.tolist() == ["size", "city"]
    assert model.score(FRAME[200:], LABEL[200:]) > 0.85
    assert model[:-1].get_feature_names_out().tolist() == ["size", "city"]
    search = GridSearchCV(Pipeline(steps), {"select__rule": ["one_se", "best"]}, cv=2).fit(FRAME, LABEL)
    assert set(search.best_params_) == {"select__rule"}


def test_selector_gives_tables_of_their_kind_back() -> None:
    selector = weald.ColumnSelector(FOREST).fit(FRAME, LABEL)
    assert selector.get_support().tolist() == [False, True, False, True, False]
    reordered = selector.transform(pl.from_pandas(FRAME[FRAME.columns[::-1]]))
    assert reordered.columns == ["size", "city"]
    assert pickle.loads(pickle.dumps(selector)).transform(FRAME).equals(FRAME[["size", "city"]])
    numbers = weald.ColumnSelector(random_state=0).fit(FRAME.drop(columns="city"), FRAME["level"] * 1.5)
    assert numbers.get_feature_names_out().tolist() == ["level"]
    assert numbers.selection_.metric == "r2"
    with pytest.raises(ParameterError, match="did you mean `rule`"):
        selector.set_params(rul="best")
    with pytest.raises(ValueError, match="now missing:\n- city"):
        selector.transform(FRAME.drop(columns="city"))
    with pytest.raises(DataError, match="input_features"):
        selector.get_feature_names_out(["a"])
