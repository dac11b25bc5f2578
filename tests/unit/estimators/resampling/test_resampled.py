"""`Resampled`: training rows alone, the class shares of the data, weights, tools of scikit-learn, files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import weald
from weald import Resampled
from weald.errors import DataError, MemberError, ModelFileError, ParameterError, ResamplingWarning
from weald.resampling.priors import correct_priors


def rows(n: int = 3000, share: float = 0.06, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, "rare", "often")
    return rng.normal(size=(n, 3)) + 1.2 * (y == "rare")[:, None], y


SAMPLERS = [
    weald.RandomOverSampler(random_state=0),
    weald.RandomUnderSampler(random_state=0),
    weald.SMOTE(random_state=0),
    weald.SMOTE(sampling_strategy=0.4, random_state=0),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: f"{type(s).__name__}-{s.sampling_strategy}")
def test_probabilities_are_those_of_the_data(sampler: Any) -> None:
    X, y = rows()
    X_test, y_test = rows(6000, seed=1)
    rare = y_test == "rare"
    plain = LogisticRegression().fit(X, y)
    model = Resampled(LogisticRegression(), sampler).fit(X, y)
    corrected = model.predict_proba(X_test)[:, 1]
    uncorrected = clone(model).set_params(correct_prior=False).fit(X, y).predict_proba(X_test)[:, 1]
    assert abs(corrected.mean() - rare.mean()) < 0.012
    assert uncorrected.mean() > 2 * rare.mean()
    brier = [
        brier_score_loss(rare, each) for each in (corrected, uncorrected, plain.predict_proba(X_test)[:, 1])
    ]
    assert brier[0] < brier[1] / 1.1
    assert brier[0] < brier[2] * 1.03
    np.testing.assert_allclose(model.predict_log_proba(X_test), np.log(model.predict_proba(X_test)))
    by_shares = clone(model).set_params(correct_prior="shares").fit(X, y)
    assert by_shares.share_map_ is None
    shares = (model.class_shares_, model.resampled_shares_)
    raw = model.estimator_.predict_proba(X_test)
    np.testing.assert_array_equal(by_shares.predict_proba(X_test), correct_priors(raw, *shares))
    assert by_shares.plain_estimator_ is None
    # A logistic regression of rows drawn by class says what is right: both ways agree.
    np.testing.assert_allclose(by_shares.predict_proba(X_test)[:, 1], corrected, atol=0.12)


FORESTS = {
    "repeats": weald.RandomOverSampler(random_state=0),
    "SMOTE": weald.SMOTE(random_state=0),
    "under-sampling": weald.RandomUnderSampler(random_state=0),
}


@pytest.mark.parametrize("name", FORESTS)
def test_unseen_rows_tell_how_sure_a_forest_may_be(name: str) -> None:
    """Where class shares alone ruin probabilities, because full trees know rare rows by heart."""
    X, y = rows(1500)
    X_test, y_test = rows(6000, seed=1)
    rare = y_test == "rare"
    forest = weald.RandomForestClassifier(30, random_state=0)
    model = Resampled(forest, FORESTS[name]).fit(X, y)
    by_rows = model.predict_proba(X_test)[:, 1]
    order = np.argsort(model.set_params(correct_prior=False).predict_proba(X_test)[:, 1])
    by_shares = model.set_params(correct_prior="shares").predict_proba(X_test)[:, 1]
    plain = clone(forest).fit(X, y).predict_proba(X_test)[:, 1]
    brier = {
        kind: brier_score_loss(rare, each)
        for kind, each in {"rows": by_rows, "shares": by_shares, "plain": plain}.items()
    }
    assert brier["rows"] < brier["shares"]
    assert brier["rows"] < 1.15 * brier["plain"]
    assert abs(by_rows.mean() - rare.mean()) < 0.02
    blends = name != "under-sampling"  # which leaves too few rows for a fit on all to be cheap
    assert (model.plain_estimator_ is not None) == blends
    assert blends or (np.diff(by_rows[order]) >= -1e-12).all()  # the order of rows stays
    again = Resampled(forest, FORESTS[name]).fit(X, y)
    assert again.share_map_ == model.share_map_


def test_rows_as_they_are_give_back_what_under_sampling_lost() -> None:
    """A forest of a few per cent of the rows knows little of the others; one of all rows takes part."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 2))
    cell = (4 * X).astype(int).sum(axis=1) % 2  # a chess board: much to learn for few rows
    y = rng.random(6000) < np.where(cell, 0.09, 0.005)
    train, test = slice(0, 3000), slice(3000, None)
    forest = weald.RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    brier = {}
    for kind in (True, "blend"):
        model = Resampled(forest, weald.RandomUnderSampler(random_state=0), correct_prior=kind)
        model.fit(X[train], y[train])
        brier[kind] = brier_score_loss(y[test], model.predict_proba(X[test])[:, 1])
    assert model.share_map_ is not None
    assert model.share_map_.blends
    assert (
        model.plain_estimator_.predict_proba(X) == clone(forest).fit(X[train], y[train]).predict_proba(X)
    ).all()
    plain = brier_score_loss(y[test], model.plain_estimator_.predict_proba(X[test])[:, 1])
    assert brier["blend"] < brier[True]
    assert brier["blend"] < plain
    assert (model.predict(X) == model.estimator_.predict(X)).all()  # decisions are the sampler's as before


