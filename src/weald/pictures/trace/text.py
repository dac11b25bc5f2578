"""A trace as text."""

from __future__ import annotations

from weald.inspection.trace.records import Agreement, NodeTrace, RoundTrace, TreeTrace
from weald.inspection.trace.words import Words
from weald.pictures.trace.lines import (
    agreement_line,
    candidate_cells,
    condition_of,
    facts_line,
    node_words,
    rows_table,
    value_words,
)

_MOST_DISAGREEMENTS = 20


class TraceText:
    """Writes a trace line by line.

    Parameters
    ----------
    words : Words
        For conditions.
    word : str
        What a round is called.
    most_nodes : int or None
        Nodes that are written in all.
    most_rows : int
        Rows of a round that are written.
    """

    def __init__(self, words: Words, word: str, most_nodes: int | None, most_rows: int) -> None:
        self._words, self._word = words, word
        self._left = most_nodes
        self._most_rows = most_rows
        self._hidden = 0

    def write(self, title: str, rounds: list[RoundTrace], agreement: Agreement, notes: list[str]) -> str:
        """The whole trace."""
        lines = [title, agreement_line(agreement)]
        lines += [f"  {each}" for each in agreement.disagreements[:_MOST_DISAGREEMENTS]]
        more = len(agreement.disagreements) - _MOST_DISAGREEMENTS
        if more > 0:
            lines.append(f"  … and {more:,} more")
        lines += [f"Note: {note}." for note in notes]
        for round_ in rounds:
            lines += self._round(round_)
        if self._hidden:
            lines.append(f"… {self._hidden:,} more nodes: to_text() writes all of them.")
        return "\n".join(lines)

    def _round(self, round_: RoundTrace) -> list[str]:
        if self._left is not None and self._left <= 0:
            self._hidden += sum(len(tree.nodes) for tree in round_.trees)
            return []
        facts = facts_line(round_.facts)
        lines = ["", f"{self._word.capitalize()} {round_.number}{': ' + facts if facts else ''}"]
        names, rows, more = rows_table(round_, self._most_rows)
        if names:
            lines += _aligned([names, *rows], indent=2, right=True)
        if more:
            lines.append(f"  … {more:,} more rows")
        for tree in round_.trees:
            lines += self._tree(tree, alone=len(round_.trees) == 1 and self._word == "tree")
        return lines

    def _tree(self, tree: TreeTrace, *, alone: bool) -> list[str]:
        facts = facts_line(tree.facts)
        head = [] if alone else [f"tree {tree.tree}"]
        if not alone and tree.output:
            head.append(f"output {tree.output}")
        if tree.weight != 1.0:
            head.append(f"values count × {tree.weight:.6g}")
        if facts:
            head.append(facts)
        lines = [f"  {', '.join(head)}"] if head else []
        pending = [0] if tree.nodes else []
        while pending:
            place = pending.pop()
            node = tree.nodes[place]
            if self._left is not None:
                if self._left <= 0:
                    self._hidden += 1
                    continue
                self._left -= 1
            lines += self._node(tree, node)
            if node.left >= 0:
                pending += [node.right, node.left]
        if tree.alphas is not None:
            lines += self._alphas(tree)
        return lines

    def _node(self, tree: TreeTrace, node: NodeTrace) -> list[str]:
        indent = 2 + 2 * node.depth
        name = f"node {node.node}" if node.node is not None else "pruned"
        line = f"{' ' * indent}{name}  {condition_of(tree, node, self._words)}: {node_words(tree, node)}"
        if node.differs:
            line += f"  !! differs from the model: {', '.join(dict.fromkeys(node.differs))}"
        lines = [line]
        table = []
        for found in node.columns:
            table += [candidate_cells(tree, node, each, self._words) for each in found.top]
        lines += _aligned(table, indent=indent + 4)
        if node.looked_at is not None:
            looked = ", ".join(self._words.names[each.column] for each in node.columns)
            lines.append(f"{' ' * (indent + 4)}columns looked at: {looked}")
        if node.status == "leaf":
            lines.append(f"{' ' * (indent + 4)}leaf: {value_words(tree, node)}. Why: {node.why}")
        elif node.why:
            lines.append(f"{' ' * (indent + 4)}why: {node.why}")
        return lines

    def _alphas(self, tree: TreeTrace) -> list[str]:
        assert tree.alphas is not None
        lines = ["  pruning: alpha, leaves left"]
        for alpha, node, leaves in tree.alphas:
            where = "" if node is None else f"  node {node} becomes a leaf"
            lines.append(f"    {alpha:.6g}, {leaves}{where}")
        return lines


def _aligned(table: list[list[str]], *, indent: int, right: bool = False) -> list[str]:
    """Lines whose cells stand under each other."""
    if not table:
        return []
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [cell.rjust(w) if right else cell.ljust(w) for cell, w in zip(row, widths, strict=True) if w]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines
