"""`nearest_like`: the known rows that trees treat most like one row."""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats, TableLike, TargetLike
from weald.data.frames.by_column import rows_of
from weald.data.frames.user_rows import indexable, outline
from weald.data.rows import take_rows
from weald.data.table import Table
from weald.errors import DataError, ParameterError, told
from weald.estimators.shared.members import in_order
from weald.insight.changes.records import NearestRows, plain
from weald.insight.changes.stacked import stacked, value_at
from weald.insight.made_of_trees import ModelTrees, fitted_model, need_trees
from weald.parameters import Whole
from weald.pictures.trained_on import frame_library

_OWNER = "nearest_like"
#: cells of (row, tree) whose leaves are looked up together
_CELLS = 1 << 24


def nearest_like(
    model: object, row: object, X: TableLike | None = None, y: TargetLike | None = None, k: int = 5
) -> NearestRows:
    """The rows of a table that are most like one row, by how many trees lead both to the same leaf.

    Parameters
    ----------
    model : fitted estimator
        Of weald, made of trees.
    row : table of one row, mapping or sequence
        The row that is asked about, with the columns of X.
    X : table
        The rows to choose from, such as those of training. Models do not keep them.
    y : array-like of shape (n_rows,), default=None
        Their labels or numbers, to be told with them.
    k : int, default=5
        How many rows.

    Returns
    -------
    NearestRows
        The most alike first, of equals that which comes first in X; with `to_frame()`.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(40.0)[:, None]
    >>> model = weald.RandomForestRegressor(50, random_state=0).fit(X, X[:, 0])
    >>> weald.nearest_like(model, [20.2], X, k=3).rows.tolist()
    [20, 21, 19]
    """
    fitted = fitted_model(model, _OWNER)
    trees = need_trees(fitted, _OWNER, "KNeighborsClassifier tells nearest rows for any table.")
    if not Whole(1).admits(k):
        raise ParameterError(f"`k` of {_OWNER} must be a whole number of at least 1; got {told(k)}. Use 5.")
    if X is None:
        raise DataError(
            f"{_OWNER} needs X, the rows to choose from: {type(fitted).__name__} does not keep those that it "
            "was fitted on, loaded from a file or not. Give the training table."
        )
    known = in_order(X, trees.schema, type(fitted).__name__)
    n_rows = outline(known).n_rows
    targets = None if y is None else np.asarray(y)
    if targets is not None and len(targets) != n_rows:
        raise DataError(f"X of {_OWNER} has {n_rows} rows and y {len(targets)}. Give as many of both.")
    table = trees.read(stacked(known, row, _OWNER))
    alike = _alike(trees, table)
    nearest = np.argsort(-alike, kind="stable")[: int(k)]
    taken = rows_of(X, nearest)
    whole = indexable(taken)
    names = outline(whole).names
    return NearestRows(
        rows=nearest,
        proximities=alike[nearest],
        targets=None if targets is None else plain(targets[nearest]),
        table=taken,
        names=names,
        values=[[value_at(whole, i, j) for i in range(len(nearest))] for j in range(len(names))],
        frame_library=frame_library(X),
    )


def _alike(trees: ModelTrees, table: Table) -> Floats:
    """The share of trees in which each row but the last comes to the leaf of the last."""
    n_rows = table.n_rows - 1
    own = trees.leaves(take_rows(table, np.array([n_rows])))[0]
    together = max(1, _CELLS // max(1, trees.n_trees))
    shared = np.zeros(n_rows)
    for start in range(0, n_rows, together):
        rows = np.arange(start, min(start + together, n_rows))
        shared[rows] = (trees.leaves(take_rows(table, rows)) == own).sum(axis=1)
    return shared / max(1, trees.n_trees)
