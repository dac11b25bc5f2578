"""Every estimator made of trees shows each of them, and the way of a row through all adds up."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from unit.pictures.ensembles.zoo import ROWS, fitted

import weald
from weald.errors import DataError, DataTypeError, ParameterError, WealdError
from weald.pictures.ensembles.importance import named_importances
from weald.pictures.ensembles.story import EnsembleExplanation
from weald.pictures.ensembles.which import every_tree, one_tree

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

ZOO = fitted()


@pytest.fixture(params=list(ZOO))
def model(request: pytest.FixtureRequest) -> Any:
    return ZOO[request.param]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def forest_of(model: Any) -> Any:
    return model._shown_forest()


def raw_scores(model: Any, row: Any) -> np.ndarray:
    """What the running scores must end in, from the model's own predictions."""
    name = type(model).__name__
    if name == "Booster":
        return model.inplace_predict(row, predict_type="margin")[0]
    if "XGB" in name:
        return np.atleast_1d(np.squeeze(model.predict(row, output_margin=True)))
    if name.startswith("GradientBoosting"):
        found = model.decision_function(row) if hasattr(model, "classes_") else model.predict(row)
        return np.atleast_1d(np.squeeze(found))
    if name in ("AdaBoostClassifier", "RUSBoostClassifier"):
        members = model._members
        return members.votes(members.read(row, name), 1)[0]
    if name.startswith(("Balanced", "Easy")):  # their probabilities undo the shift
        return np.asarray(clone_without_shift(model).predict_proba(row))[0]
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(row)
        return np.concatenate([part[0] for part in shares]) if isinstance(shares, list) else shares[0]
    return np.atleast_1d(np.squeeze(model.predict(row)))


def clone_without_shift(model: Any) -> Any:
    from unit.pictures.ensembles.zoo import LABELS, X

    return clone(model).set_params(correct_prior=False).fit(X, LABELS)


class TestExplainRow:
    @pytest.mark.parametrize("row", ROWS, ids=["plain", "gaps", "stranger"])
    def test_running_scores_end_in_the_prediction(self, model, row):
        told = model.explain_row(row)
        assert isinstance(told, EnsembleExplanation)
        np.testing.assert_allclose(told.score, raw_scores(model, row), rtol=1e-9, atol=1e-12)
        if type(model).__name__ != "Booster":
            predicted = np.asarray(model.predict(row)).reshape(-1).tolist()
            assert told.prediction == (predicted[0] if len(predicted) == 1 else predicted)

    def test_steps_add_up(self, model):
        told = model.explain_row(ROWS[0])
        if told.how in ("sum", "votes"):
            total = np.cumsum([step.adds for step in told.trees], axis=0) + told.start
            np.testing.assert_allclose([step.running for step in told.trees], total, rtol=1e-9, atol=1e-12)

    def test_leaves_are_those_of_apply(self, model):
        told = model.explain_row(ROWS[1])
        forest = forest_of(model)
        if forest is None or not hasattr(model, "apply"):
            return
        leaves = np.asarray(model.apply(ROWS[1])).reshape(-1)
        assert [step.leaf for step in told.trees] == leaves.tolist()

    def test_text_html_and_frames(self, model):
        told = model.explain_row(ROWS[1])
        text = str(told)
        assert text.startswith(told.owner)
        assert text.endswith(f"Prediction: {told.predicted}")
        assert len(text.splitlines()) <= 18
        assert told._repr_html_().count("<tr>") <= 16
        frame = told.to_frame("dict")
        assert len(frame["tree"]) == len(told.trees)
        assert told.to_dict()["prediction"] == told.prediction

    def test_one_tree_of_it(self, model):
        told = model.explain_row(ROWS[0], tree=1)
        found = one_tree(model, "explain_row", 1)
        assert told.leaf == int(found.model.apply(ROWS[0])[0])

    def test_a_missing_value_is_said(self):
        told = ZOO["10 XGBClassifier"].explain_row(ROWS[1])
        assert any("a is missing" in step.conditions for step in told.trees)

    def test_two_rows_are_refused(self, model):
        with pytest.raises(DataError, match="explain_row explains one row; got a table of 2"):
            model.explain_row(pd.concat([ROWS[0], ROWS[0]]))


