"""Boosters in model files: they come back whole, alike ones give the same bytes, code and rows stay out."""

import operator
import tempfile
from dataclasses import replace

import numpy as np
import pytest
from unit.io.boosters import BOOSTERS, half_squares, rows, said, table_of, target
from unit.io.models import rewritten, same_arrays

import weald
from weald import EarlyStopping, XGBClassifier, XGBRegressor
from weald.errors import DataError, ModelFileError, ParameterError, WealdError
from weald.io import model_file


@pytest.mark.parametrize("which", BOOSTERS)
def test_a_loaded_booster_is_the_saved_one(which, tmp_path):
    model = BOOSTERS[which]()
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    same_arrays(model, loaded)
    assert loaded.schema_ == model.schema_
    for a, b in zip(said(model), said(loaded), strict=True):
        assert np.array_equal(a, b)
        assert a.dtype == b.dtype
    assert model_file.to_bytes(loaded) == (tmp_path / "m.weald").read_bytes()
    assert model_file.to_bytes(BOOSTERS[which]()) == (tmp_path / "m.weald").read_bytes()
    mapped = weald.load(tmp_path / "m.weald", mmap=True)
    assert np.array_equal(said(model)[0], said(mapped)[0])
    for name in (
        "tree_method_",
        "max_bin_",
        "learning_rate_",
        "objective_",
        "n_rounds_",
        "n_outputs_",
        "n_estimators_",
    ):
        assert getattr(loaded, name) == getattr(model, name)
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert set(vars(model)) - set(vars(loaded)) <= {"category_shrinkage_", "evals_result_"}


def test_the_best_round_comes_back():
    model = BOOSTERS["stopped early"]()
    assert model.n_estimators_ < model.n_rounds_
    with pytest.raises(WealdError, match="from a file"):
        reloaded(model).evals_result()
    assert reloaded(model).best_iteration == model.best_iteration
    assert reloaded(model).best_score == model.best_score


