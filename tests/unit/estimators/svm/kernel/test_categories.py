"""Machines on categories: levels that are rare, and columns without a single known level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from weald import SVC, SVR, Landmarks, LinearSVC, LinearSVR


@pytest.mark.parametrize("n_shops", [150, 1200])
def test_rare_levels_do_not_swamp_the_distances(n_shops: int) -> None:
    """Scaled by its deviation, a level in one of 500 rows would be 22, and no two rows neighbours."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=1500)
    shop = rng.integers(0, n_shops, 1500)
    table = pd.DataFrame({"x": x, "shop": [f"s{k}" for k in shop]})
    y = np.sin(2 * x)
    model = SVR(C=10, scale=True).fit(table[:1000], y[:1000])
    assert r2_score(y[1000:], model.predict(table[1000:])) > 0.85


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("kind", [SVC, SVR, LinearSVC, LinearSVR, Landmarks])
def test_a_category_without_a_known_level_is_no_column(kind: Any, alone: bool, gamma: str) -> None:
    table = pd.DataFrame({"c": pd.Series([None] * 6, dtype="category"), "x": np.arange(6.0)})
    columns = ["c"] if alone else ["c", "x"]
    model = kind(scale=gamma == "auto")
    if "gamma" in model.get_params():
        model.set_params(gamma=gamma)
    model.fit(table[columns], [0, 0, 0, 1, 1, 1])
    found = model.transform(table[columns]) if kind is Landmarks else model.predict(table[columns])
    assert len(found) == 6
    if alone:
        assert (found == found[0]).all()


def test_linear_svc_says_how_to_get_probabilities() -> None:
    model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        assert not hasattr(LinearSVC, name)
        with pytest.raises(AttributeError, match=r"SVC\(kernel='linear', probability=True\)"):
            getattr(model, name)
