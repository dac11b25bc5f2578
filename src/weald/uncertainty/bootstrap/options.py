"""The parameters of `bootstrap`, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from weald.arrays import RandomState
from weald.errors import ParameterError, told
from weald.numbers import as_float
from weald.parameters import Choice, Flag, Function, Instance, NotZero, Number, Whole, optional, parameter


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions:
    """How many resamples, from which seed, on how many jobs."""

    n_resamples: int = parameter(Whole(1), hint="Use 9999 for intervals, 1000 for standard errors.")
    random_state: RandomState = optional(
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    n_jobs: int | None = optional(
        NotZero(), hint="Leave it None for every CPU of the process where the statistic has a name."
    )


@dataclass(frozen=True, kw_only=True)
class StatisticOptions:
    """How a statistic is computed."""

    trim: float = parameter(Number(0, 0.5, "[)"), hint="Use 0.1 to leave a tenth out at either end.")
    ddof: float = parameter(Number(0), hint="Use 1 for the sample variance, 0 to divide by n.")
    vectorized: bool | None = optional(Flag(), hint="Leave it None to see whether the function takes `axis`.")


@dataclass(frozen=True, kw_only=True)
class JackknifeOptions(StatisticOptions):
    """The parameters of `jackknife`."""

    n_jobs: int | None = optional(NotZero(), hint="Leave it None for one job.")


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions(ResamplingOptions, StatisticOptions):
    """What is drawn and how the statistic is called."""

    paired: bool = parameter(Flag(), hint="Use True where row i of every sample is the same thing.")
    block_length: int | None = optional(Whole(1), hint="Use about the cube root of n for series.")
    block: str = parameter(Choice(("moving", "circular")), hint="Use 'circular' to draw all rows alike.")
    standard_error: Callable[..., Any] | None = optional(
        Function("a function of the sample"), hint="Leave it None to resample every resample."
    )
    n_inner: int = parameter(Whole(2), hint="Use 50 resamples of each resample.")
    nan_policy: str = parameter(Choice(("raise", "omit")), hint="Use 'omit' to leave such resamples out.")


def checked_shares(q: float | Sequence[float], owner: str) -> tuple[float, ...]:
    """The quantiles asked for."""
    asked = [q] if np.isscalar(q) else list(np.asarray(q, object).ravel())
    numbers = [as_float(each) for each in asked]
    if not numbers or not all(0 <= each <= 1 for each in numbers):
        raise ParameterError(
            f"`q` of {owner} must be a number from 0 to 1, or several of them; got {told(q)}. "
            "Use 0.9 for what nine tenths of the values do not exceed."
        )
    return tuple(numbers)


def drawn_seed(random_state: RandomState) -> int:
    """A seed for the core."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