def reloaded(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.weald")
        return weald.load(f"{folder}/m.weald")


def test_parameters_come_back_and_those_of_execution_do_not():
    params = {
        "max_depth": 2,
        "eta": 0.5,
        "lambda_": 2.0,
        "interaction_constraints": [["length", "flag"], ["size"]],
        "monotone_constraints": {"length": -1},
        "eval_metric": ["mae", "rmse"],
        "base_score": [0.25],
        "feature_weights": np.arange(7.0),
        "early_stopping": 0.25,
        "random_state": 7,
    }
    execution = {"n_jobs": 1, "verbosity": 2, "device": "cpu", "callbacks": [EarlyStopping(3)]}
    model = XGBRegressor(n_estimators=2, **params, **execution).fit(rows(), target())
    loaded = reloaded(model)
    for name, value in params.items():
        same = np.array_equal if isinstance(value, np.ndarray) else operator.eq
        assert same(getattr(loaded, name), value), name
    for name in execution:
        assert getattr(loaded, name) is None
    plain = XGBRegressor(n_estimators=2, **params, callbacks=[EarlyStopping(3)]).fit(rows(), target())
    assert model_file.to_bytes(plain) == model_file.to_bytes(model)


def test_code_and_rows_stay_out_of_files():
    def worst(truth, p):
        return np.abs(truth - p).max()

    model = XGBRegressor(
        n_estimators=2,
        objective=half_squares,
        eval_metric=["mae", worst],
        early_stopping=(rows(), target()),
        random_state=np.random.RandomState(0),
    ).fit(rows(), target())
    loaded = reloaded(model)
    assert loaded.objective == "custom:half_squares"
    assert loaded.eval_metric == ["mae"]
    assert (loaded.early_stopping, loaded.random_state) == (None, None)
    assert np.array_equal(loaded.predict(rows()), model.predict(rows()))
    with pytest.raises(ParameterError, match=r"custom:half_squares.*Set `objective` to the function"):
        loaded.fit(rows(), target())
    again = loaded.set_params(objective=half_squares).fit(rows(), target(), xgb_model=model)
    assert again.n_rounds_ == 4


@pytest.mark.parametrize("hessian", [-1.0, -0.25, "both signs"])
@pytest.mark.parametrize("tree_method", ["exact", "hist"])
def test_hessians_below_0_leave_a_model_that_a_file_keeps(hessian, tree_method):
    signs = iter([1.0, -1.0, 0.3, -0.3])

    def own(truth, raw):
        return raw - truth, np.full_like(raw, next(signs) if hessian == "both signs" else hessian)

    model = XGBRegressor(n_estimators=4, objective=own, min_child_weight=0, tree_method=tree_method)
    model.fit(rows(), target())
    assert model.forest_.cover.min() < 0
    if hessian == "both signs":
        assert model.forest_.cover.max() > 0
    loaded = reloaded(model)
    same_arrays(model, loaded)
    assert np.array_equal(loaded.predict(rows()), model.predict(rows()))
    assert model_file.to_bytes(loaded) == model_file.to_bytes(model)


@pytest.mark.parametrize(
    ("scales", "options", "message"),
    [
        ((1.0, 1e307), {}, "hessians of a node overflow"),
        ((1e300, 1e-300), {"reg_lambda": 0, "min_child_weight": 0}, "values of a leaf overflow"),
    ],
)
def test_trees_that_overflow_are_refused_by_fit(scales, options, message):
    """What fit gives, save takes."""

    def own(truth, raw):
        return (raw - truth) * scales[0], np.full_like(raw, scales[1])

    with pytest.raises(DataError, match=message):
        XGBRegressor(n_estimators=1, objective=own, **options).fit(rows(), target())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, t: c.update(classes=None), "classifier without"),
        (lambda c, t: c["classes"].update(values=["a", "b", "c"]), "do not match the outputs"),
        (lambda c, t: c["forest"].update(link="softmax"), "do not match the outputs"),
        (lambda c, t: c["forest"].update(link="shares2"), "no link"),
        (lambda c, t: c["extra"].pop("objective"), "not complete"),
        (lambda c, t: c["extra"].update(targets="2"), "not what it should be"),
        (lambda c, t: c["extra"].update(targets=0), "impossible"),
        (lambda c, t: c["extra"].update(tree_method="gpu"), "impossible"),
        (lambda c, t: c["extra"].update(best_iteration=1), "not complete"),
        (lambda c, t: c["extra"].update(best_iteration=-1, best_score=0.5), "negative"),
        (lambda c, t: c["extra"].update(strange=1), "strange"),
        (lambda c, t: c["params"].update(max_depth=-3), "max_depth"),
        (lambda c, t: c["params"].update(n_jobs=3), "unknown parameter"),
        (lambda c, t: c["params"].update(interaction_constraints={"list": [{"dict": []}]}), "unknown form"),
        (
            lambda c, t: t.update({"forest.tree_round": np.array([0, 2, 1, 3], np.uint8)}),
            "order of their rounds",
        ),
        (lambda c, t: t.update({"forest.tree_output": np.array([0, 0, 0, 1], np.uint8)}), "range"),
        (lambda c, t: t.update({"forest.tree_weight": np.full(4, np.nan)}), "finite"),
        (lambda c, t: t.update({"forest.base_score": np.array([np.inf])}), "finite"),
        (lambda c, t: t["forest.cover"].fill(-np.inf), "finite"),
        (lambda c, t: t["forest.cover"].fill(np.nan), "finite"),
    ],
)
def test_hostile_files_are_refused(change, message, tmp_path):
    path = tmp_path / "m.weald"
    BOOSTERS["two classes"]().save(path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


def test_a_class_more_or_less_is_refused(tmp_path):
    path = tmp_path / "m.weald"
    for which in ("three classes", "several questions"):
        BOOSTERS[which]().save(path)
        rewritten(
            path, lambda c, t: c.update(classes={"dtype": "<i8", "type": "int", "values": [1, 2, 3, 4]})
        )
        with pytest.raises(ModelFileError, match="do not match the outputs"):
            weald.load(path)


def test_going_on_from_a_file(tmp_path):
    BOOSTERS["two classes"]().save(tmp_path / "m.weald")
    onward = XGBClassifier(n_estimators=2, max_depth=3)
    onward.fit(rows(), np.array(["no", "yes"])[target(2)], xgb_model=str(tmp_path / "m.weald"))
    assert onward.n_rounds_ == 6
    assert table_of(onward).keys() == rows().keys()


@pytest.mark.parametrize("cls", [XGBRegressor, weald.GradientBoostingRegressor])
def test_trees_that_split_by_combinations_are_no_boosted_ones(cls):
    """No booster grows them: whoever takes its trees apart would look for sets of categories."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0]
    oblique = weald.RandomForestRegressor(n_estimators=2, feature_combinations=2, random_state=0).fit(X, y)
    state = cls(n_estimators=2).fit(X, y)._saved_state()
    assert cls._from_saved_state(state).predict(X).shape == (60,)
    with pytest.raises(ParameterError, match="splits by one column at a time"):
        cls._from_saved_state(replace(state, forest=oblique.forest_))
