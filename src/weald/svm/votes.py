"""From machines of pairs of classes to one class: LIBSVM's votes and ties, scikit-learn's scores by class.

The machines of K classes come in the order (0, 1), (0, 2), …, (1, 2), …; a positive value speaks for the
first class of the pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes, in the order of their machines.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def vote(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """How many machines speak for each class: (n_rows, n_classes); a value of 0 speaks for the second."""
    counts = np.zeros((len(decisions), n_classes))
    for k, (i, j) in enumerate(pairs(n_classes)):
        first = decisions[:, k] > 0
        counts[:, i] += first
        counts[:, j] += ~first
    return counts


def most_votes(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.intp]:
    """The class with the most votes in each row; of equal ones the first, as in LIBSVM."""
    winner: NDArray[np.intp] = np.argmax(vote(decisions, n_classes), axis=1)
    return winner


def scores_by_class(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """One score per class, as scikit-learn has it: votes, and within equal votes the sum of the values.

    The sum s of a class is squeezed to s / (3 (|s| + 1)), which lies between -1/3 and 1/3 and so never
    outweighs a vote. A value of exactly 0 is a vote for the first class here, for the second in `most_votes`:
    scikit-learn's scores and LIBSVM's votes differ in that.
    """
    counts = np.zeros((len(decisions), n_classes))
    sums = np.zeros((len(decisions), n_classes))
    for k, (i, j) in enumerate(pairs(n_classes)):
        value = decisions[:, k]
        sums[:, i] += value
        sums[:, j] -= value
        first = value >= 0
        counts[:, i] += first
        counts[:, j] += ~first
    scores: NDArray[np.float64] = counts + sums / (3 * (np.abs(sums) + 1))
    return scores
