"""Early stopping of boosters: by a set, by rows held out, by folds; inside scikit-learn's tools too."""

import numpy as np
import pytest
import xgboost
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

from weald import EarlyStopping, XGBClassifier, XGBRegressor
from weald.boosting.records import BoostTarget
from weald.errors import DataError, ParameterError
from weald.estimators.xgboost.stopping import hold_out


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.where(X[:, 0] + 1.5 * rng.normal(size=n) > 0, "b", "a")


def test_a_set_stops_as_in_xgboost():
    X, y = noisy()
    train, test = slice(0, 200), slice(200, None)
    params = {"n_estimators": 100, "early_stopping_rounds": 5, "eval_metric": "logloss"}
    ours = XGBClassifier(**params).fit(X[train], y[train], eval_set=[(X[test], y[test])])
    number = (y == "b").astype(int)
    theirs = xgboost.XGBClassifier(tree_method="exact", **params)
    theirs.fit(X[train], number[train], eval_set=[(X[test], number[test])], verbose=False)
    assert ours.best_iteration == theirs.best_iteration
    assert np.isclose(ours.best_score, theirs.best_score, atol=1e-5)
    assert ours.n_rounds_ == ours.best_iteration + 6 == len(ours.evals_result()["validation_0"]["logloss"])
    assert ours.n_estimators_ == ours.best_iteration + 1
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-5
    best = ours.predict_proba(X, iteration_range=(0, ours.best_iteration + 1))
    assert np.array_equal(ours.predict_proba(X), best)
    assert not np.array_equal(best, ours.predict_proba(X, iteration_range=(0, 0)))
    assert len(list(ours.staged_predict_proba(X))) == ours.n_estimators_
    assert ours.apply(X).shape == (len(X), ours.n_estimators_)


def test_rounds_alone_need_a_set():
    X, y = noisy()
    with pytest.raises(ParameterError, match="Must have at least 1 validation dataset"):
        XGBClassifier(early_stopping_rounds=3).fit(X, y)


def test_a_share_is_held_out_and_not_trained_on():
    X, y = noisy()
    model = XGBClassifier(n_estimators=200, early_stopping=0.25, random_state=4).fit(X, y)
    target = BoostTarget((y == "b").astype(float))
    train, held = hold_out(target, 0.25, 4, labels=True, owner="XGBClassifier")
    by_hand = XGBClassifier(n_estimators=200, early_stopping_rounds=10, random_state=4)
    by_hand.fit(X[train], y[train], eval_set=[(X[held], y[held])])
    assert model.evals_result() == {"held_out": by_hand.evals_result()["validation_0"]}
    assert model.best_iteration == by_hand.best_iteration < 199
    assert np.array_equal(model.predict_proba(X), by_hand.predict_proba(X))
    again = XGBClassifier(n_estimators=200, early_stopping=0.25, random_state=4).fit(X, y)
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    other = XGBClassifier(n_estimators=200, early_stopping=0.25, random_state=5).fit(X, y)
    assert not np.array_equal(model.predict_proba(X), other.predict_proba(X))


def test_a_set_of_all_rows_stays_whole_where_some_are_held_out():
    X, y = noisy()
    weight = np.arange(300) % 5 + 1.0
    model = XGBClassifier(n_estimators=5, early_stopping=0.2)
    model.fit(X, y, sample_weight=weight, eval_set=[(X, y)], sample_weight_eval_set=[weight])
    p = np.clip(model.predict_proba(X, iteration_range=(0, 1))[:, 1], 1e-16, 1)
    loss = np.average(-np.log(np.where(y == "b", p, 1 - p)), weights=weight)
    assert np.isclose(model.evals_result()["validation_0"]["logloss"][0], loss)


