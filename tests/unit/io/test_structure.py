import numpy as np
import pytest
from unit.model.forests import leaf_bits, right_children, subtree_ends

from weald.errors import ModelFileError
from weald.io.structure import rebuild


@pytest.mark.parametrize("seed", range(20))
def test_children_and_ends_equal_those_of_a_stack(seed):
    rng = np.random.default_rng(seed)
    trees = [leaf_bits(rng, int(rng.integers(1, 30))) for _ in range(5)]
    found = rebuild(np.array([bit for tree in trees for bit in tree]), len(trees))
    assert found.tree_start.tolist() == np.cumsum([0] + [len(tree) for tree in trees]).tolist()
    assert found.right.tolist() == [child for tree in trees for child in right_children(tree)]
    ends = [
        start + end
        for start, tree in zip(found.tree_start, trees, strict=False)
        for end in subtree_ends(tree)
    ]
    assert found.last.tolist() == ends
    leaves = np.flatnonzero(found.leaf)
    weights = rng.integers(0, 100, len(leaves))
    sums = [
        sum(w for leaf, w in zip(leaves, weights, strict=True) if node <= leaf <= end)
        for node, end in enumerate(ends)
    ]
    assert found.sums(weights).tolist() == sums


def test_every_string_of_bits_is_trees_or_an_error():
    for n in range(9):
        for word in range(2**n):
            bits = np.array([word >> i & 1 for i in range(n)], bool)
            n_trees, owed = 0, 0
            for bit in bits:
                owed = (owed or 1) + (-1 if bit else 1)
                n_trees += owed == 0
            for claimed in range(n + 2):
                if owed == 0 and claimed == n_trees:
                    assert len(rebuild(bits, claimed).tree_start) == claimed + 1
                else:
                    with pytest.raises(ModelFileError, match="binary trees"):
                        rebuild(bits, claimed)


def test_a_chain_of_a_million_nodes_is_quick():
    leaf = np.zeros(1_000_001, bool)
    leaf[1::2] = True
    leaf[-1] = True
    found = rebuild(leaf, 1)
    assert found.right[0] == 2
    assert found.last[0] == 1_000_000
