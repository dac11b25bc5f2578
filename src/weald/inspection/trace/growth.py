"""A tree grown again beside the fitted one: every node is added up, searched, and held against the model.

Rows follow the fitted tree, so that one wrong split is told as one, and not as all that comes after. Below
leaves that pruning may have made, the tree goes on growing by what was found, to see that it is cut back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weald.arrays import Floats
from weald.inspection.trace.categories import TreeOrder, tree_order
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.combinations import combined_values
from weald.inspection.trace.compare import NodeComparison
from weald.inspection.trace.fitted import FittedTree
from weald.inspection.trace.proposals import GAIN_ROUNDING, NodeView
from weald.inspection.trace.pruning import cut_by_alpha, cut_by_gamma
from weald.inspection.trace.records import Agreement, NodeTrace, TreeTrace
from weald.inspection.trace.rules import TreeRules, child_path
from weald.inspection.trace.search import ColumnSearch, refused_words, why_won, winner
from weald.inspection.trace.sides import Bounds, Parts, Rows
from weald.inspection.trace.statistics import Statistic
from weald.inspection.trace.unknown_draws import found_as_drawn
from weald.inspection.trace.words import Words

#: leaf values of nodes, (leaves, width), in the order of the nodes
LeafValues = Callable[[Sequence[NodeTrace]], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreePlan:
    """Everything one tree was grown from."""

    tree: int
    output: int = 0
    rows: Rows  # that it was grown on
    columns: list[TracedColumn]
    statistic: Statistic  # that splits are found by
    kept: Statistic  # that covers and values are told by
    rules: TreeRules
    values: LeafValues
    fitted: FittedTree
    words: Words
    score_name: str
    weight: float = 1.0  # what the model multiplies its values with
    rate: float = 1.0  # what the values that it keeps were multiplied with
    value_scale: float = 0.0  # what values are sums of: differences far below it are rounding
    facts: dict[str, object] = field(default_factory=dict)


class TreeGrowth:
    """The growing of one tree.

    Parameters
    ----------
    plan : TreePlan
        What the tree was grown from.
    agreement : Agreement
        Where differences are told.
    round_number : int
        The round that the tree is of.
    top : int
        How many candidates of a column are kept.
    """

    def __init__(self, plan: TreePlan, agreement: Agreement, round_number: int, top: int) -> None:
        self._plan, self._top = plan, top
        self.rules, self.statistic = plan.rules, plan.statistic
        self.nodes: list[NodeTrace] = []
        self._used: list[list[int]] = []
        self._due: set[int] = set()  # places of nodes that can be split
        self._by_column = {column.column: column for column in plan.columns}
        self._search = ColumnSearch(plan.columns, plan.rules, self._orders())
        self._compare = NodeComparison(
            plan.fitted,
            self._by_column,
            plan.words,
            agreement,
            (round_number, plan.tree),
            seen=plan.statistic.seen,
        )
        self._total = plan.statistic.cover(plan.statistic.weight(plan.rows)) if len(plan.rows) else 0.0

    def _orders(self) -> dict[int, TreeOrder | None]:
        rules = self.rules
        if not (rules.tree_orders and rules.category_chance > 0 and not rules.random):
            return {}
        return {
            column.number: tree_order(self.statistic, column, Parts.of(column, self._plan.rows))
            for column in self._plan.columns
            if column.kind == "categorical"
        }

    # ------------------------------------------------------------------ growing

    def grow(self) -> TreeTrace:
        """The tree."""
        plan = self._plan
        self._add(NodeTrace(node=0, parent=-1, side="", depth=0, path=0, rows=plan.rows), [])
        frontier = [0]
        n_leaves = 1
        while frontier:
            if self.rules.max_leaves and n_leaves >= self.rules.max_leaves:
                break
            place = self._next(frontier)
            if self._expand(place):
                node = self.nodes[place]
                frontier += [node.left, node.right]
                n_leaves += 1
        self._out_of_leaves(frontier)
        alphas = self._prune()
        self._settle()
        return TreeTrace(
            tree=plan.tree,
            output=plan.output,
            names=plan.kept.names,
            score_name=plan.score_name,
            nodes=self._in_preorder(),
            n_rows=len(plan.rows),
            weight=plan.weight,
            rate=plan.rate,
            facts=dict(plan.facts),
            alphas=alphas,
        )

    def _next(self, frontier: list[int]) -> int:
        """The node that is split next: any if leaves are not counted, else by gain or by level."""
        if not self.rules.max_leaves:
            return frontier.pop()

        def key(place: int) -> tuple[float, str]:
            node = self.nodes[place]
            first = float(node.depth) if self.rules.by_level else -self._worth(place)
            return first, self._turns(place)

        able = [place for place in frontier if place in self._due or self._splits(place)] or frontier
        place = min(able, key=key)
        frontier.remove(place)
        return place

    def _worth(self, place: int) -> float:
        best = self.nodes[place].best
        return 0.0 if best is None else max(0.0, best.unit_gain)

    def _turns(self, place: int) -> str:
        """The way from the root: left sorts before right."""
        turns = []
        while place > 0:
            turns.append("0" if self.nodes[place].side == "left" else "1")
            place = self.nodes[place].parent
        return "".join(reversed(turns))

    def _splits(self, place: int) -> bool:
        """Whether the model splits a node."""
        number = self.nodes[place].node
        return number is not None and self._plan.fitted.children(number) is not None

    def _add(self, node: NodeTrace, used: list[int]) -> int:
        self.nodes.append(node)
        self._used.append(used)
        place = len(self.nodes) - 1
        self._look(place)
        return place

    def _expand(self, place: int) -> bool:
        """Give a node its children, as the model has them, or as they were before pruning."""
        node = self.nodes[place]
        assert node.rows is not None
        children: tuple[int, int] | None = (
            None if node.node is None else self._plan.fitted.children(node.node)
        )
        if children is None and not (place in self._due and self.rules.prunes):
            return False
        if children is not None:
            parts = [self._plan.fitted.rows(child, node.rows) for child in children]
        else:
            parts = self._parted(node)
        bounds = self._child_bounds(place, split_by_model=children is not None)
        number = None if node.best is None else node.best.number
        if children is not None:
            column = self._by_column.get(self._plan.fitted.column(children[0] - 1))
            number = number if column is None else column.number
        used = [*self._used[place], *([] if number is None else [number])]
        made = []
        for side, rows in enumerate(parts):
            made.append(
                self._add(
                    NodeTrace(
                        node=None if children is None else children[side],
                        parent=place,
                        side=("left", "right")[side],
                        depth=node.depth + 1,
                        path=child_path(node.path, side),
                        rows=rows,
                        lower=bounds[side].lower,
                        upper=bounds[side].upper,
                    ),
                    used,
                )
            )
        node.left, node.right = made
        node.status = "split"
        return True

    def _parted(self, node: NodeTrace) -> list[Rows]:
        """The rows of both sides of the best candidate."""
        best = node.best
        assert best is not None
        assert node.rows is not None
        if best.kind == "combination":
            sums = combined_values(self._by_column, best.terms, node.rows)
            goes = np.isnan(sums) if best.missing_left else np.zeros(len(sums), np.bool_)
            goes |= sums <= best.threshold
            return [node.rows[goes], node.rows[~goes]]
        column = self._by_column[best.column]
        parts = Parts.of(column, node.rows)
        if best.kind == "categories":
            codes = np.array(best.left_codes, np.int64)
        else:
            codes = np.array(
                [c for c in parts.codes.tolist() if self._below(column, c, best.threshold)], np.int64
            )
        left = parts.left(codes, missing_left=bool(best.missing_left))
        return [left, np.setdiff1d(node.rows, left)]

    @staticmethod
    def _below(column: TracedColumn, code: int, threshold: float) -> bool:
        if math.isinf(threshold):
            return True
        if column.kind == "exact":
            return float(column.marks[code - 1]) <= threshold
        if column.kind == "binned":
            return code - 1 < len(column.marks) and float(column.marks[code - 1]) <= threshold
        return code <= threshold

    def _child_bounds(self, place: int, *, split_by_model: bool) -> list[Bounds]:
        """What the children may predict: along a constrained column the middle between them parts them."""
        node, best = self.nodes[place], self.nodes[place].best
        own = Bounds(0, node.lower, node.upper)
        if not self.rules.monotone or best is None or not best.parts_present:
            return [own, own]
        direction = self.rules.monotone[best.number]
        if direction == 0 or (split_by_model and "split" in node.differs):
            return [own, own]
        middle = best.left_value + (best.right_value - best.left_value) / 2
        below, above = own._replace(upper=middle), own._replace(lower=middle)
        return [below, above] if direction > 0 else [above, below]

    # ------------------------------------------------------------------ one node

    def _look(self, place: int) -> None:
        """Add a node up and search it; afterwards it is known whether it can be split."""
        node, statistic = self.nodes[place], self.statistic
        rows = node.rows
        assert rows is not None
        node.n_rows = len(rows)
        if not len(rows):
            node.why = "no row comes here"
            self._compare.node(node)
            return
        bounds = Bounds(0, node.lower, node.upper)
        units = statistic.weight(rows)
        node.unit_score = statistic.score(rows, bounds)
        node.impurity = statistic.impurity(rows, node.unit_score)
        node.cover = self._plan.kept.cover(self._plan.kept.weight(rows))
        node.sums = self._plan.kept.sums(rows)
        node.score = statistic.real(node.unit_score)
        node.why = self._too_small(node, units)
        if not node.why:
            self._split(place, bounds)
        self._compare.node(node)
        if node.node is not None and self._plan.fitted.children(node.node) is not None:
            self._compare.split(node, due=place in self._due, known=self.rules.knows_draws)

    def _too_small(self, node: NodeTrace, units: int) -> str:
        """Why a node is a leaf whatever its rows are; "" if it need not be one."""
        rules, rows = self.rules, node.rows
        assert rows is not None
        name, value = rules.weight_limit
        if node.depth >= rules.max_depth:
            return f"max_depth={int(rules.max_depth)} is reached"
        if len(rows) < 2:
            return "one row cannot be parted"
        if len(rows) < rules.min_rows_split:
            return f"fewer rows than min_samples_split={rules.min_rows_split}"
        if len(rows) // 2 < rules.min_rows_leaf:
            return f"too few rows for two sides of {rules.rows_limit}={rules.min_rows_leaf}"
        if units // 2 < rules.min_units_leaf:
            return f"too little weight for two sides of {name}={value:g}"
        if self.statistic.pure(rows):
            return "all rows are of one class"
        if rules.stop_alike and self.statistic.alike(rows):
            return "all rows have the same target"
        return ""

    def _split(self, place: int, bounds: Bounds) -> None:
        node, rules = self.nodes[place], self.rules
        assert node.rows is not None
        view = NodeView(
            statistic=self.statistic,
            rules=rules,
            rows=node.rows,
            path=node.path,
            weight=self.statistic.weight(node.rows),
            score=node.unit_score,
            impurity=node.impurity,
            bounds=bounds,
            top=self._top,
        )
        names = self._plan.words.names
        if rules.knows_draws:
            node.columns, node.looked_at = self._search.search(view, node.depth, self._used[place])
            node.best = winner(node.columns, rules, node.path)
        else:
            found_as_drawn(node, view, self._search, self._plan.fitted, self._by_column)
        if node.best is None:
            node.why = node.why or refused_words(node.columns, names)
            return
        best = node.best
        node.gain = max(0.0, best.gain)
        if rules.must_gain and not best.unit_gain > GAIN_ROUNDING * abs(best.judged):
            node.why = f"no split gains: the best, on {names[best.column]}, gains {best.gain:.6g}"
        elif rules.min_gain > 0 and node.gain < rules.min_gain:
            node.why = f"the best gain, {node.gain:.6g}, is below {rules.gain_limit}={rules.min_gain:g}"
        elif rules.min_decrease > 0 and node.gain / self._total + np.finfo(float).eps < rules.min_decrease:
            node.why = (
                f"the best gain, {node.gain:.6g} of the weight {self._total:g}, lowers impurity by less than "
                f"{rules.gain_limit}={rules.min_decrease:g}"
            )
        else:
            self._due.add(place)
            node.why = node.why or why_won(best, node.columns, rules, names)

    # ------------------------------------------------------------------ after growth

    def _out_of_leaves(self, frontier: list[int]) -> None:
        """What is left when there are as many leaves as there may be."""
        pending = list(frontier)
        while pending:
            place = pending.pop()
            if self._splits(place):
                self._compare.beyond_leaves(self.nodes[place], self.rules)
                if self._expand(place):
                    pending += [self.nodes[place].left, self.nodes[place].right]
            elif place in self._due:
                self._due.discard(place)
                limit = f"{self.rules.leaves_limit}={self.rules.max_leaves}"
                self.nodes[place].why = f"{limit} leaves are there, and other splits came first"

    def _prune(self) -> list[tuple[float, int | None, int]] | None:
        """Cut branches off as the model's pruning did."""
        alphas = None
        if self.rules.gamma > 0:
            cut_by_gamma(self.nodes, self.rules.gamma)
        if self.rules.ccp_alpha is not None:
            alphas = cut_by_alpha(self.nodes, self.rules.ccp_alpha, self._splits)
        return alphas

    def _settle(self) -> None:
        """Hold the shape and the leaf values against the model, and forget the rows."""
        leaves = []
        for place, node in enumerate(self.nodes):
            if node.node is None:
                node.status = "pruned"
                continue
            if self._plan.fitted.children(node.node) is None:
                kept = place in self._due and not node.cut
                self._compare.leaf(node, due=kept, known=self.rules.knows_draws)
                node.status = "leaf"
                leaves.append(node)
            elif node.cut:
                self._compare.not_pruned(node)
        if leaves:
            self._compare.values(leaves, self._plan.values(leaves), self._plan.value_scale)
        for node in self.nodes:
            node.rows = None

    def _in_preorder(self) -> list[NodeTrace]:
        """The nodes with their places in preorder."""
        order: list[int] = []
        pending = [0]
        while pending:
            place = pending.pop()
            order.append(place)
            node = self.nodes[place]
            if node.left >= 0:
                pending += [node.right, node.left]
        new = {place: i for i, place in enumerate(order)}
        for node in self.nodes:
            node.parent = new.get(node.parent, -1)
            node.left, node.right = new.get(node.left, -1), new.get(node.right, -1)
        return [self.nodes[place] for place in order]
