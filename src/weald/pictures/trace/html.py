"""A trace for notebooks: foldable, self-contained HTML of bounded size."""

from __future__ import annotations

from html import escape

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

#: at most so many nodes and rounds are shown, and so many rows of a round
_MOST_NODES, _MOST_ROUNDS, _MOST_ROWS, _MOST_DISAGREEMENTS = 300, 30, 10, 10
_OPEN = 2

_STYLE = """
.weald-trace{font:13px/1.5 system-ui,sans-serif;max-width:70em}
.weald-trace details{margin-left:1.1em;border-left:1px solid #8886;padding-left:.5em}
.weald-trace>details{margin-left:0}
.weald-trace summary{cursor:pointer}
.weald-trace table{border-collapse:collapse;margin:.2em 0 .4em 1.4em;font-size:12px}
.weald-trace td,.weald-trace th{padding:0 .8em 0 0;text-align:left;border:0;background:none}
.weald-trace .chosen{font-weight:600}
.weald-trace .why{opacity:.7;margin-left:1.4em}
.weald-trace .title{font-weight:600}
.weald-trace .wrong{color:#b3261e;font-weight:600}
""".replace("\n", "")


class TraceHtml:
    """Writes a trace as nested parts that open and close."""

    def __init__(self, words: Words, word: str) -> None:
        self._words, self._word = words, word
        self._left, self._hidden = _MOST_NODES, 0

    def write(self, title: str, rounds: list[RoundTrace], agreement: Agreement, notes: list[str]) -> str:
        """The whole trace."""
        wrong = ' class="wrong"' if agreement.disagreements else ""
        parts = [
            f'<div class="weald-trace"><style>{_STYLE}</style><div class="title">{escape(title)}</div>',
            f"<div{wrong}>{escape(agreement_line(agreement))}</div>",
        ]
        parts += [f"<div>{escape(str(each))}</div>" for each in agreement.disagreements[:_MOST_DISAGREEMENTS]]
        parts += [f"<div>Note: {escape(note)}.</div>" for note in notes]
        for i, round_ in enumerate(rounds[:_MOST_ROUNDS]):
            parts.append(self._round(round_, opened=i == 0))
        hidden = len(rounds) - _MOST_ROUNDS
        if hidden > 0:
            parts.append(f"<div>… {hidden:,} more {self._word}s</div>")
        if self._hidden:
            parts.append(
                f"<div>… {self._hidden:,} more nodes: to_text() and to_frame() have all of them</div>"
            )
        return "".join([*parts, "</div>"])

    def _round(self, round_: RoundTrace, *, opened: bool) -> str:
        facts = facts_line(round_.facts)
        head = f"{self._word.capitalize()} {round_.number}{': ' + facts if facts else ''}"
        parts = [f"<details{' open' if opened else ''}><summary>{escape(head)}</summary>"]
        names, rows, more = rows_table(round_, _MOST_ROWS)
        if names:
            parts.append(_table([names, *rows]))
        if more:
            parts.append(f'<div class="why">… {more:,} more rows</div>')
        for tree in round_.trees:
            parts.append(self._tree(tree))
        return "".join([*parts, "</details>"])

    def _tree(self, tree: TreeTrace) -> str:
        parts = []
        pending: list[int | str] = [0] if tree.nodes else []
        while pending:
            entry = pending.pop()
            if isinstance(entry, str):
                parts.append(entry)
                continue
            node = tree.nodes[entry]
            if self._left <= 0:
                self._hidden += 1
                pending += [node.right, node.left] if node.left >= 0 else []
                continue
            self._left -= 1
            parts.append(self._node(tree, node))
            pending.append("</details>")
            if node.left >= 0:
                pending += [node.right, node.left]
        return "".join(parts)

    def _node(self, tree: TreeTrace, node: NodeTrace) -> str:
        name = f"node {node.node}" if node.node is not None else "pruned"
        says = f": {value_words(tree, node)}" if node.status == "leaf" else ""
        line = f"{name}: {condition_of(tree, node, self._words)} ({node_words(tree, node)}){says}"
        wrong = ""
        if node.differs:
            wrong = f' <span class="wrong">differs: {escape(", ".join(dict.fromkeys(node.differs)))}</span>'
        opened = " open" if node.depth < _OPEN else ""
        table: list[list[str]] = []
        chosen = -1
        for found in node.columns:
            for each in found.top:
                chosen = len(table) if each is node.best else chosen
                table.append(candidate_cells(tree, node, each, self._words))
        parts = [f"<details{opened}><summary>{escape(line)}{wrong}</summary>"]
        if table:
            parts.append(_table(table, chosen=chosen, head=False))
        if node.why:
            parts.append(f'<div class="why">{escape(node.why)}</div>')
        return "".join(parts)


def _table(table: list[list[str]], *, chosen: int = -1, head: bool = True) -> str:
    lines = []
    for i, row in enumerate(table):
        cell = "th" if head and i == 0 else "td"
        kind = ' class="chosen"' if i == chosen else ""
        lines.append(f"<tr{kind}>" + "".join(f"<{cell}>{escape(each)}</{cell}>" for each in row) + "</tr>")
    return f"<table>{''.join(lines)}</table>"
