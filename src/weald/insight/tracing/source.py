"""What every family hands to a trace: the model, the rows, and for each round the plans of its trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import positions_among
from weald.errors import DataError, listing
from weald.estimators.shared.fitted import Target
from weald.inspection.trace.columns import Ints, TracedColumn, traced_columns
from weald.inspection.trace.fitted import FittedTree
from weald.inspection.trace.growth import TreePlan
from weald.inspection.trace.records import Agreement
from weald.inspection.trace.rules import TreeRules
from weald.inspection.trace.targets import TracedTarget, class_target, number_target
from weald.inspection.trace.words import Words
from weald.model.forest import Forest
from weald.model.join import tree_apart
from weald.model.predict import leaf_nodes
from weald.model.values import class_words
from weald.rows.growth import GrowOptions

Combined = Literal["sum", "mean", "votes", "median"]


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """A round before it is traced."""

    number: int
    trees: Sequence[Callable[[], TreePlan]]
    facts: dict[str, object] = field(default_factory=dict)
    rows: dict[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Source(ABC):
    """A fitted model with the rows it was fitted on."""

    owner: str
    forest: Forest
    schema: Schema
    table: Table  # aligned to the schema; all rows
    agreement: Agreement
    n_threads: int
    classes: tuple[NDArray[Any], ...] | None = None
    notes: list[str] = field(default_factory=list)
    word: str = "tree"  # what a round is: "tree" of a forest, "round" of boosting

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """How many rounds there are."""

    @abstractmethod
    def rounds(self, wanted: Sequence[int]) -> Iterator[RoundPlan]:
        """The plans of the rounds that are asked for, ascending."""

    @property
    @abstractmethod
    def combined(self) -> Combined:
        """How the values of trees become a score."""

    def start(self, row: int) -> Floats:
        """The score of a row before the first tree."""
        return np.asarray(self.forest.base_score, np.float64)

    def start_elsewhere(self, X: TableLike) -> Floats:
        """The score of a row before the first tree, of one that is alone in a table of the user's."""
        return np.asarray(self.forest.base_score, np.float64)

    def tree_weights(self) -> Floats:
        """What the values of each tree are multiplied with."""
        return self.forest.tree_weight

    def fitted(self, t: int) -> FittedTree:
        """A tree of the model with the leaf of every row."""
        leaf = leaf_nodes(self.forest, self.table, n_threads=self.n_threads, trees=(t, t + 1))[:, 0]
        return FittedTree(tree_apart(self.forest, t), leaf.astype(np.int64))

    def words(self) -> Words:
        """Candidates in words."""
        return Words(self.schema)


def label_names(classes: tuple[NDArray[Any], ...]) -> tuple[str, ...]:
    """What the classes of all outputs are called."""
    if len(classes) == 1:
        return class_words(classes[0])
    return tuple(f"{k}: {name}" for k, labels in enumerate(classes) for name in class_words(labels))


def known_target(target: Target, classes: tuple[NDArray[Any], ...] | None, owner: str) -> Target:
    """The target by the classes of the model; a label that it does not have is an error."""
    if classes is None or target.classes is None:
        return target
    if len(classes) != len(target.classes):
        raise DataError(
            f"y has {len(target.classes)} outputs, and {owner} was fitted on {len(classes)}. Give the y of "
            "`fit`."
        )
    columns = []
    for k, (known, found) in enumerate(zip(classes, target.classes, strict=True)):
        places = positions_among(found, known)
        if (places < 0).any():
            strange = found[places < 0].tolist()[0]
            raise DataError(
                f"y holds the label {strange!r}, and {owner} was fitted on {listing(known.tolist())}. Give "
                "the y of `fit`."
            )
        columns.append(places[target.values[:, k]].astype(np.int32))
    return replace(target, values=np.stack(columns, axis=1), classes=classes)


def traced_target(
    target: Target,
    weight: Floats | None,
    limits: GrowOptions,
    *,
    counts: Ints | None = None,
    n_draws: int = 0,
    balance: bool = False,
    shown_power: int = 0,
) -> TracedTarget:
    """Labels or numbers as a tree adds them up."""
    shared: dict[str, Any] = {"counts": counts, "n_draws": n_draws, "shown_power": shown_power}
    monotone = limits.monotone is not None
    if target.classes is None:
        numbers = np.ascontiguousarray(target.values, np.float64)
        return number_target(numbers, weight, limits.criterion, bounded=monotone, **shared)
    return class_target(
        target.values,
        target.n_classes,
        label_names(target.classes),
        weight,
        limits.criterion,
        balance=balance,
        bounded=monotone and sum(target.n_classes) == 2,
        **shared,
    )


def grow_rules(
    limits: GrowOptions,
    target: TracedTarget,
    n_columns: int,
    *,
    seed: int | None,
    share: float = 0.0,
    ccp_alpha: float | None = None,
    scales: tuple[float, ...] = (),
) -> TreeRules:
    """The rules of trees on labels or numbers.

    `share`: the least share of the weight of its tree that a leaf has, where trees have bags.
    """
    least = limits.min_weight_leaf * 2.0**target.weight_power
    if share > 0:
        least = share * target.total
    drawn = limits.max_columns if limits.max_columns and limits.max_columns < n_columns else 0
    if limits.combined_columns:
        drawn = limits.max_columns or n_columns
    total = target.total * 2.0**-target.weight_power
    return TreeRules(
        max_depth=np.inf if limits.max_depth is None else limits.max_depth,
        min_rows_split=limits.min_rows_split,
        min_rows_leaf=limits.min_rows_leaf,
        min_units_leaf=int(np.ceil(least)),
        max_leaves=limits.max_leaves or 0,
        min_decrease=limits.min_impurity_decrease,
        ccp_alpha=ccp_alpha,
        seed=seed,
        max_columns=drawn,
        combined_columns=limits.combined_columns,
        random=limits.splitter == "random",
        random_ties=limits.random_ties,
        monotone=limits.monotone or (),
        category_chance=limits.category_chance,
        chance_within=limits.chance_within,
        free_categories=limits.free_categories,
        tree_orders=limits.tree_orders,
        weight_limit=("min_weight_fraction_leaf", share or limits.min_weight_leaf / total),
        scales=scales,
    )


def all_columns(codes: Codes, schema: Schema) -> list[TracedColumn]:
    """The columns of a coded table."""
    return traced_columns(codes, schema)


def score_name(limits: GrowOptions) -> str:
    """What minus the score of a node is called."""
    return {
        "gini": "gini",
        "entropy": "entropy",
        "misclassification": "errors",
        "squared_error": "explained",
        "poisson": "explained",
        "absolute_error": "loss",
    }[limits.criterion]
