"""`QuantileDMatrix` and `ExtMemQuantileDMatrix`: xgboost's names of what weald reads as any `DMatrix`."""

from __future__ import annotations

import os

from weald.arrays import TableLike, TargetLike
from weald.estimators.xgboost.batches import DataIter
from weald.estimators.xgboost.native.matrix import DMatrix


class QuantileDMatrix(DMatrix):
    """`DMatrix` under another name: how columns are binned is decided when a model is trained.

    Parameters
    ----------
    data, label
        As in `DMatrix`.
    max_bin : int, default=None
        How many bins a training that does not say it uses.
    ref : DMatrix, default=None
        Accepted: every table is brought into the shape of the model's.
    max_quantile_batches
        Accepted, without effect.
    **others
        As in `DMatrix`.

    Examples
    --------
    >>> import weald
    >>> train = weald.QuantileDMatrix([[1.0], [2.0], [3.0], [4.0]] * 4, label=[0, 0, 1, 1] * 4, max_bin=16)
    >>> weald.train({"objective": "binary:logistic"}, train, 3).num_boosted_rounds()
    3
    """

    def __init__(
        self,
        data: TableLike | DataIter | str | os.PathLike[str],
        label: TargetLike | None = None,
        *,
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        max_quantile_batches: int | None = None,
        **others: object,
    ) -> None:
        super().__init__(data, label, **others)  # type: ignore[arg-type]
        self.max_bin = max_bin


class ExtMemQuantileDMatrix(QuantileDMatrix):
    """`QuantileDMatrix` of batches. They are put together in memory: nothing is kept on disk.

    Parameters
    ----------
    data : DataIter
        The batches.
    cache_host_ratio, min_cache_page_bytes
        Accepted, without effect.
    **others
        As in `QuantileDMatrix`.

    Examples
    --------
    >>> import numpy as np, weald
    >>> class Once(weald.DataIter):
    ...     done = False
    ...
    ...     def next(self, input_data):
    ...         if self.done:
    ...             return False
    ...         input_data(data=np.array([[1.0], [2.0]]), label=[0, 1])
    ...         self.done = True
    ...         return True
    ...
    ...     def reset(self):
    ...         self.done = False
    >>> weald.ExtMemQuantileDMatrix(Once()).num_row()
    2
    """

    def __init__(
        self,
        data: DataIter,
        *,
        cache_host_ratio: float | None = None,
        min_cache_page_bytes: int | None = None,
        **others: object,
    ) -> None:
        super().__init__(data, **others)  # type: ignore[arg-type]
