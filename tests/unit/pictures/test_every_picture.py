"""Every public picture, of a table with long names, categories and large numbers: all can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import weald

plt = pytest.importorskip("matplotlib.pyplot")
pd = pytest.importorskip("pandas")

LEVELS = ["critical/other existing credit", "no credits/all paid", "delayed previously", "none"]


@cache
def prices() -> tuple[Any, Any]:
    """Houses: amounts in the hundred thousands, and years."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "living area in square feet": rng.integers(900, 48_000, 200),
            "year built": rng.integers(1900, 2011, 200).astype(float),
            "quality": rng.integers(1, 11, 200),
            "history of the owner": pd.Categorical(rng.choice(LEVELS, 200)),
            "lot": rng.normal(size=200) * 120_000,
        }
    )
    table.loc[::9, "year built"] = np.nan
    area, codes = table["living area in square feet"], table["history of the owner"].cat.codes.astype(float)
    return table, 90_000 + 9 * area * (table["quality"] / 5) + 30_000 * codes + table["lot"] / 9


@cache
def model() -> Any:
    return weald.XGBRegressor(n_estimators=8, max_depth=3).fit(*prices())


@cache
def told() -> Any:
    return weald.explain(model(), prices()[0])


def numbers() -> Any:
    return prices()[0][["living area in square feet", "lot"]]


def dear() -> Any:
    return np.where(prices()[1] > prices()[1].median(), "sold above the median", "sold below the median")


@cache
def classifier() -> Any:
    return weald.DecisionTreeClassifier(max_depth=2).fit(prices()[0], dear())


def band(display: Any) -> None:
    options = {} if display is weald.CalibrationBandDisplay else {"n_resamples": 50, "random_state": 0}
    display.from_estimator(classifier(), prices()[0], dear(), **options)


def dependence(display: Any, pairs: bool) -> None:
    names = list(prices()[0].columns)
    asked = (
        [(names[0], names[2]), (names[2], names[3])] if pairs else [names[0], names[1], names[3], names[4]]
    )
    display.from_estimator(model(), prices()[0], asked)


def matrix() -> None:
    names = list(prices()[0].columns)
    weald.FriedmanHDisplay.from_estimator(model(), prices()[0].iloc[:20], list(combinations(names, 2)), names)


def rounds() -> None:
    ada = weald.AdaBoostClassifier(n_estimators=3, random_state=0).fit(prices()[0], dear())
    weald.plot_rounds(ada, prices()[0], dear())


def say() -> None:
    weald.plot_say(weald.AdaBoostClassifier(n_estimators=3, random_state=0).fit(prices()[0], dear()))


def stages() -> Any:
    return weald.GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0)


def margin() -> None:
    weald.plot_margin(weald.SVC().fit(numbers(), dear()), numbers(), dear())


def tube() -> None:
    one = numbers()[["lot"]]
    weald.plot_margin(weald.LinearSVR(max_iter=20).fit(one, prices()[1]), one, prices()[1])


def interactions() -> None:
    weald.plot_interactions(weald.explain(model(), prices()[0].iloc[:30], interactions=True))


def one_row() -> None:
    largest = np.argmax(-told().values.min(axis=1))
    weald.plot_bar(told(), row=int(largest))


def importance() -> None:
    weald.importance(model(), *prices(), n_repeats=2, random_state=0).plot()


def selection() -> None:
    tree = weald.DecisionTreeRegressor(max_depth=3)
    weald.select_columns(tree, *prices(), cv=2, random_state=0).plot()


