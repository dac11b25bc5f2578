"""Importance by SHAP values: the mean of their sizes, over rows and outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from weald.arrays import Floats, TableLike, WeightLike
from weald.data.target import read_weight
from weald.insight.columns.records import Importance, sorted_importance
from weald.insight.made_of_trees import need_trees
from weald.inspection.groups import column_groups


def shap_importance(
    model: Any,
    X: TableLike,
    groups: Mapping[str, object] | Iterable[object] | None,
    sample_weight: WeightLike | None,
    library: str | None,
) -> Importance:
    """The mean size of SHAP values, those of a group added up before; errors over rows."""
    names, values = shap_rows(model, X)
    members = column_groups(groups, names, owner="importance")
    sizes = np.stack([np.abs(values[:, columns].sum(axis=1)).mean(axis=1) for _, columns in members], axis=1)
    n_rows = len(sizes)
    weight = read_weight(sample_weight, n_rows=n_rows)
    share = np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
    mean = share @ sizes
    errors = np.full(len(members), np.nan)
    if n_rows > 1:
        # Of a weighted mean; with equal weights this is the deviation over the root of the number of rows.
        errors = np.sqrt(np.square(share) @ np.square(sizes - mean) * n_rows / (n_rows - 1))
    return sorted_importance(
        [name for name, _ in members], mean, errors, "shap", n_rows=n_rows, frame_library=library
    )


def shap_rows(model: Any, X: TableLike) -> tuple[Sequence[Hashable], Floats]:
    """The columns, and what each adds to the raw scores of each row: (n_rows, n_columns, n_outputs)."""
    trees = need_trees(model, "importance(method='shap')", "Use method='permutation'.")
    if hasattr(trees.model, "shap_values"):
        values = np.asarray(trees.model.shap_values(X), np.float64)
        return trees.schema.names, values[:, :, None] if values.ndim == 2 else values
    values, _ = import_module("weald.inspection.shap").shap_values(trees.forest, trees.read(X), trees.trees)
    if trees.alike:  # such models predict the mean of their trees
        values /= trees.n_trees
    return trees.schema.names, np.moveaxis(values, 1, 2)
