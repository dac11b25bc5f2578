"""What holds for every logistic regression: a whole weight is a repeated row, and rows have no order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.logistic import objective
from weald import LogisticRegression


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 2**31))
    random = np.random.default_rng(seed)
    n_rows, n_columns, n_classes = draw(st.integers(12, 60)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    X = random.standard_normal((n_rows, n_columns)) * draw(st.sampled_from([1.0, 10.0]))
    X[:, 0] = np.round(X[:, 0])
    y = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, n_rows - n_classes)])
    options = {
        "C": draw(st.sampled_from([0.01, 1.0, 30.0])),
        "l1_ratio": draw(st.sampled_from([0.0, 0.0, 0.5, 1.0])),
        "multi_class": draw(st.sampled_from(["multinomial", "ovr"])),
        "fit_intercept": draw(st.booleans()),
        "tol": 1e-9,
        "max_iter": 1000,
    }
    return X, y, options, random


def same(one, other):
    """Objectives agree to rounding; probabilities to what a tolerance leaves."""
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-9)
    assert np.abs(one.intercept_).max() < 1e8


@given(problems())
@settings(max_examples=40)
def test_a_whole_weight_is_a_repeated_row(problem):
    X, y, options, random = problem
    weight = random.integers(0, 4, len(y)).astype(float)
    weight[: y.max() + 1] = 1  # every class stays
    weighed = LogisticRegression(**options).fit(X, y, weight)
    times = weight.astype(int)
    repeated = LogisticRegression(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    same(weighed, repeated)
    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=2e-4)


@given(problems())
@settings(max_examples=40)
def test_rows_have_no_order(problem):
    X, y, options, random = problem
    order = random.permutation(len(y))
    one, other = (
        LogisticRegression(**options).fit(X, y),
        LogisticRegression(**options).fit(X[order], y[order]),
    )
    same(one, other)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=2e-4)


@given(problems())
@settings(max_examples=25)
def test_no_step_away_is_better(problem):
    X, y, options, random = problem
    options["multi_class"] = "multinomial"
    model = LogisticRegression(**options).fit(X, y)
    given_ = {"C": options["C"], "l1_ratio": options["l1_ratio"]}
    best = objective(X, y, model.coef_, model.intercept_, **given_)
    for size in (1e-1, 1e-3):
        coef = model.coef_ + size * random.standard_normal(model.coef_.shape)
        move = size * random.standard_normal(model.intercept_.shape) * options["fit_intercept"]
        assert objective(X, y, coef, model.intercept_ + move, **given_) >= best * (1 - 1e-9)
