"""Fitted trees for tests of pictures: one of every kind of column, and two outputs made by hand."""

from __future__ import annotations

import dataclasses
import datetime as dt
from types import SimpleNamespace

import numpy as np
import pandas as pd
from unit.model.forests import mixed_schema, random_forest

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.data.schema import ColumnSchema, Schema
from weald.model.forest import Forest


def towns(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table of every kind of column with missing values, three classes and a number to learn."""
    rng = np.random.default_rng(seed)
    names = ["Bern", "Basel", "Zürich", "Genève", "Lugano", "Chur", "Sion", "a <very> long & winding name"]
    town = rng.choice(names, n)
    size = pd.Categorical(
        rng.choice(["small", "medium", "large"], n), categories=["small", "medium", "large"], ordered=True
    )
    X = pd.DataFrame(
        {
            "length": rng.normal(size=n).round(2),
            "town": town,
            "size": size,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
            "flag": rng.integers(0, 2, n).astype(bool),
        }
    )
    score = (
        X["length"]
        + (X["town"] < "D") * 2.0
        + size.codes * 0.7
        + (X["day"] - pd.Timestamp("2020-01-01")) / dt.timedelta(days=400)
        + X["flag"]
        + rng.normal(size=n) / 2
    ).to_numpy()
    for name in ("length", "town", "size"):
        X.loc[rng.random(n) < 0.1, name] = None
    label = np.array(["low", "middle", "high"])[np.digitize(score, np.quantile(score, [0.3, 0.7]))]
    return X, label, score


def classifier(**options) -> DecisionTreeClassifier:
    X, label, _ = towns()
    return DecisionTreeClassifier(**({"max_depth": 4} | options)).fit(X, label)


def regressor(**options) -> DecisionTreeRegressor:
    X, _, score = towns()
    return DecisionTreeRegressor(**({"max_depth": 4} | options)).fit(X, score)


def chain(splits, columns, values, *, shares=False, missing_left=None) -> tuple[Forest, Schema]:
    """A tree whose every left child is a leaf; `splits` are (column, threshold or set of codes)."""
    n = len(splits)
    sets = [sorted(cut) if isinstance(cut, set) else None for _, cut in splits]
    kind = np.array([codes is not None for codes in sets], np.uint8)
    threshold = np.array([0.0 if isinstance(cut, set) else cut for _, cut in splits], np.float64)
    column = np.array([j for j, _ in splits], np.int32)
    lists = [codes for codes in sets if codes is not None]
    value = np.atleast_2d(np.array(values, np.float64))
    forest = Forest(
        n_columns=len(columns),
        base_score=np.zeros(value.shape[1]),
        link="shares" if shares else "identity",
        tree_start=np.array([0, 2 * n + 1], np.int64),
        tree_output=np.zeros(1, np.int32),
        tree_weight=np.ones(1),
        tree_round=np.zeros(1, np.int32),
        slot=np.array([x for i in range(n) for x in (i, ~i)] + [~n], np.int32),
        cover=np.array([x for i in range(n) for x in (2.0 * (n + 1 - i), 2.0)] + [2.0]),
        count=np.array([x for i in range(n) for x in (2 * (n + 1 - i), 2)] + [2], np.int64),
        impurity=None,
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=np.array([True] * n if missing_left is None else missing_left, bool),
        right=np.arange(2, 2 * n + 1, 2, dtype=np.int32),
        gain=np.zeros(n),
        side=np.where(kind == 1, np.cumsum(kind) - 1, -1).astype(np.int32),
        value=value,
        set_start=np.cumsum([0] + [len(codes) for codes in lists]).astype(np.int64),
        set_codes=np.array([code for codes in lists for code in codes], np.uint32),
        set_left=np.ones(len(lists), bool),
    )
    return forest, Schema(tuple(columns), all(isinstance(column.name, str) for column in columns))


def model_of(forest: Forest, schema: Schema, classes=None):
    """An estimator with these parts, as if it had been fitted; `classes` as a list means several outputs."""
    model = DecisionTreeRegressor() if classes is None else DecisionTreeClassifier()
    sizes = [1] * forest.width if classes is None else [len(labels) for labels in _listed(classes)]
    node_value = means(forest)
    value = np.zeros((forest.n_nodes, len(sizes), max(sizes)))
    for k, stop in enumerate(np.cumsum(sizes)):
        value[:, k, : sizes[k]] = node_value[:, stop - sizes[k] : stop]
    learned = {"forest_": forest, "schema_": schema, "tree_": SimpleNamespace(value=value)}
    learned["n_outputs_"] = len(sizes)
    if classes is not None:
        learned["classes_"] = classes
    model.__dict__.update(learned)
    return model


def _listed(classes):
    return classes if isinstance(classes, list) else [classes]


def means(forest: Forest) -> np.ndarray:
    """The value of every node: that of its leaf, or the mean of its children by cover."""
    value = np.zeros((forest.n_nodes, forest.width))
    for node in range(forest.n_nodes - 1, -1, -1):
        i = int(forest.slot[node])
        if i < 0:
            value[node] = forest.value[~i]
        else:
            pair = [node + 1, int(forest.right[i])]
            value[node] = np.average(value[pair], axis=0, weights=forest.cover[pair])
    return value


LETTERS, ANSWERS = np.array(["a", "b", "c"]), np.array([False, True])


def two_outputs(seed: int = 0, n_leaves: int = 6):
    """A classifier of two outputs, three and two classes."""
    forest = random_forest(seed, n_leaves=n_leaves, width=5)
    rng = np.random.default_rng(seed)
    shares = [rng.dirichlet(np.ones(k), len(forest.value)) for k in (3, 2)]
    forest = dataclasses.replace(forest, value=np.concatenate(shares, axis=1), base_score=np.zeros(5))
    return model_of(forest, mixed_schema(), [LETTERS, ANSWERS])


def two_numbers(seed: int = 0, n_leaves: int = 6):
    """A regressor of two outputs."""
    return model_of(random_forest(seed, n_leaves=n_leaves, width=2, shares=False), mixed_schema())


NUMERIC = [ColumnSchema("length", "numeric"), ColumnSchema("depth", "numeric")]
