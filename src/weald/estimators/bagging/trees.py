"""Bags of weald's own trees: the table is coded once, and all trees are one forest.

Each tree grows on the codes of the whole table with weights of its own, 0 for rows that its bag lacks. So
cuts of `max_bins` and the levels of categories are those of the whole table.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike
from weald.data.adapters import categorical_positions
from weald.data.codes import encode
from weald.data.schema import Schema
from weald.data.table import BlockColumns, Table
from weald.data.target import Labels
from weald.engine import thread_count
from weald.errors import naming_member
from weald.estimators.bagging.bags import MemberBags
from weald.estimators.shared.class_weight import Weights, weigh_by_class, without_absent
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.growth import grow_options, max_columns
from weald.estimators.shared.members import on_threads, seeded, showing
from weald.estimators.shared.monotone_constraints import monotone_directions
from weald.estimators.tree.base import BaseTree
from weald.estimators.tree.pruning import prune_by
from weald.model.forest import Forest
from weald.model.join import of_columns, tree_apart, with_columns
from weald.model.predict import raw_scores
from weald.model.read import read_aligned
from weald.parameters import GrowthOptions, TreeOptions
from weald.rows.growth import Grown
from weald.rows.many_classes import fewest_leaves, may_fit, refuse_as_grown, refuse_too_many, rows_apart

#: Rows times columns from which trees grow one after another, each with all threads. Smaller ones grow side
#: by side on threads that Ctrl-C waits for, which at this size is no time.
LARGE = 2**21

# The trees of a forest as estimators: made when asked for, forgotten with the forest, never pickled.
_estimators: weakref.WeakKeyDictionary[Forest, list[Any]] = weakref.WeakKeyDictionary()


def shares_codes(estimator: object) -> TypeGuard[BaseTree]:
    """Whether an estimator is a tree of weald that can grow on codes of the whole table."""
    return isinstance(estimator, BaseTree) and type(estimator).fit is BaseTree.fit and estimator.prune is None


@dataclass(frozen=True, slots=True, eq=False)
class TreeMembers:
    """Fitted trees of one table, as one forest over all of its columns."""

    template: BaseTree
    seed: int
    forest: Forest
    schema: Schema
    classes: tuple[NDArray[Any], ...] | None
    #: the columns of each bag, ascending; None if all have all
    columns: tuple[NDArray[np.int64], ...] | None
    #: what trees remember to show themselves; empty for those of a file
    trained_on: dict[str, Any]

    def __len__(self) -> int:
        return self.forest.n_trees

    def mean(self, X: TableLike, owner: str, n_jobs: int | None) -> NDArray[np.float64]:
        """The mean of the members' leaf values: (rows, width)."""
        declared = self.template.categorical_features
        table = read_aligned(X, self.schema, declared=declared, owner=owner)
        return raw_scores(self.forest, table, n_threads=thread_count(n_jobs)) / len(self)

    def estimators(self) -> list[Any]:
        """The members as fitted trees, each of its own columns."""
        found = _estimators.get(self.forest)
        if found is None:
            found = _estimators[self.forest] = [self._estimator(bag) for bag in range(len(self))]
        return found

    def shown(self, bag: int) -> BaseTree:
        """A member as a fitted tree over all columns of the table, whichever its bag had."""
        tree = seeded(self.template, self.seed, bag)
        tree._set_fitted(tree_apart(self.forest, bag), self.schema, self.classes, dict(self.trained_on))
        return tree

    def _estimator(self, bag: int) -> BaseTree:
        tree = seeded(self.template, self.seed, bag)
        forest, schema = tree_apart(self.forest, bag), self.schema
        known = dict(self.trained_on)
        used = set(forest.column.tolist())
        missing = [j for j in known.get("_missing_columns", ()) if j in used]
        if self.columns is not None:
            columns = self.columns[bag]
            tree.set_params(**_parameters_of(tree, schema, columns.tolist()))
            forest, schema = of_columns(forest, columns), schema.take(columns.tolist())
            missing = np.searchsorted(columns, missing).tolist()
        if known:
            known["_missing_columns"] = tuple(missing)
        tree._set_fitted(forest, schema, self.classes, known)
        return tree


def _parameters_of(tree: BaseTree, schema: Schema, columns: list[int]) -> dict[str, Any]:
    """The parameters that speak of columns, as they are for some of them."""
    declared = set(categorical_positions(schema.names, tree.categorical_features))
    categorical = [place for place, j in enumerate(columns) if j in declared]
    monotone = monotone_directions(tree.monotonic_cst, schema, type(tree).__name__)
    return {
        "categorical_features": categorical or None,
        "monotonic_cst": None if monotone is None else [monotone[j] for j in columns],
    }


