"""Whatever `save` writes, `load` reads: extreme weights, objectives, subclasses, imputers; same bytes."""

import json

import numpy as np
import pytest
from unit.io import boosters

import weald
from weald.errors import ModelFileError
from weald.io import canonical, container, model_file

X = np.array([[0.0], [1.0], [2.0], [3.0]])
LARGE = [5e9, 2.0**40, 5e9, 2.0**33]


def again(model):
    """The model as it comes back; it saves to the bytes it came from."""
    data = model.to_bytes()
    loaded = weald.load(data)
    assert model_file.to_bytes(loaded) == data
    return loaded


@pytest.mark.parametrize(
    "model",
    [
        weald.DecisionTreeRegressor(),
        weald.DecisionTreeClassifier(),
        weald.RandomForestRegressor(3, random_state=0),
        weald.ExtraTreesClassifier(3, random_state=0),
        weald.BaggingRegressor(n_estimators=3, random_state=0),
        weald.AdaBoostClassifier(n_estimators=3),
        weald.GradientBoostingRegressor(n_estimators=3),
        weald.XGBRegressor(n_estimators=3),
        weald.XGBClassifier(n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(
    "weight", [LARGE, [2.0**52, 1, 1, 1], [1e290] * 4, [2.0**32] * 4, [2.0**53, 3, 2, 1]]
)
def test_weights_of_any_size(model, weight):
    model.fit(X, [0, 1, 0, 1], sample_weight=weight)
    loaded = again(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "forest_"):
        assert loaded.forest_.cover.tobytes() == model.forest_.cover.tobytes()


def test_a_sum_of_weights_that_no_64_bits_hold():
    """A thousand trees of 2^52 each: the sum over all of them is beyond what the reader adds up."""
    weight = np.array([2.0**51, 2.0**50, 2.0**49, 2.0**49])
    model = weald.RandomForestRegressor(n_estimators=1100, bootstrap=False, random_state=0)
    again(model.fit(X, [0, 1, 0, 1], sample_weight=weight))


def test_files_of_older_versions_whose_large_covers_could_not_be_read_can():
    model = weald.DecisionTreeRegressor().fit(X[:2], [0, 1], sample_weight=[5e9, 5e9])
    text, tensors = container.read(model.to_bytes(), mmap=False)
    content = json.loads(text)
    content.pop("checksum")
    tensors["forest.leaf_cover"] = tensors["forest.leaf_cover"].astype(np.float64)  # as format 1.4 had it
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    loaded = weald.load(container.pack(canonical.dumps(content), tensors))
    assert loaded.forest_.cover.tolist() == [1e10, 5e9, 5e9]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("C", [1e200, 1e308])
@pytest.mark.parametrize("kind", [weald.LinearSVR, weald.LinearSVC, weald.SVR, weald.SVC])
def test_objectives_beyond_float64_come_back(kind, C):
    rng = np.random.default_rng(0)
    table, numbers = rng.normal(size=(40, 3)), rng.normal(size=40)
    target = numbers if kind in (weald.LinearSVR, weald.SVR) else np.digitize(numbers, [-0.5, 0.5])
    model = kind(C=C, max_iter=30).fit(table, target)
    loaded = again(model)
    for name in ("primal_objective_", "dual_objective_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name), equal_nan=True)


def test_a_machine_without_a_dual_beside_one_that_has_it(tmp_path):
    model = weald.LinearSVC().fit(np.eye(6), [0, 1, 2, 0, 1, 2])
    model._model_.dual[1] = np.nan
    model._model_.dual[2] = -np.inf
    model.save(tmp_path / "m.weald")
    mapped = weald.load(tmp_path / "m.weald", mmap=True)  # whose arrays cannot be written to
    for loaded in (again(model), mapped):
        assert np.array_equal(loaded.dual_objective_, model.dual_objective_, equal_nan=True)


# --------------------------------------------------------------------------- what a loaded model has lost


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (weald.RandomForestClassifier(40, oob_score=True, random_state=0), "oob_score_"),
        (weald.RandomForestClassifier(40, oob_score=True, random_state=0), "oob_decision_function_"),
        (weald.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0), "oob_score_"),
        (weald.GradientBoostingClassifier(n_estimators=3), "train_score_"),
        (weald.XGBClassifier(n_estimators=3, early_stopping=0.3), "evals_result_"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_loaded_model_says_what_a_file_does_not_keep(model, name):
    table, target = boosters.rows(), boosters.target(2)
    model.fit(table, target)
    getattr(model, name)
    loaded = weald.load(model.to_bytes())
    assert not hasattr(loaded, name)
    with pytest.raises(AttributeError, match=rf"loaded from a model file.*'{name}'.*pickle, or fit again"):
        getattr(loaded, name)
    loaded.fit(table, target)
    getattr(loaded, name)


def test_other_attributes_miss_as_ever():
    fitted = weald.DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    for model in (weald.DecisionTreeClassifier(), fitted):
        with pytest.raises(AttributeError, match=r"has no attribute 'oob_score_'$"):
            model.oob_score_  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'deepth'$"):
        weald.load(fitted.to_bytes()).deepth  # noqa: B018
    machine = weald.load(weald.SVC().fit(X, [0, 1, 0, 1]).to_bytes())
    with pytest.raises(AttributeError, match="linear kernel"):
        machine.coef_  # noqa: B018


# --------------------------------------------------------------------------- subclasses


class Named(weald.RandomForestRegressor):
    """A subclass with a parameter of its own."""

    def __init__(self, n_estimators=3, *, label="mine", random_state=0):
        super().__init__(n_estimators, random_state=random_state)
        self.label = label


class Plain(weald.XGBClassifier):
    """A subclass with nothing of its own."""


def test_a_subclass_is_saved_as_the_estimator_it_derives_from(tmp_path):
    table, target = boosters.rows(), boosters.target()
    mine = Named(4, label="other").fit(table, target)
    mine.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert type(loaded) is weald.RandomForestRegressor
    assert np.array_equal(loaded.predict(table), mine.predict(table))
    assert (loaded.n_estimators, loaded.random_state) == (4, 0)
    plain = Plain(n_estimators=2).fit(table, boosters.target(2))
    assert type(again(plain)) is weald.XGBClassifier
    assert plain.to_bytes() == weald.XGBClassifier(n_estimators=2).fit(table, boosters.target(2)).to_bytes()


def test_subclasses_among_members():
    table, target = boosters.rows(), boosters.target(2)
    vote = weald.VotingClassifier([("a", Plain(n_estimators=2)), ("b", weald.DecisionTreeClassifier())])
    loaded = again(vote.fit(table, target))
    assert type(loaded.named_estimators_["a"]) is weald.XGBClassifier
    assert np.array_equal(loaded.predict(table), vote.predict(table))


# --------------------------------------------------------------------------- the imputer


def same_cells(one, other):
    return all(list(one[name]) == list(other[name]) for name in one)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_an_imputer_comes_back_and_fills_alike(labels, own):
    table = boosters.rows()
    target = boosters.target(3) if labels else boosters.target()
    forest = None
    if own:
        kind = weald.ExtraTreesClassifier if labels else weald.ExtraTreesRegressor
        forest = kind(4, max_depth=3, bootstrap=True)
    model = weald.ProximityImputer(forest, max_iter=2, random_state=1, categorical_features=["code"])
    if forest is None:
        model.set_params(estimator=None)
    model.fit(table, target)
    loaded = again(model)
    assert same_cells(loaded.transform(boosters.rows(30, 5)), model.transform(boosters.rows(30, 5)))
    assert (loaded.n_iter_, loaded.converged_, loaded.changes_) == (
        model.n_iter_,
        model.converged_,
        model.changes_,
    )
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert repr(loaded) == repr(model)


def test_an_imputer_of_an_array_comes_back():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 3)).astype(np.float32)
    table[::7, 1] = np.nan
    model = weald.ProximityImputer(weald.RandomForestRegressor(5), max_iter=2, random_state=0)
    model.fit(table, np.nan_to_num(table).sum(axis=1))
    filled = again(model).transform(table)
    assert filled.dtype == np.float32
    assert np.array_equal(filled, model.transform(table))


def test_a_hostile_imputer_is_refused():
    model = weald.ProximityImputer(weald.RandomForestClassifier(2), max_iter=1, random_state=0)
    data = model.fit(boosters.rows(), boosters.target(2)).to_bytes()
    changes = [
        lambda c, t: c["extra"].update(n_groups=3),
        lambda c, t: c["extra"].update(n_rows=79),
        lambda c, t: c["members"][0].update(model=None),
        lambda c, t: c["members"].append(c["members"][0]),
        lambda c, t: c["schema"]["columns"][0].update(unit="bool", kind="ordinal"),
        lambda c, t: t.update({"array.known": t["array.known"] * 0}),
        lambda c, t: t.update({"array.levels": t["array.levels"] + 200}),
        lambda c, t: t.update({"array.guessed_numbers": t["array.guessed_numbers"] * np.nan}),
        lambda c, t: t.pop("array.changes"),
        lambda c, t: t.update({"array.more": np.zeros(2, np.uint8)}),
    ]
    for change in changes:
        text, tensors = container.read(data, mmap=False)
        content = json.loads(text)
        content.pop("checksum")
        change(content, tensors)
        content["checksum"] = container.checksum(canonical.dumps(content), tensors)
        with pytest.raises(ModelFileError) as caught:
            weald.load(container.pack(canonical.dumps(content), tensors))
        assert isinstance(caught.value.__cause__, weald.errors.WealdError | None)
