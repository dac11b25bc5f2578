"""`weald.importance`: each method against its definition, signals, groups, weights, tables, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier as ForeignForest
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as ForeignLogistic
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald.errors import DataError
from weald.insight.columns.importance import beyond_rounding
from weald.insight.columns.shap_means import shap_rows
from weald.uncertainty.bootstrap.options import drawn_seed

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 4)).round(2)
NUMBER = 2 * X[:, 1] + X[:, 2] + 0.2 * RNG.normal(size=N)
LABEL = np.where(NUMBER > 0, "up", "down")
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    city=pd.Categorical(RNG.choice(["Bern", "Basel", None], N)), big=RNG.integers(0, 2, N) == 1
)
FRAME.loc[::9, "b"] = np.nan
CITY = np.where((FRAME["city"] == "Bern") ^ FRAME["big"], "up", "down")


class Sum(RegressorMixin, BaseEstimator):
    """A model that needs no fit: the first column and half of the second."""

    def fit(self, X: object, y: object) -> Sum:
        self.fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0] + 0.5 * X[:, 1]


def by_name(found: weald.importance) -> dict:
    return dict(zip(found.names, found.importances_mean, strict=True))


@pytest.mark.parametrize("metric", [None, "neg_log_loss", "roc_auc", "f1_macro"])
@pytest.mark.parametrize("model", [weald.RandomForestClassifier(10, random_state=0), ForeignLogistic()])
def test_permutation_is_its_definition(model: object, metric: str | None) -> None:
    fitted = model.fit(X[:120], LABEL[:120])
    rows, labels = X[120:], LABEL[120:]
    found = weald.importance(fitted, rows, labels, metric=metric, n_repeats=3)
    score = get_scorer(metric or "accuracy")
    base = score(fitted, rows, labels)
    for name, drops in zip(found.names, found.importances, strict=True):
        expected = []
        for repeat in range(3):
            order = np.random.default_rng([drawn_seed(0), 2, name, repeat]).permutation(120)
            other = rows.copy()
            other[:, name] = rows[order, name]
            expected.append(base - score(fitted, other, labels))
        np.testing.assert_allclose(drops, expected, atol=1e-12)
    assert found.score == pytest.approx(base)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1))
    assert (np.diff(found.importances_mean) <= 0).all()


def test_standard_errors_are_those_over_samples() -> None:
    """Rows are drawn anew: the importance varies about as much as one sample says."""
    values, errors, repeats = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(150, 2))
        truth = Sum().predict(rows) + rng.normal(size=150)
        found = weald.importance(Sum().fit(rows, truth), rows, truth, metric="r2", random_state=seed)
        order = np.argsort(found.names)
        values.append(found.importances_mean[order])
        errors.append(found.importances_se[order])
        repeats.append(found.importances_repeat_se[order])
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0, ddof=1)
    assert (ratio > 0.75).all()
    assert (ratio < 1.5).all()
    assert (np.mean(repeats, axis=0) < np.mean(errors, axis=0)).all()


def test_planted_signal_and_unused_column() -> None:
    model = weald.XGBRegressor(n_estimators=20, max_depth=3).fit(X[:, :3], NUMBER)
    found = weald.importance(model, X[:, :3], NUMBER)
    assert found.names[:2] == (1, 2)
    tree = weald.DecisionTreeRegressor(max_depth=1).fit(X, NUMBER)
    alone = weald.importance(tree, X, NUMBER)
    assert alone.names[0] == 1
    assert (alone.importances_mean[1:] == 0).all()
    assert (alone.importances_se[1:] == 0).all()


def test_rounding_is_no_importance() -> None:
    assert beyond_rounding(0.7, np.nextafter(0.7, 1.0)) == 0
    assert beyond_rounding(-1e-20, -1.5e-20) == 1.5e-20 - 1e-20
    assert beyond_rounding(0.7, 0.7 - 1e-9) == 0.7 - (0.7 - 1e-9)


def test_groups_count_together() -> None:
    twice = np.column_stack([X, X[:, 1]])
    model = weald.RandomForestRegressor(20, random_state=0).fit(twice, NUMBER)
    single = by_name(weald.importance(model, twice, NUMBER))
    found = weald.importance(model, twice, NUMBER, groups={"same": [1, 4], "rest": [0, 2, 3]})
    assert found.names == ("same", "rest")
    assert found.importances_mean[0] > max(single[1], single[4]) * 1.5
    listed = weald.importance(model, twice, NUMBER, groups=[[1, 4], 2])
    assert listed.names == ((1, 4), 2)
    assert listed.to_frame("dict")["column"] == ["1, 4", "2"]


@pytest.mark.parametrize("cells", ["tree", "proximity"])
def test_conditional_importance_of_a_double_is_low(cells: str) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 3))
    rows[:, 1] = rows[:, 0] + 0.05 * rng.normal(size=600)
    truth = rows[:, 0] + rows[:, 2] + 0.1 * rng.normal(size=600)
    model = weald.RandomForestRegressor(30, random_state=0, max_features=1).fit(rows, truth)
    plain = by_name(weald.importance(model, rows, truth))
    given = by_name(weald.importance(model, rows, truth, method="conditional", cells=cells))
    assert given[0] < plain[0] / 4
    assert given[1] < plain[1] / 4
    assert given[2] > plain[2] * 0.8  # nothing else tells of it
    none = by_name(weald.importance(model, rows, truth, method="conditional", cells=cells, given=[2]))
    assert none[0] > plain[0] * 0.8


def test_conditional_importance_with_categories_and_gaps() -> None:
    model = weald.RandomForestClassifier(20, random_state=0).fit(FRAME, CITY)
    found = weald.importance(model, FRAME, CITY, method="conditional", groups=[["city", "b"], "big"])
    assert set(found.names) == {("city", "b"), "big"}
    assert (found.importances_mean > 0.1).all()


def test_weights_are_repeated_rows() -> None:
    model = ForeignLogistic().fit(X[:100], LABEL[:100])
    weight = np.r_[np.full(70, 2.0), np.zeros(70)]
    found = weald.importance(model, X[100:], LABEL[100:], sample_weight=weight, metric="neg_log_loss")
    score = get_scorer("neg_log_loss")(model, X[100:170], LABEL[100:170])
    assert found.score == pytest.approx(score)


def test_shap_is_the_mean_size() -> None:
    model = weald.RandomForestRegressor(5, random_state=0).fit(X, NUMBER)
    names, values = shap_rows(model, X[:50])
    assert list(names) == [0, 1, 2, 3]
    rest = model.predict(X[:50]) - values.sum(axis=(1, 2))
    np.testing.assert_allclose(rest, rest[0])  # they add up to the predictions
    sizes = np.abs(values[:, :, 0])
    found = weald.importance(model, X[:50], method="shap")
    order = list(found.names)
    np.testing.assert_allclose(found.importances_mean, sizes.mean(axis=0)[order])
    np.testing.assert_allclose(found.importances_se, (sizes.std(axis=0, ddof=1) / np.sqrt(50))[order])
    together = weald.importance(model, X[:50], method="shap", groups={"all": [0, 1, 2, 3]})
    np.testing.assert_allclose(together.importances_mean[0], np.abs(values.sum(axis=(1, 2))).mean())
    weighted = weald.importance(model, X[:50], method="shap", sample_weight=np.r_[np.ones(10), np.zeros(40)])
    np.testing.assert_allclose(sorted(weighted.importances_mean), sorted(sizes[:10].mean(axis=0)))


def test_shap_of_classifiers_wrappers_and_models_without_trees() -> None:
    forest = weald.RandomForestClassifier(5, random_state=0, max_depth=4).fit(FRAME, CITY)
    told = weald.explain(forest, FRAME[:40])
    sizes = np.abs(told.values).mean(axis=(0, 2))
    found = weald.importance(forest, FRAME[:40], method="shap")
    assert by_name(found) == pytest.approx(dict(zip(FRAME.columns, sizes, strict=True)))
    around = weald.Thresholded(weald.DecisionTreeClassifier(max_depth=3, random_state=0)).fit(FRAME, CITY)
    inner = by_name(weald.importance(around.estimator_, FRAME, method="shap"))
    assert by_name(weald.importance(around, FRAME, method="shap")) == inner
    slope = LinearRegression().fit(X, NUMBER)
    linear = by_name(weald.importance(slope, X, method="shap"))
    for j, size in enumerate(np.abs(slope.coef_) * np.abs(X - X.mean(axis=0)).mean(axis=0)):
        assert linear[j] == pytest.approx(size, rel=0.5, abs=0.05)  # against 25 of the rows
    sums = weald.RandomForestRegressor(2, random_state=0, max_depth=3, feature_combinations=(2, 2)).fit(
        X, NUMBER
    )
    assert weald.importance(sums, X[:20], method="shap").names[0] == 1


def test_splits_of_forests_and_boosters() -> None:
    forest = weald.RandomForestClassifier(10, random_state=0).fit(FRAME, CITY)
    known = forest.criterion_importance()
    found = weald.importance(forest, method="gain")
    assert by_name(found) == pytest.approx(dict(zip(known.names, known.importances_mean, strict=True)))
    errors = dict(zip(found.names, found.importances_se, strict=True))
    assert errors == pytest.approx(dict(zip(known.names, known.importances_se, strict=True)))
    assert type(found.to_frame()) is pd.DataFrame
    booster = weald.XGBClassifier(n_estimators=8).fit(FRAME, CITY)
    count = weald.importance(booster, method="count")
    weights = dict(zip(FRAME.columns, booster.importances("weight"), strict=True))
    assert by_name(count) == pytest.approx(weights)
    assert np.isnan(count.importances_se).all()
    cover = booster.importances("total_cover")
    shares = dict(zip(FRAME.columns, cover / cover.sum(), strict=True))
    assert by_name(weald.importance(booster, method="cover")) == pytest.approx(shares)
    grouped = weald.importance(booster, method="gain", groups={"both": ["city", "big"]})
    assert grouped.importances_mean[0] == pytest.approx(
        sum(by_name(weald.importance(booster, method="gain"))[name] for name in ("city", "big"))
    )


def test_a_booster_that_stopped_early_is_judged_by_the_trees_it_uses() -> None:
    model = weald.XGBRegressor(n_estimators=200, max_depth=2, early_stopping_rounds=3)
    model.fit(X[:120], NUMBER[:120], eval_set=[(X[120:], RNG.normal(size=120))])
    assert weald.importance(model, method="count").importances_mean.sum() == model.importances("weight").sum()


def test_out_of_bag_is_the_forests_own() -> None:
    forest = weald.RandomForestClassifier(15, random_state=0).fit(FRAME, CITY)
    known = forest.permutation_importance(FRAME, CITY, n_repeats=2, random_state=3)
    found = weald.importance(forest, FRAME, CITY, method="oob", n_repeats=2, random_state=3)
    assert by_name(found) == pytest.approx(dict(zip(known.names, known.importances_mean, strict=True)))
    named = weald.importance(
        forest, FRAME, CITY, method="oob", n_repeats=2, random_state=3, metric="accuracy"
    )
    assert by_name(named) == pytest.approx(by_name(found))


# --------------------------------------------------------------------------- tables, models, metrics


def test_all_libraries_say_the_same() -> None:
    model = weald.RandomForestClassifier(10, random_state=0).fit(FRAME, CITY)
    found = weald.importance(model, FRAME, CITY)
    shuffled = FRAME[FRAME.columns[::-1]]
    for table in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), shuffled, pl.from_pandas(FRAME).lazy()):
        other = weald.importance(model, table, CITY)
        assert by_name(other) == by_name(found)
        np.testing.assert_array_equal(other.importances_se, found.importances_se)
    assert type(weald.importance(model, pl.from_pandas(FRAME), CITY).to_frame()) is pl.DataFrame
    assert type(weald.importance(model, pa.Table.from_pandas(FRAME), CITY).to_frame()) is pa.Table
    conditional = [
        by_name(weald.importance(model, table, CITY, method="conditional"))
        for table in (FRAME, pl.from_pandas(FRAME))
    ]
    assert conditional[0] == conditional[1]


def test_foreign_models_get_tables_of_the_users_kind() -> None:
    numbers = FRAME[["a", "c", "d"]]
    foreign = make_pipeline(StandardScaler(), ForeignLogistic()).set_output(transform="pandas")
    found = weald.importance(foreign.fit(numbers, LABEL), numbers, LABEL)
    assert found.names[0] == "c"
    assert by_name(weald.importance(foreign, pl.from_pandas(numbers), LABEL)) == by_name(found)
    array = ForeignForest(5, random_state=0).fit(X, LABEL)
    dense = weald.importance(array, X, LABEL)
    matrix = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    flat = weald.importance(array, matrix.toarray(), LABEL)
    for table in (matrix, matrix.tocsc(), sparse.csr_matrix(matrix)):
        assert by_name(weald.importance(array, table, LABEL)) == by_name(flat)
    assert by_name(weald.importance(array, X.tolist(), LABEL)) == by_name(dense)
    assert by_name(weald.importance(array, X, LABEL, n_jobs=2)) == by_name(dense)


def test_sparse_and_dense_say_the_same() -> None:
    dense = np.where(np.abs(X) < 0.7, 0.0, X)
    model = weald.RandomForestRegressor(10, random_state=0).fit(dense, NUMBER)
    found = weald.importance(model, dense, NUMBER)
    for method in ("permutation", "conditional"):
        flat = weald.importance(model, dense, NUMBER, method=method)
        for table in (sparse.csr_array(dense), sparse.csc_array(dense)):
            other = weald.importance(model, table, NUMBER, method=method)
            assert by_name(other) == by_name(flat)
    assert found.names[0] == 1


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_same_bits_for_any_number_of_threads(n_jobs: int) -> None:
    one = weald.RandomForestClassifier(10, random_state=0, n_jobs=1).fit(FRAME, CITY)
    many = weald.RandomForestClassifier(10, random_state=0, n_jobs=n_jobs).fit(FRAME, CITY)
    for method in ("permutation", "conditional"):
        a, b = (weald.importance(model, FRAME, CITY, method=method) for model in (one, many))
        np.testing.assert_array_equal(a.importances, b.importances)


def test_models_of_every_kind() -> None:
    numbers = FRAME[["a", "c", "d"]]
    models = [
        weald.SVC(),
        weald.LogisticRegression(),
        weald.KNeighborsClassifier(),
        weald.AdaBoostClassifier(n_estimators=5),
        weald.BaggingClassifier(ForeignLogistic(), n_estimators=3, random_state=0),
        weald.VotingClassifier([("a", ForeignLogistic()), ("b", weald.DecisionTreeClassifier(max_depth=3))]),
        weald.GradientBoostingClassifier(n_estimators=5),
        weald.Thresholded(weald.DecisionTreeClassifier(max_depth=4)),
    ]
    for model in models:
        found = weald.importance(model.fit(numbers, LABEL), numbers, LABEL, n_repeats=2)
        assert found.names[0] == "c", type(model).__name__


def test_boosting_that_starts_from_another_model() -> None:
    """What the trees do not read, the model they start from may."""
    start = LinearRegression()
    model = weald.GradientBoostingRegressor(n_estimators=1, max_depth=1, init=start).fit(X, NUMBER)
    assert not weald.importance(model, method="count").importances_mean[1:].any()
    found = weald.importance(model, X, NUMBER)
    assert found.names[:2] == (1, 2)
    assert found.importances_mean[1] > 0.1
    changed = weald.counterfactual(model, X[0], X=X, target=(float(model.predict(X[:1])[0]) + 0.5, None))
    assert changed[0].prediction > changed.before


def test_booster_of_the_native_interface() -> None:
    booster = weald.train({"max_depth": 3}, weald.DMatrix(X, NUMBER), 10)
    assert weald.importance(booster, X, NUMBER).names[0] == 1
    assert weald.importance(booster, method="gain").names[0] == 1


def test_metrics_of_every_kind() -> None:
    model = weald.RandomForestRegressor(10, random_state=0).fit(X, NUMBER)
    loss = weald.importance(model, X, NUMBER, metric=mean_absolute_error)
    named = weald.importance(model, X, NUMBER, metric="neg_mean_absolute_error")
    np.testing.assert_allclose(loss.importances_mean, named.importances_mean)
    np.testing.assert_allclose(loss.importances_se, named.importances_se)
    assert loss.meaning == "rise of mean_absolute_error when permuted"

    def half_right(y_true: np.ndarray, y_pred: np.ndarray) -> float:
        return float((np.abs(y_true - y_pred) < 0.5).mean())

    own = weald.importance(model, X, NUMBER, metric=half_right)
    scorer = weald.importance(model, X, NUMBER, metric=make_scorer(half_right))
    np.testing.assert_array_equal(own.importances, scorer.importances)
    assert np.isfinite(own.importances_se).all()
    classifier = weald.RandomForestClassifier(5, random_state=0).fit(X, LABEL)
    area = weald.importance(classifier, X, LABEL, metric=roc_auc_score)
    assert area.score == pytest.approx(get_scorer("roc_auc")(classifier, X, LABEL))


def test_several_outputs() -> None:
    numbers = np.column_stack([NUMBER, X[:, 0]])
    found = weald.importance(weald.RandomForestRegressor(10, random_state=0).fit(X, numbers), X, numbers)
    assert set(found.names[:2]) == {0, 1}
    labels = np.column_stack([LABEL, np.where(X[:, 0] > 0, "r", "l")])
    classifier = weald.RandomForestClassifier(10, random_state=0).fit(X, labels)
    judged = weald.importance(classifier, X, labels)
    assert judged.score == pytest.approx(classifier.score(X, labels))
    assert judged.names[-1] == 3


def test_loaded_models_tell_the_same(tmp_path: Path) -> None:
    model = weald.RandomForestClassifier(10, random_state=0).fit(FRAME, CITY)
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert by_name(weald.importance(loaded, FRAME, CITY)) == by_name(weald.importance(model, FRAME, CITY))
    oob = by_name(weald.importance(model, FRAME, CITY, method="oob", n_repeats=1))
    assert by_name(weald.importance(loaded, FRAME, CITY, method="oob", n_repeats=1)) == oob
    with pytest.raises(DataError, match="do not keep the rows that they were fitted on"):
        weald.importance(loaded)
    with pytest.raises(DataError, match="X has 200 rows, and RandomForestClassifier was fitted on 240"):
        weald.importance(loaded, FRAME[:200], CITY[:200], method="oob")


# --------------------------------------------------------------------------- what is shown, what is refused


def test_text_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    wide = np.column_stack([X, RNG.normal(size=(N, 20))])
    model = weald.DecisionTreeRegressor(max_depth=3).fit(wide, NUMBER)
    text = repr(weald.importance(model, wide, NUMBER, n_repeats=2))
    assert text.startswith("Importance by permutation: drop of r2 when permuted, 240 rows, r2 0.")
    assert " ± " in text
    assert text.endswith("… and 4 more")
    assert capsys.readouterr() == ("", "")
    weald.importance(model, wide, NUMBER, n_repeats=2, progress=True)
    assert "column" in capsys.readouterr().err
