"""How trees grow and what comes of it: options of a tree, bags of a forest, what a grower gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.model.forest import Forest

#: of a class whose rows every bag has, instead of a number of draws
ALL_ROWS = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowOptions:
    """How one tree grows. `search` picks how splits are found; the tree is the same whichever it is."""

    criterion: str
    splitter: Literal["best", "random"] = "best"
    #: of columns that part a node equally well one by chance, not the first: trees that vote should differ
    random_ties: bool = False
    max_depth: int | None = None
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_leaves: int | None = None
    min_impurity_decrease: float = 0.0
    max_columns: int | None = None
    #: columns of a linear combination; then `max_columns` candidates are tried. Forests only
    combined_columns: int = 0
    #: what each category beyond the free ones has to gain, in rows' worth of impurity; not in boosting
    category_chance: float = 0.0
    #: the spread of rows within categories tells what these gain by chance, and ids are not split
    chance_within: bool = False
    free_categories: int = 1
    #: categories that have something to gain are split in their order in the whole tree as well
    tree_orders: bool = False
    #: inner nodes need no values of their own
    leaf_values_only: bool = False
    #: the columns the tree may split on; None: all
    columns: tuple[int, ...] | None = None
    #: per column -1, 0 or 1: predictions fall, may do anything, or rise along it; None: no constraint
    monotone: tuple[int, ...] | None = None
    #: trees like this one that the model gets, if it grows in several calls; the leaves of all must have room
    trees_in_all: int = 1
    seed: int = 0
    search: Literal["auto", "histogram", "order"] = "auto"
    n_threads: int = 1


@dataclass(frozen=True, slots=True)
class ClassDraws:
    """How many rows of each class a bag has, drawn class by class.

    Equation R11 of docs/methods/balanced_ensembles.md.
    """

    n_rows: tuple[int, ...]  # that there are to draw from
    n_draws: tuple[int, ...]  # ALL_ROWS: each of them once
    replace: bool  # whether a row may be drawn again

    @property
    def in_bag(self) -> tuple[int, ...]:
        """How many rows of each class a bag has, those that are drawn again counted again."""
        return tuple(
            there if drawn == ALL_ROWS else drawn
            for there, drawn in zip(self.n_rows, self.n_draws, strict=True)
        )

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a bag may lack rows."""
        return any(
            drawn != ALL_ROWS and (self.replace or drawn < there)
            for there, drawn in zip(self.n_rows, self.n_draws, strict=True)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeBags:
    """The trees of a forest, and the rows each of them has: drawn by counter, so that they need not be kept.

    `first_tree` is the number of the first tree, for forests that grow in several parts. `n_draws` rows are
    drawn for each tree, with replacement, from those whose weight is not 0; None gives every tree all of
    them. With `by_class` those come first, and `n_draws` are drawn from them, or all are taken. A leaf has at
    least `min_weight_share` of the weight of its tree.
    """

    n_trees: int
    first_tree: int = 0
    n_draws: int | None = None
    seed: int = 0
    min_weight_share: float = 0.0
    by_class: ClassDraws | None = None

    @property
    def most_draws(self) -> int:
        """How many draws a bag has, each of which may be the same row; 0 if none can come twice."""
        if self.n_draws is not None or self.by_class is None:
            return self.n_draws or 0
        return sum(self.by_class.in_bag) if self.by_class.replace else 0

    def counts(self, tree: int, labels: NDArray[np.int32]) -> NDArray[np.uint32]:
        """How often a tree, by its place among these, has each row; `labels`: its class, or -1 if absent."""
        number = self.first_tree + tree
        if self.by_class is not None:
            return engine.draw_class_bag(self.native, number, labels)
        present = labels >= 0
        counts = np.zeros(len(labels), np.uint32)
        n_present = int(np.count_nonzero(present))
        counts[present] = engine.draw_bag(self.seed, number, self.n_draws, n_present) if self.n_draws else 1
        return counts

    @property
    def native(self) -> engine.NativeBags:
        """The same for the engine."""
        bags = engine.NativeBags()
        bags.n_trees, bags.first_tree, bags.n_draws = self.n_trees, self.first_tree, self.n_draws or 0
        bags.seed, bags.min_weight_share = self.seed, self.min_weight_share
        if self.by_class is not None:
            bags.class_draws, bags.class_replace = list(self.by_class.n_draws), self.by_class.replace
        return bags


class Grown(NamedTuple):
    """Trees, and the value every node would have as a leaf, in preorder: what pruning needs."""

    forest: Forest
    node_value: NDArray[np.float64]  # (nodes, width); of no node where only leaves were asked for
