"""Matrix and MatrixPlan: numbers of any table, the same from every library; their state in model files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from weald.data.adapters import to_table
from weald.data.matrix.matrix import Matrix, MatrixPlan
from weald.data.matrix.statistics import weighted_median
from weald.data.schema import Schema
from weald.errors import DataError, DataTypeError, ModelFileError


def made(
    X: Any, scale: Any = None, weight: Any = None, categorical: Any = None, new: Any = None
) -> tuple[MatrixPlan, Any]:
    """The plan of a table and the numbers it makes of it, or of `new`."""
    table = to_table(X, categorical_features=categorical)
    weight = None if weight is None else np.asarray(weight, np.float64)
    schema = Schema.of(table, used=None if weight is None else weight > 0)
    plan = MatrixPlan.of(schema.align(table), schema, scale=scale, weight=weight)
    given = table if new is None else to_table(new, categorical_features=categorical)
    return plan, plan.apply(schema.align(given)).values


def dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values


MIXED = {
    "age": [30.0, None, 50.0, 41.0],
    "n": [1, 2, 3, 4],
    "member": [True, False, True, True],
    "city": ["Rom", "Bern", None, "Rom"],
}


def test_plain_array_is_not_copied() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    plan, values = made(X)
    assert values is X or np.shares_memory(values, X)
    assert plan.column_names == (0, 1, 2)
    assert not plan.is_sparse


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_layout_becomes_float64(dtype: Any, order: Any) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(40, 5)).astype(dtype, order=order)
    _, values = made(X)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    np.testing.assert_array_equal(values, X.astype(np.float64))


def test_gaps_take_the_median_of_training() -> None:
    X = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan], [np.nan, np.nan]])
    _, values = made(X)
    np.testing.assert_array_equal(values, [[1, 0], [2, 0], [4, 0], [2, 0]])
    _, new = made(X, new=np.array([[np.nan, 7.0]]))
    np.testing.assert_array_equal(new, [[2, 7]])


def test_categories_missing_and_unknown_are_all_zero() -> None:
    plan, values = made({"c": ["b", "a", None]}, new={"c": ["a", "b", None, "z"]})
    assert plan.column_names == ("c=a", "c=b")
    np.testing.assert_array_equal(values, [[1, 0], [0, 1], [0, 0], [0, 0]])


def test_ordinal_columns_are_ranks() -> None:
    sizes = pd.Categorical(["s", "l", None, "m", "s"], categories=["s", "m", "l"], ordered=True)
    _, values = made(pd.DataFrame({"size": sizes}))
    np.testing.assert_array_equal(values[:, 0], [0, 2, 0.5, 1, 0])


@pytest.mark.parametrize("scale", [None, "standard", "maximum"])
def test_libraries_agree_to_the_bit(scale: Any) -> None:
    _, want = made(pd.DataFrame(MIXED), scale)
    for other in (pl.DataFrame(MIXED), pa.table(MIXED), MIXED):
        np.testing.assert_array_equal(made(other, scale)[1], want)


@pytest.mark.parametrize("scale", [None, "standard", "maximum"])
def test_frames_and_arrays_agree_to_the_bit(scale: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(301, 7)) * 10.0 ** np.arange(7)
    X[rng.random(X.shape) < 0.1] = np.nan
    _, want = made(X, scale)
    frame = {f"x{j}": X[:, j] for j in range(7)}
    for other in (pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame), np.asfortranarray(X)):
        np.testing.assert_array_equal(made(other, scale)[1], want)


def test_dates_are_microseconds() -> None:
    days = np.array(["1970-01-01", "1970-01-02", "NaT", "1970-01-04"], "datetime64[ns]")
    _, values = made(pd.DataFrame({"day": days}))
    np.testing.assert_array_equal(values[:, 0], np.array([0, 1, 1, 3]) * 86400e6)


def test_standard_scale_is_scikit_learns() -> None:
    X = np.random.default_rng(2).lognormal(size=(200, 4))
    _, values = made(X, "standard")
    np.testing.assert_allclose(values, StandardScaler().fit_transform(X), rtol=1e-12, atol=1e-12)
    _, values = made(X, "maximum")
    np.testing.assert_allclose(values, MaxAbsScaler().fit_transform(X), rtol=1e-15)


@pytest.mark.parametrize("n_levels", [2, 1500])
def test_scale_leaves_levels_their_one_unit(n_levels: int) -> None:
    """A rare level divided by its deviation would be far from all others; dense and sparse alike."""
    levels = ["common"] * n_levels + [f"rare {k}" for k in range(n_levels)]
    X = {"c": levels, "x": np.arange(2.0 * n_levels)}
    plan, values = made(X, "standard")
    values = values.toarray() if plan.is_sparse else values
    assert plan.is_sparse == (n_levels > 1000)
    np.testing.assert_allclose(np.ptp(values[:, :-1], axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(values[:, -1].std(), 1)
    assert (plan.divisor[:-1] == 1).all()


def test_constant_columns_become_zero_and_stay_apart_from_rounding() -> None:
    X = np.full((1000, 2), 0.1)
    X[:, 1] = 1e9 + np.arange(1000) % 2
    _, values = made(X, "standard", new=np.array([[0.1, 1e9], [0.4, 1e9 + 1]]))
    np.testing.assert_array_equal(values[:, 0], [0.0, 0.4 - 0.1])
    np.testing.assert_array_equal(values[:, 1], [-1, 1])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_columns_are_scaled_without_overflow(size: float) -> None:
    X = np.array([[1.0], [2.0], [3.0]]) * size
    _, values = made(X, "standard")
    np.testing.assert_allclose(values[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)], rtol=1e-12, atol=1e-12)


def test_a_number_that_scaling_carries_beyond_float64_is_told() -> None:
    with pytest.raises(DataError, match=r"Column 'x' holds a number that is too large"):
        made({"x": [0.0, 1e-10]}, "standard", new={"x": [1e300]})
    sparse_rows = sparse.csr_array(np.array([[0.0], [1e-10]]))
    with pytest.raises(DataError, match=r"Column 0 holds a number that is too large"):
        made(sparse_rows, "standard", new=sparse.csr_array(np.array([[1e300]])))


def test_rows_of_weight_zero_do_not_count() -> None:
    X = np.array([[1.0, 0.0], [3.0, 2.0], [np.nan, np.nan], [1e6, -1e6]])
    kept, _ = made(X[:3], "standard")
    for rows in (X, sparse.csr_array(X)):
        plan, _ = made(rows, "standard", [1, 1, 1, 0])
        np.testing.assert_array_equal(plan.fill, kept.fill)
        np.testing.assert_allclose(plan.divisor, kept.divisor, rtol=1e-15)


def test_whole_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 4, 60)
    for form in (np.asarray, sparse.csr_array):
        weighted, _ = made(form(X), "standard", weight)
        repeated, _ = made(form(np.repeat(X, weight, axis=0)), "standard")
        np.testing.assert_array_equal(weighted.fill, repeated.fill)
        np.testing.assert_allclose(weighted.centre, repeated.centre, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(weighted.divisor, repeated.divisor, rtol=1e-12)


def test_infinite_values_name_the_column_and_row() -> None:
    for scale in (None, "standard"):
        with pytest.raises(DataError, match=r"Column 'b' contains inf: row 2 holds -inf"):
            made({"a": [1.0, 2, 3], "b": [1.0, 2, -np.inf]}, scale)
    with pytest.raises(DataError, match=r"Column 1 contains inf: row 1 holds inf"):
        made(np.ones((3, 2)), new=np.array([[1.0, 1.0], [2.0, np.inf]]))
    with pytest.raises(DataError, match=r"Column 1 contains inf: row 0"):
        made(sparse.csr_array(np.array([[0.0, np.inf]])))


# --------------------------------------------------------------------------- sparse


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr", "dia", "dok"])
def test_sparse_tables_stay_sparse_and_equal_dense_ones(form: str) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.4)
    plan, values = made(sparse.coo_array(X).asformat(form))
    assert plan.is_sparse
    assert isinstance(values, sparse.csr_array)
    assert values.has_canonical_format
    assert values.indices.dtype == np.int32
    np.testing.assert_array_equal(values.toarray(), X)


def test_the_users_sparse_matrix_is_never_changed() -> None:
    X = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0, 3.0]), np.array([1, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 2)
    )
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    _, values = made(X, "standard")
    for array, kept in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    assert values.nnz == 3


def test_sparse_scale_divides_and_does_not_centre() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(3, 1, size=(50, 4)) * (rng.random((50, 4)) < 0.5)
    X[:, 3] = 2.5
    plan, values = made(sparse.csr_array(X), "standard")
    want = StandardScaler(with_mean=False).fit_transform(X)
    np.testing.assert_allclose(values.toarray(), want, rtol=1e-12)
    assert not plan.centre.any()


def test_stored_nan_takes_the_median_of_the_whole_column() -> None:
    X = np.array([[np.nan, 5.0, -1.0], [1.0, np.nan, 0.0], [0.0, 7.0, -3.0], [0.0, 6.0, np.nan]])
    _, want = made(X)
    _, values = made(sparse.csr_array(X))
    np.testing.assert_array_equal(values.toarray(), want)
    assert (values.data != 0).all()


def test_categories_of_a_sparse_matrix_expand_in_place() -> None:
    X = np.array([[1.0, 0.0, 5.0], [0.0, 2.0, 0.0], [3.0, 2.0, 6.0]])
    plan, values = made(sparse.csr_array(X), categorical=[1])
    assert plan.column_names == (0, "1=0", "1=2", 2)
    np.testing.assert_array_equal(values.toarray(), made(X, categorical=[1])[1])


def test_the_plan_decides_the_form_of_later_tables() -> None:
    X = np.array([[1.0, 0.0, np.nan], [0.0, 2.0, 4.0], [0.0, 0.0, 6.0]])
    S = sparse.csr_array(X)
    for scale in (None, "standard", "maximum"):
        np.testing.assert_array_equal(made(X, scale, new=S)[1], made(X, scale)[1])
        values = made(S, scale, new=X)[1]
        assert sparse.issparse(values)
        np.testing.assert_array_equal(values.toarray(), made(S, scale)[1].toarray())


def test_many_levels_make_a_sparse_matrix() -> None:
    rng = np.random.default_rng(6)
    ids = [f"id{i}" for i in rng.permutation(1500)]
    frame = pd.DataFrame({"id": ids, "x": rng.normal(size=1500), "y": np.zeros(1500)})
    plan, values = made(frame)
    assert plan.is_sparse
    assert values.shape == (1500, 1502)
    assert values.nnz == 3000
    at = [plan.column_names.index(f"id={name}") for name in ids]
    np.testing.assert_array_equal(values[np.arange(1500), at], 1.0)
    np.testing.assert_array_equal(values[:, [1500]].toarray()[:, 0], frame["x"])


def test_many_columns_cost_no_loop_of_python() -> None:
    X = sparse.random_array((200, 300_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    plan, values = made(X, "standard")
    assert values.shape == X.shape
    assert values.nnz == X.nnz
    assert plan.n_columns == 300_000


# --------------------------------------------------------------------------- hints, rows, state


def test_hint_names_the_widest_and_the_narrowest_column() -> None:
    X = {"income": [1e4, 2e5, 3e4], "age": [20.0, 30.0, 40.0], "constant": [1.0, 1.0, 1.0]}
    plan, _ = made(X)
    hint = plan.hint()
    assert hint is not None
    assert "'income'" in hint
    assert "'age'" in hint
    assert made(X, "standard")[0].hint() is None
    assert made({"a": [1.0, 2, 3], "b": [5.0, 7, 1]})[0].hint() is None


def test_hint_of_text_counts_is_not_about_rare_words() -> None:
    X = sparse.csr_array(np.eye(20_000, 3))
    assert made(X)[0].hint() is None


def test_take_and_block_are_rows() -> None:
    X = np.arange(12.0).reshape(4, 3)
    for matrix in (Matrix.of(X), Matrix.of(sparse.csc_array(X))):
        np.testing.assert_array_equal(dense(matrix.take(np.array([3, 0])).values), X[[3, 0]])
        np.testing.assert_array_equal(dense(matrix.block(1, 3).values), X[1:3])
        assert (matrix.n_rows, matrix.n_columns) == (4, 3)
    assert Matrix.of(X).take(np.array([0])).values.base is not X


def test_matrix_of_refuses_gaps_and_other_shapes() -> None:
    with pytest.raises(DataError, match="NaN or infinite"):
        Matrix.of([[np.nan]])
    with pytest.raises(DataError, match="two dimensions"):
        Matrix.of([1.0])
    with pytest.raises(DataTypeError, match="array of numbers is expected; got DataFrame"):
        Matrix.of(pd.DataFrame({"c": ["a"]}))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [None, "standard", "maximum"])
def test_state_makes_the_same_plan(form: Any, scale: Any) -> None:
    X = form(np.array([[1.0, 0.0], [np.nan, 3.0], [5.0, 4.0]]))
    table = to_table(X)
    schema = Schema.of(table)
    plan = MatrixPlan.of(table, schema, scale=scale)
    facts, arrays = plan.state()
    again = MatrixPlan.from_state(schema, json.loads(json.dumps(facts)), arrays)
    np.testing.assert_array_equal(dense(again.apply(table).values), dense(plan.apply(table).values))
    assert again.column_names == plan.column_names


DAMAGE: list[tuple[str, Any]] = [
    ("facts", None),
    ("facts", {"scale": "standard"}),
    ("facts", {"scale": "wide", "is_sparse": False}),
    ("facts", {"scale": ["standard"], "is_sparse": False}),
    ("facts", {"scale": "standard", "is_sparse": 1}),
    ("facts", {"scale": "standard", "is_sparse": False, "more": 1}),
    ("facts", {"scale": "maximum", "is_sparse": False}),
    ("facts", {"scale": None, "is_sparse": False}),
    ("facts", {"scale": "standard", "is_sparse": True}),
    ("fill", None),
    ("fill", np.zeros(3)),
    ("fill", np.zeros((2, 1))),
    ("fill", np.array([0, np.nan])),
    ("fill", np.array([True, False])),
    ("divisor", np.array([1.0, 0.0])),
    ("divisor", np.array([1.0, -2.0])),
    ("centre", np.array([np.inf, 0.0])),
    ("strange", np.zeros(2)),
]


@pytest.mark.parametrize(("part", "value"), DAMAGE)
def test_damaged_state_raises(part: str, value: Any) -> None:
    table = to_table(np.array([[1.0, 0.0], [2.0, 3.0], [5.0, 4.0]]))
    schema = Schema.of(table)
    facts, arrays = MatrixPlan.of(table, schema, scale="standard").state()
    given: dict[str, Any] = {"facts": facts}
    if part == "facts":
        given["facts"] = value
    else:
        arrays[part] = value
    with pytest.raises(ModelFileError, match="model file"):
        MatrixPlan.from_state(schema, given["facts"], arrays)


cells = st.floats(-1e6, 1e6, width=32) | st.just(np.nan) | st.just(0.0)


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=cells))
def test_dense_and_sparse_tables_always_agree(X: Any) -> None:
    for scale in (None, "maximum"):
        np.testing.assert_array_equal(made(sparse.csr_array(X), scale)[1].toarray(), made(X, scale)[1])
    S, D = made(sparse.csr_array(X), "standard")[0], made(X, "standard")[0]
    np.testing.assert_array_equal(S.fill, D.fill)
    np.testing.assert_allclose(S.divisor, D.divisor, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=12))
def test_weighted_median_is_the_median_of_repeated_rows(rows: list[tuple[int, int]]) -> None:
    values, weights = np.array(rows, np.float64).T
    want = np.median(np.repeat(values, weights.astype(int)))
    assert weighted_median(values, weights) == want
