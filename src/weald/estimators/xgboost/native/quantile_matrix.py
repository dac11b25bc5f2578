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
