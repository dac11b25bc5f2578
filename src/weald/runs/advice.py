"""What the shape of a table says of methods, in a line: section "Choosing" of the guide, in short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weald.arrays import AnyTable
from weald.runs.task import Task

#: where boosting of trees is the first thing to try: more rows and fewer columns than these
BOOSTING_ROWS, BOOSTING_COLUMNS = 1_000, 100


@dataclass(frozen=True, slots=True)
class Shape:
    """Facts that choosing goes by."""

    n_rows: int
    n_columns: int
    n_categories: int
    share_missing: float
    sparse: bool

    @classmethod
    def of(cls, X: AnyTable, task: Task) -> Shape:
        """Those of a table."""
        n_rows, n_columns = len(task.y), int(np.shape(X)[1]) if len(np.shape(X)) == 2 else 0
        if not hasattr(X, "schema") or not hasattr(X, "column_names"):
            return cls(n_rows, n_columns, 0, 0.0, hasattr(X, "nnz"))
        import pyarrow as pa

        texts = [
            pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
            for kind in X.schema.types
        ]
        lost = sum(column.null_count for column in X.columns) / max(1, n_rows * n_columns)
        return cls(n_rows, n_columns, sum(texts), lost, False)


def advice_by_shape(shape: Shape, methods: Sequence[str]) -> str:
    """One sentence on the best of these methods, which are in order of their scores.

    >>> advice_by_shape(Shape(200, 5, 0, 0.0, False), ["xgboost", "forest"])
    'With 200 rows differences are chance as often as not: prefer what is simple.'
    """
    size = f"{shape.n_rows:,} rows and {shape.n_columns:,} columns"
    best = methods[0]
    if best == "adaboost":
        return "AdaBoost follows outliers and wrong labels: look at the rows that weigh most."
    if shape.sparse or shape.n_columns >= shape.n_rows:
        return f"With {size} a linear machine (linear-svm, logistic) is hard to beat and reads easily."
    if shape.n_rows < BOOSTING_ROWS:
        return f"With {shape.n_rows:,} rows differences are chance as often as not: prefer what is simple."
    if shape.n_columns >= BOOSTING_COLUMNS:
        return f"With {size} forests, which lower variance and grow in parallel, need least care."
    if best in {"xgboost", "gbdt"}:
        mixed = " with categories" if shape.n_categories else ""
        gaps = " and gaps" if shape.share_missing > 0 else ""
        return (
            f"Tables{mixed}{gaps} of {size} are where boosting, which lowers bias, is at its best: weald "
            "tune may gain more."
        )
    if best in {"svm", "linear-svm", "knn", "logistic"}:
        return "A smooth boundary fits best here: outliers and scales matter to it more than to trees."
    return f"Forests lower variance and need no tuning; boosting of {size} may gain with weald tune."
