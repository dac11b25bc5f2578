"""What models share whose rounds add up: XGBoost's and those of gradient boosting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weald.arrays import Floats
from weald.boosting.stage.monotone import hold_monotone
from weald.insight.tracing.source import Combined, Source
from weald.inspection.trace.columns import TracedColumn
from weald.inspection.trace.records import NodeTrace
from weald.model.forest import Forest


@dataclass(slots=True, kw_only=True)
class BoostedSource(Source):
    """A booster: scores before the first round, and the columns of its trees."""

    first_scores: Floats  # (n_outputs, n_rows)
    columns: list[TracedColumn]

    @property
    def n_rounds(self) -> int:
        """How many rounds."""
        return int(self.forest.tree_round[-1]) + 1 if self.forest.n_trees else 0

    @property
    def combined(self) -> Combined:
        """The sum of all."""
        return "sum"

    def start(self, row: int) -> Floats:
        """The score of a row before the first tree: a constant, a margin, or what `init` predicts."""
        return np.asarray(self.first_scores[:, row])

    def note_held_out(self, n_held: int) -> None:
        """Say that some rows were not trained on."""
        if n_held:
            self.notes.append(
                f"{n_held:,} rows were held out for early stopping: numbers of rows are those of the rows "
                "that were trained on"
            )


def in_order(
    forest: Forest, leaves: Sequence[NodeTrace], values: Floats, directions: Sequence[int]
) -> Floats:
    """Leaf values, (leaves, width), in the order that monotone constraints ask for."""
    arrays = {name: getattr(forest, name) for name in ("slot", "column", "threshold", "right")}
    order = np.argsort([node.node or 0 for node in leaves])
    found = np.empty_like(values)
    found[order] = hold_monotone(arrays, values[order], directions)
    return found
