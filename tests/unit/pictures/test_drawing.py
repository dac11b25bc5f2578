import itertools
import re
import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from unit.pictures.models import (
    NUMERIC,
    chain,
    classifier,
    model_of,
    regressor,
    towns,
    two_numbers,
    two_outputs,
)

from weald import DecisionTreeClassifier, DecisionTreeRegressor, plot_tree
from weald.data.schema import ColumnSchema
from weald.errors import DataTypeError, ParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def new_axes(figsize=(10, 6), **options):
    return plt.figure(figsize=figsize, **options).add_axes((0.02, 0.02, 0.96, 0.96))


def extents(axes, drawn):
    """The boxes around all texts, padding included, in pixels: left, bottom, right, top."""
    axes.figure.canvas.draw()
    found = [text.get_bbox_patch().get_window_extent() for text in drawn]
    return np.array([[box.x0, box.y0, box.x1, box.y1] for box in found])


def assert_tidy(axes, drawn):
    """No two boxes overlap, and all lie inside the axes."""
    boxes, space, slack = extents(axes, drawn), axes.get_window_extent(), 0.01
    assert boxes[:, 0].min() >= space.x0 - slack
    assert boxes[:, 1].min() >= space.y0 - slack
    assert boxes[:, 2].max() <= space.x1 + slack
    assert boxes[:, 3].max() <= space.y1 + slack
    for a, b in itertools.combinations(range(len(boxes)), 2):
        (x0, y0, x1, y1), (u0, v0, u1, v1) = boxes[a], boxes[b]
        apart = x1 <= u0 + slack or u1 <= x0 + slack or y1 <= v0 + slack or v1 <= y0 + slack
        assert apart, (drawn[a].get_text(), drawn[b].get_text())


@pytest.mark.parametrize("depth", [0, 1, 3, 6])
@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("figsize", [(6.4, 4.8), (16, 5)])
def test_nothing_overlaps_and_all_is_inside(make, depth, figsize):
    axes = new_axes(figsize)
    model = make(max_depth=depth, min_samples_leaf=3) if depth else make(min_samples_split=1000)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The tree has", UserWarning)
        drawn = model.plot(ax=axes)
    assert_tidy(axes, drawn)


@pytest.mark.parametrize("dpi", [50, 200])
def test_other_resolutions_are_tidy_too(dpi):
    axes = new_axes((16, 8), dpi=dpi)
    assert_tidy(axes, classifier(max_depth=5).plot(ax=axes))


@pytest.mark.parametrize(
    "options", [{"label": "root"}, {"label": "none", "node_ids": True}, {"proportion": True}]
)
def test_options_keep_it_tidy(options):
    axes = new_axes()
    assert_tidy(axes, plot_tree(classifier(), ax=axes, **options))


@pytest.mark.parametrize("model", [two_outputs(), two_numbers()], ids=["classes", "numbers"])
def test_several_outputs_are_drawn(model):
    axes = new_axes((16, 8))
    drawn = plot_tree(model, ax=axes, filled=True)
    assert_tidy(axes, drawn)
    last = drawn[0].get_text().splitlines()[-1]
    assert last.startswith("class = [" if hasattr(model, "classes_") else "value = [")


def test_boxes_say_what_the_node_says():
    X, label, _ = towns()
    model = DecisionTreeClassifier(max_depth=1).fit(X[["flag"]].assign(x=1.0), label)
    drawn = plot_tree(model, ax=new_axes(), node_ids=True, precision=2)
    counts = [int((label == name).sum()) for name in ("high", "low", "middle")]
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert drawn[0].get_text().splitlines() == [
        "node #0",
        "flag is false",
        f"gini = {model.tree_.impurity[0]:.2f}",
        f"rows = {len(label)}",
        f"value = [{', '.join(map(str, counts))}]",
        f"class = {model.classes_[np.argmax(counts)]}",
    ]
    assert [text.get_text() for text in drawn[3:]] == ["yes", "no"]
    drawn = plot_tree(model, ax=new_axes(), impurity=False, label="none", class_names=False, proportion=True)
    shares = [f"{count / len(label):.3f}".rstrip("0") for count in counts]
    assert drawn[0].get_text().splitlines() == ["flag is false", "100%", f"[{', '.join(shares)}]"]


