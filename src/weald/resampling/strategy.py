"""`sampling_strategy`, in all its forms, as a number of rows per class.

What a number means depends on the sampler: rows to add (over-sampling), rows to keep (under-sampling);
samplers that clean take only which classes are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.data.target import Labels, positions_among, restore_labels
from weald.errors import DataError, ParameterError, listing, told

Kind: TypeAlias = Literal["over", "under", "clean"]
Strategy: TypeAlias = (
    float | str | Mapping[Any, int] | Sequence[Any] | Callable[[NDArray[Any]], Mapping[Any, int]]
)

WORDS: Final = ("auto", "minority", "not minority", "not majority", "all", "majority")
#: the word that makes no sense for a kind, and the one that does
_SENSELESS: Final = {"over": ("majority", "not majority"), "under": ("minority", "not minority")}
_SENSELESS_CLEAN: Final = _SENSELESS["under"]


def rows_per_class(strategy: Strategy, labels: Labels, kind: Kind, owner: str) -> dict[int, int]:
    """The number of rows of each class that a strategy names, by the position of the class.

    Parameters
    ----------
    strategy : float, str, mapping of label to rows, list of labels or function of the labels
        As imbalanced-learn reads it.
    labels : Labels
        The classes, and the class of each row.
    kind : {"over", "under", "clean"}
        What the sampler does: then the numbers are rows to add, rows to keep, and the size of the rarest
        class.
    owner : str
        The sampler, for messages.

    Returns
    -------
    dict
        Positions in `labels.classes`, ascending.

    Examples
    --------
    >>> labels = Labels(np.array(["a", "b"]), np.array([0, 0, 0, 1], np.int32))
    >>> rows_per_class("auto", labels, "over", "SMOTE")
    {1: 2}
    """
    counts = np.bincount(labels.indices, minlength=len(labels.classes))
    if len(counts) < 2:
        raise DataError(
            f"{owner} needs rows of more than 1 class; y holds {told(labels.classes.tolist()[0])} alone. "
            "Give it rows of every class, for example by stratified folds."
        )
    if isinstance(strategy, str):
        found = _of_word(strategy, counts, kind, owner)
    elif isinstance(strategy, Mapping) or callable(strategy):
        given = strategy if isinstance(strategy, Mapping) else _called(strategy, labels, owner)
        found = _of_numbers(given, labels.classes, counts, kind, owner)
    elif isinstance(strategy, Sequence):
        found = _of_list(strategy, labels.classes, counts, kind, owner)
    else:
        found = _of_ratio(float(strategy), counts, kind, owner)
    return dict(sorted(found.items()))


def rarest(counts: NDArray[np.integer]) -> int:
    """The position of the class with the fewest rows; of several the first."""
    return int(np.argmin(counts))


def _of_word(word: str, counts: NDArray[np.integer], kind: Kind, owner: str) -> dict[int, int]:
    senseless, meant = _SENSELESS.get(kind, _SENSELESS_CLEAN)
    if word == senseless:
        raise ParameterError(
            f"`sampling_strategy` of {owner} cannot be {word!r}: it "
            f"{'adds' if kind == 'over' else 'drops'} rows, of which that class has "
            f"{'the most' if kind == 'over' else 'the fewest'}. Use {meant!r}, which is 'auto'."
        )
    most, fewest = int(np.argmax(counts)), rarest(counts)
    classes = range(len(counts))
    chosen = {
        "minority": [fewest],
        "majority": [most],
        "not minority": [k for k in classes if k != fewest],
        "not majority": [k for k in classes if k != most],
        "all": list(classes),
    }[meant if word == "auto" else word]
    if kind == "over":
        return {k: int(counts[most] - counts[k]) for k in chosen}
    return {k: int(counts[fewest]) for k in chosen}


def _called(
    strategy: Callable[[NDArray[Any]], Mapping[Any, int]], labels: Labels, owner: str
) -> Mapping[Any, int]:
    given = strategy(restore_labels(labels.classes, labels.indices))
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"The function that is `sampling_strategy` of {owner} must give a dict of label to rows; it gave "
            f"{told(given)}."
        )
    return given


def _of_numbers(
    given: Mapping[Any, int], classes: NDArray[Any], counts: NDArray[np.integer], kind: Kind, owner: str
) -> dict[int, int]:
    if kind == "clean":
        raise ParameterError(
            f"`sampling_strategy` of {owner} cannot be a dict: how many rows it drops follows from the rows. "
            "Give a list of the classes it may drop rows of."
        )
    found: dict[int, int] = {}
    for k, label in zip(_positions(list(given), classes, owner), given, strict=True):
        asked = given[label]
        if not isinstance(asked, Integral) or isinstance(asked, bool) or asked < 0:
            raise ParameterError(
                f"`sampling_strategy` of {owner} asks for {told(asked)} rows of class {told(label)}. Give a "
                "whole number of at least 0: how many there are to be in all."
            )
        there = int(counts[k])
        if kind == "over" and asked < there:
            raise ParameterError(
                f"`sampling_strategy` of {owner} asks for {asked} rows of class {told(label)}, which has "
                f"{there}. It adds rows: give as many or more, or use RandomUnderSampler."
            )
        if kind == "under" and asked > there:
            raise ParameterError(
                f"`sampling_strategy` of {owner} asks for {asked} rows of class {told(label)}, which has "
                f"{there}. It drops rows: give as many or fewer, or use RandomOverSampler."
            )
        found[k] = int(asked) - there if kind == "over" else int(asked)
    return found


def _of_list(
    given: Sequence[Any], classes: NDArray[Any], counts: NDArray[np.integer], kind: Kind, owner: str
) -> dict[int, int]:
    if kind != "clean":
        raise ParameterError(
            f"`sampling_strategy` of {owner} cannot be a list of classes: it also has to know how many rows. "
            "Give a dict of label to rows."
        )
    return dict.fromkeys(_positions(given, classes, owner), int(counts.min()))


def _of_ratio(ratio: float, counts: NDArray[np.integer], kind: Kind, owner: str) -> dict[int, int]:
    if kind == "clean":
        raise ParameterError(
            f"`sampling_strategy` of {owner} cannot be a number: how many rows it drops follows from the "
            "rows. Use 'auto', or a list of the classes it may drop rows of."
        )
    if len(counts) > 2:
        raise ParameterError(
            f"`sampling_strategy` of {owner} is the ratio {ratio:g}, which only two classes have; y has "
            f"{len(counts)}. Give a dict of label to rows."
        )
    fewest = rarest(counts)
    few, many = int(counts[fewest]), int(counts[1 - fewest])
    if kind == "over":
        added = int(ratio * many - few)
        if added <= 0:
            raise ParameterError(
                f"`sampling_strategy` of {owner} is {ratio:g}, and the rarer class has {few / many:.3g} of "
                f"the rows of the other ({few} and {many}) already. Give a larger ratio."
            )
        return {fewest: added}
    kept = int(few / ratio)
    if kept > many:
        raise ParameterError(
            f"`sampling_strategy` of {owner} is {ratio:g}, which would take {kept} rows of the more frequent "
            f"class; it has {many}. Give a ratio of at least {few / many:.3g}."
        )
    return {1 - fewest: kept}


def _positions(given: Sequence[Any], classes: NDArray[Any], owner: str) -> list[int]:
    """Where the named labels stand among the classes."""
    labels = np.empty(len(given), dtype=object)
    labels[:] = given
    places = positions_among(labels, classes)
    absent = [label for label, place in zip(given, places.tolist(), strict=True) if place < 0]
    if absent:
        raise ParameterError(
            f"`sampling_strategy` of {owner} names {listing(absent)}, which no row of y has; it has "
            f"{listing(classes.tolist())}. If a class may be absent, as in some folds, give a function of y "
            "that names only those present."
        )
    return [int(place) for place in places]
