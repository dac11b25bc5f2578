"""One fitted tree, ready to be shown: its nodes, their values, and its splits in words.

Whatever draws, prints or lists a tree reads it from here, so that names, classes and missing values are
worded and checked in one place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from weald.arrays import CategoricalFeatures, Names
from weald.data.schema import ColumnSchema, Schema
from weald.errors import ParameterError
from weald.model.conditions import Conditions, label
from weald.model.forest import Forest
from weald.model.values import Outputs
from weald.pictures.ensembles.which import OneTree, TreeChoice, one_tree

if TYPE_CHECKING:
    from weald.model.tree_view import TreeView


class ShownModel(Protocol):
    """A fitted tree of weald, as far as it is shown."""

    schema_: Schema
    tree_: TreeView
    criterion: str
    classes_: Any  # labels, or a list of them by output; only classifiers have them
    categorical_features: CategoricalFeatures


@dataclass(frozen=True)
class ShownTree:
    """One tree of an estimator. Nodes are numbered in preorder, as in `tree_`."""

    model: ShownModel
    forest: Forest
    outputs: Outputs
    conditions: Conditions
    names: Sequence[str]
    #: the columns in which training met missing values; None if that is not known
    missing_in: tuple[int, ...] | None
    #: where it stands in its ensemble, in words; nothing for the only tree of a model
    said: str = ""

    @classmethod
    def of(
        cls,
        model: object,
        asks: str,
        *,
        tree: TreeChoice = None,
        decimals: int = 3,
        feature_names: Names | None = None,
        class_names: Names | bool | None = None,
        unnamed: str = "column {}",
        all_missing: bool = False,
        **wording: Any,
    ) -> ShownTree:
        """Read a fitted tree.

        Parameters
        ----------
        model : estimator
            A fitted tree of weald, or an ensemble of trees.
        asks : str
            The function that asks, for messages.
        tree : int or tuple, optional
            Which tree of an ensemble; None for the first.
        decimals : int
            The decimals of thresholds.
        feature_names, class_names : array-like, optional
            Other names than those the model was fitted with.
        unnamed : str
            How a column without a name is called.
        all_missing : bool
            Whether to say for every column where missing values go, not only for those that had any.
        **wording
            Further options of `Conditions`.
        """
        return cls.of_one(
            one_tree(model, asks, tree),
            decimals=decimals,
            feature_names=feature_names,
            class_names=class_names,
            unnamed=unnamed,
            all_missing=all_missing,
            **wording,
        )

    @classmethod
    def of_one(
        cls,
        found: OneTree,
        *,
        decimals: int = 3,
        feature_names: Names | None = None,
        class_names: Names | bool | None = None,
        unnamed: str = "column {}",
        all_missing: bool = False,
        **wording: Any,
    ) -> ShownTree:
        """As `of`, of a tree that is found already."""
        forest, shown = found.forest, cast("ShownModel", found.model)
        missing_in = None if all_missing else getattr(shown, "_missing_columns", None)
        names = _column_names(shown.schema_, feature_names, unnamed)
        conditions = Conditions(
            forest, shown.schema_, forest.slot, decimals, names=names, missing_in=missing_in, **wording
        )
        outputs = Outputs.of(getattr(shown, "classes_", None), forest.width, shares=forest.link == "shares")
        outputs = Outputs(_class_names(outputs, class_names), outputs.n_outputs)
        return cls(shown, forest, outputs, conditions, names, missing_in, found.said)

    @property
    def n_nodes(self) -> int:
        """How many nodes."""
        return self.forest.n_nodes

    @property
    def criterion(self) -> str:
        """What a split lowered, by its parameter's value."""
        return str(self.model.criterion)

    @property
    def impurity(self) -> NDArray[np.float64] | None:
        """The criterion at each node, if the model keeps it."""
        return self.forest.impurity

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """The value vector of each node, inner nodes too: (nodes, width)."""
        if self.outputs.classes is None:
            return np.asarray(self.model.tree_.value[:, :, 0])
        parts = [self.model.tree_.value[:, k, : len(names)] for k, names in enumerate(self.outputs.classes)]
        return np.concatenate(parts, axis=1)

    @cached_property
    def value_forms(self) -> dict[Any, tuple[int | None, ...]]:
        """The decimals of values, kept for whoever writes them; see `boxes`."""
        return {}

    def children(self, node: int) -> tuple[int, int] | None:
        """The left and right child; None at a leaf."""
        i = int(self.forest.slot[node])
        return None if i < 0 else (node + 1, int(self.forest.right[i]))

    def split(self, node: int) -> int:
        """The number of an inner node among the inner nodes; negative at a leaf."""
        return int(self.forest.slot[node])

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """The parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int64)
        inner = np.flatnonzero(self.forest.slot >= 0)
        parent[inner + 1] = inner
        parent[self.forest.right[self.forest.slot[inner]]] = inner
        return parent

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """The splits between the root and each node."""
        depth = np.zeros(self.n_nodes, np.int64)
        for node, parent in enumerate(self.parent.tolist()):
            if node:
                depth[node] = depth[parent] + 1
        return depth

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The last node of the subtree under each node."""
        ends = np.arange(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes - 1, -1, -1):
            children = self.children(node)
            if children is not None:
                ends[node] = ends[children[1]]
        return ends

    def leaves_below(self, node: int) -> int:
        """How many leaves the subtree under a node has."""
        return int((self.forest.slot[node : int(self.ends[node]) + 1] < 0).sum())


