"""A `Forest` as the arrays of a model file, and back.

Only what cannot be worked out again is stored: children follow from the leaf bits, codes and thresholds from
a table of cuts, sums over a subtree from its leaves. Each short cut is taken only if it gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weald.engine.memory import ask_for
from weald.errors import ModelFileError
from weald.io import budget
from weald.io.arrays import Shelf, as_it_is, narrow, pack_bits, same_bits, usable, whole
from weald.io.forest_size import ForestSize
from weald.io.structure import Structure, rebuild
from weald.model.forest import CATEGORIES, COMBINATION, NUMERIC, Forest, rank_codes

_MOST = 2**62

Fit: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]


def encode(forest: Forest) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The facts for the description, and the arrays, of a forest in preorder."""
    facts = {
        "columns": forest.n_columns,
        "link": forest.link,
        "nodes": forest.n_nodes,
        "outputs": forest.n_outputs,
        "trees": forest.n_trees,
        "width": forest.width,
    }
    size = ForestSize.of(facts)
    ask_for(size.n_bytes_to_write() + 40 * (len(forest.set_codes) + len(forest.combination_column)))
    leaf = forest.slot < 0
    structure = rebuild(leaf, forest.n_trees)
    inner = forest.slot[~leaf]  # the order in which inner nodes come
    if not (
        np.array_equal(structure.tree_start, forest.tree_start)
        and np.array_equal(structure.right, forest.right[inner])
    ):
        raise ModelFileError("The nodes of this model are not in preorder: a bug in weald, please report it.")
    _check_numbers(forest)
    tensors = _encode_arrays(forest, structure, inner, narrow)
    if size.too_dense(tensors):
        tensors = _encode_arrays(forest, structure, inner, as_it_is)
    return facts, tensors


def _encode_arrays(
    forest: Forest, structure: Structure, inner: NDArray[np.int32], fit: Fit
) -> dict[str, NDArray[Any]]:
    """The arrays, in the dtypes that `fit` gives them."""
    kind = forest.kind[inner]
    tensors: dict[str, NDArray[Any]] = {
        "leaf": pack_bits(structure.leaf),
        "column": fit(forest.column[inner]),
        "missing_left": pack_bits(forest.missing_left[inner]),
        "gain": fit(forest.gain[inner]),
        "base_score": fit(forest.base_score),
        "tree_output": fit(forest.tree_output),
        "tree_weight": fit(forest.tree_weight),
        "tree_round": fit(forest.tree_round),
    }
    if kind.any():
        tensors["kind"] = kind
    ends = ~forest.slot[structure.leaf]  # the order in which leaves come
    tensors |= _encode_thresholds(forest, inner, kind, fit)
    tensors |= _encode_sides(forest, inner, kind)
    tensors |= _encode_weights(forest, structure, fit)
    tensors |= _encode_values(forest, ends, forest.cover[structure.leaf], fit)
    if forest.inner_value is not None:
        tensors["inner_value"] = fit(forest.inner_value[inner])
    return tensors


def _check_numbers(forest: Forest) -> None:
    """Refuse what the reader would refuse, before anything is written."""
    good = {
        "base_score": usable(forest.base_score),
        "tree_weight": usable(forest.tree_weight),
        "threshold": bool(np.all(forest.threshold > -np.inf)),
        "gain": usable(forest.gain, low=0.0, finite=False),
        "cover": usable(forest.cover),  # hessians of a user's objective may be negative
        "count": bool(np.all(forest.count >= 0)),
        "impurity": forest.impurity is None or usable(forest.impurity, finite=False),
        "value": usable(forest.value),
        "inner_value": forest.inner_value is None or usable(forest.inner_value),
        "combination_coefficient": usable(forest.combination_coefficient),
    }
    for name, fine in good.items():
        if not fine:
            raise ModelFileError(
                f"This model holds NaN or a number out of range in `forest_.{name}`, which a file cannot "
                "keep. Was it fitted on extreme values?"
            )


