"""Neighbours, shares and means equal scikit-learn's on numbers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from weald import KNeighborsClassifier, KNeighborsRegressor

random = np.random.default_rng(4)
X, QUERIES = random.normal(size=(400, 6)) * [1, 2, 1, 5, 1, 1], random.normal(size=(90, 6))
LABELS, NUMBERS = random.integers(0, 4, 400), random.normal(size=400)
METRICS = [
    {},
    {"p": 1},
    {"p": 3},
    {"p": 1.7},
    {"p": np.inf},
    {"metric": "euclidean"},
    {"metric": "l1"},
    {"metric": "cityblock"},
    {"metric": "chebyshev"},
    {"metric": "cosine"},
    {"metric_params": {"p": 4}},
]


def both(task, y, table=X, **options):
    ours = {"Classifier": KNeighborsClassifier, "Regressor": KNeighborsRegressor}[task]
    return ours(**options).fit(table, y), getattr(neighbors, f"KNeighbors{task}")(**options).fit(X, y)


# scikit-learn says that a power is given twice. It has no sparse matrices for some of the metrics.
@pytest.mark.filterwarnings("ignore:Parameter p is found in metric_params")
@pytest.mark.parametrize("options", METRICS, ids=str)
@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_neighbours(options, table):
    make = np.asarray if table == "dense" else sparse.csr_matrix
    ours, theirs = both("Classifier", LABELS, make(X), **options)
    for queries in (QUERIES, None):
        distances, rows = ours.kneighbors(None if queries is None else make(queries), 7)
        expected = theirs.kneighbors(queries, 7)
        assert (rows == expected[1]).all()
        np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    assert ours.effective_metric_ == theirs.effective_metric_
    assert ours.n_samples_fit_ == theirs.n_samples_fit_
    assert ours.n_features_in_ == theirs.n_features_in_


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("weights", ["uniform", "distance", None, lambda d: 1 / (1 + d)])
def test_predictions(algorithm, weights):
    options = {"algorithm": algorithm, "weights": weights, "n_neighbors": 6, "leaf_size": 7}
    ours, theirs = both("Classifier", LABELS, **options)
    np.testing.assert_allclose(ours.predict_proba(QUERIES), theirs.predict_proba(QUERIES), rtol=1e-12)
    assert (ours.predict(QUERIES) == theirs.predict(QUERIES)).all()
    assert ours.score(X, LABELS) == theirs.score(X, LABELS)
    ours, theirs = both("Regressor", NUMBERS, **options)
    np.testing.assert_allclose(ours.predict(QUERIES), theirs.predict(QUERIES), rtol=1e-12)
    assert ours.score(X, NUMBERS) == pytest.approx(theirs.score(X, NUMBERS))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_fitted_rows_by_their_others(weights):
    ours, theirs = both("Classifier", LABELS, weights=weights)
    np.testing.assert_allclose(ours.predict_proba(None), theirs.predict_proba(None), rtol=1e-12)
    assert ours.score(None, LABELS) == theirs.score(None, LABELS)
    ours, theirs = both("Regressor", NUMBERS, weights=weights)
    np.testing.assert_allclose(ours.predict(None), theirs.predict(None), rtol=1e-12)


def test_several_outputs():
    labels = np.column_stack([LABELS, LABELS[::-1] % 2])
    ours, theirs = both("Classifier", labels)
    assert (ours.predict(QUERIES) == theirs.predict(QUERIES)).all()
    for a, b in zip(ours.predict_proba(QUERIES), theirs.predict_proba(QUERIES), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert all((a == b).all() for a, b in zip(ours.classes_, theirs.classes_, strict=True))
    assert ours.outputs_2d_ == theirs.outputs_2d_
    numbers = np.column_stack([NUMBERS, NUMBERS**2, -NUMBERS])
    for weights in ("uniform", "distance"):
        ours, theirs = both("Regressor", numbers, weights=weights)
        np.testing.assert_allclose(ours.predict(QUERIES), theirs.predict(QUERIES), rtol=1e-12)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs(mode):
    ours, theirs = both("Classifier", LABELS)
    for queries in (QUERIES, None):
        found, expected = (each.kneighbors_graph(queries, 3, mode) for each in (ours, theirs))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)


def test_scale_is_a_scaler_before():
    ours = KNeighborsClassifier(scale=True).fit(X, LABELS)
    piped = make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier()).fit(X, LABELS)
    assert (ours.predict_proba(QUERIES) == piped.predict_proba(QUERIES)).all()
    mixed = KNeighborsClassifier(metric="mixed").fit(X, LABELS)
    assert (mixed.predict_proba(QUERIES) == ours.predict_proba(QUERIES)).all()


def test_a_search_over_parameters():
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9], "metric": ["mixed", "cosine"]}, cv=3)
    theirs = GridSearchCV(neighbors.KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=3)
    assert grid.fit(X, LABELS).best_score_ > 0
    own = grid.set_params(param_grid={"n_neighbors": [1, 9]}).fit(X, LABELS)
    assert own.best_score_ == theirs.fit(X, LABELS).best_score_
