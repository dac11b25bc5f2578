"""Fitted estimators around hand-made forests, so that files can be tested apart from growing."""

from __future__ import annotations

from typing import Any

import numpy as np
from unit.model.forests import mixed_schema, random_forest

from weald import DecisionTreeClassifier, DecisionTreeRegressor


def classifier(
    seed: int = 0, *, classes: Any = ("Adelie", "Chinstrap", "Gentoo"), schema=None, params=None, **forest
):
    """A classifier with a random tree and these labels."""
    schema = schema or mixed_schema()
    labels = classes if isinstance(classes, np.ndarray) else np.array(classes, object)
    model = DecisionTreeClassifier(**(params or {}))
    model._take(random_forest(seed, schema, width=len(labels), **forest), schema, labels)
    return model


def regressor(seed: int = 0, *, schema=None, params=None, **forest):
    """A regressor with a random tree."""
    schema = schema or mixed_schema()
    model = DecisionTreeRegressor(**(params or {}))
    model._take(random_forest(seed, schema, width=1, shares=False, **forest), schema, None)
    return model
