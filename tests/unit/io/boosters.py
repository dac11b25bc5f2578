"""Fitted boosters of every kind, on rows with columns of every kind, for tests of model files."""

from __future__ import annotations

import numpy as np
from unit.model.forests import mixed_schema, random_rows

from weald import XGBClassifier, XGBRanker, XGBRegressor

N_ROWS = 80


def rows(n_rows: int = N_ROWS, seed: int = 0):
    """Rows as a mapping of lists."""
    return random_rows(seed, mixed_schema(many=8), n_rows)


def target(n_classes: int | None = None, seed: int = 0):
    """A target that the rows explain a little."""
    rng = np.random.default_rng(seed)
    length = np.array([0.0 if v is None else v for v in rows()["length"]])
    y = length + 0.3 * rng.normal(size=N_ROWS)
    return y if n_classes is None else np.clip(np.floor(y + n_classes / 2), 0, n_classes - 1).astype(int)


def half_squares(truth, raw):
    """A custom objective."""
    return raw - truth, np.ones_like(raw)


BOOSTERS = {
    "two classes": lambda: XGBClassifier(n_estimators=4, max_depth=3).fit(
        rows(), np.array(["no", "yes"])[target(2)]
    ),
    "three classes": lambda: XGBClassifier(n_estimators=3, tree_method="hist", max_bin=16).fit(
        rows(), target(3) * 10
    ),
    "several questions": lambda: XGBClassifier(n_estimators=3, class_weight=[None, {True: 2.0}]).fit(
        rows(), {"a": target(2), "b": target(2, 1) == 1}
    ),
    "trees for all outputs": lambda: XGBClassifier(
        n_estimators=3, max_depth=2, multi_strategy="multi_output_tree"
    ).fit(rows(), target(4)),
    "numbers": lambda: XGBRegressor(
        n_estimators=4,
        interaction_constraints=[["length", "flag"], ["size"]],
        monotone_constraints={"length": 1},
    ).fit(rows(), target()),
    "stopped early": lambda: XGBRegressor(n_estimators=60, early_stopping=0.3, learning_rate=0.5).fit(
        rows(), target()
    ),
    "dart": lambda: XGBRegressor(
        n_estimators=6, booster="dart", rate_drop=0.5, random_state=3, subsample=0.8, num_parallel_tree=2
    ).fit(rows(), target()),
    "quantiles": lambda: XGBRegressor(
        n_estimators=3, objective="reg:quantileerror", quantile_alpha=[0.2, 0.8]
    ).fit(rows(), target()),
    "counts, by position": lambda: XGBRegressor(n_estimators=3, objective="count:poisson", missing=-1.0).fit(
        np.arange(160.0).reshape(80, 2) % 7 - 1, target(5)
    ),
    "ranking": lambda: XGBRanker(n_estimators=3).fit(rows(), target(4), group=[20] * 4),
    "ranking by clicks": lambda: XGBRanker(n_estimators=3, lambdarank_unbiased=True).fit(
        rows(), target(2), group=[20] * 4
    ),
    "custom": lambda: XGBRegressor(n_estimators=3, objective=half_squares).fit(rows(), target()),
}


def table_of(model):
    """Rows for such a booster."""
    if model.schema_.named:
        return rows(30, 5)
    return np.random.default_rng(0).integers(-1, 6, (30, 2)).astype(float)


def said(model):
    """All that a booster says of its rows."""
    X = table_of(model)
    parts = [model.predict(X), model.apply(X), model.predict(X, output_margin=True)]
    if hasattr(model, "predict_proba"):
        parts.append(model.predict_proba(X))
    return parts
