"""Gradient boosting as the sources work it out: METHODS, section 4, row by row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression

from weald import GradientBoostingClassifier, GradientBoostingRegressor, logit, odds, sigmoid

PRICES = np.array([240.0, 198.0, 360.0, 400.0])


class Says:
    """A regressor that says what the source's tree says, whatever it is fitted to."""

    _estimator_type = "regressor"

    def __init__(self, values=(-30.0, -90.0, 50.0, 75.0)):
        self.values = values

    def get_params(self, deep=True):
        return {"values": self.values}

    def set_params(self, **params):
        return self

    def __sklearn_tags__(self):
        return LinearRegression().__sklearn_tags__()

    def fit(self, X, y):
        self.seen_ = np.array(y)
        return self

    def predict(self, X):
        return np.array(self.values)[np.asarray(X)[:, 0].astype(int)]


def numbers(n=220, seed=0):
    """Rows without ties: continuous columns and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    return X, 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)


# ------------------------------------------------------------------ forward stagewise, any loss


def test_house_prices_start_at_their_mean_with_these_residuals():
    X = np.arange(4.0)[:, None]
    model = GradientBoostingRegressor(estimator=Says(), n_estimators=1).fit(X, PRICES)
    assert model.init_.constant_.tolist() == [299.5]
    assert model.estimators_[0, 0].seen_.tolist() == [-59.5, -101.5, 60.5, 100.5]


def houses_with_leaves(*values):
    """A model of trees that part all four houses, each with these leaves in the order of the houses."""
    X = np.arange(4.0)[:, None]
    model = GradientBoostingRegressor(n_estimators=len(values), learning_rate=0.5, max_depth=2).fit(X, PRICES)
    forest = model.forest_
    assert (forest.slot < 0).sum() == 4 * len(values)
    forest = replace(forest, value=np.concatenate(values)[:, None])
    model._set_fitted(
        replace(model._model_, forest=forest), None, {"train_score_": model.train_score_}, seed=0, loss=""
    )
    return model, X


def test_house_prices_after_a_tree_at_half_the_rate():
    model, X = houses_with_leaves([-30.0, -90.0, 50.0, 75.0])
    assert model.predict(X).tolist() == [284.5, 254.5, 324.5, 337.0]


def test_other_bases_add_their_step_at_the_rate():
    X = np.arange(4.0)[:, None]
    model = GradientBoostingRegressor(estimator=Says(), n_estimators=1, learning_rate=0.5).fit(X, PRICES)
    said = np.array(Says().values)
    beta = np.sum(said * (PRICES - 299.5)) / np.sum(said**2)
    assert model.step_sizes_[0, 0] == pytest.approx(beta)
    assert model.predict(X) == pytest.approx(299.5 + 0.5 * beta * said)


def test_a_new_house_adds_up_the_trees():
    model, _ = houses_with_leaves([1.0, -15.0, 2.0, 3.0], [4.0, -30.0, 5.0, 6.0])
    assert [each[0] for each in model.staged_predict([[1.0]])] == [292.0, 277.0]
    assert model.predict([[1.0]])[0] == 277


def test_the_textbook_sizes_are_possible():
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=100, max_depth=None, max_leaf_nodes=8, subsample=0.5)
    model.fit(X, y)
    assert model.n_estimators_ == 100
    assert all(tree.get_n_leaves() <= 8 for tree in model.estimators_.ravel())
    assert model.train_score_[-1] < model.train_score_[0]


# ------------------------------------------------------------------ losses and f0


def start_of(loss, y, **parameters):
    regression = loss in ("squared_error", "absolute_error", "huber", "quantile")
    kind = GradientBoostingRegressor if regression else GradientBoostingClassifier
    model = kind(loss=loss, n_estimators=1, **parameters).fit(np.arange(float(len(y)))[:, None], y)
    return model.init_.constant_


def test_squared_error_starts_from_the_mean():
    assert start_of("squared_error", PRICES).tolist() == [299.5]


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_absolute_error_and_huber_start_from_the_median(loss):
    assert start_of(loss, PRICES).tolist() == [300.0]
    assert start_of(loss, [5.0, 1.0, 2.0]).tolist() == [2.0]


def test_quantile_loss_starts_from_the_quantile():
    y = np.arange(1.0, 12.0)
    assert start_of("quantile", y, alpha=0.9) == pytest.approx(np.quantile(y, 0.9))


def test_binomial_deviance_starts_from_the_log_odds():
    assert start_of("log_loss", [1, 1, 1, 0]) == pytest.approx(np.log(3))


def test_exponential_loss_starts_from_half_the_log_odds():
    assert start_of("exponential", [1, 1, 1, 0]) == pytest.approx(np.log(3) / 2)


def test_k_classes_start_from_the_log_priors_or_from_zero():
    y = ["a"] * 4 + ["b"] * 3 + ["c"]
    raw = start_of("log_loss", y)
    assert raw - raw[0] == pytest.approx(np.log([0.5, 0.375, 0.125]) - np.log(0.5))
    zero = GradientBoostingClassifier(init="zero", n_estimators=1).fit(np.zeros((8, 1)), y)
    assert zero.decision_function(np.zeros((1, 1))) == pytest.approx(
        # Algorithm 10.4 from 0: one leaf, all shares 1/3
        0.1 * (2 / 3) * (np.array([4, 3, 1]) - 8 / 3)[None, :] / (8 * (1 / 3) * (2 / 3))
    )


def test_hubers_delta_is_the_quantile_of_absolute_residuals():
    y = np.array([0.0, 0.0, 0.0, 0.0, 1.0, -2.0, 3.0, -40.0, 50.0])
    model = GradientBoostingRegressor(loss="huber", alpha=0.6, n_estimators=1, max_depth=1, learning_rate=1.0)
    model.fit(np.zeros((9, 1)), y)
    # The median is 0; of 9 sizes 0 0 0 0 1 2 3 40 50 the sixth, 2, has 60 % up to it.
    delta = 2.0
    assert model.predict([[0.0]])[0] == pytest.approx(np.clip(y, -delta, delta).mean())


class Pinball:
    """The quantile loss, as a user would write it."""

    def __init__(self, alpha):
        self.alpha = alpha

    def value(self, y, raw):
        return np.where(y >= raw, self.alpha * (y - raw), (1 - self.alpha) * (raw - y))

    def gradient(self, y, raw):
        return np.where(y >= raw, -self.alpha, 1 - self.alpha)


class Squared:
    """Squared error with its hessian."""

    def value(self, y, raw):
        return (y - raw) ** 2

    def gradient(self, y, raw):
        return raw - y

    def hessian(self, y, raw):
        return np.ones_like(raw)


class Logistic:
    """Deviance without its hessian."""

    def value(self, y, raw):
        return np.logaddexp(0, raw) - y * raw

    def gradient(self, y, raw):
        return 1 / (1 + np.exp(-raw)) - y


def test_any_object_with_value_and_gradient_is_a_loss():
    X, y = numbers()
    mine = GradientBoostingRegressor(loss=Squared(), n_estimators=10).fit(X, y)
    theirs = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    assert mine.predict(X) == pytest.approx(theirs.predict(X), abs=1e-9)
    assert mine.train_score_ == pytest.approx(theirs.train_score_)
    quantile = GradientBoostingRegressor(loss=Pinball(0.7), n_estimators=3, max_depth=2, min_samples_leaf=20)
    quantile.fit(X, y)
    assert np.mean(y <= quantile.predict(X)) == pytest.approx(0.7, abs=0.05)
    labels = GradientBoostingClassifier(loss=Logistic(), n_estimators=5).fit(X, y > 0)
    exact = GradientBoostingClassifier(leaf="exact", n_estimators=5).fit(X, y > 0)
    assert labels.decision_function(X) == pytest.approx(exact.decision_function(X), abs=1e-6)


# ------------------------------------------------------------------ leaf rules

CASES = {
    "squared_error": (GradientBoostingRegressor, TheirRegressor, {}, 3),
    "absolute_error": (
        GradientBoostingRegressor,
        TheirRegressor,
        {"max_depth": 2, "min_samples_leaf": 20},
        7,
    ),
    "huber": (GradientBoostingRegressor, TheirRegressor, {"min_samples_leaf": 15}, 3),
    "quantile": (
        GradientBoostingRegressor,
        TheirRegressor,
        {"max_depth": 2, "min_samples_leaf": 20, "alpha": 0.73},
        7,
    ),
    "log_loss": (GradientBoostingClassifier, TheirClassifier, {"min_samples_leaf": 10}, 3),
    "exponential": (GradientBoostingClassifier, TheirClassifier, {"min_samples_leaf": 10}, 3),
    "k_classes": (GradientBoostingClassifier, TheirClassifier, {"max_depth": 2, "min_samples_leaf": 20}, 3),
}


def target_of(case, y):
    if case in ("log_loss", "exponential"):
        return (y > 0.2).astype(int)
    return np.digitize(y, [-1, 1]) if case == "k_classes" else y


@pytest.mark.parametrize("case", CASES)
def test_one_step_equals_scikit_learn_in_every_stage(case):
    kind, their_kind, parameters, seed = CASES[case]
    X, y = numbers(200, seed)
    y = target_of(case, y)
    loss = "log_loss" if case == "k_classes" else case
    mine = kind(loss=loss, n_estimators=8, **parameters).fit(X, y)
    theirs = their_kind(loss=loss, n_estimators=8, **parameters).fit(X, y)
    asked = "staged_predict" if kind is GradientBoostingRegressor else "staged_decision_function"
    stages = list(zip(getattr(mine, asked)(X), getattr(theirs, asked)(X), strict=True))
    assert len(stages) == 8
    for ours, other in stages:
        assert np.abs(ours - other).max() < 1e-6
    assert mine.train_score_ == pytest.approx(theirs.train_score_, abs=1e-6)


def leaf_losses(case, model, X, y):
    """For every tree of the second round: its leaves, and the loss of each as a function of its value."""
    before = next(model.staged_predict(X) if case in REGRESSION else model.staged_decision_function(X))
    leaves = model.apply(X).reshape(len(X), 2, -1)[:, 1, :]
    before = np.asarray(before, float).reshape(len(X), -1)
    for k, tree in enumerate(model.estimators_[1]):
        value = tree.tree_.value.ravel()
        for leaf in np.unique(leaves[:, k]):
            rows = leaves[:, k] == leaf

            def loss(gamma, rows=rows, k=k):
                moved = before[rows].copy()
                moved[:, k] += gamma
                return LOSSES[case](y[rows], moved, np.abs(y - before[:, 0]) if case == "huber" else None)

            yield value[leaf], loss


REGRESSION = ("squared_error", "absolute_error", "huber", "quantile")
LOSSES = {
    "squared_error": lambda y, f, _: np.sum((y - f[:, 0]) ** 2),
    "absolute_error": lambda y, f, _: np.sum(np.abs(y - f[:, 0])),
    "huber": lambda y, f, sizes: huber(y - f[:, 0], np.quantile(sizes, 0.9, method="inverted_cdf")),
    "quantile": lambda y, f, _: np.sum(np.maximum(0.9 * (y - f[:, 0]), -0.1 * (y - f[:, 0]))),
    "log_loss": lambda y, f, _: np.sum(np.logaddexp(0, f[:, 0]) - y * f[:, 0]),
    "exponential": lambda y, f, _: np.sum(np.exp(-(2 * y - 1) * f[:, 0])),
    "k_classes": lambda y, f, _: np.sum(
        np.log(np.exp(f).sum(axis=1)) - np.take_along_axis(f, y[:, None], axis=1)[:, 0]
    ),
}


def huber(d, delta):
    return np.sum(np.where(np.abs(d) <= delta, d**2 / 2, delta * (np.abs(d) - delta / 2)))


@pytest.mark.parametrize("case", CASES)
def test_exact_leaves_equal_a_numeric_line_search(case):
    kind = CASES[case][0]
    X, y = numbers(150, 1)
    y = target_of(case, y)
    loss = "log_loss" if case == "k_classes" else case
    model = kind(loss=loss, leaf="exact", n_estimators=2, max_depth=2, min_samples_leaf=10).fit(X, y)
    checked = 0
    for value, along in leaf_losses(case, model, X, y):
        limit = 8 if case == "exponential" else 16 if case in ("log_loss", "k_classes") else 50
        found = minimize_scalar(along, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-11})
        assert along(value) <= found.fun + 1e-9
        if case not in ("absolute_error", "quantile") and abs(value) < limit - 0.1:
            assert value == pytest.approx(found.x, abs=1e-5)
        checked += 1
    assert checked >= 2


def test_exact_exponential_leaves_are_half_the_log_of_the_weights():
    y = np.array([1, 1, 1, 0])
    model = GradientBoostingClassifier(
        loss="exponential", leaf="exact", init="zero", n_estimators=1, learning_rate=1.0
    ).fit(np.zeros((4, 1)), y)
    assert model.decision_function([[0.0]])[0] == pytest.approx(np.log(3) / 2)
    one = GradientBoostingClassifier(loss="exponential", init="zero", n_estimators=1, learning_rate=1.0)
    assert one.fit(np.zeros((4, 1)), y).decision_function([[0.0]])[0] == pytest.approx((3 - 1) / (3 + 1))


def test_a_leaf_takes_the_lower_median_in_one_step_and_the_middle_one_exactly():
    X, y = np.zeros((4, 1)), np.array([0.0, 1.0, 4.0, 10.0])
    settings = {"loss": "absolute_error", "init": "zero", "n_estimators": 1, "learning_rate": 1.0}
    assert GradientBoostingRegressor(**settings).fit(X, y).predict(X[:1])[0] == 1.0
    assert GradientBoostingRegressor(leaf="exact", **settings).fit(X, y).predict(X[:1])[0] == 2.5


def test_deviance_leaves_in_one_step():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([1, 1, 0, 0, 0])
    model = GradientBoostingClassifier(n_estimators=1, learning_rate=1.0).fit(X, y)
    p = 0.4
    left, right = (2 * (1 - p) - p) / (3 * p * (1 - p)), -2 * p / (2 * p * (1 - p))
    start = np.log(p / (1 - p))
    assert model.decision_function([[0.0], [1.0]]) == pytest.approx([start + left, start + right])


def test_k_class_leaves_in_one_step():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1, 2])
    model = GradientBoostingClassifier(init="zero", n_estimators=1, learning_rate=1.0).fit(X, y)
    found = model.decision_function([[0.0], [1.0]])
    for k in range(3):
        r = (y == k) - 1 / 3
        for value, rows in ((found[0, k], X[:, 0] == 0), (found[1, k], X[:, 0] == 1)):
            size = np.abs(r[rows])
            assert value == pytest.approx(2 / 3 * r[rows].sum() / (size * (1 - size)).sum())


# ------------------------------------------------------------------ other bases


def test_squared_loss_with_linear_bases_converges_to_least_squares():
    X, y = numbers()

    class OneColumn(LinearRegression):
        """The best single column, so that one fit is not the whole answer."""

        def fit(self, X, y):
            centred = X - X.mean(axis=0)
            self.column_ = int(np.argmax(np.abs(centred.T @ y) / np.linalg.norm(centred, axis=0)))
            super().fit(X[:, [self.column_]], y)
            return self

        def predict(self, X):
            return super().predict(X[:, [self.column_]])

    model = GradientBoostingRegressor(estimator=OneColumn(), n_estimators=400, learning_rate=1.0).fit(X, y)
    assert len({each.column_ for each in model.estimators_.ravel()}) == 4
    assert model.predict(X) == pytest.approx(LinearRegression().fit(X, y).predict(X), abs=1e-8)


def test_the_step_of_a_base_is_the_minimum_along_it():
    X, y = numbers()
    labels = (y > 0).astype(int)
    model = GradientBoostingClassifier(estimator=LinearRegression(), n_estimators=1, learning_rate=1.0)
    model.fit(X, labels)
    start, base = model.init_.constant_[0], model.estimators_[0, 0].predict(X)
    found = minimize_scalar(
        lambda beta: np.sum(np.logaddexp(0, start + beta * base) - labels * (start + beta * base)),
        bounds=(0, 50),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert model.step_sizes_[0, 0] == pytest.approx(found.x, abs=1e-6)


# ------------------------------------------------------------------ log odds


def test_odds_logit_and_sigmoid():
    assert odds(0.7) == pytest.approx(7 / 3)
    assert odds(0.9) == pytest.approx(9)
    assert logit(0.9) == pytest.approx(-logit(0.1))
    assert sigmoid(logit(0.7)) == pytest.approx(0.7)
    assert odds(1.0) == np.inf
    assert sigmoid([-np.inf, 0.0, np.inf]).tolist() == [0.0, 0.5, 1.0]
