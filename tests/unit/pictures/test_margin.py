"""plot_margin: what is drawn where, what is held, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import svm
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from weald import SVC, SVR, LinearSVC, LinearSVR, plot_margin
from weald.errors import DataError, DataTypeError, ParameterError
from weald.kernels import Spectrum
from weald.pictures.plane import plane_of
from weald.pictures.slack import slack_lines

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal([-1, -1], 0.9, (40, 2)), RNG.normal([1, 1], 0.9, (40, 2))])
Y = np.repeat(["no", "yes"], 40)
FRAME = pd.DataFrame(
    {
        "x": X[:, 0],
        "y": X[:, 1],
        "age": np.arange(80) % 7,
        "town": np.where(np.arange(80) % 3, "Bern", "Rom"),
        "day": pd.date_range("2024-01-01", periods=80),
    }
)


@pytest.fixture(autouse=True)
def _no_figures_left() -> Any:
    yield
    plt.close("all")


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def marks(ax: Any, label: str) -> Any:
    """The places of the marks of this label."""
    return next(each for each in ax.collections if each.get_label() == label).get_offsets().data


def contour(ax: Any, level: float) -> Any:
    """The points of the line f = level."""
    found = [
        each for each in ax.collections if getattr(each, "levels", None) is not None and len(each.levels) == 1
    ]
    line = next(each for each in found if each.levels[0] == level)
    return np.concatenate([path.vertices for path in line.get_paths()])


def test_boundary_and_margins_are_where_the_decision_is() -> None:
    model = SVC(kernel="linear").fit(X, Y)
    ax = plot_margin(model, X, Y)
    for level in (-1.0, 0.0, 1.0):
        np.testing.assert_allclose(model.decision_function(contour(ax, level)), level, atol=1e-6)
    assert labels(ax) == ["no", "yes", "boundary", "margin", "support row", "wrong side", "slack ξ"]


def test_support_rows_are_ringed_and_wrong_ones_crossed() -> None:
    model = SVC().fit(X, Y)
    ax = plot_margin(model, X, Y)
    np.testing.assert_array_equal(marks(ax, "support row"), X[model.support_])
    np.testing.assert_array_equal(marks(ax, "wrong side"), X[model.predict(X) != Y])
    np.testing.assert_array_equal(marks(ax, "no"), X[:40])


def test_what_is_not_asked_for_is_not_drawn() -> None:
    ax = plot_margin(SVC().fit(X, Y), X, Y, support=False, slack=False)
    assert not {"support row", "slack ξ"} & set(labels(ax))


def test_rows_without_labels_are_grey() -> None:
    ax = plot_margin(SVC().fit(X, Y), X)
    assert labels(ax) == ["boundary", "margin", "support row"]


def test_other_rows_are_ringed_by_their_margin() -> None:
    model = SVC().fit(X, Y)
    other, true = X[::2] + 0.01, Y[::2]
    ax = plot_margin(model, other, true)
    inside = np.where(true == "yes", 1, -1) * model.decision_function(other) <= 1.001
    np.testing.assert_array_equal(marks(ax, "support row"), other[inside])


def test_slack_of_a_linear_machine_is_at_right_angles() -> None:
    model = SVC(kernel="linear").fit(X, Y)
    ax = plot_margin(model, X, Y)
    lines = next(each for each in ax.collections if type(each).__name__ == "LineCollection")
    segments = np.array(lines.get_segments())
    short = np.where(Y == "yes", 1, -1) * model.decision_function(X) < 1 - 1e-3
    np.testing.assert_allclose(segments[:, 0], X[short])
    sides = np.where(Y[short] == "yes", 1, -1)
    np.testing.assert_allclose(sides * model.decision_function(segments[:, 1]), 1, atol=1e-6)


def test_ways_that_do_not_arrive_are_left_out() -> None:
    starts = np.array([[0.0, 0.0], [0.5, 0.5]])
    ends, reached = slack_lines(lambda at: np.full(len(at), 0.2), starts, np.ones(2), np.ones(2))
    assert not reached.any()
    assert np.isfinite(ends).all()

    def bump(at: Any) -> Any:
        return 3 * np.exp(-4 * (at**2).sum(axis=1))

    starts = np.array([[0.8, 0.0]])
    ends, reached = slack_lines(bump, starts, np.ones(1), np.ones(2) * 2)
    assert reached.all()
    np.testing.assert_allclose(bump(ends), 1.0, atol=1e-2)


def test_several_classes_have_regions() -> None:
    three = np.where(X[:, 0] > 1, "c", Y)
    ax = plot_margin(SVC().fit(X, three), X, three, resolution=50)
    assert labels(ax)[:3] == ["c", "no", "yes"]
    image = ax.images[0].get_array()
    assert image.shape == (50, 50, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) == 3


def test_other_columns_are_held_and_named() -> None:
    model = SVC(scale=True).fit(FRAME, Y)
    ax = plot_margin(model, FRAME, Y)
    title = ax.get_title(loc="left").replace("\n", " ")
    assert "held: age = 3, town = Bern, day = 2024-02-09" in title
    assert "(median or most frequent)" in title
    assert "slack ξ" not in labels(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    drawn = contour(ax, 0.0)
    rows = FRAME.iloc[[0] * len(drawn)].assign(
        x=drawn[:, 0], y=drawn[:, 1], age=3.0, town="Bern", day=FRAME["day"].median()
    )
    np.testing.assert_allclose(model.decision_function(rows), 0, atol=0.01)


def test_held_values_can_be_given() -> None:
    model = SVC(scale=True).fit(FRAME, Y)
    ax = plot_margin(
        model, FRAME, Y, columns=["age", "x"], held={"town": "Rom", "y": 0.5, "day": FRAME["day"][0]}
    )
    assert "town = Rom" in ax.get_title(loc="left")
    assert "median" not in ax.get_title(loc="left")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "x")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
def test_tables_of_every_library(library: Any) -> None:
    table = library({"a": X[:, 0], "b": X[:, 1], "c": ["u", "v"] * 40})
    plot_margin(SVC().fit(table, Y), table, Y, resolution=20)


def test_pipelines_and_machines_of_scikit_learn() -> None:
    model = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    ax = plot_margin(model, X, Y, resolution=20)
    np.testing.assert_array_equal(marks(ax, "support row"), X[model[-1].support_])
    plot_margin(svm.SVC().fit(X, Y), X, Y, resolution=20, ax=plt.figure().gca())
    frame = FRAME[["x", "y"]]
    plot_margin(make_pipeline(StandardScaler(), SVC()).fit(frame, Y), frame, Y, resolution=20)


def test_machines_without_support_rows_of_their_own() -> None:
    """A linear machine keeps none, and landmarks are none: rows within the margin are ringed."""
    side = np.where(Y == "yes", 1, -1)
    for model in (
        LinearSVC(loss="hinge").fit(X, Y),
        SVC(solver="landmarks", n_landmarks=30, random_state=0).fit(X, Y),
    ):
        ax = plot_margin(model, X, Y, resolution=20, ax=plt.figure().gca())
        inside = side * model.decision_function(X) <= 1.001
        np.testing.assert_array_equal(marks(ax, "support row"), X[inside])
    ax = plot_margin(LinearSVR(epsilon=0.5).fit(X[:, :1], X[:, 1]), X[:, :1], X[:, 1], ax=plt.figure().gca())
    assert "tube ±0.5" in labels(ax)


@pytest.mark.parametrize("given", [False, True])
def test_the_legend_is_within_the_saved_figure(given: bool) -> None:
    """Beside the picture on a figure of its own, which makes room; in it on axes that do not."""
    own = plt.figure(figsize=(4, 3)).gca() if given else None
    ax = plot_margin(SVC().fit(X, Y), X, Y, resolution=20, ax=own)
    assert own is None or ax is own
    figure = ax.get_figure()
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1
    assert (legend.x0 > ax.get_window_extent().x1) == (not given)


def test_nothing_is_drawn_into_the_axes_of_another_picture() -> None:
    other = plt.figure().gca()
    other.plot([0, 1], [0, 1])
    ax = plot_margin(SVC().fit(X, Y), X, Y, resolution=20)
    assert ax is not other
    assert ax.get_figure() is plt.gcf()
    assert len(other.collections) == 0


# --------------------------------------------------------------------------- regression


def test_a_fit_has_its_tube() -> None:
    x = np.sort(RNG.uniform(0, 6, 60))[:, None]
    y = np.sin(x[:, 0]) + RNG.normal(0, 0.2, 60)
    model = SVR(epsilon=0.15).fit(x, y)
    ax = plot_margin(model, x, y)
    line = next(each for each in ax.lines if each.get_label() == "fit")
    np.testing.assert_allclose(line.get_ydata(), model.predict(line.get_xdata()[:, None]))
    assert labels(ax) == ["tube ±0.15", "fit", "support row", "slack ξ"]
    np.testing.assert_array_equal(marks(ax, "support row"), np.stack([x[:, 0], y], axis=1)[model.support_])
    segments = next(each for each in ax.collections if type(each).__name__ == "LineCollection").get_segments()
    outside = np.abs(y - model.predict(x)) > 0.15 * (1 + 1e-6)
    assert len(segments) == outside.sum()


def test_a_fit_over_one_of_several_columns() -> None:
    model = SVR(scale=True).fit(FRAME, X[:, 0])
    ax = plot_margin(model, FRAME, X[:, 0], columns="y")
    assert ax.get_xlabel() == "y"
    assert "held: x = " in ax.get_title(loc="left")
    plot_margin(model, FRAME, ax=plt.figure().gca())


# --------------------------------------------------------------------------- refusals


def test_bad_calls_are_told() -> None:
    model = SVC(scale=True).fit(FRAME, Y)
    with pytest.raises(ParameterError, match=r"`columns` of plot_margin names 'xx'.*columns are 'x'"):
        plot_margin(model, FRAME, columns=["xx", "y"])
    with pytest.raises(ParameterError, match="two different columns"):
        plot_margin(model, FRAME, columns=["x", "x"])
    with pytest.raises(ParameterError, match="two different columns"):
        plot_margin(model, FRAME, columns="x")
    with pytest.raises(DataError, match="Column 'town' holds no plain numbers"):
        plot_margin(model, FRAME, columns=["x", "town"])
    with pytest.raises(
        ParameterError, match="`held` of plot_margin names 'x', which is a column that varies"
    ):
        plot_margin(model, FRAME, held={"x": 1.0})
    with pytest.raises(ParameterError, match="`held` of plot_margin names 'z'"):
        plot_margin(model, FRAME, held={"z": 1.0})
    with pytest.raises(ParameterError, match="`resolution`"):
        plot_margin(model, FRAME, resolution=3)
    with pytest.raises(ParameterError, match="label 'maybe', which the model does not know"):
        plot_margin(model, FRAME, ["maybe"] * 80)
    with pytest.raises(DataTypeError, match="KNeighborsClassifier does not have"):
        plot_margin(KNeighborsClassifier().fit(X, Y), X)
    with pytest.raises(DataTypeError, match="precomputed"):
        plot_margin(SVC(kernel="precomputed").fit(X @ X.T, Y), X @ X.T)
    texts = ["one", "two", "three", "four"] * 20
    for kernel in ("spectrum", Spectrum(2)):
        with pytest.raises(DataTypeError, match=r"draws over columns of numbers.*texts, which have none"):
            plot_margin(SVC(kernel=kernel).fit(texts, Y), texts)
    with pytest.raises(DataError, match="2 numeric columns, and X has 1"):
        plot_margin(SVC().fit(FRAME[["x", "town"]], Y), FRAME[["x", "town"]])


@pytest.mark.parametrize(
    "asked", [{"held": {99: 1.0}}, {"held": {"9": 1.0}}, {"columns": np.array([0, 12])}, {"columns": [0, -1]}]
)
def test_columns_without_names_are_counted(asked: Any) -> None:
    wide = np.tile(X, 5)
    model = SVC().fit(wide, Y)
    (parameter,) = asked
    told = rf"`{parameter}` of plot_margin names .*10 columns have no names: use positions from 0 to 9\."
    with pytest.raises(ParameterError, match=told):
        plot_margin(model, wide, **asked)
    with pytest.raises(ParameterError, match="one column has no name: use 0"):
        plot_margin(SVR().fit(X[:, :1], X[:, 1]), X[:, :1], columns=1)
    plot_margin(model, wide, columns=np.array([0, 1]), held={2: 1.0}, resolution=10)


def test_planes_of_odd_tables() -> None:
    constant = plane_of(np.full((3, 2), 5.0), None, None, 2, owner="test")
    low, high = constant.limits(0)
    assert low < 5 < high
    gaps = plane_of(np.array([[np.nan, 1.0, np.nan]] * 2), [0, 1], None, 2, owner="test")
    assert gaps.limits(0) == (-0.07, 1.07)
    assert np.isnan(gaps.rows(np.zeros((1, 2)))[0, 2])
    empty = plane_of({"a": [1.0], "b": [2.0], "c": [None]}, None, None, 2, owner="test")
    assert empty.rows(np.zeros((2, 2)))["c"].shape == (2,)
    durations = plane_of(
        pd.DataFrame({"a": [1.0], "b": [1.0], "d": pd.to_timedelta(["1D"])}), None, None, 2, owner="test"
    )
    assert durations.held[0].value == np.timedelta64(1, "D")


def test_thousands_of_rows_are_marked_in_part():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(1500, 2))
    labels = np.where(many[:, 0] + rng.normal(size=1500) > 0, "yes", "no")
    model = LinearSVC().fit(many, labels)
    axes = plot_margin(model, many, labels)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    wrong = int((model.predict(many) != labels).sum())
    assert f"wrong side\n(300 of {wrong:,})" in texts
    assert texts.index("boundary") < texts.index(f"wrong side\n(300 of {wrong:,})")
    marked = {str(each.get_label()).partition("\n")[0]: each for each in axes.collections}
    assert len(marked["wrong side"].get_offsets()) == len(marked["support row"].get_offsets()) == 300
    assert len(marked["yes"].get_offsets()) == (labels == "yes").sum()


def test_a_legend_in_given_axes_stands_where_fewest_rows_are():
    corner = np.concatenate([RNG.uniform(0, 1, (60, 2)) * [1, 0.3], [[0.05, 0.98], [0.99, 0.02]]])
    labels = np.where(corner[:, 0] > 0.5, "yes", "no")
    _, axes = plt.subplots()
    plot_margin(SVC(kernel="linear").fit(corner, labels), corner, labels, ax=axes)
    assert axes.get_legend()._loc == 1  # upper right
