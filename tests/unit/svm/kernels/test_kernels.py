"""Kernel objects: their values, numbers, sums and products, JSON, and what they refuse."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.kernels import values
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.metrics import pairwise

import weald
from weald.data.matrix.matrix import Matrix
from weald.errors import DataError, DataTypeError, ModelFileError, ParameterError
from weald.kernels import (
    RBF,
    ChiSquared,
    Constant,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    Scaled,
    Sigmoid,
    Spectrum,
    Sum,
)

SINGLE = [
    Linear(),
    Polynomial(2, 0.5, 1.0),
    Polynomial(3, 0.3, -0.5),
    RBF(0.7),
    RBF(sigma=1.5),
    Sigmoid(0.2, 0.1),
    Laplacian(0.4),
    ChiSquared(0.8),
    Intersection(),
]
COMBINED = [
    RBF(0.7) + Linear(),
    2.5 * RBF(0.7) + 1.0,
    RBF(0.7) * Polynomial(2, 0.5, 1.0) + 0.25 * Laplacian(0.4) ** 3,
    (Linear() + 1) ** 2,
    ChiSquared(0.5) + Intersection(),
]
NAMED: list[Kernel] = [
    Polynomial(),
    RBF("auto"),
    Sigmoid(),
    Laplacian(),
    Spectrum(2),
    Spectrum(all_lengths=True),
]


def rows(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, d)) * 2


@pytest.mark.parametrize("kernel", [*SINGLE, *COMBINED], ids=repr)
def test_values_are_those_of_the_formula(kernel: Kernel) -> None:
    X, Z = rows(6), rows(4, seed=1)
    np.testing.assert_allclose(kernel(X, Z), values(kernel, X, Z), rtol=1e-12)
    np.testing.assert_allclose(kernel(X), values(kernel, X, X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [*SINGLE, *COMBINED], ids=repr)
def test_sparse_rows_give_the_same_values(kernel: Kernel) -> None:
    X = rows(6) * (rows(6, seed=2) > 0.9)
    Z = rows(4, seed=1) * (rows(4, seed=3) > 0.9)
    np.testing.assert_allclose(kernel(sparse.csr_array(X), sparse.csc_array(Z)), kernel(X, Z), rtol=1e-12)
    np.testing.assert_allclose(kernel(sparse.csr_array(X), Z), kernel(X, Z), rtol=1e-12)


def test_scikit_learn_has_the_same_kernels() -> None:
    X, Z = rows(6), rows(4, seed=1)
    np.testing.assert_allclose(RBF(0.3)(X, Z), pairwise.rbf_kernel(X, Z, 0.3))
    np.testing.assert_allclose(Laplacian(0.3)(X, Z), pairwise.laplacian_kernel(X, Z, 0.3))
    np.testing.assert_allclose(ChiSquared(0.3)(X, Z), pairwise.chi2_kernel(X, Z, 0.3))
    np.testing.assert_allclose(Polynomial(3, 0.3, 1.0)(X, Z), pairwise.polynomial_kernel(X, Z, 3, 0.3, 1.0))
    np.testing.assert_allclose(Sigmoid(0.3, 1.0)(X, Z), pairwise.sigmoid_kernel(X, Z, 0.3, 1.0))


def test_scikit_learn_takes_a_kernel_as_a_function() -> None:
    X, Z = rows(40, seed=4), rows(20, seed=5)
    y = (X.sum(axis=1) > 3).astype(int)
    ours = svm.SVC(kernel=RBF()).fit(X, y).decision_function(Z)
    np.testing.assert_allclose(ours, svm.SVC(kernel="rbf").fit(X, y).decision_function(Z), atol=1e-8)


# --------------------------------------------------------------------------- gamma, sigma


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scale_and_auto_are_scikit_learns(form: Any) -> None:
    X = rows(50) * (rows(50, seed=9) > 1)
    y = np.arange(50) % 2
    for gamma in ("scale", "auto"):
        theirs = svm.SVC(gamma=gamma).fit(form(X), y)
        assert RBF(gamma).resolved(Matrix.of(form(X))).gamma == pytest.approx(theirs._gamma, rel=1e-12)


def test_scale_of_constant_rows_is_one() -> None:
    assert RBF().resolved(Matrix.of(np.full((3, 2), 7.0))).gamma == 1.0


@pytest.mark.parametrize("size", [1e200, 1e-160])
def test_scale_beyond_float64_is_told(size: float) -> None:
    with pytest.raises(DataError, match=r"gamma='scale'.*Use scale=True"):
        RBF().resolved(Matrix.of(rows(5) * size))


def test_every_part_of_a_sum_is_resolved() -> None:
    X = Matrix.of(rows(20))
    found = (2.0 * RBF() + Laplacian("auto") * Sigmoid()).resolved(X)
    scale = RBF().resolved(X).gamma
    assert found == 2.0 * RBF(scale) + Laplacian(1 / 3) * Sigmoid(scale)


def test_sigma_is_gamma() -> None:
    X = Matrix.of(rows(5))
    assert RBF(sigma=2.0).resolved(X) == RBF(gamma=0.125)
    np.testing.assert_array_equal(RBF(sigma=2.0).program(), RBF(gamma=0.125).program())


def test_a_program_needs_numbers() -> None:
    with pytest.raises(ParameterError, match="gamma='scale' of RBF is no number"):
        RBF().program()


def test_program_is_postfix() -> None:
    program = (RBF(0.5) + 2.0 * Linear()).program()
    np.testing.assert_array_equal(program, [[2, 0.5, 0, 0], [0, 0, 0, 0], [9, 2, 0, 0], [7, 0, 0, 0]])


# --------------------------------------------------------------------------- objects


@pytest.mark.parametrize("kernel", [*SINGLE, *COMBINED, *NAMED], ids=repr)
def test_kernels_survive_json_pickle_clone_and_repr(kernel: Kernel) -> None:
    assert Kernel.from_json(json.loads(json.dumps(kernel.to_json()))) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert clone(svm.SVC(kernel=kernel)).kernel == kernel
    names = {name: getattr(weald.kernels, name) for name in weald.kernels.__all__}
    assert eval(repr(kernel), names) == kernel
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))


def test_numbers_make_the_difference() -> None:
    assert RBF(0.5) != RBF(0.25)
    assert RBF(0.5) != Laplacian(0.5)
    assert RBF(np.float64(0.5)) == RBF(0.5)
    with pytest.raises(AttributeError):
        RBF(0.5).gamma = 1.0  # type: ignore[misc]


def test_arithmetic_flattens() -> None:
    a, b, c = Linear(), RBF(0.5), Laplacian(0.5)
    assert a + b + c == Sum((a, b, c))
    assert a * (b * c) == Product((a, b, c))
    assert sum([a, b, c]) == Sum((a, b, c))
    assert 1 + a == Sum((Constant(1.0), a))
    assert a**1 is a
    assert a * 2 == Scaled(a, 2.0)


def test_which_kernels_take_no_negative_numbers() -> None:
    assert ChiSquared().nonnegative
    assert (Linear() + 2 * Intersection()).nonnegative
    assert not (Linear() + RBF()).nonnegative


BAD_NUMBERS: list[tuple[Any, str]] = [
    (lambda: RBF(0), r"`gamma` of RBF must be a number above 0, 'scale' or 'auto'; got 0"),
    (lambda: RBF(-1.0), r"got -1.0"),
    (lambda: RBF(np.nan), r"got nan"),
    (lambda: Laplacian(np.inf), r"`gamma` of Laplacian.*got inf"),
    (lambda: RBF("scal"), r"Did you mean 'scale'\?"),
    (lambda: RBF(True), r"got True"),
    (lambda: RBF(sigma=0.0), r"`sigma` of RBF must be a number above 0"),
    (lambda: RBF(sigma=-1.0), r"`sigma` of RBF"),
    (lambda: RBF(sigma=1e-200), r"`sigma` of RBF"),
    (lambda: RBF(0.5, sigma=1.0), r"both are given: sigma=1 and gamma=0.5"),
    (lambda: Polynomial(0), r"`degree` of Polynomial must be a whole number from 1 to 1000; got 0"),
    (lambda: Polynomial(2.5), r"got 2.5"),
    (lambda: Polynomial(2, 1.0, np.nan), r"`coef0` of Polynomial must be a finite number"),
    (lambda: Sigmoid(1.0, "a"), r"`coef0` of Sigmoid"),
    (lambda: Spectrum(0), r"`length` of Spectrum must be a whole number from 1 to 1000"),
    (lambda: Spectrum(3, normalise="yes"), r"`normalise` of Spectrum must be True or False"),
    (lambda: -1.0 * RBF(), r"A number that a kernel is multiplied by must be above 0.*got -1.0"),
    (lambda: RBF() + (-2.0), r"A number that is added to a kernel must be above 0"),
    (lambda: RBF() ** 0, r"whole power from 1 to 64; got 0"),
    (lambda: RBF() ** 0.5, r"got 0.5"),
    (lambda: RBF() + Spectrum(), r"Spectrum compares texts"),
    (lambda: 2.0 * Spectrum(), r"Spectrum compares texts"),
    (lambda: Sum((RBF(),)), r"from 2 to 64 parts; got 1"),
]


@pytest.mark.parametrize(("make", "message"), BAD_NUMBERS)
def test_numbers_out_of_range(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_kernels_only_join_kernels() -> None:
    with pytest.raises(DataTypeError, match="got str"):
        RBF() + "linear"  # type: ignore[operator]


BAD_JSON: list[Any] = [
    None,
    [],
    {},
    {"kernel": 1},
    {"kernel": "exec"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": -1, "sigma": None},
    {"kernel": "rbf", "gamma": [1], "sigma": None},
    {"kernel": "rbf", "gamma": 1.0, "sigma": None, "more": 1},
    {"kernel": "sum", "of": []},
    {"kernel": "sum", "of": {"kernel": "linear"}},
    {"kernel": "sum", "of": [1, 2]},
    {"kernel": "sum", "of": [{"kernel": "linear"}] * 100},
    {"kernel": "scaled", "of": [{"kernel": "linear"}] * 2, "factor": 1.0},
    {"kernel": "scaled", "of": [{"kernel": "linear"}], "factor": -1.0},
    {"kernel": "scaled", "of": [{"kernel": "linear"}]},
    {"kernel": "spectrum", "length": 10**9, "normalise": True, "all_lengths": False},
]


@pytest.mark.parametrize("value", BAD_JSON, ids=str)
def test_damaged_json_raises(value: Any) -> None:
    with pytest.raises(ModelFileError, match="kernel"):
        Kernel.from_json(value)


def test_deep_json_raises() -> None:
    value: Any = {"kernel": "linear"}
    for _ in range(1000):
        value = {"kernel": "scaled", "of": [value], "factor": 1.0}
    with pytest.raises(ModelFileError, match="wrong form"):
        Kernel.from_json(value)


# --------------------------------------------------------------------------- Mercer


kernels = st.recursive(
    st.sampled_from(
        [
            Linear(),
            Polynomial(2, 0.5, 1.0),
            RBF(0.7),
            Laplacian(0.4),
            ChiSquared(0.8),
            Intersection(),
            Constant(0.5),
        ]
    ),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(lambda two: two[0] + two[1]),
        st.tuples(parts, parts).map(lambda two: two[0] * two[1]),
        st.tuples(st.floats(0.1, 10), parts).map(lambda two: two[0] * two[1]),
        parts.map(lambda kernel: kernel**2),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(kernels, st.integers(0, 10_000))
def test_sums_and_products_stay_symmetric_and_positive(kernel: Kernel, seed: int) -> None:
    X = rows(8, seed=seed)
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    assert Kernel.from_json(kernel.to_json()) == kernel
    np.testing.assert_allclose(K, values(kernel, X, X), rtol=1e-9)
