"""Small random tables of every kind, with targets, weights and limits: what the property tests draw from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.columns import reference_columns
from reference.fixed_point import target_offset
from reference.splits import ReferenceColumn
from reference.statistics import ClassWeights, Medians, Moments, Statistic
from reference.tree import Node, Options, grow

from weald.data.codes import Codes, encode
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.model.forest import Forest
from weald.rows.growth import GrowOptions
from weald.rows.memory import grow_classification_tree, grow_regression_tree

EXTREME = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2e-308,
    1e-5,
    1.0,
    1.0 + 2**-52,
    1.0 + 2**-51,
    3.0,
    2.0**53,
    -1e300,
    1.7e308,
    -1.7e308,
]


@dataclass(frozen=True)
class Problem:
    """A table, what to learn from it, and when to stop."""

    table: Table
    criterion: str
    target: NDArray[Any]  # int32 labels or float64 targets
    n_classes: int  # 0: regression
    weight: NDArray[np.float64] | None
    options: Options

    @property
    def used(self) -> NDArray[np.bool_]:
        """Rows of positive weight."""
        return np.ones(self.table.n_rows, dtype=bool) if self.weight is None else self.weight > 0

    def encode(self, max_bins: int | None = None, n_threads: int = 1) -> Codes:
        """The engine's codes."""
        return encode(self.table, max_bins=max_bins, weight=self.weight, n_threads=n_threads)

    def grow(self, codes: Codes | None = None, **more: Any) -> Forest:
        """The engine's tree."""
        codes = self.encode() if codes is None else codes
        limits = {name: getattr(self.options, name) for name in self.options.__dataclass_fields__}
        options = GrowOptions(criterion=self.criterion, **(limits | more))
        if self.n_classes == 0:
            return grow_regression_tree(codes, self.target, self.weight, options).forest
        return grow_classification_tree(codes, self.target, self.n_classes, self.weight, options).forest

    def reference_columns(self, cuts: list[NDArray[np.float64]] | None = None) -> list[ReferenceColumn]:
        """The used rows, as the reference codes them."""
        return reference_columns(self.table, self.used, cuts)

    def statistic(self) -> Statistic:
        """What the used rows add up to, as the reference does it."""
        weight = None if self.weight is None else self.weight[self.used]
        if self.criterion == "absolute_error":
            return Medians.of(self.target[self.used], weight)
        if self.n_classes == 0:
            return Moments.of(self.target[self.used], weight, self.criterion)
        return ClassWeights.of(self.target[self.used], self.n_classes, weight, self.criterion)

    def reference(self, columns: list[ReferenceColumn] | None = None) -> list[Node]:
        """The reference's tree."""
        return grow(columns or self.reference_columns(), self.statistic(), self.options)

    @property
    def impurity_scale(self) -> float:
        """What the rounding of an impurity is measured by: the largest of the terms it is a difference of."""
        if self.n_classes:
            return 1.0
        used = self.target[self.used]
        if self.criterion == "absolute_error":
            return float(np.abs(used).max())
        if self.criterion == "poisson":
            some = used[used > 0]
            return float(np.max(some * (1 + np.abs(np.log(some)))))
        return float(np.max((used - target_offset(used)) ** 2))

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """The same problem on these rows, in this order; a row may come twice."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, table=take(self.table, rows), target=self.target[rows], weight=weight)


def take(table: Table, rows: NDArray[np.intp]) -> Table:
    """Rows of a table."""
    columns = []
    for column in table.columns:
        if isinstance(column, LevelColumn):
            columns.append(replace(column, indices=column.indices[rows]))
        else:
            missing = None if column.missing is None else column.missing[rows]
            columns.append(replace(column, values=column.values[rows], missing=missing))
    return Table(tuple(columns), len(rows), table.named)


def up_to(most: int) -> st.SearchStrategy[int]:
    """From 1 to `most`, more often near it: hypothesis likes small numbers, but they make no trees."""
    return st.one_of(st.integers(1, most), st.integers((most + 1) // 2, most))


def picks(draw: st.DrawFn, n_rows: int, n_choices: int) -> NDArray[np.intp]:
    """For every row one of the choices: drawn one by one (shrinks well) or by a seed (mixes well)."""
    if draw(st.booleans()):
        return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(
            0, n_choices, n_rows, dtype=np.intp
        )
    each = st.integers(0, n_choices - 1)
    return np.array(draw(st.lists(each, min_size=n_rows, max_size=n_rows)), dtype=np.intp)


def missing_rows(draw: st.DrawFn, n_rows: int) -> NDArray[np.bool_]:
    """No row, some rows, or every row."""
    style = draw(st.sampled_from(["none", "some", "none", "some", "most", "none", "some", "all"]))
    if style in ("none", "all"):
        return np.full(n_rows, style == "all")
    few = picks(draw, n_rows, 4) == 0
    return few if style == "some" else ~few


@st.composite
def numeric_columns(draw: st.DrawFn, name: int, n_rows: int) -> NumericColumn:
    """Few values or many, with ties, neighbours and extremes; as float64, float32, int or bool."""
    missing = missing_rows(draw, n_rows)
    style = draw(st.sampled_from(["few", "few", "many", "extreme", "float32", "int", "bool"]))
    if style == "many":
        values = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=n_rows)
    elif style == "extreme":
        values = np.array(EXTREME)[picks(draw, n_rows, len(EXTREME))]
    else:
        values = picks(draw, n_rows, draw(up_to(8))) / 4 - 1
    if style in ("int", "bool"):
        whole = (values * 4).astype(np.int64)
        stored = (
            whole > 0 if style == "bool" else whole.astype(draw(st.sampled_from(["int8", "int32", "int64"])))
        )
        return NumericColumn(name, stored, missing=missing if missing.any() else None)
    values = np.where(missing, np.nan, values)
    return NumericColumn(name, values.astype(np.float32) if style == "float32" else values)


@st.composite
def level_columns(draw: st.DrawFn, name: int, n_rows: int, most: int) -> LevelColumn:
    """Up to `most` levels, ordered or not, some of them without rows."""
    n_levels = draw(up_to(most))
    indices = picks(draw, n_rows, draw(up_to(n_levels)))
    if draw(st.booleans()):
        indices = n_levels - 1 - indices
    indices = np.where(missing_rows(draw, n_rows), -1, indices).astype(np.int32)
    ordered = draw(st.sampled_from([False, False, True]))
    return LevelColumn(name, indices, tuple(f"level{i:02d}" for i in range(n_levels)), ordered=ordered)


@st.composite
def tables(draw: st.DrawFn, most_levels: int = 12, kinds: tuple[str, ...] = ("numeric", "level")) -> Table:
    """1 to 40 rows, 1 to 5 columns."""
    n_rows = draw(up_to(40))
    columns = []
    for j in range(draw(up_to(5))):
        if draw(st.sampled_from(kinds)) == "numeric":
            columns.append(draw(numeric_columns(j, n_rows)))
        else:
            columns.append(draw(level_columns(j, n_rows, most_levels)))
    return Table(tuple(columns), n_rows, named=False)


@st.composite
def weights(draw: st.DrawFn, n_rows: int, styles: tuple[str, ...]) -> NDArray[np.float64] | None:
    """None, whole numbers with zeros, fractions, or numbers of hugely different size; never all zero."""
    style = draw(st.sampled_from(styles))
    if style == "none":
        return None
    choices = {
        "whole": [0.0, 1.0, 2.0, 3.0, 7.0],
        "fractions": [0.0, 0.1, 0.25, 1 / 3, 1.0, 2.7],
        "huge": [0.0, 1e-100, 1e-9, 0.3, 1.0, 1e18, 1e100],
        "large": [2.0**52, 2.0**53, 1.0],
    }[style]
    weight = np.array(choices)[picks(draw, n_rows, len(choices))]
    if not weight.any():
        weight[0] = 1.0
    return weight


@st.composite
def regression_targets(draw: st.DrawFn, n_rows: int) -> NDArray[np.float64]:
    """Small whole numbers, and floats of any size around any offset."""
    small = picks(draw, n_rows, draw(up_to(9))).astype(np.float64)
    style = draw(st.sampled_from(["small", "normal", "mixed"]))
    scale = draw(st.sampled_from([1.0, 0.1, 1e-60, 1e60, 3e7]))
    offset = draw(st.sampled_from([0.0, 0.0, -4.0, 1e6, -1e12]))
    if style == "small":
        return (small + offset) * scale
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=n_rows)
    if style == "mixed":
        noise = noise * 10.0 ** (4 * small - 16)
    return (noise + offset) * scale


@st.composite
def stops(draw: st.DrawFn, weight: NDArray[np.float64] | None, n_rows: int) -> Options:
    """Limits: most often none, else one or several."""
    if draw(st.booleans()):
        return Options()
    total = float(n_rows if weight is None else weight.sum())
    return Options(
        max_depth=draw(st.sampled_from([None, None, 1, 2, 3])),
        min_rows_split=draw(st.sampled_from([2, 2, 5, 10])),
        min_rows_leaf=draw(st.sampled_from([1, 1, 2, 5])),
        min_weight_leaf=total * draw(st.sampled_from([0.0, 0.0, 0.05, 0.25])),
        max_leaves=draw(st.sampled_from([None, None, 2, 3, 6])),
        min_impurity_decrease=draw(st.sampled_from([0.0, 0.0, 0.01, 0.1])),
    )


ALL_WEIGHTS = ("none", "none", "whole", "fractions", "huge", "large")


@st.composite
def classification_problems(
    draw: st.DrawFn,
    criteria: tuple[str, ...] = ("gini", "entropy", "misclassification"),
    weight_styles: tuple[str, ...] = ALL_WEIGHTS,
    kinds: tuple[str, ...] = ("numeric", "level"),
) -> Problem:
    """1 to 4 classes. From three on few levels: all subsets are tried; above 10 no exact rule exists."""
    n_classes = draw(st.sampled_from([2, 3, 2, 4, 2, 2, 3, 1]))
    table = draw(tables(most_levels=12 if n_classes <= 2 else 6, kinds=kinds))
    labels = picks(draw, table.n_rows, n_classes).astype(np.int32)
    weight = draw(weights(table.n_rows, weight_styles))
    options = draw(stops(weight, table.n_rows))
    return Problem(table, draw(st.sampled_from(criteria)), labels, n_classes, weight, options)


@st.composite
def regression_problems(
    draw: st.DrawFn,
    criteria: tuple[str, ...] = ("squared_error", "poisson", "absolute_error"),
    weight_styles: tuple[str, ...] = ALL_WEIGHTS,
    kinds: tuple[str, ...] = ("numeric", "level"),
) -> Problem:
    """Targets of any size."""
    table = draw(tables(kinds=kinds))
    target = draw(regression_targets(table.n_rows))
    weight = draw(weights(table.n_rows, weight_styles))
    options = draw(stops(weight, table.n_rows))
    # what counts as a small gain depends on the scale of the target
    options = replace(options, min_impurity_decrease=options.min_impurity_decrease * float(np.var(target)))
    criterion = draw(st.sampled_from(criteria))
    if criterion == "poisson":
        target = np.abs(target)
        if not target[weight > 0 if weight is not None else slice(None)].any():
            target = target + 1.0
    return Problem(table, criterion, target, 0, weight, options)


def problems(**settings: Any) -> st.SearchStrategy[Problem]:
    """Of either task."""
    return st.one_of(classification_problems(**settings), regression_problems(**settings))


@st.composite
def many_category_problems(draw: st.DrawFn) -> Problem:
    """Three or four classes, up to 40 categories: ordered along an axis, which the reference leaves out."""
    n_rows, n_classes = draw(st.integers(12, 60)), draw(st.integers(3, 4))
    table = Table(
        (draw(level_columns(0, n_rows, 40)), draw(level_columns(1, n_rows, 14))), n_rows, named=False
    )
    labels = picks(draw, n_rows, n_classes).astype(np.int32)
    weight = draw(weights(n_rows, ("none", "whole", "fractions")))
    options = Options(min_rows_leaf=draw(st.sampled_from([1, 3])))
    return Problem(table, draw(st.sampled_from(["gini", "entropy"])), labels, n_classes, weight, options)


any_problem = st.one_of(problems(), many_category_problems())
