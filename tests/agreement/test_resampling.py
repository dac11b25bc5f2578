"""Samplers agree with imbalanced-learn where nothing is drawn, and fit into its pipelines."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import weald

pytest.importorskip("imblearn")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from imblearn import combine, over_sampling, under_sampling
    from imblearn.base import is_sampler
    from imblearn.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def table(seed: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    weights = [0.08, 0.2, 0.72][-n_classes:] if n_classes == 3 else [0.1, 0.9]
    return make_classification(
        n_samples=400,
        n_features=6,
        n_informative=4,
        n_classes=n_classes,
        weights=weights,
        n_clusters_per_class=1,
        class_sep=0.8,
        random_state=seed,
    )


CLEANERS = [
    ("TomekLinks", {}),
    ("TomekLinks", {"sampling_strategy": "all"}),
    ("TomekLinks", {"sampling_strategy": [1]}),
    ("EditedNearestNeighbours", {}),
    ("EditedNearestNeighbours", {"sampling_strategy": "all", "kind_sel": "mode", "n_neighbors": 5}),
    ("EditedNearestNeighbours", {"sampling_strategy": "majority", "n_neighbors": 4, "kind_sel": "mode"}),
    ("NearMiss", {}),
    ("NearMiss", {"version": 2}),
    ("NearMiss", {"version": 2, "n_neighbors": 5}),
    ("NearMiss", {"version": 3, "n_neighbors_ver3": 10, "sampling_strategy": {1: 12, 2: 20}}),
]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("name", "params"), CLEANERS)
def test_dropped_rows_are_the_same(name: str, params: dict[str, Any], seed: int) -> None:
    X, y = table(seed)
    ours, theirs = getattr(weald, name)(**params), getattr(under_sampling, name)(**params)
    X_ours, y_ours = ours.fit_resample(X, y)
    X_theirs, y_theirs = theirs.fit_resample(X, y)
    assert ours.sample_indices_.tolist() == theirs.sample_indices_.tolist()
    assert (X_ours == X_theirs).all()
    assert (y_ours == y_theirs).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_danger_are_the_same(n_classes: int) -> None:
    X, y = table(2, n_classes)
    ours = weald.BorderlineSMOTE(random_state=0)
    theirs = over_sampling.BorderlineSMOTE(random_state=0)
    _, y_ours = ours.fit_resample(X, y)
    _, y_theirs = theirs.fit_resample(X, y)
    assert ours.in_danger_indices.keys() == theirs.in_danger_indices.keys()
    for label, rows in theirs.in_danger_indices.items():
        assert ours.in_danger_indices[label].tolist() == rows.tolist()
    assert Counter(y_ours) == Counter(y_theirs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_neighbors", [3, 5])
def test_adasyn_allots_as_many_rows(seed: int, n_neighbors: int) -> None:
    X, y = table(seed)
    _, y_ours = weald.ADASYN(random_state=0, n_neighbors=n_neighbors).fit_resample(X, y)
    _, y_theirs = over_sampling.ADASYN(random_state=0, n_neighbors=n_neighbors).fit_resample(X, y)
    assert Counter(y_ours) == Counter(y_theirs)


def fifty(y: np.ndarray) -> dict[int, int]:
    return {0: 50, 1: int((y == 1).sum())}


OVER = ["SMOTE", "RandomOverSampler", "SMOTEN"]
STRATEGIES: list[Any] = [
    "auto",
    "minority",
    "not minority",
    "not majority",
    "all",
    {0: 60, 1: 100},
    fifty,
]


@pytest.mark.parametrize("name", OVER)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: getattr(s, "__name__", str(s)))
def test_strategies_of_over_samplers_mean_the_same(name: str, strategy: Any) -> None:
    X, y = table(3)
    X = np.round(X)  # few values, for SMOTEN
    ours = getattr(weald, name)(sampling_strategy=strategy, random_state=0)
    theirs = getattr(over_sampling, name)(sampling_strategy=strategy, random_state=0)
    _, y_ours = ours.fit_resample(X, y)
    _, y_theirs = theirs.fit_resample(X, y)
    assert Counter(y_ours) == Counter(y_theirs)
    assert ours.sampling_strategy_ == dict(theirs.sampling_strategy_)


@pytest.mark.parametrize("ratio", [0.5, 0.99, 1.0])
@pytest.mark.parametrize("over", [True, False])
def test_a_ratio_means_the_same(ratio: float, over: bool) -> None:
    X, y = table(4, 2)
    name = "RandomOverSampler" if over else "RandomUnderSampler"
    theirs = getattr(over_sampling if over else under_sampling, name)(sampling_strategy=ratio)
    ours = getattr(weald, name)(sampling_strategy=ratio)
    assert Counter(ours.fit_resample(X, y)[1]) == Counter(theirs.fit_resample(X, y)[1])


@pytest.mark.parametrize("strategy", ["auto", "majority", "not minority", "all", {2: 40}], ids=str)
def test_strategies_of_under_samplers_mean_the_same(strategy: Any) -> None:
    X, y = table(5)
    ours = weald.RandomUnderSampler(sampling_strategy=strategy)
    theirs = under_sampling.RandomUnderSampler(sampling_strategy=strategy)
    assert Counter(ours.fit_resample(X, y)[1]) == Counter(theirs.fit_resample(X, y)[1])
    assert ours.sampling_strategy_ == dict(theirs.sampling_strategy_)


@pytest.mark.parametrize("shrinkage", [0.5, {0: 2.0, 1: 0.0}])
def test_noise_has_the_same_spread(shrinkage: Any) -> None:
    X, y = table(6)
    strategy = {0: 4000, 1: 4000}
    spreads = []
    for library in (weald, over_sampling):
        sampler = library.RandomOverSampler(sampling_strategy=strategy, shrinkage=shrinkage, random_state=0)
        X_new, _ = sampler.fit_resample(X, y)
        noise = X_new[400:] - X[sampler.sample_indices_[400:]]
        labels = y[sampler.sample_indices_[400:]]
        spreads.append([noise[labels == label].std(axis=0) for label in (0, 1)])
    np.testing.assert_allclose(spreads[0], spreads[1], rtol=0.05, atol=1e-12)


def test_lines_lead_to_the_same_neighbours() -> None:
    """Every new row of either library lies between a row and one of its five nearest of the class."""
    X, y = table(7, 2)
    rare = X[y == 0]
    near = NearestNeighbors(n_neighbors=6).fit(rare).kneighbors(rare, return_distance=False)[:, 1:]
    for library in (weald, over_sampling):
        X_new, _ = library.SMOTE(random_state=0).fit_resample(X, y)
        for row in X_new[400:420]:
            ends = rare[near] - rare[:, None, :]
            along = ((row - rare)[:, None, :] * ends).sum(axis=2) / (ends**2).sum(axis=2)
            off = np.abs(rare[:, None, :] + along[:, :, None] * ends - row).max(axis=2)
            fits = (off < 1e-9) & (along > -1e-9) & (along < 1 + 1e-9)
            assert fits.any()


def test_new_rows_are_spread_alike() -> None:
    X, y = table(8, 2)
    means, deviations = [], []
    for library in (weald, over_sampling):
        X_new, _ = library.SMOTE(sampling_strategy={0: 20_000}, random_state=1).fit_resample(X, y)
        new = X_new[400:]
        means.append(new.mean(axis=0))
        deviations.append(new.std(axis=0))
    np.testing.assert_allclose(means[0], means[1], atol=0.03)
    np.testing.assert_allclose(deviations[0], deviations[1], rtol=0.03)


# --------------------------------------------------------------------------- their pipelines, their objects


def test_samplers_are_known_as_samplers() -> None:
    assert is_sampler(weald.SMOTE())
    assert not is_sampler(weald.DecisionTreeClassifier())


@pytest.mark.parametrize(
    "sampler",
    [weald.SMOTE(random_state=0), weald.RandomUnderSampler(random_state=0), weald.SMOTETomek(random_state=0)],
    ids=lambda sampler: type(sampler).__name__,
)
def test_samplers_are_steps_of_their_pipeline(sampler: Any) -> None:
    X, y = table(9, 2)
    model = make_pipeline(StandardScaler(), sampler, LogisticRegression())
    scores = cross_val_score(model, X, y, scoring="balanced_accuracy", cv=3)
    assert scores.mean() > 0.6
    found = GridSearchCV(
        make_pipeline(weald.SMOTE(random_state=0), LogisticRegression()), {"smote__k_neighbors": [2, 4]}, cv=2
    ).fit(X, y)
    assert found.best_params_["smote__k_neighbors"] in (2, 4)


@pytest.mark.parametrize(
    "sampler",
    [
        over_sampling.SMOTE(random_state=0),
        under_sampling.RandomUnderSampler(random_state=0),
        combine.SMOTEENN(random_state=0),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_their_samplers_serve_resampled(sampler: Any) -> None:
    X, y = table(10, 2)
    model = weald.Resampled(LogisticRegression(), sampler).fit(X, y)
    assert model.resampled_shares_[0] > 0.3
    assert abs(model.predict_proba(X)[:, 0].mean() - model.class_shares_[0]) < 0.08
    inside = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert inside.predict(X).shape == (400,)


def test_a_search_of_theirs_is_asked_for_neighbours() -> None:
    X, y = table(11, 2)
    ours = weald.SMOTE(random_state=0).fit_resample(X, y)[0]
    asked = weald.SMOTE(k_neighbors=NearestNeighbors(n_neighbors=6), random_state=0).fit_resample(X, y)[0]
    np.testing.assert_allclose(asked, ours, rtol=1e-12)
    edited = weald.EditedNearestNeighbours(n_neighbors=NearestNeighbors(n_neighbors=4, metric="manhattan"))
    theirs = under_sampling.EditedNearestNeighbours(
        n_neighbors=NearestNeighbors(n_neighbors=4, metric="manhattan")
    )
    edited.fit_resample(X, y)
    theirs.fit_resample(X, y)
    assert edited.sample_indices_.tolist() == theirs.sample_indices_.tolist()