def test_missing_values_stand_at_their_way():
    x = np.array([1.0, 1.0, 1.0, 2.0, 2.0, np.nan, np.nan])
    model = DecisionTreeRegressor().fit(x[:, None], [0, 0, 0, 1, 1, 1, 1])
    assert model.tree_.missing_go_to_left[0] == 0
    drawn = plot_tree(model, ax=new_axes())
    assert [text.get_text() for text in drawn[model.tree_.node_count :]] == ["yes", "no, missing"]
    # Without missing values in training nothing is said of them, unless it is not known.
    full = DecisionTreeRegressor().fit(x[:5, None], [0, 0, 0, 1, 1])
    assert [text.get_text() for text in plot_tree(full, ax=new_axes())[3:]] == ["yes", "no"]
    del full._missing_columns
    assert [text.get_text() for text in plot_tree(full, ax=new_axes())[3:]] == ["yes, missing", "no"]


def test_missing_against_present_needs_no_word_at_the_way():
    model = DecisionTreeRegressor().fit([[1.0], [2.0], [None], [None]], [0, 0, 1, 1])
    drawn = plot_tree(model, ax=new_axes())
    assert drawn[0].get_text().startswith("column 0 is present\n")
    assert [text.get_text() for text in drawn[3:]] == ["yes", "no"]


def many_levels(n_left, n_levels=12):
    levels = tuple(f"v{i:02d}" for i in range(n_levels))
    forest, schema = chain(
        [(0, set(range(1, n_left + 1)))], [ColumnSchema("c", "categorical", levels=levels)], [[0.0], [1.0]]
    )
    return plot_tree(model_of(forest, schema), ax=new_axes())[0].get_text().splitlines()[0]


def test_categories_are_abbreviated():
    assert many_levels(1) == "c is v00"
    assert many_levels(3) == "c in {v00, v01, v02}"
    assert many_levels(6) == "c in {v00, v01, v02, … and 3 more}"
    assert many_levels(10) == "c not in {v10, v11}"
    assert many_levels(11) == "c is not v11"


def test_long_names_lose_their_middle():
    forest, schema = chain([(0, 1.0)], [ColumnSchema("a" * 30 + "b" * 30, "numeric")], [[0.0], [1.0]])
    text = plot_tree(model_of(forest, schema), ax=new_axes())[0].get_text()
    assert text.startswith("a" * 12 + "…" + "b" * 11 + " <= 1")


def test_depth_limit_is_hinted_at():
    model = classifier(max_depth=5)
    drawn = plot_tree(model, ax=new_axes(), max_depth=1)
    shown = [text.get_text() for text in drawn]
    assert shown.count("(…)") == 4
    assert len([text for text in shown if "rows" in text]) == 3
    assert_tidy(drawn[0].axes, drawn)
    assert [text.get_text() for text in plot_tree(model, ax=new_axes(), max_depth=0)].count("(…)") == 2


def test_a_tree_too_large_is_cut_with_a_warning():
    X, _, score = towns()
    model = DecisionTreeRegressor().fit(X, score)
    axes = new_axes((3, 2))
    with pytest.warns(UserWarning, match=rf"{model.tree_.node_count} nodes, too many .* down to depth \d"):
        drawn = plot_tree(model, ax=axes)
    assert_tidy(axes, drawn)
    assert any(text.get_text() == "(…)" for text in drawn)


def test_trees_are_cut_before_they_are_unreadable():
    model = classifier(max_depth=6)
    for draw in (model.plot, lambda **options: plot_tree(model, **options)):
        axes = new_axes((6.4, 4.8))
        with pytest.warns(UserWarning, match=r"drawn down to depth \d.*max_depth") as said:
            drawn = draw(ax=axes)
        assert said[0].filename == __file__
        assert drawn[0].get_fontsize() >= 4
        assert_tidy(axes, drawn)
    boxes, space = extents(axes, drawn), axes.get_window_extent()
    assert np.ptp(boxes[:, [1, 3]]) > 0.7 * space.height


