"""Model files of gradient boosting: what comes back, what is refused, what a changed file cannot do."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import weald
from weald import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from weald.errors import ModelFileError, ParameterError
from weald.io.model_file import to_bytes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
X[::9, 1] = np.nan
Y = X[:, 0] + 0.2 * RNG.normal(size=200)
LABELS = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.5, 0.5])]


class Mine:
    """A loss of one's own."""

    def value(self, y, raw):
        return (y - raw) ** 2

    def gradient(self, y, raw):
        return raw - y


def there_and_back(model, tmp_path):
    path = tmp_path / "m.weald"
    model.save(path)
    back = weald.load(path)
    assert to_bytes(back) == path.read_bytes()
    return back


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GradientBoostingRegressor(n_estimators=4), Y),
        (GradientBoostingRegressor(n_estimators=4, loss="huber", max_bins=15, leaf="exact"), Y),
        (GradientBoostingClassifier(n_estimators=4), LABELS),
        (GradientBoostingClassifier(n_estimators=4, loss="exponential", init="zero"), Y > 0),
        (GradientBoostingClassifier(n_estimators=3, init=RandomForestClassifier(5, random_state=0)), LABELS),
        (GradientBoostingRegressor(n_estimators=3, init=DecisionTreeRegressor(max_depth=1)), Y),
        (GradientBoostingRegressor(n_estimators=3, estimator=DecisionTreeRegressor(max_depth=2)), Y),
        (GradientBoostingClassifier(n_estimators=3, estimator=DecisionTreeRegressor(max_depth=2)), LABELS),
        (GradientBoostingRegressor(n_estimators=2, estimator=GradientBoostingRegressor(n_estimators=2)), Y),
    ],
    ids=str,
)
def test_what_is_saved_comes_back(model, y, tmp_path):
    model.fit(X, y)
    back = there_and_back(model, tmp_path)
    assert type(back) is type(model)
    assert np.array_equal(back.predict(X), model.predict(X))
    assert [each.tolist() for each in back.staged_predict(X)] == [
        each.tolist() for each in model.staged_predict(X)
    ]
    assert back.n_estimators_ == model.n_estimators_
    if hasattr(model, "classes_"):
        assert back.classes_.tolist() == model.classes_.tolist()
        assert np.array_equal(back.predict_proba(X), model.predict_proba(X))


def test_a_loaded_model_goes_on_with_warm_start(tmp_path):
    settings = {"loss": "huber", "subsample": 0.5, "random_state": 0, "warm_start": True}
    whole = GradientBoostingRegressor(n_estimators=5, **settings).fit(X, Y)
    part = GradientBoostingRegressor(n_estimators=2, **settings).fit(X, Y)
    back = there_and_back(part, tmp_path)
    back.set_params(n_estimators=5).fit(X, Y)
    assert to_bytes(back) == to_bytes(whole)


def test_a_loss_that_is_code_leaves_its_name(tmp_path):
    model = GradientBoostingRegressor(loss=Mine(), n_estimators=2).fit(X, Y)
    back = there_and_back(model, tmp_path)
    assert back.loss == "custom:Mine"
    assert np.array_equal(back.predict(X), model.predict(X))
    with pytest.raises(ParameterError, match="does not keep its code"):
        back.fit(X, Y)


@pytest.mark.parametrize("name", ["init", "estimator"])
def test_members_that_are_not_wealds_are_refused(name, tmp_path):
    model = GradientBoostingRegressor(n_estimators=1, **{name: LinearRegression()}).fit(np.nan_to_num(X), Y)
    with pytest.raises(ModelFileError, match="LinearRegression"):
        model.save(tmp_path / "m.weald")


def test_parts_that_do_not_fit_are_refused():
    model = GradientBoostingClassifier(n_estimators=2).fit(X, LABELS)
    state = model._saved_state()
    from dataclasses import replace

    for broken in (
        replace(state, extra={}),
        replace(state, extra={"seed": -1, "loss": "log_loss"}),
        replace(state, members=(("round 0", DecisionTreeRegressor().fit(X, Y)),)),
        replace(state, members=(("init", DecisionTreeRegressor().fit(X, Y)),)),
        replace(state, forest=replace(state.forest, tree_output=np.zeros(6, np.int32))),
        replace(state, forest=replace(state.forest, link="nonsense")),
        replace(state, schema=None),
    ):
        with pytest.raises(ParameterError):
            GradientBoostingClassifier._from_saved_state(broken)
    other = GradientBoostingRegressor(n_estimators=2, estimator=DecisionTreeRegressor()).fit(X, Y)
    state = other._saved_state()
    nan = np.array([np.nan]).view(np.int64)
    for broken in (
        replace(state, arrays={}),
        replace(state, arrays=state.arrays | {"base": nan}),
        replace(state, arrays=state.arrays | {"size": state.arrays["size"][:1]}),
        replace(state, members=state.members[:1]),
        replace(state, extra=state.extra | {"link": "softmax"}, classes=(np.array([1, 2, 3]),)),
        replace(state, members=(state.members[0], ("round 1", model))),
    ):
        with pytest.raises(ParameterError):
            GradientBoostingRegressor._from_saved_state(broken)
