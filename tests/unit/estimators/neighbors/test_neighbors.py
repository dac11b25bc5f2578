"""Neighbours on tables as they are: every library alike, bad input with its way out, files, threads."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import weald
from weald import KNeighborsClassifier, KNeighborsRegressor
from weald.errors import DataError, ModelFileError, ParameterError

N = 60
random = np.random.default_rng(3)
COLUMNS = {
    "x": [None if i % 9 == 4 else round(float(v), 3) for i, v in enumerate(random.normal(size=N))],
    "n": random.integers(0, 9, N).tolist(),
    "city": [None if i % 8 == 1 else f"c{i % 3}" for i in range(N)],
}
LABELS = [f"l{i % 4}" for i in range(N)]
NUMBERS = random.normal(size=N)


def halves(seconds):
    return 1 / (0.5 + seconds)


@pytest.mark.parametrize("options", [{}, {"metric": "mixed"}, {"metric": "cosine"}, {"p": 1, "scale": True}])
def test_every_library_alike(options):
    frame = pd.DataFrame(COLUMNS)
    rows = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]
    tables = [
        frame,
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).to_arrow(),
        COLUMNS,
        rows,
        frame[["city", "n", "x"]],
    ]
    model = KNeighborsClassifier(**options).fit(frame, LABELS)
    expected = model.kneighbors(frame)
    for table in tables:
        for fitted in (model, KNeighborsClassifier(**options).fit(table, LABELS)):
            found = fitted.kneighbors(table)
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-15)
            if "metric" not in options:  # columns in another order add up in another order
                assert (found[1] == expected[1]).all()
    assert model.kneighbors(pl.DataFrame(COLUMNS))[0].tobytes() == expected[0].tobytes()


def test_arrays_lists_and_sparse_matrices_alike():
    X = random.integers(0, 5, (N, 3)).astype(float)
    expected = KNeighborsRegressor(3).fit(X, NUMBERS).predict(X)
    for table in (X.tolist(), pd.DataFrame(X), sparse.csr_matrix(X), sparse.csc_array(X), X.astype(np.int32)):
        for asked in (X, table):
            model = KNeighborsRegressor(3).fit(table, NUMBERS)
            if isinstance(table, pd.DataFrame) or isinstance(asked, pd.DataFrame):
                asked = table
            assert (model.predict(asked) == expected).all()


def test_unknown_categories():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "city": ["a", "a", "b", "b"]})
    model = KNeighborsClassifier(1).fit(frame, [0, 0, 1, 1])
    strange = pd.DataFrame({"x": [0.2, 2.9], "city": ["z", None]})
    missing = pd.DataFrame({"x": [0.2, 2.9], "city": [None, None]})
    assert (model.kneighbors(strange)[0] == model.kneighbors(missing)[0]).all()
    strict = KNeighborsClassifier(1, unknown="error").fit(frame, [0, 0, 1, 1])
    with pytest.raises(DataError, match="'city' holds levels that were not there"):
        strict.predict(strange)


def test_numbers_that_are_categories():
    X = np.array([[1.0, 0.0], [2.0, 0.1], [9.0, 0.2]])
    model = KNeighborsClassifier(3, categorical_features=[0]).fit(X, [0, 1, 2])
    assert model.kneighbors([[1.0, 0.0]])[0][0, 1:] == pytest.approx(
        np.hypot(np.std([0.0, 0.1, 0.2]), [0.1, 0.2])
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 5, None])
def test_same_bits_for_any_threads(n_jobs):
    frame = pd.DataFrame(COLUMNS)
    one = KNeighborsClassifier(metric="mixed", weights="distance", n_jobs=1).fit(frame, LABELS)
    other = clone(one).set_params(n_jobs=n_jobs).fit(frame, LABELS)
    assert one.predict_proba(frame).tobytes() == other.predict_proba(frame).tobytes()
    assert one.to_bytes() == other.to_bytes()


# --------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("model", [KNeighborsClassifier(5), KNeighborsRegressor(5)])
def test_fewer_rows_than_neighbours(model):
    model.fit([[1.0], [2.0], [3.0]], [1, 0, 1])
    with pytest.raises(DataError, match=r"5 neighbours are asked for.*fitted on 3 rows.*Lower `n_neighbors`"):
        model.predict([[1.0]])
    assert model.kneighbors([[1.0]], 3)[1].tolist() == [[0, 1, 2]]
    with pytest.raises(DataError, match="each of which has 2 others"):
        model.kneighbors(n_neighbors=3)
    with pytest.raises(DataError, match="Expected n_neighbors > 0"):
        model.kneighbors([[1.0]], 0)
    with pytest.raises(DataError, match="does not take"):
        model.kneighbors([[1.0]], 1.5)


def test_rows_all_equal():
    model = KNeighborsClassifier(3, metric="mixed", weights="distance").fit(
        {"x": [2.0] * 9, "c": ["a"] * 9}, [0, 0, 0, 0, 1, 1, 1, 1, 1]
    )
    assert model.kneighbors({"x": [2.0], "c": ["a"]})[1].tolist() == [[0, 1, 2]]
    assert model.predict_proba({"x": [2.0], "c": ["a"]}).tolist() == [[1.0, 0.0]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_numbers_near_the_end_of_float64_are_silent(metric):
    X = {"x": [1e308, -1e308, 1e307, 0.0], "y": [1e308, 1e308, 0.0, 1e300], "c": ["a", "a", "b", None]}
    rows = KNeighborsClassifier(2, metric=metric).fit(X, [0, 1, 0, 1]).kneighbors()[1]
    assert all(set(found) <= {0, 1, 2, 3} - {i} for i, found in enumerate(rows.tolist()))


def test_only_categories():
    X = {"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]}
    model = KNeighborsClassifier(1).fit(X, [0, 1, 2, 3])
    assert model.predict(X).tolist() == [0, 1, 2, 3]
    assert model.kneighbors(n_neighbors=3)[0][0].tolist() == [1.0, 1.0, np.sqrt(2)]
    assert weald.load(model.to_bytes()).predict(X).tolist() == [0, 1, 2, 3]


def test_a_column_all_missing():
    X = pd.DataFrame(
        {"x": [1.0, 2.0, 7.0], "gone": [np.nan] * 3, "level": pd.Series([None] * 3, dtype=object)}
    )
    model = KNeighborsRegressor(1).fit(X, [1.0, 2.0, 3.0])
    assert model.predict(X).tolist() == [1.0, 2.0, 3.0]
    assert model.kneighbors(n_neighbors=1)[0].ravel().tolist() == [1.0, 1.0, 5.0]
    late = X.assign(gone=[100.0, 0.0, -5.0])
    assert model.predict(late).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "`n_neighbors` of KNeighborsClassifier must be a whole number"),
        ({"weights": "inverse"}, "`weights` of KNeighborsClassifier must be"),
        ({"metric": "hamming"}, "'mixed'"),
        ({"p": -1}, "`p` of KNeighborsClassifier must be a number above 0"),
        ({"algorithm": "tree"}, "'kd_tree'"),
        ({"metric": "cosine", "algorithm": "kd_tree"}, "has no tree for metric='cosine'"),
        ({"metric_params": {"w": [1]}}, "multiply them before `fit`"),
        ({"metric_params": {"p": 0}}, "above 0; got 0"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        KNeighborsClassifier(**options).fit([[1.0], [2.0]], [0, 1])


def test_parameters_by_name():
    with pytest.raises(ParameterError, match="n_neighbors"):
        KNeighborsClassifier().set_params(n_neighbours=3)
    with pytest.raises(ParameterError, match="`mode` of kneighbors_graph"):
        KNeighborsClassifier(1).fit([[1.0], [2.0]], [0, 1]).kneighbors_graph(mode="weights")


def test_weights_of_a_function_are_checked():
    def fitted(weights):
        return KNeighborsRegressor(2, weights=weights).fit([[0.0], [1.0]], [0.0, 1.0])

    with pytest.raises(DataError, match="All neighbors of row 0 get the weight 0"):
        fitted(lambda d: d * 0).predict([[0.5]])
    with pytest.raises(DataError, match="one weight per distance"):
        fitted(lambda d: d[:, :1]).predict([[0.5]])
    with pytest.raises(DataError, match="negative, NaN or infinite"):
        fitted(lambda d: d - 10).predict([[0.5]])


# --------------------------------------------------------------------------- files


def test_a_function_is_for_pickle():
    model = KNeighborsClassifier(weights=halves).fit(COLUMNS, LABELS)
    with pytest.raises(ModelFileError, match="`weights`=halves of this KNeighborsClassifier is a function"):
        model.to_bytes()
    same = pickle.loads(pickle.dumps(model))
    assert (same.predict_proba(COLUMNS) == model.predict_proba(COLUMNS)).all()


@pytest.mark.parametrize("options", [{}, {"p": np.inf}, {"metric_params": {"p": 3}}, {"metric": "cosine"}])
@pytest.mark.parametrize("kind", ["mixed", "sparse"])
def test_a_file_answers_to_the_bit(options, kind):
    X = COLUMNS
    if kind == "sparse":
        X = sparse.csr_matrix(random.integers(0, 2, (N, 5)) * random.normal(size=(N, 5)))
        X.data[::7] = np.nan
    model = KNeighborsRegressor(4, weights="distance", **options).fit(X, np.column_stack([NUMBERS, -NUMBERS]))
    same = weald.load(model.to_bytes())
    assert same.predict(X).tobytes() == model.predict(X).tobytes()
    assert same.to_bytes() == model.to_bytes()
    assert same.effective_metric_ == model.effective_metric_


def test_a_failed_fit_leaves_the_model():
    model = KNeighborsClassifier(1).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(DataError):
        model.fit([[0.0], [np.inf]], ["c", "d"])
    assert model.predict([[0.9]]).tolist() == ["b"]
