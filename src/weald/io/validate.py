"""Whether the parts of a model fit each other: the forest, the columns it splits on, its task.

`forest_arrays.decode` has already checked each array by itself; a forest that also passes here can be walked
with any row without leaving its arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import ColumnSchema, Schema
from weald.errors import ModelFileError
from weald.model.forest import CATEGORIES, NUMERIC, Forest

#: how far the shares of very many classes may add up from 1
_ROUNDING = 1e-6


def check_forest(forest: Forest, schema: Schema) -> None:
    """Raise ModelFileError unless every split asks its column something that the column can answer."""
    if forest.n_columns != len(schema.columns):
        raise ModelFileError(
            f"The forest of the model file was grown on {forest.n_columns} columns, and "
            f"{len(schema.columns)} are described."
        )
    by_value = _columns(forest.column[forest.kind == NUMERIC], schema)
    by_set = _columns(forest.column[forest.kind == CATEGORIES], schema)
    if any(column.kind == "categorical" for column in by_value):
        raise ModelFileError("A split of the model file asks a categorical column for a number.")
    if any(column.kind != "categorical" for column in by_set):
        raise ModelFileError("A split of the model file asks a column for a category that it does not have.")
    if any(column.kind == "categorical" for column in _columns(forest.combination_column, schema)):
        raise ModelFileError("A combination of the model file asks a categorical column for a number.")
    _check_sets(forest, schema)


def _columns(positions: NDArray[np.int32], schema: Schema) -> list[ColumnSchema]:
    """Each column that is named, once: never more work than the forest has splits."""
    return [schema.columns[j] for j in np.unique(positions).tolist()]


def _check_sets(forest: Forest, schema: Schema) -> None:
    """No set lists a code beyond the levels of its column; `decode` has seen to the order and the lowest."""
    nodes = np.flatnonzero(forest.kind == CATEGORIES)
    used, place = np.unique(forest.column[nodes], return_inverse=True)
    highest = np.array([len(schema.columns[j].levels) for j in used.tolist()], np.int64)[place]
    end = forest.set_start[forest.side[nodes] + 1]
    some = end > forest.set_start[forest.side[nodes]]
    if (forest.set_codes[end[some] - 1] > highest[some]).any():
        raise ModelFileError("A set of categories of the model file names a level its column does not have.")


def check_task(
    forest: Forest, classes: tuple[NDArray[Any], ...] | None, *, classifier: bool, many: bool = False
) -> None:
    """Raise ModelFileError unless the outputs are those of a classifier, or of a regressor.

    `many`: of at least one tree that counts as much as the others; else of one tree.
    """
    if many:
        alike = not ((forest.tree_weight != 1).any() or forest.tree_output.any() or forest.base_score.any())
        if not forest.n_trees or not alike:
            raise ModelFileError("The model file holds no trees, or trees that do not count alike.")
    elif forest.n_trees != 1:
        raise ModelFileError(f"The model file holds {forest.n_trees} trees where one is needed.")
    _check_outputs(forest, classes, classifier=classifier)


def _check_outputs(forest: Forest, classes: tuple[NDArray[Any], ...] | None, *, classifier: bool) -> None:
    """Raise ModelFileError unless leaves hold the shares of the classes, or numbers."""
    link = "shares" if classifier else "identity"
    if forest.link != link:
        raise ModelFileError(f"The model file has the link {forest.link!r:.40} where {link!r} is needed.")
    if forest.width != forest.n_outputs:
        raise ModelFileError("The leaves of the model file do not speak for all of its outputs.")
    if (forest.cover < 0).any():
        raise ModelFileError("A node of the model file has less weight than 0.")
    if not classifier:
        if classes is not None:
            raise ModelFileError("The model file holds a regressor with classes.")
        return
    sizes = [len(labels) for labels in classes or ()]
    if not sizes or min(sizes) == 0 or sum(sizes) != forest.width:
        raise ModelFileError("The classes of the model file do not match the outputs of its forest.")
    _check_shares(forest.value, sizes)
    if forest.inner_value is not None:
        _check_shares(forest.inner_value, sizes)


def check_boosted(forest: Forest, classes: tuple[NDArray[Any], ...] | None, *, classifier: bool) -> None:
    """Raise ModelFileError unless rounds come in order and the outputs are those of the task."""
    if (np.diff(forest.tree_round) < 0).any():
        raise ModelFileError("The trees of the model file are not in the order of their rounds.")
    if forest.width > 1 and (forest.width != forest.n_outputs or forest.tree_output.any()):
        raise ModelFileError("The leaves of the model file do not speak for all of its outputs.")
    if (classes is not None) != classifier:
        raise ModelFileError("The model file holds a regressor with classes, or a classifier without.")
    if classes is None:
        return
    sizes = [len(labels) for labels in classes]
    if len(sizes) == 1:
        softmax = forest.link == "softmax"
        fits = sizes[0] >= 1 and forest.n_outputs == (max(2, sizes[0]) if softmax else 1)
        fits &= softmax or sizes[0] <= 2
    else:
        fits = forest.link != "softmax" and forest.n_outputs == len(sizes) and set(sizes) <= {1, 2}
    if not fits:
        raise ModelFileError("The classes of the model file do not match the outputs of its forest.")


def _check_shares(value: NDArray[np.float64], sizes: list[int]) -> None:
    """Shares lie between 0 and 1, and those of an output's classes add up to 1."""
    if not len(value):
        return
    if not (value.min() >= 0 and value.max() <= 1):
        raise ModelFileError("The class shares of the model file are not between 0 and 1.")
    totals = np.add.reduceat(value, np.cumsum([0, *sizes[:-1]]), axis=1)
    if np.abs(totals - 1).max() > _ROUNDING:
        raise ModelFileError("The class shares of the model file do not add up to 1.")