def grow_trees(
    template: BaseTree,
    coded: Coded,
    bags: MemberBags,
    numbers: Sequence[int],
    n_jobs: int | None,
    verbose: int = 0,
) -> list[Forest]:
    """The trees of some bags, each over all columns of the table.

    Parameters
    ----------
    template : BaseTree
        What is grown.
    coded : Coded
        The rows.
    bags : MemberBags
        How bags are drawn.
    numbers : sequence of int
        Which bags.
    n_jobs : int or None
        Threads; the trees do not depend on it.
    verbose : int
        Whether to show progress.
    """
    n_threads = thread_count(n_jobs)
    large = coded.table.n_rows * coded.table.n_columns >= LARGE
    apart = not large and min(n_threads, len(numbers)) > 1
    inside = replace(coded, n_threads=1 if apart else n_threads)
    _check_room(template, coded, bags, numbers)

    def grow(bag: int) -> Forest:
        with naming_member(f"The {type(template).__name__} of bag {bag}"):
            grown = _grow_bag(template, inside, bags, bag)
        if coded.target.classes is not None:
            refuse_as_grown(len(grown.value), len(numbers), grown.width)
        return grown

    with showing(len(numbers), verbose) as done:
        if apart:
            return on_threads(grow, numbers, min(n_threads, len(numbers)), done)
        grown = []
        for bag in numbers:
            grown.append(grow(bag))
            done()
        return grown


def _check_room(template: BaseTree, coded: Coded, bags: MemberBags, numbers: Sequence[int]) -> None:
    """Refuse trees of so many classes that the leaves of all bags are sure to have no room."""
    target, n_lanes = coded.target, sum(coded.target.n_classes)
    if target.classes is None or may_fit(coded.table.n_rows, len(numbers), n_lanes):
        return
    owner, codes = type(template).__name__, coded.codes
    lane = target.values + np.cumsum([0, *target.n_classes[:-1]])
    used = np.ones(codes.n_rows, np.bool_) if target.weight is None else target.weight > 0
    apart: dict[tuple[int, ...] | None, NDArray[np.bool_]] = {}

    def leaves(bag: int) -> int:
        options = seeded(template, bags.seed, bag)._checked_options()
        weight = weigh_classes(options, owner, target, bags.counts(bag).astype(np.float64))
        columns = tuple(bags.columns(bag).tolist()) if bags.some_columns else None
        limits = grow_options(options, coded.codes, weight, 1, coded.monotone, columns)
        if columns not in apart:
            apart.clear()  # those of one bag are enough to keep
            apart[columns] = rows_apart(codes, lane, used, limits)
        return fewest_leaves(codes, lane, weight > 0, limits, apart[columns])

    refuse_too_many(map(leaves, numbers), len(numbers), n_lanes)


def _grow_bag(template: BaseTree, coded: Coded, bags: MemberBags, bag: int) -> Forest:
    tree, coded, weight, columns = of_bag(template, coded, bags, bag)
    options = cast(TreeOptions, coded.options)
    part = coded_of_columns(coded, columns)
    if part is None:
        some = None if columns is None else tuple(columns.tolist())
        grown = tree._grow_on(coded, weight, some, random_ties=True)
    else:
        assert columns is not None
        grown = tree._grow_on(part, weight, random_ties=True)
        grown = Grown(with_columns(grown.forest, columns, coded.table.n_columns), grown.node_value)

    def no_folds(_: Weights) -> Grown:
        raise AssertionError("trees that are pruned by folds do not share codes")

    return prune_by(
        options, grown, None, coded.table, coded.target, no_folds, n_threads=coded.n_threads, owner="bagging"
    ).forest


def weigh_classes(options: GrowthOptions, owner: str, target: Target, weight: Weights) -> Weights:
    """The weights of a bag times the factors of the classes; "balanced" means balanced in the bag."""
    option = getattr(options, "class_weight", None)
    if option is None or target.classes is None:
        return weight
    found = [Labels(labels, target.values[:, k]) for k, labels in enumerate(target.classes)]
    if isinstance(option, str):
        found = [without_absent(each, weight) for each in found]
    weighed = weigh_by_class(option, owner, found, weight)
    return weight if weighed is None else weighed


def of_bag(
    template: BaseTree, coded: Coded, bags: MemberBags, bag: int
) -> tuple[BaseTree, Coded, Weights, NDArray[np.int64] | None]:
    """The tree of a bag before it is grown: on what, by which weights, and of which columns (None: all)."""
    tree: BaseTree = seeded(template, bags.seed, bag)
    options = tree._checked_options()
    weight = weigh_classes(options, type(tree).__name__, coded.target, bags.counts(bag).astype(np.float64))
    return tree, replace(coded, options=options), weight, bags.columns(bag) if bags.some_columns else None


def coded_of_columns(coded: Coded, columns: NDArray[np.int64] | None) -> Coded | None:
    """The columns of a bag coded anew, where nodes draw among them: draws are of all. None: no need."""
    if columns is None or max_columns(coded.options.max_features, len(columns)) >= len(columns):
        return None
    whole = coded.table.columns
    some = columns.tolist()
    taken = whole.take(some) if isinstance(whole, BlockColumns) else [whole[j] for j in some]
    table = Table(tuple(taken), coded.table.n_rows, coded.table.named)
    return replace(
        coded,
        table=table,
        codes=encode(
            table, max_bins=coded.options.max_bins, weight=coded.target.weight, n_threads=coded.n_threads
        ),
        monotone=None if coded.monotone is None else tuple(coded.monotone[j] for j in some),
    )
