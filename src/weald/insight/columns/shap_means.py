"""Importance by SHAP values: the mean of their sizes, over rows and outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from weald.arrays import AnyEstimator, Floats, TableLike, WeightLike
from weald.data.frames.by_column import rows_of
from weald.data.frames.user_rows import indexable, outline
from weald.data.target import read_weight
from weald.insight.columns.records import Importance, sorted_importance
from weald.insight.explaining.explain import explain
from weald.insight.made_of_trees import trees_of
from weald.inspection.groups import column_groups
from weald.model.forest import COMBINATION

#: of models that are no trees: rows that stand for what is not known, columns up to which all sets are tried,
#: and pairs of orders where there are more
_BACKGROUND, _MOST_EXACT, _PAIRS = 25, 5, 10


def shap_importance(
    model: AnyEstimator,
    X: TableLike,
    groups: Mapping[str, object] | Iterable[object] | None,
    sample_weight: WeightLike | None,
    library: str | None,
    seed: int,
    *,
    verbose: bool,
) -> Importance:
    """The mean size of SHAP values, those of a group added up before; errors over rows."""
    names, values = shap_rows(model, X, seed, verbose=verbose)
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


def shap_rows(
    model: AnyEstimator, X: TableLike, seed: int = 0, *, verbose: bool = False
) -> tuple[Sequence[Hashable], Floats]:
    """The columns, and what each adds to what the model says of each row: (n_rows, n_columns, n_outputs)."""
    trees = trees_of(model)
    if trees is not None and not (trees.forest.kind == COMBINATION).any():
        return trees.schema.names, _outputs_last(explain(trees.model, X, verbose=verbose).values)
    whole = outline(indexable(X))
    rows = np.sort(np.random.default_rng([seed, 4]).permutation(whole.n_rows)[:_BACKGROUND])
    few = whole.n_columns <= _MOST_EXACT
    told = explain(
        model,
        X,
        background=rows_of(X, rows),
        n_permutations=None if few else _PAIRS,
        random_state=seed,
        verbose=verbose,
    )
    return whole.names, _outputs_last(told.values)


def _outputs_last(values: Floats) -> Floats:
    return values[:, :, None] if values.ndim == 2 else values
