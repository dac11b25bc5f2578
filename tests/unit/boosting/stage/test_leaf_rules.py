"""Leaf values from sums over leaves."""

import numpy as np
import pytest

from weald.boosting.stage.leaf_rules import leaf_values, newton_values
from weald.boosting.stage.losses import NativeStageLoss


class Summed:
    """Leaves of which the sums are known."""

    def __init__(self, found):
        self.found = np.array(found)

    def sums(self, g, h):
        return self.found


def test_exact_exponential_leaves_without_weight_say_nothing():
    loss = NativeStageLoss("exponential", np.array([0.0, 1.0]), None, n_classes=2)
    leaves = Summed([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    found = leaf_values(loss, leaves, np.zeros((1, 2)), 0, np.ones(2), exact=True)
    assert found == pytest.approx([0.0, 8.0, -8.0, np.log(3) / 2])


def test_a_newton_step_is_a_ratio_whatever_the_unit():
    sums = np.array([[1.0, 4.0], [1e-200, 4e-200], [1e200, 4e200], [1.0, 0.0], [1e200, 1e-200]])
    assert newton_values(sums, 1).tolist() == [-0.25, -0.25, -0.25, 0.0, 0.0]
    assert newton_values(sums, 3)[:2] == pytest.approx([-1 / 6, -1 / 6])
