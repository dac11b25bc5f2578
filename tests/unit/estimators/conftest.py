"""Fixtures of the tests of estimators."""

from typing import Any

import pytest

from weald.estimators.forest import base as forest_base
from weald.estimators.shared import growth
from weald.estimators.tree import base
from weald.rows.growth import GrowOptions


@pytest.fixture
def _first_of_tied_columns(monkeypatch):
    """Trees of forests and bags take the first of equally good columns, as the single trees beside them."""

    def without_chance(*arguments: Any, random_ties: bool, **options: Any) -> GrowOptions:
        return growth.grow_options(*arguments, **options)

    for module in (base, forest_base):
        monkeypatch.setattr(module, "grow_options", without_chance)
