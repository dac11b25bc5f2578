"""Everything that shapes a boosted model, in one frozen record: the loop reads this and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DartOptions:
    """How DART drops past trees; names and meaning are xgboost's."""

    sample_type: Literal["uniform", "weighted"] = "uniform"
    normalize_type: Literal["tree", "forest"] = "tree"
    rate_drop: float = 0.0
    one_drop: bool = False
    skip_drop: float = 0.0


#: columns of more categories are judged by their spread (`few_categories` of core/tree/split/belief.h)
FEW_CATEGORIES = 64


class Caution(NamedTuple):
    """What holds splits by a list of categories back (equation 10 of docs/methods/boosting.md)."""

    smooth: float  # s: added to H for their order; categories of fewer rows are never listed
    penalty: float  # added to λ when their splits are judged
    group_rows: float  # as many change sides from one candidate to the next


def caution(
    n_rows: int, smooth: float | Literal["auto", "rows"] = "rows", penalty: float | None = None
) -> Caution:
    """Caution with categories, by the rows unless given: large tables let more be found by chance."""
    rows = min(50.0, max(5.0, n_rows / 800)) if isinstance(smooth, str) else smooth
    penalty = min(10.0, max(5.0, n_rows / 2000)) if penalty is None else penalty
    return Caution(rows, penalty, group_rows=min(10 * rows, n_rows / 200))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostOptions:
    """How to boost. Names as in xgboost; defaults are xgboost's."""

    n_rounds: int = 100
    learning_rate: float = 0.3
    max_depth: int = 6  # 0: no limit
    max_leaves: int = 0  # 0: no limit
    grow_policy: Literal["depthwise", "lossguide"] = "depthwise"
    gamma: float = 0.0
    #: "post": grow, then prune branches below gamma from the bottom; "pre": never make such a split
    prune: Literal["post", "pre"] = "post"
    min_child_weight: float = 1.0
    max_delta_step: float = 0.0  # 0: no limit
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    subsample: float = 1.0
    sampling_method: Literal["uniform", "gradient_based"] = "uniform"
    colsample_bytree: float = 1.0
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    feature_weights: NDArray[np.float64] | None = None  # (n_columns,), ≥ 0
    monotone: tuple[int, ...] | None = None  # per column −1, 0, 1
    interactions: tuple[tuple[int, ...], ...] | None = None  # sets of columns that may meet on a path
    max_cat_to_onehot: int = 4
    max_cat_threshold: int = 32
    #: "auto": many categories by their spread (equation 11 of docs/methods/boosting.md); see `caution`
    cat_smooth: float | Literal["auto", "rows"] = "auto"
    cat_l2: float | None = None
    num_parallel_tree: int = 1
    multi_strategy: Literal["one_output_per_tree", "multi_output_tree"] = "one_output_per_tree"
    dart: DartOptions | None = None
    tree_method: Literal["exact", "approx", "hist"] = "hist"  # "auto" is decided before
    max_bin: int = 255
    seed: int = 0
    n_threads: int = 1

    def caution(self, n_rows: int) -> Caution:
        """Caution with categories in a table of so many rows."""
        return caution(n_rows, self.cat_smooth, self.cat_l2)
