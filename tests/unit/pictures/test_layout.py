import numpy as np
import pytest
from unit.model.forests import leaf_bits, right_children

from weald.pictures.layout import tidy


def parents_of(bits):
    rights, parents = iter(right_children(bits)), [-1] * len(bits)
    for node, leaf in enumerate(bits):
        if not leaf:
            parents[node + 1] = parents[next(rights)] = node
    return parents


def random_tree(seed, n_leaves):
    rng = np.random.default_rng(seed)
    parents = parents_of(leaf_bits(rng, n_leaves))
    return parents, rng.uniform(1, 30, len(parents)), rng.uniform(1, 10, len(parents))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n_leaves", [1, 2, 7, 60])
def test_rows_keep_their_gaps_and_parents_their_place(seed, n_leaves):
    parents, width, height = random_tree(seed, n_leaves)
    layout = tidy(parents, width, height, across=2.0, down=3.0)
    depth = [0]
    for parent in parents[1:]:
        depth.append(depth[parent] + 1)
    depth = np.array(depth)
    for d in range(depth.max() + 1):
        row = np.flatnonzero(depth == d)  # preorder: from left to right
        gaps = (layout.x[row] - width[row] / 2)[1:] - (layout.x[row] + width[row] / 2)[:-1]
        assert (gaps >= 2.0 - 1e-9).all()
        assert (height[row] <= layout.row_height[d]).all()
    for node in set(parents) - {-1}:
        children = [child for child, parent in enumerate(parents) if parent == node]
        assert layout.x[node] == pytest.approx(layout.x[children].mean())
    np.testing.assert_allclose(np.diff(layout.top), layout.row_height[:-1] + 3.0)
    assert (layout.x - width / 2).min() == pytest.approx(0)
    assert layout.width == pytest.approx((layout.x + width / 2).max())
    assert layout.height == pytest.approx(layout.top[-1] + layout.row_height[-1])


def test_subtrees_are_as_close_as_they_fit():
    # A deep narrow left subtree and a leaf on the right: only boxes of one depth keep a distance.
    parents = [-1, 0, 1, 2, 2, 1, 0]
    layout = tidy(parents, np.ones(7), np.ones(7), across=1.0, down=1.0)
    assert layout.x[6] - layout.x[1] == pytest.approx(2.0)
    assert layout.x[6] < layout.x[5] + 2.0


def test_a_chain_of_thousands_is_laid_out():
    n = 3000
    parents = [-1] + [x for i in range(n) for x in (2 * i, 2 * i)]
    layout = tidy(parents, np.ones(2 * n + 1), np.ones(2 * n + 1), across=1.0, down=1.0)
    assert len(layout.top) == n + 1