class TestTrees:
    def test_text(self, model):
        text = model.to_text(tree=-1)
        assert text.splitlines()[0] == one_tree(model, "to_text", -1).said
        assert "→" in text
        assert weald.export_text(model, tree=-1).startswith("|---")

    def test_drawing_and_dot_say_the_same(self, model):
        boxes = model.plot(tree=1, max_depth=2)
        assert plt.gca().get_title() == one_tree(model, "plot_tree", 1).said
        dot = weald.export_graphviz(model, tree=1, max_depth=2)
        assert boxes[0].get_text().replace("\n", "\\n").split("\\n")[-1] in dot
        assert weald.to_graphviz(model, tree=1).startswith("digraph {")

    def test_a_frame_of_all_trees(self, model):
        frame = model.to_frame("dict")
        n_nodes = [found.forest.n_nodes for found in every_tree(model, "to_frame")]
        assert len(frame["node"]) == sum(n_nodes)
        alone = model.to_frame("dict", tree=0)
        assert alone["node"] == frame["node"][: n_nodes[0]]
        for library in ("pandas", "polars", "pyarrow"):
            assert len(model.to_frame(library)) == sum(n_nodes)

    def test_views_do_not_copy_the_forest(self, model):
        forest = forest_of(model)
        if forest is None:
            return
        alone = one_tree(model, "plot_tree", 1).forest
        assert np.shares_memory(alone.threshold, forest.threshold) or not len(alone.threshold)
        assert np.shares_memory(alone.cover, forest.cover)

    def test_html_is_bounded(self, model):
        html = model._repr_html_() if type(model).__name__ == "Booster" else model._repr_html_inner()
        assert len(html) < 40_000
        assert "tree" in html
        assert "<script" not in html
        assert model._repr_mimebundle_()["text/plain"] == repr(model)

    def test_importances(self, model):
        found = {kind: named_importances(model, kind) for kind in ("weight", "gain", "total_gain", "cover")}
        for name, count in found["weight"].items():
            assert name in ("a", "b", "town")
            assert count > 0
            if forest_of(model) is not None:  # of members it is the mean of theirs
                assert found["gain"][name] == pytest.approx(found["total_gain"][name] / count)

    def test_forests_are_one_line(self, model):
        forest = forest_of(model)
        if forest is not None:
            assert repr(forest).count("\n") == 0
            assert len(repr(forest)) < 120


