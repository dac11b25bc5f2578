"""Displays of dependence: what is drawn, where, and how much of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import weald
from weald.errors import ParameterError

RNG = np.random.default_rng(0)
N = 300
X = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "rooms": RNG.integers(1, 5, N),
        "city": RNG.choice(["Bern", "Basel", "Genf"], N),
        "zone": RNG.choice([f"zone {i}" for i in range(40)], N),
        "when": pd.date_range("2024-01-01", periods=N),
    }
)
X.loc[::9, "size"] = np.nan
Y = np.nan_to_num(X["size"]) * X["rooms"] + (X["city"] == "Bern")
MODEL = weald.XGBRegressor(n_estimators=8, max_depth=3).fit(X, Y)


@pytest.fixture(autouse=True)
def closed_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def words(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def test_every_kind_of_column_is_drawn():
    display = weald.PartialDependenceDisplay.from_estimator(MODEL, X)
    assert len(display.axes_) == 5
    assert [axes.get_xlabel() for axes in display.axes_] == list(X.columns)
    display.figure_.canvas.draw()
    size, rooms, city, zone, when = display.axes_
    assert words(size)[-1] == "missing"
    assert words(city) == ["Basel", "Bern", "Genf"]
    assert len(words(zone)) == 15
    assert "15 of 40 categories" in zone.get_title(loc="left")
    assert "2024" in "".join(words(when))
    assert any(each.get_gid() == "deciles" for each in rooms.collections)
    assert len({axes.get_ylim() for axes in display.axes_}) == 1
    line = max(rooms.lines, key=lambda each: len(each.get_xdata()))
    np.testing.assert_allclose(line.get_ydata(), display.results[1].values[0])


def test_drawing_leaves_the_record_as_it_is():
    found = weald.partial_dependence(MODEL, X, "size", kind="both")
    before = found.grid[0].copy()
    weald.PartialDependenceDisplay([found]).plot().plot(band="quantiles")
    np.testing.assert_array_equal(found.grid[0], before)


def test_curves_of_rows_are_thinned():
    from matplotlib.collections import LineCollection

    display = weald.PartialDependenceDisplay.from_estimator(
        MODEL, X, ["size", "city"], kind="both", most_lines=50
    )
    for axes in display.axes_:
        lines = [c for c in axes.collections if isinstance(c, LineCollection) and len(c.get_segments()) == 50]
        assert len(lines) == 1
        assert "50 of 300 rows" in axes.get_title(loc="left")
    alone = weald.PartialDependenceDisplay.from_estimator(MODEL, X, "size", kind="individual", centred=True)
    assert not [
        line for line in alone.axes_[0].lines if len(line.get_xdata()) > 5 and line.get_linestyle() == "-"
    ]
    assert alone.axes_[0].get_ylabel() == "change of prediction"


def test_two_columns():
    display = weald.PartialDependenceDisplay.from_estimator(
        MODEL, X, [("rooms", "city"), ("when", "size"), ("rooms", "size")], grid=6
    )
    display.figure_.canvas.draw()
    assert display.axes_[0].get_ylabel() == "city"
    assert len(display.axes_[0].texts) == 12  # every cell has its value written in it
    numbers = X[["rooms"]].assign(other=RNG.normal(size=N))
    model = weald.DecisionTreeRegressor(max_depth=4).fit(numbers, numbers["rooms"] * numbers["other"])
    contours = weald.PartialDependenceDisplay.from_estimator(model, numbers, ("other", "rooms"))
    assert not contours.axes_[0].texts or contours.axes_[0].collections
    flat = weald.DecisionTreeRegressor().fit(numbers, np.ones(N))
    weald.PartialDependenceDisplay.from_estimator(flat, numbers, ("other", "rooms")).figure_.canvas.draw()


def test_several_classes_share_a_panel():
    model = weald.DecisionTreeClassifier(max_depth=3).fit(X, np.digitize(Y, [-1, 1]))
    display = weald.PartialDependenceDisplay.from_estimator(model, X, ["size", "city"])
    assert [text.get_text() for text in display.axes_[0].get_legend().get_texts()] == ["0", "1", "2"]
    assert display.axes_[1].get_legend() is None
    surfaces = weald.PartialDependenceDisplay.from_estimator(model, X, [("rooms", "city")])
    assert len(surfaces.axes_) == 3
    with pytest.raises(ParameterError, match="one target"):
        weald.PartialDependenceDisplay.from_estimator(model, X, "size", kind="both")
    one = weald.PartialDependenceDisplay.from_estimator(model, X, "size", kind="both", target=2)
    assert one.axes_[0].get_ylabel() == "probability of 2"


def test_axes_that_are_given():
    import matplotlib.pyplot as plt

    figure, several = plt.subplots(1, 2)
    display = weald.PartialDependenceDisplay.from_estimator(MODEL, X, ["size", "city"], ax=several)
    assert display.axes_ == list(several)
    assert display.figure_ is figure
    _, alone = plt.subplots()
    assert weald.PartialDependenceDisplay.from_estimator(MODEL, X, "size", ax=alone).axes_ == [alone]
    _, divided = plt.subplots()
    inside = weald.PartialDependenceDisplay.from_estimator(MODEL, X, ["size", "city"], ax=divided)
    assert len(inside.axes_) == 2
    assert divided not in inside.axes_
    with pytest.raises(ParameterError, match="3 drawings"):
        weald.PartialDependenceDisplay.from_estimator(MODEL, X, ["size", "city", "zone"], ax=several)
    with pytest.raises(ParameterError, match="`band`"):
        display.plot(band="wide")


def test_effects():
    display = weald.AccumulatedLocalEffectsDisplay.from_estimator(
        MODEL, X, ["size", "city", "when", ("size", "rooms"), ("city", "rooms")]
    )
    display.figure_.canvas.draw()
    assert display.axes_[0].get_ylabel() == "effect on prediction"
    assert words(display.axes_[0])[-1] == "missing"
    assert display.axes_[3].get_xlabel() == "size"
    with pytest.raises(ParameterError, match="no quantiles"):
        display.plot(band="quantiles")


def test_interactions():
    display = weald.FriedmanHDisplay.from_estimator(MODEL, X[:60])
    assert words(display.ax_) == list(X.columns)
    assert len(display.ax_.texts) == 25
    assert "diagonal" in display.ax_.get_title(loc="left")
    found = weald.friedman_h(MODEL, X[:60], [("size", "rooms")])
    pair = weald.FriedmanHDisplay(found).plot()
    assert words(pair.ax_) == ["size", "rooms"]
    assert len(pair.ax_.texts) == 2
    with pytest.raises(ParameterError, match="no interaction"):
        weald.FriedmanHDisplay(weald.friedman_h(MODEL, X[:60], [])).plot()
