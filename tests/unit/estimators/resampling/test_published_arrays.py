"""imbalanced-learn's own published small arrays: which rows its tests expect to stay, where nothing is drawn.

The numbers are those of its test files (0.14: test_tomek_links, test_edited_nearest_neighbours,
test_nearmiss, test_smoten); what is expected stands as positions of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import weald

TOMEK = (
    np.array(
        [
            (0.31230513, 0.1216318),
            (0.68481731, 0.51935141),
            (1.34192108, -0.13367336),
            (0.62366841, -0.21312976),
            (1.61091956, -0.40283504),
            (-0.37162401, -2.19400981),
            (0.74680821, 1.63827342),
            (0.2184254, 0.24299982),
            (0.61472253, -0.82309052),
            (0.19893132, -0.47761769),
            (1.06514042, -0.0770537),
            (0.97407872, 0.44454207),
            (1.40301027, -0.83648734),
            (-1.20515198, -1.02689695),
            (-0.27410027, -0.54194484),
            (0.8381014, 0.44085498),
            (-0.23374509, 0.18370049),
            (-0.32635887, -0.29299653),
            (-0.00288378, 0.84259929),
            (1.79580611, -0.02219234),
        ]
    ),
    np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0]),
)

EDITED = (
    np.array(
        [
            (2.59928271, 0.93323465),
            (0.25738379, 0.95564169),
            (1.42772181, 0.526027),
            (1.92365863, 0.82718767),
            (-0.10903849, -0.12085181),
            (-0.284881, -0.62730973),
            (0.57062627, 1.19528323),
            (0.03394306, 0.03986753),
            (0.78318102, 2.59153329),
            (0.35831463, 1.33483198),
            (-0.14313184, -1.0412815),
            (0.01936241, 0.17799828),
            (-1.25020462, -0.40402054),
            (-0.09816301, -0.74662486),
            (-0.01252787, 0.34102657),
            (0.52726792, -0.38735648),
            (0.2821046, -0.07862747),
            (0.05230552, 0.09043907),
            (0.15198585, 0.12512646),
            (0.70524765, 0.39816382),
        ]
    ),
    np.array([1, 2, 1, 1, 0, 2, 2, 2, 2, 2, 2, 0, 1, 2, 2, 2, 2, 1, 2, 1]),
)

NEAR_MISS = (
    np.array(
        [
            (1.17737838, -0.2002118),
            (0.4960075, 0.86130762),
            (-0.05903827, 0.10947647),
            (0.91464286, 1.61369212),
            (-0.54619583, 1.73009918),
            (-0.60413357, 0.24628718),
            (0.45713638, 1.31069295),
            (-0.04032409, 3.01186964),
            (0.03142011, 0.12323596),
            (0.50701028, -0.17636928),
            (-0.80809175, -1.09917302),
            (-0.20497017, -0.26630228),
            (0.99272351, -0.11631728),
            (-1.95581933, 0.69609604),
            (1.15157493, -1.2981518),
        ]
    ),
    np.array([1, 2, 1, 0, 2, 1, 2, 2, 1, 2, 0, 0, 2, 1, 2]),
)


three, four = NearestNeighbors(n_neighbors=3), NearestNeighbors(n_neighbors=4)
some = {0: 3, 1: 4, 2: 4}
fewest = [3, 10, 11, 2, 8, 5, 9, 1, 6]
told = [11, 10, 3, 2, 8, 5, 0, 9, 1, 6, 12]
CASES: list[tuple[Any, tuple[np.ndarray, np.ndarray], list[int]]] = [
    (weald.TomekLinks(), TOMEK, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 18, 19]),
    (weald.EditedNearestNeighbours(), EDITED, [4, 11, 0, 3, 1, 8, 15]),
    (weald.EditedNearestNeighbours(kind_sel="mode"), EDITED, [4, 11, 0, 2, 3, 1, 5, 6, 8, 9, 10, 13, 15, 16]),
    (
        weald.EditedNearestNeighbours(n_neighbors=four, kind_sel="mode"),
        EDITED,
        [4, 11, 0, 2, 3, 1, 5, 6, 8, 9, 10, 13, 15, 16],
    ),
    (weald.NearMiss(version=1), NEAR_MISS, fewest),
    (weald.NearMiss(version=2), NEAR_MISS, fewest),
    (weald.NearMiss(version=3), NEAR_MISS, [3, 10, 11, 0, 5, 8, 14, 4, 12]),
    (weald.NearMiss(version=1, n_neighbors=three), NEAR_MISS, fewest),
    (weald.NearMiss(version=2, n_neighbors=three), NEAR_MISS, fewest),
    (weald.NearMiss(version=3, n_neighbors=three), NEAR_MISS, [3, 10, 11, 0, 5, 8, 14, 4, 12]),
    (weald.NearMiss(version=1, sampling_strategy=some), NEAR_MISS, told),
    (weald.NearMiss(version=2, sampling_strategy=some), NEAR_MISS, told),
    (
        weald.NearMiss(version=3, sampling_strategy=some),
        NEAR_MISS,
        [3, 10, 11, 0, 5, 8, 2, 14, 4, 12, 6],
    ),
]


@pytest.mark.parametrize(("sampler", "table", "kept"), CASES, ids=lambda value: str(value)[:40])
def test_rows_that_stay_are_the_published_ones(
    sampler: Any, table: tuple[np.ndarray, np.ndarray], kept: list[int]
) -> None:
    X, y = table
    found, labels = sampler.fit_resample(X, y)
    assert sampler.sample_indices_.tolist() == kept
    assert (found == X[kept]).all()
    assert (labels == y[kept]).all()


def test_the_published_level_is_the_one_that_is_made() -> None:
    """Of three levels only "blue" belongs to the rare class, so every new row is blue."""
    X = np.array(["green"] * 5 + ["red"] * 10 + ["blue"] * 7, dtype=object).reshape(-1, 1)
    rare = {5, 6, 7, 15, 16, 17, 18, 19}
    y = np.array(["not apple" if row in rare else "apple" for row in range(22)], dtype=object)
    found, labels = weald.SMOTEN(random_state=0).fit_resample(X, y)
    assert len(found) == 28
    assert (found[22:] == "blue").all()
    assert (labels[22:] == "not apple").all()
