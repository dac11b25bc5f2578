"""Importance by what the splits of trees gained, covered, or how many they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from weald.arrays import AnyEstimator
from weald.insight.columns.records import Importance, sorted_importance
from weald.insight.made_of_trees import need_trees
from weald.inspection.groups import column_groups
from weald.model.importances import shares_of_trees, split_sums


def split_importance(
    model: AnyEstimator,
    kind: str,
    groups: Mapping[str, object] | Iterable[object] | None,
    library: str | None,
) -> Importance:
    """Shares of the gains or covers, which add up to 1, or numbers of splits.

    Of forests and bags, whose trees are drawn alike, gains and covers are means over the trees of each tree's
    shares, with standard errors over trees; of other models shares of the sums, without errors.
    """
    trees = need_trees(model, f"importance(method={kind!r})", "Use method='permutation'.")
    members = column_groups(groups, trees.schema.names, owner="importance")
    sums = split_sums(trees.forest, kind)[slice(*trees.trees)]
    counted = kind == "count"
    if trees.alike and not counted:
        sums = shares_of_trees(sums)
        sums = sums[sums.any(axis=1)]  # a tree without splits has nothing to say
    by_group = np.stack([sums[:, columns].sum(axis=1) for _, columns in members], axis=1)
    n_trees = len(by_group)
    mean = by_group.sum(axis=0) / (1 if counted else max(sums.sum(), np.finfo(np.float64).tiny))
    errors = np.full(len(members), np.nan)
    if trees.alike and n_trees > 1:
        errors = by_group.std(axis=0, ddof=1) * (np.sqrt(n_trees) if counted else 1 / np.sqrt(n_trees))
    return sorted_importance([name for name, _ in members], mean, errors, kind, frame_library=library)
