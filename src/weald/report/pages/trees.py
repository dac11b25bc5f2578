"""The model: facts, weights, and trees that open level by level."""

from __future__ import annotations

from weald.pictures.svg.bars import bars
from weald.pictures.svg.markup import Markup, joined, place, tag
from weald.report.finding.model import count_words
from weald.report.pages.parts import facts, figure, remarks, section
from weald.report.records import ModelFacts, Node, TreeFacts

#: levels that are open at first
_OPEN = 2


def model_section(found: ModelFacts) -> Markup:
    """What it is made of."""
    weights = None
    if found.weights:
        weights = figure(
            bars(
                "Weights",
                "The largest weights of the sum, in the units of the columns as the model reads them.",
                [name for name, _ in found.weights],
                [weight for _, weight in found.weights],
                of="weight",
            )
        )
    lead = None
    if found.trees:
        lead = (
            "Open a node to see where its rows go; the bar is the share of the likeliest label, or how high "
            "the value is. By keyboard: ↓ ↑ to the next and last node, → opens, ← closes."
        )
    return section(
        "model",
        "The model",
        lead,
        tag("div", facts([("made by", found.estimator), *found.facts]), class_="card")
        if found.facts
        else None,
        weights,
        *(tree(each, k) for k, each in enumerate(found.trees)),
        remarks(found.notes),
    )


def tree(found: TreeFacts, k: int) -> Markup:
    """One tree: nested parts that open, which browsers know without a script."""
    said = f"{found.said[:1].upper()}{found.said[1:]}" or "The tree"
    leaves = "1 leaf" if found.n_leaves == 1 else f"{found.n_leaves:,} leaves"
    buttons = tag(
        "p",
        tag("button", "Open one level more", type="button", data_level="1"),
        tag("button", "Close one level", type="button", data_level="-1"),
        class_="buttons",
        hidden=True,
    )
    return tag(
        "div",
        tag("h3", f"{said}: {leaves}, depth {found.depth}"),
        buttons,
        tag("div", _node(found.root, 0), class_="tree", role="group", aria_label=f"{said}, its nodes"),
        class_="card treecard",
        id=f"tree-{k}",
    )


def _node(node: Node, depth: int) -> Markup:
    line = joined(
        [
            tag("span", node.when, class_="when"),
            _bar(node),
            tag("span", node.says, class_="says"),
            tag("span", count_words(node.n_rows), class_="count"),
            tag("span", f"… {node.n_hidden:,} leaves below", class_="count") if node.n_hidden else None,
        ]
    )
    if not node.below:
        return tag("div", line, class_="leaf", tabindex="-1")
    below = tag("div", *(_node(each, depth + 1) for each in node.below), class_="below")
    return tag("details", tag("summary", line), below, open=depth < _OPEN)


def _bar(node: Node) -> Markup:
    width = place(56 * node.level)
    body = Markup(
        f'<path class="c{node.label % 5} stroke" d="M1 4h54"/>'
        f'<path class="c{node.label % 5} full" d="M1 4h{width}"/>'
    )
    return tag("svg", body, viewBox="0 0 56 8", class_="level", aria_hidden="true")