class _OwnNames(Sequence[str]):
    """The names of the model's columns, each worded when it is asked for: there may be millions."""

    def __init__(self, columns: Sequence[ColumnSchema], unnamed: str) -> None:
        self._columns, self._unnamed = columns, unnamed

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, j: int) -> str: ...
    @overload
    def __getitem__(self, j: slice) -> Sequence[str]: ...
    def __getitem__(self, j: int | slice) -> str | Sequence[str]:
        if isinstance(j, slice):
            return _OwnNames(self._columns[j], self._unnamed)
        name = self._columns[j].name
        return self._unnamed.format(name) if isinstance(name, int) else label(name)


def _column_names(schema: Schema, given: object, unnamed: str) -> Sequence[str]:
    columns = schema.columns
    if given is None:
        return _OwnNames(columns, unnamed)
    names = _as_list(given, "feature_names")
    if len(names) != len(columns):
        raise ParameterError(
            f"`feature_names` must hold {len(columns)} names, one per column; got {len(names)}."
        )
    return tuple(label(name) for name in names)


def _class_names(outputs: Outputs, given: object) -> tuple[tuple[str, ...], ...] | None:
    """The names of the classes: the model's own unless others are given."""
    if outputs.classes is None or given is None or isinstance(given, bool | np.bool_):
        return outputs.classes
    names = _as_list(given, "class_names")
    if outputs.n_outputs == 1 and not (len(names) == 1 and _is_list(names[0])):
        names = [names]
    if len(names) != outputs.n_outputs:
        raise ParameterError(
            f"`class_names` must hold {outputs.n_outputs} lists of names, one per output; got {len(names)}."
        )
    for k, (own, other) in enumerate(zip(outputs.classes, names, strict=True)):
        where = f" for output {k}" if outputs.n_outputs > 1 else ""
        if len(_as_list(other, "class_names")) != len(own):
            raise ParameterError(
                f"`class_names` must hold {len(own)} names{where}, one per class, in the order of `classes_`"
                f"; got {len(other)}."
            )
    return tuple(tuple(label(name) for name in each) for each in names)


def _is_list(value: object) -> bool:
    return not isinstance(value, str | bytes) and isinstance(value, Sequence | np.ndarray)


def _as_list(value: Any, parameter: str) -> list[Any]:
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        raise ParameterError(f"`{parameter}` must be a list of names; got {value!r}.")
    if isinstance(value, dict):
        raise ParameterError(f"`{parameter}` must be a list of names, in order; got a dict.")
    return list(value.tolist() if isinstance(value, np.ndarray) else value)


def check_whole(value: object, parameter: str, *, least: int = 0, none: bool = False) -> None:
    """Refuse anything but a whole number from `least` up (or None, where that is allowed)."""
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        allowed = f"None or a whole number from {least} up" if none else f"a whole number from {least} up"
        raise ParameterError(f"`{parameter}` must be {allowed}; got {value!r}.")


def check_choice(value: object, parameter: str, choices: Collection[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"`{parameter}` must be one of {listed}; got {value!r}.")