def test_a_figure_made_for_a_tree_is_large_enough_to_read():
    small = plot_tree(classifier(max_depth=1))
    assert small[0].figure.get_size_inches().tolist() == plt.rcParams["figure.figsize"]
    plt.close("all")
    drawn = classifier(max_depth=4).plot()  # without a warning, which would be an error
    assert drawn[0].get_fontsize() >= 7.5
    assert 6.4 < drawn[0].figure.get_size_inches()[0] <= 16
    assert_tidy(drawn[0].axes, drawn)
    plt.close("all")
    X, _, score = towns()
    with pytest.warns(UserWarning, match="Take a larger figure"):
        cut = DecisionTreeRegressor().fit(X, score).plot()
    assert cut[0].get_fontsize() >= 7.5
    assert_tidy(cut[0].axes, cut)


def test_a_figure_of_the_users_own_keeps_its_size():
    figure = plt.figure(figsize=(5, 4))
    drawn = classifier(max_depth=3).plot()
    assert drawn[0].figure is figure
    assert figure.get_size_inches().tolist() == [5, 4]


def test_the_figure_that_the_warning_names_is_large_enough():
    model = classifier(max_depth=5)
    with pytest.warns(UserWarning, match="larger figure") as said:
        model.plot(ax=new_axes((6.4, 4.8)))
    size = re.search(r"figsize=\((\d+), (\d+)\)", str(said[0].message))
    drawn = model.plot(ax=new_axes((int(size[1]), int(size[2]))))  # a warning would be an error
    assert len([text for text in drawn if "rows" in text.get_text()]) == model.tree_.node_count


def test_words_at_the_ways_stand_on_the_ground_of_the_figure():
    with plt.style.context("dark_background"):
        axes = new_axes()
        way = classifier(max_depth=1).plot(ax=axes)[-1]
        assert way.get_bbox_patch().get_facecolor() == matplotlib.colors.to_rgba(axes.figure.get_facecolor())
        assert luminance(matplotlib.colors.to_rgb(way.get_color())) > 0.4


def test_values_of_a_picture_have_the_same_decimals():
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [97978.62, 140113.0, 1205.5])
    values = [text.get_text().splitlines()[-1] for text in plot_tree(model, ax=new_axes())[:5]]
    assert all(re.fullmatch(r"value = \d+", value) for value in values)
    thirds = DecisionTreeRegressor().fit([[0.0], [1.0]], [50.0, 100 / 3])
    shown = [text.get_text().splitlines()[-1] for text in plot_tree(thirds, ax=new_axes())[:3]]
    assert shown == ["value = 41.667", "value = 50.000", "value = 33.333"]


def test_abbreviated_names_are_not_broken():
    name = "the length of a very long name of a column"
    forest, schema = chain([(0, 1.0)], [ColumnSchema(name, "numeric")], [[0.0], [1.0]])
    first = plot_tree(model_of(forest, schema), ax=new_axes((1.5, 2)))[0].get_text().splitlines()[0]
    assert first.startswith("the length o…")
    assert first.endswith("of a column")


def test_the_font_can_be_chosen():
    drawn = plot_tree(classifier(), ax=new_axes(), fontsize=7)
    assert {text.get_fontsize() for text in drawn[:5]} == {7.0}


def test_a_larger_figure_has_a_larger_font():
    model = classifier(max_depth=5)
    small, large = (plot_tree(model, ax=new_axes(size))[0].get_fontsize() for size in ((12, 7), (24, 14)))
    assert large > 1.5 * small


def test_wide_trees_stack_their_leaves():
    X, _, score = towns()
    model = DecisionTreeRegressor(max_depth=5, min_samples_leaf=5).fit(X[["length"]].fillna(0.0), score)
    axes = new_axes((16, 12))
    boxes = extents(axes, plot_tree(model, ax=axes))
    left, right = model.tree_.children_left, model.tree_.children_right
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a >= 0 and left[a] < 0 and left[b] < 0]
    assert pairs
    assert all(boxes[b, 3] < boxes[a, 1] for a, b in pairs)  # the second below the first


