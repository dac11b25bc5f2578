"""METHODS section 2: linear-combination forest (Forest-RC)."""

from __future__ import annotations

import numpy as np
import pytest

import weald
from weald.errors import DataError, ParameterError
from weald.model.forest import COMBINATION, NUMERIC


def rotated_checkerboard(n, seed):
    """Squares of two labels, turned by 45 degrees, and two columns of noise."""
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (n, 2))
    turned = X @ np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    y = (np.floor(turned).sum(axis=1) % 2).astype(int)
    return X, y


def test_beats_the_plain_forest_on_a_rotated_checkerboard():
    X, y = rotated_checkerboard(1500, 0)
    X_test, y_test = rotated_checkerboard(2000, 1)
    common = {"n_estimators": 60, "random_state": 0}
    plain = weald.RandomForestClassifier(**common).fit(X, y).score(X_test, y_test)
    combined = weald.RandomForestClassifier(**common, feature_combinations=(2, 5)).fit(X, y)
    assert combined.score(X_test, y_test) > plain + 0.02
    assert (combined.forest_.kind == COMBINATION).mean() > 0.9


@pytest.fixture
def mixed():
    random = np.random.default_rng(3)
    X = random.standard_normal((400, 3))
    X[:, :2][random.random((400, 2)) < 0.1] = np.nan  # the third number tells all rows apart
    y = np.nansum(X, axis=1) + random.standard_normal(400) * 0.1
    rows = [[*row, "abc"[k]] for row, k in zip(X.tolist(), random.integers(0, 3, 400), strict=True)]
    return rows, y + 3 * np.array([row[-1] == "b" for row in rows])


def test_categories_split_as_usual_and_missing_values_go_one_way(mixed):
    rows, y = mixed
    model = weald.RandomForestRegressor(
        n_estimators=20, feature_combinations=3, random_state=0, oob_score=True
    )
    model.fit(rows, y)
    assert model.oob_score_ > 0.6
    assert set(model.forest_.kind) > {NUMERIC + 1, COMBINATION}
    assert np.isfinite(model.predict([[None, None, None, None]])).all()


def test_predictions_route_training_rows_as_growth_did(mixed):
    rows, y = mixed
    model = weald.RandomForestRegressor(
        n_estimators=5, feature_combinations=2, random_state=0, bootstrap=False, max_features=2
    ).fit(rows, y)
    np.testing.assert_allclose(model.predict(rows), y)


def test_the_same_bits_for_any_number_of_threads_and_in_a_file(mixed, tmp_path):
    rows, y = mixed
    models = [
        weald.RandomForestRegressor(
            n_estimators=7, feature_combinations=2, random_state=0, n_jobs=n_jobs
        ).fit(rows, y)
        for n_jobs in (1, 2, 5)
    ]
    for k, model in enumerate(models):
        model.save(tmp_path / f"{k}.weald")
    files = {(tmp_path / f"{k}.weald").read_bytes() for k in range(3)}
    assert len(files) == 1
    loaded = weald.load(tmp_path / "0.weald")
    np.testing.assert_array_equal(loaded.predict(rows), models[0].predict(rows))


def test_importances_of_combinations_add_up(mixed):
    rows, y = mixed
    model = weald.RandomForestRegressor(n_estimators=10, feature_combinations=2, random_state=0).fit(rows, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.min() > 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"feature_combinations": (2, 0)}, "combinations tried"),
        ({"feature_combinations": (1, 2, 3)}, "pair"),
        ({"feature_combinations": 2, "max_bins": 10}, "max_bins=None"),
        ({"feature_combinations": 2, "monotonic_cst": [1, 0]}, "monotonic_cst=None"),
    ],
)
def test_what_cannot_be_combined_is_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        weald.RandomForestRegressor(n_estimators=2, **settings).fit([[1.0, 2.0], [3.0, 5.0]], [1.0, 2.0])


def test_tables_without_numbers_and_sparse_tables_are_refused():
    from scipy import sparse

    model = weald.RandomForestClassifier(n_estimators=2, feature_combinations=2)
    with pytest.raises(DataError, match="numeric columns"):
        model.fit([["a"], ["b"]], [0, 1])
    with pytest.raises(DataError, match="toarray"):
        model.fit(sparse.csr_array([[1.0, 0.0], [0.0, 2.0]]), [0, 1])
