"""plot_importance: the numbers of get_score, xgboost's parameters, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from unit.pictures.ensembles.zoo import LABELS, X

import weald
from weald.errors import DataError, DataTypeError, ParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return weald.XGBClassifier(n_estimators=3).fit(X, LABELS)


def widths(axes) -> dict[str, float]:
    names = [text.get_text() for text in axes.get_yticklabels()]
    return dict(zip(names, [bar.get_width() for bar in axes.patches], strict=True))


@pytest.mark.parametrize("kind", ["weight", "gain", "cover", "total_gain", "total_cover"])
def test_bars_are_the_scores(model, kind):
    expected = model.get_booster().get_score(importance_type=kind)
    for given in (model, model.get_booster(), expected):
        assert widths(weald.plot_importance(given, importance_type=kind)) == pytest.approx(expected)


def test_largest_on_top_and_cut(model):
    axes = weald.plot_importance(model, max_num_features=2, importance_type="gain")
    found = widths(axes)
    assert len(found) == 2
    assert list(found.values()) == sorted(found.values())
    assert axes.get_title() == "Importance of columns (2 of 3)"


def test_parameters_of_xgboost(model, tmp_path):
    fmap = tmp_path / "map.txt"
    fmap.write_text("0 length q\n1 depth q\n2 place i\n")
    _, ax = plt.subplots()
    axes = weald.plot_importance(
        model,
        ax=ax,
        height=0.3,
        xlim=(0, 99),
        ylim=(-1, 5),
        title="T",
        xlabel="x",
        ylabel="y",
        fmap=str(fmap),
        grid=False,
        show_values=False,
    )
    assert axes is ax
    assert axes.get_xlim() == (0, 99)
    assert axes.get_ylim() == (-1, 5)
    assert not axes.texts
    assert {text.get_text() for text in axes.get_yticklabels()} == {"length", "depth", "place"}
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("T", "x", "y")
    shown = weald.plot_importance(model, values_format="{v:.1f}!")
    assert all(text.get_text().endswith("!") for text in shown.texts)


def test_large_numbers_are_written_out():
    given = {"a": 36020.4, "b": 1234567.0, "c": 0.123456, "d": 999.96}
    words = [text.get_text() for text in weald.plot_importance(given).texts]
    assert sorted(words) == ["0.1235", "1,000", "1,234,567", "36,020"]
    powers = weald.plot_importance({"a": 3.6e9}, importance_type="total_gain")
    assert powers.texts[0].get_text() == "3.6×10⁹"


def test_many_columns_make_the_figure_higher():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(200, 40))
    forest = weald.RandomForestRegressor(5, random_state=0).fit(many, many.sum(axis=1))
    axes = weald.plot_importance(forest)
    assert len(axes.patches) == 30
    assert axes.figure.get_size_inches()[1] > 7


def test_refusals(model):
    with pytest.raises(ParameterError, match=r"There is no importance 'gian'. Did you mean 'gain'"):
        weald.plot_importance(model, importance_type="gian")
    with pytest.raises(ParameterError, match="`max_num_features` must be None or a whole number from 1"):
        weald.plot_importance(model, max_num_features=0)
    with pytest.raises(DataTypeError, match="plot_importance takes a fitted tree of weald"):
        weald.plot_importance(object())
    stump = weald.XGBRegressor(n_estimators=1).fit([[1.0], [1.0]], [1.0, 2.0])
    with pytest.raises(DataError, match="every tree is one leaf"):
        weald.plot_importance(stump)
