"""Rows of files with known answers, as a fitted model takes them: what it is scored and reported on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weald.arrays import TableLike
from weald.data.files.batches import read_batches
from weald.data.files.text import TextOptions
from weald.errors import DataError, listing
from weald.runs.fitted import columns_of, labels_like, numbers_like, types_of
from weald.runs.gathering import LIBSVM_TARGET
from weald.runs.task import CLASSIFICATION, REGRESSION, Task, read_task, task_of


def answered(
    model: object,
    data: Sequence[str],
    target: str | None,
    layout: TextOptions | None = None,
    *,
    fewest: int = 2,
) -> tuple[TableLike, Task]:
    """The columns of the model and the target of every row that has one.

    Parameters
    ----------
    model : fitted estimator
        Its columns and labels tell what text is.
    data : sequence of str
        Files, as `weald.read` takes them.
    target : str or None
        The column with the answers; None for files in LIBSVM's format.
    layout : TextOptions, default=None
        Of text.
    fewest : int, default=2
        How many different answers there must be.
    """
    import pyarrow as pa
    from scipy import sparse

    labels = getattr(model, "classes_", None)
    kind = REGRESSION if labels is None else CLASSIFICATION
    types = types_of(model) | ({} if kind == CLASSIFICATION or target is None else {target: pa.float64()})
    n_columns = int(getattr(model, "n_features_in_", 0))
    paths = data if len(data) > 1 else data[0]
    batches = list(read_batches(paths, types, layout, n_columns=n_columns))
    if not batches or batches[0][0].shape[0] == 0:
        raise DataError(f"{listing(data)} has no rows: there is nothing to score the model on.")
    if batches[0][1] is not None:
        _check_unnamed(target)
        y = np.concatenate([y for _, y in batches])
        whole = bool(np.all(y == np.floor(y)))
        X = columns_of(model, sparse.vstack([X for X, _ in batches], format="csr"))
        return X, task_of(y.astype(np.int64) if whole else y, kind, LIBSVM_TARGET[0], fewest=fewest)
    table = pa.concat_tables([each for each, _ in batches], promote_options="permissive")
    if target is None:
        raise DataError(
            f"Which column has the answers? Name the target (--target on the command line); there are "
            f"{listing(table.column_names, 12)}."
        )
    if target in table.column_names:
        own, place = table[target], table.column_names.index(target)
        known = labels_like(own, np.asarray(labels)) if kind == CLASSIFICATION else numbers_like(own)
        table = table.set_column(place, target, known)
    task = read_task(table, target, kind, fewest=fewest)
    return columns_of(model, table.filter(task.known)), task


def _check_unnamed(target: str | None) -> None:
    if target is not None and target not in LIBSVM_TARGET:
        raise DataError(
            "In LIBSVM's format the first number of each line is the target. Leave the target out."
        )
