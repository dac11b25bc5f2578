"""Objectives: derivatives against differences of the loss, the same bits, targets and parameters refused."""

from __future__ import annotations

import numpy as np
import pytest
from unit.boosting.newton.objectives import NATIVE, bound, derivatives, example

from weald import _core
from weald.boosting.links import LINKS
from weald.errors import DataError, ParameterError


def loss_of(name, f, y):
    """The loss of each row and output, as docs/methods/boosting.md states it."""
    rest = name.partition(":")[2]
    d = f - y
    alpha = np.array([[0.1], [0.5], [0.8]])
    if rest in ("softmax", "softprob"):
        return np.log(np.exp(f).sum(axis=0)) - f[y.astype(int), np.arange(len(y))]
    if rest in ("logistic", "logitraw"):
        return np.where(y == 1, 2.5, 1.0) * (np.logaddexp(0, f) - y * f)
    return {
        "squarederror": lambda: d**2 / 2,
        "squaredlogerror": lambda: (np.log1p(f) - np.log1p(y)) ** 2 / 2,
        "pseudohubererror": lambda: 1.7**2 * (np.sqrt(1 + (d / 1.7) ** 2) - 1),
        "absoluteerror": lambda: np.abs(d),
        "quantileerror": lambda: np.where(d < 0, -alpha * d, (1 - alpha) * d),
        "hinge": lambda: np.maximum(0, 1 - (2 * y - 1) * f),
        "poisson": lambda: np.exp(f) - y * f,
        "gamma": lambda: f + y * np.exp(-f),
        "tweedie": lambda: y * np.exp(-0.3 * f) / 0.3 + np.exp(0.7 * f) / 0.7,
    }[rest]()


@pytest.mark.parametrize("name", NATIVE)
def test_gradients_are_differences_of_the_loss(name):
    objective, y, scores = example(name)
    g, _ = derivatives(objective, scores)
    eps = 1e-6
    for k in range(len(scores)):
        step = np.zeros_like(scores)
        step[k] = eps
        change = (loss_of(name, scores + step, y) - loss_of(name, scores - step, y)) / (2 * eps)
        slope = change if change.ndim == 1 else change[k]
        # a kink within eps of the score would show as one row in many thousands
        assert g[k] == pytest.approx(slope, rel=1e-6, abs=1e-7)


#: what stands for the second derivative, as a multiple of it, where it is no floor
HESSIAN = {"multi:softmax": 2.0, "multi:softprob": 2.0, "count:poisson": np.exp(0.7)}

NO_HESSIAN = ("reg:absoluteerror", "reg:quantileerror", "binary:hinge")


