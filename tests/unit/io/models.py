"""Fitted estimators around hand-made forests, so that files can be tested apart from growing."""

from __future__ import annotations

from typing import Any

import numpy as np
from unit.model.forests import mixed_schema, random_forest

from weald import DecisionTreeClassifier, DecisionTreeRegressor


def classifier(
    seed: int = 0, *, classes: Any = ("Adelie", "Chinstrap", "Gentoo"), schema=None, params=None, **forest
):
    """A classifier with a random tree and these labels: a vector, or a list of vectors, one an output."""
    schema = schema or mixed_schema()
    several = isinstance(classes, list)
    by_output = tuple(
        each if isinstance(each, np.ndarray) else np.array(each, object)
        for each in (classes if several else [classes])
    )
    sizes = [len(each) for each in by_output]
    model = DecisionTreeClassifier(**(params or {}))
    grown = random_forest(seed, schema, width=sum(sizes), by_output=sizes if several else None, **forest)
    model._take(grown, schema, by_output)
    return model


def regressor(seed: int = 0, *, width: int = 1, schema=None, params=None, **forest):
    """A regressor with a random tree."""
    schema = schema or mixed_schema()
    model = DecisionTreeRegressor(**(params or {}))
    model._take(random_forest(seed, schema, width=width, shares=False, **forest), schema, None)
    return model
