"""Fixtures of the tests of forests."""

import pytest
from unit.estimators.forest.data import ALL, named


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    """Each forest in turn, small; files that need another size have one of their own."""
    return request.param(n_estimators=6, random_state=0)
