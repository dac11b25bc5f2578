"""The words of a trace that text and HTML share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weald.inspection.trace.records import Agreement, Candidate, NodeTrace, RoundTrace, TreeTrace
from weald.inspection.trace.words import Words
from weald.model.values import rows as so_many_rows

#: trees of classes, whose sums are called by the labels
_OF_CLASSES = ("gini", "entropy", "errors")


def number(value: object) -> str:
    """A number for reading."""
    if isinstance(value, float | np.floating):
        return f"{float(value) + 0.0:.6g}"  # no minus before 0
    if isinstance(value, tuple | list):
        return ", ".join(number(each) for each in value) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def facts_line(facts: Mapping[str, object]) -> str:
    """Facts one after another."""
    return ", ".join(f"{name} {number(value)}" for name, value in facts.items())


def agreement_line(agreement: Agreement) -> str:
    """Whether what was recomputed is the model."""
    n = agreement.n_compared
    if not agreement.disagreements:
        exact = (
            "to the last bit"
            if agreement.largest == 0
            else f"the largest relative difference is {agreement.largest:.2g}"
        )
        where = f" ({agreement.where})" if agreement.where and agreement.largest > 0 else ""
        return f"All {n:,} numbers compared agree with the model: {exact}{where}."
    found = len(agreement.disagreements)
    return f"{found:,} of {n:,} numbers compared do NOT agree with the model."


def sums_words(tree: TreeTrace, node: NodeTrace) -> str:
    """What a node adds up to."""
    mark = ":" if tree.score_name in _OF_CLASSES else ""
    return ", ".join(
        f"{name}{mark} {number(value)}" for name, value in zip(tree.names, node.sums, strict=False)
    )


def node_words(tree: TreeTrace, node: NodeTrace) -> str:
    """Rows, sums and score of a node."""
    parts = [so_many_rows(node.n_rows)]
    if node.sums:
        parts.append(sums_words(tree, node))
    if tree.score_name == "similarity":
        parts.append(f"similarity {number(node.score)}")
        if "H" not in tree.names:
            parts.append(f"cover {number(node.cover)}")
    elif node.impurity is not None:
        parts.append(f"impurity {number(node.impurity)}")
    return ", ".join(parts)


def value_words(tree: TreeTrace, node: NodeTrace) -> str:
    """What a leaf predicts."""
    if node.value is None:
        return ""
    if tree.rate not in (0.0, 1.0) and len(node.value) == 1:
        return f"value {number(node.value[0] / tree.rate)} × {number(tree.rate)} = {number(node.value[0])}"
    return f"value {number(node.value)}"


def condition_of(tree: TreeTrace, node: NodeTrace, words: Words) -> str:
    """What rows of a node have in common with those of its parent."""
    if node.parent < 0:
        return "all rows"
    split = tree.nodes[node.parent].best
    if split is None:
        return node.side
    return words.condition(split, right=node.side == "right")


def candidate_cells(tree: TreeTrace, node: NodeTrace, candidate: Candidate, words: Words) -> list[str]:
    """One line of the candidates of a node."""
    name = tree.score_name
    held = f" less {number(candidate.held_back)}" if candidate.held_back else ""
    sides = f"{candidate.n_left} | {candidate.n_right} rows"
    scores = ""
    if name == "similarity":
        scores = f"{name} {number(candidate.left_score)} | {number(candidate.right_score)}"
        sides = f"cover {number(candidate.left_cover)} | {number(candidate.right_cover)}"
    gain = f"gain {number(candidate.gain)}"
    if name != "similarity" and node.cover > 0 and node.cover != 1.0:
        gain += f" = {number(node.cover)} × {number(candidate.gain / node.cover)}"
    mark = "refused: " + candidate.refused if candidate.refused else ""
    if candidate is node.best:
        mark = "<- chosen" if node.status == "split" else "<- the best"
    return [words.condition(candidate), f"{gain}{held}", scores, sides, mark]


def rows_table(round_: RoundTrace, most: int) -> tuple[list[str], list[list[str]], int]:
    """What the rows of a round had: names, the first few rows, and how many more there are."""
    names = list(round_.rows)
    if not names:
        return [], [], 0
    columns: Sequence[NDArray[np.float64]] = [round_.rows[name] for name in names]
    n = len(columns[0])
    shown = [[str(i), *(number(float(column[i])) for column in columns)] for i in range(min(n, most))]
    return ["row", *names], shown, max(0, n - most)
