"""Which machine for how much data: exact, on landmarks, or on the columns, and the reason in words.

An exact kernel machine compares rows with rows: it needs time between the square and the cube of their
number. The rule: a linear machine where there are as many columns as rows, a Gaussian one up to 1,000
columns and 50,000 rows, beyond that a linear machine or landmarks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Solver: TypeAlias = Literal["exact", "landmarks", "linear"]

#: rows up to which exact machines are the rule
MOST_ROWS = 50_000
#: columns beyond which a Gaussian kernel seldom gains on a linear machine
MOST_COLUMNS = 1_000
#: rows of the kernel matrix that the budget must hold, so that a working set does not push itself out
WORKING_ROWS = 1_024
#: landmarks by default: this share of the rows, within these limits
LANDMARK_SHARE, FEWEST_LANDMARKS, MOST_LANDMARKS = 0.05, 100, 2_000
#: a second that a machine of today surely does, where `max_time` limits the landmarks
MULTIPLICATIONS = 5e9


@dataclass(frozen=True, slots=True)
class SolverChoice:
    """What was decided, and why."""

    solver: Solver
    reason: str


def choose_solver(
    asked: str,
    *,
    n_rows: int,
    n_columns: int,
    cache_bytes: int,
    linear: bool,
    given: bool,
    hard: bool = False,
) -> SolverChoice:
    """The solver for so many rows and columns.

    Parameters
    ----------
    asked : {"auto", "exact", "landmarks"}
        The parameter `solver`.
    n_rows, n_columns : int
        The size of the matrix.
    cache_bytes : int
        The memory budget.
    linear : bool
        Whether the kernel is the linear one.
    given : bool
        Whether the kernel matrix was given, so that there are no columns to choose landmarks in.
    hard : bool
        Whether a hard margin is asked for, which an approximation may miss.
    """
    if asked != "auto":
        return SolverChoice("exact" if asked == "exact" else "landmarks", f"solver='{asked}' was asked for.")
    if given:
        return SolverChoice("exact", "The kernel matrix is precomputed: nothing is left to approximate.")
    if hard:
        return SolverChoice("exact", "A hard margin (C=inf) is found by the exact machine alone.")
    size = f"{_count(n_rows, 'row')} and {_count(n_columns, 'column')}"
    held, needed = cache_bytes // (4 * n_rows), min(n_rows, WORKING_ROWS)
    if n_rows <= MOST_ROWS and held >= needed:
        return SolverChoice(
            "exact",
            f"{size}: within {MOST_ROWS:,} rows the exact machine is the rule."
            + _hint(n_rows, n_columns, linear),
        )
    if n_rows > MOST_ROWS:
        why = f"above {MOST_ROWS:,} rows an exact kernel machine takes too long"
        insist = "solver='exact' insists"
    else:
        why = (
            f"cache_size holds {_count(held, 'row')} of the kernel matrix, and an exact machine works on "
            f"{needed:,} at a time"
        )
        megabytes = math.ceil(4 * n_rows * needed / (1 << 20))
        insist = f"cache_size={megabytes} or solver='exact' gives the exact machine"
    if linear:
        return SolverChoice(
            "linear", f"{size}: {why}. The kernel is linear, so the same machine is found by its columns."
        )
    return SolverChoice(
        "landmarks",
        f"{size}: {why}, so landmarks stand for the rows. {insist}; LinearSVC and LinearSVR are the other "
        "way.",
    )


def _count(n: int, what: str) -> str:
    """A number of things in words: 1 row, 1,024 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _hint(n_rows: int, n_columns: int, linear: bool) -> str:
    """What the reason adds about the kernel, which nobody changes but the user."""
    if linear:
        return ""
    if n_columns >= n_rows:
        return " There are as many columns as rows: kernel='linear' is likely to do as well."
    if n_columns > MOST_COLUMNS:
        return f" There are more than {MOST_COLUMNS:,} columns: kernel='linear' is likely to do as well."
    return ""


def landmark_count(asked: int | None, n_rows: int, cache_bytes: int, max_time: float | None = None) -> int:
    """How many landmarks: as asked for, else 5 % of the rows from 100 to 2,000, within the budget.

    The features are one float64 per row and landmark; half the budget is theirs, because the rows of one pair
    of classes are copied out of them. 5 % of the rows are where accuracy comes within a point of the exact
    machine's; more than 2,000 cost more (the square of their number in every row) than they gain.
    """
    if asked is not None:
        return min(asked, n_rows)
    most = MOST_LANDMARKS
    if max_time is not None:
        # Their features take n m² multiplications: half of the time for them, at a rate that any machine has.
        most = min(most, max(int((max_time / 2 * MULTIPLICATIONS / n_rows) ** 0.5), FEWEST_LANDMARKS))
    share = min(max(int(LANDMARK_SHARE * n_rows), FEWEST_LANDMARKS), most)
    return max(1, min(share, n_rows, cache_bytes // (16 * n_rows)))