def test_a_set_can_be_given_at_construction():
    X, y = noisy()
    at_fit = XGBClassifier(n_estimators=60, early_stopping_rounds=4).fit(
        X[:200], y[:200], eval_set=[(X[200:], y[200:])]
    )
    before = XGBClassifier(n_estimators=60, early_stopping_rounds=4, early_stopping=(X[200:], y[200:]))
    before.fit(X[:200], y[:200])
    assert before.best_iteration == at_fit.best_iteration
    assert np.array_equal(before.predict_proba(X), at_fit.predict_proba(X))
    with pytest.raises(DataError, match="early_stopping: X has 2 features"):
        XGBClassifier(early_stopping=(X[:, :2], y)).fit(X, y)


def test_folds_choose_the_rounds_and_all_rows_are_used():
    X, y = noisy()
    model = XGBClassifier(n_estimators=200, early_stopping="cv").fit(X, y)
    assert 0 < model.n_rounds_ < 200
    assert model.best_iteration == model.n_rounds_ - 1
    means = model.cv_results_["test-logloss-mean"]
    assert len(means) == model.n_rounds_
    assert np.argmin(means) == model.best_iteration
    assert model.best_score == min(means)
    plain = XGBClassifier(n_estimators=model.n_rounds_).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(ParameterError, match="has seen the rows of every fold"):
        XGBClassifier(early_stopping="cv").fit(X, y, xgb_model=plain)


def test_shares_are_taken_of_every_class_and_of_present_rows():
    y = np.repeat([0.0, 1.0, 2.0], [60, 30, 1])
    train, held = hold_out(BoostTarget(y), 0.1, 0, labels=True, owner="XGBClassifier")
    assert np.bincount(y[held].astype(int), minlength=3).tolist() == [6, 3, 0]
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(91))
    weight = (np.arange(91) % 2).astype(float)
    _, held = hold_out(BoostTarget(y, weight), 0.5, 0, labels=True, owner="XGBClassifier")
    assert (weight[held] > 0).all()
    with pytest.raises(DataError, match="holds out no row of 3"):
        hold_out(BoostTarget(np.arange(3.0)), 0.1, 0, labels=False, owner="XGBRegressor")


def test_whole_queries_are_held_out():
    start = np.arange(0, 101, 10)
    _, held = hold_out(BoostTarget(np.zeros(100), None, start), 0.3, 1, labels=False, owner="XGBRanker")
    assert len(held) == 30
    assert all(len(set(query)) == 1 for query in held.reshape(3, 10) // 10)


def test_a_rare_class_in_folds_is_named():
    X, y = three_classes(n=60)
    rare = y.copy()
    rare[rare == 2] = 0
    rare[:1] = 2
    with pytest.raises(DataError, match=r"Fold \d of `early_stopping` of XGBClassifier .* class 2"):
        XGBClassifier(early_stopping="cv").fit(X, rare)


def test_a_callback_can_stop_too():
    X, y = noisy()
    sets = {"eval_set": [(X[200:], y[200:])]}
    a = XGBClassifier(n_estimators=60, early_stopping_rounds=4).fit(X[:200], y[:200], **sets)
    b = XGBClassifier(n_estimators=60, callbacks=[EarlyStopping(4)]).fit(X[:200], y[:200], **sets)
    assert (a.best_iteration, a.best_score, a.n_rounds_) == (b.best_iteration, b.best_score, b.n_rounds_)
    c = XGBClassifier(n_estimators=60, callbacks=[EarlyStopping(4, save_best=True)])
    c.fit(X[:200], y[:200], **sets)
    assert c.n_rounds_ == a.best_iteration + 1
    assert np.array_equal(a.predict_proba(X), c.predict_proba(X))


@pytest.mark.parametrize("stop", [0.2, "cv"])
def test_inside_pipelines_and_searches(stop):
    X, y = two_classes(n=150)
    pipeline = make_pipeline(StandardScaler(), XGBClassifier(n_estimators=30, early_stopping=stop))
    assert pipeline.fit(X, y).score(X, y) > 0.9
    grid = {"xgbclassifier__max_depth": [1, 3], "xgbclassifier__learning_rate": [0.3, 0.1]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.best_estimator_[-1].best_iteration >= 0
    X, y = numbers(n=150)
    scores = cross_val_score(XGBRegressor(n_estimators=40, early_stopping=stop), X, y, cv=3)
    assert scores.min() > 0.5
