"""Which machine for how much data: exact, on landmarks, or on the columns, and the reason in words.

An exact kernel machine compares rows with rows: it needs time between the square and the cube of their
number. The advice: a linear machine where there are as many columns as rows, a Gaussian one up to 1,000
columns and 50,000 rows, beyond that a linear machine or landmarks.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Advice:
    """What was decided, and why."""

    solver: Solver
    reason: str


def advise(
    asked: str,
    *,
    n_rows: int,
    n_columns: int,
    cache_bytes: int,
    linear: bool,
    given: bool,
    hard: bool = False,
) -> Advice:
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
        return Advice("exact" if asked == "exact" else "landmarks", f"solver='{asked}' was asked for.")
    if given:
        return Advice("exact", "The kernel matrix is precomputed: nothing is left to approximate.")
    if hard:
        return Advice("exact", "A hard margin (C=inf) is found by the exact machine alone.")
    size = f"{n_rows:,} rows and {n_columns:,} columns"
    held = cache_bytes // (4 * n_rows)
    if n_rows <= MOST_ROWS and held >= min(n_rows, WORKING_ROWS):
        return Advice(
            "exact",
            f"{size}: within {MOST_ROWS:,} rows the exact machine is the rule."
            + _hint(n_rows, n_columns, linear),
        )
    why = (
        f"above {MOST_ROWS:,} rows"
        if n_rows > MOST_ROWS
        else f"cache_size holds {held:,} rows of the kernel matrix, and an exact machine works on "
        f"{WORKING_ROWS:,}"
    )
    if linear:
        return Advice(
            "linear", f"{size}: {why}. The kernel is linear, so the same machine is found by its columns."
        )
    return Advice(
        "landmarks",
        f"{size}: {why}, where an exact kernel machine takes too long; landmarks stand for the rows. "
        "solver='exact' insists; LinearSVC and LinearSVR are the other way.",
    )


def _hint(n_rows: int, n_columns: int, linear: bool) -> str:
    """What the advice says of the kernel, which nobody changes but the user."""
    if linear:
        return ""
    if n_columns >= n_rows:
        return " There are as many columns as rows: kernel='linear' is likely to do as well."
    if n_columns > MOST_COLUMNS:
        return f" There are more than {MOST_COLUMNS:,} columns: kernel='linear' is likely to do as well."
    return ""


def landmark_count(asked: int | None, n_rows: int, cache_bytes: int) -> int:
    """How many landmarks: as asked for, else 5 % of the rows from 100 to 2,000, within the budget.

    The features are one float64 a row and landmark; half the budget is theirs, because the rows of one pair
    of classes are copied out of them. 5 % of the rows are where accuracy comes within a point of the exact
    machine's; more than 2,000 cost more (the square of their number in every row) than they gain.
    """
    if asked is not None:
        return min(asked, n_rows)
    share = min(max(int(LANDMARK_SHARE * n_rows), FEWEST_LANDMARKS), MOST_LANDMARKS)
    return max(1, min(share, n_rows, cache_bytes // (16 * n_rows)))
