"""Curves: their values are those of the formulas and records they show, and bad input is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.metrics import log_loss, root_mean_squared_error

import weald
from weald.errors import DataError, DataTypeError, ParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3)).round(2)
Y = np.where(X[:, 0] + 0.5 * X[:, 1] + RNG.normal(0, 0.5, 160) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=np.where(X[:, 2] > 0, "Bern", "Rom"))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def line(axes, label: str):
    return next(each for each in axes.lines if each.get_label().startswith(label))


class TestLosses:
    def test_values(self):
        labels, numbers = weald.plot_losses(epsilon=0.25)
        at = {
            name: dict(zip(*line(labels, name).get_data(), strict=True))
            for name in ("expo", "devi", "hinge", "squ")
        }
        for name, expected in (("expo", 1.0), ("devi", 1.0), ("hinge", 1.0), ("squ", 1.0)):
            assert min(at[name].items(), key=lambda pair: abs(pair[0]))[1] == pytest.approx(expected)
        x, y = line(labels, "devi").get_data()
        np.testing.assert_allclose(y, np.log2(1 + np.exp(-x)))
        x, y = line(numbers, "ε").get_data()
        np.testing.assert_allclose(y, np.clip(np.abs(x) - 0.25, 0, None))
        x, y = line(labels, "0–1").get_data()
        assert set(y[x < -0.01]) == {1.0}
        assert set(y[x > 0.01]) == {0.0}

    def test_some_of_them_into_given_axes(self):
        _, ax = plt.subplots()
        assert weald.plot_losses(["hinge", "zero_one"], kind="labels", ax=ax) == (ax,)
        assert len(weald.plot_losses("hinge", kind="labels")[0].get_legend().get_texts()) == 1
        assert len([each for each in ax.lines if not each.get_label().startswith("_")]) == 2

    def test_refusals(self):
        with pytest.raises(ParameterError, match=r"knows no loss 'hing' of these. Did you mean 'hinge'"):
            weald.plot_losses(["hing"])
        with pytest.raises(ParameterError, match="`kind` of plot_losses"):
            weald.plot_losses(kind="all")
        with pytest.raises(ParameterError, match="`epsilon` of plot_losses must be a number of at least 0"):
            weald.plot_losses(epsilon=-1)
        with pytest.raises(ParameterError, match="with `ax` say kind"):
            weald.plot_losses(ax=plt.gca())


class TestSay:
    def test_the_curve_and_the_rounds(self):
        model = weald.AdaBoostClassifier(n_estimators=6).fit(X, Y)
        axes = weald.plot_say(model)
        error, say = axes.lines[-1].get_data()
        np.testing.assert_allclose(say, 0.5 * np.log((1 - error) / error))
        marks = axes.collections[0].get_offsets()
        np.testing.assert_allclose(marks, np.column_stack([model.rounds_.error, model.rounds_.say]))
        np.testing.assert_allclose(np.interp(marks[:, 0], error, say), marks[:, 1], atol=1e-3)

    def test_classes_and_rate(self):
        error, say = weald.plot_say(n_classes=4, learning_rate=0.5).lines[-1].get_data()
        np.testing.assert_allclose(say, 0.25 * (np.log((1 - error) / error) + np.log(3)))

    def test_refusals(self):
        with pytest.raises(
            DataTypeError, match="plot_say takes a fitted AdaBoostClassifier; got XGBRegressor"
        ):
            weald.plot_say(weald.XGBRegressor())
        with pytest.raises(ParameterError, match="`n_classes`"):
            weald.plot_say(n_classes=1)
        with pytest.raises(ParameterError, match="`learning_rate` of plot_say"):
            weald.plot_say(learning_rate=0)


class TestRounds:
    def test_areas_are_weights(self):
        model = weald.AdaBoostClassifier(n_estimators=4).fit(X, Y)
        axes = weald.plot_rounds(model, X, Y, rounds=[1, 3])
        assert len(axes) == 3
        sizes = axes[1].collections[0].get_sizes()
        weights = model.row_weights(X, Y, round_number=3)
        np.testing.assert_allclose(sizes / sizes.sum(), np.sort(weights), rtol=1e-6)
        assert axes[1].get_title().startswith(f"round 3: error {model.rounds_.error[2]:.3f}")
        assert axes[2].get_title() == "all 4 rounds"

    def test_frames_with_categories(self):
        model = weald.AdaBoostClassifier(n_estimators=3).fit(pl.from_pandas(FRAME), Y)
        axes = weald.plot_rounds(model, pl.from_pandas(FRAME), Y, columns=["a", "b"], rounds=2)
        assert len(axes) == 3
        assert axes[0].get_ylabel() == "b"
        note = axes[0].figure.legends[0].get_title().get_text()
        assert "held: c = " in note.replace("\n", " ")
        assert "town = " in note.replace("\n", " ")

    def test_refusals(self):
        model = weald.AdaBoostClassifier(n_estimators=3).fit(X, Y)
        for rounds in ([0], [9], [], 0, "all"):
            with pytest.raises(ParameterError, match="`rounds` of plot_rounds"):
                weald.plot_rounds(model, X, Y, rounds=rounds)
        with pytest.raises(DataTypeError, match="plot_rounds takes a fitted AdaBoostClassifier"):
            weald.plot_rounds(weald.AdaBoostRegressor(n_estimators=2).fit(X, X[:, 0]), X, Y)


class TestSimilarity:
    def test_values(self):
        axes = weald.plot_similarity([0.5, 2.0], distance=4.0)
        for curve, sigma in zip(axes.lines, (0.5, 2.0), strict=True):
            x, y = curve.get_data()
            kernel = weald.kernels.RBF(sigma=sigma)(x[:, None], [[0.0]])[:, 0]
            np.testing.assert_allclose(y, kernel, rtol=1e-12)
            assert x[-1] == 4.0

    def test_refusals(self):
        for sigmas in ([], [0.0], [-1.0], [np.inf], ["a"]):
            with pytest.raises(ParameterError, match="`sigmas` of plot_similarity"):
                weald.plot_similarity(sigmas)
        with pytest.raises(ParameterError, match="`distance`"):
            weald.plot_similarity(distance=0)


class TestKernelMap:
    def test_directions_are_those_of_kernel_pca(self):
        _, right = weald.plot_kernel_map(weald.kernels.RBF(0.3), X, Y, standardize=False)
        found = np.concatenate([part.get_offsets() for part in right.collections])
        order = np.concatenate([np.flatnonzero(label == Y) for label in ("no", "yes")])
        expected = KernelPCA(2, kernel="rbf", gamma=0.3).fit_transform(X)[order]
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)

    def test_many_labels_and_numbers(self):
        rows = RNG.normal(size=(300, 2))
        left, right = weald.plot_kernel_map("rbf", rows, [f"k{i % 40}" for i in range(300)])
        words = [text.get_text() for text in right.get_legend().get_texts()]
        assert len(words) == 9
        assert words[0] == "others"
        assert sum(len(part.get_offsets()) for part in left.collections) == 300
        _, right = weald.plot_kernel_map("rbf", rows, np.arange(300) // 10)
        assert right.get_legend() is None
        shade = right.collections[0].get_array()
        assert (np.diff(shade) >= 0).all()
        assert (shade[0], shade[-1]) == (0.0, 1.0)

    def test_many_rows_by_some_of_them(self):
        many = RNG.normal(size=(3000, 2))
        left, right = weald.plot_kernel_map("poly", many)
        assert len(left.collections[0].get_offsets()) == len(right.collections[0].get_offsets()) == 3000

    def test_categories_are_left_out_and_missing_refused(self):
        left, _ = weald.plot_kernel_map("rbf", FRAME, Y)
        assert (left.get_xlabel(), left.get_ylabel()) == ("a", "b")
        gaps = FRAME.copy()
        gaps.loc[0, "b"] = np.nan
        with pytest.raises(DataError, match="Column 'b' has missing or infinite values"):
            weald.plot_kernel_map("rbf", gaps, Y)
        weald.plot_kernel_map("rbf", gaps, Y, columns=["a", "c"])
        with pytest.raises(DataError, match="Column 'town' holds no plain numbers"):
            weald.plot_kernel_map("rbf", FRAME, Y, columns=["town"])
        with pytest.raises(DataError, match="X has none"):
            weald.plot_kernel_map("rbf", FRAME[["town"]], Y)

    def test_refusals(self):
        with pytest.raises(ParameterError, match="Did you mean 'poly'"):
            weald.plot_kernel_map("polly", X)
        with pytest.raises(ParameterError, match="names 'z', which X does not have"):
            weald.plot_kernel_map("rbf", FRAME, columns=["z"])
        with pytest.raises(DataError, match="All rows are the same"):
            weald.plot_kernel_map("rbf", np.ones((5, 2)))


class TestLearningCurve:
    def test_recorded_sets(self):
        model = weald.XGBClassifier(
            n_estimators=12, early_stopping_rounds=3, eval_metric=["error", "logloss"]
        )
        model.fit(X[:100], Y[:100], eval_set=[(X[:100], Y[:100]), (X[100:], Y[100:])])
        axes = weald.plot_learning_curve(model)
        recorded = model.evals_result()
        for name, by_metric in recorded.items():
            np.testing.assert_array_equal(line(axes, name).get_ydata(), by_metric["logloss"])
        assert axes.get_ylabel() == "logloss"
        assert axes.texts[0].get_text() == f"best: {model.best_iteration + 1}"
        other = weald.plot_learning_curve(recorded, metric="error")
        np.testing.assert_array_equal(
            line(other, "validation_1").get_ydata(), recorded["validation_1"]["error"]
        )
        with pytest.raises(ParameterError, match=r"which was not recorded. Did you mean 'error'"):
            weald.plot_learning_curve(model, metric="eror")

    def test_folds(self):
        found = weald.cv({"objective": "binary:logistic"}, X, (Y == "yes").astype(int), num_boost_round=5)
        axes = weald.plot_learning_curve(found)
        np.testing.assert_array_equal(line(axes, "test").get_ydata(), found["test-logloss-mean"])
        weald.plot_learning_curve({name: list(found[name]) for name in found.columns})

    def test_other_boosters(self):
        staged = weald.GradientBoostingRegressor(n_estimators=6, subsample=0.5, random_state=0).fit(
            X, X[:, 0]
        )
        axes = weald.plot_learning_curve(staged)
        np.testing.assert_array_equal(line(axes, "training").get_ydata(), staged.train_score_)
        np.testing.assert_array_equal(line(axes, "out of bag").get_ydata(), staged.oob_scores_)
        ada = weald.AdaBoostClassifier(n_estimators=4).fit(X, Y)
        axes = weald.plot_learning_curve(ada)
        np.testing.assert_array_equal(line(axes, "training").get_ydata(), ada.rounds_.training_error)

    @pytest.mark.parametrize("kind", ["pandas", "polars", "dict", "array"])
    def test_by_rows(self, kind):
        table = {
            "pandas": FRAME,
            "polars": pl.from_pandas(FRAME),
            "dict": {name: FRAME[name].to_numpy() for name in FRAME},
            "array": X,
        }[kind]
        tree = weald.DecisionTreeClassifier(max_depth=2)
        axes = weald.plot_learning_curve(tree, table, Y, cv=2, sizes=[0.5, 1.0], scoring="accuracy")
        rows, scores = line(axes, "validation").get_data()
        assert rows.tolist() == [40, 80]
        assert ((scores > 0.5) & (scores <= 1)).all()
        if kind == "dict":
            return
        from sklearn.model_selection import cross_val_score

        expected = cross_val_score(tree, table, Y, cv=2, scoring="accuracy").mean()
        assert scores[-1] == pytest.approx(expected)

    def test_refusals(self):
        with pytest.raises(DataTypeError, match="recorded no curve by rounds"):
            weald.plot_learning_curve(weald.DecisionTreeClassifier().fit(X, Y))
        with pytest.raises(ParameterError, match="needs y beside X"):
            weald.plot_learning_curve(weald.DecisionTreeClassifier(), X)
        with pytest.raises(ParameterError, match="`sizes`"):
            weald.plot_learning_curve(weald.DecisionTreeClassifier(), X, Y, sizes=[0.0, 1.0])
        with pytest.raises(DataTypeError, match=r"as weald.train fills evals_result"):
            weald.plot_learning_curve({"rmse": [1.0]})


class TestShrinkageAndSubsampling:
    def test_errors_are_those_of_the_stages(self):
        model = weald.GradientBoostingClassifier(n_estimators=6, max_depth=2)
        test = (X[100:], Y[100:])
        axes = weald.plot_shrinkage(model, X[:100], Y[:100], learning_rates=[0.5, 0.1], test=test)
        fitted = weald.GradientBoostingClassifier(n_estimators=6, max_depth=2, learning_rate=0.5)
        fitted.fit(X[:100], Y[:100])
        expected = [log_loss(Y[100:], stage) for stage in fitted.staged_predict_proba(X[100:])]
        np.testing.assert_allclose(line(axes, "0.5").get_ydata(), expected)
        assert not hasattr(model, "forest_")

    def test_numbers_and_held_out_rows(self):
        model = weald.XGBRegressor(n_estimators=5, random_state=0)
        axes = weald.plot_subsampling(model, FRAME, X[:, 0], subsamples=[1.0, 0.5])
        assert axes.get_ylabel() == "root mean squared error on 40 rows held out"
        again = weald.plot_subsampling(model, pl.from_pandas(FRAME), X[:, 0], subsamples=[1.0])
        np.testing.assert_allclose(line(again, "1").get_ydata(), line(axes, "1").get_ydata())
        fitted = weald.XGBRegressor(n_estimators=5, subsample=0.5, random_state=0).fit(X[:100], X[:100, 0])
        test = (X[100:], X[100:, 0])
        axes = weald.plot_subsampling(model, X[:100], X[:100, 0], subsamples=[0.5], test=test)
        expected = [root_mean_squared_error(X[100:, 0], stage) for stage in fitted.staged_predict(X[100:])]
        np.testing.assert_allclose(line(axes, "0.5").get_ydata(), expected)

    def test_refusals(self):
        for rates in ([], [0.0], [-1.0], ["a"]):
            with pytest.raises(ParameterError, match="`learning_rates` of plot_shrinkage"):
                weald.plot_shrinkage(weald.XGBClassifier(), X, Y, learning_rates=rates)
        with pytest.raises(ParameterError, match=r"`subsamples` of plot_subsampling .* at most 1"):
            weald.plot_subsampling(weald.XGBClassifier(), X, Y, subsamples=[1.5])
        with pytest.raises(ParameterError, match="`test_size`"):
            weald.plot_shrinkage(weald.XGBClassifier(), X, Y, test_size=1.0)
        with pytest.raises(DataTypeError, match="needs a booster with staged_predict_proba"):
            weald.plot_shrinkage(weald.RandomForestClassifier(), X, Y)


class TestResamples:
    def test_bootstrap(self):
        result = weald.bootstrap(X[:, 0], "mean", n_resamples=500, random_state=0)
        axes = weald.plot_resamples(result)
        assert sum(bar.get_height() for bar in axes.patches[:-1]) == 500  # the last is the interval
        texts = [text.get_text() for text in axes.get_legend().get_texts()]
        assert texts[0].startswith("95 % interval (bca): ")
        assert "estimate" in texts[1]
        assert axes.lines[0].get_xdata()[0] == result.estimate

    def test_the_legend_covers_no_line(self):
        for result in (
            weald.jackknife(1e5 + X[:40, 0], "variance"),
            weald.jackknife(-(X[:40, 0] ** 4), "variance"),
        ):
            axes = weald.plot_resamples(result)
            axes.figure.draw_without_rendering()
            lowest = axes.get_legend().get_window_extent().y0
            assert all(line.get_window_extent().y1 < lowest for line in axes.lines)
            assert axes.lines[0].get_zorder() > axes.lines[1].get_zorder()
        large = weald.plot_resamples(weald.jackknife(1e5 + X[:40, 0], "mean")).get_legend().get_texts()
        assert all(re.search(r": (100|99),\d\d\d", text.get_text()) for text in large)

    def test_jackknife_and_several_entries(self):
        result = weald.jackknife(X[:40, 0], "std")
        axes = weald.plot_resamples(result, bins=7)
        assert sum(bar.get_height() for bar in axes.patches) == 40
        assert [each.get_xdata()[0] for each in axes.lines] == [result.corrected, result.estimate]
        pair = weald.bootstrap(
            X[:, 0], lambda x: np.quantile(x, [0.25, 0.75]), n_resamples=50, random_state=0
        )
        assert weald.plot_resamples(pair, which=1).lines[0].get_xdata()[0] == pair.estimate[1]
        with pytest.raises(ParameterError, match="`which` of plot_resamples must be a number from 0 to 1"):
            weald.plot_resamples(pair, which=2)
        with pytest.raises(ParameterError, match="the statistic is one number"):
            weald.plot_resamples(result, which=1)
        with pytest.raises(DataTypeError, match=r"what weald\.bootstrap or weald\.jackknife returns"):
            weald.plot_resamples([1.0])