DRAWN: dict[str, Callable[[], object]] = {
    "plot_tree": lambda: weald.plot_tree(model(), tree=1, filled=True),
    "plot_importance": lambda: weald.plot_importance(model(), importance_type="gain"),
    "plot_importance of splits": lambda: weald.plot_importance(model()),
    "plot_bar": lambda: weald.plot_bar(told()),
    "plot_bar of a row": one_row,
    "plot_beeswarm": lambda: weald.plot_beeswarm(told()),
    "plot_waterfall": lambda: weald.plot_waterfall(told(), 3),
    "plot_shap_scatter": lambda: weald.plot_shap_scatter(told(), "history of the owner", color="lot"),
    "plot_shap_scatter of numbers": lambda: weald.plot_shap_scatter(told(), "living area in square feet"),
    "plot_interactions": interactions,
    "plot_kernel_map": lambda: weald.plot_kernel_map("rbf", numbers(), prices()[1]),
    "plot_learning_curve": lambda: weald.plot_learning_curve(stages().fit(*prices())),
    "plot_losses": weald.plot_losses,
    "plot_margin": margin,
    "plot_margin of numbers": tube,
    "plot_resamples": lambda: weald.plot_resamples(
        weald.bootstrap(prices()[1].to_numpy(), "mean", n_resamples=200, random_state=0)
    ),
    "plot_resamples of a jackknife": lambda: weald.plot_resamples(
        weald.jackknife(prices()[1].to_numpy(), "std")
    ),
    "plot_rounds": rounds,
    "plot_say": say,
    "plot_shrinkage": lambda: weald.plot_shrinkage(stages(), *prices()),
    "plot_similarity": lambda: weald.plot_similarity([0.5, 1.0, 2.0]),
    "plot_subsampling": lambda: weald.plot_subsampling(stages(), *prices()),
    "RocBandDisplay": lambda: band(weald.RocBandDisplay),
    "PrecisionRecallBandDisplay": lambda: band(weald.PrecisionRecallBandDisplay),
    "CalibrationBandDisplay": lambda: band(weald.CalibrationBandDisplay),
    "PartialDependenceDisplay": lambda: dependence(weald.PartialDependenceDisplay, False),
    "PartialDependenceDisplay of pairs": lambda: dependence(weald.PartialDependenceDisplay, True),
    "AccumulatedLocalEffectsDisplay": lambda: dependence(weald.AccumulatedLocalEffectsDisplay, False),
    "AccumulatedLocalEffectsDisplay of pairs": lambda: dependence(weald.AccumulatedLocalEffectsDisplay, True),
    "FriedmanHDisplay": matrix,
    "importance": importance,
    "select_columns": selection,
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def test_every_public_picture_is_here() -> None:
    public = {name for name in weald.__all__ if name.startswith("plot_") or name.endswith("Display")}
    assert public <= {name.partition(" of ")[0] for name in DRAWN}


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_cut_and_no_ticks_touch(name: str) -> None:
    DRAWN[name]()
    figure = plt.gcf()
    figure.canvas.draw()
    whole = figure.bbox.expanded(1 + 2 / figure.bbox.width, 1 + 2 / figure.bbox.height)
    for text in texts(figure):
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, (text.get_text(), box, whole)
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, (text.get_text(), box, whole)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for one, other in combinations(tick_words(axis), 2):
                assert apart(one, other), (name, one.get_text(), other.get_text())


def texts(figure: Any) -> list[Any]:
    """All words that are seen: of axes, legends and figures."""
    from matplotlib.text import Text

    ticks = {word for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for word in all_ticks(axis)}
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    shown = {word for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for word in tick_words(axis)}
    return [text for text in found if text not in ticks or text in shown]


def all_ticks(axis: Any) -> list[Any]:
    ticks = [*axis.majorTicks, *axis.minorTicks]
    return [label for tick in ticks for label in (tick.label1, tick.label2)]


def tick_words(axis: Any) -> list[Any]:
    """The words at the ticks of an axis that lie within its limits and are drawn."""
    axes = axis.axes
    if not axes.axison or not axes.get_visible() or not axis.get_visible():
        return []
    low, high = sorted(axis.get_view_interval())
    room = 1e-9 * (high - low)
    ticks = [tick for tick in axis.get_major_ticks() if low - room <= tick.get_loc() <= high + room]
    return [tick.label1 for tick in ticks if tick.label1.get_visible() and tick.label1.get_text()]


def apart(one: Any, other: Any) -> bool:
    """Whether two words do not touch; of turned ones, whether their lines are a line's height apart."""
    if one.get_rotation() % 90:
        first, second = np.array(one.get_position()), np.array(other.get_position())
        gap = np.abs(one.get_transform().transform(first) - other.get_transform().transform(second)).max()
        angle = np.deg2rad(one.get_rotation())
        return bool(gap * np.sin(angle) >= 0.9 * one.get_size() * one.get_figure().dpi / 72)
    return not one.get_window_extent().overlaps(other.get_window_extent())
