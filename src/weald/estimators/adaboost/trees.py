"""AdaBoost of weald's own trees: the table is coded once, and all trees are one forest.

A member grows on the codes of the whole table, with the weights of its round or how often its sample has each
row. So cuts of `max_bins` and the levels of categories are those of the whole table.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.records import MemberRows
from weald.arrays import TableLike
from weald.data.rows import take_rows
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.estimators.bagging.trees import weigh_classes
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.growth import Caution, max_columns
from weald.estimators.shared.labels import most_frequent
from weald.estimators.shared.members import seeded
from weald.estimators.tree.base import BaseTree
from weald.estimators.tree.pruning import prune_by
from weald.model.forest import Forest
from weald.model.importances import tree_importances
from weald.model.join import tree_apart
from weald.model.predict import leaf_nodes, raw_scores, staged_scores
from weald.model.read import read_aligned
from weald.parameters import TreeOptions
from weald.rows.growth import Grown

#: units of weight are 2^-52 of all
UNIT_POWER = -52
#: Numbers gain by chance too, from the best of many thresholds: about as much as so many categories. Where
#: little is left to gain, in later rounds, columns of few categories would else never be chosen.
FREE_CATEGORIES = 5
#: times what chance gives: labels that a member got by chance weigh on all members after it
CHANCE_OF_LABELS = 2.0
#: (row, tree) pairs whose leaves are looked up at once
_PAIRS = 2**22

# The trees of a forest as estimators: made when asked for, forgotten with the forest, never pickled.
_estimators: weakref.WeakKeyDictionary[Forest, list[Any]] = weakref.WeakKeyDictionary()


class TreeLearner:
    """Grows trees on coded rows.

    Parameters
    ----------
    template : BaseTree
        What is grown.
    coded : Coded
        The rows.
    seed : int
        What the seeds of trees start from.
    cat_penalty : float or "auto"
        How much splits by categories must gain beyond chance; "auto" leaves it to the tree's own.
    """

    def __init__(self, template: BaseTree, coded: Coded, seed: int, cat_penalty: float | str) -> None:
        self._template, self._coded, self._seed = template, coded, seed
        self._cat_penalty = None if isinstance(cat_penalty, str) else cat_penalty
        self._has_categories = any(column.kind == "categorical" for column in coded.schema.columns)
        self.name, self.hint = type(template).__name__, ""
        self.varies = is_random(coded)

    def asked(self, training: MemberRows) -> tuple[BaseTree, Coded, Weights, Caution]:
        """The tree of a round before it is grown: rows, weights, and its caution with categories."""
        tree: BaseTree = seeded(self._template, self._seed, training.attempt)
        options = tree._checked_options()
        coded = replace(self._coded, options=options)
        weight = weigh_classes(options, self.name, coded.target, training.units.astype(np.float64))
        times = 1.0 if coded.target.classes is None else CHANCE_OF_LABELS
        chance = times * unevenness(weight) if self._has_categories else 1.0
        return tree, coded, weight, Caution(self._cat_penalty, chance, FREE_CATEGORIES)

    def fit(self, training: MemberRows) -> Forest:
        """A tree of one round."""
        tree, coded, weight, caution = self.asked(training)
        options = cast(TreeOptions, coded.options)
        grown = tree._grow_on(coded, weight, caution=caution)

        def no_folds(_: Weights) -> Grown:
            raise AssertionError("trees that are pruned by folds do not share codes")

        forest = prune_by(
            options,
            grown,
            None,
            coded.table,
            coded.target,
            no_folds,
            n_threads=coded.n_threads,
            owner=self.name,
        ).forest
        return forest if training.counted else in_shares(forest)

    def predicted(self, member: Forest) -> NDArray[Any]:
        """What a tree predicts for every row."""
        return self.answers(member, self._coded.table)

    def read(self, X: TableLike, owner: str) -> tuple[Table, int]:
        """Another table in the order and codes of this one, and its rows."""
        declared = self._template.categorical_features
        table = read_aligned(X, self._coded.schema, declared=declared, owner=owner)
        return table, table.n_rows

    def answers(self, member: Forest, table: Table) -> NDArray[Any]:
        """What a tree predicts for the rows of a table."""
        if self._coded.target.classes is None:
            return raw_scores(member, table, n_threads=self._coded.n_threads)[:, 0]
        # Not the shares of all classes for every row, which may be thousands.
        leaves = leaf_nodes(member, table, n_threads=self._coded.n_threads)[:, 0]
        return most_frequent(member.value).astype(np.int32)[~member.slot[leaves]]


def unevenness(weight: Weights) -> float:
    """How many rows there are for each that would count if all weighed the same; no order of rows shows."""
    used = weight[weight > 0]
    shares = used / math.fsum(used)
    return max(1.0, len(used) * math.fsum(shares * shares))


def is_random(coded: Coded) -> bool:
    """Whether chance decides how a tree of these rows grows."""
    options, n_columns = cast(TreeOptions, coded.options), coded.table.n_columns
    return options.splitter == "random" or max_columns(options.max_features, n_columns) < n_columns


def in_shares(forest: Forest) -> Forest:
    """A tree whose rows weighed units, with their shares of the whole weight instead."""
    return replace(forest, cover=np.ldexp(forest.cover, UNIT_POWER), gain=np.ldexp(forest.gain, UNIT_POWER))


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Fitted trees of one table, with what each counts."""

    template: BaseTree
    seed: int
    forest: Forest
    schema: Schema
    classes: NDArray[Any] | None
    weights: NDArray[np.float64]  # (n_trees,)
    attempts: tuple[int, ...]  # what the seed of each tree came from
    #: what trees remember to show themselves; empty for those of a file
    trained_on: dict[str, Any]
    #: the same trees, whose leaves vote for one class, times what the tree counts; of labels alone
    voting: Forest = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "voting", self.forest if self.classes is None else self._votes())

    def _votes(self) -> Forest:
        chosen = most_frequent(self.forest.value)
        value = np.zeros_like(self.forest.value)
        value[np.arange(len(value)), chosen] = 1.0
        return replace(self.forest, value=value, inner_value=None, tree_weight=self.weights, link="identity")

    def __len__(self) -> int:
        return self.forest.n_trees

    def read(self, X: TableLike, owner: str) -> Table:
        """A table in the order and codes of the fitted one."""
        declared = self.template.categorical_features
        return read_aligned(X, self.schema, declared=declared, owner=owner)

    def n_rows(self, table: Table) -> int:
        """How many rows a table has."""
        return table.n_rows

    def votes(self, table: Table, n_jobs: int | None) -> NDArray[np.float64]:
        """What the members' votes for each class count: (rows, classes)."""
        return raw_scores(self.voting, table, n_threads=thread_count(n_jobs))

    def staged_votes(self, table: Table, n_jobs: int | None) -> Iterator[NDArray[np.float64]]:
        """The same after every round."""
        return staged_scores(self.voting, table, range(1, len(self) + 1), n_threads=thread_count(n_jobs))

    def each(self, table: Table, n_jobs: int | None) -> Iterator[NDArray[Any]]:
        """What each member predicts: class numbers or numbers."""
        chosen = most_frequent(self.forest.value) if self.classes is not None else self.forest.value[:, 0]
        for t in range(len(self)):
            leaves = leaf_nodes(self.forest, table, n_threads=thread_count(n_jobs), trees=(t, t + 1))[:, 0]
            yield chosen[~self.forest.slot[leaves + self.forest.tree_start[t]]]

    def blocks(self, table: Table, n_jobs: int | None) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """What all members predict for some rows, and then for others: (rows, members)."""
        size = max(1, _PAIRS // len(self))
        for first in range(0, table.n_rows, size):
            rows = slice(first, min(first + size, table.n_rows))
            whole = rows == slice(0, table.n_rows)
            part = table if whole else take_rows(table, np.arange(rows.start, rows.stop))
            leaves = leaf_nodes(self.forest, part, n_threads=thread_count(n_jobs))
            slots = self.forest.slot[leaves + self.forest.tree_start[:-1]]
            yield rows, self.forest.value[~slots, 0]

    def importances(self) -> NDArray[np.float64]:
        """How much each column lowered the criterion: (members, columns)."""
        return tree_importances(self.forest)

    def estimators(self) -> list[Any]:
        """The members as fitted trees."""
        found = _estimators.get(self.forest)
        if found is None:
            found = _estimators[self.forest] = [self._estimator(t) for t in range(len(self))]
        return found

    def _estimator(self, t: int) -> BaseTree:
        tree = seeded(self.template, self.seed, self.attempts[t])
        forest = tree_apart(self.forest, t)
        known = dict(self.trained_on)
        if known:
            used = set(forest.column.tolist())
            known["_missing_columns"] = tuple(j for j in known["_missing_columns"] if j in used)
        tree._set_fitted(forest, self.schema, None if self.classes is None else (self.classes,), known)
        return tree