@pytest.mark.parametrize("name", [name for name in NATIVE if name not in NO_HESSIAN])
def test_hessians_are_differences_of_the_gradient(name):
    objective, _, scores = example(name)
    _, h = derivatives(objective, scores)
    eps = 1e-6
    for k in range(len(scores)):
        step = np.zeros_like(scores)
        step[k] = eps
        up, down = derivatives(objective, scores + step)[0], derivatives(objective, scores - step)[0]
        slope = (up[k] - down[k]) / (2 * eps) * HESSIAN.get(name, 1.0)
        floor = 1e-6 if name == "reg:squaredlogerror" else 1e-16
        assert h[k] == pytest.approx(np.maximum(slope, floor), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", NO_HESSIAN)
def test_losses_without_curvature_have_hessian_one_inside(name):
    objective, y, scores = example(name)
    g, h = derivatives(objective, scores)
    assert (h[g != 0] == 1).all()
    if name == "binary:hinge":
        beyond = scores * (2 * y - 1) >= 1
        assert beyond.any()
        assert (g[beyond] == 0).all()
        assert (h[beyond] == 2.0**-126).all()


@pytest.mark.parametrize("name", NATIVE)
def test_same_bits_for_threads_and_instruction_sets(name):
    objective, _, scores = example(name, n=10_001)
    first = derivatives(objective, scores)
    leaf = np.random.default_rng(3).integers(-1, 7, scores.shape[1]).astype(np.int32)
    values = objective.leaf_values(scores, 0, leaf, 7)
    try:
        for simd in (True, False):
            _core.set_simd(simd)
            for n_threads in (1, 2, 3):
                again = derivatives(objective, scores, n_threads)
                assert [a.tobytes() for a in again] == [a.tobytes() for a in first]
    finally:
        _core.set_simd(True)
    if values is not None:
        assert objective.leaf_values(scores, 0, leaf, 7, n_threads=3).tobytes() == values.tobytes()


@pytest.mark.parametrize("name", NATIVE)
def test_extreme_scores_give_finite_gradients(name):
    objective, _, scores = example(name, n=8)
    for extreme in (-1e6, 1e6):
        g, h = derivatives(objective, np.full_like(scores, extreme))
        assert np.isfinite(g).all()
        assert np.isfinite(h).all()
        assert (h > 0).all() or name in ("reg:pseudohubererror", "count:poisson", "reg:gamma", "reg:tweedie")


@pytest.mark.parametrize(
    "name", [n for n in NATIVE if n.partition(":")[0] != "multi" and "quantile" not in n]
)
def test_columns_of_a_target_are_outputs_of_their_own(name):
    one, y, scores = example(name, n=300)
    two, y2, scores2 = example(name, n=300, seed=5)
    parameters = {"scale_pos_weight": 2.5, "huber_slope": 1.7, "tweedie_variance_power": 1.3}
    both = bound(name, np.c_[y, y2], **parameters)
    assert both.n_outputs == 2
    assert both.link == one.link
    assert both.base_scores() == pytest.approx(np.r_[one.base_scores(), two.base_scores()], rel=1e-12)
    for found, first, second in zip(
        derivatives(both, np.r_[scores, scores2]),
        derivatives(one, scores),
        derivatives(two, scores2),
        strict=True,
    ):
        assert found.tolist() == np.r_[first, second].tolist()
    leaf = np.zeros(300, np.int32)
    if (values := both.leaf_values(np.r_[scores, scores2], 1, leaf, 1)) is not None:
        assert values.tolist() == two.leaf_values(scores2, 0, leaf, 1).tolist()


@pytest.mark.parametrize("name", NATIVE)
def test_names_links_and_steps(name):
    objective, _, scores = example(name)
    assert objective.name == name
    assert objective.n_outputs == len(scores)
    assert objective.link in LINKS
    assert not objective.weighted
    assert objective.default_max_delta_step == (0.7 if name == "count:poisson" else 0.0)
    assert objective.base_scores().shape == (objective.n_outputs,)


def test_poisson_hessian_follows_max_delta_step():
    scores = np.array([[0.4]])
    for step in (0.0, 0.5):
        _, h = derivatives(bound("count:poisson", [2.0], max_delta_step=step), scores)
        assert h[0, 0] == pytest.approx(np.exp(0.4 + step))


# leaves


def naive_quantile(values, alpha, weight):
    order = np.argsort(values)
    values = values[order]
    if weight is None:
        place = min(max(alpha * (len(values) + 1), 1.0), len(values))
        k = int(place)
        upper = values[min(k, len(values) - 1)]
        return values[k - 1] + (place - k) * (upper - values[k - 1])
    total = np.cumsum(weight[order])
    return values[np.searchsorted(total, alpha * total[-1])]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.03, 0.25, 0.5, 0.8, 1.0])
def test_leaf_values_are_quantiles_of_residuals(weighted, alpha):
    rng = np.random.default_rng(1)
    n, n_leaves = 400, 9
    y, scores = rng.integers(0, 30, n).astype(float), rng.integers(-3, 4, (1, n)).astype(float)
    weight = rng.integers(0, 4, n) / 4.0 if weighted else None
    leaf = rng.integers(-1, n_leaves - 1, n).astype(np.int32)
    leaf[:1] = n_leaves - 1  # a leaf of one row
    if weighted:
        weight[0] = 1.0
    objective = bound("reg:quantileerror", y, weight=weight, quantile_alpha=alpha)
    found = objective.leaf_values(scores, 0, leaf, n_leaves)
    for each in range(n_leaves):
        rows = leaf == each
        if weighted:
            rows &= weight > 0
        expected = naive_quantile((y - scores[0])[rows], alpha, weight[rows] if weighted else None)
        assert found[each] == pytest.approx(expected, abs=1e-12)


def test_leaves_without_rows_are_zero_and_order_does_not_show():
    rng = np.random.default_rng(2)
    y, weight = rng.choice([-0.0, 0.0, 0.1, 0.3], 99), rng.uniform(0.1, 1, 99)
    leaf = rng.integers(0, 2, 99).astype(np.int32)
    values = []
    for order in (np.arange(99), rng.permutation(99)):
        objective = bound("reg:absoluteerror", y[order], weight=weight[order])
        values.append(objective.leaf_values(np.zeros((1, 99)), 0, leaf[order], 3))
    assert values[0].tobytes() == values[1].tobytes()
    assert values[0][2] == 0
    assert bound("reg:squarederror", y).leaf_values(np.zeros((1, 99)), 0, leaf, 3) is None


