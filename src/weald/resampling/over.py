"""Over-sampling: which rows new ones stand on, where they lead, and how many there are (R1, R5 to R7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats, Integers
from weald.data.table import Column, LevelColumn, Table
from weald.errors import DataError, told
from weald.random import Purpose
from weald.resampling.draws import positions, uniforms
from weald.resampling.levels import between_ranks, majority_rows
from weald.resampling.made import Between, MadeRows
from weald.resampling.neighbours import Neighbourhood, affordable

Rows: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class OneClass:
    """A class that gets new rows."""

    position: int  # among the classes
    label: object
    rows: Rows
    n_new: int

    def neighbours(self, asked: int, owner: str, parameter: str) -> int:
        """How many neighbours its rows have: those asked for, or all others with a warning."""
        if len(self.rows) < 2:
            raise DataError(
                f"{owner} makes rows between rows of a class, and class {told(self.label)} has only one. Use "
                "RandomOverSampler, which repeats rows, or leave the class out of sampling_strategy."
            )
        return affordable(asked, len(self.rows), f"Class {told(self.label)}", owner, parameter)


@dataclass(frozen=True, slots=True)
class Centres:
    """Rows that new ones may stand on, with their neighbours; `voters` tells whose levels count."""

    rows: Rows  # (n,)
    near: Rows  # (n, k)
    voters: Flags | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """New rows of one class: each on the line from a centre to one of its neighbours."""

    base: Rows
    other: Rows
    step: Floats
    levels: dict[int, Rows]


# --------------------------------------------------------------------------- lines


def draw_lines(
    centres: Centres, table: Table, one: OneClass, seed: int, allotted: Integers | None = None
) -> Lines:
    """So many new rows as the class gets, each on a drawn line; or as many as are allotted to each centre."""
    n_centres, k = centres.near.shape
    group = one.position
    if allotted is None:
        at = positions(seed, Purpose.RESAMPLED_ROW, group, one.n_new, n_centres)
    else:
        at = np.repeat(np.arange(n_centres), allotted)
    n = len(at)
    slot = positions(seed, Purpose.RESAMPLED_NEIGHBOUR, group, n, k)
    base, other = centres.rows[at], centres.near[at, slot]
    step = uniforms(seed, Purpose.RESAMPLED_STEP, group, n)
    if centres.voters is not None:  # at most half of the way to rows of other classes
        step = np.where(centres.voters[at, slot], step, step * 0.5)
    levels: dict[int, Rows] = {}
    for j, column in level_columns(table):
        if column.ordered:
            levels[j] = between_ranks(column.indices, base, other, step)
        else:
            tie = uniforms(seed, Purpose.RESAMPLED_LEVEL, _place(group, j), n)
            levels[j] = majority_rows(column.indices, centres.near, centres.voters, centres.rows, at, tie)
    return Lines(base, other, step, levels)


def draw_votes(centres: Centres, table: Table, one: OneClass, seed: int) -> Lines:
    """New rows of levels alone: in each column what most of a drawn row and its neighbours have (R7)."""
    group, n = one.position, one.n_new
    at = positions(seed, Purpose.RESAMPLED_ROW, group, n, len(centres.rows))
    around = np.column_stack((centres.rows, centres.near))
    levels = {}
    for j, column in level_columns(table):
        tie = uniforms(seed, Purpose.RESAMPLED_LEVEL, _place(group, j), n)
        levels[j] = majority_rows(column.indices, around, None, centres.rows, at, tie)
    base = centres.rows[at]
    return Lines(base, base, np.zeros(n), levels)


def _place(group: int, column: int) -> int:
    """The place of a class and a column among draws: the same however many columns there are."""
    return column << 32 | group


def level_columns(table: Table) -> Iterable[tuple[int, LevelColumn]]:
    """The columns of levels, by position."""
    columns: Sequence[Column] = table.columns
    placed = getattr(columns, "placed", None)
    pairs = enumerate(columns) if placed is None else placed.items()
    return [(j, column) for j, column in pairs if isinstance(column, LevelColumn)]


def joined(parts: Sequence[Lines], n_threads: int = 1) -> MadeRows:
    """The new rows of all classes, and how many threads make them."""
    none = np.empty(0, np.intp)
    base = np.concatenate([none, *(part.base for part in parts)])
    other = np.concatenate([none, *(part.other for part in parts)])
    step = np.concatenate([np.empty(0), *(part.step for part in parts)])
    names = parts[0].levels if parts else {}
    levels = {j: np.concatenate([part.levels[j] for part in parts]) for j in names}
    return MadeRows(base, levels, Between(base, other, step, n_threads))


# --------------------------------------------------------------------------- which centres, how many


def smote_centres(near: Neighbourhood, one: OneClass, k: int) -> Centres:
    """Every row of the class, with its nearest rows of the class (R1)."""
    return Centres(one.rows, near.for_class(one.rows).nearest(one.rows, one.rows, k)[1])


def in_danger(near: Neighbourhood, one: OneClass, classes: NDArray[np.int32], m: int) -> Flags:
    """Rows of the class of whose m nearest rows at least half, but not all, are of other classes (R5)."""
    found = near.for_class(one.rows).nearest(None, one.rows, m)[1]
    others = (classes[found] != one.position).sum(axis=1)
    danger: Flags = (others >= m / 2) & (others < m)
    return danger


def borderline_centres(
    near: Neighbourhood, one: OneClass, classes: NDArray[np.int32], danger: Flags, k: int, *, both: bool
) -> Centres:
    """The rows in danger, with their nearest rows of the class, or of all classes (R5)."""
    rows = one.rows[danger]
    found = near.for_class(one.rows).nearest(None if both else one.rows, rows, k)[1]
    return Centres(rows, found, classes[found] == one.position if both else None)


def adasyn_allotment(
    near: Neighbourhood, one: OneClass, classes: NDArray[np.int32], k: int, owner: str
) -> Integers:
    """How many new rows each row of the class gets, by the share of other classes near it (R6)."""
    found = near.for_class(one.rows).nearest(None, one.rows, k)[1]
    share = (classes[found] != one.position).sum(axis=1) / k
    total = share.sum()
    if not total > 0:
        raise DataError(
            f"{owner} makes rows where other classes are near, and no row of class {told(one.label)} has any "
            f"among its {k} nearest rows. Use SMOTE, or a larger n_neighbors."
        )
    allotted: Integers = np.rint(share / total * one.n_new).astype(np.int64)
    if not allotted.any():
        raise DataError(
            f"{owner} is to make {one.n_new} rows of class {told(one.label)}, which is less than half a row "
            "for each that has other classes near it. Ask for more by sampling_strategy, or use SMOTE."
        )
    return allotted
