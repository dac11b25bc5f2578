"""What shapes one tree, in one record, and what chance decided in it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.random import Purpose, draw, uniform

_FIRST_TIE = 1 << 32  # draws that no choice of columns reaches


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRules:
    """How a tree was grown; limits on weight in units, names as the growers have them."""

    max_depth: float = math.inf
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_units_leaf: int = 0
    max_leaves: int = 0  # 0: no limit
    by_level: bool = False  # the limit cuts off the deepest nodes, not those of least gain
    min_decrease: float = 0.0
    min_gain: float = 0.0
    must_gain: bool = False
    stop_alike: bool = True
    gamma: float = 0.0  # pruned from the bottom after growth
    ccp_alpha: float | None = None
    # what chance decides
    seed: int | None = 0  # None: it is not known
    max_columns: int = 0  # drawn in every node; 0: all
    combined_columns: int = 0
    random: bool = False  # one candidate per column, drawn
    random_ties: bool = False
    level_columns: int = 0
    node_columns: int = 0
    column_weights: tuple[float, ...] = ()
    # constraints
    monotone: tuple[int, ...] = ()  # by number of the tree's columns
    interactions: tuple[tuple[int, ...], ...] = ()
    # categories
    category_chance: float = 0.0
    chance_within: bool = False
    free_categories: int = 1
    tree_orders: bool = False
    one_hot: int = 0
    max_categories: int = 0
    rare_rows: float = 0.0
    group_rows: float = 0.0
    rare_units: float = 0.0
    believes: bool = False
    #: words for limits on weight: the parameter and its value
    weight_limit: tuple[str, float] = ("min_weight_fraction_leaf", 0.0)
    rows_limit: str = "min_samples_leaf"
    gain_limit: str = "min_impurity_decrease"
    leaves_limit: str = "max_leaf_nodes"
    scales: tuple[float, ...] = field(default=(), repr=False)  # of combined columns

    @property
    def knows_draws(self) -> bool:
        """Whether what chance decided can be told again."""
        return self.seed is not None or not (self.random or self.max_columns or self.combined_columns)

    @property
    def prunes(self) -> bool:
        """Whether branches may have been grown and cut off."""
        return self.gamma > 0 or self.ccp_alpha is not None


def child_path(path: int, side: int) -> int:
    """The key of a child's draws."""
    return int(draw(path, Purpose.NODE_PATH, side)[0])


def tie_word(rules: TreeRules, path: int, number: int) -> int:
    """What decides between columns that part a node equally well: the lowest wins."""
    if not rules.random_ties or rules.seed is None:
        return number
    return int(draw(rules.seed, Purpose.NODE_COLUMNS, path, _FIRST_TIE + number)[0])


def shuffled(rules: TreeRules, path: int, n_columns: int) -> list[int]:
    """All columns in the order in which a node draws them."""
    assert rules.seed is not None
    words = draw(rules.seed, Purpose.NODE_COLUMNS, path, np.arange(n_columns, dtype=np.uint64)).tolist()
    columns = list(range(n_columns))
    for i in range(n_columns):
        j = i + (words[i] * (n_columns - i) >> 64)
        columns[i], columns[j] = columns[j], columns[i]
    return columns


def allowed_columns(
    rules: TreeRules, numbers: list[int], path: int, depth: int, used: list[int]
) -> list[int]:
    """The columns a node of boosting may split on: drawn for its level and itself, allowed to meet."""
    kept = numbers
    if rules.level_columns:
        kept = _lowest_keys(rules, kept, rules.level_columns, Purpose.LEVEL_COLUMNS, depth)
    if rules.node_columns:
        kept = _lowest_keys(rules, kept, rules.node_columns, Purpose.NODE_COLUMNS, path)
    if rules.interactions and used:
        together = set(used)
        for each in rules.interactions:
            if all(j in each for j in used):
                together |= set(each)
        kept = [j for j in kept if j in together]
    return kept


def _lowest_keys(rules: TreeRules, numbers: list[int], n: int, purpose: Purpose, place: int) -> list[int]:
    assert rules.seed is not None
    words = draw(rules.seed, purpose, place, np.array(numbers, np.uint64))
    keys = -engine.log2(uniform(words))
    weights = [rules.column_weights[j] if rules.column_weights else 1.0 for j in numbers]
    pairs = [(float(key) / w, j) for key, w, j in zip(keys, weights, numbers, strict=True) if w > 0]
    return sorted(j for _, j in sorted(pairs)[:n])


def drawn_rows(seed: int, share: float, weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.int64]:
    """The rows that a tree of boosting was grown on."""
    present = np.arange(n_rows) if weight is None else np.flatnonzero(weight != 0)
    if share >= 1:
        return present
    words = draw(seed, Purpose.ROW_SAMPLE, present.astype(np.uint64))
    drawn = present[words < np.uint64(int(share * 2.0**64))]
    return drawn if len(drawn) else present[[int(np.argmin(words))]]
