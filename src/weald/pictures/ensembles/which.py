"""Which tree of a model is meant: a number, a round and a class, a member of an ensemble of ensembles.

An estimator made of trees tells how they are numbered by `_tree_places`, and gives one of them, as a model of
its own, by `_shown_tree`. An ensemble of other estimators tells its members by `_shown_members`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator
from weald.errors import DataError, DataTypeError, ParameterError, listing
from weald.model.conditions import label
from weald.model.forest import Forest

#: A tree by its number, or by (round, class); of several trees of a class in a round (round, class, number).
TreeChoice: TypeAlias = int | tuple[object, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class TreePlaces:
    """How the trees of a model are numbered."""

    n_trees: int
    #: the round of each tree, of boosters
    rounds: NDArray[np.int32] | None = None
    #: the first output that each tree adds to, of boosters
    outputs: NDArray[np.int32] | None = None
    #: whose scores the outputs are: labels, where the model knows them; else their numbers
    labels: Sequence[object] = ()

    def number(self, tree: TreeChoice, owner: str) -> int:
        """The number of the tree that is meant; None for the first."""
        if not self.n_trees:
            raise ParameterError(f"This {owner} has no tree to show: it was trained for no round.")
        if tree is None:
            return 0
        if isinstance(tree, tuple | list):
            return self._by_round(tuple(tree), owner)
        if isinstance(tree, bool) or not isinstance(tree, int | np.integer):
            raise self._refusal(tree, owner)
        if not -self.n_trees <= tree < self.n_trees:
            raise self._refusal(tree, owner)
        return int(tree) % self.n_trees

    def _by_round(self, place: tuple[object, ...], owner: str) -> int:
        if len(place) == 1:
            place = (*place, None)
        if self.rounds is None or self.outputs is None:
            if len(place) == 2 and place[1] is None:
                return self.number(place[0], owner)  # type: ignore[arg-type]
            raise self._refusal(place, owner)
        if not place:
            raise self._refusal(place, owner)
        round_, asked, *rest = place
        within = rest[0] if rest else 0
        whole = all(
            isinstance(each, int | np.integer) and not isinstance(each, bool) for each in (round_, within)
        )
        if not whole or len(place) > 3:
            raise self._refusal(place, owner)
        mine = self.rounds == round_
        if len(self.labels) > 1 and asked is not None:
            mine &= self.outputs == self._output(asked, place, owner)
        elif asked is not None:
            self._output(asked, place, owner)
        found = np.flatnonzero(mine)
        if asked is None and len(np.unique(self.outputs[found])) > 1:
            raise self._refusal(place, owner)
        if not 0 <= int(within) < len(found):  # type: ignore[call-overload]
            raise self._refusal(place, owner)
        return int(found[int(within)])  # type: ignore[call-overload]

    def _output(self, asked: object, place: tuple[object, ...], owner: str) -> int:
        if isinstance(asked, np.generic):
            asked = asked.item()
        for k, own in enumerate(self.labels):
            if own == asked and isinstance(own, bool) == isinstance(asked, bool):
                return k
        raise self._refusal(place, owner)

    def _refusal(self, tree: object, owner: str) -> ParameterError:
        text = f"`tree` must be a number from 0 to {self.n_trees - 1}"
        if self.rounds is not None:
            n_rounds = int(self.rounds[-1]) + 1
            what = "(round, class)" if self.labels else "(round,)"
            text += f", or {what} with a round from 0 to {n_rounds - 1}"
            if self.labels:
                text += f" and one of {listing(list(self.labels))}"
            if self.n_trees > n_rounds * max(len(self.labels), 1):
                text += ", or (round, class, number) as a round has several trees of a class"
        return ParameterError(f"{text}, of this {owner}; got {tree!r}.")

    def said(self, t: int) -> str:
        """Where a tree stands, in words; nothing for the only one."""
        if self.n_trees == 1:
            return ""
        text = f"tree {t} of {self.n_trees:,}"
        if self.rounds is None or self.outputs is None:
            return text
        several = len(self.labels) > 1 or self.n_trees > int(self.rounds[-1]) + 1
        if several:
            text += f", round {int(self.rounds[t])}"
        if len(self.labels) > 1:
            text += f", {self.output_name(int(self.outputs[t]))}"
        return text

    def columns(self, t: int) -> tuple[tuple[str, object], ...]:
        """Where a tree stands, for a frame."""
        found: list[tuple[str, object]] = [("tree", t)]
        if self.rounds is not None and self.outputs is not None:
            found.append(("round", int(self.rounds[t])))
            if len(self.labels) > 1:
                found.append(("output", label(self.labels[int(self.outputs[t])])))
        return tuple(found)

    def output_name(self, k: int) -> str:
        """Whose score output `k` is."""
        own = self.labels[k]
        return f"output {own}" if isinstance(own, OutputNumber) else f"class {label(own)}"


class OutputNumber(int):
    """The number of an output that has no label."""


def output_labels(classes: object, n_outputs: int) -> tuple[object, ...]:
    """Whose scores the outputs of a booster are: of two classes the second's, of several each its own.

    >>> output_labels(np.array(["no", "yes"]), 1), output_labels(None, 2)
    (('yes',), (0, 1))
    """
    if isinstance(classes, np.ndarray):
        plain = classes.tolist()
        if len(plain) == n_outputs:
            return tuple(plain)
        if len(plain) == 2 and n_outputs == 1:
            return (plain[1],)
    return tuple(OutputNumber(k) for k in range(n_outputs))


@dataclass(frozen=True, slots=True)
class OneTree:
    """One tree of a model, as a model of its own, and where it stands in the other."""

    model: AnyEstimator
    forest: Forest
    said: str = ""
    #: the same as columns of a frame: "member", "tree", "round", "output"
    place: tuple[tuple[str, object], ...] = ()


def every_tree(model: object, asks: str) -> Iterator[OneTree]:
    """All trees of a fitted estimator of weald, those of members that are ensembles in their order."""
    estimator: AnyEstimator = inside(model, asks)
    members = estimator._shown_members() if hasattr(estimator, "_shown_members") else None
    if members is not None:
        for k, member in enumerate(members):
            for found in every_tree(member, asks):
                yield replace(found, place=(("member", k), *found.place))
    elif hasattr(estimator, "_shown_tree"):
        places: TreePlaces = estimator._tree_places()
        for t in range(places.n_trees):
            alone = estimator._shown_tree(t)
            yield OneTree(alone, alone.forest_, places.said(t), places.columns(t))
    else:
        yield OneTree(estimator, estimator.forest_)


def one_tree(model: object, asks: str, tree: TreeChoice = None) -> OneTree:
    """The tree of a fitted estimator of weald that is meant, or the error that says what is wrong."""
    estimator: AnyEstimator = inside(model, asks)
    owner = type(estimator).__name__
    members = estimator._shown_members() if hasattr(estimator, "_shown_members") else None
    if members is not None:
        return _of_member(members, asks, tree, owner)
    if hasattr(estimator, "_shown_tree"):
        places: TreePlaces = estimator._tree_places()
        t = places.number(tree, owner)
        alone = estimator._shown_tree(t)
        return OneTree(alone, alone.forest_, places.said(t))
    forest: Forest = estimator.forest_
    TreePlaces(forest.n_trees).number(tree, owner)
    return OneTree(estimator, forest)


def inside(model: object, asks: str) -> Any:
    """A fitted estimator that is, or is made of, trees: the model itself, or what a wrapper fitted."""
    if is_weald(model):
        if isinstance(model, BaseEstimator):
            check_is_fitted(model)
        shows = hasattr(model, "_shown_tree") or hasattr(model, "_shown_members")
        if shows or isinstance(getattr(model, "forest_", None), Forest):
            return model
        fitted = getattr(model, "estimator_", None)
        if is_weald(fitted) and fitted is not model:
            return inside(fitted, asks)
    raise DataTypeError(
        f"{asks} takes a fitted tree of weald, or an ensemble of trees; got "
        f"{type(model).__module__}.{type(model).__qualname__}. For trees of other libraries use the "
        "functions of those libraries."
    )


def is_weald(model: object) -> bool:
    """Whether a model is an estimator of weald."""
    return type(model).__module__.partition(".")[0] == "weald"


def mapped_names(path: str | os.PathLike[str], names: Sequence[object]) -> list[str]:
    """The names of columns as a feature map of xgboost has them: lines "number name type"."""
    found = [str(name) for name in names]
    with open(path, encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 3 or not parts[0].isdecimal():
                raise DataError(
                    f"{os.fspath(path)}: line {i + 1} is not 'number name type', such as '0 age q'."
                )
            if int(parts[0]) < len(found):
                found[int(parts[0])] = parts[1]
    return found


def chosen_tree(tree: TreeChoice, **others: int | None) -> TreeChoice:
    """The tree that is meant, by `tree` or by one of its other names."""
    given = {name: value for name, value in {"tree": tree, **others}.items() if value is not None}
    if len(given) > 1:
        raise ParameterError(
            f"{' and '.join(f'`{name}`' for name in given)} mean the same. Give one of them."
        )
    return next(iter(given.values()), None)


def _of_member(members: Sequence[object], asks: str, tree: TreeChoice, owner: str) -> OneTree:
    """A tree of a member: (member, tree) or (member, round, class)."""
    place: tuple[Any, ...] = () if tree is None else tree if isinstance(tree, tuple) else (tree,)
    first, rest = (place[0], place[1:]) if place else (0, ())
    whole = isinstance(first, int | np.integer) and not isinstance(first, bool)
    if not whole or not -len(members) <= first < len(members):
        raise ParameterError(
            f"`tree` must be (member, tree) with a member from 0 to {len(members) - 1}, of this {owner}, "
            f"whose members are ensembles or other estimators; got {tree!r}."
        )
    k = int(first) % len(members)
    found = one_tree(members[k], asks, None if not rest else rest[0] if len(rest) == 1 else rest)
    said = f"member {k} of {len(members):,}"
    return OneTree(found.model, found.forest, f"{said}: {found.said}" if found.said else said)
