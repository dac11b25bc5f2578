import numpy as np

from weald.model.forest import CATEGORIES, COMBINATION, NUMERIC, rank_codes


def naive_codes(column, threshold, kind):
    used = {}
    for c, t, k in zip(column, threshold, kind, strict=True):
        if k == NUMERIC:
            used.setdefault(int(c), set()).add(float(t))
    return [
        sorted(used[int(c)]).index(float(t)) + 1 if k == NUMERIC else 0
        for c, t, k in zip(column, threshold, kind, strict=True)
    ]


def test_rank_codes_equal_the_naive_ranks():
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 50):
        for _ in range(20):
            kind = rng.choice([NUMERIC, NUMERIC, NUMERIC, CATEGORIES, COMBINATION], n).astype(np.uint8)
            column = np.where(kind == COMBINATION, -1, rng.integers(0, 4, n)).astype(np.int32)
            threshold = rng.choice([-1.5, -0.0, 0.0, 2.0, np.inf], n)
            codes = rank_codes(column, threshold, kind)
            assert codes.dtype == np.uint32
            assert codes.tolist() == naive_codes(column, threshold, kind)
