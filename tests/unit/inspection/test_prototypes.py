"""Groups of rows in the midst of a class."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from weald.inspection.prototypes import neighbourhoods


def graph(n, entries):
    rows, columns, shares = zip(*entries, strict=True)
    return sparse.csr_matrix((shares, (rows, columns)), shape=(n, n))


NEAR = graph(
    6,
    [(0, 1, 0.5), (0, 5, 0.9), (1, 0, 0.5), (1, 2, 0.5), (2, 1, 0.5), (2, 0, 0.6), (3, 4, 0.2), (4, 3, 0.2)],
)
CLASS = np.array([True, True, True, True, True, False])


def test_the_centre_has_most_members_near_it_and_then_the_nearest():
    # 1 and 2 have two each; 2 is nearer to its two. Row 5 is of another class.
    assert [group.tolist() for group in neighbourhoods(NEAR, CLASS, 1)] == [[2, 0, 1]]


def test_further_groups_leave_the_rows_of_the_first_out():
    assert [group.tolist() for group in neighbourhoods(NEAR, CLASS, 5)] == [[2, 0, 1], [3, 4]]


def test_a_row_that_is_near_nobody_stands_for_itself_only_if_there_is_no_other():
    alone = sparse.csr_matrix((3, 3))
    assert [group.tolist() for group in neighbourhoods(alone, np.ones(3, bool), 2)] == [[0]]