class TestChoice:
    def test_round_and_class(self):
        model = ZOO["10 XGBClassifier"]
        for round_ in range(4):
            for k, label in enumerate(model.classes_):
                assert one_tree(model, "x", (round_, label)).said == (
                    f"tree {3 * round_ + k} of 12, round {round_}, class {label}"
                )
        assert model[2, "w"].number == 8
        assert one_tree(ZOO["Booster"], "x", (2, 1)).said == "tree 7 of 12, round 2, output 1"

    def test_trees_of_one_round(self):
        model = ZOO["12 XGBRFClassifier"]
        assert one_tree(model, "x", (0, "v", 2)).said == "tree 5 of 9, round 0, class v"

    def test_members(self):
        found = one_tree(ZOO["6 EasyEnsembleClassifier"], "x", (2, 1))
        assert found.said == "member 2 of 5: tree 1 of 3"

    @pytest.mark.parametrize(
        "tree", [99, -99, True, "3", 1.5, (0, "nobody"), (9, "u"), (0,), (0, "u", 5), ()]
    )
    def test_what_is_none_of_them(self, tree):
        with pytest.raises(ParameterError, match="`tree` must be a number from 0 to 11, or"):
            weald.plot_tree(ZOO["10 XGBClassifier"], tree=tree)

    @pytest.mark.parametrize("tree", [99, (0, 1), None.__class__])
    def test_what_a_forest_has_not(self, tree):
        with pytest.raises(ParameterError, match="`tree` must be a number from 0 to 4, of this RandomForest"):
            weald.plot_tree(ZOO["0 RandomForestClassifier"], tree=tree)

    def test_trees_of_voters(self):
        from unit.pictures.ensembles.zoo import LABELS, X

        members = [("tree", weald.DecisionTreeClassifier()), ("boosted", weald.XGBClassifier(n_estimators=2))]
        voter = weald.VotingClassifier(members).fit(X, LABELS)
        assert one_tree(voter, "x", (1, 1, "w")).said == "member 1 of 2: tree 5 of 6, round 1, class w"
        assert weald.export_text(voter, tree=0).startswith("|---")
        assert set(named_importances(voter, "weight")) <= {"a", "b", "town"}

    def test_trees_for_all_outputs(self):
        from unit.pictures.ensembles.zoo import LABELS, X

        model = weald.XGBClassifier(n_estimators=3, multi_strategy="multi_output_tree").fit(X, LABELS)
        assert one_tree(model, "x", (2,)).said == "tree 2 of 3"
        told = model.explain_row(ROWS[1])
        np.testing.assert_allclose(told.score, model.predict(ROWS[1], output_margin=True)[0], rtol=1e-9)
        with pytest.raises(ParameterError, match=r"or \(round,\) with a round from 0 to 2"):
            model.to_text(tree=(1, "u"))

    def test_no_rounds_no_trees(self):
        model = weald.XGBRegressor(n_estimators=0).fit([[1.0], [2.0]], [1.0, 3.0])
        assert model.explain_row([1.0]).prediction == 2.0
        assert model._repr_html_inner()
        with pytest.raises(ParameterError, match="has no tree to show"):
            model.to_text()

    def test_a_member_that_is_not_there(self):
        with pytest.raises(ParameterError, match="with a member from 0 to 4"):
            ZOO["6 EasyEnsembleClassifier"].to_text(tree=(7, 0))

    def test_a_single_tree_is_the_only_one(self):
        from unit.pictures.ensembles.zoo import LABELS, X

        tree = weald.DecisionTreeClassifier(max_depth=2).fit(X, LABELS)
        assert weald.export_text(tree, tree=0) == weald.export_text(tree)
        with pytest.raises(ParameterError, match="from 0 to 0"):
            weald.export_text(tree, tree=1)

    def test_names_of_xgboost(self):
        model = ZOO["10 XGBClassifier"]
        by_name = weald.to_graphviz(model, tree=5)
        assert by_name == weald.to_graphviz(model, tree_idx=5) == weald.to_graphviz(model, num_trees=5)
        with pytest.raises(ParameterError, match="`tree` and `tree_idx` mean the same"):
            weald.plot_tree(model, tree=1, tree_idx=1)

    def test_parameters_of_xgboost(self, tmp_path):
        model = ZOO["10 XGBClassifier"]
        fmap = tmp_path / "map.txt"
        fmap.write_text("0 length q\n\n1 depth q\n2 place i\n")
        boxes = weald.plot_tree(model, fmap=fmap, num_trees=2, rankdir="UT", with_stats=False)
        text = "".join(box.get_text() for box in boxes)
        assert any(name in text for name in ("length", "depth", "place"))
        assert "gain" not in text
        with pytest.raises(ParameterError, match=r"to_graphviz\(model, rankdir='LR'\)"):
            weald.plot_tree(model, rankdir="LR")
        fmap.write_text("0 length\n")
        with pytest.raises(DataError, match="line 1 is not 'number name type'"):
            weald.plot_tree(model, fmap=fmap)
        with pytest.raises(ParameterError, match="`rankdir` must be"):
            weald.to_graphviz(model, rankdir="XX")

    def test_not_made_of_trees(self):
        svc = weald.SVC().fit([[0.0], [1.0]] * 5, [0, 1] * 5)
        with pytest.raises(DataTypeError, match="plot_tree takes a fitted tree of weald, or an ensemble"):
            weald.plot_tree(svc)
        bagged = weald.BaggingClassifier(weald.SVC(), n_estimators=2, random_state=0)
        bagged.fit([[0.0], [1.0]] * 5, [0, 1] * 5)
        with pytest.raises(DataTypeError, match="plot_tree takes"):
            weald.plot_tree(bagged)
        assert bagged._repr_mimebundle_()["text/plain"]  # scikit-learn's diagram

    def test_not_fitted(self):
        for model in (weald.XGBClassifier(), weald.RandomForestRegressor(), weald.AdaBoostClassifier()):
            with pytest.raises(NotFittedError):
                weald.plot_tree(model)
            with pytest.raises(NotFittedError):
                model.explain_row([1.0])
            assert model._repr_html_inner()
        with pytest.raises(WealdError, match="no trees"):
            weald.Booster().to_text()
        assert weald.Booster()._repr_html_() is None

    def test_wrappers_show_what_they_fitted(self):
        from unit.pictures.ensembles.zoo import LABELS, X

        model = weald.Thresholded(weald.XGBClassifier(n_estimators=2)).fit(X, LABELS == "v")
        assert weald.export_text(model, tree=1).startswith("|---")


