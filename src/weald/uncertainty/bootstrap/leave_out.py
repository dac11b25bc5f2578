"""`jackknife`: a statistic without each row in turn, its bias and its variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weald.arrays import ColumnLike, TableLike
from weald.engine import ResamplePlan
from weald.errors import DataError
from weald.parameters import checked
from weald.uncertainty.bootstrap.bootstrap import chosen_statistic
from weald.uncertainty.bootstrap.options import JackknifeOptions, checked_shares
from weald.uncertainty.bootstrap.records import JackknifeResult
from weald.uncertainty.bootstrap.resampling import Work, leave_out_values, statistic_of, takes_axis
from weald.uncertainty.bootstrap.samples import read_samples
from weald.uncertainty.bootstrap.statistics import Named

_OWNER = "jackknife"


def jackknife(
    data: TableLike | Sequence[ColumnLike],
    statistic: str | Callable[..., Any] = "mean",
    *,
    q: float | Sequence[float] = 0.5,
    trim: float = 0.1,
    ddof: float = 1,
    vectorized: bool | None = None,
    n_jobs: int | None = None,
) -> JackknifeResult:
    """A statistic without each row in turn: its bias, its variance, and the estimate without the bias.

    Statistics by name take time proportional to n (n log n where values are sorted), functions n calls.
    Where a statistic is not smooth, as medians and maxima are not, the variance of the jackknife misleads
    and the bootstrap does not.

    Parameters
    ----------
    data : numbers, table, or two columns
        As in `bootstrap`; several samples are taken row by row, so they must be equally long.
    statistic : str or callable, default="mean"
        As in `bootstrap`.
    q, trim, ddof
        As in `bootstrap`.
    vectorized : bool, default=None
        Whether a function takes `axis`; None looks at its signature.
    n_jobs : int, default=None
        Threads that call a function.

    Returns
    -------
    JackknifeResult
        `values`, `pseudo_values`, `bias`, `corrected`, `variance`, `standard_error`.

    Examples
    --------
    >>> import weald
    >>> found = weald.jackknife([1.0, 2.0, 4.0, 9.0], "variance", ddof=0)
    >>> found.estimate, round(found.corrected, 10)
    (9.5, 12.6666666667)
    """
    options = checked(
        JackknifeOptions, _OWNER, {"trim": trim, "ddof": ddof, "vectorized": vectorized, "n_jobs": n_jobs}
    )
    samples = read_samples(data, paired=True, owner=_OWNER)
    chosen = chosen_statistic(
        statistic, samples, checked_shares(q, _OWNER), options.trim, options.ddof, _OWNER
    )
    along = options.vectorized
    if along is None:
        along = not isinstance(chosen, Named) and takes_axis(chosen)
    plans = (ResamplePlan(samples.sizes[0]),)
    work = Work(samples, plans, (0,), chosen, along and not samples.tables)
    value = statistic_of(work, samples.parts)
    [left_out] = leave_out_values(work, n_jobs=options.n_jobs, exact=True)
    lost = ~np.isfinite(left_out).all(axis=1)
    if lost.any() or not np.isfinite(value).all():
        raise DataError(
            f"The statistic is not a number without row {int(np.argmax(lost))}. The jackknife needs it "
            "without any one row: give more rows, or use the bootstrap."
        )
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "statistic")
    return JackknifeResult(name, samples.sizes[0], np.ndim(value) == 0, np.atleast_1d(value), left_out)