# refusals


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("reg:squarederror", [0.0, np.nan], "must be finite numbers; row 1 holds nan"),
        ("reg:absoluteerror", [np.inf], "row 0 holds inf"),
        ("binary:logistic", [0.0, 1.0, 1.5], r"'binary:logistic' must be between 0 and 1; row 2 holds 1\.5"),
        ("reg:logistic", [-0.1], "reg:squarederror"),
        ("binary:hinge", [0.0, 0.5], "must be 0 or 1; row 1"),
        ("count:poisson", [0.0, -1.0], r"must not be negative; row 1 holds -1\.0"),
        ("reg:tweedie", [-1.0], "must not be negative"),
        ("reg:gamma", [1.0, 0.0], "must be positive; row 1.*reg:tweedie"),
        ("reg:squaredlogerror", [0.0, -1.0], "must be above -1.*row 1"),
        ("reg:squarederror", [[0.0, 1.0], [2.0, np.nan]], "row 1 of output 1 holds nan"),
        ("reg:quantileerror", [[0.0, 1.0]], "takes one target; y has 2 columns"),
    ],
)
def test_targets_that_a_loss_cannot_take(name, values, message):
    with pytest.raises(DataError, match=message):
        bound(name, values, quantile_alpha=0.5)


@pytest.mark.parametrize("values", [[0.0, 3.0], [0.0, -1.0], [0.5, 1.0]])
def test_class_numbers(values):
    with pytest.raises(DataError, match="class numbers from 0 to 2; row"):
        bound("multi:softmax", values, n_classes=3)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("reg:pseudohubererror", {"huber_slope": 0}, "`huber_slope` must be above 0; got 0"),
        ("reg:pseudohubererror", {"huber_slope": "1"}, "`huber_slope` must be a number above 0; got '1'"),
        ("reg:tweedie", {"tweedie_variance_power": 2}, "at least 1 and below 2; got 2"),
        ("binary:logistic", {"scale_pos_weight": np.nan}, "`scale_pos_weight` must be above 0; got nan"),
        ("count:poisson", {"max_delta_step": -1}, "`max_delta_step` must be between 0 and 500; got -1"),
        ("reg:quantileerror", {}, "needs `quantile_alpha`"),
        ("reg:quantileerror", {"quantile_alpha": [0.9, 0.1]}, r"must ascend .*\[0\.9, 0\.1\]"),
        ("reg:quantileerror", {"quantile_alpha": 1.2}, "must ascend from 0 to 1; got 1.2"),
        ("reg:quantileerror", {"quantile_alpha": []}, "must ascend"),
        ("reg:quantileerror", {"quantile_alpha": "half"}, "must be numbers; got 'half'"),
        ("reg:squarederor", {}, "no `objective` 'reg:squarederor'. Did you mean 'reg:squarederror'"),
        ("reg:linear", {}, 'old name of "reg:squarederror"'),
        ("survival:cox", {}, "reg:gamma"),
        ("foo", {}, "There are 'reg:squarederror'"),
        (3, {}, "must be a name such as 'binary:logistic', or a function; got 3"),
        ("multi:softprob", {}, "needs two classes or more"),
    ],
)
def test_parameters_refused(name, parameters, message):
    with pytest.raises(ParameterError, match=message):
        bound(name, [0.0, 1.0], **parameters)


def test_binary_objectives_refuse_many_classes():
    with pytest.raises(ParameterError, match=r"for two classes; y has 3. Use 'multi:softprob'"):
        bound("binary:logistic", [0.0, 1.0], n_classes=3)


def test_defaults_are_what_none_means():
    y = np.array([0.5, 3.0])
    for name in ("reg:pseudohubererror", "reg:tweedie", "count:poisson"):
        given = {"huber_slope": 1.0, "tweedie_variance_power": 1.5, "max_delta_step": 0.7}
        scores = np.array([[0.3, -0.2]])
        plain = derivatives(bound(name, y, **dict.fromkeys(given)), scores)
        assert [a.tolist() for a in plain] == [
            a.tolist() for a in derivatives(bound(name, y, **given), scores)
        ]