class TestBoosterTrees:
    def test_views_add_up_to_the_raw_score(self):
        model = ZOO["11 XGBClassifier"]  # trees of DART have weights
        from unit.pictures.ensembles.zoo import X

        raw = np.tile(model.forest_.base_score, (len(X), 1))
        for tree in model:
            raw[:, tree.output] += tree.predict(X)
        np.testing.assert_allclose(raw, model.predict(X, output_margin=True), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(np.column_stack([tree.apply(X) for tree in model]), model.apply(X))

    def test_they_are_a_sequence(self):
        model = ZOO["10 XGBClassifier"]
        assert len(model.estimators_) == 12
        assert np.array([model, model], dtype=object).shape == (2,)
        assert [tree.number for tree in model.estimators_[2:4]] == [2, 3]
        assert model[-1].number == 11
        assert repr(model[4]) == "<tree 4 of 12, round 1, class v of XGBClassifier>"
        assert model[0].get_n_leaves() == len(model[0].forest_.value)
        assert model[0].get_depth() <= 3
        assert model[0].to_text()
        assert model[0]._repr_html_()
        assert model[0].explain_row(ROWS[0]).leaf >= 0
        with pytest.raises(IndexError):
            model[12]

    def test_loaded_models_show_the_same(self, tmp_path):
        for name in ("10 XGBClassifier", "0 RandomForestClassifier", "7 AdaBoostClassifier", "Booster"):
            model = ZOO[name]
            path = tmp_path / "m.weald"
            model.save(path)
            loaded = weald.load(path)
            assert loaded.to_text(tree=2) == model.to_text(tree=2)
            assert str(loaded.explain_row(ROWS[1])) == str(model.explain_row(ROWS[1]))

    def test_missing_numbers_of_the_user_are_missing(self):
        X = np.column_stack([np.r_[np.zeros(20), np.arange(20.0)], np.arange(40.0) % 3])
        model = weald.XGBRegressor(n_estimators=1, missing=0.0, max_depth=2).fit(X, X[:, 0] == 0)
        told = model.explain_row(X[:1], tree=0)
        assert told.steps[0].missing
        assert model.explain_row(X[0]).trees[0].conditions[0] == "column 0 is missing"

    def test_export_to_a_file(self):
        out = io.StringIO()
        weald.export_graphviz(ZOO["10 XGBClassifier"], out, tree=3)
        assert 'label="tree 3 of 12, round 1, class u"' in out.getvalue()

    def test_missing_is_said_only_where_training_had_some(self):
        X = pd.DataFrame({"a": np.arange(40.0) % 4, "b": np.r_[np.full(5, np.nan), np.arange(35.0)]})
        model = weald.XGBRegressor(n_estimators=3, max_depth=3).fit(X, X["a"] + 2 * (X["b"] > 15))
        text = weald.export_text(model, tree=1)
        assert "a <= " in text
        assert "b <= " in text
        lines = [line for line in text.splitlines() if "missing" in line]
        assert lines
        assert all("b " in line for line in lines)
        assert weald.export_text(model.get_booster(), tree=1) == text

    def test_frames_are_of_the_user(self):
        pl = pytest.importorskip("polars")
        X = pl.DataFrame({"a": np.arange(30.0)})
        for model in (
            weald.XGBRegressor(n_estimators=2),
            weald.AdaBoostRegressor(n_estimators=2),
            weald.BaggingRegressor(n_estimators=2),
            weald.RandomForestRegressor(n_estimators=2),
        ):
            assert isinstance(model.fit(X, np.arange(30.0)).to_frame(), pl.DataFrame)
