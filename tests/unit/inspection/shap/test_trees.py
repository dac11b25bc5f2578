"""SHAP values of forests: sums, threads, vector units, deep and wide trees, what is refused."""

import numpy as np
import pandas as pd
import pytest
from reference.shapley import shapley
from scipy import sparse

import weald
from weald import _core, engine
from weald.errors import DataError, ParameterError
from weald.inspection.shap import trees
from weald.inspection.shap.trees import Background, shap_values


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.nan_to_num(X)
    return X, filled[:, 0] * filled[:, 1] + filled[:, 2] + np.sin(3 * filled[:, 3])


def aligned(model, X):
    return model._shap_model().read(X)


def forests():
    X, y = rows()
    return (
        weald.XGBRegressor(n_estimators=6, max_depth=5).fit(X, y),  # by tables
        weald.RandomForestClassifier(4, random_state=0).fit(
            X, np.digitize(y, [-1, 1])
        ),  # by walks, three outputs
    )


KINDS = ({}, {"background": True}, {"approximate": True})


@pytest.mark.parametrize("kind", KINDS, ids=["path", "background", "approximate"])
@pytest.mark.parametrize("interactions", [False, True])
def test_same_bits_for_any_threads_and_vector_unit(kind, interactions):
    if interactions and "approximate" in kind:
        return
    X, _ = rows()
    for model in forests():
        forest, table = model.forest_, aligned(model, X)
        asked = {"background": Background.of(aligned(model, X[:333]), None)} if "background" in kind else kind
        first, _ = shap_values(forest, table, interactions=interactions, n_threads=1, **asked)
        for n_threads in (2, 5):
            again, _ = shap_values(forest, table, interactions=interactions, n_threads=n_threads, **asked)
            assert np.array_equal(first, again)
        level = engine.simd_level()
        try:
            _core.set_simd(False)
            again, _ = shap_values(forest, table, interactions=interactions, **asked)
        finally:
            _core.set_simd(level != "baseline")
        assert np.array_equal(first, again)


def test_sums_of_deep_trees_on_many_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 40))
    y = rng.normal(size=500)
    model = weald.ExtraTreesRegressor(5, random_state=0).fit(X, y)
    table, raw = aligned(model, X), model.predict(X) * 5
    for asked in ({}, {"approximate": True}, {"background": Background.of(aligned(model, X[:50]), None)}):
        values, rest = shap_values(model.forest_, table, **asked)
        assert np.abs(values.sum(axis=2)[:, 0] + rest[0] - raw).max() < 1e-9
    whole, _ = shap_values(model.forest_, aligned(model, X[:40]), interactions=True)
    few, _ = shap_values(model.forest_, aligned(model, X[:40]))
    assert np.abs(whole.sum(axis=3) - few).max() < 1e-9


def chain(n_columns):
    """A tree that asks one column after another: the right child ends, the last left one too."""
    X = np.tril(np.ones((n_columns + 1, n_columns)), -1)
    y = np.arange(n_columns + 1.0) ** 2
    return weald.DecisionTreeRegressor(max_depth=n_columns, max_leaf_nodes=n_columns + 1).fit(X, y), X


def test_paths_of_more_columns_than_any_table():
    model, X = chain(30)
    forest = model.forest_

    row, other = X[15:16].copy(), X[15:16].copy()
    moved = [3, 8, 14, 17, 21, 29]
    other[0, moved] = 1 - other[0, moved]
    values, rest = shap_values(
        forest, aligned(model, row), background=Background.of(aligned(model, other), None)
    )
    game = np.zeros((1, 2 ** len(moved), 1))
    for number in range(2 ** len(moved)):
        mixed = other.copy()
        for place, j in enumerate(moved):
            if number >> place & 1:
                mixed[0, j] = row[0, j]
        game[0, number] = model.predict(mixed)
    assert np.allclose(values[0, 0, moved], shapley(game)[0][0, 0], atol=1e-9)
    assert np.allclose(np.delete(values[0, 0], moved), 0, atol=1e-12)
    assert np.isclose(rest[0], model.predict(other)[0])


def test_more_columns_on_a_path_than_patterns_have_bits():
    model, X = chain(80)
    table = aligned(model, X)
    values, rest = shap_values(model.forest_, table)
    assert np.abs(values.sum(axis=2)[:, 0] + rest[0] - model.predict(X)).max() < 1e-8
    if model.get_depth() > 64:
        with pytest.raises(DataError, match=r"columns on one path.*64 at most"):
            shap_values(model.forest_, table, background=Background.of(table, None))


