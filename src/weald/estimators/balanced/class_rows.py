"""How many rows of each class the members of a balanced ensemble get, and the rows of a bag of bagging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.data.target import Labels
from weald.errors import DataError, ParameterError
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.shared.fitted import Target
from weald.parameters import Choice, Flag, Function, Instance, Number, parameter
from weald.random import Purpose, draw
from weald.resampling.strategy import WORDS, rows_per_class
from weald.rows.growth import ALL_ROWS, ClassDraws, TreeBags

#: the forms of `sampling_strategy` that say which rows of which classes are kept
Strategy: TypeAlias = float | str | Mapping[Any, int] | Callable[..., Any]


def sampling_strategy_rule() -> Any:
    """The range of `sampling_strategy`."""
    return parameter(
        Choice(WORDS),
        Number(0, 1, "(]"),
        Instance((Mapping,), "a dict from label to rows"),
        Function("a function of the labels that gives such a dict"),
        hint="Use 'auto' to draw from every class as many rows as the rarest has.",
    )


def replacement_rule() -> Any:
    """The range of `replacement`."""
    return parameter(Flag(), hint="Use True to let a row be drawn again.")


def correct_prior_rule() -> Any:
    """The range of `correct_prior`."""
    return parameter(Flag(), hint="Use True for probabilities under the class shares of the training rows.")


def labels_of(target: Target, present: NDArray[np.bool_] | None, owner: str) -> NDArray[np.int32]:
    """The class of each row, -1 for one that is absent; raises unless there is one column of labels."""
    if target.n_outputs > 1:
        raise DataError(
            f"{owner} takes one label per row, whose classes it balances; y has {target.n_outputs} columns. "
            "Fit one for each."
        )
    labels = np.ascontiguousarray(target.values[:, 0], np.int32)
    return labels if present is None else np.where(present, labels, np.int32(-1))


def class_draws(
    strategy: Strategy, replace: bool, classes: NDArray[Any], labels: NDArray[np.int32], owner: str
) -> ClassDraws:
    """The rows of each class that a bag has.

    Parameters
    ----------
    strategy : float, str, dict or function
        The parameter `sampling_strategy`.
    replace : bool
        Whether a row may be drawn again.
    classes : ndarray
        The labels in order.
    labels : ndarray of shape (n_rows,)
        The class of each row; -1 for a row that is absent.
    owner : str
        The estimator's name, for messages.
    """
    there = labels[labels >= 0]
    counts = np.bincount(there, minlength=len(classes))
    named = rows_per_class(strategy, Labels(classes, there), "under", owner)
    drawn = tuple(named.get(k, ALL_ROWS) for k in range(len(classes)))
    found = ClassDraws(tuple(counts.tolist()), drawn, bool(replace))
    if not any(found.in_bag):
        raise ParameterError(
            f"`sampling_strategy` of {owner} leaves no row of any class. Ask for at least one of each."
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class BalancedBags(MemberBags):
    """Bags of bagging, in each of which the classes are then balanced."""

    labels: NDArray[np.int32]  # (n_rows,)
    n_classes: int
    #: the most rows that a bag keeps of each class, where `sampling_strategy` gives numbers; None: all
    most: tuple[int | None, ...] | None
    #: else which classes of the bag are meant, and by what the rows of its rarest are divided
    word: str
    ratio: float
    replacement: bool

    def rows(self, bag: int) -> NDArray[np.int64]:
        """The rows of a bag, ascending, as members without weights get them."""
        if self.every_row:
            counts = self._tree_bags().counts(bag, self.labels)
            return np.repeat(np.arange(self.n_rows), counts)
        found = MemberBags.rows(self, bag)
        classes = self.labels[found]
        words = draw(self.seed, Purpose.BAG_CLASSES, bag, np.arange(len(found), dtype=np.uint64))
        kept = [
            self._kept(np.flatnonzero(classes == k), n, words)
            for k, n in enumerate(self._n_kept_of(np.bincount(classes, minlength=self.n_classes)))
        ]
        return np.sort(found[np.concatenate(kept)])

    @property
    def every_row(self) -> bool:
        """Whether a bag is the whole table before its classes are balanced: these are then drawn natively."""
        return not self.bootstrap and self.n_drawn == self.n_rows and self.used is None

    def _tree_bags(self) -> TreeBags:
        """The draws from the whole table."""
        counts = np.bincount(self.labels, minlength=self.n_classes)
        drawn = tuple(ALL_ROWS if n is None else n for n in self._n_kept_of(counts))
        by_class = ClassDraws(tuple(counts.tolist()), drawn, self.replacement)
        return TreeBags(n_trees=1, seed=self.seed, by_class=by_class)

    def _n_kept_of(self, counts: NDArray[np.int64]) -> list[int | None]:
        """How many rows are kept of each class that has so many; None for all, which are not drawn."""
        if self.most is not None:
            pairs = zip(self.most, counts.tolist(), strict=True)
            return [None if most is None else min(most, there) for most, there in pairs]
        there = np.flatnonzero(counts)
        fewest, most = there[np.argmin(counts[there])], there[np.argmax(counts[there])]
        meant = {"majority": {most}, "not majority": {*there} - {most}, "all": {*there}}
        named = meant.get(self.word, {*there} - {fewest})
        n_kept = int(counts[fewest] / self.ratio)
        return [min(n_kept, int(n)) if k in named else None for k, n in enumerate(counts)]

    def _kept(
        self, places: NDArray[np.int64], n_kept: int | None, words: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """The places in a bag of one class that are kept."""
        if n_kept is None or (n_kept == len(places) and not self.replacement):
            return places
        if not self.replacement:
            return places[np.argpartition(words[places], n_kept)[:n_kept]]
        fractions = (words[places[:n_kept]] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return places[(fractions * len(places)).astype(np.int64)]

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a bag may lack rows, which then judge it."""
        if not self.every_row:
            return True
        by_class = self._tree_bags().by_class
        return by_class is not None and by_class.leaves_rows_out

    def class_weight(self) -> NDArray[np.float64]:
        """What the rows of each class weigh that may be drawn, in any unit."""
        labels = self.labels if self.used is None else self.labels[self.used]
        return np.bincount(labels, self.units, self.n_classes).astype(np.float64)

    def sizes(self, n_bags: int) -> NDArray[np.int64]:
        """How many rows of each class so many bags have together, repeated ones counted again."""
        return sum(
            (np.bincount(self.labels[self.rows(bag)], minlength=self.n_classes) for bag in range(n_bags)),
            np.zeros(self.n_classes, np.int64),
        )