def decode(facts: dict[str, Any], shelf: Shelf) -> Forest:
    """The forest that `encode` wrote; every number is checked on the way."""
    size = ForestSize.of(facts)
    n_trees, n_nodes, n_columns, width = size.n_trees, size.n_nodes, size.n_columns, size.width
    if not isinstance(facts.get("link"), str):
        raise ModelFileError("The description of the model file names no link.")
    size.check_lengths(shelf)
    n_bytes = size.n_bytes(shelf)
    budget.spend(n_bytes, f"{n_nodes:,} nodes of trees in few bytes")
    ask_for(n_bytes)
    structure = rebuild(shelf.bits("leaf", n_nodes), n_trees)
    n_inner = len(structure.right)
    column = shelf.integers("column", n_inner, -1, n_columns - 1).astype(np.int32)
    kind = np.zeros(n_inner, np.uint8)
    if "kind" in shelf:
        kind = shelf.integers("kind", n_inner, NUMERIC, COMBINATION).astype(np.uint8)
    if not np.array_equal(column == -1, kind == COMBINATION):
        raise ModelFileError("A split of the model file names no column, or a combination names one.")
    threshold = _decode_thresholds(shelf, column, kind, n_columns)
    count, cover = _decode_weights(shelf, structure)
    return Forest(
        n_columns=n_columns,
        base_score=shelf.floats("base_score", (size.n_outputs,)),
        link=facts["link"],
        tree_start=structure.tree_start,
        tree_output=shelf.integers("tree_output", n_trees, 0, size.n_outputs - width).astype(np.int32),
        tree_weight=shelf.floats("tree_weight", (n_trees,)),
        tree_round=shelf.integers("tree_round", n_trees, 0, 2**31 - 1).astype(np.int32),
        slot=structure.slot,
        cover=cover,
        count=count,
        impurity=_decode_impurity(shelf, n_nodes),
        column=column,
        threshold=threshold,
        kind=kind,
        missing_left=shelf.bits("missing_left", n_inner),
        right=structure.right,
        gain=shelf.floats("gain", (n_inner,), low=0.0, finite=False),
        value=_decode_values(shelf, cover[structure.leaf], width),
        inner_value=shelf.floats("inner_value", (n_inner, width)) if "inner_value" in shelf else None,
        **_decode_sides(shelf, kind, n_columns),
    )


# --------------------------------------------------------------------------- thresholds


def _encode_thresholds(
    forest: Forest, inner: NDArray[np.int32], kind: NDArray[np.uint8], fit: Fit
) -> dict[str, NDArray[Any]]:
    """Thresholds of NUMERIC splits as they are, or as codes into a table of cuts where that is smaller.

    Binned forests use few cuts again and again; an exact tree hardly repeats one.
    """
    numeric = kind == NUMERIC
    column, threshold = forest.column[inner][numeric], forest.threshold[inner][numeric]
    tensors = {"threshold": fit(threshold)}
    code = rank_codes(column, threshold, kind[numeric])
    _, first = np.unique(column.astype(np.int64) << 32 | code, return_index=True)
    cuts, n_cuts = threshold[first], np.bincount(column[first], minlength=forest.n_columns)
    table = {"cut": fit(cuts), "cut_count": fit(n_cuts), "code": fit(code)}
    start = np.concatenate(([0], np.cumsum(n_cuts)))
    exact = same_bits(cuts[start[column] + code - 1], threshold)
    if exact and sum(t.nbytes for t in table.values()) < tensors["threshold"].nbytes:
        tensors = table
    if (kind == COMBINATION).any():
        tensors["combination_threshold"] = narrow(forest.threshold[inner][kind == COMBINATION])
    return tensors


def _decode_thresholds(
    shelf: Shelf, column: NDArray[np.int32], kind: NDArray[np.uint8], n_columns: int
) -> NDArray[np.float64]:
    threshold = np.zeros(len(column), np.float64)
    numeric = kind == NUMERIC
    n_numeric = int(numeric.sum())
    if "code" in shelf:
        n_cuts = shelf.integers("cut_count", n_columns, 0, n_numeric)
        start = np.concatenate(([0], np.cumsum(n_cuts)))
        if start[-1] > n_numeric:
            raise ModelFileError("The model file has more cuts than splits.")
        cuts = shelf.cuts("cut", int(start[-1]))
        code = shelf.integers("code", n_numeric, 1, max(1, n_numeric))
        if (code > n_cuts[column[numeric]]).any():
            raise ModelFileError("A split of the model file names a cut that its column does not have.")
        threshold[numeric] = cuts[start[column[numeric]] + code - 1]
    else:
        threshold[numeric] = shelf.cuts("threshold", n_numeric)
    combined = kind == COMBINATION
    if combined.any():
        threshold[combined] = shelf.cuts("combination_threshold", int(combined.sum()))
    return threshold


