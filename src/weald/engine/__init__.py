"""The only importers of the compiled core: typed calls, thread count, array checks."""

from weald.engine.arrow import ArrowColumn, ArrowTable, read_arrow_array, read_arrow_stream
from weald.engine.codes import (
    LOWEST_EXPONENT,
    NativeCodes,
    count_exponents,
    encode,
    log2,
    to_narrow,
    to_units,
)
from weald.engine.grow import (
    NativeOptions,
    TreeArrays,
    grow_absolute_tree,
    grow_class_tree,
    grow_moment_tree,
    grow_narrow_tree,
    grow_newton_tree,
)
from weald.engine.predict import PREDICTED_ARRAYS, Predictor
from weald.engine.prune import (
    HeldOutRows,
    PruneSequence,
    held_out_class_losses,
    held_out_number_losses,
    prune_sequence,
)
from weald.engine.threads import simd_level, thread_count

__all__ = [
    "LOWEST_EXPONENT",
    "PREDICTED_ARRAYS",
    "ArrowColumn",
    "ArrowTable",
    "HeldOutRows",
    "NativeCodes",
    "NativeOptions",
    "Predictor",
    "PruneSequence",
    "TreeArrays",
    "count_exponents",
    "encode",
    "grow_absolute_tree",
    "grow_class_tree",
    "grow_moment_tree",
    "grow_narrow_tree",
    "grow_newton_tree",
    "held_out_class_losses",
    "held_out_number_losses",
    "log2",
    "prune_sequence",
    "read_arrow_array",
    "read_arrow_stream",
    "simd_level",
    "thread_count",
    "to_narrow",
    "to_units",
]
