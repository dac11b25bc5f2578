"""Drawings of explanations: their marks are the values, whatever the outputs, columns and missing values."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import weald
from weald.errors import DataError, DataTypeError, ParameterError
from weald.pictures.explanations.reading import numbers_of, shades

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
N = 200
DATA = np.empty((N, 4), object)
DATA[:, 0] = RNG.normal(size=N)
DATA[:, 1] = RNG.choice(["Bern", "Basel", "Chur"], N)
DATA[:, 2] = RNG.integers(0, 5, N)
DATA[:, 3] = RNG.normal(size=N)
DATA[::10, 0], DATA[::13, 1], DATA[::7, 3] = np.nan, None, np.nan
NAMES = ["length", "town", "count", "weight"]
VALUES = RNG.normal(size=(N, 4)) * [3.0, 2.0, 1.0, 0.5]


def explanation(values=VALUES, base=0.5, **other):
    given = {"data": DATA, "feature_names": NAMES, "output_names": None} | other
    return SimpleNamespace(values=values, base_values=base, **given)


THREE = explanation(
    np.stack([VALUES, 2 * VALUES, -VALUES], axis=2),
    np.array([[0.1, 0.2, 0.3]] * N),
    output_names=["u", "v", "w"],
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def ticks(axes) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


class TestBeeswarm:
    def test_marks_are_the_values(self):
        axes = weald.plot_beeswarm(explanation())
        assert ticks(axes)[::-1] == NAMES
        for place, j in enumerate(range(4)):
            points = np.concatenate([each.get_offsets() for each in axes.collections])
            mine = points[np.abs(points[:, 1] - (3 - place)) < 0.5]
            np.testing.assert_allclose(np.sort(mine[:, 0]), np.sort(VALUES[:, j]))

    def test_the_rest_is_summed_up(self):
        axes = weald.plot_beeswarm(explanation(), max_display=3)
        assert ticks(axes)[::-1] == ["length", "town", "2 other columns"]
        points = np.concatenate([each.get_offsets() for each in axes.collections])
        rest = points[np.abs(points[:, 1]) < 0.5]
        np.testing.assert_allclose(np.sort(rest[:, 0]), np.sort(VALUES[:, 2] + VALUES[:, 3]))

    def test_outputs(self):
        assert weald.plot_beeswarm(THREE, output="v").get_xlabel() == "what the column adds to the score of v"
        assert weald.plot_beeswarm(THREE).get_xlabel().endswith(" u")
        for output in ("x", 3, True):
            with pytest.raises(
                ParameterError, match="`output` of plot_beeswarm must be a number from 0 to 2"
            ):
                weald.plot_beeswarm(THREE, output=output)

    def test_many_rows_and_no_data(self):
        many = RNG.normal(size=(12_000, 2))
        axes = weald.plot_beeswarm(SimpleNamespace(values=many, base_values=0.0))
        assert ticks(axes) == ["column 1", "column 0"] or ticks(axes) == ["column 0", "column 1"]
        assert all(len(each.get_offsets()) <= 5000 for each in axes.collections)

    def test_points_stay_in_their_line(self):
        axes = weald.plot_beeswarm(explanation(np.round(VALUES)))
        points = np.concatenate([each.get_offsets() for each in axes.collections])
        assert (np.abs(points[:, 1] - np.round(points[:, 1])) < 0.5).all()


class TestWaterfall:
    def test_bars_lead_from_the_base_to_the_prediction(self):
        axes = weald.plot_waterfall(explanation(), 7)
        bars = sorted(axes.patches, key=lambda bar: bar.get_y())
        assert bars[0].get_x() == pytest.approx(0.5)
        ends = [bar.get_x() + bar.get_width() for bar in bars]
        np.testing.assert_allclose([bar.get_x() for bar in bars[1:]], ends[:-1])
        assert ends[-1] == pytest.approx(0.5 + VALUES[7].sum())
        assert "length = " in " ".join(ticks(axes))

    def test_words_and_the_rest(self):
        axes = weald.plot_waterfall(explanation(), 0, max_display=2)
        assert ticks(axes)[0] == "3 other columns"
        assert len(axes.patches) == 2
        assert {"length = missing", "town = missing"} & set(ticks(weald.plot_waterfall(explanation(), 0)))

    @pytest.mark.parametrize("row", [N, -N - 1, 1.0, True, "0"])
    def test_a_row_that_is_not_there(self, row):
        with pytest.raises(ParameterError, match="`row` of plot_waterfall must be a number from 0 to 199"):
            weald.plot_waterfall(explanation(), row)

    def test_one_row_alone(self):
        alone = SimpleNamespace(values=VALUES[3], base_values=0.5, data=DATA[3], feature_names=NAMES)
        assert ticks(weald.plot_waterfall(alone)) == ticks(weald.plot_waterfall(explanation(), 3))


class TestBar:
    def test_means_of_sizes(self):
        axes = weald.plot_bar(explanation())
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], np.abs(VALUES).mean(axis=0))

    def test_outputs_are_stacked(self):
        axes = weald.plot_bar(THREE)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["u", "v", "w"]
        widths = np.array([bar.get_width() for bar in axes.patches]).reshape(3, 4)
        np.testing.assert_allclose(widths, np.abs(THREE.values).mean(axis=0).T)
        assert len(weald.plot_bar(THREE, output=1).patches) == 4

    def test_one_row_with_signs(self):
        axes = weald.plot_bar(explanation(), row=2)
        assert sorted(bar.get_width() for bar in axes.patches) == pytest.approx(sorted(VALUES[2]))
        with pytest.raises(ParameterError, match="`row` of plot_bar"):
            weald.plot_bar(explanation(), row=N)

    def test_an_explanation_of_one_row_is_drawn_as_that_row(self):
        X = DATA[:, [0, 3]].astype(float)
        found = weald.explain(weald.DecisionTreeRegressor(max_depth=3).fit(X, VALUES[:, 0]), X)
        asked, sliced = weald.plot_bar(found, row=3), weald.plot_bar(found[3])
        assert [bar.get_width() for bar in sliced.patches] == [bar.get_width() for bar in asked.patches]
        assert sliced.get_xlabel() == asked.get_xlabel() == "what the column adds"
        assert weald.plot_bar(found.abs.mean(0)).get_xlabel() == "mean size of what the column adds"
        plain = weald.Explanation(np.abs(found.values))  # no data and nothing below 0
        assert weald.plot_bar(plain[2]).get_xlabel() == "what the column adds"
        assert plain.mean(0)[:1].reduced == ("mean",)
        assert weald.plot_bar(plain.mean(0)).get_xlabel() == "mean size of what the column adds"

    def test_one_row_of_several_outputs(self):
        X, y = DATA[:, [0, 3]].astype(float), DATA[:, 2].astype(int)
        found = weald.explain(weald.DecisionTreeClassifier(max_depth=3).fit(X, y), X)
        for draw in (weald.plot_bar, weald.plot_waterfall):
            asked, sliced = draw(found, row=3, output=2), draw(found[3], output=2)
            assert [bar.get_width() for bar in sliced.patches] == [bar.get_width() for bar in asked.patches]
            assert ticks(sliced) == ticks(asked)
            assert sliced.get_xlabel() == asked.get_xlabel()


class TestScatter:
    def test_numbers_and_missing_values(self):
        axes = weald.plot_shap_scatter(explanation(), "length")
        points = axes.collections[0].get_offsets()
        known = ~np.isnan(DATA[:, 0].astype(float))
        np.testing.assert_allclose(points[known, 0], DATA[known, 0].astype(float))
        np.testing.assert_allclose(points[:, 1], VALUES[:, 0])
        assert (points[~known, 0] < np.nanmin(DATA[:, 0].astype(float))).all()
        assert axes.texts[0].get_text() == "missing"

    def test_levels_stand_by_their_means(self):
        axes = weald.plot_shap_scatter(explanation(), 1, color="length")
        names = [text.get_text() for text in axes.get_xticklabels()]
        assert sorted(names) == ["Basel", "Bern", "Chur", "missing"]
        words = np.array(["missing" if each is None else each for each in DATA[:, 1]])
        means = [VALUES[words == name, 1].mean() for name in names]
        assert means == sorted(means)

    def test_colour_by_levels(self):
        axes = weald.plot_shap_scatter(explanation(), "count", color="town")
        assert len(axes.get_legend().get_texts()) == 4

    def test_many_levels_share_a_place(self):
        data = DATA.copy()
        data[:, 1] = [f"town {k % 50}" for k in range(N)]
        axes = weald.plot_shap_scatter(explanation(data=data), "town")
        assert len(axes.get_xticklabels()) == 20
        assert "31 others" in [t.get_text() for t in axes.get_xticklabels()]

    def test_refusals(self):
        with pytest.raises(ParameterError, match="Did you mean 'length'"):
            weald.plot_shap_scatter(explanation(), "lenght")
        with pytest.raises(DataError, match="this explanation has no `data`"):
            weald.plot_shap_scatter(explanation(data=None), "length")


class TestInteractions:
    def test_the_matrix(self):
        rows = RNG.normal(size=(50, 3, 3))
        rows = rows + rows.transpose(0, 2, 1)
        mean = np.abs(rows).mean(axis=0)
        axes = weald.plot_interactions(rows, feature_names=["a", "b", "c"])
        order = np.argsort(-mean.sum(axis=1), kind="stable")
        expected = mean[np.ix_(order, order)] * np.where(np.eye(3), 1, 2)
        np.testing.assert_allclose(axes.images[0].get_array(), expected)
        assert ticks(axes) == [["a", "b", "c"][j] for j in order]

    def test_forms(self):
        rows = RNG.normal(size=(10, 4, 4))
        of_xgboost = weald.plot_interactions(rows, feature_names=["a", "b", "c"])
        assert of_xgboost.images[0].get_array().shape == (3, 3)
        outputs = weald.plot_interactions(np.stack([rows, rows], axis=3), output=1, max_display=2)
        assert outputs.images[0].get_array().shape == (2, 2)
        without = weald.plot_interactions(
            SimpleNamespace(values=rows, feature_names=NAMES), main_effects=False
        )
        assert np.ma.getmaskarray(without.images[0].get_array()).diagonal().all()
        assert (
            weald.plot_interactions(1e5 * np.abs(rows)).get_title(loc="left")
            == "numbers in the cells: thousands"
        )

    def test_refusals(self):
        with pytest.raises(DataTypeError, match="plot_interactions takes interaction values of shape"):
            weald.plot_interactions(VALUES)
        with pytest.raises(ParameterError, match="`feature_names` must hold 4 names"):
            weald.plot_interactions(np.ones((4, 4)), feature_names=["a"])
        with pytest.raises(ParameterError, match="`output` of plot_interactions"):
            weald.plot_interactions(np.ones((2, 4, 4, 2)), output=2)


class TestReading:
    def test_what_is_no_explanation(self):
        for draw in (weald.plot_beeswarm, weald.plot_waterfall, weald.plot_bar):
            with pytest.raises(DataTypeError, match="takes an explanation with `values`"):
                draw(VALUES)
            with pytest.raises(ParameterError, match="`max_display`"):
                draw(explanation(), max_display=0)

    def test_columns_of_every_kind(self):
        assert numbers_of(np.array(["a", "b"])) is None
        np.testing.assert_array_equal(numbers_of(np.array([True, False])), [1.0, 0.0])
        np.testing.assert_array_equal(numbers_of(np.array([1, None, 2.5], object)), [1.0, np.nan, 2.5])
        days = numbers_of(np.array(["2020-01-01", "NaT"], "datetime64[D]"))
        assert np.isnan(days[1])
        assert days[0] == 18262
        np.testing.assert_array_equal(shades(np.array([3.0, 3.0, np.nan])), [0.5, 0.5, np.nan])

    def test_rows_are_shown_as_they_were_given(self):
        frame = pd.DataFrame(
            {
                "town": pd.Categorical(DATA[:, 1]),
                "day": pd.date_range("2024-01-01", periods=N),
                "length": DATA[:, 0].astype(float),
            }
        )
        y = (frame.town == "Bern") * 3.0 + frame.length.fillna(0) + (frame.day > "2024-04-01")
        told = weald.explain(weald.XGBRegressor(n_estimators=5).fit(frame, y), frame)
        words = dict(name.split(" = ") for name in ticks(weald.plot_waterfall(told, 1)))
        assert words["town"] == DATA[1, 1]
        axes = weald.plot_shap_scatter(told, "town")
        names = {text.get_text() for text in axes.get_xticklabels()}
        assert names == {"Bern", "Basel", "Chur", "missing"}
        legend = weald.plot_shap_scatter(told, "length", color="town").get_legend()
        assert {text.get_text() for text in legend.get_texts()} == names
        # Dates have an order, so they stand on an axis of numbers.
        points = weald.plot_shap_scatter(told, "day").collections[0].get_offsets()
        assert len(np.unique(points[:, 0])) == N
        swarm = weald.plot_beeswarm(told)
        line = ticks(swarm).index("town")
        marks = [part for part in swarm.collections if np.abs(part.get_offsets()[:, 1] - line).max() < 0.5]
        assert len(marks) == 1  # no colours of low and high
        assert len(marks[0].get_facecolors()) == 1

    def test_an_explanation_of_shap(self):
        shap = pytest.importorskip("shap")
        given = shap.Explanation(values=VALUES, base_values=np.full(N, 0.5), data=DATA, feature_names=NAMES)
        for draw in (weald.plot_beeswarm, weald.plot_waterfall, weald.plot_bar):
            assert draw(given).figure is not None
        assert weald.plot_shap_scatter(given, "town").get_xlabel() == "town"

    def test_given_axes_are_used(self):
        _, axes = plt.subplots(1, 5)
        drawn = [
            weald.plot_beeswarm(explanation(), ax=axes[0]),
            weald.plot_waterfall(explanation(), ax=axes[1]),
            weald.plot_bar(explanation(), ax=axes[2]),
            weald.plot_shap_scatter(explanation(), 0, ax=axes[3]),
            weald.plot_interactions(np.ones((4, 4)), ax=axes[4]),
        ]
        assert drawn == list(axes)
        assert len(plt.get_fignums()) == 1
