"""Cost-complexity pruning of a grown tree: the weakest-link path, and the tree that an alpha leaves.

Equations by number from docs/methods/pruning.md. Alphas are in scikit-learn's unit, the impurity of one unit
of weight; times the weight of all rows they are those of the literature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.arrays import Floats
from weald.errors import DataError, ParameterError
from weald.model.forest import CATEGORIES, COMBINATION, Forest
from weald.model.join import joined, tree_apart


class PruningPath(NamedTuple):
    """The subtrees that pruning passes, from the whole tree to its root: one entry for each cut.

    Entry 0 is the whole tree, at alpha 0. Cuts that fall due at the same alpha have an entry each.
    """

    ccp_alphas: NDArray[np.float64]  # when the cut was made; never falling
    impurities: NDArray[np.float64]  # of the leaves that remain, weighted by their share of the rows
    leaves: NDArray[np.int64]  # how many remain


def tree_score(loss: Floats | float, leaves: NDArray[np.int64] | int, alpha: Floats | float) -> Any:
    """What pruning minimises, equation 1: the loss of a tree plus alpha for each leaf.

    Parameters
    ----------
    loss : float or array
        The loss of the leaves: a sum of squared residuals, or an impurity.
    leaves : int or array
        How many leaves.
    alpha : float or array
        The price of a leaf, in the unit of the loss.

    Returns
    -------
    float or array
        The score.

    Examples
    --------
    >>> tree_score(543.8, leaves=4, alpha=10_000)
    40543.8
    """
    return loss + alpha * leaves


def pruning_path(forest: Forest) -> PruningPath:
    """The weakest-link path of a model of one tree, equations 2 and 3.

    Parameters
    ----------
    forest : Forest
        The tree, with impurities.

    Returns
    -------
    PruningPath
        Alphas, impurities and numbers of leaves.
    """
    sequence = _sequence(forest)
    if forest.impurity is None:
        raise DataError("This tree keeps no impurities, so its pruning path cannot be told.")
    leaf, weight = forest.slot < 0, forest.cover[0]
    loss = (forest.impurity[leaf] * forest.cover[leaf]).sum()
    return PruningPath(
        ccp_alphas=np.concatenate(([0.0], sequence.alpha / weight)),
        impurities=np.cumsum(np.concatenate(([loss], sequence.gain))) / weight,
        leaves=np.count_nonzero(leaf) - np.cumsum(np.concatenate(([0], sequence.splits))),
    )


def collapse_alphas(forest: Forest) -> NDArray[np.float64]:
    """Per node, the alpha from which on it does not split, equation 4: 0 for leaves, at most its parent's."""
    collapse: NDArray[np.float64] = _sequence(forest).collapse / forest.cover[0]
    return collapse


def pruned(forest: Forest, node_value: NDArray[np.float64], alpha: float) -> Forest:
    """The tree without the branches whose effective alpha is at most `alpha`.

    Parameters
    ----------
    forest : Forest
        One tree.
    node_value : ndarray of shape (nodes, width)
        What each node would predict as a leaf.
    alpha : float
        The price of a leaf, of at least 0. Splits that gain nothing go even at 0.

    Returns
    -------
    Forest
        The pruned tree; `forest` itself if nothing had to go.
    """
    if not alpha >= 0:
        raise ParameterError(f"`alpha` must be a number of at least 0; got {alpha!r}. Use 0.0 to keep most.")
    collapse = collapse_alphas(forest)
    if len(node_value) != forest.n_nodes:
        raise ParameterError(
            f"`node_value` has {len(node_value)} rows for {forest.n_nodes} nodes. Give one each."
        )
    inner = np.flatnonzero(forest.slot >= 0)
    above = np.full(forest.n_nodes, np.inf)
    above[inner + 1] = above[forest.right[forest.slot[inner]]] = collapse[inner]
    kept, splits = above > alpha, collapse > alpha
    kept[0] = True
    return forest if kept.all() else _compacted(forest, node_value, kept, splits)


def prune_trees(forest: Forest, node_value: NDArray[np.float64], alpha: float) -> Forest:
    """The forest with every tree pruned by `alpha`; as it is where that is 0."""
    if alpha == 0.0:
        return forest
    start = forest.tree_start
    return joined(
        [
            pruned(tree_apart(forest, t), node_value[start[t] : start[t + 1]], alpha)
            for t in range(forest.n_trees)
        ]
    )


def _sequence(forest: Forest) -> engine.PruneSequence:
    if forest.n_trees != 1:
        raise ParameterError(f"Pruning takes a model of one tree; this one has {forest.n_trees}.")
    return engine.prune_sequence(forest.slot, forest.right, forest.gain)


def _compacted(
    forest: Forest, node_value: NDArray[np.float64], kept: NDArray[np.bool_], splits: NDArray[np.bool_]
) -> Forest:
    """The nodes that are `kept`, of which those in `splits` stay inner nodes; preorder stays preorder."""
    inner = forest.slot[splits]
    leaf = ~splits[kept]
    column, threshold, kind = forest.column[inner], forest.threshold[inner], forest.kind[inner]
    number = np.cumsum(kept) - 1
    return replace(
        forest,
        tree_start=np.array([0, len(leaf)], np.int64),
        slot=np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1).astype(np.int32),
        cover=forest.cover[kept],
        count=forest.count[kept],
        impurity=None if forest.impurity is None else forest.impurity[kept],
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=forest.missing_left[inner],
        right=number[forest.right[inner]].astype(np.int32),
        gain=forest.gain[inner],
        value=np.ascontiguousarray(node_value[kept][leaf]),
        inner_value=None if forest.inner_value is None else forest.inner_value[inner],
        **_side_tables(forest, inner, kind),
    )


def _side_tables(forest: Forest, inner: NDArray[np.int32], kind: NDArray[np.uint8]) -> dict[str, Any]:
    """The rows of the side tables that these inner nodes use, in their order."""
    sets = forest.side[inner[kind == CATEGORIES]]
    combinations = forest.side[inner[kind == COMBINATION]]
    side = np.full(len(inner), -1, np.int32)
    side[kind == CATEGORIES] = np.arange(len(sets))
    side[kind == COMBINATION] = np.arange(len(combinations))
    set_start, set_entry = _rows_of(forest.set_start, sets)
    combination_start, entry = _rows_of(forest.combination_start, combinations)
    return {
        "side": side,
        "set_start": set_start,
        "set_codes": forest.set_codes[set_entry],
        "set_left": forest.set_left[sets],
        "combination_start": combination_start,
        "combination_column": forest.combination_column[entry],
        "combination_coefficient": forest.combination_coefficient[entry],
    }


def _rows_of(
    start: NDArray[np.int64], rows: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some rows of a ragged table: where each starts in the new one, and where its entries were."""
    sizes = np.diff(start)[rows]
    new_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return new_start, np.arange(new_start[-1]) + np.repeat(start[rows] - new_start[:-1], sizes)
