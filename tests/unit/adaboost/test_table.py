"""The table of rounds: where it has a bound."""

import numpy as np
import pytest

from weald.adaboost.records import Round
from weald.adaboost.table import round_table


def rounds(*restarted):
    return [
        Round(error=0.2, weight=float(np.log(4)), attempt=t, restarted=again)
        for t, again in enumerate(restarted)
    ]


def test_the_bound_holds_until_weights_are_set_back():
    table = round_table(rounds(False, False, True, False), labels=True, bounded=True)
    assert table.bound[:2] == pytest.approx([0.8, 0.64])
    assert np.isnan(table.bound[2:]).all()
    assert np.isnan(round_table(rounds(False, False), labels=True, bounded=False).bound).all()


def test_where_there_is_no_bound_nothing_overflows():
    # says of 500: the product of two factors would be beyond the largest number, which warns
    far = [Round(error=0.3, weight=1000.0, attempt=t, restarted=False) for t in range(3)]
    assert np.isnan(round_table(far, labels=True, bounded=False).bound).all()
    after = [Round(error=0.3, weight=1000.0, attempt=t, restarted=True) for t in range(3)]
    assert np.isnan(round_table(after, labels=True, bounded=True).bound).all()
