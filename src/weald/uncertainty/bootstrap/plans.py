"""Which rows a resample may take where: all, those of the same stratum, or blocks of neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike
from weald.data.target import read_labels
from weald.engine import ResamplePlan
from weald.errors import DataError, ParameterError


def plan_of(
    n: int, *, strata: ColumnLike | None, block_length: int | None, circular: bool, owner: str
) -> ResamplePlan:
    """The plan for one sample of n rows."""
    if n >= 2**31:
        raise DataError(f"{owner} draws from fewer than 2^31 rows; got {n:,}. Take a part of them.")
    if strata is not None and block_length is not None:
        raise ParameterError(
            f"`strata` and `block_length` of {owner} exclude each other: blocks would run across strata."
        )
    if block_length is not None:
        if block_length > n:
            raise ParameterError(
                f"`block_length` of {owner} must be at most the number of rows, {n}; got {block_length}."
            )
        return ResamplePlan(n, block_length=block_length, circular=circular)
    if strata is None:
        return ResamplePlan(n)
    return stratified(read_labels(strata, n_rows=n, estimator=owner)[0].indices)


def stratified(indices: NDArray[np.int32]) -> ResamplePlan:
    """Draws within the classes of rows, given by number from 0."""
    members = np.argsort(indices, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(indices))]).astype(np.int64)
    return ResamplePlan(len(indices), members, starts)


def leave_out_groups(plan: ResamplePlan, most: int, seed: int) -> NDArray[np.int32]:
    """Which rows a jackknife leaves out together, by the number of their group from 0: (n,).

    Single rows, blocks of neighbours, or `most` groups where these are more; groups are as equal as can be,
    of rows in a random order.
    """
    rows = np.arange(plan.n)
    if plan.block_length:
        n_groups = min(max(2, -(-plan.n // plan.block_length)), most)
        return (rows * n_groups // plan.n).astype(np.int32)
    if plan.n <= most:
        return rows.astype(np.int32)
    shuffled = np.random.default_rng(seed % 2**32).permutation(plan.n)
    return (shuffled * most // plan.n).astype(np.int32)