# --------------------------------------------------------------------------- side tables


def _encode_sides(
    forest: Forest, inner: NDArray[np.int32], kind: NDArray[np.uint8]
) -> dict[str, NDArray[Any]]:
    """The rows of the side tables, in the order of the nodes that use them."""
    tensors: dict[str, NDArray[Any]] = {}
    side = forest.side[inner]
    if (kind == CATEGORIES).any():
        sets = side[kind == CATEGORIES]
        sizes, entries = _gather(forest.set_start, sets)
        tensors |= {
            "set_size": narrow(sizes),
            "set_codes": narrow(forest.set_codes[entries]),
            "set_left": pack_bits(forest.set_left[sets]),
        }
    if (kind == COMBINATION).any():
        sizes, entries = _gather(forest.combination_start, side[kind == COMBINATION])
        tensors |= {
            "combination_size": narrow(sizes),
            "combination_column": narrow(forest.combination_column[entries]),
            "combination_coefficient": narrow(forest.combination_coefficient[entries]),
        }
    return tensors


def _gather(start: NDArray[np.int64], rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sizes of the named rows of a ragged table, and the places of their entries, row after row."""
    sizes = np.diff(start)[rows]
    shift = start[rows] - np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return sizes, np.arange(sizes.sum()) + np.repeat(shift, sizes)


def _decode_sides(shelf: Shelf, kind: NDArray[np.uint8], n_columns: int) -> dict[str, NDArray[Any]]:
    side = np.full(len(kind), -1, np.int32)
    decoded: dict[str, NDArray[Any]] = {"side": side}
    n_sets, n_combinations = int((kind == CATEGORIES).sum()), int((kind == COMBINATION).sum())
    if n_sets:
        side[kind == CATEGORIES] = np.arange(n_sets)
        start = _starts(shelf, "set_size", n_sets, 0)
        budget.spend(16 * int(start[-1]), "sets of categories in few bytes")
        ask_for(16 * int(start[-1]))
        codes = shelf.integers("set_codes", int(start[-1]), 1, 2**32 - 1)
        first = np.zeros(len(codes) + 1, np.bool_)
        first[start] = True
        if (first[1:-1] < (codes[1:] <= codes[:-1])).any():
            raise ModelFileError("A set of categories of the model file is not in ascending order.")
        left = shelf.bits("set_left", n_sets)
        decoded |= {"set_start": start, "set_codes": codes.astype(np.uint32), "set_left": left}
    if n_combinations:
        side[kind == COMBINATION] = np.arange(n_combinations)
        start = _starts(shelf, "combination_size", n_combinations, 1)
        budget.spend(20 * int(start[-1]), "combinations of columns in few bytes")
        ask_for(20 * int(start[-1]))
        columns = shelf.integers("combination_column", int(start[-1]), 0, n_columns - 1)
        decoded |= {
            "combination_start": start,
            "combination_column": columns.astype(np.int32),
            "combination_coefficient": shelf.floats("combination_coefficient", (int(start[-1]),)),
        }
    return decoded


def _starts(shelf: Shelf, name: str, length: int, smallest: int) -> NDArray[np.int64]:
    sizes = shelf.integers(name, length, smallest, 2**31 - 1)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


# --------------------------------------------------------------------------- rows, weights, impurity


def _encode_weights(forest: Forest, structure: Structure, fit: Fit) -> dict[str, NDArray[Any]]:
    """Row counts and covers of the leaves alone, where the inner ones are their sums."""
    tensors: dict[str, NDArray[Any]] = {}
    leaf = structure.leaf
    count, cover = forest.count, forest.cover
    additive = np.array_equal(structure.sums(count[leaf]), count)
    tensors |= {"leaf_count": fit(count[leaf])} if additive else {"count": fit(count)}
    if not same_bits(cover, count.astype(np.float64)):
        weights = _whole_weights(cover[leaf])
        additive = weights is not None and same_bits(structure.sums(weights).astype(np.float64), cover)
        tensors |= {"cover": fit(cover)} if weights is None or not additive else {"leaf_cover": fit(weights)}
    if forest.impurity is not None:
        some = forest.impurity.view(np.uint64) != 0
        tensors["impure"] = pack_bits(some)
        tensors["impurity"] = fit(forest.impurity[some])
    return tensors


def _whole_weights(cover: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The covers of leaves as whole numbers, if they are such and can be summed up."""
    if whole(cover) and not (cover < 0).any() and cover.sum() < _MOST:
        return cover.astype(np.int64)
    return None


def _decode_weights(shelf: Shelf, structure: Structure) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n_nodes, n_leaves = len(structure.leaf), int(structure.leaf.sum())
    if "leaf_count" in shelf:
        count = structure.sums(_summable(shelf.integers("leaf_count", n_leaves, 0, _MOST)))
    else:
        count = shelf.integers("count", n_nodes, 0, _MOST)
    if "leaf_cover" in shelf:
        weights = _summable(shelf.integers("leaf_cover", n_leaves, 0, _MOST))
        cover = structure.sums(weights).astype(np.float64)
    elif "cover" in shelf:
        cover = shelf.floats("cover", (n_nodes,))
    else:
        cover = count.astype(np.float64)
    return count, cover


def _summable(values: NDArray[np.int64]) -> NDArray[np.int64]:
    if values.sum(dtype=np.float64) >= _MOST:
        raise ModelFileError("The rows or weights of the model file add up to more than 2^62.")
    return values


def _decode_impurity(shelf: Shelf, n_nodes: int) -> NDArray[np.float64] | None:
    if "impurity" not in shelf:
        return None
    some = shelf.bits("impure", n_nodes)
    impurity = np.zeros(n_nodes, np.float64)
    impurity[some] = shelf.floats("impurity", (int(some.sum()),), finite=False)
    return impurity


# --------------------------------------------------------------------------- leaf values


def _encode_values(
    forest: Forest, ends: NDArray[np.int32], cover: NDArray[np.float64], fit: Fit
) -> dict[str, NDArray[Any]]:
    """Leaf values; class shares as the weights of the classes, where cover gives the shares back.

    The last class takes the rest of the cover and is left out. With several outputs there is a last class
    of each, which the forest does not know: then the weights of all classes are kept.
    """
    value = np.ascontiguousarray(forest.value[ends])
    width = forest.width
    if forest.link == "shares" and width > 1 and len(value) and whole(cover) and cover.min() > 0:
        weights = np.rint(value * cover[:, None])
        if whole(weights) and weights.min() >= 0:
            for kept in (weights[:, :-1], weights):
                if _possible(kept, cover, width) and same_bits(_shares(kept, cover, width), value):
                    return {"class_weights": fit(kept)}
    return {"value": fit(value)}


def _shares(weights: NDArray[np.float64], cover: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    if weights.shape[1] < width:
        weights = np.column_stack((weights, cover - weights.sum(axis=1)))
    return weights / cover[:, None]


def _possible(weights: NDArray[np.float64], cover: NDArray[np.float64], width: int) -> bool:
    """Whether no class, the one left out included, has less weight than 0 or more than its leaf."""
    most = weights.sum(axis=1) if weights.shape[1] < width else weights.max(axis=1)
    return not ((cover <= 0).any() or (most > cover).any())


def _decode_values(shelf: Shelf, cover: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    if "class_weights" not in shelf:
        return shelf.floats("value", (len(cover), width))
    weights = shelf.floats("class_weights", (len(cover), None), low=0.0)
    if weights.shape[1] not in (width - 1, width):
        raise ModelFileError(
            f"The array 'class_weights' of the model file has shape {weights.shape}, where {width - 1} or "
            f"{width} classes are needed."
        )
    if not _possible(weights, cover, width):
        raise ModelFileError("A leaf of the model file gives its classes more weight than it has.")
    return _shares(weights, cover, width)
