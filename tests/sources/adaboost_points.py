"""The points and stumps of the sources' examples of AdaBoost."""

import numpy as np

from weald.adaboost import loop

EIGHT_X = np.arange(5.0, 45.0, 5.0)
EIGHT_Y = np.array([-1, -1, 1, 1, 1, -1, -1, 1])


def stump_of(tree):
    """The threshold of a stump, and what it says on either side; a leaf alone has one answer."""
    shares = tree.tree_.value[:, 0, :]
    answers = tree.classes_[np.argmax(shares, axis=1)]
    if tree.get_n_leaves() == 1:
        return (int(answers[0]),)
    return round(float(tree.tree_.threshold[0]), 10), int(answers[1]), int(answers[2])


def two_halves(n=300, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] ** 2 - 0.8 + noise * rng.normal(size=n) > 0).astype(int)
    return X, y


def keep_samples(monkeypatch):
    """The samples that AdaBoost draws from now on, as counts of rows, with the weights they are drawn by."""
    draw, kept = loop.drawn_counts, []

    def drawn(units, *given):
        kept.append((units, draw(units, *given)))
        return kept[-1][1]

    monkeypatch.setattr(loop, "drawn_counts", drawn)
    return kept
