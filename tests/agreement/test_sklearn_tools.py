"""scikit-learn's tools work on weald's trees: selection, pipelines, metadata, drawing."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, BaggingRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as SklearnClassifier
from sklearn.tree import DecisionTreeRegressor as SklearnRegressor
from sklearn.tree import export_graphviz, export_text, plot_tree

from weald import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_iris(return_X_y=True)
NUMBERS, TARGET = load_diabetes(return_X_y=True)


def test_roles():
    assert is_classifier(DecisionTreeClassifier())
    assert is_regressor(DecisionTreeRegressor())


def test_cross_validation_scores_as_well_as_scikit_learn():
    assert cross_val_score(DecisionTreeClassifier(), X, Y, cv=5).mean() > 0.93
    ours = cross_val_score(DecisionTreeRegressor(max_depth=4), NUMBERS, TARGET, cv=5).mean()
    theirs = cross_val_score(SklearnRegressor(max_depth=4, random_state=0), NUMBERS, TARGET, cv=5).mean()
    assert ours == pytest.approx(theirs, abs=0.05)


def test_probabilities_across_folds():
    shares = cross_val_predict(DecisionTreeClassifier(max_depth=2), X, Y, method="predict_proba")
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search(n_jobs):
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"], "max_bins": [None, 8]}
    search = GridSearchCV(DecisionTreeClassifier(n_jobs=1), grid, cv=3, n_jobs=n_jobs).fit(X, Y)
    assert search.best_params_["max_depth"] == 3
    assert search.score(X, Y) > 0.9


def test_grid_search_reports_bad_parameters():
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [0]}, error_score="raise")
    with pytest.raises(ValueError, match="`max_depth` of DecisionTreeClassifier"):
        search.fit(X, Y)


def test_pipeline_and_set_output():
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)).set_output(transform="pandas")
    assert pipe.fit(X, Y).score(X, Y) > 0.95
    assert isinstance(pipe.predict(X), np.ndarray)
    assert list(pipe[-1].feature_names_in_) == list(pipe[0].get_feature_names_out())


def test_pandas_output_config_is_harmless():
    with sklearn.config_context(transform_output="pandas"):
        model = DecisionTreeClassifier().fit(X, Y)
        assert isinstance(model.predict_proba(X), np.ndarray)


def test_frames_with_categories_need_no_encoding():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"kind": np.array(["a", "b", "c"])[Y], "x": X[:, 0]})
    columns = ColumnTransformer([("all", "passthrough", ["kind", "x"])], verbose_feature_names_out=False)
    pipe = make_pipeline(columns.set_output(transform="pandas"), DecisionTreeClassifier(max_depth=2))
    assert pipe.fit(frame, Y).score(frame, Y) == 1.0


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        tree = DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, tree)
        weight = (Y != 1).astype(float)
        assert set(pipe.fit(X, Y, sample_weight=weight).predict(X).tolist()) == {0, 2}


@pytest.mark.parametrize("ensemble", [BaggingClassifier, AdaBoostClassifier])
def test_inside_ensembles(ensemble):
    model = ensemble(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0)
    assert model.fit(X, Y).score(X, Y) > 0.9


def test_inside_bagged_regression():
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=5, random_state=0)
    assert model.fit(NUMBERS, TARGET).score(NUMBERS, TARGET) > 0.4


def test_permutation_importance():
    result = permutation_importance(DecisionTreeClassifier().fit(X, Y), X, Y, n_repeats=2, random_state=0)
    assert result.importances_mean.argmax() >= 2


class TestDrawing:
    def test_graphviz(self):
        model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
        theirs = SklearnClassifier(max_depth=2, random_state=0).fit(X, Y)
        drawn = export_graphviz(model, filled=True, class_names=list("abc"), proportion=True, node_ids=True)
        assert drawn.count("[label=") == model.tree_.node_count
        assert drawn.count("->") == model.tree_.node_count - 1
        root = "samples = 150\\nvalue = [50, 50, 50]"
        assert root in export_graphviz(model)
        assert root in export_graphviz(theirs)

    def test_graphviz_of_a_regression(self):
        model = DecisionTreeRegressor(max_depth=3).fit(NUMBERS, TARGET)
        drawn = export_graphviz(model, filled=True, rounded=True, special_characters=True)
        assert "squared_error" in drawn

    def test_graphviz_of_a_single_leaf(self):
        for model in (DecisionTreeRegressor(), DecisionTreeClassifier()):
            assert "samples = 150" in export_graphviz(model.fit(X, np.ones(150)), filled=True)

    def test_graphviz_of_categories_and_missing(self):
        rows = [["a", 1.0], ["b", None], ["c", None], ["a", 2.0], ["b", 3.0], ["c", 9.0]]
        model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 0, 1, 1])
        drawn = export_graphviz(model, feature_names=["letter", "size"], filled=True)
        assert "letter <= nan" in drawn

    def test_graphviz_of_missing_against_present(self):
        model = DecisionTreeClassifier().fit([[1.0], [2.0], [None], [None]], [0, 0, 1, 1])
        assert model.tree_.threshold[0] == np.inf
        assert "x[0] <= inf" in export_graphviz(model, filled=True)

    def test_text_and_plot_once_their_type_check_is_off(self):
        figure = pytest.importorskip("matplotlib.figure").Figure()
        pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
        model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
        with sklearn.config_context(skip_parameter_validation=True):
            assert export_text(model).count("\n") == model.tree_.node_count + model.tree_.n_leaves - 1
            drawn = plot_tree(model, filled=True, ax=figure.add_subplot())
        assert len(drawn) >= model.tree_.node_count


def test_tree_arrays_agree_with_scikit_learn():
    ours = DecisionTreeRegressor(max_depth=3).fit(NUMBERS, TARGET)
    theirs = SklearnRegressor(max_depth=3, random_state=0).fit(NUMBERS, TARGET)
    mine, yours = ours.tree_, theirs.tree_
    for name in ("children_left", "children_right", "feature", "n_node_samples"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(yours, name), err_msg=name)
    for name in ("threshold", "impurity", "weighted_n_node_samples", "value"):
        np.testing.assert_allclose(getattr(mine, name), getattr(yours, name), rtol=1e-5, err_msg=name)
    for name in ("n_classes", "n_outputs", "max_n_classes", "n_features", "max_depth", "n_leaves"):
        assert getattr(mine, name) == getattr(yours, name)
    assert mine.missing_go_to_left.shape == yours.missing_go_to_left.shape
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-6)
    np.testing.assert_allclose(
        ours.tree_.compute_feature_importances(normalize=False),
        theirs.tree_.compute_feature_importances(normalize=False),
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("weald_class", "sklearn_class"),
    [(DecisionTreeClassifier, SklearnClassifier), (DecisionTreeRegressor, SklearnRegressor)],
)
def test_parameters_have_scikit_learn_defaults(weald_class, sklearn_class):
    ours, theirs = weald_class().get_params(), sklearn_class().get_params()
    shared = ours.keys() & theirs.keys()
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
    assert ours.keys() - theirs.keys() == {
        "cat_penalty",
        "max_bins",
        "n_jobs",
        "categorical_features",
        "unknown",
        "prune",
        "cv",
    }


def test_clone_keeps_parameters():
    tree = DecisionTreeClassifier(max_bins=7, class_weight={0: 2.0}, categorical_features=[1])
    assert clone(tree).get_params() == tree.get_params()
