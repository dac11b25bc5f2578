"""Pictures of tables with many classes, long categories, large numbers: nothing is cut or overlaps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import weald

plt = pytest.importorskip("matplotlib.pyplot")
pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
LONG = [
    "critical/other existing credit",
    "no credits/all paid",
    "delayed previously",
    "existing paid",
    "none",
]


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def boxes(axes: Any, labels: Any) -> list[Any]:
    """Where the words of an axis are drawn."""
    axes.figure.canvas.draw()
    renderer = axes.figure.canvas.get_renderer()
    return [label.get_tightbbox(renderer) for label in labels if label.get_text()]


def test_bars_of_many_outputs_have_colours_that_can_be_told_apart() -> None:
    X = RNG.normal(size=(190, 3))
    model = weald.XGBClassifier(n_estimators=2).fit(X, [f"the class of number {k % 19}" for k in range(190)])
    axes = weald.plot_bar(weald.explain(model, X))
    legend = axes.get_legend()
    words = [text.get_text() for text in legend.get_texts()]
    assert len(words) == 8
    assert words[-1] == "12 other outputs"
    (inside,) = boxes(axes, [axes.texts[0]])
    assert inside.x1 < legend.get_window_extent().x0
    assert legend.get_window_extent().x1 <= axes.figure.bbox.x1 + 1
    means = np.abs(weald.explain(model, X).values).mean(axis=0)
    drawn = sum(patch.get_width() for patch in axes.patches)
    assert drawn == pytest.approx(means.sum())


def test_long_categories_below_an_axis_do_not_touch() -> None:
    table = pd.DataFrame({"history": pd.Categorical(RNG.choice(LONG, 120)), "x": RNG.normal(size=120)})
    model = weald.DecisionTreeRegressor().fit(table, table["history"].cat.codes + table["x"])
    axes = weald.plot_shap_scatter(weald.explain(model, table), "history")
    labels = axes.get_xticklabels()
    assert {label.get_rotation() for label in labels} == {45.0}
    short = pd.DataFrame({"history": pd.Categorical(RNG.choice(["a", "b"], 120)), "x": table["x"]})
    model = weald.DecisionTreeRegressor().fit(short, table["x"])
    axes = weald.plot_shap_scatter(weald.explain(model, short), "history")
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {0.0}
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes(axes, axes.get_xticklabels())))


def test_notes_above_a_drawing_are_not_cut() -> None:
    table = pd.DataFrame(
        {"x": RNG.normal(size=400), "zone": pd.Categorical([f"z{k % 30}" for k in range(400)])}
    )
    model = weald.DecisionTreeRegressor().fit(table, table["x"] + table["zone"].cat.codes)
    shown = weald.PartialDependenceDisplay.from_estimator(model, table, ["x", "zone"], kind="both")
    figure = shown.figure_
    figure.canvas.draw()
    for axes in shown.axes_:
        extent = axes.title.get_window_extent()
        left = axes._left_title.get_window_extent()
        assert max(extent.x1, left.x1) <= figure.bbox.x1


def test_large_numbers_beside_a_bar_are_written_out() -> None:
    X = RNG.normal(size=(300, 2))
    axes = weald.plot_kernel_map("rbf", X, (200_000 + 50_000 * X[:, 0]).astype(int))
    bar = axes[0].figure.axes[-1]
    words = [label.get_text() for label in bar.get_yticklabels()]
    assert all("e+" not in word for word in words)
    assert any("," in word for word in words)


def test_numbers_along_axes_have_commas_where_they_are_large_and_years_have_none() -> None:
    from weald.pictures.ticks import plain_numbers

    _, (first, second, third) = plt.subplots(3)
    for axes, high in ((first, 250_000), (second, 2_010), (third, 6e11)):
        axes.set_xlim(high / 100, high)
        plain_numbers(axes)
    first.figure.canvas.draw()
    words = [[label.get_text() for label in axes.get_xticklabels()] for axes in (first, second, third)]
    assert {"50,000", "200,000"} <= set(words[0])
    assert {"500", "1500"} <= set(words[1])
    assert {"2", "4"} <= set(words[2])
    assert third.xaxis.get_offset_text().get_text() == "×10¹¹"


def test_numbers_that_would_touch_are_fewer() -> None:
    from weald.pictures.ticks import plain_numbers

    figure = plt.figure(figsize=(2.4, 2))
    axes = figure.gca()
    axes.set_xlim(-90_000, 280_000)
    plain_numbers(axes)
    drawn = boxes(axes, axes.get_xticklabels())
    assert len(drawn) >= 2
    assert all(a.x1 < b.x0 for a, b in pairwise(drawn))


def test_resamples_that_are_nearly_all_alike_can_be_seen() -> None:
    values = np.r_[np.full(4_000, 37.0), RNG.integers(36, 39, 6)]
    axes = weald.plot_resamples(weald.bootstrap(values, "mean", random_state=0))
    assert 1 <= len(axes.patches) <= 62
    axes = weald.plot_resamples(weald.jackknife(values, "median"))
    low, high = axes.get_xlim()
    assert all(low < line.get_xdata()[0] < high for line in axes.lines)


def test_rows_of_a_kernel_map_may_have_numbers_with_fractions() -> None:
    X = RNG.normal(size=(60, 2))
    axes = weald.plot_kernel_map("rbf", X, X[:, 0] + 0.5)
    assert axes[0].figure.axes[-1].get_ylabel() == "y"
    assert axes[0].get_legend() is None
