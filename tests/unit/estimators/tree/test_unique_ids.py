"""A column in which every row has a category of its own, as an id column does, split all the same."""

import numpy as np
import pytest

from weald import DecisionTreeRegressor
from weald.io import model_file


def ids_and_targets(n):
    rng = np.random.default_rng(n)
    return {"id": [f"row {i}" for i in rng.permutation(n)]}, rng.normal(size=n)


@pytest.mark.parametrize("n", [1_000, 4_000, 16_000])
def test_the_model_grows_with_the_rows_not_with_their_square(n):
    X, y = ids_and_targets(n)
    model = DecisionTreeRegressor(cat_penalty=0).fit(X, y)
    forest = model.forest_
    assert len(forest.value) == n
    assert len(forest.set_codes) <= n * np.log2(n) / 2
    assert sum(array.nbytes for array in forest.arrays().values()) < 200 * n
    assert len(model_file.to_bytes(model)) < 100 * n
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-6, atol=1e-9)


def test_unseen_categories_follow_the_heavier_child_of_every_split():
    X, y = ids_and_targets(300)
    model = DecisionTreeRegressor(cat_penalty=0).fit(X, y)
    forest = model.forest_
    for node in np.flatnonzero(forest.slot >= 0).tolist():
        slot = int(forest.slot[node])
        left, right = forest.cover[node + 1], forest.cover[forest.right[slot]]
        side = int(forest.side[slot])
        assert forest.set_left[side] == (left < right)
        assert len(forest.listed_codes(side)) == min(left, right)
