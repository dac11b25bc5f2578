"""Bagging and voting in model files: members nest, foreign ones are named, nothing wrong gets in."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from unit.io.boosters import rows, target
from unit.io.ensembles import ENSEMBLES, said, table_of, words
from unit.io.models import rewritten

import weald
from weald import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    VotingClassifier,
    VotingRegressor,
)
from weald.errors import ModelFileError, ParameterError, WealdError
from weald.io import model_file


@pytest.mark.parametrize("which", ENSEMBLES)
def test_a_loaded_ensemble_is_the_saved_one(which, tmp_path):
    model, path = ENSEMBLES[which](), tmp_path / "m.weald"
    model.save(path)
    loaded = weald.load(path)
    assert type(loaded) is type(model)
    for a, b in zip(said(model), said(loaded), strict=True):
        assert np.array_equal(a, b)
        assert a.dtype == b.dtype
    assert model_file.to_bytes(loaded) == path.read_bytes()
    assert model_file.to_bytes(ENSEMBLES[which]()) == path.read_bytes()
    mapped = weald.load(path, mmap=True)
    assert np.array_equal(said(mapped)[0], said(model)[0])
    assert loaded.n_features_in_ == model.n_features_in_
    assert len(loaded.estimators_) == len(model.estimators_)
    X = table_of(model)
    if hasattr(model, "estimators_features_"):
        for a, b in zip(model.estimators_features_, loaded.estimators_features_, strict=True):
            assert np.array_equal(a, b)
        for a, b in zip(model.estimators_, loaded.estimators_, strict=True):
            assert a.get_params().keys() == b.get_params().keys()
            if hasattr(a, "tree_"):
                assert np.array_equal(a.feature_importances_, b.feature_importances_)
                assert a.to_text() == b.to_text()
    again = clone(loaded).fit(*((rows(), words()) if hasattr(model, "classes_") else (X, X_target(X))))
    assert len(again.estimators_) == len(model.estimators_)


def X_target(X):  # noqa: N802
    return np.arange(len(next(iter(X.values()))) if isinstance(X, dict) else len(X), dtype=float)


def test_a_new_fit_of_a_loaded_one_draws_the_same(tmp_path):
    model = ENSEMBLES["bagged boosters"]()
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert type(loaded.estimator).__name__ == "XGBClassifier"
    again = clone(loaded).fit(rows(), words())
    assert np.array_equal(again.predict_proba(rows()), model.predict_proba(rows()))


def test_what_a_file_does_not_keep(tmp_path):
    model = BaggingRegressor(n_estimators=20, random_state=0, oob_score=lambda a, b: 1.0).fit(
        rows(), target()
    )
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert loaded.oob_score is False
    assert not hasattr(loaded, "oob_score_")
    with pytest.raises(WealdError, match="from a file"):
        loaded.estimators_samples_  # noqa: B018
    with pytest.raises(ParameterError, match="cannot go on from a model file"):
        loaded.set_params(warm_start=True, n_estimators=30).fit(rows(), target())
    assert loaded.set_params(warm_start=False).fit(rows(), target()).estimators_samples_[0].shape == (80,)


def test_foreign_members_are_named(tmp_path):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    bag = BaggingClassifier(KNeighborsClassifier(1), n_estimators=2).fit(X, y)
    with pytest.raises(
        ModelFileError, match=r"Member 'bag 0' of BaggingClassifier.*KNeighborsClassifier.*pickle"
    ):
        bag.save(tmp_path / "m.weald")
    vote = VotingClassifier([("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())]).fit(X, y)
    with pytest.raises(ModelFileError, match=r"Member 'bayes' of VotingClassifier.*GaussianNB.*pickle"):
        vote.save(tmp_path / "m.weald")
    inner = VotingRegressor([("line", Ridge())])
    deep = VotingRegressor([("in", inner)]).fit(X, y)
    with pytest.raises(ModelFileError, match=r"Member 'in' of VotingRegressor: Member 'line' .*Ridge"):
        deep.save(tmp_path / "m.weald")
    assert not (tmp_path / "m.weald").exists()


def test_files_of_adaboost(tmp_path):
    model = ENSEMBLES["boosted samples"]()
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    for name in ("estimator_weights_", "estimator_errors_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    assert repr(loaded.rounds_) == repr(model.rounds_)
    assert not hasattr(loaded, "validation_errors_")
    again = loaded.staged_row_weights(rows(), words())
    for a, b in zip(again, model.staged_row_weights(rows(), words()), strict=True):
        assert np.array_equal(a, b)
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    foreign = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, np.arange(10) > 4)
    with pytest.raises(ModelFileError, match=r"Member 'round 1' of AdaBoostClassifier.*GaussianNB.*pickle"):
        foreign.save(tmp_path / "foreign.weald")
    given = AdaBoostClassifier(n_estimators=3, early_stopping=(X, y)).fit(X, y > 0)
    given.save(tmp_path / "given.weald")
    assert weald.load(tmp_path / "given.weald").early_stopping is None


def model_of(content, k):
    return content["members"][k]["model"]


HOSTILE = [
    ("bagged trees", lambda c, t: c.pop("members"), "lacks the entry 'members'"),
    ("bagged trees", lambda c, t: c.update(members=3), "members .* wrong form"),
    ("bagged trees", lambda c, t: c.update(forest=None), "nobody asked|neither trees nor members"),
    ("bagged trees", lambda c, t: c.update(schema=None), "without the columns"),
    ("bagged trees", lambda c, t: c["extra"].update(seed=-1), "not complete"),
    ("bagged trees", lambda c, t: c["extra"].update(seed=2**31), "not complete"),
    ("bagged trees", lambda c, t: c["extra"].update(more=1), "not complete"),
    ("bagged trees", lambda c, t: c["extra"].clear(), "not complete"),
    (
        "bagged trees",
        lambda c, t: c["params"].update(estimator=None),
        "unknown parameter",
    ),
    ("bagged trees", lambda c, t: c["params"].update(n_estimators=0), "n_estimators"),
    ("bagged trees", lambda c, t: t["forest.tree_weight"].fill(3), "count alike"),
    ("bagged trees", lambda c, t: t.update({"forest.base_score": np.ones(3)}), "count alike"),
    ("bagged trees", lambda c, t: c["forest"].update(trees=3), "binary trees"),
    ("bagged trees", lambda c, t: t.update({"array.odd": np.zeros(2, np.uint8)}), "lacks the array|no array"),
    ("bagged trees", lambda c, t: t.update({"odd": np.zeros(2)}), "nobody asked"),
    ("bagged trees", lambda c, t: c.update(estimator="BaggingRegressor"), "link"),
    ("bagged trees", lambda c, t: c.update(base={"estimator": "XGBClassifier", "params": {}}), "as the base"),
    ("bagged trees", lambda c, t: c.update(base={"estimator": "os.system", "params": {}}), "unknown here"),
    (
        "bagged trees",
        lambda c, t: c.update(base={"estimator": "DecisionTreeRegressor", "params": {}}),
        "must be a classifier",
    ),
    (
        "bagged trees",
        lambda c, t: c.update(base={"estimator": "DecisionTreeClassifier", "params": {"max_depth": -1}}),
        "max_depth",
    ),
    (
        "bagged trees",
        lambda c, t: c.update(base={"estimator": "DecisionTreeClassifier", "params": {"prune": "cv"}}),
        "cannot share codes",
    ),
    ("trees of some columns", lambda c, t: t.pop("array.bag_size"), "lacks the array 'bag_size'"),
    ("trees of some columns", lambda c, t: t["array.bag_columns"].fill(99), "range"),
    ("trees of some columns", lambda c, t: t["array.bag_columns"].fill(1), "ascending"),
    ("trees of some columns", lambda c, t: t.update({"array.bag_size": np.ones(4, np.uint8)}), "shape"),
    (
        "trees of some columns",
        lambda c, t: t.update(
            {"array.bag_size": np.ones(4, np.uint8), "array.bag_columns": np.zeros(4, np.uint8)}
        ),
        "column that its bag lacks",
    ),
    ("bagged boosters", lambda c, t: c["members"].pop(), "nobody asked|shape"),
    ("bagged boosters", lambda c, t: c.update(members=[]), "neither trees nor members"),
    ("bagged boosters", lambda c, t: c["members"][0].update(name=3), "no name"),
    ("bagged boosters", lambda c, t: model_of(c, 0)["params"].update(max_depth=-3), "max_depth"),
    ("bagged boosters", lambda c, t: c["classes"].update(values=["x", "y", "z"]), "labels"),
    ("bagged boosters", lambda c, t: c["schema"]["columns"].pop(), "one name for each"),
    ("bagged boosters", lambda c, t: t.update({"members.0.forest.evil": np.zeros(3)}), "nobody asked"),
    ("bagged pruned trees", lambda c, t: c["members"][0].update(model=None), "fit each|nobody asked"),
    ("boosted stumps", lambda c, t: t.pop("array.weight"), "lacks the array 'weight'"),
    ("boosted stumps", lambda c, t: t["array.weight"].fill(np.nan), "finite"),
    ("boosted stumps", lambda c, t: t.update({"array.weight": np.zeros(4)}), "no member that counts"),
    ("boosted stumps", lambda c, t: t.update({"array.error": np.full(4, 2.0)}), "error above 1"),
    ("boosted stumps", lambda c, t: t.update({"array.error": np.full(4, -1.0)}), "from 0 up"),
    ("boosted stumps", lambda c, t: t.update({"array.odd": np.zeros(2, np.uint8)}), "no array 'odd'"),
    ("boosted stumps", lambda c, t: t.pop("array.training_error"), "lacks the array 'training_error'"),
    ("boosted stumps", lambda c, t: c["extra"].update(seed=2**31), "not complete"),
    ("boosted stumps", lambda c, t: c["extra"].update(odd=1), "not complete"),
    ("boosted stumps", lambda c, t: c["extra"].update(resample="luck"), "`resample`"),
    ("boosted stumps", lambda c, t: c["extra"].update(early_stopping=2.0), "`early_stopping`"),
    ("boosted stumps", lambda c, t: c["extra"].update(loss="linear"), "not complete"),
    ("boosted stumps", lambda c, t: c["extra"].pop("learning_rate"), "`learning_rate`"),
    ("boosted numbers", lambda c, t: c["extra"].pop("loss"), "`loss`"),
    ("boosted stumps", lambda c, t: c["params"].update(worse_than_chance="pray"), "worse_than_chance"),
    ("boosted stumps", lambda c, t: c["params"].update(loss="linear"), "unknown parameter"),
    ("boosted stumps", lambda c, t: c.update(estimator="AdaBoostRegressor"), "link|unknown parameter"),
    ("boosted stumps", lambda c, t: c["forest"].update(trees=3), "binary trees|shape"),
    ("boosted numbers", lambda c, t: t.update({"array.weight": np.full(3, -1.0)}), "less than nothing"),
    (
        "boosted numbers",
        lambda c, t: c.update(base={"estimator": "DecisionTreeClassifier", "params": {}}),
        "must be a regressor",
    ),
    ("boosted boosters", lambda c, t: c["members"].pop(), "nobody asked|shape"),
    ("boosted boosters", lambda c, t: c.update(members=[]), "shape|no round"),
    ("boosted boosters", lambda c, t: t.update({"array.restarted": np.full(2, 2)}), "range"),
    ("votes", lambda c, t: c["members"][0].update(name="b"), "not unique"),
    ("votes", lambda c, t: c["members"][0].update(name="a__b"), "must not contain"),
    ("votes", lambda c, t: c["params"].update(weights={"list": [1]}), "weights"),
    ("votes", lambda c, t: c["params"].update(voting="loud"), "voting"),
    ("votes", lambda c, t: c["params"].update(estimators={"list": []}), "unknown parameter"),
    ("votes", lambda c, t: c.update(classes=None), "labels|classes"),
    ("votes", lambda c, t: c["classes"].update(values=["low", "mid", "odd"]), "labels"),
    ("votes", lambda c, t: c.update(members=[{"model": None, "name": "a"}]), "dropped|weights|nobody"),
    (
        "votes",
        lambda c, t: model_of(c, 0).update(estimator="VotingClassifier"),
        "lacks the entry|unknown entry",
    ),
    ("votes", lambda c, t: c.update(schema=model_of(c, 0)["schema"]), "nothing but members"),
    ("averages", lambda c, t: c.update(estimator="VotingClassifier"), "must be a classifier"),
    (
        "averages",
        lambda c, t: c.update(classes={"dtype": "<i8", "type": "int", "values": [1, 2]}),
        "labels|classes",
    ),
]


@pytest.mark.parametrize(("which", "change", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_are_refused(which, change, message, tmp_path):
    path = tmp_path / "m.weald"
    ENSEMBLES[which]().save(path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)


def test_a_newer_file_is_read_as_far_as_it_is_known(tmp_path):
    path = tmp_path / "m.weald"
    model = ENSEMBLES["votes"]()
    model.save(path)
    rewritten(path, lambda c, t: c.update(format=[1, 9], news=1))
    rewritten(path, lambda c, t: model_of(c, 0).update(news=[2]))
    rewritten(path, lambda c, t: t.update({"members.0.news": np.zeros(3)}))
    assert np.array_equal(said(weald.load(path))[0], said(model)[0])


def test_nesting_has_an_end(tmp_path):
    model = VotingRegressor([("tree", weald.DecisionTreeRegressor())])
    for depth in range(1, 9):
        model = VotingRegressor([("in", model)])
        if depth == 5:
            model.fit([[1.0], [2.0]], [1.0, 2.0]).save(tmp_path / "m.weald")
            assert weald.load(tmp_path / "m.weald").predict([[2.0]]).tolist() == [2.0]
    model.fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ModelFileError, match="nested more than"):
        model.save(tmp_path / "m.weald")
