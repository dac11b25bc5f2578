"""The nearest rows of a training table, as samplers ask for them."""

from __future__ import annotations

import numpy as np
import pytest

from weald.data.adapters import to_table
from weald.resampling.neighbours import TableNeighbours


@pytest.mark.parametrize("width", [1, 9], ids=["by a tree", "by pairs"])
def test_most_rows_find_what_few_at_a_time_find(width):
    """Where most rows ask, all do; rows at the same place, of which there are many, keep their order."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.integers(0, 2, (1200, width)), rng.normal(size=(400, width))]).astype(np.float64)
    near = TableNeighbours.of(to_table(X), scale=None, n_threads=2)
    queries = np.sort(rng.permutation(len(X))[:1300])
    away, at = near.nearest(None, queries, 4)
    few = [near.nearest(None, part, 4) for part in np.array_split(queries, 5)]
    assert away.tobytes() == np.concatenate([each[0] for each in few]).tobytes()
    assert (at == np.concatenate([each[1] for each in few])).all()
