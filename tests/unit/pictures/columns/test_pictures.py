"""Pictures of importances and selections: what is drawn, where, and that nothing is cut."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import weald
from weald.errors import ParameterError
from weald.pictures.columns.importance_bars import shortened

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 25))
MODEL = weald.RandomForestRegressor(5, random_state=0, min_samples_leaf=5).fit(X, X[:, 3] + X[:, 7])


def inside(axes: plt.Axes) -> bool:
    """Whether all that is drawn stands within the figure."""
    figure = axes.get_figure()
    figure.canvas.draw()
    whole, drawn = figure.bbox, axes.get_tightbbox()
    return bool(drawn.x0 >= -1 and drawn.y0 >= -1 and drawn.x1 <= whole.x1 + 1 and drawn.y1 <= whole.y1 + 1)


def test_bars_are_the_importances() -> None:
    found = weald.importance(MODEL, X, X[:, 3] + X[:, 7], n_repeats=2)
    axes = found.plot(max_columns=6)
    widths = [patch.get_width() for patch in axes.patches]
    np.testing.assert_allclose(widths, found.importances_mean[:6])
    tops = [patch.get_y() for patch in axes.patches]
    assert tops == sorted(tops, reverse=True)
    assert [text.get_text() for text in axes.get_yticklabels()] == [str(name) for name in found.names[:6]]
    assert "19 more columns not shown" in axes.get_title(loc="left")
    assert axes.get_xlabel() == "drop of r2 when permuted"
    assert inside(axes)
    own = plt.figure().gca()
    assert weald.importance(MODEL, method="count").plot(own) is own
    plt.close("all")
    with pytest.raises(ParameterError, match="max_columns"):
        found.plot(max_columns=0)


def test_names_of_many_bars_do_not_overlap() -> None:
    own = plt.figure(figsize=(4, 2.5)).gca()
    axes = weald.importance(MODEL, method="gain").plot(own, max_columns=25)
    axes.get_figure().canvas.draw()
    boxes = sorted((text.get_window_extent() for text in axes.get_yticklabels()), key=lambda box: box.y0)
    overlaps = [upper.y0 - lower.y1 for lower, upper in pairwise(boxes)]
    assert min(overlaps) > -1.5  # pixels
    plt.close("all")


def test_long_names_and_dollars_are_shown_as_they_are() -> None:
    names = ["$x$ of the first and very long column of all", "b"]
    table = pd.DataFrame(X[:, :2], columns=names)
    model = weald.DecisionTreeRegressor(max_depth=2).fit(table, X[:, 0])
    axes = weald.importance(model, method="gain").plot()
    assert axes.get_yticklabels()[0].get_text() == shortened(names[0])
    assert inside(axes)
    plt.close("all")


def test_the_way_of_a_selection() -> None:
    forest = weald.RandomForestRegressor(5, random_state=0, min_samples_leaf=5)
    found = weald.select_columns(forest, X[:, :8], X[:, 3] + X[:, 7], by="held_out")
    axes = found.plot()
    line = axes.lines[0]
    assert line.get_xdata().tolist() == [len(step.columns) for step in found.path]
    np.testing.assert_allclose(line.get_ydata(), found.scores)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert f"chosen: {len(found.columns)} columns" in labels
    assert inside(axes)
    plt.close("all")