def test_a_blend_of_three_classes_with_weights(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1500, p=[0.9, 0.06, 0.04])
    X = rng.normal(size=(1500, 3)) + np.eye(3)[y] * 1.5
    weight = rng.uniform(0.5, 2.0, 1500)
    weight[::50] = 0.0
    sampler = weald.RandomUnderSampler(random_state=0)
    tree = weald.DecisionTreeClassifier(min_samples_leaf=20)
    model = Resampled(tree, sampler, correct_prior="blend").fit(X, y, sample_weight=weight)
    there = weight > 0
    expected = clone(tree).fit(X[there], y[there], sample_weight=weight[there]).predict_proba(X)
    assert (model.plain_estimator_.predict_proba(X) == expected).all()
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.average(proba, axis=0, weights=weight), model.class_shares_, atol=0.02)
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert (loaded.predict_proba(X) == proba).all()
    assert (loaded.fit(X, y, sample_weight=weight).predict_proba(X) == proba).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(X) == proba).all()
    by_shares = model.set_params(correct_prior="shares").predict_proba(X)
    shares = (model.class_shares_, model.resampled_shares_)
    assert (by_shares == correct_priors(model.estimator_.predict_proba(X), *shares)).all()


def test_many_rare_rows_need_fewer_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    fit = GaussianNB.fit

    def counted(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        fits.append(len(X))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(GaussianNB, "fit", counted)
    rng = np.random.default_rng(0)
    for n_rare, n_parts in ((900, 5), (1700, 3), (6000, 1)):
        y = np.arange(15_000) < n_rare
        X = rng.normal(size=(len(y), 1)) + y[:, None]
        fits.clear()
        model = Resampled(GaussianNB(), weald.RandomOverSampler(random_state=0)).fit(X, y)
        # on resampled rows and on those as they are; on all of the latter if they take part
        assert len(fits) == 1 + 2 * n_parts + (model.plain_estimator_ is not None)


def test_a_part_that_cannot_be_fitted_is_said_aloud() -> None:
    X, y = rows(300)
    n_often = int((y == "often").sum())
    sampler = weald.RandomUnderSampler(sampling_strategy={"often": n_often - 5}, random_state=0)
    with pytest.warns(ResamplingWarning, match="go by the class shares alone.*correct_prior='shares'"):
        model = Resampled(GaussianNB(), sampler).fit(X, y)
    assert model.share_map_ is None
    raw = model.estimator_.predict_proba(X)
    expected = correct_priors(raw, model.class_shares_, model.resampled_shares_)
    assert (model.predict_proba(X) == expected).all()


def test_fewer_than_ten_rows_go_by_the_shares() -> None:
    X, _ = rows(200)
    X[:10] += 1.5
    model = Resampled(GaussianNB(), weald.SMOTE(k_neighbors=2, random_state=0))
    assert model.fit(X, np.arange(200) < 9).share_map_ is None
    assert model.fit(X, np.arange(200) < 10).share_map_ is not None


def test_parts_that_are_resampled_more_say_the_same() -> None:
    """Numbers of rows in `sampling_strategy` mean other shares in a part, and this is allowed for."""
    X, y = rows(2000)
    X_test, y_test = rows(4000, seed=1)
    sampler = weald.SMOTE(sampling_strategy={"rare": 900}, random_state=0)
    model = Resampled(LogisticRegression(), sampler).fit(X, y)
    assert model.share_map_ is not None
    assert abs(model.predict_proba(X_test)[:, 1].mean() - (y_test == "rare").mean()) < 0.012


def test_what_predict_goes_by() -> None:
    X, y = rows()
    by_sampler = Resampled(LogisticRegression(), weald.SMOTE(random_state=0)).fit(X, y)
    by_data = clone(by_sampler).set_params(decide="corrected").fit(X, y)
    assert (by_sampler.predict(X) == by_sampler.estimator_.predict(X)).all()
    assert (by_data.predict(X) == by_data.classes_[by_data.predict_proba(X).argmax(axis=1)]).all()
    rare = y == "rare"
    recall = [recall_score(rare, model.predict(X) == "rare") for model in (by_sampler, by_data)]
    assert recall[0] > 0.8
    assert recall[1] < 0.6


def test_tools_of_scikit_learn() -> None:
    X, y = rows(900)
    model = Resampled(weald.DecisionTreeClassifier(max_depth=3), weald.SMOTE(random_state=0))
    assert is_classifier(model)
    pipe = make_pipeline(StandardScaler(), model)
    assert cross_val_score(pipe, X, y, cv=3, scoring="balanced_accuracy").mean() > 0.65
    grid = {"resampled__sampler__k_neighbors": [3, 5], "resampled__estimator__max_depth": [2, 3]}
    found = GridSearchCV(pipe, grid, cv=2, scoring="roc_auc").fit(X, y)
    assert set(found.best_params_) == set(grid)
    assert CalibratedClassifierCV(model, cv=2).fit(X, y).predict_proba(X).shape == (900, 2)
    folded = cross_val_predict(model, X, y, cv=StratifiedKFold(3), method="predict_proba")
    assert abs(folded[:, 1].mean() - (y == "rare").mean()) < 0.03
    with pytest.raises(ParameterError, match="`samplr` is no parameter of Resampled; did you mean `sampler`"):
        model.set_params(samplr__k_neighbors=2)


def test_tables_and_three_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice([1, 5, 9], 600, p=[0.05, 0.15, 0.8])
    X = {"x": rng.normal(size=600) + y, "c": [("u", "v", None)[i] for i in rng.integers(0, 3, 600)]}
    model = Resampled(weald.RandomForestClassifier(10, random_state=0), weald.SMOTE(random_state=0)).fit(X, y)
    assert model.feature_names_in_.tolist() == ["x", "c"]
    assert model.n_features_in_ == 2
    np.testing.assert_allclose(model.resampled_shares_, 1 / 3)
    np.testing.assert_allclose(model.class_shares_, [np.mean(y == k) for k in (1, 5, 9)])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.9


def test_weights_follow_their_rows() -> None:
    X, y = rows(400)
    weight = np.where(np.arange(400) % 2 == 0, 1.0, 3.0)
    seen: dict[str, Any] = {}

    class Tree(weald.DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen["weight"] = sample_weight
            return super().fit(X, y, sample_weight)

    model = Resampled(Tree(), weald.SMOTE(random_state=0), correct_prior="shares").fit(X, y, weight)
    assert (seen["weight"] == weight[model.sampler_.sample_indices_]).all()
    np.testing.assert_allclose(model.class_shares_[1], weight[y == "rare"].sum() / weight.sum())
    with pytest.raises(ParameterError, match="KNeighborsClassifier does not support sample weights"):
        Resampled(KNeighborsClassifier(), weald.SMOTE()).fit(X, y, weight)


def test_rows_of_weight_0_are_absent() -> None:
    X, y = rows(300)
    weight = (np.arange(300) % 3 > 0).astype(float)
    there = weight > 0
    model = Resampled(weald.DecisionTreeClassifier(), weald.SMOTE(random_state=0))
    some = clone(model).fit(X[there], y[there]).predict_proba(X)
    assert (model.fit(X, y, weight).predict_proba(X) == some).all()
    with pytest.raises(DataError, match="more than 1 class; y holds 'often' alone"):
        model.fit(X, y, (y == "often").astype(float))


class Forgetful(weald.SMOTE):
    """A sampler that does not tell where rows come from."""

    def fit_resample(self, X: Any, y: Any) -> Any:
        found = super().fit_resample(X, y)
        del self.sample_indices_
        return found


def test_weights_need_a_sampler_that_tells() -> None:
    X, y = rows(200)
    with pytest.raises(ParameterError, match=r"Forgetful does not tell which rows it made of which"):
        Resampled(GaussianNB(), Forgetful()).fit(X, y, np.ones(200))
    assert Resampled(GaussianNB(), Forgetful()).fit(X, y).resampled_shares_[0] == 0.5


def test_metadata_is_routed_to_the_estimator() -> None:
    X, y = rows(200)
    weight = np.linspace(1, 2, 200)
    with pytest.raises(ParameterError, match="enable_metadata_routing"):
        Resampled(GaussianNB(), weald.SMOTE()).fit(X, y, groups=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = GaussianNB().set_fit_request(sample_weight=True)
        sampler = weald.SMOTE(random_state=0)
        routed = Resampled(estimator, sampler).fit(X, y, sample_weight=weight)
    plain = Resampled(GaussianNB(), sampler).fit(X, y, weight)
    np.testing.assert_array_equal(routed.estimator_.theta_, plain.estimator_.theta_)


def test_estimators_without_probabilities() -> None:
    X, y = rows(300)
    model = Resampled(LinearSVC(), weald.RandomUnderSampler(random_state=0)).fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert (model.decision_function(X) == model.estimator_.decision_function(X)).all()
    with pytest.raises(ParameterError, match="LinearSVC has no predict_proba"):
        model.set_params(decide="corrected").predict(X)


def test_a_sampler_that_drops_a_class() -> None:
    X, y = rows(300)
    dropping = weald.RandomUnderSampler(sampling_strategy={"rare": 0}, random_state=0)
    model = Resampled(weald.DecisionTreeClassifier(), dropping).fit(X, y)
    assert (model.predict_proba(X) == [1.0, 0.0]).all()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"estimator": 3}, ParameterError, "`estimator` of Resampled must be a classifier"),
        ({"sampler": None}, ParameterError, "`sampler` of Resampled must be a sampler with fit_resample"),
        ({"sampler": weald.SMOTE}, ParameterError, "`sampler`"),
        ({"decide": "best"}, ParameterError, "`decide` of Resampled must be 'resampled' or 'corrected'"),
        ({"correct_prior": 2}, ParameterError, "`correct_prior`"),
        ({"sampler__k_neighbors": 0}, ParameterError, "The sampler of Resampled, a SMOTE, failed"),
        ({"estimator": LogisticRegression(C=-1)}, DataError, "The estimator of Resampled, a LogisticRegr"),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[Exception], words: str) -> None:
    model = Resampled(weald.DecisionTreeClassifier(), weald.SMOTE()).set_params(**change)
    with pytest.raises(error, match=words):
        model.fit(*rows(100))


