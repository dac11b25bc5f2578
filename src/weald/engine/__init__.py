"""The only importers of the compiled core: typed calls, thread count, array checks."""

from weald.engine.adaboost import StumpRows, add_votes, grow_stump, reweigh, stump_rows, wrong_units
from weald.engine.arrow import ArrowColumn, ArrowTable, read_arrow_array, read_arrow_stream
from weald.engine.boost import NewtonOptions, NewtonRows, NewtonTree, RowLoss, tree_arrays
from weald.engine.codes import (
    LOWEST_EXPONENT,
    InfiniteValue,
    NativeCodes,
    count_exponents,
    encode,
    first_infinite,
    log2,
    to_units,
)
from weald.engine.columns import NativeColumn, NativeColumns, native_values
from weald.engine.explain.dependence import FreeColumn, dependence_curves
from weald.engine.grow import (
    NativeBags,
    NativeOptions,
    TreeArrays,
    draw_bag,
    draw_class_bag,
    grow_absolute_trees,
    grow_class_trees,
    grow_moment_trees,
    rank_thresholds,
)
from weald.engine.inspection import Explainer, LeafRows
from weald.engine.losses import fill_gradients, leaf_quantiles, map_values, softmax
from weald.engine.memory import memory_bytes
from weald.engine.predict import PREDICTED_ARRAYS, Predictor
from weald.engine.prune import (
    HeldOutRows,
    PruneSequence,
    held_out_class_losses,
    held_out_number_losses,
    prune_sequence,
)
from weald.engine.ranking import (
    PositionBias,
    RankingPairs,
    RankingQueries,
    order_queries,
    ranking_gradients,
    ranking_metric,
)
from weald.engine.resampling import NativeStatistic, RankedRows, ResampledError, ResamplePlan
from weald.engine.sketch import NativeSketch, SketchSummary, coarsen
from weald.engine.stage import stage_huber, stage_pass, stage_quantiles
from weald.engine.threads import simd_level, thread_count

__all__ = [
    "LOWEST_EXPONENT",
    "PREDICTED_ARRAYS",
    "ArrowColumn",
    "ArrowTable",
    "Explainer",
    "FreeColumn",
    "HeldOutRows",
    "InfiniteValue",
    "LeafRows",
    "NativeBags",
    "NativeCodes",
    "NativeColumn",
    "NativeColumns",
    "NativeOptions",
    "NativeSketch",
    "NativeStatistic",
    "NewtonOptions",
    "NewtonRows",
    "NewtonTree",
    "PositionBias",
    "Predictor",
    "PruneSequence",
    "RankedRows",
    "RankingPairs",
    "RankingQueries",
    "ResamplePlan",
    "ResampledError",
    "RowLoss",
    "SketchSummary",
    "StumpRows",
    "TreeArrays",
    "add_votes",
    "coarsen",
    "count_exponents",
    "dependence_curves",
    "draw_bag",
    "draw_class_bag",
    "encode",
    "fill_gradients",
    "first_infinite",
    "grow_absolute_trees",
    "grow_class_trees",
    "grow_moment_trees",
    "grow_stump",
    "held_out_class_losses",
    "held_out_number_losses",
    "leaf_quantiles",
    "log2",
    "map_values",
    "memory_bytes",
    "native_values",
    "order_queries",
    "prune_sequence",
    "rank_thresholds",
    "ranking_gradients",
    "ranking_metric",
    "read_arrow_array",
    "read_arrow_stream",
    "reweigh",
    "simd_level",
    "softmax",
    "stage_huber",
    "stage_pass",
    "stage_quantiles",
    "stump_rows",
    "thread_count",
    "to_units",
    "tree_arrays",
    "wrong_units",
]
