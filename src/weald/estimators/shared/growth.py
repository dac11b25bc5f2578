"""An estimator's parameters in the engine's words: names, fractions and seeds resolved."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral
from typing import Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from weald.arrays import RandomState
from weald.data.codes import Codes
from weald.data.target import total_weight
from weald.estimators.shared.class_weight import Weights
from weald.parameters import GrowthOptions
from weald.random import Purpose, draw
from weald.rows.growth import GrowOptions

#: other names of criteria
_SAME_AS = {"log_loss": "entropy", "friedman_mse": "squared_error"}


def max_columns(max_features: int | float | str | None, n_columns: int) -> int:
    """How many columns a node looks at."""
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, math.isqrt(n_columns))
    if max_features == "log2":
        return max(1, n_columns.bit_length() - 1)
    if max_features == "log2+1":
        return min(n_columns, n_columns.bit_length())
    if max_features == "third":
        return max(1, n_columns // 3)
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, int(float(max_features) * n_columns))


def criterion_name(criterion: str) -> str:
    """A criterion by the engine's name."""
    return _SAME_AS.get(criterion, criterion)


def row_limit(limit: int | float, n_rows: int, least: int) -> int:
    """A limit on rows: given as such, or as a fraction of the rows."""
    return limit if isinstance(limit, int) else max(least, math.ceil(limit * n_rows))


def drawn_seed(random_state: RandomState) -> int:
    """A seed for the engine."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class TreeSeed(int):
    """The `random_state` of a tree of a forest: a number that also tells how the tree grew there.

    With it a clone of the tree, fitted on the rows of its bag, grows into the same tree again. It is kept by
    `clone`, copies and pickle; as a plain number it has no other meaning than any `random_state`.
    """

    forest_seed: int
    tree: int

    @classmethod
    def of(cls, forest_seed: int, tree: int) -> TreeSeed:
        """That of one tree of the forest with this seed."""
        made = cls(forest_seed + tree)
        made.forest_seed, made.tree = forest_seed, tree
        return made

    def applied(self, options: GrowOptions) -> GrowOptions:
        """The options of a single tree as they were in the forest."""
        seed = int(draw(self.forest_seed, Purpose.FOREST_TREE, self.tree)[0])
        return replace(options, seed=seed, random_ties=True)


class Caution(NamedTuple):
    """What AdaBoost asks of its trees' splits by categories."""

    penalty: float | None  # None: as the tree has it
    chance: float  # times what chance gives, where that is measured
    n_free: int  # categories that need not gain anything


def with_penalty(options: GrowOptions, cat_penalty: float | str, chance: float = 1.0) -> GrowOptions:
    """The options with what splits by categories must gain: for "auto" `chance` times what chance gives."""
    auto = isinstance(cat_penalty, str)
    chance = chance if auto else float(cat_penalty)
    return replace(options, category_chance=chance, chance_within=auto, tree_orders=True)


def grow_options(
    options: GrowthOptions,
    rows: Codes,
    weight: Weights | None,
    n_threads: int,
    monotone: tuple[int, ...] | None,
    columns: tuple[int, ...] | None = None,
    *,
    splitter: Literal["best", "random"] | None = None,
    random_ties: bool = False,
) -> GrowOptions:
    """The parameters in the engine's words: fractions resolved, the seed drawn only if it matters.

    `columns` are those the tree may split on, None for all. A forest gives the `splitter` of its trees; these
    have seeds of their own.
    """
    n_rows = rows.n_rows if weight is None else int(np.count_nonzero(weight))
    total = float(n_rows) if weight is None else total_weight(weight)
    n_columns = rows.n_columns if columns is None else len(columns)
    looked_at: int | None = max_columns(options.max_features, n_columns)
    if looked_at is not None and looked_at >= n_columns:
        looked_at = None
    seed = 0
    own: Literal["best", "random"] = getattr(options, "splitter", "best")  # of single trees
    if splitter is None and (looked_at is not None or own == "random" or random_ties):
        seed = drawn_seed(options.random_state)
    return GrowOptions(
        criterion=criterion_name(options.criterion),
        splitter=splitter or own,
        random_ties=random_ties,
        max_depth=options.max_depth,
        min_rows_split=row_limit(options.min_samples_split, n_rows, 2),
        min_rows_leaf=row_limit(options.min_samples_leaf, n_rows, 1),
        min_weight_leaf=options.min_weight_fraction_leaf * total,
        max_leaves=options.max_leaf_nodes,
        min_impurity_decrease=options.min_impurity_decrease,
        max_columns=looked_at,
        columns=columns,
        monotone=monotone,
        seed=seed,
        n_threads=n_threads,
    )