def test_weights_of_the_background_are_repeated_rows():
    X, y = rows()
    model = weald.XGBRegressor(n_estimators=5, max_depth=4).fit(X, y)
    weight = np.array([1.0, 2.0, 0.0, 3.0])
    found = model.shap_values(X[:20], background=X[:4], background_weight=weight)
    repeated = model.shap_values(X[:20], background=X[:4][[0, 1, 1, 3, 3, 3]])
    assert np.allclose(found, repeated, atol=1e-12)


def test_every_kind_of_table_gives_the_same_bits():
    X, y = rows(80)
    X = np.nan_to_num(X)
    model = weald.XGBRegressor(n_estimators=3).fit(X, y)
    first = model.shap_values(X, background=X[:10])
    pandas = pd.DataFrame(X, columns=range(6))
    for given in (sparse.csr_matrix(X), X.tolist(), np.asfortranarray(X), pandas):
        assert np.array_equal(model.shap_values(given, background=given[:10]), first)


def test_a_leaf_alone_and_a_column_never_used():
    X = np.array([[0.0, 1.0], [1.0, 1.0]])
    model = weald.DecisionTreeRegressor(max_depth=1).fit(X, [2.0, 2.0])
    assert np.array_equal(model.shap_values(X), np.zeros((2, 2)))
    model.fit(X, [1.0, 3.0])
    assert model.shap_values(X).tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_memory_is_said_beforehand(monkeypatch):
    X, y = rows(50)
    model = weald.XGBRegressor(n_estimators=2).fit(X, y)
    monkeypatch.setattr(trees, "memory_bytes", lambda: 10_000)
    with pytest.raises(
        MemoryError, match=r"Interactions of 50 rows, 6 columns and 1 outputs take .* fewer rows"
    ):
        model.shap_values(X, interactions=True)


def test_two_million_rows_of_interactions_are_refused_at_once():
    X, y = rows(50)
    model = weald.XGBRegressor(n_estimators=2).fit(np.tile(X, (1, 50)), y)
    many = np.broadcast_to(np.zeros(300), (2_000_000, 300))
    with pytest.raises(MemoryError, match=r"2,000,000 rows, 300 columns"):
        model.shap_values(many, interactions=True)


def test_bad_input():
    X, y = rows(80)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = weald.XGBRegressor(n_estimators=2).fit(frame, y)
    with pytest.raises(DataError, match="background does not fit this XGBRegressor: The feature names"):
        model.shap_values(frame, background=frame.rename(columns={"a": "z"}))
    with pytest.raises(DataError, match="The background has no rows"):
        model.shap_values(frame, background=frame[:0])
    with pytest.raises(DataError, match="background_weight is zero in every row"):
        model.shap_values(frame, background=frame, background_weight=np.zeros(80))
    with pytest.raises(DataError, match="without a background"):
        model.shap_values(frame, background_weight=np.ones(80))
    for asked in ({"interactions": True}, {"background": frame}):
        with pytest.raises(ParameterError, match="Approximate values have no"):
            model.shap_values(frame, approximate=True, **asked)
    mixed = weald.RandomForestRegressor(2, feature_combinations=2, random_state=0).fit(np.nan_to_num(X), y)
    with pytest.raises(DataError, match="sums of columns"):
        mixed.shap_values(X)
    with pytest.raises(DataError, match="infinite"):
        model.shap_values(frame.assign(a=np.inf))
    with pytest.raises(DataError, match="infinite"):
        model.shap_values(frame, background=frame.assign(a=np.inf))


def test_unseen_categories_go_by_the_models_policy():
    frame = pd.DataFrame({"c": list("aabbcc") * 10, "x": np.arange(60.0)})
    y = (frame.c == "a") * 3.0
    model = weald.XGBRegressor(n_estimators=2).fit(frame, y)
    new = frame[:2].assign(c="never")
    assert np.isfinite(model.shap_values(new, background=new)).all()
    strict = weald.RandomForestRegressor(2, unknown="error", random_state=0).fit(frame, y)
    with pytest.raises(DataError, match="not there when this model was fitted"):
        strict.shap_values(new)


def test_progress_shows(capsys):
    X, y = rows(80)
    weald.XGBRegressor(n_estimators=2).fit(X, y).shap_values(X, verbose=1)
    assert "step" in capsys.readouterr().err
