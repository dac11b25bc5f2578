"""A few random tables for every estimator; `tables_run.py` draws as many as one likes."""

from __future__ import annotations

import pytest

from fuzz.random_models import KINDS
from fuzz.rules import check, random_case

N_CASES = 2


@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_any_table_gives_one_model_and_one_answer(name: str) -> None:
    for number in range(N_CASES):
        check(random_case(20, number, (name,)))