def balanced_bags(
    plain: MemberBags,
    strategy: Strategy,
    replacement: bool,
    classes: NDArray[Any],
    labels: NDArray[np.int32],
    owner: str,
) -> BalancedBags:
    """Bags drawn as `plain` says, and then balanced.

    Parameters
    ----------
    plain : MemberBags
        How rows and columns are drawn before.
    strategy, replacement : float, str, dict or function; bool
        The parameters of those names. Words and ratios are taken of the rows of each bag, numbers of rows as
        far as a bag has so many.
    classes, labels : ndarray, ndarray of shape (n_rows,)
        The labels in order, and the class of each row, -1 for an absent one.
    owner : str
        The estimator's name, for messages.
    """
    asked = class_draws(strategy, replacement, classes, labels, owner)
    is_ratio = isinstance(strategy, int | float)
    by_number = not (is_ratio or isinstance(strategy, str))
    return BalancedBags(
        **{each.name: getattr(plain, each.name) for each in fields(plain)},
        labels=np.maximum(labels, 0),
        n_classes=len(classes),
        most=tuple(None if n == ALL_ROWS else n for n in asked.n_draws) if by_number else None,
        word="majority" if is_ratio else str(strategy),
        ratio=float(strategy) if isinstance(strategy, int | float) else 1.0,
        replacement=bool(replacement),
    )


def draw_facts(by_class: ClassDraws) -> dict[str, int | float | str]:
    """The draws of a forest for a model file."""
    return {
        "class_rows": " ".join(map(str, by_class.n_rows)),
        "class_draws": " ".join(map(str, by_class.n_draws)),
        "class_replace": int(by_class.replace),
    }


def draws_from_facts(facts: Mapping[str, int | float | str], n_classes: int) -> ClassDraws:
    """What `draw_facts` wrote; raises ParameterError for anything else."""
    rows, drawn = (_whole(facts.get(name), n_classes) for name in ("class_rows", "class_draws"))
    replaces = facts.get("class_replace")
    if min(rows) < 1 or min(drawn) < ALL_ROWS or type(replaces) is not int or replaces not in (0, 1):
        raise ParameterError("The draws of a balanced forest are not what they can be.")
    found = ClassDraws(rows, drawn, bool(replaces))
    if not any(found.in_bag):
        raise ParameterError("The draws of a balanced forest leave no row.")
    return found


def _whole(text: object, n: int) -> tuple[int, ...]:
    """So many whole numbers of a file, which may hold anything."""
    words = text.split() if isinstance(text, str) else []
    if len(words) != n or any(not word.lstrip("-").isdecimal() or len(word) > 18 for word in words):
        raise ParameterError("The draws of a balanced forest are not one whole number per class.")
    return tuple(map(int, words))
