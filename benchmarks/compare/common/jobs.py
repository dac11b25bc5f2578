"""The records a comparison is made of: tables, contenders, rules of equal quality, jobs.

Nothing here imports a contender; `prepare` does, inside the contender's own process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

Arrays: TypeAlias = dict[str, NDArray[Any]]
Figures: TypeAlias = dict[str, float]


class DataAbsent(Exception):  # noqa: N818 - said as a fact, not as a failure: its jobs are skipped
    """A table that cannot be made here, with the reason."""


@dataclass(frozen=True)
class Dataset:
    """Arrays made once from a fixed seed. `make(quick)` returns them; a quick run wants few rows."""

    name: str
    make: Callable[[bool], Arrays]


@dataclass(frozen=True)
class Timed:
    """What a contender hands to the clock: `run` is timed, `figures` judges its last result afterwards."""

    run: Callable[[], Any]
    figures: Callable[[Any], Figures]


#: (arrays, threads) → what to time. Imports, a tiny warm-up and everything that must not count happen here.
Prepare: TypeAlias = Callable[[Arrays, int], Timed]


@dataclass(frozen=True)
class Within:
    """A rule of equal quality: a figure of ours lies within `amount` of the opponent's.

    `relative` measures in shares of the opponent's figure. `not_worse` lets ours be any amount higher,
    `not_more` any amount lower. `share` compares with that share of the opponent's figure.
    """

    figure: str
    amount: float
    relative: bool = False
    not_worse: bool = False
    not_more: bool = False
    share: float = 1.0

    def distance(self, ours: float, theirs: float) -> float:
        """How far apart the figures are: 0 when equal, or when they differ in a way that is allowed."""
        theirs = self.share * theirs
        gap = theirs - ours if self.not_worse else ours - theirs if self.not_more else abs(ours - theirs)
        gap = max(gap, 0.0)
        if not self.relative:
            return gap
        return gap / abs(theirs) if theirs else (0.0 if gap == 0.0 else float("inf"))

    def holds(self, ours: float, theirs: float) -> bool:
        """Whether the rule is kept."""
        return self.distance(ours, theirs) <= self.amount

    def __str__(self) -> str:
        size = f"{100 * self.amount:g} %" if self.relative else f"{self.amount:g}"
        other = "" if self.share == 1.0 else f" than {self.share:g} of the other"
        if self.not_worse or self.not_more:
            return f"{self.figure} at most {size} {'lower' if self.not_worse else 'higher'}{other}"
        return f"{self.figure} within {size}"


@dataclass(frozen=True)
class AtMost:
    """A rule without an opponent: a figure of ours is at most `limit`."""

    figure: str
    limit: float
    relative: ClassVar[bool] = False

    def distance(self, ours: float, theirs: float) -> float:
        """How far the figure is above the limit."""
        return max(ours - self.limit, 0.0)

    def holds(self, ours: float, theirs: float) -> bool:
        """Whether the rule is kept."""
        return ours <= self.limit

    def __str__(self) -> str:
        return f"{self.figure} at most {self.limit:g}"


@dataclass(frozen=True)
class Target:
    """What one of our contenders must reach against an opponent: a ratio, or a time of its own, or nothing.

    `against` names the opponent; None is the fastest. `goal` is the ratio we are here for; it is only told.
    """

    ratio: float | None = None
    seconds: float | None = None
    goal: float | None = None
    against: str | None = None

    @property
    def asks(self) -> bool:
        """Whether anything must be reached; else the comparison is for information and for its rules."""
        return self.ratio is not None or self.seconds is not None

    def reached(self, ratio: float, seconds: float) -> bool:
        """Whether the measured figures are good enough."""
        enough = self.ratio is None or ratio >= self.ratio
        return enough and (self.seconds is None or seconds <= self.seconds)

    def __str__(self) -> str:
        parts = [f"ratio ≥ {self.ratio:g}"] if self.ratio is not None else []
        parts += [f"≤ {1000 * self.seconds:g} ms"] if self.seconds is not None else []
        return " and ".join(parts)


@dataclass(frozen=True)
class Contender:
    """One library with one setting. `parameters` is what the parameter table prints beside the ratio.

    Ours is compared with each opponent that a target names, and has to keep the rules against each of them.
    With `limit`, a call is stopped when it has taken so many times the minimum of ours, listed before it.
    """

    name: str
    library: str  # the distribution whose version is printed
    prepare: Prepare
    parameters: Mapping[str, object]
    ours: bool = False
    rules: tuple[Within | AtMost, ...] = ()
    targets: tuple[Target, ...] = (Target(),)
    limit: float | None = None


@dataclass(frozen=True)
class Job:
    """One comparison. The clock starts `calls` times in each process and the fastest call is reported.

    With `memory`, the figures "peak MB" (the process while the clock runs) and "fit MB" (above the level at
    which the clock started) are added to those of each contender; see `machine.Watch`.
    """

    name: str
    title: str
    dataset: str
    contenders: tuple[Contender, ...]
    threads: tuple[int, ...] = (1, 2)
    calls: int = 1
    memory: bool = False

    def contender(self, name: str) -> Contender:
        """The contender of that name."""
        return next(contender for contender in self.contenders if contender.name == name)