def test_parents_stand_in_the_middle_over_their_children():
    axes = new_axes((16, 9))
    model = DecisionTreeRegressor(max_depth=2).fit(np.arange(8.0)[:, None], [0, 0, 5, 5, 20, 20, 27, 27])
    boxes = extents(axes, plot_tree(model, ax=axes))
    middle = (boxes[:, 0] + boxes[:, 2]) / 2
    for node, (a, b) in {0: (1, 4), 1: (2, 3), 4: (5, 6)}.items():
        assert abs(middle[node] - (middle[a] + middle[b]) / 2) < 2


def test_filled_boxes_have_readable_text():
    drawn = plot_tree(classifier(), ax=new_axes(), filled=True)[:9]
    fills = [text.get_bbox_patch().get_facecolor()[:3] for text in drawn]
    assert len(set(fills)) > 3
    for fill, text in zip(fills, drawn, strict=True):
        bright, dark = sorted([luminance(fill), luminance(matplotlib.colors.to_rgb(text.get_color()))])[::-1]
        assert (bright + 0.05) / (dark + 0.05) >= 4.5
    plain = plot_tree(classifier(), ax=new_axes())
    assert {text.get_bbox_patch().get_facecolor() for text in plain[:9]} == {(1.0, 1.0, 1.0, 1.0)}


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_dollars_are_no_mathematics():
    forest, schema = chain([(0, 1.0)], [ColumnSchema("price $x_1$", "numeric")], [[0.0], [1.0]])
    axes = new_axes()
    assert_tidy(axes, plot_tree(model_of(forest, schema), ax=axes))


def test_current_axes_and_layout_engines():
    drawn = plot_tree(classifier(max_depth=1))  # a figure of its own
    assert plt.gca() is drawn[0].axes
    axes = plt.subplots(layout="constrained")[1]
    axes.set_title("x")
    assert plot_tree(classifier(max_depth=2), ax=None)[0].axes is axes
    assert_tidy(axes, [text for text in axes.texts if text.get_text()])


def test_names_can_be_given():
    forest, schema = chain([(0, 1.0)], NUMERIC, [[1.0, 0.0], [0.0, 1.0]], shares=True)
    model = model_of(forest, schema, np.array([0, 1]))
    drawn = plot_tree(
        model, ax=new_axes(), feature_names=["Länge", "Tiefe"], class_names=np.array(["no", "yes"])
    )
    assert drawn[0].get_text().startswith("Länge <= 1\n")
    assert drawn[2].get_text().endswith("class = yes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a"]}, "`feature_names` must hold 5 names, one per column; got 1"),
        ({"feature_names": "abcde"}, "`feature_names` must be a list of names; got 'abcde'"),
        ({"class_names": ["a", "b"]}, "`class_names` must hold 3 names, one per class"),
        ({"max_depth": -1}, "`max_depth` must be None or a whole number from 0 up; got -1"),
        ({"precision": 1.5}, "`precision` must be a whole number from 0 up; got 1.5"),
        ({"label": "some"}, "`label` must be one of 'all', 'root', 'none'; got 'some'"),
    ],
)
def test_wrong_options_say_so(options, message):
    with pytest.raises(ParameterError, match=message):
        plot_tree(classifier(), ax=new_axes(), **options)


def test_class_names_of_several_outputs():
    model = two_outputs()
    names = [["x", "y", "z"], ["nein", "ja"]]
    text = plot_tree(model, ax=new_axes(), class_names=names)[0].get_text()
    assert text.splitlines()[-1] in {f"class = [{a}, {b}]" for a in names[0] for b in names[1]}
    with pytest.raises(ParameterError, match="2 lists of names, one per output; got 3"):
        plot_tree(model, ax=new_axes(), class_names=["x", "y", "z"])
    with pytest.raises(ParameterError, match="2 names for output 1"):
        plot_tree(model, ax=new_axes(), class_names=[["x", "y", "z"], ["ja"]])


def test_only_fitted_trees_of_weald():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        plot_tree(DecisionTreeClassifier())
    with pytest.raises(
        DataTypeError, match="plot_tree takes a fitted tree of weald, or an ensemble of trees; got sklearn"
    ):
        plot_tree(TheirClassifier().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(DataTypeError, match=r"got builtins\.dict"):
        plot_tree({})
