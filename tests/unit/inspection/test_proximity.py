"""The functions behind the methods of forests: limits, and standardising."""

from __future__ import annotations

import numpy as np
import pytest

from weald.errors import DataError, ParameterError
from weald.inspection.proximity import check_dense, check_out_of_bag, laid_out, standardised
from weald.rows.bags import BagRecord


def test_two_million_rows_are_refused_with_the_memory_and_the_sparse_way():
    with pytest.raises(DataError, match=r"32,000\.0 GB as a dense matrix.*nearest_rows\(X, k=10\)"):
        check_dense(2_000_000, 2_000_000)


def test_the_limit_is_two_gibibytes():
    check_dense(2**14, 2**14)
    with pytest.raises(DataError, match=r"limit is 2\.1 GB"):
        check_dense(2**14, 2**14 + 1)


def test_out_of_bag_needs_bags_and_the_training_table():
    check_out_of_bag(BagRecord(0, 10, 10), 10, "Forest")
    with pytest.raises(ParameterError, match=r"bootstrap=False.*Use oob_only=False"):
        check_out_of_bag(BagRecord(0, 10, 0), 10, "Forest")
    with pytest.raises(DataError, match="that had 10 rows, and this one has 9"):
        check_out_of_bag(BagRecord(0, 10, 10), 9, "Forest")


def test_standardised_by_the_mean_deviation_from_the_median():
    assert standardised(np.array([1.0, 2.0, 6.0])).tolist() == [-1 / (5 / 3), 0, 4 / (5 / 3)]
    assert standardised(np.array([2.0, 2.0])).tolist() == [0, 0]


def test_places_keep_distances_that_a_plane_can_show():
    places = laid_out(1.0 - np.array([[0, 0.6, 0.8], [0.6, 0, 1.0], [0.8, 1.0, 0]]), 2, 0)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert distances[np.triu_indices(3, 1)] == pytest.approx([0.6, 0.8, 1.0], abs=0.02)
