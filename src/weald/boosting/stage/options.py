"""Everything that shapes a model of stagewise boosting, in one frozen record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOptions:
    """How to boost; limits on rows are resolved, 0 is no limit."""

    subsample: float = 1.0
    exact_leaves: bool = False  # leaf="exact"
    max_depth: int = 3
    max_leaves: int = 0
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_fraction: float = 0.0  # of the weight of a tree's rows, in every leaf
    min_decrease: float = 0.0  # of the mean squared residual
    max_columns: int = 0
    ccp_alpha: float = 0.0
    cat_smooth: float | Literal["auto", "rows"] = "auto"  # see `weald.boosting.newton.options.caution`
    cat_l2: float | None = None
    monotone: tuple[int, ...] | None = None
    binned: bool = False  # the codes are quantile bins: integers of few bits may shape trees
    seed: int = 0
    n_threads: int = 1
