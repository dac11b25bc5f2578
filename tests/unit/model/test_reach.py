import numpy as np
import pytest
from unit.model.forests import mixed_schema, random_forest

from weald.model.forest import CATEGORIES, COMBINATION
from weald.model.reach import CodeSet, Reach

N = 9


def as_set(codes: CodeSet) -> set[int]:
    listed = set(codes.listed.tolist())
    return listed if codes.inside else set(range(1, N + 1)) - listed


@pytest.mark.parametrize("seed", range(30))
def test_sets_of_codes_are_sets(seed):
    rng = np.random.default_rng(seed)
    a, b = (
        CodeSet(np.flatnonzero(rng.random(N) < 0.5) + 1, inside)
        for inside in rng.integers(0, 2, 2).astype(bool).tolist()
    )
    both = a.both(b)
    assert as_set(both) == as_set(a) & as_set(b)
    assert both.size(N) == len(as_set(both))
    for most in (1, 3, N):
        assert both.first(most, N).tolist() == sorted(as_set(both))[:most]


def naive(forest, schema):
    """For each inner node: the codes of its column that come to it, whether missing does, and both sides."""
    found, pending = {}, [(0, {}, {})]
    while pending:
        node, codes, missing = pending.pop()
        i = int(forest.slot[node])
        if i < 0:
            continue
        j, right = int(forest.column[i]), int(forest.right[i])
        if forest.kind[i] == COMBINATION:
            pending += [(node + 1, codes, missing), (right, codes, missing)]
            continue
        here = codes.get(j, set(range(1, len(schema.columns[j].levels) + 1)))
        left = here
        if forest.kind[i] == CATEGORIES:
            side = int(forest.side[i])
            listed = set(forest.listed_codes(side).tolist())
            left = here & listed if forest.set_left[side] else here - listed
        found[i] = (left, here - left, missing.get(j, True))
        for child, part, side_left in ((node + 1, left, True), (right, here - left, False)):
            part = part if forest.kind[i] == CATEGORIES else here
            comes = missing.get(j, True) and bool(forest.missing_left[i]) == side_left
            pending.append((child, codes | {j: part}, missing | {j: comes}))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_what_reaches_a_node_is_what_a_walk_brings(seed):
    schema = mixed_schema(many=12)
    forest = random_forest(seed, schema, n_leaves=60, combinations=seed % 2 == 1)
    reach, expected = Reach(forest, forest.slot), naive(forest, schema)
    for i in np.random.default_rng(seed).permutation(list(expected)).tolist():  # in any order
        left, right, missing = expected[i]
        assert reach.missing(i) == missing
        if forest.kind[i] == CATEGORIES:
            n_levels = len(schema.columns[int(forest.column[i])].levels)
            for codes, wanted in zip(reach.sides(i), (left, right), strict=True):
                assert codes.first(n_levels, n_levels).tolist() == sorted(wanted)
                assert codes.size(n_levels) == len(wanted)