def test_a_fold_with_one_class_alone() -> None:
    with pytest.raises(DataError, match=r"needs rows of more than 1 class; y holds 'a' alone.*stratified"):
        Resampled(GaussianNB(), weald.SMOTE()).fit(np.eye(4), ["a"] * 4)


def test_errors_of_other_kinds_stay_what_they_were() -> None:
    class Broken(GaussianNB):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            raise RuntimeError("no such thing")

    with pytest.raises(MemberError, match="a Broken, failed: RuntimeError: no such thing"):
        Resampled(Broken(), weald.SMOTE()).fit(*rows(100))


# --------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "sampler",
    [
        weald.SMOTE(k_neighbors=2, random_state=1, sampling_strategy={"rare": 150}),
        weald.SMOTEENN(smote=weald.SMOTE(k_neighbors=3, random_state=0), enn=weald.TomekLinks()),
        weald.RandomUnderSampler(random_state=3),
    ],
    ids=lambda s: type(s).__name__,
)
def test_a_model_file_keeps_all_of_it(sampler: Any, tmp_path: Any) -> None:
    X, y = rows(200)
    model = Resampled(weald.XGBClassifier(n_estimators=3), sampler, decide="corrected").fit(X, y)
    model.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.share_map_ == model.share_map_ is not None
    assert (loaded.predict(X) == model.predict(X)).all()
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.n_features_in_ == 3
    assert repr(loaded.sampler) == repr(model.sampler)
    again = loaded.fit(X, y)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(X) == model.predict_proba(X)).all()


def test_a_sampler_that_no_file_keeps_is_left_out(tmp_path: Any) -> None:
    X, y = rows(200)
    for sampler in (weald.SMOTE(sampling_strategy=lambda y: {"rare": 100}), Forgetful()):
        loaded = weald.load(Resampled(weald.DecisionTreeClassifier(), sampler).fit(X, y).to_bytes())
        assert loaded.predict(X).shape == (200,)
        with pytest.raises(ParameterError, match="model files keep none but weald's"):
            loaded.fit(X, y)


def test_an_estimator_that_no_file_keeps_is_named() -> None:
    X, y = rows(200)
    model = Resampled(GaussianNB(), weald.SMOTE()).fit(X, y)
    with pytest.raises(ModelFileError, match=r"Member 'estimator' of Resampled.*GaussianNB"):
        model.to_bytes()
