"""What makes probabilities of a balanced forest's shares: the rows that its trees did not see tell."""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats
from weald.data.table import Table
from weald.estimators.balanced.prior_shift import PriorShift
from weald.estimators.forest.out_of_bag import OutOfBagSums
from weald.estimators.shared.class_weight import Weights
from weald.model.forest import Forest
from weald.random import Purpose, draw
from weald.resampling.calibration import FEWEST_ROWS, MOST_ROWS, ShareMap, fitted_map
from weald.rows.bags import BagRecord


def out_of_bag_map(
    forest: Forest,
    table: Table,
    record: BagRecord,
    weight: Weights | None,
    n_threads: int,
    plain: Floats | None = None,
) -> ShareMap | None:
    """From shares to probabilities, by some rows of each class.

    With the shares of a `plain` forest of rows that it did not see, it may take part.
    None where bags have the class shares of the data, or too few rows are out of bag.
    """
    labels, by_class = record.labels, record.by_class
    assert labels is not None
    assert by_class is not None
    shifted = PriorShift.of(by_class.n_rows, by_class.in_bag).changes
    if not (shifted and record.leaves_rows_out) or min(by_class.n_rows) < FEWEST_ROWS:
        return None
    words = draw(record.seed, Purpose.CALIBRATION_ROWS, 0, np.arange(len(labels), dtype=np.uint64))
    by_word = np.argsort(words, kind="stable")
    some = [by_word[labels[by_word] == k][:MOST_ROWS] for k in range(len(by_class.n_rows))]
    rows = np.sort(np.concatenate(some))
    found = OutOfBagSums.of(forest, table, record, weight, n_threads=n_threads, rows=rows)
    judged, floor = found.judged, 0.5 / forest.n_trees
    if plain is not None:
        judged = judged & np.isfinite(plain[rows]).all(axis=1)
    shares = found.sums[judged] / found.n_trees[judged, np.newaxis]
    other = None if plain is None else (plain[rows[judged]], floor)
    return fitted_map(shares, labels[rows[judged]], np.array(by_class.n_rows), floor, other)
