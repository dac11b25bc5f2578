"""Under-sampling by neighbours: which rows stay (R8, R9)."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Flags, Floats
from weald.errors import ResamplingWarning, outside, told
from weald.resampling.neighbours import Neighbourhood, farthest_sums

Rows: TypeAlias = NDArray[np.intp]
Classes: TypeAlias = NDArray[np.int32]


def tomek_links(near: Neighbourhood, classes: Classes, dropped: Collection[int]) -> Flags:
    """Rows of the classes to drop from that are in a Tomek link (R8).

    Two rows of different classes are one if each is the nearest row of the other.
    """
    closest = near.nearest(None, np.arange(len(classes)), 1)[1][:, 0]
    mutual = closest[closest] == np.arange(len(classes))
    link: Flags = mutual & (classes[closest] != classes) & np.isin(classes, list(dropped))
    return link


def edited(
    near: Neighbourhood, classes: Classes, cleaned: Collection[int], k: int, kind: Literal["all", "mode"]
) -> Rows:
    """The rows that stay, class by class: those whose k nearest rows agree with them (R9).

    "all": every one is of their class; "mode": most are, of several most frequent classes the first counts.
    """
    n_classes = int(classes.max()) + 1
    kept = []
    for one in range(n_classes):
        rows = np.flatnonzero(classes == one)
        if one in cleaned and len(rows):
            found = classes[near.nearest(None, rows, k)[1]]
            if kind == "all":
                rows = rows[(found == one).all(axis=1)]
            else:
                counts = np.stack([(found == each).sum(axis=1) for each in range(n_classes)], axis=1)
                rows = rows[np.argmax(counts, axis=1) == one]
        kept.append(rows)
    return np.concatenate(kept)


def near_miss(
    near: Neighbourhood,
    classes: Classes,
    asked: Mapping[int, int],
    rare: int,
    *,
    version: int,
    k: int,
    k_first: int,
    labels: NDArray[np.object_],
) -> Rows:
    """The rows that stay, class by class, by their distances from the rarest class (NearMiss).

    Version 1 keeps rows nearest to their k nearest rare rows, version 2 to the k rare rows farthest from
    them; version 3 looks only at the `k_first` nearest rows of each rare row, and keeps those of them
    farthest from their k nearest rare rows.
    """
    centre = np.flatnonzero(classes == rare)
    kept = []
    for one in range(int(classes.max()) + 1):
        rows = np.flatnonzero(classes == one)
        own = one == rare  # no row is its own neighbour
        if one in asked and len(rows) > own:
            if version == 3:
                found = near.nearest(rows, centre, min(k_first, len(rows) - own))[1]
                rows = np.unique(found)
            away = _distances(near, centre, rows, k, farthest=version == 2)
            order = np.argsort(-away if version == 3 else away, kind="stable")
            if len(rows) < asked[one]:
                _tell_few(labels[one], len(rows), asked[one])
            rows = rows[order[: asked[one]]]
        kept.append(rows)
    return np.concatenate(kept)


def _distances(near: Neighbourhood, centre: Rows, rows: Rows, k: int, *, farthest: bool) -> Floats:
    """The sum of each row's distances to k rare rows: its nearest ones, or its farthest ones."""
    others = len(centre) - int(np.isin(rows[:1], centre).any())  # the rare class itself: no row is its own
    if farthest:
        return farthest_sums(near, centre, rows, others, k)
    sums: Floats = near.nearest(centre, rows, min(k, others))[0].sum(axis=1)
    return sums


def _tell_few(label: object, there: int, asked: int) -> None:
    warnings.warn(
        f"Only {there} rows of class {told(label)} are among the nearest of the rarest class, and {asked} "
        "are to stay: all of them do. Use a larger n_neighbors_ver3, or another version.",
        ResamplingWarning,
        stacklevel=outside(),
    )
